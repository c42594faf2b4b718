"""The texts made of files: kept, found by their bytes, healed."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultrag.daemon.vaults import write_atomically
from vaultrag.domain import DiskEntry, NotePath
from vaultrag.domain.sources import Converted
from vaultrag.storage.source_texts import SourceTexts

A, B = NotePath("a.pdf"), NotePath("b.pdf")


@pytest.fixture
def texts(tmp_path: Path) -> SourceTexts:
    return SourceTexts(tmp_path / "sources", write_atomically)


def put(texts: SourceTexts, path: NotePath, text: str, content_hash: str = "h") -> None:
    texts.put(DiskEntry(path, 1, 2), content_hash, 1, Converted(text, "a problem", 3))


def again(texts: SourceTexts) -> SourceTexts:
    return SourceTexts(texts._folder, write_atomically)


def test_what_is_put_is_had_again_after_a_restart(texts: SourceTexts) -> None:
    """Text, problem and stat are what they were."""
    put(texts, A, "# Größe\n\ntext\n")
    for one in (texts, again(texts)):
        record = one.record(A)
        assert record is not None
        assert (record.entry, record.problem, record.pictures) == (DiskEntry(A, 1, 2), "a problem", 3)
        assert one.text(A) == "# Größe\n\ntext\n"
        assert one.text(B) is None
        assert one.record(B) is None


def test_a_file_is_found_by_its_bytes(texts: SourceTexts) -> None:
    """By those, and by the version of what read them."""
    put(texts, A, "old", "h1")
    assert texts.same("h1", 1) == texts.record(A)
    assert texts.same("h1", 2) is None
    put(texts, A, "new", "h2")
    assert texts.same("h1", 1) is None
    put(texts, B, "new", "h2")
    texts.keep_only([A])
    assert texts.same("h2", 1) is None or texts.same("h2", 1) == texts.record(A)


def test_only_what_is_asked_for_is_kept(texts: SourceTexts) -> None:
    """What goes leaves no file."""
    put(texts, A, "a")
    put(texts, B, "b")
    texts.keep_only([B])
    assert texts.text(A) is None
    assert texts.text(B) == "b"
    assert len(list(texts._folder.iterdir())) == 1


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff" * 100])
def test_a_damaged_file_is_none(texts: SourceTexts, damage: bytes) -> None:
    """Its text is made anew; so is that of one whose text has changed by a byte, and of one half written."""
    put(texts, A, "text")
    (file,) = texts._folder.iterdir()
    good = file.read_bytes()
    file.write_bytes(damage)
    assert texts.text(A) is None
    assert again(texts).record(A) is None
    file.write_bytes(good[:-1] + b"x")
    assert again(texts).text(A) is None
    (file.parent / f".{file.name}.1").write_bytes(good)
    file.unlink(missing_ok=True)
    assert again(texts).record(A) is None
    assert not list(texts._folder.iterdir())
