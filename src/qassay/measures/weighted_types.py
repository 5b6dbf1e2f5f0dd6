"""Scores that combine question types: the final score of 2003 and the series score of 2004 [QA03, SERIES05]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from qassay.arrays import Integers
from qassay.measures.base import Measure
from qassay.summaries import Mean, Summary, TypeWeighted


def weights_for(
    present: frozenset[str], weights: Mapping[str, float], without: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """Weights of the question types that are there, summing to 1.

    Where exactly one type is missing and its absence has printed weights, those are used as printed; else the weight of
    what is missing is shared out among the others in proportion.

    >>> weights_for(frozenset({"factoid", "other"}), {"factoid": 0.5, "list": 0.25, "other": 0.25}, {})
    {'factoid': 0.6666666666666666, 'other': 0.3333333333333333}
    """
    absent = set(weights) - present
    if len(absent) == 1 and (printed := without.get(next(iter(absent)))):
        return {kind: printed[kind] for kind in weights if kind in present}
    total = sum(weight for kind, weight in weights.items() if kind in present)
    return {kind: weight / total for kind, weight in weights.items() if kind in present}


class FinalScore(Measure):
    """1/2 factoid accuracy + 1/4 mean list F + 1/4 mean definition F.

    Each component is averaged over its own questions [QA03]. The weight of a type that the test set lacks is shared
    out among the others in proportion.
    """

    name: ClassVar[str] = "final_score"
    title: ClassVar[str] = "weighted mean of the components"
    source: ClassVar[str] = "QA03"

    def summary(self, types: Sequence[str], weights: Mapping[str, float], order: Integers | None) -> Summary:
        """The weighted mean of the means per type; with one type there is nothing to weigh."""
        present = frozenset(types)
        return Mean() if len(present) == 1 else TypeWeighted(tuple(types), weights_for(present, weights, {}))


class SeriesScore(Measure):
    """The weighted mean of the components within each series; the run's score is the mean over series [SERIES05].

    1/2 factoid + 1/4 list + 1/4 other; a series without a (kept) list question uses 0.67 factoid + 0.33 other, as
    printed. Other missing types: the weights that remain, renormalised. A series without any kept question is left out.
    In QACIAD, where every question is a list, it is the mean F of the series.
    """

    name: ClassVar[str] = "series_score"
    title: ClassVar[str] = "mean score per series"
    source: ClassVar[str] = "SERIES05"
    by_series: ClassVar[bool] = True
