"""The first page: the way of an evaluation from its questions to its results, and what comes next on it."""

from __future__ import annotations

from typing import Any

from acting import act
from qassay.formats.folder import open_folder
from qassay.store.folder.importing import import_folder
from qassay.store.pool.uploads import list_runs, set_withdrawn
from qassay.web.demonstration import give_out


def steps(client: Any) -> dict[str, dict[str, str]]:
    return {step["label"]: step for step in client.get("/api/").json()["steps"]}


def following(client: Any) -> tuple[str, str]:
    (step,) = [step for step in steps(client).values() if step["state"] == "next"]
    return step["act"], step["path"]


def emptied(site: Any, *names: str) -> None:
    for name in names:
        path = site.folder / name
        for file in path.iterdir() if path.is_dir() else [path]:
            file.unlink()


def test_a_new_evaluation_begins_with_questions_and_runs(site: Any) -> None:
    emptied(site, "judgments", "nuggets", "runs", "questions.jsonl", "answers.jsonl")
    organiser = site.client("organiser")
    assert following(organiser) == ("Write questions", "/development")
    refused = organiser.post("/api/assignments/pool", json={}).json()
    name = site.app.state.site.folder.path.name
    assert refused["says"] == f"{name}: there are no questions yet; write and publish them on the page Questions"
    sent = {"target": "Halley's Comet"}
    assert organiser.post("/api/development/series", json=sent).status_code == 201
    assert steps(organiser)["Questions"]["says"] == "1 draft to publish."


def test_the_next_step_is_named_with_its_page(site: Any, accounts: dict[str, int]) -> None:
    emptied(site, "judgments", "nuggets")
    import_folder(site.store, open_folder(site.folder))
    organiser = site.client("organiser")
    assert steps(organiser)["Questions"]["says"] == "109 questions in the test set."
    with site.store.write() as connection:
        tags = [run.tag for run in list_runs(connection, limit=100)]
        for tag in tags:
            set_withdrawn(act(connection), tag, withdrawn=True, reason="late")
    assert following(organiser) == ("Add runs", "/runs")
    with site.store.write() as connection:
        set_withdrawn(act(connection), tags[0], withdrawn=False, reason="")
    assert steps(organiser)["Runs"]["says"] == "1 run."
    assert following(organiser) == ("Make the pool", "/assignments#pool")
    assert organiser.post("/api/assignments/pool", json={}).status_code == 200
    assert site.app.state.site.memory["job pool"].ended.wait(30)
    assert following(organiser) == ("Assign", "/assignments#assign")
    person = f"/api/people/{accounts['assessor']}"
    assert organiser.patch(person, json={"active": False}).status_code == 200
    assert following(organiser) == ("Invite assessors", "/people")
    assert organiser.patch(person, json={"active": True}).status_code == 200
    give_out(site.store, site.folder, [accounts["assessor"]], assessors=1)
    assert following(organiser) == ("See the progress", "/assignments#questions")
    shown_steps = steps(organiser)
    assert shown_steps["Assignment"]["says"] == "1 assessor at work."
    assert shown_steps["Judging"]["says"].startswith("0 of ")
    assert shown_steps["Results"]["state"] == "later"
    page = organiser.get("/").text
    assert 'id="next-step" href="/assignments#questions">See the progress</a>' in page
    with site.store.write() as connection:
        set_withdrawn(act(connection), tags[1], withdrawn=False, reason="")
    assert following(organiser) == ("Rebuild the pool", "/assignments#pool")


def test_judgments_that_came_with_the_evaluation_lead_to_results(site: Any) -> None:
    import_folder(site.store, open_folder(site.folder))
    organiser = site.client("organiser")
    assert steps(organiser)["Judgments"]["says"] == "Came with the evaluation: adjudicated, first, second, third."
    assert following(organiser) == ("See the results", "/results")


def test_only_organisers_see_the_way(site: Any) -> None:
    import_folder(site.store, open_folder(site.folder))
    for role in ("adjudicator", "reader"):
        assert site.client(role).get("/api/").json()["steps"] == []
    assert site.client("assessor").get("/").headers["location"] == "/work"  # their home is the work
