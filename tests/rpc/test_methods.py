"""The method table, asked through the real socket: parameters, positions, the one shape of an error."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.daemons import Home, Raw, RunningDaemon
from vaultrag import errors
from vaultrag.rpc.methods import METHODS

REQUIRED: dict[str, dict[str, Any]] = {
    "hello": {"client": "test"},
    "search": {"query": "seal"},
    "related": {"path": "Pump.md"},
    "explain": {"query": "seal"},
    "get": {"path": "Pump.md"},
    "in_note": {"path": "Pump.md", "query": "seal"},
    "why": {"path": "Pump.md"},
    "add_vault": {"path": "/nowhere/at/all"},
    "remove_vault": {"vault": "nonsense"},
}
WRONG: dict[str, dict[str, Any]] = {
    "hello": {"client": 1},
    "search": {"query": "seal", "limit": "ten"},
    "related": {"path": ["Pump.md"]},
    "explain": {"query": None},
    "get": {"path": "Pump.md", "first_line": 1.5},
    "in_note": {"path": "Pump.md", "query": 7},
    "why": {"path": 1},
    "subscribe": {"status": "yes"},
    "rules": {"max_tokens": "all"},
    "recent": {"limit": "ten"},
    "timeline": {"query": 3},
    "catalogue": {"folder": 1},
    "triggers": {"path": ["a"]},
    "tags": {"vault": None},
    "status": {"full": "yes"},
    "reindex": {"vault": 3},
    "add_vault": {"path": None},
    "remove_vault": {"vault": {}},
    "shutdown": {"now": True},
}


def failure(message: Any, kind: type[errors.VaultragError]) -> dict[str, Any]:
    """Check the one shape of an error; returns it."""
    assert set(message) == {"jsonrpc", "id", "error"}, message
    error: dict[str, Any] = message["error"]
    assert set(error) == {"code", "message", "data"}
    assert error["code"] == kind.code
    assert error["data"]["kind"] == kind.__name__
    assert isinstance(error["data"]["hint"], str)
    text = f"{error['message']} {error['data']}"
    assert "Traceback" not in text
    assert "\n" not in error["message"]
    assert "gasket" not in text, "note text in an error"
    assert len(error["message"]) < 500
    return error


def cut(text: str, span: dict[str, int], positions: str) -> str:
    """What a span cuts out of a text, for a client that counts so."""
    start, end = span["start"], span["end"]
    if positions == "utf-16":
        return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")
    if positions == "byte":
        return text.encode()[start:end].decode()
    return text[start:end]


@pytest.mark.parametrize("name", METHODS)
def test_an_unknown_parameter_is_refused(raw: Raw, name: str) -> None:
    """Every method refuses a parameter it does not know, by name, rather than ignoring it."""
    error = failure(raw.call(name, {**REQUIRED.get(name, {}), "nonsense": 1}), errors.InvalidParams)
    assert "'nonsense'" in error["message"]
    assert error["data"]["hint"]


@pytest.mark.parametrize("name", METHODS)
def test_a_parameter_of_the_wrong_type_is_refused(raw: Raw, name: str) -> None:
    """Every method refuses a value of the wrong type with the one shape of an error."""
    failure(raw.call(name, WRONG[name]), errors.InvalidParams)


@pytest.mark.parametrize("name", [name for name in METHODS if name in REQUIRED])
def test_a_missing_parameter_is_refused(raw: Raw, name: str) -> None:
    """A parameter that must be there is named when it is not."""
    error = failure(raw.call(name, {}), errors.InvalidParams)
    assert next(iter(REQUIRED[name])) in error["message"]


@pytest.mark.parametrize("name", [name for name in METHODS if name != "hello"])
def test_hello_comes_first(home: Home, name: str) -> None:
    """No method but hello answers before hello, and the connection is good after it."""
    with Raw(home.places, greet=False) as raw:
        failure(raw.call(name, REQUIRED.get(name, {})), errors.InvalidRequest)
        assert raw.call("hello", {"client": "test"})["result"]["name"] == "vaultrag"


def test_hello_tells_what_there_is(daemon: RunningDaemon, home: Home) -> None:
    """The answer to hello names the version, the process, the only vault, and every method."""
    with Raw(home.places, greet=False) as raw:
        welcome = raw.call("hello", {"client": "test"})["result"]
    assert welcome["pid"] == daemon.pid
    assert welcome["protocol"] == 1
    assert welcome["methods"] == list(METHODS)
    assert [welcome["vault"]] == welcome["vaults"]


def test_what_follows_hello_need_not_wait_for_its_answer(home: Home) -> None:
    """A client may send hello and its first calls in one go."""
    with Raw(home.places, greet=False) as raw:
        lines = [raw.request("hello", {"client": "test"}, 0)]
        lines += [raw.request("status", {}, number) for number in range(1, 9)]
        raw.send(b"".join(lines))
        answers = [raw.receive() for _ in lines]
    assert answers[0]["id"] == 0
    assert all("result" in answer for answer in answers)


@pytest.mark.parametrize(("low", "high"), [(2, 9), (-3, 0), (7, 7)])
def test_versions_that_do_not_meet_are_refused(home: Home, low: int, high: int) -> None:
    """A client of another protocol learns which versions the daemon speaks, and may not go on."""
    with Raw(home.places, greet=False) as raw:
        answer = raw.call("hello", {"client": "test", "protocol_min": low, "protocol_max": high})
        data = failure(answer, errors.ProtocolMismatch)["data"]
        assert (data["protocol_min"], data["protocol_max"]) == (1, 1)
        assert data["hint"]
        failure(raw.call("status", {}), errors.InvalidRequest)


def test_a_hello_for_an_unknown_vault_leaves_no_trace(home: Home) -> None:
    """A vault that is not served is refused in hello, and a second hello starts from nothing."""
    with Raw(home.places, greet=False) as raw:
        failure(raw.call("hello", {"client": "test", "vault": "nonsense"}), errors.VaultUnknown)
        raw.call("hello", {"client": "test"})
        assert "result" in raw.call("tags", {})


def test_an_unknown_method_is_told_the_nearest(raw: Raw) -> None:
    """A slip in a method's name is answered with the name that was meant."""
    error = failure(raw.call("serach", {}), errors.MethodNotFound)
    assert error["data"]["hint"] == "did you mean search?"
    failure(raw.call("x" * 50_000, {}), errors.MethodNotFound)


