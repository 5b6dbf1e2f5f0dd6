"""Blind means blind: what somebody who judges can fetch is the same, to the byte, whatever he must not know.

Two worlds that differ only in the names of the runs, or only in what the other assessor said, must give the same
answers to everything that can be asked. Times and the numbers of requests are left out of the comparison.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest
from pooling import store_items
from sqlalchemy import event, select, update

from acting import act
from qassay.demo import demo_folder
from qassay.evaluation import open_evaluation
from qassay.formats.folder import open_folder
from qassay.judging import Wanted
from qassay.judging.items import parts_of, pool_items
from qassay.store.acts import Assessor
from qassay.store.assignment.assignments import all_assignments, assign
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import add_account, find_account
from qassay.store.people.sessions import begin_session
from qassay.store.pool.items import items_of, order_seed
from qassay.store.schema import item, run
from qassay.store.settings import put_setting
from qassay.tables import Column, table
from qassay.web.application import create_app
from qassay.web.guard import PUBLIC
from qassay.web.results.finding import Finding, Part
from qassay.web.results.publishing import publish
from qassay.web.site import Settings

Which = Literal["series", "rag", "entailment"]
# Questions and runs that are kept of each demo.
KEEP: dict[Which, set[str]] = {"series": {"1.1", "1.6", "1.7"}, "rag": {"r1", "r2"}, "entailment": {"3", "5"}}
RUNS = 3
OTHER = "Bartholomew"
PEOPLE = (
    *(("Olga", "organiser"), ("Ada", "assessor"), (OTHER, "assessor")),
    *(("Cleo", "adjudicator"), ("Rea", "reader")),
)
STAGES = ("", "?stage=nuggets", "?stage=matches", "?stage=holistic")
SECRET = "the other one wrote this"
# What an assessor says of a part, by its kind; the other one says the opposite.
SAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "item": ({"judgment": "R"}, {"judgment": "W", "note": SECRET}),
    "list": ({"judgment": "W"}, {"judgment": "R", "answer": SECRET}),
    "match": ({"nuggets": []}, {"nuggets": [], "note": SECRET}),
    "support": ({"support": "full"}, {"support": "none", "note": SECRET}),
    "citation": ({"support": "full"}, {"support": "none", "note": SECRET}),
    "holistic": ({"content": 7, "organization": 5}, {"content": 1, "organization": 1, "note": SECRET}),
    "rating": ({"understandability": 4, "correctness": 4}, {"understandability": 1, "note": SECRET}),
}


@dataclass
class World:
    """An evaluation that is served, with people who judge: Ada and Bartholomew, Cleo who adjudicates, Rea who reads."""

    folder: Path
    store: Store
    app: Any
    sessions: dict[str, str]
    keys: dict[str, Iterator[int]]

    def client(self, name: str) -> Any:
        """A browser with this person in it."""
        from starlette.testclient import TestClient

        headers = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
        browser = TestClient(self.app, follow_redirects=False, headers=headers)
        browser.cookies.set("qassay", self.sessions[name])
        return browser

    def send(self, browser: Any, path: str, **body: Any) -> str:
        """Send a change; what is answered."""
        return seen(browser.post(f"/api{path}", json=body))

    def key(self, name: str) -> str:
        """An idempotency key of somebody, the same ones in every world."""
        return f"a-key-of-{name}-{next(self.keys[name]):08}"


def seen(answer: Any) -> str:
    """An answer as somebody sees it, without what differs between any two requests."""
    headers = {name: value for name, value in answer.headers.items() if name not in ("x-request-id", "content-length")}
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d\.\d+Z)?", "(time)", answer.text)
    return f"{answer.status_code} {headers} {text}"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Any]:
    """`world("series", names={"crane": "stork"})`: a world of that demo, with runs of other names."""
    made: list[World] = []

    def make(which: Which = "series", names: dict[str, str] | None = None) -> World:
        folder = tmp_path / f"world-{len(made)}"
        shutil.copytree(demo_folder(which), folder)
        for name in ("judgments",) if which != "series" else ("judgments", "nuggets"):
            shutil.rmtree(folder / name)
        _cut_down(folder, KEEP[which])
        store = open_store(folder, create=True)
        event.listen(store.engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous = OFF"))
        import_folder(store, open_folder(folder))
        evaluation = open_evaluation(folder, store=store)
        with store.write() as connection:
            people = {name: add_account(connection, name, role).id for name, role in PEOPLE}
            sessions = {
                name: begin_session(connection, account, address="", agent="") for name, account in people.items()
            }
            put_setting(connection, "order-seed", "the same in all worlds")
            seed = order_seed(connection)
            wanted = Wanted(holistic=which == "series", citations=True)
            justified = evaluation.configuration.justified
            things = (evaluation.runs, evaluation.questions, evaluation.task)
            store_items(connection, pool_items(*things, seed=seed, justified=justified, wanted=wanted))
            assign(
                act(connection, task=evaluation.task),
                evaluation.questions,
                assessors=2,
                accounts=[people["Ada"], people[OTHER]],
            )
            for before, after in (names or {}).items():
                connection.execute(update(item).where(item.c.run == before).values(run=after))
                connection.execute(update(run).where(run.c.tag == before).values(tag=after, file=f"{after}.txt"))
        app = create_app(folder, Settings(more_hosts=("testserver",), log="none"), store=store)
        made.append(World(folder, store, app, sessions, {name: count() for name in people}))
        return made[-1]

    yield make
    for made_world in made:
        made_world.store.close()


def _cut_down(folder: Path, keep: set[str]) -> None:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    ids = {row["id"] for row in rows} & keep
    for path in [folder / "questions.jsonl", *folder.glob("answers.jsonl"), *folder.glob("*/*.jsonl")]:
        if "collection" not in path.parts:
            path.write_text("".join(f"{line}\n" for line in path.read_text().splitlines() if _asks(line) in ids))
    for path in sorted(folder.glob("runs/*"))[RUNS:]:
        path.unlink()
    (folder / "runs.jsonl").unlink()
    for path in folder.glob("runs/*.txt"):
        path.write_text("".join(f"{line}\n" for line in path.read_text().splitlines() if line.split()[0] in ids))
    text = (folder / "qassay.toml").read_text()
    chosen = f"justified = {json.dumps(sorted(ids))}"
    (folder / "qassay.toml").write_text(re.sub(r"justified = \[[^]]*\]", chosen, text))


def _asks(line: str) -> str:
    row = json.loads(line)
    return str(row.get("question") or row.get("topic_id") or row["id"])


def tags(world: World) -> list[str]:
    with world.store.read() as connection:
        return list(connection.execute(select(run.c.tag).order_by(run.c.tag)).scalars())


def renamed(known: list[str]) -> dict[str, str]:
    """Other names, and in the opposite order: whatever went by the names would go another way."""
    return {tag: f"renamed-{position}" for position, tag in enumerate(reversed(known))}


def crawl(world: World, name: str) -> dict[str, str]:
    """Everything that somebody can fetch: every address, with the numbers that exist and some that do not."""
    with world.store.read() as connection:
        given = all_assignments(connection)
        owner = find_account(connection, name)[0]
        own = [assignment for assignment in given if owner is not None and assignment.account == owner.id]
        assignments = [*own, *[assignment for assignment in given if assignment not in own][:1]]
        items = {assignment.id: items_of(connection, assignment.question) for assignment in assignments}
        questions = list(dict.fromkeys(assignment.question for assignment in given))
    by_name: dict[str, str] = {}
    with world.client(name) as browser:
        for route in world.app.routes:
            # What is not for a role is refused before anything is looked at (test_routes).
            if "GET" not in route.methods or "static" in route.path or not route.roles & {PUBLIC, dict(PEOPLE)[name]}:
                continue
            for path in _addresses(route.path, assignments, items, questions):
                by_name[path] = seen(browser.get(path))
    return by_name


def _addresses(path: str, assignments: Any, items: Any, questions: list[str]) -> Iterator[str]:
    wanted = {
        **{
            f"{start}/adjudication/question": [f"?id={question}" for question in (*questions, "99")]
            for start in ("", "/api")
        },
        **{f"{start}/document": ["?id=demo-curie-1&find=radium", "?id=nowhere"] for start in ("", "/api")},
        **{f"{start}/results": ["", "?provisional=1", "?key=second"] for start in ("", "/api")},
    }
    if "{assignment}" not in path:
        for query in wanted.get(path, [""]):
            yield re.sub(r"\{[^}]*\}", "1", path) + query
        return
    for assignment in assignments:
        for number in [pooled.id for pooled in items[assignment.id]][:5] if "{item}" in path else [0]:
            filled = path.replace("{assignment}", str(assignment.id)).replace("{item}", str(number))
            yield from (filled + stage for stage in (STAGES if path.endswith("{assignment}") else [""]))
    yield path.replace("{assignment}", "999999").replace("{item}", "5")


def judge(world: World, name: str, *, but: int = 0) -> list[str]:
    """Judge all that somebody has, but for the last few questions; everything that was answered on the way."""
    answers: list[str] = []
    with world.client(name) as browser:
        pieces = browser.get("/api/work").json()["pieces"]
        for piece in pieces[: len(pieces) - but]:
            at = f"/judge/{piece['assignment']}"
            sheet = browser.get(f"/api{at}").json()
            if sheet["screen"] == "nuggets":
                answers += _write_nuggets(world, browser, at, name)
            for answer in ("an  answer that both know", *([SECRET] if name == OTHER else [])):
                answers.append(world.send(browser, f"{at}/answers", answer=answer))
            for stage in sheet["stages"]:
                for entry in browser.get(f"/api{at}?stage={stage['screen']}").json()["items"]:
                    shown = browser.get(f"/api{at}/items/{entry['id']}")
                    needed = [part for part in shown.json()["parts"] if part["required"]]
                    answers += [seen(shown), *(_decide(world, browser, at, entry["id"], part, name) for part in needed)]
    assert all(answer.startswith("200") for answer in answers), [
        answer for answer in answers if not answer.startswith("200")
    ][:3]
    return answers


def _write_nuggets(world: World, browser: Any, at: str, name: str) -> list[str]:
    wrote = {"text": SECRET if name == OTHER else "a fact", "vital": name == OTHER}
    return [
        world.send(browser, f"{at}/nuggets/begin"),
        world.send(browser, f"{at}/nuggets/add", key=world.key(name), **wrote),
        world.send(browser, f"{at}/matching"),
    ]


def _decide(world: World, browser: Any, at: str, number: int, part: dict[str, Any], name: str) -> str:
    sent = {"item": number, "part": part["part"], "expected": part["version"]}
    verdict = SAYS[part["kind"]][name == OTHER]
    return world.send(browser, f"{at}/decisions", key=world.key(name), verdict=verdict, **sent)


def same(first: dict[str, str], second: dict[str, str]) -> None:
    assert first.keys() == second.keys()
    assert len(first) > 8
    for path, answer in first.items():
        assert answer == second[path], path


def holds_none(answers: dict[str, str], words: list[str]) -> None:
    for path, answer in answers.items():
        leaked = [word for word in words if re.search(rf"\b{re.escape(word)}\b", answer)]
        assert not leaked, f"{path}: {leaked}"


# The other built-in evaluations take the same ways; `make soak` goes them.
LATER = [pytest.param("rag", marks=pytest.mark.slow), pytest.param("entailment", marks=pytest.mark.slow)]


@pytest.mark.parametrize("which", ["series", *LATER])
def test_the_names_of_runs_change_nothing_for_assessors(world: Any, which: Which) -> None:
    first = world(which)
    known = tags(first)
    second = world(which, renamed(known))
    assert not set(known) & set(tags(second))
    same(before := crawl(first, "Ada"), crawl(second, "Ada"))
    assert judge(first, "Ada") == judge(second, "Ada")
    same(after := crawl(first, "Ada"), crawl(second, "Ada"))
    assert before != after
    for answers in (before, after):
        holds_none(answers, ["Olga", OTHER, "Cleo", "Rea"])


@pytest.mark.parametrize("which", ["series", *LATER])
def test_judgments_of_another_assessor_change_nothing(world: Any, which: Which) -> None:
    first, second = world(which), world(which)
    judge(second, OTHER)
    same(crawl(first, "Ada"), crawl(second, "Ada"))
    answers = judge(first, "Ada", but=1)
    assert answers == judge(second, "Ada", but=1)
    same(crawl(first, "Ada"), pages := crawl(second, "Ada"))
    holds_none(pages, [SECRET, OTHER])


def _judged_by_model(world: World) -> None:
    """An organiser sends a model's judgments of everything, over the API, as `judge --server` does."""
    with world.store.read() as connection:
        questions = list(dict.fromkeys(assignment.question for assignment in all_assignments(connection)))
        items = [item for question in questions for item in items_of(connection, question)]
    trace = {"assessor": "gpt-x", "model": "gpt-x", "raw": SECRET}
    rows = [
        {**part.row, **SAYS[part.kind][1], "assessor": "gpt-x", "trace": trace}
        for item in items
        for part in parts_of(item, nuggets=["1", "2"], assessor="gpt-x")
        if part.required and part.kind in ("item", "list", "holistic", "rating", "citation")
    ]
    assert rows
    with world.client("Olga") as browser:
        sent = browser.post("/api/sets/gpt-x/judgments", json={"rows": rows})
        assert sent.json() == {"added": len(rows)}


