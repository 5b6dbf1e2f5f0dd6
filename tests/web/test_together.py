"""Many at a time: one connection per request, requests that cross each other, a store that another program writes."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psycopg
import pytest
import worksheets as sheets
from sqlalchemy import Connection, event, select
from sqlalchemy.exc import OperationalError

from acting import act
from qassay.demo import demo_folder
from qassay.formats.folder import open_folder
from qassay.runs import RunInformation
from qassay.store.development import answers as known
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import import_folder
from qassay.store.judging import nuggets
from qassay.store.people import add_account
from qassay.store.pool.uploads import keep_run
from qassay.store.schema import ROLES, judgment, nugget, run
from qassay.store.settings import WAITING, get_setting, put_setting
from qassay.web.application import create_app
from qassay.web.errors import is_busy
from qassay.web.pages import sets
from qassay.web.results import publishing
from qassay.web.results.finding import Finding


@pytest.fixture(params=["sqlite", "postgresql"])
def anywhere(request: pytest.FixtureRequest, site: Any, tmp_path: Path, monkeypatch: Any) -> Iterator[Any]:
    """The evaluation served from either database."""
    if request.param == "sqlite":
        yield site
        return
    folder = Path(shutil.copytree(demo_folder(), tmp_path / "other"))
    monkeypatch.setenv("QASSAY_DATABASE", request.getfixturevalue("postgres_url"))
    store = open_store(folder, create=True)
    with store.write() as connection:
        for role in ROLES:
            add_account(connection, f"Some {role}", role, organisation="North" if role == "participant" else None)
    settings = site.app.state.site.settings
    yield type(site)(folder, store, create_app(folder, settings, store=store))
    store.close()


def at_once(*asked: Callable[[], Any]) -> list[Any]:
    """The answers to requests that are sent at the same moment."""
    answers: list[Any] = [None] * len(asked)

    def ask(number: int) -> None:
        answers[number] = asked[number]()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return answers


def meeting(of: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which waits for a second caller before it returns, though not for ever: he may be kept out."""
    barrier = threading.Barrier(2)

    def together(*given: Any, **named: Any) -> Any:
        result = of(*given, **named)
        with suppress(threading.BrokenBarrierError):
            barrier.wait(0.5)
        return result

    return together


def test_a_list_that_two_tabs_begin_is_begun_once(anywhere: Any, accounts: dict[str, int], monkeypatch: Any) -> None:
    sheets.give_out(anywhere, accounts)
    number = sheets.assignment(anywhere, accounts["assessor"], "1.7")
    tabs = [anywhere.client("assessor") for _ in range(2)]
    monkeypatch.setattr(nuggets, "nuggets_of", meeting(nuggets.nuggets_of))
    answers = at_once(*(lambda tab=tab: tab.post(f"/api/judge/{number}/nuggets/begin") for tab in tabs))
    assert [answer.status_code for answer in answers] == [200, 200], [answer.text for answer in answers]
    assert [[nugget["version"] for nugget in answer.json()["nuggets"]] for answer in answers] == [[1, 1], [1, 1]]


def test_rows_that_are_sent_twice_at_a_time_are_appended_once(
    anywhere: Any, accounts: dict[str, int], monkeypatch: Any
) -> None:
    sheets.give_out(anywhere, accounts)
    row = {"question": "1.6", "run": "north", "doc": "D1", "text": "Ann", "judgment": "R", "answer": "Ann"}
    programs = [anywhere.client("organiser") for _ in range(2)]
    monkeypatch.setattr(sets, "current_rows", meeting(sets.current_rows))
    sent = {"rows": [row]}
    answers = at_once(
        *(lambda client=client: client.post("/api/sets/robot/judgments", json=sent) for client in programs)
    )
    assert [answer.status_code for answer in answers] == [200, 200], [answer.text for answer in answers]
    assert sorted(answer.json()["added"] for answer in answers) == [0, 1]
    with anywhere.store.read() as connection:
        assert connection.execute(select(judgment.c.version).where(judgment.c.set == "robot")).scalars().all() == [1]


NUGGETS = "/api/development/question/nuggets"


def take_in_questions(anywhere: Any) -> None:
    """The questions with their answers and the authors' nuggets: the rest takes longer, and nothing here needs it."""
    folder = open_folder(anywhere.folder)
    for part in (*folder.runs(), *folder.judgment_sets().values(), *folder.nugget_lists().values()):
        path = folder.path / part.name
        if path.stem != nuggets.DEVELOPMENT:
            path.unlink()
    import_folder(anywhere.store, folder)


def note_both(anywhere: Any, **sent: Any) -> list[Any]:
    """The answers to two organisers who note, or change, a nugget of a question at the same moment."""
    first, other = (anywhere.client("organiser") for _ in range(2))
    return at_once(
        lambda: first.post(NUGGETS, json={**sent, "text": "a fact"}),
        lambda: other.post(NUGGETS, json={**sent, "text": "another fact"}),
    )


