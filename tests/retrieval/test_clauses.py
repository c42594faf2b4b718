"""From terms to clauses."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vaultrag.domain import Clause, Term
from vaultrag.retrieval.clauses import clauses_of, only_signs
from vaultrag.text.stop_words import STOP_WORDS


def _clauses(text: str, *, phrase: bool = False, typing: bool = False) -> list[Clause]:
    return clauses_of([Term(text, phrase)], typing=typing)


def test_plain() -> None:
    """A word is one clause; a stop word is marked as one unless it is quoted."""
    assert _clauses("Pump") == [Clause(("pump",), 0)]
    assert _clauses("the") == [Clause(("the",), 0, stop=True)]
    assert _clauses("the", phrase=True) == [Clause(("the",), 0, exact=True)]


def test_compound() -> None:
    """A term that splits is looked for in a row, and its telling pieces help."""
    assert _clauses("WO-2291") == [Clause(("wo", "2291"), 0), Clause(("2291",), 0, part=True)]
    assert _clauses("/etc/hosts") == [
        Clause(("etc", "hosts"), 0), Clause(("etc",), 0, part=True), Clause(("hosts",), 0, part=True),
    ]  # fmt: skip
    assert _clauses("state-of-the-art")[1:] == [Clause(("state",), 0, part=True), Clause(("art",), 0, part=True)]


def test_phrase() -> None:
    """A phrase is one clause, without parts."""
    assert _clauses("change the seal", phrase=True) == [Clause(("change", "the", "seal"), 0, exact=True)]


def test_version() -> None:
    """A version is looked for with or without its letter."""
    assert _clauses("v2.14.3")[0] == _clauses("2.14.3")[0] == Clause(("2", "14", "3"), 0)
    assert _clauses("v2") == [Clause(("v2",), 0)]


def test_typing() -> None:
    """Only the last word may go on, from three letters on, and never a phrase."""
    terms = [Term("pump"), Term("sea")]
    assert [clause.prefix for clause in clauses_of(terms, typing=True)] == [False, True]
    assert not clauses_of([Term("se")], typing=True)[0].prefix
    assert not _clauses("sea", phrase=True, typing=True)[0].prefix
    assert _clauses("snake_ca", typing=True)[0] == Clause(("snake", "ca"), 0)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("京", [("京",)]),
        ("東京", [("東京",)]),
        ("東京都", [("東京", "京都")]),
        ("東京 京都", [("東京", "京", "京都")]),
        ("ああ あ", [("ああ", "あ", "あ")]),
        ("ああ", [("ああ",)]),
        ("東京tower", [("東京", "京", "tower")]),
        ("검색", [("검색",)]),
        (unicodedata.normalize("NFD", "검색"), [("검색",)]),
        ("ｶﾞｲﾄﾞ", [("がい", "いど")]),
    ],
)
def test_rows(text: str, rows: list[tuple[str, ...]]) -> None:
    """A quoted run without spaces is its pairs in a row, and what stands beside it goes on with it, as in the index."""
    assert [clause.tokens for clause in _clauses(text, phrase=True)] == rows


@pytest.mark.parametrize(
    "text",
    ["14 March 2026", "14.03.2026", "2026-03-14,", "20260314", "March 14th, 2026", "14. März 2026", "2026年3月14日"],
)
def test_date(text: str) -> None:
    """A date is one clause however it is written, and a word beside it another."""
    terms = [*map(Term, text.split()), Term("meeting")]
    date, word = clauses_of(terms)
    assert date == Clause(("20260314",), 0, exact=True)
    assert word.tokens == ("meeting",)


def test_date_of_two_readings() -> None:
    """Where day and month can be either, both are looked for."""
    assert _clauses("03/04/2026")[0].spellings == (("20260403",), ("20260304",))


def test_what_only_looks_like_a_date() -> None:
    """Two years and a date within a name are words like others."""
    assert [clause.tokens for clause in clauses_of([Term("2024"), Term("2025")])] == [("2024",), ("2025",)]
    assert _clauses("2026-03-14-meeting")[0].tokens == ("2026", "03", "14", "20260314", "meeting")


def test_begun() -> None:
    """A star at the end of a word lets it go on."""
    assert _clauses("gask*") == [Clause(("gask",), 0, prefix=True, exact=True)]
    assert _clauses("**bold**") == [Clause(("bold",), 0)]


def test_single_letter() -> None:
    """A single ideograph is looked for at the start of a pair, which is wherever it stands."""
    assert _clauses("京") == [Clause(("京",), 0, prefix=True)]


def test_run() -> None:
    """A plain run is looked for as a whole and by its pairs; a long one by its pairs only."""
    assert _clauses("東京都") == [
        Clause(("東京", "京都"), 0), Clause(("東京",), 0, part=True), Clause(("京都",), 0, part=True),
    ]  # fmt: skip
    assert all(clause.part for clause in _clauses("東京都庁舎展望室"))


def test_no_repeats() -> None:
    """The clauses of one term come once."""
    clauses = _clauses("ha-ha-ha-haha-haha")
    assert len(clauses) == len(set(clauses))


@given(st.lists(st.tuples(st.text(), st.booleans())), st.booleans())
@example([("\U0002ebe1", True)], False)  # a Chinese sign of Unicode 15.1
def test_any(terms: list[tuple[str, bool]], typing: bool) -> None:
    """Any terms give clauses with at least one token, each pointing at its term."""
    for clause in clauses_of([Term(text, phrase) for text, phrase in terms], typing=typing):
        assert clause.tokens
        assert all(clause.tokens)
        assert 0 <= clause.term < len(terms)


def test_only_signs() -> None:
    """Signs that are no words to the index are told from those that are."""
    assert only_signs("--- ?!")
    assert not only_signs("§")
    assert not only_signs("🎉")
    assert not only_signs("₽")


def test_stop_words() -> None:
    """Stop words are folded, and German ones that mean something in English are none."""
    assert all(word == word.lower() and word.isascii() for word in STOP_WORDS)
    assert not STOP_WORDS & {"die", "man", "war", "hat"}
