"""Judging lists: by keyboard, with classes of equal answers that are chosen, made, renamed and merged."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

Make = Callable[..., Any]
LINES = ".list-side [role=option]"
CHOOSER = ".chooser input"


@pytest.fixture
def ada(make_evaluation: Make, serve: Make, visit: Make) -> tuple[Any, Callable[..., Page]]:
    """One list question assigned to Ada: the evaluation, and a way to open its first list."""
    evaluation = make_evaluation("series", "1.6")
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)

    def sit_down(**options: Any) -> Page:
        page: Page = visit(server, evaluation, "Ada", **options)
        page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
        expect(page.locator(LINES).first).to_be_visible()
        expect(page.locator(".class-list li")).not_to_have_count(0)
        return page

    return evaluation, sit_down


def current(page: Page) -> str:
    """The string of the current element, once the screen shows it."""
    line = page.locator(f"{LINES}.current .line-text").first.text_content()
    expect(page.locator(".answer-string")).to_have_text(str(line))
    return str(line)


def open_list(page: Page, size: int) -> None:
    """Go to a list with at least this many elements."""
    while page.locator(LINES).count() < size:
        before = page.locator("#position").text_content()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#position")).not_to_have_text(str(before))


def focused_on_list(page: Page) -> bool:
    """Whether the focus is on the list of elements."""
    return bool(page.evaluate("document.activeElement.matches('.list-side [role=listbox]')"))


def test_one_key_judges_an_element_and_goes_on_to_the_next(ada: Any, saved: Make, accessible: Make) -> None:
    evaluation, sit_down = ada
    page = sit_down()
    open_list(page, 3)
    accessible(page)
    shown = []
    for key in "12":
        shown.append(current(page))
        page.keyboard.press(key)
        assert focused_on_list(page)
    page.keyboard.press("ArrowUp")
    assert current(page) == shown[1]
    expect(page.locator(".decision[aria-pressed=true]")).to_have_attribute("data-label", "U")
    saved(page)
    assert [(row["text"], row["judgment"]) for row in evaluation.rows("first")] == list(zip(shown, "WU", strict=True))


def test_a_correct_element_gets_the_class_that_is_offered_or_another(ada: Any, saved: Make, accessible: Make) -> None:
    evaluation, sit_down = ada
    page = sit_down()
    open_list(page, 3)
    texts = [text.strip() for text in page.locator(f"{LINES} .line-text").all_text_contents()]
    known = page.locator(".class-list bdi").all_text_contents()
    at = next((index for index, text in enumerate(texts) if text in known), None)
    for _ in range(at or 0):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("4")
    expect(page.locator(CHOOSER)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(CHOOSER)).to_have_count(0)
    assert focused_on_list(page)
    assert evaluation.rows("first") == []
    page.keyboard.press("4")
    accessible(page)
    chosen = page.locator(".chooser [role=option].current bdi").text_content()
    assert chosen == (texts[at] if at is not None else current(page))
    # Typing is typing: no shortcut is heard, and a name that is not known is a new class.
    page.keyboard.type("A new name 123?")
    expect(page.locator(".chooser [role=option].current")).to_contain_text("New answer")
    page.keyboard.press("Enter")
    expect(page.locator(".class-list")).to_contain_text("A new name 123?")
    assert focused_on_list(page)
    page.keyboard.press("4")
    page.keyboard.type("new na")
    expect(page.locator(".chooser [role=option]")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    saved(page)
    assert [(row["judgment"], row["answer"]) for row in evaluation.rows("first")] == [("R", "A new name 123?")] * 2


def test_two_answers_are_merged_everywhere_and_taken_apart_again(ada: Any, saved: Make, accessible: Make) -> None:
    evaluation, sit_down = ada
    page = sit_down()
    open_list(page, 3)
    for name in ("one", "two"):
        page.keyboard.press("4")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
    page.keyboard.press("c")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("“one”")
    accessible(page)
    page.keyboard.type("two")
    expect(page.locator("dialog [role=option].current")).to_contain_text("Merge into")
    page.keyboard.press("Enter")
    expect(page.locator(".class-list button")).to_have_count(1)
    expect(page.locator(".list-side .line-class")).to_have_count(2)
    assert [row["answer"] for row in evaluation.rows("first")] == ["two", "two"]
    page.keyboard.press("z")
    expect(page.locator(".class-list button")).to_have_count(2)
    assert sorted(row["answer"] for row in evaluation.rows("first")) == ["one", "two"]
    page.keyboard.press("z")
    expect(page.locator(".class-list button")).to_have_count(1)
    saved(page)
    assert [row["answer"] for row in evaluation.rows("first")] == ["one"]


def test_a_finished_list_leads_to_the_next_one(ada: Any) -> None:
    _, sit_down = ada
    page = sit_down()
    expect(page.locator("#position")).to_have_text(re.compile("Item 1 of"))
    elements = page.locator(LINES).count()
    total = int(re.search(r"of (\d+) decisions", page.locator("#progress-text").inner_text())[1])  # type: ignore[index]
    assert total > elements
    for made in range(elements):
        expect(page.locator("#progress-text")).to_have_text(f"{made} of {total} decisions")
        page.keyboard.press("2")
    expect(page.locator("#position")).to_have_text(re.compile("Item 2 of"))
    expect(page.locator("#progress-text")).to_have_text(f"{elements} of {total} decisions")
    page.keyboard.press("z")  # one decision, not the list
    expect(page.locator("#progress-text")).to_have_text(f"{elements - 1} of {total} decisions")
    page.keyboard.press("2")
    expect(page.locator("#position")).to_have_text(re.compile("Item 2 of"))
    page.wait_for_function("document.activeElement.matches('.list-side [role=listbox]')")


def test_it_fits_a_phone(ada: Any, accessible: Make) -> None:
    _, sit_down = ada
    for theme in ("light", "dark"):
        page = sit_down(viewport={"width": 360, "height": 740}, color_scheme=theme)
        page.keyboard.press("4")
        accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_document_is_beside_and_no_run_is_named(ada: Any) -> None:
    evaluation, sit_down = ada
    page = sit_down()
    expect(page.locator(".document-text mark").first).to_have_text(current(page))
    tags = {path.stem for path in (evaluation.folder / "runs").iterdir()}
    text = page.content()
    assert not [tag for tag in tags if re.search(rf"\b{tag}\b", text)]
