"""Large pools open their pages as quickly as small ones: counted in statements, rows and steps of the database.

A step is an instruction of SQLite's machine: a page that looks through the whole pool takes more of them, however few
rows come back. Nothing here asserts a time; the slow test prints them.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from benchmarks.pools import DEEP, LARGE, MIDDLE, PEOPLE, SMALL, Size, make
from sqlalchemy import event

from qassay.store.assignment.progress import read_gate
from qassay.store.people.sessions import begin_session
from qassay.web.application import create_app
from qassay.web.pages import adjudication, work
from qassay.web.site import Settings

HISTORY = ("", "?question=q3", "?set=first", "?person=3", "?before=500")
# Nothing is found where nobody has said anything: the whole history is not looked through for it.
HISTORY_OF_FEW = ("?set=nobody", "?person=1", "?person=6", "?set=first&person=5")
STEPS = 100


@dataclass
class Count:
    """What the database did."""

    statements: int = 0
    rows: int = 0
    steps: int = 0


class Evaluation:
    """An evaluation of a size, served, with counters at its database."""

    def __init__(self, folder: Path, size: Size) -> None:
        self.size, self.count = size, Count()
        self.store = make(folder, size)
        event.listen(self.store.engine, "connect", self._watch)
        event.listen(self.store.engine, "after_cursor_execute", self._statement)
        self.app = create_app(folder, Settings(more_hosts=("testserver",), log="none"), store=self.store)

    def _watch(self, raw: sqlite3.Connection, _: object) -> None:
        def read(_cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
            self.count.rows += 1
            return row

        def step() -> int:
            self.count.steps += STEPS
            return 0

        driver: Any = getattr(raw, "driver_connection", raw)
        driver.row_factory = read
        driver.set_progress_handler(step, STEPS)

    def _statement(self, *_: Any) -> None:
        self.count.statements += 1

    def client(self, role: str) -> Any:
        """A browser with somebody of this role in it."""
        from starlette.testclient import TestClient

        with self.store.write() as connection:
            number = 1 + PEOPLE.index(role)
            secret = begin_session(connection, number, address="test", agent="test")
        client = TestClient(self.app, follow_redirects=False)
        client.cookies.set("qassay", secret)
        return client


@pytest.fixture
def evaluation(tmp_path: Path) -> Iterator[Callable[[Size], Evaluation]]:
    """`evaluation(SMALL)`: an evaluation of that size."""
    made: list[Evaluation] = []

    def make(size: Size) -> Evaluation:
        made.append(Evaluation(tmp_path / f"eval-{len(made)}", size))
        return made[-1]

    yield make
    for opened in made:
        for resource in opened.app.state.site.memory.values():
            if callable(close := getattr(resource, "close", None)):
                close()
        opened.store.close()


def pages(size: Size) -> list[tuple[str, str]]:
    """Every page that has to do with the pool: who opens it, and where. Assignments are numbered 3 per question."""
    judging = 3 * size.judged + 1
    return [
        *(("organiser", path) for path in ("/", "/people", "/account", "/runs", "/components", "/metrics")),
        *(("organiser", f"/development{query}") for query in ("", "?page=2", "?show=drafts")),
        ("organiser", "/development/question?id=q10"),
        *(
            ("organiser", f"/assignments{query}")
            for query in ("", "?show=open", "?show=unassigned", "?show=nothing", "?sort=left", "?person=3", "?find=1")
        ),
        *(("organiser", f"/history{query}") for query in (*HISTORY, *HISTORY_OF_FEW)),
        ("organiser", "/api/pool?limit=100"),
        ("organiser", "/api/sets/first/things?limit=100"),
        *(("organiser", f"/results{query}") for query in ("", "/units", "/agree")),
        *(("assessor", path) for path in ("/work", f"/judge/{judging}", f"/api/judge/{judging}/items/")),
        *(("assessor", f"/api/judge/{judging}/{name}") for name in ("classes", "aids", "strings", "earlier")),
        *(("adjudicator", path) for path in ("/adjudication", "/adjudication/question?id=q3", "/results")),
        ("reader", "/results"),
    ]


Measured: TypeAlias = dict[str, tuple[Count, float]]


def measured(evaluation: Evaluation) -> Measured:
    """What each page asks of the database, and how long it takes, at its second opening."""
    costs: dict[str, tuple[Count, float]] = {}
    for role in dict.fromkeys(role for role, _ in pages(evaluation.size)):
        with evaluation.client(role) as browser:
            for path in [path for who, path in pages(evaluation.size) if who == role]:
                first = 1 + evaluation.size.judged * evaluation.size.items
                asked = f"{path}{first}" if path.endswith("/items/") else path
                for _ in range(2):
                    evaluation.count = Count()
                    begun = time.perf_counter()
                    answer = browser.get(asked)
                    seconds = time.perf_counter() - begun
                    assert answer.status_code == 200, f"{role} {asked}: {answer.status_code} {answer.text[:300]}"
                name = f"{role} {asked}".replace(str(3 * evaluation.size.judged + 1), "N").replace(str(first), "N")
                costs[name] = (evaluation.count, seconds)
    return costs


# Any page may add up what has changed of the questions, to know whether what it keeps of them is current, and count
# those of a kind over an index: a few steps per question, however many items. Only an order or a person takes more.
STEPS_A_QUESTION, STEPS_OF_A_FILTER = 30, 80
FILTERS = ("organiser /assignments?sort", "organiser /assignments?person")
# A question's own sheet shows all of its items.
BY_ITEM = (
    "assessor /judge/N",
    "assessor /api/judge/N/strings",
    "adjudicator /adjudication/question",
    "organiser /history?question",
)


def grown(small: Measured, large: Measured, questions: int = 0) -> list[str]:
    """The pages for which the database does more in the larger evaluation, which has this many questions more."""
    costlier = []
    for name, (before, _) in small.items():
        after = large[name][0]
        rows = 1.2 * before.rows + 50
        a_question = STEPS_OF_A_FILTER if name.startswith(FILTERS) else STEPS_A_QUESTION
        steps = 2 * before.steps + 20_000 + a_question * questions
        if after.statements > before.statements + 1 or after.rows > rows or after.steps > steps:
            costlier.append(f"{name}: {before} -> {after}")
    return costlier


def test_a_pool_of_a_whole_track_opens_like_a_small_one(evaluation: Any) -> None:
    small, middle = measured(evaluation(SMALL)), measured(evaluation(MIDDLE))
    costlier = grown(small, middle, MIDDLE.questions - SMALL.questions)
    assert not costlier, "\n".join(costlier)


def test_more_items_for_the_same_questions_change_nothing(evaluation: Any) -> None:
    small, deep = measured(evaluation(SMALL)), measured(evaluation(DEEP))
    costlier = [page for page in grown(small, deep) if not page.startswith(BY_ITEM)]
    assert not costlier, "\n".join(costlier)


def test_long_lists_of_questions_come_in_pages(evaluation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "PIECES_A_PAGE", 100)
    monkeypatch.setattr(adjudication, "QUESTIONS_A_PAGE", 100)
    small = evaluation(SMALL)
    first, second = (small.client("assessor").get(f"/api/work?page={page}").json() for page in (1, 2))
    assert [len(page["pieces"]) for page in (first, second)] == [100, 70]
    for sums in ("done", "total", "next", "pages"):
        assert first[sums] == second[sums]
    # Open work comes first, and finished work last.
    assert first["next"] == first["pieces"][0]["assignment"]
    assert not first["pieces"][0]["closed"]
    assert second["pieces"][-1]["closed"]
    first, second = (small.client("adjudicator").get(f"/api/adjudication?page={page}").json() for page in (1, 9))
    assert [len(page["questions"]) for page in (first, second)] == [100, 70]
    assert (first["left"], first["waiting"], first["next"]) == (SMALL.judged, 50, "q0")
    assert 'rel="next" href="/work?page=2"' in small.client("assessor").get("/work").text
    assert 'rel="prev" href="/adjudication?page=1"' in small.client("adjudicator").get("/adjudication?page=2").text


def test_the_gate_of_a_finished_evaluation_reads_sums(evaluation: Any) -> None:
    """That they are the sums of the rows is for tests/store/test_counters.py."""
    counts = []
    for questions in (100, 400):
        finished = evaluation(Size(questions, 10, questions))
        with finished.store.read() as connection:
            finished.count = Count()
            gate = read_gate(connection)
        assert (gate.is_open, gate.unjudged_questions, gate.unassigned_questions) == (False, 0, 0)
        assert gate.unruled_questions == questions
        counts.append(finished.count)
    assert counts[1].statements == counts[0].statements
    assert counts[1].rows == counts[0].rows
    assert counts[1].steps <= counts[0].steps + 10 * 300


@pytest.mark.slow
def test_a_million_items_open_like_a_few(evaluation: Any) -> None:
    costs = [measured(evaluation(size)) for size in (SMALL, MIDDLE, LARGE)]
    print(f"\n{'page':60}" + "".join(f"{name:>12}" for name in ("small", "middle", "large")))
    for name in costs[0]:
        print(f"{name:60}" + "".join(f"{cost[name][1] * 1000:9.1f} ms" for cost in costs))
    costlier = grown(costs[0], costs[2], LARGE.questions - SMALL.questions)
    assert not [page for page in costlier if not page.startswith(BY_ITEM)], "\n".join(costlier)
