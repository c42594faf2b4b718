"""``vaultrag push``: what a program that acts is about to do, and the notes that this calls for.

It is run by hooks, before or after every single action, so it must cost next to nothing and must never be in the way:
it loads neither the parser of commands nor the client's values, it starts no daemon, and whatever goes wrong (no
daemon, no JSON, no time) it says nothing and ends with 0. Its connection is an agent's.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any

from vaultrag.home import data_folder, discovery_file
from vaultrag.rpc.sockets import peer_user

TIMEOUT_S = 2.0
"""After so long it ends, whatever it waits for."""

MAX_EVENT_BYTES = 4_000_000
_CHUNK = 65_536

_OPTIONS = {"--event-json": "-", "--vault": "", "--format": "text", "--max-tokens": ""}

_TOOL = ("tool", "tool_name")
_PATH = ("path", "file_path", "notebook_path")
_COMMAND = ("command", "cmd")
_SESSION = ("session", "session_id", "conversation_id")


def push(args: Sequence[str]) -> int:
    """Answer one event. Returns 0."""
    try:
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
            signal.setitimer(signal.ITIMER_REAL, TIMEOUT_S)
        options = _options(args)
        event = json.loads(_read(options["--event-json"]))
        if text := shown(event, _ask(deed_of(event), options), options["--format"]):
            sys.stdout.buffer.write(text.encode("utf-8", "replace"))
            sys.stdout.flush()
    except BaseException:  # also Ctrl+C: a hook that fails would stop what it only watches
        os._exit(0)
    return 0


def deed_of(event: dict[str, Any]) -> dict[str, str]:
    """Return the action of an event in any usual form: flat, or with the details under ``tool_input``."""
    inner = event.get("tool_input")
    places = (event, inner) if isinstance(inner, dict) else (event,)
    return {
        name: _first(places, keys)
        for name, keys in (("tool", _TOOL), ("path", _PATH), ("command", _COMMAND), ("session", _SESSION))
    }


def shown(event: dict[str, Any], notes: Sequence[dict[str, Any]], form: str) -> str:
    """Return the notes as they are printed; nothing where there is none."""
    if not notes:
        return ""
    text = "\n\n".join(
        f"{note['path']} (for {note['why']}){_standing(note)}\n\n{note['text'].strip()}" for note in notes
    )
    if form != "hook":
        return text + "\n"
    told = {"hookEventName": _first((event,), ("hook_event_name",)), "additionalContext": text}
    return json.dumps({"hookSpecificOutput": told}, ensure_ascii=False) + "\n"


def _standing(note: dict[str, Any]) -> str:
    standing = note.get("standing")
    return f" [{standing['state']}]" if standing else ""


def _first(places: Sequence[dict[str, Any]], keys: Sequence[str]) -> str:
    for place in places:
        for key in keys:
            value = place.get(key)
            if isinstance(value, list):
                value = " ".join(map(str, value))
            if isinstance(value, str) and value:
                return value
    return ""


def _options(args: Sequence[str]) -> dict[str, str]:
    options = dict(_OPTIONS)
    rest = iter(args)
    for arg in rest:
        name, equals, value = arg.partition("=")
        options[name] = value if equals else next(rest)
    return options


def _read(source: str) -> bytes:
    if source != "-":
        with open(source, "rb") as file:  # noqa: PTH123 - the whole of this is about what is not loaded
            return file.read(MAX_EVENT_BYTES)
    return sys.stdin.buffer.read(MAX_EVENT_BYTES)


def _ask(deed: dict[str, str], options: dict[str, str]) -> list[dict[str, Any]]:
    """Return the notes of the vault that is named, or of all."""
    address = json.loads(discovery_file(data_folder()).read_bytes())
    with _connected(address) as sock:
        lines = sock.makefile("rwb")
        token = ""
        if address.get("token_file"):
            with open(address["token_file"], encoding="utf-8") as file:  # noqa: PTH123
                token = file.read().strip()
        hello = {"client": "vaultrag-push", "reader": "agent", "token": token, "vault": options["--vault"]}
        welcome = _call(lines, "hello", hello)
        wish = {"max_tokens": int(options["--max-tokens"])} if options["--max-tokens"] else {}
        vaults = [welcome["vault"]] if welcome["vault"] else welcome["vaults"]
        return [
            note for vault in vaults for note in _call(lines, "triggers", {**deed, **wish, "vault": vault})["notes"]
        ]


def _connected(address: dict[str, Any]) -> socket.socket:
    for path in address.get("sockets") or ():
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(TIMEOUT_S)
        sock.connect(path)
        user = peer_user(sock)
        if user is None:
            user = os.stat(path).st_uid  # noqa: PTH116
        if user not in (os.getuid(), 0):
            raise OSError("another user's")
        return sock
    return socket.create_connection(("127.0.0.1", address["tcp_port"]), TIMEOUT_S)


def _call(lines: Any, method: str, params: dict[str, Any]) -> Any:
    lines.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
    lines.flush()
    return json.loads(lines.readline())["result"]
