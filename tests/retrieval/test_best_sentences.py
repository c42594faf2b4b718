"""The sentences of a hit: from its best places, those with the query's words, within their budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vaultrag.retrieval.best_sentences import best_sentences
from vaultrag.text.token_estimate import estimate

TEXT = (
    "The hall was built in 1962. All doors are closed while pumps run, against noise and against children. "
    "Only when the hall is hotter than 35 degrees may the meadow door stand open.\n"
    "\n"
    "# Converters\n"
    "\n"
    "The converters cut out at 88 degrees. In August it was close.\n"
    "\n"
    "- The neighbours measured the noise at their [[Terrace|terrace]].\n"
    "- They were right about it."
)


def test_the_sentences_with_the_words_are_taken_from_two_places() -> None:
    """Each place gives its best sentence, in the note's order, and dots stand where text is left out."""
    wanted = {"degre": 1.0, "convert": 1.0, "meadow": 1.0}
    line = best_sentences(TEXT, wanted, [(4, 4), (0, 0)], 32)
    assert line == (
        "Only when the hall is hotter than 35 degrees may the meadow door stand open. … "
        "The converters cut out at 88 degrees."
    )


def test_one_place_gives_whole_sentences_in_a_row() -> None:
    """Where all of a place fits it is given as it reads, without dots, and links as they are shown."""
    assert best_sentences(TEXT, {}, [(6, 7)], 100) == (
        "The neighbours measured the noise at their terrace. They were right about it."
    )


def test_a_place_that_overlaps_the_first_says_nothing_twice() -> None:
    """The window of words often lies within the passage: its sentences are there once."""
    line = best_sentences(TEXT, {"august": 1.0}, [(2, 4), (4, 4)], 100)
    assert line.count("August") == 1


def test_a_place_of_headings_has_no_sentence() -> None:
    """A heading is no sentence; who calls says something else of the note then."""
    assert best_sentences(TEXT, {}, [(2, 2)], 100) == ""


def test_a_long_sentence_is_cut() -> None:
    """The best sentence is there even where it does not fit whole."""
    line = best_sentences("A pump " * 100, {"pump": 1.0}, [(0, 0)], 20)
    assert line.startswith("A pump A pump")
    assert line.endswith("…")
    assert estimate(line) <= 20


@given(
    st.text(max_size=400),
    st.lists(st.text(min_size=1, max_size=8), max_size=4),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda pair: (min(pair), max(pair))), max_size=3),
    st.integers(8, 100),
)
def test_no_text_breaks_the_line(text: str, words: list[str], places: list[tuple[int, int]], tokens: int) -> None:
    """Whatever a note holds, the line is one line, and costs no more than it may."""
    line = best_sentences(text, dict.fromkeys(words, 1.0), places, tokens)
    assert estimate(line) <= tokens
    assert "\n" not in line
