"""Figures of decisions and of the best runs: accuracy by reference answer, and the average scores of the top."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qassay.display import called
from qassay.errors import UsageError
from qassay.figures.drawing import ACCENT, INK, SOFT, WIDTH, altair, chart, height, names, span
from qassay.figures.figure import Figure, figure
from qassay.tables import Cell, Column, counted, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qassay.scoring import Scores

# Runs with bars of their own; the table has all.
MOST_RUNS = 12
TOP = 10
OVERALL = "overall"


def top_runs(scores: Scores, most: int = TOP) -> Figure:
    """The average score of the top runs as bars: the best run of each organisation, where runs name one."""
    alt = altair()
    has_organisations = any(
        scores.information[row.run].organisation for row in scores.runs if row.run in scores.information
    )
    board = scores.best_per_organisation() if has_organisations else scores
    rows: list[tuple[Cell, ...]] = [
        (row.run, scores.information[row.run].organisation if row.run in scores.information else None, row.score)
        for row in board.runs
        if row.score is not None
    ]
    if not rows:
        raise UsageError("no run has a score to draw")
    shown = rows[:most]
    order = [str(run) for run, _, _ in shown]
    highest = max(float(str(score)) for _, _, score in shown)
    lowest = min(0.0, *(float(str(score)) for _, _, score in shown))
    title = f"{scores.measure}, {counted(len(scores.units.ids), scores.unit_name)}"
    base = chart([{"run": run, "score": score} for run, _, score in shown]).encode(y=names("run", order))
    x = alt.X("score:Q", title=title, scale=alt.Scale(domain=[lowest, span(0.0, highest)[1]], nice=False))
    bars = base.mark_bar(color=ACCENT, height={"band": 0.65}).encode(x=x)
    numbers = base.mark_text(align="left", dx=6, color=SOFT).encode(x="score:Q", text=alt.Text("score:Q", format=".3f"))
    of = "organisations" if has_organisations else "runs"
    each = "One bar is the best run of an organisation." if has_organisations else "One bar is a run."
    left = f" The first {len(shown):,} of {len(rows):,} {of}; the table has all." if len(shown) < len(rows) else ""
    return figure(
        "top-runs",
        alt.layer(bars, numbers).properties(width=WIDTH - 160, height=height(len(shown), 26)),
        title=f"Average score of the top {len(shown)} {of}" if len(shown) > 1 else "Average score of the only run",
        caption=f"{each}{left} Bars alone do not say which differences are real.",
        description=f"{called(order[0])} has the highest average score, {highest:.3f}.",
        table=table(f"Average scores, {scores.measure}", ["run", "organisation", Column("score", ".3f")], rows),
    )


def conditioned_accuracy(scores: Scores) -> Figure:
    """Accuracy of each run on the pairs of each reference answer, with the overall accuracy on top."""
    alt = altair()
    with_counts = [row for row in scores.runs if row.contingency]
    if not with_counts:
        raise UsageError("this task has no decisions to draw")
    rows: list[tuple[Cell, ...]] = []
    for row in with_counts:
        shares = _shares(row.contingency or {})
        rows += [(row.run, kind, number, share) for kind, (number, share) in shares.items()]
    kinds = list(dict.fromkeys(str(row[1]) for row in rows))
    order = [row.run for row in with_counts[:MOST_RUNS]]
    cells = [
        {"run": run, "answer": kind, "accuracy": share, "label": f"{kind} {share:.3f}"}
        for run, kind, _, share in rows
        if run in order and share is not None
    ]
    offset = alt.YOffset("answer:N", sort=kinds, scale=alt.Scale(domain=kinds, paddingInner=0.1))
    scale = alt.Scale(domain=[0, 1.25], nice=False)
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f")
    base = chart(cells).encode(
        x=alt.X("accuracy:Q", title="accuracy on the pairs with this reference answer", scale=scale, axis=axis),
        y=names("run", order),
        yOffset=offset,
    )
    bars = base.mark_bar(color=ACCENT).encode(
        fillOpacity=alt.condition(f"datum.answer == '{OVERALL}'", alt.value(1), alt.value(0.4))
    )
    labels = base.mark_text(align="left", dx=5, fontSize=11, color=INK).encode(text="label:N")
    left = (
        ""
        if len(order) == len(with_counts)
        else f" The first {len(order)} of {len(with_counts)} runs; the table has all."
    )
    best = with_counts[0]
    columns: list[Column | str] = ["run", "reference answer", Column("pairs"), Column("accuracy", ".3f")]
    return figure(
        "conditioned-accuracy",
        alt.layer(bars, labels).properties(width=WIDTH - 160, height=height(len(order), 17 * len(kinds) + 6)),
        title="Accuracy by reference answer",
        caption=f"The dark bar on top is the accuracy over all pairs; below it, over the pairs of each answer.{left}",
        description=f"{called(best.run)} has the highest accuracy, {best.score or 0.0:.3f}.",
        table=table("Accuracy by reference answer", columns, rows),
    )


def _shares(counts: Mapping[str, Mapping[str, int]]) -> dict[str, tuple[int, float | None]]:
    """The number of pairs and the share that is right, over all pairs and for each reference answer.

    >>> _shares({"YES": {"YES": 3, "NO": 1}, "NO": {"YES": 1, "NO": 0}})
    {'overall': (5, 0.6), 'YES': (4, 0.75), 'NO': (1, 0.0)}
    """
    sums = {answer: sum(row.values()) for answer, row in counts.items()}
    right = {answer: row.get(answer, 0) for answer, row in counts.items()}
    total = sum(sums.values())
    overall = {OVERALL: (total, sum(right.values()) / total if total else None)}
    return overall | {
        answer: (sums[answer], right[answer] / sums[answer] if sums[answer] else None) for answer in counts
    }
