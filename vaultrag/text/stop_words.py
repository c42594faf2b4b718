"""Words that decide nothing, in the languages the vaults at hand are written in most.

They are looked for only in quotes, or when a query holds nothing else. The lists are short on purpose: a word so common
in a vault that it tells nothing is noticed by its count there, whatever the language.
"""

from __future__ import annotations

_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below between both but by can
could did do does doing down during each few for from further get had has have having he her here hers him his how i if
in into is it its itself just me more most my no nor not of off on once only or other our ours out over own said same
say says she should so some such than that the their theirs them then there these they this those through to too under
until up us very was we were what when where which while who whom why will with would you your yours
"""

_GERMAN = """
aber als am an auch auf aus bei bin bis da das dass dem den der des die dies diese dieser doch du durch ein eine einem
einen einer er es fur gegen hat hatte ich ihr im in ist ja kann kein keine man mein mit muss nach nicht noch nur ob oder
ohne sein seine sich sie sind so uber um und uns unter vom von vor war warum was weil wenn wer werden wie wird wir wo zu
zum zur
"""

# Stop words in German, but words of weight in English.
_WEIGHTY = {"die", "hat", "man", "war"}

STOP_WORDS = frozenset(_ENGLISH.split()) | frozenset(_GERMAN.split()) - _WEIGHTY
"""Folded, lower case."""
