"""From terms to clauses."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.model import Clause, Term
from vaultrag.retrieval.clauses import clauses_of, only_signs
from vaultrag.retrieval.stop_words import STOP_WORDS


def _clauses(text: str, *, phrase: bool = False, typing: bool = False) -> list[Clause]:
    return clauses_of([Term(text, phrase)], typing=typing)


def test_plain() -> None:
    """A word is one clause; a stop word is marked as one unless it is quoted."""
    assert _clauses("Pump") == [Clause(("pump",), 0)]
    assert _clauses("the") == [Clause(("the",), 0, stop=True)]
    assert _clauses("the", phrase=True) == [Clause(("the",), 0)]


def test_compound() -> None:
    """A term that splits is looked for in a row, and its telling pieces help."""
    assert _clauses("WO-2291") == [Clause(("wo", "2291"), 0), Clause(("2291",), 0, part=True)]
    assert _clauses("/etc/hosts") == [
        Clause(("etc", "hosts"), 0), Clause(("etc",), 0, part=True), Clause(("hosts",), 0, part=True),
    ]  # fmt: skip
    assert _clauses("state-of-the-art")[1:] == [Clause(("state",), 0, part=True), Clause(("art",), 0, part=True)]


def test_phrase() -> None:
    """A phrase is one clause, without parts."""
    assert _clauses("change the seal", phrase=True) == [Clause(("change", "the", "seal"), 0)]


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
        ("東京 京都", [("東京",), ("京都",)]),
        ("ああ あ", [("ああ",), ("あ",)]),
        ("ああ", [("ああ",)]),
        ("東京tower", [("東京",), ("tower",)]),
        ("검색", [("검색",)]),
        (unicodedata.normalize("NFD", "검색"), [("검색",)]),
        ("ｶﾞｲﾄﾞ", [("ガイ", "イド")]),
    ],
)
def test_rows(text: str, rows: list[tuple[str, ...]]) -> None:
    """A quoted run without spaces is its pairs in a row; runs of their own are rows of their own."""
    assert [clause.tokens for clause in _clauses(text, phrase=True)] == rows


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
