"""Automatic assessors: they write the same judgments as people, under their own name, and are examined like them.

    base        what an assessor is shown (a case), what it says (an opinion), and the rows that become of it
    patterns    regular expressions for answers, with the documents that support them (patterns.txt)
    match       the known answers (answers.jsonl), compared exactly or after normalising
    overlap     nuggets, by the words that a response shares with them

Here they are opened by name: `overlap(threshold=0.5)`. Judgments carry a `trace` that says how they came about.
Everything in `agree`, `stability` and the rest applies to them unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from qassay.assessors.base import AutomaticAssessor, Case, Judged, Opinion, judge_items
from qassay.assessors.match import Match
from qassay.assessors.overlap import THRESHOLD, Overlap
from qassay.assessors.patterns import Patterns
from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.evaluation import Evaluation
from qassay.formats import files
from qassay.formats.nist import parse_patterns
from qassay.judging.items import pool_items
from qassay.plugins import broken, load_plugin, plugins
from qassay.spelling import Spelled, arguments, parse

NAMES = {
    "patterns": "regular expressions of patterns.txt, with the documents that support them",
    "patterns(exact=true)": "the same, calling inexact what no pattern matches as a whole",
    "match": "the known answers of answers.jsonl, or gold answers of free-text questions, compared exactly",
    "match(normalise=true)": "the same without case, articles and punctuation",
    "overlap": "nuggets by the share of their words that a response has",
    "overlap(threshold=0.5)": "the same with another share from which a nugget counts as found",
}


def open_assessor(text: str, evaluation: Evaluation) -> AutomaticAssessor:
    """The assessor that is spelled so, with what it needs from the evaluation."""
    wanted = parse(text.lower(), "assessor", example="match(normalise=true)")
    if wanted.name in _FACTORIES:
        factory = _FACTORIES[wanted.name]
        return factory(evaluation, **arguments(wanted, factory))
    if wanted.name not in plugins("assessor"):
        raise unknown("assessor", text, [*NAMES, *plugins("assessor")])
    return _plugged_in(wanted, evaluation)


def _plugged_in(wanted: Spelled, evaluation: Evaluation) -> AutomaticAssessor:
    """The assessor of another package, called like the built-in ones."""
    factory = load_plugin("assessor", wanted.name)
    if not callable(factory):
        raise broken("assessor", wanted.name, f"it is {type(factory).__name__}, which cannot be called")
    assessor: AutomaticAssessor = factory(evaluation, **arguments(wanted, factory))
    if not callable(getattr(assessor, "judge", None)) or not isinstance(getattr(assessor, "name", None), str):
        raise broken("assessor", wanted.name, "what it makes has no name and no method judge")
    return assessor


def _patterns(evaluation: Evaluation, *, exact: bool = False) -> Patterns:
    path = evaluation.folder.patterns
    if not path.is_file():
        message = "there is no patterns.txt; add patterns with: qassay import FOLDER PATTERNS --as patterns"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    documents = {str(doc) for doc in evaluation.runs.table["doc"].drop_nulls().unique()}
    rows = parse_patterns(files.read_text(path), file=evaluation.folder.name(path), documents=documents)
    return Patterns.from_rows((row for _, row in rows), evaluation.task, exact=exact)


def _match(evaluation: Evaluation, *, normalise: bool = False) -> Match:
    values = evaluation.task.values
    rows = list(evaluation.answers.iter_rows(named=True))
    rows += [{"question": asked.id, "answer": text} for asked in evaluation.questions for text in asked.gold]
    if not rows:
        message = "there are no known answers to match; add answers.jsonl with: qassay import FOLDER ANSWERS"
        if values:
            message = "the questions have no gold answers to match; import them in the key gold of the answers' file"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    labels = (max(values, key=values.__getitem__), min(values, key=values.__getitem__)) if values else None
    return Match.from_rows(rows, normalise=normalise, labels=labels)


def _overlap(evaluation: Evaluation, *, threshold: float = THRESHOLD) -> Overlap:
    if not 0 < threshold <= 1:
        raise UsageError(f"overlap: threshold is {threshold:g}; it takes a share above 0 and up to 1")
    items = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="")
    return Overlap.from_items(items, threshold=threshold)


_FACTORIES: Final[Mapping[str, Callable[..., AutomaticAssessor]]] = {
    "patterns": _patterns,
    "match": _match,
    "overlap": _overlap,
}


__all__ = [
    "NAMES",
    "AutomaticAssessor",
    "Case",
    "Judged",
    "Match",
    "Opinion",
    "Overlap",
    "Patterns",
    "judge_items",
    "open_assessor",
]
