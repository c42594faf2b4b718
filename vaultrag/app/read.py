"""Handing out a note: found by its path, read from the disk as it is now, cut to what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from vaultrag.app.context import VaultContext
from vaultrag.app.selection import standing_of
from vaultrag.app.token_budget import within
from vaultrag.domain import Content, Gone, Heading, NoteId, NotePath, NoteView
from vaultrag.domain.kinds import is_converted, subpath
from vaultrag.domain.requests import Get
from vaultrag.errors import InvalidParams, NoteNotFound, NoteUnreadable, PathRefused
from vaultrag.markdown import file_text, parse_note
from vaultrag.protocols import NoteTable
from vaultrag.retrieval.one_line_summary import record
from vaultrag.text.tokenize import name_key

PREVIEW_TOKENS = 200
"""What the beginning of a note costs at most."""

CANDIDATES = 5
"""Notes listed where several have the name that is asked for."""


def find(table: NoteTable, path: str) -> tuple[NoteId, NotePath]:
    """Return the note of this path, or of what stands before its ``#``; else the only one that the text names.

    Raises:
        NoteNotFound, PathRefused
    """
    asked = path.split("#", 1)[0] if table.id_of(path) is None else path
    note_id = table.id_of(asked) if asked else None
    if note_id is None:
        # A path that is in the index is inside the vault, whatever it looks like ("~.md" is a good name for a note).
        if "\0" in asked or asked.startswith(("/", "~", "\\")) or ".." in asked.replace("\\", "/").split("/"):
            raise PathRefused(
                "the path must be inside the vault, relative to its folder", hint="vaultrag search", path=path[:200]
            )
        named = table.named(path)
        if len(named) > 1:
            raise _several(table, named, path)
        if not named:
            raise _not_found(table, asked, path)
        note_id = named[0]
    row = table.by_ids([note_id]).get(note_id)
    if row is None:  # deleted since the line above
        raise NoteNotFound(f"there is no note {asked[:200]} in the index any more", path=path[:200])
    return note_id, row.path


def _several(table: NoteTable, note_ids: Sequence[NoteId], name: str) -> NoteNotFound:
    paths = sorted(row.path for row in table.by_ids(note_ids).values())
    shown = ", ".join(paths[:CANDIDATES]) + (f" and {len(paths) - CANDIDATES} more" if len(paths) > CANDIDATES else "")
    return NoteNotFound(
        f"{len(paths)} notes are named {name[:200]}: {shown}", hint="ask for one of these paths", path=name[:200]
    )


def _not_found(table: NoteTable, asked: str, path: str, but: str = "") -> NoteNotFound:
    """``but``: a path that is not to be proposed."""
    near = [known for known in table.near_paths(asked) if known != but]
    hint = f"did you mean {near[0]}?" if near else f'vaultrag search "{Path(asked).stem}"'
    agent_hint = hint if near else ""  # what is private is no note: to look for it elsewhere is no help
    return NoteNotFound(
        f"there is no note {asked[:200]} in the index", hint=hint, agent_hint=agent_hint, path=path[:200]
    )


def content_of(parts: VaultContext, path: str) -> tuple[NoteId, NotePath, Content]:
    """Read the note of this path from the disk.

    Raises:
        NoteNotFound, NoteUnreadable, PathRefused
    """
    note_id, known = find(parts.table, path)
    result = parts.reader.read(known)
    if not isinstance(result, Content):
        parts.worker.notice([known])
        if parts.for_agents and isinstance(result, Gone):  # to the letter what is said of a note that never was
            raise _not_found(parts.table, path.split("#", 1)[0], path, but=known)
        why = getattr(result, "reason", "it is not on the disk any more")
        raise NoteUnreadable(f"{known} cannot be read: {why}", hint="vaultrag status", path=known)
    return note_id, known, result


def get(parts: VaultContext, request: Get) -> NoteView:
    """See ``VaultService.get``."""
    note_id, known, result = content_of(parts, request.path)
    first, last, shape = request.first_line, request.last_line, request.shape
    note = parse_note(known, result.data)
    lines = file_text(result.data).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    start, end = 1, len(lines)
    heading = request.heading or _cited_heading(request.path, known, note.headings)
    if heading:
        start, end = _section(note.headings, heading, len(lines), known)
    if first or last:
        start, end = max(start, first or start), min(end, last or end)
        if start > max(end, 1) or end < 0 or first < 0:
            raise InvalidParams(
                f"lines {first or 1} to {last or len(lines)} are not in {known}, which has {len(lines)}", path=known
            )
    row = parts.table.by_ids([note_id]).get(note_id)
    standing = standing_of(parts.standings(), note_id)
    text = record(note, standing) if shape == "compact" else "\n".join(lines[start - 1 : end])
    view = NoteView(
        path=known,
        title=note.title,
        text=text,
        start_line=start if lines else 0,
        end_line=end,
        total_lines=len(lines),
        tags=note.tags,
        aliases=note.aliases,
        properties=note.properties,
        mtime_ns=result.entry.mtime_ns if row is None else row.mtime_ns,
        shape=shape,
        standing=standing,
        dates=row.dates if row is not None else None,
    )
    preview = shape == "preview"
    return within(view, min(request.max_tokens or PREVIEW_TOKENS, PREVIEW_TOKENS) if preview else request.max_tokens)


def _cited_heading(asked: str, path: NotePath, headings: Sequence[Heading]) -> str:
    """Return the heading of the place that a citation of a converted file names; empty for none."""
    place = unquote(asked.partition("#")[2])
    if not place or not is_converted(path):
        return ""
    return next((heading.text for heading in headings if subpath(path, heading.text) == f"#{place}"), place)


def _section(headings: Sequence[Heading], wanted: str, total: int, path: str) -> tuple[int, int]:
    key = name_key(wanted.lstrip("#"))
    for index, heading in enumerate(headings):
        if name_key(heading.text) == key:
            end = next((h.line - 1 for h in headings[index + 1 :] if h.level <= heading.level), total)
            return heading.line, end
    raise InvalidParams(
        f"{path} has no heading {wanted[:200]!r}",
        hint="vaultrag get without --heading",
        agent_hint="read_note without heading",
        path=path,
    )
