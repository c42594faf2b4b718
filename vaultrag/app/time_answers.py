"""What an answer says of time: how a phrase of time in the question was read, and what is no date."""

from __future__ import annotations

from vaultrag.domain import DateUse, Reason, State, TimeRead
from vaultrag.retrieval.pipeline import Draft


def time_reading(draft: Draft, dates: DateUse) -> TimeRead | None:
    """Return how a phrase of time in the question was read; None where there is none, or it is not heeded."""
    phrase = draft.query.phrase
    if phrase is None or dates == "ignore":
        return None
    period = phrase.period
    return TimeRead(phrase.written, period.first.isoformat(), period.last.isoformat(), len(draft.dated), dates)


def time_reason(reading: TimeRead) -> Reason:
    """Say how the phrase was read, and what that did."""
    if reading.first == reading.last:
        span = reading.first
    elif reading.first == "0001-01-01":
        span = f"up to {reading.last}"
    elif reading.last == "9999-12-31":
        span = f"from {reading.first} on"
    else:
        span = f"{reading.first} to {reading.last}"
    none = "" if reading.notes else "; no note says that it is of that time"
    return Reason(State.FULL, f"{reading.written!r} is read as {span}{none}")


def not_a_date(written: str, text: str) -> str:
    """Say what became of a value that is no date."""
    value = written.partition(":")[2]
    searched = value.casefold() in text.casefold()
    return f"{written} is no date, and was {'searched for as words' if searched else 'left out'}"
