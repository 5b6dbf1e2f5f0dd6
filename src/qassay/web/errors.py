"""The answers to errors: JSON to programs, a page to people, internals to nobody.

A view refuses with `Refusal`, or with the errors of `qassay.errors` where it meets them:

    raise Refusal(404, "there is no question 7.3")
    raise Refusal(409, "somebody else judged this meanwhile", stands=row, yours=sent)

The JSON is {"message": ..., "problems": [...], ...}: a problem has `message` and, where it is known, `field` (of the
request's body) or `file`, `line`, `question`, `rule` (of an input file). A refusal may have more fields.
"""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from qassay.errors import InputError, Problem, QassayError, Remedy, UsageError
from qassay.web.rendering import render

# Serialisation failure, deadlock, lock not available: PostgreSQL's words for: try again.
BUSY_STATES = ("40001", "40P01", "55P03")
# The connection failed, or the server is being stopped or started.
AWAY_STATES = ("08", "57P")
RETRY_SECONDS = 2
_LATER = {"Retry-After": str(RETRY_SECONDS)}

log = logging.getLogger("qassay.web")

MESSAGES = {
    404: "there is nothing at this address",
    405: "this address does not take that method",
    503: "the store is busy: another program is writing into it. Nothing of this was saved; try again in a moment",
    500: "something went wrong on the server; what was saved is kept. The organiser finds the request in the log",
}

# The headings of error pages.
TITLES = {
    400: "This is not possible",
    401: "Sign in first",
    403: "No access",
    404: "Page not found",
    405: "This is not possible",
    409: "Changed in the meantime",
    413: "Too large",
    422: "This address is not valid",
    429: "Too many requests",
    500: "Something went wrong",
    503: "Not available just now",
    507: "Nothing can be saved",
}
# After these the same request may succeed.
PASSING = (429, 500, 503, 507)

# Its words for a value that is wrong or missing, in words of a page.
_OF_PYDANTIC = {
    "Input should be a valid integer, unable to parse string as an integer": "this must be a whole number",
    "Input should be": "this must be",
    "Field required": "this is missing",
    "Extra inputs are not permitted": "there is no such field",
    "String should": "this must",
    "Value error, ": "",
}
# An option named in passing says what the choices of the page say anyway.
_ASIDE = re.compile(r" \(--[a-z-]+(?: [a-z]+)?\)")
# From what a command's user has to do to what there is to do here.
_WAYS = {
    "`qassay score` and `qassay compare`": "the pages “Who is best?” and “Is it real?”",
    "`qassay compare`": "the page “Is it real?”",
    "`qassay sensitivity`": "the page “How many more questions?”",
    # A run that is sent to the application has to be complete.
    " (to score it anyway: qassay score --missing zero or skip)": "",
    "; to add these questions: --new-questions": "",
    ": --against SET": "",
    "; to compare whole sets, leave out --by person": "",
    "; let an assessor judge the run left out: --with ASSESSOR": "",
    "; name one with --sample": "; the command `qassay score` takes one of them",
    "name any two with --sets": "choose any two sets above",
    "choose one with --key": "choose one",
    "Use --key majority, or name other sets: --key dawid-skene:first,second,third": "Choose the judgments majority",
    "try --key two-way": "choose the judgments two-way",
    "--json lists all of them": "the JSON below lists all of them",
    "add them with: qassay import FOLDER JUDGMENTS": "they come from assessors, see the page Assignments",
    "add them with: qassay import FOLDER RUN...": "add them on the page Runs",
    "has no questions.*; add them with: qassay import FOLDER QUESTIONS": (
        "there are no questions yet; write and publish them on the page Questions"
    ),
}
# What to do on a page in place of an option.
_CHOICES = {
    "missing": "choose what questions without a response count",
    "unjudged": "choose how unjudged items count",
}
_DRAW = re.compile(r": qassay sample FOLDER --size \d+ --for \S+")
_PUBLISHED = re.compile(r"(on the page Questions) of: qassay serve .*", re.DOTALL)


class Refusal(Exception):  # noqa: N818  # nothing broke: the answer is no
    """The answer is no, with a status and a sentence that says why."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        problems: tuple[Mapping[str, Any], ...] = (),
        headers: Mapping[str, str] | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.problems = problems
        self.headers = dict(headers or {})
        self.details = details


class GoTo(Exception):  # noqa: N818  # not an error: what was asked for is elsewhere
    """The page is at another address of the application."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def answer(request: Request, error: Exception) -> Response:
    """The response to an error; anything unforeseen is logged and answered without a word about it."""
    if isinstance(error, GoTo):
        if not wants_json(request):
            return RedirectResponse(error.path, status_code=303)
        error = Refusal(409, "this page is at another address", goto=error.path)
    refusal = _as_refusal(error)
    if refusal is None:
        log.error("unforeseen error", exc_info=error, extra={"request": request.scope.get("qassay.id")})
        refusal = Refusal(500, MESSAGES[500])
    if wants_json(request):
        body = {"message": refusal.message, "problems": list(refusal.problems), **refusal.details}
        return JSONResponse(body, refusal.status, refusal.headers)
    if isinstance(error, HTTPException):
        _look_who_asks(request)
    title = TITLES.get(refusal.status, HTTPStatus(refusal.status).phrase)
    passing = refusal.status in PASSING
    context = {"status": refusal.status, "title": title, "message": refusal.message, "passing": passing}
    return render(request, "error.html", context, status=refusal.status, headers=refusal.headers)


