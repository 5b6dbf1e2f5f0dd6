"""The measures: one small file each, with its formula, its undefined cases and where it comes from.

`measure("nugget_f(beta=1)")` gives the measure that is spelled so; `str()` of a measure gives its spelling back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Final

from qassay.errors import Problem, UsageError, unknown
from qassay.measures.accuracy import Accuracy
from qassay.measures.base import Measure
from qassay.measures.citations import CitationPrecision, CitationRecall
from qassay.measures.confidence_weighted import ConfidenceWeightedScore
from qassay.measures.entailment import EntailmentAccuracy
from qassay.measures.holistic import Content, Holistic, Organization
from qassay.measures.justification import Correctness, Understandability
from qassay.measures.label_mean import LabelMean
from qassay.measures.list_f import ListF
from qassay.measures.nugget_f import NuggetF
from qassay.measures.nugget_support import (
    AllNuggets,
    AllNuggetsStrict,
    VitalNuggets,
    VitalNuggetsStrict,
    WeightedNuggets,
    WeightedNuggetsStrict,
)
from qassay.measures.pyramid_f import PyramidF
from qassay.measures.reciprocal_rank import LenientReciprocalRank, ReciprocalRank
from qassay.measures.weighted_types import FinalScore, SeriesScore
from qassay.spelling import number, parse
from qassay.tally import block_of
from qassay.tasks import Task

MEASURES: Final[Mapping[str, type[Measure]]] = {
    kind.name: kind
    for kind in (
        ReciprocalRank,
        LenientReciprocalRank,
        ConfidenceWeightedScore,
        Accuracy,
        ListF,
        NuggetF,
        PyramidF,
        FinalScore,
        SeriesScore,
        Content,
        Organization,
        Holistic,
        EntailmentAccuracy,
        Understandability,
        Correctness,
        AllNuggets,
        AllNuggetsStrict,
        VitalNuggets,
        VitalNuggetsStrict,
        WeightedNuggets,
        WeightedNuggetsStrict,
        CitationPrecision,
        CitationRecall,
        LabelMean,
    )
}


def measure(spelling: str) -> Measure:
    """The measure that is spelled so.

    >>> measure("nugget_f(beta=1)")
    NuggetF(beta=1.0, allowance=100)
    >>> str(measure("nugget_f( beta = 5 )"))
    'nugget_f(beta=5)'
    """
    parsed = parse(spelling, "measure", example="nugget_f(beta=5)")
    name = parsed.name
    if name not in MEASURES:
        raise unknown("measure", name, MEASURES)
    kind = MEASURES[name]
    known = {parameter.name for parameter in fields(kind)}
    for parameter_name in parsed.parameters:
        if parameter_name not in known:
            raise unknown(f"parameter of {name}", parameter_name, known)
    for parameter in fields(kind):
        if parameter.default is MISSING and parameter.name not in parsed.parameters:
            raise UsageError(f"the measure {name} needs {parameter.name}, as in {name}({parameter.name}=5)")
    return kind(
        **{
            parameter_name: number(f"{spelling}: {parameter_name}", value)
            for parameter_name, value in parsed.parameters.items()
        }
    )


def misspelled(task: Task, *, file: str) -> Iterator[Problem]:
    """Measures of a task that do not exist, or that cannot score the questions they are for."""

    def measure_or_fault(key: str, spelling: str) -> Measure | str:
        try:
            return measure(spelling)
        except UsageError as error:
            return f"{key}: {error}"

    for key, spelling in (("measure", task.measure), *((f"components: {c}", c) for c in task.components)):
        spelled = measure_or_fault(key, spelling) if spelling not in task.types or key == "measure" else None
        if isinstance(spelled, str):
            yield Problem("configuration", spelled, file)
    for kind, rules in task.types.items():
        key = f"types.{kind}.score"
        spelled = measure_or_fault(key, rules.score)
        if isinstance(spelled, str):
            yield Problem("configuration", spelled, file)
        elif spelled is not None and spelled.needs is not block_of(task, kind):
            message = f"{key}: {spelled} cannot score a {kind} whose response is {rules.response!r}"
            yield Problem("configuration", message, file)


__all__ = ["MEASURES", "Measure", "measure", "misspelled"]
