"""Whether results may be computed now: nothing is scored while assigned work is open, unless an organiser says so."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlalchemy import Connection

from qassay.store.assignment.progress import Completeness, finished_questions, read_gate, unfinished_questions
from qassay.store.pool.pooling import later_runs, pool_mark, pool_summary
from qassay.store.settings import fingerprint, get_setting
from qassay.web.results.publishing import SHOWN_EARLY
from qassay.web.results.views import Parameters, View
from qassay.web.site import Site


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The store at one moment: what is open, and its fingerprint together with that of the configuration."""

    gate: Completeness
    state: str
    pool: str
    # While work is open: how many questions are finished, whether they are shown, and if so, the others.
    finished: int = 0
    unfinished: tuple[str, ...] = ()
    shown_early: bool = False


@dataclass(frozen=True, slots=True)
class Permission:
    """How a page may be computed now: its parameters, what every number says, and the questions that are left out."""

    parameters: Parameters
    mark: str | None = None
    unfinished: tuple[str, ...] = ()


def permission_for(view: View, parameters: Parameters, now: Snapshot) -> Permission | None:
    """Permission to compute a page; None where assigned work is open and the organiser has not said to go on."""
    if not now.gate.is_open:
        return Permission(parameters)
    if parameters.provisional or view.study.is_open:
        return Permission(parameters, now.gate.mark)
    if now.finished and (parameters.finished or now.shown_early):
        mark = f"{now.finished:,} of {now.finished + len(now.unfinished):,} questions finished"
        return Permission(parameters.model_copy(update={"finished": True}), mark, now.unfinished)
    return None


def snapshot(site: Site, *, finished: bool = False) -> Snapshot:
    """The store now; `finished` says that a page of the finished questions is asked for."""
    configuration = hashlib.sha256(site.folder.configuration.read_bytes()).hexdigest()[:16]
    with site.store.read() as connection:
        gate, state = read_gate(connection), f"{fingerprint(connection)} {configuration}"
        shown_early = bool(get_setting(connection, SHOWN_EARLY))
        ready = finished_questions(connection, gate) if gate.is_open else 0
        others = unfinished_questions(connection) if ready and (finished or shown_early) else ()
        return Snapshot(gate, state, _old_pool(connection), ready, others, shown_early)


def _old_pool(connection: Connection) -> str:
    """A sentence about a pool that lacks something; empty where it is current, or where nothing is judged here."""
    summary = pool_summary(connection)
    if summary is None or summary.mark == pool_mark(connection):
        return ""
    late = later_runs(connection, summary)
    runs = f"{'run' if len(late) == 1 else 'runs'} {', '.join(late)}"
    than = runs if late else "the last change of runs or questions"
    return f"The pool is older than {than}: what came later is not judged."
