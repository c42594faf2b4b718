"""Whether a text is English, by its function words and letters. Pure; no model is asked."""

from __future__ import annotations

import re
import unicodedata

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


def is_english(text: str) -> bool | None:
    """Tell whether a text is English by its words; None for one that could be of any language in Latin letters.

    Each word has a vote at most: for English the function words of English; against it those of eight other languages,
    words with a letter beyond A to Z, and words of other scripts.
    """
    words = [word.casefold() for word in _WORD.findall(unicodedata.normalize("NFC", text))]
    english = sum(word in _ENGLISH_WORDS for word in words)
    foreign = sum(word in _FOREIGN_WORDS or _beyond_english(word) for word in words)
    return None if foreign == english else english > foreign


def _beyond_english(word: str) -> bool:
    # A single Greek letter is a sign in any language.
    return not word.isascii() and not (len(word) == 1 and "\u0370" <= word <= "\u03ff")
