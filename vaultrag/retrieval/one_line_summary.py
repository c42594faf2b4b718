"""A note on one line, made without a model: title, type, status, dates, what it says in a sentence, links.

What it says is, in this order: the header's ``description`` or ``summary``; what stands under a heading such as "Rule"
or "In short"; the first sentence that obliges somebody to something; the first sentence. Nothing is worded anew: a line
is cut from the note, and dots show where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from vaultrag.domain import Note, Validity
from vaultrag.markdown.property_flags import first_text
from vaultrag.text.sentences import Unit, units
from vaultrag.text.token_estimate import estimate, fit
from vaultrag.wording import validity

RECORD_TOKENS = 58
"""No line is estimated to cost more."""

_TITLE_TOKENS = 16
_FACTS_TOKENS = 22
_LINKS = 3
_MIN_SAYING = 6  # tokens; less than that says nothing

_SAID = ("description", "summary", "rule", "abstract")
_RULE_HEADING = re.compile(
    r"\b(?:the )?(?:rules?|in short|summary|tl;?dr|decision|conclusion|regeln?|kurz(?:fassung)?|zusammenfassung|"
    r"entscheidung|beschluss|fazit)\b|要点|まとめ|規則|规定|结论|結論|概要",
    re.IGNORECASE,
)
_OBLIGES = re.compile(
    r"\b(?:must|may|never|always|shall|only|forbidden|prohibited|required|mandatory|at (?:least|most)|"
    r"no (?:more|less) than|may not|not allowed|is allowed|are allowed|do not|don't|have to|has to|unless|except|"
    r"nobody|no one|muss|müssen|darf|dürfen|nie|niemals|immer|nur|verboten|mindestens|höchstens|spätestens|außer|"
    r"niemand)\b"
    r"|必ず|必须|必須|禁止|不得|不要|してはいけない|なければならない|以内|のみ",
    re.IGNORECASE,
)
_ONLY_TAGS = re.compile(r"(?:#\S+\s*)+")
_LINK_MARKS = re.compile(r"\[\[([^\]|]*\|)?([^\]]*)\]\]")


def record(note: Note, standing: Validity | None = None, *, tokens: int = RECORD_TOKENS, lasting: bool = False) -> str:
    """Return the line.

    Args:
        note: Whose.
        standing: Why it no longer holds; told first of all.
        tokens: What the line may cost at most, by the estimate of ``text.token_estimate``.
        lasting: Leave out what changes while the note says the same: how sure it is, when it was last changed.
    """
    head = fit(note.title, _TITLE_TOKENS)
    facts = fit("; ".join(_facts(note, standing, lasting)), _FACTS_TOKENS)
    line = f"{head} ({facts})" if facts else head
    room = tokens - estimate(line) - 2  # the dash, and what the estimate gains where two texts meet
    if room >= _MIN_SAYING and (saying := _joined(_saying(note, units(note.text.text)), room)):
        line = f"{line} — {saying}"
    for link in _links(note, line):
        longer = f"{line} → [[{link}]]" if "→" not in line else f"{line}, [[{link}]]"
        if estimate(longer) > tokens:
            break
        line = longer
    return line if estimate(line) <= tokens else fit(line, tokens)


def _facts(note: Note, standing: Validity | None, lasting: bool) -> Iterator[str]:
    kind, status = first_text(note.properties, "type"), first_text(note.properties, "status")
    if kind:
        yield kind
    if standing is not None:
        yield validity(standing)
    elif status:
        yield status
    if not lasting and (confidence := first_text(note.properties, "confidence")):
        yield f"confidence {confidence}"
    first, last = (
        first_text(note.properties, "valid_from")[:10],
        first_text(note.properties, "valid_to", "valid_until")[:10],
    )
    if last and (standing is None or standing.since != last):
        yield f"valid {first} to {last}" if first else f"valid to {last}"
    elif first and not last:
        yield f"since {first}"
    else:
        for name in ("created", "date") if lasting else ("updated", "created", "date"):
            if day := first_text(note.properties, name)[:10]:
                yield day if name == "date" else f"{name} {day}"
                break


def _saying(note: Note, sentences: Sequence[Unit]) -> Iterator[str]:
    """Sentences, the one that says most first; as many of them are used as there is room for."""
    if said := first_text(note.properties, *_SAID):
        yield said
        return
    prose = [unit for unit in sentences if not unit.heading and not _ONLY_TAGS.fullmatch(unit.text)] or list(sentences)
    prose = [unit for unit in prose if " | " not in unit.text] or prose  # rows of a table say little by themselves
    obliging = [unit for unit in prose if _OBLIGES.search(unit.text)]
    yield from (unit.text for unit in _under_rule(sentences) or obliging or prose[:1])


def _under_rule(sentences: Sequence[Unit]) -> list[Unit]:
    """Return what stands under the first heading that promises the rule, up to the next heading."""
    for number, unit in enumerate(sentences):
        if unit.heading and _RULE_HEADING.search(unit.text) and number:  # the first heading is the note's own title
            under: list[Unit] = []
            for following in sentences[number + 1 :]:
                if following.heading:
                    break
                under.append(following)
            if under:
                return under
    return []


def _joined(sentences: Iterable[str], room: int) -> str:
    """As many sentences as fit whole; the first one is cut where it must be."""
    text = ""
    for sentence in sentences:
        bare = plain(sentence)
        if not bare:
            continue
        longer = f"{text} {bare}" if text else bare
        if estimate(longer) > room:
            return text or fit(bare, room)
        text = longer
    return text


def plain(sentence: str) -> str:
    """Return a sentence on one line, with links as they read."""
    return " ".join(_LINK_MARKS.sub(r"\2", sentence).split())


def _links(note: Note, told: str) -> list[str]:
    """Return the first notes that it links to and that have not been told of yet."""
    named = (link.target for link in note.links if link.target not in told and "://" not in link.target)
    return list(dict.fromkeys(named))[:_LINKS]
