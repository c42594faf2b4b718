"""The watcher with real files and the real event system; waits on events, with a short debounce."""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.clocks import PushedClock
from vaultrag.config import WatchSettings
from vaultrag.domain import NotePath
from vaultrag.watcher import observer as module
from vaultrag.watcher.filters import TEMPLATE_FILES
from vaultrag.watcher.native_events import NativeEvents
from vaultrag.watcher.observer import FILTERS_CHANGED, ROOT_BACK, ROOT_GONE, WATCH_RENEWED, VaultWatcher
from vaultrag.watcher.paths import covers

QUICK = WatchSettings(debounce_ms=50, storm_ms=400, poll_s=0.1)
PATIENCE_S = 8.0


class Watched:
    """A watcher whose calls are kept, and can be waited for."""

    def __init__(self, root: Path, settings: WatchSettings = QUICK, **seams: Any) -> None:
        self.root = root
        self.paths: list[NotePath] = []
        self.reasons: list[str] = []
        self.calls = 0
        self.longest = 0
        self._news = threading.Condition()
        self.watcher = VaultWatcher(root, settings, self._on_paths, self._on_overflow, PushedClock(), **seams)

    def _on_paths(self, paths: list[NotePath]) -> None:
        with self._news:
            self.paths += paths
            self.calls += 1
            self.longest = max(self.longest, len(paths))
            self._news.notify_all()

    def _on_overflow(self, reason: str) -> None:
        with self._news:
            self.reasons.append(reason)
            self._news.notify_all()

    def wait(self, happened: Callable[[], bool]) -> None:
        with self._news:
            assert self._news.wait_for(happened, PATIENCE_S), (self.paths, self.reasons)

    def wait_for(self, *paths: str) -> None:
        """Until something was named that covers each path."""
        self.wait(lambda: all(any(covers(named, path) for named in self.paths) for path in paths))

    def wait_for_reason(self, reason: str) -> None:
        self.wait(lambda: reason in self.reasons)

    def settled(self) -> list[NotePath]:
        """Everything named until a last note, written now, was named too."""
        (self.root / "zz last.md").write_text("x")
        self.wait_for("zz last.md")
        return [path for path in self.paths if path != "zz last.md"]

    def __enter__(self) -> Watched:
        self.watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.watcher.stop()
        self.watcher.join(PATIENCE_S)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "f").mkdir(parents=True)
    (root / "f" / "a.md").write_text("alpha")
    return root


@pytest.fixture
def watched(root: Path) -> Iterator[Watched]:
    with Watched(root) as watched:
        yield watched


def test_native(watched: Watched) -> None:
    """Where the system has events, they are used, and ``describe`` says so."""
    assert watched.watcher.describe() == "native events"


def test_write_is_named_once(watched: Watched, root: Path) -> None:
    """A note that is written is named, alone: not its folder, and not again."""
    (root / "f" / "a.md").write_text("changed")
    watched.wait_for("f/a.md")
    assert watched.settled() == ["f/a.md"]


def test_create_and_delete(watched: Watched, root: Path) -> None:
    """New and removed notes are named."""
    (root / "new.md").write_text("new")
    (root / "f" / "a.md").unlink()
    watched.wait_for("new.md", "f/a.md")


def test_rename_names_both(watched: Watched, root: Path) -> None:
    """A rename names the old and the new path."""
    (root / "f" / "a.md").rename(root / "b.md")
    watched.wait_for("f/a.md", "b.md")


def test_save_by_rename(watched: Watched, root: Path) -> None:
    """A save that writes a temporary file and renames it over the note names the note only."""
    (root / "f" / ".a.tmp").write_text("changed")
    (root / "f" / ".a.tmp").replace(root / "f" / "a.md")
    watched.wait_for("f/a.md")
    assert set(watched.settled()) == {"f/a.md"}


def test_new_folder(watched: Watched, root: Path) -> None:
    """A note written right after its new folder, however deep, is covered."""
    (root / "x" / "y").mkdir(parents=True)
    (root / "x" / "y" / "n.md").write_text("n")
    watched.wait_for("x/y/n.md")


def test_folder_moved_in_and_out(watched: Watched, root: Path, tmp_path: Path) -> None:
    """A folder that is moved in, out or away is named as a whole, at both ends."""
    (root / "f").rename(root / "g")
    watched.wait_for("f/a.md", "g/a.md")
    watched.paths.clear()
    (root / "g").rename(tmp_path / "out")
    watched.wait_for("g/a.md")
    watched.paths.clear()
    (tmp_path / "out").rename(root / "h")
    watched.wait_for("h/a.md")
    watched.paths.clear()
    (root / "h" / "a.md").write_text("still watched")
    watched.wait_for("h/a.md")


