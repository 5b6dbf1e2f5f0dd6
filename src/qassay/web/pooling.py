"""The pool as pages show it, and its making: in a thread, because a million items take a while."""

from __future__ import annotations

import threading
from typing import Literal

from sqlalchemy import Connection

from qassay.errors import InputError, Problem
from qassay.evaluation import Evaluation, open_evaluation
from qassay.formats.folder import Configuration
from qassay.judging import KINDS, Wanted, kind_of_type
from qassay.judging.items import pool_items
from qassay.questions import TestSet
from qassay.runs import Runs
from qassay.store.acts import Assessor
from qassay.store.engine import Store
from qassay.store.pool.items import Pooled, order_seed
from qassay.store.pool.pooling import pool_mark, pool_summary, store_pool
from qassay.tables import plural
from qassay.web.background import job_named, start
from qassay.web.routing import Context
from qassay.web.site import Site

POOL = "pool"
# How long an answer waits for the pool: a small one is made by then.
PATIENCE = 1.0
# Options that were asked for and that no making of the pool has taken up yet.
ASKED = "pool options"
_turn = threading.Lock()


class PoolType(Context):
    """The items of one type of question."""

    type: str
    judged: str
    questions: int
    items: int


class PoolView(Context):
    """The pool: what there is to judge, and whether it is current."""

    made: str | None
    items: int
    questions: int
    # Questions for which no run returned anything.
    nothing: int
    types: list[PoolType]
    # Whether runs or questions have changed since.
    stale: bool
    holistic: bool
    citations: bool
    can_holistic: bool
    can_citations: bool
    state: Literal["idle", "running", "failed"]
    says: str


def pool_view(site: Site, connection: Connection) -> PoolView:
    """The current pool; nothing is counted here."""
    summary = pool_summary(connection)
    job = job_named(site, POOL)
    task = site.configuration.task
    options = {name for type_, rules in task.types.items() for name in kind_of_type(type_, rules).options}
    state: Literal["idle", "running", "failed"] = "idle"
    if job is not None and job.state != "done":
        state = "running" if job.state == "running" else "failed"
    return PoolView(
        made=summary.at if summary else None,
        items=summary.items if summary else 0,
        questions=summary.questions if summary else 0,
        nothing=summary.nothing if summary else 0,
        types=[
            PoolType(type=kind, judged=KINDS[judged_as].shown, questions=questions, items=items)
            for kind, judged_as, questions, items in (summary.types if summary else ())
        ],
        stale=summary is not None and summary.mark != pool_mark(connection),
        holistic=summary.holistic if summary else False,
        citations=summary.citations if summary else False,
        can_holistic="holistic" in options,
        can_citations="citations" in options,
        state=state,
        says=job.says.replace(str(site.folder.path), site.configuration.name) if job else "",
    )


def to_be_judged(questions: TestSet, configuration: Configuration) -> TestSet:
    """The questions that are judged: all, but of pairs with justifications those that the organiser chose."""
    if not (configuration.justified and configuration.task.is_rated):
        return questions
    return TestSet(tuple(question for question in questions if question.id in configuration.justified))


def make_pool(site: Site, *, person: Assessor, holistic: bool | None = None, citations: bool | None = None) -> PoolView:
    """Have the pool made, or rebuilt; options that are not given stay as they were, or were asked for last."""
    options = {name: value for name, value in (("holistic", holistic), ("citations", citations)) if value is not None}
    with _turn:
        # While the pool is being made several may ask: one making answers them all, with the options of each.
        site.memory[ASKED] = {**site.memory.get(ASKED, {}), **options}
    job = start(site, POOL, "The pool is being made.", lambda _: _make(site, person))
    job.ended.wait(PATIENCE)
    with site.store.read() as connection:
        return pool_view(site, connection)


def _make(site: Site, person: Assessor) -> str:
    with _turn:
        options: dict[str, bool] = site.memory.pop(ASKED, {})
    with site.store.read() as connection:
        earlier = pool_summary(connection)
        mark = pool_mark(connection)
    holistic = options.get("holistic", earlier.holistic if earlier else False)
    citations = options.get("citations", earlier.citations if earlier else False)
    evaluation = open_evaluation(site.folder.path, store=site.store)
    done = pool(site.store, evaluation, mark=mark, person=person, wanted=Wanted(holistic, citations))
    items = plural(done.items, "item")
    return f"The pool has {items}: {done.added:,} new, {done.retired:,} no longer returned by any run."


def pool(store: Store, evaluation: Evaluation, *, mark: str, person: Assessor | None, wanted: Wanted) -> Pooled:
    """Make the pool of the runs; `mark` is that of the store before the evaluation was opened."""
    with store.write() as connection:
        seed = order_seed(connection)
    items = pool_items(
        runs_to_pool(evaluation),
        evaluation.questions,
        evaluation.task,
        seed=seed,
        justified=evaluation.configuration.justified,
        wanted=wanted,
    )
    questions = to_be_judged(evaluation.questions, evaluation.configuration)
    return store_pool(store, items, questions, evaluation.task, mark=mark, wanted=wanted, person=person)


def runs_to_pool(evaluation: Evaluation) -> Runs:
    """The runs that are judged: of each organisation those of the first priorities; pairs are judged without any."""
    run_files = evaluation.run_files
    if run_files.problems:
        raise InputError(run_files.problems)
    records = (kind_of_type(type_, rules) for type_, rules in evaluation.task.types.items())
    if not run_files.runs.tags and any(record.of_runs for record in records):
        raise InputError(
            Problem("configuration", "there are no runs yet, so there is nothing to judge; add them first")
        )
    return run_files.runs.to_judge(evaluation.configuration.track.pooled)
