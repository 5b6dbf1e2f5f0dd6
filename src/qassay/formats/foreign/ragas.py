"""ragas: the frame of `evaluate(...).to_pandas()`, written as CSV or JSON lines."""

from __future__ import annotations

from pathlib import Path

from qassay.formats import fields
from qassay.formats.foreign import _logs, _names
from qassay.formats.foreign._scores import LogScores
from qassay.formats.score_rows import ScoreRows

NAME = "ragas"
VERSIONS = ("0.4.3",)
FILES = '`result.to_pandas().to_csv("A.csv", index=False)`, or `.to_json("A.jsonl", orient="records", lines=True)`'
READS = (
    "system: a column `system` or `model`, else the file's name; question: an id column, else `user_input`; one metric "
    "per column of numbers"
)

_REMEDY = "Write the frame of evaluate(...).to_pandas() again."
# Columns of a sample, which are not metrics; the older names are those of ragas 0.1.
_SAMPLE = frozenset(
    [
        "user_input",
        "response",
        "reference",
        "retrieved_contexts",
        "reference_contexts",
        "multi_responses",
        "rubrics",
        "rubric",
        "retrieved_context_ids",
        "reference_context_ids",
        "reference_tool_calls",
        "reference_topics",
        "persona_name",
        "query_style",
        "query_length",
        "synthesizer_name",
    ]
)
_OLD_SAMPLE = frozenset(
    ["question", "answer", "contexts", "ground_truth", "ground_truths", "episode_done", "evolution_type"]
)
_OLD_METRICS = frozenset(
    [
        "faithfulness",
        "answer_relevancy",
        "context_precision",
        "context_recall",
        "context_relevancy",
        "context_utilization",
        "answer_similarity",
        "answer_correctness",
        "context_entity_recall",
        "harmfulness",
    ]
)
_NO_METRIC = _SAMPLE | _OLD_SAMPLE | {*fields.QUESTION_ID, *fields.SYSTEM, "index", "", "Unnamed: 0"}


def looks_like(path: Path, head: bytes) -> bool:
    """Whether the columns are those of samples with at least one metric."""
    columns = set(_logs.table_columns(head))
    if "user_input" in columns:
        return bool(columns & (_SAMPLE - {"user_input"})) and bool(columns - _NO_METRIC)
    return {"question", "answer", "contexts"} <= columns and bool(columns & _OLD_METRICS)


def read(path: Path, content: bytes) -> ScoreRows:
    """The scores of every sample."""
    scores = LogScores("ragas frame", path, remedy=_REMEDY)
    for line in _logs.table_lines(content, path, _REMEDY):
        question = _names.question_in(line.cells)
        if question is None:
            raise _logs.refuse(path, f"has no user_input to name the question. {_REMEDY}", line=line.number or None)
        system = _names.system_in(line.cells, _names.file_system(path))
        for metric, value in line.cells.items():
            if metric not in _NO_METRIC:
                scores.add(system, question, value, metric=_names.name(metric), line=line.number)
    return scores.rows()