def test_other_files_are_silent(watched: Watched, root: Path) -> None:
    """Pictures, hidden folders and reading raise nothing."""
    (root / "picture.zip").write_bytes(b"png")
    (root / ".git").mkdir()
    (root / ".git" / "x.md").write_text("x")
    (root / "f" / "a.md").read_text()
    os.listdir(root / "f")  # noqa: PTH208
    assert watched.settled() == []


def test_storm(root: Path) -> None:
    """A note that is written without a pause is named all the same, before it is quiet."""
    with Watched(root, WatchSettings(debounce_ms=5000, storm_ms=200)) as watched:
        stop = threading.Event()

        def scribble() -> None:
            while not stop.wait(0.01):
                (root / "f" / "a.md").write_text("x")

        writer = threading.Thread(target=scribble)
        writer.start()
        try:
            watched.wait_for("f/a.md")
        finally:
            stop.set()
            writer.join()


@pytest.mark.parametrize("path", [".vaultragignore", ".obsidian/app.json", *TEMPLATE_FILES])
def test_filters_changed(root: Path, path: str) -> None:
    """A change of what is excluded asks for a comparison of everything, once."""
    (root / ".obsidian/plugins/templater-obsidian").mkdir(parents=True)
    with Watched(root) as watched:
        (root / path).write_text("{}")
        watched.wait_for_reason(FILTERS_CHANGED)
        (root / ".obsidian" / "workspace.json").write_text("{}")
        assert watched.settled() == []
        assert watched.reasons == [FILTERS_CHANGED]


def test_overflow(watched: Watched) -> None:
    """When watchdog logs that the system's queue overflowed, everything is compared."""
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; filesystem events were lost")
    watched.wait_for_reason("the system lost file events: its queue overflowed")


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="names that are not UTF-8")
def test_bad_name(watched: Watched, root: Path) -> None:
    """A name that is not valid UTF-8 is looked at through its folder."""
    (root / "f" / os.fsdecode(b"caf\xe9.md")).write_text("x")
    watched.wait(lambda: "f" in watched.paths)


def test_ten_thousand_at_once(watched: Watched, root: Path) -> None:
    """Of ten thousand notes written at once, each is named, or the loss of events is; no list handed out is huge."""
    for folder in range(10):
        (root / f"d{folder}").mkdir()
        for note in range(1000):
            (root / f"d{folder}" / f"{note}.md").touch()
    last = [f"d{folder}/999.md" for folder in range(10)]
    watched.wait(lambda: bool(watched.reasons) or all(any(covers(p, n) for p in watched.paths) for n in last))
    assert watched.longest <= 4001


