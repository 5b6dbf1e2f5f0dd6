"""Bias of a program's scores, J - H, with its interval (METHOD 7, the formula of corrections with lambda = 0).

Differences D on n questions of N, of a score that ranges over `reach`: add +reach and -reach with weight 1/2 each,

    m = sum D / (n + 1)        s^2 = ((sum D^2 + reach^2) / (n + 1) - m^2) * (n + 1) / n
    v = (1 - n/N) * s^2 / (n + 1) + s^2 / N         interval m +- t(n) * sqrt(v)

for new questions like these. The two added differences keep an interval of few or equal differences from closing; the
variance between questions is taken with them too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qassay.arrays import Floats

LEVEL = 0.95
# Below this many questions an interval would be wider than anything it could exclude.
LEAST = 2


@dataclass(frozen=True, slots=True)
class Bias:
    """The mean of J - H with its interval, and on how many questions (or series) it rests."""

    bias: float
    interval: tuple[float, float] | None
    questions: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes 0."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


def bias_of(differences: Floats, *, units: int | None = None, reach: float = 1.0) -> Bias | None:
    """The bias of these differences, of `units` questions in all; None without any difference."""
    from scipy.special import stdtrit

    n = len(differences)
    if n == 0:
        return None
    total = max(n, units or n)
    mean = float(differences.sum()) / (n + 1)
    square = ((float((differences**2).sum()) + reach**2) / (n + 1) - mean**2) * (n + 1) / n
    variance = (1 - n / total) * square / (n + 1) + square / total
    half = float(stdtrit(n, (1 + LEVEL) / 2)) * math.sqrt(variance)
    interval = (mean - half, mean + half) if n >= LEAST else None
    return Bias(float(np.mean(differences)), interval, n)
