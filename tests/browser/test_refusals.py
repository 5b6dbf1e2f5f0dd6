"""What outlives a page of judging: decisions that were refused, and those that can still be undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Route, expect

from acting import act
from qassay.store.assignment.assignments import reassign

Make = Callable[..., Any]


def test_a_refused_decision_is_reported_until_it_is_seen(ada: Any, saved: Make, accessible: Make) -> None:
    _, server, sit_down = ada
    page = sit_down(expected=("423", "401"))
    answer = {"status": 423, "json": {"message": "an adjudicator has ruled"}}
    page.route("**/decisions", lambda route: route.fulfill(**answer), times=1)
    page.keyboard.press("1")
    refusals = page.locator("#refusals")
    expect(refusals).to_contain_text("Not saved, question 1.1: an adjudicator has ruled")
    expect(page.locator("#save-state")).to_have_text("Not everything was saved: see above.")
    expect(page.locator("#announcements")).to_have_count(0)
    page.goto(f"{server.url}/work")
    page.get_by_role("link", name="1.2").click()
    expect(refusals.get_by_role("link", name="question 1.1")).to_be_visible()
    accessible(page)
    refusals.get_by_role("button", name="Understood").click()
    expect(refusals).to_have_count(0)
    saved(page)
    page.reload()
    saved(page)
    expect(refusals).to_have_count(0)
    page.route("**/decisions", lambda route: route.fulfill(status=401, json={"message": "sign in first"}), times=1)
    expect(page.locator(".answer-string")).to_be_visible()
    page.keyboard.press("2")
    expect(page.locator("#save-state").get_by_role("link", name="Sign in again")).to_be_visible()
    saved(page)


def test_a_question_that_changes_hands_is_left(ada: Any, accessible: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down(expected=("404",))
    with evaluation.store.write() as connection:
        reassign(act(connection), evaluation.first("Ada"), evaluation.account["Ben"])
    page.keyboard.press("2")
    expect(page.locator("#question-id")).to_have_text("1.2")
    expect(page.locator("#notified")).to_have_text("Question 1.1 is not assigned to you any more.")
    expect(page.locator("#refusals")).to_contain_text("Not saved, question 1.1: this is not assigned to you")
    accessible(page)
    assert evaluation.rows("first") == []
    page.keyboard.press("2")
    expect(page.locator("#position")).to_have_text("Item 2 of 4")


def _locked(page: str) -> str:
    return page.replace('"locked":false', '"locked":true').replace('"locked": false', '"locked": true')


def test_a_question_that_was_ruled_on_is_shown_locked(ada: Any) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    expect(page.locator("#locked")).to_be_hidden()
    page.route("**/judge/*", lambda route: route.fulfill(body=_locked(route.fetch().text()), content_type="text/html"))
    page.reload()
    expect(page.locator(".answer-string")).to_be_visible()
    expect(page.locator("#locked")).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator("#notified")).to_have_text("Not saved: this question is locked.")
    expect(page.locator("#position")).to_have_text("Item 1 of 5")
    assert evaluation.rows("first") == []


def test_a_decision_is_undone_after_another_page(ada: Any, saved: Make) -> None:
    evaluation, server, sit_down = ada
    page = sit_down()
    page.keyboard.press("z")
    expect(page.locator("#notified")).to_have_text("Nothing to undo.")
    page.keyboard.press("4")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    saved(page)
    page.goto(f"{server.url}/work")
    page.get_by_role("link", name="1.2").click()
    expect(page.locator("#question-id")).to_have_text("1.2")
    expect(page.locator(".answer-string")).to_be_visible()
    page.keyboard.press("z")
    expect(page.locator("#question-id")).to_have_text("1.1")
    expect(page.locator("#position")).to_have_text("Item 1 of 5")
    saved(page)
    assert evaluation.rows("first") == []


def test_a_decision_on_another_screen_is_undone_there(
    make_evaluation: Make, serve: Make, visit: Make, saved: Make
) -> None:
    evaluation = make_evaluation("series", "1.1", "1.6")
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Ada")
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    waiting: list[Any] = []
    for number in range(1, 6):
        expect(page.locator("#position")).to_have_text(f"Item {number} of 5")
        if number == 5:
            saved(page)
            page.route("**/decisions", lambda route: waiting.append(route), times=1)
        page.keyboard.press("4")
    page.keyboard.press("z")  # while the page waits for the last decision to be saved before it goes on
    expect(page.locator("#notified")).to_contain_text("Undone: Correct")
    for _ in range(100):
        page.wait_for_timeout(0 if waiting else 20)
    waiting[0].continue_()
    saved(page)
    expect(page.locator("#question-id")).to_have_text("1.1")
    page.keyboard.press("4")
    expect(page.locator("#question-id")).to_have_text("1.6")
    # The page is there before its keys are.
    expect(page.locator(".list-side [role=option]").first).to_be_visible()
    page.keyboard.press("z")
    expect(page.locator("#question-id")).to_have_text("1.1")
    expect(page.locator("#position")).to_have_text("Item 5 of 5")
    saved(page)
    assert len(evaluation.rows("first")) == 4


def test_a_page_older_than_the_last_decision_shows_it_all_the_same(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    answer = str(page.locator(".answer-string").inner_text())
    held: list[Route] = []
    late: list[Route] = []
    answered: list[str] = []
    page.on("requestfinished", lambda asked: answered.append(asked.url) if asked.url.endswith("/decisions") else None)
    page.route("**/decisions", lambda route: held.append(route), times=1)
    page.keyboard.press("4")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    page.route(page.url, lambda route: late.append(route))
    page.evaluate("setTimeout(() => location.reload())")
    while not late:
        page.wait_for_timeout(20)
    made = late[0].fetch()  # before the decision arrives
    held[0].continue_()
    while not answered:
        page.wait_for_timeout(20)
    late[0].fulfill(response=made)
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    expect(page.locator("#progress-text")).to_have_text("1 of 9 decisions")
    expect(page.locator(".near li", has_text=answer).first.locator(".dot")).to_have_text("R")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".answer-string")).to_have_text(answer)
    page.keyboard.press("1")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    saved(page)
    assert [row["judgment"] for row in evaluation.rows("first")] == ["W"]
