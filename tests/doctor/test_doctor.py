"""``vaultrag doctor``: each fault is produced for real, is found, and its repair is named."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import signal
import socket
import stat
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.support.commands import Command, make_home, make_vault
from tests.support.daemons import OllamaProcess, ollama_process, until
from vaultrag import __version__
from vaultrag.doctor import process, run
from vaultrag.doctor.findings import Finding, worst
from vaultrag.doctor.run import examine
from vaultrag.install.plugin import FOLDER

pytestmark = pytest.mark.timeout(180)

SETTINGS = '[embedder]\nprovider = "ollama"\nhost = "{url}"\ntimeout_s = 5.0\n'
OWN = f"{Path(sys.executable).parent}:/usr/bin:/bin"


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaProcess]:
    with ollama_process() as server:
        yield server


@pytest.fixture
def patient(tmp_path: Path, ollama: OllamaProcess) -> Iterator[Command]:
    """A command in good health, with a vault that has been indexed; its daemon runs."""
    told = {"PATH": OWN, "HOME": str(tmp_path), "XDG_CONFIG_HOME": ""}  # no service of the machine's own is seen
    made = Command(make_home(tmp_path, SETTINGS.format(url=ollama.url)), told)
    make_vault(tmp_path / "My notes")
    made.run("up", str(tmp_path / "My notes"), code=0)
    yield made
    made.end()


@pytest.fixture
def asleep(patient: Command) -> Command:
    """The same, its daemon stopped."""
    patient.run("stop", code=0)
    return patient


def vault(command: Command) -> Path:
    return command.home.parent / "My notes"


def files(command: Command, name: str) -> Path:
    return next(command.places.data.glob(f"*/{name}"))


def told(command: Command, check: str, *args: str) -> dict[str, Any]:
    """The finding of this check that is worst; the exit code says the worst of all."""
    done = command.run("doctor", "--json", *args)
    said = json.loads(done.stdout)
    grades = ("ok", "warning", "fault")
    assert done.returncode == grades.index(said["worst"]), done.stderr
    assert said["worst"] == max((f["grade"] for f in said["findings"]), key=grades.index)
    of_check = [finding for finding in said["findings"] if finding["check"] == check]
    assert of_check, said
    found: dict[str, Any] = max(of_check, key=lambda finding: grades.index(finding["grade"]))
    return found


def here(command: Command, check: str, proc: Path = Path("/proc")) -> Finding:
    """The same, without a process of its own: for what must be pretended."""
    findings = [finding for finding in examine(command.places, command.environment, proc) if finding.check == check]
    return next(finding for finding in findings if finding.grade == worst(findings))


def test_all_is_well(patient: Command) -> None:
    """In good health every line is ok, with figures that were measured, and the exit code is 0."""
    said = patient.run("doctor", code=0).stdout
    assert "all is well" in said
    assert "warning" not in said
    assert "fault" not in said
    for part in (
        "sqlite-vec v0.1",
        "both ways found",
        "embedded a sentence in",
        "takes 2,048 tokens",
        "clients are sent",
        "notes file: My notes: hybrid-fts.db: sound, 4 notes",
        "sound, 4 vectors",
        "native events",
    ):
        assert part in said, said


def test_it_works_without_a_daemon(asleep: Command) -> None:
    """With no daemon the same is looked at; that none runs is a warning, and nothing is started or changed."""
    before = {path: path.read_bytes() for path in asleep.places.data.rglob("*.db")}
    assert told(asleep, "daemon") | {"text": ""} == {
        "check": "daemon", "grade": "warning", "text": "", "plain": "none runs", "repair": "vaultrag up", "fix": False,
    }  # fmt: skip
    said = asleep.run("doctor", code=1).stdout
    assert "0 faults, 1 warning" in said
    assert {path: path.read_bytes() for path in before} == before
    assert asleep.daemon_pid() == 0


def test_before_anything_is_set_up(tmp_path: Path) -> None:
    """With no settings, no vault and no daemon there is no fault: what is to be done first is said."""
    command = Command(tmp_path / "new", {"PATH": OWN, "HOME": str(tmp_path), "XDG_CONFIG_HOME": ""})
    said = command.run("doctor", code=1).stdout
    assert "try: vaultrag up ~/Notes" in said
    assert "0 faults" in said
    assert not command.home.exists()


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        ("raise ImportError('no such library', name='sqlite_vec')", "pip install --force-reinstall apsw 'sqlite-vec"),
        (
            "__version__ = '0.1.9'\ndef loadable_path(): return __file__",
            "pip install --force-reinstall apsw 'sqlite-vec",
        ),
    ],
    ids=["absent", "for another machine"],
)
def test_an_extension_that_does_not_load(asleep: Command, tmp_path: Path, text: str, repair: str) -> None:
    """An extension that cannot be imported, or imports and does not load, is a fault; the other checks go on."""
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "sqlite_vec.py").write_text(text)
    asleep.extra["PYTHONPATH"] = f"{fake}:{Path(__file__).parents[2]}"
    done = asleep.run("doctor", "--json")
    said = json.loads(done.stdout)
    (found, *_) = [finding for finding in said["findings"] if finding["grade"] == "fault"]
    assert (done.returncode, found["check"] in ("engine", "database engine")) == (2, True)
    assert found["repair"].startswith(repair)
    assert "PATH" in {finding["check"] for finding in said["findings"]}


@pytest.mark.parametrize("name", ["hybrid-fts.db", "obsidian_notes.db"])
def test_a_damaged_page(asleep: Command, name: str) -> None:
    """A page that has been overwritten is found, though the file was closed well; what is done about it is safe."""
    path = files(asleep, name)
    data = bytearray(path.read_bytes())
    data[4096 * 2 : 4096 * 4] = b"\x5a" * 8192
    path.write_bytes(data)
    found = told(asleep, "notes file" if name.startswith("hybrid") else "vectors file")
    assert found["grade"] == "fault"
    assert "is damaged" in found["text"]
    assert "the notes themselves are safe" in found["repair"]


def test_a_file_of_a_newer_vaultrag(asleep: Command) -> None:
    """A schema that this version does not know is a fault with the way out."""
    connection = apsw.Connection(str(files(asleep, "hybrid-fts.db")))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    found = told(asleep, "notes file")
    assert (found["grade"], "newer than this vaultrag" in found["text"]) == ("fault", True)


def test_files_that_are_missing_or_set_aside(asleep: Command) -> None:
    """An index that is gone, and damaged files that were set aside, are told with what to do."""
    files(asleep, "hybrid-fts.db").rename(files(asleep, "hybrid-fts.db").with_name("hybrid-fts.db.damaged-2026"))
    assert told(asleep, "notes file")["repair"] == f"vaultrag up '{vault(asleep)}'"
    found = told(asleep, "set aside")
    assert (found["grade"], "1 damaged files" in found["text"]) == ("warning", True)


def test_open_modes_are_closed(patient: Command) -> None:
    """Files and folders that others could read are told, and `--fix` closes them."""
    opened = [patient.places.data, files(patient, "hybrid-fts.db"), patient.places.discovery]
    for path in opened:
        path.chmod(0o755 if path.is_dir() else 0o644)
    found = told(patient, "modes")
    assert (found["grade"], found["fix"]) == ("warning", True)
    assert "chmod" in found["repair"]
    done = patient.run("doctor", "--fix", code=0)
    assert done.stderr.count("repaired: modes") == 3
    assert [stat.S_IMODE(path.stat().st_mode) for path in opened] == [0o700, 0o600, 0o600]


def test_ollama_is_down(patient: Command) -> None:
    """A server that does not answer is a fault with the command that starts it."""
    with ollama_process() as gone:
        url = gone.url
    patient.places.config_file.write_text(SETTINGS.format(url=url))
    for check in ("model", "Ollama"):
        found = told(patient, check)
        assert (found["grade"], found["repair"]) == ("fault", "ollama serve")


def test_ollama_lacks_the_model(patient: Command) -> None:
    """A server without the model is a fault with the command that gets it."""
    with ollama_process("--no-models") as server:
        patient.places.config_file.write_text(SETTINGS.format(url=server.url))
        for check in ("model", "Ollama"):
            found = told(patient, check)
            assert (found["grade"], found["repair"]) == ("fault", "ollama pull nomic-embed-text")


def test_another_machines_ollama_is_told(patient: Command) -> None:
    """Notes that are sent to another machine are worth a warning each time."""
    patient.places.config_file.write_text(SETTINGS.format(url="http://192.0.2.1:11434") + "\n")
    findings = list(examine(patient.places, patient.environment))
    assert [finding.grade for finding in findings if "your notes are sent there" in finding.text] == ["warning"]
    assert not [finding for finding in findings if "192.0.2.1" in finding.plain]


def test_watches_run_out(asleep: Command, tmp_path: Path) -> None:
    """A limit below the vault's folders is told with the command that raises it; one that is nearly used up, too."""
    proc = tmp_path / "proc"
    limits = proc / "sys/fs/inotify/max_user_watches"
    limits.parent.mkdir(parents=True)
    limits.write_text("2\n")
    found = here(asleep, "watching", proc)
    assert (found.grade, "sysctl fs.inotify.max_user_watches" in found.repair) == ("warning", True)
    assert "3 folders need more watches than the system allows (2)" in found.text
    assert "My notes" not in found.plain
    held = proc / "4711"
    (held / "fd").mkdir(parents=True)
    (held / "fdinfo").mkdir()
    (held / "fd/7").symlink_to("anon_inode:inotify")
    (held / "fdinfo/7").write_text("inotify wd:1 ino:2\n" * 95)
    limits.write_text("100\n")
    found = here(asleep, "watching", proc)
    assert (found.grade, "95 of 100 watches in use" in found.text) == ("warning", True)
    limits.write_text("100000\n")
    assert here(asleep, "watching", proc).grade == "ok"


