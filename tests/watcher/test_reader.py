"""The disk reader in a strange vault, and on a disk that fails."""

from __future__ import annotations

import errno
import json
import os
import socket
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.watcher.faults import FaultyDisk
from vaultrag.config import NoteSettings
from vaultrag.domain import Content, DiskEntry, Gone, NotePath, Skipped, Unreadable
from vaultrag.domain.kinds import ReadKinds
from vaultrag.watcher.filters import TEMPLATE_FILES
from vaultrag.watcher.reader import DiskReader
from vaultrag.watcher.stat_check import judge, size_words

linux_names = pytest.mark.skipif(os.uname().sysname != "Linux", reason="this file system refuses such names")


def N(path: str) -> NotePath:
    return NotePath(path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    (root / "a.md").write_text("alpha")
    return root


@pytest.fixture
def disk() -> FaultyDisk:
    return FaultyDisk()


@pytest.fixture
def reader(root: Path, disk: FaultyDisk) -> DiskReader:
    return DiskReader(root, NoteSettings(), disk)


def why_skipped(reader: DiskReader, path: str) -> str:
    """The reason a scan of everything and a scan of the path alone agree on; a read must refuse too."""
    reason = reader.scan().skipped[N(path)].reason
    alone = reader.scan([N(path)])
    assert alone.skipped[N(path)].reason == reason
    assert not alone.entries
    assert isinstance(reader.read(N(path)), Skipped)
    return reason


# -- strange files -----------------------------------------------------------------------------------------------------


def test_fifo_and_socket(root: Path, reader: DiskReader, disk: FaultyDisk) -> None:
    """Pipes and sockets named like notes are skipped, and never opened."""
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "sock.md"))
        assert why_skipped(reader, "pipe.md") == "not a regular file: a named pipe"
        assert why_skipped(reader, "sock.md") == "not a regular file: a socket"
    assert not any(path.endswith(".md") for path in disk.opened)


def test_file_that_turns_into_a_pipe(root: Path, reader: DiskReader, disk: FaultyDisk) -> None:
    """A file replaced by a pipe between the look and the opening blocks nobody."""

    def swap(path: str) -> None:
        if path.endswith("a.md"):
            (root / "a.md").unlink()
            os.mkfifo(root / "a.md")

    reader.reload_filters()
    disk.before_open = swap
    assert isinstance(reader.read(N("a.md")), Unreadable)


def test_folder_named_like_a_note(root: Path, reader: DiskReader) -> None:
    """A folder named x.md is a folder: it is walked, and cannot be read as a note."""
    (root / "x.md").mkdir()
    (root / "x.md" / "y.md").write_text("y")
    assert set(reader.scan().entries) == {"a.md", "x.md/y.md"}
    assert isinstance(reader.read(N("x.md")), Skipped)


def test_a_look_at_many_files_gives_way(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between a few files and the next, in one large folder and in many small ones; it sees the same for that."""
    monkeypatch.setattr("vaultrag.watcher.scanner.SOME", 4)
    for number in range(10):
        (root / f"{number}.md").write_text("one of many in a folder")
        (root / f"folder {number}").mkdir()
        (root / f"folder {number}" / "n.md").write_text("alone in a folder")
    ways: list[None] = []
    reader = DiskReader(root, NoteSettings(), yield_to_queries=lambda: ways.append(None))
    assert reader.scan().entries == DiskReader(root, NoteSettings()).scan().entries
    assert len(ways) == 10 + 6  # each folder, and in the root, which has 21 entries, before every fourth


def test_links(root: Path, reader: DiskReader, tmp_path: Path) -> None:
    """A linked note is read if its target is a regular file inside the vault, and not excluded; else it is skipped."""
    (tmp_path / "secret.md").write_text("secret")
    (root / ".hidden").mkdir()
    (root / ".hidden" / "h.md").write_text("h")
    (root / "in.md").symlink_to("a.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "hid.md").symlink_to(".hidden/h.md")
    (root / "dead.md").symlink_to("nowhere.md")
    (root / "loop.md").symlink_to("loop.md")
    (root / "dir.md").symlink_to(".")
    (root / "null.md").symlink_to("/dev/null")
    assert set(reader.scan().entries) == {"a.md", "in.md"}
    result = reader.read(N("in.md"))
    assert isinstance(result, Content)
    assert result.data == b"alpha"
    assert why_skipped(reader, "out.md") == "a link out of the vault"
    assert why_skipped(reader, "hid.md") == "a link to an excluded file"
    assert why_skipped(reader, "dead.md") == "a link whose target does not exist"
    assert why_skipped(reader, "loop.md") == "a link that leads back to itself"
    assert why_skipped(reader, "dir.md") == "not a regular file: a folder"
    assert why_skipped(reader, "null.md") == "a link out of the vault"


def test_linked_folders(root: Path, reader: DiskReader, tmp_path: Path) -> None:
    """A linked folder is told and never followed, loop or not; what lies behind it is neither scanned nor read."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "o.md").write_text("o")
    (root / "real").mkdir()
    (root / "real" / "r.md").write_text("r")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "real" / "loop").symlink_to("..")
    (root / "picture").symlink_to(tmp_path / "outside" / "o.md")
    scan = reader.scan()
    assert set(scan.entries) == {"a.md", "real/r.md"}
    assert set(scan.skipped) == {"out", "real/loop"}
    assert set(reader.scan([N("out"), N("real/loop/a.md")]).skipped) == {"out"}
    for path in ("out/o.md", "real/loop/a.md"):
        assert not isinstance(reader.read(N(path)), Content)


