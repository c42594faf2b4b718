"""A note's own dates: when it was made, when it was changed, the day it is about, and the days of its entries. Pure.

A file's times are no help: a sync, a clone or a copy sets them to today. So a date is read from what the note says, and
each tells where it was read. In this order: properties (inline ones too), the name of a periodic note, a date in the
file name, one in the first heading, a line that an importer wrote (``Created: March 12, 2025``). What is read from none
of these is left to the file's times, which whoever asks compares at that moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from vaultrag.domain import Heading, Note
from vaultrag.domain.dates import DateNames, FoundDate, Period, PeriodicFormat
from vaultrag.markdown.moment_format import MomentFormat, moment_format
from vaultrag.markdown.property_flags import key_of, texts
from vaultrag.markdown.titles import without_suffix
from vaultrag.text.dates import dates_in, read_date

MAX_ENTRIES = 2_000
"""Dated sections and lines of one note that are kept."""

IMPORT_LINES = 20
"""Lines at a note's beginning among which an importer's dates stand."""

PERIODIC_SOURCES = {
    "daily": "daily note", "weekly": "weekly note", "monthly": "monthly note", "quarterly": "quarterly note",
    "yearly": "yearly note",
}  # fmt: skip

_IMPORTED = re.compile(
    r"[ \t>*_-]*(?:(?P<created>(?:date )?created(?: at| on| time| date)?|creation date|erstellt(?: am)?|créée? le"
    r"|cree le|creado|fecha de creación|作成日時?|创建(?:时间|日期)|建立日期)"
    r"|(?P<updated>(?:last )?(?:updated|modified|edited)(?: at| on| time| date)?|geändert(?: am)?|modifiée? le"
    r"|modificado|更新日時?|更新(?:时间|日期)))[*_]*\s*[:：][*_]*\s*(?P<value>\S[^\n]{3,60})",
    re.IGNORECASE,
)
_NAME_DATE = re.compile(r"(?<!\d)(\d{4})([-_. ]?)(\d\d)\2(\d\d)(?!\d)")
_NAME_WEEK = re.compile(r"(?<![^\W_])\d{4}-?(?:W\d\d|Q[1-4])(?![^\W_])", re.IGNORECASE)
_NAME_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])(?![\d-])")
_LINE_DATE = re.compile(r"(?m)^[ \t>]*(?:[-*+][ \t]+(?:\[.\][ \t]+)?)?[*_\[(]{0,4}(?=\d|[^\W\d_]{3,10}\.?,? \d)")
_LINE_CHARS = 40
_LONGEST_RANGE = 62


@dataclass(frozen=True, slots=True)
class PeriodicNames:
    """The formats of a vault's periodic notes, ready to read paths."""

    formats: tuple[tuple[str, str, MomentFormat], ...] = ()

    @classmethod
    def of(cls, formats: Iterable[PeriodicFormat]) -> PeriodicNames:
        """Compile formats; those that cannot be read are left out."""
        made = ((one.folder.strip("/"), PERIODIC_SOURCES[one.kind], moment_format(one.format)) for one in formats)
        return cls(tuple((folder, source, compiled) for folder, source, compiled in made if compiled is not None))

    def read(self, path: str) -> tuple[Period, str] | None:
        """Return the span that a note's path stands for, and of what kind it is."""
        name = without_suffix(path)
        for folder, source, compiled in self.formats:
            if folder and not name.casefold().startswith(f"{folder.casefold()}/"):
                continue
            period = compiled.read(name[len(folder) + 1 :] if folder else name)
            if period is not None:
                return period, source
        return None


DEFAULT_NAMES = DateNames(("created",), ("updated", "modified"), ("date", "published"))


