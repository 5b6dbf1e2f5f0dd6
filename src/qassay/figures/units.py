"""Figures of scores on single questions: every run on every question, the spread on each, one run, one question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qassay.arrays import TIE
from qassay.display import as_sentence, called
from qassay.errors import UsageError
from qassay.figures.drawing import (
    ACCENT,
    INK,
    LINE,
    MOST_ROWS,
    SOFT,
    WIDTH,
    altair,
    chart,
    first_of,
    height,
    names,
    number,
    span,
)
from qassay.figures.figure import Figure, figure
from qassay.meta.ranking import rank_runs
from qassay.tables import Column, counted, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from qassay.matrix import ScoreMatrix
    from qassay.meta.distributions import Box, ScoreDistributions

# Columns of a heat map; more units are averaged in groups of neighbours.
MOST_COLUMNS = 60
# Units named below their columns, and so few that the names fit side by side.
MOST_NAMED = 40
FEW_NAMED = 16
# Boxes that can be read.
MOST_BOXES = 40
FEWEST_FOR_BOXES = 5


def scores_by_unit(matrix: ScoreMatrix) -> Figure:
    """Every run on every unit as a shade: best runs above, easiest units left.

    Many units are averaged in groups of neighbours in that order.
    """
    alt = altair()
    if not matrix.runs or not matrix.units:
        raise UsageError("there are no scores to draw")
    ranking = rank_runs(matrix.runs, matrix.scores(), matrix.direction)
    ordered = matrix.select(ranking.runs)
    by_ease = np.argsort(-matrix.direction.oriented(ordered.values.mean(axis=0)), kind="stable")
    groups = np.array_split(by_ease, min(len(by_ease), MOST_COLUMNS))
    shown = ranking.runs[:MOST_ROWS]
    cells = [
        {
            "run": run,
            "place": place,
            "unit": ordered.units[group[0]],
            "score": round(float(ordered.values[row, group].mean()), 4),
        }
        for row, run in enumerate(shown)
        for place, group in enumerate(groups, start=1)
    ]
    noun, nouns = matrix.unit_name
    most = max(map(len, groups))
    each = f"one {noun}" if most == 1 else f"the mean of {min(map(len, groups))} to {most} {nouns}"
    if most > 1 and min(map(len, groups)) == most:
        each = f"the mean of {most} {nouns}"
    low, high = float(min(0.0, ordered.values.min())), float(ordered.values.max())
    shades = f"the shade of a cell is the score, from {low:.3g} to {high:.3g}" if high > low else "every score is 0"
    is_named = most == 1 and len(groups) <= MOST_NAMED
    axis = alt.Axis(labels=is_named, grid=False, labelAngle=-90 if len(groups) > FEW_NAMED else 0, labelLimit=90)
    drawn = (
        chart(cells)
        .mark_rect(fill=ACCENT, stroke=LINE, strokeWidth=0.5)
        .encode(
            x=alt.X("unit:N" if is_named else "place:O", sort=None, title=f"{nouns}, easiest first", axis=axis),
            y=names("run", list(shown)),
            fillOpacity=alt.FillOpacity(
                "score:Q", scale=alt.Scale(domain=[low, high if high > low else low + 1], range=[0, 1]), legend=None
            ),
        )
        .properties(width=WIDTH - 120, height=height(len(shown), 18))
    )
    columns: list[Column | str] = [noun, *(Column(run, ".3f") for run in ordered.runs)]
    rows = [(ordered.units[unit], *ordered.values[:, unit].tolist()) for unit in by_ease]
    hardest, easiest = ordered.units[by_ease[-1]], ordered.units[by_ease[0]]
    return figure(
        "scores-by-unit",
        drawn,
        title=f"Score of every run on every {noun}",
        caption=f"Each column is {each}; {shades}." + first_of(len(shown), len(ordered.runs), "runs"),
        description=f"The easiest {noun} is {called(easiest)}, the hardest {called(hardest)}.",
        table=table(f"Scores on each {noun}, easiest first, {matrix.measure}", columns, rows),
    )


def boxes_by_unit(spread: ScoreDistributions) -> Figure:
    """How the runs spread on each unit: box from quartile to quartile, whiskers, and runs beyond.

    Where quartiles say nothing, other marks take their place: with fewer than five runs, the lowest and the highest;
    with scores that are 0 or 1, the share of the runs that score 1.
    """
    alt = altair()
    noun = spread.unit_name[0]
    every, better = spread.units, spread.direction.oriented
    which = " on which the runs differ most"
    if all(end in (0.0, 1.0) for box in every for end in _ends(box)) and spread.runs > 1:
        draw, caption = _shares, "Every score is 0 or 1: a bar is the share of the runs that score 1."
        by_ease = sorted(every, key=lambda box: (-better(box.mean), box.unit))
        places = np.linspace(0, len(every) - 1, min(len(every), MOST_BOXES)).round().astype(int).tolist()
        chosen, which = [by_ease[place] for place in places], ", evenly from the easiest to the hardest"
    elif spread.runs < FEWEST_FOR_BOXES:
        draw, caption = _lowest_and_highest, "The dots are the lowest and the highest run, the tick is the median."
        chosen = sorted(every, key=lambda box: (min(_ends(box)) - max(_ends(box)), box.unit))[:MOST_BOXES]
    else:
        draw = _boxes
        caption = (
            "A box shows the middle half of the runs, its tick is their median; circles are runs far from the others."
        )
        chosen = sorted(every, key=lambda box: (box.q1 - box.q3, box.unit))[:MOST_BOXES]
    if len(chosen) < len(every):
        caption += f" The figure has {len(chosen)} of {counted(len(every), spread.unit_name)}{which}."
    chosen.sort(key=lambda box: (-better(box.median), -better(box.mean), box.unit))
    layers = draw(chosen, names("unit", [box.unit for box in chosen]), spread.measure)
    rows = [(b.unit, b.low, b.q1, b.median, b.q3, b.high, b.mean, len(b.outliers)) for b in spread.units]
    columns: list[Column | str] = [noun]
    columns += [Column(name, ".3f") for name in ("lower whisker", "q1", "median", "q3", "upper whisker", "mean")]
    return figure(
        "spread-by-unit",
        alt.layer(*layers).properties(width=WIDTH - 120, height=height(len(chosen), 18)),
        title=f"How the runs spread on each {noun}",
        caption=caption,
        description=as_sentence(spread.zeros()),
        table=table(f"Scores of {spread.runs} runs on each {noun}", [*columns, Column("outliers")], rows),
    )


def _ends(box: Box) -> list[float]:
    """The ends of the whiskers, and the scores beyond them."""
    return [box.low, box.high, *(outlier.score for outlier in box.outliers)]


def _boxes(boxes: Sequence[Box], y: Any, measure: str) -> list[Any]:
    base = chart(
        [{"unit": b.unit, "low": b.low, "q1": b.q1, "median": b.median, "q3": b.q3, "high": b.high} for b in boxes]
    ).encode(y=y)
    whiskers = base.mark_rule(color=SOFT).encode(x=number("low", title=measure), x2="high:Q")
    middle = base.mark_bar(color=ACCENT, opacity=0.35, height={"band": 0.6}).encode(x="q1:Q", x2="q3:Q")
    outliers = chart([{"unit": b.unit, "score": out.score} for b in boxes for out in b.outliers])
    beyond = outliers.mark_point(size=30, color=SOFT, opacity=1).encode(x="score:Q", y=y)
    return [whiskers, middle, _medians(base), beyond]


def _lowest_and_highest(boxes: Sequence[Box], y: Any, measure: str) -> list[Any]:
    ends = [(box, min(_ends(box)), max(_ends(box))) for box in boxes]
    base = chart([{"unit": b.unit, "low": low, "median": b.median, "high": high} for b, low, high in ends]).encode(y=y)
    between = base.mark_rule(color=SOFT).encode(x=number("low", title=measure), x2="high:Q")
    dots = chart([{"unit": box.unit, "score": end} for box, low, high in ends for end in (low, high)])
    return [
        between,
        dots.mark_point(size=60, filled=True, color=ACCENT, opacity=1).encode(x="score:Q", y=y),
        _medians(base),
    ]


def _medians(base: Any) -> Any:
    return base.mark_tick(color=INK, thickness=2.5, height={"band": 0.7}).encode(x="median:Q")


def _shares(boxes: Sequence[Box], y: Any, measure: str) -> list[Any]:
    base = chart([{"unit": box.unit, "mean": box.mean} for box in boxes]).encode(y=y)
    x = number("mean", title=f"share of the runs with {measure} 1", domain=(0.0, 1.0), form="%")
    return [base.mark_bar(color=ACCENT, height={"band": 0.6}).encode(x=x)]


def run_by_unit(matrix: ScoreMatrix, run: str) -> Figure:
    """One run on each unit beside the median and the best of all runs; the units where it differs most come first."""
    alt = altair()
    if not matrix.units:
        raise UsageError("there are no scores to draw")
    values = matrix.values[matrix.index(run)]
    better = matrix.direction.oriented
    middle, best = np.median(matrix.values, axis=0), better(better(matrix.values).max(axis=0))
    order = sorted(range(len(matrix.units)), key=lambda unit: (-abs(values[unit] - middle[unit]), unit))
    rows = [(matrix.units[unit], float(values[unit]), float(middle[unit]), float(best[unit])) for unit in order]
    # The rows are in the order of the differences, from the best for this run down.
    shown = sorted(rows[:MOST_ROWS], key=lambda row: better(row[2] - row[1]))
    noun = matrix.unit_name[0]
    called_run = called(run)
    base = chart([{"unit": unit, "own": mine, "median": mid, "best": top} for unit, mine, mid, top in shown]).encode(
        y=names("unit", [row[0] for row in shown])
    )
    x = number("median", title=f"{matrix.measure} on each {noun}")
    beyond = base.mark_rule(color=SOFT).encode(x=x, x2="best:Q")
    medians = base.mark_tick(color=INK, thickness=2.5, height={"band": 0.7}).encode(x="median:Q")
    bests = base.mark_point(shape="diamond", color=SOFT, size=34, opacity=1).encode(x="best:Q")
    dots = base.mark_circle(color=ACCENT, size=80, opacity=1).encode(x="own:Q")
    above, below = int((values > middle + TIE).sum()), int((values < middle - TIE).sum())
    answer = f"{called_run} is above the median on {above:,}, below it on {below:,} of "
    answer += f"{counted(len(matrix.units), matrix.unit_name)}."
    left = "" if len(shown) == len(rows) else f" The {len(shown)} on which it differs most; the table has all."
    columns: list[Column | str] = [noun, *(Column(name, ".3f") for name in (run, "median", "best"))]
    return figure(
        "run-by-unit",
        alt.layer(beyond, medians, bests, dots).properties(width=WIDTH - 120, height=height(len(shown), 18)),
        title=f"{called_run} on each {noun}, beside the median and the best",
        caption=f"The dot is {called_run}, the tick the median of {counted(len(matrix.runs), ('run', 'runs'))}, "
        f"the diamond the best.{left}",
        description=answer,
        table=table(f"{called_run}, median and best on each {noun}, largest difference first", columns, rows),
    )


def unit_by_run(matrix: ScoreMatrix, unit: str) -> Figure:
    """The scores of all runs on one unit, the best first."""
    alt = altair()
    if unit not in matrix.units:
        raise UsageError(f"{unit!r} has no scores to draw")
    values = matrix.values[:, matrix.units.index(unit)]
    ranking = rank_runs(matrix.runs, values, matrix.direction)
    rows = [(row.run, row.score) for row in ranking.rows]
    shown = rows[:MOST_ROWS]
    mean = float(values.mean())
    noun = matrix.unit_name[0]
    lowest, highest = min(0.0, float(values.min())), float(values.max())
    scale = alt.Scale(domain=[lowest, max(span(0.0, highest)[1], lowest + 0.1)], nice=False)
    base = chart([{"run": run, "score": score} for run, score in shown]).encode(
        y=names("run", [run for run, _ in shown])
    )
    bars = base.mark_bar(color=ACCENT, height={"band": 0.65}).encode(
        x=alt.X("score:Q", title=f"{matrix.measure} on {noun} {unit}", scale=scale, axis=alt.Axis(tickCount=6))
    )
    numbers = base.mark_text(align="left", dx=6, color=SOFT).encode(x="score:Q", text=alt.Text("score:Q", format=".3f"))
    rule = chart([{"mean": mean}]).mark_rule(color=INK, strokeDash=[4, 4]).encode(x="mean:Q")
    first = [run for run, score in rows if abs(score - rows[0][1]) < TIE]
    answer = f"{called(first[0])} scores best" if len(first) == 1 else f"{len(first)} runs share the best score"
    return figure(
        "unit-by-run",
        alt.layer(bars, rule, numbers).properties(width=WIDTH - 160, height=height(len(shown))),
        title=f"Scores of the runs on {noun} {called(unit)}",
        caption=f"The dashed line is the mean, {mean:.3f}." + first_of(len(shown), len(rows), "runs"),
        description=f"{answer}, {rows[0][1]:.3f}.",
        table=table(f"Scores on {noun} {called(unit)}", ["run", Column("score", ".3f")], rows),
    )
