"""The judging API: one's own work and nobody else's, conflicts with both values, locks, undo, known answers."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from acting import act
from qassay.formats.folder import open_folder
from qassay.store.assignment.assignments import assignments_of, reassign
from qassay.store.development.answers import known_answers
from qassay.store.folder.importing import import_folder
from qassay.store.judging.judgments import append
from qassay.store.people import add_account
from qassay.store.people.sessions import begin_session
from qassay.store.pool.items import items_of
from qassay.web.demonstration import give_out

Make = Callable[..., Any]


@pytest.fixture
def judging(site: Any, accounts: dict[str, int]) -> Any:
    """The built-in evaluation without judgments, two assessors per question; clients by name."""
    for name in ("judgments", "nuggets"):
        for path in (site.folder / name).iterdir():
            path.unlink()
    import_folder(site.store, open_folder(site.folder))
    with site.store.write() as connection:
        other = add_account(connection, "Another assessor", "assessor").id
        secret = begin_session(connection, other, address="test", agent="test")
    give_out(site.store, site.folder, [accounts["assessor"], other])
    mine, theirs = site.client("assessor"), site.client()
    theirs.cookies.set(site.app.state.site.settings.cookie, secret)
    with site.store.read() as connection:
        work = {
            "mine": {
                assignment.question: assignment for assignment in assignments_of(connection, accounts["assessor"])
            },
            "theirs": {assignment.question: assignment for assignment in assignments_of(connection, other)},
        }
        items = {number: items_of(connection, number) for number in ("1.1", "1.2", "1.3", "1.6")}
    return {"mine": mine, "theirs": theirs, "work": work, "items": items, "place": site}


def _decision(item: int, label: str = "R", *, expected: int = 0, key: str | None = None, **more: Any) -> dict[str, Any]:
    verdict = {"judgment": label, **more}
    return {"key": key or secrets.token_hex(16), "item": item, "part": "", "expected": expected, "verdict": verdict}


def test_a_sheet_shows_the_question_and_its_items_without_runs(judging: Any) -> None:
    assignment = judging["work"]["mine"]["1.1"]
    sheet = judging["mine"].get(f"/api/judge/{assignment.id}").json()
    assert sheet["question"]["text"] == "In what city was Marie Curie born?"
    assert (sheet["done"], sheet["total"], sheet["screen"]) == (0, 5, "items")
    assert [row["label"] for row in sheet["items"]] == ["in Paris on", "Paris", "Paris", "Paris", "Warsaw"]
    view = judging["mine"].get(f"/api/judge/{assignment.id}/items/{sheet['items'][0]['id']}").json()
    assert view["body"]["text"] == "in Paris on"
    assert "run" not in view["body"]


def test_another_ones_work_does_not_exist(judging: Any) -> None:
    assignment = judging["work"]["theirs"]["1.1"]
    number = judging["items"]["1.1"][0].id
    for client in (judging["mine"], judging["place"].client("organiser")):
        assert client.get(f"/api/judge/{assignment.id}").status_code == 404
        assert client.get(f"/api/judge/{assignment.id}/items/{number}").status_code == 404
        assert client.post(f"/api/judge/{assignment.id}/decisions", json=_decision(number)).status_code == 404
    assert judging["mine"].get("/api/judge/999999").status_code == 404


def test_a_decision_names_its_item_and_part(judging: Any) -> None:
    assignment = judging["work"]["mine"]["1.1"]
    elsewhere = judging["items"]["1.2"][0].id
    assert judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=_decision(elsewhere)).status_code == 404
    wrong = {**_decision(judging["items"]["1.1"][0].id), "part": "7"}
    assert judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=wrong).status_code == 404


def test_a_save_sent_twice_is_one_judgment_with_one_answer(judging: Any) -> None:
    assignment, number = judging["work"]["mine"]["1.1"], judging["items"]["1.1"][0].id
    sent = _decision(number)
    first = judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=sent)
    again = judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=sent)
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert first.json()["version"] == 1


def test_a_save_whose_answer_was_lost_is_answered_though_the_work_is_somebody_elses_now(
    judging: Any, accounts: dict[str, int]
) -> None:
    """Reassigned, and its item no longer returned by any run; nothing of what the other one does is reported."""
    assignment, (item, other, *_) = judging["work"]["mine"]["1.1"], judging["items"]["1.1"]
    path, sent = f"/api/judge/{assignment.id}/decisions", _decision(item.id)
    first = judging["mine"].post(path, json=sent).json()
    with judging["place"].store.write() as connection:
        reassign(act(connection), assignment.id, accounts["organiser"])
        connection.execute(text(f"UPDATE item SET active = FALSE WHERE id = {item.id}"))
    organiser = judging["place"].client("organiser")
    assert organiser.post(path, json=_decision(other.id)).json()["done"] == 2
    again = judging["mine"].post(path, json=sent)
    assert again.status_code == 200
    assert {name: again.json()[name] for name in ("item", "part", "version", "at")} == {
        name: first[name] for name in ("item", "part", "version", "at")
    }
    assert (again.json()["done"], again.json()["closed"]) == (0, False)
    changed = judging["mine"].post(path, json={**sent, "verdict": {"judgment": "W"}})
    assert changed.status_code == 422, "the key belongs to another verdict"
    for key in (None, "x" * 16):
        assert judging["mine"].post(path, json=_decision(other.id, key=key)).status_code == 404
    assert organiser.post(path, json=sent).status_code == 404, "and to another person"


def test_a_second_save_gets_both_values(judging: Any) -> None:
    assignment, number = judging["work"]["mine"]["1.1"], judging["items"]["1.1"][0].id
    path = f"/api/judge/{assignment.id}/decisions"
    judging["mine"].post(path, json=_decision(number, "R", note="sure"))
    late = judging["mine"].post(path, json=_decision(number, "W"))
    assert late.status_code == 409
    assert late.json()["standing"] == {"judgment": "R", "note": "sure"}
    assert late.json()["version"] == 1
    assert judging["mine"].post(path, json=_decision(number, "W", expected=1)).json()["version"] == 2


def test_other_fields_of_an_imported_row_are_not_shown(judging: Any) -> None:
    assignment, item = judging["work"]["mine"]["1.1"], judging["items"]["1.1"][0]
    row = {"question": "1.1", **{name: item.body[name] for name in ("doc", "text")}, "judgment": "R"}
    row |= {"system": "hobby", "assessor": "somebody", "trace": {"run": "hobby"}, "note": "sure"}
    with judging["place"].store.write() as connection:
        append(act(connection, at="2026-01-01T00:00:00Z"), assignment.set, "item", row)
    late = judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=_decision(item.id, "W"))
    assert late.status_code == 409
    assert late.json()["standing"] == {"judgment": "R", "note": "sure"}
    assert "hobby" not in judging["mine"].get(f"/api/judge/{assignment.id}/items/{item.id}").text


def test_two_assessors_do_not_meet(judging: Any) -> None:
    number = judging["items"]["1.1"][0].id
    for who, label in (("mine", "R"), ("theirs", "W")):
        assignment = judging["work"][who]["1.1"]
        assert (
            judging[who].post(f"/api/judge/{assignment.id}/decisions", json=_decision(number, label)).json()["version"]
            == 1
        )
        view = judging[who].get(f"/api/judge/{assignment.id}/items/{number}").json()
        assert view["parts"][0]["verdict"] == {"judgment": label}


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        ({"judgment": "Q"}, "is not a label"),
        ({"judgment": "R", "answer": "x"}, "has no 'answer'"),
        ({}, "is not a label"),
        ({"judgment": "R", "note": 7}, "a note is a text"),
    ],
)
def test_a_verdict_that_is_none_is_refused(judging: Any, verdict: dict[str, Any], told: str) -> None:
    assignment, number = judging["work"]["mine"]["1.1"], judging["items"]["1.1"][0].id
    answer = judging["mine"].post(
        f"/api/judge/{assignment.id}/decisions", json={**_decision(number), "verdict": verdict}
    )
    assert answer.status_code == 422
    assert told in answer.json()["message"] + str(answer.json()["problems"])


def test_undo_goes_back_and_is_kept(judging: Any) -> None:
    assignment, number = judging["work"]["mine"]["1.1"], judging["items"]["1.1"][0].id
    path = f"/api/judge/{assignment.id}"
    judging["mine"].post(f"{path}/decisions", json=_decision(number, "R"))
    judging["mine"].post(f"{path}/decisions", json=_decision(number, "X", expected=1))
    undone = {"key": secrets.token_hex(16), "item": number, "part": "", "expected": 2, "to": 1}
    assert judging["mine"].post(f"{path}/undo", json=undone).json()["version"] == 3
    view = judging["mine"].get(f"{path}/items/{number}").json()
    assert view["parts"][0] == {
        "part": "", "kind": "item", "required": True, "verdict": {"judgment": "R"}, "version": 3
    }  # fmt: skip
    nothing = {"key": secrets.token_hex(16), "item": number, "part": "", "expected": 3, "to": 0}
    answer = judging["mine"].post(f"{path}/undo", json=nothing).json()
    assert (answer["complete"], answer["done"]) == (False, 0)


def test_a_question_that_was_ruled_on_is_locked_until_it_is_opened_again(judging: Any) -> None:
    for who, label in (("mine", "R"), ("theirs", "W")):
        assignment = judging["work"][who]["1.1"]
        for item in judging["items"]["1.1"]:
            judging[who].post(f"/api/judge/{assignment.id}/decisions", json=_decision(item.id, label))
    cleo = judging["place"].client("adjudicator")
    number = judging["items"]["1.1"][0].id
    ruling = {"key": secrets.token_hex(16), "question": "1.1", "item": number, "part": "", "expected": 0}
    assert cleo.post("/api/adjudication/rulings", json={**ruling, "verdict": {"judgment": "X"}}).status_code == 200
    assignment = judging["work"]["mine"]["1.1"]
    assert judging["mine"].get(f"/api/judge/{assignment.id}").json()["locked"]
    pieces = judging["mine"].get("/api/work", params={"page": 2}).json()["pieces"]  # finished work comes last
    assert [piece["question"] for piece in pieces if piece["locked"]] == ["1.1"]
    assert judging["mine"].get("/work", params={"page": 2}).text.count(">locked</span>") == 1
    late = judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=_decision(number, "U", expected=1))
    assert late.status_code == 423
    assert late.json()["message"].startswith("an adjudicator has decided question 1.1;")
    opened = cleo.post("/api/adjudication/reopen", json={"question": "1.1", "reason": "look again"})
    assert opened.status_code == 200
    assert not judging["mine"].get(f"/api/judge/{assignment.id}").json()["locked"]
    assert not any(piece["locked"] for piece in judging["mine"].get("/api/work").json()["pieces"])
    again = judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=_decision(number, "U", expected=1))
    assert again.status_code == 200
    assert cleo.get("/api/adjudication/question", params={"id": "1.1"}).status_code == 409


def test_adjudication_waits_for_every_assessor(judging: Any) -> None:
    cleo = judging["place"].client("adjudicator")
    assignment = judging["work"]["mine"]["1.1"]
    for item in judging["items"]["1.1"]:
        judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=_decision(item.id, "R"))
    refused = cleo.get("/api/adjudication/question", params={"id": "1.1"})
    assert refused.status_code == 409
    row = next(row for row in cleo.get("/api/adjudication").json()["questions"] if row["question"] == "1.1")
    assert (row["closed"], row["disagreements"], row["left"], row["unanimous"]) == (False, None, None, None)


def test_disagreements_come_without_names_and_sets(judging: Any) -> None:
    for who, label in (("mine", "R"), ("theirs", "W")):
        assignment = judging["work"][who]["1.1"]
        for item in judging["items"]["1.1"]:
            judging[who].post(
                f"/api/judge/{assignment.id}/decisions", json=_decision(item.id, label, note=f"said {label}")
            )
    text = judging["place"].client("adjudicator").get("/api/adjudication/question", params={"id": "1.1"}).text
    for word in ("assessor", "first", "second", "hobby", "ibis"):
        assert word not in text.replace('"assessor":', "").lower(), word
    assert "said R" in text


def _write_and_match(client: Any, number: int, fact: str) -> None:
    """Write a nugget, and look every response through without finding it."""
    path = f"/api/judge/{number}"
    client.post(f"{path}/nuggets/begin")
    client.post(f"{path}/nuggets/add", json={"key": secrets.token_hex(16), "text": fact, "vital": True})
    client.post(f"{path}/matching")
    for item in client.get(path, params={"stage": "matches"}).json()["items"]:
        sent = {"key": secrets.token_hex(16), "item": item["id"], "part": "", "expected": 0}
        assert client.post(f"{path}/decisions", json={**sent, "verdict": {"nuggets": []}}).status_code == 200


def test_a_nugget_list_is_adopted_as_it_was_seen(judging: Any) -> None:
    for who in ("mine", "theirs"):
        _write_and_match(judging[who], judging["work"][who]["1.7"].id, f"a fact of {who}")
    cleo = judging["place"].client("adjudicator")

    def shown() -> dict[str, Any]:
        return dict(cleo.get("/api/adjudication/question", params={"id": "1.7"}).json()["disagreements"][0])

    before = shown()
    chosen = next(verdict for verdict in before["verdicts"] if verdict["list"][-1]["text"] == "a fact of theirs")
    sent = {"key": secrets.token_hex(16), "question": "1.7", "list": chosen["name"], "seen": before["seen"]}
    change = {"key": secrets.token_hex(16), "text": "one more", "vital": False, "again": "none"}
    number = judging["work"]["mine"]["1.7"].id
    assert judging["mine"].post(f"/api/judge/{number}/nuggets/add", json=change).status_code == 200
    refused = cleo.post("/api/adjudication/adopt", json=sent)
    assert refused.status_code == 409
    assert "have changed since they were shown; look at them again and choose" in refused.json()["message"]
    assert cleo.post("/api/adjudication/adopt", json={**sent, "list": "f" * 32}).status_code == 409
    assert shown()["ruling"] is None
    sent["seen"] = shown()["seen"]
    for _ in range(2):
        assert cleo.post("/api/adjudication/adopt", json=sent).status_code == 200
    ruling = shown()["ruling"]
    assert ruling["list"][-1]["text"] == "a fact of theirs"
    assert shown()["verdicts"][ruling["adopted"]]["name"] == chosen["name"]


def test_a_known_answer_is_noted_for_the_question(judging: Any) -> None:
    assignment = judging["work"]["mine"]["1.1"]
    sent = {"answer": "Warszawa", "doc": "demo-curie-1"}
    assert judging["mine"].post(f"/api/judge/{assignment.id}/answers", json=sent).json()["answer"] == "Warszawa"
    with judging["place"].store.read() as connection:
        assert [answer.answer for answer in known_answers(connection, ["1.1"])["1.1"]] == ["Warsaw", "Warszawa"]
    other = judging["work"]["theirs"]["1.1"]
    assert judging["mine"].post(f"/api/judge/{other.id}/answers", json=sent).status_code == 404


def test_passages_are_called_by_the_titles_of_their_documents(site: Any, accounts: dict[str, int]) -> None:
    """In the list of a question, among the flags of an assessor and of the organiser; the place in small print."""
    shutil.rmtree(site.folder / "judgments")
    shutil.rmtree(site.folder / "nuggets")
    (site.folder / "qassay.toml").write_text('task = "passages"\n')
    asked = {"id": "1", "type": "factoid", "text": "Where was she born?"}
    (site.folder / "questions.jsonl").write_text(json.dumps(asked) + "\n")
    (site.folder / "answers.jsonl").unlink()
    for path in (site.folder / "runs").iterdir():
        path.unlink()
    (site.folder / "runs.jsonl").unlink()
    (site.folder / "runs" / "a.txt").write_text("1 a demo-curie-1 9 20\n")
    import_folder(site.store, open_folder(site.folder))
    site = site.with_settings()  # under the other task
    give_out(site.store, site.folder, [accounts["assessor"]], assessors=1)
    mine = site.client("assessor")
    [piece] = mine.get("/api/work").json()["pieces"]
    at = f"/api/judge/{piece['assignment']}"
    [item] = mine.get(at).json()["items"]
    named = ("Marie Curie as a student", "demo-curie-1, from character 10")
    assert (item["label"], item["place"]) == named
    mine.post(f"{at}/flags", json={"key": secrets.token_hex(16), "item": item["id"], "reason": "not sure"})
    for who, path in (("assessor", "work"), ("organiser", "flags")):
        [flag] = site.client(who).get(f"/api/{path}").json()["flags"]
        assert (flag["answer"], flag["place"]) == named
        assert all(words in site.client(who).get(f"/{path}").text for words in named)


def test_work_tells_how_far_it_is(judging: Any) -> None:
    assignment = judging["work"]["mine"]["1.1"]
    for item in judging["items"]["1.1"]:
        judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json={**_decision(item.id), "seconds": 30})
    page = judging["mine"].get("/api/work").json()
    assert (page["minutes_left"], page["timed"]) == (None, 5)  # too few to go by
    for question in ("1.2", "1.3"):
        other = judging["work"]["mine"][question]
        for item in judging["items"][question]:
            judging["mine"].post(f"/api/judge/{other.id}/decisions", json={**_decision(item.id), "seconds": 30})
    page = judging["mine"].get("/api/work").json()
    assert page["timed"] >= 10
    assert not any(piece["closed"] for piece in page["pieces"])  # open work comes first
    last = judging["mine"].get("/api/work", params={"page": 2}).json()["pieces"]
    piece = next(piece for piece in last if piece["question"] == "1.1")
    assert (piece["done"], piece["closed"]) == (5, True)
    left = page["total"] - page["done"]
    assert page["minutes_left"] == round(30 * left / 60)
    with judging["place"].store.write() as connection:
        connection.execute(text("UPDATE assignment SET seconds = 0.001 WHERE seconds > 0"))
    assert "about 1 min left at your pace." in " ".join(judging["mine"].get("/work").text.split())
    assert "finished" in judging["mine"].get("/work", params={"page": 2}).text
    assert judging["mine"].post("/api/take").status_code == 404


def test_history_tells_from_what_to_what(judging: Any) -> None:
    assignment, number = judging["work"]["mine"]["1.1"], judging["items"]["1.1"][0].id
    judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=_decision(number, "R"))
    judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=_decision(number, "W", expected=1, note="no"))
    page = judging["place"].client("organiser").get("/api/history", params={"question": "1.1"}).json()
    assert [(row["before"], row["after"], row["note"], row["who"]) for row in page["changes"]] == [
        ("R", "W", "no", "Some assessor"),
        (None, "R", None, "Some assessor"),
    ]
    assert judging["place"].client("organiser").get("/history").status_code == 200


def test_lists_say_in_words_what_a_question_for_the_rest_asks(judging: Any) -> None:
    words = "What else is there to know about Marie Curie?"
    place = judging["place"]
    rows = place.client("adjudicator").get("/api/adjudication").json()["questions"]
    assert next(row["text"] for row in rows if row["question"] == "1.7") == words
    for role, path in (("organiser", "/assignments"), ("assessor", "/work"), ("adjudicator", "/adjudication")):
        shown = place.client(role).get(path).text.replace("<bdi>", "").replace("</bdi>", "")
        assert words in shown, path


def test_history_shows_characters_that_turn_text_around(judging: Any) -> None:
    assignment, number = judging["work"]["mine"]["1.1"], judging["items"]["1.1"][0].id
    judging["mine"].post(f"/api/judge/{assignment.id}/decisions", json=_decision(number, "R", note="a\u202eb"))
    shown = judging["place"].client("organiser").get("/history", params={"question": "1.1"}).text
    assert "\u202e" not in shown
    assert 'a<span class="control">U+202E</span>b' in shown
