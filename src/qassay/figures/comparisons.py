"""Figures about differences: by question, how often they are repeated, and how many questions they need."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from qassay.arrays import TIE
from qassay.display import called, short_name
from qassay.errors import UsageError
from qassay.figures.drawing import (
    ACCENT,
    INK,
    LINE,
    OTHER,
    SOFT,
    WIDTH,
    altair,
    chart,
    height,
    names,
    spread_out,
)
from qassay.figures.figure import Figure, figure
from qassay.tables import Column, Table, counted, table

if TYPE_CHECKING:
    from typing import Any

    from qassay.meta.planning import Plan
    from qassay.meta.sensitivity import SensitivityCurves
    from qassay.meta.sensitivity.curves import BinCurve
    from qassay.meta.significance import PairComparison

# Questions with a name of their own in the figure of differences.
MOST_NAMED = 30
# Letters of a title that fit along the side of the figure of many differences.
MOST_LETTERS_ALONG = 40
# Curves of power that can be told apart, and the points of each.
MOST_CURVES = 4
POINTS = 60
# Curves of error rates: their height, and a rate that a curve exceeds somewhere to be worth drawing.
CURVES_HEIGHT = 300
HIGH_ENOUGH = 0.02
# Beyond this share of an axis the name of a line is on its left, where there is room.
LABEL_RIGHT = 0.6


def differences_by_unit(comparison: PairComparison) -> Figure:
    """The difference of two runs on each unit, largest first, with wins, ties and losses counted."""
    better = comparison.direction.oriented
    rows = sorted(
        ((unit.unit, unit.a, unit.b, unit.a - unit.b) for unit in comparison.deciding), key=lambda row: -better(row[3])
    )
    noun, nouns = comparison.unit_name
    ties = comparison.units - comparison.units_better - comparison.units_worse
    differing = comparison.units_better + comparison.units_worse
    # Long names are told apart by the part in which they differ.
    a, b = (called(short_name(run, (comparison.a, comparison.b))) for run in (comparison.a, comparison.b))
    counts = f"{a} is ahead on {comparison.units_better:,}, behind on {comparison.units_worse:,}, equal on {ties:,}."
    left_out = f" The {len(rows):,} largest of {differing:,} differences." if len(rows) < differing else ""
    cells = [{"place": place, "unit": row[0], "difference": row[3]} for place, row in enumerate(rows, start=1)]
    is_better = f"datum.difference {'>' if comparison.direction.higher_is_better else '<'} 0"
    drawn = _named_bars(cells, is_better, _sides(a, b) if comparison.direction.higher_is_better else _sides(b, a))
    if len(rows) > MOST_NAMED:
        drawn = _many_bars(cells, is_better, a, b, nouns)
    numbers = [Column(run, ".3f") for run in (comparison.a, comparison.b)]
    columns: list[Column | str] = [noun, *numbers, Column("difference", "+.3f")]
    return figure(
        "differences",
        drawn,
        title=f"{a} compared with {b}, by {noun}",
        caption=counts + left_out,
        description=f"{counts} The mean difference is {comparison.difference:+.3f}.",
        table=table(f"{a} − {b} on each {noun} that differs", columns, rows),
    )


def _named_bars(cells: list[dict[str, object]], is_better: str, title: str) -> Any:
    alt = altair()
    order = [str(cell["unit"]) for cell in cells]
    base = chart(cells).encode(
        x=alt.X("difference:Q", title=title),
        y=names("unit", order),
        color=alt.condition(is_better, alt.value(ACCENT), alt.value(OTHER)),
    )
    bars = base.mark_bar(height={"band": 0.6})
    zero = chart([{"difference": 0}]).mark_rule(color=INK).encode(x="difference:Q")
    return alt.layer(bars, zero).properties(width=WIDTH - 160, height=height(len(order)))


def _many_bars(cells: list[dict[str, object]], is_better: str, a: str, b: str, units: str) -> Any:
    alt = altair()
    axis = alt.Axis(grid=False, labels=False)
    along, difference = f"{units}, from the best for {a} to the best for {b}", f"{a} − {b}"
    if len(difference) > MOST_LETTERS_ALONG:
        along, difference = f"{units}: first the best for {a}", "difference"
    bars = (
        chart(cells)
        .mark_bar(width=max(1.0, 0.8 * WIDTH / len(cells)))
        .encode(
            x=alt.X("place:Q", title=along, axis=axis),
            y=alt.Y("difference:Q", title=difference),
            color=alt.condition(is_better, alt.value(ACCENT), alt.value(OTHER)),
        )
    )
    zero = chart([{"difference": 0}]).mark_rule(color=INK).encode(y="difference:Q")
    return alt.layer(bars, zero).properties(width=WIDTH, height=240)


def _sides(a: str, b: str) -> str:
    return f"← {b} better   |   {a} better →"


def error_rate_by_difference(curves: SensitivityCurves) -> Figure:
    """How often new questions reverse a difference, by its size, with the repeatable gap marked.

    The rates are expected ones (the closed form), for the same number of new units.
    """
    alt = altair()
    bins = [curve for curve in curves.bins if curve.high is not None and curve.predicted_at_target is not None]
    rows = [(curve.low, curve.high, curve.predicted_at_target) for curve in bins]
    gap = curves.repeatable_difference
    if gap is None or not rows:
        raise UsageError(f"{curves.sentence()}: there is nothing to draw")
    steps = [{"difference": low, "rate": rate} for low, _, rate in rows]
    steps.append({"difference": rows[-1][1], "rate": rows[-1][2]})
    line = (
        chart(steps)
        .mark_line(interpolate="step-after", color=ACCENT, strokeWidth=2.5)
        .encode(
            x=alt.X("difference:Q", title=f"difference between two runs, {curves.measure}", axis=_along()),
            y=alt.Y("rate:Q", title="reversed by new questions", axis=alt.Axis(format="%"), scale=_rates(rows)),
        )
    )
    limit = chart([{"rate": curves.error}]).mark_rule(color=SOFT, strokeDash=[4, 4]).encode(y="rate:Q")
    mark = [{"difference": gap, "text": f"repeatable from about {gap:g} on"}]
    left = gap <= LABEL_RIGHT * (bins[-1].high or 0.0)
    rule = chart(mark).mark_rule(color=INK, strokeWidth=1.5).encode(x="difference:Q")
    label = (
        chart(mark)
        .mark_text(align="left" if left else "right", baseline="top", dx=6 if left else -6, dy=2)
        .encode(x="difference:Q", y=alt.value(0), text="text:N")
    )
    size = counted(curves.target, curves.unit_name)
    repeated = f"keeps its sign in {1 - curves.error:.0%} of repetitions with {size}."
    answer = f"A difference of about {gap:g} or more {repeated}"
    return figure(
        "error-rate",
        alt.layer(line, limit, rule, label).properties(width=WIDTH - 60, height=260),
        title="How often would new questions reverse a difference?",
        caption=f"{answer} The dashed line is at {curves.error:.0%}.",
        description=answer,
        table=table(
            f"Expected error rate with {size}, by difference",
            [*_limits(low for low, _, _ in rows), Column("expected error rate", ".1%")],
            rows,
        ),
    )


def error_curves(curves: SensitivityCurves) -> Figure:
    """How often a difference is reversed, by the number of units: measured, expected, and the fit of the papers."""
    alt = altair()
    drawable = [k for k, curve in enumerate(curves.bins) if curve.high is not None and _measured(curve)]
    if not drawable or curves.are_runs_alike:
        raise UsageError("no difference was measured at several sizes: there is no curve to draw")
    # Bins with a fit first: they are what the papers show. Lines close to 0 cannot be told apart.
    fitted = [k for k in drawable if curves.bins[k].fit is not None]
    high = [k for k in fitted or drawable if max(rate or 0.0 for rate in curves.bins[k].predicted) > HIGH_ENOUGH]
    gap = curves.minimum_difference()
    # The first line that is repeatable is always drawn, and named so.
    repeatable = [k for k in drawable if gap.predicted is not None and curves.bins[k].low >= gap.predicted - TIE][:1]
    chosen = [curves.bins[k] for k in sorted({*_spread_out(high or fitted or drawable), *repeatable})]
    size = counted(curves.target, curves.unit_name)
    rates = [rate for curve in chosen for rate in (*curve.error_rate, *curve.predicted) if rate is not None]
    highest = math.ceil(max([*rates, 2 * curves.error]) * 20) / 20
    scale = alt.Scale(domain=[0.0, highest], nice=False, clamp=True)
    base = chart(_curve_cells(curves, chosen)).encode(
        x=alt.X("size:Q", title=f"number of {curves.unit_name[1]}", axis=_along(tickMinStep=1, format=",d")),
        y=alt.Y("rate:Q", title="reversed by new questions", axis=alt.Axis(format="%"), scale=scale),
        detail="bin:N",
    )
    expected = base.transform_filter("datum.kind == 'expected'").mark_line(color=ACCENT, strokeWidth=2.2)
    fit = base.transform_filter("datum.kind == 'fit'").mark_line(color=OTHER, strokeWidth=1.8, strokeDash=[6, 3])
    points = base.transform_filter("datum.kind == 'measured'").mark_point(color=INK, size=28, filled=True, opacity=1)
    ends = [curve.predicted_at_target if curve.predicted_at_target is not None else 0.0 for curve in chosen]
    places = spread_out(ends, 16 * highest / CURVES_HEIGHT)
    # Names start above the axis.
    places = [place + max(0.0, 0.02 * highest - min(places)) for place in places]
    texts = [
        {"size": curves.target, "rate": place, "text": _bin_name(curve) + _mark(curve, gap.predicted)}
        for curve, place in zip(chosen, places, strict=True)
    ]
    labels = chart(texts).mark_text(align="left", dx=8).encode(x="size:Q", y="rate:Q", text="text:N")
    limit = chart([{"rate": curves.error}]).mark_rule(color=SOFT, strokeDash=[2, 3]).encode(y="rate:Q")
    by_fit = f"; the fit says {gap.fit:g}" if gap.fit is not None else ""
    answer = "no gap can be called repeatable"
    if gap.predicted is not None:
        answer = f"the repeatable gap is about {gap.predicted:g}"
    drawn = "the dashed line is the fit of the TREC papers, " if any(curve.fit for curve in chosen) else ""
    return figure(
        "error-curves",
        alt.layer(limit, expected, fit, points, labels).properties(width=WIDTH - 120, height=CURVES_HEIGHT),
        title=f"How often is a difference reversed, by the number of {curves.unit_name[1]}?",
        caption="Each line is one size of difference, named at its end: dots are measured, the line is expected, "
        f"{drawn}the dotted line is at {curves.error:.0%}. "
        f"With {size} {answer}{by_fit}.",
        description=f"With {size} {answer}{by_fit}.",
        table=_curve_table(curves),
    )


def _measured(curve: BinCurve) -> bool:
    return sum(rate is not None for rate in curve.error_rate) > 1


def _bin_name(curve: BinCurve) -> str:
    return f"{curve.low:g}–{curve.high:g}"


def _mark(curve: BinCurve, gap: float | None) -> str:
    """The addition to the name of a line whose differences are repeatable."""
    return ", repeatable" if gap is not None and curve.low >= gap - TIE else ""


def _curve_cells(curves: SensitivityCurves, chosen: list[BinCurve]) -> list[dict[str, object]]:
    """Rates by size: measured up to half of the units, expected and fitted up to all of them."""
    beyond = np.linspace(curves.sizes[-1], curves.target, 9).round().astype(int).tolist()
    cells: list[dict[str, object]] = []
    for curve in chosen:
        place = curves.bins.index(curve)
        name = _bin_name(curve)

        def add(kind: str, size: float, rate: float | None, name: str = name) -> None:
            if rate is not None and math.isfinite(rate):
                cells.append({"bin": name, "kind": kind, "size": size, "rate": rate})

        for size, measured, expected in zip(curves.sizes, curve.error_rate, curve.predicted, strict=True):
            add("measured", size, measured)
            add("expected", size, expected)
            if curve.fit is not None and size > curves.schedule.fit_above:
                add("fit", size, curve.fit.at(size))
        for size in beyond[1:]:
            add("expected", size, float(curves.predicted_at(size)[place]))
            if curve.fit is not None:
                add("fit", size, curve.fit.at(size))
    return cells


def _curve_table(curves: SensitivityCurves) -> Table:
    rows = [
        (curve.low, curve.high, size, comparisons, measured, expected, curve.fit.at(size) if curve.fit else None)
        for curve in curves.bins
        if curve.high is not None and _measured(curve)
        for size, comparisons, measured, expected in zip(
            curves.sizes, curve.comparisons, curve.error_rate, curve.predicted, strict=True
        )
    ]
    columns = [*_limits(row[0] for row in rows), Column(curves.unit_name[1]), Column("comparisons")]
    columns += [Column(name, ".1%") for name in ("measured", "expected", "fit of the papers")]
    return table("Error rate by difference and number", columns, rows)


def _limits(lows: Iterable[float]) -> list[Column]:
    """The columns of the ends of bins, with the same decimals in every row."""
    spec = f".{_places(lows)}f"
    return [Column("difference from", spec), Column("to", spec)]


def _places(numbers: Iterable[float]) -> int:
    """The decimals that all these numbers need, up to 6.

    >>> _places([0.05, 0.1]), _places([1.0, 2.0]), _places([0.125])
    (2, 0, 3)
    """
    return max((len(f"{number:.6f}".rstrip("0").partition(".")[2]) for number in numbers), default=0)


def _along(**more: Any) -> Any:
    """An axis of numbers below a curve: few enough to read, and apart from the lowest number beside them."""
    return altair().Axis(grid=False, tickCount=10, labelPadding=10, labelSeparation=8, **more)


def _round_numbers(last: int) -> list[int]:
    """1, 2, 5, 10 and so on: marks of a logarithmic axis up to `last`.

    >>> _round_numbers(60)
    [2, 5, 10, 20, 50]
    """
    return [
        digit * 10**zeros for zeros in range(len(str(last))) for digit in (1, 2, 5) if 2 <= digit * 10**zeros <= last
    ]


def _rates(rows: list[tuple[float, float | None, float | None]]) -> Any:
    highest = max(rate or 0.0 for _, _, rate in rows)
    return altair().Scale(domain=[0.0, max(0.1, math.ceil(highest * 20) / 20)], nice=False)


def power_by_units(plan: Plan) -> Figure:
    """The chance to find a difference, by the number of units, for several differences."""
    alt = altair()
    wanted = plan.wanted
    drawable = [row for row in plan.differences if row.power is not None]
    if plan.deviation is None or not drawable:
        raise UsageError("no power can be computed from these scores: there is nothing to draw")
    chosen = _spread_out(drawable)
    furthest = max(row.power or 2 for row in chosen)
    furthest = max(2 * (plan.units or 0), min(furthest, 20 * (plan.units or furthest)), 10)
    sizes = np.unique(np.geomspace(2, furthest, POINTS).round().astype(int)).tolist()
    cells: list[dict[str, object]] = []
    for row in chosen:
        for size in sizes:
            reached = plan.chance(row.difference, size)
            cells.append({"difference": f"{row.difference:g}", "units": size, "power": reached})
    noun, nouns = plan.unit_name
    base = chart(cells).encode(
        x=alt.X(
            "units:Q",
            title=f"number of {nouns}",
            scale=alt.Scale(type="log", nice=False),
            axis=_along(values=_round_numbers(furthest), format=",d"),
        ),
        y=alt.Y("power:Q", title="chance to find it", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
    )
    order = [f"{row.difference:g}" for row in chosen]
    dashes = alt.StrokeDash(
        "difference:N",
        sort=order,
        scale=alt.Scale(domain=order, range=[[1, 0], [8, 3], [4, 3], [1, 3]][: len(order)]),
        legend=alt.Legend(title="difference", symbolStrokeColor=ACCENT, symbolSize=400),
    )
    lines = base.mark_line(color=ACCENT, strokeWidth=2.2).encode(strokeDash=dashes)
    goal = chart([{"power": wanted.power}]).mark_rule(color=SOFT, strokeDash=[4, 4]).encode(y="power:Q")
    layers = [lines, goal]
    if plan.units is not None:
        label = [{"units": plan.units, "text": f"{plan.units:,} {nouns if plan.units != 1 else noun} now"}]
        layers.append(chart(label).mark_rule(color=LINE, strokeWidth=2).encode(x="units:Q"))
        text = chart(label).mark_text(align="left", baseline="top", dx=6, dy=2, color=SOFT)
        layers.append(text.encode(x="units:Q", y=alt.value(0), text="text:N"))
    needed = ", ".join(f"{row.power:,} for {row.difference:g}" for row in chosen)
    places = _places(row.difference for row in plan.differences)
    columns = [Column("difference", f".{places}f"), Column(f"{nouns} needed"), Column("chance to find it now", ".1%")]
    return figure(
        "power",
        alt.layer(*layers).properties(width=WIDTH - 120, height=260),
        title=f"How many {nouns} does a difference need?",
        caption=f"The chance that a test at level {wanted.alpha:g} finds a true difference. "
        f"The dashed line is at {wanted.power:.0%}.",
        description=f"{nouns.capitalize()} needed for a chance of {wanted.power:.0%}: {needed}.",
        table=table(
            f"{nouns.capitalize()} needed to find a difference",
            columns,
            [(row.difference, row.power, row.power_now) for row in plan.differences],
        ),
    )


def _spread_out(rows: list[Any]) -> list[Any]:
    """A few of the differences, from the smallest to the largest."""
    if len(rows) <= MOST_CURVES:
        return rows
    places = np.linspace(1, len(rows) - 1, MOST_CURVES).round().astype(int)
    return [rows[place] for place in dict.fromkeys(places.tolist())]
