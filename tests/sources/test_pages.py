"""Web pages, books and mail as notes."""

from __future__ import annotations

import pytest

from tests.support import documents
from vaultrag.sources.epub import read_epub
from vaultrag.sources.html import read_html
from vaultrag.sources.mail import read_mail
from vaultrag.sources.source_text import Unreadable, markdown

PAGE = """<html><head><title>The  page</title><style>p{}</style><meta name=author content="A. Tester"></head><body>
<nav>home</nav><h1>Big <b>news</b></h1><p>One &amp; two.<br>Three #4.</p><ul><li>red</li><li>green</li></ul>
<table><tr><td>a</td><td>b</td></tr></table><script>alert(1)</script></body></html>"""


def test_a_page_is_read_as_it_is_seen() -> None:
    """Headings, paragraphs, items and rows; no script, style or navigation."""
    source = read_html(PAGE.encode())
    assert (source.title, source.properties) == ("The page", {"author": "A. Tester"})
    assert source.sections[0].text.split("\n\n") == [
        "### Big news", "One & two.", "Three \\#4.", "- red", "- green", "a · b",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "data", [b"", b"   ", b"<", b"<html></html>", b"plain", b"\xff\xfe", b"<?xml version='1.0'?><p>x</p>"]
)
def test_strange_pages_harm_nothing(data: bytes) -> None:
    """Whatever is called a page gives a text, and be it none."""
    read_html(data)


def test_a_page_in_an_old_encoding() -> None:
    """Letters are what they were written as."""
    assert "Größe" in markdown(read_html("<p>Die Größe der Straße ist überall gleich.</p>".encode("cp1252")))


def test_a_book_is_read_in_its_order() -> None:
    """A chapter is a section under its first heading."""
    source = read_epub(documents.epub("The book", "<h1>Dawn</h1><p>It rains.</p>", "<p>No heading.</p>"))
    assert (source.title, source.properties) == ("The book", {"author": "A. Tester", "published": "1999-05-01"})
    assert [one.heading for one in source.sections] == ["Chapter 1: Dawn", "Chapter 2"]
    assert "It rains." in source.sections[0].text


@pytest.mark.parametrize(
    "data", [b"", documents.archive({"a": b"b"}), documents.epub("x", "y")[:-30], documents.zip_bomb()]
)
def test_what_is_no_book_says_so(data: bytes) -> None:
    """Damaged, empty, or a bomb."""
    with pytest.raises(Unreadable):
        read_epub(data)


def test_a_message_is_read() -> None:
    """Subject, people, day, text and the names of what is attached."""
    source = read_mail(documents.mail("Offer: seals", "We offer\n#12 seals.", html="<p>no</p>", attached="Offer.pdf"))
    assert source.title == "Offer: seals"
    assert source.properties == {"from": "a@example.org", "to": "b@example.org", "date": "2025-03-11"}
    assert source.sections[0].text == "We offer\n\\#12 seals.\n\n\nAttached: Offer.pdf"


def test_a_message_of_a_page_alone_is_read() -> None:
    """Mail without plain text is read as a page."""
    data = b"Subject: x\nContent-Type: text/html\n\n<p>One</p><p>two</p>"
    assert read_mail(data).sections[0].text == "One\n\ntwo"


@pytest.mark.parametrize("data", [b"", b"\0\xff", b"no headers at all"])
def test_what_is_no_message_says_so(data: bytes) -> None:
    """Nonsense is damaged."""
    with pytest.raises(Unreadable):
        read_mail(data)
