"""Clocks for tests. The first two fit ``protocols.Clock``."""

from __future__ import annotations

import time


class PushedClock:
    """Real time that a test can push forward; who waits must be woken by whoever pushes."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead

    def time_ns(self) -> int:
        return time.time_ns()


class SwiftClock:
    """A clock that runs ``speed`` times faster; who waits by it waits a short while in truth."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._started = time.monotonic()

    def monotonic(self) -> float:
        return self._started + (time.monotonic() - self._started) * self._speed

    def time_ns(self) -> int:
        return int(self.monotonic() * 1e9)


class ManualClock:
    """Seconds that stand still until a test sets them; called like ``time.monotonic``."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now
