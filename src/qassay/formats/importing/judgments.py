"""Judgments from files: JSON lines, NIST's forms, and people's own tables. (FORMATS 4 and 7)

A row of a table may have other names for its keys and other labels. A row of any task may name a run in place of the
item: it is stored as a row for the item that the run returned.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import polars as pl

from qassay.errors import InputError, Problem, Problems, Remedy, UsageError, few
from qassay.formats import files
from qassay.formats.answers import JUDGMENT_KEYS, find_keys, keys_for, plain_text, without_absent
from qassay.formats.folder import with_listed
from qassay.formats.importing.labels import with_labels_of_task
from qassay.formats.importing.plan import ANOTHER_SET, ImportPlan, IncomingFile
from qassay.formats.importing.rows import (
    add_judgments,
    canonical,
    judgment_identity,
    parsed_rows,
    refuse_empty,
    set_file,
    set_of,
)
from qassay.formats.jsonl import Numbered, Row
from qassay.formats.judgments import is_automatic
from qassay.formats.links import CONFIGURATION
from qassay.formats.names import set_name
from qassay.formats.runs import read_runs
from qassay.formats.tables import parse_table
from qassay.formats.tables.table import RawTable
from qassay.judging import JUDGMENT_COLUMNS, ROW_KINDS, SETTLED_SETS, STRINGS, kind_of_label, kind_of_row
from qassay.judging.sets import MOST_SLOTS, slot_name
from qassay.questions import TestSet
from qassay.tables import plural
from qassay.tasks import Task

# The fields of an item that a run returned.
_ITEM = ("doc", "text", "start", "length")
Response = list[dict[str, Any]]


def import_judgments(plan: ImportPlan, source: IncomingFile) -> None:
    """Append judgments to their set; earlier rows are history."""
    name = "" if plan.options.spread else set_of(plan, source)
    if source.kind != "judgments":
        _add(plan, source, parsed_rows(plan, source), name)
        return
    options = plan.options
    data = files.read_bytes(source.path)
    table = parse_table(data, file=source.name, sheet=options.sheet, encoding=options.encoding)
    plan.warnings += [Problem("syntax", note, source.name) for note in table.notes]
    try:
        _add(plan, source, _rows(plan, source, table), name)
    except InputError as error:
        if table.has_lines:
            raise
        raise InputError(error.problems.changed(_in_row)) from None


def _in_row(problem: Problem) -> Problem:
    """A problem with its row in the message, where the file has no lines."""
    return replace(problem, message=f"row {problem.line}: {problem.message}", line=None) if problem.line else problem


def _add(plan: ImportPlan, source: IncomingFile, rows: Sequence[Numbered], name: str) -> None:
    """Translate labels, fill in items, and append the rows to a set."""
    refuse_empty(rows, source)
    questions, task = plan.test_set(source), plan.configuration.task
    rows = with_labels_of_task(rows, plan.options.labels, questions, task, file=source.name)
    rows = _judged(plan, source, rows)
    rows = _with_items(plan, source, rows)
    if plan.options.automatic:
        _mark_automatic(plan, name)
    sets = spread(plan, source, rows) if plan.options.spread else {name: rows}
    problems = Problems()
    for place, listed in sets.items():
        try:
            add_judgments(plan, source, listed, place)
        except InputError as error:
            problems += error.problems
    if problems:
        problems.sort(key=lambda problem: problem.line or 0)
        raise InputError(problems)


def _judged(plan: ImportPlan, source: IncomingFile, rows: Sequence[Numbered]) -> Sequence[Numbered]:
    """The rows of a sheet that have a verdict: people may stop anywhere, and the rows below stay as they were."""
    empty = [str(row.get("question")) for _, row in rows if _is_blank(row)]
    if not empty:
        return rows
    if len(empty) == len(rows):
        message = "nothing is judged yet: the verdict of every row is empty. Fill them in from the top"
        raise InputError(Problem("unjudged", message, source.name))
    message = f"{plural(len(empty), 'row')} without a verdict left out ({few(dict.fromkeys(empty))})"
    plan.warnings.append(Problem("unjudged", message, source.name))
    return [(line, row) for line, row in rows if not _is_blank(row)]


def _is_blank(row: Row) -> bool:
    """Whether the verdict of a row is as an empty sheet has it."""
    blanks = (record.blank for record in ROW_KINDS.values() if record.blank)
    return any(all(name in row and row[name] == value for name, value in blank.items()) for blank in blanks)


# ---- tables with keys of their own ----------------------------------------------------------------------------------


def _rows(plan: ImportPlan, source: IncomingFile, table: RawTable) -> Sequence[Numbered]:
    """The rows with the keys of judgment files: those that have them as they are, others by the names of their keys."""
    keys = keys_for(plan.options.keys, source.name)
    if table.form == "JSON lines" and not keys:
        rows = table.rows()
        if all(_is_native(row) for _, row in rows):
            return rows
    return _by_keys(table, keys, plan.test_set(source), plan.configuration.task)


def _is_native(row: Row) -> bool:
    """Whether a row has the keys of a judgment file: it is then kept as it is."""
    return "question" in row and _has_verdict(row)


def _has_verdict(row: Row) -> bool:
    verdicts = {name for record in ROW_KINDS.values() for name in (*record.fields, *record.marks, *record.marks_alone)}
    return bool((verdicts - {"answer"}) & row.keys())


def _by_keys(table: RawTable, mapped: Mapping[str, str], questions: TestSet, task: Task) -> list[Numbered]:
    """Rows with the keys of judgments in place of the file's own; other keys stay as they are."""
    columns = table.names()
    fields = {name: key for name, key in mapped.items() if name in JUDGMENT_KEYS}
    fields |= {"run": mapped["system"]} if "system" in mapped else {}
    fields |= {"text": mapped["answer"]} if "answer" in mapped else {}
    known_columns = [name for name in columns if name in JUDGMENT_COLUMNS]
    known = {name: keys for name, keys in JUDGMENT_KEYS.items() if name not in known_columns or name in fields}
    if "question" not in known_columns and "id" in columns:
        known = {**known, "question": ("id",)}
    keys = find_keys(columns, known, fields, file=table.file).of
    if "question" not in keys and "question" not in known_columns:
        message = f"no key is known as the question: it has {few(columns, 12)}"
        ways = (Remedy("map", "question=KEY", "To name one"),)
        raise InputError(Problem("syntax", message, table.file, way_out=ways))
    by_text: dict[str, str] = {question.text: question.id for question in questions if question.text}
    back = {key: name for name, key in keys.items()}
    rows = []
    for number, row in table.rows():
        named = ((back.get(key, key), value) for key, value in without_absent(row).items())
        judgment = {name: _typed(name, value, table) for name, value in named}
        question = plain_text(judgment.get("question"))
        if question is not None:
            judgment["question"] = question if question in questions.by_id else by_text.get(question.strip(), question)
        if keys.get("text") == "answer" and _is_list(judgment, questions, task):
            judgment["answer"] = judgment.pop("text")  # of a list the answer is a class
        if ("judgment" in keys or "judgment" in known_columns) and not _has_verdict(judgment):
            judgment["judgment"] = ""  # an empty cell, which may wait for its label
        rows.append((number, judgment))
    return rows


