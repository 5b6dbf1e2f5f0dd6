"""Rows that are appended: judgments of sheets, nuggets, known answers, run information, and patterns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import polars as pl

from qassay.errors import InputError, Problem, Problems, few
from qassay.formats import files, jsonl, nist
from qassay.formats.folder import ANSWERS, INFORMATION, judgment_file, nugget_file
from qassay.formats.importing.plan import ANOTHER_SET, ImportPlan, IncomingFile, IncomingRows, ended, line_of
from qassay.formats.jsonl import Numbered
from qassay.formats.judgments import ROW_FORMS, RowKind, check_rows
from qassay.formats.names import name_fault, set_name
from qassay.formats.sheets import SheetKey, SheetResult, read_key, read_result
from qassay.judging import JUDGMENT_COLUMNS, KINDS, kind_of_label, kind_of_row, kind_of_type, names_nuggets
from qassay.judging.keys import no_nuggets
from qassay.judging.sets import check_nuggets, judgment_set, with_kinds
from qassay.nuggets import NUGGET_COLUMNS, list_of_key
from qassay.questions import TestSet
from qassay.tables import plural
from qassay.tasks import Task

Identity = Callable[[jsonl.Row], Hashable]
# Flags that are said in full.
FLAGS_SHOWN = 20


# The kinds of source that contain them.
_KINDS: Mapping[str, RowKind] = {
    **{kind: kind for kind in ROW_FORMS},
    "nist-nuggets": "nuggets",
    "nist-answers": "answers",
}
# How NIST's forms are parsed; the other kinds of source are JSON lines.
_NIST_FORMS = {
    "nist-factoid": nist.parse_factoid,
    "nist-list": nist.parse_list,
    "nist-other": nist.parse_other,
    "nist-nuggets": nist.parse_nuggets,
    "nist-answers": nist.parse_answers,
}


def import_rows(plan: ImportPlan, source: IncomingFile) -> None:
    """Append nuggets to their list, answers known from question development, or descriptions of runs."""
    kind = _KINDS[source.kind]
    add_rows(plan, source, kind, parsed_rows(plan, source), name=set_of(plan, source) if kind == "nuggets" else "")


def _refuse_without_nuggets(plan: ImportPlan, source: IncomingFile, rows: Iterable[Numbered]) -> None:
    """Stop at nuggets of questions that are not judged by nuggets."""
    questions, types = plan.test_set(source).by_id, plan.configuration.task.types
    refused = Problems()
    for line, row in rows:
        question = questions.get(str(row.get("question")))
        rules = types.get(question.type) if question is not None else None
        if question is not None and (rules is None or not kind_of_type(question.type, rules).by_nuggets):
            message = f"question {question.id} is of type {question.type}, which takes no nuggets; remove the line"
            refused.append(Problem("unknown-nugget", message, source.name, line or None, question.id))
    if refused:
        raise InputError(refused)


def import_patterns(plan: ImportPlan, source: IncomingFile) -> None:
    """Append the lines of new patterns."""
    text = _text(plan, source)
    rows = nist.parse_patterns(text, file=source.name)
    refuse_empty(rows, source)
    unknown = dict.fromkeys(row["question"] for _, row in rows if row["question"] not in plan.test_set(source).by_id)
    if unknown:
        message = f"has patterns for {plural(len(unknown), 'question')} not in the test set: {few(unknown)}"
        plan.warnings.append(Problem("unknown-question", message, source.name))
    path = plan.folder.patterns
    old = plan.text(path)
    known = {line.strip(" \t\r") for line in old.split("\n")}
    split = text.split("\n")
    lines = [split[number - 1].strip(" \t\r") for number, _ in rows]
    new = [line for line in dict.fromkeys(lines) if line not in known]
    if new:
        plan.own_files[path] = ended(old) + "".join(f"{line}\n" for line in new)
    _report(plan, source, path.name, "pattern", len(new), len(lines) - len(new))


def import_sheet(plan: ImportPlan, source: IncomingFile) -> None:
    """Replace the numbers of a sheet by their items, and append new rows to the assessor's set."""
    by_sheet: dict[str, list[Numbered]] = {}
    for line, row in parsed_rows(plan, source):
        if not isinstance(row.get("sheet"), str):
            message = "the row names no sheet; the file was not saved by one, or was changed since"
            raise InputError(Problem("syntax", message, source.name, line))
        by_sheet.setdefault(row["sheet"], []).append((line, row))
    for sheet, rows in by_sheet.items():
        key = read_key(plan.folder, sheet, file=source.name, line=rows[0][0])
        _import_result(plan, source, key, read_result(rows, key, plan.configuration.task, file=source.name))


def add_judgments(plan: ImportPlan, source: IncomingFile, rows: Sequence[Numbered], name: str) -> None:
    """Check rows against questions, task and nuggets, and append those that are new."""
    questions = plan.test_set(source)
    refuse_empty(rows, source)
    table = jsonl.rows_table(rows, JUDGMENT_COLUMNS, file=source.name)
    kinds = judgment_kinds(name, table, questions, plan.configuration.task, _nuggets_for(plan, name), file=source.name)
    _append(plan, source, "judgments", rows, judgment_identity(questions, plan.configuration.task), name, kinds)


