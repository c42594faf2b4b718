"""What the search screen knows, and what an event makes of it. Pure: a ``View`` in, a ``View`` out.

Every question has a number. An answer is taken only if no later question's answer, and no fuller answer to the same
question, is shown already: what stands on the screen never goes back to something older.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vaultrag.domain import Answer, DaemonStatus, Hit, Mode, State, VaultStatus

MODES: tuple[Mode, ...] = ("hybrid", "words", "meaning")

LinkName = Literal["connecting", "starting", "ready", "gone", "stopped", "failed"]
"""gone: it comes back by itself; stopped: somebody ended it, the next question starts it; failed: it cannot start."""


@dataclass(frozen=True, slots=True)
class LinkState:
    """The state of the connection with the daemon."""

    name: LinkName = "connecting"
    why: str = ""
    hint: str = ""


def listed(answer: Answer) -> tuple[Hit, ...]:
    """Return what the list shows: what was found, then the nearest notes, which say that they are weak."""
    return (*answer.hits, *answer.nearest)


@dataclass(frozen=True, slots=True)
class View:
    """The whole screen's state.

    Attributes:
        query: What stands in the prompt.
        mode: Which ways of finding are used.
        asked: Number of the newest question; 0 when none was asked.
        shown: Number of the question whose answer is shown; ``full``: its last answer.
        answer: What is shown; None before the first answer and for an empty prompt.
        selected: Index of the selected hit.
        moved: The person has chosen the selected hit: a fuller answer keeps it.
        marked: Hits to open together, in the order in which they were marked.
        related_to: The note whose relations are shown; empty for a search.
        trouble: Why the newest question was not answered.
    """

    query: str = ""
    mode: Mode = "hybrid"
    asked: int = 0
    shown: int = 0
    full: bool = True
    answer: Answer | None = None
    selected: int = 0
    moved: bool = False
    marked: tuple[Hit, ...] = ()
    related_to: str = ""
    trouble: str = ""
    link: LinkState = LinkState()
    status: DaemonStatus | None = None
    vault_id: str = ""

    @property
    def hits(self) -> tuple[Hit, ...]:
        return listed(self.answer) if self.answer is not None else ()

    @property
    def current(self) -> Hit | None:
        """The selected hit."""
        return self.hits[self.selected] if self.selected < len(self.hits) else None

    @property
    def chosen(self) -> tuple[Hit, ...]:
        """Return the notes that an action applies to: the marked ones, else the selected one."""
        return self.marked or ((self.current,) if self.current is not None else ())

    @property
    def waiting(self) -> bool:
        """Return True while the newest question has not been fully answered."""
        return bool(self.asked) and not self.trouble and (self.shown != self.asked or not self.full)

    @property
    def vault(self) -> VaultStatus | None:
        vaults = self.status.vaults if self.status is not None else ()
        return next((vault for vault in vaults if vault.id == self.vault_id), None)


def typed(view: View, query: str) -> View:
    """Return the view after typing: a new question, unless the prompt is blank."""
    if query == view.query and not view.related_to:
        return view
    view = replace(view, query=query, related_to="")
    return asked(view) if query.strip() else _cleared(view)


def asked(view: View) -> View:
    """Return the view with the same question asked again, under a new number."""
    return replace(view, asked=view.asked + 1, trouble="", moved=False)


def mode_switched(view: View) -> View:
    """Return the view in the next mode, and the question in it."""
    view = replace(view, mode=MODES[(MODES.index(view.mode) + 1) % len(MODES)])
    return asked(view) if view.query.strip() and not view.related_to else view


def related_asked(view: View, path: str) -> View:
    """Return the view that asks for the relations of a note."""
    return replace(asked(view), related_to=path)


def back(view: View) -> View:
    """From relations to the search; the same view where there is nothing to go back from."""
    if not view.related_to:
        return view
    view = replace(view, related_to="")
    return asked(view) if view.query.strip() else _cleared(view)


def answered(view: View, number: int, answer: Answer, *, full: bool) -> View:
    """Return the view with an answer, perhaps late, perhaps partial."""
    if number < view.shown or (number == view.shown and view.full) or number > view.asked:
        return view
    kept = view.current
    same = number == view.shown
    selected = 0
    if same and view.moved and kept is not None:
        selected = next((rank for rank, hit in enumerate(listed(answer)) if hit.path == kept.path), 0)
    return replace(
        view, shown=number, full=full, answer=answer, selected=selected, moved=view.moved and same, trouble=""
    )


def refreshed(view: View, number: int, answer: Answer) -> View:
    """Return the view after its question was asked again for changed notes: the selection stays with its note."""
    if number != view.shown or number != view.asked:
        return view
    kept = view.current.path if view.current is not None else ""
    selected = next((rank for rank, hit in enumerate(listed(answer)) if hit.path == kept), 0)
    return replace(view, answer=answer, selected=selected)


def not_answered(view: View, number: int, why: str) -> View:
    """Return the view after a question failed. The failure of an older one is dropped."""
    return replace(view, trouble=why) if number == view.asked else view


def selected(view: View, index: int) -> View:
    """Return the view with a hit selected; an index beyond an end is that end."""
    if not view.hits:
        return view
    return replace(view, selected=max(0, min(index, len(view.hits) - 1)), moved=True)


def mark_switched(view: View) -> View:
    """Mark or unmark the selected hit, and select the next one."""
    hit = view.current
    if hit is None:
        return view
    kept = tuple(one for one in view.marked if one.path != hit.path)
    marked = kept if len(kept) < len(view.marked) else (*view.marked, hit)
    return selected(replace(view, marked=marked), view.selected + 1)


def unmarked(view: View) -> View:
    """No hit is marked any more."""
    return replace(view, marked=())


def linked(view: View, link: LinkState) -> View:
    """Return the view with another state of the connection."""
    return replace(view, link=link)


def fared(view: View, status: DaemonStatus, vault_id: str) -> View:
    """Return the view with another status of the daemon. Marks and answers belong to their vault."""
    if view.vault_id and vault_id != view.vault_id:
        view = _cleared(replace(view, marked=(), related_to=""))
        view = asked(view) if view.query.strip() else view
    return replace(view, status=status, vault_id=vault_id)


def outdated(before: View, now: View) -> bool:
    """Return True if the view should be asked again: a note in it has changed, or indexing has ended."""
    answer = now.answer
    if answer is None or now.vault is None:
        return False
    arrived = before.vault is not None and before.vault.state != now.vault.state and now.vault.state == "ready"
    return (arrived and answer.state is not State.FULL) or any(hit.stale for hit in answer.hits)


def with_tag(query: str, tag: str) -> str:
    """Return the query within a tag; a tag that is in it already stays alone."""
    term = f"tag:#{tag}" if not any(char in tag for char in ' "') else f'tag:"#{tag}"'
    words = query.split()
    if term in words:
        return query
    return " ".join([*words, term]) + " "


def paths_of(hits: Sequence[Hit]) -> frozenset[str]:
    return frozenset(hit.path for hit in hits)


def _cleared(view: View) -> View:
    # A new number, so that no answer under way is taken.
    number = view.asked + 1
    return replace(view, asked=number, shown=number, full=True, answer=None, selected=0, moved=False, trouble="")
