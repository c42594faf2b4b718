"""Org files, line by line, so that line ``n`` of the file is line ``n`` of the text below its header. Pure.

After the published Org syntax: headings, to-do words, tags, links, blocks and drawers. What Org computes (agendas,
exports, tables' formulas) is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from vaultrag.sources.source_text import Section, SourceText, plain
from vaultrag.text.encoding import decoded

_HEADING = re.compile(r"(\*+)[ \t]+(?:(TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]+)?(?:\[#[A-Z0-9]\][ \t]+)?(.*?)"
                      r"(?:[ \t]+(:[\w@#%:]+:))?[ \t]*$")  # fmt: skip
_KEYWORD = re.compile(r"#\+(\w+):[ \t]*(.*?)[ \t]*$")
_BLOCK = re.compile(r"[ \t]*#\+(begin|end)_(\w+)", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:(PROPERTIES|LOGBOOK):[ \t]*$", re.IGNORECASE)
_DRAWER_END = re.compile(r"[ \t]*:END:[ \t]*$", re.IGNORECASE)
_COMMENT = re.compile(r"[ \t]*#(?:[ \t]|$)")
_LINK = re.compile(r"\[\[([^\]\[]+)\](?:\[([^\]\[]+)\])?\]")
_NOTE_LINK = re.compile(r"(?:file:)?([^:]+?\.(?:org|md))(?:::.*)?", re.IGNORECASE)
_MARK = re.compile(r"(?<![\w*/=~+])([/=~+])(?=\S)([^\n]{1,200}?)(?<=\S)\1(?![\w*/=~+])")
_STATES = {"DONE": "☑ ", "CANCELLED": "☑ "}
_PROPERTIES = ("author", "date")
_CODE = ("src", "example", "export", "comment")


def read_org(data: bytes) -> SourceText:
    """Read an Org file. What is before a line's text, and drawers, become blank; no line is added or taken."""
    text = decoded(data)[0].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    keywords = [(match[1].lower(), match[2]) for line in lines if (match := _KEYWORD.match(line))]
    said = dict(reversed(keywords))  # the first of each counts
    header: dict[str, str | list[str]] = {name: said[name].strip("<>[]") for name in _PROPERTIES if said.get(name)}
    tags = [tag.strip() for name, value in keywords if name == "filetags" for tag in value.split(":")]
    if tags := list(filter(None, tags)):
        header["tags"] = tags
    return SourceText([Section("", "\n".join(_lines(lines)))], said.get("title", ""), header)


def _lines(lines: Iterable[str]) -> Iterator[str]:
    drawer = code = False
    for line in lines:
        if block := _BLOCK.match(line):
            code = block[1].lower() == "begin" and block[2].lower() in _CODE
            yield ""
        elif code:
            yield plain(line)
        elif drawer or _DRAWER.match(line):
            drawer = not _DRAWER_END.match(line)
            yield ""
        else:
            yield "" if _KEYWORD.match(line) or _COMMENT.match(line) else _line(line)


def _line(line: str) -> str:
    heading = _HEADING.match(line)
    if heading is None:
        return _inline(line)
    stars, state, title, tags = heading.groups()
    box = "" if state is None else _STATES.get(state, "☐ ")
    marks = "".join(f" #{tag}" for tag in (tags or "").split(":") if tag)
    return f"{'#' * min(6, len(stars))} {box}{_inline(title)}{marks}"


def _inline(text: str) -> str:
    pieces, last = [], 0
    for link in _LINK.finditer(text):
        pieces += [_marked(text[last : link.start()]), _link(link[1], link[2])]
        last = link.end()
    return "".join([*pieces, _marked(text[last:])])


def _marked(text: str) -> str:
    return plain(_MARK.sub(r"\2", text))


def _link(target: str, shown: str | None) -> str:
    if note := _NOTE_LINK.fullmatch(target):
        return f"[[{note[1]}|{shown}]]" if shown else f"[[{note[1]}]]"
    return f"[{shown}](<{target}>)" if shown else f"<{target}>" if "://" in target else f"[[{target}]]"
