"""The table of tools: what each is for, what goes in, what comes out, how it is asked of the daemon."""

from __future__ import annotations

import difflib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from vaultrag.client.resolve import cited_lines
from vaultrag.domain import Capacity
from vaultrag.errors import InvalidParams
from vaultrag.mcp import answers, text_answers
from vaultrag.mcp.session import Session, vault_of

MOST = 50
"""Notes that one call lists at most."""

HITS: dict[Capacity, int] = {"large": 10, "small": 5}
"""Notes that a search brings where it says nothing of it; the daemon's own figures."""

HIT_TOKENS: dict[Capacity, int] = {"large": 150, "small": 110}
"""A search may cost so much a note, where it says nothing of it."""

FIELD_TOKENS = 34
"""What the names of a note's fields, and what it says twice, cost besides what the daemon counts."""

NOTE_AROUND = 80
"""Tokens of what stands around a note's text."""

NOTE_TOKENS: dict[Capacity, int] = {"large": 16_000, "small": 2_000}
"""What is read of a note at once may cost so much; the rest is read after it."""

DAY_NS = 86_400 * 10**9

Count = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
Hits = Annotated[int, msgspec.Meta(ge=0, le=MOST, description="Notes at most; 0: as many as suit the reader.")]
Line = Annotated[int, msgspec.Meta(ge=0)]
Budget = Annotated[
    int, msgspec.Meta(ge=0, description="Tokens the answer may cost, about; 0: as much as the reader can take.")
]
NotePath = Annotated[str, msgspec.Meta(description="A path in the vault, or a citation: Folder/Note.md#L3-L9.")]


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of every tool's arguments."""


class SearchNotes(Arguments, frozen=True):
    query: Annotated[
        str,
        msgspec.Meta(
            description='A question or words. Also "a phrase", -not, tag:#x, path:folder, file:name, [property:value], '
            "during:2026-01, after:2026-01-31, before:2026-01-31, as-of:2024, is:orphan."
        ),
    ]
    limit: Hits = 0
    max_tokens: Budget = 0


class ReadNote(Arguments, frozen=True):
    path: NotePath
    heading: Annotated[str, msgspec.Meta(description="Only the section under this heading.")] = ""
    first_line: Line = 0
    last_line: Line = 0
    shape: Annotated[Literal["full", "compact"], msgspec.Meta(description="compact: the note on one line.")] = "full"
    max_tokens: Budget = 0


class RelatedNotes(Arguments, frozen=True):
    path: NotePath
    limit: Hits = 0
    unlinked: Annotated[bool, msgspec.Meta(description="Leave out notes that are linked with it already.")] = False


class RecentNotes(Arguments, frozen=True):
    limit: Count = 20
    folder: Annotated[str, msgspec.Meta(description="Only notes in this folder or below it.")] = ""
    tag: Annotated[str, msgspec.Meta(description="Only notes with this tag, or one below it.")] = ""
    days: Annotated[int, msgspec.Meta(ge=0, le=3660, description="Changed in so many days; 0: at any time.")] = 0


class VaultTimeline(Arguments, frozen=True):
    query: Annotated[str, msgspec.Meta(description="As for search_notes; empty: all notes.")] = ""
    limit: Count = 20


class VaultRules(Arguments, frozen=True):
    pass


class VaultStatus(Arguments, frozen=True):
    pass


@dataclass(frozen=True, slots=True)
class Desk:
    """The connection that answers, and the kind of reader."""

    link: Session
    capacity: Capacity = "large"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. ``run`` asks the daemon; ``text`` says its answer in words."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    answer: type[msgspec.Struct]
    run: Callable[[Desk, Any], Awaitable[Any]]
    text: Callable[[Any, text_answers.Fence], str]


async def _search(desk: Desk, asked: SearchNotes) -> answers.Findings:
    limit = asked.limit or HITS[desk.capacity]
    budget = asked.max_tokens or _hits_budget(desk, limit)
    counted = _less(budget, limit * FIELD_TOKENS)
    answer = await desk.link.ask(
        lambda daemon: daemon.search(asked.query, limit=limit, reader=desk.capacity, max_tokens=counted)
    )
    return answers.findings(answer, budget)


