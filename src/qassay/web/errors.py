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
from qassay.studies import COMMANDS, study
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
# How a sentence goes on here where an option helps, or a command, by its verb and what it adds; others are left out.
_HERE = {
    "missing": ", or choose what questions without a response count",
    "unjudged": ", or choose how unjudged items count",
    "sets": "; choose any two sets above",
    "key": "; choose one",
    "import RUN...": "; add them on the page Runs",
    "import QUESTIONS": "; write and publish them on the page Questions",
    "import JUDGMENTS": "; they come from assessors, see the page Assignments",
    "serve": "; publish them on the page Questions",
}
# The pages that these name, for a button.
_PAGES = {"Questions": "/development", "Runs": "/runs", "Assignments": "/assignments"}
# What an option of a command is called here.
_FIELDS = {
    "key": "“Judgments”",
    "measure": "“Measure”",
    "component": "“Questions”",
    "unjudged": "“Unjudged items”",
    "missing": "“Questions without a response”",
    "method": "“Correction, for all pairs”",
    "bin-width": "“Width of a bin of differences”",
    "fit": "“Also the study as the TREC papers did it”",
    "error": "“Error rate to stay within”",
    "intervals": "“Intervals and groups”",
    "sets": "“Judgment sets to compare”",
    "against": "“Compared with”",
    "json": "the JSON below",
}
_OPTION = re.compile(r"(?P<aside> \()?--(?P<name>[a-z][a-z-]*)(?: [\w.:+-]+(?=\)))?(?(aside)\)|)")
_COMMAND = re.compile(r"`qassay ([a-z]+)`")


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


def words_of(error: QassayError | Refusal) -> str:
    """An error in words of the page: the first of its problems."""
    refusal = _as_refusal(error)
    return str(error) if refusal is None else refusal.message


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
    return "".join([message, *dict.fromkeys(_HERE.get(_place(option), "") for option in way_out)])


def _place(option: Remedy) -> str:
    """What leads to the place on a page for an option or a command."""
    if option.name != "qassay":
        return option.name
    verb, *words = str(option.value).split()
    return f"{verb} {words[-1]}" if verb == "import" else verb


def pages_for(way_out: Sequence[Remedy]) -> dict[str, str]:
    """The pages that help, by name with their addresses."""
    words = " ".join(_HERE.get(_place(option), "") for option in way_out)
    return {name: address for name, address in _PAGES.items() if f"the page {name}" in words}


def on_page(text: str) -> str:
    """A sentence with the options and commands in it as a page calls them.

    >>> on_page("Unjudged: 12 counted as wrong (--unjudged wrong).")
    'Unjudged: 12 counted as wrong (“Unjudged items”).'
    >>> on_page("3 more pairs: --json lists all of them. See `qassay sensitivity`.")
    '3 more pairs: the JSON below lists all of them. See the page “How many more questions?”.'
    """

    def called(found: re.Match[str]) -> str:
        field = _FIELDS.get(found["name"])
        if found["aside"]:
            return "" if field is None else f" ({field})"
        return field or f"the option “{found['name']}” of the command"

    def page_of(found: re.Match[str]) -> str:
        tab = study(found[1]).tab if found[1] in COMMANDS else None
        return found[0] if tab is None else f"the page “{tab}”"

    return _COMMAND.sub(page_of, _OPTION.sub(called, text))


def _field_problem(error: Mapping[str, Any]) -> dict[str, Any]:
    """The error that pydantic found, without the value: it may be a password."""
    place = [str(part) for part in error.get("loc", ()) if part not in ("body", "query", "path")]
    if not place and error.get("type") == "missing":
        return {"field": "", "message": "the body is missing: send a JSON object, for example {}"}
    message = str(error.get("msg", "is wrong"))
    for words, plain in _OF_PYDANTIC.items():
        message = message.replace(words, plain)
    return {"field": ".".join(place), "message": message}
