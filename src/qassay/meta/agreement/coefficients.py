"""Chance-corrected agreement, each coefficient one formula over counts.

Two tables hold all that is needed. `joint[..., c, k]` counts the items that one assessor labels c and the other k.
`coincidences[..., c, k]` counts the pairs of labels (c, k) given to one item by two different assessors, in both
orders, each item weighing 1/(its labels - 1): its sum is the number of labels that can be paired. Leading axes are
free, so that a thousand resamples are one call. Where a coefficient is undefined its value is NaN here, and None
in every result.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from qassay.matrix import Floats

Metric = Literal["nominal", "ordinal", "interval"]


def coincidences(counts: Floats) -> Floats:
    """The coincidence table of each item, from `counts[item, c]`: how many assessors gave it the label c.

    An item with fewer than two labels pairs nothing and adds nothing.
    """
    labels = counts.sum(axis=-1, keepdims=True)[..., None]
    pairs = counts[..., :, None] * counts[..., None, :] - counts[..., None] * np.eye(counts.shape[-1])
    return np.asarray(np.divide(pairs, labels - 1, out=np.zeros_like(pairs), where=labels > 1))


def cohen_kappa(joint: Floats) -> Floats:
    """Cohen's kappa (1960): (observed - expected) / (1 - expected), each assessor with a distribution of their own.

    Undefined where both assessors give one and the same label throughout: chance alone then agrees always.
    """
    total = joint.sum(axis=(-2, -1))
    observed = np.trace(joint, axis1=-2, axis2=-1)
    expected = (joint.sum(axis=-1) * joint.sum(axis=-2)).sum(axis=-1)
    return _ratio(total * observed - expected, total**2 - expected)


def fleiss_kappa(table: Floats) -> Floats:
    """Fleiss' kappa (1971) from coincidences: (observed - expected) / (1 - expected), one distribution for all.

    Every item has to be labelled by the same number of assessors. With two of them it is Scott's pi (1955).
    Undefined where only one label occurs.
    """
    total = table.sum(axis=(-2, -1))
    expected = (table.sum(axis=-1) ** 2).sum(axis=-1)
    observed = np.trace(table, axis1=-2, axis2=-1)
    return _ratio(total * observed - expected, total**2 - expected)


def krippendorff_alpha(table: Floats, metric: Metric = "nominal", values: Floats | None = None) -> Floats:
    """Krippendorff's alpha (1970) from coincidences: 1 - observed / expected disagreement.

    A pair of labels (c, k) disagrees by 1 (nominal), by (values[c] - values[k])^2 (interval), or by the squared
    number of labels given from c to k, the two ends counted half (ordinal: labels in the order of the table).
    Items may have different numbers of labels. Undefined where only one label occurs.
    """
    given = table.sum(axis=-1)
    total = given.sum(axis=-1)
    if metric == "nominal":
        distance = 1.0 - np.eye(table.shape[-1])
    elif metric == "ordinal":
        # Half of the labels at c stand below its middle, so distances are those of the middles.
        middle = given.cumsum(axis=-1) - given / 2
        distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    else:
        scale = np.arange(table.shape[-1], dtype=np.float64) if values is None else values
        distance = (scale[:, None] - scale[None, :]) ** 2
    observed = (table * distance).sum(axis=(-2, -1))
    expected = (given[..., :, None] * given[..., None, :] * distance).sum(axis=(-2, -1))
    return 1.0 - _ratio((total - 1) * observed, expected)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient, NaN where the denominator is nothing but rounding."""
    small = np.abs(denominator) <= 1e-9
    return np.where(small, np.nan, numerator / np.where(small, 1.0, denominator))
