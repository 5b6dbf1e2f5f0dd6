"""Compare the rankings under different judgment sets.

Scores every run of an evaluation under each of its judgment sets and
compares the rankings: Kendall's tau and tau_AP, the runs that change
places and how far apart they were, the largest change of a score.
Or compares the rankings of several tables of scores of the same
systems, named by their files; the first one is the reference then.

Examples

  qassay stability my-eval
  qassay stability my-eval --sets adjudicated,first,second
  qassay stability my-eval --measure cws --measure accuracy
  qassay stability human.csv model.csv
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np
import polars as pl

from qassay.display import as_sentence
from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.judging import OPINIONS, SETTLED_SETS
from qassay.judging.keys import DISAGREEMENT_UNKNOWN, TWO_WAY
from qassay.matrix import ScoreMatrix
from qassay.meta.agreement import agreement
from qassay.meta.crossed import over_assessors
from qassay.meta.stability import MeasureStability, Stability
from qassay.meta.stability import stability as compare_rankings
from qassay.options import Component, ForMissing, ForUnjudged, Option, Seed, Sets
from qassay.pages import Exhibit, Page
from qassay.scoring import Missing, Unjudged
from qassay.sources import as_evaluation, as_matrix, refuse_options
from qassay.studies import JUDGES, Study
from qassay.studies.assessors import about_assessors, on_shared_units
from qassay.studies.noise import component_noise
from qassay.tables import plural

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.figures import Figure
    from qassay.sources import ScoresLike

Measures = Annotated[
    Sequence[str],
    Option(
        "Measure to rank by; may be repeated (an evaluation).",
        metavar="NAME",
        flag="--measure",
        repeated=True,
        of_evaluation=True,
    ),
]
Reference = Annotated[str | None, Option("What swaps and changes are measured from.", metavar="SET", on_pages=True)]


def stability(
    scores: Evaluation | Mapping[str, ScoresLike],
    *,
    sets: Sets = None,
    measures: Measures = (),
    reference: Reference = None,
    component: Component = None,
    unjudged: ForUnjudged = "stop",
    missing: ForMissing = "stop",
    seed: Seed = 0,
    progress: Callable[[int, int], None] | None = None,
    lower_is_better: Collection[str] = (),
) -> Stability:
    """Would the ranking be the same under other judgments?

    An evaluation is scored under each of its judgment sets, or under those named in `sets`. A mapping names the scores
    of the same runs from different judges, such as `{"people": ..., "model": ...}`. Swaps and changes are measured
    from `reference`: by default the settled judgments, or the first entry of a mapping. Questions are drawn again (with
    this `seed`) to say where tau would lie with new ones.

    >>> import qassay
    >>> evaluation = qassay.open(qassay.demo_folder())
    >>> qassay.stability(evaluation, sets=["adjudicated", "first"])  # doctest: +NORMALIZE_WHITESPACE
    Stability: compared with adjudicated, first reverses 1 of 45 pairs of runs;
    the largest difference that is reversed is 0.041
    """
    evaluation = as_evaluation(scores)
    if evaluation is not None:
        scoring = ScoringUnder(evaluation, component, unjudged, missing)
        return _of_evaluation(scoring, sets or None, measures, reference, seed, progress)
    refuse_options(sets=sets, measures=measures, component=component, unjudged=unjudged, missing=missing)
    if not isinstance(scores, Mapping) or len(scores) < 2:
        message = "stability compares the scores of two judges or more, one table or file of each, or an evaluation"
        raise UsageError(message)
    matrices = {name: as_matrix(source, lower_is_better=lower_is_better) for name, source in scores.items()}
    first = next(iter(matrices))
    by_measure = {matrices[first].measure: matrices}
    result = compare_rankings(by_measure, reference=reference or first, seed=seed, progress=progress)
    return _with_assessors(result, by_measure, [name for name in matrices if name not in SETTLED_SETS])


def page(result: Stability) -> Page:
    """Which runs change places, the ranks under each set, and the rankings compared."""
    exhibits = [Exhibit(f"stability-{place}", shown) for place, shown in enumerate(result.tables(), 1)]
    first = next(iter(result.measures.values()))
    figures = [Exhibit("ranks-by-set", draw=result.figure)] if len(result.sets) > 1 < len(first.runs) else []
    figures += [Exhibit("tau", draw=partial(_taus, first))] if len(result.sets) > 2 else []
    notes: list[str] = []
    if result.over is not None:
        where, *caution = about_assessors(result.over)
        notes += [f"The largest swap: {where[0].lower()}{where[1:]}", *caution]
    if tau := first.with_new_units():
        notes.append(as_sentence(tau))
    answer = (as_sentence(result.sentence()),)
    return Page(answer, (*exhibits[:1], *figures, *exhibits[1:]), notes=tuple(notes))


STUDY = Study(
    name="stability",
    compute=stability,
    page=page,
    documents=(Stability,),
    source="judges",
    doing="comparing rankings",
    heading="Would other judgments change the ranking?",
    label="Stability",
    tab=JUDGES,
    slow=True,
)


def _with_assessors(
    result: Stability, scored: Mapping[str, Mapping[str, ScoreMatrix]], assessors: Sequence[str]
) -> Stability:
    """The result with the largest swap over the assessors who judged the same, where there are several."""
    measure, matrices = next(iter(scored.items()))
    swaps = result.measures[measure].swapped
    chosen = [matrices[name].select(result.measures[measure].runs) for name in assessors]
    if len(chosen) < 2 or not swaps or any(matrix.repeats is not None for matrix in chosen):
        return result
    largest = max(swaps, key=lambda swap: swap.difference)
    with suppress(UsageError):
        everyone = on_shared_units(chosen)
        pair = [matrix.select([largest.better, largest.worse]) for matrix in everyone]
        over, _ = over_assessors(dict(zip(assessors, pair, strict=True)), everyone=everyone)
        return replace(result, over=over)
    return result


def _taus(measure: MeasureStability) -> Figure:
    from qassay.figures import tau_heat_map

    return tau_heat_map(measure)


# ---- the runs scored under each judgment set -------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoringUnder:
    """How the runs of an evaluation are scored under each of its sets."""

    evaluation: Evaluation
    component: str | None
    unjudged: Unjudged
    missing: Missing

    def matrix(self, name: str, measure: str | None) -> ScoreMatrix:
        """The score matrix under one set."""
        scale = measure or OPINIONS.ranked_by
        if self.evaluation.task.is_rated and scale in OPINIONS.fields:
            return self.rated(name, scale)
        scores = self.evaluation.score(
            name, measure=measure, component=self.component, unjudged=self.unjudged, missing=self.missing
        )
        return scores.matrix

    def rated(self, name: str, scale: str) -> ScoreMatrix:
        """The ratings of justifications in one set: scoring itself uses those of all sets together."""
        rows = OPINIONS.averaged(self.evaluation.ratings([name]))
        cells = rows.group_by("question", "run", maintain_order=True).agg(pl.col(scale).mean().alias("value"))
        wide = cells.pivot("question", index="run", values="value")
        units, runs = wide.columns[1:], tuple(wide["run"])
        values = wide.select(units).to_numpy().astype(float)
        if not runs or np.isnan(values).any():
            message = f"justifications are not all rated in the set {name}; rate them, or compare other sets"
            raise InputError(Problem("unjudged", message))
        manual = frozenset(tag for tag, about in self.evaluation.information.items() if about.manual)
        return ScoreMatrix(
            runs, tuple(units), values, measure=scale, manual=manual.intersection(runs), unit_name=("pair", "pairs")
        )


def _of_evaluation(
    scoring: ScoringUnder,
    sets: Sequence[str] | None,
    measures: Sequence[str],
    reference: str | None,
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> Stability:
    """The rankings of an evaluation's runs under its judgment sets; with the noise where runs are identical."""
    evaluation = scoring.evaluation
    names = list(dict.fromkeys(sets)) if sets is not None else _sets_to_compare(evaluation, measures)
    base = _reference(names, reference)
    scored, notes = _scored(scoring, names, measures, base, keep=sets or [base])
    names = list(next(iter(scored.values())))
    disagreements = _disagreements(evaluation, names)
    result = compare_rankings(scored, reference=base, disagreements=disagreements, seed=seed, progress=progress)
    result = _with_assessors(result, scored, [name for name in names if name in evaluation.assessor_sets])
    if any(measure.bound is not None for measure in result.measures.values()):
        notes += _beyond_the_bound(evaluation, names)
    notes += _further_rules(evaluation, names, sets)
    kinds = evaluation.task.types if scoring.component is None else [scoring.component]
    noise = {
        kind: component_noise(evaluation, base, kind, unjudged=scoring.unjudged, missing=scoring.missing)
        for kind in kinds
    }
    known = {kind: part for kind, part in noise.items() if part is not None}
    return replace(result, notes=tuple(dict.fromkeys(notes)), noise=known)


