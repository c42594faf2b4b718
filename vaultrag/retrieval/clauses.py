"""From a query's terms to the clauses that the words arm looks for.

A *clause* is one thing that stands in a note or does not: a word, or several in a row. A term that the tokenizer splits
(``WO-2291``, ``snake_case``, ``/etc/hosts``) is a clause of its pieces in a row, so that it is found as a whole; its
longer plain pieces are added as *parts*, so that a note which writes it otherwise is not lost. A run of Chinese,
Japanese, Korean or Thai text becomes its pairs of letters.
"""

from __future__ import annotations

from collections.abc import Iterable

from vaultrag.model import Clause, Term
from vaultrag.notes.words import fold, is_word_char, tokens, unspaced
from vaultrag.retrieval.stop_words import STOP_WORDS


def clauses_of(terms: Iterable[Term], *, typing: bool = False) -> list[Clause]:
    """Clauses for the terms, in order, without repeats.

    Args:
        terms: The query's terms.
        typing: The query is still being typed: its last word, from three letters on, may go on.
    """
    found: dict[Clause, None] = {}
    terms = list(terms)
    for index, term in enumerate(terms):
        last = typing and index == len(terms) - 1 and not term.phrase
        for clause in _clauses(term, index, last):
            found.setdefault(clause)
    return list(found)


def _clauses(term: Term, index: int, typing: bool) -> list[Clause]:
    if unspaced(fold(term.text)):  # half-width kana and taken-apart Hangul are seen only then
        return _unspaced(term, index)
    words = tuple(tokens(term.text))
    if not words:
        return []
    if len(words) > 2 and words[0] == "v" and all(word.isdigit() for word in words[1:]):
        words = words[1:]  # v2.14.3 is 2.14.3
    prefix = typing and len(words[-1]) >= 3
    if len(words) == 1:
        return [Clause(words, index, prefix=prefix, stop=not term.phrase and words[0] in STOP_WORDS)]
    whole = Clause(words, index, prefix=prefix)
    if term.phrase:
        return [whole]
    return [whole, *(Clause((word,), index, part=True) for word in words if _telling(word))]


def _telling(word: str) -> bool:
    return len(word) >= 3 and word not in STOP_WORDS


def _unspaced(term: Term, index: int) -> list[Clause]:
    """Pairs of letters; as one row for a phrase, each on its own (and the row, when it is short) for plain text."""
    rows = _rows(tokens(term.text))
    if term.phrase or all(len(row) == 1 for row in rows):
        return [Clause(row, index, prefix=_single(row)) for row in rows]
    found = []
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
    """Whether nothing in ``text`` is a word to the index: there is nothing to look up."""
    return not any(is_word_char(char) for char in text)
