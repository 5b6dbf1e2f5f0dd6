"""The study of the score matrix: every run on every unit or question, a window at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from qassay import figures
from qassay.arrays import Floats, Integers, none_for_nan
from qassay.display import as_sentence, called, titled
from qassay.errors import UsageError
from qassay.evaluation import Evaluation
from qassay.matrix import ScoreMatrix
from qassay.meta.distributions import hardest_and_easiest
from qassay.pages import About
from qassay.scoring import Scores
from qassay.studies.judged_answers import asked_text
from qassay.tables import Cell, Column, table
from qassay.web.results.finding import (
    Choice,
    Finding,
    Kind,
    Name,
    Page,
    Part,
    Progress,
    Window,
    pictures,
    scored,
)

if TYPE_CHECKING:
    from qassay.figures import Figure

# Rows and runs on one page; the CSV has all.
UNITS_SHOWN = 100
RUNS_SHOWN = 20
LONGEST_TEXT = 120


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores of runs (rows) on units or questions (columns); NaN where there is none."""

    names: tuple[str, ...]
    types: tuple[str | None, ...]
    about: About
    values: Floats

    @property
    def unit_name(self) -> tuple[str, str]:
        """What a column is called, one and several."""
        return ("series", "series") if self.about == "series" else ("question", "questions")

    def select(self, columns: Integers) -> Grid:
        """The grid with these columns only."""
        names, types = (tuple(texts[i] for i in columns) for texts in (self.names, self.types))
        return Grid(names, types, self.about, self.values[:, columns])


@dataclass(frozen=True, eq=False)
class Statistics:
    """Mean, median and spread of the runs on each column of a grid; NaN where no run has a score."""

    mean: Floats
    median: Floats
    spread: Floats


def units(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    by: Literal["unit", "question"] = "unit",
    kind: Kind | None = None,
    series: Name | None = None,
    sort: Literal["order", "name", "mean", "median", "spread"] = "order",
    down: bool = False,
    page: Page = 1,
    across: Page = 1,
    whole: bool = False,
) -> Finding:
    """One row per unit (or question), one column per run, best run first."""
    scores = scored(evaluation, choice)
    tags = [row.run for row in scores.runs]
    grid = _grid(scores, evaluation, tags, by, kind, series)
    statistics = _statistics(grid.values)
    order = _order(grid.names, statistics, sort, down=down)
    rows = order if whole else order[UNITS_SHOWN * (page - 1) : UNITS_SHOWN * page]
    runs = slice(0, len(tags)) if whole else slice(RUNS_SHOWN * (across - 1), RUNS_SHOWN * across)
    heading = scores.measure if by == "unit" else "Scores"
    title = f"{heading} of every run on every {grid.about}, judgments: {scores.key}"
    texts = _texts(evaluation, grid.about)
    columns, body = _cells(grid, statistics, rows, tags, runs, texts)
    row_window = None
    if len(rows) < len(order):
        row_window = Window(UNITS_SHOWN * (page - 1), len(rows), len(order), grid.unit_name[1])
    subjects = tuple(grid.names[i] for i in rows)
    part = Part("units", table(title, columns, body, scores.notes_for_output()), grid.about, subjects, 0, row_window)
    all_units = by == "unit" and kind is None and series is None
    heat_map = scores.figure if all_units else lambda: _heat_map(scores, grid, tags)
    return Finding(
        (part,),
        answer=_hardest_and_easiest(grid, statistics.mean, texts),
        columns=Window(runs.start, len(tags[runs]), len(tags), "runs"),
        pictures=pictures(heat_map) if page == across == 1 and not whole else (),
    )


# ---- the scores ------------------------------------------------------------------------------------------------------


def _grid(
    scores: Scores, evaluation: Evaluation, tags: Sequence[str], by: str, kind: str | None, series: str | None
) -> Grid:
    """The scores of these runs on all units, or on questions; of one type or series where it is named."""
    grid = _units(scores, evaluation) if by == "unit" else _questions(scores)
    columns = np.arange(len(grid.names))
    if kind is not None:
        columns = columns[[grid.types[i] == kind for i in columns]]
    if series is not None and grid.about == "question":
        in_this_series = {question.id for question in evaluation.questions if question.series == series}
        columns = columns[[grid.names[i] in in_this_series for i in columns]]
    grid = grid.select(columns)
    row_of = {tag: row for row, tag in enumerate(scores.tags)}
    return Grid(grid.names, grid.types, grid.about, grid.values[[row_of[tag] for tag in tags]])


