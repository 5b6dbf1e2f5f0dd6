"""From what a page asks to what it shows: the gate, the queue of jobs, and the tables with their ways on."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from qassay.store.assignment.progress import Gate, read_gate
from qassay.store.pool.pooling import later_runs, pool_mark, pool_summary
from qassay.store.settings import fingerprint
from qassay.web.errors import Refusal
from qassay.web.results.contexts import (
    GateView,
    OfferView,
    ProblemView,
    ResultsPage,
    Tab,
    TableView,
    WindowView,
    table_view,
    window_view,
)
from qassay.web.results.finding import Finding, Part
from qassay.web.results.jobs import CrowdedError, Job, JobQueue
from qassay.web.results.parameters import Parameters, query
from qassay.web.results.request import Reply
from qassay.web.results.views import VIEWS, View
from qassay.web.results.wording import on_page
from qassay.web.results.worker import Order
from qassay.web.site import Site

# A page waits so long (seconds) before it says that its results are being computed.
PATIENCE = 1.5


def queue_of(site: Site) -> JobQueue:
    """The queue of the application, which is made when it is first needed."""
    kept: JobQueue = site.kept.setdefault("results", JobQueue())
    return kept


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The store at one moment: what is open, and its fingerprint together with that of the configuration."""

    gate: Gate
    state: str
    pool: str


def snapshot(site: Site) -> Snapshot:
    """How things stand."""
    configuration = hashlib.sha256(site.folder.configuration.read_bytes()).hexdigest()[:16]
    with site.store.read() as connection:
        return Snapshot(read_gate(connection), f"{fingerprint(connection)} {configuration}", _old_pool(connection))


def _old_pool(connection: Connection) -> str:
    """What to say of a pool that lacks something; nothing where it is current, or where nothing is judged here."""
    made = pool_summary(connection)
    if made is None or made.mark == pool_mark(connection):
        return ""
    late = later_runs(connection, made)
    than = (
        f"{'run' if len(late) == 1 else 'runs'} {', '.join(late)}" if late else "the last change of runs or questions"
    )
    return f"The pool is older than {than}: what came later is not judged."


async def show(site: Site, view: View, parameters: Parameters) -> ResultsPage:
    """A results page: found, being computed, or the reason why not."""
    now = await run_in_threadpool(snapshot, site)
    page = ResultsPage(
        view=view.study,
        path=view.path,
        heading=view.heading.format_map(parameters.model_dump()),
        state="closed",
        asked=parameters.model_dump(mode="json", exclude={"fresh", "table"}),
        choice=parameters.choice().changed(),
        tabs=_tabs(view, parameters),
        gate=gate_view(now.gate),
        pool=now.pool,
    )
    if now.gate.is_open and not parameters.provisional:
        page.again = view.path + parameters.address(provisional=True)
        return page
    page.provisional = now.gate.mark
    job = submit(site, Order(str(site.folder.path), parameters.request(view.study)), now.state, fresh=parameters.fresh)
    if not await queue_of(site).wait(job, PATIENCE):
        page.state, page.job, page.done, page.total = "computing", job.id, job.done, job.total
        return page
    page.at, page.stale = job.at, job.state != now.state
    page.again = view.path + parameters.address(fresh=True)
    page.json_address = f"/api{view.path}{parameters.address()}"
    return await run_in_threadpool(fill, page, view, parameters, job)


def submit(site: Site, wanted: Order, state: str, *, fresh: bool = False) -> Job:
    """Have something computed; a refusal where too much waits already."""
    try:
        return queue_of(site).submit(wanted, state, fresh=fresh)
    except CrowdedError:
        message = "many results are waiting to be computed; try again in a minute"
        raise Refusal(503, message, headers={"Retry-After": "30"}) from None


def fill(page: ResultsPage, view: View, parameters: Parameters, job: Job) -> ResultsPage:
    """Put what a job found, or why it found nothing, into the page."""
    if job.condition != "found":
        page.state = "refused" if job.condition == "refused" else "broken"
        page.message, page.problems = on_page(job.message), _problems(job.problems)
        return page
    reply: Reply = job.found()
    page.offer = OfferView.model_validate(reply.offer)
    if reply.finding is None:
        page.state, page.message, page.problems = "refused", on_page(reply.message), _problems(reply.problems)
        return page
    found = reply.finding
    page.state, page.answer, page.left_out = "found", found.answer, found.left_out
    page.document = dict(found.document)
    if page.provisional and page.document:
        page.document["provisional"] = page.provisional
    page.tables = [_table(part, view, parameters, page.provisional) for part in found.parts]
    page.across = _across(found, view, parameters)
    return page


def _table(part: Part, view: View, parameters: Parameters, provisional: str | None) -> TableView:
    csv = view.csv + parameters.address(table=part.name)
    return table_view(
        part, csv=csv, common=parameters.common(), provisional=provisional, window=_paged(part, view, parameters)
    )


def _paged(part: Part, view: View, parameters: Parameters) -> WindowView | None:
    """The window of a part; only parts that are cut by page have ways on."""
    if part.window is None:
        return None
    page = getattr(parameters, "page", None)
    if page is None:
        return window_view(part.window, before=None, after=None)
    more = part.window.first + part.window.size < part.window.total
    before = view.path + parameters.address(page=page - 1 if page > 2 else None) if page > 1 else None
    return window_view(
        part.window, before=before, after=view.path + parameters.address(page=page + 1) if more else None
    )


def _across(found: Finding, view: View, parameters: Parameters) -> WindowView | None:
    """The window on the columns, where there are more than fit."""
    window = found.columns
    if window is None or window.size == window.total:
        return None
    column_page = getattr(parameters, "across", 1)
    more = window.first + window.size < window.total
    before = (
        view.path + parameters.address(across=column_page - 1 if column_page > 2 else None) if column_page > 1 else None
    )
    return window_view(
        window, before=before, after=view.path + parameters.address(across=column_page + 1) if more else None
    )


def _tabs(view: View, parameters: Parameters) -> list[Tab]:
    common = query(parameters.common())
    return [Tab(label=one.label, address=one.path + common, current=one is view) for one in VIEWS if one.tab]


def gate_view(gate: Gate) -> GateView:
    """The gate for the page."""
    return GateView.model_validate({**asdict(gate), "is_open": gate.is_open})


def _problems(problems: Any) -> list[ProblemView]:
    names = ProblemView.model_fields
    found = [ProblemView(**{name: one.get(name) for name in names}) for one in problems]
    return [one.model_copy(update={"message": on_page(one.message)}) for one in found]
