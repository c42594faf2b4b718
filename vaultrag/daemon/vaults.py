"""Put a vault together (reader, index, vectors, workers, watcher), and keep the list of vaults that are served."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from vaultrag.app import VaultContext, VaultService
from vaultrag.app.events import Listener
from vaultrag.app.stopwatch import TimedLexicalRetriever, TimedTitleRetriever
from vaultrag.build import build_id
from vaultrag.config import DateSettings, Places, Settings, check_apart, vault_id
from vaultrag.daemon.agent_privacy import for_agents, private_rules, reason_of, today
from vaultrag.daemon.sessions import SessionMemory
from vaultrag.domain import Identity, Reason
from vaultrag.domain.dates import DateNames
from vaultrag.embedding.memory import give_back_memory
from vaultrag.embedding.priority_gate import PriorityGate
from vaultrag.embedding.registry import choose
from vaultrag.errors import ConfigError, StoreFull, VaultMissing, VaultUnreadable, VaultUnsuitable
from vaultrag.indexing.embed_worker import EmbedWorker
from vaultrag.indexing.index_worker import IndexWorker
from vaultrag.indexing.source_reader import SourceReader
from vaultrag.indexing.source_worker import SourceWorker
from vaultrag.indexing.vector_lifecycle import VectorLifecycle
from vaultrag.markdown.note_dates import DateReader, PeriodicNames
from vaultrag.masking import SecretMasker
from vaultrag.protocols import Clock, Embedder
from vaultrag.retrieval.hit_maker import HitMaker
from vaultrag.retrieval.pipeline import Pipeline
from vaultrag.rpc.thread_pool import Workers
from vaultrag.sources import READERS_VERSION, SourceProcess, read_kinds
from vaultrag.storage.folder import StoreFolder
from vaultrag.storage.lexical.lexical_retriever import SqliteLexicalRetriever
from vaultrag.storage.lexical.posting_cache import PostingCache
from vaultrag.storage.notes.note_rows import NoteRows
from vaultrag.storage.notes.validity import NoteValidities
from vaultrag.storage.private_notes import PrivateNotes
from vaultrag.storage.source_texts import SourceTexts
from vaultrag.storage.titles.title_retriever import SqliteTitleRetriever
from vaultrag.watcher import DiskReader, VaultWatcher
from vaultrag.watcher.file_fates import every_file
from vaultrag.watcher.filters import is_note_name
from vaultrag.watcher.periodic_notes import periodic_formats
from vaultrag.watcher.recent_notes import RecentNotes

log = logging.getLogger(__name__)

FILTERS_CHANGED = "filters changed"

FULL_DISK_ACCESS = (
    "System Settings, Privacy & Security, Full Disk Access: allow your terminal and Python, then start vaultrag again"
)
"""What macOS wants for folders such as Documents, Desktop, iCloud Drive and other disks, whatever their modes say."""

CLOSE_S = 3.0
"""How long the end waits for a vault's threads."""

LOOKING = 4
"""Threads that look through vectors, and read words, for the queries under way; more wait for each other."""

GIVE_WAY_S = 0.1
"""How long the reading of notes waits for answers that are being made, between a few notes and the next."""


class SystemClock:
    """The machine's own time."""

    def monotonic(self) -> float:
        return time.monotonic()

    def time_ns(self) -> int:
        return time.time_ns()