def test_two_organisers_who_note_a_nugget_both_note_one(anywhere: Any, monkeypatch: Any) -> None:
    take_in_questions(anywhere)
    monkeypatch.setattr(nuggets, "_last", meeting(nuggets._last))  # when the list is read, and nothing written yet
    answers = note_both(anywhere, id="1.7")
    assert [answer.status_code for answer in answers] == [200, 200], [answer.text for answer in answers]
    with anywhere.store.read() as connection:
        listed = {nugget.nugget: nugget.text for nugget in nuggets.nuggets_of(connection, nuggets.DEVELOPMENT, "1.7")}
    assert {answer.json()["nugget"]: answer.json()["text"] for answer in answers}.items() <= listed.items()


def test_of_two_organisers_who_change_a_nugget_one_gets_a_conflict(anywhere: Any, monkeypatch: Any) -> None:
    take_in_questions(anywhere)
    with anywhere.store.read() as connection:
        first = nuggets.nuggets_of(connection, nuggets.DEVELOPMENT, "1.7")[0]
    monkeypatch.setattr(nuggets, "_last", meeting(nuggets._last))
    answers = note_both(anywhere, id="1.7", nugget=first.nugget, version=first.version)
    assert sorted(answer.status_code for answer in answers) == [200, 409], [answer.text for answer in answers]


def test_an_answer_that_two_organisers_note_is_noted_once(anywhere: Any, monkeypatch: Any) -> None:
    take_in_questions(anywhere)
    both = [anywhere.client("organiser") for _ in range(2)]
    monkeypatch.setattr(known, "_current", meeting(known._current))
    sent = {"id": "1.1", "answer": "a new answer"}
    answers = at_once(
        *(lambda client=client: client.post("/api/development/question/answers", json=sent) for client in both)
    )
    assert sorted(answer.status_code for answer in answers) == [201, 400], [answer.text for answer in answers]


def test_results_that_are_published_and_withdrawn_at_once_are_all_in_the_list(anywhere: Any) -> None:
    def publish(connection: Connection, measure: str) -> str:
        finding = Finding((), {"key": "first", "measure": measure})
        return publishing.publish(act(connection), finding, {"measure": measure}, title="", provisional=None).id

    def publish_meanwhile() -> None:
        with anywhere.store.write() as connection:
            publish(connection, "accuracy")

    def withdraw_meanwhile() -> None:
        with anywhere.store.write() as connection:
            publishing.withdraw(act(connection), earlier)

    with anywhere.store.write() as connection:
        earlier = publish(connection, "mrr")
    threads = [threading.Thread(target=target) for target in (publish_meanwhile, withdraw_meanwhile)]
    with anywhere.store.write() as connection:
        publish(connection, "series_score")
        for thread in threads:
            thread.start()
        time.sleep(0.3)
    for thread in threads:
        thread.join(60)
    with anywhere.store.read() as connection:
        listed = publishing.publications(connection)
        assert sorted(publication.measure for publication in listed) == ["accuracy", "series_score"]
        assert all(publishing.published(connection, publication.id) for publication in listed)


def test_runs_that_come_at_once_both_use_up_what_was_said_of_them(anywhere: Any) -> None:
    described = {tag: f'{{"run":"{tag}","description":"about {tag}"}}' for tag in ("a", "b")}
    with anywhere.store.write() as connection:
        put_setting(connection, WAITING, described)

    def keep(connection: Connection, tag: str) -> None:
        keep_run(act(connection), tag, b"1.1 Q0 d 1 1 x y\n", called=f"{tag}.txt", information=RunInformation())

    def keep_meanwhile() -> None:
        with anywhere.store.write() as connection:
            keep(connection, "b")

    thread = threading.Thread(target=keep_meanwhile)
    with anywhere.store.write() as connection:
        keep(connection, "a")
        thread.start()
        time.sleep(0.3)
    thread.join(60)
    with anywhere.store.read() as connection:
        assert get_setting(connection, WAITING) is None
        runs = connection.execute(select(run.c.tag, run.c.information).where(run.c.tag.in_(described)))
        assert {row.tag: json.loads(row.information)["description"] for row in runs} == {
            tag: f"about {tag}" for tag in described
        }


