"""The score matrix, a window at a time: units or questions down, runs across."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qassay.evaluation import Evaluation
from qassay.matrix import Floats, none_for_nan
from qassay.scores import Scores
from qassay.tables import Cell, Column, table
from qassay.web.results.choices import Choice
from qassay.web.results.finding import About, Finding, Part, Window
from qassay.web.results.request import Progress, scored

ROWS = 100
COLUMNS = 20
LONGEST_TEXT = 120


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores of runs (rows) on units or questions (columns); NaN where there is none."""

    names: tuple[str, ...]
    kinds: tuple[str | None, ...]
    about: About
    values: Floats

    def select(self, which: NDArray[np.int64]) -> Grid:
        """The grid with these columns only."""
        names = tuple(self.names[i] for i in which)
        return Grid(names, tuple(self.kinds[i] for i in which), self.about, self.values[:, which])


def units(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    by: str = "unit",
    kind: str | None = None,
    series: str | None = None,
    sort: str = "order",
    down: bool = False,
    page: int = 1,
    across: int = 1,
    whole: bool = False,
) -> Finding:
    """One row a unit (or question), one column a run, best run first."""
    scores = scored(evaluation, choice)
    grid = _grid(scores, evaluation, by, kind, series)
    place = {tag: row for row, tag in enumerate(scores.tags)}
    tags = [row.run for row in scores.runs]
    values = grid.values[[place[tag] for tag in tags]]
    means, medians, spreads = _statistics(values)
    order = _order(grid.names, {"mean": means, "median": medians, "spread": spreads}, sort, down=down)
    rows = order if whole else order[ROWS * (page - 1) : ROWS * page]
    runs = slice(0, len(tags)) if whole else slice(COLUMNS * (across - 1), COLUMNS * across)
    texts = _texts(evaluation, grid.about)
    numbers = [Column("mean", ".3f"), Column("median", ".3f"), Column("spread", ".3f")]
    columns: list[Column | str] = [grid.about, "type", "text", *numbers, *(Column(tag, ".3f") for tag in tags[runs])]
    body: list[list[Cell]] = [
        [
            *(grid.names[i], grid.kinds[i], texts.get(grid.names[i])),
            *none_for_nan(np.array([means[i], medians[i], spreads[i]])),
            *none_for_nan(values[runs, i]),
        ]
        for i in rows
    ]
    what = scores.measure if by == "unit" else "Scores"
    title = f"{what} of every run on every {grid.about}, key {scores.key}"
    shown = table(title, columns, body, scores.notes_for_output())
    window = None if len(rows) == len(order) else Window(ROWS * (page - 1), len(rows), len(order), _plural(grid.about))
    subjects = tuple(grid.names[i] for i in rows)
    part = Part("units", shown, grid.about, subjects, 0, window)
    return Finding((part,), columns=Window(runs.start, len(tags[runs]), len(tags), "runs"))


def _grid(scores: Scores, evaluation: Evaluation, by: str, kind: str | None, series: str | None) -> Grid:
    in_series = _is_by_series(scores, evaluation)
    if by == "unit":
        about: About = "series" if in_series else "question"
        types = {question.id: question.type for question in evaluation.questions}
        kinds = tuple(None if in_series else types.get(name) for name in scores.units.ids)
        grid = Grid(scores.units.ids, kinds, about, scores.units.values)
    else:
        grid = _questions(scores)
    keep = np.arange(len(grid.names))
    if kind is not None:
        keep = keep[[grid.kinds[i] == kind for i in keep]]
    if series is not None and grid.about == "question":
        wanted = {question.id for question in evaluation.questions if question.series == series}
        keep = keep[[grid.names[i] in wanted for i in keep]]
    return grid.select(keep)


def _is_by_series(scores: Scores, evaluation: Evaluation) -> bool:
    known = evaluation.questions.by_id
    return scores.measure.startswith("series_score") or not all(name in known for name in scores.units.ids)


def _questions(scores: Scores) -> Grid:
    """All questions that were scored, in the order of the test set."""
    names = [question.id for asked, _ in scores.questions.values() for question in asked]
    kinds = [question.type for asked, _ in scores.questions.values() for question in asked]
    values = np.concatenate([values for _, values in scores.questions.values()], axis=1)
    place = {name: i for i, name in enumerate(scores.asked)}
    order = np.argsort([place[name] for name in names], kind="stable")
    return Grid(tuple(names), tuple(kinds), "question", values).select(order)


def _statistics(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, median and spread of the runs on each column; NaN where no run has a score."""
    nothing = np.isnan(values).all(axis=0)
    filled = np.where(nothing, 0.0, values)
    mean, median = np.nanmean(filled, axis=0), np.nanmedian(filled, axis=0)
    spread = np.nanmax(filled, axis=0) - np.nanmin(filled, axis=0)
    return tuple(np.where(nothing, np.nan, one) for one in (mean, median, spread))  # type: ignore[return-value]  # three


def _order(names: tuple[str, ...], by: Mapping[str, Floats], sort: str, *, down: bool) -> NDArray[np.int64]:
    """The order of the rows; those without a score come last either way."""
    if sort == "name":
        order = np.array(sorted(range(len(names)), key=lambda i: names[i]), dtype=np.int64)
        return order[::-1] if down else order
    if sort in by:
        values = -by[sort] if down else by[sort]
        return np.argsort(values, kind="stable")
    order = np.arange(len(names))
    return order[::-1] if down else order


def _texts(evaluation: Evaluation, about: About) -> dict[str, str]:
    """What each row asks, in a few words."""
    if about == "series":
        return {series.id: series.target or "" for series in evaluation.questions.series}
    return {one.id: shortened(one.hypothesis or one.text or one.target or "") for one in evaluation.questions}


def shortened(text: str, most: int = LONGEST_TEXT) -> str:
    """The beginning of a long text."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _plural(about: About) -> str:
    return about if about == "series" else f"{about}s"
