"""The comparison of two runs for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qassay.tables import Cell, Column, Table, plural, show, table

if TYPE_CHECKING:
    from qassay.meta.significance.two_runs import PairComparison


def answer(result: PairComparison) -> Table:
    """The answer with the figures behind it."""
    level = f"{1 - result.alpha:.0%}"
    flips = f"{'all ' if result.exact else ''}{result.permutations:,} sign flips"
    interval, kept = "–", "what the randomisation test does not reject"
    if result.interval is not None:
        interval = " to ".join(map(signed, result.interval))
        kept += "; 0 is inside" if result.interval[0] <= 0 <= result.interval[1] else "; 0 is outside"
    rows: list[tuple[Cell, ...]] = [
        (f"score of {result.a}", f"{result.score_a:.4f}", result.measure),
        (f"score of {result.b}", f"{result.score_b:.4f}", result.measure),
        ("difference", f"{result.difference:+.4f}", f"{result.a} less {result.b}"),
        (f"{level} interval", interval, kept),
        ("p, randomisation", show(result.p_randomisation, ".4g"), flips),
        ("p, paired t", show(result.p_t, ".4g"), "a second opinion"),
        ("effect size", show(result.effect_size, ".3f"), "difference / deviation of the unit differences"),
        (
            "units needed",
            show(result.units_needed),
            f"to find it with power {result.power:g} at level {result.alpha:g}",
        ),
        ("verdict", result.verdict, _reading(result)),
    ]
    if any(rate is not None for rate in result.error_rate.values()):
        rates = " / ".join(show(result.error_rate.get(name), ".3f") for name in ("fit", "predicted"))
        rows.insert(-2, ("error rate", rates, "as many new units reverse it (fitted / predicted)"))
    title = f"Is {result.a} better than {result.b}? {plural(result.units, 'unit')}"
    return table(title, ["", Column("value"), "meaning"], rows, result.notes)


def signed(value: float, line: float = 0.0) -> str:
    """A number with its sign and as many digits as show on which side of a line it lies; four at least.

    >>> signed(0.05), signed(0.00002), signed(0.0), signed(-0.0999999, -0.1)
    ('+0.0500', '+0.00002', '+0.0000', '-0.0999999')
    """
    texts = (f"{value:+.{digits}f}" for digits in range(4, 17))
    return next((text for text in texts if value == line or float(text) != line), f"{value:+g}")


def _reading(result: PairComparison) -> str:
    if result.units_better == result.units_worse == 0:
        return "the two are equal on every unit"
    if result.interval is None:
        return f"so few units cannot tell at level {result.alpha:g}"
    if result.verdict == "cannot tell":
        return f"chance alone does this, at level {result.alpha:g}"
    return f"{result.a} is {result.verdict} than {result.b} at level {result.alpha:g}"


def deciding(result: PairComparison) -> Table:
    """The units that make the difference."""
    equal = result.units - result.units_better - result.units_worse
    title = (
        f"Units that make the difference: {result.a} ahead on {result.units_better}, "
        f"behind on {result.units_worse}, level on {equal}"
    )
    rows = [(u.unit, u.a, u.b, u.part) for u in result.deciding]
    columns: list[Column | str] = [
        "unit",
        Column(result.a, ".4g"),
        Column(result.b, ".4g"),
        Column("part", "+.4f"),
    ]
    more = result.units_better + result.units_worse - len(rows)
    notes = [f"{more} more {'unit differs' if more == 1 else 'units differ'} (--top)."] if more else []
    return table(title, columns, rows, notes)
