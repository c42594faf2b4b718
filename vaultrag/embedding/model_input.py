"""What is sent to a model: text it can take, with the prefix it was trained with, in pieces that fit its window.

Pure. Token counts are estimates here, on the high side, for models whose tokenizer is not at hand: too high costs a
pooled window more, too low a refused request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from vaultrag.domain import NoteText, Passage
from vaultrag.markdown.chunking import passages, windows

CHARS_A_TOKEN = 2.8
"""Latin letters a token in dense text (names, code); prose has about four."""

WINDOW_SHARE = 0.95
"""Of the window, the share that is planned for: the estimate is not a promise."""

MAX_TITLE_CHARS = 300
MAX_WINDOWS = 256
"""More text than this (about a megabyte) is sampled evenly, and the share covered says so."""

PASSAGE_TOKENS = 60
"""By the estimate, title included: some forty-five in prose. Short ones find a buried sentence, longer ones blur it."""
PASSAGE_TITLE_TOKENS = 16
MAX_PASSAGES = 400

SMALLEST_WINDOW = 64
"""Characters; a window is not made smaller than this."""

_LETTERS = re.compile(r"[A-Za-zÀ-ɏ]")
_SPACES = re.compile(r"\s")
# Hangul syllables fall apart into two or three letters in the vocabularies of the BERT family.
_HANGUL = re.compile(r"[가-힣]")
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")

_PREFIXES = {
    "nomic-embed-text": ("search_document: ", "search_query: "),
    "mxbai-embed-large": ("", "Represent this sentence for searching relevant passages: "),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """One text to embed. ``head`` (prefix and title) stays whole when ``body`` has to be cut."""

    head: str
    body: str

    @property
    def text(self) -> str:
        return self.head + self.body


def sendable(text: str) -> str:
    """Text without NUL and lone surrogates, which no model and no JSON takes; of the same length."""
    return _UNSENDABLE.sub(" ", text)


def estimate_tokens(text: str) -> int:
    """About how many tokens a model makes of this, rather too many than too few.

    White space is free, letters are 2.8 a token, Hangul three tokens each, all else (digits, signs, ideographs, kana,
    other alphabets) one each.
    """
    letters = len(_LETTERS.findall(text))
    hangul = len(_HANGUL.findall(text))
    others = len(text) - letters - hangul - len(_SPACES.findall(text))
    return int(letters / CHARS_A_TOKEN) + 3 * hangul + others + 1


def prefixes(model: str, document: str | None = None, query: str | None = None) -> tuple[str, str]:
    """Return what goes in front of a note and of a query: as set, else what the model was trained with.

    Servers do not add these, and a model that knows prefixes ranks clearly worse without.
    """
    name = model.rsplit("/", 1)[-1].lower()
    known = next((pair for start, pair in _PREFIXES.items() if name.startswith(start)), ("", ""))
    return (known[0] if document is None else document, known[1] if query is None else query)


def note_pieces(note: NoteText, prefix: str, window_tokens: int) -> list[Piece]:
    """Return the note in one piece where it fits the window, else in windows, each with the title in front.

    Returns:
        No piece for a note with neither title nor text.
    """
    title = sendable(note.title).strip()[:MAX_TITLE_CHARS]
    body = sendable(note.text).strip()
    if not body:
        return [Piece(prefix, title)] if title else []
    head = f"{prefix}{title}\n" if title else prefix
    budget = max(int(window_tokens * WINDOW_SHARE) - estimate_tokens(head) - 2, 16)
    return [Piece(head, text) for text in _fitting(body, budget)]


def note_passages(note: NoteText) -> list[Passage]:
    """Return the note in passages of whole sentences, each with the title in front; none for a note of a title only."""
    title = _start(sendable(note.title).strip()[:MAX_TITLE_CHARS], PASSAGE_TITLE_TOKENS)
    head = f"{title}: " if title else ""
    found = passages(
        sendable(note.text),
        lambda texts: [estimate_tokens(text) for text in texts],
        budget_tokens=PASSAGE_TOKENS - estimate_tokens(head),
        max_passages=MAX_PASSAGES,
    )
    return [replace(passage, text=head + passage.text) for passage in found]


def _start(text: str, tokens: int) -> str:
    """Its first words, up to so many tokens; of a word that alone has more, the first signs."""
    while (estimate := estimate_tokens(text)) > tokens:
        start = text[: min(len(text) * tokens // estimate, len(text) - 1)]
        text = start.rpartition(" ")[0].rstrip() or start
    return text


def cut_in_two(text: str) -> tuple[str, str]:
    """Halves, cut at white space where there is some near the middle."""
    middle = len(text) // 2
    reach = middle // 2
    space = max(text.rfind(" ", middle - reach, middle), text.rfind("\n", middle - reach, middle))
    at = space if space > 0 else middle
    return text[:at], text[at:]


def _fitting(text: str, budget: int) -> Iterator[str]:
    tokens = estimate_tokens(text)
    if tokens <= budget or len(text) <= SMALLEST_WINDOW:
        yield text
        return
    max_chars = max(len(text) * budget // tokens, SMALLEST_WINDOW)
    for window in windows(text, max_chars):
        # A table of figures in a text of prose: denser than the whole.
        yield from _fitting(window.text, budget) if len(window.text) < len(text) else (window.text,)
