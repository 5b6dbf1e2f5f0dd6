"""Results: leaderboard, scores, comparisons, agreement, stability and sensitivity; to others, what is published."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, Response, StreamingResponse

from qassay.web.errors import Refusal
from qassay.web.judging import acting
from qassay.web.results import publishing
from qassay.web.results.finding import Form, StudyRequest, StudyResult, csv_lines
from qassay.web.results.jobs import Job
from qassay.web.results.permission import Permission, Snapshot, permission_for, snapshot
from qassay.web.results.present import (
    FigureView,
    ResultsPage,
    TableView,
    figure_views,
    present,
    queue_of,
    submit,
    table_view,
)
from qassay.web.results.publishing import Publication, Published, visible_to
from qassay.web.results.saving import saved_figure
from qassay.web.results.views import LEADERBOARD, VIEWS, Parameters, View, query
from qassay.web.routing import ORGANISERS, READERS, Context, Router, ThePerson, TheSite
from qassay.web.site import Site

router = Router()

# A download waits this long for its numbers (seconds).
LONGEST_WAIT = 240.0
CSV = "text/csv; charset=utf-8"


# ---- the pages, and their tables as CSV ------------------------------------------------------------------------------


@router.page(LEADERBOARD.path, template=LEADERBOARD.template, roles=READERS)
async def leaderboard(
    person: ThePerson,
    site: TheSite,
    parameters: Annotated[LEADERBOARD.parameters, Query()],  # type: ignore[name-defined]
) -> ResultsPage:
    """The leaderboard for organisers; for all others, what is published."""
    published = await run_in_threadpool(visible_to, site.store, person.role)
    listed = published or []
    if person.role != "organiser":
        page = ResultsPage(view="published", path="/results", heading="Results", state="published", published=listed)
        if published is None:
            page.message = "Results are shown when all assigned work is done."
        elif not published:
            page.message = "No results are published yet."
        return page
    page = await present(site, LEADERBOARD, parameters)
    page.published = listed
    return page


def _serve(view: View) -> None:
    """Serve the page of a study, and its tables."""

    async def page(site: TheSite, parameters: Parameters) -> ResultsPage:
        return await present(site, view, parameters)

    async def download(site: TheSite, parameters: Any) -> Response:
        return await _download(site, view, parameters, parameters.table or view.name)

    async def figure(site: TheSite, parameters: Any) -> Response:
        return await _save(site, view, parameters, parameters.figure, parameters.form)

    # The API is described by the names and sentences of its views, and by the parameters of each.
    page.__name__, page.__doc__ = view.name, view.study.help.partition("\n\n")[0].replace("\n", " ")
    download.__name__, figure.__name__ = f"{view.name}_csv", f"{view.name}_figure"
    page.__annotations__["parameters"] = Annotated[view.parameters, Query()]
    download.__annotations__["parameters"] = Annotated[view.table_parameters, Query()]
    figure.__annotations__["parameters"] = Annotated[view.figure_parameters, Query()]
    if view is not LEADERBOARD:
        router.page(view.path, template=view.template, roles=ORGANISERS)(page)
    router.download(view.csv, roles=ORGANISERS)(download)
    router.download(view.figure, roles=ORGANISERS)(figure)


for _view in VIEWS:
    _serve(_view)


class Progress(Context):
    """How far a computation is; `over` where the page can be loaded again."""

    over: bool
    waiting: bool = False
    done: int = 0
    total: int = 0


@router.action("GET", "/results/progress/{job}", roles=ORGANISERS)
async def progress(site: TheSite, job: str) -> Progress:
    """How far the computation with this id is; one that is not remembered is over."""
    study = queue_of(site).find(job)
    if study is None:
        return Progress(over=True)
    return Progress(
        over=study.is_over,
        waiting=study.condition == "waiting",
        done=study.done,
        total=study.total,
    )


async def _download(site: Site, view: View, parameters: Parameters, name: str) -> Response:
    """A table as CSV: out of what the page shows where that is all of it, else computed whole and sent from a file."""
    now, permission = await _permission(site, view, parameters)
    parameters = permission.parameters
    headers = {"Content-Disposition": f'attachment; filename="{_file_name(view.name, name)}"'}
    folder, mark, unfinished = str(site.folder.path), permission.mark, permission.unfinished
    result = await _result(
        site, view.request(folder, parameters, unfinished=unfinished), now.state, fresh=parameters.fresh
    )
    part = result.finding.part(name) if result.finding else None
    if part is None:
        raise Refusal(404, f"this page has no table {name!r}")
    if part.is_whole:
        return StreamingResponse(csv_lines(part.table, provisional=mark), media_type=CSV, headers=headers)
    # The process that computes writes the whole table into a file.
    with tempfile.NamedTemporaryFile(prefix="qassay-", suffix=".csv", delete=False) as temporary:
        file = Path(temporary.name)
    try:
        request = view.request(folder, parameters, unfinished=unfinished, part=name, file=str(file), provisional=mark)
        await _result(site, request, now.state)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    return FileResponse(file, media_type=CSV, headers=headers, background=BackgroundTask(file.unlink, missing_ok=True))


async def _save(site: Site, view: View, parameters: Parameters, name: str | None, form: Form) -> Response:
    """A figure of the page as a file: the one that the page shows."""
    if not name:
        raise Refusal(422, "the address does not say which figure: figure=NAME, as on the page")
    now, permission = await _permission(site, view, parameters)
    request = view.request(str(site.folder.path), permission.parameters, unfinished=permission.unfinished)
    result = await _result(site, request, now.state, fresh=parameters.fresh)
    picture = result.finding.picture(name) if result.finding else None
    if picture is None:
        raise Refusal(404, f"this page has no figure {name!r}")
    return await saved_figure(picture, form, provisional=permission.mark)


async def _permission(site: Site, view: View, parameters: Parameters) -> tuple[Snapshot, Permission]:
    """The store now, and permission to compute; a refusal where work is open and nobody said to go on."""
    now = await run_in_threadpool(snapshot, site, finished=parameters.finished)
    permission = permission_for(view, parameters, now)
    if permission is None:
        raise Refusal(409, f"nothing is scored while assigned work is open ({now.gate.mark}); provisional=1 shows it")
    return now, permission


async def _result(site: Site, request: StudyRequest, state: str, *, fresh: bool = False) -> StudyResult:
    """The result of a request, or a refusal that says why there is none."""
    job = submit(site, request, state, fresh=fresh)
    if not await queue_of(site).wait(job, LONGEST_WAIT):
        raise Refusal(503, "the numbers are still being computed; try again in a while", headers={"Retry-After": "60"})
    return _result_of(job)


def _result_of(job: Job) -> StudyResult:
    if job.condition == "broken":
        raise Refusal(500, job.message)
    result = job.result()
    if result.message:
        raise Refusal(422, result.message, problems=tuple(problem.as_json() for problem in result.problems))
    return result


def _file_name(study: str, table: str) -> str:
    safe = "".join(c if c.isascii() and (c.isalnum() or c == "-") else "_" for c in table)[:60]
    return f"{study}.csv" if safe in ("", study) else f"{study}-{safe}.csv"


class Early(Context):
    """Whether organisers see the results of finished questions while others are being judged."""

    shown: bool


@router.action("POST", "/results/early", roles=ORGANISERS)
def show_early(person: ThePerson, site: TheSite) -> Early:
    """Show organisers the results of finished questions while others are being judged; recorded."""
    with acting(site, person) as act:
        publishing.show_early(act, early=True)
    return Early(shown=True)


@router.action("DELETE", "/results/early", roles=ORGANISERS)
def hide_early(person: ThePerson, site: TheSite) -> Early:
    """Show no results until all assigned work is done; recorded."""
    with acting(site, person) as act:
        publishing.show_early(act, early=False)
    return Early(shown=False)


# ---- publishing ------------------------------------------------------------------------------------------------------


class Publishing(LEADERBOARD.parameters):  # type: ignore[name-defined,misc]
    """The leaderboard to publish, under a choice; provisional only where the organiser says so."""

    title: str = Field(default="", max_length=200)


class PublishedPage(Context):
    """A published result: sentence, figures and tables as they were when it was published."""

    publication: Publication
    answer: str
    figures: list[FigureView]
    tables: list[TableView]
    document: dict[str, Any]


class Withdrawn(Context):
    """The result that is no longer published."""

    id: str


@router.action("POST", "/results/published", roles=ORGANISERS, status=201)
async def publish(person: ThePerson, site: TheSite, sent: Publishing) -> Publication:
    """Publish the leaderboard as it is now."""
    now = await run_in_threadpool(snapshot, site, finished=sent.finished)
    # What is shown without asking is published only where the form says so.
    permission = permission_for(LEADERBOARD, sent, replace(now, shown_early=False))
    if permission is None:
        raise Refusal(409, f"assigned work is open ({now.gate.mark}); nothing is scored, unless as provisional")
    request = LEADERBOARD.request(str(site.folder.path), sent, unfinished=permission.unfinished)
    job = submit(site, request, now.state, fresh=True)
    if not await queue_of(site).wait(job, LONGEST_WAIT):
        raise Refusal(503, "the leaderboard is still being computed; publish it when it is ready")
    _result_of(job)  # where the leaderboard cannot be computed, the pages of the organisations cannot be either
    scoring = tuple(sent.scoring().items())
    every = publishing.OrganisationsRequest(request.folder, "organisations", scoring, unfinished=permission.unfinished)
    pages = await _result(site, every, now.state, fresh=True)
    return await run_in_threadpool(_publish, person, site, sent, job, permission.mark, pages)


def _publish(
    person: ThePerson, site: Site, sent: Publishing, job: Job, mark: str | None, pages: StudyResult
) -> Publication:
    result = _result_of(job)
    if result.finding is None or pages.finding is None:
        raise Refusal(422, "there is nothing to publish")
    now = snapshot(site)
    if job.state != now.state and not (sent.provisional or sent.finished):
        raise Refusal(409, "judgments have come in meanwhile; look at the leaderboard again, then publish it")
    with acting(site, person) as act:
        return publishing.publish(
            act,
            result.finding,
            sent.scoring(),
            title=sent.title,
            provisional=now.gate.mark if sent.provisional else mark,
            pages=pages.finding.document["pages"],
        )


@router.action("DELETE", "/results/published/{number}", roles=ORGANISERS)
def withdraw(person: ThePerson, site: TheSite, number: str) -> Withdrawn:
    """Withdraw a published result; recorded."""
    with acting(site, person) as act:
        if not publishing.withdraw(act, number):
            raise Refusal(404, "there is no such published result")
    return Withdrawn(id=number)


@router.page("/results/published/{number}", template="results_published.html", roles=READERS)
def published(person: ThePerson, site: TheSite, number: str) -> PublishedPage:
    """A published result."""
    result = _published(site, person.role, number)
    mark, path = result.publication.provisional, f"/results/published/{result.publication.id}/sheet.csv"
    tables = result.tables.items()
    return PublishedPage(
        publication=result.publication,
        answer=result.answer,
        figures=figure_views(
            result.pictures, f"/results/published/{number}/figure", lambda **parameters: query(parameters)
        ),
        tables=[table_view(name, table, csv=f"{path}?table={name}", provisional=mark) for name, table in tables],
        document={**result.document, **({"provisional": mark} if mark else {})},
    )


@router.download("/results/published/{number}/sheet.csv", roles=READERS)
def published_csv(
    person: ThePerson, site: TheSite, number: str, table: Annotated[str, Query(max_length=200)]
) -> Response:
    """A table of a published result."""
    result = _published(site, person.role, number)
    if table not in result.tables:
        raise Refusal(404, f"this result has no table {table!r}")
    headers = {"Content-Disposition": 'attachment; filename="results.csv"'}
    lines = csv_lines(result.tables[table], provisional=result.publication.provisional)
    return StreamingResponse(lines, media_type=CSV, headers=headers)


@router.download("/results/published/{number}/figure", roles=READERS)
async def published_figure(
    person: ThePerson, site: TheSite, number: str, figure: Annotated[str, Query(max_length=200)], form: Form = "svg"
) -> Response:
    """A figure of a published result as a file."""
    result = await run_in_threadpool(_published, site, person.role, number)
    picture = next((picture for picture in result.pictures if picture.name == figure), None)
    if picture is None:
        raise Refusal(404, f"this result has no figure {figure!r}")
    return await saved_figure(picture, form, provisional=result.publication.provisional)


def _published(site: Site, role: str, number: str) -> Published:
    """A published result that this role may see; the same refusal where there is none and where it may not yet."""
    visible = publishing.visible_to(site.store, role)
    with site.store.read() as connection:
        published = publishing.published(connection, number) if visible is not None else None
    if published is None:
        raise Refusal(404, "there is no such published result")
    return published
