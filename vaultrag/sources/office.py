"""Documents, slides and sheets in the formats of office programs (Office Open XML)."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

import docx
import openpyxl
import pptx
from docx.table import Table
from docx.text.paragraph import Paragraph
from lxml import etree

from vaultrag.sources.archives import opened
from vaultrag.sources.pdf import is_said
from vaultrag.sources.source_text import Section, SourceText, Unreadable, one_line, plain

MAX_ROWS = 20_000
MAX_CELLS = 256
_FAULTS = (KeyError, ValueError, AttributeError, TypeError, IndexError, etree.XMLSyntaxError, OSError)


def read_word(data: bytes) -> SourceText:
    """Read a document: its headings, paragraphs, lists, tables and notes in order."""
    document = _opened(data, lambda file: docx.Document(file))
    parts = []
    for block in document.iter_inner_content():
        text = _table(block) if isinstance(block, Table) else _paragraph(block)
        if text:
            parts.append(text)
    return SourceText([Section("", "\n\n".join(parts))], *_said(document.core_properties))


def read_slides(data: bytes) -> SourceText:
    """Read slides, each a section: its title, what stands on it from the top down, and the speaker's notes."""
    deck = _opened(data, pptx.Presentation)
    sections = []
    for number, slide in enumerate(deck.slides, 1):
        shapes = sorted(slide.shapes, key=lambda shape: (shape.top or 0, shape.left or 0))
        title = slide.shapes.title
        lines: list[str] = []
        for shape in shapes:
            if title is None or shape.shape_id != title.shape_id:
                lines += _shape(shape)
        if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
            lines += _plain_lines(frame.text)
        name = one_line(title.text) if title is not None else ""
        sections.append(Section(f"Slide {number}: {name}" if name else f"Slide {number}", "\n\n".join(lines)))
    return SourceText(sections, *_said(deck.core_properties))


def read_sheet(data: bytes) -> SourceText:
    """Read a workbook, each sheet a section, each row a line of the cells that hold something."""
    book = _opened(data, lambda file: openpyxl.load_workbook(file, read_only=True, data_only=True))
    sections, problems = [], []
    for sheet in book.worksheets:
        lines = []
        for number, row in enumerate(sheet.iter_rows(values_only=True, max_col=MAX_CELLS)):
            if number >= MAX_ROWS:
                problems.append(f"only the first {MAX_ROWS:,} rows of {sheet.title} are read")
                break
            if line := " · ".join(filter(None, map(_cell, row))):
                lines.append(plain(line))
        sections.append(Section(f"Sheet {sheet.title}", "\n".join(lines)))
    title, properties = _said(book.properties)
    return SourceText(sections, title, properties, "; ".join(problems))


def _opened(data: bytes, load: Callable[[io.BytesIO], Any]) -> Any:
    opened(data).close()
    try:
        return load(io.BytesIO(data))
    except _FAULTS as error:
        raise Unreadable("damaged: it is no file of its kind") from error


def _paragraph(paragraph: Paragraph) -> str:
    text = plain(one_line(paragraph.text))
    style = (paragraph.style.name or "") if paragraph.style is not None else ""
    if not text:
        return ""
    if style.startswith("Heading") or style == "Title":
        level = style.removeprefix("Heading").strip()
        return f"{'#' * min(6, 2 + int(level))} {text}" if level.isdigit() else f"### {text}"
    return f"- {text}" if style.startswith("List") else text


def _table(table: Table) -> str:
    return "\n".join(_row(cell.text for cell in _once(row.cells)) for row in table.rows)


def _once(cells: Iterable[Any]) -> Iterator[Any]:
    """Pass over the repetitions of a cell that spans several columns."""
    before = None
    for cell in cells:
        if cell._tc is not before:
            yield cell
        before = cell._tc


def _row(cells: Iterable[str]) -> str:
    return plain(" · ".join(filter(None, map(one_line, cells))))


def _shape(shape: Any) -> list[str]:
    if shape.has_text_frame:
        return _plain_lines(shape.text_frame.text)
    if getattr(shape, "has_table", False):
        return ["\n".join(_row(cell.text for cell in row.cells) for row in shape.table.rows)]
    return [line for inner in getattr(shape, "shapes", ()) for line in _shape(inner)]


def _plain_lines(text: str) -> list[str]:
    return [plain(one_line(line)) for line in text.replace("\v", "\n").split("\n") if line.strip()]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return (
            value.date().isoformat() if not (value.hour or value.minute or value.second) else f"{value:%Y-%m-%d %H:%M}"
        )
    if isinstance(value, float):
        return f"{value:.15g}"
    return one_line(str(value))


def _said(properties: Any) -> tuple[str, dict[str, str]]:
    title = one_line(properties.title or "")
    said = {}
    if (author := one_line(getattr(properties, "author", None) or getattr(properties, "creator", None) or "")) and (
        author.lower() not in ("python-docx", "openpyxl", "steve canny")
    ):
        said["author"] = author
    created = properties.created
    if isinstance(created, datetime) and created.year > 2013:  # the year of the templates that libraries begin with
        said["created"] = created.date().isoformat()
    return (title if is_said(title) and title != "PowerPoint Presentation" else ""), said
