"""Figures about judges: where two of them agree, what they rate, and how they rank the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qassay.display import called
from qassay.errors import UsageError
from qassay.figures.drawing import ACCENT, INK, MOST_ROWS, WIDTH, altair, chart, first_of, height, names, square
from qassay.figures.figure import Figure, figure
from qassay.tables import Column, table

if TYPE_CHECKING:
    from qassay.meta.agreement.result import PairAgreement
    from qassay.meta.ratings import ScaleRatings

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
# Runs with a histogram of their own.
MOST_HISTOGRAMS = 12


def agreement_matrix(pair: PairAgreement) -> Figure:
    """How often each label of one judge meets each label of the other."""
    rows = [
        (first, second, count)
        for first, counts in zip(pair.labels, pair.matrix, strict=True)
        for second, count in zip(pair.labels, counts, strict=True)
    ]
    total = sum(row[2] for row in rows)
    same = sum(row[2] for row in rows if row[0] == row[1])
    a, b = called(pair.a), called(pair.b)
    told = f"{a} and {b} give the same label to {same:,} of {total:,}."
    return figure(
        "agreement",
        square(_shares(rows), list(pair.labels), list(pair.labels), ",d"),
        title=f"Labels of {a} (rows) and {b} (columns)",
        caption=f"{told} A cell is darker the larger its share of the row; on the diagonal both agree.",
        description=told,
        table=table(f"Labels of {a} and {b}", [pair.a, pair.b, Column("number")], rows),
    )


def contingency(counts: Mapping[str, Mapping[str, int]]) -> Figure:
    """How often each decision of the systems meets each decision of the key."""
    rows = [(a, b, number) for a, row in counts.items() for b, number in row.items()]
    if not rows:
        raise UsageError("this task has no decisions to count")
    down, across = list(counts), list(next(iter(counts.values())))
    total = sum(row[2] for row in rows)
    same = sum(row[2] for row in rows if row[0] == row[1])
    told = f"{same:,} of {total:,} decisions are those of the judgments."
    return figure(
        "contingency",
        square(_shares(rows), down, across, ",d"),
        title="Decisions of the judgments (rows) and of all runs (columns)",
        caption=f"{told} A cell is darker the larger its share of the row.",
        description=told,
        table=table("Decisions of the judgments and of the runs", ["judgments", "runs", Column("number")], rows),
    )


def _shares(rows: list[tuple[str, str, int]]) -> list[dict[str, object]]:
    sums: dict[str, int] = {}
    for a, _, number in rows:
        sums[a] = sums.get(a, 0) + number
    return [
        {"row": a, "column": b, "value": number, "share": number / sums[a] if sums[a] else 0.0} for a, b, number in rows
    ]


def rating_histogram(ratings: ScaleRatings) -> Figure:
    """How often each run got each rating."""
    alt = altair()
    rows = [(run, value, number) for run in ratings.runs for value, number in ratings.histogram[run].items()]
    shown = list(ratings.runs[:MOST_HISTOGRAMS])
    cells = [{"run": run, "rating": value, "number": number} for run, value, number in rows if run in shown]
    bars = (
        chart(cells)
        .mark_bar(color=ACCENT)
        .encode(
            x=alt.X("rating:O", title=ratings.scale, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("number:Q", title=None, axis=alt.Axis(tickMinStep=1, tickCount=3)),
            facet=alt.Facet("run:N", sort=shown, title=None, columns=4),
        )
        .properties(width=110, height=80)
    )
    best = ratings.runs[0]
    return figure(
        f"histogram-{ratings.scale}",
        bars,
        title=f"Ratings of {ratings.scale}, by run",
        caption=f"How often each rating was given; best mean first.{first_of(len(shown), len(ratings.runs), 'runs')}",
        description=f"{called(best)} has the highest of {len(ratings.runs)} means, {ratings.mean[best]:.2f}.",
        table=table(f"Number of ratings of {ratings.scale}", ["run", Column("rating"), Column("number")], rows),
    )


def mean_rank_by_judge(ratings: ScaleRatings) -> Figure:
    """The mean rank that each judge gives each run; a shape per judge."""
    alt = altair()
    rows = [
        (run, judge, ratings.judge_ranks[judge][run])
        for run in ratings.runs
        for judge in ratings.judges
        if run in ratings.judge_ranks[judge]
    ]
    order = sorted(ratings.runs, key=lambda run: (ratings.mean_rank[run], run))
    shown = order[:MOST_ROWS]
    cells = [{"run": run, "judge": judge, "rank": rank} for run, judge, rank in rows if run in shown]
    means = [{"run": run, "rank": ratings.mean_rank[run]} for run in shown]
    judges = list(ratings.judges)
    scale = alt.Scale(domain=judges, range=[SHAPES[place % len(SHAPES)] for place in range(len(judges))])
    legend = alt.Legend(title="judge", symbolStrokeColor=ACCENT, symbolFillColor="transparent")
    x = alt.X("rank:Q", title="mean rank over the questions, 1 is best", scale=alt.Scale(zero=False))
    points = (
        chart(cells)
        .mark_point(size=80, color=ACCENT, strokeWidth=2, opacity=1)
        .encode(x=x, y=names("run", shown), shape=alt.Shape("judge:N", scale=scale, legend=legend))
    )
    ticks = (
        chart(means).mark_tick(color=INK, thickness=2, height={"band": 0.8}).encode(x="rank:Q", y=names("run", shown))
    )
    return figure(
        f"mean-rank-{ratings.scale}",
        alt.layer(ticks, points).properties(width=WIDTH - 220, height=height(len(shown))),
        title=f"Mean rank of each run by judge, {ratings.scale}",
        caption="A shape is the rank that one judge gives; the tick is the mean of all judges."
        + first_of(len(shown), len(order), "runs"),
        description=f"{called(order[0])} has the best mean rank, {ratings.mean_rank[order[0]]:.2f}.",
        table=table(f"Mean rank by judge, {ratings.scale}", ["run", "judge", Column("mean rank", ".2f")], rows),
    )
