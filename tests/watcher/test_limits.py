"""Whether the system has watches enough, against a make-believe /proc."""

from __future__ import annotations

from pathlib import Path

import pytest

from vaultrag.watcher import limits


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    proc = tmp_path / "proc"
    (proc / "sys/fs/inotify").mkdir(parents=True)
    (proc / "sys/fs/inotify/max_user_watches").write_text("10\n")
    for folder in ("fd", "fdinfo"):
        (proc / "42" / folder).mkdir(parents=True)
    (proc / "42/fd/3").symlink_to("anon_inode:inotify")
    (proc / "42/fd/4").symlink_to("/dev/null")
    (proc / "42/fdinfo/3").write_text("pos:\t0\n" + "inotify wd:1 ino:2\n" * 6)
    (proc / "42/fdinfo/4").write_text("pos:\t0\n")
    return proc


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    for folder in ("a/b", ".git/objects"):
        (vault / folder).mkdir(parents=True)
    (vault / "link").symlink_to("a")
    return vault


def test_watches_are_counted(proc: Path) -> None:
    """Watches in use are those of every inotify descriptor that can be seen."""
    assert limits.watches_in_use(proc) == 6


def test_obstacle(proc: Path, vault: Path) -> None:
    """More folders than free watches is an obstacle that names its cure; hidden folders count, linked ones do not."""
    assert limits.count_folders(str(vault)) == 5
    assert limits.obstacle(str(vault), proc) == (
        "5 folders need more watches than the system allows (10, 6 of them in use); raise fs.inotify.max_user_watches"
    )
    (proc / "42/fdinfo/3").write_text("inotify wd:1\n" * 5)
    assert limits.obstacle(str(vault), proc) is None


def test_exhausted(proc: Path) -> None:
    """When every watch is taken, folders made lately may have none."""
    assert limits.exhausted(proc) is None
    (proc / "sys/fs/inotify/max_user_watches").write_text("6")
    assert limits.exhausted(proc) == "all 6 watches the system allows are in use; raise fs.inotify.max_user_watches"


def test_no_proc(tmp_path: Path, vault: Path) -> None:
    """A system without such a limit has no obstacle."""
    assert limits.obstacle(str(vault), tmp_path / "none") is None
    assert limits.exhausted(tmp_path / "none") is None
    assert limits.watches_in_use(tmp_path / "none") == 0
