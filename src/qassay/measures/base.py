"""The base of measures: a measure is a frozen dataclass whose fields are its parameters.

Its spelling, such as `nugget_f(beta=5)`, is the same in Python, on the command line, in JSON and in tables. Scoring a
question (`per_question`) and summarising questions (`summary`) are two steps, because not every summary is a mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import ClassVar, TypeVar

from qassay.arrays import Floats, Integers
from qassay.errors import UsageError
from qassay.summaries import Mean, Summary
from qassay.tally import Block

Counts = TypeVar("Counts", bound=Block)


def block(counts: Block, kind: type[Counts]) -> Counts:
    """The counts as the kind of block a measure needs; an error where the question type has others."""
    if not isinstance(counts, kind):
        raise UsageError(f"{kind.__name__} are needed, but this question type has {type(counts).__name__}")
    return counts


@dataclass(frozen=True)
class Measure:
    """One measure. Subclasses say what it is called, what it needs, what range it has and where it comes from."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    # The block of counts it reads; None for measures that combine those of several question types.
    needs: ClassVar[type[Block] | None] = None
    # The column of that block which is the score as it is, for measures that compute nothing.
    column: ClassVar[str | None] = None
    high: ClassVar[float] = 1.0
    # Scores are whole multiples of 1/denominator: comparisons can be exact.
    denominator: ClassVar[int | None] = None
    # The kind of judgment it rests on, where a task can do without such judgments.
    optional_kind: ClassVar[str | None] = None
    # Whether the order of the questions in the run matters.
    ordered: ClassVar[bool] = False
    # Whether the units are series, each scored by the types of its questions; else every question is one.
    by_series: ClassVar[bool] = False

    def per_question(self, counts: Block) -> Floats:
        """Scores of runs x questions; NaN where a score is undefined."""
        if self.column is not None and self.needs is not None:
            scores: Floats = getattr(block(counts, self.needs), self.column)
            return scores
        raise UsageError(f"{self} combines question types; it has no score for a single question")

    def summary(self, types: Sequence[str], weights: Mapping[str, float], order: Integers | None) -> Summary:
        """How the scores of the units become the score of a run: their mean, unless a measure says otherwise.

        `types` are the question types of the units, `weights` those that the task gives to types, and `order` the
        units by confidence, for measures that are `ordered`.
        """
        return Mean()

    def __str__(self) -> str:
        parameters = []
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if parameter.default is MISSING or value != parameter.default:
                short = f"{value:g}"
                # The spelling is read back: a number of many digits is written out.
                parameters.append(f"{parameter.name}={short if float(short) == value else repr(value)}")
        return f"{self.name}({', '.join(parameters)})" if parameters else self.name
