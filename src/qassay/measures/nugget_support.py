"""Nugget scores of long answers: TREC RAG 2024 and later.

Per nugget support = 1, partial support = 0.5, none = 0; the strict variants count partial as 0.

    all       mean over all nuggets
    vital     mean over vital nuggets
    weighted  (sum vital + 0.5 * sum okay) / (number vital + 0.5 * number okay)
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from qassay.arrays import Floats
from qassay.measures.base import Measure, block
from qassay.tally import AnswerCounts, Block


def support_score(counts: AnswerCounts, *, okay: float, partial: float) -> Floats:
    """Mean support over nuggets, an okay nugget weighing `okay` and partial support counting `partial`.

    NaN where no nugget has weight: without a vital nugget the question is left out.
    """
    vital_sum = counts.vital_full + partial * counts.vital_partial
    okay_sum = counts.okay_full + partial * counts.okay_partial
    weight = counts.vital_known + okay * counts.okay_known
    shape = vital_sum.shape
    score = np.divide(vital_sum + okay * okay_sum, weight, out=np.full(shape, np.nan), where=weight > 0)
    return np.where(counts.vital_known > 0, score, np.nan)


class _Support(Measure):
    source: ClassVar[str] = "TREC RAG 2024"
    needs = AnswerCounts
    okay: ClassVar[float]
    partial: ClassVar[float]

    def per_question(self, counts: Block) -> Floats:
        """Mean support over the nuggets that count; NaN where the question has no vital nugget."""
        return support_score(block(counts, AnswerCounts), okay=self.okay, partial=self.partial)


def nugget_values(measure: Measure) -> tuple[float, float] | None:
    """The weight of an okay nugget (a vital one has 1), and of partial support; None for other measures."""
    return (measure.okay, measure.partial) if isinstance(measure, _Support) else None


class AllNuggets(_Support):
    """Mean support over all nuggets, partial support counting half."""

    name: ClassVar[str] = "all"
    title: ClassVar[str] = "support of all nuggets"
    okay: ClassVar[float] = 1.0
    partial: ClassVar[float] = 0.5


class AllNuggetsStrict(AllNuggets):
    """Share of all nuggets with full support."""

    name: ClassVar[str] = "all_strict"
    title: ClassVar[str] = "full support of all nuggets"
    partial: ClassVar[float] = 0.0


class VitalNuggets(_Support):
    """Mean support over vital nuggets, partial support counting half."""

    name: ClassVar[str] = "vital"
    title: ClassVar[str] = "support of vital nuggets"
    okay: ClassVar[float] = 0.0
    partial: ClassVar[float] = 0.5


class VitalNuggetsStrict(VitalNuggets):
    """Share of vital nuggets with full support: the main measure."""

    name: ClassVar[str] = "vital_strict"
    title: ClassVar[str] = "full support of vital nuggets"
    partial: ClassVar[float] = 0.0


class WeightedNuggets(_Support):
    """Mean support with okay nuggets weighing half, partial support counting half."""

    name: ClassVar[str] = "weighted"
    title: ClassVar[str] = "support of nuggets, okay ones weighing half"
    okay: ClassVar[float] = 0.5
    partial: ClassVar[float] = 0.5


class WeightedNuggetsStrict(WeightedNuggets):
    """Full support with okay nuggets weighing half."""

    name: ClassVar[str] = "weighted_strict"
    title: ClassVar[str] = "full support of nuggets, okay ones weighing half"
    partial: ClassVar[float] = 0.0
