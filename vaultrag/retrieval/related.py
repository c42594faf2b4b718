"""Notes related to one note: near in meaning, or linked with it. The note itself is never among them.

Notes of a title only are found by their names; all of them being much alike, they would crowd every list by meaning.
"""

from __future__ import annotations

from vaultrag.model import NoteId
from vaultrag.ports import NoteTable, VectorScan
from vaultrag.retrieval.fusion import Arm, Fused, fuse

MEANING_WEIGHT = 0.7
LINKS_WEIGHT = 0.3
POOL = 60


def related(
    note_id: NoteId,
    table: NoteTable,
    scan: VectorScan | None,
    *,
    linked: bool = True,
    allowed: frozenset[NoteId] | None = None,
) -> list[Fused]:
    """Related notes, best first.

    Args:
        note_id: The note.
        table: Knows the links.
        scan: The note's own vector against all vectors; None without one: links alone speak.
        linked: False leaves out notes that are linked with it already.
        allowed: Only these.
    """
    neighbours = table.neighbours(note_id)
    links: dict[NoteId, float] = {}
    for neighbour in neighbours:
        # Linked both ways is closer than one way.
        links[neighbour.note_id] = links.get(neighbour.note_id, 0.0) + 0.6
    near: list[tuple[NoteId, float]] = []
    if scan is not None:
        near = [(other, score) for other, score in scan.notes(POOL, allowed) if other != note_id]
        rows = table.by_ids(other for other, _ in near)
        near = [(other, score) for other, score in near if other in rows and rows[other].body_chars]
    mean, deviation = scan.background() if scan is not None else (0.0, 0.0)
    near = [(other, score) for other, score in near if score >= mean + deviation]
    if not linked:
        near = [(other, score) for other, score in near if other not in links]
        links = {}
    pairs = sorted(((n, min(1.0, w)) for n, w in links.items() if n != note_id), key=lambda pair: (-pair[1], pair[0]))
    if allowed is not None:
        pairs = [pair for pair in pairs if pair[0] in allowed]
    floor = min((score for _, score in near), default=0.0) - 0.05
    return fuse(
        [Arm.of("meaning", MEANING_WEIGHT, near, floor=floor), Arm.of("links", LINKS_WEIGHT, pairs, ceiling=1.0)]
    )
