"""Tables in binary files (Parquet, Arrow, Excel), read in a process of their own.

The libraries that read them may print a panic, take all memory or end the process where a file is damaged. None of this
may happen to the caller: the child reads the file and sends its cells as text. That costs the start of an interpreter,
about 15 ms; polars is imported by the child alone.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from qassay.child import ChildError, limit_memory, output_of
from qassay.errors import InputError, Problem

if TYPE_CHECKING:
    import polars as pl

    from qassay.formats.grid import Grid

Kind: TypeAlias = Literal["parquet", "ipc", "ipc_stream", "excel"]
NAMES: dict[Kind, str] = {"parquet": "Parquet", "ipc": "Arrow", "ipc_stream": "Arrow", "excel": "Excel"}

# What a child may take: seconds, and bytes of address space (the allocator reserves some that it never uses).
LIMIT_SECONDS = 60.0
SECONDS_PER_MEGABYTE = 1.0
LIMIT_BYTES = 4 << 30
BYTES_PER_BYTE = 64
_SETTINGS = {"POLARS_MAX_THREADS": "4", "RUST_BACKTRACE": "0"}

_PROGRAM = "import sys; sys.path[:] = sys.argv[5:]; from qassay.formats.binary import answer; answer(*sys.argv[1:5])"


def binary_grid(file: str, content: bytes, kind: Kind) -> Grid:
    """The table in a binary file; an error where it cannot be read, whatever reading it does to the reader."""
    import msgspec

    from qassay.formats.grid import Grid, shared_cells

    table = _in_child(file, content, kind, "cells")
    # One column after the other: the cells of all of them, each an object, would take far more memory than the table.
    columns = [shared_cells(msgspec.msgpack.decode(column, type=list[str])) for column in table["columns"]]
    place = f"{file} (sheet {table['sheet']})" if table["sheet"] else file
    return Grid(place, table["header"], columns, None, notes=tuple(table["notes"]))


def refuse_damaged(file: str, content: bytes, kind: Kind) -> None:
    """Stop at a file that cannot be read, so that the caller can read the others without danger."""
    _in_child(file, content, kind, "probe")


def read_frame(file: str, content: bytes, kind: Kind) -> pl.DataFrame:
    """The frame in a binary file, read in this process: for files that a child has read before."""
    import polars as pl

    try:
        frame: pl.DataFrame = getattr(pl, f"read_{kind}")(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError, ValueError, pl.exceptions.PanicException) as error:
        raise _unread(file, error, kind) from None
    return frame


def answer(file: str, kind: Kind, wanted: str, memory: str) -> None:
    """Read the file that comes on stdin, and write its cells, or what is wrong with it, to stdout."""
    import msgspec

    limit_memory(int(memory))
    try:
        sent = _read(file, sys.stdin.buffer.read(), kind, wanted)
    except InputError as error:
        sent = {"rule": error.problems[0].rule, "message": error.problems[0].message}
    sys.stdout.buffer.write(msgspec.msgpack.encode(sent))
    sys.stdout.buffer.flush()
    os._exit(0)  # a library whose thread has panicked may wait for it without end


def _in_child(file: str, content: bytes, kind: Kind, wanted: str) -> dict[str, Any]:
    """What a child sends; an error where it sends one, or nothing."""
    import msgspec

    if not sys.executable:  # Python within another program: there is no interpreter to start
        return _read(file, content, kind, wanted)
    memory = LIMIT_BYTES + BYTES_PER_BYTE * len(content)
    seconds = LIMIT_SECONDS + SECONDS_PER_MEGABYTE * len(content) / (1 << 20)
    source = str(Path(__file__).resolve().parents[2])
    call = [sys.executable, "-E", "-s", "-S", "-c", _PROGRAM, file, kind, wanted, str(memory), source, *sys.path]
    try:
        sent: dict[str, Any] = msgspec.msgpack.decode(
            output_of(call, content, seconds=seconds, environment={**os.environ, **_SETTINGS})
        )
    except (ChildError, msgspec.DecodeError) as error:
        if isinstance(error, ChildError) and error.kind == "timeout":
            raise InputError(Problem("syntax", f"reading it {error}", file)) from None
        message = f"a damaged {NAMES[kind]} file: reading it ends the program. Write it again, or save it as CSV"
        raise InputError(Problem("syntax", message, file)) from None
    if "rule" in sent:
        raise InputError(Problem(sent["rule"], sent["message"], file))
    return sent


def _read(file: str, content: bytes, kind: Kind, wanted: str) -> dict[str, Any]:
    """The cells of a table as text, column by column; to find out whether it can be read, nothing."""
    import msgspec

    from qassay.formats.grid import polars_grid

    sheets: list[str] = []
    if kind == "excel":
        frame, header, sheets = _first_sheet(file, content)
    else:
        frame = read_frame(file, content, kind)
        header = frame.columns
    if wanted == "probe":
        frame.rows()
        return {}
    columns = [msgspec.msgpack.encode(column) for column in polars_grid(file, frame).columns]
    notes = [f"The first of {len(sheets)} sheets was read: {sheets[0]}."] if len(sheets) > 1 else []
    return {"header": header, "columns": columns, "notes": notes, "sheet": sheets[0] if notes else ""}


def _first_sheet(file: str, content: bytes) -> tuple[pl.DataFrame, list[str], list[str]]:
    """The first sheet of a workbook, the names in its first row, and the names of all sheets."""
    import polars as pl

    from qassay.formats.workbook import refuse_uncalculated

    try:
        import fastexcel
    except ImportError:
        message = "reading Excel needs the package fastexcel: pip install 'qassay[excel]'. Or save the table as CSV"
        raise InputError(Problem("configuration", message, file)) from None
    try:
        book = fastexcel.read_excel(content)
        frame = pl.read_excel(io.BytesIO(content), sheet_id=1, engine="calamine", drop_empty_rows=True)
        first = book.load_sheet(0, header_row=None, n_rows=1, dtypes="string").to_polars().row(0)
        # The frame has other names for columns without a name, and for the second of two equal names.
        names = dict(zip((column.name for column in book.load_sheet(0).available_columns()), first, strict=True))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  # the engine has errors of its own; a panic is not an Exception
        raise _unread(file, error, "excel") from None
    refuse_uncalculated(file, content)
    return frame, [names[column] or "" for column in frame.columns], book.sheet_names


def _unread(file: str, error: BaseException, kind: Kind) -> InputError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return InputError(Problem("syntax", f"not a table that can be read from {NAMES[kind]}: {reason}", file))
