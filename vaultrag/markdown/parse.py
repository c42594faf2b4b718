"""A file's bytes into a ``Note``. Pure, and nothing in a file makes it raise: what is odd is said in ``problems``.

Lines are what ``\\n`` ends, after ``\\r\\n`` and ``\\r`` have become ``\\n``. ``str.splitlines`` is never used: it also
splits at form feeds and U+2028, and every line number after one would be wrong.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

from vaultrag.domain import Note, NotePath, NoteText
from vaultrag.markdown import frontmatter, outline
from vaultrag.markdown.cleaning import clean_lifted, without_drawing
from vaultrag.markdown.code_masking import lift
from vaultrag.markdown.inline_fields import inline_fields, merged
from vaultrag.markdown.lenient_header import Properties
from vaultrag.markdown.links import find_links
from vaultrag.markdown.titles import file_title, title_of
from vaultrag.text.encoding import decoded, has_utf16_mark, utf16_without_mark

BINARY_SAMPLE_BYTES = 8192
MIN_BINARY_NULS = 8
"""So many NUL bytes in the sample are no accident in a text."""

_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|<%.*?%>")
"""What a template has in the place of a title."""


def parse_note(path: NotePath, data: bytes) -> Note:
    """Read a note. Never raises.

    A binary file gives a note without a body, and says so; ask ``looks_binary`` first to leave it out altogether.
    """
    if looks_binary(data):
        title = file_title(path)
        return Note(path, title, "", 1, NoteText(title, ""), problems=("binary data, not text",))
    text, problems = _decode(data)
    header, body, body_line = frontmatter.read(text)
    problems += [header.problem] if header.problem else []
    lifted = lift(without_drawing(body) if "excalidraw-plugin" in header.properties else body)
    fields = inline_fields(lifted)
    properties = merged(header.properties, fields) if fields.properties else header.properties
    headings = outline.headings(lifted, body_line)
    title = _title(properties) or title_of(path, headings, body, body_line)
    links = []
    if body_line > 1 and "[" in (written := text[: len(text) - len(body)]):
        links = find_links(written, 1)
    links += find_links(lifted.text, body_line)
    return Note(
        path=path,
        title=title,
        body=body,
        body_line=body_line,
        text=NoteText(title, clean_lifted(lifted)),
        aliases=outline.aliases(properties),
        tags=outline.distinct((*outline.header_tags(header.properties), *fields.tags, *outline.inline_tags(lifted))),
        headings=headings,
        links=tuple(links),
        properties=properties,
        problems=tuple(problems),
    )


def read_body(data: bytes) -> tuple[str, int]:
    """Return a file's text after the frontmatter, and the file line it begins at: all that a preview needs."""
    if looks_binary(data):
        return "", 1
    return frontmatter.body_of(_decode(data)[0])


def file_text(data: bytes) -> str:
    """Return a file's text as a reader gets it, header and all; what cannot be decoded is shown as such."""
    return decoded(data)[0].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def looks_binary(data: bytes) -> bool:
    """Return whether these bytes are no text at all: NULs all over, or some NULs and no UTF-8.

    A text that a file system has filled up with NULs at its end is still a text, and so is one with a few stray ones.
    """
    if has_utf16_mark(data):
        return False
    head = data[:BINARY_SAMPLE_BYTES].rstrip(b"\0")
    nuls = head.count(0)
    if not head or nuls < MIN_BINARY_NULS:
        return bool(data) and not head
    return (nuls * 10 > len(head) or not _is_utf8(head)) and utf16_without_mark(data) is None


def _is_utf8(head: bytes) -> bool:
    """Return whether these are UTF-8; a character cut off at the end is no fault."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _title(properties: Properties) -> str:
    """Return the header's title, on one line, in any letter case; none for a list or a template's placeholder."""
    if not properties:
        return ""
    if (value := properties.get("title")) is None:
        value = next((value for name, value in properties.items() if name.lower() == "title"), "")
    if not isinstance(value, str):
        return ""
    title = " ".join((_PLACEHOLDER.sub("", value) if "{{" in value or "<%" in value else value).split())
    return title if title.isascii() else unicodedata.normalize("NFC", title)


def _decode(data: bytes) -> tuple[str, list[str]]:
    text, problem = decoded(data)
    problems = [problem] if problem else []
    if text.startswith("\ufeff"):
        text = text.lstrip("\ufeff")
    if text.endswith("\0"):  # blocks that were given out but never written: a crash, or a sync service
        kept = text.rstrip("\0")
        problems.append(f"{len(text) - len(kept)} NUL characters at the end, left out")
        text = kept
    if "\0" in text:
        problems.append(f"{text.count(chr(0))} NUL characters, shown as \ufffd")
        text = text.replace("\0", "\ufffd")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, problems
