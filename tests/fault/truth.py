"""What is true of a vault, and whether the daemon and its two files say the same.

A note of these tests begins with one word of its own and ends with another, so that it can be told whether a text sent
to the model is the whole of it, and whether a query finds it and no other.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import apsw
import sqlite_vec

from tests.support.daemons import Home, RunningDaemon
from vaultrag.domain import Identity, NotePath, VaultStatus
from vaultrag.markdown import parse_note

NOTES = "hybrid-fts.db"
VECTORS = "obsidian_notes.db"

Texts = dict[str, str]

_FILLER = "The pump behind the house stands in the cold, and someone must look after its seal before the winter comes."


def text_of(number: int, version: int = 0) -> str:
    """A note of two passages, most of its words its own."""
    own = [f"{name}{number}v{version}" for name in _OWN]
    return f"{' '.join(own[:6])}. {_FILLER}\n\n{_FILLER} {' '.join(own[6:])}\n"


_OWN = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "omega"]


def first_word(text: str) -> str:
    return text.split(maxsplit=1)[0]


def last_word(text: str) -> str:
    return text.split()[-1]


def fill(home: Home, count: int) -> Texts:
    """Write so many notes into the vault; returns what is in it."""
    texts = {f"Folder {n % 4}/Note {n}.md": text_of(n) for n in range(count)}
    for path, text in texts.items():
        home.write(path, text)
    return texts


def folder_of(home: Home) -> Path:
    """The folder of the vault's database files."""
    (folder,) = {path.parent for path in home.places.data.glob(f"*/{NOTES}")}
    return folder


def read(path: Path, sql: str) -> list[Any]:
    """Rows of a database file, as they are stored."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(5000)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def disagreements(home: Home, *, vectors: bool, sound: bool = True) -> list[str]:
    """In what the two files differ from each other, or from what SQLite takes for a sound file."""
    folder, found = folder_of(home), []
    notes: dict[int, str] = dict(read(folder / NOTES, "SELECT id, text_hash FROM notes"))
    if sound and read(folder / NOTES, "PRAGMA integrity_check") != [("ok",)]:
        found.append("the file of notes is damaged")
    words = {row[0] for row in read(folder / NOTES, "SELECT id FROM words_docsize")}
    if words != set(notes):
        found.append(f"{len(words ^ set(notes))} notes differ from their words")
    if not vectors:
        return found
    if sound and read(folder / VECTORS, "PRAGMA integrity_check") != [("ok",)]:
        found.append("the file of vectors is damaged")
    known: dict[int, str] = dict(read(folder / VECTORS, "SELECT note_id, text_hash FROM vector_notes"))
    if known != notes:
        found.append(f"{len(set(known.items()) ^ set(notes.items()))} notes differ from their vectors")
    rows = {row[0] for row in read(folder / VECTORS, "SELECT note_id FROM note_vectors")}
    if rows != set(notes):
        found.append(f"{len(rows ^ set(notes))} vectors are missing or too many")
    return found


def stored(home: Home) -> set[tuple[str, str]]:
    """Every text that has a vector in any of the files, living or retired.

    Each is named by the beginning of the model's digest, as it is kept, and the text's hash.

    Read from copies: to open a file that a dead process left behind is to mend it.
    """
    found: set[tuple[str, str]] = set()
    with tempfile.TemporaryDirectory() as copies:
        for path in home.places.data.glob("*/obsidian_notes*.db*"):
            shutil.copy(path, copies)
        for path in Path(copies).glob("*.db"):
            if ("vector_notes",) not in read(path, "SELECT name FROM sqlite_master"):
                continue
            for (identity,) in read(path, "SELECT value FROM meta WHERE key = 'identity'"):
                digest = Identity(**json.loads(str(identity))).digest
                assert digest
                sql = "SELECT text_hash FROM vector_notes UNION SELECT text_hash FROM retired"
                found |= {(digest, str(row[0])) for row in read(path, sql)}
    return found


def hash_of(path: str, text: str) -> str:
    """The name that the text's vector goes by."""
    return parse_note(NotePath(path), text.encode()).text.hash


def sent_whole(documents: Iterable[str], texts: Iterable[str]) -> Counter[str]:
    """How often each of these texts is in what was sent to the model, as a whole and not as a passage."""
    by_ends = {(first_word(text), last_word(text)): text for text in texts}
    counts: Counter[str] = Counter()
    for document in documents:
        words = document.split()
        first = next((word for word in words if word.startswith("alpha")), "")
        if (first, words[-1]) in by_ends:
            counts[by_ends[first, words[-1]]] += 1
    return counts


class Truth:
    """What a daemon says of these notes, held against them.

    Attributes:
        lost: Notes that were not found, by words or by meaning.
        wrong: Sentences about answers that are not true.
    """

    def __init__(
        self,
        daemon: RunningDaemon,
        texts: Mapping[str, str],
        *,
        meaning: bool,
        sound: bool = True,
        asked: Mapping[str, str] | None = None,
    ) -> None:
        """Args:
        daemon: Asked for every note.
        texts: All that is in the vault.
        meaning: Whether notes must be found by meaning as well.
        sound: Whether every page of the files must be sound, used or not.
        asked: Ask for these only; all are counted.
        """
        self.lost: list[str] = []
        self.wrong: list[str] = []
        self._daemon = daemon
        self._texts = texts
        for path, text in (texts if asked is None else asked).items():
            self._ask(path, first_word(text), "words")
            if meaning:
                self._ask(path, text.partition("\n")[0], "meaning")
            if daemon.client.get(path).text != text.rstrip("\n"):
                self.wrong.append(f"{path} is not handed out as it is")
        status = daemon.status()
        if status.notes != len(texts):
            self.wrong.append(f"the status says {status.notes} notes, and there are {len(texts)}")
        if meaning and (status.embedded, status.failed) != (len(texts), 0):
            self.wrong.append(f"the status says {status.embedded} vectors and {status.failed} failed")
        self.wrong += disagreements(daemon.home, vectors=meaning, sound=sound)

    def _ask(self, path: str, query: str, mode: str) -> None:
        answer = self._daemon.client.search(query, mode=mode, limit=3)  # type: ignore[arg-type]
        hits = {str(hit.path): hit for hit in answer.hits}
        if path not in hits:
            self.lost.append(f"{path} by {mode}")
        elif answer.hits[0].path != path:
            scores = ", ".join(f"{hit.path} {hit.score:.3f}" for hit in answer.hits)
            self.wrong.append(f"{path} is not the first answer by {mode} to {query!r}: {scores}")
        elif hits[path].stale:
            self.wrong.append(f"{path} is called stale")
        self.wrong += [f"{ghost} is answered and not in the vault" for ghost in set(hits) - set(self._texts)]
        if answer.state not in ("full", "relaxed"):
            self.wrong.append(f"the answer's state is {answer.state}: {answer.reasons}")


def whole(status: VaultStatus) -> bool:
    """Whether all is read, embedded and, where they are kept, in passages."""
    return status.state == "ready" and not status.pending and not status.passages_pending
