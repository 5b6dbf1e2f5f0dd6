"""Files of rows, and folders, as tests write, read and compare them; and `qassay import` of such files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from qassay.cli import main


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write a file of JSON lines, in a folder that may be new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_texts(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files of a folder that may be new."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def workbook(path: Path, *sheets: list[list[object]], names: Sequence[str | None] = ()) -> Path:
    """A workbook with these rows in its sheets; a tuple is a formula, with or without a format and its value."""
    xlsxwriter = pytest.importorskip("xlsxwriter", reason="xlsxwriter is not installed")
    pytest.importorskip("fastexcel", reason="fastexcel is not installed: the extra excel")
    with xlsxwriter.Workbook(path) as book:
        for rows, name in zip_longest(sheets, names):
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                for place, cell in enumerate(row):
                    if isinstance(cell, tuple):
                        sheet.write_formula(number, place, *cell)
                    else:
                        sheet.write(number, place, cell)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def snapshot(folder: Path) -> dict[str, bytes]:
    """The contents of all files below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run_import(folder: Path, *arguments: object) -> int:
    """The status of `qassay import`."""
    return main(["import", str(folder), *map(str, arguments)])


def imported(folder: Path, task: str, *files: Path) -> Path:
    """A new evaluation with the contents of these files."""
    assert main(["init", str(folder), "--task", task]) == 0
    assert run_import(folder, *files) == 0
    return folder


def refused(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 1) -> str:
    """The message of an import that may write nothing."""
    capsys.readouterr()
    before = snapshot(folder)
    assert run_import(folder, *arguments) == status
    assert snapshot(folder) == before
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err
