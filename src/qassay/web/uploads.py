"""Files that somebody uploads as runs: unpacked within limits, checked by every rule, kept only when faultless.

Nothing a file says of itself is trusted: its name is cut to its last part, what it unpacks to is measured while it is
unpacked, and archives are refused. The rules are those of `qassay check` and `qassay import` (METHOD 3).
"""

from __future__ import annotations

import shutil
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from qassay.errors import InputError, Problem
from qassay.formats.files import TemporaryFolder
from qassay.formats.packing import BrokenError, packed_suffix, unpacked
from qassay.formats.runs import read_runs
from qassay.runs import RunInformation
from qassay.store.pool.uploads import keep_run
from qassay.web.documents import collection_of
from qassay.web.drafts import author_questions
from qassay.web.errors import on_page
from qassay.web.questions import questions_of
from qassay.web.site import Site

# What an upload may unpack to, in upload limits.
UNPACKED = 4
# Faults that are kept for looking at, of all reports together.
MOST_FAULTS = 500_000
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


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one file: the run that is kept, or all that is wrong with it."""

    file: str
    tag: str | None
    problems: tuple[Problem, ...]
    number: str = field(default_factory=lambda: token_hex(8))


def take_upload(site: Site, name: str | None, content: BinaryIO, *, about: RunInformation, account: int) -> Report:
    """Check one uploaded file and keep the run in it; nothing of a faulty one stays."""
    called = clean_name(name)
    room = TemporaryFolder("qassay-upload-")
    with _turn:
        try:
            data, plain = _received(content, room.path, called, site.settings.upload_limit)
            tag = _checked(site, plain, called)
            with site.store.write() as connection:
                keep_run(connection, tag, data.read_bytes(), called=called, information=about, account=account)
        except InputError as error:
            report = Report(called, None, error.problems)
            _remember(site, report)
            return report
    return Report(called, tag, ())


def report_numbered(site: Site, number: str) -> Report | None:
    """A report of a faulty file that is still remembered."""
    found: Report | None = _reports(site).get(number)
    return found


def clean_name(name: str | None) -> str:
    """A file's name as it may be shown and used: its last part, without control characters, of a fair length.

    >>> clean_name("../../etc/passwd"), clean_name("C:\\\\runs\\\\lcc.txt"), clean_name("..")
    ('passwd', 'lcc.txt', 'run')
    """
    last = (name or "").replace("\\", "/").rsplit("/", 1)[-1]
    shown = "".join(one for one in last if unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
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


def _checked(site: Site, path: Path, called: str) -> str:
    """The tag of a faultless run; an error that lists all faults of any other."""
    questions = questions_of(site)
    if not questions.questions:
        message = "there are no questions yet, so nothing can be said of a run; publish them, or import them, first"
        raise InputError(Problem("configuration", message, called))
    found = read_runs([path], task=site.configuration.task, questions=questions, names={path: called})
    problems = found.faults(collection_of(site).lengths() if site.folder.collection.is_dir() else None)
    if problems:
        problems = _in_words_of_the_page(site, problems)
        # By line; what is missing has none and comes last.
        raise InputError(sorted(problems, key=lambda one: (one.line is None, one.line or 0)))
    # The warning that the file is not named after its run says nothing here: the store names it.
    return found.runs.tags[0]


def _in_words_of_the_page(site: Site, problems: Iterable[Problem]) -> list[Problem]:
    """What is wrong, with the ways out that there are here."""
    with site.store.read() as connection:
        found = author_questions(site, connection)
    drafts = {found.names[name] for name in found.draft_ids}
    told = []
    for one in problems:
        message = on_page(one.message)
        if one.rule == "unknown-question" and one.question in drafts:
            message = f"question {one.question} is a draft; publish it on the page Questions, or remove the line"
        told.append(replace(one, message=message))
    return told


def _reports(site: Site) -> OrderedDict[str, Report]:
    kept: OrderedDict[str, Report] = site.kept.setdefault("upload reports", OrderedDict())
    return kept


def _remember(site: Site, report: Report) -> None:
    """Keep a report for looking at; the oldest are forgotten when they are many."""
    reports = _reports(site)
    reports[report.number] = report
    while len(reports) > 1 and _faults(reports.values()) > MOST_FAULTS:
        reports.popitem(last=False)


def _faults(reports: Iterable[Report]) -> int:
    return sum(len(one.problems) for one in reports)
