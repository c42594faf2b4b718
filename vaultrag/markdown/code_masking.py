"""Code and comments, lifted out of a note's body in one left-to-right look, so that the rest can be read as prose.

Links, tags, headings and cleaning all ask the same question first: is this text, or code, or a comment? It is
answered once, here. Comments (``%%…%%``, ``<!--…-->``), Templater commands (``<% … %>``) and the fences of plugins
that only draw or query become blank. Other code leaves a placeholder, one ``\\0`` for each piece on each line, and is
put back where it is wanted: code is searched for, but a ``#define`` in it is no tag.

The number of lines never changes. What is opened and never closed is text, not a comment: nothing is lost for a
stray ``%%``. Only code fences run to the end of the note, as Markdown has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

PLACEHOLDER = "\0"

QUERY_FENCES = frozenset(("dataview", "dataviewjs", "query", "tasks", "compressed-json"))
"""Languages of fences that hold a plugin's query or payload and say nothing about the note."""

MAX_CODE_SPAN = 5_000
"""Characters in which an inline code span must close. Keeps a page of stray backticks linear."""

MAX_TICKS = 64
"""Backticks in one mark; a longer run is an ornament."""

MAX_FENCE_PREFIX = 120
"""Characters of indentation, quote marks and list marker before a fence."""

# Group: the content of a plain code span, which is nearly all there is. Each branch begins with a literal ("``*", not
# "`+"): then the search skips what cannot begin one.
_OPENING = re.compile(r"`(?:(?<!\\`)([^`\n]++)`(?!`)|`*+)|~~~~*+|%%|<!--|<%")
CLOSERS = {"%%": "%%", "<!--": "-->", "<%": "%>"}
_FENCE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_DRAWING_HEADING = re.compile(r"(?:^|\n)#{1,2} Drawing\s*$")


@dataclass(frozen=True, slots=True)
class Lifted:
    """A body without its code and comments.

    Attributes:
        text: As many lines as the body; ``\\0`` stands where a piece of code was.
        code: The pieces, in order, none with a line end in it.
    """

    text: str
    code: Sequence[str] = ()

    def restore(self, text: str, first: int = 0) -> str:
        """Put the code back into (a part of) ``text``, whose first placeholder stands for piece ``first``."""
        if PLACEHOLDER not in text:
            return text
        parts = text.split(PLACEHOLDER)
        pieces = self.code[first : first + len(parts) - 1]
        return parts[0] + "".join(code + after for code, after in zip(pieces, parts[1:], strict=True))

    def before(self, position: int) -> int:
        """Return how many placeholders stand in front of ``position``."""
        return self.text.count(PLACEHOLDER, 0, position) if self.code else 0


def lift(body: str) -> Lifted:
    """Take code and comments out of ``body``."""
    if PLACEHOLDER in body:
        body = body.replace(PLACEHOLDER, "\ufffd")
    # One character is looked for ten times as fast as several, and most notes have none of these.
    if not (
        "`" in body
        or ("%" in body and "%%" in body)
        or ("<" in body and ("<!--" in body or "<%" in body))
        or ("~" in body and "~~~" in body)
    ):
        return Lifted(body)
    return _Lifter(body).run()