def test_a_discovery_file_is_left_behind(patient: Command) -> None:
    """What a killed daemon leaves behind is told, and `--fix` removes it."""
    os.kill(patient.daemon_pid(), signal.SIGKILL)
    until(lambda: told(patient, "discovery")["grade"] == "warning", "the doctor warns", 30)
    assert "was left behind" in told(patient, "discovery")["text"]
    patient.run("doctor", "--fix", code=1)
    assert not patient.places.discovery.exists()
    assert told(patient, "discovery")["grade"] == "ok"


def test_a_discovery_file_that_lies(patient: Command) -> None:
    """A file that is missing, is no JSON, or names another process while a daemon answers is told."""
    discovery = patient.places.discovery
    right = discovery.read_text()
    discovery.write_text(json.dumps(json.loads(right) | {"pid": 1}))
    assert "names process 1" in told(patient, "discovery")["text"]
    discovery.write_text("{")
    assert told(patient, "discovery")["grade"] == "fault"
    discovery.unlink()
    assert told(patient, "discovery")["grade"] == "warning"
    discovery.write_text(right)
    assert told(patient, "discovery")["grade"] == "ok"


def test_a_daemon_that_hangs(patient: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon that holds the lock and does not answer is a fault, named by its process."""
    monkeypatch.setattr(run, "ANSWER_S", 1.0)
    pid = patient.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        found = here(patient, "daemon")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (found.grade, found.repair) == ("fault", f"kill {pid}; vaultrag up")
    assert str(pid) not in found.plain


def test_a_daemon_of_another_build(patient: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon started before an upgrade serves on; that it is an older one is told, with the way to the new one."""
    monkeypatch.setattr(process, "build_id", lambda: "0" * 12)
    found = here(patient, "daemon")
    assert (found.grade, found.repair) == ("warning", "vaultrag stop && vaultrag up")


def test_settings_that_cannot_be_read(asleep: Command) -> None:
    """A slip in the settings is a fault with its place; everything else is looked at under the defaults."""
    asleep.places.config_file.write_text("[embeder]\n")
    found = told(asleep, "settings")
    assert (found["grade"], "embeder" in found["text"]) == ("fault", True)
    assert "embeder" not in found["plain"]
    assert told(asleep, "notes file")["grade"] == "ok"


def test_a_vault_that_is_away(asleep: Command) -> None:
    """A vault whose folder has gone is a fault, and what is known of it stays."""
    vault(asleep).rename(vault(asleep).with_name("elsewhere"))
    found = told(asleep, "vault")
    assert (found["grade"], "can still be searched" in found["text"]) == ("fault", True)
    assert told(asleep, "notes file")["grade"] == "ok"


def test_what_is_left_out_is_counted(patient: Command) -> None:
    """Excluded notes are counted by their rule, skipped and odd ones listed with the reason."""
    root = vault(patient)
    make_vault(root, {"Drafts/a.md": "x", "Drafts/deep/b.md": "x", "Old.md": "x", ".trash/c.md": "x",
                      "Odd.md": "---\na: [b\n---\nbody\n"})  # fmt: skip
    (root / "Binary.md").write_bytes(bytes(1000))
    (root / ".vaultragignore").write_text("\nDrafts/\nOld.md\n[\n")
    patient.run("reindex", "--wait", code=0)
    text = told(patient, "excluded")["text"]
    assert "2 excluded by .vaultragignore, line 2" in text
    assert "1 excluded by .vaultragignore, line 3" in text
    skipped = told(patient, "skipped")
    assert skipped["grade"] == "warning"
    assert "Binary.md: binary content" in skipped["text"]
    assert "Odd.md" in skipped["text"]
    patient.run("stop", code=0)
    assert "Binary.md: binary content" in told(patient, "skipped")["text"]


def test_the_plugin_in_the_vault(asleep: Command) -> None:
    """The plugin's version in the vault is compared with vaultrag's own; half a plugin is a fault."""
    folder = vault(asleep) / FOLDER
    folder.mkdir(parents=True)
    assert told(asleep, "plugin")["grade"] == "fault"
    (folder / "main.js").write_text("")
    (folder / "manifest.json").write_text('{"version": "0.0.1"}')
    found = told(asleep, "plugin")
    assert (found["grade"], "0.0.1" in found["text"]) == ("warning", True)
    (folder / "manifest.json").write_text(json.dumps({"version": __version__}))
    assert "not switched on" in told(asleep, "plugin")["text"]
    (vault(asleep) / ".obsidian/community-plugins.json").write_text('["vaultrag"]')
    assert told(asleep, "plugin")["grade"] == "ok"


Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(("free", "grade"), [(10_000_000, "fault"), (500_000_000, "warning"), (10**12, "ok")])
def test_little_room(asleep: Command, monkeypatch: pytest.MonkeyPatch, free: int, grade: str) -> None:
    """A disk that is nearly full is told before it is."""
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 0, free))
    assert here(asleep, "disk").grade == grade