class EmbedderPool:
    """One embedder a provider, shared by all vaults: a model is loaded once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._by_kind: dict[type[Embedder], Embedder] = {}
        self._lock = threading.Lock()

    def choose(self, recorded: Identity | None) -> Embedder | None:
        """Return the embedder for an index with this identity; see ``embedding.registry``."""
        with self._lock:
            chosen = choose(self._settings.embedder, recorded)
            if chosen is None:
                return None
            known = self._by_kind.setdefault(type(chosen), chosen)
            if known is not chosen:
                chosen.close()
            return known

    def close(self) -> None:
        for embedder in self._by_kind.values():
            embedder.close()


def open_vault(
    root: Path,
    places: Places,
    settings: Settings,
    embedders: EmbedderPool,
    *,
    clock: Clock | None = None,
    damaged: Callable[[], None] = lambda: None,
    tell: Listener = lambda vault, paths: None,
    beside: Callable[[], Sequence[Reason]] = lambda: (),
) -> VaultService:
    """Put a vault together and start it.

    Args:
        root: Absolute, resolved. It may be away: then the index serves what it knows.
        places: Where its index goes.
        settings: Of the daemon.
        embedders: Shared by all vaults.
        clock: The machine's own, unless it is a test's.
        damaged: Called once, in any thread, when a file of the index proves damaged while it is in use: the vault
            should be closed and opened anew.
        tell: Told of what changes; see ``app.events``.
        beside: Which other vaults cannot be opened, and why.

    Raises:
        StoreError: Its databases cannot be opened.
        ConfigError: What the settings keep from agents makes no sense.
    """
    rules = private_rules(settings.privacy)
    identity = vault_id(root)
    clock = clock or SystemClock()
    looking = Workers(LOOKING, f"look-{identity}")
    shelf = _shelf(root, places.vault_folder(identity))
    index = shelf.open_notes(date_reader(root, settings.dates))
    lists = PostingCache(index, looking)
    gate = PriorityGate(GIVE_WAY_S)
    disk, reader, sources = _files(root, settings, shelf, gate, identity, lambda: _at_work(worker, meaning))
    meaning = VectorLifecycle(shelf, embedders.choose, passages=settings.search.passages)
    embedding = EmbedWorker(reader, index, meaning, clock, name=identity, yield_to_queries=gate.yield_to_queries)
    worker = IndexWorker(
        reader,
        index,
        embedding,
        clock,
        reconcile_s=settings.watch.reconcile_s,
        name=identity,
        away=lambda: watcher.rearm(),
        yield_to_queries=gate.yield_to_queries,
        prepare=lists.read_ahead,
        size_of=reader.size_of,
    )
    watcher = _watcher(root, settings, disk, worker, clock, identity)
    for source in sources:
        source.changed = worker.notice
    embedding.changed = worker.notice
    embedding.words_first = lambda: worker.reading_many
    embedding.progressed = lambda: tell(identity, ())
    embedding.much_done = worker.large_done = give_back_memory
    worker.changed = lambda paths: tell(identity, paths)
    table, words, names = NoteRows(index), SqliteLexicalRetriever(index, lists=lists), SqliteTitleRetriever(index)
    standings = NoteValidities(index, today(clock))
    private = PrivateNotes(rules)
    masker = SecretMasker(settings.privacy.mask_secrets)

    def close() -> None:
        # Bounded: a model's server that hangs must not hang the end as well. What is left undone is found at the next
        # start, and a thread that comes back late finds its files closed.
        until = clock.monotonic() + CLOSE_S
        shelf.listen(None)
        watcher.stop()
        embedding.close(0)  # both are told before either is waited for
        for source in sources:
            source.close()
        worker.close(CLOSE_S)
        embedding.close(max(0.0, until - clock.monotonic()))
        watcher.join(max(0.5, until - clock.monotonic()))
        looking.shutdown(wait=False)  # a query may be with a model that does not answer
        meaning.close()
        index.close()

    parts = VaultContext(
        id=identity,
        root=root,
        reader=reader,
        index=index,
        table=table,
        engine=Pipeline(
            TimedLexicalRetriever(words),
            TimedTitleRetriever(names),
            table,
            table.matching,
            standings,
            today=today(clock),
        ),
        hits=HitMaker(table, words, RecentNotes(reader), standings),
        meaning=meaning,
        worker=worker,
        embedding=embedding,
        clock=clock,
        why_excluded=disk.why_excluded,
        watching=watcher.describe,
        events=shelf.events,
        close=close,
        lacking=lambda multilingual: len(meaning.lacking(multilingual)),
        looking=looking,
        asked=gate.query,
        standings=standings,
        rules=settings.rules,
        sessions=SessionMemory(shelf.folder / "sessions.json", write_atomically),
        private=reason_of(index, rules, private),
        waiting=lambda: watcher.waiting,
        files_waiting=lambda: sum(source.waiting for source in sources),
        is_there=disk.is_there,
        files=lambda: every_file(disk),
        indexed=index.entries,
        beside=beside,
        build=build_id(),
    )
    agents = for_agents(parts, index, lists, rules, masker, private)
    shelf.listen(damaged)
    try:
        watcher.start()  # before the first look, so that nothing falls between the two
        worker.start()
        embedding.start()
        for source in sources:
            source.start()
    except BaseException:
        close()
        raise
    return VaultService(parts, settings.search, agents)


def _at_work(worker: IndexWorker, meaning: VectorLifecycle) -> bool:
    """Return whether notes are being read or embedded: pictures come after them."""
    return worker.progress.phase == "reading" or (meaning.view.state == "ready" and meaning.pending > 0)


def _files(
    root: Path, settings: Settings, shelf: StoreFolder, gate: PriorityGate, name: str, busy: Callable[[], bool]
) -> tuple[DiskReader, SourceReader, list[SourceWorker]]:
    """Make what reads the vault: its files, its notes of every kind, and the threads that make notes of files."""
    kinds = read_kinds(settings.sources)
    disk = DiskReader(root, settings.notes, yield_to_queries=gate.yield_to_queries, kinds=kinds)
    texts = SourceTexts(shelf.folder / "sources", write_atomically)

    def worker(*, recognise: bool) -> SourceWorker:
        process = SourceProcess(shelf.folder, settings.sources.timeout_s, recognise=recognise)
        return SourceWorker(
            disk, texts, process, version=READERS_VERSION, name=name, recognise=recognise,
            yield_to_queries=gate.yield_to_queries, busy=busy if recognise else lambda: False,
        )  # fmt: skip

    workers = [worker(recognise=False)]
    if "image" in kinds.read:
        workers.append(worker(recognise=True))
    recognise = workers[1].ask if len(workers) > 1 else None
    return disk, SourceReader(disk, texts, READERS_VERSION, workers[0].ask, recognise), workers


def date_reader(root: Path, settings: DateSettings) -> DateReader:
    """Return what reads the dates of a vault's notes: by the settings, and by the vault's own periodic notes."""
    names = DateNames(settings.created, settings.updated, settings.about)
    return DateReader(names, PeriodicNames.of(periodic_formats(str(root))))


def _shelf(root: Path, folder: Path) -> StoreFolder:
    """Open the folder of a vault's index, and note there which vault it is."""
    try:
        shelf = StoreFolder(folder)
        write_atomically(shelf.folder / "vault.json", json.dumps({"root": str(root)}))
    except OSError as error:
        raise StoreFull(
            f"the index folder {folder} cannot be written: {error.strerror or error}",
            hint="make room there, or make it writable",
        ) from error
    return shelf


