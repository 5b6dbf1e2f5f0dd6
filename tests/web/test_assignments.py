"""Pool, assignment and progress: balanced, kept when it changes hands, and as quick for many questions as for few."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event, insert, select, text

from acting import act
from qassay.demo import demo_folder
from qassay.evaluation import open_evaluation
from qassay.formats.folder import open_folder, read_configuration
from qassay.formats.times import now
from qassay.judging import Item, Wanted
from qassay.questions import Question, TestSet
from qassay.store.assignment.assignments import all_assignments, assign, take
from qassay.store.development.drafts import body_of
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import add_account
from qassay.store.pool.pooling import pool_mark, store_pool
from qassay.store.schema import assignment, question, record
from qassay.web.rendering import duration, environment


@pytest.fixture
def organiser(site: Any) -> Any:
    """The organiser of the demo, whose files (but no judgments) are in the store."""
    for name in ("judgments", "nuggets"):
        for path in (site.folder / name).iterdir():
            path.unlink()
    import_folder(site.store, open_folder(site.folder))
    with site.store.write() as connection:
        for name in ("Ada", "Ben"):
            add_account(connection, name, "assessor")
    return site.client("organiser")


@pytest.fixture
def people(organiser: Any) -> dict[str, int]:
    """Accounts by name."""
    return {
        assignment["name"]: assignment["id"] for assignment in organiser.get("/api/assignments").json()["assessors"]
    }


def make_pool(client: Any, site: Any, **options: Any) -> dict[str, Any]:
    assert client.post("/api/assignments/pool", json=options).status_code == 200
    assert site.app.state.site.memory["job pool"].ended.wait(30)
    pool: dict[str, Any] = client.get("/api/assignments/pool").json()
    return pool


def test_options_asked_for_while_the_pool_is_made_are_not_lost(
    organiser: Any, site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, makings = threading.Event(), []

    def slowly(*given: Any, **named: Any) -> Any:
        makings.append(given)
        assert go.wait(20)
        return open_evaluation(*given, **named)

    monkeypatch.setattr("qassay.web.pooling.open_evaluation", slowly)
    monkeypatch.setattr("qassay.web.pooling.PATIENCE", 0.0)
    for options in ({}, {"holistic": True}, {}):
        assert organiser.post("/api/assignments/pool", json=options).json()["state"] == "running"
        while not makings:  # the first has taken its options up before the next asks
            time.sleep(0.001)
    go.set()
    assert site.app.state.site.memory["job pool"].ended.wait(30)
    assert len(makings) == 2
    assert organiser.get("/api/assignments/pool").json()["holistic"] is True


def give(client: Any, assessors: int, *accounts: int) -> dict[str, Any]:
    answer = client.post("/api/assignments", json={"assessors": assessors, "accounts": accounts})
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def progress(client: Any, **wanted: Any) -> dict[str, Any]:
    answer = client.get("/api/assignments", params=wanted)
    assert answer.status_code == 200, answer.text
    assert client.get("/assignments", params=wanted).status_code == 200
    document: dict[str, Any] = answer.json()
    return document


def test_work_begins_with_a_pool(organiser: Any, site: Any, people: dict[str, int]) -> None:
    answer = organiser.post("/api/assignments", json={"assessors": 1, "accounts": []})
    assert (answer.status_code, "no pool yet" in answer.json()["message"]) == (400, True)
    pool = make_pool(organiser, site)
    sizes = {(pool_type["type"], pool_type["judged"]): pool_type["items"] for pool_type in pool["types"]}
    assert set(sizes) == {
        ("factoid", "distinct items"),
        ("list", "lists, run by run"),
        ("other", "responses, for nuggets"),
    }
    assert sum(sizes.values()) == pool["items"] == 573
    more = make_pool(organiser, site, holistic=True)
    assert more["items"] == 573 + sizes["other", "responses, for nuggets"]
    assert make_pool(organiser, site)["holistic"] is True  # what is not said stays


def test_questions_go_to_k_assessors_evenly_and_k_may_rise(organiser: Any, site: Any, people: dict[str, int]) -> None:
    make_pool(organiser, site)
    page = progress(organiser)
    assert (page["unassigned"], page["pool"]["nothing"], page["default"]) == (106, 3, 1)
    assert give(organiser, 1, people["Ada"], people["Ben"]) == {
        "done": 106,
        "kept": 0,
        "without_author": 0,
        "absent": [],
    }
    page = progress(organiser)
    loads = [person["total"] for person in page["people"]]
    assert max(loads) - min(loads) < 0.1 * sum(loads)
    assert page["unassigned"] == 0
    assert give(organiser, 2, people["Ada"], people["Ben"])["done"] == 106
    assert [(slot["set"], slot["questions"]) for slot in progress(organiser)["slots"]] == [
        ("first", 106),
        ("second", 106),
    ]
    answer = organiser.post("/api/assignments", json={"assessors": 3, "accounts": [people["Ada"]]})
    assert (answer.status_code, "need as many people" in answer.json()["message"]) == (422, True)


def test_a_slot_goes_back_while_nothing_was_judged_of_it(organiser: Any, site: Any, people: dict[str, int]) -> None:
    make_pool(organiser, site)
    give(organiser, 2, people["Ada"], people["Ben"])
    answer = organiser.post("/api/assignments/slots/withdraw", json={"slot": 1})
    assert (answer.status_code, "which is 2" in answer.json()["message"]) == (400, True)
    assert organiser.post("/api/assignments/slots/withdraw", json={"slot": 2}).json() == {"done": 106, "kept": 0}
    assert [slot["set"] for slot in progress(organiser)["slots"]] == ["first"]


def test_work_changes_hands_and_what_was_done_stays(organiser: Any, site: Any, people: dict[str, int]) -> None:
    make_pool(organiser, site)
    give(organiser, 1, people["Ada"])
    row = progress(organiser)["questions"][0]["assignments"][0]
    with site.store.write() as connection:
        connection.execute(assignment.update().where(assignment.c.id == row["number"]).values(done=1, seconds=60))
    address = f"/api/assignments/{row['number']}/reassign"
    assert organiser.post(address, json={"account": people["Ben"]}).status_code == 200
    moved = progress(organiser)["questions"][0]["assignments"][0]
    assert (moved["name"], moved["done"]) == ("Ben", 1)
    assert organiser.post("/api/assignments/999/reassign", json={"account": None}).status_code == 404
    assert organiser.post(address, json={"account": 4}).status_code == 422  # a reader
    assert organiser.post(address, json={"account": 999}).status_code == 422
    counts = organiser.post("/api/assignments/hand-over", json={"source": people["Ada"], "accounts": []}).json()
    assert counts == {"done": 105, "kept": 0}
    page = progress(organiser, person="nobody")
    assert (page["found"], page["people"][-1]["name"]) == (105, "open to anyone who asks")
    counts = organiser.post(
        "/api/assignments/hand-over", json={"source": None, "accounts": [people["Ada"], people["Ben"]]}
    ).json()
    assert counts["done"] == 105
    with site.store.read() as connection:
        actions = connection.execute(record.select().where(record.c.action == "hand-over")).all()
    assert len(actions) == 2


def test_open_work_is_for_anyone_who_asks(organiser: Any, site: Any, people: dict[str, int]) -> None:
    make_pool(organiser, site)
    assert give(organiser, 2)["done"] == 212
    with site.store.write() as connection:
        assert take(act(connection, account=people["Ada"])) is not None
    assert progress(organiser, person=people["Ada"])["found"] == 1


def test_a_finished_question_is_opened_again_with_a_reason(organiser: Any, site: Any, people: dict[str, int]) -> None:
    make_pool(organiser, site)
    give(organiser, 1, people["Ada"])
    with site.store.write() as connection:
        connection.execute(text("UPDATE assignment SET done = total, closed = :at, seconds = 100"), {"at": now()})
    page = progress(organiser, show="finished")
    assert (page["found"], page["minutes_left"]) == (106, 0)
    first = page["questions"][0]["id"]
    address = "/api/adjudication/reopen"
    assert organiser.post("/api/assignments/reopen", json={"question": first, "reason": "x"}).status_code in (404, 405)
    assert organiser.post(address, json={"question": first, "reason": " "}).status_code == 400
    assert organiser.post(address, json={"question": first}).status_code == 422
    assert organiser.post(address, json={"question": "nobody", "reason": "x"}).status_code == 404
    assert organiser.post(address, json={"question": first, "reason": "a new rule"}).status_code == 200
    assert [question["id"] for question in progress(organiser, show="open")["questions"]] == [first]


def test_the_time_left_goes_by_the_pace_so_far(organiser: Any, site: Any, people: dict[str, int]) -> None:
    make_pool(organiser, site)
    give(organiser, 1, people["Ada"], people["Ben"])
    assert {person["minutes_left"] for person in progress(organiser)["people"]} == {None}
    assert "unknown" in organiser.get("/assignments").text
    assert "too few were made here to say how long the rest takes" in organiser.get("/assignments").text

    def judged(number: int) -> dict[str, Any]:
        """Ada has judged this many items of two questions, a minute each, and some of another came from a file."""
        with site.store.write() as connection:
            own = [
                assignment.id
                for assignment in all_assignments(connection)
                if assignment.account == people["Ada"] and assignment.total > 6
            ]
            for assigned, done, seconds in zip(own, (6, number - 6, 6), (360, 60 * (number - 6), 0), strict=False):
                connection.execute(
                    assignment.update().where(assignment.c.id == assigned).values(done=done, seconds=seconds)
                )
        return progress(organiser)

    assert judged(9)["minutes_left"] is None
    page = judged(10)
    assert page["timed"] == 10
    assert "at the pace of the 10 decisions made here so far" in organiser.get("/assignments").text
    rows = {person["name"]: (person["left"], person["minutes_left"]) for person in page["people"]}
    assert rows["Ada"][0] == rows["Ada"][1]  # a minute per decision
    assert rows["Ben"][0] == rows["Ben"][1]  # who has not begun goes at the pace of all
    with site.store.write() as connection:
        connection.execute(text("UPDATE assignment SET seconds = 0.001 WHERE seconds > 0"))
    assert "about 1 min left at the pace of" in organiser.get("/assignments").text


def test_filters_and_orders_are_from_closed_lists(organiser: Any, site: Any, people: dict[str, int]) -> None:
    make_pool(organiser, site)
    give(organiser, 1, people["Ada"])
    page = progress(organiser, show="nothing")
    assert page["found"] == page["pool"]["nothing"] == 3
    assert progress(organiser, show="unassigned")["found"] == 0
    assert progress(organiser, type="list")["found"] == 16
    assert progress(organiser)["types"] == ["factoid", "list", "other"]
    assert progress(organiser, find="marie")["found"] == 7
    assert progress(organiser, show="waiting", type="other", person=people["Ada"])["found"] == 16
    largest = progress(organiser, sort="left")["questions"][0]
    assert largest["total"] == max(
        question["total"] for number in (1, 2, 3) for question in progress(organiser, page=number)["questions"]
    )
    assert progress(organiser, page=99)["listing"]["page"] == 3
    huge = {"account": 10**30}
    assert organiser.post(f"/api/assignments/{10**30}/reassign", json=huge).status_code == 422
    assert organiser.post("/api/assignments/hand-over", json={"source": 10**30}).status_code == 422
    for wrong in (
        {"sort": "password"},
        {"show": "1=1"},
        {"type": "evil"},
        {"person": "1 OR 1"},
        {"person": "9" * 16},
        {"page": 0},
    ):
        assert organiser.get("/api/assignments", params=wrong).status_code == 422, wrong


def test_a_pool_that_cannot_be_made_says_why(site: Any) -> None:
    for path in (site.folder / "runs").iterdir():
        path.unlink()
    import_folder(site.store, open_folder(site.folder))
    client = site.client("organiser")
    pool = make_pool(client, site)
    assert (pool["state"], pool["made"]) == ("failed", None)
    assert "there are no runs yet" in client.get("/assignments").text


def test_of_pairs_with_justifications_only_the_chosen_are_judged(site: Any, tmp_path: Any) -> None:
    folder = tmp_path / "pairs"
    shutil.copytree(demo_folder("entailment"), folder)
    shutil.rmtree(folder / "judgments")
    store = open_store(folder, create=True)
    import_folder(store, open_folder(folder))
    served = replace(site, folder=folder, store=store).with_settings()
    with store.write() as connection:
        add_account(connection, "Olga", "organiser")
    client = served.client("organiser")
    pool = make_pool(client, served)
    assert (pool["questions"], pool["nothing"]) == (20, 0)
    assert [pool_type["judged"] for pool_type in pool["types"]] == ["justifications"]
    assert progress(client)["found"] == 20
    assert progress(client, show="nothing")["found"] == 0
    assert 'name="type"' not in client.get("/assignments").text  # nothing to choose from
    store.close()


# ---- many questions -------------------------------------------------------------------------------------------------


def items(questions: int, each: int) -> Iterator[Item]:
    """Items of factoid questions."""
    number = 0
    for asked in range(1, questions + 1):
        for position in range(each):
            number += 1
            body = {"doc": f"D{number}", "text": f"answer {position}", "group": position}
            yield Item(number, str(asked), "item", None, position, body, 1)


def fill(site: Any, questions: int, each: int) -> None:
    """A pool of this size, assigned to three people."""
    asked = TestSet(tuple(Question(str(n), "factoid", f"Question {n}?") for n in range(1, questions + 1)))
    with site.store.write() as connection:
        values = [
            {"id": question.id, "ordinal": at, "body": body_of(question), "at": now()}
            for at, question in enumerate(asked.questions)
        ]
        connection.execute(insert(question), values)
        options = {"mark": pool_mark(connection), "wanted": Wanted(), "person": None}
    store_pool(site.store, items(questions, each), asked, read_configuration(open_folder(site.folder)).task, **options)
    with site.store.write() as connection:
        three = [add_account(connection, name, "assessor").id for name in ("Ada", "Ben", "Cleo")]
        assign(act(connection), asked, assessors=3, accounts=three)
        connection.execute(text("UPDATE assignment SET done = 1, seconds = 10 WHERE id % 3 = 0"))


class Meter:
    """Counts the queries and the rows that a page reads."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.queries, self.rows = engine, 0, 0
        event.listen(engine, "before_cursor_execute", self._query)
        event.listen(engine, "checkout", self._checkout)

    def _query(self, *_: Any) -> None:
        self.queries += 1

    def _checkout(self, raw: Any, *_: Any) -> None:
        raw.row_factory = self._row

    def _row(self, _: Any, row: Any) -> Any:
        self.rows += 1
        return row

    def of(self, client: Any, address: str) -> tuple[int, int, float]:
        """Queries, rows and seconds of a page that has been opened before."""
        assert client.get(address).status_code == 200
        self.queries = self.rows = 0
        began = time.perf_counter()
        assert client.get(address).status_code == 200
        return self.queries, self.rows, time.perf_counter() - began