def _is_list(row: Row, questions: TestSet, task: Task) -> bool:
    question = questions.by_id.get(str(row.get("question")))
    return question is not None and ROW_KINDS[kind_of_label(question.type, task)].has_classes


def _typed(name: str, value: Any, table: RawTable) -> Any:
    """A value of a table as its field takes it: labels, ids and texts are texts, numbers in CSV are numbers."""
    kind = JUDGMENT_COLUMNS.get(name)
    if kind == pl.String:
        text = plain_text(value)
        return value if text is None else text
    if not isinstance(value, str) or kind is None:
        return value
    written = value.strip()
    if kind == pl.Boolean:
        return {"true": True, "false": False}.get(table.true_and_false.get(written, written).lower(), value)
    if kind in (pl.Int64, pl.Float64):
        try:
            return int(written) if kind == pl.Int64 else float(written)
        except ValueError:
            return value  # reported with its type when the rows are checked
    return value


# ---- rows that name a run in place of the item ----------------------------------------------------------------------


def _with_items(plan: ImportPlan, source: IncomingFile, rows: Sequence[Numbered]) -> Sequence[Numbered]:
    """Rows that name what was judged: where a row names only a run, its item is filled in."""
    questions, task = plan.test_set(source), plan.configuration.task
    by_runs = [_names_run(row, questions, task) for _, row in rows]
    if not any(by_runs):
        return rows
    responses = _responses(plan, questions)
    problems = Problems()
    silent: list[str] = []
    filled: list[Numbered] = []
    first_rows: dict[Hashable, tuple[int, Row]] = {}
    stored: set[bytes] = set()
    identity = judgment_identity(questions, task)
    for (line, row), by_run in zip(rows, by_runs, strict=True):
        if not by_run:
            filled.append((line, row))
            continue
        item, message = _item(row, responses)
        place = (source.name, line or None, str(row["question"]))
        if message is not None:
            problems.append(Problem("one-answer", message, *place))
        elif item is None:
            silent.append(str(row["question"]))
        else:
            full = _filled(row, item, questions, task)
            # Rows of several people may differ; those of one person may not.
            person = row.get("assessor") if plan.options.spread else None
            before = first_rows.setdefault((identity(full), person), (line, row))
            if before[1]["judgment"] != row["judgment"]:
                problems.append(Problem("bad-label", _two_labels(before, row), *place))
            elif canonical(full) not in stored:
                stored.add(canonical(full))
                filled.append((line, full))
    if problems:
        raise InputError(problems)
    if silent and not filled:
        message = f"every row is about an empty answer, which needs no judgment ({few(silent)})"
        raise InputError(Problem("unjudged", message, source.name))
    if silent:
        message = f"{plural(len(silent), 'row')} about empty answers, which need no judgment, left out ({few(silent)})"
        plan.warnings.append(Problem("unjudged", message, source.name))
    return filled


