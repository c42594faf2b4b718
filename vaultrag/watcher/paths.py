"""Vault-relative paths: strings with ``/`` between their parts, ``""`` for the vault's folder itself. Pure."""

from __future__ import annotations

from vaultrag.domain import NotePath

ROOT = NotePath("")


def join(folder: str, name: str) -> NotePath:
    return NotePath(f"{folder}/{name}" if folder else name)


def parent(path: str) -> NotePath:
    return NotePath(path.rpartition("/")[0])


def covers(folder: str, path: str) -> bool:
    """Return whether a look at ``folder`` sees ``path`` too."""
    return not folder or path == folder or path.startswith(folder + "/")


def is_text(path: str) -> bool:
    """Return False for a name that is not valid UTF-8: Python carries its odd bytes as lone surrogates."""
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(path: str) -> NotePath:
    """Return a path that can be printed and stored, odd bytes written out (``caf\\udce9.md``)."""
    return NotePath(path if is_text(path) else path.encode("utf-8", "backslashreplace").decode())


def matchable(path: str) -> str:
    """Return a path that every engine can match patterns against: ``?`` for each byte that is not text."""
    return path if is_text(path) else path.encode("utf-8", "replace").decode()


def clean(path: str) -> NotePath | None:
    """Return the path without a trailing slash; None when it leaves the vault or can name no file at all."""
    path = path.rstrip("/") if path.strip("/") else path
    if not path:
        return ROOT
    if "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        return None
    return NotePath(path)


def nearest_text(path: str) -> NotePath:
    """Return the path itself, or the nearest folder above it whose name is valid UTF-8 all the way.

    Hints are stored and compared as text, so a name that is none is looked at through its folder.
    """
    while not is_text(path):
        path = parent(path)
    return NotePath(path)


def outermost(paths: list[NotePath]) -> list[NotePath]:
    """Return the paths that no other one covers, sorted."""
    kept: list[NotePath] = []
    # Sorted by parts, a folder comes right before everything in it ("a", "a/x", "a b"; plain order puts "a b" between).
    for path in sorted(set(paths), key=lambda p: p.split("/") if p else []):
        if not kept or not covers(kept[-1], path):
            kept.append(path)
    return kept
