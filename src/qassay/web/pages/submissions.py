"""Submissions: a participant's organisation submits, replaces and withdraws its runs, and later sees its results.

Everything here is about the organisation of the person who asks; no address and no field names another one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from fastapi import File, Form, Query, UploadFile
from limits import parse
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from qassay.errors import UsageError
from qassay.formats.questions import question_row
from qassay.formats.times import timestamp
from qassay.formats.tracks import spoken
from qassay.store.acts import Act
from qassay.store.people import members
from qassay.store.pool import submissions as store
from qassay.store.pool.pooling import pool_summary
from qassay.web import uploading
from qassay.web.checking import Checker
from qassay.web.errors import Refusal
from qassay.web.judging import act_of, acting
from qassay.web.pages.runs import Details, RunInList, SentDetails, Uploaded, Withdrawing
from qassay.web.questions import questions_of
from qassay.web.results.finding import Form as FigureForm
from qassay.web.results.finding import csv_lines
from qassay.web.results.present import FigureView, TableView, figure_views, table_view
from qassay.web.results.publishing import OrganisationResult, organisation_result, organisation_results
from qassay.web.results.saving import saved_figure
from qassay.web.results.views import query
from qassay.web.routing import PARTICIPANTS, Context, Done, Router, ThePerson, TheSite
from qassay.web.site import Site
from qassay.web.uploading import ReportPage, file_report, report_page, take_upload

router = Router()
# Files that an organisation may send.
BY_ORGANISATION = parse("200/hour")
MOST_FILES = 20
# Uploads of participants that are under way at once: each has a thread of the server, and assessors need some.
_AT_ONCE = threading.BoundedSemaphore(8)
_turn = threading.Lock()
# What a participant may know of a question: not its gold answers, its author, or the author's definition.
ASKED = ("id", "type", "text", "series", "target", "target_type", "series_type", "hypothesis")


class SubmissionView(RunInList):
    """A run of the organisation; one that is judged has a high enough priority."""

    judged: bool


class ResultLink(Context):
    """A published result."""

    id: str
    title: str
    at: str


class SubmissionsPage(Context):
    """The organisation's runs, the rules, and whether runs are still taken (`closed` says why not)."""

    evaluation: str
    organisation: str
    members: list[str]
    deadline: str | None
    deadline_says: str | None
    limit: int | None
    # Runs per organisation that are judged, where not all are.
    pooled: int | None
    closed: str | None
    runs: list[SubmissionView]
    current: int
    questions: int
    forms: list[str]
    # Whether people's own tables of answers are read too.
    takes_answers: bool
    upload_limit: int
    has_collection: bool
    results: list[ResultLink]


class OrganisationResultView(ResultLink):
    """The organisation's results in one publication, beside the median and the best of all runs."""

    provisional: str | None
    subtitle: str
    sentences: list[str]
    figures: list[FigureView]
    tables: list[TableView]


class OrganisationResultPage(Context):
    """The organisation's results; none before anything is published."""

    organisation: str
    result: OrganisationResultView | None
    # The other published results.
    others: list[ResultLink]


@router.page("/submissions", template="submissions.html", roles=PARTICIPANTS)
def show(person: ThePerson, site: TheSite) -> SubmissionsPage:
    """The organisation's runs, and what may be done."""
    organisation, track = _organisation(person), site.configuration.track
    with site.store.read() as connection:
        submitted = store.submissions(connection, organisation, track)
        people = members(connection, organisation)
        closed = _closed(site, connection, _now())
        results = organisation_results(connection, organisation)
    return SubmissionsPage(
        evaluation=site.configuration.name,
        organisation=organisation,
        members=people,
        deadline=None if track.deadline is None else timestamp(track.deadline),
        deadline_says=None if track.deadline is None else spoken(track.deadline),
        limit=track.limit,
        pooled=track.pooled,
        closed=closed,
        runs=[SubmissionView.build(submission, submission.run, submission.run.information) for submission in submitted],
        current=sum(not submission.run.withdrawn for submission in submitted),
        questions=len(questions_of(site)),
        forms=list(site.configuration.task.forms),
        takes_answers=site.configuration.task.is_free_text,
        upload_limit=site.settings.upload_limit,
        has_collection=site.folder.collection.is_dir(),
        results=[ResultLink.build(result) for result in results],
    )


