"""Formulas in Excel workbooks that no program has calculated.

Programs that write workbooks without calculating leave formulas without a value, or with 0 and the request to
calculate when the file is opened. Readers take both for values.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import IO
from xml.parsers import expat

from qassay.errors import InputError, Problem

_WORKBOOK = "xl/workbook.xml"
_RELATIONS = "xl/_rels/workbook.xml.rels"

_Attributes = Mapping[str, str]


def refuse_uncalculated(file: str, content: bytes, place: int) -> None:
    """Stop where the sheet at this place has a formula that no program has calculated."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            part, asks = _sheet(archive, place)
            with archive.open(part) as sheet:
                cell = _uncalculated(sheet, asks=asks)
    except (KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, expat.ExpatError) as error:
        raise InputError(Problem("syntax", f"a broken Excel workbook: {error}", file)) from None
    if cell:
        message = (
            f"cell {cell} has a formula that was never calculated, so there is no value. Open the workbook in Excel or "
            "LibreOffice and save it, or save the table as CSV"
        )
        raise InputError(Problem("syntax", message, file))


def _sheet(archive: zipfile.ZipFile, place: int) -> tuple[str, bool]:
    """The part that has the sheet at this place, and whether the workbook asks to be calculated when it is opened."""
    sheets: list[str] = []
    targets: dict[str, str] = {}
    asks: list[bool] = []

    def workbook(name: str, attributes: _Attributes) -> None:
        if name == "sheet":
            sheets.extend(value for key, value in attributes.items() if key.endswith(":id"))
        elif name == "calcPr":
            asks.append(attributes.get("fullCalcOnLoad", "0") in ("1", "true"))

    def relation(name: str, attributes: _Attributes) -> None:
        if name == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    for part, start in ((_WORKBOOK, workbook), (_RELATIONS, relation)):
        with archive.open(part) as content:
            _read(content, start)
    target = targets.get(sheets[place], "") if place < len(sheets) else ""
    return (target.removeprefix("/") if target.startswith("/") else f"xl/{target}"), any(asks)


def _uncalculated(sheet: IO[bytes], *, asks: bool) -> str:
    """The first cell whose formula has no value: none at all, or 0 as all of them have where `asks`; else empty."""
    cell: _Attributes = {}
    value: list[str] = []
    has_formula = False
    without: list[str] = []
    zeros: list[str] = []
    calculated = False

    def start(name: str, attributes: _Attributes) -> None:
        nonlocal cell, has_formula
        if name == "c":
            cell, has_formula = attributes, False
            value.clear()
        elif name == "f":
            has_formula = True
            value.clear()
        elif name == "v":
            value.clear()

    def end(name: str) -> None:
        nonlocal calculated
        if name != "c" or not has_formula:
            return
        text = "".join(value).strip()
        if text == "0":
            zeros.append(cell.get("r", ""))
        elif text or cell.get("t") == "str":
            calculated = True
        else:
            without.append(cell.get("r", ""))

    _read(sheet, start, end, value.append)
    if without:
        return without[0]
    return zeros[0] if zeros and asks and not calculated else ""


def _read(
    content: IO[bytes],
    start: Callable[[str, _Attributes], None],
    end: Callable[[str], None] | None = None,
    characters: Callable[[str], None] | None = None,
) -> None:
    """Read a part of the workbook; names come without their prefixes."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: start(name.rpartition(":")[2], attributes)
    if end is not None:
        parser.EndElementHandler = lambda name: end(name.rpartition(":")[2])
    if characters is not None:
        parser.CharacterDataHandler = characters
    parser.ParseFile(content)
