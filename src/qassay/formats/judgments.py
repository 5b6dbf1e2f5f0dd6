"""Judgments, nuggets, known answers and what runs say of themselves, as tables for scoring. (FORMATS 4)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import polars as pl

from qassay.errors import InputError, Problem, Problems
from qassay.formats import jsonl
from qassay.formats.parts import Part
from qassay.judging import JUDGMENT_COLUMNS
from qassay.judging.keys import ANSWER_COLUMNS, current_answers
from qassay.judging.sets import JudgmentSet, judgment_set
from qassay.nuggets import NUGGET_COLUMNS
from qassay.questions import TestSet
from qassay.runs import INFORMATION_COLUMNS, RunInformation
from qassay.tasks import LARGEST_VALUE, Task

_TRACE = b'"trace"'


def read_judgments(part: Part, name: str, questions: TestSet, task: Task, *, incoming: bool = False) -> JudgmentSet:
    """The current judgments of one set, sorted by kind; as `incoming` ones they are checked by all rules."""
    table = jsonl.parse_table(part.read(), JUDGMENT_COLUMNS, file=part.name)
    return judgment_set(name, table, questions, task, file=part.name, incoming=incoming)


def read_nuggets(part: Part, questions: TestSet) -> pl.DataFrame:
    """A nugget list; of two rows for a nugget the last counts."""
    file = part.name
    table = jsonl.parse_table(part.read(), NUGGET_COLUMNS, file=file)
    problems = Problems(_incomplete(table, ("question", "nugget", "vital"), file))
    problems += _unknown(table, questions, file)
    for row in table.filter((pl.col("weight") < 0) | (pl.col("weight") > LARGEST_VALUE)).iter_rows(named=True):
        message = f"question {row['question']}: {weight_fault(row['weight'])}"
        problems.append(Problem("bad-label", message, file, row["line"], row["question"]))
    if problems:
        raise InputError(problems)
    return table.unique(["question", "nugget"], keep="last", maintain_order=True)


def read_answers(part: Part, questions: TestSet) -> pl.DataFrame:
    """Answers known from question development, withdrawn ones included and marked."""
    file = part.name
    table = jsonl.parse_table(part.read(), ANSWER_COLUMNS, file=file)
    problems = Problems(_incomplete(table, ("question", "answer"), file))
    problems += _unknown(table, questions, file)
    if problems:
        raise InputError(problems)
    return current_answers(table)


def read_run_information(part: Part) -> dict[str, RunInformation]:
    """The information that comes with runs, by tag."""
    table = jsonl.parse_table(part.read(), INFORMATION_COLUMNS, file=part.name)
    if problems := list(_incomplete(table, ("run",), part.name)):
        raise InputError(problems)
    return {row["run"]: RunInformation.of_row(row) for row in table.iter_rows(named=True)}


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


def _incomplete(table: pl.DataFrame, needed: Sequence[str], file: str) -> Iterator[Problem]:
    for name in needed:
        for row in table.filter(pl.col(name).is_null()).iter_rows(named=True):
            yield Problem("syntax", f'the row has no "{name}"', file, row["line"], row.get("question"))


def _unknown(table: pl.DataFrame, questions: TestSet, file: str) -> Iterator[Problem]:
    unknown = table.filter(pl.col("question").is_not_null() & ~pl.col("question").is_in(questions.ids))
    for line, question in unknown.select("line", "question").iter_rows():
        yield Problem("unknown-question", f"question {question} is not in the test set", file, line, question)


def weight_fault(weight: float) -> str:
    """The fault of a nugget's weight."""
    return f"the weight {weight} is negative" if weight < 0 else f"the weight {weight} is beyond {LARGEST_VALUE:g}"
