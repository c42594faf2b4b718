"""The threads that run methods: few, reused, and never in the way of the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from vaultrag.app.fair_queue import Client
from vaultrag.rpc.thread_pool import Workers


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers(3, "test-workers")
    yield workers
    workers.shutdown()


def names() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("test-workers")]


def test_threads_are_started_as_needed_and_reused(workers: Workers) -> None:
    """One job after the other needs one thread; many at once need no more than the limit."""
    for number in range(5):
        assert workers.submit(lambda n: n * 2, number).result(5) == number * 2
    assert len(names()) == 1
    gate = threading.Event()
    futures = [workers.submit(gate.wait, 5) for _ in range(10)]
    assert len(names()) == 3
    gate.set()
    assert all(future.result(5) for future in futures)


def test_what_a_job_raises_is_its_result(workers: Workers) -> None:
    """A job that fails hands its exception to who asked, and its thread goes on."""
    with pytest.raises(ZeroDivisionError):
        workers.submit(lambda: 1 / 0).result(5)
    assert workers.submit(lambda: "fine").result(5) == "fine"


def test_a_cancelled_job_is_not_run(workers: Workers) -> None:
    """A job that is cancelled before its turn is passed over."""
    gate, ran = threading.Event(), threading.Event()
    busy = [workers.submit(gate.wait, 5) for _ in range(3)]
    waiting = workers.submit(ran.set)
    assert waiting.cancel()
    gate.set()
    assert all(future.result(5) for future in busy)
    assert workers.submit(lambda: True).result(5)
    assert not ran.is_set()


def test_the_end_waits_for_nobody(workers: Workers) -> None:
    """Closing drops what waits, takes nothing more, and does not wait for a job that hangs."""
    gate = threading.Event()
    begun = threading.Barrier(4)

    def hang() -> bool:
        begun.wait(5)
        return gate.wait(5)

    busy = [workers.submit(hang) for _ in range(3)]
    begun.wait(5)
    waiting = workers.submit(lambda: None)
    workers.shutdown(wait=False, cancel_futures=True)
    assert waiting.cancelled()
    with pytest.raises(RuntimeError):
        workers.submit(lambda: None)
    assert all(thread.daemon for thread in threading.enumerate() if thread.name in names())
    gate.set()
    assert all(future.result(5) for future in busy)


def test_clients_take_turns() -> None:
    """A client that asks for one thing waits behind one job of each other client, however many those have sent."""
    workers = Workers(1, "test-turns")
    gate, begun = threading.Event(), threading.Event()
    done: list[str] = []

    def hang() -> bool:
        begun.set()
        return gate.wait(5)

    first = workers.submit(hang)
    assert begun.wait(5)
    greedy = [Client() for _ in range(5)]
    futures = [workers.submit_for(client, lambda: done.append("greedy")) for _ in range(20) for client in greedy]
    futures.append(workers.submit_for(Client(), lambda: done.append("honest")))
    gate.set()
    for future in (first, *futures):
        future.result(5)
    workers.shutdown()
    assert done.index("honest") <= len(greedy)
    assert len(done) == len(futures)
