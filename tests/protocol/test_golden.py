"""The daemon still says what it says in the golden conversations, and every message fits the published schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.docs import PROTOCOL
from tests.protocol.conversations import FOLDER, Conversation, replay
from tests.support.daemons import daemon_home
from vaultrag.rpc.methods import METHODS, NOTIFICATIONS

GOLDEN = sorted(FOLDER.glob("*.jsonl"))
SCHEMA = json.loads((PROTOCOL / "schema.json").read_text("utf-8"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_daemon_says_what_is_written(path: Path) -> None:
    """Held anew with a daemon, the conversation goes as it is written down; `python -m tests.protocol` records it."""
    conversation = Conversation.read(path)
    with daemon_home() as home:
        for name, text in conversation.notes.items():
            home.write(name, text)
        vault = home.start().ready().id
        for step, said in replay(conversation, home, vault):
            assert said == step


def check(kind: Any, value: Any) -> None:
    """Raise unless the value fits the type of the published schema."""
    jsonschema.validate(value, {**kind, "$defs": SCHEMA["$defs"]})


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_message_fits_the_schema(path: Path) -> None:
    """What a client sends that is answered with a result, and all that the daemon sends, is of the published types."""
    called: dict[object, dict[str, Any]] = {}
    for step in Conversation.read(path).steps:
        message = step.get("client") or step.get("daemon") or {}
        if "client" in step and "id" in message:
            called[message["id"]] = message
        elif name := message.get("method"):
            check(SCHEMA["notifications"][name]["params"], message["params"])
        elif "result" in message:
            call = called[message["id"]]
            method = SCHEMA["methods"][call["method"]]
            check(method["params"], call.get("params", {}))
            check(method["result"], message["result"])
        elif "error" in message:
            assert SCHEMA["errors"][message["error"]["data"]["kind"]] == message["error"]["code"]


def test_the_conversations_speak_of_everything() -> None:
    """Every method and every notification stands in some conversation; but those that change what is served."""
    said = {
        message["method"]
        for path in GOLDEN
        for step in Conversation.read(path).steps
        if "method" in (message := step.get("client") or step.get("daemon") or {})
    }
    assert {*METHODS, *NOTIFICATIONS} - said == {"add_vault", "remove_vault", "shutdown"}
