"""Figures about judges: where two agree, what they rate, how they rank the runs, whom a program favours, their pace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qassay.display import called, listed
from qassay.errors import UsageError
from qassay.figures.drawing import (
    ACCENT,
    INK,
    MOST_ROWS,
    NAME_WIDTH,
    OTHER,
    WIDTH,
    altair,
    chart,
    dots_with_lines,
    first_of,
    height,
    names,
    spread_out,
    square,
)
from qassay.figures.figure import Figure, figure
from qassay.tables import Cell, Column, table

if TYPE_CHECKING:
    from qassay.meta.agreement.people import PeopleAgreement
    from qassay.meta.agreement.result import PairAgreement
    from qassay.meta.correction import CorrectedScores
    from qassay.meta.progress import JudgingProgress
    from qassay.meta.ratings import ScaleRatings
    from qassay.meta.trust import Trust

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
# Runs with a histogram of their own.
MOST_HISTOGRAMS = 12


def agreement_matrix(pair: PairAgreement, about: str = "", number: int | None = None) -> Figure:
    """How often each label of one judge meets each label of the other; `about` names what was judged.

    `number` is the place of the pair among those that are drawn beside each other.
    """
    rows = [(first, second, count) for first, counts in pair.matrix.items() for second, count in counts.items()]
    total = sum(row[2] for row in rows)
    same = sum(row[2] for row in rows if row[0] == row[1])
    a, b = called(pair.a), called(pair.b)
    on = f" on {about}" if about else ""
    answer = f"{a} and {b} give the same label to {same:,} of {total:,}{on and f' {about}'}."
    return figure(
        "agreement" if number is None else f"labels-{about.replace(' ', '-')}-{number}",
        square(_shares(rows), list(pair.matrix), list(pair.matrix), ",d"),
        title=f"Labels of {a} (rows) and {b} (columns){on}",
        caption=f"{answer} The shade of a cell is its share of the row; on the diagonal both agree.",
        description=answer,
        table=table(f"Labels of {a} and {b}{on}", [pair.a, pair.b, Column("number")], rows),
    )


def contingency(counts: Mapping[str, Mapping[str, int]]) -> Figure:
    """How often each decision of the systems meets each decision of the key."""
    rows = [(a, b, number) for a, row in counts.items() for b, number in row.items()]
    if not rows:
        raise UsageError("this task has no decisions to count")
    down, across = list(counts), list(next(iter(counts.values())))
    total = sum(row[2] for row in rows)
    same = sum(row[2] for row in rows if row[0] == row[1])
    answer = f"{same:,} of {total:,} decisions are those of the judgments."
    return figure(
        "contingency",
        square(_shares(rows), down, across, ",d"),
        title="Decisions of the judgments (rows) and of all runs (columns)",
        caption=f"{answer} The shade of a cell is its share of the row.",
        description=answer,
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


def bias_by_run(trust: Trust) -> Figure:
    """How far an automatic assessor moves the score of each run, with intervals; people's best run first."""
    alt = altair()
    scores = trust.runs.scores
    order = sorted((run for run in trust.bias if run in scores), key=lambda run: (-scores[run][0], run))
    if not order:
        raise UsageError("no run is scored by both: there is no bias to draw")
    rows: list[tuple[Cell, ...]] = []
    for run in order:
        bias = trust.bias[run]
        rows.append((run, *scores[run], bias.bias, *(bias.interval or (None, None)), bias.is_clear))
    fields = ("run", "people", "program", "bias", "low", "high", "clear")
    shown = order[:MOST_ROWS]
    cells = [dict(zip(fields, row, strict=True)) for row in rows[: len(shown)]]
    program, people = called(trust.assessor), called(trust.against)
    title = f"score by {program} − score by {people}, {trust.measure}"
    base = chart(cells).encode(y=names("run", shown))
    zero = chart([{"zero": 0}]).mark_rule(color=INK).encode(x=alt.X("zero:Q", title=title))
    low, middle = alt.X("low:Q", title=title), alt.X("bias:Q", title=title, axis=alt.Axis(tickCount=8))
    lines, points = dots_with_lines(base, low, middle, filled="clear")
    clear = [run for run in order if trust.bias[run].is_clear]
    seen = f"{listed(clear)} {'is' if len(clear) == 1 else 'are'} clearly moved" if clear else "no run is clearly moved"
    columns: list[Column | str] = ["run", Column("people", ".3f"), Column("program", ".3f"), Column("bias", "+.3f")]
    columns += [Column("from", "+.3f"), Column("to", "+.3f"), "clear"]
    return figure(
        "bias",
        alt.layer(zero, lines, points).properties(width=WIDTH - 120, height=height(len(shown))),
        title=f"Which runs does {program} favour?",
        caption="A line is the 95% interval of the bias; a filled dot is a run that is clearly moved. "
        "The same bias for all runs changes no ranking." + first_of(len(shown), len(order), "runs"),
        description=f"Of {len(order):,} runs, {seen} by {program} compared with {people}.",
        table=table(f"Bias: {program} − {people}", columns, rows),
    )


