"""Notes that are listed, not searched for: rules, what changed last, the catalogue, and what an action calls for.

Nothing here ranks: no score, mode or filter of a search can drop a rule. Notes are read from the disk as they are now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vaultrag.app.context import MAX_LIMIT, VaultContext
from vaultrag.app.freshness import index_reasons
from vaultrag.app.selection import in_folder, lies_in, selected, standing_of, tagged
from vaultrag.app.token_budget import fitted
from vaultrag.domain import (
    Brief,
    Catalogue,
    Content,
    Entry,
    Gone,
    Group,
    Note,
    NoteId,
    NoteRow,
    Recent,
    Rule,
    Rules,
    Skipped,
    Triggered,
    TriggeredRule,
    Validity,
)
from vaultrag.domain.requests import CatalogueParams, RecentParams, RulesParams, Triggers
from vaultrag.errors import NoteUnreadable, RulesTooLong
from vaultrag.markdown import file_text, parse_note
from vaultrag.markdown.private_flag import tag_key
from vaultrag.markdown.property_flags import first_text, marked
from vaultrag.markdown.triggers import Deed, WhenProblem, called_by
from vaultrag.retrieval.one_line_summary import record
from vaultrag.text.token_estimate import estimate

ALWAYS = "always"
WHEN = "when"

CATALOGUED = 2000
"""Notes of a catalogue when the caller does not say."""

CALLED_TOKENS = 2000
"""Budget of what one action calls for, when the caller does not say."""


class NoteLists:
    """Lists notes of one vault. Callable from any thread."""

    def __init__(self, parts: VaultContext) -> None:
        self._parts = parts

    def rules(self, request: RulesParams) -> Rules:
        """See ``VaultService.rules``."""
        settings = self._parts.rules
        table = self._parts.table
        ids = set(table.having(ALWAYS))
        for tag in settings.tags:
            ids |= tagged(table, tag)
        for folder in settings.folders:
            ids |= in_folder(table, folder)
        aged = self._parts.standings()
        rules = [
            rule
            for row in table.by_ids(ids).values()
            if (rule := self._rule(row, standing_of(aged, row.note_id))) is not None
        ]
        rules.sort(key=lambda rule: made(rule.created, rule.path))
        total = sum(rule.tokens for rule in rules)
        bound = settings.max_tokens if request.max_tokens is None else request.max_tokens
        if bound and total > bound:
            raise RulesTooLong(
                f"the rules cost about {total} tokens, more than {bound}: "
                + _in_short([f"{rule.path} ({rule.tokens})" for rule in sorted(rules, key=lambda one: -one.tokens)]),
                tokens=total,
                max_tokens=bound,
            )
        complete = self._parts.worker.searchable.is_set()
        return Rules(tuple(rules), total, complete, tuple(index_reasons(self._parts)))

    def recent(self, request: RecentParams) -> Recent:
        """See ``VaultService.recent``."""
        max_tokens = request.max_tokens
        wanted = selected(self._parts.table, request.folder, request.tag)
        ids = [note_id for note_id in self._parts.table.all_ids() if wanted is None or note_id in wanted]
        changed = self._parts.table.last_changed(ids)
        # Of one day as they are: by the file's times.
        ids.sort(key=lambda note_id: changed[note_id].first if note_id in changed else "", reverse=True)
        shown = max(1, min(request.limit or 10, MAX_LIMIT))
        notes: list[Brief] = []
        tokens, aged = 0, self._parts.standings()
        for row, note, entry_ns in self._read(ids):
            standing = standing_of(aged, row.note_id)
            line = record(note, standing)
            cost = estimate(line) + estimate(row.path)
            if len(notes) == shown or (max_tokens and tokens + cost > max_tokens):
                break
            tokens += cost
            kind = first_text(note.properties, "type")
            date = changed.get(row.note_id)
            notes.append(Brief(row.path, note.title, line, kind, note.tags, entry_ns, standing, date))
        reasons = tuple(index_reasons(self._parts))
        return Recent(tuple(notes), len(ids), tokens, len(ids) - len(notes), reasons)

    def catalogue(self, request: CatalogueParams) -> Catalogue:
        """See ``VaultService.catalogue``."""
        limit, max_tokens = request.limit or CATALOGUED, request.max_tokens
        wanted = selected(self._parts.table, request.folder, request.tag)
        ids = self._parts.table.all_ids() if wanted is None else wanted
        rows = sorted(self._parts.table.by_ids(ids).values(), key=_place)
        lasting = self._parts.standings.lasting()
        groups: dict[str, list[Entry]] = {}
        tokens = listed = 0
        for row, note, _ in self._read([row.note_id for row in rows]):
            entry = Entry(row.path, note.title, record(note, lasting.get(row.note_id), lasting=True))
            cost = estimate(entry.line) + estimate(entry.path)
            if listed == limit or (max_tokens and tokens + cost > max_tokens):
                break
            tokens, listed = tokens + cost, listed + 1
            groups.setdefault(_type(row), []).append(entry)
        return Catalogue(
            tuple(Group(kind, tuple(entries)) for kind, entries in groups.items()),
            len(rows),
            tokens,
            len(rows) - listed,
            tuple(index_reasons(self._parts)),
        )

    def triggers(self, request: Triggers) -> Triggered:
        """See ``VaultService.triggers``."""
        deed = Deed(request.tool, request.path, request.command)
        ids = self._parts.table.having(WHEN)
        rows = sorted(self._parts.table.by_ids(ids).values(), key=_place)
        called: list[tuple[NoteRow, str]] = []
        problems: list[str] = []
        for row in rows:
            try:
                if why := called_by(row.properties, deed):
                    called.append((row, why))
            except WhenProblem as problem:
                problems.append(f"{row.path}: {problem}")
        paths = [row.path for row, _ in called]
        fresh = self._parts.sessions.take(request.session, paths) if request.session else paths
        read = self._read([row.note_id for row, _ in called if row.path in fresh])
        return self._told(read, {row.note_id: why for row, why in called}, request.max_tokens, tuple(problems))

    # -- details -------------------------------------------------------------------------------------------------

    def _told(
        self,
        read: Iterable[tuple[NoteRow, Note, int]],
        why: Mapping[NoteId, str],
        max_tokens: int | None,
        problems: tuple[str, ...],
    ) -> Triggered:
        """Return the notes whole while the budget lasts, and the rest on one line each."""
        room = CALLED_TOKENS if max_tokens is None else max_tokens
        aged = self._parts.standings()
        notes: list[TriggeredRule] = []
        tokens = cut = 0
        for row, note, _ in read:
            standing = standing_of(aged, row.note_id)
            text, left = fitted(note.body.strip("\n"), max(0, room - tokens)) if room else (note.body.strip("\n"), 0)
            if left:
                cut += 1
                text = record(note, standing)
                left = note.body.strip("\n").count("\n") + 1
            tokens += estimate(text)
            notes.append(TriggeredRule(row.path, note.title, text, why[row.note_id], left, standing))
        return Triggered(tuple(notes), tokens, cut, problems, tuple(index_reasons(self._parts)))

    def _rule(self, row: NoteRow, standing: Validity | None) -> Rule | None:
        result = self._parts.reader.read(row.path)
        if isinstance(result, Gone):
            self._parts.worker.notice([row.path])
            return None
        if not isinstance(result, Content):
            # Left out, it would be a rule that nobody follows.
            why = getattr(result, "reason", "")
            raise NoteUnreadable(f"the rule {row.path} cannot be read: {why}", hint="vaultrag status", path=row.path)
        note = parse_note(row.path, result.data)
        if not self._still_a_rule(note):
            self._parts.worker.notice([row.path])
            return None
        text = file_text(result.data)
        return Rule(row.path, note.title, text, _created(note.properties), estimate(text), standing)

    def _still_a_rule(self, note: Note) -> bool:
        """By what the file says now, whatever the index still thinks."""
        settings = self._parts.rules
        if marked(note.properties, ALWAYS):
            return True
        keys = [tag_key(tag) for tag in note.tags]
        if any(key == tag or key.startswith(f"{tag}/") for key in keys for tag in map(tag_key, settings.tags)):
            return True
        return any(lies_in(note.path, folder) for folder in settings.folders)

    def _read(self, ids: Sequence[NoteId]) -> Iterable[tuple[NoteRow, Note, int]]:
        """Yield the notes that can be read now, in this order, with the mtime of each file."""
        for start in range(0, len(ids), MAX_LIMIT):
            rows = self._parts.table.by_ids(ids[start : start + MAX_LIMIT])
            for row in rows.values():
                result = self._parts.reader.read(row.path)
                if isinstance(result, Content):
                    yield row, parse_note(row.path, result.data), result.entry.mtime_ns
                elif isinstance(result, Gone | Skipped):
                    self._parts.worker.notice([row.path])


def made(created: str, path: str) -> tuple[bool, str, str]:
    """Return a sort key: dated notes first, by date, then by path."""
    return (not created, created, path)


def _created(properties: Mapping[str, str | Sequence[str]]) -> str:
    return first_text(properties, "created")


def _type(row: NoteRow) -> str:
    return first_text(row.properties, "type").casefold()


def _place(row: NoteRow) -> tuple[object, ...]:
    """By type, those without one last; then by when they were made."""
    kind = _type(row)
    return (not kind, kind, *made(_created(row.properties), row.path))


def _in_short(names: Sequence[str], most: int = 20) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
