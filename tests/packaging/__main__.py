"""``python -m tests.packaging``: installs the wheel in clean environments, and does there what a person does first.

On the oldest Python from the source folder with pip, as ``pipx install .`` does it, with the whole sample vault; then
on each Python that vaultrag is for, and on the oldest one also with the oldest dependencies that the bounds allow, with
a part of the vault. A Python that is not on this machine, or
an index of packages that cannot be reached, is told and left out; in CI an index that cannot be reached is a failure.
Ends with "N passed, N failed".
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

import vaultrag
from tests.packaging import pythons
from tests.packaging.building import build, copy
from tests.support.daemons import REPOSITORY
from tests.support.person import FirstDay

PATIENCE_S = 300
AT_ONCE = 2
"""One installs while another indexes."""

UV = [sys.executable, "-m", "uv"]
CERTIFICATES = {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
"""uv trusts its own list by default; a network may have an authority that only the system knows. (New and old name.)"""
QUERY = "how often must the pump be greased"


Install = Callable[[Path], None]


class Unreachable(Exception):
    """The index of packages does not answer."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="vr-pack-") as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        base = Path(folder)
        source = copy(base / "source")
        (wheel,) = build(source, base / "out", "wheel")
        outcomes = list(pool.map(lambda one: _held(base, *one), _runs(wheel, source)))
    print(f"{outcomes.count(True)} passed, {outcomes.count(False)} failed")
    return 0 if True in outcomes and False not in outcomes else 1


def _held(base: Path, name: str, install: Install, notes: Path) -> bool | None:
    """Whether this installation does what it should; None where that could not be tried."""
    begun = time.monotonic()
    place = base / re.sub(r"\W+", "-", name)
    try:
        install(place)
        smoke(place, notes)
    except Unreachable as trouble:
        print(f"left out: {name}: {trouble}")
        return False if os.environ.get("CI") else None
    except Exception as trouble:
        print(f"FAILED {name}: {trouble}")
        return False
    print(f"{name}: installed, indexed, searched, stopped ({time.monotonic() - begun:.0f} s)")
    return True


def _runs(wheel: Path, source: Path) -> Iterator[tuple[str, Install, Path]]:
    found = {version: pythons.find(version) for version in pythons.versions()}
    here = {version: python for version, python in found.items() if python is not None}
    for version in found.keys() - here.keys():
        print(f"left out: the wheel on Python {version}: it is not on this machine")
    vault, part = REPOSITORY / "sample-vault", REPOSITORY / "sample-vault/Reference"
    for oldest in list(here)[:1]:
        yield f"source folder with pip, Python {oldest}", _with_pip(here[oldest], source), vault
        lowest = [str(wheel), "--resolution", "lowest-direct", *lowest_direct()]
        yield f"wheel with the oldest dependencies, Python {oldest}", _with_uv(here[oldest], lowest), part
    for version, python in here.items():
        yield f"wheel, Python {version}", _with_uv(python, [str(wheel)]), part


def lowest_direct() -> list[str]:
    """What is named on the command line is direct to uv, and taken at its lowest: so name what the wheel needs."""
    table = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    return [str(Requirement(one)) for one in table["project"]["dependencies"]]


def _with_uv(python: Path, what: Sequence[str]) -> Install:
    def install(place: Path) -> None:
        run([*UV, "venv", "--quiet", "--no-config", "--python", str(python), str(place / "env")])
        options = ["--quiet", "--no-config", "--python", str(place / "env/bin/python")]
        run([*UV, "pip", "install", *options, *what])

    return install


