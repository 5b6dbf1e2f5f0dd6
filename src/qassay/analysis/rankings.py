"""Rankings under different judgments: the runs are scored under every judgment set, with a look for judging noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from qassay.errors import InputError, Problem, unknown
from qassay.evaluation import Evaluation
from qassay.judging import OPINIONS, ROW_KINDS, SETTLED_SETS
from qassay.judging.keys import DISAGREEMENT_UNKNOWN, TWO_WAY
from qassay.matrix import ScoreMatrix
from qassay.meta.agreement import agreement
from qassay.meta.noise import Noise, judging_noise
from qassay.meta.stability import Stability, stability
from qassay.scoring import Missing, Unjudged
from qassay.tables import plural


@dataclass(frozen=True)
class Scoring:
    """How the runs of an evaluation are scored under each of its sets."""

    evaluation: Evaluation
    component: str | None
    unjudged: Unjudged
    missing: Missing

    def matrix(self, name: str, measure: str | None) -> ScoreMatrix:
        """The score matrix under one set."""
        scale = measure or OPINIONS.ranked_by
        if self.evaluation.task.has("justified") and scale in OPINIONS.fields:
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
            message = f"justifications are not all rated in the set {name}; rate them, or leave the set out with --sets"
            raise InputError(Problem("unjudged", message))
        manual = frozenset(tag for tag, about in self.evaluation.information.items() if about.manual)
        return ScoreMatrix(
            runs, tuple(units), values, measure=scale, manual=manual.intersection(runs), unit_name=("pair", "pairs")
        )


def compare_sets(
    evaluation: Evaluation,
    sets: Sequence[str] | None = None,
    *,
    measures: Sequence[str] = (),
    reference: str | None = None,
    component: str | None = None,
    unjudged: Unjudged = "stop",
    missing: Missing = "stop",
    progress: Callable[[int, int], None] | None = None,
) -> Stability:
    """Compare the rankings of an evaluation's runs under its judgment sets; with the noise where runs are identical."""
    names = list(sets) if sets is not None else _sets_to_compare(evaluation, measures)
    base = _reference(names, reference)
    scoring = Scoring(evaluation, component, unjudged, missing)
    scored, notes = _scored(scoring, names, measures, base, keep=sets or [base])
    names = list(next(iter(scored.values())))
    disagreements = _disagreements(evaluation, names)
    result = stability(scored, reference=base, disagreements=disagreements, progress=progress)
    if any(measure.bound is not None for measure in result.measures.values()):
        notes += _beyond_the_bound(evaluation, names)
    notes += _further_rules(evaluation, names, sets)
    kinds = evaluation.task.types if component is None else [component]
    noise = [component_noise(evaluation, base, kind, unjudged=unjudged, missing=missing) for kind in kinds]
    known = tuple(part for part in noise if part is not None)
    return replace(result, notes=tuple(dict.fromkeys(notes)), noise=known)


def _sets_to_compare(evaluation: Evaluation, measures: Sequence[str]) -> list[str]:
    """The sets that are compared by default, without two-way ones beside others: scores of another task do not compare.

    Where justifications are rated, the sets that contain ratings.
    """
    if not evaluation.sets:
        message = "there are no judgments to score with; add them with: qassay import FOLDER JUDGMENTS"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    names = [name for name in evaluation.sets if name not in evaluation.two_way_sets] or list(evaluation.sets)
    if evaluation.task.has("justified") and all(measure in OPINIONS.fields for measure in measures):
        return [name for name in names if OPINIONS.name in evaluation.judgment_set(name).kinds] or names
    return names


def _reference(names: Sequence[str], reference: str | None) -> str:
    """The set that the others are measured against: the one named, else a settled one, else the first."""
    if reference is not None and reference not in names:
        raise unknown("reference among the sets", reference, names)
    return reference or next((name for name in SETTLED_SETS if name in names), names[0])


def _scored(
    scoring: Scoring, names: Sequence[str], measures: Sequence[str], base: str, *, keep: Sequence[str]
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
    if not evaluation.task.has("decision"):
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
    three_way = evaluation.task.has("decision") and "UNKNOWN" in evaluation.task.labels
    if sets is not None or not three_way or len(evaluation.assessor_sets) < 2:
        return []
    rules = [name for name in evaluation.derived_sets if name not in names]
    return [f"Not shown: the rankings under {' and '.join(rules)}; name them with --sets."] if rules else []


def component_noise(
    evaluation: Evaluation, key: str, kind: str, *, unjudged: Unjudged = "stop", missing: Missing = "stop"
) -> Noise | None:
    """Judging noise of one type of question; None where its responses are not judged one run at a time."""
    ids = [question.id for question in evaluation.questions if question.type == kind]
    if evaluation.task.types[kind].response not in ("set", "answer") or not ids:
        return None
    scores = evaluation.score(key, component=kind, unjudged=unjudged, missing=missing)
    questions, values = scores.questions[kind]
    cells = pl.DataFrame(
        {
            "run": [tag for tag in scores.tags for _ in questions],
            "question": [question.id for _ in scores.tags for question in questions],
            "score": values.reshape(-1),
        }
    ).with_columns(pl.col("score").fill_nan(None))
    items = evaluation.runs.table.filter(pl.col("question").cast(pl.String).is_in(ids))
    return judging_noise(
        items,
        cells,
        component=kind,
        assessors=_assessors(evaluation, key),
        verdicts=_nugget_levels(evaluation, key, ids),
    )


def _nugget_levels(
    evaluation: Evaluation, key: str, questions: Sequence[str]
) -> dict[tuple[str, str], frozenset[tuple[str, str]]] | None:
    """The nuggets found in each response, with how far they are supported; None where no nugget was judged."""
    levels_of: dict[tuple[str, str], set[tuple[str, str]]] = {}
    judged = evaluation.key(key).judgments
    chosen = set(questions)
    for name, table in judged.kinds.items():
        record = ROW_KINDS[name]
        for row in table.iter_rows(named=True) if record.by_nuggets else ():
            if row["question"] in chosen:
                levels = record.levels(row).items()
                levels_of.setdefault((row["run"], row["question"]), set()).update(levels)
    return {place: frozenset(nuggets) for place, nuggets in levels_of.items()} or None


def _assessors(evaluation: Evaluation, name: str) -> dict[str, str]:
    """Who judged each question under this set, where exactly one name is given."""
    rows = pl.concat([frame.select("question", "assessor") for frame in evaluation.key(name).judgments.kinds.values()])
    judged = rows.drop_nulls().unique(maintain_order=True)
    return dict(judged.filter(~pl.col("question").is_duplicated()).iter_rows())
