"""Runs with known true means, for planning before there are scores and for checking what an analysis says.

All runs answer the same units, and some units are harder than others: scores of two runs on one unit are correlated.
Each score comes from a latent normal number sqrt(c) * (the unit's) + sqrt(1 - c) * (the run's own), turned into a
score whose expectation is the run's true mean, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from qassay.arrays import Floats
from qassay.errors import UsageError, unknown
from qassay.matrix import ScoreMatrix

Scores: TypeAlias = Literal["normal", "zero-inflated", "binary"]


def simulate_runs(
    means: ArrayLike,
    units: int,
    *,
    scores: Scores = "normal",
    spread: float = 0.25,
    zeros: float = 0.5,
    correlation: float = 0.3,
    seed: int = 0,
) -> ScoreMatrix:
    """Scores of one run for each true mean on freshly drawn units.

    normal: the mean plus `spread` times the latent number; not confined to [0, 1]. zero-inflated: 0 with probability
    `zeros`, else v^a with v uniform on [0, 1] and a chosen so that the expectation is the mean, as F scores of hard
    questions look. binary: 1 where the latent number is high enough, right or wrong. `correlation` is that of the
    latent numbers of two runs on one unit. Runs are named run1, run2, ...; units are numbered from 1.
    """
    true = np.atleast_1d(np.asarray(means, dtype=np.float64))[:, None]
    _check(true, units, scores, spread, zeros, correlation)
    rng = np.random.default_rng(seed)
    unit_effects = rng.standard_normal(units)
    noise = rng.standard_normal((len(true), units))
    latent = np.sqrt(correlation) * unit_effects + np.sqrt(1 - correlation) * noise
    make: dict[str, Callable[[], Floats]] = {
        "normal": lambda: true + spread * latent,
        "zero-inflated": lambda: _zero_inflated(true, latent, zeros),
        "binary": lambda: _binary(true, latent),
    }
    return ScoreMatrix(
        runs=tuple(f"run{number}" for number in range(1, len(true) + 1)),
        units=tuple(str(number) for number in range(1, units + 1)),
        values=make[scores](),
        measure=f"simulated {scores}",
        denominator=1 if scores == "binary" else None,
    )


def _zero_inflated(true: Floats, latent: Floats, zeros: float) -> Floats:
    """E[v^a] = 1/(1 + a): with a = (1 - zeros)/mean - 1 the expectation is the mean."""
    from scipy.special import ndtr

    above = np.clip((ndtr(latent) - zeros) / (1 - zeros), 0.0, 1.0)
    # A run whose true mean is 0 scores 0 everywhere.
    power = (1 - zeros) / np.maximum(true, np.finfo(float).tiny) - 1
    return np.asarray(np.where((above > 0.0) & (true > 0.0), above**power, 0.0))


def _binary(true: Floats, latent: Floats) -> Floats:
    """1 where the latent number lies in its upper tail of probability `true`."""
    from scipy.special import ndtri

    return np.asarray(latent > -ndtri(true), dtype=np.float64)


def _check(true: Floats, units: int, scores: str, spread: float, zeros: float, correlation: float) -> None:
    if scores not in get_args(Scores):
        raise unknown("kind of scores", scores, get_args(Scores))
    if len(true) == 0 or units < 1 or not np.isfinite(true).all():
        raise UsageError("a simulation needs a finite true mean and at least one question")
    if spread < 0.0 or not 0.0 <= correlation <= 1.0 or not 0.0 <= zeros < 1.0:
        raise UsageError("spread is at least 0, correlation within [0, 1], zeros within [0, 1)")
    most = {"binary": 1.0, "zero-inflated": 1.0 - zeros}.get(scores)
    if most is not None and not ((true >= 0.0) & (true <= most)).all():
        raise UsageError(f"true means of {scores} scores lie between 0 and {most:g}")
