"""From a query's terms to the clauses that the words arm looks for.

A *clause* is one thing that stands in a note or does not: a word, or several in a row. A term that the tokenizer splits
(``WO-2291``, ``snake_case``, ``/etc/hosts``) is a clause of its pieces in a row, so that it is found as a whole; its
longer plain pieces are added as *parts*, so that a note which writes it otherwise is not lost. A run of Chinese,
Japanese, Korean or Thai text becomes its pairs of letters. A date, a number or a code is looked for in the one form
that the index holds of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from unicodedata import normalize

from vaultrag.domain import Clause, Term
from vaultrag.text.number_forms import compact_date, written
from vaultrag.text.stop_words import STOP_WORDS
from vaultrag.text.tokenize import fold, is_word_char, tokens, unspaced

LEAST_QUOTED = 4
"""Words from which on a query may be a sentence taken from a note."""


def clauses_of(terms: Iterable[Term], *, typing: bool = False) -> list[Clause]:
    """Clauses for the terms, in order, without repeats.

    Args:
        terms: The query's terms.
        typing: The query is still being typed: its last word, from three letters on, may go on.
    """
    found: dict[Clause, None] = {}
    terms = list(terms)
    numbers = _numbers(terms)
    for index, term in enumerate(terms):
        last = typing and index == len(terms) - 1 and not term.phrase
        for clause in numbers[index] if index in numbers else _clauses(term, index, last):
            found.setdefault(clause)
    return list(found)


def _numbers(terms: Sequence[Term]) -> dict[int, list[Clause]]:
    """Return the clauses of terms that are a date, a number or a code, some of them together."""
    text, starts = "", []
    for term in terms:
        starts.append(len(text))
        text += f"{'' if term.phrase else term.text} "
    found: dict[int, list[Clause]] = {}
    for one in written(text):
        first, last = bisect_right(starts, one.start) - 1, bisect_right(starts, one.end - 1) - 1
        end = starts[last] + len(terms[last].text)
        if only_signs(text[starts[first] : one.start] + text[one.end : end]):
            form, *others = one.forms
            found |= {index: [] for index in range(first, last + 1)}
            found[first] = [Clause(form, first, variants=tuple(others), exact=True)]
    for index, term in enumerate(terms):
        if not term.phrase and compact_date(term.text.strip(_AROUND)):
            found.setdefault(index, [Clause((term.text.strip(_AROUND),), index, exact=True)])
    return found


_AROUND = ".,;:!?()[]"


def row_of(terms: Sequence[Term], clauses: Iterable[Clause]) -> list[tuple[Clause, int]]:
    """Return where the clauses stand in the query, in words; nothing for a query too short to be a quotation."""
    first: dict[int, Clause] = {}
    for clause in clauses:
        number = clause.exact and not terms[clause.term].phrase  # the index holds its form behind what is written
        if not (clause.part or clause.stop or number):
            first.setdefault(clause.term, clause)
    row: list[tuple[Clause, int]] = []
    offset = 0
    for index, term in enumerate(terms):
        if index in first:
            row.append((first[index], offset))
        offset += len(tokens(term.text))
    return row if offset >= LEAST_QUOTED and len(row) > 1 else []


def _clauses(term: Term, index: int, typing: bool) -> list[Clause]:
    words = tuple(tokens(term.text))
    if not words:  # signs, or letters younger than the tokenizer's Unicode
        return []
    if unspaced(fold(term.text)):  # half-width kana and taken-apart Hangul are seen only then
        return _unspaced(term, index)
    if len(words) > 2 and words[0] == "v" and all(word.isdigit() for word in words[1:]):
        words = words[1:]  # v2.14.3 is 2.14.3
    begun = len(term.text) > 3 and term.text.endswith("*") and term.text[-2].isalnum() and not term.phrase
    prefix = begun or (typing and len(words[-1]) >= 3)
    if len(words) == 1:
        stop = not (term.phrase or begun) and words[0] in STOP_WORDS
        return [
            Clause(words, index, prefix=prefix, stop=stop, exact=term.phrase or begun, variants=_umlauts(term.text))
        ]
    whole = Clause(words, index, prefix=prefix, exact=term.phrase)
    if term.phrase:
        return [whole]
    return [whole, *(Clause((word,), index, part=True) for word in words if _telling(word))]


def _umlauts(text: str) -> tuple[tuple[str, ...], ...]:
    """``März`` is ``Maerz``, too, where there are no umlauts to type."""
    if text.isascii():
        return ()
    spelled = tuple(tokens(normalize("NFC", text).translate(_UMLAUTS)))
    return (spelled,) if len(spelled) == 1 and spelled != tuple(tokens(text)) else ()


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


def _telling(word: str) -> bool:
    return len(word) >= 3 and word not in STOP_WORDS


def _unspaced(term: Term, index: int) -> list[Clause]:
    """Pairs of letters; as one row for a phrase, each on its own (and the row, when it is short) for plain text."""
    rows = _rows(tokens(term.text))
    if len(rows) == 1 and (term.phrase or len(rows[0]) == 1):
        return [Clause(rows[0], index, prefix=_single(rows[0]), exact=term.phrase)]
    # As it is written, letters of other scripts beside it included; the last letter of a run is there twice.
    whole = tuple(tokens(term.text))
    last = len(whole) > 1 and len(whole[-1]) == 1 and len(whole[-2]) == 2 and whole[-2].endswith(whole[-1])
    whole = whole[:-1] if last else whole
    if term.phrase:
        return [Clause(whole, index, prefix=_single(whole[-1:]), exact=True)]
    found = [Clause(whole, index, prefix=_single(whole[-1:]))] if len(rows) > 1 and len(whole) <= 8 else []
    if found and all(len(row) == 1 for row in rows):
        return [*found, *(Clause(row, index, prefix=_single(row), part=True) for row in rows)]
    for row in rows:
        if 1 < len(row) <= 5:
            found.append(Clause(row, index))
        found.extend(Clause((token,), index, prefix=_single((token,)), part=len(row) > 1) for token in row)
    return found


def _rows(words: list[str]) -> list[tuple[str, ...]]:
    """Group the pairs of one run; drop the lone last letter that ``prepare`` adds to a run of two or more."""
    rows: list[list[str]] = []
    open_pair = ""  # the pair before, while its run goes on
    for word in words:
        if open_pair and unspaced(word) and word[0] == open_pair[1]:
            if len(word) == 1:
                open_pair = ""
                continue
            rows[-1].append(word)
        else:
            rows.append([word])
        open_pair = word if unspaced(word) and len(word) == 2 else ""
    return [tuple(row) for row in rows]


def _single(row: tuple[str, ...]) -> bool:
    return len(row) == 1 and len(row[0]) == 1 and unspaced(row[0])


def only_signs(text: str) -> bool:
    """Return whether nothing in ``text`` is a word to the index: there is nothing to look up."""
    return not any(is_word_char(char) for char in text)
