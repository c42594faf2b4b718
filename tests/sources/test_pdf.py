"""PDF files as notes."""

from __future__ import annotations

import pytest

from tests.support import documents
from vaultrag.domain import NotePath
from vaultrag.markdown import parse_note
from vaultrag.sources.pdf import read_pdf
from vaultrag.sources.source_text import Unreadable, markdown


def test_each_page_is_a_section() -> None:
    """A page is a heading, whatever is on it."""
    found = read_pdf(documents.pdf("Alpha beta.", "Gamma delta.", "Epsilon."))
    assert [(one.heading, one.text) for one in found.sections] == [
        ("Page 1", "Alpha beta."), ("Page 2", "Gamma delta."), ("Page 3", "Epsilon."),
    ]  # fmt: skip
    assert found.problem == ""


def test_what_the_file_says_of_itself() -> None:
    """Title, author and day are properties; what a program writes in their place is not."""
    found = read_pdf(documents.pdf("x", title="The boiler", author="A. Tester"))
    assert (found.title, found.properties["author"]) == ("The boiler", "A. Tester")
    note = parse_note(NotePath("a.pdf"), markdown(found).encode())
    assert note.title == "The boiler"
    for made_up in ("Microsoft Word - Final.docx", "untitled", "paper.dvi", "(anonymous)"):
        found = read_pdf(documents.pdf("x", title=made_up))
        assert found.title == "", made_up


def test_columns_are_read_one_after_the_other() -> None:
    """No line of a column runs on in its neighbour."""
    sentences = [f"Number {number} is told of in a sentence that takes more than one line." for number in range(40)]
    text = " ".join(" ".join(one.text for one in read_pdf(documents.pdf_of_columns(sentences)).sections).split())
    places = [text.find(sentence) for sentence in sentences]
    assert -1 not in places
    assert places == sorted(places)


def test_words_broken_at_the_end_of_a_line_are_whole() -> None:
    """Lines of a paragraph are joined, and so are the halves of a word; ligatures are letters."""
    lines = ["The heat ex-", "changer of the boiler is descaled with citric acid", "once a year, in an afternoon."]
    (page,) = read_pdf(documents.pdf_of_lines(lines)).sections
    assert page.text == "The heat exchanger of the boiler is descaled with citric acid once a year, in an afternoon."


def test_a_page_without_text_is_named() -> None:
    """A scanned page is counted, and said to have no text layer."""
    assert read_pdf(documents.pdf_without_text()).problem == "no text layer on its one page"
    assert read_pdf(documents.pdf_without_text(9)).problem == "no text layer on any of its 9 pages"


def test_a_file_with_a_password_says_so() -> None:
    """What cannot be opened is not called damaged."""
    with pytest.raises(Unreadable, match="protected by a password"):
        read_pdf(documents.pdf("secret", encrypt="pass"))


@pytest.mark.parametrize("cut", [0, 10, 200, -300])
def test_a_damaged_file_says_so(cut: int) -> None:
    """Half a file, or none, is damaged; or what is left of it is read."""
    data = documents.pdf("Alpha beta.")[:cut]
    try:
        text = markdown(read_pdf(data))
    except Unreadable as problem:
        text = str(problem)
    assert "Alpha" in text or text.startswith("damaged")
