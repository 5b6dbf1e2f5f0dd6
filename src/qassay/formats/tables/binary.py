"""Tables in binary files (Parquet, Arrow, Excel), read in a process of their own.

The libraries that read them may print a panic, take all memory or end the process where a file is damaged. None of this
may happen to the caller: the child reads the file and sends its cells. That costs the start of an interpreter, about
15 ms; polars is imported by the child alone.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from qassay.child import ChildError, limit_memory, output_of
from qassay.errors import InputError, Problem, few
from qassay.formats.tables.table import RawTable, shared

if TYPE_CHECKING:
    import polars as pl

Form: TypeAlias = Literal["parquet", "ipc", "ipc_stream", "excel"]
NAMES: dict[Form, str] = {"parquet": "Parquet", "ipc": "Arrow", "ipc_stream": "Arrow", "excel": "Excel"}

# What a child may take: seconds, and bytes of address space (the allocator reserves some that it never uses).
LIMIT_SECONDS = 60.0
SECONDS_PER_MEGABYTE = 1.0
LIMIT_BYTES = 4 << 30
BYTES_PER_BYTE = 64
_SETTINGS = {"POLARS_MAX_THREADS": "4", "RUST_BACKTRACE": "0"}

_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[5:]; from qassay.formats.tables.binary import answer; answer(*sys.argv[1:5])"
)


def binary_table(file: str, content: bytes, form: Form, sheet: str | None) -> RawTable:
    """The table in a binary file; an error where it cannot be read, whatever reading it does to the reader."""
    table = _in_child(file, content, form, sheet or "")
    # One column after the other: the cells of all of them, each an object, would take far more memory than the table.
    columns = [_column(content) for content in table["columns"]]
    place = f"{file} (sheet {table['sheet']})" if table["sheet"] else file
    return RawTable(place, table["header"], columns, form=NAMES[form], notes=tuple(table["notes"]))


def _column(content: bytes) -> list[Any]:
    cells: list[Any] = msgspec.msgpack.decode(content)
    return shared(cells, {}) if set(map(type, cells)) <= {str, type(None)} else cells


def answer(file: str, form: Form, sheet: str, memory: str) -> None:
    """Read the file that comes on stdin, and write its cells, or what is wrong with it, to stdout."""
    limit_memory(int(memory))
    try:
        sent = _read(file, sys.stdin.buffer.read(), form, sheet)
    except InputError as error:
        sent = {"rule": error.problems[0].rule, "message": error.problems[0].message}
    sys.stdout.buffer.write(msgspec.msgpack.encode(sent))
    sys.stdout.buffer.flush()
    os._exit(0)  # a library whose thread has panicked may wait for it without end


def _in_child(file: str, content: bytes, form: Form, sheet: str) -> dict[str, Any]:
    """What a child sends; an error where it sends one, or nothing."""
    if not sys.executable:  # Python within another program: there is no interpreter to start
        return _read(file, content, form, sheet)
    memory = LIMIT_BYTES + BYTES_PER_BYTE * len(content)
    seconds = LIMIT_SECONDS + SECONDS_PER_MEGABYTE * len(content) / (1 << 20)
    source = str(Path(__file__).resolve().parents[3])
    call = [sys.executable, "-E", "-s", "-S", "-c", _PROGRAM, file, form, sheet, str(memory), source, *sys.path]
    try:
        sent: dict[str, Any] = msgspec.msgpack.decode(
            output_of(call, content, seconds=seconds, environment={**os.environ, **_SETTINGS})
        )
    except (ChildError, msgspec.DecodeError) as error:
        if isinstance(error, ChildError) and error.kind == "timeout":
            raise InputError(Problem("syntax", f"reading it {error}", file)) from None
        message = f"a damaged {NAMES[form]} file: reading it ends the program. Write it again, or save it as CSV"
        raise InputError(Problem("syntax", message, file)) from None
    if "rule" in sent:
        raise InputError(Problem(sent["rule"], sent["message"], file))
    return sent


def _read(file: str, content: bytes, form: Form, sheet: str) -> dict[str, Any]:
    """The cells of a table, column by column, and for a workbook with several sheets which of them was read."""
    import polars as pl

    place, notes = "", []
    if form == "excel":
        frame, header, sheets = _sheet(file, content, sheet)
        if len(sheets) > 1:
            place = sheet or sheets[0]
            notes = [] if sheet else [f"The first of {len(sheets)} sheets was read: {sheets[0]}."]
    else:
        try:
            frame = getattr(pl, f"read_{form}")(io.BytesIO(content))
        except (pl.exceptions.PolarsError, OSError, ValueError, pl.exceptions.PanicException) as error:
            raise _unread(file, error, form) from None
        header = frame.columns
    table = frame_table(file, frame)
    columns = [msgspec.msgpack.encode(column) for column in table.columns]
    return {"header": header, "columns": columns, "notes": notes, "sheet": place}


def frame_table(file: str, frame: pl.DataFrame) -> RawTable:
    """A polars frame as a table."""
    if not frame.columns:
        raise InputError(Problem("syntax", "the table has no columns", file))
    return RawTable(file, frame.columns, [_cells(frame[name]) for name in frame.columns])


def _cells(column: pl.Series) -> list[Any]:
    """The values of a column; those that JSON does not have are text."""
    import polars as pl

    kind = column.dtype
    if kind in (pl.Binary, pl.Object):
        return ["[...]"] * len(column)
    is_value = kind.is_nested() or kind in (pl.String, pl.Boolean, pl.Float64) or kind.is_integer()
    return (column if is_value and kind != pl.Int128 else column.cast(pl.String)).to_list()


def _sheet(file: str, content: bytes, sheet: str) -> tuple[pl.DataFrame, list[str], list[str]]:
    """A sheet of a workbook, the first where none is named, the names in its first row, and the names of all sheets."""
    import polars as pl

    from qassay.formats.tables.workbook import refuse_uncalculated

    try:
        import fastexcel
    except ImportError:
        message = "reading Excel needs the package fastexcel: pip install 'qassay[excel]'. Or save the table as CSV"
        raise InputError(Problem("configuration", message, file)) from None
    try:
        book = fastexcel.read_excel(content)
        if sheet and sheet not in book.sheet_names:
            message = f"there is no sheet {sheet!r}. The sheets are {few(book.sheet_names, 20)}"
            raise InputError(Problem("syntax", message, file))
        chosen = sheet or book.sheet_names[0]
        frame = pl.read_excel(io.BytesIO(content), sheet_name=chosen, engine="calamine", drop_empty_rows=True)
        first = book.load_sheet(chosen, header_row=None, n_rows=1, dtypes="string").to_polars().row(0)
        # The frame has other names for columns without a name, and for the second of two equal names.
        names = dict(zip((column.name for column in book.load_sheet(chosen).available_columns()), first, strict=True))
    except (KeyboardInterrupt, SystemExit, InputError):
        raise
    except BaseException as error:  # noqa: BLE001  # the engine has errors of its own; a panic is not an Exception
        raise _unread(file, error, "excel") from None
    refuse_uncalculated(file, content, book.sheet_names.index(chosen))
    return frame, [(names[column] or "").strip() for column in frame.columns], book.sheet_names


def _unread(file: str, error: BaseException, form: Form) -> InputError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return InputError(Problem("syntax", f"not a table that can be read from {NAMES[form]}: {reason}", file))
