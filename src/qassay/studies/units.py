"""Every run on every question or series: one row each, one column per run, the best run first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

import numpy as np

from qassay.arrays import Floats, Integers, none_for_nan
from qassay.display import as_sentence, called, titled
from qassay.errors import UsageError
from qassay.evaluation import Evaluation
from qassay.matrix import ScoreMatrix
from qassay.meta.distributions import hardest_and_easiest
from qassay.options import Option, Scoring
from qassay.pages import About, Exhibit, Links, Page
from qassay.questions import QuestionType
from qassay.results import UNREPORTED, Result, reported
from qassay.studies import WHERE, Study
from qassay.studies.judged_answers import asked_text
from qassay.tables import Cell, Column, Table, table

if TYPE_CHECKING:
    from qassay.figures import Figure

UNITS_SHOWN = 100
LONGEST_TEXT = 120
By = Literal["unit", "question"]
Order = Literal["order", "name", "mean", "median", "spread"]


@dataclass(frozen=True, eq=False, repr=False)
class UnitScores(Result):
    """Scores of runs (rows) on series or questions (columns); NaN where there is none."""

    key: str
    measure: str
    unit: About
    runs: tuple[str, ...]
    values: Floats = field(metadata=UNREPORTED)
    names: tuple[str, ...] = field(metadata=UNREPORTED)
    # The type of each and the series that it is in; its text or target.
    types: tuple[str | None, ...] = field(metadata=UNREPORTED)
    series: tuple[str | None, ...] = field(metadata=UNREPORTED)
    texts: Mapping[str, str] = field(metadata=UNREPORTED)
    notes: tuple[str, ...] = ()

    @property
    def unit_name(self) -> tuple[str, str]:
        """What a column is called, one and several."""
        return ("series", "series") if self.unit == "series" else ("question", "questions")

    @reported
    def means(self) -> dict[str, float | None]:
        """The mean of the runs on each; None where no run has a score."""
        return dict(zip(self.names, none_for_nan(self.statistics["mean"]), strict=True))

    @property
    def statistics(self) -> dict[str, Floats]:
        """Mean, median and spread of the runs on each; NaN where no run has a score."""
        none = np.isnan(self.values).all(axis=0)
        filled = np.where(none, 0.0, self.values)
        spread = np.nanmax(filled, axis=0) - np.nanmin(filled, axis=0)
        found = {"mean": np.nanmean(filled, axis=0), "median": np.nanmedian(filled, axis=0), "spread": spread}
        return {name: np.where(none, np.nan, values) for name, values in found.items()}

    def only(self, columns: Integers) -> UnitScores:
        """The same with these questions or series only."""
        names = tuple(self.names[i] for i in columns)
        types, series = (tuple(of[i] for i in columns) for of in (self.types, self.series))
        return replace(self, values=self.values[:, columns], names=names, types=types, series=series)

    def sentence(self) -> str:
        """The hardest and the easiest, series with their targets; the mean of all where none is harder than another."""
        titles = self.texts if self.unit == "series" else {}
        known = {name: mean for name, mean in self.means.items() if mean is not None}
        answer = hardest_and_easiest(known, self.unit_name, lambda name: titled(name, titles, called))
        if answer or not known:
            return answer
        unit, units = self.unit_name
        which = f"the only {unit} has" if len(known) == 1 else f"all {len(known):,} {units} have the same"
        return f"{which} mean {next(iter(known.values())):.3f}"

    def table(self) -> Table:
        """One row each: what it asks, mean, median and spread of the runs, and the score of every run."""
        # A series has questions of several types.
        statistics = self.statistics
        columns: list[Column | str] = [self.unit, *(["type", "text"] if self.unit == "question" else ["target"])]
        columns += [Column(name, ".3f") for name in (*statistics, *self.runs)]
        rows: list[list[Cell]] = []
        for i, name in enumerate(self.names):
            numbers = [*(values[i] for values in statistics.values()), *self.values[:, i]]
            types = (self.types[i],) if self.unit == "question" else ()
            rows.append([name, *types, self.texts.get(name), *none_for_nan(np.array(numbers))])
        what = "Scores" if self.measure == "score" else self.measure
        return table(f"{what} of every run on every {self.unit}, judgments: {self.key}", columns, rows, self.notes)

    def figure(self) -> Figure:
        """Every run on those that every run has."""
        from qassay import figures

        complete = self.only(np.flatnonzero(~np.isnan(self.values).any(axis=0)))
        if not complete.names:
            raise UsageError(f"no {self.unit} is scored for every run")
        matrix = ScoreMatrix(self.runs, complete.names, complete.values, measure=self.measure, unit_name=self.unit_name)
        return figures.scores_by_unit(matrix)


def units(
    evaluation: Evaluation,
    *,
    by: Annotated[By, Option("Rows are units of scores (series, or questions), or questions.", on_pages=True)] = "unit",
    **how: Unpack[Scoring],
) -> UnitScores:
    """The score of every run on every unit or question."""
    scores = evaluation.score(**how)
    names, values, measure = scores.units.ids, scores.units.values, scores.measure
    by_id = evaluation.questions.by_id
    unit: About = "question"
    if by == "question":
        # All questions that were scored, in the order of the test set.
        every = [question.id for asked, _ in scores.questions.values() for question in asked]
        place = {name: number for number, name in enumerate(scores.asked)}
        order = np.argsort([place[name] for name in every], kind="stable")
        values = np.concatenate([values for _, values in scores.questions.values()], axis=1)[:, order]
        names, measure = tuple(every[i] for i in order), "score"
    elif scores.measure.startswith("series_score") or not all(name in by_id for name in names):
        unit = "series"
    asked = [by_id[name] for name in names] if unit == "question" else []
    texts = {question.id: _beginning(asked_text(question)) for question in asked}
    runs = tuple(row.run for row in scores.runs)
    return UnitScores(
        scores.key,
        measure,
        unit,
        runs,
        values[[scores.tags.index(run) for run in runs]],
        names,
        tuple(question.type for question in asked) or (None,) * len(names),
        tuple(question.series for question in asked) or (None,) * len(names),
        texts or {series.id: series.target or "" for series in evaluation.questions.series},
        scores.notes_for_output(),
    )


def page(
    result: UnitScores,
    *,
    kind: Annotated[QuestionType | None, Option("Only the questions of this type.", on_pages=True)] = None,
    series: Annotated[str | None, Option("Only the questions of this series.", on_pages=True)] = None,
    sort: Annotated[Order, Option("What the rows are sorted by.", on_pages=True)] = "order",
    down: Annotated[bool, Option("The largest first.", on_pages=True)] = False,
) -> Page:
    """The hardest and the easiest, and all scores."""
    wanted = [
        i
        for i in range(len(result.names))
        if kind in (None, result.types[i]) and (series in (None, result.series[i]) or result.unit == "series")
    ]
    part = result.only(np.array(wanted, dtype=np.int64))
    shown = part.only(_order(part, sort, down=down))
    table = shown.table()
    links = Links(result.unit, shown.names)
    fixed = len(table.columns) - len(result.runs)
    exhibit = Exhibit("units", table, part.figure, links=links, fixed=fixed, at_once=UNITS_SHOWN)
    return Page(tuple(filter(None, (as_sentence(part.sentence()),))), (exhibit,))


STUDY = Study(
    name="units",
    compute=units,
    page=page,
    documents=(UnitScores,),
    heading="Scores on every question",
    label="Scores",
    tab=WHERE,
)


def _order(part: UnitScores, sort: Order, *, down: bool) -> Integers:
    """The order of the rows; those without a score come last either way."""
    if sort in ("mean", "median", "spread"):
        values = part.statistics[sort]
        return np.argsort(-values if down else values, kind="stable")
    rows = range(len(part.names))
    order = np.array(sorted(rows, key=lambda i: part.names[i]) if sort == "name" else rows, dtype=np.int64)
    return order[::-1] if down else order


def _beginning(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
