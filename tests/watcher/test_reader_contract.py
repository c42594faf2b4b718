"""What any ``ports.VaultReader`` keeps: the disk's and the in-memory twin's."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest

from tests.support.readers import MemoryVault
from tests.watcher.faults import FaultyDisk
from vaultrag.config import NoteSettings
from vaultrag.domain import Content, Gone, NotePath, Skipped, Unreadable
from vaultrag.protocols import VaultReader
from vaultrag.watcher.reader import DiskReader

SETTINGS = NoteSettings(max_bytes=1000, ignore=("Private/",))


class Rig(Protocol):
    reader: VaultReader

    def write(self, path: str, data: bytes) -> None: ...
    def remove(self, path: str) -> None: ...
    def move(self, source: str, target: str) -> None: ...
    def fail(self, path: str) -> None: ...
    def take_away(self) -> None: ...


class DiskRig:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.disk = FaultyDisk()
        root.mkdir()
        self.reader: VaultReader = DiskReader(root, SETTINGS, self.disk)

    def write(self, path: str, data: bytes) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(data)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()

    def move(self, source: str, target: str) -> None:
        (self.root / source).rename(self.root / target)

    def fail(self, path: str) -> None:
        self.disk.fail(self.root / path)

    def take_away(self) -> None:
        self.root.rename(self.root.with_name("elsewhere"))


class MemoryRig:
    def __init__(self) -> None:
        self.vault = MemoryVault(SETTINGS)
        self.reader: VaultReader = self.vault

    def write(self, path: str, data: bytes) -> None:
        self.vault.write(path, data)

    def remove(self, path: str) -> None:
        self.vault.remove(path)

    def move(self, source: str, target: str) -> None:
        self.vault.move(source, target)

    def fail(self, path: str) -> None:
        self.vault.fail(path)

    def take_away(self) -> None:
        self.vault.away = True


@pytest.fixture(params=["disk", "memory"])
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Rig:
    rig: Rig = DiskRig(tmp_path / "vault") if request.param == "disk" else MemoryRig()
    rig.write("a.md", b"alpha")
    rig.write("f/b.md", b"beta")
    rig.write("f/g/c.md", b"gamma")
    rig.write("f/picture.png", b"png")
    rig.write("Private/d.md", b"delta")
    rig.write(".trash/e.md", b"epsilon")
    return rig


def N(path: str) -> NotePath:
    return NotePath(path)


def test_scan_everything(rig: Rig) -> None:
    """A scan of everything finds the notes and nothing else."""
    scan = rig.reader.scan()
    assert set(scan.entries) == {"a.md", "f/b.md", "f/g/c.md"}
    assert (dict(scan.skipped), dict(scan.unreadable), scan.scopes, scan.root_ok) == ({}, {}, (), True)
    assert scan.entries[N("a.md")].size == 5


def test_root_scope(rig: Rig) -> None:
    """The scope "" is the whole vault."""
    scan = rig.reader.scan([N(""), N("f")])
    assert len(scan.entries) == 3
    assert scan.scopes == ()


def test_scopes(rig: Rig) -> None:
    """A scan of folders and files finds what is under them, each once."""
    scan = rig.reader.scan([N("f/g"), N("a.md"), N("f/g/c.md")])
    assert set(scan.entries) == {"a.md", "f/g/c.md"}
    assert scan.scopes == ("a.md", "f/g")


def test_scope_gone(rig: Rig) -> None:
    """A scope that does not exist gives no entries and no complaint: that is how a deletion is seen."""
    rig.remove("f/g/c.md")
    scan = rig.reader.scan([N("f/g/c.md"), N("nowhere/x.md"), N("a.md/x.md")])
    assert (dict(scan.entries), dict(scan.unreadable), scan.root_ok) == ({}, {}, True)


def test_scope_excluded(rig: Rig) -> None:
    """Excluded and hidden scopes give nothing."""
    assert not rig.reader.scan([N("Private"), N(".trash/e.md"), N("f/picture.png")]).entries


@pytest.mark.parametrize("scope", ["..", "../x.md", "/etc", "a//b", "./a.md", "a\0.md"])
def test_scope_outside(rig: Rig, scope: str) -> None:
    """A scope that is no path in the vault finds nothing, and is never taken for the whole vault."""
    scan = rig.reader.scan([N(scope)])
    assert not scan.entries
    assert scan.scopes == (scope,)


def test_folder_fails(rig: Rig) -> None:
    """A folder that cannot be listed is unreadable, and nothing under it is said to be there or gone."""
    rig.fail("f")
    scan = rig.reader.scan()
    assert set(scan.entries) == {"a.md"}
    assert dict(scan.unreadable) == {"f": "permission denied"}
    scan = rig.reader.scan([N("f/b.md")])
    assert (dict(scan.entries), dict(scan.unreadable)) == ({}, {"f": "permission denied"})


def test_root_away(rig: Rig) -> None:
    """When the vault's folder is away, a scan says so and a read is not "gone"."""
    rig.take_away()
    assert rig.reader.scan().root_ok is False
    assert rig.reader.scan([N("a.md")]).root_ok is False
    assert isinstance(rig.reader.read(N("a.md")), Unreadable)


