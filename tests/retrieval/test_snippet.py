"""Previews: the place that matches, marked where it matches, cut between signs."""

from __future__ import annotations

import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultrag.config import NoteSettings
from vaultrag.markdown.rendered_text import rendered
from vaultrag.retrieval import snippet
from vaultrag.retrieval.clauses import clauses_of
from vaultrag.retrieval.hit_maker import HitMaker
from vaultrag.retrieval.occurrences import MAX_OCCURRENCES, occurrences
from vaultrag.retrieval.query_parser import parse_query
from vaultrag.retrieval.snippet import PREVIEW_CHARS, Preview, preview
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.storage.notes.note_rows import NoteRows
from vaultrag.text.normalize import fold_letters, folded, whole
from vaultrag.watcher.reader import DiskReader

FILLER = "Nothing to see in this line.\n"


def _marked(shown: Preview) -> list[str]:
    return [shown.text[span.start : span.end] for span in shown.spans]


@pytest.mark.parametrize(
    ("text", "stem", "marked"),
    [
        ("The pumps run.", "pump", "pumps"),
        ("RUNNING late", "run", "RUNNING"),
        ("Café au lait", "cafe", "Café"),
        (unicodedata.normalize("NFD", "Le café, là"), "cafe", unicodedata.normalize("NFD", "café")),
        ("Die Straße dort", "strass", "Straße"),
        ("an Ærø trip", "aero", "Ærø"),
        ("in Øresund now", "oresund", "Øresund"),
        ("ὁ λόγος ἐστί", "λογοσ", "λόγος"),
        ("我在东京旅行", "东京", "东京"),
        ("ガイドブック", "がい", "ガイ"),
        (unicodedata.normalize("NFD", "ガイドブック"), "がい", unicodedata.normalize("NFD", "ガイ")),
        ("ｶﾞｲﾄﾞ", "がい", "ｶﾞｲ"),
        (unicodedata.normalize("NFD", "한국어 검색"), "검색", unicodedata.normalize("NFD", "검색")),
        ("I like C++ best", "cplusplu", "C++"),
        ("I like C# best", "csharp", "C#"),
        ("party 🎉 time", "🎉", "🎉"),
        ("see §12", "§", "§"),
        ("हिन्दी में", "हिन्दी", "हिन्दी"),
        ("a soft\u00adhyphen", "softhyphen", "soft\u00adhyphen"),
        ("ﬁne", "fine", "ﬁne"),
        ("İstanbul'da", "istanbul", "İstanbul"),
    ],
)
def test_marks(text: str, stem: str, marked: str) -> None:
    """What matches is marked as it is written, whole signs only, wherever it stands."""
    for around in (text, f"ß {text}", FILLER * 3 + text + "\n" + FILLER, f"e\u0301 {text} e\u0301"):
        shown = preview(around, {stem: 1.0})
        assert marked in _marked(shown)


def test_no_marks_inside_words() -> None:
    """A stem is not marked inside another word, nor at the start of a much longer one."""
    assert _marked(preview("compump pumpkinseeds pump", {"pump": 1.0})) == ["pump"]


def test_best_place() -> None:
    """The place with the most of the query's weight is shown, not the first that has some."""
    text = "pump\n" + FILLER * 40 + "The pump seal leaks here.\n" + FILLER * 40
    shown = preview(text, {"pump": 1.0, "seal": 2.0})
    assert "seal leaks" in shown.text
    assert (shown.first, shown.last) == (41, 41)
    assert shown.weight == 1.0
    assert set(_marked(shown)) == {"pump", "seal"}


def test_passage() -> None:
    """The place that the meaning arm points at is shown, unless the words agree on a better one."""
    text = FILLER * 20 + "Here is the thought.\n" + FILLER * 20 + "pump seal gasket\n"
    shown = preview(text, {"zebra": 1.0}, (20, 20))
    assert shown.text.startswith("Here is the thought.")
    assert (shown.first, shown.last) == (20, 20)
    better = preview(text, {"pump": 1.0, "seal": 1.0, "gasket": 1.0}, (20, 20))
    assert better.first == 41


def test_passage_beyond_the_end() -> None:
    """A passage of a longer, earlier text points at the end of what there is now."""
    shown = preview("one\ntwo", {}, (50, 60))
    assert (shown.first, shown.last, shown.text) == (1, 1, "two")


def test_lines() -> None:
    """Lines are those of what matches, from its first word to its last."""
    text = "a\n\nalpha here\nand\nomega there\nz\n"
    shown = preview(text, {"alpha": 1.0, "omega": 1.0})
    assert (shown.first, shown.last) == (2, 4)
    assert shown.text.startswith("alpha here")


def test_nothing_matches() -> None:
    """Where nothing matches, the note's beginning is shown."""
    assert preview("\n\n  First words\nmore", {"zebra": 1.0}).text.startswith("First words")
    assert preview("", {"x": 1.0}) == Preview(0, 0, "", (), 0.0)
    assert preview(" \n ", {}).text == ""


def test_long_line() -> None:
    """In one endless line the match is in the preview, with a little before it."""
    text = "word " * 5_000 + "needle " + "word " * 5_000
    shown = preview(text, {"needle": 1.0})
    assert _marked(shown) == ["needle"]
    assert len(shown.text) <= PREVIEW_CHARS
    assert shown.spans[0].start > 50


