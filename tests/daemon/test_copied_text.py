"""What people type, paste and copy, against the real daemon: names find their note, and text stays text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.daemons import RunningDaemon, daemon_home
from vaultrag.errors import NoteNotFound, PathRefused

NOTES = {
    "Kitchen/Plum jam.md": "---\naliases: [Pflaumenmus]\n---\n# Jam\nBoil the plums with sugar.",
    "Daily/2026-03-14.md": "Bought plums.",
    "Old/Shopping.md": "plum jam, plum jam, plum jam",
    "New/Shopping.md": "bread",
    "Odd/What? #1 [draft] 100%.md": "---\ndraft: yes\n---\nA strange name.",
    "Drafts/Other.md": "---\ndraft: yes\n---\nWhat is drafted.",
    "Lines.md": (
        "- [x] call the roofer\n> [!warning] Hot surface\n\n[^1]: Smith, Dams\n\nsubject [MDP-23-24], see "
        "[@holm2021, p. 33]\nand Holm [cite: 2]\n\n    kubectl get pods -n kube-system\n"
        "    tar -xzf archive\n    -c : option\n"
    ),
}
PIECES = [
    '"',
    "-",
    "[",
    "]",
    ":",
    "tag:",
    "path:",
    "after:",
    "2026-13-01",
    "is:orphan",
    "plum",
    " ",
    "#",
    "\n",
    "[[",
    ".md",
]


@pytest.fixture(scope="module")
def daemon() -> Iterator[RunningDaemon]:
    with daemon_home({"embedder": {"provider": "off"}}) as home:
        for path, text in NOTES.items():
            home.write(path, text)
        daemon = home.start()
        daemon.ready()
        yield daemon


@pytest.mark.parametrize(
    "copied",
    [
        "Daily/2026-03-14.md",
        "Daily/2026-03-14",
        "Daily\\2026-03-14.md",
        "2026-03-14",
        "[[2026-03-14]]",
        "![[Daily/2026-03-14#Plums|that day]]",
        "obsidian://open?vault=My%20vault&file=Daily%2F2026-03-14",
        "Daily/2026-03-14.md#L1-L2",
    ],
)
def test_a_copied_name_is_found_and_read(daemon: RunningDaemon, copied: str) -> None:
    """A path, a link, an address and a citation bring their note first, and ``get`` reads it."""
    for limit in (1, 10):
        assert daemon.client.search(copied, limit=limit).hits[0].path == "Daily/2026-03-14.md"
    assert daemon.client.get(copied).path == "Daily/2026-03-14.md"


def test_a_name_is_read_where_it_is_unambiguous(daemon: RunningDaemon) -> None:
    """``get`` takes a title or an alias that one note has; of several it names them all."""
    assert daemon.client.get("Plum jam").path == daemon.client.get("pflaumenmus").path == "Kitchen/Plum jam.md"
    with pytest.raises(NoteNotFound, match=r"2 notes are named Shopping: New/Shopping\.md, Old/Shopping\.md"):
        daemon.client.get("Shopping")
    with pytest.raises(NoteNotFound, match="there is no note Plum"):
        daemon.client.get("Plum")
    with pytest.raises(PathRefused):
        daemon.client.get("/etc/Kitchen/Plum jam.md")


def test_a_name_is_first_where_a_filter_is_met(daemon: RunningDaemon) -> None:
    """A note of the name stands first among those that meet the filter."""
    assert daemon.client.search("Plum jam path:Kitchen").hits[0].path == "Kitchen/Plum jam.md"
    assert daemon.client.search("plum jam").hits[0].path == "Kitchen/Plum jam.md"


@pytest.mark.parametrize(
    ("pasted", "path"),
    [
        ("[x] call the roofer", "Lines.md"),
        ("[!warning] Hot surface", "Lines.md"),
        ("[^1]: Smith, Dams", "Lines.md"),
        ("subject [MDP-23-24]", "Lines.md"),
        ("[@holm2021, p. 33]", "Lines.md"),
        ("Holm [cite: 2]", "Lines.md"),
        ("kubectl get pods -n kube-system", "Lines.md"),
        ("tar -xzf archive", "Lines.md"),
        ("-c : option", "Lines.md"),
        ("Hot surface\n-roofer", "Lines.md"),
        ("What? #1 [draft] 100%", "Odd/What? #1 [draft] 100%.md"),
    ],
)
def test_text_is_text(daemon: RunningDaemon, pasted: str, path: str) -> None:
    """Brackets, flags and signs of a pasted line are words: the note that holds it is found, and nothing is relaxed."""
    answer = daemon.client.search(pasted)
    assert answer.hits[0].path == path
    assert answer.state == "keyword_only"


def test_where_conditions_leave_nothing_the_words_are_asked(daemon: RunningDaemon) -> None:
    """An answer that no note within the conditions gives is given by the words alone, and says so."""
    for query, path in {
        "roofer tag:nowhere": "Lines.md",
        "roofer -surface": "Lines.md",
        "sugar [draft: no]": "Kitchen/Plum jam.md",
        "tag:roofer": "Lines.md",
    }.items():
        answer = daemon.client.search(query, mode="words")
        assert answer.hits[0].path == path
        assert answer.state == "relaxed"
        assert any("found by the words alone" in reason.why for reason in answer.reasons)
    assert daemon.client.search("plum path:Old", mode="words").state == "full"
    explained = daemon.client.explain("roofer tag:nowhere", mode="words")
    assert explained.hits[0].path == "Lines.md"
    assert explained.state == "relaxed"


def test_a_date_that_is_none_is_said(daemon: RunningDaemon) -> None:
    """A wrong date is named in the answer, which is that of the other words."""
    answer = daemon.client.search("roofer after:2026-13-01")
    assert answer.hits[0].path == "Lines.md"
    assert "after:2026-13-01 is no date, and was left out" in [reason.why for reason in answer.reasons]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(
        st.sampled_from(["plum", "jam", "sugar", "roofer", "surface", "archive", "bread", "boil"]),
        min_size=1,
        max_size=3,
    ),
    sign=st.sampled_from(["[", "]", "(", ")", '"', "-", " - ", "[]", "#"]),
    data=st.data(),
)
def test_a_sign_more_never_finds_less(daemon: RunningDaemon, words: list[str], sign: str, data: st.DataObject) -> None:
    """A query of plain words finds something with one bracket, dash or quote more, if it did without."""
    place = data.draw(st.integers(0, len(words)))
    typed = " ".join([*words[:place], sign]) + " ".join(words[place:])
    if daemon.client.search(" ".join(words)).hits:
        assert daemon.client.search(typed).hits


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_no_query_fails(daemon: RunningDaemon, query: str) -> None:
    """Whatever is typed is answered."""
    assert daemon.client.search(query).query == query
