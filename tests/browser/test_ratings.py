"""Entailment, justifications, nugget support and holistic scores: each screen by keyboard, from start to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

Make = Callable[..., Any]


def _press(page: Page, keys: str) -> None:
    """Press keys one after the other; each waits until the one before has shown."""
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(120)


def _note(page: Page, text: str) -> None:
    """Write a note by its key; Escape leaves the field, and the keys decide again."""
    page.keyboard.press("m")
    expect(page.locator("#note")).to_be_focused()
    page.locator("#note").fill(text)
    page.keyboard.press("Escape")
    expect(page.locator("#note")).not_to_be_focused()


def test_justifications_ask_correctness_from_three_up(
    make_evaluation: Make, serve: Make, visit: Make, saved: Make, accessible: Make
) -> None:
    evaluation = make_evaluation("entailment", "3")
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Ada")
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    expect(page.get_by_role("group", name="Understandability")).to_be_visible()
    expect(page.get_by_role("group", name="Correctness").get_by_role("button").first).to_be_disabled()
    accessible(page)
    _press(page, "2" + "5")
    _note(page, "written between the two scores")
    page.reload()  # what is not decided yet waits in the browser
    expect(page.locator("#note")).to_have_value("written between the two scores")
    _press(page, "4z")  # the first score alone
    expect(page.get_by_role("group", name="Understandability (keys go here)")).to_be_visible()
    expect(page.locator("#position")).to_have_text("Item 2 of 3")
    _press(page, "53" + "34")
    expect(page.locator(".notice-done")).to_be_visible()
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    expect(page.locator("#position")).to_have_text("Item 1 of 3")
    _note(page, "on a judged one")
    saved(page)
    rated = {(row["understandability"], row.get("correctness"), row.get("note")) for row in evaluation.rows("first")}
    assert rated == {(2, None, "on a judged one"), (5, 3, "written between the two scores"), (3, 4, None)}


def test_entailment_takes_one_key_and_goes_from_pair_to_pair(
    make_evaluation: Make, serve: Make, visit: Make, saved: Make, accessible: Make
) -> None:
    evaluation = make_evaluation("entailment", "3", "5", "6", task="entailment3")
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Ada")
    page.goto(f"{server.url}/work")
    page.get_by_role("link", name="Begin judging").click()
    expect(page.get_by_role("heading", name="Hypothesis", exact=True)).to_be_visible()
    accessible(page)
    _note(page, "a note on the pair")
    _press(page, "1")
    expect(page.locator("#question-id")).to_have_text("5")
    expect(page.locator("#last")).to_have_text(
        "Last: YES “Marie Curie shared the Nobel Prize of 1911 with her husband.”"
    )
    expect(page.locator("#note")).to_have_value("")
    _press(page, "2")
    expect(page.locator("#question-id")).to_have_text("6")
    _press(page, "3")
    expect(page.locator(".notice-done")).to_be_visible()
    saved(page)
    labels = {row["question"]: row["judgment"] for row in evaluation.rows("first")}
    assert set(labels) == {"3", "5", "6"}
    assert sorted(labels.values()) == ["NO", "UNKNOWN", "YES"]
    assert {row["question"]: row["note"] for row in evaluation.rows("first") if "note" in row} == {
        "3": "a note on the pair"
    }
    _press(page, "z")
    expect(page.locator("#question-id")).to_have_text("6")
    saved(page)
    assert {row["question"] for row in evaluation.rows("first")} == {"3", "5"}


def test_support_of_nuggets_and_citations(
    make_evaluation: Make, serve: Make, visit: Make, saved: Make, accessible: Make
) -> None:
    evaluation = make_evaluation("rag", "r1", without=("judgments",))
    evaluation.give_out("Ada", assessors=1, citations=True)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Ada")
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    expect(page.locator(".part.current")).to_be_visible()
    accessible(page)
    answers = page.locator("#position").text_content()
    assert answers == "Item 1 of 3"
    total = int(page.locator("#progress-text").inner_text().split()[2])
    _note(page, "a note on the first nugget")
    expected = 0
    for _ in range(3):
        parts = page.locator(".part").count()
        expected += parts
        for index in range(parts):
            page.keyboard.press("123"[index % 3])
            page.wait_for_timeout(60)
        page.wait_for_timeout(200)
    expect(page.locator(".notice-done")).to_be_visible()
    saved(page)
    rows = evaluation.rows("first")
    assert len(rows) == expected == total
    assert [row["note"] for row in rows if "note" in row] == ["a note on the first nugget"]
    assert {row["support"] for row in rows} == {"full", "partial", "none"}
    assert {("nugget" in row, "sentence" in row) for row in rows} == {(True, False), (False, True)}


def test_holistic_scores_come_after_the_nuggets(
    make_evaluation: Make, serve: Make, visit: Make, saved: Make, accessible: Make
) -> None:
    evaluation = make_evaluation("series", "1.7", task="definition")
    evaluation.give_out("Ada", assessors=1, holistic=True)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Ada")
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}?stage=holistic")
    expect(page.get_by_role("group", name="Content")).to_be_visible()
    accessible(page)
    count = page.locator("#position").text_content().split()[-1]
    _note(page, "a note on the response")
    _press(page, "3z")  # the first score alone
    expect(page.get_by_role("group", name="Content (keys go here)")).to_be_visible()
    expect(page.locator("#position")).to_contain_text("Item 1 of")
    for _ in range(int(count)):
        _press(page, "7t")
    saved(page)
    rows = evaluation.rows("first")
    assert [row["note"] for row in rows if "note" in row] == ["a note on the response"]
    assert {(row["content"], row["organization"]) for row in rows} == {(7, 10)}
    assert len(rows) == int(count)
