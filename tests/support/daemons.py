"""A real daemon in a process of its own, with a home, a vault and settings of its own; and a real stand-in for Ollama.

    with daemon_home({"embedder": {"provider": "off"}}) as home:
        home.write("Pump.md", "The pump leaks.")
        daemon = home.start()
        daemon.until(lambda: daemon.client.search("leaks").hits, "the note is found")

Leaving the block ends every process that was started in it, by its id, and prints what the daemons logged: pytest shows
that with a test that failed. All waiting is polling with a deadline.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from vaultrag.config import Places
from vaultrag.domain import Answer, VaultStatus
from vaultrag.embedding.calibration import ENGLISH
from vaultrag.errors import ConnectionLost, DaemonNotRunning, StoreError
from vaultrag.rpc.client import Client

REPOSITORY = Path(__file__).parents[2]
START_S = 30.0
STOP_S = 15.0
DEBOUNCE_MS = 100

T = TypeVar("T")
Settings = Mapping[str, Mapping[str, Any]]


def until(look: Callable[[], T | None], what: str, timeout_s: float = 10.0, pause_s: float = 0.02) -> T:
    """Look again and again until there is something to see, and return that; fail with ``what`` when time is up."""
    deadline = time.monotonic() + timeout_s
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_s:g} s: {what} (last seen: {seen!r})")
        time.sleep(pause_s)


class RunningDaemon:
    """One daemon process."""

    def __init__(self, home: Home, process: subprocess.Popen[bytes]) -> None:
        self.home = home
        self.process = process
        self._client: Client | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def client(self) -> Client:
        """A connection kept for the test's plain questions."""
        if self._client is None:
            self._client = self.connect()
        return self._client

    def connect(self, timeout_s: float = 15.0) -> Client:
        return Client.connect(self.home.places, timeout_s=timeout_s)

    def status(self, *, full: bool = False) -> VaultStatus:
        """Of the first vault."""
        return self.client.status(full=full).vaults[0]

    @property
    def counters(self) -> Mapping[str, int]:
        return self.status().counters

    def until(self, look: Callable[[], T | None], what: str, timeout_s: float = 10.0) -> T:
        """``until``, which also ends when the process does."""

        def checked() -> T | None:
            code = self.process.poll()
            assert code is None, f"the daemon ended ({code}) while waiting: {what}\n{self.home.log}"
            return look()

        return until(checked, what, timeout_s)

    def ready(self, timeout_s: float = 20.0) -> VaultStatus:
        """Wait until all notes are read and embedded."""

        def look() -> VaultStatus | None:
            vaults = self.client.status().vaults
            done = vaults and all(vault.state == "ready" and not vault.pending for vault in vaults)
            return vaults[0] if done else None

        return self.until(look, "the vaults are ready", timeout_s)

    def found(self, query: str, path: str, timeout_s: float = 3.0) -> Answer:
        """Wait until a query finds the note, not marked stale."""

        def look() -> Answer | None:
            answer = self.client.search(query, mode="words")
            return answer if any(hit.path == path and not hit.stale for hit in answer.hits) else None

        return self.until(look, f"{query!r} finds {path}", timeout_s + DEBOUNCE_MS / 1000)

    def lost(self, query: str, path: str, timeout_s: float = 3.0) -> None:
        """Wait until a query finds the note no longer, and the index has forgotten it."""

        def look() -> bool:
            hits = self.client.search(query, mode="words").hits
            return all(hit.path != path for hit in hits)

        self.until(look, f"{query!r} does not find {path}", timeout_s + DEBOUNCE_MS / 1000)

    def cpu_s(self) -> float:
        """Processor time used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """End it as a crash would."""
        self._hang_up()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(STOP_S)

    def signal(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def stop(self, timeout_s: float = STOP_S) -> int:
        """End it as a service manager would; returns its exit code."""
        self._hang_up()
        if self.process.poll() is None:
            self.process.terminate()
        return self.wait(timeout_s)

    def wait(self, timeout_s: float = STOP_S) -> int:
        """Wait for its end; returns its exit code."""
        self._hang_up()
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            self.process.wait(STOP_S)
            raise AssertionError(f"the daemon did not end within {timeout_s:g} s\n{self.home.log}") from error

    def _hang_up(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


class Home:
    """A folder for one daemon at a time: ``VAULTRAG_HOME``, a vault beside it, settings, the log."""

    def __init__(self, base: Path, settings: Settings | None = None) -> None:
        self.base = base
        self.path = base / "h"
        self.vault = base / "vault"
        self.path.mkdir(parents=True)
        self.vault.mkdir()
        self.places = Places.find({"VAULTRAG_HOME": str(self.path)})
        self._log = base / "log"
        self._running: list[RunningDaemon] = []
        self.configure(settings or {})

    def configure(self, settings: Settings) -> None:
        """Write ``config.toml``; by default no embedder and a short debounce."""
        table: dict[str, dict[str, Any]] = {"embedder": {"provider": "off"}, "watch": {"debounce_ms": DEBOUNCE_MS}}
        for section, values in settings.items():
            table.setdefault(section, {}).update(values)
        lines: list[str] = []
        for section, values in table.items():
            # JSON's text, numbers, lists and truth values are TOML's.
            lines += [f"[{section}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
        self.places.config_file.write_text("\n".join(lines), "utf-8")

    def write(self, path: str, data: str | bytes = "") -> Path:
        """Write a note of the vault."""
        target = self.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)
        return target

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of a process that belongs to this home and knows no other."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("VAULTRAG_", "XDG_"))}
        own = {"VAULTRAG_HOME": str(self.path), "HOME": str(self.base), "PYTHONPATH": str(REPOSITORY)}
        return {**kept, **own, **more}

    @property
    def log(self) -> str:
        """What the daemons of this home said."""
        return self._log.read_text("utf-8", "replace") if self._log.exists() else ""

    def spawn(
        self, *vaults: Path, env: Mapping[str, str] | None = None, module: str = "vaultrag", verbose: bool = True
    ) -> RunningDaemon:
        """Start a daemon, and do not wait for it.

        Args:
            module: What ``python -m`` runs; it takes the arguments of ``vaultrag``.
        """
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", module, "serve", *(["--verbose"] if verbose else []), *map(str, vaults)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.base,
                env=self.environment(**(env or {})),
            )
        return self.adopt(process)

    def adopt(self, process: subprocess.Popen[bytes]) -> RunningDaemon:
        """A daemon that was started in another way; it is ended with the others."""
        daemon = RunningDaemon(self, process)
        self._running.append(daemon)
        return daemon

    def start(
        self, *vaults: Path, env: Mapping[str, str] | None = None, module: str = "vaultrag", verbose: bool = True
    ) -> RunningDaemon:
        """Start a daemon for the vault (or these), and wait until it answers and has taken them up."""
        chosen = vaults or (self.vault,)
        expected = {*self.registered(), *(str(vault.resolve()) for vault in chosen)}
        daemon = self.spawn(*chosen, env=env, module=module, verbose=verbose)
        daemon.until(lambda: self._answers(daemon, expected), "the daemon answers", START_S)
        return daemon

    def registered(self) -> list[str]:
        """The vaults that a daemon without arguments would serve."""
        if not self.places.registry.exists():
            return []
        roots: list[str] = json.loads(self.places.registry.read_text("utf-8"))["vaults"]
        return roots

    def _answers(self, daemon: RunningDaemon, expected: set[str]) -> bool:
        try:
            with daemon.connect(timeout_s=START_S) as client:
                if client.welcome["pid"] != daemon.pid:
                    return False
                return expected <= {vault.root for vault in client.status().vaults}
        except (DaemonNotRunning, ConnectionLost, StoreError):
            return False

    def clean_up(self) -> None:
        """End what still runs. A daemon that does not end when it is told to is a fault."""
        unwilling = [daemon.pid for daemon in self._running if not _ended(daemon)]
        assert not unwilling, f"daemons that did not end: {unwilling}"


def _ended(daemon: RunningDaemon) -> bool:
    try:
        daemon.stop()
    except AssertionError:
        return False
    return True


@contextlib.contextmanager
def daemon_home(settings: Settings | None = None) -> Iterator[Home]:
    """A home in a short temporary folder: a Unix socket's path has no room for a long one."""
    base = Path(tempfile.mkdtemp(prefix="vr-")).resolve()
    home = Home(base, settings)
    try:
        yield home
    finally:
        try:
            home.clean_up()
        finally:
            print(f"--- log of {home.path}\n{home.log}")
            shutil.rmtree(base, ignore_errors=True)


