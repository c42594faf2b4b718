"""A body as a reader sees it: the rendered text, with the way back to each place in the source.

Previews, highlights and one-line summaries all show this text and never the source. What only machines read goes:
marks of emphasis and links, link addresses, HTML, comments, template commands, block ids, rules, plugins' payloads and
pictures. What a mark says to a reader stays, in a sign: ``•`` for an item, ``☐`` and ``☑`` for a task, ``·`` between
the cells of a table.

``cleaning`` makes the text that a model reads of the same body, and keeps its lines; this one keeps its positions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from html import unescape
from typing import ClassVar

from vaultrag.markdown.cleaning import ATTACHMENT, BASE64, DATA_URI, DRAWING_NOTICE, HTML_NAMES, MIN_BASE64_CHARS
from vaultrag.markdown.code_masking import CLOSERS, MAX_CODE_SPAN, MAX_TICKS, QUERY_FENCES, closing_fence, run_of
from vaultrag.markdown.markup import (
    AUTOLINK,
    BADGE,
    BARS,
    BLOCK_ID,
    BY_NAME,
    CALLOUT,
    CLOSING_HASHES,
    DEFINITION,
    DRAWING_HEADING,
    FENCE,
    FIELD,
    FOOTNOTE,
    HEADING,
    INDENT,
    ITEM,
    KEY,
    MACHINE_KEYS,
    MARKDOWN,
    NAME,
    ROW_RULE,
    RULE,
    SIZE,
    SUBSCRIPT,
    TAG,
    TOKEN,
    WIKILINK,
)
from vaultrag.text.inline_markup import ENTITY
from vaultrag.text.offsets import Edit, MappedText, edited
from vaultrag.text.tokenize import has_long_run

_INLINE_TAGS = frozenset(
    """a abbr b cite code del dfn em font i img ins kbd label mark q s samp small span strike strong sub sup tt u
    var""".split()  # noqa: SIM905 (as in cleaning)
)
_HIDING_TAGS = frozenset(("script", "style"))
_SPACES = str.maketrans("\u00a0\n\r\t", "    ")
_SHORT = 100  # openers that a closing mark is looked for among; more is an ornament


def rendered(text: str, whole: str | None = None) -> MappedText:
    """Render a body, or a part of it that begins with a line. Never raises.

    Args:
        text: What is to be rendered.
        whole: The body that it is a part of, where links by name are defined.
    """
    source = f"\n{text}"
    if TOKEN.search(source) is None and "data:" not in text and not has_long_run(text, MIN_BASE64_CHARS):
        return MappedText(text)
    return edited(text, _Renderer(source, text if whole is None else whole).run())


class _Renderer:
    """One walk over one body, which begins with a line end of its own; ``edits`` grows, in no order."""

    def __init__(self, source: str, whole: str) -> None:
        self.source = source
        self.whole = whole
        self.edits: list[Edit] = []
        self.fenced = ("`" in source and "```" in source) or ("~" in source and "~~~" in source)
        self.openers: list[tuple[int, int, str]] = []  # start, length and sign of a mark that may be closed
        self.unclosed: set[str] = set()
        self.row_end = 0  # of the line that is a row of a table
        self.tables: list[tuple[int, int]] = []

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names that links by name lead by; looked for where there is such a link."""
        return frozenset(NAME.findall(f"\n{self.whole}")) if "]:" in self.whole else frozenset()

    def run(self) -> list[Edit]:
        """Return the edits in order, of the body without the line end before it."""
        source = self.source
        for pattern, mark in ((DATA_URI, "data:"), (DRAWING_NOTICE, "==⚠")):
            for data in pattern.finditer(source) if mark in source else ():
                self._cut(*data.span())
        for data in BASE64.finditer(source) if has_long_run(source, MIN_BASE64_CHARS) else ():
            if any(digit in data[0] for digit in "0123456789"):
                self._cut(*data.span())
        if "|" in source and "--" in source:
            self._find_tables()
        self._scan(0, len(source))
        self.edits.sort(key=_outer_first)
        return self.edits

    def _scan(self, start: int, end: int) -> None:
        search, source, by_sign = TOKEN.search, self.source, self.BY_SIGN
        while (found := search(source, start, end)) is not None:
            start = by_sign[source[found.start()]](self, found.start(), found.end())

    def _cut(self, start: int, end: int, text: str = "") -> None:
        self.edits.append((start - 1 if start else 0, end - 1, text))

    def _line_end(self, position: int) -> int:
        end = self.source.find("\n", position)
        return len(self.source) if end < 0 else end

    # -- lines ---------------------------------------------------------------------------------------------------

    def _line(self, start: int, end: int) -> int:
        """Take the layout off the line that begins behind this line end."""
        source = self.source
        self.openers.clear()
        indent = INDENT.match(source, end)
        assert indent is not None  # it may be empty
        quoted, begin = indent[1] is not None, indent.end()
        sign = source[begin : begin + 1]
        fence = FENCE.match(source, begin) if self.fenced else None
        if fence and not (fence[1][0] == "`" and "`" in fence[2]) and len(fence[1]) <= MAX_TICKS:
            return self._fence(start, fence)
        if sign in "-*_=|:+" and (rule := RULE.match(source, begin)):
            self._cut(start, rule.end())
            return rule.end()
        if quoted:
            self._cut(end, begin)
            if sign == "[" and (callout := CALLOUT.match(source, begin)):
                if callout.end() < self._line_end(begin):
                    self._cut(*callout.span())
                else:
                    self._cut(begin, callout.start(1), "")
                    self._cut(callout.start(1), callout.start(1) + 1, callout[1][0].upper())
                    self._cut(callout.end(1), callout.end())
                return callout.end()
        return self._layout(start, begin, sign)

    def _layout(self, start: int, begin: int, sign: str) -> int:
        source = self.source
        if sign == "#" and (heading := HEADING.match(source, begin)):
            self._cut(*heading.span())
            if hashes := CLOSING_HASHES.search(source, heading.end(), self._line_end(begin)):
                self._cut(*hashes.span())
            return heading.end()
        if sign == "|":
            self.row_end = self._line_end(begin)
        elif sign == "[":
            if footnote := FOOTNOTE.match(source, begin):
                return self._footnote(footnote)
            if definition := DEFINITION.match(source, begin):
                self._cut(start, definition.end())
                return definition.end()
        elif (item := ITEM.match(source, begin)) is not None:
            box = "" if item[3] is None else "☐ " if item[3] == " " else "☑ "
            if item[1]:
                self._cut(begin, item.end(), box or "• ")
            elif item.end() > item.start(2) or box:
                self._cut(item.start(2), item.end(), box)
            return item.end()
        return begin

    def _fence(self, start: int, fence: re.Match[str]) -> int:
        """Show a fenced block's content as it is; nothing of a plugin's query or payload."""
        source, mark = self.source, fence[1]
        content = fence.end()
        closing = closing_fence(mark[0], len(mark)).search(source, content)
        end, after = (closing.start(), closing.end()) if closing else (len(source), len(source))
        language = fence[2].split(None, 1)[0].lower() if fence[2].strip() else ""
        drawn = language == "json" and DRAWING_HEADING.search(source, max(0, start - 60), start)
        if language in QUERY_FENCES or drawn:
            self._cut(start, after)
            return after
        self._cut(start, content)
        if ">" in source[start : fence.start()]:
            for line in re.compile(r"\n[ \t]*+>[ \t>]*+").finditer(source, content, end):
                self._cut(line.start() + 1, line.end())
        self._cut(end, after)
        return after

    def _find_tables(self) -> None:
        source = self.source
        for rule in ROW_RULE.finditer(source):
            if self.tables and rule.start() < self.tables[-1][1]:
                continue
            end = source.find("\n\n", rule.end())
            self.tables.append((source.rfind("\n", 0, rule.start()), len(source) if end < 0 else end))
        self.tables.reverse()  # the next one is the last

    def _bar(self, start: int, end: int) -> int:
        """Show what stands between two cells as a dot."""
        while self.tables and self.tables[-1][1] < start:
            self.tables.pop()
        if start > self.row_end and not (self.tables and self.tables[-1][0] < start):
            return end
        source = self.source
        while source[start - 1] in " \t":
            start -= 1
        bars = BARS.match(source, start)
        end = bars.end() if bars else end
        line_begins = source[start - 1] in "\n>" or source.rfind("\n", 0, start) == start - 1
        line_ends = end >= len(source) or source[end] == "\n"
        self._cut(start, end, "" if line_begins or line_ends else " · ")
        return end

    def _key(self, start: int, end: int) -> int:
        """Show an inline field as ``key: value``; nothing of those that a program keeps for itself."""
        line = self.source.rfind("\n", 0, start)
        key = KEY.match(self.source, line + 1, start)
        if key is None or key.end() != start:
            return end
        if MACHINE_KEYS.fullmatch(key[1]):
            end = self._line_end(end)
            self._cut(line, end)
        else:
            self._cut(start, start + 1)
        return end

    # -- within a line -------------------------------------------------------------------------------------------

    def _code(self, start: int, end: int) -> int:
        source, size = self.source, end - start
        if size > MAX_TICKS:
            return end
        closing = run_of("`", size).search(source, end, end + MAX_CODE_SPAN)
        if closing is None or source[closing.end() : closing.end() + 1] == "`":
            return end
        if "\n\n" in source[end : closing.start()]:
            return end  # code spans end with their paragraph
        padded = source[end] == source[closing.start() - 1] == " " and source[end : closing.start()].strip()
        self._cut(start, end + bool(padded))
        self._cut(closing.start() - bool(padded), closing.end())
        return closing.end()

    def _mark(self, start: int, end: int) -> int:
        """Take off a pair of marks of emphasis, once the second of them is there."""
        source, sign = self.source, self.source[start]
        size = end - start
        if sign == "~" and size == 1:
            if (below := SUBSCRIPT.match(source, start)) and source[start - 1].isalnum():
                self._cut(start, end)
                self._cut(below.end() - 1, below.end())
                return below.end()
            return end
        before, after = source[start - 1], source[end : end + 1] or "\n"
        inside = sign == "_" and before.isalnum()  # snake_case is no emphasis
        if inside and after.isalnum():
            return end
        opens = not after.isspace() and not inside
        if not before.isspace():
            start, size = self._close(start, size, sign)
        if opens and size:
            self.openers.append((start, size, sign))
        return end

    def _close(self, start: int, size: int, sign: str) -> tuple[int, int]:
        """Cut a mark and the openers that it closes; return what is left of it."""
        for index in range(len(self.openers) - 1, max(-1, len(self.openers) - _SHORT), -1):
            opener, length, of = self.openers[index]
            if of != sign or opener + length == start:
                continue
            if self.source.find("\n\n", opener, start) >= 0:  # of another paragraph, and so are those before it
                del self.openers[: index + 1]
                break
            taken = min(length, size)
            self._cut(opener + length - taken, opener + length)
            self._cut(start, start + taken)
            del self.openers[index + (length > taken) :]
            if length > taken:
                self.openers[index] = (opener, length - taken, sign)
            start, size = start + taken, size - taken
            if not size:
                break
        return start, size

    def _link(self, start: int, end: int) -> int:
        """Show a link as its text, and an embedded file as its description."""
        source = self.source
        embeds = source[start] == "!"
        if source[end : end + 1] == "[" and (link := WIKILINK.match(source, start)):
            return self._wikilink(link, embeds)
        if link := MARKDOWN.match(source, start):
            first, last = link.span(1)
            if embeds and (size := SIZE.search(link[1])):
                last = first + size.start()
            return self._shown(link, first, last)
        if embeds:
            return end
        if source[end : end + 1] == "!" and (badge := BADGE.match(source, start)):
            return self._shown(badge, *badge.span(1))
        if footnote := FOOTNOTE.match(source, start):
            self._cut(*footnote.span(1))
            return footnote.end(1)
        if (named := BY_NAME.match(source, start)) and (named[2] or named[1]) in self.defined:
            return self._shown(named, *named.span(1))
        if (field := FIELD.match(source, start)) and field[4] == "]":
            self._cut(start, end)
            self._cut(field.end(2), field.end(2) + 1)
            return self._shown(field, field.start(3), field.end(3), cut_head=False)
        return end

    def _footnote(self, footnote: re.Match[str]) -> int:
        self._cut(*footnote.span(1))
        self._cut(*footnote.span(2))
        return footnote.end()

    def _wikilink(self, link: re.Match[str], embeds: bool) -> int:
        target, alias = link[1], link[2]
        if embeds and ATTACHMENT.search(target.partition("#")[0].rstrip("\\ ")):
            self._cut(*link.span())
            return link.end()
        if alias and alias.strip() and not embeds:
            return self._shown(link, *link.span(2))
        first, last = link.start(1), link.start(1) + len(target.rstrip("\\ "))
        anchor = target.find("#")
        if anchor < 0:
            return self._shown(link, first, last)
        self._cut(link.start(), first)
        if target.startswith("^", anchor + 1):
            self._cut(first + anchor, link.end())
        else:
            self._cut(first + anchor, first + anchor + 1, " > " if anchor else "")
            self._cut(last, link.end())
        return link.end()

    def _shown(self, link: re.Match[str], first: int, last: int, *, cut_head: bool = True) -> int:
        """Show of a link only this part, which is itself rendered."""
        if cut_head:
            self._cut(link.start(), first)
        self._scan(first, last)
        self._cut(last, link.end())
        return link.end()

    def _hidden_key(self, start: int, end: int) -> int:
        field = FIELD.match(self.source, start)
        return self._shown(field, *field.span(3)) if field and field[4] == ")" else end

    def _escape(self, start: int, end: int) -> int:
        self._cut(start, end)
        return end if self.source[end : end + 1] == "\n" else end + 1

    def _entity(self, start: int, end: int) -> int:
        entity = ENTITY.match(self.source, start)
        if entity is None or (shown := unescape(entity[0])) == entity[0]:
            return end
        self._cut(*entity.span(), shown.translate(_SPACES))
        return entity.end()

    def _block_id(self, start: int, end: int) -> int:
        block = BLOCK_ID.match(self.source, start)
        if block is None or not self.source[start - 1].isspace():
            return end
        while self.source[start - 1] in " \t":
            start -= 1
        self._cut(start, block.end())
        return block.end()

    def _comment(self, start: int, end: int) -> int:
        mark = self.source[start:end]
        close = -1 if mark in self.unclosed else self.source.find(CLOSERS[mark], end)
        if close < 0:
            self.unclosed.add(mark)  # or a page of "<!--" would look for the end once for each
            return end
        self._cut(start, close + len(CLOSERS[mark]))
        return close + len(CLOSERS[mark])

    def _angle(self, start: int, end: int) -> int:
        source = self.source
        for mark in ("<!--", "<%"):
            if source.startswith(mark, start):
                return self._comment(start, start + len(mark))
        if link := AUTOLINK.match(source, start):
            self._cut(start, end)
            self._cut(link.end() - 1, link.end())
            return link.end()
        tag = TAG.match(source, start)
        if tag is None:
            return end
        name = tag[1].lower()
        if name not in HTML_NAMES and "=" not in tag[2] and not source.startswith("</", start):
            return end
        close = tag.end()
        if name in _HIDING_TAGS and not source.startswith("</", start):
            found = source.find(f"</{name}", close)
            close = close if found < 0 else found
        self._cut(start, close, "" if name in _INLINE_TAGS or source[start - 1] == "\n" else " ")
        return close

    BY_SIGN: ClassVar[Mapping[str, Callable[[_Renderer, int, int], int]]] = {
        "\n": _line, "`": _code, "*": _mark, "_": _mark, "~": _mark, "=": _mark, "[": _link, "!": _link,
        "(": _hidden_key, "\\": _escape, "<": _angle, "&": _entity, "%": _comment, "^": _block_id, "|": _bar, ":": _key,
    }  # fmt: skip


def _outer_first(edit: Edit) -> tuple[int, int]:
    return edit[0], -edit[1]
