"""Many hints into few looks."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from vaultrag.domain import NotePath
from vaultrag.watcher.debounce import Debouncer
from vaultrag.watcher.paths import covers


def filled(*paths: str, at: float = 0.0) -> Debouncer:
    pending = Debouncer(1500, 10_000)
    for path in paths:
        pending.add(NotePath(path), at)
    return pending


def test_quiet() -> None:
    """A path is due when it has been quiet for the debounce time, once."""
    pending = filled("a.md")
    assert pending.due(1.0) == ([], 1.5)
    pending.add(NotePath("a.md"), 1.0)
    assert pending.due(2.0) == ([], 2.5)
    assert pending.due(2.5) == (["a.md"], None)
    assert pending.due(99.0) == ([], None)


def test_storm() -> None:
    """A path that never is quiet is due after the storm time."""
    pending = Debouncer(1500, 10_000)
    now = 0.0
    while now < 10.0:
        pending.add(NotePath("a.md"), now)
        assert pending.due(now)[0] == []
        now += 0.5
    assert pending.due(10.0)[0] == ["a.md"]


def test_folder_takes_over() -> None:
    """A folder absorbs what is pending in it, before and after, and its neighbours are left alone."""
    pending = filled("a/b/c.md", "a b.md", "a/d.md", "a")
    pending.add(NotePath("a/e.md"), 0.0)
    assert pending.due(1.5) == (["a", "a b.md"], None)


def test_folder_inherits() -> None:
    """A folder that takes over is due when the storm time of its oldest part has passed."""
    pending = filled("a/b.md")
    for now in range(1, 11):
        pending.add(NotePath("a"), float(now))
    assert pending.due(10.0) == (["a"], None)


def test_many_in_one_folder() -> None:
    """Over five hundred notes of one folder become the folder."""
    pending = filled(*(f"a/{n}.md" for n in range(501)), "b.md")
    assert pending.due(1.5)[0] == ["a", "b.md"]


def test_burst_is_bounded() -> None:
    """A hundred thousand paths stay a few thousand entries, quickly, and all of them are covered."""
    pending = Debouncer(1500, 10_000)
    paths = [NotePath(f"f{n % 20_000}/g{n % 7}/n{n}.md") for n in range(100_000)]
    began = time.perf_counter()
    biggest = 0
    for path in paths:
        pending.add(path, 0.0)
        biggest = max(biggest, len(pending))
    assert biggest <= 4001
    assert time.perf_counter() - began < 5
    ready, _ = pending.due(10.0)
    assert all(any(covers(folder, path) for folder in ready) for path in paths[:200])


NAMES = st.sampled_from(["a", "b", "c", "a b", "é"])
PATHS = st.lists(NAMES, max_size=4).map("/".join).map(NotePath)


@given(
    st.lists(st.tuples(PATHS, st.floats(0, 3), st.booleans()), max_size=60),
    st.integers(1, 4),
    st.integers(2, 12),
)
def test_everything_is_covered_in_time(
    steps: list[tuple[NotePath, float, bool]], folder_limit: int, total_limit: int
) -> None:
    """Every path added is covered by something that becomes due no later than the storm time, and ``due`` says when."""
    pending = Debouncer(1500, 4000, folder_limit=folder_limit, total_limit=total_limit)
    open_since: list[tuple[NotePath, float]] = []
    now = 0.0
    for path, pause, look in [*steps, (NotePath("end"), 0.0, True)]:
        now += pause
        pending.add(path, now)
        open_since.append((path, now))
        assert len(pending) <= total_limit + 1
        if look:
            ready, next_due = pending.due(now)
            open_since = [(p, t) for p, t in open_since if not any(covers(r, p) for r in ready)]
            assert all(t + 4.0 > now for _, t in open_since)
            assert next_due is None or next_due > now
            oldest = min((t for _, t in open_since), default=None)
            if oldest is not None:
                assert next_due is not None
                assert next_due <= oldest + 4.0
    ready, next_due = pending.due(now + 4.0)
    assert all(any(covers(r, p) for r in ready) for p, _ in open_since)
    assert next_due is None


@given(st.lists(PATHS, max_size=40))
def test_nothing_twice(paths: list[NotePath]) -> None:
    """Of what is handed out together, nothing covers another."""
    ready, _ = filled(*paths).due(1.5)
    assert not any(a != b and covers(a, b) for a in ready for b in ready)
