"""The query language: what it understands, and that nothing a person types ever fails."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vaultrag.domain import Filters, PropertyFilter, Query, Term
from vaultrag.retrieval.query_parser import MAX_QUERY_CHARS, MAX_TERMS, cut, parse_query, words_alone
from vaultrag.text.tokenize import tokens


def _terms(raw: str) -> list[str]:
    return [f'"{term.text}"' if term.phrase else term.text for term in parse_query(raw).terms]


@pytest.mark.parametrize(
    ("raw", "terms"),
    [
        ("pump seal", ["pump", "seal"]),
        ('"exact phrase" word', ['"exact phrase"', "word"]),
        ('open "quote here', ["open", "quote", "here"]),
        ('say""', ["say"]),
        ('""', []),
        ("ADR-016", ["ADR-016"]),
        ("16-3", ["16-3"]),
        ("- alone", ["-", "alone"]),
        ("--flag", ["--flag"]),
        ("C++ AND (x OR y)", ["C++", "AND", "(x", "OR", "y)"]),
        ("color:red", ["color:red"]),
        ("http://x.org/a?b=c", ["http://x.org/a?b=c"]),
        ("tag:", ["tag:"]),
        ("tag:#", ["tag:#"]),
        ("is:strange", ["is:strange"]),
        ("after:yesterday", ["after:yesterday"]),
        ("Öl [x", ["Öl", "[x"]),
        ("kubectl get pods -n kube-system", ["kubectl", "get", "pods", "n", "kube-system"]),
        ("find . -name jam -f", ["find", ".", "name", "jam", "f"]),
        ("ls --all -recursive", ["ls", "--all", "recursive"]),
        ("tar -xzf archive", ["tar", "xzf", "archive"]),
        ("rm -rf -name", ["rm", "rf", "name"]),
        ("-c : option", ["c", ":", "option"]),
        ("16 -3", ["16", "3"]),
        ("pump -(see below)", ["pump", "(see", "below)"]),
        ("-buy milk", ["buy", "milk"]),
        ("eggs\n-milk\n\t-bread", ["eggs", "milk", "bread"]),
        ("[[Some Note]]", ["[[Some", "Note]]"]),
        ("[text](url)", ["[text](url)"]),
        ("[]", ["[]"]),
        ("[:x]", ["[:x]"]),
        ("- [ ] task", ["-", "[", "]", "task"]),
        ("footag:x", ["footag:x"]),
        ("   ", []),
        ("東京 タワー", ["東京", "タワー"]),
    ],
)
def test_terms(raw: str, terms: list[str]) -> None:
    """Words and phrases are taken as they stand, and what is no known form is words."""
    query = parse_query(raw)
    assert _terms(raw) == terms
    assert query.excluded == ()
    assert not query.filters
    assert query.raw == raw


@pytest.mark.parametrize(
    ("raw", "filters"),
    [
        ("tag:#a/b", Filters(tags=("a/b",))),
        ("TAG:a/", Filters(tags=("a",))),
        ('path:"My notes"', Filters(paths=("My notes",))),
        ("-path:x file:y", Filters(not_paths=("x",), files=("y",))),
        ("[status]", Filters(properties=(PropertyFilter("status"),))),
        ("[status: done ]", Filters(properties=(PropertyFilter("status", "done"),))),
        ('[status:"in work"]', Filters(properties=(PropertyFilter("status", "in work"),))),
        ("-[a:b]", Filters(not_properties=(PropertyFilter("a", "b"),))),
        ("is:Orphan -is:empty", Filters(states=("orphan",), not_states=("empty",))),
        ("after:2026-01-01 after:2026-02-01", Filters(after=date(2026, 2, 1))),
        ("before:2026-01-01 before:2026-02-01", Filters(before=date(2026, 1, 1))),
        ("-after:2026-01-01", Filters(before=date(2026, 1, 1))),
        ("-before:2026-01-01", Filters(after=date(2026, 1, 1))),
        ("tag:a tag:b", Filters(tags=("a", "b"))),
    ],
)
def test_filters(raw: str, filters: Filters) -> None:
    """Each condition is read, in either case, and several of one kind are kept."""
    query = parse_query(raw)
    assert query.filters == filters
    assert query.terms == ()
    assert query.text == ""
    assert not query.empty


def test_excluding() -> None:
    """A minus after a blank excludes a word or a phrase, and these are not part of what is embedded."""
    query = parse_query('pump -seal -"two words" tag:x 16 -WO-3 -水')
    assert query.excluded == (Term("seal"), Term("two words", phrase=True), Term("WO-3"), Term("水"))
    assert query.text == "pump 16"
    assert query.filters.tags == ("x",)


def test_long_queries() -> None:
    """A pasted text is cut between words, and has so many terms at most."""
    query = parse_query("word " * 5_000)
    assert len(query.terms) == MAX_TERMS
    assert len(cut("word " * 5_000)) <= MAX_QUERY_CHARS
    assert cut("word " * 5_000).endswith("word")
    assert len(cut("x" * 5_000)) == MAX_QUERY_CHARS


def test_half_a_surrogate() -> None:
    """Half a letter from a broken client becomes a sign that can be stored and sent."""
    query = parse_query('a\ud800b tag:\udfff [x:\ud800] "\ud800"')
    json.dumps(query.raw, ensure_ascii=False).encode()
    for text in (query.text, *query.filters.tags, query.filters.properties[0].value or ""):
        text.encode()


PIECES = st.sampled_from(
    [
        '"',
        "-",
        "[",
        "]",
        ":",
        "tag:",
        "path:",
        "after:",
        "2026-01-01",
        "is:orphan",
        "a",
        " ",
        "#",
        "(",
        ")",
        "\\",
        "\0",
        "x y",
    ]
)
QUERIES = st.one_of(st.text(), st.lists(PIECES).map("".join))


@settings(max_examples=400)
@given(QUERIES)
@example('-"')
@example("[" * 300)
@example("after:0001-01-01 before:9999-12-31")
def test_total(raw: str) -> None:
    """Every text is a query, and each word a person typed is in it somewhere."""
    query = parse_query(raw)
    assert isinstance(query, Query)
    for term in (*query.terms, *query.excluded):
        assert term.text.strip()
        assert "\0" not in term.text
    assert query.text == " ".join(term.text for term in query.terms)
    if len(raw) <= MAX_QUERY_CHARS and raw.strip(' "\0') and not raw.strip().startswith('"') and raw.isalnum():
        assert query.terms


WORDS = st.text("abcdefgh", min_size=1, max_size=8)


@given(
    terms=st.lists(st.tuples(WORDS, st.booleans())),
    excluded=st.lists(WORDS.map("no{}".format)),
    tags=st.lists(WORDS),
    day=st.dates(),
)
def test_round(terms: list[tuple[str, bool]], excluded: list[str], tags: list[str], day: date) -> None:
    """What is written in the language comes back as it was meant."""
    written = [f'"{word} x"' if phrase else word for word, phrase in terms]
    raw = " ".join([*written, *(f"-{word}" for word in excluded), *(f"tag:#{t}" for t in tags), f"after:{day}"])
    query = parse_query(raw)
    if len(raw) <= MAX_QUERY_CHARS and len(terms) <= MAX_TERMS:
        assert query.terms == tuple(Term(f"{word} x" if phrase else word, phrase) for word, phrase in terms)
        assert query.excluded == tuple(Term(word) for word in excluded)
        assert query.filters == Filters(tags=tuple(tags), after=day)


@given(QUERIES)
def test_reading_again(raw: str) -> None:
    """The same text always gives the same query."""
    assert parse_query(raw) == parse_query(raw)


class Vault:
    """A vault with one property, and one note of a strange name."""

    def has_property(self, name: str) -> bool:
        return name == "status"

    def has_name(self, text: str) -> bool:
        return text == "What? [status] -done after:2026-01-01"


@pytest.mark.parametrize(
    "raw",
    [
        "[x] call the roofer",
        "[!warning] Hot surface",
        "[^1]: Smith, Dams",
        "subject [MDP-23-24]",
        "[@holm2021, p. 33]",
        "Holm [cite: 2]",
        "What? #1 [draft] 100%",
        "What? [status] -done after:2026-01-01",
        "two [lines\n] here",
    ],
)
def test_brackets_are_text_where_no_note_has_the_property(raw: str) -> None:
    """Brackets around what is no property are words, each by itself; so is all of a query that is a note's name."""
    query = parse_query(raw, Vault())
    assert not query.filters
    assert not query.excluded
    assert query.text == " ".join(term.lstrip("-") for term in raw.split())