def _sets_to_compare(evaluation: Evaluation, measures: Sequence[str]) -> list[str]:
    """The sets that are compared by default, without two-way ones beside others: scores of another task do not compare.

    Where justifications are rated, the sets that contain ratings.
    """
    if not evaluation.sets:
        message = "there are no judgments to score with; add them with: qassay import FOLDER JUDGMENTS"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    names = [name for name in evaluation.sets if name not in evaluation.two_way_sets] or list(evaluation.sets)
    if evaluation.task.is_rated and all(measure in OPINIONS.fields for measure in measures):
        return [name for name in names if OPINIONS.name in evaluation.judgment_set(name).kinds] or names
    return names


def _reference(names: Sequence[str], reference: str | None) -> str:
    """The set that the others are measured against: the one named, else a settled one, else the first."""
    if reference is not None and reference not in names:
        raise unknown("reference among the sets", reference, names)
    return reference or next((name for name in SETTLED_SETS if name in names), names[0])


def _scored(
    scoring: ScoringUnder, names: Sequence[str], measures: Sequence[str], base: str, *, keep: Sequence[str]
) -> tuple[dict[str, dict[str, ScoreMatrix]], list[str]]:
    """Matrices by measure and set, for the sets that every measure can be computed from; with notes on the others.

    A set outside `keep` that does not judge everything is left out.
    """
    scored: dict[str, dict[str, ScoreMatrix]] = {}
    notes: list[str] = []
    spellings: Sequence[str | None] = measures or [None]
    for measure in spellings:
        matrices = {}
        for name in names:
            try:
                matrices[name] = scoring.matrix(name, measure)
            except InputError as error:
                if name in keep or any(problem.rule != "unjudged" for problem in error.problems):
                    raise
                notes.append(f"Left out: set {name} ({error.problems[0].message.split(';')[0]}).")
        scored[matrices[base].measure] = matrices
        names = list(matrices)
    return {measure: {name: matrices[name] for name in names} for measure, matrices in scored.items()}, notes


