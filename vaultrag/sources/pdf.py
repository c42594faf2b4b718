"""PDF files with a text layer, by PDFium: a section a page. A page that is a picture is named, not read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from statistics import median

import numpy as np
import pypdfium2 as pdfium
from numpy.typing import NDArray
from pypdfium2 import raw

from vaultrag.sources.source_text import MAX_CHARS, Section, SourceText, Unreadable, one_line, plain

MAX_PAGES = 5000
MAX_PICTURES = 500
"""Pages of one file whose text is recognised, each of which takes some seconds."""

DPI, LONGEST_SIDE = 200, 2600
"""What a page is drawn at for that; its longer side has so many pixels at most."""

NO_TEXT = "no text layer on {}"

Pixels = NDArray[np.uint8]

_PASSWORD = raw.FPDF_ERR_PASSWORD
_HYPHEN = re.compile("(?<=[^\\W\\d_])[\ufffe\u00ad](?:\r?\n)?|(?<=[a-zà-ÿ])-\r?\n(?=[a-zà-ÿ])")
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?")
_GENERATED = re.compile(
    r"(?i)(?:microsoft (?:word|powerpoint)|untitled|powerpoint|slide 1\b|\(.*\)$"
    r"|.*\.(?:docx?|tex|dvi|indd|pdf|pptx?|qxd)$)"
)
"""What a program writes where its user gave no title."""
_BULLET = re.compile(r"[•·▪◦‣–-]\s|\(?\d{1,3}[.)]\s|\(?[a-z][.)]\s")
_SHORT_LINE = 0.75  # of the usual length: a paragraph ends with it


def read_pdf(data: bytes, recognise: Callable[[Pixels], str] | None = None) -> SourceText:
    """Read a PDF.

    Args:
        data: Of the file.
        recognise: Reads the text in a picture; without it pages that are pictures stay empty.

    Raises:
        Unreadable: It is encrypted, or damaged.
    """
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD or "password" in str(error).lower():
            raise Unreadable("protected by a password") from error
        raise Unreadable("damaged: it cannot be opened as a PDF") from error
    sections: list[Section] = []
    pictures: list[int] = []
    recognised: list[int] = []
    size = 0
    pages = len(document)
    for number in range(1, min(pages, MAX_PAGES) + 1):
        try:
            text = _page(document, number - 1)
        except pdfium.PdfiumError:
            text = None
        if text:
            text = plain(text)
        elif recognise is not None and len(recognised) < MAX_PICTURES:
            text = recognise(_picture(document, number - 1))
            recognised.append(number)
        else:
            pictures.append(number)
        sections.append(Section(f"Page {number}", text or ""))
        size += len(text or "")
        if size > MAX_CHARS:
            break
    said = document.get_metadata_dict(skip_empty=True)
    problems = [NO_TEXT.format(_pages(pictures, pages))] if pictures else []
    if len(sections) < pages:
        problems.append(f"only the first {len(sections)} of {pages} pages are read")
    return SourceText(sections, _title(said), _properties(said), "; ".join(problems), len(pictures))


def _page(document: pdfium.PdfDocument, index: int) -> str:
    page = document[index]
    try:
        words = page.get_textpage()
        try:
            return paragraphs(words.get_text_bounded(errors="replace"))
        finally:
            words.close()
    finally:
        page.close()


def _picture(document: pdfium.PdfDocument, index: int) -> Pixels:
    """Return a page as a picture: uint8[height, width, 3]."""
    page = document[index]
    try:
        longest = max(1.0, *page.get_size())  # in points, of which there are 72 to the inch
        bitmap = page.render(scale=min(DPI / 72, LONGEST_SIDE / longest), rev_byteorder=True)
        try:
            return np.ascontiguousarray(bitmap.to_numpy()[:, :, :3])
        finally:
            bitmap.close()
    finally:
        page.close()


def paragraphs(text: str) -> str:
    """Join the lines of a page into paragraphs, and words that were hyphenated at the end of a line."""
    text = _HYPHEN.sub("", text)
    text = _LIGATURE.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    text = "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Co", "Cn"))
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return "\n".join(_joined(lines))


def _joined(lines: list[str]) -> Iterator[str]:
    usual = median([len(line) for line in lines if line] or [0])
    paragraph = ""
    for line in lines:
        if not line or _BULLET.match(line):
            if paragraph:
                yield paragraph
            paragraph = line
        else:
            paragraph = f"{paragraph} {line}" if paragraph else line
        if line and len(line) < _SHORT_LINE * usual:
            yield paragraph
            paragraph = ""
    if paragraph:
        yield paragraph


def _title(said: Mapping[str, str]) -> str:
    title = one_line(said.get("Title", ""))
    return title if len(title) >= 4 and is_said(title) else ""


def is_said(text: str) -> bool:
    """Return whether a person gave this title or name, and not a program."""
    return bool(text.strip()) and _GENERATED.match(text.strip()) is None


def _properties(said: Mapping[str, str]) -> dict[str, str]:
    properties = {name.lower(): one_line(said[name]) for name in ("Author", "Subject") if is_said(said.get(name, ""))}
    if date := _DATE.match(said.get("CreationDate", "")):
        properties["created"] = "-".join(part for part in date.groups() if part)
    return properties


def _pages(numbers: list[int], of: int) -> str:
    if len(numbers) == of:
        return "its one page" if of == 1 else f"any of its {of} pages"
    shown = ", ".join(map(str, numbers[:5]))
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    return f"page{'s' if len(numbers) > 1 else ''} {shown}{more}"
