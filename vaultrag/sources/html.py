"""Web pages as a reader sees them: headings, paragraphs, lists and tables, without scripts, styles and navigation."""

from __future__ import annotations

import re

import lxml.html
from lxml import etree

from vaultrag.sources.source_text import Section, SourceText, Unreadable, one_line, plain
from vaultrag.text.encoding import decoded

MAX_DEPTH = 200

_LEFT_OUT = frozenset(
    ("script", "style", "noscript", "template", "nav", "svg", "head", "iframe", "object", "form", "button", "select")
)
_HEADINGS = {"h1": 3, "h2": 3, "h3": 4, "h4": 5, "h5": 6, "h6": 6}
_BLOCKS = frozenset(
    """p div section article main header footer aside blockquote pre ul ol dl dt dd table figure figcaption address hr
    body html br""".split()  # noqa: SIM905 (one line a name would be a page)
)
_DECLARED = re.compile(rb"^\s*<\?xml[^>]{0,200}\?>")


def read_html(data: bytes) -> SourceText:
    """Read a web page."""
    root = parsed(data)
    if root is None:
        return SourceText(())
    title = one_line(root.findtext(".//title") or "")
    said = {}
    for name in ("author", "description"):
        for meta in root.iterfind(f".//meta[@name='{name}']"):
            if value := one_line(meta.get("content") or ""):
                said[name] = value
    return SourceText([Section("", text_of(root))], title, said)


def parsed(data: bytes) -> lxml.html.HtmlElement | None:
    """Return the root of a page; None where there is nothing on it. Nothing is loaded, no entity is resolved."""
    text = decoded(_DECLARED.sub(b"", data))[0].replace("\0", "")
    if not text.strip():
        return None
    parser = lxml.html.HTMLParser(no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        return lxml.html.document_fromstring(text, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable("damaged: it cannot be read as a web page") from error


def text_of(root: etree._Element) -> str:
    """Return the text below an element, as Markdown."""
    writer = _Writer()
    writer.walk(root, 0)
    return writer.text()


class _Writer:
    """Collects lines of text in reading order."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._words: list[str] = []
        self._lead = ""

    def text(self) -> str:
        self._end()
        return "\n\n".join(self._lines)

    def walk(self, element: etree._Element, depth: int) -> None:
        name = etree.QName(element).localname.lower() if isinstance(element.tag, str) else ""
        if name in _LEFT_OUT or depth > MAX_DEPTH:
            return
        block = name in _BLOCKS or name in _HEADINGS or name in ("li", "tr")
        if block:
            self._end()
        if name in _HEADINGS:
            self._lead = "#" * _HEADINGS[name] + " "
        elif name == "li":
            self._lead = "- "
        self._words.append(element.text or "")
        for child in element:
            self.walk(child, depth + 1)
            if etree.QName(child).localname in ("td", "th") if isinstance(child.tag, str) else False:
                self._words.append(" · ")
            self._words.append(child.tail or "")
        if block:
            self._end()

    def _end(self) -> None:
        words = one_line("".join(self._words)).removesuffix(" ·").removesuffix("·")
        if words:
            self._lines.append(self._lead + plain(words))
        self._words, self._lead = [], ""