def test_folder_swapped_for_a_link(root: Path, reader: DiskReader, disk: FaultyDisk, tmp_path: Path) -> None:
    """A folder exchanged for a link out of the vault in the moment of opening leads nowhere."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "n.md").write_text("secret")
    (root / "f").mkdir()
    (root / "f" / "n.md").write_text("mine")

    def swap(path: str) -> None:
        if path.endswith("n.md"):
            (root / "f").rename(root / "g")
            (root / "f").symlink_to(tmp_path / "outside")

    disk.before_open = swap
    assert isinstance(reader.read(N("f/n.md")), Unreadable)


def test_vault_behind_a_link(root: Path, tmp_path: Path) -> None:
    """A vault reached through a link is the same vault."""
    (tmp_path / "link").symlink_to(root)
    reader = DiskReader(tmp_path / "link", NoteSettings())
    assert set(reader.scan().entries) == {"a.md"}
    assert isinstance(reader.read(N("a.md")), Content)


@linux_names
def test_names(root: Path, reader: DiskReader) -> None:
    """Names come back exactly as the file system gives them: long, with newlines, and twins in two Unicode forms."""
    names = [
        "x" * 252 + ".md",
        "new\nline.md",
        unicodedata.normalize("NFC", "Büro.md"),
        unicodedata.normalize("NFD", "Büro.md"),
        "README.md",
        "readme.md",
        " °{.md",
        "back\\slash.md",
    ]
    for name in names:
        (root / name).write_text(name)
    assert set(reader.scan().entries) == {"a.md", *names}
    for name in names:
        assert set(reader.scan([N(name)]).entries) == {name}
        result = reader.read(N(name))
        assert isinstance(result, Content)
        assert result.data.decode() == name


@linux_names
def test_bad_names(root: Path, reader: DiskReader) -> None:
    """A file or folder whose name is not valid UTF-8 is skipped, under a name that can be stored."""
    (root / ".vaultragignore").write_text("*.tmp.md\n")  # names are held against patterns, too
    (root / os.fsdecode(b"caf\xe9.md")).write_text("x")
    (root / os.fsdecode(b"d\xe9")).mkdir()
    (root / os.fsdecode(b"d\xe9") / "y.md").write_text("y")
    scan = reader.scan()
    assert set(scan.entries) == {"a.md"}
    assert {path: skipped.reason for path, skipped in scan.skipped.items()} == {
        "caf\\udce9.md": "the file name is not valid UTF-8",
        "d\\udce9": "the folder name is not valid UTF-8",
    }
    assert isinstance(reader.read(N(os.fsdecode(b"caf\xe9.md"))), Skipped)
    assert reader.scan([N(os.fsdecode(b"d\xe9/y.md"))]).scopes == ()


def test_sparse(root: Path, reader: DiskReader) -> None:
    """A huge sparse file is skipped by its size; a small one without content counts as not downloaded."""
    for name, size in (("huge.md", 1 << 40), ("hole.md", 100_000), ("tiny.md", 100)):
        with (root / name).open("wb") as file:
            file.truncate(size)
    assert why_skipped(reader, "huge.md") == "1.1 TB, over the limit of 10 MB (notes.max_bytes)"
    assert reader.scan().unreadable == {"hole.md": "not downloaded yet"}
    assert reader.read(N("hole.md")) == Unreadable(N("hole.md"), "not downloaded yet")
    assert "tiny.md" in reader.scan().entries


def test_old_case(root: Path, reader: DiskReader, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system ignores case, the old name of a renamed note is not there any more."""
    (root / "b.md").write_text("b")
    monkeypatch.setattr(disk, "lstat", lambda path: os.lstat(path.lower() if path.endswith("B.md") else path))
    scan = reader.scan([N("B.md"), N("b.md")])
    assert set(scan.entries) == {"b.md"}


