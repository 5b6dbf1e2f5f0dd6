"""What assessors judged on sheets, as ordinary judgments."""

from __future__ import annotations

from collections.abc import Sequence

from qassay.errors import InputError, Problem, few
from qassay.formats import files, jsonl
from qassay.formats.importing.plan import Plan, Source
from qassay.formats.importing.rows import (
    add_answers,
    add_judgments,
    add_nuggets,
    identity_as,
    judgment_identity,
)
from qassay.formats.jsonl import Numbered
from qassay.formats.sheets import SheetKey, SheetResult, read_key, read_result
from qassay.nuggets import list_of_key
from qassay.tables import plural


def import_sheet(plan: Plan, source: Source) -> None:
    """Turn the numbers of a sheet back into what they stand for, and append to the assessor's set what is new."""
    text = files.decode(files.read_bytes(source.path), file=source.name, encoding=plan.options.encoding or "utf-8")
    by_sheet: dict[str, list[Numbered]] = {}
    for line, row in jsonl.parse_rows(text, file=source.name):
        if not isinstance(row.get("sheet"), str):
            message = "the row names no sheet; the file was not saved by one, or was changed since"
            raise InputError(Problem("syntax", message, source.name, line))
        by_sheet.setdefault(row["sheet"], []).append((line, row))
    for name, rows in by_sheet.items():
        key = read_key(plan.folder, name, file=source.name, line=rows[0][0])
        _import_one(plan, source, key, read_result(rows, key, plan.configuration.task, file=source.name))


def _import_one(plan: Plan, source: Source, key: SheetKey, result: SheetResult) -> None:
    name = plan.options.set_name or key.assessor
    if any("nuggets" in row or "nugget" in row for _, row in result.rows):
        _add_nuggets(plan, source, key, name)
    before = plan.text(plan.folder.judgment_sets().get(name) or plan.folder.judgment_file(name))
    if result.rows:
        add_judgments(plan, source, result.rows, name)
    if result.known:
        add_answers(plan, source, result.known)
    if not result.rows and not result.known:
        plan.report(source, f"nothing new: the sheet {key.sheet} says nothing")
    _warn(plan, source, result, name, jsonl.parse_rows(before, file=source.name))


def _add_nuggets(plan: Plan, source: Source, key: SheetKey, name: str) -> None:
    """Give the set the list that its assessor saw, where scoring would not find one: it has none of its own."""
    if key.nuggets and list_of_key(name, plan.folder.nugget_lists()) is None:
        add_nuggets(plan, source, [(0, row) for row in key.nuggets], name)


def _warn(plan: Plan, source: Source, result: SheetResult, name: str, there: Sequence[Numbered]) -> None:
    """Say what was taken back on the sheet and stands in the set: rows are appended, never removed."""
    if not result.taken_back:
        return
    identity = judgment_identity(plan.test_set(source), plan.configuration.task)
    standing = {identity(row) for _, row in there}
    again = [part.row["question"] for _, part in result.taken_back if identity_as(part.kind, part.row) in standing]
    if again:
        message = (
            f"{plural(len(again), 'judgment')} that the sheet takes back stand in the set {name} and stay "
            f"(question {few(dict.fromkeys(again))}); judge them on the sheet, or take the rows out by hand"
        )
        plan.warnings.append(Problem("unjudged", message, source.name))
