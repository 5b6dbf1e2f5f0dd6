"""The score matrix: runs x units under one measure, the one input of every analysis.

Every analysis takes any matrix, ours or a stranger's. A matrix carries its *summary*: how unit scores become the score
of a run (`summaries`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from qassay.arrays import TIE, Floats, Integers, defined
from qassay.directions import HIGHER, Direction
from qassay.display import enumerated
from qassay.errors import UsageError, unknown
from qassay.frames import frame
from qassay.results import Result, document
from qassay.summaries import Mean, Summary
from qassay.tables import Column, Table, counted, plural, table

if TYPE_CHECKING:
    import polars as pl


# With fewer units an interval promises more than is known.
FEWEST_FOR_INTERVALS = 5


def too_few_for_intervals(count: int, unit_name: tuple[str, str]) -> str | None:
    """Why scores on this many units have no intervals, where there are too few for them.

    >>> too_few_for_intervals(2, ("question", "questions"))
    'No intervals: they need 5 questions or more, and there are 2.'
    """
    if count >= FEWEST_FOR_INTERVALS:
        return None
    have = f"there {'is' if count == 1 else 'are'} {count:,}"
    return f"No intervals: they need {FEWEST_FOR_INTERVALS} {unit_name[1]} or more, and {have}."


@dataclass(frozen=True, eq=False)
class Repeats:
    """The scores of every repeat of runs that answered each unit several times (epochs, seeds).

    `values[i]` belongs to run i of a matrix: units x repeats. Two runs may have different numbers of repeats; one run
    has the same number on every unit. The scores of the matrix are the means over the repeats.
    """

    values: tuple[Floats, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number of repeats of each run."""
        return tuple(scores.shape[1] for scores in self.values)

    def for_runs(self, rows: Integers) -> Repeats:
        """The repeats of these runs."""
        return Repeats(tuple(self.values[row] for row in rows.tolist()))

    def on_units(self, units: Integers) -> Repeats:
        """The repeats on these units."""
        return Repeats(tuple(scores[units] for scores in self.values))

    def spread(self) -> tuple[float | None, ...]:
        """The standard deviation of each run's mean over its repeats; None for a run without repeats."""
        means = [scores.mean(axis=0) for scores in self.values]
        return tuple(float(mean.std(ddof=1)) if len(mean) > 1 else None for mean in means)

    def note(self, runs: Sequence[str]) -> str:
        """A sentence about the spread of the scores over their repeats, which no smaller difference rises above."""
        spread = zip(runs, self.spread(), strict=True)
        listed = ", ".join(f"{run} {value:.3f}" for run, value in spread if value is not None)
        return f"Standard deviation of a score between repeats: {listed}. Smaller differences are within that."

    def as_json(self, runs: Sequence[str]) -> dict[str, object]:
        """The key `repeats` of a result: one number per question where all runs have the same."""
        numbers = dict(zip(runs, self.numbers, strict=True))
        same = len(set(self.numbers)) == 1
        return {
            "per_question": self.numbers[0] if same else numbers,
            "spread": dict(zip(runs, self.spread(), strict=True)),
        }


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMatrix(Result):
    """Scores of runs on units; finite everywhere, since units that cannot be scored are not units.

    `denominator` is set where every value is a whole number of 1/denominator (0/1 scores, reciprocal ranks,
    decimals of a file): comparisons are then made on integers and are exact. `clusters[u]` names the series of
    unit u where units are questions of series: intervals resample whole series then. `notes` are the sentences
    every output repeats: which rule for missing or unjudged responses was applied, and to how many. `repeats` are
    there where runs answered the units several times. `unit_name` is what people call a unit and units. `read` says
    what was read, where the scores come from a table or a log; it is empty where they were computed. `scale` is the
    lowest and highest score that the task allows, where it is known, and `right_or_wrong` whether it allows no others;
    where nobody says so, the scores decide. `direction` says which scores are better. `others` counts the runs that
    were left out when these were selected.
    """

    runs: tuple[str, ...]
    units: tuple[str, ...]
    values: Floats
    measure: str = "score"
    summary: Summary = field(default_factory=Mean)
    denominator: int | None = None
    clusters: tuple[str, ...] | None = None
    manual: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    repeats: Repeats | None = None
    unit_name: tuple[str, str] = ("question", "questions")
    read: str = ""
    scale: tuple[float, float] | None = None
    direction: Direction = HIGHER
    right_or_wrong: bool | None = None
    others: int = 0

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.runs), len(self.units)):
            raise UsageError(
                f"{len(self.runs)} runs x {len(self.units)} units do not fit scores of shape {self.values.shape}"
            )
        if len(set(self.runs)) < len(self.runs):
            raise UsageError("two runs of a score matrix have the same tag")
        if not np.isfinite(self.values).all():
            raise UsageError("a score matrix contains only finite numbers")
        if self.repeats is not None and [len(scores) for scores in self.repeats.values] != [len(self.units)] * len(
            self.runs
        ):
            raise UsageError("the repeats of a score matrix do not fit its runs and units")

    def sentence(self) -> str:
        """How many runs and units there are, and which run scores best."""
        size = f"{plural(len(self.runs), 'run')} x {counted(len(self.units), self.unit_name)}, {self.measure}"
        if not self.runs or not self.units:
            return size
        scores = self.oriented_scores()
        best = [run for run, score in zip(self.runs, scores, strict=True) if scores.max() - score < TIE]
        are = "is" if len(best) == 1 else "are"
        return f"{size}; the best {are} {enumerated(best, 3)} with {self.direction.oriented(float(scores.max())):.3f}"

    def table(self) -> Table:
        """The runs, the best first."""
        scores = self.oriented_scores() if self.units else np.full(len(self.runs), np.nan)
        order = sorted(range(len(self.runs)), key=lambda run: (-scores[run], self.runs[run]))
        columns: list[Column | str] = ["run", Column(self.measure, ".3f")]
        rows = [(self.runs[run], defined(self.direction.oriented(float(scores[run])))) for run in order]
        title = f"{plural(len(self.runs), 'run')} on {counted(len(self.units), self.unit_name)}"
        return table(title, columns, rows, self.notes)

    def to_polars(self) -> pl.DataFrame:
        """One row per unit: its name, and the score of every run."""
        name = self.unit_name[0]
        while name in self.runs:
            name += "_"
        return frame(
            {name: str, **dict.fromkeys(self.runs, float)}, zip(self.units, *self.values.tolist(), strict=True)
        )

    def as_json(self) -> dict[str, Any]:
        """Units, and the scores of every run on them."""
        scores = self.scores().tolist() if self.units else [None] * len(self.runs)
        return {
            **document(self, "measure", "units"),
            "scores": dict(zip(self.runs, scores, strict=True)),
            "matrix": dict(zip(self.runs, self.values.tolist(), strict=True)),
            **document(self, "notes"),
        }

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest score there can be: those of the task, else 0 and 1 where all scores lie within.

        None where neither is known. A scale that the scores do not keep to is none.
        """
        if not self.values.size:
            return self.scale
        low, high = float(self.values.min()), float(self.values.max())
        known = [scale for scale in (self.scale, (0.0, 1.0)) if scale is not None]
        return next((scale for scale in known if scale[0] - TIE <= low and high <= scale[1] + TIE), None)

    @property
    def span(self) -> float:
        """The range of the scores: of all there can be, else of those there are, else from 0 to the one there is."""
        if self.bounds is not None:
            return self.bounds[1] - self.bounds[0]
        return float(np.ptp(self.values)) or float(np.abs(self.values).max())

    @property
    def is_right_or_wrong(self) -> bool:
        """Whether every score is 0 or 1, and could be nothing else."""
        binary = bool(np.isin(self.values, (0.0, 1.0)).all())
        return binary and self.right_or_wrong is not False

    @property
    def pairs(self) -> int:
        """Number of pairs of runs."""
        return len(self.runs) * (len(self.runs) - 1) // 2

    def scores(self) -> Floats:
        """The score of every run over all units."""
        return self.scores_on(np.arange(len(self.units)))

    def oriented_scores(self) -> Floats:
        """The scores such that more is better: for orders and ranks, not for people."""
        return self.direction.oriented(self.scores())

    def scores_on(self, units: Integers) -> Floats:
        """The score of every run over the units with these indices (repeats allowed, for resampling)."""
        return self.summary(self.values, units)

    def numerators(self) -> Integers | None:
        """The values times `denominator`, as integers, where run scores are exact: means of such values."""
        if self.denominator is None or not self.summary.is_mean:
            return None
        return np.rint(self.values * self.denominator).astype(np.int64)

    def index(self, run: str) -> int:
        """Row of a run; an error that suggests the nearest tag where there is none."""
        try:
            return self.runs.index(run)
        except ValueError:
            raise unknown("run", run, self.runs) from None

    def select(self, runs: Sequence[str]) -> ScoreMatrix:
        """The same matrix with these runs only, in this order."""
        rows = np.array([self.index(run) for run in runs], dtype=np.int64)
        repeats = None if self.repeats is None else self.repeats.for_runs(rows)
        if repeats is not None and max(repeats.numbers, default=1) == 1:
            repeats = None
        return replace(
            self,
            runs=tuple(runs),
            values=self.values[rows],
            summary=self.summary.for_runs(rows),
            repeats=repeats,
            right_or_wrong=self.is_right_or_wrong,
            others=self.others + len(self.runs) - len(rows),
        )
