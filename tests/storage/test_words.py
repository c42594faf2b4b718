"""Words: whatever people write is found by what people type, in every script and with every sign."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.stores import add, found, word_hits
from vaultrag.domain import Clause, NoteId
from vaultrag.retrieval.clauses import clauses_of
from vaultrag.retrieval.query_parser import parse_query
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.notes.note_index import NoteIndex
from vaultrag.text.tokenize import EXTRA_LETTERS, fold, name_key, parts, prepare, tokens

FINDS = [
    # written, asked
    ("我在东京旅行的时候", "东京"),
    ("我在东京旅行的时候", "旅行"),
    ("我在东京旅行的时候", "京"),
    ("我在东京旅行的时候", "我"),
    ("我在东京旅行的时候", "候"),
    ("我在东京旅行的时候", "东京旅行"),
    ("我在东京旅行的时候", '"东京旅行"'),
    ("東京と京都", "京都"),
    ("東京 京都", '"東京 京都"'),
    ("サーバーのログ", "ログ"),
    ("ガイドブックの棚", "ガイド"),
    ("ガイドブックの棚", "ｶﾞｲﾄﾞ"),
    ("ｶﾞｲﾄﾞﾌﾞｯｸの棚", "ガイド"),
    ("ガイドブック", unicodedata.normalize("NFD", "ガイド")),
    ("한국어 문서를 검색합니다", "검색"),
    ("한국어 문서를 검색합니다", unicodedata.normalize("NFD", "문서")),
    (unicodedata.normalize("NFD", "한국어 문서"), "문서"),
    ("ภาษาไทยไม่มีช่องว่าง", "ไทย"),
    ("ខ្ញុំចង់ស្វែងរក", "ស្វែងរក"),
    ("कंप्यूटर हिन्दी में", "हिन्दी"),
    ("Привет, мир и ещё", "ещё"),
    ("ὁ λόγος", "λόγος"),
    ("ΛΌΓΟΣ", "λογος"),
    ("Café résumé", "cafe"),
    ("cafe", "café"),
    (unicodedata.normalize("NFD", "Café"), "café"),
    ("Die Straße", "strasse"),
    ("Strasse", "Straße"),
    ("Øresund", "oresund"),
    ("Việt Nam tiếng Việt", "tieng viet"),
    ("ﬁne ligature", "fine"),
    ("ＦＵＬＬ width", "full"),
    ("soft\u00adhyphen", "softhyphen"),
    ("\u2066isolated\u2069 text", "isolated"),
    ("I write C++ and C# and F#.", "C++"),
    ("I write C++ and C# and F#.", "c#"),
    ("I write C++ and C# and F#.", "F#"),
    ("C++17 rules", "C++"),
    ("call snake_case_name()", "snake_case_name"),
    ("call snake_case_name()", "snake"),
    ("call parseNoteText()", "parseNoteText"),
    ("call parseNoteText()", "parsenotetext"),
    ("call parseNoteText()", "note"),
    ("HTTPServer runs", "server"),
    ("released v2.14.3 today", "v2.14.3"),
    ("released v2.14.3 today", "2.14.3"),
    ("released 2.14.3 today", "v2.14.3"),
    ("see /etc/ssh/sshd_config", "/etc/ssh/sshd_config"),
    ("see /etc/ssh/sshd_config", "sshd_config"),
    (r"C:\Users\me\notes", r"Users\me"),
    ("error 0x8007 came", "0x8007"),
    ("error 0x8007 came", "8007"),
    ("order WO-2291 is late", "WO-2291"),
    ("order WO-2291 is late", "wo-2291"),
    ("order WO-2291 is late", "2291"),
    ("a 16-3 split", "16-3"),
    ("mcpservers.org and vault-cortex", "mcpservers.org"),
    ("mcpservers.org and vault-cortex", "vault-cortex"),
    ("don't worry", "don't"),
    ("run `git rebase -i` now", "git rebase"),
    ("party 🎉 time", "🎉"),
    ("party🎉time", "🎉"),
    ("robot 🤖 and 🫠", "🫠"),
    ("👍🏽 good", "👍"),
    ("👍 good", "👍🏽"),
    ("👍🏽 good", '"👍🏽 good"'),
    ("see § 12", "§"),
    ("§12 says", "§"),
    ("20° warm", "°"),
    ("100₽ or 5€", "₽"),
    ("100₽ or 5€", "100₽"),
    ("100₽ or 5€", "5€"),
    ("running the pumps", "pump run"),
    ("user@example.org wrote", "user@example.org"),
    ("key = value & more", "value & more"),
    ("İstanbul", "istanbul"),
    # numbers, units, dates, codes
    ("a motor of 10 kW", "10kW"),
    ("a motor of 10kW", '"10 kW"'),
    ("screws 3.5mm", '"3.5 mm"'),
    ("screws 3.5 mm", "3.5mm"),
    ("cost 1.250,50 in all", "1250,50"),
    ("cost 1250,50 in all", "1,250.50"),
    ("IBAN DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
    ("IBAN DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
    ("ISBN 978-3-16-148410-0", "9783161484100"),
    ("ISBN 9783161484100", "978-3-16-148410-0"),
    ("call 0171 234 56 78", "0171-2345678"),
    ("on 14 March 2026", "2026-03-14"),
    ("on 14.03.2026", "14 March 2026"),
    ("20260314", "March 14, 2026"),
    ("le 14 mars 2026", "14.3.2026"),
    ("14 de marzo de 2026", "2026/03/14"),
    ("2026年3月14日", "14. März 2026"),
    ("on 14 March 2026", "March 2026"),
    ("on 14 March 2026 we met", '"on 14 March 2026 we met"'),
    # marks inside words
    ("un**believ**able", "unbelievable"),
    ("**un**believable", '"unbelievable"'),
    ("H~2~O and H<sub>2</sub>O", "H2O"),
    ("a <u>x</u>y", "xy"),
    ("shares of AT&amp;T", "AT&T"),
    ("Caf&eacute; Central", "café central"),
    ("500&nbsp;g of **beef**", '"500 g of beef"'),
    # scripts
    ("לִמּוּד", "למוד"),
    ("كِتَابٌ", "كتاب"),
    ("كتاب", "كِتَاب"),
    ("أحمد", "احمد"),
    ("カタカナ", "かたかな"),
    ("髙橋さん", "高橋"),
    ("高橋さん", "髙橋"),
    ("Maerz", "März"),
    ("index가 있다", "index"),
    ("index가 있다", "index가"),
]


@pytest.mark.parametrize(("written", "asked"), FINDS)
def test_finds(index: NoteIndex, written: str, asked: str) -> None:
    """What is written is found by what is asked."""
    add(index, "hit.md", written)
    for n in range(4):
        add(index, f"other{n}.md", "nothing of the kind here zzz")
    assert found(index, asked) == ["hit.md"]


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("ハハとパパ", "ババ"),  # voiced marks make other words
        ("かき", "がき"),
        ("东京", "京东"),
        ("C is a letter", "C++"),
        ("C# here", "C++"),
        ("order WO-2292", '"WO-2291"'),
        ("version 2.14.4", '"2.14.3"'),
        ("snake and case apart", '"snake_case"'),
        ("й", "и"),
        ("quite other", "§"),
        ("on 15 March 2026", "14 March 2026"),
        ("IBAN DE89 3704 0044 0532 0130 01", "DE89370400440532013000"),
        ("2 * 3 * 4", "234"),
        ("organic things", '"organizations"'),
        ("the organizations", '"organization"'),
        ("vector of numbers", "vectors*"),
    ],
)
def test_does_not_find(index: NoteIndex, written: str, asked: str) -> None:
    """What is another word is not found."""
    add(index, "other.md", written)
    assert found(index, asked) == []


@pytest.mark.parametrize("sign", [chr(code) for code in range(33, 127) if not chr(code).isalnum()])
def test_every_sign_is_data(index: NoteIndex, sign: str) -> None:
    """No sign that means something to the full-text engine means anything when a person types it."""
    add(index, "a.md", f"alpha{sign}beta gamma")
    for asked in (f"alpha{sign}beta", f"{sign}alpha", f"alpha{sign}", f"gamma {sign}", f"alpha {sign} beta"):
        if asked.startswith("-") or (sign == '"' and asked.startswith('"')):
            continue  # the query language's own business
        assert found(index, asked) == ["a.md"], asked
    found(index, sign)


@pytest.mark.parametrize(
    "asked",
    ["AND", "OR", "NOT", "NEAR(a b)", "alpha AND", "OR alpha", "a* b*", "title:alpha", "^alpha", "{alpha", "()"],
)
def test_operators_are_words(index: NoteIndex, asked: str) -> None:
    """The engine's own operators are plain words."""
    add(index, "a.md", "alpha")
    assert found(index, asked) in ([], ["a.md"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=st.text(max_size=40))
def test_any_query(index: NoteIndex, asked: str) -> None:
    """No query raises, whatever it is made of."""
    if not index.count():
        add(index, "a.md", "some words")
    found(index, asked)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")), min_size=1, max_size=12))
def test_found_by_itself(index: NoteIndex, text: str) -> None:
    """A word of any script is found by typing the same word."""
    asked = clauses_of(parse_query(f'"{text.replace(chr(34), " ")}"').terms)
    note_id = add(index, "self.md", text)
    try:
        for clause in asked:
            assert note_id in SqliteLexicalRetriever(index).holding([clause]), clause
            assert SqliteLexicalRetriever(index).search([clause]).counts[0].notes == 1, clause
    finally:
        index.delete([note_id])


@given(st.text())
def test_preparing_twice(text: str) -> None:
    """Folding is done once and for all."""
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_tokens_are_words(text: str) -> None:
    """No token is empty or holds a blank or a quotation mark."""
    for token in tokens(text):
        assert token.strip() == token != ""
        assert '"' not in token


def test_index_and_query_agree(index: NoteIndex) -> None:
    """The engine splits a prepared text where ``tokens`` says it does."""
    text = " ".join(source for source, _ in FINDS)
    add(index, "all.md", text)
    for token in set(tokens(text)):
        assert SqliteLexicalRetriever(index).holding([Clause((token,), 0)]), token


def test_names_fold() -> None:
    """Names compare without case, accents and the kind of separator; signs alone are names too."""
    assert name_key("Change-the_Pump  Séal") == name_key("change the pump seal")
    assert name_key("🎉") == "🎉"
    assert name_key("°") != name_key("----")
    assert name_key("東京タワー") == name_key("東京たわー") == "東京たわー"
    assert name_key(" ") == ""


def test_parts() -> None:
    """Compound words give their parts; hashes and plain words give none."""
    assert parts("parseNote ERR4471 plain") == ["parse", "Note", "ERR", "4471"]
    assert parts("a" * 30 + "A1b2C3" * 20) == []
    assert prepare("plain ascii") == "plain ascii"
    assert "§" in EXTRA_LETTERS


# -- ranking ---------------------------------------------------------------------------------------------------------


def test_rare_words_rank(index: NoteIndex) -> None:
    """A note with the rarer word comes before one with the common word."""
    for n in range(10):
        add(index, f"common{n}.md", "valve valve valve words")
    add(index, "rare.md", "valve gasket words and more words")
    assert found(index, "valve gasket")[0] == "rare.md"


def test_title_counts(index: NoteIndex) -> None:
    """A word in the title outranks the same word in the text."""
    add(index, "body.md", "gasket")
    add(index, "gasket.md", "nothing")
    for n in range(5):
        add(index, f"{n}.md", "other")
    assert found(index, "gasket") == ["gasket.md", "body.md"]


def test_no_cliff(index: NoteIndex) -> None:
    """A note with most of the words is found although one of them is nowhere."""
    add(index, "a.md", "change the pump seal")
    add(index, "b.md", "other")
    assert found(index, "change pump seal zebra") == ["a.md"]


def test_stop_words_decide_nothing(index: NoteIndex) -> None:
    """Words such as "how" and "the" bring nothing in by themselves, unless nothing else is asked."""
    add(index, "stop.md", "how do the what")
    add(index, "real.md", "gasket")
    assert found(index, "how do the gasket") == ["real.md"]
    assert found(index, "how do the flange") == []
    assert found(index, "how do the") == ["stop.md"]


def test_links_weigh_less(index: NoteIndex) -> None:
    """A note about a thing comes before one that only links to it in a list."""
    add(index, "links.md", "- [[Flange]]\n- [[Gasket]]\n- [[Bearing]]\n- [[Seal]]\n")
    add(index, "about.md", "The gasket is a ring between two faces, and there is more to say about it.")
    for n in range(5):
        add(index, f"{n}.md", "other")
    assert found(index, "gasket")[0] == "about.md"


def test_bm25_sign(index: NoteIndex) -> None:
    """Higher is better, and the list is in that order."""
    for n in range(6):
        add(index, f"{n}.md", "pump " * (n + 1) + "filler " * 20)
    hits = word_hits(SqliteLexicalRetriever(index).search(clauses_of(parse_query("pump").terms)))
    assert [hit.bm25 for hit in hits] == sorted((hit.bm25 for hit in hits), reverse=True)


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ("pump -seal", ["b.md"]),
        ("pump -ADR-016", ["a.md", "b.md"]),
        ("decision -ADR-016", ["d.md"]),
        ('pump -"the seal"', ["b.md"]),
        ("pump -snake_case", ["a.md", "b.md"]),
    ],
)
def test_excluding(index: NoteIndex, asked: str, left: list[str]) -> None:
    """A minus takes out the notes that hold the thing as a whole, and no note that holds a piece of it."""
    add(index, "a.md", "pump and the seal, a case")
    add(index, "b.md", "pump alone, an ADR")
    add(index, "c.md", "decision ADR-016")
    add(index, "d.md", "decision ADR-018")
    assert sorted(found(index, asked)) == left


