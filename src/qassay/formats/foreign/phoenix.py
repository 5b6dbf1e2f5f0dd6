"""Phoenix: the exports of an experiment, as CSV and JSON, and frames of `evaluate_dataframe`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from qassay.formats.foreign import _logs, _names
from qassay.formats.foreign._scores import LogScores
from qassay.formats.score_rows import ScoreRows
from qassay.formats.tables.json_rows import spelled

NAME = "Phoenix"
VERSIONS = ("20.26.1",)
FILES = (
    "the export of an experiment as CSV or JSON (`/v1/experiments/ID/csv`, `/v1/experiments/ID/json`), or "
    '`evaluate_dataframe(...).to_csv("A.csv", index=False)`'
)
READS = (
    "system: a column `model` or `experiment`, else the file's name; question: the input where it differs for all "
    "examples, else the example's id; repeat: `repetition_number`; one metric per annotation or evaluator; what failed "
    "with an error is missing"
)

_REMEDY = "Download the experiment again."
_ANNOTATION = "annotation_"
_SCORE = "_score"
_DETAILS = "_execution_details"


def looks_like(path: Path, head: bytes) -> bool:
    """Whether the columns are those of an experiment, or of a frame with the details of evaluators."""
    columns = _logs.table_columns(head)
    if {"example_id", "repetition_number"} <= set(columns):
        return True
    return any(column.endswith(_DETAILS) and _evaluator(column) + _SCORE in columns for column in columns)


def _evaluator(column: str) -> str:
    return column.removesuffix(_DETAILS)


def read(path: Path, content: bytes) -> ScoreRows:
    """The scores of every run of an experiment, or of every row of a frame."""
    lines = _logs.table_lines(content, path, _REMEDY)
    if any("example_id" in line.cells for line in lines):
        return _experiment(path, lines)
    scores = LogScores("Phoenix evaluations", path, remedy=_REMEDY)
    for line in lines:
        question = _names.question_in(line.cells)
        if question is None:
            message = "has no column that names the question (id, input, question)."
            raise _logs.refuse(path, f"{message} Add one to the frame.", line=line.number or None)
        system = _names.system_in(line.cells, _names.file_system(path))
        for column in line.cells:
            metric = _evaluator(column)
            if column.endswith(_DETAILS) and metric + _SCORE in line.cells:
                cell = line.cells[metric + _SCORE]
                cell = spelled(cell) if isinstance(cell, str) else cell
                value = cell.get("score") if isinstance(cell, dict) else cell
                if isinstance(cell, dict) and cell.get("direction") in ("maximize", "minimize"):
                    scores.directed(_names.name(metric), higher_is_better=cell["direction"] == "maximize")
                scores.add(system, question, value, metric=_names.name(metric), line=line.number)
    return scores.rows()


def _experiment(path: Path, lines: list[_logs.Line]) -> ScoreRows:
    scores = LogScores("Phoenix experiment", path, remedy=_REMEDY)
    examples = [_example(line, path) for line in lines]
    names = _names.texts_or_ids(examples)
    for line, (example, _) in zip(lines, examples, strict=True):
        system = _names.system_in(line.cells, _names.file_system(path))
        place: Any = {"repeat": str(line.cells.get("repetition_number") or 1), "line": line.number}
        values = list(_values(line, path))
        for metric, value in values:
            scores.add(system, names[example], value, metric=_names.name(metric), **place)
        if not values:
            scores.failed(system, names[example], **place)
    return scores.rows()


def _example(line: _logs.Line, path: Path) -> tuple[str, str]:
    example = line.cells.get("example_id")
    if not example:
        raise _logs.refuse(path, f"has no example_id. {_REMEDY}", line=line.number or None)
    return _names.name(example), _names.question_name(line.cells.get("input") or "")


def _values(line: _logs.Line, path: Path) -> Iterator[tuple[str, Any]]:
    """Metric and score of each annotation; a missing score where the run or the evaluator failed."""
    cells: Mapping[str, Any] = line.cells
    annotations = cells.get("annotations")
    if annotations is not None:
        for annotation in annotations if isinstance(annotations, list) else [annotations]:
            if not isinstance(annotation, dict) or "name" not in annotation:
                message = f"example {_names.name(cells['example_id'])}: an annotation has no name."
                raise _logs.refuse(path, f"{message} {_REMEDY}", line=line.number or None)
            yield str(annotation["name"]), annotation.get("score")
        return
    for column, value in cells.items():
        if column.startswith(_ANNOTATION) and column.endswith(_SCORE):
            yield column.removeprefix(_ANNOTATION).removesuffix(_SCORE), value
