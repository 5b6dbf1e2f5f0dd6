"""Scores of an automatic judge, corrected by a random sample of people's labels (METHOD 7).

    estimates   the formulas, on arrays
    sampling    the random order that people label, and how much of it is labelled
    joining     what the judge and what people decide, runs x decisions
    correcting  from two tallies and a sample to a `Correction`
    result      corrected scores and differences -> sentences, tables, JSON

A `Correction` has the decisions of both and the labelled part of the sample. It gives the score of every run, the
difference of two, and all differences, each with an interval that counts the judge's errors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from qassay.arrays import Floats
from qassay.errors import UsageError, unknown
from qassay.meta.correction.estimates import (
    FEWEST_QUESTIONS,
    FEWEST_UNITS,
    Estimate,
    corrected_mean,
    corrected_share,
    corrected_units,
    expected_half_width,
    labels_needed,
    units_needed,
)
from qassay.meta.correction.joining import Decisions
from qassay.meta.correction.result import (
    About,
    CorrectedPair,
    CorrectedPairs,
    CorrectedRun,
    CorrectedScores,
)
from qassay.meta.correction.sampling import Draw
from qassay.meta.looks import Look
from qassay.meta.trust.bias import Bias, bias_of

__all__ = ["CorrectedPair", "CorrectedPairs", "CorrectedScores", "Correction", "Estimate", "labels_needed"]


@dataclass(frozen=True, eq=False)
class Correction:
    """Decisions of a judge and of people, and the draws that people labelled completely, in their random order.

    `among` is the number of all questions where the sample was drawn from those on which two runs differ.
    """

    about: About
    decisions: Decisions
    people: Floats
    labelled: tuple[Draw, ...]
    among: int | None = None
    notes: tuple[str, ...] = ()
    # Runs of which the sample is not judged completely, with the number of answers: they have no corrected score.
    unlabelled: Mapping[str, int] = field(default_factory=dict)

    def scores(self, *, half_width: float | None = None) -> CorrectedScores:
        """The corrected score of every run; with a half-width, the labels it takes."""
        if self.among is not None:
            pair = " and ".join(self.about.pair or ())
            raise UsageError(
                f"the sample {self.about.sample} has only the questions on which {pair} differ: it corrects their "
                "difference (qassay compare), and no score"
            )
        runs = [self._run(row, half_width) for row in range(len(self.decisions.runs))]
        runs.sort(
            key=lambda run: (run.score is None, -(run.score if run.score is not None else run.judge_score), run.run)
        )
        widths = [width for run in runs if (width := self._expected(run.estimate)) is not None]
        look = replace(self.about.look, expected=max(widths, default=None))
        return CorrectedScores(self.about, tuple(runs), self._notes(), half_width, look)

    def pair(self, a: str, b: str, *, look: Look | None = None) -> CorrectedPair:
        """The corrected difference of two runs."""
        look = look or self.about.look
        first, second = (self._row(tag) for tag in (a, b))
        if a == b:
            raise UsageError(f"{a} is compared with itself: name two runs")
        lacking = [tag for tag in (a, b) if tag in self.unlabelled]
        if lacking:
            runs_in_words = " and ".join(f"{tag} ({self.unlabelled[tag]:,})" for tag in lacking)
            raise UsageError(
                f"answers in the sample {self.about.sample} are not judged for {runs_in_words}: judge them first"
            )
        low, high = self.decisions.scale
        estimate = self._estimate(
            self.people[first] - self.people[second],
            self.decisions.values[first] - self.decisions.values[second],
            (low - high, high - low),
            is_difference=True,
            look=look,
        )
        look = replace(look, expected=self._expected(estimate))
        return CorrectedPair(a, b, estimate, look.level, self._notes(), about=self.about, looks=look)

    def pairs(self) -> CorrectedPairs:
        """All differences at once, each at the level that Bonferroni's correction gives it."""
        runs = [tag for tag in self.decisions.runs if tag not in self.unlabelled]
        count = len(runs) * (len(runs) - 1) // 2
        if not count:
            raise UsageError("there are not two runs to compare")
        look = self.about.look.shared(count)
        pairs = [self.pair(a, b, look=look) for a, b in itertools.combinations(runs, 2)]
        ahead = [pair if pair.difference >= 0 else self.pair(pair.b, pair.a, look=look) for pair in pairs]
        ahead.sort(key=lambda pair: (-pair.difference, pair.a, pair.b))
        widest = max((pair.looks.expected for pair in ahead if pair.looks.expected is not None), default=None)
        looks = replace(self.about.look, expected=widest)
        return CorrectedPairs(self.about, tuple(ahead), look.level, self._notes(), looks=looks)

    # ---- one row of decisions ---------------------------------------------------------------------------------------

    def _row(self, tag: str) -> int:
        if tag not in self.decisions.runs:
            raise unknown("run", tag, self.decisions.runs)
        return self.decisions.runs.index(tag)

    def _run(self, row: int, half_width: float | None) -> CorrectedRun:
        tag = self.decisions.runs[row]
        people, judge = self.people[row], self.decisions.values[row]
        if tag in self.unlabelled:
            return CorrectedRun(tag, None, None, self._judge_alone(judge), 0, skipped=self.unlabelled[tag])
        estimate = self._estimate(people, judge, self.decisions.scale, is_difference=False, look=self.about.look)
        labels, units = None, None
        if half_width is not None and self.decisions.units is None:
            labels = labels_needed(estimate, half_width, target=self.about.target, plan=self.about.plan)
        elif half_width is not None:
            units = units_needed(estimate, half_width, plan=self.about.plan) if estimate.population > 1 else None
        bias = self._bias(people, judge)
        return CorrectedRun(
            tag, estimate.value, estimate.interval, estimate.judge, estimate.labels, bias, estimate, labels, units
        )

    def _judge_alone(self, judge: Floats) -> float:
        """The judge's own score of a run, as it is without labels."""
        if self.decisions.units is None:
            return float(np.nanmean(judge))
        return float(np.mean([values.mean() for values in self._by_unit(judge, range(len(judge))).values()]))

    def _estimate(
        self, people: Floats, judge: Floats, scale: tuple[float, float], *, is_difference: bool, look: Look
    ) -> Estimate:
        if self.decisions.units is not None:
            return self._units(people, judge, look)
        every = ~np.isnan(judge)
        columns = self._labelled(people, judge)
        by_people, by_judge = people[columns], judge[columns]
        low, high = scale
        if not is_difference and np.isin(by_people, scale).all() and np.isin(judge[every], scale).all():
            share = corrected_share(
                *((values - low) / (high - low) for values in (by_people, by_judge, judge[every])),
                target=self.about.target,
                look=look,
            )
            return _rescaled(share, low, high - low)
        return corrected_mean(
            by_people, by_judge, judge[every], scale=scale, target=self.about.target, look=look, among=self.among
        )

    def _expected(self, estimate: Estimate | None) -> float | None:
        """The half-width once all that is planned is labelled."""
        look, plan = self.about.look, self.about.plan
        if estimate is None or plan.planned is None or look.n >= plan.planned:
            return None
        last = plan.look(plan.planned)
        if self.decisions.units is not None:
            units = estimate.population
            line = last.t(units, units - 1) if units >= FEWEST_UNITS else None
            return None if line is None else line * math.sqrt(estimate.left / units)
        line = last.t(plan.planned, plan.planned) if plan.planned >= FEWEST_QUESTIONS else None
        if line is None or estimate.labels < FEWEST_QUESTIONS:
            return None
        return expected_half_width(estimate, plan.planned, line, target=self.about.target, among=self.among)

    def _labelled(self, people: Floats, judge: Floats) -> list[int]:
        """The columns that people labelled, in the order of the draw."""
        columns = self._columns
        return [int(column) for column in columns[~np.isnan(people[columns] + judge[columns])]]

    @cached_property
    def _columns(self) -> np.ndarray:
        """The columns of the labelled draws: all pairs of runs ask for them."""
        place = self.decisions.place()
        return np.array([place[draw] for draw in self.labelled], dtype=np.int64)

    def _units(self, people: Floats, judge: Floats, look: Look) -> Estimate:
        columns = self._labelled(people, judge)
        by_people, by_judge = (self._by_unit(values, columns) for values in (people, judge))
        every = self._by_unit(judge, range(len(judge)))
        lacking = [unit for unit in every if unit not in by_people]
        if lacking:
            raise UsageError(
                f"every {self.decisions.unit_name[0]} needs a label, and {len(lacking)} have none yet: judge more of "
                f"the sample {self.about.sample}"
            )
        means = [np.array([values[unit].mean() for unit in every]) for values in (by_people, by_judge, every)]
        return corrected_units(means[0], means[1], means[2], labels=len(columns), look=look)

    def _by_unit(self, values: Floats, columns: Sequence[int] | range) -> dict[str, Floats]:
        """The weighted values of some decisions, unit by unit."""
        units = self.decisions.units or ()
        gathered: dict[str, list[float]] = {}
        for column in columns:
            if not np.isnan(values[column]):
                gathered.setdefault(units[column], []).append(float(values[column] * self.decisions.weights[column]))
        return {unit: np.array(values) for unit, values in gathered.items()}

    def _bias(self, people: Floats, judge: Floats) -> Bias | None:
        """The judge's bias on the score of a run: J - H, from the labelled decisions."""
        columns = self._labelled(people, judge)
        low, high = self.decisions.scale
        if self.decisions.units is None:
            differences = judge[columns] - people[columns]
            total, fewest = int((~np.isnan(judge)).sum()), FEWEST_QUESTIONS
        else:
            by_unit = self._by_unit(judge - people, columns)
            differences = np.array([values.mean() for values in by_unit.values()])
            total, fewest = len(differences), FEWEST_UNITS
        bias = bias_of(differences, units=total, reach=high - low)
        # Its interval is for one look.
        is_shown = len(differences) >= fewest and self.about.look.is_ordinary
        return bias if bias is None or is_shown else Bias(bias.bias, None, bias.questions)

    def _notes(self) -> tuple[str, ...]:
        notes = list(self.notes)
        if self.unlabelled:
            runs_in_words = ", ".join(f"{tag} ({number:,})" for tag, number in self.unlabelled.items())
            notes.append(
                "Not corrected, because answers in the sample are not judged, and the rest would not be random: "
                f"{runs_in_words}. Judge them, then correct."
            )
        return tuple(notes)


def _rescaled(estimate: Estimate, low: float, reach: float) -> Estimate:
    """An estimate on the scale from 0 to 1, on another."""
    limits = estimate.interval
    return Estimate(
        value=low + reach * estimate.value,
        interval=None if limits is None else (low + reach * limits[0], low + reach * limits[1]),
        judge=low + reach * estimate.judge,
        labels=estimate.labels,
        population=estimate.population,
        spread=reach**2 * estimate.spread,
        left=reach**2 * estimate.left,
    )
