"""Damage of every kind to the two database files: it is noticed, set aside or dropped, built again, and said.

The kinds are drawn from a seed: flipped bytes anywhere in a file, rows that are gone, text that is not UTF-8, JSON that
is none, vectors with other bytes. Some happen while the daemon runs, some while it does not.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
import sqlite_vec

from tests.fault.homes import events, judge, made_good
from tests.fault.ledger import Entry, Ledger, times
from tests.fault.truth import NOTES, VECTORS, fill, first_word, folder_of
from tests.support.daemons import Home, RunningDaemon
from vaultrag.errors import StoreError

Harm = Callable[[Path, random.Random], str]


def statement(name: str, sql: str) -> Harm:
    """Damage by a statement; ``?`` is a number that is drawn."""

    def harm(folder: Path, dice: random.Random) -> str:
        connection = apsw.Connection(str(folder / name))
        connection.set_busy_timeout(10_000)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        number = dice.randrange(1, 30)
        connection.execute(sql, {"n": number})
        connection.close()
        return f"{sql} ({number})"

    return harm


def flipped(name: str) -> Harm:
    """Damage of one byte anywhere in the file but its header, as a failing disk might do."""

    def harm(folder: Path, dice: random.Random) -> str:
        path = folder / name
        with path.open("r+b", buffering=0) as file:
            at = dice.randrange(100, path.stat().st_size)
            file.seek(at)
            old = file.read(1)[0]
            file.seek(at)
            file.write(bytes([old ^ (1 << dice.randrange(8))]))
        return f"a bit of {name} at {at}"

    return harm


NTH = "(SELECT id FROM notes ORDER BY id LIMIT 1 OFFSET :n % (SELECT count(*) FROM notes))"
NTH_VECTOR = "(SELECT note_id FROM vector_notes ORDER BY 1 LIMIT 1 OFFSET :n % (SELECT count(*) FROM vector_notes))"

ROWS: tuple[Harm, ...] = (
    statement(NOTES, f"UPDATE notes SET title = CAST(X'FF41' AS TEXT) WHERE id = {NTH}"),
    statement(NOTES, f"UPDATE notes SET properties = '{{\"a\": ' WHERE id = {NTH}"),
    statement(NOTES, f"UPDATE notes SET problems = '[[' WHERE id = {NTH}"),
    statement(NOTES, f"UPDATE notes SET mtime_ns = 'soon' WHERE id = {NTH}"),
    statement(NOTES, f"UPDATE names SET name = CAST(X'C328' AS TEXT) WHERE note_id = {NTH}"),
    statement(NOTES, f"DELETE FROM words WHERE rowid = {NTH}"),
    statement(NOTES, f"DELETE FROM names WHERE note_id = {NTH}"),
    statement(NOTES, f"DELETE FROM notes WHERE id = {NTH}"),
    statement(VECTORS, f"DELETE FROM note_vectors WHERE note_id = {NTH_VECTOR}"),
    statement(VECTORS, f"DELETE FROM vector_notes WHERE note_id = {NTH_VECTOR}"),
    statement(VECTORS, f"UPDATE vector_notes SET text_hash = CAST(X'FF' AS TEXT) WHERE note_id = {NTH_VECTOR}"),
    statement(VECTORS, f"UPDATE passages SET codes = zeroblob(length(codes)) WHERE note_id = {NTH_VECTOR}"),
    statement(VECTORS, f"UPDATE passages SET lines = X'00' WHERE note_id = {NTH_VECTOR}"),
    statement(
        VECTORS,
        "UPDATE note_vectors SET embedding ="
        f" (SELECT embedding FROM note_vectors WHERE note_id != {NTH_VECTOR} LIMIT 1) WHERE note_id = {NTH_VECTOR}",
    ),
)
BYTES: tuple[Harm, ...] = (flipped(NOTES), flipped(VECTORS))


def ask(daemon: RunningDaemon, texts: dict[str, str]) -> list[str]:
    """Ask for every note; returns those that an answer denies that calls itself full."""
    denied = []
    for path, text in texts.items():
        with suppress(StoreError):
            answer = daemon.client.search(first_word(text), mode="words")
            if answer.state == "full" and all(hit.path != path for hit in answer.hits):
                denied.append(path)
    return denied


@pytest.mark.timeout(3000)
def test_damage_of_any_kind_heals(ollama_home: Home, ledger: Ledger) -> None:
    """After damage and the next comparison, or the next start, every note is found and no full answer denies one."""
    home = ollama_home
    dice = random.Random("damage")
    texts = fill(home, 30)
    daemon = home.start()
    made_good(daemon)
    for number in range(times(16, 200)):
        in_use = number % 2 == 0 if number < 2 * len(ROWS) else dice.random() < 0.3
        harm = ROWS[number // 2 % len(ROWS)] if number < 2 * len(ROWS) else dice.choice(BYTES)
        if times(True, False):
            in_use, harm = number % 3 != 2, (*ROWS, *BYTES)[number]
        with ledger.attempt(
            f"damage {'in use' if in_use else 'at rest'}: {'rows' if harm in ROWS else 'a bit'}"
        ) as entry:
            daemon = _harmed(home, daemon, harm, dice, texts, entry, in_use=in_use)
    assert daemon.stop() == 0


def _harmed(
    home: Home,
    daemon: RunningDaemon,
    harm: Harm,
    dice: random.Random,
    texts: dict[str, str],
    entry: Entry,
    *,
    in_use: bool,
) -> RunningDaemon:
    if not in_use:
        assert daemon.stop() == 0
    what = harm(folder_of(home), dice)
    if in_use:
        with suppress(StoreError):
            daemon.client.reindex()
            ask(daemon, texts)
    else:
        daemon = home.start()
    if harm in ROWS or not in_use:
        daemon.until(lambda: "built again" in events(daemon) or None, f"it is said: {what}", 30)
    made_good(daemon)
    denied = ask(daemon, texts)
    assert not denied, f"{denied} are denied after {what}"
    judge(daemon, texts, entry, what, sound=not in_use or harm in ROWS)
    # A new process, so that what is told of one damage is not taken for that of the next.
    assert daemon.stop() == 0
    daemon = home.start()
    made_good(daemon)
    assert ask(daemon, texts) == []
    return daemon