def test_a_clock_that_went_back(asleep: Command) -> None:
    """A clock that stands before the index was written is told."""
    path = files(asleep, "hybrid-fts.db")
    ahead = path.stat().st_mtime + 10 * 86_400
    os.utime(path, (ahead, ahead))
    assert told(asleep, "clock")["grade"] == "warning"


def test_the_path_of_other_programs(asleep: Command, tmp_path: Path) -> None:
    """A PATH without the command, or with another installation's first, is told with the right one."""
    asleep.extra["PATH"] = "/nonexistent"
    found = told(asleep, "PATH")
    assert (found["grade"], str(Path(sys.executable).parent) in found["repair"]) == ("warning", True)
    other = tmp_path / "bin/vaultrag"
    other.parent.mkdir()
    other.write_text("#!/opt/other/bin/python\n")
    other.chmod(0o755)
    asleep.extra["PATH"] = f"{other.parent}:{OWN}"
    assert "another installation" in told(asleep, "PATH")["text"]


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")
def test_a_service_of_another_installation(asleep: Command, tmp_path: Path) -> None:
    """Units that another version wrote, and a service that its manager does not know, are told."""
    manager = tmp_path / "bin/systemctl"
    manager.parent.mkdir()
    manager.write_text("#!/bin/sh\nexit 0\n")
    manager.chmod(0o755)
    asleep.extra |= {"PATH": f"{manager.parent}:{OWN}", "XDG_CONFIG_HOME": str(tmp_path / "config")}
    asleep.run("service", "install", "--no-start", code=0)
    assert told(asleep, "service")["grade"] == "fault"  # it lies under /tmp, and the manager knows nothing of it
    unit = tmp_path / "config/systemd/user/vaultrag.service"
    unit.write_text(unit.read_text().replace("serve", "serve --verbose"))
    found = told(asleep, "service files")
    assert (found["grade"], found["repair"]) == ("warning", "vaultrag service install")


