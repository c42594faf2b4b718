"""Files of other kinds than Markdown, made for tests."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageBreak, PageTemplate, Paragraph, SimpleDocTemplate


def pdf(*pages: str | Sequence[str], **options: Any) -> bytes:
    """Return a PDF with these pages, a paragraph a line; ``title``, ``author``, ``encrypt`` as reportlab takes them."""
    style = getSampleStyleSheet()["BodyText"]
    story: list[Any] = []
    for page in pages:
        story += [Paragraph(one, style) for one in ([page] if isinstance(page, str) else page)]
        story.append(PageBreak())
    file = io.BytesIO()
    SimpleDocTemplate(file, **options).build(story)
    return file.getvalue()


def pdf_of_columns(paragraphs: Sequence[str]) -> bytes:
    """Return a PDF of two columns, which the paragraphs fill one after the other."""
    style = getSampleStyleSheet()["BodyText"]
    width, height = A4
    frames = [Frame(x, 40, width / 2 - 50, height - 80) for x in (40, width / 2 + 10)]
    file = io.BytesIO()
    document = BaseDocTemplate(file, pagesize=A4)
    document.addPageTemplates(PageTemplate(frames=frames))
    document.build([Paragraph(one, style) for one in paragraphs])
    return file.getvalue()


def pdf_of_lines(lines: Sequence[str]) -> bytes:
    """Return a PDF of one page with these lines, each where it is: hyphens at their ends stay."""
    file = io.BytesIO()
    page = canvas.Canvas(file, pagesize=A4)
    for number, line in enumerate(lines):
        page.drawString(60, 780 - 14 * number, line)
    page.save()
    return file.getvalue()


def pdf_without_text(pages: int = 1) -> bytes:
    """Return a PDF whose pages are drawings."""
    file = io.BytesIO()
    page = canvas.Canvas(file, pagesize=A4)
    for _ in range(pages):
        page.rect(100, 100, 200, 300, fill=1)
        page.showPage()
    page.save()
    return file.getvalue()


def raw_pdf(objects: Sequence[bytes], root: int = 1) -> bytes:
    """Return a PDF of these objects, numbered from 1."""
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.7\n")
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for place in places:
        out.write(b"%010d 00000 n \n" % place)
    out.write(b"trailer << /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, root, start))
    return out.getvalue()


def pdf_bomb(megabytes: int = 2000) -> bytes:
    """Return a PDF whose one page unpacks to this much."""
    packer = zlib.compressobj(9)
    million = b"(boom) Tj\n" * 100_000
    packed = b"".join(packer.compress(million) for _ in range(megabytes)) + packer.flush()
    return raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << >> >> >>",
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
        ]
    )


def pdf_that_loops() -> bytes:
    """Return a PDF whose tree of pages leads back to itself."""
    return raw_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 100000 >>",
            b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 3 0 R] /Count 100000 >>",
        ]
    )


def canvas_of(cards: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]] = ()) -> bytes:
    """Return a canvas of these cards, each below the one before where it says no place."""
    nodes = [
        {"id": str(number), "x": 0, "y": 200 * number, "width": 300, "height": 100} | dict(card)
        for number, card in enumerate(cards)
    ]
    return json.dumps({"nodes": nodes, "edges": list(edges)}).encode()
