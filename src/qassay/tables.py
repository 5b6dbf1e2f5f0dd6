"""A table for people: what every result knows how to become.

A `Table` is plain data, so that the terminal, Markdown, LaTeX, HTML and CSV show the same table. Undefined
cells are `None` and are written as a dash, never as 0.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from itertools import zip_longest
from typing import TYPE_CHECKING

from qassay.display import html_block, html_table, safe_text, shortened
from qassay.frames import Framed, Kind, frame

if TYPE_CHECKING:
    import polars as pl

Cell = str | int | float | bool | None
DASH = "–"
# The specification of a column of p-values (`probability`).
PROBABILITY = "p"

# A spreadsheet takes a text that begins so for a formula, and runs it: answers and tags are other people's strings.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

# Rows of a table that Python shows on its own, as text and in a notebook; print, CSV and data frames have all of them.
ROWS_AS_TEXT = 12
ROWS_AS_HTML = 50

# Blanks between two columns of aligned text.
GAP = 2

# Prose is not folded into fewer characters than this.
NARROWEST_PROSE = 24


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its header, and how its numbers are written (a format specification such as `.3f`)."""

    header: str
    spec: str = ""
    left: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Table(Framed):
    """Rows under named columns, with a title and the notes a reader needs to believe them."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = field(default=())

    def cells(self) -> list[list[str]]:
        """The rows as they are shown."""
        return [[show(cell, column.spec) for cell, column in zip(row, self.columns, strict=True)] for row in self.rows]

    def markdown(self) -> str:
        """A GitHub-flavoured Markdown table with the title above and the notes below."""
        headers = [column.header for column in self.columns]
        rule = [":--" if column.left else "--:" for column in self.columns]
        lines = [pipes(headers), pipes(rule), *(pipes([_escape(c) for c in row]) for row in self.cells())]
        return "\n\n".join([f"**{self.title}**", "\n".join(lines), *self.notes]) + "\n"

    def html(self, most: int | None = ROWS_AS_HTML) -> str:
        """An HTML table with the title above and the notes below, for the first rows; everything is escaped."""
        rows = replace(self, rows=self.rows[:most]).cells()
        headers = [column.header for column in self.columns]
        notes = (*_more_rows(len(self.rows) - len(rows)), *self.notes)
        return html_table(self.title, headers, rows, notes, left=[column.left for column in self.columns])

    def to_polars(self) -> pl.DataFrame:
        """The rows as a polars data frame: numbers at full precision, text where a column mixes both."""
        kinds = [_kind([row[place] for row in self.rows], column) for place, column in enumerate(self.columns)]
        rows = [
            [_as_text(cell, column.spec) if kind is str and cell is not None else cell for cell, column, kind in cells]
            for cells in (zip(row, self.columns, kinds, strict=True) for row in self.rows)
        ]
        return frame(dict(zip(_names(self.columns), kinds, strict=True)), rows)

    def csv(self) -> str:
        """The rows as CSV, with numbers at full precision; no text in it is a formula."""
        columns = tuple(replace(column, header=no_formula(column.header)) for column in self.columns)
        rows = tuple(tuple(no_formula(cell) if isinstance(cell, str) else cell for cell in row) for row in self.rows)
        return replace(self, columns=columns, rows=rows).to_polars().write_csv()

    def _repr_html_(self) -> str:
        return html_block([self.html()])

    def lines(self) -> tuple[list[str], list[str]]:
        """Aligned text: lines of the header and of the rows. Long headers break at blanks and underscores."""
        body = [[cell.split("\n") for cell in row] for row in self.cells()]
        headers, widths = self._layout()
        height = max(map(len, headers))
        tops = [[""] * (height - len(header)) + header for header in headers]
        return (
            [self._line(cells, widths) for cells in zip(*tops, strict=True)],
            [self._line(cells, widths) for row in body for cells in zip_longest(*row, fillvalue="")],
        )

    def within(self, width: int) -> list[Table]:
        """The table in parts no wider than `width`, to stand below each other, each with the columns that name a row.

        Prose in the last column is folded first. Names that fill more than half of the width lose their middle, as
        long as they differ without it. A column that is too wide by itself is shown whole. The title stays above the
        first part, the notes below the last.
        """
        names = 2 if [column.left for column in self.columns[:2]] == [False, True] else 1
        folded = self._folded(width)._with_short_names(names - 1, width // 2)
        _, widths = folded._layout()
        parts: list[list[int]] = [[]]
        room = free = width - sum(widths[:names]) - GAP * names
        for place in range(names, len(widths)):
            if parts[-1] and widths[place] > free:
                parts.append([])
                free = room
            parts[-1].append(place)
            free -= widths[place] + GAP
        return [
            folded._part([*range(names), *part], first=number == 0, last=number == len(parts) - 1)
            for number, part in enumerate(parts)
        ]

    def _folded(self, width: int) -> Table:
        """With the words of a last column of prose on several lines, where that makes the table narrow enough."""
        _, widths = self._layout()
        room = width - sum(widths[:-1]) - GAP * (len(widths) - 1)
        if not self.columns[-1].left or not NARROWEST_PROSE <= room < widths[-1]:
            return self
        rows = tuple((*row[:-1], textwrap.fill(show(row[-1]), room, break_long_words=False)) for row in self.rows)
        return replace(self, rows=rows)

    def _with_short_names(self, place: int, letters: int) -> Table:
        """With the names in a column in this many letters, where the table is too wide and they stay different."""
        names = [row[place] for row in self.rows]
        short = [shortened(name, letters, start=letters // 3) if isinstance(name, str) else name for name in names]
        if short == names or len(set(short)) < len(set(names)) or len(self.columns) <= place + 2:
            return self
        rows = tuple((*row[:place], name, *row[place + 1 :]) for row, name in zip(self.rows, short, strict=True))
        return replace(self, rows=rows, notes=(*self.notes, "Long names are shortened: --json has them whole."))

    def _part(self, places: list[int], *, first: bool, last: bool) -> Table:
        columns = tuple(self.columns[place] for place in places)
        rows = tuple(tuple(row[place] for place in places) for row in self.rows)
        return Table(self.title if first else "", columns, rows, self.notes if last else ())

    def _layout(self) -> tuple[list[list[str]], list[int]]:
        """The lines of each header, and the width of each column."""
        body = self.cells()
        columns = list(zip(*body, strict=True)) if body else [()] * len(self.columns)
        longest = [max((len(line) for cell in cells for line in cell.split("\n")), default=0) for cells in columns]
        headers = [_broken(column.header, width) for column, width in zip(self.columns, longest, strict=True)]
        return headers, [max(width, *map(len, header)) for header, width in zip(headers, longest, strict=True)]

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        aligned = (
            text.ljust(width) if column.left else text.rjust(width)
            for text, width, column in zip(cells, widths, self.columns, strict=True)
        )
        return (" " * GAP).join(aligned).rstrip()

    def __repr__(self) -> str:
        """The beginning of the table as text."""
        more = _more_rows(len(self.rows) - ROWS_AS_TEXT)
        return safe_text(str(replace(self, rows=self.rows[:ROWS_AS_TEXT], notes=tuple(more))))

    def __str__(self) -> str:
        """Aligned plain text with the title above and the notes below."""
        header, body = self.lines()
        return "\n".join([*([self.title] if self.title else []), *header, *body, *self.notes])


def table(
    title: str, columns: Sequence[Column | str], rows: Iterable[Sequence[Cell]], notes: Iterable[str] = ()
) -> Table:
    """Build a `Table`; a plain string is a left-aligned text column."""
    table_columns = tuple(Column(c, left=True) if isinstance(c, str) else c for c in columns)
    return Table(title, table_columns, tuple(tuple(row) for row in rows), tuple(notes))


def no_formula(text: str) -> str:
    """The text as a spreadsheet shows it, and does not run it.

    >>> no_formula("=1+1"), no_formula("bm25")
    ("'=1+1", 'bm25')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def show(cell: Cell, spec: str = "") -> str:
    """One cell as text.

    >>> show(None), show(0.51234, ".3f"), show(12, ".3f"), show(-1e-17, ".3f"), show(2424), show("a")
    ('–', '0.512', '12', '0.000', '2,424', 'a')
    >>> show(0.0254, PROBABILITY), show(0.00002, PROBABILITY)
    ('0.025', '<0.001')
    """
    if cell is None:
        return DASH
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return probability(cell) if spec == PROBABILITY else without_minus_zero(format(cell, spec))
    return format(cell, ",") if isinstance(cell, int) else str(cell)


