"""DeepEval: the test run that `evaluate` writes into the results folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from qassay.formats.foreign import _logs, _names
from qassay.formats.foreign._scores import LogScores
from qassay.formats.score_rows import ScoreRows

NAME = "DeepEval"
VERSIONS = ("4.3.1",)
FILES = "`FOLDER/test_run_*.json`, with `DEEPEVAL_RESULTS_FOLDER=FOLDER` or `DisplayConfig(results_folder=FOLDER)`"
READS = (
    "system: the run's identifier, else its hyperparameter `model`, else the file's name; question: the test case's "
    "name, or its input where it has none; one metric per metric; a metric that failed with an error is missing"
)

_REMEDY = "Use the test run as DeepEval wrote it, or evaluate again with DEEPEVAL_RESULTS_FOLDER set."
# The name that DeepEval gives to a test case that has none.
_UNNAMED = re.compile(r"(conversational_)?test_case_\d+")


class _Metric(msgspec.Struct):
    name: str
    score: Any = None
    error: Any = None


class _TestCase(msgspec.Struct):
    name: str | None = None
    input: Any = None
    scenario: str | None = None
    metrics: list[_Metric] | None = msgspec.field(name="metricsData", default=None)


class _TestRun(msgspec.Struct):
    cases: list[_TestCase] = msgspec.field(name="testCases")
    conversations: list[_TestCase] = msgspec.field(name="conversationalTestCases", default_factory=list)
    identifier: str | None = None
    hyperparameters: dict[str, Any] | None = None


def looks_like(path: Path, head: bytes) -> bool:
    """Whether this is a test run."""
    keys = _logs.top_keys(head)
    return "testCases" in keys and (b'"metricsData"' in head or "metricsScores" in keys or "testPassed" in keys)


def read(path: Path, content: bytes) -> ScoreRows:
    """The scores of every test case."""
    run = _logs.decode(content, _TestRun, path, _REMEDY)
    system = _names.name(run.identifier or (run.hyperparameters or {}).get("model") or _names.file_system(path))
    scores = LogScores("DeepEval test run", path, remedy=_REMEDY)
    for place, case in enumerate([*run.cases, *run.conversations], 1):
        question = _question(case, place)
        if not case.metrics:
            scores.failed(system, question)
        for metric in case.metrics or ():
            value = None if metric.error else metric.score
            scores.add(system, question, value, metric=_names.name(metric.name))
    return scores.rows()


def _question(case: _TestCase, place: int) -> str:
    if case.name and not _UNNAMED.fullmatch(case.name):
        return _names.name(case.name)
    return _names.question_name(case.input or case.scenario or case.name or f"test case {place}")
