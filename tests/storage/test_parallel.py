"""Work for two threads is done, whatever becomes of the other thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from vaultrag.storage.parallel import shared

JOBS = range(100)


class Done:
    """Which thread did which job."""

    def __init__(self) -> None:
        self.by: dict[int, int] = {}

    def __call__(self, jobs: Iterator[int]) -> None:
        for job in jobs:
            assert job not in self.by
            self.by[job] = threading.get_ident()


def test_each_job_is_done_once() -> None:
    done = Done()
    with ThreadPoolExecutor(1) as beside:
        for _ in range(200):
            done.by = {}
            shared(beside, JOBS, done, done)
            assert sorted(done.by) == list(JOBS)


def test_the_other_thread_takes_what_it_can() -> None:
    done, went = Done(), threading.Event()

    def there(jobs: Iterator[int]) -> None:
        done(jobs)
        went.set()

    def here(jobs: Iterator[int]) -> None:
        went.wait(10)
        done(jobs)

    with ThreadPoolExecutor(1) as beside:
        shared(beside, JOBS, here, there)
    assert sorted(done.by) == list(JOBS)
    assert threading.get_ident() not in done.by.values()


def test_a_busy_thread_is_not_waited_for() -> None:
    done, go_on = Done(), threading.Event()
    with ThreadPoolExecutor(1) as beside:
        beside.submit(go_on.wait)
        shared(beside, JOBS, done, done)
        assert sorted(done.by) == list(JOBS)
        go_on.set()


def test_closed_threads_are_no_reason_to_fail() -> None:
    done, beside = Done(), ThreadPoolExecutor(1)
    beside.shutdown()
    shared(beside, JOBS, done, done)
    assert sorted(done.by) == list(JOBS)


def test_what_fails_in_the_other_thread_fails_here() -> None:
    begun = threading.Event()

    def fail(jobs: Iterator[int]) -> None:
        begun.set()
        raise ZeroDivisionError

    def wait(jobs: Iterator[int]) -> None:
        begun.wait(10)

    with ThreadPoolExecutor(1) as beside, pytest.raises(ZeroDivisionError):
        shared(beside, JOBS, wait, fail)
