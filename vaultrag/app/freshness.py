"""How far the index can be trusted: whether it holds all that the vault does, how old it is, and why not."""

from __future__ import annotations

from collections.abc import Sequence

from vaultrag.app.context import VaultContext
from vaultrag.domain import IndexInfo, Reason, State

AWAY = "the vault cannot be read as a whole at the moment; what is known of it stands"
"""What an agent is told instead of how many notes are missing."""


_WORST = (
    State.MODEL_MISMATCH,
    State.KEYWORD_ONLY,
    State.INDEXING,
    State.PARTIAL,
    State.RELAXED,
    State.FULL,
)


def worst(reasons: Sequence[Reason]) -> State:
    """Return the state of an answer that has these reasons."""
    return min((reason.state for reason in reasons), key=_WORST.index, default=State.FULL)


def index_info(parts: VaultContext) -> IndexInfo:
    """Describe the index that an answer is made from.

    For agents nothing is told that the change of a private note could move.
    """
    worker, view = parts.worker, parts.meaning.view
    identity = view.vectors.identity.key if view.vectors is not None else ""
    in_order = worker.searchable.is_set() and worker.progress.phase not in ("away", "broken")
    if parts.for_agents:
        return IndexInfo(parts.build, identity, in_order, worker.checked_whole_ns)
    pending = worker.pending + parts.waiting() + parts.files_waiting()
    return IndexInfo(parts.build, identity, in_order and not pending, worker.checked_ns, pending)


def index_reasons(parts: VaultContext) -> list[Reason]:
    """Return why the index may lack something that the vault holds."""
    progress, fault, hindrance = parts.worker.progress, parts.worker.fault, parts.embedding.hindrance
    reasons = []
    if fault is not None:
        why = "it cannot be written" if parts.for_agents else fault.why
        hint = "vaultrag status" if parts.for_agents else fault.hint
        reasons.append(Reason(State.PARTIAL, f"the index is not up to date: {why}; {_age(parts)}", hint))
    elif progress.phase == "away":
        told = Reason(State.PARTIAL, progress.why, progress.hint)
        reasons.append(Reason(State.PARTIAL, AWAY) if parts.for_agents else told)
    elif not parts.worker.searchable.is_set():
        how_far = "" if parts.for_agents else f" ({progress.done} of {progress.total})"
        reasons.append(Reason(State.INDEXING, f"notes are still being read{how_far}"))
    elif (large := parts.worker.large_waiting) and not parts.for_agents:  # it may be one that they must not see
        what = "a large note is" if large == 1 else f"{large} large notes are"
        reasons.append(Reason(State.INDEXING, f"{what} still being read"))
    if (files := parts.files_waiting()) and not parts.for_agents and fault is None and progress.phase != "away":
        what = "a file of another kind is" if files == 1 else f"{files} files of other kinds are"
        reasons.append(Reason(State.INDEXING, f"{what} still to be read"))
    if hindrance is not None and parts.meaning.view.vectors is not None and fault is None:
        reasons.append(Reason(State.PARTIAL, f"new vectors cannot be kept: {hindrance.message}", hindrance.hint))
    return [*reasons, *parts.beside()]


def _age(parts: VaultContext) -> str:
    checked_ns = parts.worker.checked_whole_ns if parts.for_agents else parts.worker.checked_ns
    if not checked_ns:
        return "since the daemon was started it was never complete"
    return f"it was complete {max(0, parts.clock.time_ns() - checked_ns) // 10**9} s ago"
