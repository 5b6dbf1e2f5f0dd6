"""One reader of tables: CSV, TSV, Excel, Parquet, Arrow, JSON lines and JSON lists, recognised by content.

Scores, answers, labels, judgments and the logs of other tools are all read here, with the same separators, encodings
and limits.

    table       the record: header, columns of cells, lines
    separated   CSV with commas, semicolons or tabs        json_rows  JSON lines, and lists of objects
    binary      Parquet, Arrow and Excel, in a process     workbook   formulas of Excel without a value
    memory      frames, Arrow tables, dictionaries
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from qassay.errors import InputError, Problem
from qassay.formats.files import decode, read_bytes, utf_16
from qassay.formats.tables.binary import Form, binary_table
from qassay.formats.tables.json_rows import parse_json
from qassay.formats.tables.separated import parse_separated
from qassay.formats.tables.table import RawTable

# The most bytes of an unpacked workbook.
MOST_WORKBOOK = 1 << 30
_FORMS: dict[bytes, Form] = {
    b"PAR1": "parquet",
    b"ARROW1": "ipc",
    b"\xff\xff\xff\xff": "ipc_stream",
    b"PK\x03\x04": "excel",
}
# How tables begin that are not read, and what they are.
_OLD = {b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls)", b"FEA1": "a Feather file of version 1"}


def read_table(path: Path, *, sheet: str | None = None) -> RawTable:
    """Read a table from a file, plain or compressed."""
    return parse_table(read_bytes(path), file=str(path), sheet=sheet)


def parse_table(data: bytes, *, file: str, sheet: str | None = None, encoding: str | None = None) -> RawTable:
    """The table in these bytes; an error with its place where it is not one."""
    form = _form(data)
    if sheet is not None and form != "excel":
        message = (
            f"is not an Excel workbook and has no sheet {sheet!r}. Leave the sheet out, or read this file by itself"
        )
        raise InputError(Problem("syntax", message, file))
    if form is not None:
        if form == "excel":
            _check_workbook(file, data)
        return binary_table(file, data, form, sheet)
    for beginning, what in _OLD.items():
        if data.startswith(beginning):
            raise InputError(Problem("syntax", f"{what} cannot be read. Save the table as CSV or Parquet", file))
    text = decode_text(data, file=file, encoding=encoding)
    return parse_json(text, file=file) if text.lstrip()[:1] in ("{", "[") else parse_separated(text, file=file)


def is_binary(data: bytes) -> bool:
    """Whether these bytes begin like a table that is not text."""
    return _form(data) is not None


def decode_text(data: bytes, *, file: str, encoding: str | None = None) -> str:
    """The text of a table: in the named encoding, else in UTF-16 where it has its mark, as Excel saves, or in UTF-8."""
    return decode(data, file=file, encoding=encoding or ("utf-16" if utf_16(data) == "utf-16" else "utf-8"))


def _form(data: bytes) -> Form | None:
    return next((form for beginning, form in _FORMS.items() if data.startswith(beginning)), None)


def _check_workbook(file: str, content: bytes) -> None:
    """Stop at an archive that is not a workbook, or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(Problem("syntax", f"a broken archive: {error}", file)) from None
    if "xl/workbook.xml" not in names:
        message = "an archive that is neither an Excel workbook nor a log of a known tool. Unpack it first"
        raise InputError(Problem("syntax", message, file))
    if size > MOST_WORKBOOK:
        message = f"this workbook unpacks to more than {MOST_WORKBOOK >> 30} GiB. Save the table as CSV"
        raise InputError(Problem("syntax", message, file))
