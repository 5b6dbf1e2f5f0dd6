"""Judgments, nuggets, known answers and what runs say of themselves, as tables for scoring. (FORMATS 4)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import polars as pl

from qassay.errors import InputError, Problem, Problems, Rule
from qassay.formats import jsonl
from qassay.formats.parts import Part
from qassay.judging import JUDGMENT_COLUMNS
from qassay.judging.keys import ANSWER_COLUMNS, current_answers
from qassay.judging.sets import JudgmentSet, judgment_set
from qassay.nuggets import NUGGET_COLUMNS
from qassay.questions import TestSet
from qassay.runs import INFORMATION_COLUMNS, RunInformation
from qassay.tasks import LARGEST_VALUE, Task

RowKind: TypeAlias = Literal["answers", "run-information", "nuggets", "judgments"]
_TRACE = b'"trace"'


class RowForm(NamedTuple):
    """Rows of a kind: their columns, the required ones, those by which rows replace each other, and their name."""

    columns: Mapping[str, Any]
    required: tuple[str, ...]
    identity: tuple[str, ...]
    noun: str


ROW_FORMS: Mapping[RowKind, RowForm] = {
    "answers": RowForm(ANSWER_COLUMNS, ("question", "answer"), ("question", "answer", "doc"), "answer"),
    "run-information": RowForm(INFORMATION_COLUMNS, ("run",), ("run",), "description"),
    # What a judgment is about depends on its kind.
    "judgments": RowForm(JUDGMENT_COLUMNS, ("question",), (), "judgment"),
    "nuggets": RowForm(NUGGET_COLUMNS, ("question", "nugget", "vital"), ("question", "nugget"), "nugget"),
}


def read_judgments(part: Part, name: str, questions: TestSet, task: Task, *, incoming: bool = False) -> JudgmentSet:
    """The current judgments of one set, sorted by kind; as `incoming` ones they are checked by all rules."""
    table = jsonl.parse_table(part.read(), JUDGMENT_COLUMNS, file=part.name)
    return judgment_set(name, table, questions, task, file=part.name, incoming=incoming)


def read_nuggets(part: Part, questions: TestSet) -> pl.DataFrame:
    """A nugget list; of two rows for a nugget the last counts."""
    return _read(part, "nuggets", questions).unique(["question", "nugget"], keep="last", maintain_order=True)


def read_answers(part: Part, questions: TestSet) -> pl.DataFrame:
    """Answers known from question development, withdrawn ones included and marked."""
    return current_answers(_read(part, "answers", questions))


def read_run_information(part: Part) -> dict[str, RunInformation]:
    """The information that comes with runs, by tag."""
    return {row["run"]: RunInformation.of_row(row) for row in _read(part, "run-information").iter_rows(named=True)}


def _read(part: Part, kind: RowKind, questions: TestSet | None = None) -> pl.DataFrame:
    table = jsonl.parse_table(part.read(), ROW_FORMS[kind].columns, file=part.name)
    check_rows(table, kind, questions, file=part.name)
    return table


def check_rows(table: pl.DataFrame, kind: RowKind, questions: TestSet | None, *, file: str) -> None:
    """Stop at rows that lack a field, are about an unknown question, or have a weight that cannot be."""
    form = ROW_FORMS[kind]
    strange = pl.any_horizontal(pl.col(name).is_null() for name in form.required)
    if questions is not None:
        strange |= ~pl.col("question").is_in(questions.ids)
    if "weight" in form.columns:
        strange |= (pl.col("weight") < 0) | (pl.col("weight") > LARGEST_VALUE)
    problems = Problems()
    for row in table.filter(strange).iter_rows(named=True):
        question, absent = row.get("question"), [f'"{name}"' for name in form.required if row[name] is None]
        weight = row.get("weight") or 0.0
        faults: list[tuple[Rule, str]] = []
        if absent:
            faults.append(("syntax", f"the row has no {' and no '.join(absent)}"))
        if question is not None and questions is not None and question not in questions.by_id:
            faults.append(("unknown-question", f"question {question} is not in the test set"))
        if not 0 <= weight <= LARGEST_VALUE:
            fault = "negative" if weight < 0 else f"beyond {LARGEST_VALUE:g}"
            faults.append(("bad-label", f"question {question}: the weight {weight} is {fault}"))
        problems += (Problem(rule, message, file, row["line"] or None, question) for rule, message in faults)
    if problems:
        raise InputError(problems)


def is_automatic(part: Part) -> bool:
    """Whether any row of a set carries its provenance (`trace`): then the set is an automatic assessor's."""
    data = part.read()
    at = data.find(_TRACE)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        line = data[start : end if end >= 0 else len(data)]
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # reported where the set is read
            row = None
        if isinstance(row, dict) and row.get("trace") is not None:
            return True
        at = data.find(_TRACE, start + len(line))
    return False
