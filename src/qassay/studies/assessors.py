"""Two runs under the judgments of several assessors: who judged is part of the interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from qassay.display import enumerated
from qassay.errors import InputError, Remedy, UsageError, unknown
from qassay.matrix import ScoreMatrix
from qassay.meta.crossed import OverAssessors, People, averaged, over_assessors
from qassay.meta.significance import PairComparison, limit, signed
from qassay.meta.significance import compare as compare_two
from qassay.options import HowScored, Scoring
from qassay.sources import need_evaluation
from qassay.summaries import Mean
from qassay.tables import counted

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation

ONE_ASSESSOR = "One assessor: who judges is not included."
TWO_ASSESSORS = "Two assessors hardly show how far assessors differ: a third would."


def compare_over(
    source: object,
    pair: tuple[str | None, str | None],
    sets: Sequence[str] | None,
    people: People | None,
    how: Scoring,
    *,
    refused: Mapping[str, object],
    alpha: float,
    **testing: Any,
) -> PairComparison:
    """Two runs on the questions of which every set judged all of their answers; the verdict is about `people`.

    `refused` are options that do not go with this.
    """
    if not sets:
        raise UsageError("people goes with over, which names the judgment sets of several assessors")
    evaluation = need_evaluation(source, "over", "Scores alone do not say who judged")
    a, b = pair
    if a is None or b is None:
        raise UsageError("over compares two systems: name both")
    for name, value in {"key": how.get("key"), **refused}.items():
        if value:
            raise UsageError(f"{name} does not go with over, which compares under each of its sets")
    scores = crossed(evaluation, sets, (a, b), how)
    everyone: list[ScoreMatrix] = []
    if len(sets) == 2:
        # Where some system has no judgments of both, the pair is what there is.
        with suppress(InputError):
            everyone = list(crossed(evaluation, sets, None, how).values())
    over, decision = over_assessors(scores, everyone=everyone, people=people or "these", alpha=alpha)
    result = compare_two(averaged(list(scores.values())), a, b, alpha=alpha, decision=decision, **testing)
    if over.people == "new":
        # How many questions it takes depends on how many assessors judge: that is another question.
        result = replace(result, found_with=None, units_needed=None)
    return replace(result, over=over)


def crossed(
    evaluation: Evaluation, sets: Sequence[str], runs: Sequence[str] | None, how: Scoring
) -> dict[str, ScoreMatrix]:
    """The scores of these runs (or of all) under each set, on the questions of which every set judged all answers."""
    _check_sets(evaluation, sets)
    scoring = HowScored(**{name: value for name, value in how.items() if name != "key"})  # type: ignore[typeddict-item]
    shared = on_shared_units(list(evaluation.matrices_of(sets, runs, **scoring).values()))
    asked, units = len(evaluation.questions), len(shared[0].units)
    if shared[0].unit_name[0] == "question" and units < asked:
        systems = "all systems" if runs is None else enumerated(runs)
        note = f"{units:,} of {asked:,} questions: those of which {enumerated(sets)} judged all answers of {systems}."
        shared = [replace(matrix, notes=(*matrix.notes, note)) for matrix in shared]
    return dict(zip(sets, shared, strict=True))


def _check_sets(evaluation: Evaluation, sets: Sequence[str]) -> None:
    """Stop at sets that are not there, that are named twice, or that are not several."""
    known = (*evaluation.sets, *evaluation.role_sets)
    for name in sets:
        if name not in known:
            raise unknown("judgment set", name, known)
        if list(sets).count(name) > 1:
            raise UsageError(f"the judgment set {name} is named twice: name the judgments of each assessor once")
    if len(sets) == 1:
        remedy = Remedy("key", sets[0], "To use this set alone")
        raise UsageError(f"{ONE_ASSESSOR} Name two judgment sets or more of the same answers", remedy)
    if evaluation.task.is_rated:
        raise UsageError("justifications are scored by the ratings of all sets together, and not by each assessor's")


def on_shared_units(matrices: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """The matrices on the units that all of them have, in the order of the first; an error where there is none."""
    if not matrices:
        return []
    shared = set.intersection(*(set(matrix.units) for matrix in matrices))
    if not shared:
        noun, nouns = matrices[0].unit_name
        raise UsageError(f"the scores by assessor have no {noun} in common. Name assessors who judged the same {nouns}")
    units = tuple(unit for unit in matrices[0].units if unit in shared)
    return [_on_units(matrix, units) for matrix in matrices]


def _on_units(matrix: ScoreMatrix, units: tuple[str, ...]) -> ScoreMatrix:
    """The matrix with the parts that these units have in its scores."""
    if matrix.units == units:
        return matrix
    where = {unit: place for place, unit in enumerate(matrix.units)}
    places = np.array([where[unit] for unit in units], dtype=np.int64)
    fewer = f"{len(units)} of {counted(len(matrix.units), matrix.unit_name)} are scored under every set."
    return replace(
        matrix,
        units=units,
        values=matrix.summary.contributions(matrix.values)[:, places],
        summary=Mean(),
        denominator=matrix.denominator if matrix.summary.is_mean else None,
        clusters=None if matrix.clusters is None else tuple(matrix.clusters[place] for place in places),
        repeats=None if matrix.repeats is None else matrix.repeats.on_units(places),
        notes=(*matrix.notes, fewer) if len(units) < len(matrix.units) else matrix.notes,
    )


def about_assessors(over: OverAssessors) -> tuple[str, ...]:
    """Where the difference lies for these assessors and for others like them, and what two of them do not show."""
    number = len(over.sets)
    if over.these is None or over.new is None:
        return (f"These are too few questions to say where the difference lies for {number} assessors.",)
    single = ", ".join(signed(difference) for difference in over.differences.values())
    known = (
        f"For these {number} assessors {over.a} − {over.b} lies {_between(over.these)}, for other assessors like them "
        f"{_between(over.new)} (single assessors: {single})."
    )
    return (known,) if number > 2 or over.pooled else (known, TWO_ASSESSORS)


def _between(limits: tuple[float, float]) -> str:
    return f"between {limit(limits[0])} and {limit(limits[1])}"
