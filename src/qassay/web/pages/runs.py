"""Runs: upload them, see what is wrong, say what they are, withdraw and restore them.

Nothing an uploaded file says of itself is trusted: its name is cut to its last part, what it unpacks to is measured
while it is unpacked, and archives are refused. The rules are those of `qassay check` and `qassay import` (METHOD 3).
"""

from __future__ import annotations

import shutil
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import Annotated, BinaryIO

from fastapi import File, Form, Query, UploadFile
from pydantic import Field
from sqlalchemy import Connection
from starlette.responses import PlainTextResponse

from qassay.errors import InputError, Problem, UsageError
from qassay.formats.files import BrokenError, TemporaryFolder, packed_suffix, unpacked
from qassay.runs import RunInformation
from qassay.store.pool.uploads import count_runs, describe_run, find_run, keep_run, list_runs, set_withdrawn
from qassay.web.checking import Checked, Checker, Upload
from qassay.web.errors import Refusal, on_page
from qassay.web.pooling import PoolView, make_pool, pool_view
from qassay.web.questions import author_questions, questions_of
from qassay.web.routing import ORGANISERS, Context, Input, Router, TheSite, Who
from qassay.web.site import Site

# What an upload may unpack to, in upload limits.
UNPACKED = 4
# Reports that are kept for looking at.
MOST_REPORTS = 200
_PIECE = 1 << 20
# Bytes of a name: file systems take 255.
_LONGEST_NAME = 200
_ARCHIVES = {
    b"PK\x03\x04": "zip archive",
    b"PK\x05\x06": "zip archive",
    b"BZh": "bzip2 file",
    b"\xfd7zXZ\x00": "xz file",
    b"7z\xbc\xaf\x27\x1c": "7-Zip archive",
    b"Rar!": "RAR archive",
}
# One file is checked at a time: two large ones at once would need the memory of both.
_turn = threading.Lock()
router = Router()
RUNS_A_PAGE = 100
FAULTS_A_PAGE = 200
MOST_FILES = 200
# No database takes a NUL in a name.
Tag = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
Short = Annotated[str, Field(max_length=200)]
Long = Annotated[str, Field(max_length=5_000)]
Priority = Annotated[int, Field(ge=0, le=1_000_000)]


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one file: the run that is kept, or the first of its `faults`."""

    file: str
    tag: str | None
    problems: tuple[Problem, ...]
    faults: int
    number: str = field(default_factory=lambda: token_hex(8))


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
    """The first faults of a file, a page of them, and how many there are."""

    number: str
    file: str
    faults: list[Fault]
    total: int
    kept: int
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
        shown = list_runs(connection, limit=RUNS_A_PAGE, offset=(page - 1) * RUNS_A_PAGE)
        pool = pool_view(site, connection)
    return RunsPage(
        runs=[RunView.build(run, run.information) for run in shown],
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
    with Checker() as checker:
        reports = [take_upload(site, checker, file.filename, file.file, about=about, account=who.id) for file in files]
    return Uploaded(files=[_file_report(report) for report in reports])


@router.page("/runs/report", template="run_upload.html", roles=ORGANISERS)
def report(
    site: TheSite, number: Annotated[str, Query(max_length=40)], page: Annotated[int, Query(ge=1, le=100_000)] = 1
) -> ReportPage:
    """What is wrong with a file, line by line."""
    kept = _report(site, number)
    pages = max(1, -(-len(kept.problems) // FAULTS_A_PAGE))
    page = min(page, pages)
    first = (page - 1) * FAULTS_A_PAGE
    faults = _faults(kept.problems, first)
    return ReportPage.build(
        kept, faults=faults, total=kept.faults, kept=len(kept.problems), first=first + 1, page=page, pages=pages
    )


@router.download("/runs/report.txt", roles=ORGANISERS)
def report_text(site: TheSite, number: Annotated[str, Query(max_length=40)]) -> PlainTextResponse:
    """What is wrong with a file, as text to hand to its sender."""
    kept = _report(site, number)
    text = "".join(f"{problem}\n" for problem in kept.problems)
    if kept.faults > len(kept.problems):
        text += f"{kept.file}: {kept.faults:,} errors; these are the first {len(kept.problems):,}\n"
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
        run = find_run(connection, sent.tag)
    return RunView.build(run, run.information)


@router.action("POST", "/runs/withdraw", roles=ORGANISERS)
def withdraw(who: Who, site: TheSite, sent: Withdrawing) -> PoolView:
    """Withdraw a run: it is in no score any more, and what only it returned is judged no more."""
    return _set_withdrawn(who, site, sent, withdrawn=True)


@router.action("POST", "/runs/restore", roles=ORGANISERS)
def restore(who: Who, site: TheSite, sent: Withdrawing) -> PoolView:
    """Restore a run that was withdrawn."""
    return _set_withdrawn(who, site, sent, withdrawn=False)


def _set_withdrawn(who: Who, site: TheSite, sent: Withdrawing, *, withdrawn: bool) -> PoolView:
    """Withdraw or restore; where there is a pool, it is made again."""
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


def _report(site: Site, number: str) -> Report:
    report = _reports(site).get(number)
    if report is None:
        raise Refusal(404, "this report is not kept any more; upload the file again to see what is wrong with it")
    return report


def _file_report(report: Report) -> FileReport:
    number = report.number if report.problems else None
    return FileReport.build(report, first=_faults(report.problems), report=number)


def _faults(problems: Sequence[Problem], first: int = 0) -> list[Fault]:
    """A page of the faults."""
    return [Fault.build(problem) for problem in problems[first : first + FAULTS_A_PAGE]]


# ---- an uploaded file ------------------------------------------------------------------------------------------------


def take_upload(
    site: Site, checker: Checker, name: str | None, content: BinaryIO, *, about: RunInformation, account: int
) -> Report:
    """Check one uploaded file and keep the run in it; nothing of a faulty one stays."""
    called = clean_name(name)
    room = TemporaryFolder("qassay-upload-")
    with _turn:
        try:
            data, plain = _received(content, room.path, called, site.settings.upload_limit)
            checked = _checked(site, checker, plain, called)
            if checked.tag is not None:
                with site.store.write() as connection:
                    keep_run(
                        connection, checked.tag, data.read_bytes(), called=called, information=about, account=account
                    )
        except InputError as error:
            checked = Checked(None, error.problems, len(error.problems))
    report = Report(called, checked.tag, checked.problems, checked.faults)
    if report.problems:
        _remember(site, report)
    return report


def clean_name(name: str | None) -> str:
    """A file's name as it may be shown and used: its last part, without control characters, of a fair length.

    >>> clean_name("../../etc/passwd"), clean_name("C:\\\\runs\\\\lcc.txt"), clean_name("..")
    ('passwd', 'lcc.txt', 'run')
    """
    last = (name or "").replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(c for c in last if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    # The end of a long name tells more than its beginning: it has the extensions.
    cut = shown.strip().encode()[-_LONGEST_NAME:].decode(errors="ignore")
    return cut.lstrip(". ") or "run"


def _received(content: BinaryIO, room: Path, called: str, limit: int) -> tuple[Path, Path]:
    """The file as it came, and unpacked: the same where it is not packed."""
    came = room / "came"
    with came.open("wb") as out:
        shutil.copyfileobj(content, out, _PIECE)
    with came.open("rb") as source:
        start = source.read(512)
    if what := _archive(start):
        message = f"is a {what}; unpack it and upload the runs in it (gzip and zstandard files are taken as they are)"
        raise InputError(Problem("encoding", message, called))
    # The form without tags takes the run's from the name of its file: it keeps it, in a folder of its own.
    (room / "plain").mkdir()
    plain = room / "plain" / called.removesuffix(".gz").removesuffix(".zst")
    pieces = _unpacked(came, called) if packed_suffix(start) else None
    if pieces is None:
        came.rename(plain)
        return plain, plain
    size, most = 0, limit * UNPACKED
    with plain.open("wb") as out:
        for piece in pieces:
            size += len(piece)
            if size > most:
                message = f"unpacks to more than {most >> 20} MiB; split it, or bring it in with: qassay import"
                raise InputError(Problem("encoding", message, called))
            out.write(piece)
    return came, plain


def _archive(start: bytes) -> str | None:
    if start[257:262] == b"ustar":
        return "tar archive"
    return next((what for magic, what in _ARCHIVES.items() if start.startswith(magic)), None)


def _unpacked(came: Path, called: str) -> Iterator[bytes]:
    """The content of a packed file, piece by piece."""
    with came.open("rb") as source:
        try:
            yield from unpacked(iter(lambda: source.read(_PIECE), b""))
        except BrokenError as error:
            raise InputError(Problem("encoding", str(error), called)) from None


def _checked(site: Site, checker: Checker, path: Path, called: str) -> Checked:
    """The tag of a faultless run, or the faults of another, in words of the page."""
    questions = questions_of(site)
    if not questions.questions:
        message = "there are no questions yet, so nothing can be said of a run; publish them, or import them, first"
        raise InputError(Problem("configuration", message, called))
    collection = site.folder.collection if site.folder.collection.is_dir() else None
    checked = checker.check(Upload(path, called, site.configuration.task, questions, collection))
    return replace(checked, problems=tuple(_in_words_of_the_page(site, checked.problems)))


def _in_words_of_the_page(site: Site, problems: Iterable[Problem]) -> list[Problem]:
    """What is wrong, with the ways out that there are here."""
    with site.store.read() as connection:
        questions = author_questions(site, connection)
    drafts = {questions.names[name] for name in questions.draft_ids}
    reworded = []
    for problem in problems:
        message = on_page(problem.message)
        if problem.rule == "unknown-question" and problem.question in drafts:
            message = f"question {problem.question} is a draft; publish it on the page Questions, or remove the line"
        reworded.append(replace(problem, message=message))
    return reworded


def _reports(site: Site) -> OrderedDict[str, Report]:
    kept: OrderedDict[str, Report] = site.kept.setdefault("upload reports", OrderedDict())
    return kept


def _remember(site: Site, report: Report) -> None:
    """Keep a report; the oldest are forgotten when they are many."""
    reports = _reports(site)
    reports[report.number] = report
    while len(reports) > MOST_REPORTS:
        reports.popitem(last=False)
