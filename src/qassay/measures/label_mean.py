"""The mean value of the labels of free-text answers."""

from __future__ import annotations

from typing import ClassVar

from qassay.measures.base import Measure
from qassay.tally import LabelCounts


class LabelMean(Measure):
    """Mean over the questions of the value of the answer's label: correct 1, partly 0.5, incorrect 0 by default.

    The labels and their values are the task's. An empty response counts as the lowest value. Undefined (and unjudged)
    where an answer has no label. With two labels of value 1 and 0 it is accuracy.
    """

    name: ClassVar[str] = "label_mean"
    title: ClassVar[str] = "mean value of the labels"
    source: ClassVar[str] = "today's practice"
    needs = LabelCounts
    column: ClassVar[str | None] = "value"
