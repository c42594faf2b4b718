"""Every number that moves the ranking, in one value.

Chosen on judged sets, leaving out one set at a time (tests/quality); a figure that no table pays for has no place here.
Every run of ``vaultrag eval`` records them, ``vaultrag explain`` prints them, and a file can replace some of them:
``vaultrag eval --params FILE``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

import msgspec

from vaultrag.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The parameters of the score and of the tiers. Cosines and shares are 0 to 1, scores 0 to 2.

    The score of a note, with ``n`` the number of its passages::

        s     = note_share / (1 + n / note_scale)
        score = (1 - s) * passage cosine + s * note cosine
              + W * (words + words_near * N) + near * w + names * (likeness - names_floor) / (1 - names_floor)
              + dated * d

    ``d``: share of the note's days, or of an entry's, that lies in the time asked for, less where that
    is long.
    ``N``, ``w``: share of the query within a window of words, with and without the title's. ``W``: BM25 as a share of
    its most, or ``window * w`` where that is more: what BM25 would be for the window as a note of its own, so that one
    sentence of a journal counts as much as a short note.

    Attributes:
        pool: Notes that each retriever brings. Above the most hits that can be asked for, so that the order never
            depends on how many are.
        note_share: Share of the note's own vector where a note is one passage.
        note_scale: How fast that share falls with the number of passages.
        window: BM25's share for a note as short as a window that holds all of the query once.
        words: Weight of W by itself.
        words_near: Weight of W times N.
        near: Weight of w.
        names: Weight of a name that is nearly the query.
        names_floor: Likeness that counts as nothing.
        alone_words: Weight of W where no vector can speak, or the query is not English.
        alone_near: Weight of w there.
        multilingual_vectors: What the multilingual model's cosines count for a query that is not English.
        foreign_vectors: What is left of the cosines in Latin script that the model does not read.
        foreign_script_vectors: The same in another script.
        dated: Weight of a note that lies in the time that is asked for, or holds an entry that does.
        dated_days: A time of so many days counts for half.
        outdated: Factor on the score of a note that is superseded, expired or invalidated.
        strong: A score from which a hit is strong.
        partial: A score from which a hit is partial; below, it is weak.
        alone_strong, alone_partial: The same where no vector can speak.
        multilingual_strong, multilingual_partial: The same for a query that the multilingual model has read.
        tail: A hit that stands so far below the best one is weak, whatever its score.
        identifier: Taken from the score of every note where an identifier is asked for that no note holds.
        fuzzy_name: A name this like the query makes a partial hit of its note.
    """

    pool: int = 200
    note_share: float = 0.4
    note_scale: float = 40.0
    window: float = 0.7
    words: float = 0.1
    words_near: float = 0.4
    near: float = 0.15
    names: float = 0.35
    names_floor: float = 0.5
    alone_words: float = 1.0
    alone_near: float = 0.2
    multilingual_vectors: float = 0.8
    foreign_vectors: float = 0.3
    foreign_script_vectors: float = 0.1
    dated: float = 0.3
    dated_days: float = 90.0
    outdated: float = 0.6
    strong: float = 0.8
    partial: float = 0.32
    alone_strong: float = 0.5
    alone_partial: float = 0.15
    multilingual_strong: float = 0.55
    multilingual_partial: float = 0.22
    tail: float = 0.6
    identifier: float = 0.25
    fuzzy_name: float = 0.7


DEFAULT = Params()


def read_params(text: str, source: str) -> Params:
    """Read parameters from TOML; those that it does not name keep their value.

    Args:
        text: One ``name = number`` a line.
        source: What is read, for the error.

    Raises:
        ConfigError: It names something else, or a value is no number.
    """
    try:
        table: dict[str, Any] = tomllib.loads(text)
        unknown = table.keys() - set(Params.__dataclass_fields__)
        if unknown:
            raise ConfigError(f"{source}: no parameter is called {min(unknown)}", hint="see retrieval/params.py")
        return msgspec.convert(table, Params)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ConfigError(f"{source}: {error}", hint="one line a parameter, for example: near = 0.1") from error