def test_removed_folder_of_a_scope(root: Path, reader: DiskReader) -> None:
    """A scope whose folder became a file, or a link, is not there."""
    (root / "f").symlink_to(".")
    scan = reader.scan([N("f/a.md"), N("a.md/b.md")])
    assert (dict(scan.entries), dict(scan.unreadable)) == ({}, {})


# -- a disk that fails -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ENOTCONN, errno.ESTALE, errno.EMFILE, errno.ENOENT])
def test_failing_folder_and_file(root: Path, reader: DiskReader, disk: FaultyDisk, number: int) -> None:
    """Whatever the disk says about a folder or file it just listed, it is unreadable and not gone."""
    (root / "f").mkdir()
    (root / "b.md").write_text("b")
    disk.fail(root / "f", number)
    disk.fail(root / "a.md", number)
    scan = reader.scan()
    assert set(scan.entries) == {"b.md"}
    assert set(scan.unreadable) == {"f", "a.md"}
    assert isinstance(reader.read(N("a.md")), Unreadable)


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOENT, errno.ENOTCONN])
def test_failing_root(root: Path, reader: DiskReader, disk: FaultyDisk, number: int) -> None:
    """When the root cannot be listed, nothing is said about any note."""
    reader.reload_filters()
    disk.fail(root, number)
    for scopes in ([], [N("a.md")], [N("none.md")]):
        scan = reader.scan(scopes)
        assert (scan.root_ok, dict(scan.entries)) == (False, {})
    assert isinstance(reader.read(N("none.md")), Unreadable)


def test_root_is_a_file(root: Path) -> None:
    """A root that is no folder is not there."""
    assert DiskReader(root / "a.md", NoteSettings()).scan().root_ok is False


def test_another_folder_in_the_vaults_place(root: Path, reader: DiskReader, tmp_path: Path) -> None:
    """Under another folder of the vault's name no part is looked at; once all of it has been looked at, all are."""
    reader.scan()
    root.rename(tmp_path / "elsewhere")
    root.mkdir()
    (root / "n.md").write_text("n")
    assert not reader.scan([NotePath("n.md")]).root_ok
    assert not reader.scan([NotePath("f")]).root_ok
    assert reader.scan().root_ok
    assert set(reader.scan([NotePath("n.md")]).entries) == {"n.md"}


def test_gone_needs_a_listing(root: Path, reader: DiskReader, disk: FaultyDisk) -> None:
    """A note is gone only if its folder can be listed."""
    (root / "f").mkdir()
    assert reader.read(N("f/n.md")) == Gone(N("f/n.md"))
    disk.fail(root / "f")
    assert reader.read(N("f/n.md")) == Unreadable(N("f/n.md"), "permission denied")


def test_open_files_ran_out_once(root: Path, reader: DiskReader, disk: FaultyDisk) -> None:
    """When open files run out, the reader tries once more."""
    disk.fail(root / "a.md", errno.EMFILE, times=1)
    assert isinstance(reader.read(N("a.md")), Content)
    disk.fail(root, errno.EMFILE, times=1)
    assert set(reader.scan().entries) == {"a.md"}


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EDEADLK])
def test_not_downloaded(root: Path, reader: DiskReader, disk: FaultyDisk, number: int) -> None:
    """The errors by which a sync service says "not here" are understood."""
    disk.fail(root / "a.md", number)
    result = reader.read(N("a.md"))
    assert isinstance(result, Unreadable)
    assert result.reason.startswith("not downloaded yet")


def test_placeholder_is_not_opened(root: Path, reader: DiskReader, disk: FaultyDisk) -> None:
    """A file with a size and no blocks is not opened."""
    (root / "p.md").write_text("p" * 5000)
    disk.pretend(root / "p.md", st_blocks=0)
    assert reader.scan().unreadable == {"p.md": "not downloaded yet"}
    assert isinstance(reader.read(N("p.md")), Unreadable)
    assert not any(path.endswith("p.md") for path in disk.opened)


