"""An index that went through anything equals one made from nothing: the same notes, words, vectors and answers."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import sleep

import pytest

from tests.fault.ledger import Ledger, times
from tests.fault.truth import Texts, fill, text_of, whole
from tests.support.daemons import Home, OllamaProcess, RunningDaemon, daemon_home

NOTES = 16
ROUNDS = 4
ROUNDING = 0.002
EQUAL_S = 60
"""Vectors under new titles are made when nothing else waits."""

Answers = dict[tuple[str, str], list[tuple[str, str, float]]]
Change = Callable[[Home, Texts, random.Random], None]


def _write(home: Home, texts: Texts, dice: random.Random) -> None:
    path = f"{dice.choice(('New', 'Folder 1', 'Deep/er'))}/Untitled {dice.randrange(1_000_000)}.md"
    texts[path] = text_of(dice.randrange(1_000_000))
    home.write(path, texts[path])


def _edit(home: Home, texts: Texts, dice: random.Random) -> None:
    path = dice.choice(sorted(texts))
    texts[path] = text_of(dice.randrange(1_000_000), 1)
    home.write(path, texts[path])


def _edit_unseen(home: Home, texts: Texts, dice: random.Random) -> None:
    """Other words of the same size, and the old time of change put back."""
    path = dice.choice(sorted(texts))
    stat = (home.vault / path).stat()
    texts[path] = texts[path].replace("alpha", "aplha").replace("kappa", "kapap")
    home.write(path, texts[path])
    os.utime(home.vault / path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _remove(home: Home, texts: Texts, dice: random.Random) -> None:
    path = dice.choice(sorted(texts))
    (home.vault / path).unlink()
    del texts[path]


def _rename(home: Home, texts: Texts, dice: random.Random) -> None:
    """A note gets another title, as every new one does."""
    path = dice.choice(sorted(texts))
    renamed = str(Path(path).with_name(f"Title {dice.randrange(1_000_000)}.md"))
    (home.vault / path).rename(home.vault / renamed)
    texts[renamed] = texts.pop(path)


def _move_folder(home: Home, texts: Texts, dice: random.Random) -> None:
    folder = dice.choice(sorted({path.split("/")[0] for path in texts}))
    moved = f"Moved {dice.randrange(1_000_000)}"
    (home.vault / folder).rename(home.vault / moved)
    for path in [path for path in texts if path.startswith(f"{folder}/")]:
        texts[moved + path[len(folder) :]] = texts.pop(path)


CHANGES: tuple[Change, ...] = (_write, _write, _edit, _edit, _edit_unseen, _remove, _rename, _rename, _move_folder)


def _queries(texts: Texts) -> list[tuple[str, str]]:
    """Asked in each mode: words of some notes, titles, what stands in all."""
    asked = ["who looks after the pump in winter", "seal", "Title", "Untitled"]
    asked += [" ".join(texts[path].split()[:3]) for path in sorted(texts)]
    asked += [Path(path).stem for path in sorted(texts)]
    return [(query, mode) for query in asked for mode in ("hybrid", "words", "meaning")]


def _answers(daemon: RunningDaemon, queries: list[tuple[str, str]]) -> Answers:
    answers: Answers = {}
    for query, mode in queries:
        answer = daemon.client.search(query, mode=mode, limit=50, include_weak=True)  # type: ignore[arg-type]
        answers[query, mode] = sorted((hit.path, hit.tier, hit.score) for hit in answer.hits)
    return answers


def _differing(ours: Answers, fresh: Answers) -> list[tuple[str, str]]:
    return [asked for asked, hits in fresh.items() if not _same(ours[asked], hits)]


def _told(ours: Answers, fresh: Answers, asked: list[tuple[str, str]]) -> str:
    """The hits that are in one answer only, of some queries: what to look at when a run has failed."""
    return "; ".join(
        f"{one}: ours {sorted(set(ours[one]) - set(fresh[one]))}, fresh {sorted(set(fresh[one]) - set(ours[one]))}"
        for one in asked
    )


def _same(ours: list[tuple[str, str, float]], fresh: list[tuple[str, str, float]]) -> bool:
    """Whether notes and tiers are the same, and scores but for what eight bits a number leave open."""
    return [hit[:2] for hit in ours] == [hit[:2] for hit in fresh] and all(
        abs(one[2] - other[2]) <= ROUNDING for one, other in zip(ours, fresh, strict=True)
    )


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(times(2, 20)))
def test_equals_one_made_from_nothing(ollama_home: Home, ollama: OllamaProcess, ledger: Ledger, seed: int) -> None:
    """After random changes, while the daemon ran and after it was killed, answers are those of a new index."""
    dice = random.Random(seed)
    home, texts = ollama_home, fill(ollama_home, NOTES)
    daemon = home.start()
    for _ in range(ROUNDS):
        for change in dice.choices(CHANGES, k=8):
            change(home, texts, dice)
            sleep(dice.choice((0.0, 0.0, 0.02, 0.2)))
        daemon.kill() if dice.random() < 0.7 else daemon.stop()
        for change in (*dice.choices(CHANGES, k=3), _edit_unseen):
            change(home, texts, dice)
        daemon = home.start()
    queries = _queries(texts)
    with ledger.attempt("random changes and kills: equal to a fresh index") as entry, daemon_home() as other:
        shutil.rmtree(other.vault)
        shutil.copytree(home.vault, other.vault)
        other.configure(ollama.settings)
        fresh = other.start()
        fresh.until(lambda: whole(fresh.status()) or None, "the fresh index is whole", EQUAL_S)
        assert {path for hits in _answers(fresh, queries).values() for path, _, _ in hits} == set(texts)
        differing: list[tuple[str, str]] = []

        def equal() -> bool | None:
            differing[:] = _differing(_answers(daemon, queries), _answers(fresh, queries))
            return not differing or None

        with suppress(AssertionError, TimeoutError):
            daemon.until(equal, "the answers are equal", EQUAL_S)
        entry.wrong = len(differing)
        told = _told(_answers(daemon, queries), _answers(fresh, queries), differing[:3]) if differing else ""
        assert not differing, f"{len(differing)} of {len(queries)} answers differ: {told}; {daemon.status()}"
