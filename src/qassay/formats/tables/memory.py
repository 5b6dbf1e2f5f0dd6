"""Tables in memory as columns: frames of pandas and polars, Arrow tables, dictionaries, rows.

Neither pandas nor pyarrow is imported or required: a frame is known by what it can do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from qassay.errors import InputError, Problem, UsageError
from qassay.formats.columns import names_another
from qassay.formats.tables.binary import frame_table
from qassay.formats.tables.table import RawTable, cell_text, table_of_rows

# What messages call a table that is not a file.
FILE = "table"


class ArrowTable(Protocol):
    """A frame of polars or pandas, a table of pyarrow: whatever gives its columns as an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The columns."""


def memory_table(source: object) -> RawTable:
    """A table in memory as columns; an error for anything else."""
    if isinstance(source, Mapping):
        return _mapping(source)
    if is_rows(source):
        assert isinstance(source, Sequence)
        return table_of_rows(FILE, source, None)
    is_column = hasattr(source, "to_frame")  # a Series of pandas or polars
    if hasattr(source, "iloc") and hasattr(source, "reset_index") and not is_column:
        return _pandas(source)
    if (hasattr(source, "__arrow_c_stream__") or hasattr(source, "collect")) and not is_column:
        return frame_table(FILE, _arrow(source))
    raise UsageError(
        f"scores come as a path, a frame of pandas or polars, an Arrow table or a dictionary, not as "
        f"{type(source).__name__}"
    )


def is_rows(source: object) -> bool:
    """Whether this is a list of rows: dictionaries of single values."""
    return (
        isinstance(source, Sequence)
        and not isinstance(source, (str, bytes))
        and bool(source)
        and all(isinstance(row, Mapping) for row in source)
        and not any(isinstance(value, (list, tuple)) for value in source[0].values())
        and not _are_systems(source[0])
    )


def _mapping(source: Mapping[Any, Any]) -> RawTable:
    """Columns of equal length, or scores by system and question."""
    if not source:
        raise InputError(Problem("syntax", "the dictionary is empty", FILE))
    if _are_systems(source):
        questions = list(dict.fromkeys(question for scores in source.values() for question in scores))
        by_system = [[cell_text(scores.get(question)) for question in questions] for scores in source.values()]
        return RawTable(
            FILE, ["", *map(str, source)], [[cell_text(question) for question in questions], *by_system], None
        )
    columns: dict[str, list[Any]] = {}
    for name, column in source.items():
        if hasattr(column, "columns"):
            message = f"{name!r} is a table. Give one table with a column per system, or with a column 'system'"
            raise InputError(Problem("syntax", message, FILE))
        if isinstance(column, (str, bytes, Mapping)) or not hasattr(column, "__iter__"):
            message = f"column {name!r} is not a list. A dictionary has lists of scores, or a dictionary per system"
            raise InputError(Problem("syntax", message, FILE))
        columns[str(name)] = list(column)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        (first, length), *others = lengths.items()
        name, other_length = next((name, size) for name, size in others if size != length)
        message = (
            f"column {first!r} has {length} values and column {name!r} has {other_length}. "
            "Give all columns the same length"
        )
        raise InputError(Problem("syntax", message, FILE))
    return RawTable(FILE, list(columns), [[cell_text(value) for value in column] for column in columns.values()], None)


def _are_systems(source: Mapping[Any, Any]) -> bool:
    """Whether this is a dictionary of scores by question for each system."""
    return bool(source) and all(isinstance(scores, Mapping) for scores in source.values())


def _pandas(frame: Any) -> RawTable:
    """A pandas frame by its columns; an index with a name, or of names, is a column of its own."""
    if getattr(frame.columns, "nlevels", 1) > 1:
        message = "the columns of the frame have several levels. Give each column one name"
        raise InputError(Problem("syntax", message, FILE))
    index = frame.index
    is_running = type(index).__name__ == "RangeIndex" and index.name is None
    ids = index.name if getattr(index, "nlevels", 1) == 1 and isinstance(index.name, str) else None
    if not is_running:
        if getattr(index, "nlevels", 1) == 1 and index.name is None:
            frame = frame.rename_axis("id") if "id" not in frame.columns else frame.rename_axis("index")
        frame = frame.reset_index()
    names = [str(name) for name in frame.columns]
    if not names:
        raise InputError(Problem("syntax", "the table has no columns", FILE))
    columns = [[cell_text(value) for value in frame.iloc[:, place].tolist()] for place in range(len(names))]
    return RawTable(FILE, names, columns, None, ids=None if ids is None or names_another(ids) else ids)


def _arrow(source: Any) -> Any:
    """A polars frame of anything that gives an Arrow stream; of a lazy frame, its result."""
    import polars as pl

    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.DataFrame):
        return source
    try:
        return pl.DataFrame(source)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise UsageError(f"this table cannot be read: {error}") from None
