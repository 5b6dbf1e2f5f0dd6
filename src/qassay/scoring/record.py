"""The records of scoring, and their tables and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from qassay.arrays import TIE, Floats, Integers, none_for_nan
from qassay.display import enumerated
from qassay.errors import UsageError, unknown
from qassay.judging.voting import Vote
from qassay.matrix import ScoreMatrix, too_few_for_intervals
from qassay.questions import Question
from qassay.results import Result, document
from qassay.runs import RunInformation
from qassay.summaries import Summary
from qassay.tables import MANUAL_RUN, Cell, Column, Table, counted, plural, starred, table

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that was left out, and why; `unit` is set where a whole unit is."""

    reason: str
    unit: str | None = None
    question: str | None = None

    def as_json(self) -> dict[str, str]:
        """The row of `dropped` in `score --json`."""
        row = {"unit": self.unit, "question": self.question, "reason": self.reason}
        return {name: value for name, value in row.items() if value is not None}


@dataclass(frozen=True)
class RunScore:
    """One run's score with the figures beside it; `Scores.figures` names those that belong to the task."""

    run: str
    score: float | None
    components: Mapping[str, float | None]
    nil_precision: float | None = None
    nil_recall: float | None = None
    mean_length: float | None = None
    by_type: float | None = None
    contingency: Mapping[str, Mapping[str, int]] | None = None


