"""Characters that nobody sees: they steer a terminal, turn the reading direction, or carry text past the eye. Pure.

What is part of a script or of a sign stays: joiners within Persian or Indic words and within emoji, the three flags
made of tag characters, a variation selector after a sign that has variants, direction marks beside letters that run
from right to left.
"""

from __future__ import annotations

import re

_COMPLEX = r"\u0590-\u1cff\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufefc"
"""Letters of scripts that need joiners or direction marks, from Hebrew to Meetei Mayek."""

_PICTURE = r"\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
_IDEOGRAPH = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_FLAG = "|".join("\U0001f3f4" + "".join(chr(0xE0000 + ord(sign)) for sign in f"{area}\x7f") for area in
                 ("gbeng", "gbsct", "gbwls"))  # fmt: skip

_INVISIBLE = re.compile(
    "|".join(
        (
            rf"({_FLAG})",
            r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]",
            r"[\u00ad\u034f\u115f\u1160\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\u3164\uffa0\ufff9-\ufffb]",
            r"(?!\A)\ufeff|[\U0001d173-\U0001d17a]",
            rf"(?<![{_COMPLEX}])\u200c",
            rf"(?<![{_COMPLEX}{_PICTURE}])\u200d|(?<=[{_PICTURE}])\u200d(?![{_PICTURE}])",
            rf"(?<![{_COMPLEX}])[\u200e\u200f\u061c](?![{_COMPLEX}])",
            r"(?<![^A-Za-z\s\ufe00-\ufe0f])[\ufe00-\ufe0f]",
            rf"(?<![{_IDEOGRAPH}])[\U000e0100-\U000e01ef]|[\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]",
        )
    )
)


def without_invisible(text: str) -> str:
    """Return the text without them. Line breaks and tabs stay."""
    return text if text.isascii() and text.isprintable() else _INVISIBLE.sub(lambda found: found[1] or "", text)


def shown(text: str) -> str:
    """Return the text with each of them as U+FFFD, so that positions stay; carriage returns and NULs, too."""
    if text.isascii() and text.isprintable():
        return text
    shown = _INVISIBLE.sub(lambda found: found[1] or "\ufffd", text)
    return shown.replace("\r", "\ufffd").replace("\0", "\ufffd")
