"""A note on one line, made without a model: title, type, status, dates, what it says in a sentence, links.

What it says is, in this order: the sentence that a query found; the header's ``description`` or ``summary``; what
stands under a heading such as "Rule" or "In short"; the first sentence that obliges somebody to something; the first
sentence. Nothing is worded anew: a line is cut from the note, and dots show where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vaultrag.model import Note, Standing
from vaultrag.notes.marks import first_text
from vaultrag.notes.sentences import Unit, units
from vaultrag.notes.tokens import estimate, fit
from vaultrag.retrieval.normalize import folded
from vaultrag.retrieval.snippet import Preview, occurrences

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
_EXCEPTS = re.compile(
    r"\b(?:except\w*|but|whereas|though|apart from|aside from|only (?:if|when|on|for)|unless|however|instead|"
    r"opposite|the one (?:case|kind|time)|does not hold|no \w+ is (?:needed|required)|nur (?:wenn|bei|für)|"
    r"außer|ausnahm\w*|ausgenommen|sondern|aber|jedoch|stattdessen)\b|除|例外|ただし",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(?<=[;:])\s+")
PART = 0.7
"""So much of a piece must be there for its words to count."""

EXCEPTION, RULE, TORN = 0.5, 0.3, 0.1
"""Worth of an exception and of a rule, and what a stretch loses that begins within a sentence; all words of a query
have 1."""

_ONLY_TAGS = re.compile(r"(?:#\S+\s*)+")
_LINK_MARKS = re.compile(r"\[\[([^\]|]*\|)?([^\]]*)\]\]")


def record(
    note: Note,
    standing: Standing | None = None,
    *,
    wanted: Mapping[str, float] | None = None,
    place: Preview | None = None,
    tokens: int = RECORD_TOKENS,
) -> str:
    """The line.

    Args:
        note: Whose.
        standing: Why it no longer holds; told first of all.
        wanted: Folded stems of a query's words with their weights; with ``place``, the line says what fits the query.
        place: Where in the body the query's best place is.
        tokens: What the line may cost at most, by the estimate of ``notes.tokens``.
    """
    head = fit(note.title, _TITLE_TOKENS)
    told_of = list(_facts(note, standing))
    facts = fit(
        "; ".join(
            told_of[:1] if place is not None and standing is None else told_of[: 2 if place is not None else None]
        ),
        _FACTS_TOKENS,
    )
    line = f"{head} ({facts})" if facts else head
    room = tokens - estimate(line) - 2  # the dash, and what the estimate gains where two texts meet
    if room >= _MIN_SAYING:
        saying = _matching(note.text.text, wanted or {}, place, room) if place is not None else ""
        if saying := saying or _joined(_saying(note, units(note.text.text)), room):
            line = f"{line} — {saying}"
    for link in _links(note, line) if place is None else ():
        longer = f"{line} → [[{link}]]" if "→" not in line else f"{line}, [[{link}]]"
        if estimate(longer) > tokens:
            break
        line = longer
    return line if estimate(line) <= tokens else fit(line, tokens)


def _facts(note: Note, standing: Standing | None) -> Iterator[str]:
    kind, status = first_text(note.properties, "type"), first_text(note.properties, "status")
    if kind:
        yield kind
    if standing is not None:
        yield told(standing)
    elif status:
        yield status
    if confidence := first_text(note.properties, "confidence"):
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
        for name in ("updated", "created", "date"):
            if day := first_text(note.properties, name)[:10]:
                yield day if name == "date" else f"{name} {day}"
                break


def told(standing: Standing) -> str:
    """A standing in words: "superseded by Supplier list", "expired 2024-12-31"."""
    if standing.through:
        return f"rests on {_name(standing.through)}, which no longer holds"
    if standing.state == "upcoming":
        return f"valid only from {standing.since}"
    by = f" by {_name(standing.by[0])}" if standing.by else ""
    since = f" {standing.since}" if standing.since else ""
    return f"{standing.state}{by}{since}"


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _saying(note: Note, sentences: Sequence[Unit]) -> Iterator[str]:
    """Sentences, the one that says most first; as many of them are used as there is room for."""
    if said := first_text(note.properties, *_SAID):
        yield said
        return
    prose = [unit for unit in sentences if not unit.heading and not _ONLY_TAGS.fullmatch(unit.text)] or list(sentences)
    prose = [unit for unit in prose if " | " not in unit.text] or prose  # rows of a table say little by themselves
    obliging = [unit for unit in prose if _OBLIGES.search(unit.text)]
    yield from (unit.text for unit in _under_rule(sentences) or obliging or prose[:1])


def _matching(text: str, wanted: Mapping[str, float], place: Preview, room: int) -> str:
    """The stretch of the place found that answers best, as long as there is room for."""
    inside = [unit for unit in _units_at(text, place.first, place.last) if not unit.heading]
    pieces = [piece for unit in inside for piece in _pieces(_plain(unit.text), wanted)]
    best, most = ("", -1.0)
    for first in range(len(pieces)):
        stretch = list(_fitting(pieces[first:], room))
        worth = _worth(stretch, wanted)
        if worth > most + 1e-9:
            best, most = _told_of(stretch, room), worth
    return best


def _units_at(text: str, first: int, last: int) -> list[Unit]:
    """Those of ``units(text)`` that stand on these lines, counted from the first line read.

    No unit runs over a blank line, so nothing beyond the blank lines around the place is read.
    """
    lines = text.split("\n")
    above = min(first, len(lines))
    while above and lines[above - 1].strip():
        above -= 1
    below = last + 1
    while below < len(lines) and lines[below].strip():
        below += 1
    read = units("\n".join(lines[above:below]))
    return [unit for unit in read if unit.end >= first - above and unit.start <= last - above]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a part of a long one. ``telling``: its share of what the sentence is worth by itself."""

    text: str
    tokens: int
    words: frozenset[str]
    telling: float
    begins: bool


