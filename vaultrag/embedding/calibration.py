"""What a model's cosines mean: 0.5 is close for one model and far for another, so each is measured once, by itself.

A few questions and their answers, of as many fields, are embedded as queries and notes are. How near a question comes
to its own answer, and to the others, are two points that fix a scale (``model.Scale``): the cosines of every model are
taken to the scale that the parameters were chosen on. It holds for the model, not for a vault or a query: scaled by its
own background, a question that the vault knows nothing of looks as near as one that it answers (AUROC of foreign
questions in the buried set: 0.50, against 0.85).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vaultrag.domain import REFERENCE, Scale

if TYPE_CHECKING:
    from vaultrag.domain import Vector

Pairs = Sequence[tuple[str, str]]
"""Questions, each with its answer."""

LEAST = 0.15
"""A model that brings questions no nearer than this to their answers has no scale."""

ENGLISH: Pairs = (
    (
        "how often should I water a cactus",
        "Cacti need water about every three weeks in summer and almost none in winter.",
    ),
    (
        "who wrote the report on the harbour bridge",
        "Anna Lindqvist finished the inspection report of the old bridge in the port last May.",
    ),
    (
        "what to do when the bread does not rise",
        "If the dough stays flat, the yeast is too old or the room too cold; give it a warm hour more.",
    ),
    (
        "reset the router password",
        "Hold the small button at the back of the router for ten seconds to go back to the factory login.",
    ),
    (
        "why did we choose Postgres",
        "We decided for PostgreSQL because it handles transactions and our JSON documents in one database.",
    ),
    ("symptoms of vitamin D deficiency", "Too little vitamin D shows as tiredness, aching bones and weak muscles."),
    ("when is the rent due", "The monthly payment for the flat has to arrive by the third working day."),
    ("tuning a violin", "Turn the pegs until the A string sounds at 440 hertz, then tune the other strings in fifths."),
    (
        "how do bees find their way home",
        "Honeybees steer by the sun and remember landmarks on the route back to the hive.",
    ),
    ("cost of the trip to Lisbon", "Flights and four nights in Portugal came to 640 euros for the two of us."),
    (
        "how to talk to an angry customer",
        "Let people who complain finish, repeat what they said in your own words, and offer one concrete step.",
    ),
    (
        "treaty that ended the Thirty Years' War",
        "The Peace of Westphalia, signed in 1648, closed three decades of war in central Europe.",
    ),
    (
        "removing rust from garden tools",
        "Soak the blades in vinegar overnight, scrub them with steel wool, and oil them well.",
    ),
    ("interest rate of the mortgage", "The loan for the house is fixed at 3.1 percent for ten years."),
    (
        "what is a black hole made of",
        "A collapsed star packs its mass so densely that not even light escapes its gravity.",
    ),
    (
        "meeting notes about hiring a designer",
        "The team agreed to look for someone to do interface work from September on.",
    ),
)

FOREIGN: Pairs = (
    (
        "Wie oft muss ich einen Kaktus gießen?",
        "Kakteen brauchen im Sommer etwa alle drei Wochen Wasser und im Winter fast keines.",
    ),
    (
        "Wer hat den Bericht über die Hafenbrücke geschrieben?",
        "Anna Lindqvist finished the inspection report of the old bridge in the port last May.",
    ),
    (
        "что делать, если хлеб не поднимается",
        "Если тесто не растёт, дрожжи старые или в комнате холодно; оставьте его в тепле ещё на час.",
    ),
    (
        "как сбросить пароль роутера",
        "Hold the small button at the back of the router for ten seconds to go back to the factory login.",
    ),
    ("我们为什么选择 Postgres", "我们选择 PostgreSQL，因为它能在一个数据库里处理事务和 JSON 文档。"),
    ("缺乏维生素D有什么症状", "Too little vitamin D shows as tiredness, aching bones and weak muscles."),
    ("¿cuándo hay que pagar el alquiler?", "El pago mensual del piso tiene que llegar antes del tercer día hábil."),
    (
        "cómo afinar un violín",
        "Turn the pegs until the A string sounds at 440 hertz, then tune the other strings in fifths.",
    ),
    (
        "comment les abeilles retrouvent-elles leur ruche",
        "Les abeilles se guident d'après le soleil et se souviennent des repères du trajet vers la ruche.",
    ),
    (
        "combien a coûté le voyage à Lisbonne",
        "Flights and four nights in Portugal came to 640 euros for the two of us.",
    ),
    ("怒っている客とどう話すか", "苦情を言う人には最後まで話してもらい、自分の言葉で繰り返し、具体的な一歩を示す。"),
    (
        "traktat kończący wojnę trzydziestoletnią",
        "The Peace of Westphalia, signed in 1648, closed three decades of war in central Europe.",
    ),
    (
        "come togliere la ruggine dagli attrezzi da giardino",
        "Lasciare le lame nell'aceto per una notte, strofinarle con lana d'acciaio e oliarle bene.",
    ),
    ("wat is de rente van de hypotheek", "The loan for the house is fixed at 3.1 percent for ten years."),
    (
        "de que é feito um buraco negro",
        "Uma estrela que desabou concentra a sua massa a tal ponto que nem a luz escapa à gravidade.",
    ),
    (
        "заметки встречи о найме дизайнера",
        "The team agreed to look for someone to do interface work from September on.",
    ),
)


def measured(queries: Vector, notes: Vector) -> Scale:
    """Return the mean cosines of questions with other answers and with their own.

    Args:
        queries: The questions of some pairs, float32[n, dim], L2-normalised.
        notes: Their answers, in the same order.

    Returns:
        That of the reference where the model tells the two apart by nothing.
    """
    cosines = queries @ notes.T
    own = np.eye(len(cosines), dtype=bool)
    scale = Scale(round(float(cosines[~own].mean()), 3), round(float(cosines[own].mean()), 3))
    return scale if scale.near - scale.far > LEAST else REFERENCE
