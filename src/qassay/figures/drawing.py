"""Shared by all figures: letters, colours, axes, and how names and numbers are placed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from qassay.display import NAME_LETTERS, short_name
from qassay.errors import UsageError
from qassay.figures.figure import NO_FIGURES

INK, SOFT, LINE, CARD = "var(--ink)", "var(--soft)", "var(--line)", "var(--card)"
ACCENT, OTHER = "var(--accent)", "var(--other)"
# The drawing library brings this typeface: figures have the same measures on every machine. What a reader sees is the
# typeface of the page, or `FONTS` of `figure`.
FONT: Final = "Liberation Sans"

# Width of a figure, height of one row of names, and the room for a name; longer names end in dots.
WIDTH: Final = 640
ROW: Final = 22
NAME_WIDTH: Final = 230
# The widest letter on average, of the typefaces that readers may have; a long name keeps room for them.
LETTER_WIDTH: Final = 6.9
LONG_NAME: Final = 16
# Beyond this many rows a figure shows the first ones, and its table all.
MOST_ROWS: Final = 40
# Shades stop here, so that numbers stay readable on them in light and dark.
DARKEST: Final = 0.5

_TEXT = {"font": FONT, "fontSize": 12}
CONFIGURATION: Final[Mapping[str, Any]] = {
    "aria": False,
    "background": "transparent",
    "font": FONT,
    "view": {"stroke": None},
    # At the sides more: the letters of a reader may be wider than those that figures are measured with.
    "padding": {"left": 14, "right": 14, "top": 6, "bottom": 6},
    "axis": {
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": NAME_WIDTH,
        "titleColor": SOFT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "gridColor": LINE,
        "domainColor": LINE,
        "tickColor": LINE,
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
    },
    "axisX": {"labelColor": SOFT, "labelFlush": False},
    "legend": {"labelColor": INK, "labelLimit": NAME_WIDTH, "titleColor": SOFT, "titleFontWeight": "normal"},
    "text": {**_TEXT, "color": INK},
    "title": {
        "anchor": "start",
        "color": INK,
        "fontSize": 15,
        "fontWeight": 600,
        "subtitleColor": SOFT,
        "subtitleFontSize": 12,
        "offset": 14,
        "subtitlePadding": 6,
    },
    "header": {"labelColor": INK, "labelFontSize": 12, "labelLimit": NAME_WIDTH, "titleColor": SOFT},
    "concat": {"spacing": 12},
}


def altair() -> Any:
    """The drawing library, or an error that says how to install it."""
    try:
        import altair as alt
    except ModuleNotFoundError:
        raise UsageError(NO_FIGURES) from None
    return alt


def chart(rows: Iterable[Mapping[str, object]]) -> Any:
    """A chart of rows, which the specification contains."""
    alt = altair()
    return alt.Chart(alt.InlineData(values=[dict(row) for row in rows]))


def number(field: str, *, title: str | None, domain: Sequence[float] | None = None, form: str | None = None) -> Any:
    """An axis of numbers along the bottom; marks at its ends keep away from the names beside them."""
    alt = altair()
    ends = {"zero": False, "padding": 10} if domain is None else {"domain": list(domain)}
    scale = alt.Scale(**ends, nice=False)
    axis = alt.Axis(format=form, tickCount=8) if form else alt.Axis(tickCount=8)
    return alt.X(field, type="quantitative", title=title, scale=scale, axis=axis)


def names(field: str, order: Sequence[str]) -> Any:
    """An axis of names at the left, in this order."""
    alt = altair()
    axis = alt.Axis(title=None, grid=False, labelPadding=10, **_short_labels(order))
    return alt.Y(field, type="nominal", sort=list(order), scale=alt.Scale(domain=list(order)), axis=axis)


def _short_labels(names: Sequence[str]) -> dict[str, object]:
    """The same for the labels of an axis, where a name needs it."""
    longest = max(map(len, names), default=0)
    if longest <= LONG_NAME:
        return {}
    room = {"minExtent": round(min(longest, NAME_LETTERS) * LETTER_WIDTH) + 10}
    if longest <= NAME_LETTERS:
        return {**room}
    short = {name: short_name(name, names) for name in names if len(name) > NAME_LETTERS}
    return {**room, "labelExpr": f"{json.dumps(short)}[datum.label] || datum.label"}


def shade(field: str, highest: float, lowest: float = 0.0) -> Any:
    """A shade that grows with a number: one colour, so that it prints and needs no sense of colour."""
    alt = altair()
    top = highest if highest > lowest else lowest + 1.0
    scale = alt.Scale(domain=[lowest, top], range=[0.0, DARKEST], clamp=True)
    return alt.FillOpacity(field, type="quantitative", scale=scale, legend=None)


def span(lowest: float, highest: float) -> tuple[float, float]:
    """The ends of an axis of scores: from 0 where that wastes no more than half of it, with some room beyond.

    >>> [tuple(round(end, 3) for end in span(*ends)) for ends in ((0.2, 0.6), (0.8, 0.9), (0.4, 0.4), (0.0, 0.0))]
    [(0.0, 0.66), (0.785, 0.915), (0.0, 0.44), (0.0, 1.0)]
    """
    start = 0.0 if 0.0 <= lowest <= highest / 2 else lowest
    room = 0.1 * highest if start == 0.0 else 0.15 * (highest - lowest)
    if highest <= lowest and lowest >= 0:
        return 0.0, 1.1 * highest or 1.0
    if highest <= lowest:
        return lowest - 0.5, highest + 0.5
    return (start if start == 0.0 else start - room), highest + room


def height(rows: int, row: int = ROW) -> int:
    """The height of a figure with this many rows of names."""
    return max(rows, 1) * row


def spread_out(positions: Sequence[float], gap: float) -> list[float]:
    """Positions moved apart as little as possible, so that names beside them do not cover each other.

    Neighbours that are too close form a block around the mean of their positions (isotonic regression).

    >>> spread_out([1.0, 1.0, 3.0], 0.5)
    [0.75, 1.25, 3.0]
    """
    order = sorted(range(len(positions)), key=lambda index: (positions[index], index))
    blocks: list[tuple[float, int]] = []  # mean of the positions without their gaps, and how many
    for place, index in enumerate(order):
        mean, size = positions[index] - place * gap, 1
        while blocks and blocks[-1][0] > mean:
            before, others = blocks.pop()
            mean, size = (before * others + mean * size) / (others + size), others + size
        blocks.append((mean, size))
    starts = [mean for mean, size in blocks for _ in range(size)]
    moved = [0.0] * len(order)
    for place, index in enumerate(order):
        moved[index] = starts[place] + place * gap
    return moved


def first_of(shown: int, every: int, noun: str) -> str:
    """A sentence where a figure does not show everything.

    >>> first_of(40, 70, "runs"), first_of(3, 3, "runs")
    (' The first 40 of 70 runs; the table has all.', '')
    """
    return f" The first {shown:,} of {every:,} {noun}; the table has all." if shown < every else ""


def dots_with_lines(base: Any, low: Any, middle: Any, *, filled: str) -> tuple[Any, Any]:
    """Lines from `low` to the field `high`, and a dot on each; those with the mark `filled` stand out."""
    alt = altair()
    stands_out = f"datum.{filled}"
    colour = alt.condition(stands_out, alt.value(OTHER), alt.value(SOFT))
    lines = base.mark_rule(strokeWidth=2.5, strokeCap="round").encode(x=low, x2="high:Q", color=colour)
    points = base.mark_point(size=90, strokeWidth=2, opacity=1).encode(
        x=middle, stroke=colour, fill=alt.condition(stands_out, alt.value(OTHER), alt.value(CARD))
    )
    return lines, points


def square(rows: list[dict[str, object]], down: list[str], across: list[str], form: str, *, lowest: float = 0.0) -> Any:
    """Shaded cells with their numbers; `share` shades where a row has one, else `value` does."""
    alt = altair()
    field = "share" if rows and "share" in rows[0] else "value"
    highest = max((float(str(row[field])) for row in rows), default=1.0)
    axis = alt.Axis(orient="top", labelAngle=0, labelColor=INK, title=None, labelLimit=90)
    base = chart(rows).encode(
        x=alt.X("column:N", sort=across, axis=axis, scale=alt.Scale(domain=across)), y=names("row", down)
    )
    cells = base.mark_rect(fill=ACCENT, stroke=LINE).encode(fillOpacity=shade(field, highest, lowest))
    texts = base.mark_text(color=INK).encode(text=alt.Text("value:Q", format=form))
    return alt.layer(cells, texts).properties(width=alt.Step(92), height=alt.Step(40))
