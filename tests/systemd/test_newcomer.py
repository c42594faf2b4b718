"""A new person, from the clone to a service that survives a restart: every command as it is typed, none skipped.

The home is empty, the environment is made anew by the project's own `make`, and systemd is the person's own; see
``manager``. What is cloned is the last commit. It wants a package index, as the person would.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.systemd.manager import HOME, PYTHON, USER, Machine, machine, missing

WHY_NOT = missing()

pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "a user manager can be run"),
    pytest.mark.slow,
    pytest.mark.timeout(900),
]

PIP = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
"""Where packages are had from."""

BEFORE = """
$ git clone -q /srv/origin.git vaultrag
$ cd vaultrag && make -s .venv/.installed
Installing vaultrag into .venv
$ vaultrag --version
vaultrag 0.
build
$ vaultrag doctor || true
vaults: none is served
try: vaultrag up ~/Notes
$ vaultrag init --yes --embedder builtin
Notes: 2 notes, searchable by words
vaultrag search "
$ vaultrag up
Notes: 2 notes, searchable by words and meaning (builtin
$ vaultrag search replacing the seal
Seal replacement
Pumps/Seal replacement.md:
$ vaultrag why "Pumps/Seal replacement"
found
its vector stands for all of its text
$ vaultrag service status
the service runs (process
starts with your session: yes
$ vaultrag doctor
all is well
"""

AFTER = """
$ vaultrag search --no-start replacing the seal
Seal replacement
Pumps/Seal replacement.md:
$ echo 'The new valve is blue.' > ~/Notes/Valve.md; vaultrag reindex --wait; vaultrag search --no-start blue valve
The new valve is blue.
$ vaultrag doctor
all is well
$ vaultrag service logs -n 1000
serves (process
"""


@pytest.fixture
def person() -> Iterator[Machine]:
    """An empty home but for two notes, a vault that Obsidian knows."""
    with machine() as made:
        made.as_root(
            "git clone -q --bare -c safe.directory='*' /srv/source /srv/origin.git 2>/dev/null"
            " || git -c safe.directory='*' clone -q --bare /srv/source /srv/origin.git;"
            f" chown -R {USER}:{USER} /srv/origin.git"
        )
        made.shell(
            f"""
            mkdir -p ~/Notes/.obsidian ~/Notes/Pumps ~/.config/obsidian
            printf 'Drain the casing first. The seal comes off last.\\n' > ~/Notes/Pumps/'Seal replacement.md'
            printf 'Water them in the morning.\\n' > ~/Notes/Tomatoes.md
            printf '{{"vaults": {{"a": {{"path": "{HOME}/Notes", "ts": 1}}}}}}' > ~/.config/obsidian/obsidian.json
            """
        )
        made.boot()
        yield made


def follow(person: Machine, transcript: str) -> None:
    """Type each command; what is said must hold the lines below it, in their order."""
    told = {"PYTHON": PYTHON, "PATH": f"{HOME}/vaultrag/.venv/bin:/usr/local/bin:/usr/bin:/bin", **PIP}
    for step in transcript.strip("\n").split("$ ")[1:]:
        command, *wanted = step.rstrip("\n").split("\n")
        done = person.run("sh", "-c", command, more=told, timeout_s=600, code=None)
        said = done.stdout + done.stderr
        print(f"$ {command}\n{said}")
        assert done.returncode == 0, (command, said)
        rest = said
        for line in wanted:
            assert line in rest, (command, line, said)
            rest = rest[rest.index(line) + len(line) :]


def test_from_the_clone_to_a_service_that_survives(person: Machine) -> None:
    """After the clone three commands lead to a first answer; after a restart the next question is answered unasked."""
    probe = person.run(
        "sh", "-c", f"{PYTHON} -m venv probe && probe/bin/pip download -q --no-deps -d probe platformdirs",
        code=None, more=PIP, timeout_s=300,
    )  # fmt: skip
    if probe.returncode:
        pytest.skip(f"no package index can be reached: {probe.stderr.strip()[-200:]}")
    follow(person, BEFORE)
    before = person.shell("cd ~/Notes && find . -type f | sort")
    person.shut_down()
    person.boot()
    follow(person, AFTER)
    assert person.shell("cd ~/Notes && find . -type f | sort").replace("./Valve.md\n", "") == before
    said = person.run(f"{HOME}/vaultrag/.venv/bin/vaultrag", "service", "logs", "-n", "1000").stdout
    assert "casing" not in said
    assert "valve" not in said.lower()
