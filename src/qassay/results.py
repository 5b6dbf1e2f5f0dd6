"""The base of every result of an analysis: its answer in a sentence, its tables, its JSON, and data frames.

A record is its document: the keys of the JSON are its fields, and its properties that are marked `reported`; their
types are its schema. From `sentence()` and `tables()` follow what Python, a notebook and `print` show.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from qassay.directions import HIGHER, Direction
from qassay.display import html_block, safe_text
from qassay.frames import Framed
from qassay.tables import Table

# The metadata of a field that the document leaves out: tables and figures need it beside the numbers.
UNREPORTED = {"reported": False}
# That of a field with a record whose keys are keys of the document.
INLINE = {"reported": False, "inline": True}
Getter = TypeVar("Getter", bound=Callable[[Any], Any])

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
        return document(self)

    def to_polars(self) -> pl.DataFrame:
        """The main table as a polars data frame, with numbers at full precision."""
        return self.table().to_polars()

    def __repr__(self) -> str:
        return safe_text(f"{type(self).__name__}: {self.sentence()}")

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def _repr_html_(self) -> str:
        return html_block([table.html() for table in self.tables()], lead=self.sentence())


if TYPE_CHECKING:
    reported = property
else:

    class reported(property):  # noqa: N801  # it is used as property is
        """A property that is a key of the document of its record, beside the fields."""


@cache
def keys_of(record: type) -> dict[str, str]:
    """The attribute behind each key of a record's document: its fields, then its reported properties, as defined.

    An attribute whose name ends in an underscore is the key without it: the record has that name for something else. A
    record that has much beside its document names its fields there as `KEYS`.
    """
    every = [part.name for part in fields(record) if part.metadata.get("reported", True)]
    names = list(getattr(record, "KEYS", every))
    for base in reversed(record.__mro__):
        names += [name for name, value in vars(base).items() if isinstance(value, reported)]
    return {name.rstrip("_"): name for name in names}


@cache
def inline_of(record: type) -> tuple[str, ...]:
    """The fields with records whose keys are keys of this one's document."""
    return tuple(part.name for part in fields(record) if part.metadata.get("inline"))


def document(record: object, *names: str) -> dict[str, Any]:
    """These fields and properties of a record as JSON has them, or all of its keys; records within it likewise.

    A measure comes with its direction.
    """
    kind: type = type(record)
    attributes = {name: name for name in names} or keys_of(kind)
    values = {key: _plain(getattr(record, name)) for key, name in attributes.items() if name != "direction"}
    for name in () if names else inline_of(kind):
        values |= document(getattr(record, name))
    direction: Direction = getattr(record, "direction", HIGHER)
    return values | direction.as_json() if "measure" in values else values


def _plain(value: Any) -> Any:
    if hasattr(value, "as_json"):
        return value.as_json()
    if is_dataclass(value):
        return document(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (tuple, list)) else value
