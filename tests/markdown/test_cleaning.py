"""What a model reads of a body."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultrag.markdown import clean

PAYLOAD = "N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRoIACyhQ4zZAHoFAc0" * 5


@pytest.mark.parametrize(
    ("body", "cleaned"),
    [
        ("a %%b%% c", "a  c"),
        ("a\n%% b\nc %%\nd", "a\n\n\nd"),
        ("a <!-- b\n--> c", "a \n c"),
        ("[[a]] [[b|c]] [[d#e]] [[#f]] [[g#^h]]", "a c d > e f g"),
        ("![[x.png]]![[x.png|300]] ![[Other note]] ![[v1.2 plan.md]]", " Other note v1.2 plan.md"),
        ("[t](https://x.org/a_(b)) ![alt](x.png) <https://x.org>", "t alt <https://x.org>"),
        (f"![](data:image/png;base64,{PAYLOAD}) b", " b"),
        (f"x {PAYLOAD} y", "x  y"),
        (f"```\nx {PAYLOAD}\n```\n", "\nx \n\n"),
        ("a\n```dataview\nTABLE x\n```\nb", "a\n\n\n\nb"),
        ("```tasks\nnot done\n```", "\n\n"),
        ("```python\ndef f(): # no\n    return '[[x]]'\n```\n", "\ndef f(): # no\n    return '[[x]]'\n\n"),
        ("run `git [[x]] <b>` now", "run git [[x]] <b> now"),
        ("`= this.x` and ``a`b``", "= this.x and a`b"),
        ("<% tp.date.now() %>a {{title}} b", "a  b"),
        ("<%*\nlet x\n%>a", "\n\na"),
        ("text ^abc123\n^def\nx^2 and m ^3 b", "text \n\nx^2 and m ^3 b"),
        ("<div class='x'>a<br/></div> Vec<String> <your name> 1 < 2", "a Vec<String> <your name> 1 < 2"),
        ("| a | b |\n|---|:-:|\n| c | d |", "| a | b |\n\n| c | d |"),
        ("a\n\n---\n***\n> ---\nb -- c", "a\n\n\n\n\nb -- c"),
        ("**bold** and ~~gone~~ *it* 2**3", "bold and gone *it* 2**3"),
        ("# Head\n- [ ] item\n> quote", "# Head\n- [ ] item\n> quote"),
        ("> [!warning]- Hot\n> text", ">  Hot\n> text"),
        ("100%% sure", "100%% sure"),
        ("a ``` b", "a ``` b"),
        ("a" * 500, "a" * 500),
        ("[label with `code`](x.md) [[`n`]]", "label with code n"),
        ("![[`x`.png]] [t](`u`)", "!x.png [t](u)"),
        ("```sh\n# note\n```", "\n    # note\n"),
        ("a\0b", "a\ufffdb"),
        ("", ""),
    ],
)
def test_cleaning(body: str, cleaned: str) -> None:
    """What is machinery goes, what was written stays, line by line."""
    assert clean(body) == cleaned


def test_unclosed_fence_is_code_to_the_end() -> None:
    """A fence that never closes hides nothing from the model, not even a query's."""
    assert clean("```dataview\nTABLE x\n[[y]]") == "\nTABLE x\n[[y]]"


def test_drawing_keeps_its_words() -> None:
    """Of an Excalidraw note the text elements stay and the picture goes."""
    body = (
        "==⚠  Switch to EXCALIDRAW VIEW ⚠== You can\n\n# Excalidraw Data\n\n## Text Elements\nPump house ^a1b2\n\n%%\n"
        f"## Drawing\n```compressed-json\n{PAYLOAD}\n\n{PAYLOAD}\n```\n%%"
    )
    cleaned = clean(body, drawing=True)
    assert cleaned.split() == ["#", "Excalidraw", "Data", "##", "Text", "Elements", "Pump", "house"]
    assert cleaned.count("\n") == body.count("\n")


def test_drawing_payload_without_property() -> None:
    """A drawing's payload is recognised by its heading, too; other JSON stays."""
    assert clean('# Drawing\n```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```') == '# Drawing\n\n\n\n\n{"b": 2}\n'


FRAGMENTS = st.sampled_from(
    ["\n", "\n\n", " ", "word ", "`", "``", "```", "```dataview\n", "~~~", "%%", "<!--", "-->", "<%", "%>", "[[",
     "]]", "[", "](", ")", "|", "![[", "{{", "}}", "# ", "#tag", "- ", "> ", "---", "**", "~~", "^id",
     "data:image/png;base64,", "<b>", "\\", "\0", "\u2028", "\x0c", "\r", "汉字。", "🙂", "# Drawing", "json",
     "x.png", PAYLOAD[:250]]
)  # fmt: skip
MARKDOWN = st.lists(FRAGMENTS, max_size=40).map("".join)


@settings(max_examples=400, deadline=None)
@given(st.one_of(MARKDOWN, st.text(max_size=60)), st.booleans())
def test_line_count_is_kept(body: str, drawing: bool) -> None:
    """Cleaning never adds or removes a line, and leaves no placeholder behind."""
    cleaned = clean(body, drawing=drawing)
    assert cleaned.count("\n") == body.count("\n")
    assert "\0" not in cleaned


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["valve", "Pumpe", "水泵", "2.5", "e.g."]), max_size=30).map(" ".join))
def test_plain_text_is_untouched(body: str) -> None:
    """Text without markup comes out as it went in."""
    assert clean(body) == body
