"""Answers cut to what their reader can take: which shape, how many hits, and a budget of tokens for all of it.

What is counted is what a model reads of a hit (place, title, heading, standing, text), by the estimate of
``text.token_estimate``; the figures and signs around it are the client's to choose. A budget first shortens what each
hit says, then falls back to a line a hit, and only then leaves hits out, from the end; the answer says what was done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vaultrag.domain import Answer, Capacity, Hit, NoteView, Shape, Span
from vaultrag.domain.requests import Search
from vaultrag.retrieval.hit_maker import LINE_TOKENS
from vaultrag.retrieval.snippet import PREVIEW_CHARS
from vaultrag.text.token_estimate import estimate, fit
from vaultrag.wording import validity

DEFAULTS: dict[Capacity, tuple[Shape, int]] = {"large": ("compact", 10), "small": ("compact", 5)}
"""Shape and number of hits for each kind of reader, where the caller does not say."""

PREVIEW_TOKENS = 30
"""A preview that would be shorter than this gives way to the note's line."""

_FIGURES = 8  # score, arms and the signs between the parts of a hit, in a lean rendering
_CHARS = 3.6  # a token, in most languages; only a first guess, what comes of it is counted


@dataclass(frozen=True, slots=True)
class DeliveryOptions:
    """The form and the budget of an answer.

    Attributes:
        max_tokens: Budget of the whole answer; 0 for none.
        counted: The answer says what it costs.
        measure: Counts a text in the units that columns are wanted in.
    """

    shape: Shape = "preview"
    limit: int = 0
    max_tokens: int = 0
    counted: bool = False
    measure: Callable[[str], int] = len

    def preview_chars(self, hits: int) -> int:
        """Return the length of a preview where so many hits share the budget."""
        if not self.max_tokens or not hits:
            return PREVIEW_CHARS
        each = self.max_tokens / hits - 3 * _FIGURES
        return max(int(PREVIEW_TOKENS * _CHARS), min(PREVIEW_CHARS, int(each * _CHARS)))

    def line_tokens(self, hits: int) -> tuple[int, ...]:
        """Return what each line may cost, in tokens: with a budget, the first ones give way to all having theirs."""
        *first, rest = LINE_TOKENS
        if not self.max_tokens or not hits:
            return LINE_TOKENS
        spare = self.max_tokens - hits * (rest + 4 * _FIGURES)
        return (*(max(rest, min(most, rest + spare // len(first))) for most in first), rest)

    @property
    def made(self) -> Shape:
        """Return the shape to make hits with: with a budget, each also has its line to fall back to."""
        return "full" if self.max_tokens and self.shape == "preview" else self.shape


def delivery_of(request: Search, measure: Callable[[str], int] = len) -> DeliveryOptions:
    """Return the options of a search, filled in from the kind of reader."""
    shape, limit = request.shape, request.limit
    if request.reader is not None:
        shape, limit = shape or DEFAULTS[request.reader][0], limit or DEFAULTS[request.reader][1]
    counted = bool(shape or request.max_tokens)
    return DeliveryOptions(shape or "preview", limit, max(0, request.max_tokens), counted, measure)


def delivered(answer: Answer, wish: DeliveryOptions) -> Answer:
    """Return the answer in its shape and within its budget."""
    if not wish.counted:
        return answer
    hits = [_in_shape(hit, wish.shape) for hit in answer.hits]
    costs = [cost(hit) for hit in hits]
    room = wish.preview_chars(len(hits))
    # Previews that a budget had made short begin with are shortened, too.
    shortened = sum(len(hit.preview) > room // 2 for hit in hits) if room < PREVIEW_CHARS else 0
    if wish.max_tokens and sum(costs) > wish.max_tokens:
        hits, again = _shortened(hits, answer.hits, wish.max_tokens)
        shortened = max(shortened, again)
        costs = [cost(hit) for hit in hits]
    kept = _that_fit(costs, wish.max_tokens) if wish.max_tokens else len(hits)
    spent = sum(costs[:kept])
    near = [cost(hit) for hit in answer.nearest]
    offered = _that_fit(near, wish.max_tokens - spent) if wish.max_tokens else len(near)
    return replace(
        answer,
        hits=tuple(hits[:kept]),
        nearest=answer.nearest[:offered],
        shape=wish.shape,
        tokens=spent + sum(near[:offered]),
        cut=len(hits) - kept + len(near) - offered,
        shortened=min(shortened, kept),
    )


def cost(hit: Hit) -> int:
    """Estimate the tokens that a hit costs."""
    standing = validity(hit.standing) if hit.standing is not None else ""
    parts = (hit.citation, hit.title, hit.heading, standing, hit.text or hit.line or hit.preview)
    return _FIGURES + sum(map(estimate, parts))


def _in_shape(hit: Hit, shape: Shape) -> Hit:
    """Only what the shape asks for; hits may have been made with more."""
    if shape == "full":
        return replace(hit, preview="", spans=(), places=hit.places[:1], line="") if hit.text else hit
    if shape == "compact":
        return replace(hit, preview="", spans=(), places=hit.places[:1], text="", heading="") if hit.line else hit
    return replace(hit, line="", text="")


def _shortened(hits: Sequence[Hit], made: Sequence[Hit], budget: int) -> tuple[list[Hit], int]:
    """Best first, each hit with as much as is left for it when each later one keeps at least its line."""
    lines = [_in_shape(hit, "compact") for hit in made]
    reserved = [min(cost(line), cost(hit)) for line, hit in zip(lines, hits, strict=True)]
    room, short = budget - sum(reserved), 0
    found: list[Hit] = []
    for hit, line, least in zip(hits, lines, reserved, strict=True):
        share = room + least
        if cost(hit) <= share:
            shown = hit
        else:
            short += 1
            shown = _cut(hit, share) or (line if cost(line) < cost(hit) else hit)
        found.append(shown)
        room = share - cost(shown)
    return found, short


def _cut(hit: Hit, share: int) -> Hit | None:
    """Cut the preview of a hit to a share of tokens; None where too little would be left, or there is none."""
    if hit.text or not hit.preview:
        return None
    left = share - cost(replace(hit, preview=""))
    if left < PREVIEW_TOKENS:
        return None
    for spare in (0, 3, 8):  # the dots cost something, and parts of a text cost a little more than the whole
        preview = fit(hit.preview, left - spare)
        spans = _within(hit.spans, len(preview))
        cut = replace(hit, preview=preview, spans=spans, places=hit.places[: max(1, len(spans))])
        if cost(cut) <= share:
            return cut
    return None


def _within(spans: Sequence[Span], end: int) -> tuple[Span, ...]:
    return tuple(span for span in spans if span.end <= end - 2)  # the dots


def _that_fit(costs: Sequence[int], budget: int) -> int:
    total = 0
    for number, one in enumerate(costs):
        total += one
        if total > budget:
            return number
    return len(costs)


def within(view: NoteView, max_tokens: int) -> NoteView:
    """Return a note within a budget: whole lines as long as they fit.

    A first line that is longer than the whole budget is cut itself, and counted among those that are left.
    """
    text, cut = fitted(view.text, max_tokens) if max_tokens else (view.text, 0)
    end = max(view.start_line, view.end_line - cut) if cut else view.end_line
    return replace(view, text=text, end_line=end, tokens=estimate(text), cut=cut)


def fitted(text: str, max_tokens: int) -> tuple[str, int]:
    """As many whole lines as cost no more than so many tokens, and how many lines are left."""
    if estimate(text) <= max_tokens:
        return text, 0
    lines = text.split("\n")
    kept = spent = 0
    for line in lines:
        spent += estimate(line) + 1
        if spent > max_tokens:
            break
        kept += 1
    return "\n".join(lines[:kept]) if kept else fit(lines[0], max_tokens), len(lines) - kept
