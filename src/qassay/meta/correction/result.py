"""Corrected scores and differences: the answer in a sentence, tables and JSON (FORMATS 7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from qassay.arrays import TIE
from qassay.display import as_sentence
from qassay.frames import ends, frame
from qassay.meta.correction.estimates import FEWEST_QUESTIONS, FEWEST_UNITS, Estimate, LabelsNeeded, Target
from qassay.meta.gating import Gate, gate_decision
from qassay.meta.looks import FEWEST, NO_PLAN, ONE_LOOK, Look, Plan
from qassay.meta.significance import percent, signed
from qassay.meta.trust.bias import Bias
from qassay.results import INLINE, UNREPORTED, Result, reported
from qassay.tables import MANUAL_RUN, Cell, Column, Table, counted, plural, starred, table

if TYPE_CHECKING:
    import polars as pl

Verdict: TypeAlias = Literal["better", "worse", "cannot tell"]
# The most pairs that a table for people shows.
PAIRS_SHOWN = 40


@dataclass(frozen=True)
class About:
    """Whose scores are corrected with whose labels, on which sample, and what the result is about."""

    task: str
    key: str
    correct_with: str
    sample: str
    target: Target
    measure: str
    units: int
    labelled: int
    drawn: int
    unit_name: tuple[str, str]
    drawn_name: tuple[str, str]
    by_unit: bool = False
    pair: tuple[str, str] | None = None
    manual: frozenset[str] = frozenset()
    plan: Plan = NO_PLAN
    KEYS: ClassVar = ("task", "key", "correct_with", "sample", "target", "measure", "units", "labelled", "drawn")

    @property
    def look(self) -> Look:
        """This look at the labels."""
        return self.plan.look(self.labelled)

    def starred(self, run: str) -> str:
        """The tag of a run as tables have it."""
        return starred(run, self.manual)

    def star_note(self, *runs: str) -> list[str]:
        """The meaning of the star, where one of these runs has it."""
        return [MANUAL_RUN] if self.manual.intersection(runs) else []

    def target_in_words(self) -> str:
        """The target of a score."""
        if self.target == "these":
            return f"these {counted(self.units, self.unit_name)}"
        return f"new {self.unit_name[1]} like these {self.units:,}"

    def labels_in_words(self) -> str:
        """How much is labelled, by whom."""
        return f"{counted(self.labelled, self.drawn_name)} labelled by {self.correct_with}"

    def without_intervals(self) -> str | None:
        """Why there are no intervals: labels or units are too few, or no look is planned now."""
        look = self.look
        if look.alpha is None and look.next is not None and self.labelled >= FEWEST:
            return (
                f"no intervals before {counted(look.next, self.drawn_name)} are labelled, the next look that is planned"
            )
        if self.by_unit:
            fewest = FEWEST if look.any_time else FEWEST_UNITS
            before = f" before all {self.drawn:,} {self.drawn_name[1]} are labelled" if look.any_time else ""
            needed = f"no intervals{before}: they need {fewest} {self.unit_name[1]}, and there are {self.units}"
            return needed if self.units < fewest else None
        if self.labelled >= FEWEST_QUESTIONS:
            return None
        return f"no intervals: they need {FEWEST_QUESTIONS} labelled {self.drawn_name[1]}, and {self.labelled} are"

    def notes(self) -> list[str]:
        """The notes of every table of corrected results."""
        source = f"The scores of {self.key}, corrected with {self.labels_in_words()} (sample {self.sample})."
        if (reason := self.without_intervals()) is not None:
            return [source, as_sentence(reason)]
        about = f"Intervals include the errors of {self.key}, and apply to {self.target_in_words()}."
        if self.target == "new" and not self.by_unit:
            about += f" They are narrower for these {self.unit_name[1]} alone (--target these)."
        return [source, about]


@dataclass(frozen=True, slots=True)
class CorrectedRun:
    """One run: its corrected score with interval, the judge's own score, the labels, and the judge's bias for it."""

    run: str
    score: float | None
    interval: tuple[float, float] | None
    judge_score: float
    labels: int
    bias: Bias | None = None
    estimate: Estimate | None = field(default=None, metadata=UNREPORTED)
    # What a wanted half-width takes: labels, or units where each has several decisions.
    needed: LabelsNeeded | None = field(default=None, metadata=UNREPORTED)
    units_needed: int | None = None
    # Answers in the sample that people did not judge: they block the correction of this run.
    skipped: int = 0

    @reported
    def labels_needed(self) -> int | None:
        """The labels that a wanted half-width takes; None where none is asked for, or no number of labels gives it."""
        return None if self.needed is None else self.needed.labels

    @reported
    def best_half_width(self) -> float | None:
        """The half-width with labels of all questions, where one is asked for."""
        return None if self.needed is None else self.needed.best


@dataclass(frozen=True, eq=False, repr=False)
class CorrectedScores(Result):
    """Runs by decreasing corrected score."""

    about: About = field(metadata=INLINE)
    runs: tuple[CorrectedRun, ...]
    notes: tuple[str, ...] = field(default=(), metadata=UNREPORTED)
    half_width: float | None = None
    looks: Look = ONE_LOOK

    @reported
    def notes_(self) -> tuple[str, ...]:
        """The notes of the table."""
        return self.table().notes

    def sentence(self) -> str:
        """Which run scores best after correction, and its score by the judge alone."""
        best = next((run for run in self.runs if run.score is not None), None)
        labels = self.about.labels_in_words()
        if best is None or best.score is None:
            return f"No corrected score, {labels}"
        within = f" ({_range(best.interval)})" if best.interval else ""
        judged = f"{self.about.key} alone says {best.judge_score:.3f}"
        return f"{best.run} scores best with {best.score:.3f}{within}, {labels}; {judged}"

    def run(self, tag: str) -> CorrectedRun:
        """The row of one run."""
        return next(run for run in self.runs if run.run == tag)

    def table(self) -> Table:
        """The corrected leaderboard."""
        columns: list[Column | str] = [
            "run",
            Column(self.about.measure, ".3f"),
            self.looks.interval_at(percent(self.looks.level)),
        ]
        columns += [Column(f"{self.about.key} says", ".3f"), Column("bias", "+.3f"), "its interval", Column("labels")]
        rows: list[list[Cell]] = []
        about = self.about
        for run in self.runs:
            bias = run.bias
            rows.append(
                [
                    about.starred(run.run),
                    run.score,
                    _range(run.interval),
                    run.judge_score,
                    None if bias is None else bias.bias,
                    _signed(None if bias is None else bias.interval),
                    run.labels,
                ]
            )
        title = f"{about.task}, {about.key} corrected with {about.correct_with}, {about.target_in_words()}"
        bias_note = (
            f"Bias: what {about.key} adds to the score of a run, measured on the labelled {about.drawn_name[1]}."
        )
        return table(title, columns, rows, (*about.notes(), bias_note, *self.notes, *self._star()))

    def _star(self) -> list[str]:
        return self.about.star_note(*(run.run for run in self.runs))

    def tables(self) -> list[Table]:
        """The corrected leaderboard and, where a half-width is asked for, the labels it takes."""
        return [self.table(), *([] if self.half_width is None else [self.needed_table(self.half_width)])]

    def needed_table(self, half_width: float) -> Table:
        """How many labels, or units with several decisions, a half-width takes, run by run."""
        if self.about.by_unit:
            return self._units_table(half_width)
        names = self.about.drawn_name[1]
        columns: list[Column | str] = ["run", Column("half-width now", ".3f"), Column(f"{names} to label", ",")]
        rows: list[list[Cell]] = []
        notes = []
        for run in self.runs:
            now = None if run.estimate is None else run.estimate.half_width
            rows.append([self.about.starred(run.run), now, None if run.needed is None else run.needed.labels])
            if run.needed is not None and run.needed.labels is None:
                best = f"the best is ±{run.needed.best:.3f}"
                notes.append(f"{run.run}: not with {counted(self.about.units, self.about.unit_name)}; {best}.")
        most = self.labels_needed
        if most is not None:
            notes.insert(
                0, f"For all runs: label the first {most:,} of the order; qassay sample draws them (--size {most})."
            )
        return table(f"Labels for intervals of ±{half_width:g}", columns, rows, [*notes, *self._star()])

    def _units_table(self, half_width: float) -> Table:
        """Where units have several decisions: how many units a half-width takes, and why labels are not planned."""
        noun, nouns = self.about.unit_name
        rows = [
            (
                self.about.starred(run.run),
                None if run.estimate is None else run.estimate.half_width,
                run.units_needed,
            )
            for run in self.runs
        ]
        labels = self.about.labelled / self.about.units
        notes = [
            f"With as many labels per {noun} as now ({labels:.1f}); there are "
            f"{counted(self.about.units, self.about.unit_name)}.",
            f"Labels alone are not planned here: every {noun} has some, and the interval is about new {nouns}. Further "
            f"{self.about.drawn_name[1]} of the same {nouns} leave the spread between {nouns} as it is.",
        ]
        columns: list[Column | str] = ["run", Column("half-width now", ".3f"), Column(f"{nouns} needed", ",")]
        title = f"{nouns[:1].upper()}{nouns[1:]} for intervals of ±{half_width:g}"
        return table(title, columns, rows, [*notes, *self._star()])

    @reported
    def units_needed(self) -> int | None:
        """The units with which every run has the wanted half-width; None where units are single questions."""
        return max((run.units_needed for run in self.runs if run.units_needed is not None), default=None)

    @reported
    def labels_needed(self) -> int | None:
        """The labels with which every run has the wanted half-width; None where one cannot."""
        needed = [run.needed.labels if run.needed is not None else None for run in self.runs if run.score is not None]
        numbers = [number for number in needed if number is not None]
        return max(numbers) if numbers and len(numbers) == len(needed) else None

    def to_polars(self) -> pl.DataFrame:
        """One row per run."""
        columns = {"run": str, "score": float, "low": float, "high": float, "judge_score": float, "bias": float}
        rows = [
            (
                run.run,
                run.score,
                *ends(run.interval),
                run.judge_score,
                None if run.bias is None else run.bias.bias,
                run.labels,
            )
            for run in self.runs
        ]
        return frame({**columns, "labels": int}, rows)


@dataclass(frozen=True, eq=False, repr=False)
class CorrectedDifference:
    """The corrected difference of two runs, and what the judge says alone."""

    a: str
    b: str
    estimate: Estimate = field(metadata=UNREPORTED)
    level: float

    @reported
    def difference(self) -> float:
        """The corrected difference a - b."""
        return self.estimate.value

    @reported
    def interval(self) -> tuple[float, float] | None:
        """Its interval."""
        return self.estimate.interval

    @reported
    def judge_difference(self) -> float:
        """The difference by the judge alone."""
        return self.estimate.judge

    @reported
    def labels(self) -> int:
        """The labels behind it."""
        return self.estimate.labels

    @reported
    def verdict(self) -> Verdict:
        """Better or worse where the interval excludes 0."""
        if self.interval is None or self.interval[0] <= 0 <= self.interval[1]:
            return "cannot tell"
        return "better" if self.interval[0] > 0 else "worse"

    @reported
    def different(self) -> bool:
        """Whether chance alone does not explain it."""
        return self.verdict != "cannot tell"


@dataclass(frozen=True, eq=False, repr=False)
class CorrectedPair(CorrectedDifference, Result):
    """The comparison of two runs on corrected scores."""

    about: About = field(kw_only=True, metadata=INLINE)
    looks: Look = field(default=ONE_LOOK, kw_only=True)
    notes: tuple[str, ...] = field(default=(), metadata=UNREPORTED)

    @reported
    def notes_(self) -> tuple[str, ...]:
        """The notes of the table."""
        return self.table().notes

    @property
    def alpha(self) -> float:
        """The level at which the interval decides."""
        return 1 - self.level

    @property
    def measure(self) -> str:
        """What the runs are compared by."""
        return self.about.measure

    @property
    def basis(self) -> str:
        """What the interval rests on beside the judge's scores."""
        return f"corrected with {self.about.labels_in_words()}"

    def gate(self, margin: float = 0.0) -> Gate:
        """ALLOW where the corrected interval lies above -margin, REJECT where it lies below, INCONCLUSIVE else."""
        return gate_decision(self.interval, margin)

    def sentence(self) -> str:
        """Which of the two is ahead, and whether chance alone could explain it."""
        about = self.about
        labels = f"{about.labels_in_words()}; this applies to {about.target_in_words()}"
        if self.verdict != "cannot tell":
            return f"{self.a} is {self.verdict} than {self.b}: chance alone does not explain the difference ({labels})"
        if self.interval is None:
            reason = about.without_intervals() or "too few labels"
            return f"{self.a} and {self.b} cannot be compared yet: {reason} ({labels})"
        if abs(self.difference) <= TIE:
            return f"{self.a} and {self.b} have the same corrected score ({labels})"
        higher, lower = (self.a, self.b) if self.difference > 0 else (self.b, self.a)
        return f"{higher} scores higher than {lower}, but chance alone could explain the difference ({labels})"

    def table(self) -> Table:
        """The difference with its interval, beside what the judge says."""
        rows: list[tuple[Cell, ...]] = [
            (
                f"{self.about.starred(self.a)} − {self.about.starred(self.b)}",
                f"{self.difference:+.3f}",
                f"{self.looks.interval_at(percent(self.level))} {_signed(self.interval) or '–'}",
            ),
            (f"{self.about.key} says", f"{self.estimate.judge:+.3f}", "without correction"),
            ("labels", f"{self.estimate.labels:,}", f"of {self.estimate.population:,}"),
        ]
        columns: list[Column | str] = ["", Column(self.about.measure), ""]
        star = self.about.star_note(self.a, self.b)
        return table(f"{self.sentence()}.", columns, rows, (*self.about.notes(), *self.notes, *star))

    def to_polars(self) -> pl.DataFrame:
        """One row."""
        columns = {"a": str, "b": str, "difference": float, "low": float, "high": float, "judge_difference": float}
        row = (self.a, self.b, self.difference, *ends(self.interval), self.estimate.judge)
        return frame({**columns, "labels": int, "verdict": str}, [(*row, self.estimate.labels, self.verdict)])


