"""LangSmith: the frame of `evaluate(...).to_pandas()`, written as CSV or JSON lines."""

from __future__ import annotations

from pathlib import Path

from qassay.formats.foreign import _logs, _names
from qassay.formats.foreign._scores import LogScores
from qassay.formats.score_rows import ScoreRows

NAME = "LangSmith"
VERSIONS = ("0.14.17",)
FILES = '`evaluate(...).to_pandas().to_csv("A.csv", index=False)`'
READS = (
    "system: a column `experiment` or `model`, else the file's name; question: the column `inputs.*` where it is the "
    "only one and differs for all examples, else `example_id`; one metric per column `feedback.*`"
)

_REMEDY = "Write the frame of evaluate(...).to_pandas() again."
_FEEDBACK = "feedback."
_INPUTS = "inputs."


def looks_like(path: Path, head: bytes) -> bool:
    """Whether there are columns of feedback beside those of examples."""
    columns = _logs.table_columns(head)
    has_feedback = any(column.startswith(_FEEDBACK) for column in columns)
    return has_feedback and any(column == "example_id" or column.startswith(_INPUTS) for column in columns)


def read(path: Path, content: bytes) -> ScoreRows:
    """The feedback on every example."""
    scores = LogScores("LangSmith results", path, remedy=_REMEDY)
    lines = _logs.table_lines(content, path, _REMEDY)
    examples = [_example(line, path) for line in lines]
    names = _names.texts_or_ids(examples)
    for line, (example, _) in zip(lines, examples, strict=True):
        system = _names.system_in(line.cells, _names.file_system(path))
        for column, value in line.cells.items():
            if column.startswith(_FEEDBACK):
                metric = _names.name(column.removeprefix(_FEEDBACK))
                scores.add(system, names[example], value, metric=metric, line=line.number)
    return scores.rows()


def _example(line: _logs.Line, path: Path) -> tuple[str, str]:
    """The id of a row's example, and the text that was asked where there is one."""
    inputs = [value for column, value in line.cells.items() if column.startswith(_INPUTS)]
    text = _names.question_name(inputs[0]) if len(inputs) == 1 and inputs[0] else ""
    example = line.cells.get("example_id") or text
    if not example:
        raise _logs.refuse(path, f"has neither example_id nor one input. {_REMEDY}", line=line.number or None)
    return _names.name(example), text