def _units(scores: Scores, evaluation: Evaluation) -> Grid:
    names, values = scores.units.ids, scores.units.values
    by_id = evaluation.questions.by_id
    if scores.measure.startswith("series_score") or not all(name in by_id for name in names):
        return Grid(names, (None,) * len(names), "series", values)
    return Grid(names, tuple(by_id[name].type for name in names), "question", values)


def _questions(scores: Scores) -> Grid:
    """All questions that were scored, in the order of the test set."""
    questions = [question for asked, _ in scores.questions.values() for question in asked]
    values = np.concatenate([values for _, values in scores.questions.values()], axis=1)
    place = {name: i for i, name in enumerate(scores.asked)}
    order = np.argsort([place[question.id] for question in questions], kind="stable")
    names, types = tuple(question.id for question in questions), tuple(question.type for question in questions)
    return Grid(names, types, "question", values).select(order)


def _statistics(values: Floats) -> Statistics:
    without_scores = np.isnan(values).all(axis=0)
    filled = np.where(without_scores, 0.0, values)

    def undefined_without_scores(statistic: Floats) -> Floats:
        return np.where(without_scores, np.nan, statistic)

    return Statistics(
        undefined_without_scores(np.nanmean(filled, axis=0)),
        undefined_without_scores(np.nanmedian(filled, axis=0)),
        undefined_without_scores(np.nanmax(filled, axis=0) - np.nanmin(filled, axis=0)),
    )


# ---- how they are shown ----------------------------------------------------------------------------------------------


def _order(names: Sequence[str], statistics: Statistics, sort: str, *, down: bool) -> Integers:
    """The order of the rows; those without a score come last either way."""
    if sort in ("mean", "median", "spread"):
        values: Floats = getattr(statistics, sort)
        return np.argsort(-values if down else values, kind="stable")
    rows = range(len(names))
    order = np.array(sorted(rows, key=lambda i: names[i]) if sort == "name" else rows, dtype=np.int64)
    return order[::-1] if down else order


def _cells(
    grid: Grid,
    statistics: Statistics,
    rows: Integers,
    tags: Sequence[str],
    runs: slice,
    texts: dict[str, str],
) -> tuple[list[Column | str], list[list[Cell]]]:
    """The columns of the table, and its rows."""
    numbers = [Column(header, ".3f") for header in ("mean", "median", "spread", *tags[runs])]
    # A series has questions of several types.
    described = ["type", "text"] if grid.about == "question" else ["target"]
    columns: list[Column | str] = [grid.about, *described, *numbers]
    body: list[list[Cell]] = []
    for i in rows:
        name = grid.names[i]
        figures = [statistics.mean[i], statistics.median[i], statistics.spread[i], *grid.values[runs, i]]
        types = (grid.types[i],) if grid.about == "question" else ()
        body.append([name, *types, texts.get(name), *none_for_nan(np.array(figures))])
    return columns, body


def _texts(evaluation: Evaluation, about: About) -> dict[str, str]:
    """The text of each row, its beginning where it is long."""
    if about == "series":
        return {series.id: series.target or "" for series in evaluation.questions.series}
    texts = {question.id: asked_text(question) for question in evaluation.questions}
    return {name: text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…" for name, text in texts.items()}


def _heat_map(scores: Scores, grid: Grid, tags: Sequence[str]) -> Figure:
    """Every run on the rows of the page: on those that every run has."""
    complete = np.flatnonzero(~np.isnan(grid.values).any(axis=0))
    if not len(complete):
        raise UsageError(f"no {grid.about} is scored for every run")
    names = tuple(grid.names[i] for i in complete)
    measure = scores.measure if grid.about == "series" else "score"
    values = grid.values[:, complete]
    matrix = ScoreMatrix(tuple(tags), names, values, measure=measure, unit_name=grid.unit_name)
    return figures.scores_by_unit(matrix)


def _hardest_and_easiest(grid: Grid, means: Floats, texts: dict[str, str]) -> str:
    """The hardest and the easiest row, series with their targets; the mean of all where none is harder than another."""
    titles = texts if grid.about == "series" else {}
    by_name = {name: float(mean) for name, mean in zip(grid.names, means, strict=True) if not np.isnan(mean)}
    answer = hardest_and_easiest(by_name, grid.unit_name, lambda name: titled(name, titles, called))
    if not answer and by_name:
        unit, units = grid.unit_name
        which = f"the only {unit} has" if len(by_name) == 1 else f"all {len(by_name):,} {units} have the same"
        answer = f"{which} mean {next(iter(by_name.values())):.3f}"
    return as_sentence(answer)
