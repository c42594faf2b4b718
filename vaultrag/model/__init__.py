"""The words vaultrag thinks in: notes, changes, queries, hits, answers. Frozen values, no behaviour to speak of."""

from typing import TYPE_CHECKING

from vaultrag.model.answers import (
    Answer,
    Evidence,
    ExplainedHit,
    ExplainedWord,
    Explanation,
    Hit,
    NoteView,
    Reason,
    Span,
    State,
)
from vaultrag.model.changes import (
    Change,
    Content,
    Delete,
    DiskEntry,
    Gone,
    IndexedEntry,
    Read,
    ReadResult,
    Scan,
    Skipped,
    Unreadable,
)
from vaultrag.model.findings import (
    ClauseCount,
    NameHit,
    Neighbour,
    NoteRow,
    WordHit,
    WordResult,
)
from vaultrag.model.notes import (
    Heading,
    Link,
    LinkKind,
    Note,
    NoteId,
    NotePath,
    NoteText,
)
from vaultrag.model.queries import (
    Clause,
    Filters,
    Mode,
    PropertyFilter,
    Query,
    Reader,
    Term,
)
from vaultrag.model.status import (
    DaemonStatus,
    EmbedderStatus,
    TagCount,
    VaultStatus,
)
from vaultrag.model.vectors import (
    EmbeddedNote,
    EmbedProblem,
    Identity,
    Passage,
)

if TYPE_CHECKING:
    from vaultrag.model.vectors import Vector as Vector

__all__ = [
    "Answer",
    "Evidence",
    "ExplainedHit",
    "ExplainedWord",
    "Explanation",
    "Hit",
    "NoteView",
    "Reason",
    "Span",
    "State",
    "Change",
    "Content",
    "Delete",
    "DiskEntry",
    "Gone",
    "IndexedEntry",
    "Read",
    "ReadResult",
    "Scan",
    "Skipped",
    "Unreadable",
    "ClauseCount",
    "NameHit",
    "Neighbour",
    "NoteRow",
    "WordHit",
    "WordResult",
    "Heading",
    "Link",
    "LinkKind",
    "Note",
    "NoteId",
    "NotePath",
    "NoteText",
    "Clause",
    "Filters",
    "Mode",
    "PropertyFilter",
    "Query",
    "Reader",
    "Term",
    "DaemonStatus",
    "EmbedderStatus",
    "TagCount",
    "VaultStatus",
    "EmbedProblem",
    "EmbeddedNote",
    "Identity",
    "Passage",
]
