"""Why a note is not found: the rules, the index and the disk are asked in this order. Nothing is written.

What it asks comes as ``DiagnosisSources``, so that it answers without a daemon too (``vaultrag.doctor.offline``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from vaultrag.app.context import VaultContext
from vaultrag.domain import Content, Diagnosis, Gone, LineRange, NoteId, NotePath, NoteRow, Skipped, Unreadable
from vaultrag.domain.kinds import kind_of
from vaultrag.protocols import NoteReader, NoteTable

MAX_PATH_CHARS = 4096

GUESS = "did you mean "
"""How a hint begins that names a note, not a command."""


class VectorLookup(NamedTuple):
    """The state of a note's vector. ``lines``: body lines of its passages, 0-based."""

    said: str
    covered: float | None = None
    lines: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DiagnosisSources:
    """The sources of a diagnosis.

    Attributes:
        is_there: Returns ``file``, ``folder`` or nothing for a path.
        running: A daemon watches the disk, so that a change will be seen by itself.
        for_agents: Nothing is said of files that are not in the index: they may be private.
    """

    vault: str
    table: NoteTable
    reader: NoteReader
    skipped: Callable[[], Mapping[NotePath, Skipped]]
    why_excluded: Callable[[str], str | None]
    private: Callable[[NoteRow], str]
    vectors: Callable[[NoteId], VectorLookup]
    is_there: Callable[[str], str]
    running: bool
    for_agents: bool = False


def sources_of(parts: VaultContext) -> DiagnosisSources:
    """Return what a running daemon knows."""
    return DiagnosisSources(
        vault=parts.id,
        table=parts.table,
        reader=parts.reader,
        skipped=parts.index.skipped,
        why_excluded=parts.why_excluded,
        private=parts.private,
        vectors=lambda note_id: _vectors(parts, note_id),
        is_there=parts.is_there,
        running=True,
        for_agents=parts.for_agents,
    )


def diagnose(sources: DiagnosisSources, path: str) -> Diagnosis:
    """Explain what became of the note at this path, relative to its vault."""
    asked = path[:MAX_PATH_CHARS]
    note_id = sources.table.id_of(asked)
    row = sources.table.by_ids([note_id]).get(note_id) if note_id is not None else None
    if note_id is None or row is None:
        return _unknown(sources, asked)
    vectors = sources.vectors(note_id)
    found = Diagnosis(
        path=row.path,
        vault=sources.vault,
        standing="indexed",
        why="",
        kept_from_agents=sources.private(row),
        saved_ns=row.mtime_ns,
        meaning=vectors.said,
        covered=vectors.covered,
        passages=tuple(LineRange(row.body_line + first, row.body_line + last) for first, last in vectors.lines),
    )
    return _compared(sources, found, row)


def _compared(sources: DiagnosisSources, found: Diagnosis, row: NoteRow) -> Diagnosis:
    """Compare a note of the index with the disk."""
    excluded = sources.why_excluded(row.path)
    if excluded:
        return replace(found, standing="excluded", why=f"{excluded}; it leaves the index{_soon(sources)}",
                       hint=_look(sources))  # fmt: skip
    match sources.reader.read(row.path):
        case Content(waits=True):
            why = "it is known by its name, and its text is still to be read"
            return replace(found, standing="waiting", why=why)
        case Content(entry=entry, problem=problem) if (entry.size, entry.mtime_ns) == (row.size, row.mtime_ns):
            return replace(found, why=f"it is in the index as it is on the disk{problem and f'; {problem}'}")
        case Content():
            why = f"it was changed since it was read; it is read again{_soon(sources)}"
            return replace(found, standing="stale", why=why, hint=_look(sources))
        case Gone():
            why = f"its file is no longer there; it leaves the index{_soon(sources)}"
            return replace(found, standing="gone", why=why, hint=_look(sources))
        case Skipped(reason=reason):
            why = f"it may no longer be indexed: {reason}; it leaves the index{_soon(sources)}"
            return replace(found, standing="skipped", why=why, hint=_look(sources))
        case Unreadable(reason=reason):
            why = f"its file cannot be read now ({reason}); what was read before is still found"
            return replace(found, standing="unreadable", why=why)


def _unknown(sources: DiagnosisSources, asked: str) -> Diagnosis:
    """Explain a path that the index does not know: excluded, skipped, not read yet, or not there."""
    blank = Diagnosis(asked, sources.vault, "absent", "")
    if sources.for_agents:
        return _absent(sources, blank)
    excluded = {path: sources.why_excluded(path) for path in (asked, f"{asked}.md")}
    # A name without its ".md" is no exclusion that anybody means.
    reason = excluded[asked] if kind_of(asked) is not None else excluded[f"{asked}.md"] or ""
    if reason:
        return replace(blank, standing="excluded", why=reason, hint=_rule_hint(reason))
    known = sources.skipped()
    for path in (asked, f"{asked}.md"):
        if (skipped := known.get(NotePath(path))) is not None:
            return replace(blank, path=path, standing="skipped", why=skipped.reason, hint=_skip_hint(skipped.reason))
        match sources.reader.read(NotePath(path)):
            case Content():
                why = "it is there and has not been read yet" + (
                    "" if sources.running else ": no daemon runs that would"
                )
                return replace(blank, path=path, standing="waiting", why=why, hint=_look(sources))
            case Unreadable(reason=reason):
                return replace(blank, path=path, standing="unreadable", why=f"it cannot be read: {reason}")
            case Skipped(reason=reason) if kind_of(path) is not None:
                return replace(blank, path=path, standing="skipped", why=reason, hint=_skip_hint(reason))
    if (kind := sources.is_there(asked)) == "folder":
        return replace(blank, standing="excluded", why="it is a folder, not a note")
    if kind:
        return replace(blank, standing="excluded", why=f"the file is there: {excluded[asked] or 'it is no note'}")
    return _absent(sources, blank)


def _absent(sources: DiagnosisSources, blank: Diagnosis) -> Diagnosis:
    near = tuple(sources.table.near_paths(blank.path))
    hint = f"{GUESS}{near[0]}?" if near else ""
    return replace(blank, why="there is no such note in the vault", hint=hint, near=near)


def _vectors(parts: VaultContext, note_id: NoteId) -> VectorLookup:
    meaning = parts.meaning
    view = meaning.view
    if failed := meaning.failed.get(note_id):
        return VectorLookup(f"it has no vector: {failed}")
    if view.vectors is None or view.state == "off":
        return VectorLookup(view.why or "the vectors are not loaded yet")
    held = view.vectors.holding(note_id)
    if held is None or note_id in meaning.awaited:
        said = "it is not embedded yet: found by its words only"
        return VectorLookup(f"{said} ({view.why})" if view.why else said)
    return VectorLookup("", held.covered, held.lines)


def _soon(sources: DiagnosisSources) -> str:
    return " within moments" if sources.running else " when a daemon runs"


def _look(sources: DiagnosisSources) -> str:
    return "vaultrag reindex" if sources.running else "vaultrag up"


def _rule_hint(reason: str) -> str:
    if "notes.ignore" in reason:
        return "vaultrag config edit"
    if ".vaultragignore" in reason:
        return "take the line out of .vaultragignore, or take the note back in below it with a line that begins with !"
    if "folder of templates" in reason:
        return "vaultrag config edit: [notes] obsidian_templates = false takes them in"
    if "Obsidian" in reason:
        return "in Obsidian: Settings, Files and links, Excluded files"
    return ""


def _skip_hint(reason: str) -> str:
    return "vaultrag config edit" if ".max_bytes" in reason else ""
