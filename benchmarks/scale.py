"""Pages on a small pool, on that of TREC 2002 and on a million items, as a browser gets them from the server.

Three servers run beside each other, and each page is asked of one after the other, so that whatever else the machine
does falls on all alike. The figure is the median; the peer is the small pool.
"""

from __future__ import annotations

import http.client
import statistics
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks import load
from benchmarks.pools import LARGE, MIDDLE, PEOPLE, SMALL, Size, make
from benchmarks.rows import Row
from qassay.store.people.sessions import begin_session

SIZES = (SMALL, MIDDLE, LARGE)
ROUNDS = 15
# Who opens the page, and which; {open} is an assignment that has not been begun.
PAGES = (
    *(("organiser", path) for path in ("/", "/people", "/runs", "/development", "/assignments", "/history")),
    *(("organiser", f"/assignments{query}") for query in ("?show=open", "?sort=left", "?person=3", "?find=1")),
    *(("organiser", f"/history{query}") for query in ("?question=q3", "?set=third", "?person=5")),
    *(("organiser", path) for path in ("/results", "/results/units", "/results/agree")),
    *(("assessor", path) for path in ("/work", "/judge/{open}")),
    *(("adjudicator", path) for path in ("/adjudication", "/adjudication/question?id=q3")),
)


@dataclass
class Server:
    """A served evaluation: its size, a connection that is kept, and a session of every role."""

    size: Size
    connection: http.client.HTTPConnection
    secrets: dict[str, str]

    def get(self, role: str, path: str) -> float:
        """The seconds that a page takes."""
        address = path.replace("{open}", str(3 * self.size.judged + 1))
        begun = time.perf_counter()
        self.connection.request("GET", address, headers={"Cookie": f"{load.COOKIE}={self.secrets[role]}"})
        answer = self.connection.getresponse()
        body = answer.read()
        seconds = time.perf_counter() - begun
        if answer.status != 200:
            raise RuntimeError(f"{role} {address}: {answer.status} {body[:200]!r}")
        return seconds


def scale() -> list[Row]:
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        servers = [_serve(stack, Path(place) / str(size.pool), size) for size in SIZES]
        return [_row(servers, role, path) for role, path in PAGES]


def _serve(stack: ExitStack, folder: Path, size: Size) -> Server:
    store = make(folder, size)
    with store.write() as connection:
        secrets = {
            role: begin_session(connection, 1 + PEOPLE.index(role), address="127.0.0.1", agent="scale")
            for role in dict.fromkeys(PEOPLE)
        }
    store.close()
    port = load.free_port()
    stack.enter_context(load.serving(folder, port))
    return Server(size, http.client.HTTPConnection("127.0.0.1", port, timeout=60), secrets)


def _row(servers: list[Server], role: str, path: str) -> Row:
    for server in servers:
        server.get(role, path)  # what is kept from one opening to the next
    times: dict[int, list[float]] = {server.size.pool: [] for server in servers}
    for turn in range(ROUNDS):
        for server in (*servers[turn % 3 :], *servers[: turn % 3]):
            times[server.size.pool].append(server.get(role, path))
    small, middle, large = (statistics.median(times[server.size.pool]) for server in servers)
    milliseconds = " / ".join(f"{seconds * 1000:.1f}" for seconds in (small, middle, large))
    sizes = " / ".join(f"{server.size.pool:,}" for server in servers)
    return Row(f"{path} ({role})", large, small, small / large, f"{milliseconds} ms at {sizes} items")
