"""Organisations see nothing of one another: every name carries a mark, and no mark of another reaches a participant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from tracks import Track, served

from qassay.cli import main
from qassay.web.guard import PUBLIC

# Each organisation's own mark is in the names of its runs, files and members; the mark of all others is `others`.
MARK = re.compile(r"(north|south|others)mark", re.IGNORECASE)
NAMES = {
    "nina": ("northmark-nina", "participant", "Northmark"),
    "sara": ("southmark-sara", "participant", "Southmark"),
    "olga": ("othersmark-olga", "organiser", None),
    "ann": ("othersmark-ann", "assessor", None),
}
QUESTIONS = {"1": "When was it built?", "2": "Who built it?", "3": "How long is it?", "4": "How high is it?"}
ANSWERS = {
    "northmark-a": {"1": "1901", "2": "Bo", "3": "90 m", "4": "9 m"},
    "southmark-a": {"1": "1850", "2": "Bo", "3": "", "4": "9 m"},
    "southmark-b": {"1": "1901", "2": "Ann Lee", "3": "90 m"},
    "othersmark-c": {"1": "1850", "2": "", "3": "10 m", "4": "1 m"},
}
LABELS = {"1901": "correct", "Ann Lee": "correct", "90 m": "correct", "9 m": "partly"}
SETS = ("othersmark-ann", "othersmark-bob", "othersmark-cleo")


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def evaluation(folder: Path) -> Path:
    """Four runs of three organisations; one has an empty answer, one has not answered a question."""
    for part in ("runs", "judgments"):
        (folder / part).mkdir(parents=True)
    (folder / "qassay.toml").write_text('name = "bridges"\ntask = "qa"\n')
    questions = [{"id": name, "type": "qa", "text": text, "author": SETS[0]} for name, text in QUESTIONS.items()]
    (folder / "questions.jsonl").write_text(lines(questions))
    about = [
        {"run": tag, "organisation": tag.split("-")[0].title(), "description": f"{tag} by {tag}", "manual": True}
        for tag in ANSWERS
    ]
    (folder / "runs.jsonl").write_text(lines(about))
    for tag, answers in ANSWERS.items():
        rows = [
            {"question": name, "run": tag, "items": [{"text": answer}] if answer else []}
            for name, answer in answers.items()
        ]
        (folder / "runs" / f"{tag}.jsonl").write_text(lines(rows))
    given = {(name, text) for answers in ANSWERS.values() for name, text in answers.items() if text}
    for name in SETS:
        rows = [
            {"question": question, "text": text, "judgment": LABELS.get(text, "incorrect"), "assessor": name}
            for question, text in sorted(given)
        ]
        (folder / "judgments" / f"{name}.jsonl").write_text(lines(rows))
    return folder


@pytest.fixture
def track(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Track]:
    people = {name: (role, organisation) for name, role, organisation in NAMES.values()}
    with served(evaluation(tmp_path / "bridges"), monkeypatch, people=people) as served_track:
        yield served_track


def foreign(text: str, own: str) -> list[str]:
    """The marks of others in a text."""
    return [mark for mark in MARK.findall(text) if mark.lower() != own]


def addresses(page: str) -> set[str]:
    """The addresses within the application that a page or its twin names."""
    return {address.replace("&amp;", "&") for address in re.findall(r'"(/[^"\s\\]*)"', page)}


def received(track: Track, name: str) -> Iterator[tuple[str, str]]:
    """Everything that a participant can get: all pages and what they lead to, downloads, errors, answers of actions."""
    client = track.client(NAMES[name][0])
    routes = [route for route in track.app.routes if isinstance(route, APIRoute)]
    waiting = {route.path for route in routes if "GET" in (route.methods or ()) and "{" not in route.path}
    seen: set[str] = set()
    while waiting - seen:
        address = (waiting - seen).pop()
        seen.add(address)
        answer = client.get(address)
        yield f"GET {address}", f"{answer.text} {answer.headers}"
        if answer.status_code == 200 and not address.startswith("/static"):
            waiting |= {found for found in addresses(answer.text) if not found.startswith("/static")}
    tags = [*ANSWERS, "nowhere"]
    for route in routes:
        for method in (route.methods or set()) - {"GET", "HEAD"}:
            if route.path in ("/api/sign-out", "/api/submissions/withdraw"):
                continue
            for tag in tags:
                path = re.sub(r"\{[^}]*\}", tag, route.path)
                answer = client.request(method, path, json={"tag": tag, "organisation": tag.split("-")[0].title()})
                # A refusal repeats what was asked for; it says nothing that depends on it.
                yield f"{method} {path}", f"{answer.text} {answer.headers}".replace(tag, "")
    for tag in tags:
        rows = [{"question": number, "run": tag, "items": [{"text": "x"}]} for number in QUESTIONS]
        files = [("files", (f"{tag}.jsonl", lines(rows).encode()))]
        yield f"submit {tag}", client.post("/api/submissions", files=files).text.replace(tag, "")
    assert {"/api/organisation-results", "/organisation-results", "/submissions"} <= seen
    assert any("/organisation-results/figure" in address for address in seen)
    assert any("table=table-1" in address for address in seen)


@pytest.mark.parametrize("key", ["othersmark-ann", "majority"])
def test_nothing_that_a_participant_receives_names_another_organisation(track: Track, key: str) -> None:
    organiser = track.client(NAMES["olga"][0])
    sent = {"key": key, "missing": "zero"}
    published = organiser.post("/api/results/published", json=sent)
    assert published.status_code == 201, published.text
    for name, own in (("nina", "north"), ("sara", "south")):
        shown = dict(received(track, name))
        assert {place: marks for place, text in shown.items() if (marks := foreign(text, own))} == {}
        assert f"{own}mark-a" in shown["GET /organisation-results"]
    assert "southmark-a 1." in shown["GET /api/organisation-results"], "its own empty answers are shown"


def test_every_route_of_participants_is_among_them(track: Track) -> None:
    """A route with a place of its own for a parameter is not visited by the test above."""
    routes = [route for route in track.app.routes if isinstance(route, APIRoute)]
    open_to = {route.path for route in routes if getattr(route, "roles", frozenset()) & {"participant", PUBLIC}}
    own_account = {"/api/account/sessions/{number}", "/api/account/tokens/{number}"}
    assert {path for path in open_to if "{" in path} == {"/static/{version}/{path:path}", *own_account}


def test_pages_that_the_command_writes_name_no_other_organisation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, pages = evaluation(tmp_path / "bridges"), tmp_path / "pages"
    options = ["--by", "organisation", "--key", "othersmark-ann", "--missing", "zero"]
    assert main(["report", str(folder), *options, "--to", str(pages)]) == 0
    capsys.readouterr()
    assert sorted(path.name for path in pages.iterdir()) == ["northmark.html", "othersmark.html", "southmark.html"]
    for path in pages.iterdir():
        own = path.stem.removesuffix("mark")
        assert foreign(path.read_text(encoding="utf-8"), own) == []
        assert f"{own}mark" in path.read_text(encoding="utf-8")


def test_the_best_share_of_a_bad_label_is_the_lowest(track: Track) -> None:
    organiser = track.client(NAMES["olga"][0])
    sent = {"key": "othersmark-ann", "missing": "zero"}
    assert organiser.post("/api/results/published", json=sent).status_code == 201
    overall = track.client(NAMES["nina"][0]).get("/api/organisation-results").json()["result"]["tables"][0]
    # By hand, of 4: correct 2, 0, 3, 0; partly 1, 1, 0, 0; incorrect 1, 2, 0, 3 (an empty answer has no label).
    rows = {row[0]: row[1:] for row in overall["rows"]}
    assert rows["correct"] == pytest.approx([0.5, 0.25, 0.75])
    assert rows["incorrect"] == pytest.approx([0.25, 0.375, 0.0])
    assert (rows["partly"][:2], rows["partly"][2]) == (pytest.approx([0.25, 0.125]), None)
    assert any("neither more nor less is better for partly" in note for note in overall["notes"])