def wants_json(request: Request) -> bool:
    """Whether a program asks."""
    path = request.url.path
    return path == "/api" or path.startswith(("/api/", "/health", "/metrics", "/static/"))


def _look_who_asks(request: Request) -> None:
    """Find out who asks for an address that is none, so that the page has their menu: no guard runs there."""
    from qassay.web.guard import identify  # it raises the refusals of this module

    state = request.scope.setdefault("state", {})
    if "person" in state:
        return
    try:
        state["person"] = identify(request, request.app.state.site)
    except (Refusal, DBAPIError, PoolTimeoutError):
        state["person"] = None  # a page without a menu is better than none


def _as_refusal(error: Exception) -> Refusal | None:
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RequestValidationError):
        problems = tuple(map(_field_problem, error.errors()))
        first = problems[0] if problems else {"message": "the request cannot be read"}
        field = f"{first['field']}: " if first.get("field") else ""
        return Refusal(422, f"{field}{first['message']}", problems=problems)
    if isinstance(error, InputError):
        faults = [for_page(problem) for problem in error.problems]
        return Refusal(422, str(faults[0]), problems=tuple(problem.as_json() for problem in faults))
    if isinstance(error, QassayError):
        return Refusal(400, sentence_of(error))
    if isinstance(error, HTTPException):
        message = MESSAGES.get(error.status_code) or str(error.detail)
        return Refusal(error.status_code, message, headers=error.headers)
    if is_busy(error):
        log.warning("the store is busy: %s", error)
        return Refusal(503, MESSAGES[503], headers=_LATER)
    if is_away(error):
        log.error("the database does not answer: %s", error)
        return Refusal(503, "the database does not answer; try again in a moment", headers=_LATER)
    if cannot_be_written(error):
        log.error("the store cannot be written: %s", error)
        return Refusal(
            507, "the server cannot save: its disk is full or read-only. Nothing was changed; tell the organiser"
        )
    return None


def is_busy(error: Exception) -> bool:
    """Whether the store could not be written because somebody else does, and the same may succeed in a moment."""
    if isinstance(error, PoolTimeoutError):
        return True
    cause = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(cause, sqlite3.OperationalError):
        return cause.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return getattr(cause, "sqlstate", None) in BUSY_STATES


def is_away(error: Exception) -> bool:
    """Whether PostgreSQL could not be reached, or went away: it may be back in a moment."""
    if not isinstance(error, OperationalError) or isinstance(error.orig, sqlite3.Error):
        return False
    return error.connection_invalidated or (getattr(error.orig, "sqlstate", None) or "08").startswith(AWAY_STATES)


def cannot_be_written(error: Exception) -> bool:
    """Whether the disk of the store is full, or read-only."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    full = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
    if isinstance(cause, sqlite3.OperationalError):
        return cause.sqlite_errorcode & 0xFF in full
    return getattr(cause, "sqlstate", None) in ("53100", "25006")  # PostgreSQL: disk_full, read_only_sql_transaction


def for_page(problem: Problem) -> Problem:
    """A problem in words of the page, and the name of its file alone: the path is the server's."""
    file = problem.file
    if file is not None and Path(file).is_absolute():
        file = Path(file).name
    return replace(problem, file=file, message=_with_choices(problem.message, problem.way_out), way_out=())


def sentence_of(error: Exception) -> str:
    """An error in words of the page."""
    return _with_choices(error.message, error.way_out) if isinstance(error, UsageError) else str(error)


def _with_choices(message: str, way_out: Sequence[Remedy]) -> str:
    """A message and what to choose on a page; options that no page has are left out.

    >>> _with_choices("complete the run", [Remedy("missing", "zero", "To count 0")])
    'complete the run, or choose what questions without a response count'
    """
    return ", or ".join(dict.fromkeys([message, *(_CHOICES[o.name] for o in way_out if o.name in _CHOICES)]))


def on_page(text: str) -> str:
    """A sentence of the library in words of the page.

    >>> on_page("Unjudged: 12 counted as wrong (--unjudged wrong).")
    'Unjudged: 12 counted as wrong.'
    >>> on_page("there are no runs; add them with: qassay import FOLDER RUN...")
    'there are no runs; add them on the page Runs'
    """
    for command, page in _WAYS.items():
        text = text.replace(command, page)
    return _PUBLISHED.sub(r"\1", _DRAW.sub(" with the command `qassay sample`", _ASIDE.sub("", text)))


def _field_problem(error: Mapping[str, Any]) -> dict[str, Any]:
    """The error that pydantic found, without the value: it may be a password."""
    place = [str(part) for part in error.get("loc", ()) if part not in ("body", "query", "path")]
    if not place and error.get("type") == "missing":
        return {"field": "", "message": "the body is missing: send a JSON object, for example {}"}
    message = str(error.get("msg", "is wrong"))
    for words, plain in _OF_PYDANTIC.items():
        message = message.replace(words, plain)
    return {"field": ".".join(place), "message": message}
