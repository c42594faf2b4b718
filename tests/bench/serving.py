"""The daemon as a process of its own: started, waited for, ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.machine import ROOT, cpu_s
from vaultrag.config import Places
from vaultrag.domain import DaemonStatus, VaultStatus
from vaultrag.errors import VaultragError
from vaultrag.rpc.client import Client

POLL_S, MOST_S = 0.01, 0.1


@dataclass(frozen=True, slots=True)
class Served:
    """A running daemon. ``started``: when its process was, by ``time.monotonic``."""

    client: Client
    pid: int
    started: float
    home: Path

    def cpu_s(self) -> float:
        """Processor time so far; 0 where the system does not say."""
        return cpu_s(self.pid) or 0.0

    def wait(self, condition: Callable[[VaultStatus], bool], timeout_s: float = 3600) -> float:
        """When the vault's status first met the condition, by ``time.monotonic``."""
        begun = time.monotonic()
        until = begun + timeout_s
        while True:
            status: DaemonStatus = self.client.status()
            now = time.monotonic()
            if status.vaults and condition(status.vaults[0]):
                return now
            if now > until:
                raise SystemExit(f"what was waited for did not come within {timeout_s:.0f} s: {status}")
            time.sleep(max(POLL_S, min(MOST_S, (now - begun) / 50)))  # to ask is work too: two percent are near enough

    def wait_ready(self, notes: int) -> float:
        """When everything was indexed, with its vectors."""
        return self.wait(lambda vault: is_ready(vault) and vault.notes >= notes)


def is_ready(vault: VaultStatus) -> bool:
    return vault.state == "ready" and not (vault.to_read or vault.pending or vault.passages_pending)


def installed(folder: Path) -> dict[str, str]:
    """The environment of a vaultrag as pip leaves it: its modules are compiled. Theirs go into this folder."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


@contextmanager
def serving(home: Path, vault: Path, *, dimension: int = 384) -> Iterator[Served]:
    """A daemon on this home, as soon as it answers."""
    environment = {**installed(home), "VAULTRAG_HOME": str(home)}
    home.mkdir(parents=True, exist_ok=True)
    with (home / "bench.log").open("ab") as log:
        started = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.serve", str(vault), "--dimension", str(dimension)],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            with _connected(Places.find(environment), process, home / "bench.log") as client:
                yield Served(client, process.pid, started, home)
        finally:
            process.terminate()
            process.wait(120)


def _connected(places: Places, process: subprocess.Popen[bytes], log: Path) -> Client:
    while True:
        try:
            return Client.connect(places, timeout_s=600)
        except VaultragError:
            if process.poll() is not None:
                raise SystemExit(f"the daemon ended at once:\n{log.read_text('utf-8', 'replace')[-3000:]}") from None
            time.sleep(POLL_S / 2)


def write_settings(home: Path, settings: dict[str, dict[str, object]]) -> None:
    """Settings for the daemon of this home."""
    home.mkdir(parents=True, exist_ok=True)
    lines = []
    for table, values in settings.items():
        lines += [f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    (home / "config.toml").write_text("\n".join(lines) + "\n", "utf-8")