def _with_pip(python: Path, source: Path) -> Install:
    def install(place: Path) -> None:
        run([str(python), "-m", "venv", str(place / "env")])
        pip = [str(place / "env/bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*pip, str(source)])

    return install


def run(command: Sequence[str], **options: object) -> str:
    """The output of a command that must work.

    Raises:
        Unreachable: It could not reach the index of packages.
        RuntimeError: It failed.
    """
    options.setdefault("env", {**os.environ, **CERTIFICATES})
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S, **options)  # type: ignore[call-overload]
    if done.returncode:
        said = f"{done.stdout}{done.stderr}".strip()
        if re.search(r"error sending request|Failed to fetch|Connection(Error|Pool)|Temporary failure in name", said):
            raise Unreachable(said.splitlines()[-1])
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{said[-3000:]}")
    return str(done.stdout)


def smoke(place: Path, notes: Path) -> None:
    """What a person does first with a new vaultrag, in a home folder that holds nothing yet.

    Args:
        place: Holds the environment, and takes the home folder.
        notes: What is searched, from a copy.

    Raises:
        RuntimeError, AssertionError: Something is not as it should be.
    """
    home, runtime = place / "home", place / "run"
    for folder in (home, runtime):
        folder.mkdir(mode=0o700)
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "CI") if name in os.environ}
    environment = {**kept, "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "PATH": "/usr/bin:/bin"}
    program = str(place / "env/bin/vaultrag")

    def told(*args: str) -> str:
        return run([program, *args], cwd=home, env=environment)

    module = run([str(place / "env/bin/python"), "-c", "import vaultrag; print(vaultrag.__file__)"], cwd=home)
    assert str(place / "env") in module, f"another vaultrag was run: {module}"
    assert told("--version").strip().startswith(f"vaultrag {vaultrag.__version__}")
    assert (place / "env/share/man/man1/vaultrag.1").is_file()
    assert "--format" in told("search", "--help")
    vault = Path(shutil.copytree(notes, place / "Notes"))
    try:
        assert "searchable by words and meaning" in told("up", str(vault))
        best = Path(told("search", "--format", "paths", "-n", "1", QUERY).strip())
        assert best.name == "Pump hall operating manual.md", best
        assert best.is_relative_to(vault), best
        assert "words+meaning" in told("search", "-n", "1", QUERY)
        status = json.loads(told("status", "--json"))
        assert status["version"] == vaultrag.__version__
        screen([program], environment)
        assert status["vaults"][0]["embedded"] == status["vaults"][0]["notes"] > 10, status
    finally:
        _end(home, lambda: told("stop"))
    if sys.platform == "linux":
        watched(program, place / "watched", kept)


def watched(program: str, place: Path, environment: Mapping[str, str]) -> None:
    """Use each face of it once under a watch on its system calls: nothing leaves the machine, or is written elsewhere.

    Raises:
        AssertionError: Something does, with the calls.
    """
    day = FirstDay([program], place, {**environment, "PATH": "/usr/bin:/bin"})
    day.live(agents=False)  # those come with an extra
    violations = day.watch.violations(day.allowed)
    assert not violations, "\n".join(violations)


def screen(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Open the search screen on a terminal, and leave it by Ctrl+C once it is drawn.

    Raises:
        AssertionError: It is not drawn.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    options: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), slave)
    process = subprocess.Popen(
        command, env={**environment, "TERM": "xterm-256color"}, start_new_session=True, **options
    )
    os.close(slave)
    seen, pressed = b"", False
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while select.select([master], [], [], 60)[0] and (part := os.read(master, 65_536)):
            seen += part
            if not pressed and b"Type to search" in seen:
                pressed = os.write(master, b"\x03") == 1
    os.close(master)
    if not pressed:
        process.kill()
    assert process.wait(30) == 130, f"the search screen is not drawn: {seen[-2000:]!r}"


def _end(home: Path, stop: Callable[[], str]) -> None:
    """Stop the daemon, by its process id if it does not take leave."""
    pids = [json.loads(file.read_text("utf-8"))["pid"] for file in home.rglob("daemon.json")]
    try:
        stop()
    except RuntimeError:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        raise


if __name__ == "__main__":
    sys.exit(main())
