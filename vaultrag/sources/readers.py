"""Which reader reads which kind of file. Imported in the child process only, but for what is asked of it by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Final

from vaultrag.config import SourceSettings
from vaultrag.domain.kinds import Kind, ReadKinds
from vaultrag.sources.source_text import SourceText

Reader = Callable[[bytes], SourceText]

READERS_VERSION = 1
"""To be raised when a reader makes another text of the same file: every file is then read anew."""

RECOGNISE = "recognise"
"""Has the process read the text in pictures."""

EXTRA = "attachments"
"""The extra that the libraries of some kinds come with."""

_OFFICE: Final[tuple[Kind, ...]] = ("word", "slides", "sheet")
_NEEDS: Final[Mapping[Kind, str]] = {
    "word": "docx", "slides": "pptx", "sheet": "openpyxl", "epub": "lxml", "html": "lxml", "mail": "lxml",
    "image": "rapidocr",
}  # fmt: skip


def missing_extra(kind: Kind) -> str:
    """Return the extra that must be installed for this kind to be read; empty where nothing is missing."""
    module = _NEEDS.get(kind)
    return EXTRA if module is not None and find_spec(module) is None else ""


def read_kinds(settings: SourceSettings) -> ReadKinds:
    """Return which kinds of file can be read here, by the settings and by what is installed."""
    lacking = {kind: extra for kind in settings.kinds if (extra := missing_extra(kind))}
    read: frozenset[Kind] = frozenset(("note", *(kind for kind in settings.kinds if kind not in lacking)))
    lacking.pop("image", None)  # there may be thousands, and most hold no text: they are not listed one by one
    return ReadKinds(read, lacking, settings.max_bytes)


def load_recognisers() -> dict[Kind, Reader]:
    """Load what reads the text in pictures, and in PDF files whose pages are pictures."""
    from functools import partial

    from vaultrag.sources.ocr import Recogniser
    from vaultrag.sources.pdf import read_pdf

    recogniser = Recogniser()
    return {"image": recogniser.read_image, "pdf": partial(read_pdf, recognise=recogniser.text_of)}


def load() -> dict[Kind, Reader]:
    """Import every reader that can be had here."""
    from vaultrag.sources.base import read_base
    from vaultrag.sources.canvas import read_canvas
    from vaultrag.sources.org import read_org
    from vaultrag.sources.pdf import read_pdf

    readers: dict[Kind, Reader] = {"canvas": read_canvas, "base": read_base, "org": read_org, "pdf": read_pdf}
    if not missing_extra("html"):
        from vaultrag.sources.epub import read_epub
        from vaultrag.sources.html import read_html
        from vaultrag.sources.mail import read_mail

        readers |= {"html": read_html, "epub": read_epub, "mail": read_mail}
    if not any(map(missing_extra, _OFFICE)):
        from vaultrag.sources.office import read_sheet, read_slides, read_word

        readers |= {"word": read_word, "slides": read_slides, "sheet": read_sheet}
    return readers
