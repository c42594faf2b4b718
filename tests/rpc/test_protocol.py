"""Bytes to messages: whatever arrives, and however it is cut."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag import errors
from vaultrag.errors import InvalidRequest, MessageTooLarge, NoteNotFound, ParseFailed, VaultragError
from vaultrag.rpc.protocol import (
    Conversation,
    Failure,
    Lines,
    Reply,
    Request,
    decode,
    encode_error,
    encode_request,
    encode_result,
    error_of,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(["jsonrpc", "method", "params", "id", "error", "result", "code", "message", "data"])
ALMOST = st.dictionaries(KEYS, JSON, max_size=6).map(lambda table: {"jsonrpc": "2.0", **table})
IDS = st.integers(-(2**63), 2**63 - 1) | st.text(max_size=20)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_foreseen_error(line: bytes) -> None:
    """Whatever a line holds, reading it gives a message or one of the errors that are foreseen."""
    with contextlib.suppress(VaultragError):
        assert isinstance(decode(line), Request | Reply)


@given(ALMOST)
def test_nearly_right_messages_are_a_message_or_a_foreseen_error(table: dict[str, object]) -> None:
    """JSON with the right names and wrong values never raises anything unforeseen either, nor does its error."""
    try:
        message = decode(json.dumps(table).encode())
    except InvalidRequest:
        return
    if isinstance(message, Reply) and message.error is not None:
        assert isinstance(error_of(message.error), VaultragError)


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"{",
        b"nonsense",
        b'"\\ud800"',
        b"1" * 10_000,
        b"1e999",
        b"[" * 200_000,
        b'{"jsonrpc":"2.0","method":"status","id":' + b"9" * 5_000 + b"}",
        b'{"a":' * 100_000,
    ],
)
def test_hostile_lines_fail_to_parse(line: bytes) -> None:
    """Broken UTF-8, endless numbers and bottomless nesting are all just lines that are not JSON."""
    with pytest.raises(ParseFailed):
        decode(line)


@pytest.mark.parametrize(
    "message",
    [
        [],
        {},
        {"jsonrpc": "1.0", "method": "status"},
        {"jsonrpc": "2.0"},
        {"jsonrpc": "2.0", "method": 1},
        {"jsonrpc": "2.0", "method": "status", "params": []},
        {"jsonrpc": "2.0", "method": "status", "params": None},
        {"jsonrpc": "2.0", "method": "status", "id": 1.5},
        {"jsonrpc": "2.0", "method": "status", "id": True},
        {"jsonrpc": "2.0", "method": "status", "id": {}},
        {"jsonrpc": "2.0", "id": 1, "error": "broken"},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "y"}},
    ],
)
def test_json_that_is_no_message_is_refused(message: object) -> None:
    """JSON that is not a JSON-RPC 2.0 message is an invalid request."""
    with pytest.raises(InvalidRequest):
        decode(json.dumps(message).encode())


@given(st.text(max_size=20), st.dictionaries(st.text(max_size=8), JSON, max_size=4), IDS)
def test_a_call_comes_back_as_it_was(method: str, params: dict[str, object], call_id: int | str) -> None:
    """A call that is written and read is the same call, with its id."""
    line = encode_request(method, params, call_id)
    assert line.count(b"\n") == 1
    message = decode(line)
    assert isinstance(message, Request)
    assert (message.method, message.id) == (method, call_id)
    assert json.loads(json.dumps(message.params)) == json.loads(json.dumps(params))


@given(IDS, JSON)
def test_a_result_comes_back_as_it_was(call_id: int | str, result: object) -> None:
    """A result that is written and read is the same result, for the same call."""
    message = decode(encode_result(call_id, result))
    assert isinstance(message, Reply)
    assert message.id == call_id
    assert message.error is None


KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, VaultragError)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_comes_back_as_its_own_class(kind: type[VaultragError]) -> None:
    """Each exception of the tree crosses the wire and is raised as itself, with message, hint and facts."""
    message = decode(encode_error(7, kind("it failed", hint="try again", path="A.md", limit=3)))
    assert isinstance(message, Reply)
    assert message.error is not None
    assert message.error.code == kind.code
    error = error_of(message.error)
    assert type(error) is kind
    assert (error.message, error.hint, error.data) == ("it failed", "try again", {"path": "A.md", "limit": 3})


@pytest.mark.parametrize("name", ["self", "message", "hint", "data", "code"])
def test_facts_of_any_name_make_an_error(name: str) -> None:
    """Facts that a newer daemon sends under any name do not break the reading of its error."""
    error = error_of(Failure(-32025, "gone", "NoteNotFound", "", {name: "x"}))
    assert isinstance(error, NoteNotFound)
    assert error.message == "gone"


@pytest.mark.parametrize("kind", ["", "Nonsense", "annotations", "Exception", "__doc__", "ClassVar"])
def test_an_unknown_kind_is_a_plain_error(kind: str) -> None:
    """A kind that this side does not know is the base of all of them."""
    assert type(error_of(Failure(-1, "odd", kind))) is VaultragError


LINE = st.binary(max_size=30).map(lambda data: data.replace(b"\n", b" "))


@given(st.lists(LINE, max_size=8), st.data())
def test_where_the_stream_is_cut_does_not_matter(lines: list[bytes], data: st.DataObject) -> None:
    """The same bytes give the same lines, or the same refusal, in one piece and cut anywhere."""
    stream = b"\n".join(lines) + data.draw(st.sampled_from([b"", b"\n"]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    def read(parts: list[bytes]) -> tuple[list[bytes], bool]:
        cutter, found = Lines(20), []
        try:
            for part in parts:
                for line in cutter.feed(part):
                    found.append(line)
        except MessageTooLarge:
            return found, True
        return found, False

    assert read([stream]) == read(pieces)


def test_the_length_of_a_line_is_bounded_before_it_ends() -> None:
    """A line that grows beyond the limit is refused without waiting for its end, and is not kept."""
    lines = Lines(1000)
    assert list(lines.feed(b"x" * 1000)) == []
    with pytest.raises(MessageTooLarge):
        list(lines.feed(b"x"))


@given(st.lists(st.tuples(IDS, JSON), max_size=5), st.integers(1, 40))
def test_a_conversation_reads_answers_in_any_pieces(answers: list[tuple[int | str, object]], size: int) -> None:
    """A client sees the same answers however the network cuts them."""
    stream = b"".join(encode_result(call_id, result) for call_id, result in answers)
    conversation = Conversation()
    found = [
        message
        for start in range(0, len(stream), size)
        for message in conversation.receive(stream[start : start + size])
    ]
    assert [message.id for message in found] == [call_id for call_id, _ in answers]
