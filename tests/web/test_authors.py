"""Authors: assessors write questions where the track allows it, judge their own first, and are compared with others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tracks import Track, make_folder, served
from worksheets import key

from qassay import agreement
from qassay.evaluation import open_evaluation
from qassay.judging.roles import set_by_role
from qassay.store.assignment.assignments import all_assignments
from qassay.studies.stability import stability

RUN = "1 n1 D1 1901\n2 n1 D2 Ann Lee\n3 n1 D3 90 m\n"
AUTHORS = {"1": "ann", "2": "bob", "3": "zoe"}  # zoe has left


@pytest.fixture
def track(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Track]:
    with served(make_folder(tmp_path / "bridges", "authors = true\n"), monkeypatch) as served_track:
        yield served_track


def add(client: Any, text: str, status: int = 201, **more: Any) -> Any:
    answer = client.post("/api/development/questions", json={"type": "factoid", "text": text, **more})
    assert answer.status_code == status, answer.text
    return answer.json()


# ---- writing ---------------------------------------------------------------------------------------------------------


def test_an_assessor_writes_questions_and_an_organiser_publishes_them(track: Track) -> None:
    ann, olga = track.client("ann"), track.client("olga")
    question_id = add(ann, "Who paid for it?", answer="The town")["question"]
    page = ann.get("/api/development").json()
    assert [question["id"] for group in page["groups"] for question in group["questions"]] == [question_id]
    assert (page["organises"], page["published"], page["drafts"]) == (False, 0, 1)
    sent = {"id": question_id, "version": 1, "text": "Who paid for the bridge?"}
    assert ann.put("/api/development/question", json=sent).status_code == 200
    known = {"id": question_id, "answer": "The crown"}
    assert ann.post("/api/development/question/answers", json=known).status_code == 201
    assert "Who paid for the bridge?" in ann.get("/development").text
    assert 'id="publish"' not in ann.get("/development").text
    assert ann.post("/api/development/publish", json={"groups": [question_id]}).status_code == 403
    [number] = olga.post("/api/development/publish", json={"groups": [question_id]}).json()["questions"]
    question = open_evaluation(track.folder, store=track.store).questions.by_id[number]
    assert (question.text, question.author) == ("Who paid for the bridge?", "ann")
    # What is in the test set is no longer the author's to change.
    assert ann.get("/api/development").json()["groups"] == []
    assert ann.get("/development/question", params={"id": number}).status_code == 404


def test_an_author_has_nothing_to_do_with_the_questions_of_others(track: Track) -> None:
    ann, bob = track.client("ann"), track.client("bob")
    question = add(ann, "Who paid for it?")["question"]
    for number in (question, "1", "no-such-question"):
        refused = [
            bob.get("/api/development/question", params={"id": number}),
            bob.put("/api/development/question", json={"id": number, "version": 1, "text": "mine"}),
            bob.post("/api/development/question/remove", json={"id": number}),
            bob.post("/api/development/question/answers", json={"id": number, "answer": "x"}),
            bob.post("/api/development/question/answers/withdraw", json={"id": number, "answer": "x"}),
            bob.post("/api/development/question/nuggets", json={"id": number, "text": "x"}),
            bob.post("/api/development/question/nuggets/remove", json={"id": number, "nugget": "1", "version": 1}),
            bob.post("/api/development/questions/move", json={"id": number, "places": 1}),
            bob.get("/api/development/search", params={"q": "x", "question": number}),
        ]
        assert {answer.status_code for answer in refused} == {404}
    assert bob.get("/api/development").json()["groups"] == []
    assert "paid" not in bob.get("/development").text
    assert ann.get("/api/development/question", params={"id": question}).status_code == 200
    assert bob.post("/api/development/series/remove", json={"series": "no-such-series"}).status_code == 404


def test_without_leave_only_organisers_write_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(make_folder(tmp_path / "bridges"), monkeypatch) as track:
        ann = track.client("ann")
        for path in ("/development", "/development/question?id=1", "/development/search", "/development/document?id=1"):
            assert ann.get(path).status_code == 403, path
        add(ann, "Who paid for it?", status=403)
        assert 'href="/development"' not in ann.get("/").text
        question = add(track.client("olga"), "Who paid for it?")["question"]
        row = track.client("olga").get("/api/development/question", params={"id": question}).json()
        assert "author" not in json.dumps(row)


# ---- the author judges -----------------------------------------------------------------------------------------------


def with_authors(folder: Path, authors: dict[str, str]) -> Path:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    written = [row | ({"author": authors[row["id"]]} if row["id"] in authors else {}) for row in rows]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in written))
    (folder / "runs").mkdir()
    (folder / "runs" / "n1.txt").write_text(RUN)
    return folder


def judge(track: Track, name: str, wrong: str) -> None:
    """Judge all that is assigned to somebody, who calls one answer wrong."""
    client = track.client(name)
    while (number := client.get("/api/work").json()["next"]) is not None:
        for place in client.get(f"/api/judge/{number}").json()["items"]:
            label = "W" if place["label"] == wrong else "R"
            sent = {"key": key(), "item": place["id"], "part": "", "expected": 0, "verdict": {"judgment": label}}
            assert client.post(f"/api/judge/{number}/decisions", json=sent).status_code == 200


def test_each_question_goes_to_its_author_first_and_sets_go_by_role(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = with_authors(make_folder(tmp_path / "bridges", ""), AUTHORS)
    with served(folder, monkeypatch) as track:
        olga = track.client("olga")
        track.pool()
        judges = [track.people["ann"], track.people["bob"]]
        given = olga.post("/api/assignments", json={"assessors": 2, "accounts": judges, "author_first": True})
        assert given.json() == {"done": 6, "kept": 0, "without_author": 1, "absent": ["zoe"]}
        with track.store.read() as connection:
            first = {
                assignment.question: assignment.account
                for assignment in all_assignments(connection)
                if assignment.slot == 1
            }
            every = {(assignment.question, assignment.account) for assignment in all_assignments(connection)}
        assert (first["1"], first["2"]) == (track.people["ann"], track.people["bob"])
        assert every == {(question, account) for question in AUTHORS for account in judges}
        assert 'id="author-first"' in olga.get("/assignments").text
        judge(track, "ann", wrong="1901")
        judge(track, "bob", wrong="90 m")
        evaluation = open_evaluation(folder, store=track.store)
        assert evaluation.role_sets == ("author", "other")
        author, other = (evaluation.judgment_set(name).kind("item") for name in ("author", "other"))
        # Question 1 by ann, who calls it wrong, and 2 by bob; of question 3 nobody is the author.
        assert dict(author.select("question", "judgment").iter_rows()) == {"1": "W", "2": "R"}
        assert dict(author.select("question", "assessor").iter_rows()) == {"1": "ann", "2": "bob"}
        assert dict(other.select("question", "assessor").iter_rows())["1"] == "bob"
        study = agreement(evaluation, sets=["author", "other"], resamples=0)
        assert (study[0].items, study[0].as_json()["disagreements"]) == (2, 1)
        compared: Any = stability(evaluation, sets=["author", "other"], unjudged="wrong").as_json()
        assert compared["sets"] == ["author", "other"]


def test_author_first_needs_authors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = with_authors(make_folder(tmp_path / "bridges", ""), {})
    with served(folder, monkeypatch) as track:
        olga = track.client("olga")
        track.pool()
        assert 'id="author-first"' not in olga.get("/assignments").text
        sent = {"assessors": 1, "accounts": [track.people["ann"]], "author_first": True}
        refused = olga.post("/api/assignments", json=sent)
        assert (refused.status_code, "no question names its author" in refused.text) == (400, True)
        assert open_evaluation(folder, store=track.store).role_sets == ()


def test_the_other_of_a_question_is_the_first_who_is_not_its_author(tmp_path: Path) -> None:
    folder = with_authors(make_folder(tmp_path / "bridges", ""), AUTHORS)
    (folder / "judgments").mkdir()
    verdicts = {"first": ("bob", "R"), "second": ("ann", "X"), "third": ("carl", "W")}
    for name, (assessor, label) in verdicts.items():
        row = {"question": "1", "doc": "D1", "text": "1901", "judgment": label, "assessor": assessor}
        (folder / "judgments" / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    evaluation = open_evaluation(folder)
    author, other = (evaluation.judgment_set(name).kind("item") for name in ("author", "other"))
    assert (author["judgment"].to_list(), other["judgment"].to_list()) == (["X"], ["R"])
    sets = [evaluation.judgment_set(name) for name in ("third", "first")]
    judged, chosen = set_by_role("other", sets, evaluation.questions)
    assert (judged.kind("item")["judgment"].to_list(), chosen) == (["W"], {"1": "third"})
    # Of a question that nobody but its author judged there is no other.
    (folder / "judgments" / "first.jsonl").unlink()
    (folder / "judgments" / "third.jsonl").unlink()
    with pytest.raises(Exception, match="no judgment is by anybody but the author"):
        open_evaluation(folder).judgment_set("other")