@router.download("/submissions/questions.jsonl", roles=PARTICIPANTS)
def questions(site: TheSite) -> Response:
    """The questions of the test set, without anything that is known of their answers."""
    rows = (question_row(question) for question in questions_of(site))
    fields_shown = ({name: row[name] for name in ASKED if name in row} for row in rows)
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in fields_shown)
    headers = {"Content-Disposition": 'attachment; filename="questions.jsonl"'}
    return Response(lines, media_type="application/jsonl", headers=headers)


# ---- runs ------------------------------------------------------------------------------------------------------------


@router.action("POST", "/submissions", roles=PARTICIPANTS, upload=True)
def submit(
    person: ThePerson,
    site: TheSite,
    files: Annotated[list[UploadFile], File()],
    details: SentDetails,
    replace: Annotated[bool, Form()] = False,
) -> Uploaded:
    """Check files and keep the runs of those that have no fault; with `replace`, in place of earlier ones."""
    organisation, arrived = _organisation(person), _now()
    if len(files) > MOST_FILES:
        raise UsageError(f"{len(files)} files at once; send at most {MOST_FILES}")
    for _ in files:
        site.limits.count(BY_ORGANISATION, "submissions of", organisation)
    _check_open(site, arrived)

    def keep(connection: Connection, tag: str, data: bytes, called: str) -> None:
        sender, act = store.Sender(organisation, site.configuration.track), act_of(site, person, connection)
        store.submit(act, sender, tag, data, called=called, information=details, replacing=replace)

    with _one_at_a_time(site, organisation), Checker() as checker:
        reports = [
            take_upload(site, checker, file.filename, file.file, keep=keep, organisation=organisation) for file in files
        ]
    return Uploaded(files=[file_report(report) for report in reports])


@router.action("PUT", "/submissions", roles=PARTICIPANTS)
def describe(person: ThePerson, site: TheSite, sent: Details) -> Done:
    """Say what a run is, and set its priority."""
    organisation = _organisation(person)
    with _changing(person, site, sent.tag) as (act, sender):
        store.describe(act, sender, sent.tag, sent.information(organisation))
    return Done()


@router.action("POST", "/submissions/withdraw", roles=PARTICIPANTS)
def withdraw(person: ThePerson, site: TheSite, sent: Withdrawing) -> Done:
    """Withdraw a run; it no longer counts towards the limit."""
    return _set_withdrawn(person, site, sent, withdrawn=True)


@router.action("POST", "/submissions/restore", roles=PARTICIPANTS)
def restore(person: ThePerson, site: TheSite, sent: Withdrawing) -> Done:
    """Restore a run that was withdrawn, within the limit."""
    return _set_withdrawn(person, site, sent, withdrawn=False)


def _set_withdrawn(person: ThePerson, site: Site, sent: Withdrawing, *, withdrawn: bool) -> Done:
    with _changing(person, site, sent.tag) as (act, sender):
        store.withdraw(act, sender, sent.tag, withdrawn=withdrawn, reason=sent.reason.strip())
    return Done()


@router.page("/submissions/report", template="run_upload.html", roles=PARTICIPANTS)
def report(
    person: ThePerson,
    site: TheSite,
    number: Annotated[str, Query(max_length=40)],
    page: Annotated[int, Query(ge=1, le=100_000)] = 1,
) -> ReportPage:
    """The errors of a file that the organisation sent, line by line."""
    return report_page(site, number, page, organisation=_organisation(person), back="/submissions", label="Submissions")


@router.download("/submissions/report.txt", roles=PARTICIPANTS)
def report_text(person: ThePerson, site: TheSite, number: Annotated[str, Query(max_length=40)]) -> PlainTextResponse:
    """The errors of a file that the organisation sent, as text."""
    return uploading.report_text(site, number, organisation=_organisation(person))


# ---- results ---------------------------------------------------------------------------------------------------------


