"""The command in a home of its own, as in ``tests/cli``."""

from tests.cli.conftest import command

__all__ = ["command"]