def _less(budget: int, around: int) -> int:
    """Return what is left of a budget for what the daemon counts; never 0, which means no budget to it."""
    return max(1, budget // 2, budget - around)


def _hits_budget(desk: Desk, limit: int) -> int:
    return HIT_TOKENS[desk.capacity] * max(limit, HITS[desk.capacity])


async def _read(desk: Desk, asked: ReadNote) -> answers.NoteText:
    path, first, last = cited_lines(asked.path)
    budget = asked.max_tokens or NOTE_TOKENS[desk.capacity]
    view = await desk.link.ask(
        lambda daemon: daemon.get(
            path,
            first_line=asked.first_line or first,
            last_line=asked.last_line or last,
            heading=asked.heading,
            shape=asked.shape,
            max_tokens=_less(budget, NOTE_AROUND),
        )
    )
    return answers.note_text(view)


async def _related(desk: Desk, asked: RelatedNotes) -> answers.Findings:
    path, limit = cited_lines(asked.path)[0], asked.limit or HITS[desk.capacity]
    answer = await desk.link.ask(lambda daemon: daemon.related(path, limit=limit, linked=not asked.unlinked))
    return answers.findings(answer, _hits_budget(desk, limit))


async def _recent(desk: Desk, asked: RecentNotes) -> answers.Changes:
    recent = await desk.link.ask(lambda daemon: daemon.recent(limit=asked.limit, folder=asked.folder, tag=asked.tag))
    return answers.changes(recent, time.time_ns() - asked.days * DAY_NS if asked.days else 0)


async def _timeline(desk: Desk, asked: VaultTimeline) -> answers.TimelineText:
    return answers.timeline(await desk.link.ask(lambda daemon: daemon.timeline(asked.query, limit=asked.limit)))


async def _rules(desk: Desk, asked: VaultRules) -> answers.RuleBook:
    return answers.rule_book(await desk.link.ask(lambda daemon: daemon.rules()))


async def _status(desk: Desk, asked: VaultStatus) -> answers.VaultState:
    status = await desk.link.ask(lambda daemon: daemon.status())
    return answers.vault_state(status, vault_of(status, desk.link.vault))


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("search_notes", "Search the notes",
             "Find notes of the person's vault by words and by meaning, each with its best sentences and a citation. "
             "Call this before answering about earlier work, decisions, people, dates or preferences. abstain: nothing "
             "is close enough to answer from.",
             SearchNotes, answers.Findings, _search, text_answers.of_findings),
        Tool("read_note", "Read a note",
             "A note whole, the lines of a citation, the section under a heading, or on one line. Read before quoting.",
             ReadNote, answers.NoteText, _read, text_answers.of_note),
        Tool("related_notes", "Notes near a note",
             "Notes that are near a note in meaning, or linked with it.",
             RelatedNotes, answers.Findings, _related, text_answers.of_findings),
        Tool("recent_notes", "Recent changes",
             "Notes by the time of their last change, the latest first, on one line each.",
             RecentNotes, answers.Changes, _recent, text_answers.of_changes),
        Tool("vault_timeline", "In order of time",
             "What the notes say about a thing, the earliest first, one line each.",
             VaultTimeline, answers.TimelineText, _timeline, text_answers.of_timeline),
        Tool("vault_rules", "The vault's rules",
             "The notes that the person has marked as rules, whole. They hold for everything done here.",
             VaultRules, answers.RuleBook, _rules, text_answers.of_rules),
        Tool("vault_status", "The state of the vault",
             "How many notes can be searched, and what is not ready, and why.",
             VaultStatus, answers.VaultState, _status, text_answers.of_state),
    )
}  # fmt: skip


def arguments_of(tool: Tool, given: dict[str, Any]) -> Arguments:
    """Check the arguments; a number that came as text becomes a number.

    Raises:
        InvalidParams
    """
    known = [field.name for field in msgspec.structs.fields(tool.arguments)]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name[:100], known, n=1)
            raise InvalidParams(
                f"{tool.name} has no argument {name[:100]!r}",
                agent_hint=f"did you mean {near[0]}?"
                if near
                else f"{tool.name} with {', '.join(known) or 'no arguments'}",
            )
    try:
        return msgspec.convert(given, tool.arguments, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidParams(f"{tool.name}: {str(error)[:300]}") from error