def test_read(rig: Rig) -> None:
    """A read gives the bytes, with the entry a scan gives."""
    result = rig.reader.read(N("f/b.md"))
    assert result == Content(rig.reader.scan().entries[N("f/b.md")], b"beta")


def test_read_gone(rig: Rig) -> None:
    """A note that was removed, or never was, is gone."""
    rig.remove("a.md")
    for path in ("a.md", "f/none.md", "none/none.md", "f/b.md/none.md"):
        assert rig.reader.read(N(path)) == Gone(N(path))


def test_read_fails(rig: Rig) -> None:
    """A note that cannot be opened is unreadable, with the reason."""
    rig.fail("a.md")
    assert rig.reader.read(N("a.md")) == Unreadable(N("a.md"), "permission denied")


@pytest.mark.parametrize("path", ["Private/d.md", ".trash/e.md", "f/picture.png", "../x.md", "/etc/passwd", ""])
def test_read_refused(rig: Rig, path: str) -> None:
    """What is excluded or outside is skipped, with a reason."""
    result = rig.reader.read(N(path))
    assert isinstance(result, Skipped)
    assert result.reason


def test_too_large(rig: Rig) -> None:
    """A note over the size limit is skipped by scan and read, with its size."""
    rig.write("big.md", b"x" * 1001)
    scanned, read = rig.reader.scan().skipped[N("big.md")], rig.reader.read(N("big.md"))
    assert scanned.size == 1001
    assert isinstance(read, Skipped)


def test_binary(rig: Rig) -> None:
    """Binary content is skipped when it is read; UTF-16 and a stray NUL are not binary."""
    rig.write("z.md", b"\0\1\2\0\0\0" * 50)
    rig.write("u.md", "\ufeffnote".encode("utf-16-le"))
    rig.write("n.md", b"a note with one \0 in it")
    result = rig.reader.read(N("z.md"))
    assert isinstance(result, Skipped)
    assert result.reason == "binary content"
    assert isinstance(rig.reader.read(N("u.md")), Content)
    assert isinstance(rig.reader.read(N("n.md")), Content)


def test_conflict_copy_is_listed(rig: Rig) -> None:
    """A sync-conflict copy is no entry, and is listed."""
    rig.write("a.sync-conflict-20240101-120000-ABCDEFG.md", b"alpha")
    scan = rig.reader.scan()
    assert len(scan.entries) == 3
    assert [skipped.reason for skipped in scan.skipped.values()] == ["a sync-conflict copy"]


def test_move_keeps_identity(rig: Rig) -> None:
    """A moved note keeps its inode, size and time."""
    before = rig.reader.scan().entries[N("a.md")]
    rig.move("a.md", "f/z.md")
    after = rig.reader.scan().entries[N("f/z.md")]
    assert (after.inode, after.size, after.mtime_ns) == (before.inode, before.size, before.mtime_ns)