def test_blocks_not_counted(root: Path, reader: DiskReader, disk: FaultyDisk) -> None:
    """On a file system that shows no blocks for anything, no blocks means nothing."""
    (root / "p.md").write_text("p" * 5000)
    for path in (root, root / "p.md", root / "a.md"):
        disk.pretend(path, st_blocks=0)
    assert set(reader.scan().entries) == {"a.md", "p.md"}
    assert isinstance(reader.read(N("p.md")), Content)


@pytest.mark.parametrize(
    ("size", "blocks", "flags", "counted", "expected"),
    [(5000, 0, 0, True, Unreadable), (5000, 0, 0, False, DiskEntry), (100, 0, 0, True, DiskEntry),
     (100, 8, 0x40000000, False, Unreadable), (0, 0, 0, True, DiskEntry)],
)  # fmt: skip
def test_judge(size: int, blocks: int, flags: int, counted: bool, expected: type) -> None:
    """A placeholder is told by its flag, or by missing blocks where those are counted and the file is not tiny."""
    found = SimpleNamespace(
        st_mode=0o100644, st_size=size, st_blocks=blocks, st_flags=flags, st_mtime_ns=1, st_ino=1,
        st_ctime_ns=1,
    )  # fmt: skip
    assert type(judge(N("x.md"), cast("os.stat_result", found), 10_000, counted)) is expected


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 bytes"), (999, "999 bytes"), (10_000_000, "10 MB"), (12_345, "12.3 kB")]
)
def test_size_words(count: int, words: str) -> None:
    """Sizes are told in decimal units."""
    assert size_words(count) == words


# -- filters on disk ---------------------------------------------------------------------------------------------------


def write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_filters(root: Path, ignore: str, obsidian: str) -> None:
    (root / ".obsidian").mkdir(exist_ok=True)
    (root / ".vaultragignore").write_text(ignore)
    (root / ".obsidian" / "app.json").write_text(obsidian)


def test_filters_from_disk(root: Path, reader: DiskReader) -> None:
    """Both files in the vault are obeyed, a byte-order mark is no part of a pattern, and reasons can be asked for."""
    for name in ("b.md", "c.md"):
        (root / name).write_text("x")
    write_filters(root, "\ufeffb.md\n", '{"userIgnoreFilters": ["c.md", 7]}')
    assert set(reader.scan().entries) == {"a.md"}
    assert reader.why_excluded("b.md") == "excluded by .vaultragignore, line 1: b.md"
    assert reader.why_excluded("c.md") == "one of Obsidian's excluded files (.obsidian/app.json): c.md"
    assert reader.why_excluded("a.md") is None
    assert reader.why_excluded("../a.md") == "not a path in the vault"
    assert reader.why_excluded(os.fsdecode(b"caf\xe9.md")) == "the file name is not valid UTF-8"
    assert reader.filter_problems == ()


def test_obsidian_list_can_be_turned_off(root: Path) -> None:
    """With notes.obsidian_excluded off, Obsidian's list is not read."""
    write_filters(root, "", '{"userIgnoreFilters": ["a.md"]}')
    assert set(DiskReader(root, NoteSettings(obsidian_excluded=False)).scan().entries) == {"a.md"}


CORE, TEMPLATER = TEMPLATE_FILES


@pytest.mark.parametrize("folder", ["Meta/Templates", "/Meta/Templates/", "meta/templates", " Meta/Templates "])
@pytest.mark.parametrize("file", [CORE, TEMPLATER])
def test_template_folders_are_left_out(root: Path, file: str, folder: str) -> None:
    """A folder of templates is left out, however the setting spells it, and the reason names the setting."""
    for name in ("Meta/Templates/Daily.md", "Meta/Templates/Deep/Weekly.md", "Meta/Note.md", "Templates/Mine.md"):
        write(root / name)
    write(root / file, json.dumps({TEMPLATE_FILES[file]: folder}))
    reader = DiskReader(root, NoteSettings())
    assert set(reader.scan().entries) == {"a.md", "Meta/Note.md", "Templates/Mine.md"}
    assert reader.why_excluded("Meta/Templates/Deep/Weekly.md") == f"in a folder of templates ({file})"
    assert set(DiskReader(root, NoteSettings(obsidian_templates=False)).scan().entries) >= {"Meta/Templates/Daily.md"}