@dataclass(frozen=True, eq=False, repr=False)
class CorrectedPairs(Result):
    """All differences, the run that is ahead first, at one level for all of them."""

    about: About = field(metadata=INLINE)
    pairs: tuple[CorrectedPair, ...] = field(metadata=UNREPORTED)
    level: float
    notes: tuple[str, ...] = field(default=(), metadata=UNREPORTED)
    method: Literal["Bonferroni"] = "Bonferroni"
    looks: Look = field(default=ONE_LOOK, kw_only=True)

    @reported
    def pairs_(self) -> tuple[CorrectedDifference, ...]:
        """All differences, the run that is ahead first."""
        return tuple(CorrectedDifference(pair.a, pair.b, pair.estimate, pair.level) for pair in self.pairs)

    @reported
    def notes_(self) -> tuple[str, ...]:
        """The notes of the table."""
        return self.table().notes

    @reported
    def different(self) -> int:
        """The number of pairs that chance alone does not explain."""
        return sum(pair.different for pair in self.pairs)

    def sentence(self) -> str:
        """How many pairs differ."""
        differ = "differs" if self.different == 1 else "differ"
        pairs = f"{self.different:,} of {plural(len(self.pairs), 'pair')} of runs {differ}"
        return f"{pairs} significantly after correction, {self.about.labels_in_words()}"

    def table(self) -> Table:
        """The pairs with the largest differences."""
        columns: list[Column | str] = ["ahead", "behind", Column("difference", "+.3f"), "interval"]
        columns += [Column(f"{self.about.key} says", "+.3f"), "differ"]
        rows: list[list[Cell]] = [
            [
                self.about.starred(pair.a),
                self.about.starred(pair.b),
                pair.difference,
                _signed(pair.interval),
                pair.estimate.judge,
                "yes" if pair.different else "chance could explain it",
            ]
            for pair in self.pairs[:PAIRS_SHOWN]
        ]
        together = percent(self.looks.level)
        method = f"Corrected for {len(self.pairs):,} pairs (Bonferroni): together the intervals have level {together}."
        more = [f"The largest {PAIRS_SHOWN} differences."] if len(self.pairs) > PAIRS_SHOWN else []
        star = self.about.star_note(*(run for pair in self.pairs[:PAIRS_SHOWN] for run in (pair.a, pair.b)))
        return table(f"{self.sentence()}.", columns, rows, (*self.about.notes(), method, *more, *self.notes, *star))

    def to_polars(self) -> pl.DataFrame:
        """One row per pair."""
        import polars as pl

        return pl.concat([pair.to_polars() for pair in self.pairs])


def _range(interval: tuple[float, float] | None) -> str | None:
    return None if interval is None else f"{interval[0]:.3f}–{interval[1]:.3f}"


def _signed(interval: tuple[float, float] | None) -> str | None:
    """An interval with enough digits to show on which side of 0 it ends."""
    return None if interval is None else " to ".join(signed(end) for end in interval)
