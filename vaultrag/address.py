"""Where a server is, from what a person wrote: with or without scheme and port, as the Ollama client takes it."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

OLLAMA_PORT = 11434


def split_host(host: str) -> tuple[str, int]:
    """Name and port.

    Raises:
        ValueError: Not an address.
    """
    parts = urlsplit(host if "://" in host else f"//{host}")
    default = {"http": 80, "https": 443}.get(parts.scheme, OLLAMA_PORT)
    return parts.hostname or "127.0.0.1", parts.port or default


def is_loopback(host: str) -> bool:
    """Return whether the address is this machine.

    Raises:
        ValueError: Not an address.
    """
    name, _ = split_host(host)
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def listening(host: str, timeout_s: float) -> bool:
    """Return whether anything accepts connections there. Costs no import of an HTTP library."""
    try:
        with socket.create_connection(split_host(host), timeout=timeout_s):
            return True
    except (OSError, ValueError):
        return False
