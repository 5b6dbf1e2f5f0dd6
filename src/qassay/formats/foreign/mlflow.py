"""MLflow: the tables of `mlflow.genai.evaluate` and of `mlflow.evaluate`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from qassay.formats import fields
from qassay.formats.foreign import _logs, _names
from qassay.formats.foreign._scores import LogScores
from qassay.formats.score_rows import ScoreRows
from qassay.formats.tables.json_rows import spelled

NAME = "MLflow"
VERSIONS = ("3.17.2",)
FILES = (
    '`mlflow.genai.evaluate(...).result_df.to_csv("A.csv", index=False)`, or the artifact `eval_results_table.json` of '
    "`mlflow.models.evaluate`"
)
READS = (
    "system: a column `model` or `run`, else the file's name; question: an id column, else its text (`request`, "
    "`inputs`, `question`); one metric per column `NAME/value` or `NAME/score`; expectations are left out"
)

_REMEDY = "Export the table of the evaluation again."
_VALUE = "/value"
_SCORE = "/score"
_ASKED = (*fields.QUESTION_ID, "request", "inputs", "question", "query", "input", "prompt")


class _Split(msgspec.Struct):
    """A frame in the orientation that pandas calls split."""

    columns: list[str]
    data: list[list[Any]]


def looks_like(path: Path, head: bytes) -> bool:
    """Whether there are columns of values of scorers, beside those of traces or as a split frame."""
    keys = _logs.top_keys(head)
    if keys[:1] == ("columns",):
        return b'/score"' in head.replace(b"\\/", b"/") and (len(keys) < 2 or "data" in keys)
    columns = _logs.table_columns(head)
    if any(column.endswith(_VALUE) for column in columns):
        return "trace_id" in columns or "request" in columns
    # A column `A/score` alone may be a system's in a table of the user's own.
    return any(column.endswith(f"/v1{_SCORE}") for column in columns)


def read(path: Path, content: bytes) -> ScoreRows:
    """The scores of every row."""
    scores = LogScores("MLflow table", path, remedy=_REMEDY)
    lines = _lines(path, content)
    expected = _expectations(lines)
    numbered = False
    for place, line in enumerate(lines, 1):
        question = _names.question_in(line.cells, _ASKED)
        numbered |= question is None
        system = _names.system_in(line.cells, _names.file_system(path))
        for metric, value in _values(line.cells):
            if metric not in expected:
                metric_name = _names.name(metric)
                scores.add(system, question or str(place), value, metric=metric_name, line=line.number)
    if numbered:
        scores.note("No column names the questions: they are numbered in the order of the file.")
    return scores.rows()


def _lines(path: Path, content: bytes) -> list[_logs.Line]:
    if _logs.top_keys(content[: 1 << 16])[:1] != ("columns",):
        return _logs.table_lines(content, path, _REMEDY)
    table = _logs.decode(content, _Split, path, _REMEDY)
    for place, row in enumerate(table.data, 1):
        if len(row) != len(table.columns):
            message = f"data row {place} has {len(row)} values, there are {len(table.columns)} columns."
            raise _logs.refuse(path, f"{message} {_REMEDY}")
    return [_logs.Line(0, dict(zip(table.columns, row, strict=True))) for row in table.data]


def _values(cells: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for column, value in cells.items():
        for suffix in (_VALUE, _SCORE):
            if column.endswith(suffix):
                yield column.removesuffix(suffix), value


def _expectations(lines: Sequence[_logs.Line]) -> set[str]:
    """Names of what was expected, which has columns like those of scorers; the assessments say which is which."""
    names: set[str] = set()
    for line in lines:
        cell = line.cells.get("assessments")
        assessments = spelled(cell) if isinstance(cell, str) else cell
        for assessment in assessments if isinstance(assessments, list) else ():
            if isinstance(assessment, dict) and "expectation" in assessment:
                names.add(str(assessment.get("assessment_name")))
    return names
