"""What every measure is: a frozen dataclass whose fields are its parameters.

Its spelling, such as `nugget_f(beta=5)`, is the same in Python, on the command line, in JSON and in tables. Scoring a
question (`per_question`) and summarising questions are two steps, because not every summary is a mean.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import ClassVar, TypeVar

from qassay.errors import UsageError
from qassay.matrix import Floats
from qassay.tally import AnswerCounts, Block, ItemCounts, LabelCounts, ListCounts, NuggetCounts, PairCounts

Counts = TypeVar("Counts", ItemCounts, ListCounts, NuggetCounts, PairCounts, AnswerCounts, LabelCounts)


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
    high: ClassVar[float] = 1.0
    # Scores are whole multiples of 1/denominator: comparisons can be exact.
    denominator: ClassVar[int | None] = None
    # Whether the order of the questions in the run matters.
    ordered: ClassVar[bool] = False

    def per_question(self, counts: Block) -> Floats:
        """Scores of runs x questions; NaN where a score is undefined."""
        raise UsageError(f"{self} combines question types; it has no score for a single question")

    def __str__(self) -> str:
        given = []
        for one in fields(self):
            value = getattr(self, one.name)
            if one.default is MISSING or value != one.default:
                short = f"{value:g}"
                # The spelling is read back: a number of many digits is written out.
                given.append(f"{one.name}={short if float(short) == value else repr(value)}")
        return f"{self.name}({', '.join(given)})" if given else self.name
