"""Answers take turns: so many at once, and the first asked for goes first, however often it waits in between."""

from __future__ import annotations

import threading

from vaultrag.app.admission import Admission
from vaultrag.app.fair_queue import Position

WAIT_S = 10.0


def test_so_many_at_once() -> None:
    """No more are inside than may be, and all get in."""
    turns, lock = Admission(2), threading.Lock()
    inside, most, done = 0, 0, 0
    begun = threading.Barrier(12)

    def work() -> None:
        nonlocal inside, most, done
        ticket = turns.ticket()
        begun.wait(WAIT_S)
        for _ in range(20):
            with turns.turn(ticket):
                with lock:
                    inside += 1
                    most = max(most, inside)
                threading.Event().wait(0.0005)
                with lock:
                    inside -= 1
        with lock:
            done += 1

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert (most, inside, done) == (2, 0, 12)


def test_the_first_goes_first() -> None:
    """Of those that wait, the one that was asked for first is let in first, whoever came to wait first."""
    turns = Admission(1)
    tickets = [turns.ticket() for _ in range(4)]
    order: list[Position] = []
    threads: list[threading.Thread] = []

    def work(ticket: Position) -> None:
        with turns.turn(ticket):
            order.append(ticket)

    with turns.turn(turns.ticket()):
        for ticket in (tickets[2], tickets[0], tickets[3], tickets[1]):
            threads.append(threading.Thread(target=work, args=(ticket,)))
            threads[-1].start()
            while len(turns._waiting) < len(threads):
                threading.Event().wait(0.001)
    for thread in threads:
        thread.join(WAIT_S)
    assert order == tickets


def test_a_fault_gives_the_turn_back() -> None:
    """Who fails inside keeps nobody out."""
    turns = Admission(1)
    for _ in range(3):
        try:
            with turns.turn(turns.ticket()):
                raise ValueError
        except ValueError:
            pass


def test_it_is_told_when_all_are_taken() -> None:
    turns, told = Admission(2), list[bool]()
    with turns.turn(turns.ticket()):
        told.append(turns.all_taken)
        with turns.turn(turns.ticket()):
            told.append(turns.all_taken)
        told.append(turns.all_taken)
    assert told == [False, True, False]
