"""The process: one at a time, private, found by its clients, ended cleanly."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemons import Home, OllamaProcess, Raw, RunningDaemon, daemon_home, until
from vaultrag.config import Places
from vaultrag.errors import ConnectionLost, InvalidRequest
from vaultrag.rpc.client import Client, discover
from vaultrag.rpc.discovery import Address, open_socket

STOP_S = 8.0
"""A daemon that was told to stop has ended by then, whatever it was doing."""


@pytest.fixture(autouse=True)
def a_note(home: Home) -> None:
    home.write("Pump.md", "The seal leaks.\n")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_second_daemon_is_refused(home: Home) -> None:
    """A second daemon on the same home ends at once, says which process runs already, and harms nothing."""
    first = home.start()
    second = home.spawn(home.vault)
    assert second.process.wait(20) == 2
    assert f"vaultrag: a daemon is running already (process {first.pid})" in home.log
    assert "Traceback" not in home.log
    assert discover(home.places).pid == first.pid
    with first.connect() as client:
        assert client.status().pid == first.pid


@pytest.mark.slow
def test_of_many_started_together_one_serves(home: Home) -> None:
    """Of several daemons started at the same moment exactly one serves."""
    started = [home.spawn(home.vault) for _ in range(4)]
    until(lambda: len(_ended(started)) == 3 or None, "all but one end", 30)
    ended = _ended(started)
    assert {daemon.process.returncode for daemon in ended} == {2}
    (left,) = (daemon for daemon in started if daemon not in ended)
    left.until(home.places.discovery.exists, "it announces itself")
    with left.connect() as client:
        assert client.welcome["pid"] == left.pid


def _ended(daemons: list[RunningDaemon]) -> list[RunningDaemon]:
    return [daemon for daemon in daemons if daemon.process.poll() is not None]


def test_after_a_crash_the_next_one_serves(home: Home) -> None:
    """What a killed daemon leaves behind (socket, discovery file, lock) does not stop the next one."""
    home.start().kill()
    assert home.places.socket.exists()
    assert home.places.discovery.exists()
    daemon = home.start()
    daemon.found("seal", "Pump.md")
    assert discover(home.places).pid == daemon.pid


def test_what_is_in_the_way_is_left_alone(home: Home) -> None:
    """A file where the socket should be is neither used nor removed; the daemon says so and ends."""
    home.places.socket.parent.mkdir(parents=True)
    home.places.socket.write_text("important")
    daemon = home.spawn(home.vault)
    assert daemon.process.wait(20) == 2
    assert "is in the way and is not a socket" in home.log
    assert home.places.socket.read_text() == "important"


def test_a_socket_that_answers_is_left_alone(home: Home) -> None:
    """A socket on which another program answers is neither taken over nor removed."""
    home.places.socket.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(home.places.socket))
        other.listen()
        daemon = home.spawn(home.vault)
        assert daemon.process.wait(20) == 2
        assert home.places.socket.exists()
    assert "another daemon answers" in home.log


def test_everything_is_the_users_own(home: Home) -> None:
    """Folders are closed to others and files readable by their owner only."""
    daemon = home.start()
    daemon.ready()
    assert mode(home.places.socket.parent) == 0o700
    assert mode(home.places.socket) == 0o600
    assert mode(home.places.data) == 0o700
    files = [path for path in home.places.data.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"daemon.json", "daemon.lock", "vaults.json", "hybrid-fts.db"}
    assert {path.name: oct(mode(path)) for path in files if mode(path) != 0o600} == {}
    assert {mode(path) for path in home.places.data.rglob("*") if path.is_dir()} == {0o700}


def test_a_long_path_falls_to_a_short_one() -> None:
    """Where the path is too long for a socket, the socket stands in a short private folder, and clients find it."""
    with daemon_home() as home:
        deep = home.base / ("long" * 30)
        deep.mkdir()
        home.path = home.path.rename(deep / "h")
        home.places = Places.find({"VAULTRAG_HOME": str(home.path)})
        assert len(os.fsencode(home.places.socket)) <= 103
        home.write("Pump.md", "The seal leaks.\n")
        daemon = home.start()
        folder = home.places.socket.parent
        try:
            assert mode(folder) == 0o700
            assert mode(home.places.socket) == 0o600
            home.places.discovery.unlink()
            with Client.connect(home.places) as client:
                assert client.welcome["pid"] == daemon.pid
            assert daemon.stop() == 0
            assert not home.places.socket.exists()
        finally:
            folder.rmdir()


@pytest.mark.parametrize("way", ["SIGTERM", "SIGINT", "shutdown"])
def test_it_ends_when_it_is_told_to(home: Home, way: str) -> None:
    """A signal or a client ends the daemon within seconds, with exit code 0, and nothing of it is left."""
    daemon = home.start()
    if way == "shutdown":
        daemon.client.shutdown()
    else:
        daemon.signal(getattr(signal, way))
    assert daemon.wait(STOP_S) == 0
    assert not home.places.socket.exists()
    assert not home.places.discovery.exists()
    assert "Traceback" not in home.log
    assert "ended without waiting" not in home.log
    assert not list(home.places.data.glob("*/*-wal")), "a database was not closed"


def test_in_the_background_only_ctrl_c_is_ignored(home: Home) -> None:
    """A daemon that a shell started with `&` goes on at Ctrl+C in that terminal, and ends when it is told to."""
    script = f"trap '' INT; exec {sys.executable} -m vaultrag serve vault"
    daemon = home.adopt(subprocess.Popen(["sh", "-c", script], cwd=home.base, env=home.environment()))
    daemon.until(lambda: home.places.discovery.exists(), "it serves")
    daemon.signal(signal.SIGINT)
    for _ in range(20):
        with daemon.connect() as client:
            assert client.welcome["pid"] == daemon.pid
    assert daemon.stop() == 0


def test_it_ends_while_it_embeds(ollama_home: Home, ollama: OllamaProcess) -> None:
    """A daemon in the middle of its first embedding, and of a query, ends within seconds all the same."""
    for number in range(60):
        ollama_home.write(f"{number}.md", f"note number {number} about pumps\n")
    ollama.script(delay_s=30)
    daemon = ollama_home.start()
    daemon.until(ollama.everything, "it embeds")
    with Raw(ollama_home.places) as raw:
        raw.send(raw.request("search", {"query": "a seal"}, 1))
        daemon.until(lambda: len([text for text in ollama.inputs() if "query" in text]) == 1, "the query is under way")
        daemon.signal()
        assert raw.receive()["error"]["data"]["kind"] == "Cancelled"
    assert daemon.wait(STOP_S) == 0
    assert "Traceback" not in ollama_home.log
    assert "ended without waiting for" in ollama_home.log
    assert not list(ollama_home.places.data.glob("*/*-wal")), "a database was not closed"


@pytest.mark.slow
@pytest.mark.model
def test_it_ends_while_the_builtin_model_works() -> None:
    """A daemon whose own model is at work ends within seconds, with exit code 0."""
    with daemon_home({"embedder": {"provider": "builtin"}}) as home:
        for number in range(30):
            home.write(f"{number}.md", f"note {number}: the pump and its seal. " * 400)
        daemon = home.start()
        daemon.until(lambda: daemon.counters["embed_batches"] or None, "the first batch is done", 30)
        daemon.signal()
        assert daemon.wait(STOP_S) == 0
        assert "Traceback" not in home.log


def test_it_withdraws_only_what_is_its_own(home: Home) -> None:
    """A discovery file of another process, and a socket in the place of its own, are left alone at the end."""
    daemon = home.start()
    daemon.client.status()
    table = json.loads(home.places.discovery.read_text())
    home.places.discovery.write_text(json.dumps({**table, "pid": 1}))
    home.places.socket.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(home.places.socket))
        assert daemon.stop() == 0
        assert home.places.socket.exists()
    assert json.loads(home.places.discovery.read_text())["pid"] == 1


def test_it_tells_the_service_manager(home: Home) -> None:
    """The daemon tells systemd when it is ready and when it stops."""
    path = str(home.base / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(20)
        daemon = home.spawn(home.vault, env={"NOTIFY_SOCKET": path})
        assert manager.recv(100) == b"READY=1"
        daemon.signal()
        assert manager.recv(100) == b"STOPPING=1"
        assert daemon.wait() == 0


def test_a_signal_while_it_starts_ends_it(home: Home) -> None:
    """A signal that comes as soon as the daemon listens ends it cleanly."""
    daemon = home.spawn(home.vault)
    until(home.places.socket.exists, "it listens", 20)
    daemon.signal()
    assert daemon.wait(STOP_S) in (0, -signal.SIGTERM)
    assert "Traceback" not in home.log


def test_a_vault_asked_for_at_once_is_waited_for(home: Home) -> None:
    """A client that comes before the vaults are taken up gets its answer, not "no vault"."""
    daemon = home.spawn(home.vault)
    until(home.places.discovery.exists, "it announces itself", 20)
    with Client.connect(home.places, vault=str(home.vault)) as client:
        assert client.tags() == ()
    daemon.found("seal", "Pump.md")


@pytest.fixture(scope="module")
def tcp() -> Iterator[RunningDaemon]:
    """A daemon on loopback TCP; at its end nothing is left of its token."""
    with daemon_home({"server": {"transport": "tcp"}}) as home:
        home.write("Pump.md", "The seal leaks.\n")
        daemon = home.start()
        token_file = Path(discover(home.places).token_file)
        yield daemon
        assert daemon.stop() == 0
        assert not token_file.exists()


def test_tcp_needs_the_token(tcp: RunningDaemon) -> None:
    """Over loopback TCP the client reads the token from a private file; without it no method answers."""
    tcp.found("seal", "Pump.md")
    address = discover(tcp.home.places)
    assert (address.sockets, address.pid) == ((), tcp.pid)
    assert not tcp.home.places.socket.exists()
    token_file = Path(address.token_file)
    assert mode(token_file) == 0o600
    token = token_file.read_text()
    assert len(token) == 64
    bare = Address(0, "", 1, tcp_port=address.tcp_port)
    for wrong in ("", "wrong", token[:-1], token.upper() + "x", "é"):
        with Client(open_socket(bare, 5)) as client:
            with pytest.raises(InvalidRequest):
                client.call("hello", {"client": "test", "token": wrong})
            with pytest.raises(ConnectionLost):
                client.status()


def test_a_browser_cannot_speak_over_tcp(tcp: RunningDaemon) -> None:
    """What a web page can make a browser send is refused at its first line."""
    with socket.create_connection(("127.0.0.1", discover(tcp.home.places).tcp_port), 5) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nContent-Type: text/plain\r\n\r\n" + b"x" * 100_000)
        sock.shutdown(socket.SHUT_WR)
        data = b""
        while part := sock.recv(65_536):
            data += part
    assert b"not an HTTP server" in data
    assert b"HTTP/1" not in data


def test_settings_that_are_wrong_are_told(home: Home) -> None:
    """A setting that does not exist stops the daemon before it serves, with the name that was meant."""
    home.configure({"watch": {"debounce": 5}})
    daemon = home.spawn(home.vault)
    assert daemon.process.wait(20) == 2
    assert "unknown setting watch.debounce" in home.log
    assert "did you mean debounce_ms?" in home.log


def test_a_damaged_list_of_vaults_is_told(home: Home) -> None:
    """A list of vaults that cannot be read stops the daemon with a sentence and leaves the list as it is."""
    home.places.data.mkdir()
    home.places.registry.write_text("{")
    daemon = home.spawn(home.vault)
    assert daemon.process.wait(20) == 2
    assert "the list of vaults" in home.log
    assert home.places.registry.read_text() == "{"