@router.page("/organisation-results", template="organisation_results.html", roles=PARTICIPANTS)
def results(
    person: ThePerson, site: TheSite, number: Annotated[str, Query(max_length=40)] = ""
) -> OrganisationResultPage:
    """The results of the organisation, as they were when they were published; the latest unless one is named."""
    organisation = _organisation(person)
    with site.store.read() as connection:
        published = organisation_results(connection, organisation)
    if not number and not published:
        return OrganisationResultPage(organisation=organisation, result=None, others=[])
    result = _result(site, organisation, number or published[0].id)
    path = f"/organisation-results.csv?number={result.id}&table="
    tables = [
        table_view(name, table, csv=path + name, provisional=result.provisional)
        for name, table in result.tables.items()
    ]
    figures = figure_views(
        result.pictures, "/organisation-results/figure", lambda **parameters: query({"number": result.id, **parameters})
    )
    return OrganisationResultPage(
        organisation=organisation,
        result=OrganisationResultView.build(result, sentences=list(result.sentences), figures=figures, tables=tables),
        others=[ResultLink.build(other) for other in published if other.id != result.id],
    )


@router.download("/organisation-results.csv", roles=PARTICIPANTS)
def results_csv(
    person: ThePerson,
    site: TheSite,
    number: Annotated[str, Query(max_length=40)],
    table: Annotated[str, Query(max_length=200)],
) -> Response:
    """A table of the organisation's results."""
    result = _result(site, _organisation(person), number)
    if table not in result.tables:
        raise Refusal(404, f"this result has no table {table!r}")
    headers = {"Content-Disposition": 'attachment; filename="results.csv"'}
    lines = csv_lines(result.tables[table], provisional=result.provisional)
    return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=headers)


@router.download("/organisation-results/figure", roles=PARTICIPANTS)
async def results_figure(
    person: ThePerson,
    site: TheSite,
    number: Annotated[str, Query(max_length=40)],
    figure: Annotated[str, Query(max_length=200)],
    form: FigureForm = "svg",
) -> Response:
    """A figure of the organisation's results as a file."""
    result = await run_in_threadpool(_result, site, _organisation(person), number)
    picture = next((picture for picture in result.pictures if picture.name == figure), None)
    if picture is None:
        raise Refusal(404, f"this result has no figure {figure!r}")
    return await saved_figure(picture, form, provisional=result.provisional)


def _result(site: Site, organisation: str, number: str) -> OrganisationResult:
    with site.store.read() as connection:
        result = organisation_result(connection, number, organisation)
    if result is None:
        raise Refusal(404, "there is no such published result of your organisation")
    return result


# ---- who may, and when -----------------------------------------------------------------------------------------------


def _now() -> datetime:
    """This moment; tests set another."""
    return datetime.now(UTC)


def _organisation(person: ThePerson) -> str:
    if not person.organisation:
        raise Refusal(403, "your account belongs to no organisation; ask an organiser")
    return person.organisation


def _closed(site: Site, connection: Connection, moment: datetime) -> str | None:
    """Why runs are not taken at this moment; None where they are."""
    try:
        store.check_open(site.configuration.track, moment, is_pooled=pool_summary(connection) is not None)
    except store.ClosedError as error:
        return str(error)
    return None


def _check_open(site: Site, moment: datetime) -> None:
    with site.store.read() as connection:
        closed = _closed(site, connection, moment)
    if closed is not None:
        raise Refusal(409, closed)


@contextmanager
def _changing(person: ThePerson, site: Site, tag: str) -> Iterator[tuple[Act, store.Sender]]:
    """An act for a change of a run of the organisation, while runs may be changed."""
    sender = store.Sender(_organisation(person), site.configuration.track)
    _check_open(site, _now())
    with acting(site, person) as act:
        try:
            store.own_run(act.connection, sender.organisation, tag)
        except UsageError:
            raise Refusal(404, f"your organisation has no run {tag}") from None
        yield act, sender


@contextmanager
def _one_at_a_time(site: Site, organisation: str) -> Iterator[None]:
    """Let one upload of an organisation, and few of all, be under way."""
    with _turn:
        sending: set[str] = site.memory.setdefault("submitting", set())
        if organisation in sending:
            message = "another upload of your organisation is being checked; wait until it is done"
            raise Refusal(429, message, headers={"Retry-After": "2"})
        if not _AT_ONCE.acquire(blocking=False):
            message = "many runs are being checked; try again in a minute"
            raise Refusal(503, message, headers={"Retry-After": "10"})
        sending.add(organisation)
    try:
        yield
    finally:
        with _turn:
            sending.discard(organisation)
        _AT_ONCE.release()
