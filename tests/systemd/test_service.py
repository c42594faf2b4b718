"""The service on a real user manager of systemd: installed by its command, killed, stopped, hung, restarted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.daemons import until
from tests.systemd.manager import HOME, USER, Machine, machine, missing

WHY_NOT = missing()

pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "a user manager can be run"),
    pytest.mark.slow,
    pytest.mark.timeout(240),
]

SECRETS = ("impellerblade", "gasketsecret", "questionsecret")


@pytest.fixture(scope="module")
def person() -> Iterator[Machine]:
    """A person with notes, for whom the service has been installed."""
    with machine() as made:
        made.install_vaultrag()
        made.shell(
            """
            mkdir -p ~/Notes ~/.config/vaultrag
            printf 'The seal leaks at the impellerblade.\\n' > ~/Notes/Pump.md
            printf -- '---\\ntitle: [gasketsecret\\n  a: : :\\n---\\nbody\\n' > ~/Notes/Broken.md
            printf '[embedder]\\nprovider = "off"\\n' > ~/.config/vaultrag/config.toml
            """
        )
        made.boot()
        assert "runs as a service" in made.run("vaultrag", "service", "install").stdout
        made.run("vaultrag", "up", f"{HOME}/Notes")
        yield made


def found(person: Machine) -> bool:
    """Whether a question is answered by a note, by whatever daemon; none is started by the command itself."""
    done = person.run("vaultrag", "search", "--no-start", "--format", "paths", "seal", code=None)
    return done.stdout.strip() == f"{HOME}/Notes/Pump.md"


def fares(person: Machine) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(person.run("vaultrag", "service", "status", "--json", code=None).stdout)
    return told


def runs_as_another(person: Machine, before: int) -> int:
    def look() -> int:
        now = fares(person)
        return int(now["pid"]) if now["running"] and now["pid"] != before else 0

    return until(look, "another daemon runs", 40, 0.1)


def test_it_runs_and_starts_with_the_session(person: Machine) -> None:
    """After `service install` systemd runs the daemon, and will at the next login; notes are found."""
    told = fares(person)
    assert (told["running"], told["listening"], told["enabled"]) == (True, True, True)
    assert json.loads(person.run("vaultrag", "status", "--json").stdout)["pid"] == told["pid"]
    assert found(person)


def test_the_vault_is_read_only_to_it(person: Machine) -> None:
    """In the service's own view of the disk the vault cannot be written, nor can anything but its own folders."""
    pid = fares(person)["pid"]

    def touched(path: str) -> str:
        enter = f"nsenter --target {pid} --mount setpriv --reuid {USER} --regid {USER} --clear-groups"
        return person.as_root(f"{enter} touch {path} 2>&1 || true")

    for path in (f"{HOME}/Notes/new.md", f"{HOME}/new", f"{HOME}/.config/vaultrag/new", "/srv/new"):
        assert "Read-only file system" in touched(path)
    assert touched(f"{HOME}/.local/share/obsidian-rag/new") == ""
    status = person.shell(f"cat /proc/{pid}/status")
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status
    assert person.shell("ls ~/Notes").split() == ["Broken.md", "Pump.md"]


def test_it_is_nobody_elses(person: Machine) -> None:
    """Socket, folders and databases are open to nobody but the person."""
    said = person.shell(
        "stat -c %a $XDG_RUNTIME_DIR/vaultrag $XDG_RUNTIME_DIR/vaultrag/daemon.sock ~/.local/share/obsidian-rag"
        " ~/.local/share/obsidian-rag/*/hybrid-fts.db"
    )
    assert said.split() == ["700", "600", "700", "600"]


def test_a_killed_daemon_comes_back(person: Machine) -> None:
    """A daemon that is killed is started again by systemd, and a question asked meanwhile is answered."""
    pid = fares(person)["pid"]
    person.shell(f"kill -9 {pid}")
    assert found(person)
    runs_as_another(person, pid)


def test_a_question_starts_a_stopped_daemon(person: Machine) -> None:
    """After `vaultrag stop` systemd still listens: the next question starts the daemon, and it knows its vaults."""
    pid = fares(person)["pid"]
    person.run("vaultrag", "stop")
    told = fares(person)
    assert (told["running"], told["listening"]) == (False, True)
    assert "the next question starts it" in person.run("vaultrag", "service", "status", code=1).stdout
    assert found(person)
    runs_as_another(person, pid)


def test_a_daemon_that_hangs_is_replaced(person: Machine) -> None:
    """A daemon that gives no sign of life any more is ended by systemd, and another one serves."""
    person.shell(
        """
        mkdir -p ~/.config/systemd/user/vaultrag.service.d
        printf '[Service]\\nWatchdogSec=3\\nRestartSec=100ms\\n' > ~/.config/systemd/user/vaultrag.service.d/quick.conf
        systemctl --user daemon-reload
        systemctl --user restart vaultrag.service
        """
    )
    pid = fares(person)["pid"]
    person.shell(f"kill -STOP {pid}")
    runs_as_another(person, pid)
    assert found(person)
    person.shell("rm -r ~/.config/systemd/user/vaultrag.service.d; systemctl --user daemon-reload")
    person.shell("systemctl --user restart vaultrag.service")


def test_it_survives_a_restart_of_the_machine(person: Machine) -> None:
    """When systemd itself has ended and begun anew, the notes are found with no command in between."""
    person.shut_down()
    assert not found(person)
    person.boot()
    assert found(person)


def test_the_journal_holds_no_note(person: Machine) -> None:
    """What the service has said, through all of this, is in the journal, and no word of a note or of a question is."""
    person.run("vaultrag", "search", "questionsecret impellerblade", code=None)
    person.run("vaultrag", "explain", "questionsecret", code=None)
    said = person.run("vaultrag", "service", "logs", "-n", "1000").stdout
    assert said.count(" serves (process ") >= 5
    assert not [secret for secret in SECRETS if secret in said.lower()]


def test_installing_again_is_an_upgrade(person: Machine) -> None:
    """`service install` over an installed service writes its files anew and starts it anew."""
    pid = fares(person)["pid"]
    person.shell("echo '# old' > ~/.config/systemd/user/vaultrag.service")
    person.run("vaultrag", "service", "install")
    assert "ExecStart=" in person.shell("cat ~/.config/systemd/user/vaultrag.service")
    runs_as_another(person, pid)
    assert found(person)


def test_a_daemon_without_the_manager_makes_room(person: Machine) -> None:
    """Removed, nothing of the service is left, and a daemon can be started by hand; installed again, it takes over."""
    person.run("vaultrag", "service", "uninstall")
    assert fares(person)["installed"] is False
    assert person.shell("ls -A ~/.config/systemd/user | grep vaultrag || true") == ""
    person.run("vaultrag", "up", "--no-wait")
    by_hand = json.loads(person.run("vaultrag", "status", "--json").stdout)["pid"]
    said = person.run("vaultrag", "service", "install").stderr
    assert f"process {by_hand}) makes room" in said
    assert found(person)
    person.run("vaultrag", "service", "uninstall")
