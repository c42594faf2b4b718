"""A file's bytes into text: UTF-8, UTF-16 with or without its mark, else what a detector is sure of. Pure.

The detector takes milliseconds, so it is asked only about bytes that are no UTF-8. What it says is believed where the
text then reads as one: every other byte sequence stays UTF-8, with what cannot be read shown as U+FFFD.
"""

from __future__ import annotations

import codecs
from functools import lru_cache

from charset_normalizer import from_bytes

SAMPLE_BYTES = 4 * 1024
"""Of a file that is no UTF-8, so much is shown to the detector."""

MAX_CHAOS = 0.1
"""Share of the sample that may look odd to the detector."""

_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_NAMES = {
    "cp1252": "Windows-1252", "cp1250": "Windows-1250", "cp1251": "Windows-1251", "cp932": "Shift-JIS",
    "euc_jp": "EUC-JP", "gb18030": "GB 18030", "big5": "Big5", "cp949": "EUC-KR", "koi8_r": "KOI8-R",
}  # fmt: skip
"""The encodings that are looked for. ISO 8859-1 and -15 are read as Windows-1252, which holds what they hold."""

_FEW_NULS, _MANY_NULS = 0.05, 0.4


def has_utf16_mark(data: bytes) -> bool:
    """Return whether the bytes begin with UTF-16's byte-order mark."""
    return data[:2] in _MARKS


def decoded(data: bytes) -> tuple[str, str]:
    """Decode a file. Never raises.

    Returns:
        (text, problem): the problem is empty for Unicode, else it says what was read as what, or what was not read.
    """
    codec, name = _MARKS.get(data[:2], "utf-8"), "UTF-16" if has_utf16_mark(data) else "UTF-8"
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        if codec == "utf-8":
            if (other := utf16_without_mark(data)) is not None:
                return data.decode(other), ""
            if (guess := _guess(data)) is not None:
                return data.decode(guess), f"not UTF-8; read as {_NAMES[guess]}"
        problem = f"not valid {name} at byte {error.start}; what could not be read is shown as \ufffd"
        return data.decode(codec, "replace"), problem
    if "\0" in text and (other := utf16_without_mark(data)) is not None:
        return data.decode(other), ""
    return text, ""


def utf16_without_mark(data: bytes) -> str | None:
    """Return which UTF-16 this is: every other byte of it is NUL, and it decodes."""
    head = data[:8192]
    if len(data) % 2 or not head:
        return None
    even, odd = (head[start::2].count(0) * 2 / len(head) for start in (0, 1))
    codec = {(True, False): "utf-16-be", (False, True): "utf-16-le"}.get((even >= _MANY_NULS, odd >= _MANY_NULS))
    if codec is None or min(even, odd) > _FEW_NULS:
        return None
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return None
    return codec if text[:4096].replace("\n", "").replace("\r", "").replace("\t", "").isprintable() else None


def _guess(data: bytes) -> str | None:
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if len(text) - len(text.encode("ascii", "ignore")) > 2 * broken:  # UTF-8 with a few bytes lost
        return None
    sample = data[:SAMPLE_BYTES]
    codec = _detected(sample[: sample.rfind(b"\n") + 1] if len(data) > len(sample) and b"\n" in sample else sample)
    try:
        return codec if codec and data.decode(codec) else None
    except UnicodeDecodeError:
        return None


@lru_cache(maxsize=8)
def _detected(sample: bytes) -> str | None:
    # In one piece: of several, one that begins within a word looks odd.
    matches = from_bytes(sample, steps=1, chunk_size=len(sample), cp_isolation=list(_NAMES), threshold=MAX_CHAOS)
    found = {name: match for match in matches for name in match.could_be_from_charset}
    if not found:
        return None
    codec, best = min(found.items(), key=lambda item: (item[1].chaos, -item[1].coherence))
    # Far the most common: others of one byte a sign must be better, not just as good.
    western = found.get("cp1252")
    if western is not None and western.chaos <= best.chaos and western.coherence >= best.coherence - 0.1:
        codec = "cp1252"
    return codec if _reads(sample.decode(codec, "replace")) else None


def _reads(text: str) -> bool:
    """Return whether the signs beyond ASCII stand within words, or are words: not strewn among others."""
    padded = f" {text} "
    letters = [place for place in range(1, len(padded) - 1) if padded[place] > "\x7f" and padded[place].isalpha()]
    joined = sum(padded[place - 1].isalpha() or padded[place + 1].isalpha() for place in letters)
    return bool(letters) and joined * 3 >= len(letters) * 2
