"""What the screen says about itself: the line below the prompt, and the words where no hits stand. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaultrag.client.stages import TITLES, Stage, stage_of
from vaultrag.domain import Answer, Mode, Reason, State, VaultStatus
from vaultrag.tui.state import View
from vaultrag.wording import STATES, because, count, duration, one_line

MODE_NAMES: dict[Mode, str] = {"hybrid": "words+meaning", "words": "words", "meaning": "meaning"}

BAR_COLUMNS = 20

_NO_VECTORS = {"down", "missing", "broken", "waiting", "off"}
_FILTER = re.compile(r"(?:^|\s)-?(?:tag|path|file|after|before|is):\S|(?:^|\s)\[[^\]]+\]", re.IGNORECASE)
_EXCLUSION = re.compile(r"(?:^|\s)-\S")


@dataclass(frozen=True, slots=True)
class StatusLine:
    """A line about the state. ``tone``: plain, warn or bad; ``share``: of a bar, 0 to 1."""

    text: str
    tone: str = "plain"
    share: float | None = None
    left: str = ""


def state_told(view: View) -> StatusLine:
    """Return the most important state in one line."""
    told = _link_told(view)
    if told is not None:
        return told
    if view.status is None or (vault := view.vault) is None:
        return _vault_told(view)
    if view.trouble:
        return StatusLine(view.trouble, "bad")
    stage = stage_of(view.status, vault)
    if stage.name not in ("done", "stuck"):
        return _stage_told(stage, vault)
    if vault.state in ("away", "broken", "refused"):
        return StatusLine(f"{vault.state}: {because(vault.why, vault.hint)}", "bad")
    if view.related_to and view.answer is not None and not view.waiting:
        return StatusLine(f"related to {one_line(view.related_to)}")
    if view.answer is not None and view.mode != "words" and (told := _answer_told(view.answer)) is not None:
        return told
    if view.status.embedder.state in _NO_VECTORS and view.mode != "words":
        embedder = view.status.embedder
        return StatusLine(f"words only: {because(embedder.why, embedder.hint) or embedder.state}", "warn")
    if view.answer is not None and (told := _answer_told(view.answer)) is not None:
        return told
    return StatusLine(f"{one_line(vault.name)} · {count(vault.notes, 'note')}")


def prompt_told(view: View) -> str:
    """Return the text at the right of the prompt: the mode, and if a search is running."""
    return f"{'… ' if view.waiting else ''}{MODE_NAMES[view.mode]}"


def counted(view: View) -> str:
    """Return the text at the right of the state: how many hits there are, and how many are marked."""
    if view.answer is None:
        return ""
    shown = len(view.answer.hits)
    total = max(view.answer.total, shown)
    found = f"{shown:,} of {total:,}" if total > shown else f"{total:,}"
    marked = f"{len(view.marked)} marked · " if view.marked else ""
    return f"{marked}{found} {'related' if view.related_to else 'found'}"


def emptiness(view: View, mode_key: str) -> list[str]:
    """Return the lines shown in place of hits; none where there are hits."""
    if view.hits:
        return []
    if view.related_to:
        return [] if view.waiting else [f"nothing is related to {one_line(view.related_to)}"]
    answer = view.answer
    if answer is None or not view.query.strip():
        if view.waiting and view.query.strip():
            return []
        return ["Type to search.", "", 'words   "a phrase"   -not   tag:#x   path:folder   after:2026-01-01']
    if not view.full:
        return []  # the words have found nothing; the meaning may yet
    lines = [f"Nothing found for {one_line(answer.query)}"]
    if advice := widening(answer, mode_key):
        lines.append(f"Try it {advice}.")
    return lines


def widening(answer: Answer, mode_key: str) -> str:
    """Return what could find more."""
    if answer.state in (State.INDEXING, State.MODEL_MISMATCH):
        return "again when every note has been indexed"
    if not answer.index.current or answer.state is State.PARTIAL:
        return "again in a moment: not everything could be searched"
    if _FILTER.search(answer.query):
        return "without the filters"
    if _EXCLUSION.search(answer.query):
        return "without leaving words out"
    if '"' in answer.query:
        return "without the quotes"
    if answer.mode != "hybrid":
        return f"by words and meaning ({mode_key})" if mode_key else "by words and meaning"
    return "with fewer or other words" if len(answer.query.split()) > 1 else "with another word"


def bar(share: float, columns: int = BAR_COLUMNS) -> str:
    """Return a bar of characters that every terminal has."""
    full = max(0, min(columns, round(share * columns)))
    return "█" * full + "░" * (columns - full)


def _link_told(view: View) -> StatusLine | None:
    link = view.link
    match link.name:
        case "connecting":
            return StatusLine("looking for the daemon …")
        case "starting":
            return StatusLine("starting the daemon …", "warn")
        case "gone":
            return StatusLine(f"the daemon is gone ({one_line(link.why) or 'no answer'}); trying again …", "bad")
        case "stopped":
            return StatusLine("the daemon was stopped; it starts again when you search", "bad")
        case "failed":
            return StatusLine(because(link.why, link.hint), "bad")
    return None


def _vault_told(view: View) -> StatusLine:
    vaults = view.status.vaults if view.status is not None else ()
    if view.status is None:
        return StatusLine("asking the daemon …")
    if vaults:
        return StatusLine(f"{len(vaults)} vaults are served: pick one", "warn")
    return StatusLine("no vault is served; add one: vaultrag up ~/Notes", "warn")


def _stage_told(stage: Stage, vault: VaultStatus) -> StatusLine:
    left = "" if stage.eta_s is None else f"about {duration(stage.eta_s)} left"
    if stage.name == "reading":
        total = vault.notes + stage.left
        return StatusLine(
            f"{TITLES['reading']} {vault.notes:,} of {total:,}", "warn", vault.notes / total if total else 0, left
        )
    if stage.name == "embedding":
        done = vault.notes - stage.left
        text = f"words can be searched; embedding {done:,} of {vault.notes:,}"
        return StatusLine(text, "warn", done / vault.notes, left)
    return StatusLine(f"{TITLES[stage.name]} …", "warn")


def _answer_told(answer: Answer) -> StatusLine | None:
    """Return why an answer is not the plain full one."""
    reasons = [reason for reason in answer.reasons if reason.state is not State.PARTIAL or not _passing(reason)]
    if not reasons:
        return None
    why = "; ".join(because(reason.why, reason.hint) for reason in reasons)
    return StatusLine(
        f"{STATES[min(reasons, key=lambda reason: list(State).index(reason.state)).state]}: {why}", "warn"
    )


def _passing(reason: Reason) -> bool:
    """Return True for the reason that more of the answer follows: it needs no line."""
    return not reason.hint and reason.why.startswith("words only so far")
