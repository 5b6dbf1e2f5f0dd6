"""Uploaded runs: received, checked, and reported with all that is wrong with them.

Nothing an uploaded file says of itself is trusted: its name is cut to its last part, what it unpacks to is measured
while it is unpacked, and archives are refused. The rules are those of `qassay check` and `qassay import` (METHOD 3).
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from sqlalchemy import Connection
from starlette.responses import PlainTextResponse

from qassay.errors import InputError, Problem
from qassay.formats.files import BrokenError, packed_suffix, unpacked
from qassay.web.checking import Checked, Checker, Upload
from qassay.web.errors import Refusal, for_page
from qassay.web.questions import author_questions, questions_of
from qassay.web.routing import Context
from qassay.web.site import Site

# What an upload may unpack to, in upload limits.
UNPACKED = 4
# Reports that are kept for looking at.
MOST_REPORTS = 200
FAULTS_A_PAGE = 200
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
# Stores a checked run, given its tag, its file and the file's name.
Keep = Callable[[Connection, str, bytes, str], None]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one file: the runs that are kept, or the first of its `faults`.

    `organisation` is that of the participant who sent it; only its members see the report then.
    """

    file: str
    tags: tuple[str, ...]
    problems: tuple[Problem, ...]
    faults: int
    warnings: tuple[Problem, ...] = ()
    organisation: str | None = None
    number: str = field(default_factory=lambda: token_hex(8))

    @property
    def tag(self) -> str | None:
        """The tag of the run, or of the first."""
        return self.tags[0] if self.tags else None


class Fault(Context):
    """One thing wrong with a file."""

    line: int | None
    question: str | None
    rule: str
    message: str


class FileReport(Context):
    """The result of one uploaded file: its runs and what is odd in them, or the first of its faults."""

    file: str
    tag: str | None
    tags: list[str]
    faults: int
    first: list[Fault]
    warnings: list[Fault]
    report: str | None


class ReportPage(Context):
    """The first faults of a file, a page of them, and how many there are; `back` is the page they were sent from."""

    number: str
    file: str
    faults: list[Fault]
    total: int
    kept: int
    first: int
    page: int
    pages: int
    back: str
    label: str


def take_upload(
    site: Site,
    checker: Checker,
    name: str | None,
    content: BinaryIO,
    *,
    keep: Keep,
    organisation: str | None = None,
) -> Report:
    """Check one uploaded file and keep the runs in it; nothing of a faulty one stays."""
    called = clean_name(name)
    tags: tuple[str, ...] = ()
    with _turn, tempfile.TemporaryDirectory(prefix="qassay-upload-") as room:
        try:
            data, plain = _received(content, Path(room), called, site.settings.upload_limit)
            checked = _checked(site, checker, plain, called, names_drafts=organisation is None)
            if checked.tag is not None:
                runs = checked.made or {checked.tag: data.read_bytes()}
                with site.store.write() as connection:
                    for tag, run in runs.items():
                        keep(connection, tag, run, called)
                tags = tuple(runs)
        except InputError as error:
            checked = Checked(None, error.problems, error.problems.total)
    report = Report(called, tags, checked.problems, checked.faults, checked.warnings, organisation)
    if report.problems:
        _remember(site, report)
    return report


def file_report(report: Report) -> FileReport:
    """The answer to the sender of a file."""
    number = report.number if report.problems else None
    warnings = _faults(report.warnings)
    return FileReport.build(
        report, tags=list(report.tags), first=_faults(report.problems), warnings=warnings, report=number
    )


