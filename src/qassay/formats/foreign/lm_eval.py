"""lm-evaluation-harness: `samples_TASK_TIME.jsonl`, one line per document and filter, in a folder per model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qassay.formats.foreign import _logs, _names
from qassay.formats.foreign._scores import LogScores
from qassay.formats.score_rows import ScoreRows

NAME = "lm-evaluation-harness"
VERSIONS = ("0.4.13",)
FILES = "`OUTPUT/MODEL/samples_TASK_TIME.jsonl`, from `lm_eval --log_samples --output_path OUTPUT`"
READS = (
    "system: the name of the folder; question: task and `doc_id`; one metric per entry of `metrics`, with the name of "
    "the filter where there is one (`exact_match,strict-match`)"
)

_REMEDY = "Use the file as `lm_eval --log_samples` wrote it."
_FILE = re.compile(r"samples_(?P<task>.+?)_\d{4}-\d\d-\d\dT[\d.:-]+\.jsonl?")
# Keys of a line that are not metrics, for releases that do not list the metrics of a line.
_OTHER_KEYS = frozenset(
    [
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
        "schema_version",
        "choices",
        "task_name",
    ]
)


def looks_like(path: Path, head: bytes) -> bool:
    """Whether this is a file of samples, or the file of results beside it, which is refused with advice."""
    row = _logs.first_object(head)
    return {"doc_id", "doc", "resps"} <= row.keys() or _is_summary(head)


def _is_summary(head: bytes) -> bool:
    keys = _logs.top_keys(head)
    return keys[:1] == ("results",) and not {"group_subtasks", "configs", "n-shot"}.isdisjoint(keys)


def read(path: Path, content: bytes) -> ScoreRows:
    """The scores of every document."""
    if _is_summary(content[: 1 << 20]):
        message = "contains the means of each task, not the scores of each question."
        raise _logs.refuse(path, f"{message} Run lm_eval with --log_samples and use its samples_*.jsonl.")
    task = match["task"] if (match := _FILE.fullmatch(path.name)) else path.stem.removeprefix("samples_")
    # The path is made whole first: of `samples_x.jsonl` alone, the folder is the current one.
    system = _names.name(path.resolve().parent.name or _names.file_system(path))
    scores = LogScores("lm-evaluation-harness samples", path, remedy=_REMEDY)
    for line in _logs.table_lines(content, path, _REMEDY):
        document = line.cells.get("doc_id")
        if not isinstance(document, int | str):
            fault = "no doc_id" if document is None else f"a doc_id that is neither a number nor a text: {document!r}"
            raise _logs.refuse(path, f"has {_names.name(fault)}. {_REMEDY}", line=line.number)
        question = _names.name(f"{task}/{document}")
        for metric in _metrics(line.cells, path, line.number):
            label = _label(metric, line.cells.get("filter"))
            scores.add(system, question, line.cells[metric], metric=label, line=line.number)
    return scores.rows()


def _metrics(cells: Mapping[str, Any], path: Path, line: int) -> list[str]:
    """The names of the metrics of a line."""
    listed = cells.get("metrics")
    if listed is None:
        return [key for key, value in cells.items() if key not in _OTHER_KEYS and isinstance(value, int | float)]
    if not isinstance(listed, list) or not all(isinstance(metric, str) for metric in listed):
        raise _logs.refuse(path, f"metrics is not a list of names. {_REMEDY}", line=line)
    for metric in listed:
        if metric not in cells:
            message = f"lists the metric {_names.name(metric)!r} but has no value for it."
            raise _logs.refuse(path, f"{message} {_REMEDY}", line=line)
    return listed


def _label(metric: str, kind: object) -> str:
    """The name of a metric, as the harness writes it where a filter was used."""
    return _names.name(metric if kind in (None, "", "none") else f"{metric},{kind}")