def corrected_leaderboard(corrected: CorrectedScores) -> Figure:
    """Corrected scores as dots with intervals, best first, beside what the judge says alone."""
    alt = altair()
    runs = [run for run in corrected.runs if run.score is not None]
    if not runs:
        raise UsageError("no run has a corrected score to draw")
    rows: list[tuple[Cell, ...]] = [
        (run.run, run.score, *(run.interval or (None, None)), run.judge_score, run.labels) for run in runs
    ]
    shown = [run.run for run in runs[:MOST_ROWS]]
    fields = ("run", "score", "low", "high", "judge", "labels")
    base = chart([dict(zip(fields, row, strict=True)) for row in rows[: len(shown)]]).encode(y=names("run", shown))
    about = corrected.about
    program = called(about.key)
    title = f"{about.measure}, {about.target_in_words()}"
    lines = base.mark_rule(color=ACCENT, strokeWidth=2.5, strokeCap="round").encode(
        x=alt.X("low:Q", title=title, scale=alt.Scale(zero=False, padding=10)), x2="high:Q"
    )
    dots = base.mark_circle(color=ACCENT, size=90, opacity=1).encode(x=alt.X("score:Q", title=title))
    ticks = base.mark_tick(color=OTHER, thickness=2.5, height={"band": 0.75}).encode(x=alt.X("judge:Q", title=title))
    columns: list[Column | str] = ["run", Column("corrected score", ".3f"), Column("from", ".3f"), Column("to", ".3f")]
    columns += [Column(f"{about.key} says", ".3f"), Column("labels")]
    return figure(
        "corrected",
        alt.layer(lines, dots, ticks).properties(width=WIDTH - 120, height=height(len(shown))),
        title=f"Scores of {program}, corrected with {called(about.correct_with)}",
        caption=f"The dot is the corrected score, its line the 95% interval; the tick is what {program} says alone."
        + first_of(len(shown), len(rows), "runs"),
        description=f"{called(runs[0].run)} scores highest after correction, {runs[0].score:.3f}.",
        table=table(f"Corrected scores, {about.measure}", columns, rows),
    )


def agreement_by_person(people: PeopleAgreement) -> Figure:
    """How far each person agrees with the others, with intervals; those least in line first."""
    alt = altair()
    compared = [person for person in people.people if person.agreement is not None]
    if len(compared) < 2:
        raise UsageError("nobody can be compared: there is nothing to draw")
    rows: list[tuple[Cell, ...]] = []
    for person in compared:
        limits = person.interval or (None, None)
        rows.append((person.person, person.common, person.agreement, *limits, person.out_of_line))
    shown = [person.person for person in compared[:MOST_ROWS]]
    fields = ("person", "items", "agreement", "low", "high", "out")
    base = chart([dict(zip(fields, row, strict=True)) for row in rows[: len(shown)]]).encode(y=names("person", shown))
    title = f"agreement with the others on the same {people.about}"
    axis = alt.Axis(format="%", tickCount=8)
    low = alt.X("low:Q", title=title, axis=axis, scale=alt.Scale(zero=False, padding=10))
    lines, points = dots_with_lines(base, low, alt.X("agreement:Q", title=title, axis=axis), filled="out")
    out = [person.person for person in compared if person.out_of_line]
    seen = f"{listed(out)} {'is' if len(out) == 1 else 'are'} out of line" if out else "nobody is clearly out of line"
    columns: list[Column | str] = ["person", Column("with others"), Column("agreement", ".3f")]
    columns += [Column("from", ".3f"), Column("to", ".3f"), "out of line"]
    return figure(
        f"people-{people.about.replace(' ', '-')}",
        alt.layer(lines, points).properties(width=WIDTH - 120, height=height(len(shown))),
        title=f"How far does each assessor agree with the others ({people.about})?",
        caption="A line is the 95% interval; a filled dot is a person who agrees with the others less than they agree "
        "among themselves." + first_of(len(shown), len(rows), "people"),
        description=f"Of {len(rows):,} people, {seen}.",
        table=table(f"Agreement with the others, {people.about}", columns, rows),
    )


def judging_progress(progress: JudgingProgress) -> Figure:
    """How many judgments each set had by when; a line per set, with its name at the end."""
    alt = altair()
    rows = [(name, at, number) for name, points in progress.points.items() for at, number in points]
    if len({at for _, at, _ in rows}) < 2:
        raise UsageError("the judgments have no times to draw")
    ends = [{"set": name, "at": points[-1][0], "number": points[-1][1]} for name, points in progress.points.items()]
    cells = [{"set": name, "at": at, "number": number} for name, at, number in rows]
    # The default has twelve hours, without saying which half of the day.
    clock = {"hours": "%H:%M", "minutes": "%H:%M", "seconds": "%H:%M:%S"}
    axis = alt.Axis(grid=False, tickCount=6, format=clock)
    x = alt.X("at:T", title="time (UTC)", scale=alt.Scale(type="utc"), axis=axis)
    y = alt.Y("number:Q", title="judgments", axis=alt.Axis(tickMinStep=1))
    order = list(progress.points)
    dashes = [[1, 0], [8, 3], [4, 3], [1, 3], [8, 3, 2, 3]]
    dash = alt.StrokeDash(
        "set:N",
        scale=alt.Scale(domain=order, range=[dashes[place % len(dashes)] for place in range(len(order))]),
        legend=None,
    )
    lines = chart(cells).mark_line(interpolate="step-after", color=ACCENT, strokeWidth=2.2)
    places = spread_out([float(str(end["number"])) for end in ends], 0.07 * max(row[2] for row in rows))
    labels = [{"set": end["set"], "at": end["at"], "number": place} for end, place in zip(ends, places, strict=True)]
    text = chart(labels).mark_text(align="left", dx=8, limit=NAME_WIDTH)
    totals = "; ".join(f"{called(name)}: {points[-1][1]:,}" for name, points in progress.points.items())
    columns: list[Column | str] = ["set", "time", Column("judgments")]
    return figure(
        "judging-progress",
        alt.layer(lines.encode(x=x, y=y, strokeDash=dash), text.encode(x=x, y="number:Q", text="set:N")).properties(
            width=WIDTH - 160, height=240
        ),
        title="Judgments over time",
        caption="A line rises with every judgment of its set; flat parts are breaks.",
        description=f"Judgments in all, by set: {totals}.",
        table=table("Judgments over time", columns, rows),
    )
