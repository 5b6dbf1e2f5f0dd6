"""A plan from the scores of a pilot: with what repeatable gaps and variances add to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qassay.errors import QassayError, UsageError
from qassay.matrix import Mean, ScoreMatrix
from qassay.meta.generalizability import Generalizability, generalizability
from qassay.meta.planning import Costs, Plan, Wanted, notes_on_sizes, plan
from qassay.meta.sensitivity import Prediction, find_preset, predict, rests_on
from qassay.tables import counted

# Fewer runs make a single pair, whose curve says nothing of another one.
FEWEST_RUNS = 3
# With fewer units `sensitivity` gives no answer, and a plan gives none in its place.
FEWEST_UNITS = 2 * find_preset("default").first_size


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
    result = plan(matrix, wanted=wanted, prediction=prediction, study=study, costs=costs)
    if prediction is None:
        return replace(result, notes=(*result.notes, *notes))
    if any(row.repeatable is not None for row in result.shown) or any(row.predicted for row in result.differences):
        notes += rests_on(len(prediction.moments.means))
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
