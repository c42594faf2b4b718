"""Passages and windows: whole sentences, in order, nothing lost, in linear time."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultrag.domain import Passage
from vaultrag.markdown import passages, windows


def count_tokens(texts: Sequence[str]) -> list[int]:
    """A stand-in tokenizer: a token for each begun four letters of a word, and for any other sign."""
    return [sum(-(-len(word) // 4) for word in re.findall(r"[^\W\u2e80-\uffff]+|\S", text)) for text in texts]


def texts(found: list[Passage]) -> list[str]:
    return [passage.text for passage in found]


def sentences(text: str) -> list[str]:
    """Every unit alone: a budget that one sentence fills."""
    return texts(passages(text, lambda units: [10] * len(units), budget_tokens=10))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("See e.g. the pump. It runs.", ["See e.g. the pump.", "It runs."]),
        ("At 3.5 bar it opens. Dr. Wulff knows.", ["At 3.5 bar it opens.", "Dr. Wulff knows."]),
        ("Am 3. Oktober war z.B. Ruhe. Ja.", ["Am 3. Oktober war z.B. Ruhe.", "Ja."]),
        ("水泵坏了。换密封！为什么？", ["水泵坏了。", "换密封！", "为什么？"]),
        ("「終わり。」次の文。", ["「終わり。」", "次の文。"]),
        ('He said "stop." Then (he left.) Done', ['He said "stop."', "Then (he left.)", "Done"]),
        ("a line\nthat goes on. And\nanother", ["a line\nthat goes on.", "And\nanother"]),
        ("para one\n\npara two", ["para one", "para two"]),
        ("- item one. Still it.\n- [ ] two\n2) three", ["item one. Still it.", "two", "three"]),
        ("| a | b |\n\n| c |  |", ["a | b", "c"]),
        ("> quoted\n> > deeper", ["quoted\ndeeper"]),
        ("# h\n    # a comment in code\n    and code", ["h", "# a comment in code\nand code"]),
        ("> # h\n> text", ["h", "text"]),
        ("#tag begins. So", ["#tag begins.", "So"]),
        ("Visit example.org/a.b now... or not", ["Visit example.org/a.b now...", "or not"]),
        ("🙂", ["🙂"]),
        ("水。水\n\n水。", ["水。", "水", "水。"]),
        ("- \n#\n> \n|  |\n\n", []),
        ("", []),
    ],
)
def test_units(text: str, expected: list[str]) -> None:
    """Sentences, items and rows are told apart, and layout is left out."""
    assert sentences(text) == expected


def test_sentences_are_packed_up_to_the_budget() -> None:
    """Whole sentences share a passage while they fit, with their lines."""
    text = "One two. Three four.\nFive six.\n\n- seven\n- eight nine ten"
    found = passages(text, lambda units: [len(unit.split()) for unit in units], budget_tokens=6)
    assert found == [Passage(0, 1, "One two. Three four. Five six."), Passage(3, 4, "seven\neight nine ten")]


def test_nothing_is_put_between_sentences_without_spaces() -> None:
    """Sentences are put together again as they were written."""
    assert texts(passages("水泵坏了。换密封！ One. Two.", count_tokens)) == ["水泵坏了。换密封！ One. Two."]


def test_a_heading_begins_a_passage() -> None:
    """A heading is the first of its passage; headings that follow each other stay together."""
    found = passages("intro\n# A\n## B\ntext\n## C\nmore", count_tokens)
    assert found == [Passage(0, 0, "intro"), Passage(1, 3, "A\nB\ntext"), Passage(4, 5, "C\nmore")]


def test_too_many_passages_are_merged_evenly() -> None:
    """Beyond the limit, neighbours are joined: nothing is dropped and no passage is much larger than another."""
    text = "\n".join(f"# h{n}\ntext {n}" for n in range(10))
    found = passages(text, count_tokens, max_passages=4)
    assert len(found) == 4
    assert [(passage.start_line, passage.end_line) for passage in found] == [(0, 3), (4, 9), (10, 13), (14, 19)]
    assert re.findall(r"text \d", " ".join(texts(found))) == [f"text {n}" for n in range(10)]


def test_the_tokenizer_is_asked_once() -> None:
    """All sentences of a note are counted in one call, and only overlong ones again."""
    calls: list[int] = []

    def counting(batch: Sequence[str]) -> list[int]:
        calls.append(len(batch))
        return count_tokens(batch)

    passages("Short one. Short two.\n\n" * 50, counting)
    assert calls == [100]
    calls.clear()
    passages("Short one.\n\n" + "long " * 100 + "\n\nShort two.", counting)
    assert calls[0] == 3
    assert len(calls) <= 4


def test_a_long_sentence_is_cut_at_words_and_keeps_its_lines() -> None:
    """A sentence over the budget is cut between words; each piece knows its own lines."""
    text = "\n".join(f"word{n} and more of it" for n in range(40))
    found = passages(text, count_tokens, budget_tokens=20)
    assert " ".join(texts(found)).split() == text.split()
    for passage in found:
        lines = text.split("\n")[passage.start_line : passage.end_line + 1]
        assert passage.text.split()[0] in lines[0].split()
        assert passage.text.split()[-1] in lines[-1].split()


SIGNS = ["👩‍👩‍👧‍👦", "🇦🇹", "👍🏽", "e\u0301\u0323", "각", "नी", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("budget", [1, 2, 7])
def test_signs_are_never_cut(sign: str, budget: int) -> None:
    """What a reader sees as one sign is never cut, whatever the budget."""
    found = passages("a" + sign * 50, lambda units: [len(unit) for unit in units], budget_tokens=budget)
    assert "".join(texts(found)) == "a" + sign * 50
    assert all(re.fullmatch(f"a?(?:{sign})*", text) for text in texts(found))
    assert all(re.fullmatch(f"a?(?:{sign})*", text) for text in texts(windows("a" + sign * 50, budget)))


BLOCKS = st.sampled_from(
    ["word", "Two words.", "水泵。", "e.g. this", "\n", "\n\n", "\n# ", "\n- ", "\n| ", "\n> ", " ", "x" * 90, "Ünï",
     "🙂", "? ", "! ", "\x0c", "\u2028", "..."]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(BLOCKS, max_size=60).map("".join), st.integers(4, 30))
def test_passages_cover_every_line_within_the_budget(text: str, budget: int) -> None:
    """Every line with a letter is in a passage, in order, and no passage is over the budget."""
    found = passages(text, count_tokens, budget_tokens=budget)
    lines = text.split("\n")
    covered = {line for passage in found for line in range(passage.start_line, passage.end_line + 1)}
    assert {n for n, line in enumerate(lines) if any(map(str.isalpha, line))} <= covered
    assert all(first.end_line <= second.start_line for first, second in pairwise(found))
    assert all(tokens <= budget for tokens in count_tokens(texts(found)))
    letters = re.compile(r"\w")
    assert letters.findall("".join(texts(found))) == letters.findall(text)


@settings(max_examples=200, deadline=None)
@given(st.lists(BLOCKS, max_size=60).map("".join), st.integers(1, 200))
def test_windows_hold_all_the_text(text: str, max_chars: int) -> None:
    """Windows hold every sign of the text, in order, none longer than allowed, on their own lines."""
    found = windows(text, max_chars)
    assert "".join("".join(texts(found)).split()) == "".join(text.split())
    assert all(len(passage.text) <= max_chars for passage in found)
    lines = text.split("\n")
    for passage in found:
        inside = "\n".join(lines[passage.start_line : passage.end_line + 1])
        assert passage.text in inside


def test_windows_are_cut_at_blank_lines() -> None:
    """One window where all fits, else a cut between paragraphs."""
    text = "\nfirst paragraph\n\nsecond paragraph\n\nthird\n"
    assert windows(text, 1000) == [Passage(1, 5, text.strip())]
    assert windows(text, 40) == [Passage(1, 3, "first paragraph\n\nsecond paragraph"), Passage(5, 5, "third")]
    assert windows(" \n\n", 10) == []


HUGE = {
    "letters": "x" * 1_000_000,
    "ideographs": "水" * 1_000_000,
    "marks": "e" + "\u0301" * 1_000_000,
    "stops": "." * 1_000_000,
    "one line": "word. " * 200_000,
    "lines": "a\n" * 300_000,
    "spaces": " " * 1_000_000,
    "flags": "🇦" * 300_000,
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
def test_huge_texts_take_linear_time(text: str) -> None:
    """Megabytes without a space or a line end are cut in seconds."""
    started = time.perf_counter()
    found = passages(text, lambda batch: [len(unit) // 4 for unit in batch])
    windows(text, 5_000)
    assert time.perf_counter() - started < 20
    assert len(found) <= 400