PAGES = {
    "/assignments": True,
    "/assignments?page=7": True,
    "/assignments?type=factoid&find=question": True,
    "/assignments?show=open": False,
    "/assignments?sort=left&person=5": False,
    "/assignments?show=unassigned": False,
    "/runs": True,
    "/development": True,
}


def measured(site: Any, questions: int, each: int) -> dict[str, tuple[int, int, float]]:
    began = time.perf_counter()
    fill(site, questions, each)
    elapsed = time.perf_counter() - began
    served = site.with_settings()
    meter = Meter(site.store.engine)
    client = served.client("organiser")
    queries_of = {address: meter.of(client, address) for address in PAGES}
    print(f"\n{questions:,} questions, {questions * each:,} items (made in {elapsed:.0f} s)")
    for address, (queries, rows, seconds) in queries_of.items():
        print(f"{address:42} {queries:3} queries {rows:7,} rows {seconds * 1000:7.1f} ms")
    return queries_of


def plain(site: Any) -> None:
    (site.folder / "qassay.toml").write_text('name = "Many"\ntask = "confidence"\n')


def test_a_page_reads_what_it_shows(site: Any) -> None:
    plain(site)
    numbers = measured(site, 400, 2)
    for address, few_rows in PAGES.items():
        queries, rows, _ = numbers[address]
        assert queries <= 22, address
        assert rows <= (300 if few_rows else 300 + 3 * 400), address


