"""kill -9 at any moment: of indexing, of changes, of making all vectors again and putting them in the old ones' place.

The moments are drawn from a seed: before some statement or renaming that the process makes, or after some time. After
each death the files are looked at, and a second daemon has to bring all of it to its end: every note is found by words
and by meaning, both files agree, and no text whose vector was stored anywhere has met the model again.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest

from tests.fault.ledger import Ledger, times
from tests.fault.truth import Truth, fill, hash_of, sent_whole, stored, text_of, whole
from tests.support.daemons import Home, OllamaProcess, RunningDaemon, until
from tests.support.ollama_server import DIGEST
from vaultrag.errors import ConnectionLost, DaemonNotRunning

NOTES = 24


class Work:
    """A vault, and daemons one after the other that bring its index up to date."""

    def __init__(self, home: Home, ollama: OllamaProcess) -> None:
        self.home = home
        self.ollama = ollama
        self.texts = fill(home, NOTES)
        self.digest = DIGEST
        self.died_at_work = False
        self.keep_passages(False)
        daemon = home.start()
        self.finish(daemon)
        daemon.stop()

    def keep_passages(self, keep: bool) -> None:
        self.home.configure({**self.ollama.settings, "search": {"passages": keep}})

    def finish(self, daemon: RunningDaemon) -> None:
        """Wait until all is read, embedded and cut into passages."""
        daemon.until(lambda: _done(daemon) or None, "the work is done", 60)

    def die(self, moment: Mapping[str, Any]) -> None:
        """Have a daemon work, and be killed. One that gets through its work alive dies at its end, or right after."""
        victim = self._victim(moment)
        if "after_s" in moment:
            with suppress(subprocess.TimeoutExpired):
                victim.process.wait(moment["after_s"])
        else:
            until(lambda: victim.process.poll() is not None or _done(victim) or None, "it dies or is done", 60)
            self.died_at_work = victim.process.poll() is not None
            if not self.died_at_work:
                victim.stop()
        victim.kill()

    @contextmanager
    def met_again(self) -> Iterator[list[str]]:
        """Notes that went to the model meanwhile, although their vectors were stored; listed at the end.

        To be begun while no daemon runs: what is stored is read off the files.
        """
        again: list[str] = []
        known = stored(self.home)
        before = len(self.ollama.documents())
        yield again
        counts = sent_whole(self.ollama.documents()[before:], self.texts.values())
        had = {text_hash for digest, text_hash in known if self.digest.startswith(digest)}
        again += [path for path, text in self.texts.items() if counts[text] and hash_of(path, text) in had]

    def _victim(self, curse: Mapping[str, Any]) -> RunningDaemon:
        return self.home.spawn(self.home.vault, env={"VICTIM": json.dumps(dict(curse))}, module="tests.fault.victim")


def _done(daemon: RunningDaemon) -> bool:
    try:
        vaults = daemon.client.status().vaults
    except (DaemonNotRunning, ConnectionLost):
        return False
    return bool(vaults) and whole(vaults[0])


def first_run(work: Work, dice: random.Random) -> None:
    """Nothing is known yet."""
    shutil.rmtree(work.home.places.data)


def changes(work: Work, dice: random.Random) -> None:
    """While the daemon was off, notes were edited, removed, renamed and written, and a folder was moved."""
    vault, texts = work.home.vault, work.texts
    paths = list(texts)
    dice.shuffle(paths)
    for path in paths[:5]:
        texts[path] = text_of(dice.randrange(1_000_000), 1)
        work.home.write(path, texts[path])
    for path in paths[5:10]:
        (vault / path).unlink()
        del texts[path]
    for path in paths[10:14]:
        renamed = f"Renamed {dice.randrange(1_000_000)}.md"
        (vault / path).rename(vault / renamed)
        texts[renamed] = texts.pop(path)
    for number in dice.sample(range(1_000_000), 5):
        texts[f"New/Note {number}.md"] = text_of(number)
        work.home.write(f"New/Note {number}.md", text_of(number))
    folder = dice.choice(sorted({path.split("/")[0] for path in texts if "/" in path}))
    moved = f"Moved {dice.randrange(1_000_000)}"
    (vault / folder).rename(vault / moved)
    for path in [path for path in texts if path.startswith(f"{folder}/")]:
        texts[moved + path[len(folder) :]] = texts.pop(path)


def another_model(work: Work, dice: random.Random) -> None:
    """Another model stands under the name, or one from before again: vectors are made beside, and change places."""
    work.digest = dice.choice("abc".replace(work.digest[0], "")) * 64
    work.ollama.script(digest=work.digest)


@dataclass(frozen=True)
class Scene:
    """Work for a daemon, and what it comes to when nothing is in its way: steps, and renamings among them."""

    name: str
    prepare: Callable[[Work, random.Random], None]
    steps: int
    renames: int

    def moment(self, dice: random.Random) -> dict[str, Any]:
        """To die at."""
        kind = dice.random()
        if self.renames and kind < 0.4:
            return {"kill_at_rename": dice.randint(1, self.renames)}
        if kind < 0.8:
            return {"kill_at": dice.randint(1, self.steps)}
        return {"after_s": dice.uniform(0.2, 1.6)}  # it needs about the first half to start


SCENES = (
    Scene("first indexing", first_run, 430, 0),
    Scene("changes", changes, 350, 0),
    Scene("rebuild and swap", another_model, 350, 3),
)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(times(1, 17)))
def test_killed_at_any_moment(ollama_home: Home, ollama: OllamaProcess, ledger: Ledger, seed: int) -> None:
    """Whenever the daemon is killed, the next one finds every note, and asks the model for nothing that was stored."""
    dice = random.Random(seed)
    work = Work(ollama_home, ollama)
    died, by_step = 0, 0
    for number in range(12):
        work.keep_passages(number % 4 == 0)
        scene = SCENES[number % 3]
        scene.prepare(work, dice)
        moment = scene.moment(dice)
        with ledger.attempt(f"kill -9: {scene.name}") as entry:
            with work.met_again() as again:
                work.die(moment)
            by_step += "after_s" not in moment
            died += "after_s" not in moment and work.died_at_work
            with work.met_again() as again_after_it:
                daemon = work.home.start()
                work.finish(daemon)
            truth = Truth(daemon, work.texts, meaning=True)
            entry.lost, entry.wrong = len(truth.lost), len(truth.wrong)
            assert not truth.lost, f"{truth.lost} {truth.wrong} after {scene.name}, {moment}"
            assert not truth.wrong, f"{truth.wrong} after {scene.name}, {moment}"
            assert not daemon.status().events, f"a file is called damaged, after {moment}"
            assert again + again_after_it == [], f"embedded although the vector was stored, after {moment}"
            assert daemon.stop() == 0
    assert died > by_step / 2, "most of the moments lie behind the work: count its steps again"
