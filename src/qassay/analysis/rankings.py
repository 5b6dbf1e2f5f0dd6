"""Rankings under different judgments: score the runs under every judgment set, and look for judging noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from qassay.errors import InputError, Problem, unknown
from qassay.evaluation import Evaluation
from qassay.judgments import SETTLED_SETS
from qassay.matrix import ScoreMatrix
from qassay.meta.agreement import agreement
from qassay.meta.noise import Noise, judging_noise
from qassay.meta.stability import Stability, stability
from qassay.scores import Missing, Unjudged

# Ratings of justifications, each judge's in a set of their own.
RATED = ("correctness", "understandability")


@dataclass(frozen=True)
class Scoring:
    """How the runs of an evaluation are scored under each of its sets, and what was left out on the way."""

    evaluation: Evaluation
    component: str | None
    unjudged: Unjudged
    missing: Missing
    notes: list[str] = field(default_factory=list)

    def matrix(self, name: str, measure: str | None) -> ScoreMatrix:
        """The score matrix under one set, with what was left out as notes."""
        if self.evaluation.task.has("justified") and (measure or "correctness") in RATED:
            return self.rated(name, measure or "correctness")
        scores = self.evaluation.score(
            name, measure=measure, component=self.component, unjudged=self.unjudged, missing=self.missing
        )
        return scores.matrix

    def rated(self, name: str, scale: str) -> ScoreMatrix:
        """The ratings of justifications that one set holds: scoring proper takes those of all sets together."""
        given = pl.col("correctness").fill_null(0) if scale == "correctness" else pl.col(scale)
        rows = self.evaluation.ratings([name]).drop_nulls("understandability")
        cells = rows.group_by("question", "run", maintain_order=True).agg(given.mean().alias("value"))
        wide = cells.pivot("question", index="run", values="value")
        units, runs = wide.columns[1:], tuple(wide["run"])
        values = wide.select(units).to_numpy().astype(float)
        if not runs or np.isnan(values).any():
            message = f"justifications are not all rated in the set {name}; rate them, or leave the set out with --sets"
            raise InputError(Problem("unjudged", message))
        return ScoreMatrix(runs, tuple(units), values, measure=scale)

    def matrices(self, names: Sequence[str], measure: str | None, *, keep: Sequence[str]) -> dict[str, ScoreMatrix]:
        """The matrices by set; a set outside `keep` that does not judge everything is left out, and said to be."""
        found = {}
        for name in names:
            try:
                found[name] = self.matrix(name, measure)
            except InputError as error:
                if name in keep or any(problem.rule != "unjudged" for problem in error.problems):
                    raise
                self.notes.append(f"Left out: set {name} ({error.problems[0].message.split(';')[0]}).")
        return found


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
) -> tuple[Stability, list[Noise]]:
    """Compare the rankings of an evaluation's runs under its judgment sets; with the noise where runs are identical."""
    names = list(sets) if sets is not None else _all_sets(evaluation)
    if sets is None and evaluation.task.has("justified") and all(one in RATED for one in measures or RATED[:1]):
        names = [name for name in names if "rating" in evaluation.judgment_set(name).kinds] or names
    if reference is not None and reference not in names:
        raise unknown("reference among the sets", reference, names)
    base = reference or next((name for name in SETTLED_SETS if name in names), names[0])
    scoring = Scoring(evaluation, component, unjudged, missing)
    found: dict[str, dict[str, ScoreMatrix]] = {}
    wanted: Sequence[str | None] = measures or [None]
    for measure in wanted:
        matrices = scoring.matrices(names, measure, keep=sets or [base])
        found[matrices[base].measure] = matrices
        names = list(matrices)
    found = {measure: {name: matrices[name] for name in names} for measure, matrices in found.items()}
    result = stability(found, reference=base, disagreements=_disagreements(evaluation, names), progress=progress)
    kinds = evaluation.task.types if component is None else [component]
    noise = [component_noise(evaluation, base, kind, unjudged=unjudged, missing=missing) for kind in kinds]
    return replace(result, notes=tuple(dict.fromkeys(scoring.notes))), [one for one in noise if one is not None]


def _all_sets(evaluation: Evaluation) -> list[str]:
    """All sets, without two-way ones beside others: scores of another task do not compare."""
    if not evaluation.sets:
        message = "there are no judgments to score with; add them with: qassay import FOLDER JUDGMENTS"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    two_way = evaluation.two_way_sets
    return [name for name in evaluation.sets if name not in two_way] or list(evaluation.sets)


def _disagreements(evaluation: Evaluation, names: Sequence[str]) -> int | None:
    """On how many pairs the assessors, or else the compared sets, disagree; for entailment only."""
    if not evaluation.task.has("decision"):
        return None
    compared = [name for name in names if name in evaluation.assessor_sets]
    if len(compared) < 2:
        compared = [name for name in names if name in evaluation.sets]
    if len(compared) < 2:
        return None
    labels = evaluation.labels(compared).drop_nulls()
    two_way = evaluation.two_way_sets.intersection(compared)
    return agreement({name: labels[name] for name in compared}, two_way=two_way, resamples=0).disagreements


def component_noise(
    evaluation: Evaluation, key: str, kind: str, *, unjudged: Unjudged = "stop", missing: Missing = "stop"
) -> Noise | None:
    """Judging noise of one type of question; None where its responses are not judged one run at a time."""
    asked = [question.id for question in evaluation.questions if question.type == kind]
    if evaluation.task.types[kind].response not in ("set", "answer") or not asked:
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
    items = evaluation.runs.table.filter(pl.col("question").cast(pl.String).is_in(asked))
    return judging_noise(items, cells, component=kind, assessors=_assessors(evaluation, key))


def _assessors(evaluation: Evaluation, name: str) -> dict[str, str]:
    """Who judged each question under this set, where exactly one name is given."""
    rows = pl.concat([frame.select("question", "assessor") for frame in evaluation.judgment_set(name).kinds.values()])
    named = rows.drop_nulls().unique(maintain_order=True)
    return dict(named.filter(~pl.col("question").is_duplicated()).iter_rows())
