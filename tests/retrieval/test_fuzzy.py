"""How like names are: slips allowed, numbers not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from vaultrag.retrieval.fuzzy import Likeness
from vaultrag.text.stop_words import STOP_WORDS


def name_similarity(asked: list[str], name: list[str]) -> float:
    """The likeness of one name, which is the same among others."""
    names = [["other", "gaskets"], name, [], ["seal"]]
    likeness = Likeness(asked, names)
    assert likeness.coverages()[1] >= likeness.similarity(1) - 1e-9
    assert likeness.coverages()[2] == likeness.similarity(2) == 0.0
    return likeness.similarity(1)


WORDS = st.lists(st.text("xyzq1", min_size=1, max_size=9), min_size=1)


@given(WORDS, WORDS)
def test_similarity_bounds(asked: list[str], name: list[str]) -> None:
    """Likeness lies between 0 and 1, and a name is wholly like itself."""
    assert 0.0 <= name_similarity(asked, name) <= 1.0
    assert name_similarity(name, name) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        ("gasket", "gasket", 1.0),
        ("gasket", "gaskte", 1 - 1 / 7),  # a swap is one slip
        ("gasket", "gaskets", 1 - 1 / 7),
        ("gasket", "basked", 0.0),  # two, in a short word
        ("stromversorgung", "strmversorgnug", 1 - 2 / 15),
        ("cat", "cut", 0.0),  # a slip in so short a word makes another one
        ("cat", "cat", 1.0),
        ("adr016", "adr017", 0.0),  # numbers allow none
        ("gasket", "casing", 0.0),
    ],
)
def test_words(left: str, right: str, alike: float) -> None:
    assert Likeness([left], [[right]]).words[0, 0] == pytest.approx(alike)
    assert word_similarity(left, right) == pytest.approx(alike)


def word_similarity(left: str, right: str) -> float:
    """How like two words are, said plainly."""
    shorter, slips = min(len(left), len(right)), OSA.distance(left, right)
    if slips == 0:
        return 1.0
    if shorter < 4 or any(char.isdigit() for char in left + right):
        return 0.0
    return 1.0 - slips / (shorter + 1) if slips <= (1 if shorter < 8 else 2) else 0.0


def _weight(word: str) -> float:
    return len(word) * (0.5 if word in STOP_WORDS else 1.0)


def _plain_similarity(asked: list[str], name: list[str]) -> float:
    """``name_similarity`` said plainly: every word against every word."""
    total = sum(map(_weight, asked))
    matched = sum(_weight(word) * max((word_similarity(word, other) for other in name), default=0.0) for word in asked)
    used = sum(_weight(other) * max((word_similarity(word, other) for word in asked), default=0.0) for other in name)
    coverage = matched / total
    tightness = used / sum(map(_weight, name))
    return coverage * (0.8 + 0.2 * tightness)


NEAR_WORDS = st.lists(
    st.sampled_from(
        ["gasket", "gaskte", "gaskets", "the", "seal", "sael", "adr016", "stromversorgung", "strmversorgnug"]
    )
    | st.text("abx1²é", min_size=1, max_size=9),
    min_size=1,
    max_size=8,
)


@given(NEAR_WORDS, NEAR_WORDS)
def test_quick_similarity(asked: list[str], name: list[str]) -> None:
    """Words that cannot be alike are left out of the comparison without a change of its result."""
    assert name_similarity(asked, name) == pytest.approx(_plain_similarity(asked, name))


def test_stop_words_are_part_of_a_name() -> None:
    """A name without its small words is another name, though a like one."""
    asked, other = ["all", "or", "nothing"], ["back", "to", "the", "sea"]
    assert name_similarity(asked, asked) > name_similarity(asked, ["nothing"])
    assert name_similarity(["sea"], ["sea"]) > name_similarity(["sea"], other) > 0.8