_OF_THE_SCALE = {text for pair in ENGLISH for text in pair}


class OllamaProcess:
    """``tests.support.ollama_server`` as a process, which can be killed and started again on the same port."""

    def __init__(self) -> None:
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Settings of a daemon that uses it."""
        return {"embedder": {"provider": "ollama", "host": self.url, "timeout_s": 10.0}}

    def start(self, *options: str) -> OllamaProcess:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.ollama_server", "--port", str(self.port), *options],
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        self._process = process
        assert process.stdout is not None
        self.port = int(process.stdout.readline())
        return self

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_S)
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def script(self, **fields: Any) -> None:
        """Set what goes wrong; see ``ollama_server.Script``."""
        request = urllib.request.Request(f"{self.url}/_script", json.dumps(fields).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=5):
            pass

    def inputs(self) -> list[str]:
        """Every text sent to it since it started, but for those that the model's scale is measured with."""
        return [text for text in self.everything() if text.partition(": ")[2] not in _OF_THE_SCALE]

    def everything(self) -> list[str]:
        """Every text sent to it since it started."""
        with urllib.request.urlopen(f"{self.url}/_script", timeout=5) as answer:
            inputs: list[str] = json.load(answer)["inputs"]
        return inputs

    def calls(self) -> dict[str, int]:
        """The requests since it started or was reset, by path."""
        with urllib.request.urlopen(f"{self.url}/_script", timeout=5) as answer:
            calls: dict[str, int] = json.load(answer)["calls"]
        return calls

    def documents(self) -> list[str]:
        return [text for text in self.inputs() if text.startswith("search_document: ")]