@pytest.mark.parametrize("positions", ["codepoint", "utf-16", "byte"])
def test_spans_count_as_the_client_counts(home: Home, positions: str) -> None:
    """With emoji before the match, spans cut out the same words whatever the client counts in, and hello says what."""
    with Raw(home.places, greet=False) as raw:
        assert raw.call("hello", {"client": "test", "positions": positions})["result"]["positions"] == positions
        hit = raw.call("search", {"query": "zebra"})["result"]["hits"][0]
    assert hit["path"] == "Emoji.md"
    assert [cut(hit["preview"], span, positions) for span in hit["spans"]] == ["zebra", "zebra"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("Nothing.md", errors.NoteNotFound),
        ("", errors.NoteNotFound),
        ("#Repair", errors.NoteNotFound),
        ("x" * 20_000, errors.NoteNotFound),
        ("../vault/Pump.md", errors.PathRefused),
        ("a/../Pump.md", errors.PathRefused),
        ("/etc/passwd", errors.PathRefused),
        ("~/Pump.md", errors.PathRefused),
        ("..\\Pump.md", errors.PathRefused),
        ("Pump.md\0", errors.PathRefused),
    ],
)
@pytest.mark.parametrize("method", ["get", "related", "in_note"])
def test_paths_stay_inside_the_vault(raw: Raw, method: str, path: str, kind: type[errors.VaultragError]) -> None:
    """A path that leaves the vault is refused, and one that is not a note is not found."""
    failure(raw.call(method, {**REQUIRED[method], "path": path}), kind)


@pytest.mark.parametrize(
    ("params", "lines"),
    [
        ({}, (1, 10)),
        ({"first_line": 4, "last_line": 6}, (4, 6)),
        ({"first_line": 8}, (8, 10)),
        ({"last_line": 2}, (1, 2)),
        ({"last_line": 99}, (1, 10)),
        ({"heading": "Repair"}, (8, 10)),
        ({"heading": "repair", "last_line": 8}, (8, 8)),
    ],
)
def test_a_note_is_handed_out_as_asked(raw: Raw, params: dict[str, Any], lines: tuple[int, int]) -> None:
    """A whole note, some lines, or a section: the text is that of the lines named."""
    view = raw.call("get", {"path": "Pump.md", **params})["result"]
    assert (view["start_line"], view["end_line"], view["total_lines"]) == (*lines, 10)
    assert view["text"].count("\n") == lines[1] - lines[0]


@pytest.mark.parametrize(
    "params",
    [
        {"first_line": 11},
        {"first_line": 5, "last_line": 4},
        {"first_line": -1},
        {"last_line": -1},
        {"heading": "Nothing"},
    ],
)
def test_lines_that_are_not_there_are_refused(raw: Raw, params: dict[str, Any]) -> None:
    """Lines outside the note, backwards or below zero, and unknown headings are wrong parameters."""
    failure(raw.call("get", {"path": "Pump.md", **params}), errors.InvalidParams)


@pytest.mark.parametrize("path", ["vault", "./vault", "", "."])
def test_a_relative_folder_is_no_vault(raw: Raw, path: str) -> None:
    """A vault is added by its absolute folder: the daemon's own working folder means nothing to a client."""
    failure(raw.call("add_vault", {"path": path}), errors.InvalidParams)


def test_a_vault_is_removed_by_name_only(raw: Raw) -> None:
    """An empty name never removes the only vault."""
    failure(raw.call("remove_vault", {"vault": ""}), errors.InvalidParams)
    assert len(raw.call("status", {})["result"]["vaults"]) == 1


def test_a_folder_whose_name_is_not_text_is_refused(raw: Raw) -> None:
    """A NUL in a folder's name is refused like any other folder that is not there."""
    message = raw.call("add_vault", {"path": "/tmp/a\0b"})
    assert message["error"]["data"]["kind"] in ("VaultMissing", "VaultUnsuitable")


@pytest.mark.parametrize(
    "query", ["", "   ", "x" * 10_000, "word " * 2_000, "!?.,;:()[]{}*^~", '"', "a\0b", "\0", "-", "tag:", "AND OR NOT"]
)
def test_no_query_is_an_error(raw: Raw, query: str) -> None:
    """What a person types is data: nothing, too much, signs or a NUL are all answered."""
    answer = raw.call("search", {"query": query, "typing": True})["result"]
    assert answer["query"] == query


@pytest.mark.parametrize("limit", [-5, 0, 10**30])
def test_limits_are_kept_in_bounds(raw: Raw, limit: int) -> None:
    """A limit beyond all bounds is brought within them."""
    assert raw.call("search", {"query": "seal", "limit": limit, "preview_chars": -1})["result"]["hits"]