def test_root_gone_and_back(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vault that is taken away is reported once; when it is back, that is reported and it is watched again."""
    monkeypatch.setattr(module, "AWAY_S", 0.05)
    with Watched(root) as watched:
        root.rename(tmp_path / "elsewhere")
        watched.watcher.rearm()
        watched.wait_for_reason(ROOT_GONE)
        assert "away" in watched.watcher.describe()
        (tmp_path / "elsewhere").rename(root)
        watched.wait_for_reason(ROOT_BACK)
        assert watched.reasons == [ROOT_GONE, ROOT_BACK]
        (root / "f" / "a.md").write_text("changed")
        watched.wait_for("f/a.md")


def test_root_deleted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vault that is deleted is noticed by itself, and so is a new one in its place."""
    monkeypatch.setattr(module, "AWAY_S", 0.05)
    with Watched(root) as watched:
        (root / "f" / "a.md").unlink()
        (root / "f").rmdir()
        root.rmdir()
        watched.wait_for_reason(ROOT_GONE)
        root.mkdir()
        watched.wait_for_reason(ROOT_BACK)
        (root / "n.md").write_text("n")
        watched.wait_for("n.md")


def test_root_replaced(root: Path, tmp_path: Path) -> None:
    """Another folder under the vault's name is watched in its stead."""
    with Watched(root) as watched:
        (tmp_path / "other").mkdir()
        root.rename(tmp_path / "old")
        (tmp_path / "other").rename(root)
        watched.watcher.rearm()
        watched.wait_for_reason(WATCH_RENEWED)
        (root / "n.md").write_text("n")
        watched.wait_for("n.md")


def test_missing_at_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vault that is not there yet is waited for."""
    monkeypatch.setattr(module, "AWAY_S", 0.05)
    with Watched(tmp_path / "later") as watched:
        (tmp_path / "later").mkdir()
        watched.wait_for_reason(ROOT_BACK)
        assert watched.watcher.describe() == "native events"


# -- polling -----------------------------------------------------------------------------------------------------------


def test_polling_by_setting(root: Path) -> None:
    """Polling names the whole vault, again and again, and ``describe`` says why."""
    with Watched(root, WatchSettings(method="poll", poll_s=0.05)) as watched:
        watched.wait(lambda: watched.calls >= 3)
        assert set(watched.paths) == {""}
        assert watched.watcher.describe() == "polling every 0.05 s: as the settings ask (watch.method)"


def test_polling_when_watches_run_out(root: Path) -> None:
    """Too few watches for the vault's folders means polling, with the reason."""
    with Watched(root, obstacle=lambda _: "too many folders") as watched:
        watched.wait_for("f/a.md")
        assert watched.watcher.describe() == "polling every 0.1 s: too many folders"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_polling_when_native_fails(root: Path, number: int) -> None:
    """A system that refuses a watch means polling, with the system's words."""

    def refuse(*_: object) -> NativeEvents:
        raise OSError(number, os.strerror(number))

    with Watched(root, WatchSettings(method="native", poll_s=0.05), open_native=refuse) as watched:
        watched.wait_for("f/a.md")
        assert os.strerror(number).lower() in watched.watcher.describe()


def test_back_to_native(root: Path) -> None:
    """When there are watches enough again, events are used again, without a restart."""
    obstacles = ["too many folders", None]
    with Watched(root, obstacle=lambda _: obstacles.pop(0)) as watched:
        assert watched.watcher.describe().startswith("polling")
        watched.watcher.rearm()
        watched.wait_for_reason(WATCH_RENEWED)
        assert watched.watcher.describe() == "native events"


def test_watches_used_up_later(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New folders that find no watch left turn the watcher to polling."""
    monkeypatch.setattr(module, "GROWN_S", 0.05)
    with Watched(root, exhausted=lambda: "all are in use") as watched:
        (root / "new").mkdir()
        watched.wait_for_reason(WATCH_RENEWED)
        assert watched.watcher.describe() == "polling every 0.1 s: all are in use"


def test_polling_root_gone(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vault that is taken away while polling is reported once, and not polled."""
    monkeypatch.setattr(module, "AWAY_S", 0.05)
    with Watched(root, WatchSettings(method="poll", poll_s=0.05)) as watched:
        root.rename(tmp_path / "elsewhere")
        watched.wait_for_reason(ROOT_GONE)
        calls = watched.calls
        (tmp_path / "elsewhere").rename(root)
        watched.wait_for_reason(ROOT_BACK)
        assert watched.calls == calls
        watched.wait(lambda: watched.calls > calls)


# -- manners -----------------------------------------------------------------------------------------------------------


def test_callback_that_raises(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What a callback raises is logged, and watching goes on."""
    calls: list[list[NotePath]] = []
    twice = threading.Event()

    def fail(paths: list[NotePath]) -> None:
        calls.append(paths)
        if len(calls) == 2:
            twice.set()
        raise RuntimeError("no")

    watcher = VaultWatcher(root, QUICK, fail, lambda reason: None, PushedClock())
    watcher.start()
    (root / "1.md").write_text("x")
    while not calls:
        assert not twice.wait(0.01)
    (root / "2.md").write_text("x")
    assert twice.wait(PATIENCE_S)
    watcher.stop()
    watcher.join()
    assert "could not be passed on" in caplog.text


def test_sleeps_at_rest(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no change the thread is not woken: it waits, once, for the look that is minutes away."""
    with Watched(root) as watched:
        watched.settled()
        turns: list[float] = []
        monkeypatch.setattr(watched.watcher, "_turn", lambda: turns.append(1.0))
        used = time.process_time()
        threading.Event().wait(0.5)
        assert turns == []
        assert time.process_time() - used < 0.1


def test_no_leaks(root: Path) -> None:
    """Starting and stopping, also when the system refuses, leaves no thread, no open file and no log handler."""

    def fds() -> int:
        return len(list(Path("/dev/fd").iterdir()))

    def cycle() -> None:
        with Watched(root):
            pass
        with pytest.raises(OSError):
            NativeEvents.open(str(root / "none"), lambda path, is_dir: None, lambda reason: None)

    cycle()
    threads, files = set(threading.enumerate()), fds()
    for _ in range(5):
        cycle()
    assert set(threading.enumerate()) <= threads
    assert fds() == files
    assert logging.getLogger("watchdog").handlers == []


def test_calls_in_any_order(root: Path) -> None:
    """Joining before the start, starting twice and stopping twice are harmless; before the start nothing is watched."""
    watched = Watched(root)
    assert watched.watcher.describe() == "not watching"
    watched.watcher.join()
    watched.watcher.start()
    watched.watcher.start()
    watched.watcher.stop()
    watched.watcher.stop()
    watched.watcher.join(PATIENCE_S)
