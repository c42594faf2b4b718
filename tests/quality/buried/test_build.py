"""The buried set is what it claims to be: reproducible, long, and asked for in other words."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.quality.buried.build import Rule, build, count_words, load_rules, load_vocabulary

MAX_SHARED_WORDS = 2
# No single sentence around the rules may hold more than this share of a rule's content words.
MAX_FILLER_OVERLAP = 0.5

STOP_WORDS = frozenset(
    re.findall(
        r"[a-z]+",
        """
    a about above after again against ago all along already also am an and any are aren around as at away back be
    because been before being below between both but by can cannot could did do does doesn doing don down during each
    either else even ever every few for from further get gets getting give go goes going gone got had has hasn have
    having he her here hers him himself his how i if in into is isn it its itself just let like made make many may me
    might mine more most much must mustn my myself near never no nobody nor not nothing now of off on once one only or
    other our ours out over own per s same shall she should since so some someone something still such t take taken
    than that the their theirs them themselves then there these they this those though through till to together too
    under unless until unto up upon us very was wasn we well were what when where whether which while who whoever whom
    whose why will with within without would yet you your yours
    """,
    )
)


def content_words(text: str) -> set[str]:
    """The words that carry meaning, lower-case, plural and past endings cut off so that forms count as shared."""
    words = set(re.findall(r"[a-z]+|\d+", text.lower())) - STOP_WORDS
    return {re.sub(r"(?:ing|ied|ies|ed|es|s|e|y)$", "", word) if len(word) > 3 else word for word in words}


RULES = load_rules()
IDS = [rule.title for rule in RULES]


def written(folder: Path) -> dict[str, str]:
    """Every note's text by its file name."""
    return {path.name: path.read_bytes().decode() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the set's notes are written."""
    return tmp_path_factory.mktemp("buried")


@pytest.fixture(scope="module")
def queries(folder: Path) -> list[dict[str, object]]:
    """The set's queries; its notes are then in `folder`."""
    return build(folder)


@pytest.fixture(scope="module")
def vault(folder: Path, queries: list[dict[str, object]]) -> dict[str, str]:
    """Every note's text by its file name."""
    assert len(queries) == 120
    return written(folder)


def test_the_set_has_five_rules_for_each_topic() -> None:
    """There are 120 rules, five for each of 24 topics, with titles, rules and queries that all differ."""
    assert set(Counter(rule.topic for rule in RULES).values()) == {5}
    assert len(RULES) == 120
    for field in ("title", "rule", "query"):
        assert len({getattr(rule, field) for rule in RULES}) == 120, field


@pytest.mark.parametrize("topic", sorted({rule.topic for rule in RULES}))
def test_a_topic_has_words_enough(topic: str) -> None:
    """A topic brings enough sentences and words of its own for paragraphs that differ."""
    vocabulary = load_vocabulary(topic)
    assert sum(template.count("{") for template in vocabulary.templates) >= 60
    for slot, least in {"n": 40, "v": 25, "a": 20}.items():
        assert len(set(vocabulary.slots[slot])) >= least, slot


def test_the_same_seed_gives_the_same_bytes(
    tmp_path: Path, vault: dict[str, str], queries: list[dict[str, object]]
) -> None:
    """Building again gives the same notes and queries; another seed gives other notes for the same queries."""
    assert build(tmp_path / "again") == queries
    assert written(tmp_path / "again") == vault
    assert build(tmp_path / "other", seed=8) == queries
    other = written(tmp_path / "other")
    assert other.keys() == vault.keys()
    assert all(other[name] != text for name, text in vault.items())


def test_queries_are_judged_on_the_note_of_their_rule(queries: list[dict[str, object]]) -> None:
    """A query's one relevant note is the file that its rule was written into."""
    assert [query["id"] for query in queries] == [f"buried-{number:03}" for number in range(1, 121)]
    for query, rule in zip(queries, RULES, strict=True):
        assert query == {
            "id": query["id"],
            "query": rule.query,
            "relevant": {f"{rule.title}.md": 1},
            "answerable": True,
            "kind": "buried",
        }


def test_notes_are_long(vault: dict[str, str]) -> None:
    """Every note has 2,000 to 5,000 words, with a heading every few hundred."""
    for name, text in vault.items():
        assert 2_000 <= count_words(text) <= 5_000, name
        assert all(count_words(section) <= 600 for section in text.split("\n## ")), name


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_rule_stands_once_in_the_middle_of_its_note(rule: Rule, vault: dict[str, str]) -> None:
    """A rule stands in its own note once, between 30 % and 70 %, inside a paragraph, and in no other note."""
    assert [name for name, text in vault.items() if rule.rule in text] == [rule.file_name]
    before, after = vault[rule.file_name].split(rule.rule)
    words_before, words_after = count_words(before), count_words(after)
    assert 0.3 <= words_before / (words_before + words_after) <= 0.7
    assert before.endswith(". ")
    assert after.startswith(" ")


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_query_uses_other_words(rule: Rule) -> None:
    """A query shares at most two content words with its rule, and the title gives neither of them away."""
    shared = content_words(rule.rule) & content_words(rule.query)
    assert len(shared) <= MAX_SHARED_WORDS, shared
    assert not content_words(rule.title) & (content_words(rule.rule) | content_words(rule.query))


def test_nothing_around_the_rules_answers_a_query(vault: dict[str, str]) -> None:
    """The other sentences hold no figures and never most of a rule's content words."""
    wanted = [content_words(rule.rule) for rule in RULES]
    for rule in RULES:
        body = vault[rule.file_name].replace(rule.rule, "").split("\n", 1)[1]
        assert not re.search(r"\d", body), rule.title
        for sentence in re.split(r"(?<=\.)\s+", body):
            words = content_words(sentence)
            assert all(len(words & rule_words) <= MAX_FILLER_OVERLAP * len(rule_words) for rule_words in wanted)
