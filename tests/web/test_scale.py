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
from sqlalchemy import event, insert, select

from qassay.questions import Question, TestSet
from qassay.store.adjudication.settling import Settled, keep
from qassay.store.assignment.assignments import SLOTS
from qassay.store.development.drafts import body_of
from qassay.store.engine import Store, now, open_store
from qassay.store.people.accounts import add_account
from qassay.store.people.sessions import begin_session
from qassay.store.pool.items import Item
from qassay.store.pool.pooling import pool_mark, store_pool
from qassay.store.pool.things import thing
from qassay.store.schema import assignment, judgment, question, record, standing
from qassay.web.application import create_app
from qassay.web.pages import adjudication, work
from qassay.web.settings import Settings

PEOPLE = ("organiser", "adjudicator", "assessor", "assessor", "assessor", "reader")
HISTORY = ("", "?question=q3", "?set=first", "?person=3", "?before=500")
BATCH = 20_000
STEPS = 100


@dataclass(frozen=True)
class Size:
    """How large an evaluation is: questions, items of each, and how many questions are judged."""

    questions: int
    items: int
    judged: int


# Every page is full from the first on: what grows after that grows with the pool.
SMALL = Size(150, 32, 120)
MIDDLE = Size(500, 32, 400)  # 16,000 items, three assessors: TREC 2002
DEEP = Size(150, 200, 120)
LARGE = Size(10_000, 100, 2_000)  # 1,000,000 items


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
        folder.mkdir()
        (folder / "qassay.toml").write_text('name = "Large"\ntask = "confidence"\n')
        (folder / "questions.jsonl").write_text("")
        self.store: Store = open_store(folder, create=True)
        event.listen(self.store.engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous = OFF"))
        self.store.close()  # connections from here on are quick to write
        fill(self.store, size)
        self.store.close()
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
        made = TestClient(self.app, follow_redirects=False)
        made.cookies.set("qassay", secret)
        return made


def fill(store: Store, size: Size) -> None:
    """Questions, a pool, three assessors for each question, judgments of the first questions."""
    asked = [Question(f"q{number}", "factoid", f"What is {number}?") for number in range(size.questions)]
    questions = TestSet(tuple(asked))
    at = now()
    with store.write() as connection:
        people = [add_account(connection, f"Person {number}", role).id for number, role in enumerate(PEOPLE)]
        rows = [{"id": one.id, "ordinal": place, "body": body_of(one), "at": at} for place, one in enumerate(asked)]
        connection.execute(insert(question), rows)
        mark = pool_mark(connection)
        options = {"mark": mark, "holistic": False, "citations": False, "account": None}
        store_pool(connection, _items(size), questions, **options)
        given = [_given(f"q{number}", slot, people[1 + slot], size, number) for number in range(size.questions)
                 for slot in (1, 2, 3)]  # fmt: skip
        connection.execute(insert(assignment), given)
        for rows in _batches(_judgments(size, people, at)):
            connection.execute(insert(judgment), rows)
        names = ("set", "thing", "question", "kind", "judgment", "version", "body")
        columns = [judgment.c["id" if name == "judgment" else name] for name in names]
        connection.execute(insert(standing).from_select(names, select(*columns)))
        for number in range(size.judged):
            keep(connection, f"q{number}", Settled(size.items - 1, 1, 1))
        connection.execute(insert(record), [{"at": at, "action": "test", "account": 1} for _ in range(300)])


def _items(size: Size) -> Iterator[Item]:
    for number in range(size.questions):
        for place in range(size.items):
            body = {"doc": f"D{place}", "text": f"answer {place} of {number}"}
            yield Item(1 + number * size.items + place, f"q{number}", "item", None, place, body, 1)


def _given(name: str, slot: int, person: int, size: Size, number: int) -> dict[str, Any]:
    done = number < size.judged
    counts = {"total": size.items, "done": size.items if done else 0, "closed": now() if done else None, "seconds": 60}
    return {"question": name, "slot": slot, "set": SLOTS[slot - 1], "account": person, **counts}


def _judgments(size: Size, people: list[int], at: str) -> Iterator[dict[str, Any]]:
    for number in range(size.judged):
        for place in range(size.items):
            row = {"question": f"q{number}", "doc": f"D{place}", "text": f"answer {place} of {number}"}
            named = thing("item", row)
            for slot in (1, 2, 3):
                label = "W" if slot == 3 and place == 0 else "R"
                body = f'{{"question":"q{number}","doc":"D{place}","text":"{row["text"]}","judgment":"{label}"}}'
                yield {"set": SLOTS[slot - 1], "question": f"q{number}", "kind": "item", "thing": named, "version": 1,
                       "body": body, "account": people[1 + slot], "at": at}  # fmt: skip


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


@pytest.fixture
def evaluation(tmp_path: Path) -> Iterator[Callable[[Size], Evaluation]]:
    """`evaluation(SMALL)`: an evaluation of that size."""
    made: list[Evaluation] = []

    def make(size: Size) -> Evaluation:
        made.append(Evaluation(tmp_path / f"eval-{len(made)}", size))
        return made[-1]

    yield make
    for one in made:
        for kept in one.app.state.place.kept.values():
            if callable(close := getattr(kept, "close", None)):
                close()
        one.store.close()


def pages(size: Size) -> list[tuple[str, str]]:
    """Every page that has to do with the pool: who opens it, and where. Assignments are numbered 3 a question."""
    judging = 3 * size.judged + 1
    return [
        *(("organiser", path) for path in ("/", "/people", "/account", "/runs", "/components", "/metrics")),
        *(("organiser", f"/development{query}") for query in ("", "?page=2", "?show=drafts")),
        ("organiser", "/development/question?id=q10"),
        *(
            ("organiser", f"/assignments{query}")
            for query in ("", "?show=open", "?show=unassigned", "?show=nothing", "?sort=left", "?person=3", "?find=77")
        ),
        *(("organiser", f"/history{query}") for query in HISTORY),
        ("organiser", "/api/pool?limit=100"),
        ("organiser", "/api/sets/first/things?limit=100"),
        *(("organiser", f"/results{query}") for query in ("", "/units", "/agreement")),
        *(("assessor", path) for path in ("/", "/work", f"/judge/{judging}", f"/api/judge/{judging}/items/")),
        *(("assessor", f"/api/judge/{judging}/{name}") for name in ("classes", "aids", "strings", "earlier")),
        *(("adjudicator", path) for path in ("/adjudication", "/adjudication/question?id=q3", "/results")),
        ("reader", "/results"),
    ]


Measured: TypeAlias = dict[str, tuple[Count, float]]


def measured(one: Evaluation) -> Measured:
    """What each page asks of the database, and how long it takes, at its second opening."""
    found: dict[str, tuple[Count, float]] = {}
    for role in dict.fromkeys(role for role, _ in pages(one.size)):
        with one.client(role) as browser:
            for path in [path for who, path in pages(one.size) if who == role]:
                place = 1 + one.size.judged * one.size.items
                asked = f"{path}{place}" if path.endswith("/items/") else path
                for _ in range(2):
                    one.count = Count()
                    begun = time.perf_counter()
                    answer = browser.get(asked)
                    seconds = time.perf_counter() - begun
                    assert answer.status_code == 200, f"{role} {asked}: {answer.status_code} {answer.text[:300]}"
                name = f"{role} {asked}".replace(str(3 * one.size.judged + 1), "N").replace(str(place), "N")
                found[name] = (one.count, seconds)
    return found


# Pages that tell of every question in some way: what they ask may grow with the questions, never with the pool.
BY_QUESTION = ("organiser /assignments", "organiser /results", "assessor /work", "adjudicator /adjudication")
ROWS_A_QUESTION, STEPS_A_QUESTION = 5, 400
# Any page may add up the versions of the questions, to know whether what it keeps of them is current.
STEPS_OF_THE_MARK = 20
# A question's own sheet shows all of its items.
BY_ITEM = (
    "assessor /judge/N",
    "assessor /api/judge/N/strings",
    "adjudicator /adjudication/question",
    "organiser /history?question",
)


def grown(small: Measured, large: Measured, questions: int = 0) -> list[str]:
    """The pages for which the database does more in the larger evaluation, which has so many questions more."""
    told = []
    for name, (before, _) in small.items():
        after = large[name][0]
        more = questions if name.startswith(BY_QUESTION) else 0
        marks = STEPS_OF_THE_MARK * questions
        rows = 1.2 * before.rows + 50 + ROWS_A_QUESTION * more
        steps = 2 * before.steps + 20_000 + marks + STEPS_A_QUESTION * more
        if after.statements > before.statements + 1 or after.rows > rows or after.steps > steps:
            told.append(f"{name}: {before} -> {after}")
    return told


def test_a_pool_of_a_whole_track_opens_like_a_small_one(evaluation: Any) -> None:
    small, middle = measured(evaluation(SMALL)), measured(evaluation(MIDDLE))
    told = grown(small, middle, MIDDLE.questions - SMALL.questions)
    assert not told, "\n".join(told)


def test_more_items_for_the_same_questions_change_nothing(evaluation: Any) -> None:
    small, deep = measured(evaluation(SMALL)), measured(evaluation(DEEP))
    told = [one for one in grown(small, deep) if not one.startswith(BY_ITEM)]
    assert not told, "\n".join(told)


def test_long_lists_of_questions_come_in_pages(evaluation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "PIECES_A_PAGE", 100)
    monkeypatch.setattr(adjudication, "QUESTIONS_A_PAGE", 100)
    one = evaluation(SMALL)
    first, second = (one.client("assessor").get(f"/api/work?page={page}").json() for page in (1, 2))
    assert [len(page["pieces"]) for page in (first, second)] == [100, 50]
    for sums in ("done", "total", "next", "pages"):
        assert first[sums] == second[sums]
    # The first question that is open stands on the second page.
    assert first["next"] in [piece["assignment"] for piece in second["pieces"]]
    first, second = (one.client("adjudicator").get(f"/api/adjudication?page={page}").json() for page in (1, 9))
    assert [len(page["questions"]) for page in (first, second)] == [100, 50]
    assert (first["left"], first["waiting"], first["next"]) == (SMALL.judged, 30, "q0")
    assert 'rel="next" href="/work?page=2"' in one.client("assessor").get("/work").text
    assert 'rel="prev" href="/adjudication?page=1"' in one.client("adjudicator").get("/adjudication?page=2").text


@pytest.mark.slow
def test_a_million_items_open_like_a_few(evaluation: Any) -> None:
    found = [measured(evaluation(size)) for size in (SMALL, MIDDLE, LARGE)]
    print(f"\n{'page':60}" + "".join(f"{name:>12}" for name in ("small", "middle", "large")))
    for name in found[0]:
        print(f"{name:60}" + "".join(f"{one[name][1] * 1000:9.1f} ms" for one in found))
    told = grown(found[0], found[2], LARGE.questions - SMALL.questions)
    assert not [one for one in told if not one.startswith(BY_ITEM)], "\n".join(told)
