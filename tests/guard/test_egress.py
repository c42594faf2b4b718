"""Nothing leaves the machine, and nothing is written but in vaultrag's own folders: seen in the system calls."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.packaging.__main__ import screen
from tests.support import documents
from tests.support.person import FirstDay, module
from tests.support.syscalls import Watch
from vaultrag.home import remove_left_behind

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux' own; elsewhere this is not tested")

REPOSITORY = Path(__file__).parents[2]


FILES = {
    "Manual.pdf": (documents.pdf("Descaling takes citric acid."), "descaling"),
    "Letter.docx": (documents.word("Gaskets of neoprene."), "neoprene"),
    "Shot.png": (documents.picture(["a quokka smiles"]), "quokka"),
}


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.timeout(300)
def test_nothing_leaves_the_machine(tmp_path: Path) -> None:
    """No face of vaultrag looks a name up, connects to another machine, or writes outside its own folders."""
    kept = {"PYTHONPATH": str(REPOSITORY), "PATH": os.environ["PATH"]}
    day = FirstDay(module(), tmp_path, kept)
    day.live(screen=screen, files=FILES)
    calls = list(day.watch.calls())
    assert any(call == "connect" and "AF_UNIX" in arguments for call, arguments in calls), "the watch sees nothing"
    assert any("hybrid-fts.db" in arguments for call, arguments in calls), "the watch sees no file"
    assert day.watch.violations(day.allowed) == []


def test_what_earlier_versions_left_is_removed(tmp_path: Path) -> None:
    """The device id and the database of the runtime's telemetry go; other programs' files beside them stay."""
    folder = tmp_path / "Microsoft/DeveloperTools/.onnxruntime"
    folder.mkdir(parents=True)
    for name in ("deviceid", "onnxruntime.db", "onnxruntime.db-wal"):
        (folder / name).write_text("x")
    (tmp_path / "Microsoft/Other").mkdir()
    assert remove_left_behind(tmp_path)
    assert [path.name for path in (tmp_path / "Microsoft").iterdir()] == ["Other"]
    assert not remove_left_behind(tmp_path)


SEEN = [
    'connect(5<socket:[1]>, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("20.1.2.3")}, 16) = 0',
    'connect(5, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 0',
    'sendto(5, "x", 1, 0, {sa_family=AF_INET6, sin6_port=htons(9), inet_pton(AF_INET6, "2001:db8::1", &a)}, 28) = 1',
    'connect(5, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = 0',
    'openat(AT_FDCWD</home/x>, ".cache/other/db", O_RDWR|O_CREAT, 0644) = 3',
    '77 openat(6</home/x/.cache/other>, "deviceid.tmp", O_WRONLY|O_CREAT|O_EXCL, 0600) = 7',
    'mkdir("/home/x/.cache/other", 0700) = 0',
    'rename("/home/x/own/a", "/home/x/b") = 0',
]
FINE = [
    'connect(5, {sa_family=AF_INET, sin_port=htons(11434), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 ECONNREFUSED',
    'connect(5, {sa_family=AF_UNIX, sun_path="/run/user/1/vaultrag/daemon.sock"}, 110) = 0',
    'openat(AT_FDCWD</home/x>, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3',
    'openat(AT_FDCWD</home/x>, "/home/x/own/index.db", O_RDWR|O_CREAT, 0644) = 3',
    'openat(AT_FDCWD</home/x>, "/dev/null", O_RDWR) = 3',
    'mkdir("/home/x/.cache/other", 0700) = -1 EEXIST (File exists)',
    "sendmsg(5, {msg_name=NULL, msg_namelen=0}, 0) = 3",
]


@pytest.mark.parametrize(("line", "bad"), [*((line, True) for line in SEEN), *((line, False) for line in FINE)])
def test_the_watch_tells_them_apart(tmp_path: Path, line: str, bad: bool) -> None:
    """A look-up, a connection elsewhere and a file elsewhere are seen; what vaultrag does by itself is not blamed."""
    watch = Watch(tmp_path)
    (tmp_path / "one.trace").write_text(line + "\n", "utf-8")
    assert bool(watch.violations([Path("/home/x/own")])) == bad
