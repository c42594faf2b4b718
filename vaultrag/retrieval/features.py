"""What the retrievers know of each note that any of them brought: the columns that the score is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vaultrag.domain import REFERENCE, NameMatch, NoteId, Scale

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """One row a note; columns are float64[n] but where said otherwise.

    Attributes:
        ids: Notes, int64[n], ascending.
        note_cosine: Of the note's own vector, as the model gives it; NaN for none.
        passage_cosine: Of its best passage; NaN for none.
        passage_count: How many passages it has.
        words: BM25 as a share of the most that any note could have, 0 to 1.
        coverage: Share of the query's weight that it holds anywhere, 0 to 1.
        near: Share within a window of words of one field, 0 to 1.
        near_titled: The same where the title's words count in every window, 0 to 1.
        name: Likeness of its best name that is not the query itself, 0 to 1.
        name_match: How the query names it, int8[n] of ``NameMatch``: the first sort key.
        literal: Whether it holds the query as it was typed, which few notes do, bool[n].
        dated: How much of it lies in the time that is asked for, 0 to 1; empty where none is.
        vectors: What a cosine is worth for this query, 0 to 1; 0 where there are no vectors.
        multilingual: Whether the cosines are those of the multilingual model: the query is not English.
        scale: What the cosines mean.
    """

    ids: NDArray[np.int64]
    note_cosine: Floats
    passage_cosine: Floats
    passage_count: Floats
    words: Floats
    coverage: Floats
    near: Floats
    near_titled: Floats
    name: Floats
    name_match: NDArray[np.int8]
    literal: NDArray[np.bool_]
    dated: Floats = field(default_factory=lambda: np.zeros(0))
    vectors: float = 1.0
    multilingual: bool = False
    scale: Scale = REFERENCE

    @property
    def by_words(self) -> bool:
        """Return whether words count for more: the query is not English, or there are no vectors."""
        return self.multilingual or self.vectors < 1.0

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Return whether a name is the query, bool[n]."""
        return self.name_match >= NameMatch.SAME

    def row(self, note_id: NoteId) -> int | None:
        """Return the place of a note; None for one that no retriever brought."""
        place = int(np.searchsorted(self.ids, note_id))
        return place if place < len(self.ids) and self.ids[place] == note_id else None

    @property
    def precedence(self) -> NDArray[np.int8]:
        """Precedence over the score, int8[n]: a name that is or holds the query, then a text that holds it as typed."""
        return 2 * self.name_match + self.literal


_NONE = np.zeros(0)
NO_FEATURES = Features(
    np.zeros(0, np.int64), _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, np.zeros(0, np.int8),
    np.zeros(0, np.bool_),
)  # fmt: skip
"""Of a query that no retriever was asked."""