def judgment_kinds(
    name: str,
    table: pl.DataFrame,
    questions: TestSet,
    task: Task,
    nuggets: pl.DataFrame | None,
    *,
    file: str,
    incoming: bool = True,
) -> list[str]:
    """The kinds of the rows of a judgment set, which are checked against questions, task and nuggets."""
    judged = judgment_set(name, table, questions, task, file=file, incoming=incoming)
    if nuggets is not None and (problems := Problems(check_nuggets(judged, nuggets, file=file))):
        raise InputError(problems)
    return with_kinds(table, questions, task)["kind"].to_list()


def add_rows(
    plan: ImportPlan, source: IncomingFile, kind: RowKind, rows: Sequence[Numbered], *, name: str = ""
) -> None:
    """Check rows of another kind by themselves and against the questions, and append those that are new."""
    form = ROW_FORMS[kind]
    refuse_empty(rows, source)
    table = jsonl.rows_table(rows, form.columns, file=source.name)
    # Asked for only now: where the questions are unknown, the file's own faults are still reported.
    check_rows(table, kind, plan.test_set(source) if "question" in form.required else None, file=source.name)
    if kind == "nuggets":
        _refuse_without_nuggets(plan, source, rows)
    _append(plan, source, kind, rows, row_identity(kind), name)


def missing(rows: Iterable[tuple[Hashable, bytes]], known: Mapping[Hashable, Sequence[bytes]]) -> list[int]:
    """Which of the rows, given as identity and canonical form, are not known yet: their places.

    Rows with one identity count as known as far as they occur, in this order, among the known rows with it. The first
    that does not, and all after it, are missing: when they are appended, the last row given is the last there too.
    """
    new: list[int] = []
    place: dict[Hashable, int] = {}
    for index, (identity, row) in enumerate(rows):
        same = known.get(identity, ())
        try:
            place[identity] = same.index(row, place.get(identity, 0)) + 1
        except ValueError:
            place[identity] = len(same)
            new.append(index)
    return new


def canonical(row: Mapping[str, Any]) -> bytes:
    """A row as bytes that are the same for equal rows, whatever the order of their fields."""
    return msgspec.json.encode(row, order="sorted")


def by_identity(rows: Iterable[jsonl.Row], identity: Identity) -> dict[Hashable, list[bytes]]:
    """Rows in their canonical form, by identity."""
    known: dict[Hashable, list[bytes]] = {}
    for row in rows:
        known.setdefault(identity(row), []).append(canonical(row))
    return known


def judgment_identity(questions: TestSet, task: Task) -> Identity:
    """The subject of a judgment: rows with the same identity replace each other."""

    def identity(row: jsonl.Row) -> Hashable:
        question = questions.by_id.get(str(row.get("question")))
        type_ = question.type if question else ""
        return _identity_as(kind_of_row(row, type_, task) or kind_of_label(type_, task), row)

    return identity


def row_identity(kind: RowKind) -> Callable[[jsonl.Row], tuple[str, ...]]:
    """The subject of a row of another kind: the values of some fields."""
    names = ROW_FORMS[kind].identity
    return lambda row: tuple(str(row.get(name)) for name in names)


def _identity_as(kind: str, row: jsonl.Row) -> Hashable:
    return (kind, *(str(row.get(name)) for name in KINDS[kind].identity))


def _append(
    plan: ImportPlan,
    source: IncomingFile,
    kind: RowKind,
    rows: Sequence[Numbered],
    identity: Identity,
    name: str,
    kinds: Sequence[str] = (),
) -> None:
    """Plan to append the rows that a file lacks, and say how many they are."""
    file = _file(plan, kind, name)
    known = by_identity((row for _, row in plan.rows(file)), identity)
    new = missing(((identity(row), canonical(row)) for _, row in rows), known)
    if new:
        texts = [line_of(row) for _, row in rows]
        plan.incoming.batches.append(IncomingRows(kind, name, file, texts, kinds, new))
    _report(plan, source, file, ROW_FORMS[kind].noun, len(new), len(rows) - len(new))


def _file(plan: ImportPlan, kind: RowKind, name: str) -> str:
    """The part that rows go to."""
    if kind == "judgments":
        return set_file(plan, name)
    if kind == "nuggets":
        known = plan.folder.nugget_lists().get(name)
        return nugget_file(name) if known is None else known.name
    return ANSWERS if kind == "answers" else INFORMATION


def set_file(plan: ImportPlan, name: str) -> str:
    """The part that the rows of a judgment set go to."""
    known = plan.folder.judgment_sets().get(name)
    return judgment_file(name) if known is None else known.name


