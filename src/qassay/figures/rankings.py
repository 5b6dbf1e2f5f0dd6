"""Figures of rankings: the leaderboard, ranks under each judgment set, and what a measure makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qassay.display import NAME_LETTERS, called, listed, short_name
from qassay.errors import UsageError
from qassay.figures.drawing import (
    ACCENT,
    CARD,
    INK,
    MOST_ROWS,
    NAME_WIDTH,
    SOFT,
    WIDTH,
    altair,
    chart,
    dots_with_lines,
    first_of,
    height,
    names,
    number,
    span,
    spread_out,
    square,
)
from qassay.figures.figure import Figure, figure
from qassay.meta.ranking import places
from qassay.tables import Cell, Column, counted, plural, table

if TYPE_CHECKING:
    from typing import Any

    from qassay.meta.fidelity import BetaSweep
    from qassay.meta.intervals import ScoreIntervals
    from qassay.meta.significance import AllPairs
    from qassay.meta.stability import MeasureStability
    from qassay.scoring import Scores

# More groups than this are a thicket; letters in the table name them all.
MOST_GROUPS = 12
# Lines of a bump chart that can be followed.
MOST_LINES = 25


def leaderboard(pairs: AllPairs, intervals: ScoreIntervals | None = None) -> Figure:
    """Scores as dots with intervals, best first; groups of runs that are not shown to differ are next to them."""
    apart = dict(zip(pairs.runs, pairs.is_different[0].tolist(), strict=True)) if pairs.runs else {}
    letters = dict(zip(pairs.runs, pairs.letters, strict=True))
    rows: list[tuple[Cell, ...]] = []
    for run, score in zip(pairs.runs, pairs.scores, strict=True):
        low, high = (intervals and intervals.interval(run)) or (None, None)
        rows.append((run, score, low, high, letters[run], not apart[run]))
    shown = rows[:MOST_ROWS]
    order = [str(row[0]) for row in shown]
    level = "" if intervals is None else f"{intervals.level:.0%}"
    fields = ("run", "score", "low", "high", "group", "alike")
    dots = _dots([dict(zip(fields, row, strict=True)) for row in shown], order, _axis_title(pairs, level))
    groups = [group for group in pairs.groups if len(group) > 1][: MOST_GROUPS + 1]
    drawn = dots
    caption = "A filled dot: chance alone could explain the lead of the first run over it."
    if intervals is not None:
        caption = f"A line is the interval of a score, not of a difference. {caption}"
    if 0 < len(groups) <= MOST_GROUPS:
        alt = altair()
        drawn = alt.hconcat(dots, _groups(pairs.groups, order)).resolve_scale(y="shared")
        caption += (
            " On the right, each line is a group: chance alone could explain the differences of runs with a dot on the "
            "same line."
        )
    columns: list[Column | str] = ["run", Column("score", ".3f"), Column("from", ".3f"), Column("to", ".3f")]
    columns += ["group", "lead of the first may be chance"]
    if intervals is None:
        columns, rows = [*columns[:2], *columns[4:]], [(*row[:2], *row[4:]) for row in rows]
    beside = f" with {level} intervals" if level else ""
    # The first run has no lead over itself.
    cells = [(*row[:-1], row[-1] if place else None) for place, row in enumerate(rows)]
    return figure(
        "leaderboard",
        drawn,
        title=f"Scores of {plural(len(rows), 'run')}{beside}",
        caption=caption + first_of(len(shown), len(rows), "runs"),
        description=_leader(pairs),
        table=table(f"Scores{beside}, {pairs.measure}", columns, cells),
    )


def _axis_title(pairs: AllPairs, level: str) -> str:
    interval = f", {level} interval" if level else ""
    interval += "" if pairs.direction.higher_is_better else ", lower is better"
    return f"{pairs.measure}{interval}, {counted(pairs.units, pairs.unit_name)}"


def _leader(pairs: AllPairs) -> str:
    """The figure in words, for people who do not see it."""
    if not pairs.runs:
        return "There are no runs."
    if len(pairs.runs) == 1:
        return f"The only run, {called(pairs.runs[0])}, scores {pairs.scores[0]:.3f}."
    return f"{pairs.lead(listed)}. {called(pairs.runs[-1])} is last with {pairs.scores[-1]:.3f}."


def _dots(rows: list[dict[str, object]], order: list[str], title: str) -> Any:
    """Score, interval and number of each run."""
    alt = altair()
    scores = [float(str(row["score"])) for row in rows]
    lows = [float(str(row["low"])) for row in rows if row["low"] is not None]
    highs = [float(str(row["high"])) for row in rows if row["high"] is not None]
    domain = span(min([*scores, *lows], default=0.0), max([*scores, *highs], default=1.0))
    base = chart(rows).encode(y=names("run", order))
    colour = alt.condition("datum.alike", alt.value(ACCENT), alt.value(SOFT))
    x = number("score", title=title, domain=domain)
    rules = base.mark_rule(strokeWidth=2.5, strokeCap="round").encode(
        x=alt.X("low:Q", title=title), x2="high:Q", color=colour
    )
    points = base.mark_point(size=90, filled=False, strokeWidth=2, opacity=1).encode(
        x=x, stroke=colour, fill=alt.condition("datum.alike", alt.value(ACCENT), alt.value(CARD))
    )
    numbers = base.mark_text(align="left", dx=9, color=SOFT).encode(
        x=alt.X("end:Q"), text=alt.Text("score:Q", format=".3f")
    )
    numbers = numbers.transform_calculate(end="datum.high == null ? datum.score : datum.high")
    return alt.layer(rules, points, numbers).properties(width=WIDTH - 200, height=height(len(order)))


def _groups(groups: tuple[tuple[str, ...], ...], order: list[str]) -> Any:
    """One line per group, with a dot at each of its members."""
    alt = altair()
    rows = [
        {"run": run, "group": index + 1}
        for index, group in enumerate(groups)
        for run in group
        if len(group) > 1 and run in order
    ]
    x = alt.X("group:O", title="groups", axis=alt.Axis(labels=False, grid=False, titleAnchor="start"))
    y = alt.Y("run", type="nominal", sort=order, axis=None)
    base = chart(rows).encode(x=x, y=y)
    lines = base.mark_line(color=SOFT, strokeWidth=1.5).encode(detail="group:O")
    points = base.mark_point(filled=True, size=40, color=SOFT, opacity=1)
    width = 18 * max(len({row["group"] for row in rows}), 1)
    return alt.layer(lines, points).properties(width=width, height=height(len(order)))


def differences_to_control(
    differences: Sequence[tuple[str, float, tuple[float, float] | None, bool]],
    *,
    control: str,
    measure: str,
    level: float,
    description: str,
) -> Figure:
    """How far each run is from the control, with its interval, and whether it differs; the best first."""
    alt = altair()
    rows: list[tuple[Cell, ...]] = [
        (run, difference, *(interval or (None, None)), differs) for run, difference, interval, differs in differences
    ]
    order = [run for run, *_ in differences]
    shown = order[:MOST_ROWS]
    fields = ("run", "difference", "low", "high", "differs")
    title = f"difference to {called(control)}, {measure}"
    base = chart([dict(zip(fields, row, strict=True)) for row in rows[: len(shown)]]).encode(y=names("run", shown))
    zero = chart([{"zero": 0}]).mark_rule(color=INK).encode(x=alt.X("zero:Q", title=title))
    low, middle = alt.X("low:Q", title=title), alt.X("difference:Q", title=title, axis=alt.Axis(tickCount=8))
    lines, points = dots_with_lines(base, low, middle, filled="differs")
    columns: list[Column | str] = ["run", *(Column(name, "+.3f") for name in ("difference", "from", "to")), "differs"]
    return figure(
        "control",
        alt.layer(zero, lines, points).properties(width=WIDTH - 120, height=height(len(shown))),
        title=f"Every run compared with {called(control)}",
        caption=f"A line is the {level:.0%} interval of a difference; a filled dot is a run that differs."
        + first_of(len(shown), len(order), "runs"),
        description=description,
        table=table(f"Compared with {control}, {measure}", columns, rows),
    )


def ranks_by_set(measure: MeasureStability) -> Figure:
    """The rank of every run under each judgment set, joined by lines."""
    sets = [measure.reference, *(name for name in measure.sets if name != measure.reference)]
    every = measure.ranks
    ranks = {name: list(every[name].values()) for name in sets}
    order = sorted(range(len(measure.runs)), key=lambda run: (ranks[sets[0]][run], measure.runs[run]))
    written = {name: places(ranks[name]) for name in sets}
    rows = [(measure.runs[run], *(written[name][run] for name in sets)) for run in order]
    shown = order[:MOST_LINES]
    moved = [run for run in order if len({ranks[name][run] for name in sets}) > 1]
    drawn = _bumps(measure, sets, ranks, shown)
    columns: list[Column | str] = ["run", *(Column(f"rank ({name})") for name in sets)]
    changed = f"{len(moved)} of {plural(len(order), 'run')} change rank"
    return figure(
        "ranks-by-set",
        drawn,
        title="Rank of each run under each set of judgments",
        caption="A thick line is a run whose rank changes." + first_of(len(shown), len(order), "runs"),
        description=f"{changed} between {listed(sets)}: {listed(measure.runs[run] for run in moved) or 'none'}.",
        table=table(f"Rank under each set, {measure.measure}", columns, rows),
    )


def _bumps(measure: MeasureStability, sets: list[str], ranks: dict[str, list[float]], shown: list[int]) -> Any:
    alt = altair()
    rows = [
        {
            "run": measure.runs[run],
            "set": name,
            "rank": ranks[name][run],
            "moved": len({ranks[other][run] for other in sets}) > 1,
        }
        for run in shown
        for name in sets
    ]
    lowest = max((ranks[name][run] for run in shown for name in sets), default=1.0)
    # The domain, not a sort: layers without it would put the sets into the order of the alphabet.
    axis = alt.Axis(orient="top", labelColor=INK, grid=True, labelAngle=0)
    x = alt.X("set:N", scale=alt.Scale(domain=sets), title=None, axis=axis)
    y = alt.Y("rank:Q", scale=alt.Scale(domain=[0.5, lowest + 0.5], reverse=True, nice=False), axis=None)
    base = chart(rows).encode(x=x, y=y, detail="run:N")
    colour = alt.condition("datum.moved", alt.value(ACCENT), alt.value(SOFT))
    lines = base.mark_line().encode(
        color=colour, strokeWidth=alt.condition("datum.moved", alt.value(2.5), alt.value(1.2))
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(color=colour)
    labels = [_end_labels(measure, name, ranks[name], shown, left=name == sets[0]) for name in (sets[0], sets[-1])]
    return alt.layer(lines, points, *labels).properties(width=alt.Step(130), height=max(height(len(shown)), 120))


def _end_labels(measure: MeasureStability, name: str, ranks: list[float], shown: list[int], *, left: bool) -> Any:
    """Ranks and names at one end of the lines; runs of one rank share a line of text."""
    tied: dict[tuple[float, int | str], list[str]] = {}
    written = places(ranks)
    for run in shown:
        tied.setdefault((ranks[run], written[run]), []).append(measure.runs[run])
    rows = [
        {"set": name, "rank": rank, "run": _place_and_names(place, runs, measure.runs, left=left)}
        for (rank, place), runs in tied.items()
    ]
    text = chart(rows).mark_text(align="right" if left else "left", dx=-10 if left else 10, limit=NAME_WIDTH)
    return text.encode(x="set:N", y="rank:Q", text="run:N")


def _place_and_names(place: int | str, runs: list[str], among: Sequence[str], *, left: bool) -> str:
    members = ", ".join(runs)
    if len(members) > NAME_LETTERS:
        members = short_name(runs[0], among) + (f" +{len(runs) - 1}" if len(runs) > 1 else "")
    return f"{members}  {place}" if left else f"{place}  {members}"


def tau_heat_map(measure: MeasureStability) -> Figure:
    """Kendall's tau between the rankings under every two judgment sets."""
    sets = list(measure.sets)
    rows = [
        (a, b, measure.tau[i][j])
        for i, a in enumerate(sets)
        for j, b in enumerate(sets)
        if i != j and measure.tau[i][j] is not None
    ]
    if not rows:
        raise UsageError("there is no rank correlation to draw: it takes two judgment sets and three runs")
    known = [tau for _, _, tau in rows if tau is not None]
    drawn = square([{"row": a, "column": b, "value": tau} for a, b, tau in rows], sets, sets, ".2f", lowest=0.0)
    columns: list[Column | str] = ["set", "other set", Column("tau", ".3f")]
    return figure(
        "tau",
        drawn,
        title="Agreement of the rankings under different judgments",
        caption="Kendall's tau of two rankings: 1 where they are the same, 0 where they have nothing in common.",
        description=f"For {plural(len(sets), 'set')} of judgments tau is {min(known):.3f} to {max(known):.3f}.",
        table=table(f"Kendall's tau, {measure.measure}", columns, rows),
    )