@pytest.mark.parametrize("which", ["series", *LATER])
def test_judgments_of_a_model_change_nothing_for_assessors(world: Any, which: Which) -> None:
    """Neither before nor while somebody judges is a model's verdict, or that there is one, shown to them."""
    first, second = world(which), world(which)
    _judged_by_model(second)
    same(crawl(first, "Ada"), crawl(second, "Ada"))
    assert judge(first, "Ada", but=1) == judge(second, "Ada", but=1)
    for name in ("Ada", "Cleo"):
        same(crawl(first, name), pages := crawl(second, name))
        holds_none(pages, [SECRET, "gpt-x"])


@pytest.mark.parametrize("which", ["series", LATER[0]])
def test_an_adjudicator_sees_nothing_before_a_question_is_finished_by_all(world: Any, which: Which) -> None:
    first, second = world(which), world(which)
    judge(second, OTHER)
    same(before := crawl(first, "Cleo"), crawl(second, "Cleo"))
    holds_none(before, [*tags(first), SECRET, "Ada", OTHER])
    judge(second, "Ada")
    after = crawl(second, "Cleo")
    assert any(SECRET in answer for path, answer in after.items() if path.startswith("/api/adjudication/question"))
    holds_none(after, [*tags(second), "Ada", OTHER])


def test_the_names_of_runs_change_nothing_for_adjudicators(world: Any) -> None:
    first = world()
    second = world(names=renamed(tags(first)))
    for first_world in (first, second):
        judge(first_world, OTHER)
        judge(first_world, "Ada")
    same(crawl(first, "Cleo"), crawl(second, "Cleo"))