class _Lifter:
    """One walk over one body: ``text`` and ``code`` grow, ``done`` is how far the body has been copied."""

    def __init__(self, body: str) -> None:
        self.body = body
        self.done = 0
        self.text: list[str] = []
        self.code: list[str] = []
        self.unclosed: set[str] = set()

    def run(self) -> Lifted:
        body, position, search = self.body, 0, _OPENING.search
        while (found := search(body, position)) is not None:
            mark, content = found[0], found[1]
            if content:
                self.text.append(body[self.done : found.start()] + PLACEHOLDER)
                self.code.append(content)
                self.done = position = found.end()
            elif mark in CLOSERS:
                position = self._comment(mark, found.start())
            elif 3 <= len(mark) <= MAX_TICKS and (end := self._fence(mark, found.start())):
                position = end
            elif mark[0] == "`":
                position = self._span(mark, found.start())
            else:
                position = found.end()
        self.text.append(self.body[self.done :])
        return Lifted("".join(self.text), self.code)

    def _copy_until(self, start: int) -> None:
        self.text.append(self.body[self.done : start])

    def _comment(self, mark: str, start: int) -> int:
        inside = start + len(mark)
        end = -1 if mark in self.unclosed else self.body.find(CLOSERS[mark], inside)
        if end < 0:
            self.unclosed.add(mark)  # or a page of "<!--" would look for the end once for each
            return inside
        self._copy_until(start)
        self.done = end + len(CLOSERS[mark])
        self.text.append("\n" * self.body.count("\n", start, self.done))
        return self.done

    def _span(self, mark: str, start: int) -> int:
        """Lift a code span that is escaped, many-ticked or longer than a line; returns where to go on."""
        inside = start + len(mark)
        if start and self.body[start - 1] == "\\":
            return start + 1
        if len(mark) > MAX_TICKS:
            return inside
        closing = run_of(mark[0], len(mark)).search(self.body, inside, inside + MAX_CODE_SPAN)
        if closing is None or self.body[closing.end() : closing.end() + 1] == "`":
            return inside
        content = self.body[inside : closing.start()]
        if "\n" in content and _BLANK_LINE.search(content):
            return inside  # code spans end with their paragraph
        self._copy_until(start)
        self._hide(content[1:-1] if content[:1] == content[-1:] == " " and content.strip() else content)
        self.done = closing.end()
        return self.done

    def _fence(self, mark: str, start: int) -> int:
        """Lift a fenced block; returns where to go on, or 0 when there is no fence here."""
        body = self.body
        earliest = max(self.done, start - MAX_FENCE_PREFIX)
        line = body.rfind("\n", earliest, start) + 1
        if not line and earliest:
            line = earliest if body[earliest - 1] == "\n" else -1
        if line < 0 or not _FENCE_PREFIX.fullmatch(body, line, start):
            return 0
        info_end = body.find("\n", start)
        info = body[start + len(mark) : info_end if info_end >= 0 else len(body)].strip()
        if mark[0] == "`" and "`" in info:
            return 0
        content = info_end if info_end >= 0 else len(body)
        closing = closing_fence(mark[0], len(mark)).search(body, content)
        self._copy_until(start)
        if closing and self._is_payload(info, start):
            self.text.append("\n" * body.count("\n", content, closing.start()))
        else:
            self._hide(body[content : closing.start() if closing else len(body)])
        if closing is None:
            self.done = len(body)
        else:
            self.done = closing.end()
            self.text.append("\n")
        return self.done

    def _is_payload(self, info: str, start: int) -> bool:
        language = info.split(None, 1)[0].lower() if info else ""
        if language == "json":
            return _DRAWING_HEADING.search(self.body, max(0, start - 60), start) is not None
        return language in QUERY_FENCES

    def _hide(self, content: str) -> None:
        if not content:
            return
        if "\n" not in content:
            self.code.append(content)
            self.text.append(PLACEHOLDER)
            return
        lines = content.split("\n")
        # Out of its fence, "# a comment" would be a heading; indented as far as this, it is none.
        self.code.extend("    " + line if line[0] == "#" else line for line in lines if line.strip())
        self.text.append("\n".join(PLACEHOLDER if line.strip() else "" for line in lines))


@lru_cache(maxsize=64)
def run_of(character: str, length: int) -> re.Pattern[str]:
    """Match exactly ``length`` of ``character``."""
    return re.compile(rf"(?<!{character}){character}{{{length}}}(?!{character})")


@lru_cache(maxsize=64)
def closing_fence(character: str, length: int) -> re.Pattern[str]:
    """Match a line that is nothing but the closing fence, with the line end in front of it."""
    return re.compile(rf"\n[ \t>]*{character}{{{length},}}[ \t]*(?=\n|\Z)")
