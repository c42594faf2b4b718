"""A note on one line: what it says, in which order of choice, and what it may cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.domain import NotePath, Validity
from vaultrag.markdown import parse_note
from vaultrag.retrieval.one_line_summary import RECORD_TOKENS, record
from vaultrag.text.token_estimate import estimate
from vaultrag.wording import validity


def line(text: str, standing: Validity | None = None, path: str = "Note.md") -> str:
    return record(parse_note(NotePath(path), text.encode()), standing)


BODY = "# Note\n\nA first sentence. You must close the door. The end.\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("---\ndescription: What it is about.\nsummary: Not this.\n---\n" + BODY, "What it is about."),
        ("---\nSummary: In a word.\n---\n" + BODY, "In a word."),
        (BODY, "You must close the door."),
        (BODY + "\n## In short\n\nKeep it shut.\n\n## More\n\nNever mind.\n", "Keep it shut."),
        ("# Note\n\nA first sentence. A second one.\n", "A first sentence."),
        ("# Note\n\n#tag #other\n\nA first sentence.\n", "A first sentence."),
        ("# Note\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nBelow the table.\n", "Below the table."),
        ("# Note\n\n門は必ず閉めること。次の文。\n", "門は必ず閉めること。"),
        ("# Note\n\nEin Satz. Das Tor muss zu sein.\n", "Das Tor muss zu sein."),
    ],
)
def test_what_it_says(text: str, says: str) -> None:
    """The header's own words, else a section that promises the rule, else the first rule, else the first sentence."""
    assert line(text).partition(" — ")[2] == says


def test_the_whole_line() -> None:
    """Title, type, status, dates, what it says, and the notes that it links to, in this order."""
    header = "---\ntype: rule\nstatus: draft\nconfidence: 0.8\nvalid_from: 2026-01-01\n---\n"
    text = f"{header}# N\n\nSee [[A|that]]. [[B]] too."
    assert line(text) == ("Note (rule; draft; confidence 0.8; since 2026-01-01) — See that. → [[A]], [[B]]")


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (Validity("superseded", (NotePath("a/New.md"),), "2026-01-31"), "superseded by New 2026-01-31"),
        (Validity("superseded"), "superseded"),
        (Validity("expired", since="2025-12-31"), "expired 2025-12-31"),
        (Validity("invalidated", (NotePath("Proof.md"),)), "invalidated by Proof"),
        (Validity("invalidated", through="x/Base.md"), "rests on Base, which no longer holds"),
        (Validity("upcoming", since="2027-01-01"), "valid only from 2027-01-01"),
    ],
)
def test_a_standing_is_told_in_place_of_the_status(standing: Validity, words: str) -> None:
    """Why a note no longer holds stands where its status would, which says less."""
    assert validity(standing) == words
    assert line("---\ntype: rule\nstatus: active\n---\nText.", standing).startswith(f"Note (rule; {words}")


@given(st.text(max_size=400), st.text(max_size=80))
def test_no_note_breaks_a_line(body: str, kind: str) -> None:
    """Whatever a note holds, its line is one line, and costs no more than it may."""
    note = parse_note(NotePath("A note.md"), f"---\ntype: {kind!r}\n---\n{body}".encode("utf-8", "replace"))
    made = record(note)
    assert estimate(made) <= RECORD_TOKENS
    assert "\n" not in made


def test_a_lasting_line_tells_nothing_that_passes() -> None:
    """How sure a note is and when it was changed are left out of a line that is to stay the same."""
    lines = {
        record(
            parse_note(NotePath("A.md"), f"---\nconfidence: {sure}\nupdated: {day}\n---\nUse the pump.\n".encode()),
            lasting=True,
        )
        for sure, day in ((0.5, "2026-01-01"), (0.9, "2026-02-01"))
    }
    assert len(lines) == 1
