"""Runs: upload them, see what is wrong, say what they are, withdraw and restore them."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Form, Query, UploadFile
from pydantic import Field
from sqlalchemy import Connection
from starlette.responses import PlainTextResponse

from qassay.errors import Problem, UsageError
from qassay.runs import RunInformation
from qassay.store.pool.uploads import StoredRun, count_runs, describe_run, find_run, list_runs, set_withdrawn
from qassay.web.errors import Refusal
from qassay.web.pooling import PoolView, make_pool, pool_view
from qassay.web.questions import questions_of
from qassay.web.routing import ORGANISERS, Context, Input, Router, TheSite, Who
from qassay.web.uploads import Report, report_numbered, take_upload

router = Router()

RUNS_A_PAGE = 100
FAULTS_A_PAGE = 200
MOST_FILES = 200
# Characters that are shown of a fault: it quotes the file, which may have one line of megabytes.
LONGEST_FAULT = 2_000

# No database takes a NUL in a name.
Tag = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
Short = Annotated[str, Field(max_length=200)]
Long = Annotated[str, Field(max_length=5_000)]
Priority = Annotated[int, Field(ge=0, le=1_000_000)]


class RunView(Context):
    """A run in the list; a manual one carries a star."""

    tag: str
    file: str
    size: int
    organisation: str | None
    description: str | None
    manual: bool
    priority: int | None
    withdrawn: bool
    at: str
    by: str | None


class RunsPage(Context):
    """The runs of an evaluation, a page of them."""

    runs: list[RunView]
    total: int
    withdrawn: int
    page: int
    pages: int
    questions: int
    forms: list[str]
    limit: int
    has_collection: bool
    pool: PoolView


class Fault(Context):
    """One thing wrong with a file."""

    line: int | None
    question: str | None
    rule: str
    message: str


class FileReport(Context):
    """What came of one uploaded file: a run, or the first of its faults."""

    file: str
    tag: str | None
    faults: int
    first: list[Fault]
    report: str | None


class Uploaded(Context):
    """What came of each file."""

    files: list[FileReport]


class ReportPage(Context):
    """All faults of a file, a page of them."""

    number: str
    file: str
    faults: list[Fault]
    total: int
    first: int
    page: int
    pages: int


class Described(Input):
    """What a run is."""

    tag: Tag
    organisation: Short | None = None
    description: Long | None = None
    manual: bool = False
    priority: Priority | None = None


class Withdrawing(Input):
    """A run to withdraw or to restore, and why."""

    tag: Tag
    reason: Annotated[str, Field(max_length=2_000)] = ""


@router.page("/runs", template="runs.html", roles=ORGANISERS)
def runs(site: TheSite, page: Annotated[int, Query(ge=1, le=100_000)] = 1) -> RunsPage:
    """All runs, by tag."""
    with site.store.read() as connection:
        total, withdrawn = count_runs(connection)
        pages = max(1, -(-total // RUNS_A_PAGE))
        page = min(page, pages)
        found = list_runs(connection, limit=RUNS_A_PAGE, offset=(page - 1) * RUNS_A_PAGE)
        pool = pool_view(site, connection)
    return RunsPage(
        runs=[run_view(one) for one in found],
        total=total,
        withdrawn=withdrawn,
        page=page,
        pages=pages,
        questions=len(questions_of(site)),
        forms=list(site.configuration.task.forms),
        limit=site.settings.upload_limit,
        has_collection=site.folder.collection.is_dir(),
        pool=pool,
    )


@router.action("POST", "/runs", roles=ORGANISERS, upload=True)
def upload(
    who: Who,
    site: TheSite,
    files: Annotated[list[UploadFile], File()],
    organisation: Annotated[str, Form(max_length=200)] = "",
    description: Annotated[str, Form(max_length=5_000)] = "",
    manual: Annotated[bool, Form()] = False,
    priority: Annotated[int | None, Form(ge=0, le=1_000_000)] = None,
) -> Uploaded:
    """Check files and keep the runs of those that have no fault; what is said of them holds for all."""
    if len(files) > MOST_FILES:
        raise UsageError(f"{len(files)} files at once; send at most {MOST_FILES}")
    about = RunInformation(organisation.strip() or None, description.strip() or None, manual, priority)
    reports = [take_upload(site, one.filename, one.file, about=about, account=who.id) for one in files]
    return Uploaded(files=[_report(one) for one in reports])


@router.page("/runs/report", template="run_upload.html", roles=ORGANISERS)
def report(
    site: TheSite, number: Annotated[str, Query(max_length=40)], page: Annotated[int, Query(ge=1, le=100_000)] = 1
) -> ReportPage:
    """What is wrong with a file, line by line."""
    found = _found(report_numbered(site, number))
    pages = max(1, -(-len(found.problems) // FAULTS_A_PAGE))
    page = min(page, pages)
    first = (page - 1) * FAULTS_A_PAGE
    shown = [_fault(one) for one in found.problems[first : first + FAULTS_A_PAGE]]
    return ReportPage(
        number=number,
        file=found.file,
        faults=shown,
        total=len(found.problems),
        first=first + 1,
        page=page,
        pages=pages,
    )


@router.download("/runs/report.txt", roles=ORGANISERS)
def report_text(site: TheSite, number: Annotated[str, Query(max_length=40)]) -> PlainTextResponse:
    """All that is wrong with a file, as text to hand to whoever sent it."""
    found = _found(report_numbered(site, number))
    text = "".join(f"{one}\n" for one in found.problems)
    return PlainTextResponse(text, headers={"Content-Disposition": 'attachment; filename="faults.txt"'})


@router.action("PUT", "/runs", roles=ORGANISERS)
def describe(who: Who, site: TheSite, sent: Described) -> RunView:
    """Say what a run is."""
    about = RunInformation(
        (sent.organisation or "").strip() or None, (sent.description or "").strip() or None, sent.manual, sent.priority
    )
    with site.store.write() as connection:
        _known(connection, sent.tag)
        describe_run(connection, sent.tag, about, account=who.id)
        found = find_run(connection, sent.tag)
    return run_view(found)


@router.action("POST", "/runs/withdraw", roles=ORGANISERS)
def withdraw(who: Who, site: TheSite, sent: Withdrawing) -> PoolView:
    """Withdraw a run: it is in no score any more, and what only it returned is judged no more."""
    return _set_withdrawn(who, site, sent, withdrawn=True)


@router.action("POST", "/runs/restore", roles=ORGANISERS)
def restore(who: Who, site: TheSite, sent: Withdrawing) -> PoolView:
    """Restore a run that was withdrawn."""
    return _set_withdrawn(who, site, sent, withdrawn=False)


def run_view(one: StoredRun) -> RunView:
    """A run as the page shows it."""
    about = one.information
    return RunView(
        tag=one.tag,
        file=one.file,
        size=one.size,
        organisation=about.organisation,
        description=about.description,
        manual=about.manual,
        priority=about.priority,
        withdrawn=one.withdrawn,
        at=one.at,
        by=one.by,
    )


def _set_withdrawn(who: Who, site: TheSite, sent: Withdrawing, *, withdrawn: bool) -> PoolView:
    """Withdraw or restore; where there is a pool, it is made anew."""
    with site.store.write() as connection:
        _known(connection, sent.tag)
        set_withdrawn(connection, sent.tag, withdrawn=withdrawn, reason=sent.reason.strip(), account=who.id)
    with site.store.read() as connection:
        view = pool_view(site, connection)
    return make_pool(site, account=who.id) if view.made is not None else view


def _known(connection: Connection, tag: str) -> None:
    try:
        find_run(connection, tag)
    except UsageError:
        raise Refusal(404, f"there is no run {tag}") from None


def _report(one: Report) -> FileReport:
    first = [_fault(problem) for problem in one.problems[:FAULTS_A_PAGE]]
    return FileReport(
        file=one.file,
        tag=one.tag,
        faults=len(one.problems),
        first=first,
        report=one.number if one.problems else None,
    )


def _fault(one: Problem) -> Fault:
    question = None if one.question is None else one.question[:LONGEST_FAULT]
    return Fault(line=one.line, question=question, rule=one.rule, message=one.message[:LONGEST_FAULT])


def _found(report: Report | None) -> Report:
    if report is None:
        raise Refusal(404, "this report is not kept any more; upload the file again to see what is wrong with it")
    return report
