"""Calls under way: many at once, cancelled, answered in parts."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import pytest

from tests.rpc.conftest import SLOW_S
from tests.support.daemons import OllamaProcess, Raw
from vaultrag import errors


def cancel(raw: Raw, call_id: Any) -> bytes:
    """The line that takes a call back."""
    return raw.request("$/cancelRequest", {"id": call_id})


def search(raw: Raw, query: str, call_id: Any, **more: Any) -> bytes:
    """The line of a search that has to ask the model."""
    return raw.request("search", {"query": query, **more}, call_id)


def kind(message: Any) -> str:
    """What became of a call: ``ok``, or the kind of its error."""
    return str(message["error"]["data"]["kind"]) if "error" in message else "ok"


def test_a_cancelled_call_answers_at_once(slow: Raw) -> None:
    """A call that is taken back answers with Cancelled, long before its model would have."""
    slow.send(search(slow, "taken back", 1))
    started = time.monotonic()
    slow.send(cancel(slow, 1))
    answer = slow.receive()
    assert (answer["id"], kind(answer)) == (1, "Cancelled")
    assert answer["error"]["code"] == errors.Cancelled.code
    assert time.monotonic() - started < SLOW_S / 2


def test_a_call_cancelled_before_its_first_step_answers(slow: Raw) -> None:
    """A call whose cancellation comes in the same packet still has its answer, and only one."""
    slow.send(search(slow, "never begun", 1) + cancel(slow, 1) + slow.request("status", {}, 2))
    answers = {answer["id"]: answer for answer in (slow.receive(), slow.receive())}
    assert kind(answers[1]) == "Cancelled"
    assert kind(answers[2]) == "ok"


def test_calls_queued_behind_others_can_be_cancelled(slow: Raw) -> None:
    """Of thirty calls that wait for a slow model, each one that is cancelled answers at once."""
    slow.send(b"".join(search(slow, f"queued {number}", number) for number in range(30)))
    slow.send(b"".join(cancel(slow, number) for number in range(30)))
    started = time.monotonic()
    answers = [slow.receive() for _ in range(30)]
    assert {answer["id"] for answer in answers} == set(range(30))
    assert {kind(answer) for answer in answers} == {"Cancelled"}
    assert time.monotonic() - started < SLOW_S


@pytest.mark.parametrize("unknown", [99, "x", None, [], {}, 1.5, True])
def test_cancelling_what_is_not_there_is_ignored(raw: Raw, unknown: Any) -> None:
    """A cancellation of no call, or of something that cannot be one, does nothing at all."""
    raw.send(cancel(raw, unknown))
    assert raw.call("status", {}, 5)["id"] == 5


def test_a_cancelled_call_leaves_its_id_free(slow: Raw) -> None:
    """After Cancelled the id may be used again, and no late part of the old call comes under it."""
    slow.send(search(slow, "old seal", 1, partial=True) + cancel(slow, 1))
    messages = [slow.receive()]
    while "method" in messages[-1]:
        messages.append(slow.receive())
    assert kind(messages[-1]) == "Cancelled"
    answer = slow.call("search", {"query": "new valve", "mode": "words"}, 1)
    assert answer["result"]["query"] == "new valve"


def test_words_come_before_meaning(slow: Raw) -> None:
    """Where it is asked for, what words found comes at once, under the call's id, and the whole answer after it."""
    started = time.monotonic()
    slow.send(search(slow, "seal leaks", 7, partial=True))
    early = slow.receive()
    assert time.monotonic() - started < SLOW_S / 2
    assert (early["method"], early["params"]["id"]) == ("search/partial", 7)
    assert early["params"]["answer"]["state"] == "partial"
    assert early["params"]["answer"]["hits"][0]["path"] == "Pump.md"
    final = slow.receive()
    assert final["id"] == 7
    assert final["result"]["state"] != "partial"


def test_parts_never_follow_the_whole(slow: Raw) -> None:
    """With many searches at once, each one's part comes before its answer, once."""
    numbers = range(12)
    slow.send(b"".join(search(slow, f"seal {number % 3} valve", number, partial=True) for number in numbers))
    finished: set[int] = set()
    parts: Counter[int] = Counter()
    while len(finished) < len(numbers):
        message = slow.receive()
        if "method" in message:
            assert message["params"]["id"] not in finished
            parts[message["params"]["id"]] += 1
        else:
            finished.add(message["id"])
    assert set(parts.values()) == {1}


def test_a_quick_search_has_no_part_unasked(raw: Raw) -> None:
    """Nobody is sent a part who did not ask for it."""
    answer = raw.call("search", {"query": "seal"}, 3)
    assert answer["id"] == 3


def test_more_calls_than_the_daemon_takes_at_once_are_all_answered(raw: Raw) -> None:
    """Three hundred calls sent without waiting have three hundred answers, one each."""
    raw.send(b"".join(raw.request("search", {"query": f"seal {number}"}, number) for number in range(300)))
    answers = [raw.receive() for _ in range(300)]
    assert sorted(answer["id"] for answer in answers) == list(range(300))
    assert all(answer["result"]["query"] == f"seal {answer['id']}" for answer in answers)


def test_the_daemon_answers_while_all_wait_for_the_model(slow: Raw) -> None:
    """With every search waiting for a slow model, the state of things is told at once."""
    slow.send(b"".join(search(slow, f"waiting {number}", number) for number in range(24)))
    started = time.monotonic()
    slow.send(slow.request("status", {}, "state"))
    answer = slow.receive()
    assert answer["id"] == "state"
    assert time.monotonic() - started < SLOW_S / 2
    slow.send(b"".join(cancel(slow, number) for number in range(24)))
    assert {slow.receive()["id"] for _ in range(24)} == set(range(24))


def test_an_id_in_use_is_refused_and_its_call_goes_on(slow: Raw) -> None:
    """A second call under an id that is under way is refused; the first is answered in its time."""
    slow.send(search(slow, "first of two", "a") + search(slow, "second of two", "a"))
    refused, answered = slow.receive(), slow.receive()
    assert (refused["id"], kind(refused)) == ("a", "InvalidRequest")
    assert answered["result"]["query"] == "first of two"


@pytest.mark.parametrize("call_id", [0, -1, 2**53, 2**64 - 1, "", "é😀", "x" * 1000])
def test_ids_come_back_as_they_were(raw: Raw, call_id: Any) -> None:
    """Whole numbers and texts of any kind are ids, zero and the empty text too."""
    assert raw.call("tags", {}, call_id)["id"] == call_id


def test_a_notification_has_no_answer(raw: Raw) -> None:
    """A call without an id is run and not answered, whether it works or fails."""
    raw.send(raw.request("status", {}) + raw.request("nonsense", {}) + raw.request("search", {"query": "seal"}))
    assert raw.call("tags", {}, "next")["id"] == "next"


def test_a_model_that_fails_is_no_error_of_the_search(slow: Raw, slow_model: OllamaProcess) -> None:
    """A search whose model fails answers with what words found, and says why that is all."""
    slow_model.script(fail_always=500)
    try:
        answer = slow.call("search", {"query": "leaks gasket", "deadline_ms": 0})["result"]
    finally:
        slow_model.script(fail_always=0)
    assert answer["state"] == "keyword_only"
    assert answer["reasons"][0]["why"]
    assert answer["hits"][0]["path"] == "Pump.md"