@pytest.mark.parametrize("change", ["publish", "series/remove"])
def test_notes_on_a_removed_draft_are_removed_too(anywhere: Any, monkeypatch: Any, change: str) -> None:
    take_in_questions(anywhere)
    author, other = (anywhere.client("organiser") for _ in range(2))
    begun = author.post("/api/development/series", json={"target": "a river"}).json()
    is_noting, is_changed = threading.Event(), threading.Event()

    last = nuggets._last

    def waiting(*arguments: Any) -> Any:
        is_noting.set()
        is_changed.wait(0.5)  # it cannot be, when the question is held
        return last(*arguments)

    def changing() -> Any:
        is_noting.wait(60)
        named = {"groups": [begun["series"]]} if change == "publish" else {"series": begun["series"]}
        answer = other.post(f"/api/development/{change}", json=named)
        is_changed.set()
        return answer

    monkeypatch.setattr(nuggets, "_last", waiting)
    noted = {"id": begun["question"], "text": "a fact"}
    answers = at_once(lambda: author.post(NUGGETS, json=noted), changing)
    assert [answer.status_code for answer in answers] == [200, 200], [answer.text for answer in answers]
    with anywhere.store.read() as connection:
        left = connection.execute(select(nugget.c.question).where(nugget.c.question == begun["question"])).all()
        listed = [nugget.text for nugget in nuggets.nuggets_of(connection, nuggets.DEVELOPMENT, "17.1")]
    assert left == []
    assert listed == (["a fact"] if change == "publish" else [])


@contextmanager
def connections(store: Store) -> Iterator[Counter[int]]:
    """The most connections that each thread has had at a time."""
    now: Counter[int] = Counter()
    most: Counter[int] = Counter()

    def taken(*_: Any) -> None:
        here = threading.get_ident()
        now[here] += 1
        most[here] = max(most[here], now[here])

    def given_back(*_: Any) -> None:
        now[threading.get_ident()] -= 1

    event.listen(store.engine, "checkout", taken)
    event.listen(store.engine, "checkin", given_back)
    try:
        yield most
    finally:
        event.remove(store.engine, "checkout", taken)
        event.remove(store.engine, "checkin", given_back)


def test_no_request_asks_for_a_connection_while_it_has_one(site: Any, accounts: dict[str, int]) -> None:
    sheets.give_out(site, accounts)
    organiser, assessor = site.client("organiser"), site.client("assessor")
    number = sheets.assignment(site, accounts["assessor"], "1.7")
    assert organiser.post("/api/assignments/pool", json={}).status_code == 200
    assert site.app.state.site.memory["job pool"].ended.wait(30)
    everybody = [accounts[role] for role in ("organiser", "adjudicator", "assessor")]
    asked: list[tuple[Any, str, str, dict[str, Any] | None]] = [
        (assessor, "GET", f"/api/judge/{number}", None),
        (assessor, "GET", f"/api/judge/{number}/earlier", None),
        (assessor, "GET", f"/api/judge/{number}/strings", None),
        (organiser, "GET", "/api/development", None),
        (organiser, "GET", "/api/development/question?id=1.7", None),
        (organiser, "GET", "/api/development/search?question=1.7", None),
        (organiser, "GET", "/api/assignments", None),
        (organiser, "GET", "/api/runs", None),
        (organiser, "GET", "/api/adjudication", None),
        (organiser, "POST", "/api/assignments", {"assessors": 3, "accounts": everybody}),
        (organiser, "POST", "/api/assignments/hand-over", {"source": accounts["organiser"], "accounts": everybody[2:]}),
        (organiser, "POST", "/api/adjudication/reopen", {"question": "1.6", "reason": "look again"}),
    ]
    with connections(site.store) as most:
        for client, method, address, sent in asked:
            site.app.state.site.memory.pop("questions", None)
            most.clear()
            answer = client.request(method, address, json=sent)
            assert answer.status_code == 200, (address, answer.text)
            assert set(most.values()) == {1}, address


def test_there_are_more_connections_than_threads(site: Any) -> None:
    async def threads() -> float:
        return anyio.to_thread.current_default_thread_limiter().total_tokens

    with site.store.engine.connect() as connection:
        room = connection.engine.pool.size() + connection.engine.pool._max_overflow
    assert room > anyio.run(threads)


def test_a_store_that_another_program_writes_is_busy_and_not_broken(site: Any, monkeypatch: Any) -> None:
    import_folder(site.store, open_folder(site.folder))
    organiser = site.client("organiser")
    monkeypatch.setattr("qassay.store.engine.BUSY_MILLISECONDS", 20)
    site.store.engine.dispose()
    invited = {"role": "reader", "name": "Eve"}
    with closing(sqlite3.connect(site.folder / "qassay.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = organiser.post("/api/people/invitations", json=invited)
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) > 0
        assert "busy" in answer.json()["message"]
        assert organiser.get("/api/people").status_code == 200
        other.execute("ROLLBACK")
    assert organiser.post("/api/people/invitations", json=invited).status_code == 201


def test_a_busy_store_and_nothing_else_asks_to_try_again() -> None:
    assert is_busy(OperationalError("", {}, psycopg.errors.DeadlockDetected()))
    assert not is_busy(OperationalError("", {}, psycopg.errors.UndefinedTable()))
    assert not is_busy(ValueError())
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(sqlite3.OperationalError) as broken:
        connection.execute("SELECT * FROM nowhere")
    assert not is_busy(OperationalError("", {}, broken.value))
