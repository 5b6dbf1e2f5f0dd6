"""How many questions: a plan from assumed variances, or from the scores of a pilot with its repeatable gaps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from qassay.analysis import as_matrix
from qassay.errors import QassayError, UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.generalizability import Generalizability, assumed, generalizability
from qassay.meta.planning import (
    DIFFERENCES,
    Costs,
    Plan,
    Wanted,
    differences_for,
    notes_on_sizes,
    plan_from_variances,
)
from qassay.meta.planning import plan as plan_from_matrix
from qassay.meta.sensitivity import Prediction, find_preset, predict, rests_on
from qassay.summaries import Mean
from qassay.tables import counted

if TYPE_CHECKING:
    from qassay.analysis import ScoresLike
    from qassay.evaluation import Evaluation

# Fewer runs make a single pair, whose curve says nothing of another one.
FEWEST_RUNS = 3
# With fewer units `sensitivity` gives no answer, and a plan gives none in its place.
FEWEST_UNITS = 2 * find_preset("default").first_size


def plan(
    scores: ScoresLike | Evaluation | None = None,
    *,
    assume: Mapping[str, float] | None = None,
    by_assessor: Sequence[ScoresLike] = (),
    differences: Sequence[float] | None = None,
    error: float = 0.05,
    power: float = 0.8,
    alpha: float = 0.05,
    coefficient: float = 0.95,
    cost_question: float | None = None,
    cost_answer: float | None = None,
    details: bool = True,
    lower_is_better: Collection[str] = (),
) -> Plan:
    """How many questions, and assessors, does a wanted difference need?

    From the scores of a pilot, or from assumed variances of "run", "question" and "residual". `differences` are the
    differences to plan for. `sentence()` recommends one number: the units with which a paired t test at level `alpha`
    has this `power` for the largest difference that the pilot's units do not show yet. The tables show what more or
    fewer units can do, the units with which a difference is repeatable (error rate at most `error`), and those for a
    generalizability `coefficient`. `by_assessor` are scores under the judgments of each assessor: more assessors are
    then compared with more units. If systems ran several times, more repeats are compared with more units;
    `cost_question` and `cost_answer` (of one more answer to a question, from all systems) choose the best. Without
    `details` the tables leave the alternatives out.

    >>> import qassay
    >>> qassay.plan(assume={"run": 0.003, "question": 0.03, "residual": 0.01}, differences=[0.02])
    Plan: about 400 questions for a difference of 0.02 (power 0.8)
    """
    if (scores is None) == (assume is None):
        raise UsageError("plan takes pilot scores or assumed variances (assume), one of the two")
    if (cost_question is None) != (cost_answer is None):
        raise UsageError("the best number of repeats takes both costs, of a question and of an answer")
    costs = None if cost_question is None or cost_answer is None else Costs(cost_question, cost_answer)
    if assume is not None:
        if costs is not None:
            raise UsageError("costs choose the number of repeats, which takes scores with repeats")
        wanted = Wanted(tuple(differences or DIFFERENCES), error, power, alpha, coefficient)
        return replace(plan_from_variances(assumed(assume), wanted=wanted), details=details)
    matrix = as_matrix(cast("ScoresLike | Evaluation", scores), lower_is_better=lower_is_better)
    wanted = Wanted(tuple(differences or differences_for(matrix)), error, power, alpha, coefficient)
    pilot_plan = plan_from_pilot(matrix, [as_matrix(table) for table in by_assessor], wanted=wanted, costs=costs)
    return replace(pilot_plan, details=details)


def plan_from_pilot(
    matrix: ScoreMatrix, by_assessor: Sequence[ScoreMatrix], *, wanted: Wanted, costs: Costs | None = None
) -> Plan:
    """The plan from pilot scores; where repeatable sizes or variances cannot be given, a note says why.

    `by_assessor` are the scores under the judgments of each assessor, where more assessors are weighed against more
    units.
    """
    notes: list[str] = []
    studied = on_shared_units(by_assessor) or [matrix]
    study: Generalizability | None = None
    prediction: Prediction | None = None
    try:
        study = generalizability(studied)
    except QassayError as failure:
        notes.append(f"No variances: {failure}.")
    if len(matrix.runs) < FEWEST_RUNS:
        notes.append("No repeatable gaps: they need three runs or more; a single pair says nothing of other runs.")
    elif len(matrix.units) < FEWEST_UNITS:
        notes.append(f"No repeatable gaps: they need {FEWEST_UNITS} {matrix.unit_name[1]} or more.")
    else:
        prediction = predict(matrix)
    result = plan_from_matrix(matrix, wanted=wanted, prediction=prediction, study=study, costs=costs)
    if prediction is None:
        return replace(result, notes=(*result.notes, *notes))
    if any(row.repeatable is not None for row in result.shown) or any(row.predicted for row in result.differences):
        notes += rests_on(len(prediction.moments.means))
    largest = prediction.limits[-1]
    if any(row.repeatable == largest for row in result.shown):
        notes.insert(0, f"repeatable from {largest:.3f}: all gaps from there on, taken together.")
    missing = tuple(notes_on_sizes(prediction, result))
    return replace(result, notes=(*result.notes, *notes), missing_sizes=missing)


def on_shared_units(matrices: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """The matrices on the units that all of them have; an error where there is none."""
    if not matrices:
        return []
    shared = set.intersection(*(set(matrix.units) for matrix in matrices))
    if not shared:
        noun, nouns = matrices[0].unit_name
        raise UsageError(f"the scores by assessor have no {noun} in common. Name assessors who judged the same {nouns}")
    return [_on_units(matrix, shared) for matrix in matrices]


def _on_units(matrix: ScoreMatrix, units: set[str]) -> ScoreMatrix:
    """The matrix with the parts that these units have in its scores."""
    places = [i for i, unit in enumerate(matrix.units) if unit in units]
    if len(places) == len(matrix.units):
        return matrix
    note = f"{len(places)} of {counted(len(matrix.units), matrix.unit_name)} are scored under every set."
    return replace(
        matrix,
        units=tuple(matrix.units[i] for i in places),
        values=matrix.summary.contributions(matrix.values)[:, places],
        summary=Mean(),
        denominator=None,
        clusters=None if matrix.clusters is None else tuple(matrix.clusters[i] for i in places),
        notes=(*matrix.notes, note),
    )
