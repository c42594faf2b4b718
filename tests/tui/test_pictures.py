"""The search screen looks as it did; a change of its looks is a change of a picture, to be looked at."""

from __future__ import annotations

import html
import re

import pytest

from tests.tui.pictures import FOLDER, PICTURES, picture

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("name", list(PICTURES))
def test_the_screen_looks_as_it_did(name: str) -> None:
    """Each state of the screen is drawn as in its picture; `python -m tests.tui.pictures` draws them anew."""
    kept = (FOLDER / f"{name}.svg").read_text("utf-8")
    drawn = picture(name)
    assert _words(drawn) == _words(kept)
    assert drawn == kept, f"{name}.svg: the words are the same, the looks are not"


def _words(svg: str) -> list[str]:
    """The texts in a picture, line for line: a difference in them is easier to read."""
    texts = re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>(.*?)</text>', svg)
    lines: dict[str, list[str]] = {}
    for y, text in texts:
        lines.setdefault(y, []).append(html.unescape(text).replace("\xa0", " "))
    return ["".join(parts) for parts in lines.values()]
