"""Text in pictures, recognised by the process that can do nothing else."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image

from tests.support import documents
from vaultrag.sources import SourceProcess
from vaultrag.sources.ocr import LONGEST_SIDE, lines_of, pixels
from vaultrag.sources.source_text import Unreadable


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SourceProcess]:
    process = SourceProcess(tmp_path_factory.mktemp("ocr"), recognise=True)
    yield process
    process.close()


@pytest.mark.slow
def test_a_screenshot_is_read(process: SourceProcess) -> None:
    """Light or dark, its lines are read from the top down; what looks like markup is plain text."""
    lines = ["Invoice of March", "#4711 total 99 Euro"]
    for dark in (False, True):
        answer = process.convert("image", documents.picture(lines, dark=dark))
        assert answer.text == "Invoice of March\n\\#4711 total 99 Euro\n"
        assert answer.problem == ""


@pytest.mark.slow
def test_a_scan_is_read_page_by_page(process: SourceProcess) -> None:
    """Pages that are pictures are read, the others have their own text."""
    answer = process.convert("pdf", documents.scan(["The first page"], ["The second page"], dpi=150), pages=2)
    assert [line for line in answer.text.split("\n") if line and ":" not in line and line != "---"] == [
        "## Page 1", "The first page", "## Page 2", "The second page",
    ]  # fmt: skip
    assert (answer.problem, answer.pictures) == ("", 0)


with Image.open(io.BytesIO(documents.picture(["x"]))) as small:
    PIXELS = b"".join(side.to_bytes(4, "big") for side in small.size)

HOSTILE = {
    "nothing": b"",
    "nonsense": b"\x89PNG\r\n\x1a\n" + b"x" * 1000,
    "cut off": documents.picture(["A line of text"])[:300],
    "many pixels": documents.picture(["x"]).replace(PIXELS, (30_000).to_bytes(4, "big") * 2, 1),
}


@pytest.mark.slow
def test_hostile_pictures_end_in_a_sentence(process: SourceProcess) -> None:
    """Damaged pictures, and those of too many pixels, give the reason; the next one is read."""
    for name, data in HOSTILE.items():
        answer = process.convert("image", data)
        assert answer.problem, name
        assert not answer.text, name
    assert "after" in process.convert("image", documents.picture(["after it"])).text


def test_a_large_picture_is_made_smaller() -> None:
    """Nothing is gained by more pixels than letters need; what is transparent is white."""
    file = io.BytesIO()
    Image.new("RGBA", (6000, 3000), (0, 0, 0, 0)).save(file, "PNG")
    shown = pixels(file.getvalue())
    assert shown.shape == (LONGEST_SIDE // 2, LONGEST_SIDE, 3)
    assert shown.min() == 255


def test_what_is_no_picture_says_so() -> None:
    """In words."""
    with pytest.raises(Unreadable, match="damaged"):
        pixels(b"no picture")


def test_pieces_beside_each_other_are_one_line() -> None:
    """A line is what stands at one height, from left to right."""
    corners = [[(200, 11), (300, 11), (300, 31), (200, 31)], [(0, 10), (100, 10), (100, 30), (0, 30)],
               [(0, 60), (100, 60), (100, 80), (0, 80)]]  # fmt: skip
    assert lines_of(np.array(corners, np.float64), ["right", "left", "below"]) == ["left right", "below"]