@dataclass(frozen=True, slots=True)
class DateReader:
    """Reads the dates of a vault's notes.

    Attributes:
        names: The properties that hold dates.
        periodic: How periodic notes are named.
        zone: The owner's time zone; the machine's own by default.
    """

    names: DateNames = DEFAULT_NAMES
    periodic: PeriodicNames = PeriodicNames()
    zone: tzinfo | None = None

    @property
    def recipe(self) -> str:
        """Return a text that changes when notes' dates would be read otherwise."""
        formats = [(folder, source, compiled.pattern.pattern) for folder, source, compiled in self.periodic.formats]
        return repr((self.names, formats)) if self != DateReader() else ""

    def read(self, note: Note) -> list[FoundDate]:
        """Return what a note says of its dates; at most one each of ``about``, ``created`` and ``updated``."""
        properties: dict[str, tuple[str, Sequence[str]]] = {}
        for name, value in note.properties.items():
            properties.setdefault(_key(name), (name, texts(value)))
        created = self._property(properties, self.names.created)
        updated = self._property(properties, self.names.updated)
        about = self._property(properties, self.names.about)
        named = self.periodic.read(note.path) or _of_file_name(note.path) or _of_heading(note.headings)
        about = about or named
        if created is None or updated is None:
            made, changed = self._imported(note.body)
            created, updated = created or made or named, updated or changed
        kept = (("about", about or created), ("created", created), ("updated", updated))
        dates = [FoundDate(kind, one[0], one[1]) for kind, one in kept if one is not None]  # type: ignore[arg-type]
        return [*dates, *_entries(note)]

    def _property(
        self, properties: dict[str, tuple[str, Sequence[str]]], names: Sequence[str]
    ) -> tuple[Period, str] | None:
        for wanted in names:
            name, values = properties.get(_key(wanted), ("", ()))
            for value in values[:1]:
                if (period := read_date(value, self.zone)) is not None:
                    return period, f"property {name}"
        return None

    def _imported(self, body: str) -> tuple[tuple[Period, str] | None, tuple[Period, str] | None]:
        made: dict[str, tuple[Period, str]] = {}
        if ":" in body or "：" in body:
            for line in body.split("\n", IMPORT_LINES)[:IMPORT_LINES]:
                if (match := _IMPORTED.match(line)) is not None:
                    kind = "created" if match["created"] else "updated"
                    if (period := read_date(match["value"].strip(" *_"), self.zone)) is not None:
                        made.setdefault(kind, (period, "text"))
        return made.get("created"), made.get("updated")


def _key(name: str) -> str:
    return key_of(name).replace(" ", "_")


def _of_file_name(path: str) -> tuple[Period, str] | None:
    """Return a date in the file's name; of two, the span from one to the other."""
    stem = without_suffix(path[path.rfind("/") + 1 :])
    if not any(map(str.isdigit, stem)):
        return None
    days = [
        period
        for match in _NAME_DATE.finditer(stem)
        if (period := read_date(f"{match[1]}-{match[3]}-{match[4]}")) is not None
    ] or [period for _, _, period in dates_in(stem)]
    if not days:
        coarse = _NAME_WEEK.search(stem) or _NAME_MONTH.match(stem)
        period = read_date(coarse[0]) if coarse is not None else None
        return (period, "file name") if period is not None else None
    first, last = min(days).first, max(days).last
    return (Period(first, last) if (last - first).days <= _LONGEST_RANGE else days[0]), "file name"


def _of_heading(headings: Sequence[Heading]) -> tuple[Period, str] | None:
    """Return a date in the first heading, if no other heading has its level: a journal has one a day."""
    if not headings or sum(one.level <= headings[0].level for one in headings) > 1:
        return None
    dates = dates_in(headings[0].text)
    return (dates[0][2], "heading") if dates else None


def _entries(note: Note) -> list[FoundDate]:
    """Sections whose heading is dated, and lines that begin with a date."""
    found: list[FoundDate] = []
    for number, heading in enumerate(note.headings):
        if any(map(str.isdigit, heading.text)) and (dates := dates_in(heading.text)):
            following = (one.line for one in note.headings[number + 1 :] if one.level <= heading.level)
            last = next(following, 0) - 1
            found += [FoundDate("entry", dates[0][2], "heading", heading.line, max(last, 0))]
    at, line = 0, note.body_line
    for match in _LINE_DATE.finditer(note.body):
        if len(found) >= MAX_ENTRIES:
            break
        line += note.body.count("\n", at, match.start())
        at = match.start()
        dates = dates_in(note.body[match.end() : match.end() + _LINE_CHARS].partition("\n")[0])
        if dates and dates[0][0] <= 1 + _WEEKDAY_CHARS:
            found.append(FoundDate("entry", dates[0][2], "line", line, line))
    return found[:MAX_ENTRIES]


_WEEKDAY_CHARS = 12
