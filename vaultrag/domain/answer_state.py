"""What kind of answer an answer is, why, and what index it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The kind of an answer; ``Answer.state`` is the worst where several hold."""

    FULL = "full"
    KEYWORD_ONLY = "keyword_only"
    INDEXING = "indexing"
    MODEL_MISMATCH = "model_mismatch"
    RELAXED = "relaxed"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why an answer is not the plain full one, and the command that helps (empty: it passes by itself)."""

    state: State
    why: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The index that an answer was made from.

    Attributes:
        build: Digest of the daemon's source.
        identity: Names the model and the recipe of the vectors in use; empty while there are none.
        current: The index holds every change that was noticed. False while notes are being read, where the index cannot
            be written, and where the vault cannot be looked at: then an empty answer proves nothing.
        checked_ns: When the index was last compared with the vault and brought up to date; 0 before the first time.
        pending: Changes that were noticed and are not in the index yet. Always 0 for agents.
    """

    build: str = ""
    identity: str = ""
    current: bool = True
    checked_ns: int = 0
    pending: int = 0
