"""The command, its vault, and a daemon that a module's tests share."""

from tests.support.commands import command, served, vault

__all__ = ["command", "served", "vault"]
