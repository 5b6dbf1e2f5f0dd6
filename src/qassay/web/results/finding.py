"""What a study found, as plain data that travels between processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from qassay.tables import Cell, Table

# What the rows of a table are about, so that a page can lead there.
About: TypeAlias = Literal["run", "question", "series"]

# A page shows at most so many rows of a table, and characters of a cell; its CSV has all.
ROWS_SHOWN = 500
CHARACTERS_SHOWN = 10_000


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of a longer table is here: `size` of `total`, from `first` (0 is the beginning)."""

    first: int
    size: int
    total: int
    of: str = "rows"


@dataclass(frozen=True, slots=True)
class Part:
    """One table of a finding; `window` is None where all its rows are here.

    `subjects[i]` is what row i is about; the cell in `column` leads there.
    """

    name: str
    table: Table
    about: About | None = None
    subjects: tuple[str, ...] = ()
    column: int = 0
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a study found.

    `document` is what the command prints with --json, and `left_out` says what of it is too large for a page.
    `columns` is set where the columns, too, are a window on more.
    """

    parts: tuple[Part, ...]
    document: Mapping[str, Any] = field(default_factory=dict)
    answer: str = ""
    left_out: str | None = None
    columns: Window | None = None

    def part(self, name: str) -> Part | None:
        """The table with this name."""
        return next((one for one in self.parts if one.name == name), None)


def parts_of(tables: Sequence[Table], name: str) -> tuple[Part, ...]:
    """Tables as parts that are named by their order."""
    return tuple(Part(f"{name}-{number}", one) for number, one in enumerate(tables, start=1))


def cut(part: Part, first: int = 0, most: int | None = ROWS_SHOWN) -> Part:
    """The part with some of its rows; all of them without `most`."""
    total = len(part.table.rows)
    if most is None or (first == 0 and total <= most):
        return part
    rows = part.table.rows[first : first + most]
    return replace(
        part,
        table=replace(part.table, rows=rows),
        subjects=part.subjects[first : first + most],
        window=Window(first, len(rows), total),
    )


def clipped(part: Part) -> Part:
    """The part with its longest texts cut short, saying so."""
    rows = part.table.rows
    if not any(_is_long(cell) for row in rows for cell in row):
        return part
    shorter = tuple(tuple(_clip(cell) if isinstance(cell, str) else cell for cell in row) for row in rows)
    return replace(part, table=replace(part.table, rows=shorter))


def _is_long(cell: Cell) -> bool:
    return isinstance(cell, str) and len(cell) > CHARACTERS_SHOWN


def _clip(text: str) -> str:
    if len(text) <= CHARACTERS_SHOWN:
        return text
    return f"{text[:CHARACTERS_SHOWN]}… ({len(text):,} characters in all; the CSV has them)"