def _names_run(row: Row, questions: TestSet, task: Task) -> bool:
    """Whether a row names a run in place of the item that the run returned."""
    question = questions.by_id.get(str(row.get("question")))
    if question is None or row.get("run") is None or row.get("judgment") is None:
        return False
    kind = kind_of_row(row, question.type, task)
    if kind not in STRINGS:
        return False
    return not any(all(row.get(name) is not None for name in fields) for fields in ROW_KINDS[kind].identified if fields)


def _responses(plan: ImportPlan, questions: TestSet) -> dict[tuple[str, str], Response]:
    """The answers of every run to every question, as the evaluation will have them."""
    new = plan.incoming.runs
    kept = [part for part in plan.folder.runs() if set_name(part.name) not in new]
    table = read_runs([*kept, *new.values()], task=plan.configuration.task, questions=questions).runs.table
    names = [name for name in _ITEM if name in table.columns]
    responses: dict[tuple[str, str], Response] = {}
    for run, question, *values in table.select("run", "question", *names).iter_rows():
        item = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        response = responses.setdefault((run, question), [])
        if item:
            response.append(item)
    return responses


def _item(row: Row, responses: Mapping[tuple[str, str], Response]) -> tuple[Mapping[str, Any] | None, str | None]:
    """The item that a row is about, none where the response is empty, or what is wrong."""
    question, run = str(row["question"]), str(row["run"])
    if (run, question) not in responses:
        runs = list(dict.fromkeys(name for name, _ in responses))
        if run in runs:
            return None, f"question {question}: run {run} does not answer it"
        return None, f"question {question}: there is no run {run!r}; the runs are {few(runs) or 'still to be imported'}"
    response = responses[run, question]
    fits = [item for item in response if all(row.get(name) in (None, item.get(name)) for name in _ITEM)]
    distinct = {tuple(item.get(name) for name in _ITEM): item for item in fits}
    if response and len(distinct) != 1:
        message = f"question {question}: run {run} returned {len(response)} items; say in the row which (doc and text)"
        return None, message
    return next(iter(distinct.values()), None), None