def score_by_beta(sweep: BetaSweep) -> Figure:
    """Mean F of every run for several betas."""
    alt = altair()
    shown = sweep.runs[:MOST_LINES]
    cells = [
        {"run": row.run, "beta": beta, "score": score}
        for row in shown
        for beta, score in zip(sweep.betas, row.scores, strict=True)
    ]
    axis = alt.Axis(values=list(sweep.betas), format="g", grid=False)
    base = chart(cells).encode(
        x=alt.X("beta:Q", title="beta: how many times recall weighs more than precision", axis=axis),
        y=alt.Y("score:Q", title="mean F", scale=alt.Scale(zero=True)),
        detail="run:N",
    )
    tall = max(260, height(len(shown), 16))
    last = [row.scores[-1] for row in shown]
    highest = max((score for row in sweep.runs for score in row.scores), default=1.0) or 1.0
    places = spread_out(last, 1.1 * highest / tall * 15)
    ends = [{"run": row.run, "beta": sweep.betas[-1], "score": place} for row, place in zip(shown, places, strict=True)]
    labels = chart(ends).mark_text(align="left", dx=8, limit=NAME_WIDTH).encode(x="beta:Q", y="score:Q", text="run:N")
    lines = base.mark_line(color=ACCENT, strokeWidth=1.8, point={"size": 45, "filled": True, "color": ACCENT})
    taus = [tau for tau in sweep.tau_with_last[:-1] if tau is not None]
    rows: list[tuple[Cell, ...]] = [(row.run, *row.scores) for row in sweep.runs]
    return figure(
        "score-by-beta",
        alt.layer(lines, labels).properties(width=WIDTH - 160, height=tall),
        title="Mean F of each run by beta",
        caption="Lines that cross are runs whose order depends on beta."
        + first_of(len(shown), len(sweep.runs), "runs"),
        description=f"Kendall's tau with the ranking at the largest beta is {min(taus):.3f} or more."
        if taus
        else "There is no rank correlation.",
        table=table("Mean F by beta", ["run", *(Column(f"F({beta:g})", ".3f") for beta in sweep.betas)], rows),
    )


