"""A text as words are compared in it, with the way back to the places in the text itself.

Most letters fold one to one (case, Latin and Greek accents). A few do not: ``ß``, ``æ``, ligatures, full and half
width, and letters whose marks are characters of their own, as macOS writes them. These are folded by ``text.tokenize``,
like the index does it, and remembered as a *joint*: so many characters here are so many there.
"""

from __future__ import annotations

import re
import unicodedata

from vaultrag.text.inline_markup import replacements
from vaultrag.text.letter_forms import LETTER_FORMS, VOWEL_SIGNS
from vaultrag.text.offsets import MappedText
from vaultrag.text.tokenize import fold

_POINTS = "".join(map(chr, VOWEL_SIGNS))
_JOINT = re.compile(
    f"[{_POINTS}]+|"
    "[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?"  # Hangul, taken apart
    "|[\uff66-\uff9d][\uff9e\uff9f]"  # half-width kana with its mark
    "|.[\u0300-\u036f\u3099\u309a]+"  # a letter with marks behind it
    "|[ßẞæÆœŒ\u00ad\ufb00-\ufb06\uff00-\uffef]",
    re.DOTALL,
)
_HAS_JOINT = re.compile(f"[{_POINTS}\u1100-\u115f\u0300-\u036f\u3099\u309aßẞæÆœŒ\u00ad\ufb00-\ufb06\uff00-\uffef]")


def _one_to_one() -> dict[int, str]:
    table: dict[int, str] = {ord("ς"): "σ", ord("ø"): "o", ord("ł"): "l", ord("đ"): "d", ord("ı"): "i", ord("µ"): "μ"}
    for code in (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x1E00, 0x2000)):
        base = unicodedata.normalize("NFD", chr(code))[0]
        if base != chr(code) and len(base.lower()) == 1:
            table[code] = base.lower()
    return table | LETTER_FORMS


_FOLD = _one_to_one()
_FOLDABLE = re.compile(f"[{''.join(map(chr, _FOLD))}]")
_FEW = 64


Folded = MappedText


def folded(text: str) -> Folded:
    """Fold a text, in time that grows with its length."""
    plain, marked = fold_letters(text), replacements(text)
    if not marked and (text.isascii() or not _HAS_JOINT.search(text)):
        return Folded(plain)
    pieces: list[str] = []
    joints: list[tuple[int, int, int, int]] = []
    known: dict[str, str] = {}
    here = last = 0
    letters = () if text.isascii() else ((*match.span(), match[0]) for match in _JOINT.finditer(text))
    for start, end, shown in sorted((*marked, *letters)):
        if start < last:
            continue
        joint = known.get(shown)
        if joint is None:
            joint = known[shown] = fold_letters(fold(shown))
        here += start - last
        joints.append((here, len(joint), start, end - start))
        here += len(joint)
        pieces += (plain[last:start], joint)
        last = end
    pieces.append(plain[last:])
    return Folded("".join(pieces), tuple(joints))


def fold_letters(text: str) -> str:
    """Lower case without Latin and Greek accents, of the same length as ``text``."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    if lowered.isascii():
        return lowered
    letters = set(_FOLDABLE.findall(lowered))
    if len(letters) > _FEW:
        return lowered.translate(_FOLD)
    for letter in letters:  # ten times as fast: a table is asked for every character
        lowered = lowered.replace(letter, _FOLD[ord(letter)])
    return lowered


def whole(text: str, position: int) -> bool:
    """Return whether a cut at ``position`` goes between two signs as people see them, not through one."""
    if position <= 0 or position >= len(text):
        return True
    left, right = text[position - 1], text[position]
    if left.isascii() and right.isascii():
        return not (left == "\r" and right == "\n")
    if left == "\u200d" or right in "\u200d\ufe0e\ufe0f" or "\U0001f3fb" <= right <= "\U0001f3ff":
        return False
    if unicodedata.category(right)[0] == "M":
        return False
    if _regional(left) and _regional(right):  # flags are pairs
        start = position
        while start > 0 and position - start < 64 and _regional(text[start - 1]):
            start -= 1
        return (position - start) % 2 == 0
    return not ("\u1100" <= left <= "\u11a7" and "\u1160" <= right <= "\u11ff")


def _regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
