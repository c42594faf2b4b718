"""Words, as the full-text index sees them: text prepared so that SQLite's own tokenizer splits it rightly.

SQLite's ``unicode61`` splits at every sign that is no letter, mark or digit. That is right for most of what people
write and wrong in a few places, which are mended here, before indexing and before searching alike (a tokenizer written
in Python would make the database unreadable to every other tool):

- Scripts without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese): each run becomes overlapping pairs of
  characters and its last character alone, so that a word of two letters is one term and a single letter is a prefix.
- Full-width forms are made plain (NFKC); Latin and Greek accents are dropped, Japanese voiced marks are kept.
- ``C++`` and ``C#`` become words of their own; ``v2.14`` gives its number away from the letter.
- Points and vowel signs of Hebrew and Arabic are dropped; both kinds of kana, old and new forms of a letter are one.
- Markup inside a word goes, ``10kW`` is two words, and a date, a grouped number or a long code is followed by the one
  form that stands for every way of writing it (``text.number_forms``).
- Pictures and a few signs that people search for (emoji, degree, paragraph, currency) are words of their own.
- ``camelCase`` and ``ABC123`` stay one word; their parts are listed beside it (``parts``).

Pure; knows nothing of SQL. ``tokens`` gives what the tokenizer will make of a text, before stemming.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import add
from typing import cast

from vaultrag.text.inline_markup import without_markup
from vaultrag.text.letter_forms import LETTER_FORMS, VOWEL_SIGNS
from vaultrag.text.number_forms import with_forms

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3100-\u312f\u31a0-\u31bf"  # bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # ideographs
    "\uac00-\ud7a3"  # Hangul
    "\U00020000-\U0003ffff"  # more ideographs
)
EXTRA_LETTERS = "§¶€£"
"""Signs that are words, beside the Unicode category So (other symbols), which is so as a whole."""

_CURRENCY = "\u20ba-\u20cf"  # added to Unicode of late: SQLite takes them for letters

_PICTURE = re.compile(
    f"[{EXTRA_LETTERS}{_CURRENCY}\u00a9\u00ae\u00b0\u2100-\u214f\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u2500-\u27bf"
    "\u2b00-\u2bff\U0001f000-\U0001faff]"
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_SIGNED = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z])(\+\+|#)(?![A-Za-z_#])")
_VERSION = re.compile(r"(?<![A-Za-z0-9])([vV])(?=\d+\.\d)")
_SMALL_V, _LARGE_V = re.compile(r"v\d"), re.compile(r"V\d")
# Letter classes, so that the few notes with a camelCase word are told from the many without at C speed.
_CLASSES = bytes(
    ord("a") if 97 <= c <= 122 else ord("A") if 65 <= c <= 90 else ord("0") if 48 <= c <= 57 else ord(" ")
    for c in range(256)
)
_HUMPS = (b"aA", b"AAaa", b"a0", b"A0", b"0a", b"0A")
# Patterns that begin with a letter are found at the speed at which that letter is.
_CAPITAL_WITHIN = re.compile(rb"A(?<=[aA0]A)")
_DIGIT_BESIDE = re.compile(rb"0(?:(?<=[aA]0)|(?=[aA]))")
_REMEMBERED_CHARS = 24  # of a word with signs beyond ASCII: the same ones come again and again
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_COMPOUND = re.compile(r"[A-Za-z0-9]+")
_LATIN_MARKS = re.compile("([A-Za-zÆØĐŁæøđł\u0370-\u03ff])[\u0300-\u036f]+")
_SINGLE: dict[int, str] = {
    **{ord(sign): plain for sign, plain in {
        "ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "æ": "ae", "Æ": "AE",
        "œ": "oe", "Œ": "OE", "ı": "i",
    }.items()},
    **LETTER_FORMS,
    **dict.fromkeys(VOWEL_SIGNS, ""),
    # Invisible: soft hyphens, joiners and directions from the web; the look and the skin of pictures.
    **dict.fromkeys((0xAD, 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFE0E, 0xFE0F,
                     0xFEFF, *range(0x1F3FB, 0x1F400)), ""),
}  # fmt: skip
_HAS_SINGLE = re.compile(f"[{''.join(map(chr, _SINGLE))}]")


_UNIT = re.compile(r"\d+(?=[A-Za-z]{1,3}(?![^\W_]))")


PIECE_CHARS = 1 << 16
"""Characters handed to one regular expression at a time. One call holds the interpreter until it returns: over a note
of 10 MB for a quarter of a second, in which no other thread answers."""


def pieces_of(text: str, ends: Sequence[str] = ("\n", " ")) -> Iterator[str]:
    """Cut a text after a line end about every ``PIECE_CHARS``; where a line is longer, after a blank.

    Args:
        text: Joined, the pieces are this text again.
        ends: Where to cut, the best place first.
    """
    start = 0
    while len(text) - start > PIECE_CHARS:
        middle = start + PIECE_CHARS
        cut = next((cut for end in ends if (cut := text.rfind(end, start, middle) + len(end)) >= start + len(end)), 0)
        if not cut:
            found = min((place for end in ends if (place := text.find(end, middle)) >= 0), default=-1)
            if found < 0:
                break
            cut = next(found + len(end) for end in ends if text.startswith(end, found))
        yield text[start:cut]
        start = cut
    yield text[start:]


def prepare(text: str) -> str:
    """Rewrite ``text`` so that splitting at everything but letters, marks and digits gives the right words."""
    pieces = list(map(_signs_spelled, pieces_of(spelled_out(text))))
    if all(map(str.isascii, pieces)):
        return "".join(pieces)
    spelled = [_spelled_by_word(piece) for piece in pieces]
    if None in spelled:
        return "".join(map(_spell, _folded(pieces)))
    return "".join(cast("list[str]", spelled))


def spelled_out(text: str) -> str:
    """Return a text without markup inside its words, with units by themselves, and dates and codes in one form, too."""
    return with_forms(_UNIT.sub(_with_space, without_markup(text)))


def _with_space(match: re.Match[str]) -> str:
    return match[0] if match.string[match.start() - 1 : match.start()].isalnum() else f"{match[0]} "


def _signs_spelled(text: str) -> str:
    if _has_sign(text):
        text = _SIGNED.sub(_spell_sign, text)
    return _VERSION.sub(r"\1 ", text) if _has_version(text) else text


def _spelled_by_word(text: str) -> str | None:
    """Word by word, for nothing of what follows looks beyond a blank, and most words are plain even where some are not.

    None where the result depends on what else is in the note.
    """
    if text.isascii():
        return text.lower()
    pieces = [piece if piece.isascii() else _spelled(piece) for piece in text.split(" ")]
    return None if None in pieces else " ".join(cast("list[str]", pieces)).lower()


def _spelled(piece: str) -> str | None:
    """Return what ``prepare`` makes of a text without blanks; None where that depends on what else is in the note."""
    return _spelled_before(piece) if len(piece) <= _REMEMBERED_CHARS else _spelled_now(piece)


def _spelled_now(piece: str) -> str | None:
    plain = _without_single(unicodedata.normalize("NFKC", piece))
    decomposed = unicodedata.normalize("NFD", plain)
    unmarked = _LATIN_MARKS.sub(r"\1", decomposed)
    # What is composed already is seen to be so at once; to compose it anew takes half of all the time for Japanese.
    folded = unicodedata.normalize("NFC", plain if unmarked == decomposed else unmarked)
    if folded != plain == decomposed:  # ``fold`` leaves a mark that is no letter's alone where there are no others
        return None
    return _spell(folded)


_spelled_before = lru_cache(maxsize=2048)(_spelled_now)


def _spell(text: str) -> str:
    """In lower case by Python, not by SQLite, whose table lacks the scripts that got it lately."""
    if text.isascii():
        return text.lower()
    return _RUN.sub(_pairs, _ODD.sub(_plain_or_blank, _PICTURE.sub(r" \g<0> ", text.lower())))


def has_long_run(text: str, chars: int) -> bool:
    """Return whether there are so many characters without a blank or a line end: data, not words."""
    start, last = 0, len(text) - chars
    while start <= last:
        end = start + chars
        blank = text.rfind(" ", start, end)
        if blank < 0:
            blank = text.rfind("\n", start, end)
            if blank < 0:
                return True
        start = blank + 1
    return False


def _has_version(text: str) -> bool:
    """Return True if a digit follows a ``v``: two patterns that begin with a letter are found faster than one."""
    return _SMALL_V.search(text) is not None or _LARGE_V.search(text) is not None


def _has_sign(text: str) -> bool:
    """Return whether a letter is followed by ``++`` or ``#``: tells the many notes without from the few, at C speed."""
    for sign in ("#", "++"):
        place = text.find(sign, 1) if sign[0] in text else -1  # one character is looked for much faster than two
        while place > 0:
            if text[place - 1].isalpha():
                return True
            place = text.find(sign, place + 1)
    return False


