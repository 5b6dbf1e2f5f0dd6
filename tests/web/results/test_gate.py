"""The completeness gate: nothing is scored while work is open, unless the organiser says so, and then all say so."""

from __future__ import annotations

import csv
import io
import re

import pytest
from sqlalchemy import delete, update

from qassay.store.adjudication.settling import Settled, keep
from qassay.store.schema import assignment, current_judgment, judgment

PAGES = (
    *("/results", "/results/units", "/results/spread", "/results/compare", "/results/sensitivity"),
    *("/results/stability", "/results/agreement", "/results/facts"),
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
    assert page["gate"]["open_items"] == 30
    assert page["gate"]["open_questions"] == 10
    assert {"question": "r1", "assessors": 1, "items": 3} in page["gate"]["open"]
    shown = at_work.client("organiser").get(path).text
    assert "Nothing is scored while assigned work is open" in shown
    assert "provisional=1" in shown


@pytest.mark.parametrize("sheet", ["leaderboard", "units", "agreement", "run", "question"])
def test_no_file_either(at_work, sheet: str) -> None:
    asked = {"run": {"run": "harbor"}, "question": {"question": "r1"}}.get(sheet, {})
    sent = at_work.client("organiser").get(f"/results/{sheet}.csv", params=asked)
    assert sent.status_code == 409
    assert "30 items open" in sent.text


@pytest.mark.parametrize("path", PAGES)
def test_provisional_results_say_so_everywhere(at_work, path: str) -> None:
    page = at_work.page(path, provisional=1)
    assert page["state"] == "found", page["message"]
    assert page["provisional"] == "30 items open"
    assert path == "/results/units" or page["document"]["provisional"] == "30 items open"
    assert all(table["provisional"] == "30 items open" for table in page["tables"])
    shown = at_work.html(path, provisional=1)
    captions = re.findall(r"<caption><span>.*?</caption>", shown, re.DOTALL)
    assert len(captions) == len(page["tables"]) > 0
    assert all("provisional: 30 items open" in caption for caption in captions)
    assert "Provisional: 30 items open" in shown
    assert '<option value="wrong" selected>count as wrong' in shown  # what is done, not what was asked for
    sent = at_work.client("organiser").get(page["tables"][-1]["csv"])
    rows = list(csv.DictReader(io.StringIO(sent.text)))
    assert all(row["provisional"] == "30 items open" for row in rows)


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
    assert (page["state"], page["gate"]["open_items"]) == ("closed", 0)


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
    assert "not judged in the key adjudicated" in page["message"]
    assert page["message"].endswith("judge them, or choose above how unjudged items count")
    assert page["problems"][0]["rule"] == "unjudged"
    shown = rag.html("/results")
    assert "--unjudged" not in shown
    assert "Never judged by anybody" in shown
    assert "/assignments?find=r7" in shown
    page = rag.page("/results", unjudged="wrong")
    assert page["state"] == "found"
    (note,) = [note for note in page["tables"][0]["notes"] if "Unjudged" in note]
    assert note.endswith("counted as wrong.")


def test_runs_that_came_after_the_pool_are_named(rag) -> None:
    organiser = rag.client("organiser")
    assert rag.page("/results")["pool"] == ""
    organiser.post("/api/assignments/pool", json={})
    rag.app.state.site.kept["job pool"].ended.wait(20)
    assert rag.page("/results")["pool"] == ""
    late = (rag.folder / "runs" / "harbor.jsonl").read_text().replace('"harbor"', '"late"').encode()
    assert organiser.post("/api/runs", files=[("files", ("late.jsonl", late))]).json()["files"][0]["tag"] == "late"
    page = rag.html("/results")
    assert "The pool is older than run late: what came later is not judged." in page
    assert '<a href="/assignments">Make the pool anew</a>' in page


def test_disagreements_that_wait_for_an_adjudicator_are_named(rag) -> None:
    rag.give_out()
    close_all(rag)
    with rag.store.write() as connection:
        keep(connection, "r3", Settled(unanimous=20, disagreements=4, left=2))
        keep(connection, "r4", Settled(unanimous=20, disagreements=4, left=0))
    page = rag.page("/results")
    assert (page["gate"]["unruled"], page["gate"]["unruled_questions"]) == (["r3"], 1)
    assert "/adjudication/question?id=r3" in rag.html("/results")
