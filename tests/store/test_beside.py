"""Work for two threads is done, whatever becomes of the other thread."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from vaultrag.store.beside import both


def test_the_other_thread_takes_the_second_half() -> None:
    with ThreadPoolExecutor(1) as beside:
        here, there = both(beside, threading.get_ident, threading.get_ident)
    assert here == threading.get_ident() != there


def test_busy_threads_are_not_waited_for() -> None:
    go_on = threading.Event()
    with ThreadPoolExecutor(1) as beside:
        beside.submit(go_on.wait)
        assert both(beside, threading.get_ident, threading.get_ident) == (threading.get_ident(),) * 2
        go_on.set()


def test_closed_threads_are_no_reason_to_fail() -> None:
    beside = ThreadPoolExecutor(1)
    beside.shutdown()
    assert both(beside, lambda: 1, lambda: 2) == (1, 2)


def test_what_fails_in_the_other_thread_fails_here() -> None:
    begun = threading.Event()

    def fail() -> float:
        begun.set()
        return 1 / 0

    with ThreadPoolExecutor(1) as beside, pytest.raises(ZeroDivisionError):
        both(beside, lambda: begun.wait(10), fail)