def _watcher(
    root: Path, settings: Settings, reader: DiskReader, worker: IndexWorker, clock: Clock, identity: str
) -> VaultWatcher:
    def look_everywhere(reason: str) -> None:
        log.info("comparing all of %s: %s", identity, reason)
        if reason == FILTERS_CHANGED:
            reader.reload_filters()
        worker.reconcile()

    return VaultWatcher(root, settings.watch, worker.notice, look_everywhere, clock)


def check_root(path: Path, places: Places) -> Path:
    """Return the folder, absolute and resolved, if it can be a vault.

    Raises:
        VaultMissing, VaultUnreadable, VaultUnsuitable: With the reason.
    """
    try:
        root = path.expanduser().resolve(strict=True)
        str(root).encode()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise VaultMissing(f"there is no folder {path}", hint="check the spelling; vaultrag vaults lists those known",
                           path=str(path)) from error  # fmt: skip
    except ValueError as error:  # a NUL in it, or bytes that are no UTF-8, which no client could be told
        raise VaultUnsuitable(f"the name of the folder {str(path)[:200]!a} is not text", hint="rename it") from error
    except (OSError, RuntimeError) as error:
        raise VaultUnreadable(f"the folder {path} cannot be reached: {error}", path=str(path)) from error
    if not root.is_dir():
        raise VaultUnsuitable(f"{path} is a file, not a folder of notes", path=str(path))
    if not os.access(root, os.R_OK | os.X_OK):
        hint = FULL_DISK_ACCESS if sys.platform == "darwin" else f"chmod u+rx '{path}'"
        raise VaultUnreadable(f"the folder {path} may not be read", hint=hint, path=str(path))
    check_apart(root, places.data)
    _check_notes(root, path)
    return root


_LOOKED_AT = 200_000


def _check_notes(root: Path, path: Path) -> None:
    """There must be a note, or Obsidian's own folder; and not a whole home folder by mistake."""
    if (root / ".obsidian").is_dir():
        return
    if root == Path.home() or root == Path(root.anchor):
        raise VaultUnsuitable(f"{path} is no vault but a whole home or system folder", hint="vaultrag up ~/Notes",
                              path=str(path))  # fmt: skip
    seen = 0
    for _, folders, files in os.walk(root):
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        if any(map(is_note_name, files)):
            return
        seen += len(files) + len(folders)
        if seen > _LOOKED_AT:
            break
    raise VaultUnsuitable(
        f"{path} is empty" if not any(root.iterdir()) else f"{path} holds no Markdown notes",
        hint="choose the folder that holds your .md files",
        path=str(path),
    )


class Registry:
    """The vaults to serve, kept in a file of the daemon's own and in a copy that heals it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._copy = path.with_suffix(".copy.json")

    def roots(self) -> list[Path]:
        """Return the folders, in the order they were added; mend a damaged file from its copy.

        Raises:
            ConfigError: The file is damaged and its copy is no help.
        """
        try:
            return _read_roots(self._path)
        except FileNotFoundError:
            return []
        except _UNREADABLE as error:
            try:
                roots = _read_roots(self._copy)
            except (FileNotFoundError, *_UNREADABLE):
                raise ConfigError(
                    f"the list of vaults {self._path} cannot be read: {error}",
                    hint=f"remove {self._path} and add them again",
                ) from error
            log.warning("the list of vaults %s cannot be read (%s) and is restored from its copy", self._path, error)
            with contextlib.suppress(OSError):  # it is read from the copy again next time
                self._write(roots)
            return roots

    def add(self, root: Path) -> None:
        roots = self.roots()
        if root not in roots or not self._copy.exists():
            self._write(list(dict.fromkeys([*roots, root])))

    def remove(self, root: Path) -> None:
        self._write([known for known in self.roots() if known != root])

    def _write(self, roots: list[Path]) -> None:
        text = json.dumps({"vaults": [str(root) for root in roots]}, indent=1)
        for path in (self._path, self._copy):
            write_atomically(path, text)


_UNREADABLE = (OSError, ValueError, KeyError, TypeError)


def _read_roots(path: Path) -> list[Path]:
    return [Path(root) for root in json.loads(path.read_text("utf-8"))["vaults"]]


def write_atomically(path: Path, text: str) -> None:
    """Write a small file so that a reader sees the old or the new one, and only its owner may read it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())  # or a power cut could leave the new name with nothing under it
    draft.replace(path)
