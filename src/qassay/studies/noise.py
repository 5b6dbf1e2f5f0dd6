"""Judging noise of an evaluation: how far the scores of identical responses that were judged separately differ."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from qassay.evaluation import Evaluation
from qassay.judging import ROW_KINDS
from qassay.meta.noise import Noise, judging_noise
from qassay.scoring import Missing, Unjudged


def component_noise(
    evaluation: Evaluation, key: str, kind: str, *, unjudged: Unjudged = "stop", missing: Missing = "stop"
) -> Noise | None:
    """Judging noise of one type of question; None where its responses are not judged one run at a time."""
    ids = [question.id for question in evaluation.questions if question.type == kind]
    if not evaluation.task.types[kind].form.is_judged_whole or not ids:
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