def test_filter_before_the_cut(index: NoteIndex) -> None:
    """A note that ranks below the cut is found when the filter leaves it alone."""
    for n in range(30):
        add(index, f"{n}.md", "pump pump pump")
    last = add(index, "last.md", "pump " + "filler " * 200)
    clauses = clauses_of(parse_query("pump").terms)
    assert last not in [hit.note_id for hit in word_hits(SqliteLexicalRetriever(index).search(clauses, k=5))]
    allowed = SqliteLexicalRetriever(index).search(clauses, k=5, allowed=frozenset([last]))
    assert [hit.note_id for hit in word_hits(allowed)] == [last]
    assert word_hits(SqliteLexicalRetriever(index).search(clauses, allowed=frozenset())) == []


def test_counts_follow_writes(index: NoteIndex) -> None:
    """A word that was in no note is found as soon as a note with it is written."""
    arm = SqliteLexicalRetriever(index)
    asked = clauses_of(parse_query("zebra").terms)
    assert word_hits(arm.search(asked)) == []
    note_id = add(index, "a.md", "zebra")
    assert [hit.note_id for hit in word_hits(arm.search(asked))] == [note_id]


def test_count_of_an_old_look_is_not_kept(index: NoteIndex) -> None:
    """A count made in a snapshot from before a write does not outlive it."""
    arm = SqliteLexicalRetriever(index)
    asked = clauses_of(parse_query("zebra").terms)
    with index.snapshot() as (connection, generation):
        add(index, "a.md", "zebra")
        assert arm._lists.count(arm._lists.look(connection, generation, frozenset()), asked[0]) == 0
    assert len(word_hits(arm.search(asked))) == 1


