"""A body as a model should read it: what a person wrote, without the machinery around it.

Cleaning blanks things out and *never* adds or removes a line, so a line of the result is the same line of the body.

Goes: comments, template tags, data URIs, plugins' payloads and queries, embedded pictures, HTML tags, block ids, rules
(also those of tables), quote marks of callouts, link addresses, ``**`` and ``~~`` around words, long runs of base64.
Stays: the visible text of links, the names of embedded notes, code, ``*``, ``_`` and ``==``, and the marks that begin
a heading, a list item, a quote or a table row: ``windows`` needs these to know where a passage may end.
"""

from __future__ import annotations

import re
from typing import Final

from vaultrag.markdown.code_masking import PLACEHOLDER, Lifted, lift
from vaultrag.markdown.links import MARKDOWN_TAIL, WIKILINK_TAIL
from vaultrag.text.tokenize import has_long_run

CLEANING_VERSION: Final = 1
"""Part of every index's identity: raise it when the same body would come out differently."""

MIN_BASE64_CHARS = 200
"""A run of so many base64 signs is data, not a word."""

# Code was lifted out and left placeholders; whatever is dropped must not swallow one.
_LINK = re.compile(rf"\[(?:{WIKILINK_TAIL}|{MARKDOWN_TAIL})")
_EMBED = re.compile(rf"!\[(?:{WIKILINK_TAIL}|{MARKDOWN_TAIL})")
_TEMPLATE = re.compile(r"\{\{[^{}\n\0]*+\}\}")
DATA_URI = re.compile(
    r"\bdata:(?:(?:image|audio|video|font|text|application|model)/[\w.+-]++|(?=;base64))(?:;[\w=.+-]++)*+,[^\s)\"'>\]\0]*+"
)
_HTML_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*+)(?:[\s/][^<>\n\0]*+)?>")
HTML_NAMES = frozenset(
    """a abbr article aside audio b big blockquote body br button canvas caption center cite code col colgroup dd del
    details dfn div dl dt em figcaption figure font footer form g h1 h2 h3 h4 h5 h6 head header hr html i iframe img
    input ins kbd label li link main mark meta nav ol p path picture pre progress q s samp script section small source
    span strike strong style sub summary sup svg table tbody td tfoot th thead time title tr tt u ul var video
    """.split()  # noqa: SIM905 (ninety quoted names would hide what they are)
)
_BLOCK_ID = re.compile(r"\^(?<![^\s]\^)[A-Za-z0-9-]++[ \t]*+(?=\n|\Z)")
_RULE = re.compile(r"\n[ \t>]*+(?:[-*_=|:+][ \t]*+){2,}+(?=\n|\Z)")
_CALLOUT = re.compile(r"(\n[ \t>]*>[ \t]*)\[![\w-]++[^\]\n\0]*+\][-+]?")
# Only at the edge of a word: "2**3" keeps its stars. The look back comes second so that the search can go by "**".
_STRONG = re.compile(r"\*\*(?:(?<![\w*~]\*\*)(?=[^\s*])|(?<=[^\s*]\*\*)(?![\w*]))")
_STRUCK = re.compile(r"~~(?:(?<![\w*~]~~)(?=[^\s~])|(?<=[^\s~]~~)(?![\w~]))")
BASE64 = re.compile(rf"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{{{MIN_BASE64_CHARS},}}+")
ATTACHMENT = re.compile(r"\.(?!md$)[A-Za-z0-9]{1,12}$")
_DRAWING = re.compile(r"(?:^|\n)(?:%%[ \t]*\n)?#{1,2} Drawing[ \t]*(?=\n|\Z)")
DRAWING_NOTICE = re.compile(r"==⚠[^\n]*⚠==[^\n]*")


def clean(body: str, *, drawing: bool = False) -> str:
    """Clean a body.

    Args:
        body: The text after the frontmatter.
        drawing: The note is an Excalidraw drawing: keep its text elements, drop the picture.

    Returns:
        Text of exactly as many lines.
    """
    return clean_lifted(lift(without_drawing(body) if drawing else body))


def without_drawing(body: str) -> str:
    """Blank an Excalidraw note's picture, which is everything from its ``Drawing`` heading on."""
    body = DRAWING_NOTICE.sub("", body)
    found = _DRAWING.search(body)
    return body if found is None else body[: found.start()] + "\n" * body.count("\n", found.start())


def clean_lifted(lifted: Lifted) -> str:
    """Clean a body whose code and comments have been lifted out; the code comes back."""
    text = lifted.text
    if "data:" in text:
        text = DATA_URI.sub("", text)
    if "{" in text:
        text = _TEMPLATE.sub("", text)
    if "[" in text:
        text = _links_shown(text)
    if "<" in text:
        text = _HTML_TAG.sub(_without_tag, text)
    if "^" in text:
        text = _BLOCK_ID.sub("", text)
    text = _unmarked(text)
    text = _RULE.sub("\n", "\n" + text)
    if ">" in text and "[!" in text:
        text = _CALLOUT.sub(r"\1", text)
    text = lifted.restore(text[1:])
    return BASE64.sub(_without_data, text) if has_long_run(text, MIN_BASE64_CHARS) else text


def visible(line: str) -> str:
    """One line's text as it is shown: links as their text, no marks of code or emphasis, single spaces."""
    line = _unmarked(_links_shown(line) if "[" in line else line)
    if line[:1] == "*" == line[-1:]:
        line = line.strip("*")
    return " ".join(line.split())


def _unmarked(text: str) -> str:
    # One character is looked for ten times as fast as two.
    if "*" in text and "**" in text:
        text = _STRONG.sub("", text)
    return _STRUCK.sub("", text) if "~" in text and "~~" in text else text


def _links_shown(text: str) -> str:
    if "!" in text and "![" in text:
        text = _EMBED.sub(_shown_embed, text)
    return _LINK.sub(_shown_link, text)


def _shown_link(found: re.Match[str]) -> str:
    target, alias, label, _, _ = found.groups()
    shown = label if target is None else alias.strip() if alias else _name(target)
    return _kept(shown, found)


def _shown_embed(found: re.Match[str]) -> str:
    """Return the name of a note that is shown in this one; nothing of a picture but its description."""
    target, _, label, _, _ = found.groups()
    if target is None:
        return _kept(label, found)
    attachment = ATTACHMENT.search(target.partition("#")[0].rstrip("\\ "))
    return _kept("" if attachment else _name(target), found)


def _name(target: str) -> str:
    """Return a wikilink without alias, as Obsidian shows it: ``note > heading``, without a block id."""
    name, _, anchor = target.rstrip("\\").partition("#")
    if not anchor or anchor.startswith("^"):
        return name.strip()
    return " > ".join(part.strip() for part in (name, *anchor.split("#")) if part.strip())


def _kept(shown: str, found: re.Match[str]) -> str:
    """``shown``, unless a placeholder would be lost with the rest of the link: then the link stays as it is."""
    whole = found[0]
    if PLACEHOLDER in whole and whole.count(PLACEHOLDER) != shown.count(PLACEHOLDER):
        return whole
    return shown


def _without_tag(found: re.Match[str]) -> str:
    """Only names that HTML knows: ``<String>`` and ``<your name>`` are text."""
    return "" if found[1].lower() in HTML_NAMES else found[0]


def _without_data(found: re.Match[str]) -> str:
    """Take out long runs of data, which have digits; a very long word, or a rule, has none."""
    run = found[0]
    return "" if any(digit in run for digit in "0123456789") else run