def _beside(rows: list[tuple[str, float, float]]) -> tuple[list[tuple[str, float, float]], ...]:
    """The runs with their name right of the dot, and those with it left: where the name above would cover it."""
    wide, high = max(abs(length) for _, length, _ in rows) or 1.0, max(abs(score) for _, _, score in rows) or 1.0
    right: list[tuple[str, float, float]] = []
    left: list[tuple[str, float, float]] = []
    for row in sorted(rows, key=lambda row: (-row[2], row[0])):
        near = [x for x in right if abs(x[1] - row[1]) < 0.2 * wide and abs(x[2] - row[2]) < 0.05 * high]
        (left if near else right).append(row)
    return right, left


def score_by_length(scores: Scores) -> Figure:
    """The score of every run against the mean length of its responses."""
    alt = altair()
    rows = [
        (row.run, row.mean_length, row.score)
        for row in scores.runs
        if row.mean_length is not None and row.score is not None
    ]
    if not rows:
        raise UsageError("the responses of this task have no length to draw")
    base = chart([{"run": run, "length": length, "score": score} for run, length, score in rows]).encode(
        x=alt.X("length:Q", title="mean length of a response, characters without blanks", scale=alt.Scale(zero=True)),
        y=alt.Y("score:Q", title=scores.measure, scale=alt.Scale(zero=True)),
    )
    points = base.mark_point(filled=True, size=70, color=ACCENT, opacity=1)
    labels = [
        chart([{"run": run, "length": length, "score": score} for run, length, score in side])
        .mark_text(align=align, dx=dx, limit=110)
        .encode(x="length:Q", y="score:Q", text="run:N")
        for side, align, dx in zip(_beside(rows), ("left", "right"), (8, -8), strict=True)
        if side
    ]
    longest = max(rows, key=lambda row: row[1])
    columns: list[Column | str] = ["run", Column("mean length", ",.1f"), Column("score", ".3f")]
    return figure(
        "score-by-length",
        alt.layer(points, *(labels if len(rows) <= MOST_ROWS else ())).properties(width=WIDTH - 120, height=320),
        title="Score against the length of responses",
        caption="One dot per run. Where longer responses score higher, the measure may reward length.",
        description=f"{called(longest[0])} has the longest responses, {longest[1]:.0f} characters.",
        table=table(f"Length and score, {scores.measure}", columns, rows),
    )
