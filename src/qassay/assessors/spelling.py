"""Assessors by their spelling: `patterns`, `patterns(exact=true)`, `match`, `match(normalise=true)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from qassay.assessors.match import Match
from qassay.assessors.patterns import Patterns
from qassay.assessors.records import AutomaticAssessor
from qassay.errors import InputError, Problem, unknown
from qassay.evaluation import Evaluation
from qassay.formats import files
from qassay.formats.nist import parse_patterns
from qassay.spelling import arguments, parse

NAMES = {
    "patterns": "regular expressions of patterns.txt, with the documents that support them",
    "patterns(exact=true)": "the same, calling inexact what no pattern matches as a whole",
    "match": "the known answers of answers.jsonl, compared exactly",
    "match(normalise=true)": "the same without case, articles and punctuation",
}


def open_assessor(text: str, evaluation: Evaluation) -> AutomaticAssessor:
    """The assessor that is spelled so, with what it needs from the evaluation."""
    wanted = parse(text.lower(), "assessor", example="match(normalise=true)")
    if wanted.name not in _FACTORIES:
        raise unknown("assessor", text, NAMES)
    factory = _FACTORIES[wanted.name]
    return factory(evaluation, **arguments(wanted, factory))


def _patterns(evaluation: Evaluation, *, exact: bool = False) -> Patterns:
    path = evaluation.folder.patterns
    if not path.is_file():
        message = "there is no patterns.txt; add patterns with: qassay import FOLDER PATTERNS --as patterns"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    documents = {str(doc) for doc in evaluation.runs.table["doc"].drop_nulls().unique()}
    rows = parse_patterns(files.read_text(path), file=evaluation.folder.name(path), documents=documents)
    return Patterns.from_rows((row for _, row in rows), evaluation.task, exact=exact)


def _match(evaluation: Evaluation, *, normalise: bool = False) -> Match:
    answers = evaluation.answers
    if not answers.height:
        message = "there are no known answers to match; add answers.jsonl with: qassay import FOLDER ANSWERS"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    return Match.from_rows(answers.iter_rows(named=True), normalise=normalise)


_FACTORIES: Final[Mapping[str, Callable[..., AutomaticAssessor]]] = {"patterns": _patterns, "match": _match}
