"""What clients say: states, retrievers, reasons and hints in words, numbers, times, and foreign text made safe.

One place for the terminal, the search screen and agents, so that a thing has one name everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from vaultrag.domain import Evidence, Hit, State, Validity
from vaultrag.domain.kinds import is_converted
from vaultrag.text.invisible import shown

_ARM_WORDS = {"passages": "meaning", "nearness": "words"}
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))


STATES = {
    State.KEYWORD_ONLY: "words only",
    State.INDEXING: "not complete yet",
    State.MODEL_MISMATCH: "words only",
    State.RELAXED: "words missing",
    State.PARTIAL: "not complete",
    State.FULL: "note",
}
"""The state of an answer in words."""

NOTHING_ELSE = "Nothing else matches closely. Nearest notes:"
NOTHING_CLOSE = "Nothing matches closely. Nearest notes:"


def safe(text: str) -> str:
    """Text from a note or a file name, of the same length, that cannot steer the terminal."""
    return shown(text)


def one_line(text: str) -> str:
    """As ``safe``, with every line break a blank: positions in the text stay what they are."""
    return safe(text.replace("\n", " ").replace("\r", " ").replace("\t", " "))


def advice(hint: str) -> str:
    """Return a hint as a line: ``try: vaultrag up``, or the note that was perhaps meant as it is."""
    return one_line(hint if hint.startswith("did you mean ") else f"try: {hint}")


def because(why: str, hint: str) -> str:
    """Return a reason and what helps, on one line: ``why (try: hint)``."""
    return one_line(why) + (f" (try: {one_line(hint)})" if hint else "")


def named(hit: Hit) -> str:
    """Return the other name of the note that matches: ``alias: Plum jam``; empty where none does."""
    return one_line(f"{hit.name_kind}: {hit.name}") if hit.name else ""


def where(hit: Hit) -> str:
    """Return where the hit's passage stands: path and line, or the page of a file that is converted."""
    if is_converted(hit.path):
        return hit.citation or hit.path
    return f"{hit.path}:{hit.start_line}" if hit.start_line else hit.path


def count(number: int, one: str, many: str = "") -> str:
    """``1 note``, ``1,234 notes``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """``12 s``, ``3 min``, ``2 h``, ``5 d``: one unit, rounded to the nearest, for a glance."""
    for size, unit in _UNITS:
        if seconds >= size * 0.995:
            return f"{round(seconds / size)} {unit}"
    return f"{round(seconds)} s"


def arms(evidence: Sequence[Evidence]) -> str:
    """Return the retrievers that found a hit: ``words+meaning``. A passage is found by its meaning."""
    return "+".join(dict.fromkeys(_ARM_WORDS.get(item.arm, item.arm) for item in evidence))


def validity(standing: Validity) -> str:
    """Return a validity in words: "superseded by Supplier list", "expired 2024-12-31"."""
    if standing.through:
        return f"rests on {_file_name(standing.through)}, which no longer holds"
    if standing.state == "upcoming":
        return f"valid only from {standing.since}"
    by = f" by {_file_name(standing.by[0])}" if standing.by else ""
    since = f" {standing.since}" if standing.since else ""
    return f"{standing.state}{by}{since}"


def _file_name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")
