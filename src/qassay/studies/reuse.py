"""Would the judgments be fair to a system that was not in the pool?

Leaves out each run in turn, as if it had come after the judging: judgments of items that only this run returned are
not used. If its score falls much, the judgments are not fair to new systems, and their answers must be judged too.

--with lets an automatic assessor judge the run that is left out, in place of people. The table then shows the score
and rank of each run by people, with nothing in their place, and by the assessor. An assessor that learns from
people's judgments does not see those of the run. Responses to nugget questions can be left out only this way.

Examples

  qassay reuse my-eval
  qassay reuse my-eval --by organisation
  qassay reuse my-eval --component list --json
  qassay reuse my-rag-eval --with overlap
  qassay reuse my-rag-eval --with "learned(hits=true)" --by organisation
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import polars as pl

from qassay.assessors.base import AutomaticAssessor, Case, Judging, documents_at
from qassay.assessors.judging import close, shown_nuggets
from qassay.assessors.own import as_assessor
from qassay.display import as_sentence
from qassay.errors import UsageError
from qassay.evaluation import Evaluation
from qassay.formats.jsonl import rows_table
from qassay.judging import JUDGMENT_COLUMNS, subject
from qassay.judging.items import pool_items
from qassay.judging.keys import MIXED, Key
from qassay.judging.sets import JudgmentSet, judgment_set
from qassay.meta.reuse import By, Reuse, without
from qassay.meta.reuse import reuse as leave_out
from qassay.options import Component, ForMissing, Measure, Option
from qassay.options import Key as KeyOption
from qassay.pages import Exhibit, Page
from qassay.sources import need_evaluation
from qassay.studies import Study

# Anything that `qassay.judge` takes as an assessor.
Assessor = str | AutomaticAssessor | Callable[[Case], Any]


def reuse(
    evaluation: Evaluation,
    assessor: Annotated[
        Assessor | None,
        Option("Let this assessor (as in judge) judge the run left out.", "ASSESSOR", flag="--with", read=str),
    ] = None,
    *,
    by: Annotated[By, Option("Leave out one run, or all runs of one organisation.")] = "run",
    key: KeyOption = None,
    measure: Measure = None,
    component: Component = None,
    missing: ForMissing = "stop",
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
    configuration = evaluation.configuration
    rules: dict[str, Any] = {
        **{"by": by, "measure": measure, "component": component, "missing": missing, "progress": progress},
        **{"drop": configuration.drop, "drop_from_series": configuration.drop_from_series},
    }
    if assessor is None:
        return leave_out(evaluation.tally(key, measure=measure), **rules)
    people = key or evaluation.default_key()
    if people is not None and (people in evaluation.automatic_sets or MIXED in people):
        raise UsageError(f"{people} has judgments of a program; name those of people with --key")
    standin = _StandIn(evaluation, assessor)
    try:
        joined = evaluation.tally(people, measure=measure)
        return leave_out(joined, assessor=standin.name, assess=standin.judged, **rules)
    finally:
        standin.close()


def page(result: Reuse) -> Page:
    """How much a run loses, and every run with and without what it brought."""
    return Page((as_sentence(result.sentence()),), (Exhibit("reuse", result.table()),))


STUDY = Study(name="reuse", compute=reuse, page=page, documents=(Reuse,), doing="leaving out")


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
