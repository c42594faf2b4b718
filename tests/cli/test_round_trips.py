"""How often a command asks the daemon, counted on the socket between them."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.commands import Command, make_vault


class Counter:
    """A socket that passes everything on to the daemon, and keeps the names of the methods called."""

    def __init__(self, path: Path, daemon: Path) -> None:
        self.methods: list[str] = []
        self._daemon = daemon
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(path))
        self._server.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            daemon = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            daemon.connect(str(self._daemon))
            threading.Thread(target=self._pass_on, args=(client, daemon, True), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(daemon, client, False), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, calls: bool) -> None:
        for line in source.makefile("rb"):
            if calls:
                self.methods.append(json.loads(line)["method"])
            target.sendall(line)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def counting(command: Command, folder: Path) -> Iterator[tuple[Command, Counter]]:
    counter = Counter(folder / "counted.sock", command.places.socket)
    try:
        yield replace(command, extra={"VAULTRAG_SOCKET": str(folder / "counted.sock")}), counter
    finally:
        counter.close()


@pytest.mark.parametrize("options", [(), ("--format", "paths"), ("--json",), ("--mode", "words")], ids=str)
def test_a_search_is_one_call(served: Command, tmp_path: Path, options: tuple[str, ...]) -> None:
    """Where one vault is served and nothing is being indexed, a search says hello and asks once."""
    with counting(served, tmp_path) as (command, counter):
        out = command.run("search", "seal", *options, code=0).stdout
    assert "Seal replacement" in out
    assert counter.methods == ["hello", "search"]


def test_a_search_in_one_of_several_vaults_names_it(command: Command, tmp_path: Path) -> None:
    """With several vaults the one that is named answers, however many calls that takes."""
    for name in ("One", "Two"):
        command.run("up", str(make_vault(tmp_path / name, {f"{name}.md": f"A note of {name} about seals.\n"})), code=0)
    with counting(command, tmp_path) as (counted, counter):
        assert counted.json("search", "seals", "--vault", "Two")["hits"][0]["path"] == "Two.md"
    assert counter.methods[0] == "hello"
    assert counter.methods[-1] == "search"
