"""The completeness gate: nothing is scored while work is open, unless the organiser says so, and then all say so."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest
from sqlalchemy import delete, select, update

from qassay.demo import copy_demo, demo_folder
from qassay.evaluation import open_evaluation
from qassay.store.adjudication.settling import Settled, keep
from qassay.store.schema import assignment, current_judgment, judgment, record
from qassay.web.demonstration import prepare

PAGES = (
    *("/results", "/results/units", "/results/describe", "/results/compare", "/results/sensitivity"),
    *("/results/stability", "/results/facts"),
)


def close_all(site) -> None:
    with site.store.write() as connection:
        connection.execute(update(assignment).values(closed="2026-01-01T00:00:00.000Z", done=assignment.c.total))


@pytest.mark.parametrize("path", [*PAGES, "/results/run?run=harbor", "/results/question?question=r1"])
def test_nothing_is_scored_while_assigned_work_is_open(at_work, path: str) -> None:
    page = at_work.client("organiser").get(f"/api{path}").json()
    assert page["state"] == "closed"
    assert page["tables"] == []
    assert page["document"] == {}
    assert page["gate"]["open_decisions"] == 264
    assert page["gate"]["open_questions"] == 10
    assert {"question": "r1", "assessors": 1, "decisions": 30} in page["gate"]["open"]
    shown = at_work.client("organiser").get(path).text
    assert "There are no results while assigned work is unfinished" in shown
    assert "provisional=1" in shown


@pytest.mark.parametrize("sheet", ["leaderboard", "units", "trust", "run", "question"])
def test_no_file_either(at_work, sheet: str) -> None:
    asked = {"run": {"run": "harbor"}, "question": {"question": "r1"}}.get(sheet, {})
    sent = at_work.client("organiser").get(f"/results/{sheet}.csv", params=asked)
    assert sent.status_code == 409
    assert "264 decisions open" in sent.text


@pytest.mark.parametrize("path", PAGES)
def test_provisional_results_say_so_everywhere(at_work, path: str) -> None:
    page = at_work.page(path, provisional=1)
    assert page["state"] == "found", page["message"]
    assert page["provisional"] == "264 decisions open"
    assert page["document"]["provisional"] == "264 decisions open"
    assert all(table["provisional"] == "264 decisions open" for table in page["tables"])
    shown = at_work.html(path, provisional=1)
    captions = re.findall(r"<caption><span>.*?</caption>", shown, re.DOTALL)
    assert len(captions) == len(page["tables"]) > 0
    assert all("provisional: 264 decisions open" in caption for caption in captions)
    assert "Provisional: 264 decisions open" in shown
    assert '<option value="wrong" selected>count as wrong' in shown  # what is done, not what was asked for
    sent = at_work.client("organiser").get(page["tables"][-1]["csv"])
    rows = list(csv.DictReader(io.StringIO(sent.text)))
    assert all(row["provisional"] == "264 decisions open" for row in rows)


def test_done_work_is_scored_and_says_nothing(rag) -> None:
    rag.give_out()
    close_all(rag)
    page = rag.page("/results")
    assert (page["state"], page["provisional"]) == ("found", None)
    assert "provisional" not in page["document"]
    # Asked for provisionally, what is complete is not provisional.
    page = rag.page("/results", provisional=1)
    assert page["provisional"] is None


def test_work_is_open_though_no_item_is_left(rag) -> None:
    """Whoever has to say that a nugget list is finished has judged everything and is not done."""
    rag.give_out()
    with rag.store.write() as connection:
        connection.execute(update(assignment).values(done=assignment.c.total))
    page = rag.client("organiser").get("/api/results").json()
    assert (page["state"], page["gate"]["open_decisions"]) == ("closed", 0)


def test_questions_that_were_forgotten_are_named(rag) -> None:
    """TREC 2004 lost series 7 so."""
    rag.give_out()
    close_all(rag)
    with rag.store.write() as connection:
        connection.execute(delete(assignment).where(assignment.c.question == "r7"))
        connection.execute(delete(current_judgment).where(current_judgment.c.question == "r7"))
        connection.execute(delete(judgment).where(judgment.c.question == "r7"))
    page = rag.page("/results")
    assert page["gate"]["unassigned"] == ["r7"]
    assert page["gate"]["unjudged"] == ["r7"]
    assert not page["gate"]["is_open"]
    # And it is not counted as wrong behind anybody's back.
    assert page["state"] == "refused"
    assert "not judged in the set adjudicated" in page["message"]
    assert page["message"].endswith("judge them, or choose how unjudged items count")
    assert page["problems"][0]["rule"] == "unjudged"
    shown = rag.html("/results")
    assert "--unjudged" not in shown
    assert "Never judged by anybody" in shown
    assert "/assignments?find=r7" in shown
    page = rag.page("/results", unjudged="wrong")
    assert page["state"] == "found"
    (note,) = [note for note in page["tables"][0]["notes"] if "Unjudged" in note]
    assert note.endswith("counted as wrong (“Unjudged items”).")


def test_runs_that_came_after_the_pool_are_named(rag) -> None:
    organiser = rag.client("organiser")
    assert rag.page("/results")["pool"] == ""
    organiser.post("/api/assignments/pool", json={})
    rag.app.state.site.memory["job pool"].ended.wait(20)
    assert rag.page("/results")["pool"] == ""
    late = (rag.folder / "runs" / "harbor.jsonl").read_text().replace('"harbor"', '"late"').encode()
    assert organiser.post("/api/runs", files=[("files", ("late.jsonl", late))]).json()["files"][0]["tag"] == "late"
    page = rag.html("/results")
    assert "The pool is older than run late: what came later is not judged." in page
    assert '<a href="/assignments">Rebuild the pool</a>' in page


def test_disagreements_that_wait_for_an_adjudicator_are_named(rag) -> None:
    rag.give_out()
    close_all(rag)
    with rag.store.write() as connection:
        keep(connection, "r3", Settled(unanimous=20, disagreements=4, left=2))
        keep(connection, "r4", Settled(unanimous=20, disagreements=4, left=0))
    page = rag.page("/results")
    assert (page["gate"]["unruled"], page["gate"]["unruled_questions"]) == (["r3"], 1)
    assert "/adjudication/question?id=r3" in rag.html("/results")


# ---- while people judge ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def half_way(tmp_path_factory, serve):
    """The demonstration: twelve series finished and published, two to adjudicate, two to judge, a program."""
    folder = tmp_path_factory.mktemp("half-way") / "demo"
    copy_demo(folder)
    prepare(folder)
    return serve(folder)


@pytest.mark.parametrize("path", [*PAGES, "/results/agree", "/results/people", "/results/trust", "/results/run"])
def test_no_page_of_the_demonstration_is_locked_or_fails(half_way, path: str) -> None:
    page = half_way.page(path, **({"run": "hobby"} if path == "/results/run" else {}))
    assert page["state"] == "found", page["message"]
    assert page["tables"] or path == "/results/people"  # the judgments of the demonstration name nobody
    assert page["provisional"] in ("90 of 109 questions finished", "436 decisions open")
    assert path in ("/results/facts", "/results/people") or page["figures"]
    assert page["answer"].endswith(".")


def test_questions_that_are_not_finished_are_left_out_with_their_series(half_way) -> None:
    page = half_way.page("/results")
    left = next(table for table in page["tables"] if table["name"] == "left-out")
    assert [row[0] for row in left["rows"]] == ["13", "14", "15", "16"]
    assert len(page["document"]["units"]) == 12
    # The same as the whole evaluation without these series.
    whole = open_evaluation(demo_folder())
    drop = dict.fromkeys(("13", "14", "15", "16"), "not finished")
    part = replace(whole, configuration=replace(whole.configuration, drop=drop))
    assert page["document"]["matrix"] == part.score().as_json()["matrix"]
    sheet = half_way.client("organiser").get("/results/units.csv")
    assert "90 of 109 questions finished" in sheet.text
    assert len(sheet.text.splitlines()) == 13


def test_early_results_can_be_hidden_and_are_recorded(half_way) -> None:
    organiser = half_way.client("organiser")
    assert organiser.delete("/api/results/early").json() == {"shown": False}
    try:
        page = organiser.get("/api/results/units").json()
        assert (page["state"], page["finished"]) == ("closed", 90)
        shown = organiser.get("/results/units").text
        assert "finished=1" in shown
        assert half_way.page("/results/units", finished=1)["state"] == "found"
        assert half_way.page("/results/agree")["state"] == "found", "agreement is open while judging goes on"
        sent = organiser.post("/api/results/published", json={"title": "too early"})
        assert sent.status_code == 409
    finally:
        assert organiser.post("/api/results/early").json() == {"shown": True}
    with half_way.store.read() as connection:
        actions = connection.execute(select(record.c.action).where(record.c.action == "show-results-early")).all()
    assert len(actions) == 2
    for role in ("assessor", "adjudicator", "reader"):
        assert half_way.client(role).post("/api/results/early").status_code == 403


def test_results_of_finished_questions_are_published_as_provisional(half_way) -> None:
    organiser = half_way.client("organiser")
    half_way.page("/results")
    sent = organiser.post("/api/results/published", json={"title": "So far", "finished": True, "component": "list"})
    assert sent.status_code == 201, sent.text
    assert sent.json()["provisional"] == "90 of 109 questions finished"
    page = organiser.get(f"/results/published/{sent.json()['id']}").text
    assert "provisional: 90 of 109 questions finished" in page
    assert 'id="figure-leaderboard"' in page
    assert organiser.delete(f"/api/results/published/{sent.json()['id']}").status_code == 200


def test_where_nothing_is_finished_the_page_says_what_is_open(at_work) -> None:
    page = at_work.client("organiser").get("/api/results", params={"finished": 1}).json()
    assert (page["state"], page["finished"], page["early"]) == ("closed", 0, None)


def test_agreement_is_open_while_judging_goes_on(at_work) -> None:
    page = at_work.page("/results/agree")
    assert (page["state"], page["provisional"]) == ("found", "264 decisions open")
    assert "Judging goes on: 264 decisions open." in at_work.html("/results/agree")
    assert "264 decisions open" in at_work.client("organiser").get(page["tables"][0]["csv"]).text


def test_published_results_come_before_open_ones(half_way) -> None:
    organiser = half_way.client("organiser")
    assert organiser.delete("/api/results/early").status_code == 200
    try:
        page = organiser.get("/results").text
        assert page.index("The first 12 series") < page.index("still to be made") < page.index("finished=1")
    finally:
        assert organiser.post("/api/results/early").status_code == 200