def test_held(index: NoteIndex) -> None:
    """Each hit says which of the query's words it holds."""
    both = add(index, "a.md", "pump seal")
    one = add(index, "b.md", "seal")
    for n in range(8):
        add(index, f"{n}.md", "other")
    result = SqliteLexicalRetriever(index).search(clauses_of(parse_query("pump seal").terms))
    assert {hit.note_id: hit.held for hit in word_hits(result)} == {both: {0, 1}, one: {1}}
    assert [count.notes for count in result.counts] == [1, 2]


def test_stems(index: NoteIndex) -> None:
    """English endings are taken off, other scripts stay as they are."""
    assert SqliteLexicalRetriever(index).stems(["running", "pumps", "東京", "λόγος"]) == [
        "run",
        "pump",
        "東京",
        "λόγοσ",
    ]


def test_typing(index: NoteIndex) -> None:
    """The last word may go on while it is typed, from three letters on."""
    add(index, "a.md", "gasket")
    arm = SqliteLexicalRetriever(index)
    assert word_hits(arm.search(clauses_of(parse_query("gas").terms, typing=True)))
    assert not word_hits(arm.search(clauses_of(parse_query("ga").terms, typing=True)))
    assert not word_hits(arm.search(clauses_of(parse_query("gas").terms)))