@pytest.mark.slow
@pytest.mark.parametrize(("questions", "each"), [(500, 32), (10_000, 100)])
def test_many_items_are_as_quick_as_few(site: Any, questions: int, each: int) -> None:
    plain(site)
    numbers = measured(site, questions, each)
    for address, few_rows in PAGES.items():
        queries, rows, _ = numbers[address]
        assert queries <= 22, address  # as many as for few: see the test before
        assert rows <= (300 if few_rows else 300 + 3 * questions), address


def test_an_assignment_without_names_is_explicit_and_can_be_corrected(site: Any, accounts: dict[str, int]) -> None:
    shutil.rmtree(site.folder / "judgments")
    import_folder(site.store, open_folder(site.folder))
    organiser = site.client("organiser")
    organiser.post("/api/assignments/pool", json={})
    assert organiser.post("/api/assignments", json={"assessors": 1}).status_code == 422  # nobody by mistake
    count = organiser.post("/api/assignments", json={"assessors": 1, "accounts": []}).json()["done"]
    assert count > 100
    named = {"assessors": 1, "accounts": [accounts["assessor"]]}
    assert organiser.post("/api/assignments", json=named).json()["done"] == count
    with site.store.read() as connection:
        assert set(connection.execute(select(assignment.c.account)).scalars()) == {accounts["assessor"]}
    assert organiser.post("/api/assignments", json=named).json()["done"] == 0


def test_times_have_one_form() -> None:
    span = environment().get_template("organise.html").module.span  # type: ignore[attr-defined]
    assert [str(span(minutes)) for minutes in (0, 59, 130, 1234)] == [duration(m) for m in (0, 59, 130, 1234)]
