"""Files of other kinds than Markdown, made for tests."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from typing import Any

import docx
import numpy as np
import openpyxl
import pptx
from PIL import Image, ImageDraw, ImageFont
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


def pdf_bomb(megabytes: int = 1200) -> bytes:
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


def word(*paragraphs: str | tuple[str, str], rows: Sequence[Sequence[str]] = (), title: str = "") -> bytes:
    """Return a document; a paragraph with a style is ("Heading 1", text)."""
    document = docx.Document()
    document.core_properties.title = title
    for one in paragraphs:
        style, text = one if isinstance(one, tuple) else ("Normal", one)
        document.add_paragraph(text, style)
    if rows:
        table = document.add_table(len(rows), len(rows[0]))
        for number, row in enumerate(rows):
            for column, text in enumerate(row):
                table.cell(number, column).text = text
    return _saved(document)


def slides(*pages: tuple[str, str], notes: str = "") -> bytes:
    """Return slides, a title and a text each."""
    deck = pptx.Presentation()
    for title, text in pages:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    return _saved(deck)


def sheet(**sheets: Sequence[Any]) -> bytes:
    """Return a workbook with these sheets."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
    return _saved(book)


def epub(title: str, *chapters: str) -> bytes:
    """Return a book; a chapter is the inside of a page's body."""
    items = "".join(f'<item id="c{n}" href="text/c{n}.xhtml"/>' for n in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title><dc:creator>A. Tester</dc:creator><dc:date>1999-05-01T00:00:00Z</dc:date>"
        "</metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    pages = {
        f"OEBPS/text/c{n}.xhtml": f'<?xml version="1.0" encoding="utf-8"?><html><body>{text}</body></html>'
        for n, text in enumerate(chapters)
    }
    return archive({"META-INF/container.xml": container, "OEBPS/book.opf": package, **pages})


def archive(members: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP archive of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return file.getvalue()


def zip_bomb(name: str = "word/document.xml", megabytes: int = 500) -> bytes:
    """Return an archive with one member that unpacks to this much."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed, packed.open(name, "w", force_zip64=True) as member:
        for _ in range(megabytes):
            member.write(bytes(1 << 20))
    return file.getvalue()


def mail(subject: str, text: str, *, html: str = "", attached: str = "") -> bytes:
    """Return a message."""
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "a@example.org", "b@example.org"
    message["Date"] = "Tue, 11 Mar 2025 10:00:00 +0100"
    message.set_content(text)
    if html:
        message.add_alternative(html, subtype="html")
    if attached:
        message.add_attachment(b"x", maintype="application", subtype="pdf", filename=attached)
    return message.as_bytes()


def _saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def picture(lines: Sequence[str], *, size: int = 28, dark: bool = False, form: str = "PNG") -> bytes:
    """Return a picture of these lines of text, as a screenshot shows them."""
    font = ImageFont.load_default(size=size)
    width = 80 + max(int(font.getlength(line)) for line in lines)
    ground, ink = ("#202124", "#e8eaed") if dark else ("white", "black")
    shown = Image.new("RGB", (width, 80 + 2 * size * len(lines)), ground)
    pen = ImageDraw.Draw(shown)
    for number, line in enumerate(lines):
        pen.text((40, 40 + 2 * size * number), line, fill=ink, font=font)
    file = io.BytesIO()
    shown.save(file, form)
    return file.getvalue()


def scan(*pages: Sequence[str], dpi: int = 200) -> bytes:
    """Return a PDF whose A4 pages are pictures of these lines, as a scanner makes them: grey, a little noisy."""
    random = np.random.default_rng(3)
    font = ImageFont.load_default(size=dpi * 11 / 72)  # 11 point
    shown = []
    for lines in pages:
        page = Image.new("L", (int(8.27 * dpi), int(11.69 * dpi)), 250)
        pen = ImageDraw.Draw(page)
        for number, line in enumerate(lines):
            pen.text((dpi, dpi + number * dpi * 18 / 72), line, fill=30, font=font)
        noisy = np.asarray(page, np.int16) + random.normal(0, 6, (page.height, page.width)).astype(np.int16)
        shown.append(Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).rotate(0.3, fillcolor=250))
    file = io.BytesIO()
    shown[0].save(file, "PDF", resolution=dpi, save_all=True, append_images=shown[1:])
    return file.getvalue()
