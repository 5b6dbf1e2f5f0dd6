"""Judging on a phone without a keyboard: what is needed first comes first, and every deed has its button."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from qassay.demo import demo_folder
from qassay.store.people import add_account

Make = Callable[..., Any]
PHONE = {"width": 360, "height": 740}


def top(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return float(box["y"])


@pytest.fixture
def open_question(make_evaluation: Make, serve: Make, visit: Make) -> Callable[..., Page]:
    """`open_question("1.1")`: that question on Ada's phone."""

    def go(question: str, stage: str = "", ready: str = ".answer-string") -> Page:
        evaluation = make_evaluation("series", question)
        evaluation.give_out("Ada", assessors=1)
        server = serve(evaluation.folder)
        page: Page = visit(server, evaluation, "Ada", viewport=PHONE, has_touch=True)
        page.goto(f"{server.url}/judge/{evaluation.first('Ada')}{stage}")
        expect(page.locator(ready).first).to_be_visible()
        return page

    return go


def test_the_document_comes_before_the_note(open_question: Make) -> None:
    page = open_question("1.1")
    expect(page.locator(".document-text mark").first).to_be_attached()
    assert top(page, ".decisions") < top(page, ".document") < top(page, "#note") < top(page, ".near")
    asked = page.locator(".judge-asked")
    expect(asked).to_be_hidden()
    page.locator("#note").scroll_into_view_if_needed()
    page.locator(".near").scroll_into_view_if_needed()
    expect(asked).to_have_text(page.locator("#question-text").inner_text())
    expect(asked).to_be_in_viewport()
    page.evaluate("scrollTo(0, 0)")
    expect(asked).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 900})
    assert top(page, ".document") < top(page, ".decisions") < top(page, "#note")


def test_items_are_walked_through_and_undone_by_hand(open_question: Make, saved: Make) -> None:
    page = open_question("1.1")
    place, before, following = (page.locator(f"#{name}") for name in ("position", "move-previous", "move-next"))
    expect(before).to_be_disabled()
    following.tap()
    expect(place).to_have_text("Item 2 of 5")
    before.tap()
    expect(place).to_have_text("Item 1 of 5")
    page.get_by_role("button", name="Incorrect").tap()
    expect(place).to_have_text("Item 2 of 5")
    page.get_by_role("button", name="Undo").tap()
    expect(place).to_have_text("Item 1 of 5")
    expect(page.locator("[aria-pressed=true].decision")).to_have_count(0)
    saved(page)


def test_a_nugget_is_made_of_a_string_and_undone_by_hand(open_question: Make) -> None:
    page = open_question("1.7", "?stage=nuggets", "[role=option]")
    chosen = page.get_by_role("listbox", name="Strings of all responses").get_by_role("option").first
    chosen.tap()
    page.get_by_role("button", name="Make a nugget").tap()
    expect(page.get_by_label("New nugget")).to_have_value(str(chosen.text_content()))
    page.get_by_role("button", name="Add", exact=True).tap()
    nuggets = page.get_by_role("listbox", name="Nuggets").get_by_role("option")
    expect(nuggets).to_have_count(1)
    page.get_by_role("button", name="Undo").tap()
    expect(nuggets).to_have_count(0)


def test_the_rules_stand_open_until_they_are_folded(open_question: Make) -> None:
    page = open_question("1.1")
    rules = page.locator("details.rules")
    expect(rules).to_have_attribute("open", "")
    rules.locator("summary").tap()
    expect(rules).not_to_have_attribute("open", "")
    page.reload()
    expect(page.locator(".answer-string")).to_be_visible()
    expect(rules).not_to_have_attribute("open", "")


def test_questions_are_listed_on_lines_and_not_in_narrow_columns(open_question: Make, accessible: Make) -> None:
    page = open_question("1.1")
    page.get_by_role("link", name="Your work").tap()
    asks = page.locator(".asks").first
    expect(asks).to_contain_text("Marie Curie")
    box = asks.bounding_box()
    assert box is not None
    assert box["width"] > 250
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    accessible(page)


# Controls that are lower or narrower than a finger needs; a link within a sentence has the height of its line.
SMALL = """() => [...document.querySelectorAll("a, button, select, summary, input:not([type=hidden])")]
  .filter((control) => {
    const { width, height } = (control.closest("label") ?? control).getBoundingClientRect();
    const inText = control.matches("a") && control.closest("p, li, dd, caption, h2");
    const unseen = inText || control.matches(".visually-hidden, .skip");
    return width > 2 && height > 0 && Math.min(width, height) < 24 && !unseen;
  })
  .map((control) => control.outerHTML.slice(0, 90))"""
LONG = "Donaudampfschifffahrt" * 12


def test_controls_are_large_enough_for_a_finger(make_evaluation: Make, serve: Make, visit: Make) -> None:
    evaluation = make_evaluation("series", "1.1", "1.6", without=())
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)
    pages = {
        "Ada": ["/work", f"/judge/{evaluation.first('Ada')}", "/account"],
        "Olga": ["/", "/people", "/assignments", "/history", "/development", "/results?provisional=1"],
        "Cleo": ["/adjudication"],
    }
    for name, paths in pages.items():
        page: Page = visit(server, evaluation, name, viewport=PHONE, has_touch=True)
        if name == "Olga":
            sent = {"target": "Comets", "target_type": "thing"}
            page.request.post(f"{server.url}/api/development/series", data=sent, headers={"Origin": server.url})
        for path in paths:
            page.goto(f"{server.url}{path}")
            page.wait_for_load_state("networkidle")
            assert page.evaluate(SMALL) == [], path


def test_long_words_stay_on_the_page(make_evaluation: Make, serve: Make, visit: Make, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(demo_folder("series"), tmp_path / "series"))
    known = {"question": "1.1", "answer": LONG, "doc": "demo-curie-1"}
    (folder / "answers.jsonl").write_text(json.dumps(known) + "\n")
    for run in (folder / "runs").iterdir():
        lines = [line for line in run.read_text().splitlines() if not line.startswith("1.1 ")]
        run.write_text("\n".join([f"1.1 {run.stem} demo-curie-1 {LONG}", *lines]) + "\n")
    evaluation = make_evaluation(folder, "1.1")
    evaluation.give_out("Ada", assessors=1)
    with evaluation.store.write() as connection:
        add_account(connection, "Bartholomew " + "B" * 48, "organiser")
    server = serve(evaluation.folder)
    page: Page = visit(server, evaluation, "Olga", viewport=PHONE)
    for path, ready in (("/people", "[data-of=Since]"), ("/development/question?id=1.1", ".answer-list li")):
        page.goto(f"{server.url}{path}")
        expect(page.locator(ready).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        for region in page.locator(".scroll").all():
            assert region.evaluate("e => e.scrollWidth <= e.clientWidth"), path
    page = visit(server, evaluation, "Ada", viewport=PHONE)
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    expect(page.locator(".answer-string")).to_have_text(LONG)
    page.keyboard.press("1")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("is a known answer")
    assert dialog.evaluate("e => e.scrollWidth <= e.clientWidth")
