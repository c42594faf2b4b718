"""The command in a home of its own."""

from tests.support.commands import command

__all__ = ["command"]
