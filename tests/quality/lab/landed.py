"""Run queries through another checkout's ranking. Executed with that checkout's Python, in its folder, not imported.

Written for commit 25ddb90, the ranking before there was one pipeline; it imports nothing of the laboratory.
"""

# mypy: ignore-errors
# (It is written against another version of the package.)
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

LIMIT = 10
"""Hits that a user asks for."""
DEPTH = 100


def main(vault: str, home: str, model: str, queries: str, out: str) -> None:
    """Write a line for each query: its ranked paths, how many of them are shown, and the confidence."""
    from vaultrag.ranking.evidence import bars_for
    from vaultrag.ranking.query import parse_query

    from vaultrag.config import EmbedderSettings, Settings
    from vaultrag.evaluate.run import Pipeline

    settings: Any = Settings(embedder=EmbedderSettings(provider="builtin", builtin=model))
    lines = []
    with Pipeline(Path(vault), Path(home), settings) as pipeline:
        pipeline.wait()
        engine, view, table = pipeline.parts.engine, pipeline.parts.meaning.view, pipeline.parts.table
        for line in Path(queries).read_text("utf-8").splitlines():
            raw = json.loads(line)
            barred = frozenset(note for path in raw["without"] if (note := table.id_of(path)) is not None)
            draft = engine.begin(parse_query(raw["query"]), mode="hybrid", limit=LIMIT, barred=barred)
            if not draft.query.terms:
                continue
            scan = view.vectors.scan(view.embedder.embed_query(draft.query.text))
            ranking = engine.finish(draft, scan, bars_for(view.vectors.identity.model, meaning_only=False))
            hits = [*ranking.found, *ranking.below][:DEPTH]
            rows = table.by_ids(hit.note_id for hit in hits)
            lines.append(
                {
                    "id": raw["id"],
                    "ranked": [str(rows[hit.note_id].path) for hit in hits if hit.note_id in rows],
                    "shown": min(LIMIT, len(ranking.found)),
                    "best": max(-99.0, ranking.confidence),
                }
            )
        print(f"embedded {pipeline.parts.meaning.texts_embedded}", file=sys.stderr)
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    Path(out).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
