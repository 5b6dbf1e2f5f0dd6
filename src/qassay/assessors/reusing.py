"""Reusability with an automatic assessor: leave a run out, let the assessor judge it, and compare (METHOD 6 and 7).

The assessor sees people's judgments without those of the run that is left out, as if the run had come after the
judging: one that learns from them is opened again for every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from qassay.analysis import need_evaluation
from qassay.analysis import reuse as leave_out
from qassay.assessors.base import AutomaticAssessor, Case, Judging, documents_at
from qassay.assessors.judging import close, shown_nuggets
from qassay.assessors.own import as_assessor
from qassay.errors import UsageError
from qassay.evaluation import Evaluation
from qassay.formats.jsonl import rows_table
from qassay.judging import JUDGMENT_COLUMNS, subject
from qassay.judging.items import pool_items
from qassay.judging.keys import MIXED, Key
from qassay.judging.sets import JudgmentSet, judgment_set
from qassay.meta.reuse import By, Reuse, without
from qassay.scoring import Missing

# Anything that `qassay.judge` takes as an assessor.
Assessor = str | AutomaticAssessor | Callable[[Case], Any]


def reuse(
    evaluation: Evaluation,
    assessor: Assessor | None = None,
    *,
    by: By = "run",
    key: str | None = None,
    measure: str | None = None,
    component: str | None = None,
    missing: Missing = "stop",
    progress: Callable[[int, int], None] | None = None,
) -> Reuse:
    """Would the judgments be fair to a system that was not in the pool?

    Each run in turn, or with `by="organisation"` all runs of an organisation, is scored without the judgments that only
    it brought. A large fall means that new systems cannot be scored without judging more. With an `assessor` (as in
    `qassay.judge`), its judgments take the place of those: the result shows score and rank of each run by people, with
    nothing in their place, and by the assessor.

    >>> import qassay
    >>> qassay.reuse(qassay.open(qassay.demo_folder()), component="factoid")
    Reuse: a run left out changes by -0.047 on average, by -0.195 at most (jay); 3 of 45 pairs of runs change places
    >>> qassay.reuse(qassay.open(qassay.demo_folder()), "match(normalise=true)", component="factoid")
    Reuse: ...
    """
    need_evaluation(evaluation, "reuse")
    rules: dict[str, Any] = {"by": by, "measure": measure, "component": component, "missing": missing}
    if assessor is None:
        return leave_out(evaluation, key=key, progress=progress, **rules)
    people = key or evaluation.default_key()
    if people is not None and (people in evaluation.automatic_sets or MIXED in people):
        raise UsageError(f"{people} has judgments of a program; name those of people with --key")
    standin = _StandIn(evaluation, assessor)
    try:
        return leave_out(
            evaluation, key=people, assessor=standin.name, assess=standin.judged, progress=progress, **rules
        )
    finally:
        standin.close()


class _StandIn:
    """Judges for people what some runs returned."""

    def __init__(self, evaluation: Evaluation, assessor: Assessor) -> None:
        self._evaluation = evaluation
        self._spelling = assessor if isinstance(assessor, str) else None
        self._opened = self._open(assessor, evaluation)
        self._people = [evaluation.judgment_set(name) for name in evaluation.human_sets]
        self._documents = documents_at(evaluation.folder.collection)
        self.name = self._opened.name

    def judged(self, runs: Sequence[str], key: Key) -> JudgmentSet:
        """The judgments of everything that these runs returned and the key does not judge."""
        evaluation = self._evaluation
        runs_alone = replace(
            evaluation.runs, table=evaluation.runs.table.filter(pl.col("run").cast(pl.String).is_in(runs))
        )
        known = {
            subject(kind, row) for kind, table in key.judgments.kinds.items() for row in table.iter_rows(named=True)
        }
        nuggets: dict[str, list[dict[str, Any]]] = {}
        for row in key.nuggets.iter_rows(named=True):
            nuggets.setdefault(row["question"], []).append(row)
        shown = nuggets or shown_nuggets(evaluation, self.name)
        assessor = self._without(runs, key)
        judging = Judging(assessor, evaluation.questions, evaluation.task, shown, self._documents, known)
        rows = list(judging.rows(pool_items(runs_alone, evaluation.questions, evaluation.task, seed="")))
        table = rows_table(list(enumerate(rows, 1)), JUDGMENT_COLUMNS, file=self.name)
        return judgment_set(self.name, table, evaluation.questions, evaluation.task, file=self.name)

    def close(self) -> None:
        """End whatever the assessor keeps running."""
        close(self._opened)

    def _without(self, runs: Sequence[str], key: Key) -> AutomaticAssessor:
        """The assessor, as it is where people have not judged these runs."""
        if self._spelling is None or not getattr(self._opened, "learns", True):
            return self._opened
        left = [
            without(replace(key, judgments=judged), self._evaluation.runs, runs, responses=True)[0].judgments
            for judged in self._people
        ]
        close(self._opened)
        self._opened = self._open(self._spelling, self._evaluation.with_judgments(left))
        return self._opened

    @staticmethod
    def _open(assessor: Assessor, evaluation: Evaluation) -> AutomaticAssessor:
        from qassay.assessors import open_assessor

        if isinstance(assessor, str):
            return open_assessor(assessor, evaluation)
        return as_assessor(assessor, str(getattr(assessor, "__name__", "own")))
