"""Two runs under the judgments of several assessors: who judged is part of the interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from qassay.display import enumerated
from qassay.errors import InputError, Problem, Remedy, UsageError, unknown
from qassay.matrix import ScoreMatrix
from qassay.meta.crossed import OverAssessors, People, averaged, over_assessors
from qassay.meta.significance import PairComparison, limit, signed
from qassay.meta.significance import compare as compare_two
from qassay.options import HowScored, Scoring
from qassay.sources import need_evaluation
from qassay.studies.plan import on_shared_units

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
    check_sets(evaluation, sets)
    scoring = HowScored(**{name: value for name, value in how.items() if name != "key"})  # type: ignore[typeddict-item]
    scores = crossed(evaluation, sets, (a, b), **scoring)
    everyone: list[ScoreMatrix] = []
    if len(sets) == 2:
        # Where some system has no judgments of both, the pair is what there is.
        with suppress(InputError):
            everyone = list(crossed(evaluation, sets, **scoring).values())
    over, decision = over_assessors(scores, everyone=everyone, people=people or "these", alpha=alpha)
    result = compare_two(averaged(list(scores.values())), a, b, alpha=alpha, decision=decision, **testing)
    return replace(result, over=over)


def check_sets(evaluation: Evaluation, sets: Sequence[str]) -> None:
    """Stop at sets that are not there, that are named twice, or that are not several."""
    known = (*evaluation.sets, *evaluation.role_sets)
    for name in sets:
        if name not in known:
            raise unknown("judgment set", name, known)
        if list(sets).count(name) > 1:
            raise UsageError(f"the judgment set {name} is named twice: over names each assessor's judgments once")
    if len(sets) < 2:
        remedy = Remedy("key", sets[0], "To compare under this set") if sets else None
        message = f"{ONE_ASSESSOR} Name two judgment sets or more of the same answers"
        raise InputError(Problem("configuration", message, way_out=(remedy,) if remedy else ()))
    if evaluation.task.is_rated:
        raise UsageError("justifications are scored by the ratings of all sets together: over does not apply to them")


def crossed(
    evaluation: Evaluation, sets: Sequence[str], runs: Sequence[str] | None = None, **how: Unpack[HowScored]
) -> dict[str, ScoreMatrix]:
    """The scores of these runs (or of all) under each set, on the questions of which every set judged all answers."""
    by_set = evaluation.matrices_of(sets, runs, **how)
    shared = on_shared_units(list(by_set.values()))
    asked = len(evaluation.questions)
    first = shared[0]
    if first.unit_name[0] == "question" and len(first.units) < asked:
        note = (
            f"{len(first.units):,} of {asked:,} questions: those of which {enumerated(sets)} judged all answers of "
            f"{'all systems' if runs is None else enumerated(runs)}."
        )
        shared = [replace(matrix, notes=(*matrix.notes, note)) for matrix in shared]
    return dict(zip(sets, shared, strict=True))


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
