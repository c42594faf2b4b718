"""Bytes into text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultrag.domain import NotePath
from vaultrag.markdown import file_text, looks_binary, parse_note, read_body

TEXTS = {
    "cp1252": ["café au lait with an antelope\n", "Der Müller geht über die Straße.\n", "Él comió jamón en España\n",
               "It’s the “quoted” naïve – fine…\n"],
    "latin-1": ["Le café est fermé à midi, l'été.\n"],
    "cp932": ["ポンプの軸受を交換する。漏れが止まった。\n"],
    "cp1251": ["Насос течёт, нужно менять уплотнение.\n"],
    "gb18030": ["水泵漏水，需要更换密封件。\n"],
    "euc_kr": ["펌프가 샌다. 씰을 교체해야 한다.\n"],
    "cp1250": ["Žluťoučký kůň úpěl ďábelské ódy.\n"],
}  # fmt: skip


@pytest.mark.parametrize(("codec", "text"), [(codec, text) for codec, texts in TEXTS.items() for text in texts])
@pytest.mark.parametrize("times", [1, 40, 4000])
def test_other_encodings(codec: str, text: str, times: int) -> None:
    """Text that is surely in another encoding is read, alike for the index, previews and readers, and it is said."""
    data = (f"# {text}" + text * times).encode(codec)
    note = parse_note(NotePath("a.md"), data)
    assert note.body == read_body(data)[0] == file_text(data) == data.decode(codec)
    assert note.problems[0].startswith("not UTF-8; read as ")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["An eland.\n", "---\ntags: [x]\n---\nÜber die Straße\n" * 50, "a" * 20_000])
def test_utf16_without_its_mark(codec: str, text: str) -> None:
    """UTF-16 is known by every other byte being NUL, and is nothing odd."""
    data = text.encode(codec)
    assert not looks_binary(data)
    assert file_text(data) == text
    assert parse_note(NotePath("a.md"), data).problems == ()


@pytest.mark.parametrize(
    "data",
    [b"good \xff text [[a]]\xed\xa0\x80", "水泵漏水 ".encode() * 100 + b"\xff", "Müller ".encode() * 9 + b"caf\xe9",
     bytes(range(128, 256)), b"\xff\xfe\x00", b"x \xe9 y \xf1 z \xfc\n"],
)  # fmt: skip
def test_when_not_sure(data: bytes) -> None:
    """UTF-8 with lost bytes, and bytes strewn among others, stay UTF-8; what cannot be read is shown as such."""
    assert "\ufffd" in file_text(data)
    assert parse_note(NotePath("a.md"), data).problems[0].startswith("not valid UTF-")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"), max_size=200))
def test_utf8_is_never_taken_for_another(text: str) -> None:
    """Valid UTF-8 comes out as it is."""
    assert file_text(text.encode()) == text


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=300))
def test_any_bytes_decode(data: bytes) -> None:
    """No bytes raise."""
    file_text(data)
