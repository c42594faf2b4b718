"""What can be asked of a vault: each question with its parameters and the type of its answer.

A request is made by the client and travels unchanged to the code that answers it. Each class is one method of the
socket: its documentation is the docstring, its parameters are the fields.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args

import msgspec

from vaultrag.domain.answers import Answer, Explanation, InNote, NoteView
from vaultrag.domain.diagnosis import Diagnosis
from vaultrag.domain.note_lists import Catalogue, Recent, Rules, Triggered
from vaultrag.domain.status import TagCount
from vaultrag.domain.timeline import Timeline

Result = TypeVar("Result")


class Params(msgspec.Struct, Generic[Result], frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of every method's parameters, with the type of its result.

    Unknown fields are refused. Defaults are not sent, so that an older daemon is asked only for what it knows.
    """

    method: ClassVar[str]


def result_type(params: type[Params[Any]]) -> Any:
    """Return the type of the answer to a request, as its class declares it."""
    return get_args(params.__orig_bases__[0])[0]  # type: ignore[attr-defined]  # set by the class statement


class Search(Params[Answer], frozen=True):
    """Find the notes that fit a query, best first."""

    method: ClassVar[str] = "search"
    query: str
    limit: int = 0
    """Hits at most; 0 for the default."""
    mode: Literal["hybrid", "words", "meaning"] = "hybrid"
    typing: bool = False
    """The last word may still go on."""
    preview_chars: int = 700
    partial: bool = False
    """Send what words found at once, as the notification ``search/partial``."""
    shape: Literal["full", "preview", "compact"] | None = None
    """How much of each note: all of it in ``text``, its best passage in ``preview``, or one line in ``line``."""
    reader: Literal["large", "small"] | None = None
    """Who reads: sets ``shape`` and ``limit`` where they are not said. large: compact, 10; small: compact, 5."""
    max_tokens: int = 0
    """Budget of all hits together; what was cut for it says so in ``cut`` and ``shortened``. 0 for none."""
    deadline_ms: int | None = None
    """How long the model is waited for; then the answer is ``partial``. 0: as long as it takes. null: what the settings
    say, or as long as it takes where ``partial`` is true."""
    include_weak: bool = False
    """Put weak hits among the others, in place of three of them in ``nearest``."""
    dates: Literal["raise", "filter", "ignore"] = "raise"
    """What a phrase of time in the query does: raise what lies in it, leave out what does not, or nothing."""
    vault: str = ""


class Explain(Params[Explanation], frozen=True):
    """Explain how a query was read, and why each note ranks where it does or is missing."""

    method: ClassVar[str] = "explain"
    query: str
    path: str = ""
    """A note to explain besides, also one that is missing from the answer."""
    limit: int = 0
    mode: Literal["hybrid", "words", "meaning"] = "hybrid"
    vault: str = ""


class Related(Params[Answer], frozen=True):
    """Find the notes near in meaning to a note, or linked with it."""

    method: ClassVar[str] = "related"
    path: str
    limit: int = 0
    linked: bool = True
    """False leaves out notes that are linked with this one already."""
    folder: str = ""
    """Only notes in this folder or below it."""
    vault: str = ""


class Get(Params[NoteView], frozen=True):
    """Return a note: whole, some lines of it, or the section under a heading."""

    method: ClassVar[str] = "get"
    path: str
    first_line: int = 0
    last_line: int = 0
    heading: str = ""
    """Only the section under this heading."""
    shape: Literal["full", "preview", "compact"] = "full"
    """``preview``: only the beginning; ``compact``: the note on one line."""
    max_tokens: int = 0
    """Budget of the text; ``cut`` says how many of the lines asked for are left. 0 for none."""
    vault: str = ""


class RulesParams(Params[Rules], frozen=True):
    """Return the notes that are always to be read, whole, in the order in which they were made."""

    method: ClassVar[str] = "rules"
    max_tokens: int | None = None
    """What all rules may cost together; null for the setting, 0 for no bound. More is an error that names them."""
    vault: str = ""


class RecentParams(Params[Recent], frozen=True):
    """List notes on one line each, the latest changed first."""

    method: ClassVar[str] = "recent"
    limit: int = 0
    """Notes at most; 0 for 10."""
    folder: str = ""
    """Only notes in this folder or below it."""
    tag: str = ""
    """Only notes with this tag, or one below it."""
    max_tokens: int = 0
    vault: str = ""


class TimelineParams(Params[Timeline], frozen=True):
    """List what the notes say about a thing in order of time, one line each."""

    method: ClassVar[str] = "timeline"
    query: str = ""
    """As for ``search``; a phrase of time leaves out what does not lie in it. Empty: all notes."""
    folder: str = ""
    """Only notes in this folder or below it."""
    tag: str = ""
    """Only notes with this tag, or one below it."""
    limit: int = 0
    """Lines at most; 0 for 50."""
    max_tokens: int = 0
    vault: str = ""


class CatalogueParams(Params[Catalogue], frozen=True):
    """List notes on one line each, by type, in an order that no edit of a note's text changes."""

    method: ClassVar[str] = "catalogue"
    folder: str = ""
    """Only notes in this folder or below it."""
    tag: str = ""
    """Only notes with this tag, or one below it."""
    limit: int = 0
    """Notes at most; 0 for 2000."""
    max_tokens: int = 0
    vault: str = ""


class Triggers(Params[Triggered], frozen=True):
    """Return the notes whose property `when` fits what is about to be done, each once in a session."""

    method: ClassVar[str] = "triggers"
    tool: str = ""
    """Name of the tool that is about to be used."""
    path: str = ""
    """The file that it is used on."""
    command: str = ""
    """The command that is about to be run."""
    session: str = ""
    """No note comes twice in one session; empty: nothing is remembered."""
    max_tokens: int | None = None
    """Budget of all notes together; notes beyond it are told on one line. null for 2000, 0 for none."""
    vault: str = ""


class InNoteParams(Params[InNote], frozen=True):
    """Find where a query stands in one note: the lines with its words, and the passage nearest in meaning."""

    method: ClassVar[str] = "in_note"
    path: str
    query: str
    limit: int = 0
    """Lines at most; 0 for the default."""
    mode: Literal["hybrid", "words", "meaning"] = "hybrid"
    """``words`` leaves out the passage nearest in meaning, ``meaning`` the lines that hold words."""
    vault: str = ""


class Why(Params[Diagnosis], frozen=True):
    """Explain what became of one note: whether it can be found, and if not, the rule or fault that keeps it out."""

    method: ClassVar[str] = "why"
    path: str
    """A note, also one that is not indexed or not there."""
    vault: str = ""


class Tags(Params[tuple[TagCount, ...]], frozen=True):
    """List every tag with the number of its notes."""

    method: ClassVar[str] = "tags"
    vault: str = ""