@pytest.mark.parametrize("folder", ["", "/", "//", " ", ".", "..", "../a", 7, None, ["Templates"]])
def test_no_template_folder_hides_the_vault(root: Path, folder: object) -> None:
    """A setting that names no folder, or the whole vault, leaves nothing out."""
    write(root / "Templates/Daily.md")
    write(root / CORE, json.dumps({"folder": folder}))
    assert set(DiskReader(root, NoteSettings()).scan().entries) == {"a.md", "Templates/Daily.md"}


def test_a_template_setting_that_breaks_keeps_its_folder(root: Path, reader: DiskReader) -> None:
    """While Obsidian writes its setting, the templates stay left out; without the setting they are notes."""
    write(root / "Templates/Daily.md")
    write(root / CORE, json.dumps({"folder": "Templates"}))
    assert set(reader.scan().entries) == {"a.md"}
    write(root / CORE, '{"folder": "Temp')
    assert set(reader.scan().entries) == {"a.md"}
    assert reader.filter_problems[0].startswith(f"{CORE} is not valid JSON, so the folder of templates is as last read")
    (root / CORE).unlink()
    assert set(reader.scan().entries) == {"a.md", "Templates/Daily.md"}


@pytest.mark.parametrize("bad", ['{"userIgnoreFilters": ["b.', "[" * 100_000, '{"userIgnoreFilters": 3}', "\xff\xfe"])
def test_broken_app_json(root: Path, reader: DiskReader, bad: str) -> None:
    """A broken app.json is a problem in words, and what it said before still holds."""
    (root / "b.md").write_text("x")
    write_filters(root, "", '{"userIgnoreFilters": ["b.md"]}')
    assert set(reader.scan().entries) == {"a.md"}
    write_filters(root, "", bad)
    assert set(reader.scan().entries) == {"a.md"}
    assert len(reader.filter_problems) == 1


def test_unreadable_ignore_file(root: Path, reader: DiskReader, disk: FaultyDisk) -> None:
    """An ignore file that cannot be read for a moment keeps its patterns; one that is removed loses them."""
    write_filters(root, "a.md\n", "{}")
    assert not reader.scan().entries
    disk.fail(root / ".vaultragignore", errno.EIO)
    assert not reader.scan().entries
    assert len(reader.filter_problems) == 1
    disk.heal(root / ".vaultragignore")
    (root / ".vaultragignore").unlink()
    assert set(reader.scan().entries) == {"a.md"}


def test_strange_ignore_files(root: Path, reader: DiskReader) -> None:
    """An ignore file that is a pipe or a folder, has odd bytes or is absurdly large, is a problem and no more."""
    os.mkfifo(root / ".vaultragignore")
    assert set(reader.scan().entries) == {"a.md"}
    assert len(reader.filter_problems) == 1
    (root / ".vaultragignore").unlink()
    (root / ".vaultragignore").write_bytes(b"caf\xe9\na.md\n")
    assert not reader.scan().entries
    assert "UTF-8" in reader.filter_problems[0]
    (root / ".vaultragignore").write_bytes(b"x\n" * 600_000)
    assert not reader.scan().entries
    assert "larger" in reader.filter_problems[0]


def test_scan_leaves_no_descriptor(root: Path, reader: DiskReader) -> None:
    """Scans and reads, good and bad, leave no file open."""
    os.mkfifo(root / "pipe.md")
    reader.scan()
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(20):
        reader.scan()
        for path in ("a.md", "pipe.md", "none.md"):
            reader.read(N(path))
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_files_of_other_kinds_have_a_limit_of_their_own(root: Path) -> None:
    """A file that is converted may be larger than a note, up to its own limit; its bytes are read as they are."""
    (root / "small.pdf").write_bytes(b"%PDF\0" + b"x" * 50)
    (root / "large.pdf").write_bytes(b"x" * 200)
    (root / "large.md").write_bytes(b"x" * 60)
    kinds = ReadKinds(frozenset(("note", "pdf")), max_bytes=100)
    reader = DiskReader(root, NoteSettings(max_bytes=50), kinds=kinds)
    scan = reader.scan()
    assert set(scan.entries) == {"a.md", "small.pdf"}
    assert "sources.max_bytes" in scan.skipped[N("large.pdf")].reason
    assert "notes.max_bytes" in scan.skipped[N("large.md")].reason
    found = reader.read(N("small.pdf"))
    assert isinstance(found, Content)
    assert found.data.startswith(b"%PDF\0")
    assert reader.entry(N("small.pdf")) == found.entry