# SQLite's table of letters is older than Python's, and takes signs that it does not know for letters.
_ODD = re.compile(r"[^\w\s\x00-\x7f\u2000-\u206f]")


def _plain_or_blank(match: re.Match[str]) -> str:
    return match.group() if is_word_char(match.group()) else " "


def fold(text: str) -> str:
    """NFKC, without Latin and Greek accents; letter case is left to the tokenizer."""
    return text if text.isascii() else "".join(_folded(list(pieces_of(text))))


def _folded(pieces: Sequence[str]) -> Sequence[str]:
    """Fold the pieces of one text, which is left as it is where all of it is decomposed already."""
    plain = [_without_single(unicodedata.normalize("NFKC", piece)) for piece in pieces]
    decomposed = [unicodedata.normalize("NFD", piece) for piece in plain]
    if decomposed == plain:
        return plain
    return [unicodedata.normalize("NFC", _LATIN_MARKS.sub(r"\1", piece)) for piece in decomposed]


def _without_single(text: str) -> str:
    return text.translate(_SINGLE) if _HAS_SINGLE.search(text) else text


def name_key(name: str) -> str:
    """Return what two names are compared by: case, accents, and ``-``, ``_`` or spaces between words do not matter."""
    return " ".join(tokens_of_name(name))


def tokens_of_name(name: str) -> list[str]:
    """Return the words of a title, alias or heading, folded; scripts without spaces stay in one piece.

    A name of signs only (an emoji, a paragraph sign) is its own single word.
    """
    if name.isascii() and name.replace(" ", "").isalnum():  # most names
        return name.lower().split()
    words = split_words(fold(_SIGNED.sub(_spell_sign, name)).casefold())
    signs = name.encode("utf-8", "ignore").decode().replace("\0", "").strip()  # nor is half a surrogate pair a sign
    return words or ([signs] if signs else [])