@dataclass(frozen=True, eq=False)
class Units:
    """Scores of runs x units; NaN where a run that lacks questions is scored on what it has."""

    ids: tuple[str, ...]
    values: Floats
    summary: Summary
    denominator: int | None
    series: tuple[str, ...] | None
    dropped: tuple[Dropped, ...] = ()

    def scores(self) -> Floats:
        """Score of every run over the units it has; NaN where it has none."""
        scored = ~np.isnan(self.values)
        if not self.ids:
            return np.full(len(self.values), np.nan)
        if scored.all():
            return self.summary(self.values, np.arange(len(self.ids)))
        return np.array([self._score(run, np.flatnonzero(is_scored)) for run, is_scored in enumerate(scored)])

    def _score(self, run: int, units: Integers) -> float:
        if not len(units):
            return float("nan")
        return float(self.summary.for_runs(np.array([run]))(self.values[[run]], units)[0])


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Result):
    """The scores of all runs under one key and one measure, best run first.

    `questions` has the scores of every question by type (NaN: left out), `asked` the order of the test set, and
    `figures` further figures of this task: NIL precision and the like.
    """

    task: str
    key: str
    measure: str
    runs: tuple[RunScore, ...]
    units: Units
    questions: Mapping[str, tuple[tuple[Question, ...], Floats]]
    asked: tuple[str, ...]
    figures: tuple[str, ...] = ()
    information: Mapping[str, RunInformation] = field(default_factory=dict)
    dropped: tuple[Dropped, ...] = ()
    unjudged: tuple[str, int] | None = None
    missing: tuple[str, Mapping[str, int]] | None = None
    # Empty answers of each run, where answers have labels: nobody judges them, and they get the lowest value.
    empty: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    # Components of which less is better (-1), or neither more nor less (0): the shares of labels that are not the best.
    better: Mapping[str, int] = field(default_factory=dict)
    # What people call a unit, and the lowest and highest score of a question.
    unit_name: tuple[str, str] = ("question", "questions")
    scale: tuple[float, float] = (0.0, 1.0)
    # Whether no run has other scores than 0 and 1, whichever runs are shown.
    right_or_wrong: bool = False
    # Under a key of several sets: how many judgments of each run come from each of them.
    judged_by: Mapping[str, Mapping[str, int]] | None = None
    # Who rated the justifications, where the score is the mean of their ratings.
    judges: tuple[str, ...] = ()
    # Under a key by the votes of several people: what it was made from.
    vote: Vote | None = None

    def sentence(self) -> str:
        """Which run scores best, or which share the first place, of how many, on how many units."""
        on = f"{counted(len(self.units.ids), self.unit_name)}, {self._judged_by()}"
        size = f"{plural(len(self.runs), 'run')}, {on}"
        best = self.runs[0] if self.runs else None
        if best is None or best.score is None:
            return f"No score, {size}"
        if len(self.runs) == 1:
            return f"{best.run} is the only run and scores {best.score:.3f} ({self.measure}), {on}"
        first = [row.run for row in self.runs if row.score is not None and best.score - row.score < TIE]
        if len(first) > 1:
            return f"{enumerated(first, 3)} share first place with {best.score:.3f} ({self.measure}), {size}"
        return f"{best.run} scores best with {best.score:.3f} ({self.measure}), {size}"

    def table(self) -> Table:
        """The leaderboard."""
        return self.leaderboard()

    def tables(self) -> list[Table]:
        """The leaderboard; for entailment also the decisions of all runs by reference answer."""
        return [self.leaderboard(), *self.contingency_tables()]

    def contingency_tables(self, run: str | None = None) -> list[Table]:
        """One table with the decisions of all runs or of one, for entailment; none for other tasks."""
        of_run = next((row.contingency for row in self.runs if row.run == run), None)
        total = self.contingency() if run is None else of_run
        if not total:
            return []
        decisions = list(next(iter(total.values())))
        columns: list[Column | str] = ["reference", *map(Column, decisions), Column("all")]
        rows: list[tuple[Cell, ...]] = [
            (label, *(row[decision] for decision in decisions), sum(row.values())) for label, row in total.items()
        ]
        sums = [sum(row[decision] for row in total.values()) for decision in decisions]
        rows.append(("all", *sums, sum(sums)))
        of_whom = run or plural(len(self.runs), "run")
        return [table(f"Decisions of {of_whom} (columns) by reference answer", columns, rows)]

    def to_polars(self) -> pl.DataFrame:
        """One row per run: rank, run, score, and the figures beside it."""
        names, more = self._beside()
        columns = [Column("rank"), Column("run"), *(Column(name, ".3f") for name in ("score", *names, *more))]
        ranks = self.ranks()
        rows = [(ranks[row.run], row.run, row.score, *self._figures(row, names, more)) for row in self.runs]
        return table("", columns, rows).to_polars()

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Tags in the order of the value arrays."""
        return tuple(self.information)

    @cached_property
    def matrix(self) -> ScoreMatrix:
        """The score matrix for analyses: the units that every run has."""
        shown = {row.run for row in self.runs}
        return self.matrix_of([tag for tag in self.tags if tag in shown])

    def matrix_of(self, runs: Sequence[str]) -> ScoreMatrix:
        """The score matrix of these runs: the units that each of them has."""
        for tag in runs:
            if tag not in self.tags:
                raise unknown("run", tag, self.tags)
        rows = np.array([self.tags.index(tag) for tag in runs], dtype=np.int64)
        whole = ~np.isnan(self.units.values[rows]).any(axis=0)
        if not whole.any():
            raise UsageError(f"no {self.unit_name[0]} is scored for every run; there is nothing to analyse")
        units = np.flatnonzero(whole)
        notes = [note for note in replace(self, missing=None).notes_for_output() if not note.startswith("*")]
        if self.missing and self.missing[0] == "skip":
            units_in_words = f"{len(units)} of {counted(len(self.units.ids), self.unit_name)}"
            notes.append(f"Only the {units_in_words} that every run has (--missing skip).")
        elif self.missing:
            notes += [note for note in self.notes_for_output() if note.startswith("Questions without a response")]
        return ScoreMatrix(
            runs=tuple(runs),
            units=tuple(self.units.ids[unit] for unit in units),
            values=self.units.values[np.ix_(rows, units)],
            measure=self.measure,
            summary=self.units.summary.for_runs(rows).on_units(units),
            denominator=self.units.denominator,
            clusters=tuple(self.units.series[unit] for unit in units) if self.units.series else None,
            manual=frozenset(tag for tag, about in self.information.items() if about.manual),
            notes=tuple(notes),
            unit_name=self.unit_name,
            scale=self.scale,
            right_or_wrong=self.right_or_wrong,
            others=len(self.runs) - len(rows),
        )

    def leaderboard(self, beside: Mapping[str, Mapping[str, str | None]] | None = None) -> Table:
        """Runs by decreasing score with their components; manual runs carry a star.

        `beside` are further columns next to the score, each with a text for every run.
        """
        names, more = self._beside()
        columns = [Column("rank", "g"), Column("run", left=True), Column(self.measure, ".3f")]
        columns += [Column(name, left=True) for name in beside or ()]
        columns += [Column(name, ".3f") for name in names] + [Column(*_EXTRAS[name]) for name in more]
        rows: list[list[Cell]] = []
        ranks, count = self.places(), len(self.units.ids)
        manual = [tag for tag, about in self.information.items() if about.manual]
        for row in self.runs:
            texts = [column.get(row.run) for column in (beside or {}).values()]
            rows.append([ranks[row.run], starred(row.run, manual), row.score, *texts, *self._figures(row, names, more)])
        return table(
            f"{self.task}, {self._judged_by()}, {counted(count, self.unit_name)}",
            columns,
            rows,
            self.notes_for_output(),
        )

    def _judged_by(self) -> str:
        """The judges whose judgments count: those of the key, or all judges of justifications."""
        return f"judges: {', '.join(self.judges)}" if self.judges else f"judgments: {self.key}"

    def _beside(self) -> tuple[list[str], list[str]]:
        """The components and the further figures, for columns next to the scores."""
        names = dict.fromkeys(name for row in self.runs for name in row.components if name != self.measure)
        return list(names), [name for name in _EXTRAS if any(getattr(row, name) is not None for row in self.runs)]

    @staticmethod
    def _figures(row: RunScore, names: Iterable[str], more: Iterable[str]) -> list[float | None]:
        return [*(row.components.get(name) for name in names), *(getattr(row, name) for name in more)]

    def ranks(self) -> dict[str, float | None]:
        """Rank of every run; ties share the mean rank, a run without a score has none."""
        ranks: dict[str, float | None] = {}
        for group in _tied(self.runs):
            shared = len(ranks) + (len(group) + 1) / 2
            ranks |= {row.run: None if row.score is None else shared for row in group}
        return ranks

    def places(self) -> dict[str, int | str | None]:
        """Place of every run as people write it: 1, 2=, 2=, 4; a run without a score has none."""
        places: dict[str, int | str | None] = {}
        for group in _tied(self.runs):
            place = len(places) + 1
            shown = place if len(group) == 1 else f"{place}="
            places |= {row.run: None if row.score is None else shown for row in group}
        return places

    def too_few_for_intervals(self) -> str | None:
        """Why scores have no intervals, where there are too few units for them."""
        return too_few_for_intervals(len(self.units.ids), self.unit_name)

    def best_per_organisation(self) -> Scores:
        """The same with the best run of each organisation only; runs without one are all kept."""
        best: dict[str, RunScore] = {}
        for row in self.runs:
            best.setdefault(self.information[row.run].organisation or f"run {row.run}", row)
        return replace(self, runs=tuple(best.values()), notes=(*self.notes, "The best run of each organisation."))

    def above(self, limit: float) -> Scores:
        """The same with the runs that score above a limit only; an error where there are none, with the best score."""
        rows = tuple(row for row in self.runs if row.score is not None and row.score > limit + TIE)
        if not rows:
            best = next((f"{row.run} with {row.score:.3f}" for row in self.runs if row.score is not None), "none")
            raise UsageError(f"no run scores above {limit:g}; the best is {best}")
        note = f"Runs that score above {limit:g}: {len(rows):,} of {len(self.runs):,}."
        return replace(self, runs=rows, notes=(*self.notes, note))

    def notes_for_output(self) -> tuple[str, ...]:
        """Sentences that every output carries: what was left out, counted as wrong or skipped."""
        notes = list(self.notes)
        if any(about.manual for about in self.information.values()):
            notes.append(MANUAL_RUN)
        if self.dropped:
            names = [f"{dropped.question or dropped.unit} ({dropped.reason})" for dropped in self.dropped]
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            notes.append("Left out: " + ", ".join(names[:8]) + more + ".")
        if self.vote is not None:
            notes.append(self.vote.sentence())
        if self.judged_by is not None:
            notes.append(self._judged_by_note(self.judged_by))
        if self.unjudged:
            rule, number = self.unjudged
            done = "counted as wrong" if rule == "wrong" else "left out as unjudged questions"
            notes.append(f"Unjudged: {number:,} {done} (--unjudged {rule}).")
        if self.empty:
            notes.append(f"Empty answers have no label and score {self.scale[0]:g}: {_by_run(self.empty)}.")
        if self.missing:
            rule, gaps = self.missing
            done = "score 0" if rule == "zero" else "skipped, each run averaged over what it has"
            notes.append(f"Questions without a response: {done} (--missing {rule}): {_by_run(gaps)}.")
        return tuple(notes)

    def as_json(self) -> dict[str, Any]:
        """The document of `score --json`."""
        place = {tag: row for row, tag in enumerate(self.tags)}
        result: dict[str, Any] = {
            **document(self, "task", "key", "measure"),
            "runs": [self._run_json(row) for row in self.runs],
            "units": list(self.units.ids),
            "matrix": {row.run: none_for_nan(self.units.values[place[row.run]]) for row in self.runs},
            "questions": self._questions_json(place),
            **document(self, "dropped"),
        }
        if total := self.contingency():
            result["contingency"] = total
        if self.unjudged:
            result["unjudged"] = {"rule": self.unjudged[0], "items": self.unjudged[1]}
        if self.vote is not None:
            result["vote"] = self.vote.as_json()
        if self.judged_by is not None:
            result["judged_by"] = {run: dict(counts) for run, counts in self.judged_by.items()}
        if self.missing:
            result["missing"] = {"rule": self.missing[0], "questions": dict(self.missing[1])}
        if self.empty:
            result["empty"] = dict(self.empty)
        return result

    @staticmethod
    def _judged_by_note(judged_by: Mapping[str, Mapping[str, int]]) -> str:
        """The share of each judge in each run: more judgments by a program make another ruler."""
        groups: dict[str, list[str]] = {}
        for run, counts in judged_by.items():
            counts_in_words = " + ".join(f"{number:,} {name}" for name, number in counts.items() if number) or "nothing"
            groups.setdefault(counts_in_words, []).append(run)
        groups_in_words = "; ".join(f"{', '.join(runs)}: {counts_in_words}" for counts_in_words, runs in groups.items())
        return f"Judgments by set, for each run (compare runs judged alike): {groups_in_words}."

    def contingency(self) -> dict[str, dict[str, int]] | None:
        """The contingency tables of all runs, summed."""
        tables = [row.contingency for row in self.runs if row.contingency is not None]
        if not tables:
            return None
        return {row: {c: sum(counts[row][c] for counts in tables) for c in tables[0][row]} for row in tables[0]}

    def _run_json(self, row: RunScore) -> dict[str, Any]:
        result = document(row, "run", "score", "components", *self.figures)
        about = self.information[row.run]
        if about.organisation is not None:
            result["organisation"] = about.organisation
        if about.manual:
            result["manual"] = True
        return result

    def _questions_json(self, place: Mapping[str, int]) -> dict[str, dict[str, float | None]]:
        """The scores of every question, in the order of the test set, of every run."""
        scored = [question.id for questions, _ in self.questions.values() for question in questions]
        column = {name: number for number, name in enumerate(scored)}
        names = [name for name in self.asked if name in column]
        values = np.concatenate([values for _, values in self.questions.values()], axis=1)
        values = values[:, [column[name] for name in names]]
        return {row.run: dict(zip(names, none_for_nan(values[place[row.run]]), strict=True)) for row in self.runs}


def _by_run(numbers: Mapping[str, int]) -> str:
    """The first few runs, each with its number."""
    first = ", ".join(f"{run} {number:,}" for run, number in list(numbers.items())[:6])
    return f"{first} and {len(numbers) - 6} more runs" if len(numbers) > 6 else first


def ranked(rows: Iterable[RunScore]) -> tuple[RunScore, ...]:
    """Runs by decreasing score, those without one last; scores that are equal but for rounding go by tag."""
    return tuple(row for group in _tied(rows) for row in sorted(group, key=lambda run_score: run_score.run))


def _tied(rows: Iterable[RunScore]) -> list[list[RunScore]]:
    """Runs by decreasing score, in groups of equal ones; those without a score are the last group."""
    tied: list[list[RunScore]] = []
    for row in sorted(rows, key=lambda row: (row.score is None, -(row.score or 0.0))):
        last = tied[-1][-1].score if tied else None
        same = tied and (last is None if row.score is None else last is not None and last - row.score < TIE)
        tied[-1].append(row) if same else tied.append([row])
    return tied


_EXTRAS: dict[str, tuple[str, str]] = {
    "by_type": ("by type", ".3f"),
    "nil_precision": ("NIL prec.", ".3f"),
    "nil_recall": ("NIL recall", ".3f"),
    "mean_length": ("length", ",.1f"),
}
