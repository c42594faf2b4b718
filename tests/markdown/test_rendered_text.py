"""Rendered text: what a reader sees of a body, and the way back to where it stands."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vaultrag.markdown.excerpt import around
from vaultrag.markdown.rendered_text import rendered

SHOWN = [
    ("un**believ**able", "unbelievable"),
    ("***both*** **a *b* c** __d__ _e_ snake_case_name", "both a b c d e snake_case_name"),
    ("**注意：**请", "注意：请"),
    ("H~2~O ~~gone~~ ==high== 5 * 3 = a ** b", "H2O gone high 5 * 3 = a ** b"),
    ("<u>x</u>y, a<br>b, <String> stays", "xy, a b, <String> stays"),
    ("AT&amp;T, Caf&eacute;, 500&nbsp;g", "AT&T, Café, 500 g"),
    ("[[a/b|c]] [[Note]] [[Note#Head]] [[N#^b1]] ![[Emb]]![[p.png]]", "c Note Note > Head N Emb"),
    ("[a **b**](http://x.y/z_(a)) ![alt|200](a.png) [![b](x)](y)", "a b alt b"),
    ("see [this][ref]; arr[i][j]\n\n[ref]: http://foo.bar", "see this; arr[i][j]\n"),
    ("word[^1]\n\n[^1]: Smith, Dams", "word[1]\n\n[1] Smith, Dams"),
    ("## Head ##", "Head"),
    ("> [!tip]\n> Inside\n>> deeper", "Tip\nInside\ndeeper"),
    ("> [!warning]- Hot surface\n> text", "Hot surface\ntext"),
    ("| a | b |\n| --- | :-: |\n| 1 | [[x\\|y]] |", "a · b\n1 · y"),
    ("c | d\n--- | ---\ne | f\n\ng | h", "c · d\ne · f\n\ng | h"),
    ("- one\n  * two\n3. three", "• one\n  • two\n3. three"),
    ("- [ ] open\n- [x] done\n1. [ ] first", "☐ open\n☑ done\n1. ☐ first"),
    ("text ^block-1\n^alone", "text\n"),
    ("- item\n  id:: 64b0\n  collapsed:: true\nauthor:: Jane", "• item\nauthor: Jane"),
    ("due [when:: 2026-01-01] (hid:: soon)", "due when: 2026-01-01 soon"),
    ("a\n\n---\n\nb\n***\nTitle\n=====\nc", "a\n\nb\nTitle\nc"),
    ("a <% tp.date.now() %>b %%hidden%%c <!-- no\nno -->d", "a b c d"),
    ('%% kanban:settings\n```\n{"a":1}\n```\n%%\nend', "end"),
    ("```compressed-json\nN4Ig\n```\nx\n```dataview\nLIST\n```", "x\n"),
    ("```py\ndef f(**kw):  # [[x]]\n```\nend", "def f(**kw):  # [[x]]\nend"),
    ("> ```\n> code **x**\n> ```", "code **x**"),
    ("`**x**` ``a`b`` \\*star\\*", "**x** a`b *star*"),
    ("![pic](data:image/png;base64,AAAA) seen", "pic seen"),
    ("raw " + "aB3" * 90 + " seen", "raw  seen"),
    ('<div class="x">\n\ninside</div>\n<img src="a.png">', "\ninside "),
    ("<https://a.b/c_d_e> $5 and 3 < 4 & 5", "https://a.b/c_d_e $5 and 3 < 4 & 5"),
    ("{{date}} stays", "{{date}} stays"),
]


@pytest.mark.parametrize(("source", "shown"), SHOWN)
def test_a_reader_sees(source: str, shown: str) -> None:
    """Marks and machinery go, what they say to a reader stays."""
    assert rendered(source).text.rstrip("\n") == shown.rstrip("\n")


PIECES = st.sampled_from(
    [*(source for source, _ in SHOWN), "*", "**", "_", "~~", "==", "`", "```", "\n```\n", "%%", "<!--", "<%", "[", "]]",
     "](", "![", "|", "\n| ", "\n> ", "\n- [", "\n\n", " ", "&amp", ";", "::", "\n::", "\\", "^", "word", "ß", "😀"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=200))
@example("id:: x\n")
def test_every_position_leads_back(source: str) -> None:
    """Each sign of the rendered text comes from a place in the source, in order; kept ones are the same there."""
    copy = rendered(source)
    joined = {at for here, size, _, _ in copy.joints for at in range(here, here + size)}
    last = 0
    for at, sign in enumerate(copy.text):
        start, end = copy.start(at), copy.end(at + 1)
        assert last <= start < end <= len(source)
        if at not in joined:
            assert source[start:end] == sign
            assert copy.position(start) == at
            last = end


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join), st.integers(0, 400), st.integers(0, 30))
def test_a_stretch_is_whole_lines(source: str, start: int, length: int) -> None:
    """A part that is rendered by itself holds its place, and begins and ends with a line."""
    start = min(start, len(source))
    end = min(len(source), start + length)
    first, last = around(source, start, end)
    assert 0 <= first <= start <= end <= last <= len(source)
    assert first == 0 or source[first - 1] == "\n"


def test_a_long_fence_is_not_cut() -> None:
    """What stands far inside a fence is rendered as code."""
    code = "a **b** [[c]]\n" * 900
    source = f"```\nfirst\n```\nbefore\n\n```py\n{code}```\nafter **it**\n"
    middle = source.index("[[c]]", len(source) // 2)
    first, last = around(source, middle, middle + 5)
    assert "a **b** [[c]]" in rendered(source[first:last]).text
    assert not re.search("```", rendered(source[first:last]).text)
    place = source.index("**it**")
    first, last = around(source, place, place)
    assert rendered(source[first:last]).text.rstrip().endswith("after it")


def _cost(text: str) -> float:
    best = 1e9
    for _ in range(2):
        start = time.process_time()
        rendered(text)
        around(text, len(text) // 2, len(text) // 2)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize(
    "unit",
    ["[", "![", "[a](", "[[", "*a ", "a* ", "**a** ", "*a _b ", "a* b_ ", "`", "``a`", "<a ", "<!--", "<%", "%%", "&a",
     "a::b ", "\n| a ", "\n> ", "\n- [ ] ", "|-", "\n--|--", "[a][b]", "[k:: ", "(k:: ", "\n```\n", "\n[a]: b", "^a ",
     "\\", "~a~", "_a"],
)  # fmt: skip
def test_grows_with_the_text(unit: str) -> None:
    """Eight times the text takes about eight times as long, not sixty-four times."""
    small = unit * (8_000 // len(unit))
    assert _cost(small * 8) < 30 * max(_cost(small), 0.002)
