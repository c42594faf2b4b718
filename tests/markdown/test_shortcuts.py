"""Where a quick look saves a long one, it changes nothing: each shortcut beside the expression that it stands for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.markdown import outline
from vaultrag.markdown.code_masking import Lifted
from vaultrag.storage.notes import note_values
from vaultrag.text import tokenize

_PIECES = (
    "word", "Word", "ABCdef", "camelCase", "a1", "1a", "A1", "12", "v2.14", "V1", "v", "C++", "C#", "x", "-", "#tag",
    "#tag/sub", "##", "#1", "[[n#h]]", "](#h)", "(#p)", "[[a]]", "![[b|c]]", "- [[a]]", "> * [[a]], [[b]];", "[[",
    "]]", "é", "e\u0301", "q\u0301", "か", "か\u3099", "か\u00ad\u3099", "日本語", "한국", "ไทย", "Σ", "ΣΑΣ", "ΣΑΣ'",
    "ﬁ", "ａｂ", "ß", "İ", "ı", "Ø", "\u00ad", "\u200d", "\u2028", "\u0345", "\u00a0", "\u3000", "…", "“q”", "😀",
    "°", "²", "㎏", "\x0c", "a" * 99, "a" * 100, "a" * 120, " ", " ", " ", "\n", "\n", "\t", "",
)  # fmt: skip
_TEXTS = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=4)), max_size=25).map("".join)


@given(_TEXTS)
def test_words_are_prepared_one_by_one(text: str) -> None:
    """A text comes out as if it had been prepared as a whole."""
    spelled = tokenize.spelled_out(text)
    signed = tokenize._VERSION.sub(r"\1 ", tokenize._SIGNED.sub(tokenize._spell_sign, spelled))
    whole = signed if signed.isascii() else tokenize._spell(tokenize.fold(signed))
    assert tokenize.prepare(text) == whole


@given(_TEXTS, st.integers(1, 20))
def test_a_long_text_comes_out_as_a_short_one(text: str, piece_chars: int) -> None:
    """However small the pieces that a text is worked on in, its words, their parts and its folding are the same."""
    whole = tokenize.prepare(text), tokenize.fold(text), tokenize.parts(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenize, "PIECE_CHARS", piece_chars)
        assert "".join(tokenize.pieces_of(text)) == text
        assert (tokenize.prepare(text), tokenize.fold(text), tokenize.parts(text)) == whole


def test_a_long_text_is_worked_on_in_pieces() -> None:
    """No piece is much longer than is meant, as long as its lines or words are not."""
    for text in ("word " * 100_000, "a line\n" * 100_000):
        assert max(map(len, tokenize.pieces_of(text))) <= tokenize.PIECE_CHARS


@pytest.mark.parametrize("text", ["q\u0301 x", "q\u0301 é", "か\u00ad\u3099 x", "か\u00ad\u3099 か\u3099"])
def test_marks_depend_on_each_other(text: str) -> None:
    """A mark without a letter of its own goes where others go, and stays where there are none."""
    assert tokenize.prepare(text) == tokenize._spell(tokenize.fold(text))


@given(_TEXTS)
def test_long_runs(text: str) -> None:
    """A long run is seen wherever it stands, and none where there is none."""
    assert tokenize.has_long_run(text, 100) == (re.search(r"[^ \n]{100}", text) is not None)


@given(_TEXTS)
def test_humps(text: str) -> None:
    """Words with parts are seen by counting as they are by looking."""
    classes = text.encode("utf-8", "replace").translate(tokenize._CLASSES)
    assert tokenize._has_hump(text) == any(hump in classes for hump in tokenize._HUMPS)


@given(st.one_of(_TEXTS, st.text("ab Z9+-", max_size=12)))
def test_plain_names(name: str) -> None:
    """A name of letters, digits and blanks has the words that any other way of looking finds."""
    found = tokenize.split_words(tokenize.fold(tokenize._SIGNED.sub(tokenize._spell_sign, name)).casefold())
    if found:
        assert tokenize.tokens_of_name(name) == found


@given(_TEXTS)
def test_tags_line_by_line(text: str) -> None:
    """Tags are found by lines as they are in the whole text."""
    whole = [match[1].strip("/").rstrip("-") for match in outline._TAG.finditer(text) if match[1] is not None]
    assert list(outline.inline_tags(Lifted(text))) == [tag for tag in whole if tag and not tag.isdecimal()]


@given(_TEXTS)
def test_lines_of_links(text: str) -> None:
    """Lines that are nothing but links are left empty, and no others."""
    line = re.compile(f"^{note_values._LINK_LINE.pattern}$", re.MULTILINE)
    taken = [match[0] for match in line.finditer(text)]
    assert note_values._without_link_lines(text) == (line.sub("", text), taken)