def tokens(text: str) -> list[str]:
    """Return the terms the tokenizer makes of ``text``, in order, before stemming."""
    return split_words(prepare(text).lower())


def split_words(text: str) -> list[str]:
    """Split at everything but letters, marks, digits and private-use characters, as ``unicode61`` is told to."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    words: list[str] = []
    start = -1
    for index, char in enumerate(text):
        if is_word_char(char):
            if start < 0:
                start = index
        elif start >= 0:
            words.append(text[start:index])
            start = -1
    if start >= 0:
        words.append(text[start:])
    return words


_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")


def is_word_char(char: str) -> bool:
    """Return whether the tokenizer keeps this character."""
    if char.isalnum() or char in EXTRA_LETTERS or "\u20ba" <= char <= "\u20cf":
        return True
    category = unicodedata.category(char)
    return category[0] in "MN" or category in ("Co", "So")


def parts(text: str) -> list[str]:
    """Return the parts of compound words in ``text``: ``parseNote`` gives parse, Note; ``ERR4471`` gives ERR, 4471."""
    found: list[str] = []
    for part in pieces_of(text):
        if not _has_hump(part):
            continue
        for word in _COMPOUND.findall(part):
            # Long runs of mixed letters and digits are data (hashes, base64), and would drown the index in pieces.
            if 3 <= len(word) <= 48 and _has_hump(word):
                pieces = [piece for piece in _PART.findall(word) if len(piece) > 1]
                if 1 <= len(pieces) <= 6 and pieces != [word]:
                    found.extend(pieces)
    return found


def _has_hump(text: str) -> bool:
    classes = text.encode("utf-8", "replace").translate(_CLASSES)
    if _CAPITAL_WITHIN.search(classes):
        return any(hump in classes for hump in _HUMPS)
    return _DIGIT_BESIDE.search(classes) is not None


def unspaced(text: str) -> bool:
    """Return whether ``text`` holds letters of a script that is written without spaces."""
    return not text.isascii() and _RUN.search(text) is not None


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    if len(run) == 1:
        return f" {run} "
    return f" {' '.join(map(add, run, run[1:]))} {run[-1]} "


def _spell_sign(match: re.Match[str]) -> str:
    return f"{match[1]}{'plusplus' if match[2] == '++' else 'sharp'} "
