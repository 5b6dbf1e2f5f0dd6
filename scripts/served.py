"""A served evaluation as people and programs reach it: the command line, HTTP, and nothing of the package's inside."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx

PASSWORD = "a long enough password"  # of accounts in throw-away evaluations
START_SECONDS = 60.0
_RUN = "import sys; from qassay.cli import main; sys.exit(main(sys.argv[1:]))"
_KEYS = count()


def arguments(folder: Path) -> list[str]:
    """The command that serves an evaluation on any free port."""
    return ["serve", str(folder), "--port", "0", "--log", "none"]


@contextmanager
def serving(folder: Path, log: Path) -> Iterator[str]:
    """Serve an evaluation in a process of its own; the one-time link of its first organiser."""
    with log.open("wb") as output:
        server = subprocess.Popen([sys.executable, "-c", _RUN, *arguments(folder)], stdout=output, stderr=output)
        try:
            yield one_time_link(log)
        finally:
            server.terminate()
            server.wait(timeout=30)


def one_time_link(log: Path) -> str:
    """The link that the server prints when it begins."""
    for _ in range(int(START_SECONDS / 0.02)):
        words = log.read_text(encoding="utf-8").split() if log.exists() else []
        links = [word for word in words if "/welcome#" in word]
        if "error:" in words:
            break
        if links:
            return links[0]
        time.sleep(0.02)
    raise RuntimeError(f"the server does not start: {log.read_text(encoding='utf-8')}")


@dataclass
class Person:
    """A person who is signed in."""

    address: str
    name: str
    browser: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.browser = httpx.Client(base_url=f"{self.address}/api", headers={"Origin": self.address}, timeout=60.0)

    def get(self, path: str, **parameters: Any) -> Any:
        """What the server answers."""
        return self._answer(self.browser.get(path, params=parameters))

    def post(self, path: str, **sent: Any) -> Any:
        """What the server answers to something sent; an error where it refuses."""
        return self._answer(self.browser.post(path, json=sent))

    def decide(self, assignment: int, item: int, part: str, verdict: Mapping[str, Any], *, expected: int) -> Any:
        """Save a verdict."""
        body = {"item": item, "part": part, "verdict": verdict, "expected": expected}
        return self.post(f"/judge/{assignment}/decisions", key=new_key(), **body)

    def undo(self, assignment: int, item: int, part: str, *, expected: int, to: int) -> Any:
        """Restore the verdict of an earlier version."""
        body = {"item": item, "part": part, "expected": expected, "to": to}
        return self.post(f"/judge/{assignment}/undo", key=new_key(), **body)

    def pieces(self) -> Iterator[dict[str, Any]]:
        """The questions that are assigned to this person."""
        page = self.get("/work")
        yield from page["pieces"]
        for number in range(2, page["pages"] + 1):
            yield from self.get("/work", page=number)["pieces"]

    def items(self, assignment: int) -> Iterator[dict[str, Any]]:
        """The items of an assignment, of all its stages, as they are shown."""
        for stage in self.get(f"/judge/{assignment}")["stages"]:
            for place in self.get(f"/judge/{assignment}", stage=stage["screen"])["items"]:
                yield self.get(f"/judge/{assignment}/items/{place['id']}")

    def _answer(self, response: httpx.Response) -> Any:
        if response.is_error:
            raise RuntimeError(f"{response.request.url} answered {response.status_code}: {response.text}")
        return response.json()


def new_key() -> str:
    """An idempotency key that was not used before."""
    return f"sample-key-{next(_KEYS):010}"


def join(link: str, name: str) -> Person:
    """Make the account that a one-time link offers."""
    address, _, token = link.partition("/welcome#")
    person = Person(address, name)
    person.post("/welcome", token=token, name=name, password=PASSWORD)
    return person


def invite(organiser: Person, name: str, role: str) -> Person:
    """Another person, in a role."""
    return join(organiser.post("/people/invitations", role=role, name=name)["link"], name)


def pool(organiser: Person, *, holistic: bool = False, citations: bool = False) -> None:
    """Make the pool, and wait until it is made."""
    state = organiser.post("/assignments/pool", holistic=holistic, citations=citations)
    while state["state"] == "running":
        time.sleep(0.02)
        state = organiser.get("/assignments/pool")
    if state["made"] is None:
        raise RuntimeError(f"there is no pool: {state['says']}")


def give_out(organiser: Person, people: list[Person], *, assessors: int) -> None:
    """Give every question to this many of these people."""
    numbers = {row["name"]: row["id"] for row in organiser.get("/people")["people"]}
    organiser.post("/assignments", assessors=assessors, accounts=[numbers[person.name] for person in people])
