"""The place of an answer in a journal: only the sections and lines of the days that are asked for. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from vaultrag.domain.dates import DatedEntry

Lines = tuple[int, int]


def only_entries(
    body: str, body_line: int, entries: Sequence[DatedEntry], passage: Lines | None
) -> tuple[str, Lines | None]:
    """Return the body with all other lines left empty, and where to look in it.

    Args:
        body: The note's text after the header.
        body_line: The file line that it begins at.
        entries: The dated sections and lines that are asked for, by file lines.
        passage: Body lines that are nearest in meaning, first and last.

    Returns:
        The body unchanged, and the passage, where the entries are not in it any more; else the passage, where it lies
        in an entry, or the first entry.
    """
    lines = body.split("\n")
    spans = [
        (entry.line - body_line, min((entry.last_line or len(lines) + body_line) - body_line, len(lines) - 1))
        for entry in entries
    ]
    spans = [(first, last) for first, last in spans if 0 <= first <= last and lines[first].strip()]
    if not spans:
        return body, passage
    kept = {line for first, last in spans for line in range(first, last + 1)}
    text = "\n".join(line if number in kept else "" for number, line in enumerate(lines))
    within = passage is not None and any(first <= passage[0] and passage[1] <= last for first, last in spans)
    return text, passage if within else spans[0]