def _publish(world: World) -> str:
    board = table("Leaderboard", ["run", Column("score", ".3f")], [[tag, 0.5] for tag in tags(world)])
    finding = Finding((Part("leaderboard", board),), {"key": "first", "measure": "series_score"})
    with world.store.write() as connection:
        olga = act(connection, who=Assessor(1, "Olga"))
        number = publish(olga, finding, {}, title="", provisional=None)
    return number.id


def test_readers_see_what_is_published_and_nothing_before(world: Any) -> None:
    first, second = world(), world()
    judge(second, OTHER)
    same(before := crawl(first, "Rea"), crawl(second, "Rea"))
    holds_none(before, [*tags(first), SECRET, "Ada", OTHER, "Cleo"])
    number = _publish(second)
    for path in (f"/results/published/{number}", f"/results/published/{number}/sheet.csv?table=leaderboard"):
        assert tags(second)[0] in second.client("Rea").get(path).text
        # Whoever judges stays blind while work is open, though readers see it.
        for name in ("Ada", "Cleo"):
            assert second.client(name).get(path).status_code == 404
    holds_none(crawl(second, "Ada") | crawl(second, "Cleo"), [*tags(second), number])
    holds_none(crawl(second, "Rea"), [SECRET, "Ada", OTHER, "Cleo"])


