"""A client of a served evaluation: what a program needs to judge its pool, with a token.

    client = Client("http://127.0.0.1:8000", token="qsy_...")
    for item in client.items():
        ...
    client.send_judgments("my-judge", rows)

Nothing but the named address is spoken to. A request that the server did not answer is tried again: rows that stand as
they are are not repeated there, so nothing is doubled.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from qassay import tasks
from qassay.direct import PASSING, direct
from qassay.errors import InputError, Problem, QassayError, UsageError
from qassay.formats.questions import question_of_row
from qassay.judging import Item
from qassay.questions import TestSet
from qassay.tasks import Task

# Rows and characters sent at once, well below what the server takes.
BATCH = 500
LONGEST_BATCH = 400_000
ATTEMPTS = 5
TIMEOUT = 60.0


class ServerError(QassayError):
    """The server could not be reached, or said no."""


@dataclass(frozen=True)
class Served:
    """What is evaluated on the server."""

    name: str
    task: Task
    questions: TestSet


class Client:
    """Speaks to one server as the account of one token."""

    def __init__(self, url: str, *, token: str, pause: Callable[[float], None] = time.sleep) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{url} is not the address of a server, such as http://127.0.0.1:8000")
        self._url = url.rstrip("/")
        self._token = token
        self._pause = pause

    def evaluation(self) -> Served:
        """The task and the questions."""
        served = self.request("GET", "/evaluation")
        questions = TestSet(tuple(question_of_row(row) for row in served["questions"]))
        return Served(served["name"], tasks.from_definition(served["task"], file="the server"), questions)

    def items(self) -> Iterator[Item]:
        """Every item of the pool."""
        after: int | None = 0
        while after is not None:
            part = self.request("GET", f"/pool?{urlencode({'after': after})}")
            for row in part["items"]:
                yield Item(**row)
            after = part["after"]

    def judged(self, name: str) -> set[str]:
        """The subjects that a set has judged, by digest."""
        subjects: set[str] = set()
        after: str | None = ""
        while after is not None:
            part = self.request("GET", f"/sets/{quote(name, safe='')}/things?{urlencode({'after': after})}")
            subjects.update(part["things"])
            after = part["after"]
        return subjects

    def send_judgments(self, name: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Append judgment rows to a set; returns how many were new."""
        path = f"/sets/{quote(name, safe='')}/judgments"
        return sum(self.request("POST", path, {"rows": batch})["added"] for batch in _batches(rows))

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """What the server answers, as plain data; a `ServerError` that says what it objects to."""
        for attempt in range(ATTEMPTS):
            try:
                return self._once(method, path, body)
            except _PassingError as error:
                if attempt == ATTEMPTS - 1:
                    raise ServerError(f"{self._url} {error}") from None
                self._pause(min(2.0**attempt * 0.25, 5.0))
        raise ServerError(f"{self._url} does not answer")

    def _once(self, method: str, path: str, body: Any) -> Any:
        try:
            data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            message = "a text has half a character (a lone surrogate), which no file can hold; correct it"
            raise InputError(Problem("encoding", message)) from None
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        sent = urllib.request.Request(f"{self._url}/api{path}", data, headers, method=method)  # noqa: S310  # checked
        try:
            with direct().open(sent, timeout=TIMEOUT) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            with error:
                _raise(error)
        except (urllib.error.URLError, TimeoutError, ConnectionError, ValueError) as error:
            raise _PassingError(f"cannot be reached: {getattr(error, 'reason', error)}") from None


class _PassingError(Exception):
    """Something that another attempt may get past."""


def _raise(error: urllib.error.HTTPError) -> None:
    if error.code in PASSING:
        raise _PassingError(f"answered {error.code}")
    try:
        answer = json.loads(error.read(1 << 20))
    except ValueError:
        answer = {}
    problems = answer.get("problems") if isinstance(answer, dict) else None
    if error.code == 422 and problems:
        raise InputError(
            Problem("syntax", str(row.get("message")), row.get("file"), row.get("line"), row.get("question"))
            for row in problems
        )
    message = answer.get("message", "") if isinstance(answer, dict) else ""
    raise ServerError(f"the server refused ({error.code}): {message or error.reason}")


def _batches(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    batch: list[Mapping[str, Any]] = []
    size = 0
    for row in rows:
        length = len(json.dumps(row, ensure_ascii=False))
        if batch and (len(batch) == BATCH or size + length > LONGEST_BATCH):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += length
    if batch:
        yield batch
