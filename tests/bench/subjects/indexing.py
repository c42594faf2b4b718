"""From nothing to an index, and the look at a vault that has not changed."""

from __future__ import annotations

import time

from tests.bench.machine import private_mb
from tests.bench.stage import Stage, subject
from tests.bench.statistics import best_of
from vaultrag.config import Settings
from vaultrag.domain import IndexedEntry, NoteId
from vaultrag.indexing.planner import plan
from vaultrag.watcher import DiskReader

SETTLING_S = 3.0
"""After so long a daemon has done what it does when it has nothing to do."""


@subject("index")
def first_index(stage: Stage) -> None:
    """The first index of the vault, words and then vectors, and how large its files are."""
    if stage.home.exists():
        raise SystemExit("the vault was indexed before its first index could be measured")
    with stage.starting() as served:
        words = served.wait(lambda vault: vault.notes >= stage.notes and not vault.to_read) - served.started
        cpu_words = served.cpu_s()
        whole = served.wait_ready(stage.notes) - served.started
        cpu_whole = served.cpu_s()
        time.sleep(SETTLING_S)
        memory = private_mb(served.pid)
    stage.indexed = True
    reading = best_of(2, time.perf_counter, lambda: [(stage.vault / path).read_bytes() for path in stage.paths])
    plain = stage.plain()
    stage.row("first index, until every note is found by its words", words, "s", cpu=cpu_words,
              bound=plain.words_s, bound_is="plain FTS5 inserts of the same texts",
              note=f"{stage.notes / words:,.0f} notes/s; reading the files takes {reading:.2f} s")  # fmt: skip
    stage.row("first index, words and vectors", whole, "s", cpu=cpu_whole,
              bound=plain.words_s + plain.vectors_s, bound_is="plain FTS5 and vec0 inserts",
              note=f"{stage.notes / whole:,.0f} notes/s")  # fmt: skip
    if memory is not None:
        stage.row("private memory after an index from nothing, no model loaded", memory, "MB",
                  bound=stage.vectors_mb, bound_is="one int8 vector a note")  # fmt: skip
    text = sum((stage.vault / path).stat().st_size for path in stage.paths) / 1e6
    files: dict[str, float] = {}
    for path in stage.home.rglob("*.db"):
        files[path.name] = path.stat().st_size / 1e6
    for name, size in sorted(files.items()):
        stage.row(f"size of {name}", size, "MB", bound=text, bound_is="the notes themselves")


@subject("scan")
def scan(stage: Stage) -> None:
    """A look at every file, and what differs from an index that is up to date: nothing."""
    reader = DiskReader(stage.vault, Settings().notes)
    seen = reader.scan()
    indexed = {
        path: IndexedEntry(
            note_id=NoteId(number), path=path, size=entry.size, mtime_ns=entry.mtime_ns, inode=entry.inode,
            content_hash="of some bytes", text_hash="",
        )
        for number, (path, entry) in enumerate(seen.entries.items(), 1)
    }  # fmt: skip

    def look() -> None:
        if plan(reader.scan(), indexed):
            raise SystemExit("a scan of a vault that nobody touches found something to do")

    times, cpus = [], []
    for _ in range(5 if stage.notes >= 50_000 else 15):
        begun, cpu = time.perf_counter(), time.thread_time()
        look()
        times.append(1000 * (time.perf_counter() - begun))
        cpus.append(1000 * (time.thread_time() - cpu))
    least = 1000 * best_of(3, time.perf_counter, lambda: [(stage.vault / path).lstat() for path in stage.paths])
    stage.row("full scan and comparison, nothing changed", times, "ms", cpu=min(cpus),
              bound=least, bound_is="a stat of every note")  # fmt: skip
