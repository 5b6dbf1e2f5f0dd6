"""Assignments in a browser: from the pool to finished questions that are opened again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from qassay.formats.times import now
from qassay.store.schema import assignment

Make = Callable[..., Any]


@pytest.fixture
def olga(make_evaluation: Make, serve: Make, visit: Make) -> tuple[Any, Any, Callable[..., Page]]:
    """The evaluation, the server, and a way to open the page of assignments as the organiser."""
    evaluation = make_evaluation("series", "1", "2")
    server = serve(evaluation.folder)

    def go(**options: Any) -> Page:
        page: Page = visit(server, evaluation, "Olga", **options)
        page.goto(f"{server.url}/assignments")
        return page

    return evaluation, server, go


def give_out(page: Page, assessors: int) -> None:
    page.get_by_role("button", name="Make the pool").click()
    expect(page.get_by_text("not assigned to anybody")).to_be_visible()
    page.get_by_label("Assessors per question").fill(str(assessors))
    page.get_by_role("button", name="Assign", exact=True).click()
    expect(page.locator("#told")).to_contain_text("assignments made")


def test_work_is_pooled_assigned_and_changes_hands(olga: Any, accessible: Make) -> None:
    _, _, go = olga
    page = go()
    accessible(page)
    give_out(page, 2)
    accessible(page)
    people = page.get_by_role("region", name="Progress by assessor")
    expect(people.get_by_role("row")).to_have_count(3)
    page.get_by_role("button", name="Hand over the work of Ada").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("checkbox", name="Ada")).to_be_disabled()
    accessible(page)
    dialog.get_by_role("checkbox", name="Cleo").check()
    dialog.get_by_role("button", name="Hand over").click()
    expect(page.locator("#told")).to_contain_text("questions handed over")
    expect(people).not_to_contain_text("Ada")
    expect(people).to_contain_text("Cleo")
    slot = page.locator("[data-reassign]").first
    name = "Ada"
    slot.click()
    dialog.get_by_label("To", exact=True).select_option(label=name)
    dialog.get_by_role("button", name="Give").click()
    expect(page.locator("[data-reassign]").first).to_have_text(name)
    expect(page.locator("[data-reassign]").first).to_be_focused()


def test_a_finished_question_is_opened_again(olga: Any, accessible: Make) -> None:
    evaluation, server, go = olga
    page = go()
    give_out(page, 1)
    with evaluation.store.write() as connection:
        finished = assignment.update().where(assignment.c.question == "1.1")
        connection.execute(finished.values(done=assignment.c.total, closed=now(), seconds=90))
        begun = assignment.update().where(assignment.c.question == "1.6")
        connection.execute(begun.values(done=assignment.c.total - 1, seconds=90))  # enough to tell a pace from
    page.reload()
    page.get_by_label("Show", exact=True).select_option("finished")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_text("1 question.")).to_be_visible()
    page.get_by_role("button", name="Open question 1.1 again").click()
    page.get_by_label("Reason").fill("a new rule")
    accessible(page)
    page.get_by_role("dialog").get_by_role("button", name="Reopen").click()
    expect(page.get_by_text("0 questions.")).to_be_visible()
    page.goto(f"{server.url}/assignments")
    expect(page.get_by_role("region", name="Progress by assessor")).to_contain_text(re.compile(r"\d min"))


def test_a_set_is_withdrawn(olga: Any) -> None:
    _, _, go = olga
    page = go()
    give_out(page, 2)
    page.get_by_role("button", name="withdraw").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.locator("#told")).to_contain_text("withdrawn")
    expect(page.get_by_role("region", name="Judgment sets").get_by_role("row")).to_have_count(2)


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_it_fits_a_phone(olga: Any, accessible: Make, scheme: str) -> None:
    _, _, go = olga
    page = go(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    give_out(page, 2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    accessible(page)
