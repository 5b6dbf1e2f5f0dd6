"""Who sees what: organisers all, others what is published, and whoever judges nothing while work is open."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select, update

from qassay.store.schema import assignment, record, run, setting

OTHERS = ("adjudicator", "assessor", "reader")
TAGS = ("harbor", "lantern", "meadow")


def publish(site, **choice: object):
    return site.client("organiser").post("/api/results/published", json={"title": "The results", **choice})


def test_others_see_nothing_before_something_is_published(rag) -> None:
    rag.page("/results")
    for role in OTHERS:
        sent = rag.client(role).get("/api/results")
        assert sent.json()["state"] == "published"
        assert sent.json()["published"] == []
        shown = rag.client(role).get("/results").text
        assert not any(tag in sent.text + shown for tag in TAGS)
        assert "No results are published yet" in shown


@pytest.mark.parametrize("role", OTHERS)
def test_others_get_no_result_by_any_other_way(rag, role: str) -> None:
    browser = rag.client(role)
    for path in ("units", "describe", "compare", "plan", "sensitivity", "stability", "agree"):
        for address in (f"/results/{path}", f"/api/results/{path}", f"/results/{path}.csv?provisional=1"):
            assert browser.get(address).status_code == 403, address
    for address in ("/results/run?run=harbor", "/api/results/question?question=r1", "/results/leaderboard.csv"):
        assert browser.get(address).status_code == 403
    assert browser.post("/api/results/published", json={}).status_code == 403
    assert browser.delete("/api/results/published/abc").status_code == 403
    # What an organiser may add to the address changes nothing for others.
    assert browser.get("/api/results?provisional=1&key=one").json()["tables"] == []


def test_published_results_are_seen_by_all(rag) -> None:
    result_id = publish(rag)
    assert result_id.status_code == 201, result_id.text
    number = result_id.json()["id"]
    assert (result_id.json()["key"], result_id.json()["measure"], result_id.json()["provisional"]) == (
        "adjudicated",
        "vital_strict",
        None,
    )
    board = rag.page("/results")["tables"][0]
    for role in ("organiser", *OTHERS):
        assert [result["id"] for result in rag.page("/results", role)["published"]] == [number]
        page = rag.page(f"/results/published/{number}", role)
        assert page["tables"][0]["rows"] == board["rows"]
        assert "matrix" not in page["document"]
        assert "questions" not in page["document"]
        shown = rag.client(role).get(f"/results/published/{number}").text
        assert all(tag in shown for tag in TAGS)
        sent = rag.client(role).get(page["tables"][0]["csv"])
        assert sent.text.startswith("rank,run,vital_strict")
        figure = rag.client(role).get(page["figures"][0]["files"]["svg"])
        assert all(tag in figure.text for tag in TAGS)


def test_assessors_see_nothing_while_work_is_open(rag) -> None:
    number = publish(rag).json()["id"]
    rag.give_out()
    for role in ("assessor", "adjudicator"):
        sent = rag.client(role).get("/api/results")
        assert sent.json()["published"] == []
        assert "when all assigned work is done" in sent.json()["message"]
        assert not any(tag in sent.text for tag in TAGS)
        for address in (f"/results/published/{number}", f"/api/results/published/{number}"):
            assert rag.client(role).get(address).status_code == 404
        for file in ("sheet.csv?table=leaderboard", "figure?figure=leaderboard"):
            assert rag.client(role).get(f"/results/published/{number}/{file}").status_code == 404
    assert rag.client("reader").get(f"/results/published/{number}").status_code == 200
    with rag.store.write() as connection:
        connection.execute(update(assignment).values(closed="2026-01-01T00:00:00.000Z"))
    assert rag.client("assessor").get(f"/results/published/{number}").status_code == 200


def test_later_changes_do_not_leak(rag) -> None:
    number = publish(rag).json()["id"]
    before = rag.page(f"/results/published/{number}", "reader")
    with rag.store.write() as connection:
        connection.execute(update(run).where(run.c.tag == "harbor").values(withdrawn=True))
    assert [row[1] for row in rag.page("/results", fresh=1)["tables"][0]["rows"]] == ["lantern*", "meadow*"]
    assert rag.page(f"/results/published/{number}", "reader") == before
    again = publish(rag).json()["id"]
    assert [result["id"] for result in rag.page("/results", "reader")["published"]] == [again]
    assert "harbor" not in rag.client("reader").get(f"/results/published/{again}").text
    assert rag.client("reader").get(f"/results/published/{number}").status_code == 404


def test_publishing_waits_for_open_work_unless_it_is_provisional(rag) -> None:
    rag.give_out()
    refused = publish(rag)
    assert refused.status_code == 409
    assert "264 decisions open" in refused.json()["message"]
    number = publish(rag, provisional=True)
    assert number.json()["provisional"] == "264 decisions open"
    shown = rag.client("reader").get(f"/results/published/{number.json()['id']}").text
    assert "provisional: 264 decisions open" in shown
    sheet = rag.client("reader").get(f"/results/published/{number.json()['id']}/sheet.csv?table=leaderboard").text
    assert sheet.splitlines()[0].endswith(",provisional")


def test_publishing_and_withdrawing_are_recorded(rag, demos) -> None:
    number = publish(rag, key="one", measure="vital").json()["id"]
    assert rag.client("organiser").delete(f"/api/results/published/{number}").json() == {"id": number}
    assert rag.client("organiser").delete(f"/api/results/published/{number}").status_code == 404
    with rag.store.read() as connection:
        rows = connection.execute(select(record.c.action, record.c.account, record.c.body).order_by(record.c.id)).all()
        left = connection.execute(select(setting.c.name).where(setting.c.name.like("published%"))).all()
    done = [row for row in rows if row.action in ("publish", "unpublish")]
    assert [row.action for row in done] == ["publish", "unpublish"]
    assert all(row.account == 1 for row in done)
    body = json.loads(done[0].body)
    assert (body["publication"], body["key"], body["measure"]) == (number, "one", "vital")
    assert left == []


def test_a_choice_that_cannot_be_scored_is_not_published(rag) -> None:
    refused = publish(rag, measure="accuracy")
    assert refused.status_code == 422
    assert "measure" in refused.json()["message"]
    assert publish(rag, rank="best").status_code == 422
