"""A client of a served evaluation: what a program needs to judge its pool, or to submit runs, with a token.

    client = Client("http://127.0.0.1:8000", token="qsy_...")
    for item in client.items():
        ...
    client.send_judgments("my-judge", rows)

    client = Client("http://127.0.0.1:8000", token="qsy_...")  # of a participant
    client.submit(Path("run.txt"), priority=1)

Nothing but the named address is spoken to. A request that the server did not answer is tried again: rows that
the set already has are skipped, so nothing is doubled.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from qassay import net, tasks
from qassay.errors import InputError, Problem, QassayError, UsageError
from qassay.formats.questions import question_of_row
from qassay.judging import Item
from qassay.questions import TestSet
from qassay.tasks import Task

# Rows and characters sent at once, well below what the server takes.
BATCH = 500
LONGEST_BATCH = 400_000
# Seconds before a request is sent again, and again.
WAITS = (0.25, 0.5, 1.0, 2.0)
TIMEOUT = 60.0
# The server checks a run before it answers; it gives up after five minutes.
UPLOAD_TIMEOUT = 600.0
# Bytes that are read of an answer: far more than a part of a pool has.
LONGEST_ANSWER = 256 << 20
NOT_OURS = "answers in a form that is not Qassay's; name a served evaluation"
HALF_CHARACTER = "a text has half a character (a lone surrogate), which no file can contain; correct it"


class ServerError(QassayError):
    """The server could not be reached, or said no."""


@dataclass(frozen=True)
class Served:
    """The evaluation on the server."""

    name: str
    task: Task
    questions: TestSet


@contextmanager
def understanding(server: str) -> Iterator[None]:
    """Reads an answer: what is not there, or is something else, is the fault of the server that was named."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError):
        raise ServerError(f"{server} {NOT_OURS}") from None


class Client:
    """Speaks to one server as the account of one token."""

    def __init__(self, url: str, *, token: str) -> None:
        if net.address(url) is None:
            raise UsageError(f"{url} is not the address of a server, such as http://127.0.0.1:8000")
        self._url = url.rstrip("/")
        self._token = token

    def evaluation(self) -> Served:
        """The task and the questions."""
        served = self.request("GET", "/evaluation")
        with understanding(self._url):
            questions = TestSet(tuple(question_of_row(row) for row in served["questions"]))
            return Served(served["name"], tasks.from_definition(served["task"], file="the server"), questions)

    def items(self) -> Iterator[Item]:
        """Every item of the pool."""
        after: int | None = 0
        while after is not None:
            part = self.request("GET", f"/pool?{urlencode({'after': after})}")
            with understanding(self._url):
                items, after = [Item(**row) for row in part["items"]], part["after"]
            yield from items

    def judged(self, name: str) -> set[str]:
        """The subjects that a set has judged, by digest."""
        subjects: set[str] = set()
        after: str | None = ""
        while after is not None:
            part = self.request("GET", f"/sets/{quote(name, safe='')}/things?{urlencode({'after': after})}")
            with understanding(self._url):
                subjects.update(part["things"])
                after = part["after"]
        return subjects

    def send_judgments(self, name: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Append judgment rows to a set; returns how many were new."""
        path = f"/sets/{quote(name, safe='')}/judgments"
        with understanding(self._url):
            return sum(self.request("POST", path, {"rows": batch})["added"] for batch in _batches(rows))

    def submissions(self) -> dict[str, Any]:
        """The runs of the participant's organisation, and the rules of the track."""
        page: dict[str, Any] = self.request("GET", "/submissions")
        return page

    def submit(
        self,
        path: Path,
        *,
        description: str | None = None,
        manual: bool = False,
        priority: int | None = None,
        replace: bool = False,
    ) -> dict[str, Any]:
        """Submit the run in a file, and return the server's report: the tag of the run, or what is wrong with it.

        The same file sent twice is one run: a request whose answer was lost can be repeated.
        """
        fields: dict[str, Any] = {"description": description, "priority": priority}
        fields |= {"manual": str(manual).lower(), "replace": str(replace).lower()}
        texts = {name: str(value) for name, value in fields.items() if value is not None}
        form = _form(texts, path.name, path.read_bytes())
        with understanding(self._url):
            report: dict[str, Any] = self.request("POST", "/submissions", form)["files"][0]
            return report

    def withdraw(self, tag: str) -> None:
        """Withdraw a run of the participant's organisation."""
        self.request("POST", "/submissions/withdraw", {"tag": tag})

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """The server's answer, as plain data; a `ServerError` with its reason.

        The body is sent as JSON; a `Form`, as it is.
        """
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        data, seconds = None, TIMEOUT
        if isinstance(body, FormBody):
            data, seconds = body.data, UPLOAD_TIMEOUT
            headers["Content-Type"] = body.type
        elif body is not None:
            data = _json(body)
            headers["Content-Type"] = "application/json"
        url = f"{self._url}/api{path}"
        send = partial(net.exchange, method, url, headers=headers, body=data, seconds=seconds, most=LONGEST_ANSWER)
        try:
            reply = net.send_again(send, WAITS)
            answer = reply.json()
        except net.NoReplyError as error:
            raise ServerError(f"{self._url} {error}") from None
        except ValueError:
            answer = None
        if reply.status < 300 and answer is not None:
            return answer
        raise self._refusal(reply, answer)

    def _refusal(self, reply: net.Reply, answer: Any) -> QassayError:
        """What a reply without an answer means."""
        if reply.status < 300:
            return ServerError(f"{self._url} {NOT_OURS}")
        message = answer.get("message") if isinstance(answer, dict) else None
        if reply.status in net.PASSING:
            return ServerError(f"{self._url} answered {reply.status}" + (f": {message}" if message else ""))
        problems = answer.get("problems") if isinstance(answer, dict) else None
        if reply.status == 422 and isinstance(problems, list) and problems:
            rows = [row for row in problems if isinstance(row, dict)]
            return InputError(
                Problem("syntax", str(row.get("message")), row.get("file"), row.get("line"), row.get("question"))
                for row in rows
            )
        return ServerError(f"the server refused ({reply.status}): {message or reply.reason}")


@dataclass(frozen=True)
class FormBody:
    """The body of a request with a file, and its type."""

    type: str
    data: bytes


def _form(fields: Mapping[str, str], name: str, content: bytes) -> FormBody:
    """Fields and one file, named `files`, as browsers send them."""
    boundary = f"qassay-{secrets.token_hex(16)}"
    # What would end the name of the file, or its line.
    escaped = name.translate({ord(character): f"%{ord(character):02X}" for character in '"\r\n'})
    parts = [f'Content-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n' for field, value in fields.items()]
    parts.append(
        f'Content-Disposition: form-data; name="files"; filename="{escaped}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    try:
        start = "".join(f"--{boundary}\r\n{part}" for part in parts).encode()
    except UnicodeEncodeError:
        raise InputError(Problem("encoding", HALF_CHARACTER)) from None
    return FormBody(
        f"multipart/form-data; boundary={boundary}", b"".join((start, content, f"\r\n--{boundary}--\r\n".encode()))
    )


def _json(body: Any) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError(Problem("encoding", HALF_CHARACTER)) from None


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
