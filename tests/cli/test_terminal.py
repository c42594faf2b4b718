"""What a terminal gets: no file name and no note steers it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.daemons import Home, daemon_home

NAME = "Se\x1b]0;owned\x07al\u202egpj\u200b.md"
STEERING = (b"\x1b]0;", b"\x1b[2J", b"\x07", "\u202e".encode(), "\u200b".encode())


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with daemon_home() as home:
        home.write(NAME, "---\nalways: true\ntags: [seal]\n---\n# Se\x1b[2Jal\n\nThe seal\x1b[2J\u202e leaks.\n")
        home.start().ready()
        yield home


def run(home: Home, *args: str, terminal: bool = False) -> bytes:
    """What the command prints, stdout and stderr, into a pipe or to a terminal."""
    environ = home.environment(TERM="xterm")
    command = [sys.executable, "-m", "vaultrag", *args]
    if not terminal:
        return subprocess.run(command, capture_output=True, check=False, env=environ).stdout
    main, side = pty.openpty()
    process = subprocess.Popen(command, stdout=side, stderr=side, env=environ)
    os.close(side)
    parts: list[bytes] = []
    try:
        while data := os.read(main, 65_536):
            parts.append(data)
    except OSError:  # the other end is closed
        pass
    os.close(main)
    process.wait(timeout=30)
    return b"".join(parts)


COMMANDS = [
    ("search", "seal"), ("search", "seal", "--format", "paths"), ("search", "seal", "--format", "tsv"),
    ("search", "seal", "--format", "vimgrep"), ("search", "seal", "--format", "links"),
    ("search", "seal", "--shape", "compact"), ("explain", "seal"), ("explain", "seal", NAME), ("rules",),
    ("catalogue",), ("why", NAME), ("status", "--full"), ("get", NAME), ("get", "No\x1b]0;owned\x07.md"), ("tags",),
    ("search", "seal", "--json"),
]  # fmt: skip


@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: " ".join(args[:3]).encode("ascii", "replace").decode())
def test_no_command_lets_a_note_steer_a_terminal(home: Home, args: tuple[str, ...]) -> None:
    """Whatever is asked, a terminal gets no escape sequence, turned direction or zero-width sign of a note."""
    printed = run(home, *args, terminal=True)
    assert printed
    assert not [sign for sign in STEERING if sign in printed]


@pytest.mark.parametrize("args", COMMANDS[:11], ids=lambda args: " ".join(args[:3]).encode("ascii", "replace").decode())
def test_nor_through_a_pipe(home: Home, args: tuple[str, ...]) -> None:
    """Through a pager it comes to a terminal, too."""
    printed = run(home, *args)
    assert printed
    assert not [sign for sign in STEERING if sign in printed]


def test_null_gives_names_as_they_are(home: Home) -> None:
    """With -0 every byte of a name is there, and NUL ends it."""
    for flag in ("-0", "--null"):
        assert run(home, "search", "seal", flag) == os.fsencode(home.vault / NAME) + b"\0"
    assert run(home, "search", "seal", "--format", "paths", "-0") == os.fsencode(home.vault / NAME) + b"\0"
    assert b"--null" in run(home, "search", "seal", "--format", "tsv", "-0", terminal=True)


def test_a_note_comes_through_a_pipe_as_it_is(home: Home) -> None:
    """What is read by a program is the note itself."""
    assert b"\x1b[2J" in run(home, "get", NAME)