def _disagreements(evaluation: Evaluation, names: Sequence[str]) -> int | None:
    """On how many pairs the assessors, or else the compared sets, disagree; for entailment only."""
    if not evaluation.task.has_decisions:
        return None
    compared = _assessors_behind(evaluation, names)
    if len(compared) < 2:
        compared = [name for name in names if name in evaluation.sets]
    if len(compared) < 2:
        return None
    labels = evaluation.labels(compared).drop_nulls()
    two_way = evaluation.two_way_sets.intersection(compared)
    return agreement({name: labels[name] for name in compared}, two_way=two_way, resamples=0).disagreements


def _assessors_behind(evaluation: Evaluation, names: Sequence[str]) -> list[str]:
    """The assessors' sets among these, and those that a key among them follows from."""
    if DISAGREEMENT_UNKNOWN in names and DISAGREEMENT_UNKNOWN not in evaluation.sets:
        return list(evaluation.assessor_sets)
    return [name for name in names if name in evaluation.assessor_sets]


def _beyond_the_bound(evaluation: Evaluation, names: Sequence[str]) -> Iterator[str]:
    """Why a score can change by more than the assessors' disagreements: other rules, and rulings against all."""
    two_way = [name for name in names if name == TWO_WAY or name in evaluation.two_way_sets]
    if two_way and len(two_way) < len(names):
        yield f"{', '.join(two_way)}: NO and UNKNOWN count alike there, and a score can change by more than the bound."
    compared = _assessors_behind(evaluation, names)
    for name in names:
        if len(compared) < 2 or name in (*compared, *two_way) or name not in evaluation.sets:
            continue
        labels = evaluation.labels([*compared, name]).drop_nulls()
        unanimous = labels.filter(pl.all_horizontal(pl.col(other) == pl.col(compared[0]) for other in compared[1:]))
        against = unanimous.filter(pl.col(name) != pl.col(compared[0])).height
        if against:
            yield f"{name} rules against all assessors on {plural(against, 'question')}, which the bound leaves out."


def _further_rules(evaluation: Evaluation, names: Sequence[str], sets: Sequence[str] | None) -> list[str]:
    """Keys that follow from the sets and were not asked for."""
    three_way = evaluation.task.has_decisions and "UNKNOWN" in evaluation.task.labels
    if sets is not None or not three_way or len(evaluation.assessor_sets) < 2:
        return []
    rules = [name for name in evaluation.derived_sets if name not in names]
    return [f"Not shown unless chosen: the rankings under {' and '.join(rules)}."] if rules else []
