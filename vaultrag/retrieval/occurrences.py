"""Where the words of a query stand in a text: in every form, and numbers in every way of writing them. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice, pairwise

from vaultrag.text import number_forms
from vaultrag.text.normalize import Folded
from vaultrag.text.number_forms import MIN_CODE_DIGITS
from vaultrag.text.tokenize import unspaced

LONGEST_ENDING = 4
"""A word may be so much longer than its stem and still be a form of it."""

MAX_OCCURRENCES = 400
"""Of one word in one text."""

_SHORTEST_STEM = 3


def occurrences(copy: Folded, wanted: Mapping[str, float]) -> list[tuple[int, int, str]]:
    """(start, end, word) of every form of a wanted word, in order."""
    found: list[tuple[int, int, str]] = []
    text, size = copy.text, len(copy.text)
    plain = text.isascii() and not copy.joints
    for word in wanted:
        if not word.strip():
            continue
        if _in_groups(word):
            found += [(copy.start(start), copy.end(end), word) for start, end in _groups(text, word)]
            continue
        written = _written(word)
        ending = _ending(written)
        if plain and written.isascii() and written.isalnum():
            found += [(start, end, word) for start, end in _plain_forms(text, written, len(written) + ending)]
            continue
        free = unspaced(word) or not word[0].isalnum()
        position, count = text.find(written), 0
        while position >= 0 and count < MAX_OCCURRENCES:
            stop = end = position + len(written)
            if free or position == 0 or not _inside(text[position - 1]):
                while not free and stop < size and _inside(text[stop]):
                    stop += 1
                if stop - end <= ending:
                    found.append((copy.start(position), copy.end(stop), word))
                    count += 1
            position = text.find(written, stop)
    found.sort()
    return found


def _plain_forms(text: str, word: str, longest: int) -> list[tuple[int, int]]:
    """Find the forms of an ASCII word in an ASCII text: no marks, no joints, and so much faster."""
    found: list[tuple[int, int]] = []
    for match in _going_on(word).finditer(text):
        start, stop = match.span()
        if stop - start <= longest and not (start and text[start - 1].isalnum()):
            found.append((start, stop))
            if len(found) == MAX_OCCURRENCES:
                break
    return found


@lru_cache(256)
def _going_on(word: str) -> re.Pattern[str]:
    """Return a pattern of what begins with this word: with the word in front it is looked for as fast as a text."""
    return re.compile(f"{word}[a-z0-9]*")


@lru_cache(256)  # the same few words in every note that is shown
def _in_groups(word: str) -> bool:
    """Return whether this is words in a row, or a number."""
    return " " in word or sum(map(str.isdigit, word)) >= MIN_CODE_DIGITS


@lru_cache(256)
def _ending(word: str) -> int:
    """Return how much longer a form of this stem may be: a number and what is hardly a word have no forms."""
    return LONGEST_ENDING if len(word) >= _SHORTEST_STEM and not any(map(str.isdigit, word)) else 0


def _groups(text: str, word: str) -> list[tuple[int, int]]:
    """Return where words stand in a row, or a date, number or code that has this form, however it is written."""
    form = tuple(word.split())
    found: list[tuple[int, int]] = []
    if any(map(str.isdigit, form[0])):
        found += [(one.start, one.end) for one in number_forms.written(text) if form in one.forms]
    pieces = [re.escape(form[0])]
    for before, piece in pairwise(form):
        joined = before.isdigit() and piece.isalpha()  # 10kW
        pieces += (rf"[\W_]{{{0 if joined else 1},4}}", re.escape(piece))
    row = re.compile(rf"(?<![^\W_]){''.join(pieces)}(?![^\W_])")
    found += [match.span() for match in islice(row.finditer(text), MAX_OCCURRENCES)]
    return sorted(set(found))


def _inside(char: str) -> bool:
    """Return True if a word goes on with this: letters, digits, and the vowel marks of some scripts."""
    return char.isalnum() or (not char.isascii() and unicodedata.category(char)[0] == "M")


_SIGNED = re.compile(r"^([a-z])(plusplus?|sharp)$")


@lru_cache(256)
def _written(word: str) -> str:
    """``C++`` and ``C#`` again, which the index spells out."""
    match = _SIGNED.match(word)
    return word if match is None else match[1] + ("#" if match[2] == "sharp" else "++")
