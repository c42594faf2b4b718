"""Notes as a model or a script reads them: plain text, no columns, no colours, and what was cut said at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vaultrag.domain import Answer, Catalogue, Hit, Rules
from vaultrag.wording import NOTHING_CLOSE, NOTHING_ELSE, because, one_line, safe, validity


def answer_text(answer: Answer) -> Iterator[str]:
    """Return an answer as text, a paragraph a note: its place, then its text or line."""
    for hit in answer.hits:
        yield f"{_head(hit)}\n{safe((hit.text or hit.line or hit.preview).strip())}\n"
    if not answer.hits:
        yield f"nothing found for {one_line(answer.query)}" if not answer.cut else "nothing fits into the budget"
    if answer.nearest:
        yield NOTHING_ELSE if answer.hits else NOTHING_CLOSE
        yield from (f"- {one_line(hit.path)}: {one_line(hit.line)}" for hit in answer.nearest)
    yield from _cut(answer.cut, "notes", answer.shortened)
    yield from (because(reason.why, reason.hint) for reason in answer.reasons)


def rules_text(rules: Rules) -> Iterator[str]:
    """Every rule, whole, under its path."""
    for rule in rules.rules:
        standing = f" [{one_line(validity(rule.standing))}]" if rule.standing is not None else ""
        yield f"{one_line(rule.path)}{standing}\n\n{safe(rule.text.strip())}\n"
    if not rules.complete:
        yield "the vault is still being read: there may be more"


def catalogue_text(catalogue: Catalogue) -> Iterator[str]:
    """Return a line a note, under its type."""
    for group in catalogue.groups:
        yield f"{one_line(group.type) or 'of no type'}:"
        yield from (f"- {one_line(note.path)}: {one_line(note.line)}" for note in group.notes)
        yield ""
    yield from _cut(catalogue.cut, "notes", 0)


def joined(parts: Iterator[str] | Sequence[str]) -> str:
    """As one text, ended by a line break; empty for none."""
    text = "\n".join(parts).rstrip("\n")
    return f"{text}\n" if text else ""


def _head(hit: Hit) -> str:
    standing = f" [{one_line(validity(hit.standing))}]" if hit.standing is not None else ""
    return f"{one_line(hit.citation)}{standing}"


def _cut(cut: int, what: str, shortened: int) -> Iterator[str]:
    parts = [f"{cut} {what} left out"] if cut else []
    parts += [f"{shortened} shortened"] if shortened else []
    if parts:
        yield f"cut: {', '.join(parts)}"
