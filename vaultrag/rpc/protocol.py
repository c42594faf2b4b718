"""Bytes to messages and back, with no socket in sight. Both ends use it, and so do the tests.

A message is one line of UTF-8 JSON: JSON-RPC 2.0, without batches. ``Lines`` cuts a stream into lines and bounds their
length; ``Conversation`` is the client's half: it numbers calls and matches answers to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from vaultrag import errors
from vaultrag.errors import InvalidRequest, MessageTooLarge, ParseFailed, VaultragError

PROTOCOL_MIN = 1
PROTOCOL_MAX = 1
"""Versions of the methods and their shapes that this side speaks."""

CANCEL = "$/cancelRequest"
PARTIAL = "search/partial"
STATUS_CHANGED = "status/changed"
NOTES_CHANGED = "notes/changed"

CallId = int | str


@dataclass(frozen=True, slots=True)
class Request:
    """A call; ``id`` is None for a notification, which gets no answer."""

    method: str
    params: dict[str, Any]
    id: CallId | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """The one shape of an error on the wire. ``hint`` is a command or a step that helps."""

    code: int
    message: str
    kind: str
    hint: str = ""
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to a call."""

    id: CallId | None
    result: Any = None
    error: Failure | None = None


Message = Request | Reply

_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


def decode(line: bytes) -> Message:
    """Read one line.

    Raises:
        ParseFailed: Not JSON.
        InvalidRequest: JSON, but no JSON-RPC 2.0 message.
    """
    try:
        raw = _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ParseFailed("the line is not JSON in UTF-8, or is nested too deeply") from error
    if isinstance(raw, list):
        raise InvalidRequest("batches are not supported: send one message a line")
    if not isinstance(raw, dict) or raw.get("jsonrpc") != "2.0":
        raise InvalidRequest('a message is an object with "jsonrpc": "2.0"')
    call_id = raw.get("id")
    if call_id is not None and (isinstance(call_id, bool) or not isinstance(call_id, int | str)):
        raise InvalidRequest("an id is a whole number or text")
    if "method" in raw:
        params = raw.get("params", {})
        if not isinstance(raw["method"], str) or not isinstance(params, dict):
            raise InvalidRequest("a method is text, and its params are an object with names")
        return Request(raw["method"], params, call_id)
    if "error" in raw:
        return Reply(call_id, error=_failure_of(raw["error"]))
    if "result" in raw:
        return Reply(call_id, raw["result"])
    raise InvalidRequest("a message has a method, a result or an error")


def encode_request(method: str, params: object, call_id: CallId | None = None) -> bytes:
    """Encode a call, or a notification without ``call_id``."""
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    if call_id is not None:
        message["id"] = call_id
    return _encoder.encode(message) + b"\n"


def encode_result(call_id: CallId | None, result: object) -> bytes:
    return _encoder.encode({"jsonrpc": "2.0", "id": call_id, "result": result}) + b"\n"


def encode_error(call_id: CallId | None, error: VaultragError, reader: Literal["person", "agent"] = "person") -> bytes:
    failure = Failure(error.code, error.message, type(error).__name__, error.hint_for(reader), dict(error.data))
    body = {
        "code": failure.code,
        "message": failure.message,
        "data": {"kind": failure.kind, "hint": failure.hint, **failure.data},
    }
    return _encoder.encode({"jsonrpc": "2.0", "id": call_id, "error": body}) + b"\n"


def error_of(failure: Failure, reader: Literal["person", "agent"] = "person") -> VaultragError:
    """Return the exception that a failure stands for. On the connection of an agent its hint is one for agents."""
    kind = getattr(errors, failure.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, VaultragError)):
        kind = VaultragError
    facts = {key: value for key, value in failure.data.items() if key not in ("self", "message", "hint", "agent_hint")}
    return kind(failure.message, hint=failure.hint, agent_hint=failure.hint if reader == "agent" else "", **facts)


def _failure_of(raw: object) -> Failure:
    if not isinstance(raw, dict) or not isinstance(raw.get("code"), int) or not isinstance(raw.get("message"), str):
        raise InvalidRequest("an error has a code and a message")
    data = raw.get("data")
    rest = {str(key): value for key, value in data.items()} if isinstance(data, dict) else {}
    return Failure(raw["code"], raw["message"], str(rest.pop("kind", "")), str(rest.pop("hint", "")), rest)


class Lines:
    """Cuts a stream of bytes into lines of at most ``max_bytes``."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines that are complete now; blank ones are skipped.

        Raises:
            MessageTooLarge
        """
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._take(end)
            line = b"".join(self._parts).strip()
            self._parts, self._size = [], 0
            if line:
                yield line
        if rest:
            self._take(rest)

    def _take(self, part: bytes) -> None:
        # Counted with the blanks around it, so that it does not matter where the stream was cut.
        self._size += len(part)
        if self._size > self.max_bytes:
            self._parts = []
            raise MessageTooLarge(f"a message has at most {self.max_bytes} bytes", max_bytes=self.max_bytes)
        self._parts.append(part)


class Conversation:
    """A client's half of a connection: numbers calls, reads what comes back. No input, no output."""

    def __init__(self, max_bytes: int = 64_000_000) -> None:
        self._lines = Lines(max_bytes)
        self._next_id = 0

    def call(self, method: str, params: object) -> tuple[int, bytes]:
        """Make a call: return its number, and the bytes to send."""
        self._next_id += 1
        return self._next_id, encode_request(method, params, self._next_id)

    def receive(self, data: bytes) -> list[Message]:
        """Return the messages that these bytes complete.

        Raises:
            InvalidRequest: The other end does not speak the protocol.
        """
        return [decode(line) for line in self._lines.feed(data)]
