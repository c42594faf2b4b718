"""How a vault and its embedder fare, in the words of ``domain.status``."""

from __future__ import annotations

from dataclasses import replace

from vaultrag.app.context import LISTED, VaultContext
from vaultrag.app.freshness import AWAY
from vaultrag.domain import EmbedderStatus, Skipped, VaultStatus
from vaultrag.indexing.vector_state import VectorState


def vault_status(parts: VaultContext, *, full: bool) -> VaultStatus:
    """See ``VaultService.status``."""
    if parts.for_agents:
        return _status_for_agents(parts)
    progress, view, hindrance = parts.worker.progress, parts.meaning.view, parts.embedding.hindrance
    total = parts.index.count()
    skipped, odd = parts.index.skipped(), parts.index.problems()
    unread = [Skipped(path, f"cannot be read: {why}") for path, why in sorted(parts.worker.unread.items())]
    pending = 0 if parts.meaning.off else parts.meaning.pending
    failed = parts.meaning.failed
    state = {"reading": "indexing", "idle": "ready"}.get(progress.phase, progress.phase)
    # Until the vectors have been looked at, nobody knows how many are missing; and those that are all made anew, but
    # are not in the old ones' place yet, are not searched.
    if state == "ready" and (
        (total and not (parts.embedding.counted or parts.meaning.off or view.state == "waiting"))
        or view.state == "mismatch"
        or (pending and view.state == "ready")
    ):
        state = "embedding"
    listed: list[Skipped] = []
    if full:
        listed = [*unread[:LISTED], *odd[:LISTED], *_failed_notes(parts)][:LISTED]
    return VaultStatus(
        id=parts.id,
        name=parts.root.name,
        root=str(parts.root),
        state=state,
        notes=total,
        embedded=max(0, total - pending - len(failed)) if view.vectors is not None else 0,
        pending=pending,
        passages_pending=0 if parts.meaning.off else parts.meaning.passages_pending,
        multilingual_pending=0 if parts.meaning.off else parts.meaning.multilingual_pending,
        to_read=max(0, progress.total - progress.done) if progress.phase == "reading" else 0,
        files_waiting=parts.files_waiting(),
        skipped=len(skipped),
        failed=len(failed),
        problems=len(odd) + len(unread),
        watching=parts.watching(),
        identity=_identity(view),
        why=progress.why or (hindrance.message if hindrance else view.why),
        hint=progress.hint or (hindrance.hint if hindrance else view.hint),
        eta_s=parts.embedding.eta_s() if progress.phase == "idle" else None,
        counters={
            **parts.worker.counters,
            "embed_batches": parts.embedding.batches,
            "embed_batches_broken_off": parts.meaning.broken_off,
            "texts_embedded": parts.meaning.texts_embedded,
            "vectors_reused": parts.meaning.vectors_reused,
        },
        events=tuple(parts.events),
        skipped_notes=tuple(list(skipped.values())[:LISTED]) if full else (),
        problem_notes=tuple(listed),
        checked_ns=parts.worker.checked_ns,
    )


def _status_for_agents(parts: VaultContext) -> VaultStatus:
    """Figures of the notes that agents may see, and none that a private note could move."""
    progress, view = parts.worker.progress, parts.meaning.view
    total = parts.index.count()
    pending = 0 if parts.meaning.off else parts.lacking(False)
    failed = len(parts.table.by_ids(parts.meaning.failed))
    state, why = "ready", view.why
    if progress.phase in ("away", "broken"):
        state, why = progress.phase, AWAY
    elif not parts.worker.searchable.is_set():
        state = "indexing"
    elif (total and view.state == "starting") or (pending and view.state in ("ready", "mismatch")):
        state = "embedding"
    return VaultStatus(
        id=parts.id,
        name=parts.root.name,
        root=str(parts.root),
        state=state,
        notes=total,
        embedded=max(0, total - pending - failed) if view.vectors is not None else 0,
        pending=pending,
        failed=failed,
        identity=_identity(view),
        why=why,
        hint=view.hint if why == view.why else "",
        checked_ns=parts.worker.checked_whole_ns,
    )


def embedder_status(parts: VaultContext) -> EmbedderStatus:
    """See ``VaultService.embedder_status``."""
    view = parts.meaning.view
    if view.embedder is None:
        state = view.state if view.state in ("off", "waiting") else "starting"
        return EmbedderStatus("", "", state, view.why, view.hint)
    status = view.embedder.status()
    if view.state in ("waiting", "mismatch") and view.why:
        state = view.state if status.state == "ready" else status.state
        return replace(status, state=state, why=view.why, hint=view.hint)
    return status


def _identity(view: VectorState) -> str:
    return view.vectors.identity.key if view.vectors is not None else ""


def _failed_notes(parts: VaultContext) -> list[Skipped]:
    reasons = dict(parts.meaning.failed)
    rows = parts.table.by_ids(list(reasons)[:LISTED])
    return [Skipped(row.path, f"no vector: {reasons[note_id]}") for note_id, row in rows.items()]
