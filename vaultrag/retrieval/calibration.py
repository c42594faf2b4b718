"""Cosines of any model on the scale of the builtin one, on which the parameters were chosen.

A cosine of 0.5 is close for one model and far for another: it depends on how a model spreads its vectors. What a query
gets from the vault at large tells: its mean and its deviation are put where the builtin model has them. On queries of
four judged sets that model's mean is 0.10 (0.01 to 0.13) and its deviation 0.09 (0.085 to 0.10). The mapping itself has
not been judged with another model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vaultrag.ports import VectorScan

REFERENCE = "all-MiniLM-L6-v2-int8"
"""The builtin model; also the first half of the multilingual pair."""

MEAN, DEVIATION = 0.10, 0.09

LEAST_DEVIATION = 0.03
"""In a vault of a few notes the deviation says little."""

Background = tuple[float, float]


def background_of(model: str, scan: VectorScan | None) -> Background | None:
    """Return mean and deviation of a query's cosines; None for the builtin model, whose cosines stay as they are."""
    return None if scan is None or model.startswith(REFERENCE) else scan.background()


def calibrated(cosines: NDArray[np.float64], background: Background | None) -> NDArray[np.float64]:
    """Bring cosines, float64[n], to the builtin model's scale; 1 at most."""
    if background is None:
        return cosines
    mean, deviation = background
    return np.minimum(1.0, MEAN + DEVIATION * (cosines - mean) / max(deviation, LEAST_DEVIATION))
