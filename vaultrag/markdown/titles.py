"""A note's title where its header gives none: its file's name, or its first heading where that name says nothing. Pure.

File names of other programs are read as those mean them: Notion puts 32 hex digits behind a name, and Logseq writes
``a___b`` for ``a/b`` and ``%3F`` for a question mark.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from vaultrag.domain import Heading, NotePath

SUFFIXES = (".md", ".markdown")
"""What the name of a note ends with, in whatever case."""

_NOTION = re.compile(r" [0-9a-f]{32}$")
_ESCAPED = re.compile(r"%(?:2[2AaFf]|3[AaCcEeFf]|5[Cc]|7[Cc]|23|25)")
"""The signs that no file name may hold everywhere, and those that stand for others."""

_UNTITLED = frozenset(
    [
        "untitled",
        "new note",
        "unbenannt",
        "sans titre",
        "sin título",
        "senza nome",
        "senza titolo",
        "sem título",
        "naamloos",
        "bez tytułu",
        "bez názvu",
        "namnlös",
        "adsız",
        "без названия",
        "без назви",
        "未命名",
        "无标题",
        "無題",
        "無題のファイル",
        "제목 없음",
        "بدون عنوان",
        "ללא שם",
    ]
)
_NUMBERED = re.compile(r"[ _-]?\(?\d+\)?$")
_DIGIT = re.compile(r"\d")
_DATE = re.compile(r"(?:19|20)\d\d[-_. ]?(?:[01]\d[-_. ]?[0-3]\d|[-_. ]?W\d\d)|[0-3]\d[-_. ][01]\d[-_. ](?:19|20)\d\d")
_NUMBER = re.compile(r"\d+(?:[-_.: ]\d+)*")
_OPAQUE = re.compile(
    r"\d{12,17}[a-z]?|(?=.*\d)[0-9a-f]{12,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)
"""Times to the minute, hashes, UUIDs."""


def without_suffix(name: str) -> str:
    """Return a note's file name without ``.md`` or ``.markdown``."""
    if name[-3:].lower() == ".md":
        return name[:-3] if len(name) > 3 else name
    return name[:-9] if name[-9:].lower() == ".markdown" and len(name) > 9 else name


def file_title(path: NotePath) -> str:
    """Return what a note is called after its file, composed (NFC)."""
    stem = without_suffix(path[path.rfind("/") + 1 :])
    if len(stem) > 33:
        stem = _NOTION.sub("", stem)
    if "___" in stem and stem.strip("_"):
        stem = stem.replace("___", "/")
    if "%" in stem:
        stem = _ESCAPED.sub(lambda found: chr(int(found[0][1:], 16)), stem)
    return stem if stem.isascii() else unicodedata.normalize("NFC", stem)


def title_of(path: NotePath, headings: Sequence[Heading], body: str, body_line: int) -> str:
    """Return the title of a note whose header has none.

    Args:
        headings: The note's, in order.
        body: The text after the header, which begins at file line ``body_line``.
    """
    name = file_title(path)
    if not headings or not _says_nothing(name) or _says_nothing(headings[0].text):
        return name
    heading = headings[0]
    if _is_given(name):
        return heading.text
    # A number or a day is a name of sorts: only what stands above all text replaces it, not a section of a daily note.
    above = body.split("\n", heading.line - body_line)[:-1] if heading.line - body_line < 20 else ["text"]
    is_title = heading.level == 1 and not any(line.strip() for line in above)
    return heading.text if is_title and not any(other.level == 1 for other in headings[1:]) else name


def _says_nothing(name: str) -> bool:
    if _DIGIT.search(name) is None:  # most names
        return name.lower() in _UNTITLED
    return _is_given(name) or bool(_DATE.fullmatch(name) or _NUMBER.fullmatch(name))


def _is_given(name: str) -> bool:
    """Return whether a program gave this name, of an untitled note or to tell it from others."""
    return bool(_OPAQUE.fullmatch(name)) or _NUMBERED.sub("", name).lower() in _UNTITLED
