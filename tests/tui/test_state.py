"""What the screen makes of events: pure rules, by example and by property."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from vaultrag.domain import Answer, DaemonStatus, EmbedderStatus, Hit, NotePath, State, VaultStatus
from vaultrag.tui import state
from vaultrag.tui.state import View


def answer(query: str, *paths: str, total: int = 0) -> Answer:
    hits = tuple(Hit(NotePath(path), path, 1.0) for path in paths)
    return Answer(query, State.FULL, hits, total=total or len(hits))


def shown(query: str, *paths: str) -> View:
    view = state.typed(View(), query)
    return state.answered(view, view.asked, answer(query, *paths), full=True)


@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), max_size=30))
def test_what_is_shown_never_goes_back(arrivals: list[tuple[int, bool]]) -> None:
    """In whatever order answers come, a later question's answer stays, and so does a full one."""
    view = View()
    for text in ("a", "ab", "abc", "abcd", "abcde", "abcdef"):
        view = state.typed(view, text)
    best = (0, True)
    for number, full in arrivals:
        view = state.answered(view, number, answer("abcdef"[:number]), full=full)
        if (number, full) > best and number > 0:
            best = max(best, (number, full)) if number > best[0] or not best[1] else best
        assert (view.shown, view.full) == best
        assert view.waiting == (best != (6, True))


@given(st.integers(), st.integers(0, 5))
def test_the_selection_is_always_a_hit(index: int, hits: int) -> None:
    """Whatever is asked for, the selected hit exists where there is one."""
    view = state.selected(shown("x", *map(str, range(hits))), index)
    assert 0 <= view.selected < max(hits, 1)
    assert (view.current is not None) == bool(hits)


def test_a_fuller_answer_keeps_what_the_person_chose() -> None:
    """The first part of an answer is replaced by the whole; a selection made meanwhile stays with its note."""
    view = state.typed(View(), "x")
    view = state.answered(view, view.asked, answer("x", "a", "b", "c"), full=False)
    untouched = state.answered(view, view.asked, answer("x", "c", "b", "a"), full=True)
    assert untouched.current is not None
    assert untouched.current.path == "c"
    chosen = state.answered(state.selected(view, 2), view.asked, answer("x", "q", "c", "a"), full=True)
    assert chosen.current is not None
    assert (chosen.current.path, chosen.moved) == ("c", True)
    gone = state.answered(state.selected(view, 1), view.asked, answer("x", "q", "c"), full=True)
    assert gone.selected == 0


def test_an_emptied_prompt_shows_nothing_and_takes_no_late_answer() -> None:
    """When the prompt is emptied the list is empty, and an answer under way does not fill it again."""
    view = state.typed(shown("x", "a"), "xy")
    late = view.asked
    view = state.typed(view, "  ")
    assert (view.hits, view.waiting) == ((), False)
    assert state.answered(view, late, answer("xy", "b"), full=True).hits == ()


def test_relations_come_and_go() -> None:
    """Relations take the list's place; typing, or going back, brings the search again."""
    view = state.related_asked(shown("x", "a"), "a")
    assert view.waiting
    view = state.answered(view, view.asked, answer("a", "r"), full=True)
    assert (state.typed(view, "x").related_to, state.typed(view, "x").waiting) == ("", True)
    again = state.back(view)
    assert (again.related_to, again.waiting, again.query) == ("", True, "x")
    assert state.back(again) is again


def test_marks_toggle_and_go_on() -> None:
    """A mark is set and taken away, and each time the next note is selected."""
    view = state.mark_switched(state.mark_switched(shown("x", "a", "b", "c")))
    assert [hit.path for hit in view.chosen] == ["a", "b"]
    assert view.selected == 2
    view = state.mark_switched(state.selected(view, 0))
    assert [hit.path for hit in view.chosen] == ["b"]
    assert state.unmarked(view).chosen == (view.hits[1],)


def test_a_failure_is_told_of_the_newest_question_only() -> None:
    """An old question's failure is nobody's concern."""
    view = state.typed(state.typed(View(), "a"), "ab")
    assert state.not_answered(view, 1, "broken").trouble == ""
    failed = state.not_answered(view, 2, "broken")
    assert (failed.trouble, failed.waiting) == ("broken", False)
    assert state.typed(failed, "abc").trouble == ""


def test_another_vault_begins_anew() -> None:
    """Marks and hits of one vault do not stay when another is searched; the query does."""
    view = state.fared(View(), status("ready"), "v")
    view = state.mark_switched(state.answered(state.typed(view, "x"), 1, answer("x", "a"), full=True))
    other = state.fared(view, status("ready", "w"), "w")
    assert (other.hits, other.marked, other.query, other.waiting) == ((), (), "x", True)
    assert state.fared(view, status("ready"), "v").marked == view.marked


def test_what_is_outdated_is_asked_again() -> None:
    """An answer is outdated when a note in it has changed, or when a vault that was on its way has arrived."""
    early = replace(answer("x", "a"), state=State.INDEXING)
    view = state.fared(View(), status("indexing"), "v")
    view = state.answered(state.typed(view, "x"), 1, early, full=True)
    assert not state.outdated(view, state.fared(view, status("indexing"), "v"))
    assert state.outdated(view, state.fared(view, status("ready"), "v"))
    stale = replace(view, answer=replace(early, hits=(replace(early.hits[0], stale=True),)))
    assert state.outdated(stale, stale)


def test_a_tag_is_added_once() -> None:
    """A picked tag goes to the end of the query; one with a blank in it is quoted."""
    assert state.with_tag("seal ", "pump/new") == "seal tag:#pump/new "
    assert state.with_tag("tag:#pump", "pump") == "tag:#pump"
    assert state.with_tag("", "two words") == 'tag:"#two words" '


def status(name: str, vault: str = "v") -> DaemonStatus:
    return DaemonStatus(
        1, "0", name, 1.0, 1, 3, 0, 0, EmbedderStatus("", "", "off"), (VaultStatus(vault, vault, "/v", name, 3),)
    )