def probability(p: float) -> str:
    """A p-value as people read it: three decimals, and a fourth where it would look like the customary level, 0.05.

    >>> probability(0.25), probability(0.00049), probability(1.0), probability(0.0498), probability(0.05)
    ('0.250', '<0.001', '1.000', '0.0498', '0.050')
    """
    if p < 0.001:
        return "<0.001"
    shown = f"{p:.3f}"
    return f"{p:.4f}" if shown == "0.050" and f"{p:.4f}" != "0.0500" else shown


def p_equals(p: float) -> str:
    """A p-value in a sentence.

    >>> p_equals(0.25), p_equals(0.00049)
    ('p = 0.250', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {probability(p)}"


def without_minus_zero(number: str) -> str:
    """A number as text, without the sign of a zero: what rounding leaves of a mean of 0 is not below it.

    >>> without_minus_zero("-0.000"), without_minus_zero("-0.001"), without_minus_zero("-0")
    ('0.000', '-0.001', '0')
    """
    return number[1:] if number.startswith("-0") and not number.strip("-0.%") else number


def decimals(numbers: Iterable[float | None]) -> int:
    """The decimals of a column of differences: the three of scores, and more where one of them would look like 0.

    >>> decimals([0.25, 0.0, None]), decimals([0.25, -0.0004])
    (3, 4)
    """
    sizes = (abs(round(number, 9)) for number in numbers if number is not None)
    smallest = min((size for size in sizes if size), default=1.0)
    return next(digits for digits in range(3, 10) if round(smallest, digits))


def at_least(number: float) -> float:
    """A difference rounded up to the three decimals that scores have, so that it is not called smaller than it is.

    >>> at_least(0.1002), at_least(0.025), at_least(3.14), at_least(0.3)
    (0.101, 0.025, 3.14, 0.3)
    """
    return float(Decimal(f"{number:.12g}").quantize(Decimal("0.001"), ROUND_CEILING))


def plural(count: int, noun: str) -> str:
    """A number with its noun.

    >>> plural(1, "question"), plural(1203, "judgment")
    ('1 question', '1,203 judgments')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def counted(count: int, noun: tuple[str, str]) -> str:
    """A number with its noun, given as singular and plural.

    >>> counted(1, ("series", "series")), counted(1203, ("question", "questions"))
    ('1 series', '1,203 questions')
    """
    return f"{count:,} {noun[count != 1]}"


