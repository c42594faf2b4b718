"""From which note a hit was reached, where it was reached by a link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vaultrag.model import Evidence, Hit, NotePath
from vaultrag.service.parts import VaultParts

LINKS = "links"


def sources_named(parts: VaultParts, text: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Name, in each hit that links brought, the notes named in ``text`` that it links to."""
    if not any(part.arm == LINKS for hit in hits for part in hit.evidence):
        return tuple(hits)
    return tuple(replace(hit, evidence=evidence_of(parts, text, hit.path, hit.evidence)) for hit in hits)


def evidence_of(parts: VaultParts, text: str, path: str, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Name the notes from which a hit was reached in the evidence for it."""
    if not any(part.arm == LINKS for part in evidence) or (note_id := parts.table.id_of(path)) is None:
        return tuple(evidence)
    linked = {neighbour.note_id for neighbour in parts.table.neighbours(note_id)}
    rows = parts.table.by_ids(named for named in parts.named(text) if named in linked)
    return _sourced(evidence, tuple(sorted(row.path for row in rows.values())))


def with_source(hit: Hit, source: tuple[NotePath, ...]) -> Hit:
    """Name the notes from which links led to this hit."""
    return replace(hit, evidence=_sourced(hit.evidence, source))


def _sourced(evidence: Sequence[Evidence], source: tuple[NotePath, ...]) -> tuple[Evidence, ...]:
    return tuple(replace(part, source=source) if part.arm == LINKS else part for part in evidence)
