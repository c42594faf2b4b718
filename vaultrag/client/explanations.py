"""An explanation as lines of text. Pure."""

from __future__ import annotations

from rich.text import Text

from vaultrag.domain import ExplainedHit, Explanation
from vaultrag.wording import advice, one_line


def explanation_lines(explanation: Explanation) -> list[Text]:
    """Return the query as it was read, the note asked about, and the first hits with their parts."""
    words = ", ".join(_word(word.text, word.notes, word.role) for word in explanation.words)
    lines = [Text(one_line(f"words  {words or 'none'}"))]
    if explanation.filters:
        lines.append(Text(one_line("only   " + " ".join(explanation.filters))))
    lines.append(Text(f"tier   {explanation.tier}"))
    lines.append(Text("params " + ", ".join(f"{name} {value:g}" for name, value in explanation.params.items())))
    lines += [Text(one_line(f"state  {reason.state}: {reason.why}")) for reason in explanation.reasons]
    if explanation.asked is not None:
        lines += [Text(), *_hit(explanation.asked)]
    for hit in explanation.hits:
        lines += [Text(), *_hit(hit)]
    return lines


def _word(text: str, notes: int, role: str) -> str:
    where = "in no note" if not notes else f"in {notes}"
    return f"{text} ({where}{'' if role in ('word', 'phrase') else ', ' + role})"


def _hit(hit: ExplainedHit) -> list[Text]:
    lines = [Text(one_line(f"{hit.path}  {hit.verdict}"), style="bold" if hit.found else "")]
    if hit.hint:
        lines.append(Text(one_line(f"  {advice(hit.hint)}")))
    for part in hit.evidence:
        figures = f"raw {part.raw:8.3f}  weight {part.weight:.2f}  adds {part.contribution:+.4f}"
        lines.append(Text(f"  {part.arm:<10} rank {part.rank:<4} {figures}"))
    if hit.rank:
        cosine = "no vector" if hit.cosine is None else f"cosine {hit.cosine:.3f}"
        held = f"holds {hit.covered:.0%} of the words' weight, {hit.near:.0%} close together"
        lines.append(Text(f"  score {hit.score:.4f}; {held}, {cosine}"))
    return lines
