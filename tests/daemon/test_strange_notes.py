"""One strange note never stops the rest, and nothing is left out in silence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daemons import Home, RunningDaemon, daemon_home
from vaultrag.errors import NoteNotFound

GOOD = {"Pump.md": "The seal leaks.\n", "Folder/Valve.md": "The valve sticks.\n"}
LEFT_OUT = {
    "Binary.md": (b"\x89PNG\r\n\x1a\n" + b"\0\1\2\3" * 500, "binary"),
    "Huge.md": (b"word of a huge note\n" * 600_000, "limit"),
}
ODD = {
    "Latin.md": b"caf\xe9 au lait with an antelope\n",
    "Yaml.md": b"---\ntitle: [broken\n  key: : :\n---\nThe body has a buffalo.\n",
}
FINE = {
    "Bom.md": b"\xef\xbb\xbf---\ntags: [x]\n---\nA caribou.\n",
    "Crlf.md": b"---\r\ntags: [x]\r\n---\r\nA dolphin.\r\n",
    "Wide.md": "An eland in UTF-16.\n".encode("utf-16"),
    "Empty.md": b"",
    "----=-.md": b"A falcon.\n",
    "\U0001f9ad.md": b"A seal of the sea.\n",
    "{°.md": b"A gibbon.\n",
    "a" * 240 + ".md": b"A hamster.\n",
}


@pytest.fixture(scope="module")
def daemon() -> Iterator[RunningDaemon]:
    with daemon_home() as home:
        _fill(home)
        daemon = home.start()
        daemon.ready()
        yield daemon


def _fill(home: Home) -> None:
    for path, text in GOOD.items():
        home.write(path, text)
    for path, (data, _) in LEFT_OUT.items():
        home.write(path, data)
    for path, data in {**ODD, **FINE}.items():
        home.write(path, data)
    secret = home.base / "secret.md"
    secret.write_text("the password is xyzzy\n")
    (home.vault / "Out.md").symlink_to(secret)
    outside = home.base / "outside"
    outside.mkdir()
    (outside / "More.md").write_text("more of xyzzy\n")
    (home.vault / "Linked").symlink_to(outside)
    (home.vault / "Loop").symlink_to(home.vault)


def test_good_notes_are_served(daemon: RunningDaemon) -> None:
    """Between strange notes the good ones are found as ever."""
    assert daemon.client.search("seal leaks").hits[0].path == "Pump.md"
    assert daemon.client.search("valve").hits[0].path == "Folder/Valve.md"
    assert daemon.status().state == "ready"
    assert "Traceback" not in daemon.home.log


def test_what_is_left_out_is_listed(daemon: RunningDaemon) -> None:
    """A binary file, one that is too large and links out of the vault are listed with the reason, not indexed."""
    status = daemon.status(full=True)
    reasons = {str(note.path): note.reason for note in status.skipped_notes}
    assert {*LEFT_OUT, "Out.md", "Linked"} <= set(reasons)
    for path, (_, reason) in LEFT_OUT.items():
        assert reason in reasons[path]
    assert status.skipped == len(reasons)
    assert daemon.client.status().skipped == len(reasons)
    for path in ("Binary.md", "Huge.md", "Out.md", "Linked/More.md", "Loop/Pump.md"):
        with pytest.raises(NoteNotFound):
            daemon.client.get(path)


def test_what_is_odd_is_indexed_and_listed(daemon: RunningDaemon) -> None:
    """Bytes that are not UTF-8 and a broken header cost what is broken; the rest is found, and the problem listed."""
    status = daemon.status(full=True)
    problems = {note.path: note.reason for note in status.problem_notes}
    assert set(ODD) <= set(problems)
    assert all(problems.values())
    assert status.problems == len(problems)
    assert daemon.client.search("antelope").hits[0].path == "Latin.md"
    assert daemon.client.search("buffalo").hits[0].path == "Yaml.md"


@pytest.mark.parametrize("path", FINE)
def test_unusual_is_not_odd(daemon: RunningDaemon, path: str) -> None:
    """Byte order marks, Windows' line ends, UTF-16, empty notes and names of signs are notes like others."""
    view = daemon.client.get(path)
    assert view.path == path
    assert "\r" not in view.text
    assert "\ufeff" not in view.text
    assert path not in {note.path for note in daemon.status(full=True).problem_notes}


def test_nothing_outside_is_ever_read(daemon: RunningDaemon) -> None:
    """What a link leads to outside the vault is in no answer."""
    assert daemon.client.search("xyzzy").hits == ()
    assert daemon.client.search("password").hits == ()


def test_strange_notes_are_not_read_again_and_again(daemon: RunningDaemon) -> None:
    """A second look at everything reads no note that was read, and counts what it skips the same."""
    before = daemon.status()
    daemon.client.reindex()
    daemon.until(
        lambda: daemon.counters["full_scans"] > before.counters["full_scans"] or None, "everything is looked at"
    )
    after = daemon.ready()
    assert (after.notes, after.skipped, after.problems) == (before.notes, before.skipped, before.problems)
    assert after.counters["notes_written"] == before.counters["notes_written"]


def test_a_note_that_becomes_strange_and_good_again(daemon: RunningDaemon) -> None:
    """A note that turns binary leaves the index, and comes back when it is text again."""
    home = daemon.home
    home.write("Turn.md", "an impala\n")
    daemon.found("impala", "Turn.md")
    home.write("Turn.md", b"\0\1\2\3" * 100)
    daemon.lost("impala", "Turn.md")
    home.write("Turn.md", "an impala again\n")
    daemon.found("impala again", "Turn.md")


def test_the_vault_is_never_written_to(daemon: RunningDaemon) -> None:
    """The daemon leaves no file of its own in the vault."""
    known = {*GOOD, *LEFT_OUT, *ODD, *FINE, "Out.md", "Linked", "Loop", "Folder", "Turn.md"}
    found = {str(path.relative_to(daemon.home.vault)) for path in daemon.home.vault.glob("**/*")}
    assert {path for path in found if not path.startswith(("Linked/", "Loop/"))} <= known


@pytest.mark.parametrize(
    "query",
    ["", " ", "x" * 10_000, "seal " * 2_000, "?!,.;:-_#*~'\"()[]{}", "a\0b", "\0", "((((", '"open', "NEAR(", "-", "*"],
)
@pytest.mark.parametrize("mode", ["hybrid", "words", "meaning"])
def test_any_query_is_answered(daemon: RunningDaemon, query: str, mode: str) -> None:
    """Nothing that can be typed is an error, and what was left of it is said."""
    answer = daemon.client.call("search", {"query": query, "mode": mode})
    assert answer["query"] == query
    if len(query) >= 10_000:
        assert any("cut" in reason["why"] for reason in answer["reasons"])
    if not query.strip():
        assert any("empty" in reason["why"] for reason in answer["reasons"])