def test_other_peoples_work_does_not_exist(world: Any) -> None:
    """Every address under an assignment, with the number of somebody else's: as if there were none."""
    served = world()
    with served.store.read() as connection:
        assignments = all_assignments(connection)
        ada, _ = find_account(connection, "Ada")
        assert ada is not None
        theirs = next(other for other in assignments if other.account != ada.id)
        number = items_of(connection, theirs.question)[0].id
    browser = served.client("Ada")
    asked = 0
    for route in served.app.routes:
        if "{assignment}" not in route.path:
            continue
        for method in route.methods - {"HEAD"}:
            answers = [
                seen(_ask(served, browser, method, route, str(assignment), number))
                for assignment in (theirs.id, 999_999)
            ]
            assert answers[0] == answers[1], route.path
            assert answers[0].startswith("404"), f"{route.path}: {answers[0][:300]}"
            asked += 1
    assert asked > 20


def _ask(world: World, browser: Any, method: str, route: Any, assignment: str, number: int) -> Any:
    """A well-formed request, so that nothing but the assignment is wrong with it."""
    sent: dict[str, Any] = {"key": world.key("Ada"), "item": number, "part": "", "expected": 1, "to": 0, "nugget": "1"}
    sent |= {
        "verdict": {},
        "of": world.key("Ada"),
        "before": "x",
        "after": "y",
        "text": "x",
        "vital": True,
        "other": "2",
    }
    sent |= {"texts": ["a", "b"], "other_expected": 1, "answer": "x"}
    body = route.body_field
    names = set(body.field_info.annotation.model_fields) if body is not None else set()
    path = "/api" + route.path.removeprefix("/api").replace("{assignment}", assignment).replace("{item}", str(number))
    return browser.request(method, path, json={name: sent[name] for name in names & set(sent)} if names else None)


def test_nobody_without_an_account_learns_anything(world: Any) -> None:
    from starlette.testclient import TestClient

    answers = world()
    stranger = TestClient(answers.app, follow_redirects=False)
    words = [*tags(answers), "Ada", OTHER, "Olga", "Cleo", "Rea"]
    for route in answers.app.routes:
        if "GET" in route.methods and PUBLIC in route.roles and "static" not in route.path:
            holds_none({route.path: seen(stranger.get(route.path))}, words)