def test_a_property_that_exists_is_a_condition() -> None:
    """Brackets around a property that some note has are a condition, with and without a minus."""
    assert parse_query("[status:done] x", Vault()).filters == Filters(properties=(PropertyFilter("status", "done"),))
    assert parse_query("x -[status]", Vault()).filters == Filters(not_properties=(PropertyFilter("status"),))
    assert parse_query("x -[draft]", Vault()).text == "x [draft]"


@pytest.mark.parametrize("value", ["2026-13-01", "2026-02-30", "31.02.2026"])
def test_a_date_that_is_none_is_told(value: str) -> None:
    """What has the form of a date and is none is no word either, and the query says so."""
    query = parse_query(f"pump after:{value}")
    assert (query.text, query.invalid_dates, query.filters.after) == ("pump", (f"after:{value}",), None)
    assert parse_query("before:lunch").invalid_dates == ("before:lunch",)


def test_the_words_alone() -> None:
    """Without its conditions a query is its words, with those of brackets and exclusions; else the conditions' own."""
    asked = {
        "pump -seal [status: done] tag:x": "pump seal status done",
        'tag:deep/well path:"My notes"': "deep/well My notes",
        '-"two words"': "two words",
    }
    for raw, text in asked.items():
        alone = words_alone(parse_query(raw))
        assert alone is not None
        assert alone.text == text
        assert words_alone(alone) is None
    assert words_alone(parse_query("pump seal")) is None
    assert words_alone(parse_query("is:orphan after:2026-01-01")) is None


@given(st.lists(WORDS, min_size=2, max_size=6), st.sampled_from('[](){}-"'), st.data())
def test_one_sign_more_excludes_nothing(words: list[str], sign: str, data: st.DataObject) -> None:
    """A bracket or quote anywhere beside a word, and a dash at the start or by itself, leave the words as they are."""
    place = data.draw(st.integers(0, len(words) - 1))
    after = data.draw(st.booleans())
    if sign == "-" and place > 0 and not after:
        sign = "- "
    typed = [*words]
    typed[place] = typed[place] + sign if after else sign + typed[place]
    query = parse_query(" ".join(typed))
    assert not query.excluded
    assert not query.filters
    assert [token for term in query.terms for token in tokens(term.text)] == words
