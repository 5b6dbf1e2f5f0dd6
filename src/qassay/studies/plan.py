"""Find how many questions, and assessors, a difference needs.

The first sentence recommends one number from the scores of a pilot:
the questions with which a test finds a difference that the present ones
do not show yet, or the one named with --difference. Below it: what
more or fewer questions can show: which differences are significant
(a test finds them), and which gaps are repeatable (new questions show
them again). Where systems ran several times, more repeats are weighed
against more questions.

--details adds the alternatives: questions for other differences, for
repeatable gaps, and for dependable scores (generalizability). --sets
takes several judgment sets of an evaluation as assessors, and weighs
more assessors against more questions. --assume plans from variances
alone.

Examples

  qassay plan pilot.csv
  qassay plan pilot.csv --difference 0.02 --power 0.9 --details
  qassay plan epochs.jsonl --cost-question 5 --cost-answer 0.1
  qassay plan my-eval --sets first,second
  qassay plan --assume run=0.003 --assume question=0.03 --assume residual=0.01
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Unpack

from qassay.display import as_sentence
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
from qassay.meta.sensitivity import Prediction, find_preset, predict, rests_on, why_withheld
from qassay.options import Option, Scoring
from qassay.pages import Exhibit, Page
from qassay.sources import as_evaluation, as_matrix, refuse_options
from qassay.studies import MORE, Study
from qassay.studies.assessors import crossed, on_shared_units

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.sources import ScoresLike

# Fewer runs make a single pair, whose curve says nothing of another one.
FEWEST_RUNS = 3
# With fewer units `sensitivity` gives no answer, and a plan gives none in its place.
FEWEST_UNITS = 2 * find_preset("default").first_size


def variances_in(texts: Sequence[str]) -> dict[str, float]:
    """Variances from `source=number`, separated by commas or given one by one."""
    variances: dict[str, float] = {}
    for part in (piece for text in texts for piece in text.split(",")):
        name, _, number = part.partition("=")
        try:
            variances[name.strip()] = float(number)
        except ValueError:
            raise ValueError(f"a source and its variance, such as run=0.003, not {part!r}") from None
    return variances


def plan(
    scores: ScoresLike | Evaluation | None = None,
    *,
    differences: Annotated[
        Sequence[float] | None, Option("Wanted difference; may be repeated.", "D", flag="--difference", short="-d")
    ] = None,
    error: Annotated[float, Option("Wanted error rate of a comparison.")] = 0.05,
    power: Annotated[float, Option("Wanted power of the paired t test.")] = 0.8,
    alpha: Annotated[float, Option("Level of the paired t test.")] = 0.05,
    coefficient: Annotated[float, Option("Wanted generalizability coefficient.")] = 0.95,
    assume: Annotated[
        Mapping[str, float] | None,
        Option("Plan without scores: run=V, question=V, residual=V; repeated.", "SOURCE=VARIANCE", read=variances_in),
    ] = None,
    sets: Annotated[
        Sequence[str] | None,
        Option(
            "Judgment sets whose assessors are weighed against questions, separated by commas.",
            "A,B,...",
            of_evaluation=True,
        ),
    ] = None,
    cost_question: Annotated[
        float | None, Option("What a question costs; for the best number of repeats.", "C")
    ] = None,
    cost_answer: Annotated[
        float | None, Option("What one more answer to a question costs, from all systems together.", "C")
    ] = None,
    details: Annotated[bool, Option("Show the alternatives, and where the scores vary.")] = False,
    by_assessor: Sequence[ScoresLike] = (),
    lower_is_better: Collection[str] = (),
    **how: Unpack[Scoring],
) -> Plan:
    """How many questions, and assessors, does a wanted difference need?

    From the scores of a pilot, or from assumed variances of "run", "question" and "residual". `differences` are the
    differences to plan for. `sentence()` recommends one number: the units with which a paired t test at level `alpha`
    has this `power` for the largest difference that the pilot's units do not show yet. The tables show what more or
    fewer units can do; with `details`, or for several `differences`, also the units with which a difference is
    repeatable (error rate at most `error`), and those for a generalizability `coefficient`. The judgment `sets` of an
    evaluation, or `by_assessor`, the scores under the judgments of each assessor, compare more assessors with more
    units. If systems ran several times, more repeats are compared with more units; `cost_question` and `cost_answer`
    (of one more answer to a question, from all systems) choose the best. The other keyword arguments say how an
    evaluation is scored, as in `Evaluation.score`.

    >>> import qassay
    >>> qassay.plan(assume={"run": 0.003, "question": 0.03, "residual": 0.01}, differences=[0.02])
    Plan: about 395 questions find a true difference of 0.02 in 8 of 10 evaluations
    """
    if (cost_question is None) != (cost_answer is None):
        raise UsageError("the best number of repeats takes both costs, of a question and of an answer")
    costs = None if cost_question is None or cost_answer is None else Costs(cost_question, cost_answer)
    details = details or len(differences or ()) > 1
    evaluation = as_evaluation(scores)
    if evaluation is None:
        refuse_options(sets=sets, **how)
    if assume is not None and scores is None:
        if costs is not None:
            raise UsageError("costs choose the number of repeats, which takes scores with repeats")
        wanted = Wanted(tuple(differences or DIFFERENCES), error, power, alpha, coefficient)
        return replace(plan_from_variances(assumed(assume), wanted=wanted), details=details)
    if scores is None or assume is not None:
        raise UsageError("plan takes pilot scores (a folder or a file) or assumed variances (assume), one of the two")
    if evaluation is not None:
        matrix = evaluation.score(**how).matrix
        by_assessor = by_assessor if sets is None else list(crossed(evaluation, sets, None, how).values())
    else:
        matrix = as_matrix(scores, lower_is_better=lower_is_better)
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
    reason = why_withheld(prediction, len(matrix.units), wanted.error, matrix.unit_name[1])
    if reason is not None:
        return replace(result, notes=(*result.notes, as_sentence(reason), *notes))
    largest = prediction.limits[-1]
    if any(row.repeatable == largest for row in result.shows):
        notes.insert(0, f"repeatable from {largest:.3f}: all gaps from there on, taken together.")
    notes += rests_on(len(prediction.moments.means))
    return replace(result, notes=(*result.notes, *notes), missing_sizes=tuple(notes_on_sizes(prediction, result)))


def page(planned: Plan) -> Page:
    """The recommendation, and the findings of other numbers of units; the alternatives open with details."""
    shown = planned.tables()
    opened = {part.title for part in shown}
    shown += [part for part in replace(planned, details=True).tables() if part.title not in opened]
    tables = [Exhibit(f"plan-{i}", part, folded=part.title not in opened) for i, part in enumerate(shown, 1)]
    can_be_drawn = planned.deviation is not None and any(row.power is not None for row in planned.differences)
    drawn = [Exhibit("power", draw=planned.figure)] if can_be_drawn else []
    return Page((planned.summary(),), (*drawn, *tables), notes=() if tables else planned.notes)


STUDY = Study(
    name="plan",
    compute=plan,
    page=page,
    documents=(Plan,),
    source="scores",
    heading="How many questions does it take?",
    label="Plan",
    tab=MORE,
    slow=True,
)
