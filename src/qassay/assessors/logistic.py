"""A logistic model over a few named features: small enough to be written down, and to be fitted in a moment.

probability = 1 / (1 + exp(-(intercept + sum of weight * (feature - mean) / scale)))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qassay.arrays import Floats

# Newton's method converges in a handful of steps; more means that the data separate the labels completely.
_STEPS = 50
_PRECISION = 1e-9


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fitted model."""

    features: tuple[str, ...]
    mean: Floats
    scale: Floats
    weights: Floats
    intercept: float

    def probabilities(self, rows: Floats) -> Floats:
        """The probability of each row of features."""
        logits = self.intercept + ((rows - self.mean) / self.scale) @ self.weights
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -500, 500))))

    def as_json(self) -> dict[str, Any]:
        """The model as plain data."""
        numbers = {name: [float(value) for value in getattr(self, name)] for name in ("mean", "scale", "weights")}
        return {"features": list(self.features), **numbers, "intercept": float(self.intercept)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Logistic:
        """The model that `as_json` wrote down."""
        mean, scale, weights = (np.array(data[name], dtype=np.float64) for name in ("mean", "scale", "weights"))
        return cls(tuple(data["features"]), mean, scale, weights, float(data["intercept"]))


def fit(features: Sequence[str], rows: Floats, labels: Floats, *, ridge: float = 1.0) -> Logistic:
    """The model of largest likelihood, with a penalty of `ridge`/2 on the squared weights of standardised features.

    The penalty keeps the weights finite where the labels can be told apart completely, and where features repeat
    each other.
    """
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    design = np.column_stack([np.ones(len(rows)), (rows - mean) / scale])
    penalty = np.diag([1e-6, *([ridge] * len(features))])
    weights = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(design @ weights, -500, 500)))
        gradient = design.T @ (labels - chances) - penalty @ weights
        curvature = (design * (chances * (1 - chances))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature, gradient)
        weights += step
        if np.abs(step).max() < _PRECISION:
            break
    return Logistic(tuple(features), mean, scale, weights[1:], float(weights[0]))
