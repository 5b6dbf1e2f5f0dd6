"""Rows that are appended: judgments, nuggets, known answers, run information, and the lines of patterns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from qassay.errors import InputError, Problem, few
from qassay.formats import files, jsonl, nist
from qassay.formats.importing.plan import Plan, Source
from qassay.formats.jsonl import Numbered
from qassay.formats.names import name_fault, set_name
from qassay.judging import JUDGMENT_COLUMNS, KINDS, kind_of_label, kind_of_row
from qassay.judging.keys import ANSWER_COLUMNS
from qassay.judging.sets import check_nuggets, judgment_set
from qassay.nuggets import NUGGET_COLUMNS, list_of_key
from qassay.questions import TestSet
from qassay.runs import INFORMATION_COLUMNS
from qassay.tables import plural
from qassay.tasks import Task

Identity = Callable[[jsonl.Row], Hashable]

_JUDGMENTS = {"nist-factoid": nist.parse_factoid, "nist-list": nist.parse_list, "nist-other": nist.parse_other}


def import_judgments(plan: Plan, source: Source) -> None:
    """Append judgments to their set; earlier rows are history."""
    text = _text(plan, source)
    if source.kind == "judgments":
        rows = jsonl.parse_rows(text, file=source.name)
    else:
        rows = _JUDGMENTS[source.kind](text, file=source.name, warnings=plan.warnings)
    add_judgments(plan, source, rows, _set(plan, source))


def add_judgments(plan: Plan, source: Source, rows: Sequence[Numbered], name: str) -> None:
    """Check rows against questions, task and nuggets, and append those that are new."""
    questions = plan.test_set(source)
    _some(rows, source)
    table = jsonl.rows_table(rows, JUDGMENT_COLUMNS, file=source.name)
    judged = judgment_set(name, table, questions, plan.configuration.task, file=source.name)
    nuggets = _nuggets_for(plan, name)
    if nuggets is not None:
        problems = list(check_nuggets(judged, nuggets, file=source.name))
        if problems:
            raise InputError(problems)
    path = plan.folder.judgment_sets().get(name) or plan.folder.judgment_file(name)
    _append(plan, source, path, rows, judgment_identity(questions, plan.configuration.task), "judgment")


def import_nuggets(plan: Plan, source: Source) -> None:
    """Append nuggets to their list."""
    text = _text(plan, source)
    if source.kind == "nuggets":
        rows = jsonl.parse_rows(text, file=source.name)
    else:
        rows = nist.parse_nuggets(text, file=source.name, warnings=plan.warnings)
    add_nuggets(plan, source, rows, _set(plan, source))


def add_nuggets(plan: Plan, source: Source, rows: Sequence[Numbered], name: str) -> None:
    """Check nuggets against the questions, and append those that are new."""
    _some(rows, source)
    jsonl.rows_table(rows, NUGGET_COLUMNS, file=source.name)
    _check(rows, plan.test_set(source), source, required=("question", "nugget", "vital"))
    path = plan.folder.nugget_lists().get(name) or plan.folder.nugget_file(name)
    _append(plan, source, path, rows, by_fields("question", "nugget"), "nugget")


def import_answers(plan: Plan, source: Source) -> None:
    """Append answers known from question development."""
    text = _text(plan, source)
    if source.kind == "answers":
        rows = jsonl.parse_rows(text, file=source.name)
    else:
        rows = nist.parse_answers(text, file=source.name, warnings=plan.warnings)
    add_answers(plan, source, rows)


def add_answers(plan: Plan, source: Source, rows: Sequence[Numbered]) -> None:
    """Check known answers against the questions, and append those that are new."""
    _some(rows, source)
    jsonl.rows_table(rows, ANSWER_COLUMNS, file=source.name)
    _check(rows, plan.test_set(source), source, required=("question", "answer"))
    _append(plan, source, plan.folder.answers, rows, by_fields("question", "answer", "doc"), "answer")


def import_information(plan: Plan, source: Source) -> None:
    """Append what runs say of themselves."""
    rows = jsonl.parse_rows(_text(plan, source), file=source.name)
    _some(rows, source)
    jsonl.rows_table(rows, INFORMATION_COLUMNS, file=source.name)
    _check(rows, None, source, required=("run",))
    _append(plan, source, plan.folder.run_information, rows, by_fields("run"), "description")


def import_patterns(plan: Plan, source: Source) -> None:
    """Append the lines of patterns that are not there yet."""
    text = _text(plan, source)
    rows = nist.parse_patterns(text, file=source.name)
    _some(rows, source)
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
        plan.write(path, _ended(old) + "".join(line + "\n" for line in new))
    _report(plan, source, path, "pattern", len(new), len(lines) - len(new))


def _append(plan: Plan, source: Source, path: Path, rows: Iterable[Numbered], identity: Identity, noun: str) -> None:
    """Append the rows that are not there yet to a file of JSON lines, and say how many there were."""
    old = plan.text(path)
    there: dict[Hashable, list[bytes]] = {}
    for _, row in jsonl.parse_rows(old, file=plan.folder.name(path)):
        there.setdefault(identity(row), []).append(canonical(row))
    named = [(identity(row), row) for _, row in rows]
    new = [named[index][1] for index in missing(((thing, canonical(row)) for thing, row in named), there)]
    if new:
        plan.write(path, _ended(old) + jsonl.dump_rows(new))
    _report(plan, source, path, noun, len(new), len(named) - len(new))


def missing(rows: Iterable[tuple[Hashable, bytes]], there: Mapping[Hashable, Sequence[bytes]]) -> list[int]:
    """Which of the rows, given as thing and canonical form, are not there yet: their places.

    Rows about one thing count as there as far as they stand, in this order, among the rows about it. The first that
    does not, and all after it, are missing: when they are appended, the last row given stands there too.
    """
    new: list[int] = []
    place: dict[Hashable, int] = {}
    for index, (thing, row) in enumerate(rows):
        among = there.get(thing, ())
        try:
            place[thing] = among.index(row, place.get(thing, 0)) + 1
        except ValueError:
            place[thing] = len(among)
            new.append(index)
    return new


def canonical(row: Mapping[str, Any]) -> bytes:
    """A row as bytes that are the same for equal rows, whatever the order of their fields."""
    return msgspec.json.encode(row, order="sorted")


def _report(plan: Plan, source: Source, path: Path, noun: str, new: int, same: int) -> None:
    where = plan.folder.name(path)
    if not new:
        plan.report(source, f"nothing new: its {plural(same, noun)} are in {where} already", to=path)
        return
    rest = f" ({plural(same, noun)} there already)" if same else ""
    plan.report(source, f"{plural(new, noun)} to {where}{rest}", count=new, to=path)


def judgment_identity(questions: TestSet, task: Task) -> Identity:
    """What a judgment is about: rows with the same identity replace each other."""

    def identity(row: jsonl.Row) -> Hashable:
        question = questions.by_id.get(str(row.get("question")))
        type_ = question.type if question else ""
        return identity_as(kind_of_row(row, type_, task) or kind_of_label(type_, task), row)

    return identity


def identity_as(kind: str, row: jsonl.Row) -> Hashable:
    """What a judgment of this kind is about."""
    return (kind, *(str(row.get(name)) for name in KINDS[kind].identity))


def by_fields(*names: str) -> Identity:
    """Rows with the same values in these fields replace each other."""
    return lambda row: tuple(str(row.get(name)) for name in names)


def _nuggets_for(plan: Plan, name: str) -> pl.DataFrame | None:
    """The nugget list that belongs to a judgment set."""
    lists = plan.folder.nugget_lists()
    pending = {set_name(path): path for path in plan.contents if path.parent == plan.folder.contents / "nuggets"}
    lists |= pending
    chosen = list_of_key(name, lists)
    if chosen is None:
        return None
    path = lists[chosen]
    called = plan.folder.name(path)
    return jsonl.rows_table(jsonl.parse_rows(plan.text(path), file=called), NUGGET_COLUMNS, file=called)


def _check(rows: Iterable[Numbered], questions: TestSet | None, source: Source, *, required: Sequence[str]) -> None:
    """Stop at rows that lack a field, or ask after questions that nobody asked."""
    problems = []
    for line, row in rows:
        question = None if row.get("question") is None else str(row["question"])
        absent = [name for name in required if row.get(name) is None]
        if absent:
            message = f"the row has no {' and no '.join(map(repr, absent))}"
            problems.append(Problem("syntax", message, source.name, line or None, question))
        elif questions is not None and question not in questions.by_id:
            message = f"question {question} is not in the test set"
            problems.append(Problem("unknown-question", message, source.name, line or None, question))
    if problems:
        raise InputError(problems)


def _some(rows: Sequence[Numbered], source: Source) -> None:
    if not rows:
        raise InputError(Problem("syntax", "there is nothing in it", source.name))


def _set(plan: Plan, source: Source) -> str:
    """The set a source goes to: as named, else by its form."""
    name = plan.options.set_name or (set_name(source.path) if not source.kind.startswith("nist-") else "adjudicated")
    if fault := name_fault(name):
        raise InputError(Problem("configuration", f"its name {name!r} {fault}; name the set with --set", source.name))
    return name


def _text(plan: Plan, source: Source) -> str:
    data = files.read_bytes(source.path)
    return files.decode(data, file=source.name, encoding=plan.options.encoding or "utf-8")


def _ended(text: str) -> str:
    """The text with its last line ended."""
    return text if not text or text.endswith("\n") else text + "\n"
