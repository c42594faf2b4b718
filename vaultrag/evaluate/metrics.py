"""The figures, from ranked paths and judgements. Pure; the formulas are the field's own, as trec_eval computes them.

``ranked`` is a list of paths, best first; ``relevant`` maps paths to grades (above 0: relevant).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random

Ranked = Sequence[str]
Relevant = Mapping[str, float]


def ndcg(ranked: Ranked, relevant: Relevant, k: int) -> float:
    """Normalised discounted cumulative gain at ``k``, with the grade itself as gain (Jarvelin and Kekalainen 2002)."""
    gains = [relevant.get(path, 0) for path in ranked[:k]]
    ideal = sorted((grade for grade in relevant.values() if grade > 0), reverse=True)[:k]
    best = _discounted(ideal)
    return _discounted([max(gain, 0) for gain in gains]) / best if best else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def precision(ranked: Ranked, relevant: Relevant, k: int) -> float:
    """Share of the first ``k`` places that hold something relevant."""
    return sum(relevant.get(path, 0) > 0 for path in ranked[:k]) / k


def recall(ranked: Ranked, relevant: Relevant, k: int) -> float:
    """Share of what is relevant that stands in the first ``k`` places."""
    wanted = {path for path, grade in relevant.items() if grade > 0}
    return len(wanted & set(ranked[:k])) / len(wanted) if wanted else 0.0


def hit(ranked: Ranked, relevant: Relevant, k: int) -> float:
    """1 if anything relevant stands in the first ``k`` places."""
    return float(any(relevant.get(path, 0) > 0 for path in ranked[:k]))


def best_first(ranked: Ranked, relevant: Relevant) -> float:
    """1 if the first place holds a note of the highest grade."""
    top = max(relevant.values(), default=0)
    return float(bool(ranked) and top > 0 and relevant.get(ranked[0], 0) == top)


def reciprocal_rank(ranked: Ranked, relevant: Relevant) -> float:
    """1 / rank of the first relevant place; 0 without one."""
    return next((1.0 / rank for rank, path in enumerate(ranked, 1) if relevant.get(path, 0) > 0), 0.0)


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Probability that a positive scores above a negative, ties counting half (Mann and Whitney 1947)."""
    if not positive or not negative:
        return float("nan")
    ordered = sorted([(score, 1) for score in positive] + [(score, 0) for score in negative])
    rank_sum, position = 0.0, 0
    while position < len(ordered):
        end = position
        while end < len(ordered) and ordered[end][0] == ordered[position][0]:
            end += 1
        rank_sum += sum(label for _, label in ordered[position:end]) * (position + 1 + end) / 2
        position = end
    count = len(positive)
    return (rank_sum - count * (count + 1) / 2) / (count * len(negative))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` (0 to 1) of the values lie; nearest rank."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def paired_interval(differences: Sequence[float], *, rounds: int = 2000, seed: int = 0) -> tuple[float, float]:
    """95 % interval of the mean difference, by a paired bootstrap over queries (Efron and Tibshirani 1993)."""
    if not differences:
        return float("nan"), float("nan")
    random = Random(seed)
    size = len(differences)
    means = sorted(sum(random.choices(differences, k=size)) / size for _ in range(rounds))
    return means[int(0.025 * rounds)], means[int(0.975 * rounds)]


PER_QUERY: dict[str, Callable[[Ranked, Relevant], float]] = {
    "ndcg@5": lambda ranked, relevant: ndcg(ranked, relevant, 5),
    "ndcg@10": lambda ranked, relevant: ndcg(ranked, relevant, 10),
    "hit@1": lambda ranked, relevant: hit(ranked, relevant, 1),
    "best@1": best_first,
    "p@1": lambda ranked, relevant: precision(ranked, relevant, 1),
    "p@5": lambda ranked, relevant: precision(ranked, relevant, 5),
    "recall@5": lambda ranked, relevant: recall(ranked, relevant, 5),
    "recall@20": lambda ranked, relevant: recall(ranked, relevant, 20),
    "recall@100": lambda ranked, relevant: recall(ranked, relevant, 100),
    "mrr": reciprocal_rank,
}
"""Every figure that is a mean over answerable queries."""