CLUSTERS = st.sampled_from(
    [
        "e\u0301",
        "👩\u200d👩\u200d👧",
        "👍🏽",
        "🇩🇪",
        "हि",
        "க்ஷி",
        "\u1112\u1161\u11ab",
        "か\u3099",
        "a",
        " ",
        "\n",
        "ß",
        "東",
        "☎\ufe0f",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(CLUSTERS, max_size=80), st.integers(1, 60))
def test_cuts(clusters: list[str], chars: int) -> None:
    """No preview is longer than asked, and none begins or ends inside a sign, as long as there is room for one."""
    text = "".join(clusters)
    shown = preview(text, {"a": 1.0, "東": 0.5}, max_chars=chars)
    assert len(shown.text) <= chars
    begin = text.find(shown.text)
    assert begin >= 0
    if chars >= 8 and shown.text:
        places = [i for i in range(len(text)) if text.startswith(shown.text, i)]
        assert any(whole(text, i) and whole(text, i + len(shown.text)) for i in places)


WANTED = st.dictionaries(st.text(min_size=0, max_size=4), st.floats(0, 5), max_size=4)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=400), WANTED, st.none() | st.tuples(st.integers(0, 20), st.integers(0, 20)).map(sorted))
def test_any(text: str, wanted: dict[str, float], passage: list[int] | None) -> None:
    """Any text gives a preview whose spans lie in it in order, and whose lines are lines of the text."""
    shown = preview(text, wanted, (passage[0], passage[1]) if passage else None)
    assert len(shown.text) <= PREVIEW_CHARS
    assert shown.text in rendered(text).text
    assert 0 <= shown.first <= shown.last <= text.count("\n")
    end = 0
    for span in shown.spans:
        assert end <= span.start < span.end <= len(shown.text)
        end = span.end


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(CLUSTERS, st.text(max_size=6))).map("".join))
def test_folding_leads_back(text: str) -> None:
    """Each stretch of the folded copy leads back to the stretch of the text it was made of."""
    copy = folded(text)
    assert copy.start(0) == 0 or not copy.text or copy.joints
    for start in range(len(copy.text)):
        there, back = copy.start(start), copy.end(start + 1)
        assert 0 <= there < back <= len(text)
        assert copy.text[start] in folded(text[there:back]).text or unicodedata.combining(copy.text[start])
    assert [copy.start(i) for i in range(len(copy.text))] == sorted(copy.start(i) for i in range(len(copy.text)))


def test_folding_keeps_the_length() -> None:
    """Letters fold one to one."""
    text = "ÀÉÎÕÜ çñ Šž İ ΆΈ ς"
    assert len(fold_letters(text)) == len(text)
    assert fold_letters(text).startswith("aeiou cn sz")


def _cost(text: str) -> float:
    best = 1e9
    for _ in range(2):
        start = time.process_time()
        preview(text, {"word": 1.0, "needle": 2.0, "strass": 1.0, "zz": 1.0})
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize(
    "unit",
    ["word word needle Straße\n", "zz" * 20, "wordword " * 3, "e\u0301word ", "🇩🇪", "a\u0300" * 10],
    ids=["lines", "one word", "wrong words", "marks", "flags", "zalgo"],
)
def test_grows_with_the_text(unit: str) -> None:
    """Eight times the text takes about eight times as long, not sixty-four times."""
    small = unit * (60_000 // len(unit))
    assert _cost(small * 8) < 30 * max(_cost(small), 0.002)


def test_few_occurrences_are_kept() -> None:
    """A word that stands everywhere is not looked up everywhere."""
    found = occurrences(folded("word " * 50_000), {"word": 1.0})
    assert len(found) == MAX_OCCURRENCES


@given(
    st.lists(st.sampled_from(["aa", "a", "ab", "aba", "_", " ", "-", "9", "B", "\n", "xaaxx", "abaxxxx"]), max_size=30),
    st.sampled_from(["a", "aa", "ab", "aba", "9", "b"]),
)
def test_plain_words(pieces: list[str], word: str) -> None:
    """In an ASCII text, the short way finds what the long way finds."""
    text = fold_letters("".join(pieces))
    short = occurrences(folded(text), {word: 1.0})
    long = occurrences(folded(text + "\n§"), {word: 1.0})
    assert short == long
    starts = [0] + [index + 1 for index, char in enumerate(text) if char == "\n"]
    assert snippet.line_starts(text) == starts


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("in 2001 came 2.8.3 and 8123", "2.8.3", ["2.8.3"]),
        ("she said: Anna's pump", "Anna's", ["Anna's"]),
        ("on 14 March 2026, in March", "2026-03-14", ["14 March 2026"]),
        ("1.250,50 or 1250.50", "1250,50", ["1.250,50", "1250.50"]),
        ("a 10kW motor, a 10 kW one, 10 others", "10kW", ["10kW", "10 kW"]),
        ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000", ["DE89 3704 0044 0532 0130 00"]),
        ("an un**believ**able day", "unbelievable", ["unbelievable"]),
        ("the organizations of it", "organizations", ["organizations"]),
    ],
)
def test_what_was_asked_is_marked(tmp_path: Path, text: str, query: str, marked: list[str]) -> None:
    """Numbers and short words are marked whole, and whatever stands for a query's form as it is written."""
    index, reader = NoteIndex.open(tmp_path / "notes.db"), DiskReader(tmp_path, NoteSettings())
    wanted = HitMaker(NoteRows(index), SqliteLexicalRetriever(index), reader).wanted(
        (clause, 1.0) for clause in clauses_of(parse_query(query).terms)
    )
    index.close()
    assert _marked(preview(text, wanted)) == marked