@contextlib.contextmanager
def ollama_process(*options: str) -> Iterator[OllamaProcess]:
    """A stand-in for Ollama, ended with the block."""
    server = OllamaProcess().start(*options)
    try:
        yield server
    finally:
        server.kill()


class Raw:
    """A bare connection: bytes out, messages in, nothing helped along."""

    def __init__(self, places: Places, *, greet: bool = True, **hello: Any) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(10)
        self.sock.connect(str(places.socket))
        self._rest = b""
        self.reader = hello.get("reader", "person")
        if greet:
            answer = self.call("hello", {"client": "test", **hello}, "hello")
            assert "result" in answer, answer

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def request(self, method: str, params: Any, call_id: Any = None) -> bytes:
        """The line of a call."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if call_id is not None:
            message["id"] = call_id
        return json.dumps(message).encode() + b"\n"

    def line(self) -> bytes:
        """The next message as it comes, without its line end; empty at the end of the connection."""
        while b"\n" not in self._rest:
            data = self.sock.recv(65_536)
            if not data:
                assert not self._rest, "the connection ended within a line"
                return b""
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def receive(self) -> Any:
        """The next message; None at the end of the connection."""
        line = self.line()
        return json.loads(line) if line else None

    def call(self, method: str, params: Any, call_id: Any = 1) -> Any:
        """Send a call and return the next message."""
        self.send(self.request(method, params, call_id))
        return self.receive()

    def close(self) -> None:
        self.sock.close()

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
