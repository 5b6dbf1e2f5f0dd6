"""Runs: upload them, see what is wrong, say what they are, withdraw and restore them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Depends, File, Form, Query, UploadFile
from pydantic import Field
from sqlalchemy import Connection
from starlette.responses import PlainTextResponse

from qassay.errors import UsageError
from qassay.formats.tracks import spoken
from qassay.runs import RunInformation
from qassay.store.pool.uploads import count_runs, describe_run, find_run, keep_run, list_runs, set_withdrawn
from qassay.tables import plural
from qassay.web import uploading
from qassay.web.checking import Checker
from qassay.web.errors import Refusal
from qassay.web.judging import act_of, acting
from qassay.web.pooling import PoolView, make_pool, pool_view
from qassay.web.questions import questions_of
from qassay.web.routing import ORGANISERS, Context, Input, Router, ThePerson, TheSite
from qassay.web.uploading import FileReport, ReportPage, file_report, report_page, take_upload

router = Router()
RUNS_A_PAGE = 100
MOST_FILES = 200
# No database takes a NUL in a name.
Tag = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
Short = Annotated[str, Field(max_length=200)]
Long = Annotated[str, Field(max_length=5_000)]
Priority = Annotated[int, Field(ge=0, le=1_000_000)]


class RunInList(Context):
    """A run in a list; a manual one carries a star."""

    tag: str
    file: str
    size: int
    description: str | None
    manual: bool
    priority: int | None
    withdrawn: bool
    at: str
    by: str | None


class RunView(RunInList):
    """A run in the list of organisers."""

    organisation: str | None


class RunsPage(Context):
    """The runs of an evaluation, a page of them."""

    runs: list[RunView]
    total: int
    withdrawn: int
    page: int
    pages: int
    questions: int
    forms: list[str]
    # Whether people's own tables of answers are read too.
    takes_answers: bool
    limit: int
    has_collection: bool
    pool: PoolView
    # The rules for participants; None where the track sets neither a deadline nor a limit.
    track: str | None


class Uploaded(Context):
    """The result of each file."""

    files: list[FileReport]


class Details(Input):
    """The details of a run, from its participant."""

    tag: Tag
    description: Long | None = None
    manual: bool = False
    priority: Priority | None = None

    def information(self, organisation: str | None) -> RunInformation:
        """The details with the organisation."""
        return RunInformation(organisation, (self.description or "").strip() or None, self.manual, self.priority)


class Described(Details):
    """The details of a run, from an organiser."""

    organisation: Short | None = None


def _sent_details(
    description: Annotated[str, Form(max_length=5_000)] = "",
    manual: Annotated[bool, Form()] = False,
    priority: Annotated[int | None, Form(ge=0, le=1_000_000)] = None,
) -> RunInformation:
    return RunInformation(None, description.strip() or None, manual, priority)


# The details in the form of an upload.
SentDetails = Annotated[RunInformation, Depends(_sent_details)]


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
        runs_shown = list_runs(connection, limit=RUNS_A_PAGE, offset=(page - 1) * RUNS_A_PAGE)
        pool = pool_view(site, connection)
    return RunsPage(
        runs=[RunView.build(run, run.information) for run in runs_shown],
        total=total,
        withdrawn=withdrawn,
        page=page,
        pages=pages,
        questions=len(questions_of(site)),
        forms=list(site.configuration.task.forms),
        takes_answers=site.configuration.task.is_free_text,
        limit=site.settings.upload_limit,
        has_collection=site.folder.collection.is_dir(),
        pool=pool,
        track=_track(site),
    )


@router.action("POST", "/runs", roles=ORGANISERS, upload=True)
def upload(
    person: ThePerson,
    site: TheSite,
    files: Annotated[list[UploadFile], File()],
    details: SentDetails,
    organisation: Annotated[str, Form(max_length=200)] = "",
) -> Uploaded:
    """Check files and keep the runs of those that have no fault; the description is that of all of them."""
    if len(files) > MOST_FILES:
        raise UsageError(f"{len(files)} files at once; send at most {MOST_FILES}")
    about = replace(details, organisation=organisation.strip() or None)

    def keep(connection: Connection, tag: str, data: bytes, called: str) -> None:
        keep_run(act_of(site, person, connection), tag, data, called=called, information=about)

    with Checker() as checker:
        reports = [take_upload(site, checker, file.filename, file.file, keep=keep) for file in files]
    return Uploaded(files=[file_report(report) for report in reports])


@router.page("/runs/report", template="run_upload.html", roles=ORGANISERS)
def report(
    site: TheSite, number: Annotated[str, Query(max_length=40)], page: Annotated[int, Query(ge=1, le=100_000)] = 1
) -> ReportPage:
    """The errors of a file, line by line."""
    return report_page(site, number, page, organisation=None, back="/runs", label="Runs")


@router.download("/runs/report.txt", roles=ORGANISERS)
def report_text(site: TheSite, number: Annotated[str, Query(max_length=40)]) -> PlainTextResponse:
    """The errors of a file, as text for its sender."""
    return uploading.report_text(site, number, organisation=None)


@router.action("PUT", "/runs", roles=ORGANISERS)
def describe(person: ThePerson, site: TheSite, sent: Described) -> RunView:
    """Say what a run is."""
    about = sent.information((sent.organisation or "").strip() or None)
    with acting(site, person) as act:
        _check_tag(act.connection, sent.tag)
        describe_run(act, sent.tag, about)
        run = find_run(act.connection, sent.tag)
    return RunView.build(run, run.information)


@router.action("POST", "/runs/withdraw", roles=ORGANISERS)
def withdraw(person: ThePerson, site: TheSite, sent: Withdrawing) -> PoolView:
    """Withdraw a run: it is in no score any more, and what only it returned is judged no more."""
    return _set_withdrawn(person, site, sent, withdrawn=True)


@router.action("POST", "/runs/restore", roles=ORGANISERS)
def restore(person: ThePerson, site: TheSite, sent: Withdrawing) -> PoolView:
    """Restore a run that was withdrawn."""
    return _set_withdrawn(person, site, sent, withdrawn=False)


def _set_withdrawn(person: ThePerson, site: TheSite, sent: Withdrawing, *, withdrawn: bool) -> PoolView:
    """Withdraw or restore; where there is a pool, it is made again."""
    with acting(site, person) as act:
        _check_tag(act.connection, sent.tag)
        set_withdrawn(act, sent.tag, withdrawn=withdrawn, reason=sent.reason.strip())
    with site.store.read() as connection:
        view = pool_view(site, connection)
    return make_pool(site, person=person.assessor()) if view.made is not None else view


def _track(site: TheSite) -> str | None:
    """The rules for participants in a sentence."""
    track = site.configuration.track
    until = f"until {spoken(track.deadline)}" if track.deadline else ""
    limit = f"at most {track.limit} per organisation" if track.limit else ""
    rules = ", ".join(rule for rule in (until, limit) if rule)
    judged = ""
    if track.pooled:
        which = "is judged, the one with the lowest priority number"
        which = which if track.pooled == 1 else "are judged, those with the lowest priority numbers"
        judged = f" {plural(track.pooled, 'run')} per organisation {which}."
    return f"Participants submit runs {rules}.{judged}" if rules else judged.strip() or None


def _check_tag(connection: Connection, tag: str) -> None:
    try:
        find_run(connection, tag)
    except UsageError:
        raise Refusal(404, f"there is no run {tag}") from None