# Explains the star.
MANUAL_RUN = "* manual run"


def starred(run: str, manual: Collection[str]) -> str:
    """The tag of a run as tables of runs show it: with a star where people had a hand in it.

    >>> starred("expert", {"expert"}), starred("bm25", {"expert"})
    ('expert*', 'bm25')
    """
    return f"{run}*" if run in manual else run


def _more_rows(left: int) -> list[str]:
    return [f"{plural(left, 'more row')}: print() and to_polars() have all of them."] if left > 0 else []


def _kind(cells: Sequence[Cell], column: Column) -> Kind:
    """The type of a column of a data frame; one without any value has that of its format."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if not kinds:
        return float if column.spec else str
    if kinds <= {int, float}:
        return float if float in kinds else int
    return bool if kinds == {bool} else str


def _as_text(cell: Cell, spec: str) -> str:
    """A cell of a column of text in a data frame: as it is shown, but programs read whole numbers without commas."""
    is_whole = isinstance(cell, int) and not isinstance(cell, bool)
    return str(cell) if is_whole and spec != "," else show(cell, spec)


def _names(columns: Sequence[Column]) -> list[str]:
    """The headers, each once and none empty, as a data frame needs them.

    >>> _names([Column("set"), Column("set"), Column("")])
    ['set', 'set_2', 'column_3']
    """
    headers = [column.header or f"column_{place}" for place, column in enumerate(columns, start=1)]
    seen: Counter[str] = Counter()
    names: list[str] = []
    for header in headers:
        seen[header] += 1
        name = header if seen[header] == 1 else f"{header}_{seen[header]}"
        while name in names:
            name += "_"
        names.append(name)
    return names


def _broken(header: str, width: int) -> list[str]:
    """A header on as many lines as its column is narrow; words are not cut.

    >>> _broken("series_score", 5), _broken("NIL recall", 12)
    (['series_', 'score'], ['NIL recall'])
    """
    lines: list[str] = []
    for word in header.replace("_", "_ ").split(" "):
        joined = (lines[-1] + ("" if lines[-1].endswith("_") else " ") + word) if lines else word
        if lines and len(joined) <= max(width, 6):
            lines[-1] = joined
        else:
            lines.append(word)
    return lines or [""]


def pipes(cells: Iterable[str]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
