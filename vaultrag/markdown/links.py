"""Links out of a note, as written: ``[[wikilinks]]``, ``![[embeds]]`` and ``[Markdown](links.md)`` to other notes.

Where a link leads is not decided here: that takes the whole vault. Links to the web, to mail and to other programs are
no links between notes and are left out. Code and comments hold no links; properties do.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from vaultrag.domain import Link, LinkKind

# Both without the bracket that begins them, so that patterns built of them begin with a literal. And no pattern may run
# over another link's opening: that is what keeps a page of "[a](" linear.
WIKILINK_TAIL = r"\[([^\[\]\n|]*+)(?:\|([^\[\]\n]*+))?\]\]"
"""Groups: target with its heading or block, alias."""

MARKDOWN_TAIL = (
    r"([^\[\]\n]*+)\]\("
    r"[ \t]*+(?:<([^<>\n]*+)>|([^\s()<]*+(?:\([^\s()]*+\)[^\s()]*+)*+))"
    r"(?:[ \t]++(?:\"[^\"\n\[]*+\"|'[^'\n\[]*+'))?[ \t]*+\)"
)
"""Groups: text, destination in angle brackets, bare destination."""

_LINK = re.compile(rf"\[(?:{WIKILINK_TAIL}|{MARKDOWN_TAIL})")
_EXTERNAL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def find_links(text: str, first_line: int) -> list[Link]:
    """Return the links in ``text``, in order.

    Args:
        text: Prose without code and comments (``lifting.Lifted.text``), or a header.
        first_line: File line of the text's first line.
    """
    if "[" not in text:
        return []
    links = []
    line, counted = first_line, 0
    for found in _LINK.finditer(text):
        start = found.start()
        line += text.count("\n", counted, start)
        counted = start
        target, alias, label, angled, bare = found.groups()
        kind = LinkKind.WIKILINK
        if target is None:
            target, alias, kind = _destination(angled or bare or ""), label, LinkKind.MARKDOWN
        elif target.endswith("\\"):  # in a table the bar is written as "\|"
            target = target[:-1]
        if start and text[start - 1] == "!":
            kind = LinkKind.EMBED
        heading = block = ""
        if "#" in target:
            target, _, heading = target.partition("#")
            if heading.startswith("^"):
                heading, block = "", heading[1:].strip()
        target, heading = target.strip(), heading.strip()
        if target or heading or block:
            links.append(Link(target, line, kind, alias.strip() if alias else "", heading, block))
    return links


def _destination(written: str) -> str:
    """Return a Markdown link's path within the vault, decoded; empty when the link leads elsewhere."""
    if _EXTERNAL.match(written):
        return ""
    return unquote(written, errors="replace").strip() if "%" in written else written