def test_nothing_asked(index: NoteIndex) -> None:
    """No clause, no hit."""
    add(index, "a.md", "x")
    assert word_hits(SqliteLexicalRetriever(index).search([])) == []
    assert SqliteLexicalRetriever(index).holding([]) == frozenset()
    assert SqliteLexicalRetriever(index).search([Clause(("nowhere",), 0)]).counts[0].notes == 0
    assert NoteId(0) not in SqliteLexicalRetriever(index).holding([Clause(("x",), 0)])


def test_lists_keep_up(index: NoteIndex) -> None:
    """What is kept of an earlier query is not used after a change."""
    arm = SqliteLexicalRetriever(index)
    first = add(index, "a.md", "gasket")
    for n in range(5):
        add(index, f"{n}.md", "other")
    asked = clauses_of(parse_query("gasket seal").terms)
    assert {hit.note_id: hit.held for hit in word_hits(arm.search(asked))} == {first: {0}}
    assert {hit.note_id: hit.held for hit in word_hits(arm.search(asked))} == {first: {0}}
    second = add(index, "b.md", "gasket seal")
    add(index, "a.md", "seal", first)
    result = arm.search(asked)
    assert {hit.note_id: hit.held for hit in word_hits(result)} == {first: {1}, second: {0, 1}}
    assert result.notes == 7
