"""A note as the rows of the note index: what is written of it to each table. No SQLite here."""

from __future__ import annotations

import json
import re
from unicodedata import normalize

from vaultrag.domain import IndexedEntry, Note, NoteValues
from vaultrag.markdown.note_dates import DateReader
from vaultrag.markdown.titles import without_suffix
from vaultrag.text.tokenize import has_long_run, name_key, parts, prepare

_BLOB_CHARS = 200
_BLOB = re.compile(rf"[A-Za-z0-9+/=_-]{{{_BLOB_CHARS},}}")
_LINK_LINE = re.compile(r"[ \t]*(?:[-*+>] *)*(?:!?\[\[[^\]\n]*\]\][ \t,;|·]*)+")
_to_json = json.JSONEncoder(ensure_ascii=False).encode
_NAMED_ELSEWHERE = {"title", "tags", "tag", "aliases", "alias", "cssclasses", "cssclass"}


def values_of(entry: IndexedEntry, note: Note, dates: DateReader = DateReader()) -> NoteValues:  # noqa: B008 - frozen
    """Return the rows of a note."""
    return NoteValues(
        entry=entry,
        note=(
            entry.path,
            *path_forms(entry.path),
            note.title,
            entry.content_hash,
            entry.text_hash,
            entry.size,
            entry.mtime_ns,
            signed(entry.inode),
            entry.ctime_ns,
            entry.birth_ns,
            note.body_line,
            len(note.text.text.strip()),
            _to_json(dict(note.properties)),
            _to_json(note.problems) if note.problems else "[]",
        ),
        names=[
            *((kind, name, name_key(name), 0, 0) for kind, name in _names(note)),
            *(("heading", one.text, name_key(one.text), one.line, one.level) for one in note.headings),
        ],
        tags=[(tag, normalize("NFC", tag).casefold()) for tag in note.tags],
        links=[
            (link.target, name_key(link_name(link.target)), str(link.kind), link.alias, link.heading, link.block,
             link.line)
            for link in note.links
        ],
        words=_fields(note),
        dates=[
            (one.kind, one.period.first.isoformat(), one.period.last.isoformat(), one.source, one.line, one.last_line)
            for one in dates.read(note)
        ],
    )  # fmt: skip


def signed(inode: int) -> int:
    """SQLite's integers have a sign; some file systems use all 64 bits of an inode."""
    inode &= 0xFFFF_FFFF_FFFF_FFFF
    return inode - (1 << 64) if inode >> 63 else inode


def _names(note: Note) -> list[tuple[str, str]]:
    stem = link_name(note.path)
    named = [("title", note.title)]
    if stem != note.title:
        named.append(("file", stem))
    if "___" in stem and "/" in note.title:  # a link to a page below another leads by its last part, as one to a path
        named.append(("file", note.title.rpartition("/")[2]))
    named.extend(("alias", alias) for alias in note.aliases)
    return named


def _fields(note: Note) -> tuple[str, ...]:
    """Return the texts of the full-text columns, in the order of ``FIELDS``."""
    body = note.body
    if has_long_run(body, _BLOB_CHARS):  # at a hundredth of what the expression takes
        body = _BLOB.sub(" ", body)
    extra = parts(note.title) + parts(body)
    body, linking = _without_link_lines(body)
    extra.extend(linking)
    stem = link_name(note.path)
    title = note.title if stem == note.title else f"{note.title}\n{stem}"
    return (
        prepare(title),
        prepare("\n".join(note.aliases)),
        prepare("\n".join(heading.text for heading in note.headings)),
        prepare("\n".join(note.tags)),
        prepare("\n".join(_property_texts(note))),
        prepare(body),
        prepare("\n".join(extra)),
    )


def _without_link_lines(body: str) -> tuple[str, list[str]]:
    """Return the body with the lines that are nothing but links left empty, and those lines."""
    kept: list[str] = []
    taken: list[str] = []
    done = 0
    place = body.find("[[")
    while place >= 0:
        start, end = body.rfind("\n", 0, place) + 1, body.find("\n", place)
        end = end if end >= 0 else len(body)
        if _LINK_LINE.fullmatch(body, start, end):
            kept.append(body[done:start])
            taken.append(body[start:end])
            done = end
        place = body.find("[[", end)
    return ("".join((*kept, body[done:])), taken) if taken else (body, taken)


def _property_texts(note: Note) -> list[str]:
    texts: list[str] = []
    for name, value in note.properties.items():
        if " " in name:  # a sentence with a colon between two rules: its words are nowhere else
            texts.append(name)
        if name.lower() not in _NAMED_ELSEWHERE:
            texts.extend(value if isinstance(value, tuple) else (value,))
    return texts


def link_name(target: str) -> str:
    """Return the note name a link goes by: its last path component, without ``.md`` or ``.markdown``."""
    name = target.rsplit("/", 1)[-1]
    return without_suffix(name)


def path_forms(path: str) -> tuple[str, str]:
    """Return the path as people write it, and as filters compare it."""
    nfc = path if path.isascii() else normalize("NFC", path)
    return nfc, nfc.casefold()