def test_a_report_names_nobody(patient: Command) -> None:
    """The text for a bug report holds no note, no name of a note, vault, person or machine, whatever is wrong."""
    root = vault(patient)
    make_vault(root, {"Secretname.md": "---\nsecretkey: [b\n---\nsecretbody\n", "Secretdrafts/a.md": "x"})
    (root / "Secretbinary.md").write_bytes(bytes(1000))
    (root / ".vaultragignore").write_text("Secretdrafts/\n[Secretpattern\n")
    patient.run("reindex", "--wait", code=0)
    patient.places.data.chmod(0o755)
    for path in patient.places.data.glob("*.json"):
        path.chmod(0o644)
    said = [patient.run("doctor", "--report").stdout]
    patient.run("stop", code=0)
    said.append(patient.run("doctor", "--report").stdout)
    for name in ("obsidian_notes.db", "hybrid-fts.db"):
        files(patient, name).write_bytes(b"nonsense" * 4096)
    patient.places.config_file.write_text("[secretsection]\n")
    said.append(patient.run("doctor", "--report").stdout)
    root.rename(root.with_name("Secretelsewhere"))
    said.append(patient.run("doctor", "--report").stdout)
    banned = [
        "secret",
        "my notes",
        "my-notes",
        str(patient.home),
        "pumps",
        "bearings",
        "tomatoes",
        socket.gethostname(),
    ]
    if (user := getpass.getuser()) != "root":
        banned.append(user)
    for text in said:
        assert text.startswith("system: ")
        assert "vaultrag 0." in text
        assert text.count("\n") > 10
        held = [name for name in banned if len(name) > 2 and name.lower() in text.lower()]
        assert not held, text