def report_page(site: Site, number: str, page: int, *, organisation: str | None, back: str, label: str) -> ReportPage:
    """A page of the errors of a file."""
    report = find_report(site, number, organisation=organisation)
    pages = max(1, -(-len(report.problems) // FAULTS_A_PAGE))
    page = min(page, pages)
    first = (page - 1) * FAULTS_A_PAGE
    numbers = {"total": report.faults, "kept": len(report.problems), "first": first + 1, "page": page, "pages": pages}
    return ReportPage.build(report, faults=_faults(report.problems, first), back=back, label=label, **numbers)


def report_text(site: Site, number: str, *, organisation: str | None) -> PlainTextResponse:
    """The errors of a file as text, to hand on."""
    report = find_report(site, number, organisation=organisation)
    text = "".join(f"{problem}\n" for problem in report.problems)
    if report.faults > len(report.problems):
        text += f"{report.file}: {report.faults:,} errors; these are the first {len(report.problems):,}\n"
    return PlainTextResponse(text, headers={"Content-Disposition": 'attachment; filename="faults.txt"'})


def find_report(site: Site, number: str, *, organisation: str | None) -> Report:
    """A kept report; to an organisation its own alone, and the same answer where it is another's."""
    report = _reports(site).get(number)
    if report is None or (organisation is not None and report.organisation != organisation):
        raise Refusal(404, "this report is not kept any more; upload the file again to see what is wrong with it")
    return report


def _faults(problems: Sequence[Problem], first: int = 0) -> list[Fault]:
    """A page of the faults."""
    return [Fault.build(problem) for problem in problems[first : first + FAULTS_A_PAGE]]


def clean_name(name: str | None) -> str:
    """A file's name as it may be shown and used: its last part, without control characters, of a fair length.

    >>> clean_name("../../etc/passwd"), clean_name("C:\\\\runs\\\\lcc.txt"), clean_name("..")
    ('passwd', 'lcc.txt', 'run')
    """
    last = (name or "").replace("\\", "/").rsplit("/", 1)[-1]
    printable = "".join(c for c in last if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    # The end of a long name says more than its beginning: it has the extensions.
    cut = printable.strip().encode()[-_LONGEST_NAME:].decode(errors="ignore")
    return cut.lstrip(". ") or "run"


def _received(content: BinaryIO, room: Path, called: str, limit: int) -> tuple[Path, Path]:
    """The file as it came, and unpacked: the same where it is not packed."""
    came = room / "came"
    with came.open("wb") as out:
        shutil.copyfileobj(content, out, _PIECE)
    with came.open("rb") as source:
        start = source.read(512)
    if archive := _archive(start):
        message = (
            f"is a {archive}; unpack it and upload the runs in it (gzip and zstandard files are taken as they are)"
        )
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
    return next((archive for magic, archive in _ARCHIVES.items() if start.startswith(magic)), None)


def _unpacked(came: Path, called: str) -> Iterator[bytes]:
    """The content of a packed file, piece by piece."""
    with came.open("rb") as source:
        try:
            yield from unpacked(iter(lambda: source.read(_PIECE), b""))
        except BrokenError as error:
            raise InputError(Problem("encoding", str(error), called)) from None


def _checked(site: Site, checker: Checker, path: Path, called: str, *, names_drafts: bool) -> Checked:
    """The tag of a faultless run, or the faults of another, in words of the page; organisers also see drafts."""
    questions = questions_of(site)
    if not questions.questions:
        message = "there are no questions yet, so nothing can be said of a run; publish them, or import them, first"
        raise InputError(Problem("configuration", message, called))
    collection = site.folder.collection if site.folder.collection.is_dir() else None
    checked = checker.check(Upload(path, called, site.configuration.task, questions, collection))
    return replace(checked, problems=tuple(_in_words_of_the_page(site, checked.problems, names_drafts=names_drafts)))


def _in_words_of_the_page(site: Site, problems: Iterable[Problem], *, names_drafts: bool) -> list[Problem]:
    """The errors, with the advice that applies here."""
    drafts: set[str] = set()
    if names_drafts:
        with site.store.read() as connection:
            questions = author_questions(site, connection)
        drafts = {questions.names[name] for name in questions.draft_ids}
    reworded = []
    for problem in map(for_page, problems):
        message = problem.message
        if problem.rule == "unknown-question" and problem.question in drafts:
            message = f"question {problem.question} is a draft; publish it on the page Questions, or remove the line"
        reworded.append(replace(problem, message=message))
    return reworded


def _reports(site: Site) -> OrderedDict[str, Report]:
    reports: OrderedDict[str, Report] = site.memory.setdefault("upload reports", OrderedDict())
    return reports


def _remember(site: Site, report: Report) -> None:
    """Keep a report; the oldest are forgotten when they are many."""
    reports = _reports(site)
    reports[report.number] = report
    while len(reports) > MOST_REPORTS:
        reports.popitem(last=False)
