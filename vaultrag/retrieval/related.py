"""Notes related to one note: near in meaning, or linked with it. The note itself is never among them.

Notes of a title only are found by their names; all of them being much alike, they would crowd every list by meaning.
"""

from __future__ import annotations

from collections.abc import Sequence

from vaultrag.domain import Evidence, NoteId, NotePath
from vaultrag.protocols import NoteTable
from vaultrag.retrieval.ranked import RankedNote
from vaultrag.vector_protocols import VectorScan

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
    source: tuple[NotePath, ...] = (),
) -> list[RankedNote]:
    """Related notes, best first.

    Args:
        note_id: The note.
        table: Knows the links.
        scan: The note's own vector against all vectors; None without one: links alone speak.
        linked: False leaves out notes that are linked with it already.
        allowed: Only these.
        source: The note's path; the evidence of links names it.
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
    return _weighed(near, pairs, source)


def _weighed(
    near: Sequence[tuple[NoteId, float]], pairs: Sequence[tuple[NoteId, float]], source: tuple[NotePath, ...]
) -> list[RankedNote]:
    """Add up what nearness and links say, best first."""
    floor = min((score for _, score in near), default=0.0) - 0.05
    span = max(near[0][1] - floor, 1e-9) if near else 1.0
    evidence: dict[NoteId, list[Evidence]] = {}
    for name, weight, via, ranked in (
        ("meaning", MEANING_WEIGHT, (), [(note_id, cosine, (cosine - floor) / span) for note_id, cosine in near]),
        ("links", LINKS_WEIGHT, source, [(note_id, share, share) for note_id, share in pairs]),
    ):
        for rank, (note_id, raw, value) in enumerate(ranked, start=1):
            evidence.setdefault(note_id, []).append(Evidence(name, rank, raw, weight, weight * value, via))
    scored = [(note_id, sum(one.contribution for one in own), tuple(own)) for note_id, own in evidence.items()]
    return [
        RankedNote(note_id, score, "partial", own)
        for note_id, score, own in sorted(scored, key=lambda entry: (-entry[1], entry[0]))
    ]