def _report(plan: ImportPlan, source: IncomingFile, file: str, noun: str, new: int, same: int) -> None:
    if not new:
        plan.report(source, f"nothing new: its {plural(same, noun)} are in {file} already", to=file)
        return
    rest = f" ({plural(same, noun)} there already)" if same else ""
    plan.report(source, f"{plural(new, noun)} to {file}{rest}", count=new, to=file)


def _nuggets_for(plan: ImportPlan, name: str) -> pl.DataFrame | None:
    """The nugget list that belongs to a judgment set.

    A folder may get its judgments before their nuggets; a store takes no judgment of a nugget that it does not know.
    """
    lists = nugget_lists(plan)
    chosen = list_of_key(name, lists)
    if chosen is None:
        return None if plan.folder.stored is None else no_nuggets()
    return jsonl.rows_table(plan.rows(lists[chosen]), NUGGET_COLUMNS, file=lists[chosen])


def nugget_lists(plan: ImportPlan) -> dict[str, str]:
    """The parts with the nugget lists as they will be, by the name of the list."""
    lists = {name: part.name for name, part in plan.folder.nugget_lists().items()}
    return lists | {batch.name: batch.file for batch in plan.incoming.of_kind("nuggets")}


def nugget_rows(plan: ImportPlan, name: str) -> list[jsonl.Row]:
    """The rows of a nugget list as they will be; none where there is no such list."""
    return [row for _, row in plan.rows(_file(plan, "nuggets", name))]


def refuse_empty(rows: Sequence[Numbered], source: IncomingFile) -> None:
    """Stop at a file without rows."""
    if not rows:
        raise InputError(Problem("syntax", "there is nothing in it", source.name))


def set_of(plan: ImportPlan, source: IncomingFile) -> str:
    """The set a source goes to: as named, else by its form."""
    name = plan.options.set_name or (set_name(source.path) if not source.kind.startswith("nist-") else "adjudicated")
    if fault := name_fault(name):
        raise InputError(Problem("configuration", f"its name {name!r} {fault}", source.name, way_out=(ANOTHER_SET,)))
    return name


def parsed_rows(plan: ImportPlan, source: IncomingFile) -> Sequence[Numbered]:
    """The rows of a source, in JSON lines or in one of NIST's forms."""
    text = _text(plan, source)
    if source.kind in _NIST_FORMS:
        return _NIST_FORMS[source.kind](text, file=source.name, warnings=plan.warnings)
    return jsonl.parse_rows(text, file=source.name)


def _text(plan: ImportPlan, source: IncomingFile) -> str:
    data = files.read_bytes(source.path)
    return files.decode(data, file=source.name, encoding=plan.options.encoding or "utf-8")


def _import_result(plan: ImportPlan, source: IncomingFile, key: SheetKey, result: SheetResult) -> None:
    """Import the rows of one sheet.

    Scoring may find no nugget list for the set: then the set gets the list that its assessor saw.
    """
    name = plan.options.set_name or key.assessor
    has_nuggets = key.nuggets and any(names_nuggets(row) for _, row in result.rows)
    if has_nuggets and list_of_key(name, plan.folder.nugget_lists()) is None:
        add_rows(plan, source, "nuggets", [(0, row) for row in key.nuggets], name=name)
    before = plan.rows(set_file(plan, name))
    if result.rows:
        add_judgments(plan, source, result.rows, name)
    if result.known:
        add_rows(plan, source, "answers", result.known)
    if result.flagged:
        plan.report(source, _flags_in_words(result.flagged))
    elif not result.rows and not result.known:
        plan.report(source, f"nothing new: the sheet {key.sheet} says nothing")
    _warn_of_undone(plan, source, result, name, before)


def _flags_in_words(flagged: Sequence[tuple[Mapping[str, Any], str]]) -> str:
    """The answers that the assessor was not sure of, for the organiser: a flag is not a judgment."""
    remarks = []
    for row, reason in flagged[:FLAGS_SHOWN]:
        answer = f", {str(row['text'])[:80]!r}" if row.get("text") else ""
        remarks.append(f"question {row['question']}{answer}: {reason}")
    more = f" and {len(flagged) - len(remarks)} more" if len(flagged) > len(remarks) else ""
    return f"{plural(len(flagged), 'answer')} flagged as doubtful ({'; '.join(remarks)}{more})"


def _warn_of_undone(
    plan: ImportPlan, source: IncomingFile, result: SheetResult, name: str, before: Sequence[Numbered]
) -> None:
    """Say which judgments were undone on the sheet and stay in the set: rows are appended, never removed."""
    if not result.taken_back:
        return
    identity = judgment_identity(plan.test_set(source), plan.configuration.task)
    judged = {identity(row) for _, row in before}
    again = [part.row["question"] for _, part in result.taken_back if _identity_as(part.kind, part.row) in judged]
    if again:
        message = (
            f"{plural(len(again), 'judgment')} that the sheet removes are in the set {name} and stay "
            f"(question {few(dict.fromkeys(again))}); judge them on the sheet, or take the rows out by hand"
        )
        plan.warnings.append(Problem("unjudged", message, source.name))
