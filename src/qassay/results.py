"""The base of every result of an analysis: its answer in a sentence, its tables, its JSON, and data frames.

A record gives `sentence()`, `tables()` and `as_json()`. From these follow what Python, a notebook and `print` show.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from qassay.directions import HIGHER, Direction
from qassay.display import html_block, safe_text
from qassay.frames import Framed
from qassay.tables import Table

if TYPE_CHECKING:
    import polars as pl

    # The floor of figures is below: it is loaded when a figure is asked for.
    Figure = Any


class Figured:
    """A record that has a figure."""

    __slots__ = ()

    def figure(self) -> Figure:
        """The figure of this result, with `svg()`, `png()`, `pdf()` and `csv()`. Needs the extra `figures`."""
        return importlib.import_module("qassay.figures").figure_of(self)


class Result(Framed, Figured):
    """The result of an analysis.

    `repr` is the answer in a sentence, `print` shows all tables as text, and a notebook shows them as HTML.
    """

    __slots__ = ()

    @property
    def direction(self) -> Direction:
        """Which way its measure is better; results about scores from elsewhere have a field of this name."""
        return HIGHER

    def sentence(self) -> str:
        """The answer in one sentence."""
        raise NotImplementedError(type(self).__name__)

    def table(self) -> Table:
        """The main table."""
        raise NotImplementedError(type(self).__name__)

    def tables(self) -> Sequence[Table]:
        """All tables, the main one among them."""
        return [self.table()]

    def as_json(self) -> dict[str, Any]:
        """All figures under their names, as the command's `--json` prints them."""
        raise NotImplementedError(type(self).__name__)

    def to_polars(self) -> pl.DataFrame:
        """The main table as a polars data frame, with numbers at full precision."""
        return self.table().to_polars()

    def __repr__(self) -> str:
        return safe_text(f"{type(self).__name__}: {self.sentence()}")

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def _repr_html_(self) -> str:
        return html_block([table.html() for table in self.tables()], lead=self.sentence())


def document(record: object, *names: str) -> dict[str, object]:
    """These fields and properties of a result as JSON has them, or all its fields; records within it likewise.

    A measure comes with its direction.
    """
    if not names and is_dataclass(record):
        names = tuple(field.name for field in fields(record))
    values = {name: _plain(getattr(record, name)) for name in names if name != "direction"}
    direction: Direction = getattr(record, "direction", HIGHER)
    return values | direction.as_json() if "measure" in names else values


def _plain(value: Any) -> object:
    if hasattr(value, "as_json"):
        return value.as_json()
    if is_dataclass(value):
        return document(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