def _filled(row: Row, item: Mapping[str, Any], questions: TestSet, task: Task) -> Row:
    """The row with the item; without the run, where items of all runs are judged together."""
    question = questions.by_id[str(row["question"])]
    kind = kind_of_row(row, question.type, task) or ""
    fields = {name: value for name, value in row.items() if name != "run" or "run" in ROW_KINDS[kind].identity}
    return {"question": fields.pop("question"), **item, **fields}


def _two_labels(before: tuple[int, Row], row: Row) -> str:
    line, other = before
    return (
        f"question {row['question']}: {row['judgment']!r} for run {row['run']}, but {other['judgment']!r} for the same "
        f"answer of run {other['run']} (row {line}); equal answers are judged once: correct one of the rows"
    )


# ---- judgments of programs ------------------------------------------------------------------------------------------


def _mark_automatic(plan: ImportPlan, name: str) -> None:
    """Say in `qassay.toml` that a set is a program's."""
    if name in SETTLED_SETS:
        raise UsageError(f"the set {name} is for the judgments of people", ANOTHER_SET)
    part = plan.folder.judgment_sets().get(name)
    if part is not None and name not in plan.configuration.automatic and not is_automatic(part):
        raise UsageError(f"the set {name} contains judgments of people", ANOTHER_SET)
    marked = with_listed(plan.text(plan.folder.configuration), "automatic", name)
    if marked is None:
        message = f"cannot be changed safely; add {name!r} to automatic in it by hand, and import without --automatic"
        raise InputError(Problem("configuration", message, CONFIGURATION))
    plan.own_files[plan.folder.configuration] = marked


# ---- crowds: each assessor of an item in a set of its own -----------------------------------------------------------


_Subject: TypeAlias = Callable[[Row], Hashable]


def spread(plan: ImportPlan, source: IncomingFile, rows: Sequence[Numbered]) -> dict[str, list[Numbered]]:
    """The rows by the set that each belongs to; an error for rows that name no assessor."""
    identity = judgment_identity(plan.test_set(source), plan.configuration.task)

    def subject(row: Row) -> Hashable:
        return identity({name: value for name, value in row.items() if name != "assessor"})

    seats = _taken(plan, subject)
    sets: dict[str, list[Numbered]] = {}
    problems = Problems()
    for line, row in rows:
        person = row.get("assessor")
        if person is None or str(person).strip() == "":
            message = '--spread puts each assessor\'s row into a set of its own, and this row has no "assessor"'
            problems.append(_problem(source, line, row, message))
            continue
        taken = seats.setdefault(subject(row), {})
        place = next((seat for seat, holder in taken.items() if holder == str(person)), None)
        if place is None:
            place = next(seat for seat in range(len(taken) + 1) if seat not in taken)
        if place >= MOST_SLOTS:
            message = f"more than {MOST_SLOTS} people judge one item; is the assessor of each row a person?"
            raise InputError(_problem(source, line, row, message))
        taken[place] = str(person)
        sets.setdefault(slot_name(place), []).append((line, row))
    if problems:
        raise InputError(problems)
    return {name: sets[name] for name in map(slot_name, range(MOST_SLOTS)) if name in sets}


def _taken(plan: ImportPlan, subject: _Subject) -> dict[Hashable, dict[int, str | None]]:
    """Who has judged each item in each of the sets already; None where the row does not say."""
    seats: dict[Hashable, dict[int, str | None]] = {}
    for place in range(MOST_SLOTS):
        for _, row in plan.rows(set_file(plan, slot_name(place))):
            person = row.get("assessor")
            seats.setdefault(subject(row), {})[place] = None if person is None else str(person)
    return seats


def _problem(source: IncomingFile, line: int, row: Row, message: str) -> Problem:
    question = row.get("question")
    return Problem("syntax", message, source.name, line or None, None if question is None else str(question))
