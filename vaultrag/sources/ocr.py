"""Text in pictures, by PaddleOCR's small models in ONNX, which come inside the package ``rapidocr`` (Apache-2.0).

Loaded in a process of its own, before that gives up its rights: its models are files, and its threads are none.
"""

from __future__ import annotations

import io
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps
from rapidocr import RapidOCR

from vaultrag.sources.source_text import Section, SourceText, Unreadable, plain

Pixels = NDArray[np.uint8]

LONGEST_SIDE = 2600
"""Pixels; a larger picture is made smaller. An A4 page at 220 dpi is as long."""

SHORTEST_SIDE = 40
"""A picture that is smaller holds no text: an icon."""

MAX_PIXELS = 120_000_000
MIN_SCORE = 0.6
"""How sure the model must be of a line; below, it reads letters into photographs."""

_SAMPLE = (60, 200)


class Recogniser:
    """Reads the text in pictures, in one thread."""

    def __init__(self) -> None:
        Image.MAX_IMAGE_PIXELS = MAX_PIXELS // 2  # an error from twice as many on
        cv2.setNumThreads(1)
        one_thread = {"intra_op_num_threads": 1, "inter_op_num_threads": 1}
        self._engine = RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.text_score": MIN_SCORE,
                **{f"EngineConfig.onnxruntime.{name}": value for name, value in one_thread.items()},
            }
        )
        self.text_of(_sample())  # what is loaded at the first use is loaded now

    def read_image(self, data: bytes) -> SourceText:
        """Read the text of a picture.

        Raises:
            Unreadable: It is no picture, or one that is too large.
        """
        text = self.text_of(pixels(data))
        return SourceText([Section("", text)] if text else ())  # most photographs have none

    def text_of(self, picture: Pixels) -> str:
        """Return the text of a picture as Markdown, line by line from the top down."""
        if min(picture.shape[:2]) < SHORTEST_SIDE:
            return ""
        found: Any = self._engine(picture)
        if found.boxes is None or not found.txts:
            return ""
        return plain("\n".join(lines_of(np.asarray(found.boxes, np.float64), list(found.txts))))


def pixels(data: bytes) -> Pixels:
    """Return a picture's pixels, uint8[height, width, 3], upright, white where it is transparent, and not too large."""
    try:
        with Image.open(io.BytesIO(data)) as opened:
            opened.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
            picture = ImageOps.exif_transpose(opened)
            if "A" in picture.getbands() or "transparency" in picture.info:
                shown = picture.convert("RGBA")
                picture = Image.alpha_composite(Image.new("RGBA", shown.size, "white"), shown)
            picture = picture.convert("RGB")
            picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            return np.asarray(picture, np.uint8)
    except Image.DecompressionBombError as error:
        raise Unreadable("it has more pixels than a picture may have") from error
    except (OSError, ValueError, SyntaxError, TypeError, KeyError, EOFError) as error:
        raise Unreadable("damaged: it cannot be opened as a picture") from error


def lines_of(boxes: NDArray[np.float64], texts: list[str]) -> list[str]:
    """Put pieces of text that stand beside each other on one line.

    Args:
        boxes: float64[n, 4, 2]: the corners of each piece, x and y in pixels.
        texts: Of each piece.
    """
    middles, lefts = boxes[:, :, 1].mean(axis=1), boxes[:, :, 0].min(axis=1)
    heights = boxes[:, :, 1].max(axis=1) - boxes[:, :, 1].min(axis=1)
    lines: list[tuple[float, list[tuple[float, str]]]] = []
    for number in np.argsort(middles, kind="stable").tolist():
        if lines and abs(middles[number] - lines[-1][0]) < heights[number] / 2:
            lines[-1][1].append((lefts[number], texts[number]))
        else:
            lines.append((middles[number], [(lefts[number], texts[number])]))
    return [" ".join(text for _, text in sorted(pieces)) for _, pieces in lines]


def _sample() -> Pixels:
    """Draw a word, so that every model is run once."""
    picture = np.full((*_SAMPLE, 3), 255, np.uint8)
    cv2.putText(picture, "Note 7", (10, 45), cv2.FONT_HERSHEY_SIMPLEX, 1.4, (0, 0, 0), 2)
    return picture
