"""Notes as resources: ``note:///Folder/Note.md``, and the rules as ``vault:///rules``.

The path stands behind an empty host: some clients write a host in small letters.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

from vaultrag.errors import PathRefused

TEMPLATE = "note:///{+path}"
RULES = "vault:///rules"
MARKDOWN = "text/markdown"

LISTED = 50
"""Notes that are listed: those changed last. All others are reached by the template."""

_SCHEME = "note://"


def uri_of(path: str) -> str:
    return f"{_SCHEME}/{quote(path)}"


def path_of(uri: str) -> str:
    """Return the note's path, as the vault calls it. The daemon decides if there is such a note.

    Raises:
        PathRefused: It is no note's URI.
    """
    if not uri.lower().startswith(_SCHEME):
        raise PathRefused(f"{uri[:200]} is not the URI of a note", agent_hint=f"{TEMPLATE}, or {RULES}")
    return unquote(uri[len(_SCHEME) :].removeprefix("/"))
