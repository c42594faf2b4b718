"""What is kept of an index serves its own generation only, and takes no more room than it was given."""

from __future__ import annotations

from vaultrag.storage.generation_cache import GenerationCache


def test_read_once_a_generation() -> None:
    """A value is read once, and again after a write."""
    kept: GenerationCache[str, str] = GenerationCache(10)
    reads: list[str] = []

    def read(value: str) -> str:
        reads.append(value)
        return value

    assert [kept.get(2, "a", lambda: read("old")) for _ in range(3)] == ["old"] * 3
    assert [kept.get(4, "a", lambda: read("new")) for _ in range(3)] == ["new"] * 3
    assert reads == ["old", "new"]


def test_an_old_snapshot_takes_nothing_from_a_new_one() -> None:
    """Who reads an earlier generation, or one that is not known, reads for himself and leaves nothing behind."""
    kept: GenerationCache[str, str] = GenerationCache(10)
    kept.get(4, "a", lambda: "new")
    assert kept.get(2, "a", lambda: "old") == "old"
    assert kept.get(None, "a", lambda: "between") == "between"
    assert kept.get(4, "a", lambda: "read again") == "new"


def test_room() -> None:
    """The longest unused go first; what is too large for the room is never kept."""
    kept: GenerationCache[str, str] = GenerationCache(8, len)
    for key in ("aa", "bb", "cc", "dd"):
        kept.get(0, key, lambda key=key: key)  # type: ignore[misc]
    kept.get(0, "aa", lambda: "read again")
    kept.get(0, "ee", lambda: "ee")
    assert kept.get(0, "aa", lambda: "read again") == "aa"
    assert kept.get(0, "bb", lambda: "read again") == "read again"
    assert kept.get(0, "large", lambda: "large") == "large"
    assert kept.get(0, "large", lambda: "read again") == "read again"


def test_what_can_be_renewed_outlives_its_generation() -> None:
    """It is made of what was kept; where it cannot be, it is read again."""

    def renewing(key: str, value: str, earlier: int, later: int) -> tuple[str] | None:
        return (f"{value} {earlier}-{later}",) if key == "a" else None

    kept: GenerationCache[str, str] = GenerationCache(100, len, renewing)
    assert kept.get(2, "a", lambda: "old") == "old"
    assert kept.get(2, "b", lambda: "old") == "old"
    assert kept.find(6, "a") == ("old 2-6",)
    assert kept.get(6, "a", lambda: "read again") == "old 2-6"
    assert kept.find(6, "b") is None
    assert kept.get(6, "b", lambda: "read again") == "read again"
    assert kept.get(4, "a", lambda: "of its own moment") == "of its own moment"
    assert kept.get(6, "a", lambda: "read again") == "old 2-6"
