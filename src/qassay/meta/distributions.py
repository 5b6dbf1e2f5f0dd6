"""How the runs' scores spread on each unit: box statistics, and the units on which most runs score 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from qassay.arrays import TIE
from qassay.directions import HIGHER, Direction
from qassay.display import enumerated, titled
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.results import UNREPORTED, Result, reported
from qassay.tables import Cell, Column, Table, counted, plural, show, table

if TYPE_CHECKING:
    import polars as pl

# Units with the same mean that a sentence names.
NAMED = 3
# Whiskers reach to the most extreme score within this many interquartile distances of the box.
REACH = 1.5
READING = (
    "Half of the runs score between q1 and q3. A whisker ends at the most extreme score within 1.5 times the distance "
    "from q1 to q3; outliers lie beyond. It can end inside the box: quartiles lie between scores, and outliers count "
    "towards them."
)


@dataclass(frozen=True, slots=True)
class Outlier:
    """A run whose score on a unit lies beyond the whiskers."""

    run: str
    score: float


@dataclass(frozen=True, slots=True)
class Box:
    """The scores of all runs on one unit: box from q1 to q3, median, whiskers, and what lies beyond."""

    unit: str
    type: str | None
    low: float
    q1: float
    median: float
    q3: float
    high: float
    mean: float
    outliers: tuple[Outlier, ...]

    @property
    def spread(self) -> float:
        """The score of the best run minus that of the worst."""
        ends = [self.low, self.high, *(outlier.score for outlier in self.outliers)]
        return max(ends) - min(ends)

    @property
    def has_zero_median(self) -> bool:
        """Whether the median of the runs is 0 here."""
        return abs(self.median) < TIE


@dataclass(frozen=True, slots=True)
class ZeroMedians:
    """How many units have a median of 0; `share` is None where there are no units."""

    zero: int
    units: int

    @reported
    def share(self) -> float | None:
        """The share of units with a median of 0."""
        return self.zero / self.units if self.units else None


@dataclass(frozen=True, repr=False)
class ScoreDistributions(Result):
    """One box per unit, in the order of the units, and the units with a median of 0, by question type and in all.

    `titles` are what people call units besides their names: the targets of series.
    """

    measure: str
    runs: int
    units: tuple[Box, ...]
    zero_medians: Mapping[str, ZeroMedians]
    notes: tuple[str, ...] = ()
    unit_name: tuple[str, str] = field(default=("question", "questions"), metadata=UNREPORTED)
    titles: Mapping[str, str] = field(default_factory=dict, metadata=UNREPORTED)
    direction: Direction = HIGHER

    def sentence(self) -> str:
        """The hardest and the easiest unit, and on how many units most runs score 0."""
        return "; ".join(filter(None, (self.hardest_and_easiest(), self.zeros())))

    def hardest_and_easiest(self, called: Callable[[str], str] = str) -> str:
        """The units with the lowest and the highest mean, named by `called`; empty where all have the same."""
        means = {box.unit: box.mean for box in self.units}
        names = partial(titled, titles=self.titles, called=called)
        return hardest_and_easiest(means, self.unit_name, names, self.direction)

    def furthest_apart(self) -> str:
        """The units that separate the runs most; empty where there are many of them."""
        widest = max((box.spread for box in self.units), default=0.0)
        units = [titled(box.unit, self.titles, str) for box in self.units if box.spread > widest - TIE]
        if widest <= TIE or len(units) > NAMED or self.runs < 2:
            return ""
        return f"the best and the worst run are furthest apart on {enumerated(units)} ({widest:.3f})"

    def zeros(self) -> str:
        """On how many units the median is 0: where no score is negative, more than half of the runs score 0 there."""
        number = sum(box.has_zero_median for box in self.units)
        scores = (score for box in self.units for score in (box.low, *(outlier.score for outlier in box.outliers)))
        if self.runs == 1:
            who = "the run scores"
        elif any(score < 0 for score in scores):
            who = f"the median score of the {plural(self.runs, 'run')} is"
        else:
            who = "both runs score" if self.runs == 2 else f"more than half of the {plural(self.runs, 'run')} score"
        if not number:
            return f"there is no {self.unit_name[0]} on which {who} 0"
        return f"{who} 0 on {number:,} of {counted(len(self.units), self.unit_name)}"

    def tables(self) -> list[Table]:
        """The units with a median of 0, and the boxes."""
        return [self.zero_table(), self.table()]

    def table(self, most: int | None = None) -> Table:
        """One row per unit, for the first `most` units; question types where there are any."""
        names = ("lower whisker", "q1", "median", "q3", "upper whisker", "mean")
        columns: list[Column | str] = [
            self.unit_name[0],
            "type",
            *(Column(name, ".3f") for name in names),
            Column("outliers"),
        ]
        rows: list[tuple[Cell, ...]] = [
            (b.unit, b.type, b.low, b.q1, b.median, b.q3, b.high, b.mean, len(b.outliers)) for b in self.units[:most]
        ]
        if all(box.type is None for box in self.units):
            columns, rows = [columns[0], *columns[2:]], [(row[0], *row[2:]) for row in rows]
        left = len(self.units) - len(rows)
        more = [f"{left:,} more {self.unit_name[left != 1]} (--top)."] if left else []
        title = f"Scores of {plural(self.runs, 'run')} on each {self.unit_name[0]}, {self.measure}"
        return table(title, columns, rows, (*more, READING, *self.notes))

    def to_polars(self) -> pl.DataFrame:
        """One row per unit, named `unit` whatever people call it."""
        boxes = self.table().to_polars()
        return boxes.rename({boxes.columns[0]: "unit"})

    def zero_table(self) -> Table:
        """Number and share of the units with a median of 0."""
        units = self.unit_name[1]
        columns: list[Column | str] = ["type", Column("median 0"), Column(units), Column("share", ".1%")]
        rows = [(kind, z.zero, z.units, z.share) for kind, z in self.zero_medians.items()]
        return table(f"{units.capitalize()} with a median score of 0", columns, rows)


def hardest_and_easiest(
    means: Mapping[str, float],
    unit_name: tuple[str, str],
    called: Callable[[str], str],
    direction: Direction = HIGHER,
) -> str:
    """The units with the worst and the best mean, named by `called`; empty where all have the same.

    >>> hardest_and_easiest({"q1": 0.5, "q2": 1.0, "q3": 0.5}, ("question", "questions"), str)
    'the hardest questions are q1 and q3 (mean 0.500), the easiest q2 (mean 1.000)'
    """
    if len(means) < 2:
        return ""
    low, high = min(means.values()), max(means.values())
    if high - low <= TIE:
        return ""
    if not direction.higher_is_better:
        low, high = high, low
    hardest, easiest = ([unit for unit, mean in means.items() if abs(mean - end) <= TIE] for end in (low, high))
    verb = f"{unit_name[0]} is" if len(hardest) == 1 else f"{unit_name[1]} are" if len(hardest) <= NAMED else "are"

    def named(units: Sequence[str], mean: float) -> str:
        shown = show(mean, ".3f")
        if len(units) > NAMED:
            return f"{counted(len(units), unit_name)} with mean {shown}"
        return f"{enumerated([called(unit) for unit in units])} (mean {shown})"

    # Ids are often numbers: "the easiest 3" alone would be three of them.
    easy = named(easiest, high)
    if len(easiest) <= NAMED < len(hardest):
        easy = f"{unit_name[len(easiest) != 1]} {'is' if len(easiest) == 1 else 'are'} {easy}"
    return f"the hardest {verb} {named(hardest, low)}, the easiest {easy}"


def score_distributions(matrix: ScoreMatrix, *, types: Sequence[str] | None = None) -> ScoreDistributions:
    """Box-and-whiskers of the runs' scores on each unit.

    Quartiles by linear interpolation; whiskers to the most extreme score within 1.5 times the interquartile
    distance of the box; scores beyond are outliers [SERIES05]. `types` are the question types of the units; a
    type-weighted matrix brings its own.
    """
    types = matrix.summary.types if types is None else types
    if types is not None and len(types) != len(matrix.units):
        raise UsageError(f"{len(types)} types do not fit {counted(len(matrix.units), matrix.unit_name)}")
    if not matrix.runs:
        raise UsageError("there is no distribution of the scores of no runs")
    boxes = tuple(_box(matrix, unit, None if types is None else types[unit]) for unit in range(len(matrix.units)))
    notes = list(matrix.notes)
    if len(matrix.runs) < 4:
        have = "1 run has" if len(matrix.runs) == 1 else f"{len(matrix.runs)} runs have"
        notes.append(f"{have} no quartiles to speak of: they are interpolated.")
    return ScoreDistributions(
        *(matrix.measure, len(matrix.runs), boxes, _zero_medians(boxes), tuple(notes), matrix.unit_name),
        direction=matrix.direction,
    )


def _box(matrix: ScoreMatrix, unit: int, kind: str | None) -> Box:
    scores = matrix.values[:, unit]
    q1, median, q3 = (float(q) for q in np.quantile(scores, (0.25, 0.5, 0.75)))
    reach = REACH * (q3 - q1) + TIE
    inside = (scores >= q1 - reach) & (scores <= q3 + reach)
    beyond = sorted(np.flatnonzero(~inside).tolist(), key=lambda run: (-scores[run], matrix.runs[run]))
    return Box(
        unit=matrix.units[unit],
        type=kind,
        low=float(scores[inside].min()),
        q1=q1,
        median=median,
        q3=q3,
        high=float(scores[inside].max()),
        mean=float(scores.mean()),
        outliers=tuple(Outlier(matrix.runs[run], float(scores[run])) for run in beyond),
    )


def _zero_medians(boxes: Sequence[Box]) -> dict[str, ZeroMedians]:
    """Counts for each type, in the order of first appearance, and for all units."""
    kinds = dict.fromkeys(box.type for box in boxes if box.type is not None)
    groups = [(kind, [box for box in boxes if box.type == kind]) for kind in kinds]
    groups.append(("all", list(boxes)))
    return {kind: ZeroMedians(sum(b.has_zero_median for b in members), len(members)) for kind, members in groups}
