"""From which note a hit was reached, where it was reached by a link."""

from __future__ import annotations

from dataclasses import replace

from vaultrag.model import Hit, NotePath

LINKS = "links"


def with_source(hit: Hit, source: tuple[NotePath, ...]) -> Hit:
    """Name the notes from which links led to this hit."""
    evidence = tuple(replace(part, source=source) if part.arm == LINKS else part for part in hit.evidence)
    return replace(hit, evidence=evidence)
