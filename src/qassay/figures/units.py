"""Figures of scores on single questions: every run on every question, and how the runs spread on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qassay.display import called
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
)
from qassay.figures.figure import Figure, figure
from qassay.meta.ranking import rank_runs
from qassay.tables import Column, counted, table

if TYPE_CHECKING:
    from qassay.matrix import ScoreMatrix
    from qassay.meta.distributions import ScoreDistributions

# Columns of a heat map; more units are averaged in groups of neighbours.
MOST_COLUMNS = 60
# Units named below their columns, and so few that the names fit side by side.
MOST_NAMED = 40
FEW_NAMED = 16
# Boxes that can be read.
MOST_BOXES = 40


def scores_by_unit(matrix: ScoreMatrix) -> Figure:
    """Every run on every unit as a shade: best runs above, easiest units left.

    Many units are averaged in groups of neighbours in that order.
    """
    alt = altair()
    if not matrix.runs or not matrix.units:
        raise UsageError("there are no scores to draw")
    ranking = rank_runs(matrix.runs, matrix.scores())
    ordered = matrix.select(ranking.runs)
    by_ease = np.argsort(-ordered.values.mean(axis=0), kind="stable")
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
    one, many = matrix.unit_name
    most = max(map(len, groups))
    each = f"one {one}" if most == 1 else f"the mean of {min(map(len, groups))} to {most} {many}"
    if most > 1 and min(map(len, groups)) == most:
        each = f"the mean of {most} {many}"
    low, high = float(min(0.0, ordered.values.min())), float(ordered.values.max())
    named = most == 1 and len(groups) <= MOST_NAMED
    axis = alt.Axis(labels=named, grid=False, labelAngle=-90 if len(groups) > FEW_NAMED else 0, labelLimit=90)
    drawn = (
        chart(cells)
        .mark_rect(fill=ACCENT, stroke=LINE, strokeWidth=0.5)
        .encode(
            x=alt.X("unit:N" if named else "place:O", sort=None, title=f"{many}, easiest first", axis=axis),
            y=names("run", list(shown)),
            fillOpacity=alt.FillOpacity(
                "score:Q", scale=alt.Scale(domain=[low, high if high > low else low + 1], range=[0, 1]), legend=None
            ),
        )
        .properties(width=WIDTH - 120, height=height(len(shown), 18))
    )
    columns: list[Column | str] = [one, *(Column(run, ".3f") for run in ordered.runs)]
    rows = [(ordered.units[unit], *ordered.values[:, unit].tolist()) for unit in by_ease]
    hardest, easiest = ordered.units[by_ease[-1]], ordered.units[by_ease[0]]
    return figure(
        "scores-by-unit",
        drawn,
        title=f"Score of every run on every {one}",
        caption=f"Each column is {each}; the shade of a cell is the score, from {low:.3g} to {high:.3g}."
        + first_of(len(shown), len(ordered.runs), "runs"),
        description=f"The easiest {one} is {called(easiest)}, the hardest {called(hardest)}.",
        table=table(f"Scores on each {one}, easiest first, {matrix.measure}", columns, rows),
    )


def boxes_by_unit(spread: ScoreDistributions) -> Figure:
    """How the runs spread on each unit: box from quartile to quartile, whiskers, and runs beyond."""
    alt = altair()
    one = spread.unit_name[0]
    chosen = spread.boxes
    caption = "A box shows the middle half of the runs, its tick is their median; circles are runs far from the others."
    if len(chosen) > MOST_BOXES:
        widest = sorted(chosen, key=lambda box: (-(box.q3 - box.q1), box.unit))[:MOST_BOXES]
        caption += f" The {MOST_BOXES} of {counted(len(chosen), spread.unit_name)} on which the runs differ most."
        chosen = tuple(widest)
    order = [box.unit for box in sorted(chosen, key=lambda box: (-box.median, -box.mean, box.unit))]
    rows = [(b.unit, b.low, b.q1, b.median, b.q3, b.high, len(b.outliers)) for b in spread.boxes]
    base = chart(
        [{"unit": b.unit, "low": b.low, "q1": b.q1, "median": b.median, "q3": b.q3, "high": b.high} for b in chosen]
    ).encode(y=names("unit", order))
    whiskers = base.mark_rule(color=SOFT).encode(x=number("low", title=spread.measure), x2="high:Q")
    middle = base.mark_bar(color=ACCENT, opacity=0.35, height={"band": 0.6}).encode(x="q1:Q", x2="q3:Q")
    medians = base.mark_tick(color=INK, thickness=2.5, height={"band": 0.7}).encode(x="median:Q")
    outliers = chart([{"unit": b.unit, "score": out.score} for b in chosen for out in b.outliers])
    beyond = outliers.mark_point(size=30, color=SOFT, opacity=1).encode(x="score:Q", y=names("unit", order))
    zero = sum(box.has_zero_median for box in spread.boxes)
    columns: list[Column | str] = [one]
    columns += [Column(name, ".3f") for name in ("lower whisker", "q1", "median", "q3", "upper whisker")]
    return figure(
        "spread-by-unit",
        alt.layer(whiskers, middle, medians, beyond).properties(width=WIDTH - 120, height=height(len(order), 18)),
        title=f"How the runs spread on each {one}",
        caption=caption,
        description=f"On {zero:,} of {counted(len(spread.boxes), spread.unit_name)} at least half of the runs score 0.",
        table=table(f"Scores of {spread.runs} runs on each {one}", [*columns, Column("outliers")], rows),
    )
