"""How soon a change on disk is found: an edit, and a folder that gets another name."""

from __future__ import annotations

import random
import time

from tests.bench.serving import Served
from tests.bench.stage import Stage, subject
from tests.bench.vaults import whole_mark
from vaultrag.config import WatchSettings
from vaultrag.errors import NoteNotFound

PAUSE_S = 0.005
DEBOUNCE_MS = WatchSettings().debounce_ms


@subject("edit")
def edit(stage: Stage) -> None:
    """A saved note, from the write to the answer that has it; the pause that lets a writer finish is a part of it."""
    source = random.Random(21)
    times, cpus = [], []
    note = stage.vault / stage.paths[0]
    before = note.read_bytes()
    mark = whole_mark(stage.vault, stage.notes)
    mark.unlink()
    with stage.serving() as served:
        try:
            for _ in range(5):
                word = f"zyx{source.randrange(10**9)}quv"
                cpu = served.cpu_s()
                note.write_bytes(before + f"\nA line with {word} in it.\n".encode())
                begun = time.monotonic()
                _until_found(served, word)
                times.append(1000 * (time.monotonic() - begun))
                cpus.append(1000 * (served.cpu_s() - cpu))
        finally:
            note.write_bytes(before)
            mark.touch()
            served.client.reindex()
            served.wait_ready(stage.notes)
    stage.row("an edit, to found by its words", times, "ms", bound=DEBOUNCE_MS, bound_is="the pause, a setting",
              note=f"{min(times) - DEBOUNCE_MS:,.0f} ms at best beyond the pause")  # fmt: skip


def _until_found(served: Served, word: str) -> None:
    until = time.monotonic() + 120
    while not served.client.search(word, limit=1, mode="words").hits:
        if time.monotonic() > until:
            raise SystemExit("an edit was not found within two minutes")
        time.sleep(PAUSE_S)


@subject("move")
def move_folder(stage: Stage) -> None:
    """A folder of a thousand notes gets another name, until every note that is asked after stands at its new path."""
    old, new = "area 0", "area moved"
    inside = [path for path in stage.paths if path.startswith(f"{old}/")]
    asked = inside[:: max(1, len(inside) // 10)] + inside[-1:]
    mark = whole_mark(stage.vault, stage.notes)
    mark.unlink()
    times, cpus = [], []
    with stage.serving() as served:
        try:
            for there, back in ((old, new), (new, old)) * 2:
                cpu = served.cpu_s()
                (stage.vault / there).rename(stage.vault / back)
                begun = time.monotonic()
                for path in asked:
                    _until_there(served, path.replace(f"{old}/", f"{back}/", 1))
                times.append(1000 * (time.monotonic() - begun))
                served.wait_ready(stage.notes)
                cpus.append(1000 * (served.cpu_s() - cpu))
        finally:
            if (stage.vault / new).exists():
                (stage.vault / new).rename(stage.vault / old)
        mark.touch()
    stage.row(f"a folder of {len(inside):,} notes moved", times, "ms", cpu=min(cpus), bound=DEBOUNCE_MS,
              bound_is="the pause, a setting")  # fmt: skip


def _until_there(served: Served, path: str) -> None:
    until = time.monotonic() + 300
    while True:
        try:
            served.client.get(path, first_line=1, last_line=1)
            return
        except NoteNotFound:
            if time.monotonic() > until:
                raise SystemExit(f"{path} was not known at its new place within five minutes") from None
            time.sleep(PAUSE_S)