def _pieces(sentence: str, wanted: Mapping[str, float]) -> Iterator[_Piece]:
    telling = _telling(sentence)
    parts = [part for part in _PARTS.split(sentence) if part]
    costs = [estimate(part) for part in parts]
    for number, part in enumerate(parts):
        words = frozenset(word for _, _, word in occurrences(folded(part), wanted))
        yield _Piece(part, costs[number], words, telling * costs[number] / (sum(costs) or 1), number == 0)


def _fitting(pieces: Sequence[_Piece], room: int) -> Iterator[_Piece]:
    """The pieces that there is room for, the last one perhaps in part: then with its share of what it tells."""
    for piece in pieces:
        if room < min(piece.tokens, _MIN_SAYING):
            return
        share = min(1.0, room / piece.tokens)
        yield replace(piece, telling=piece.telling * share, words=piece.words if share > PART else frozenset())
        room -= piece.tokens


def _worth(stretch: Sequence[_Piece], wanted: Mapping[str, float]) -> float:
    words = frozenset().union(*(piece.words for piece in stretch))
    total = sum(wanted.values()) or 1.0
    whole = 0.0 if stretch[0].begins else -TORN
    return sum(wanted[word] for word in words) / total + sum(piece.telling for piece in stretch) + whole


def _told_of(stretch: Sequence[_Piece], room: int) -> str:
    text = fit(" ".join(piece.text for piece in stretch), room)
    return text if stretch[0].begins else f"… {text}"


def _telling(sentence: str) -> float:
    """What a sentence is worth by itself: who asks after a rule asks after its exception most of all."""
    if _EXCEPTS.search(sentence):
        return EXCEPTION
    return RULE if _OBLIGES.search(sentence) else 0.0


def _under_rule(sentences: Sequence[Unit]) -> list[Unit]:
    """What stands under the first heading that promises the rule, up to the next heading."""
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
        plain = _plain(sentence)
        if not plain:
            continue
        longer = f"{text} {plain}" if text else plain
        if estimate(longer) > room:
            return text or fit(plain, room)
        text = longer
    return text


def _plain(sentence: str) -> str:
    return " ".join(_LINK_MARKS.sub(r"\2", sentence).split())


def _links(note: Note, told: str) -> list[str]:
    """The first notes that it links to and that have not been told of yet."""
    named = (link.target for link in note.links if link.target not in told and "://" not in link.target)
    return list(dict.fromkeys(named))[:_LINKS]
