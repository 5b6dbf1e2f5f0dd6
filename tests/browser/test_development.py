"""Question development in a browser: a series written by keyboard, an answer taken from a document, published."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from qassay.demo import demo_folder
from qassay.evaluation import open_evaluation

Make = Callable[..., Any]


@pytest.fixture
def olga(make_evaluation: Make, serve: Make, visit: Make) -> tuple[Any, Any, Callable[..., Page]]:
    """The evaluation, the server, and a way to open a page as the organiser."""
    evaluation = make_evaluation("series", "1")
    with (evaluation.folder / "qassay.toml").open("a") as file:
        file.write("\n[track]\nauthors = true\n")
    server = serve(evaluation.folder)

    def go(path: str, name: str = "Olga", **options: Any) -> Page:
        page: Page = visit(server, evaluation, name, **options)
        page.goto(server.url + path)
        return page

    return evaluation, server, go


def begin(page: Page, target: str) -> None:
    field = page.get_by_label("Target", exact=True).first
    if not field.is_visible():  # it is open where there is no question yet
        page.get_by_text("Begin a series").first.click()
    field.fill(target)
    page.get_by_role("button", name="Begin the series").click()
    expect(page.get_by_role("heading", name=target)).to_be_visible()


def test_an_author_writes_a_series_and_the_organiser_publishes_it(olga: Any, accessible: Make) -> None:
    """The author has no way to publish, and what others wrote is not on their page."""
    evaluation, _, go = olga
    page = go("/", "Ada")
    page.get_by_role("link", name="Questions").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("What else is there to know?")).to_have_count(0)
    accessible(page)
    begin(page, "Hudson Bay Company")
    series = page.locator(".series").first
    series.get_by_text("Add a question").click()
    series.get_by_label("Question", exact=True).fill("Was it founded in London?")
    page.keyboard.press("Enter")
    # The field is there again at once, for the next question.
    field = page.locator(".series").first.get_by_label("Question", exact=True)
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    page.keyboard.type("Where was its office?")
    page.keyboard.press("Enter")
    texts = page.locator(".series").first.locator(".question-text")
    expect(texts).to_have_text(["Was it founded in London?", "Where was its office?", "What else is there to know?"])
    page.get_by_role("button", name="Move 2.2 up").click()
    expect(texts).to_have_text(["Where was its office?", "Was it founded in London?", "What else is there to know?"])
    expect(page.get_by_role("button", name="Move 2.1 up")).to_be_focused()
    accessible(page)
    expect(page.get_by_role("button", name="Publish")).to_have_count(0)
    expect(page.get_by_role("checkbox", name="Choose series 2")).to_have_count(0)
    page = go("/development")
    page.get_by_role("checkbox", name="Choose series 2").check()
    page.get_by_role("button", name="Publish 3 questions").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("do not answer them")
    dialog.get_by_role("button", name="Publish").click()
    expect(page.locator("#told")).to_have_text("3 questions published: 2.1, 2.2, 2.3.")
    expect(page.get_by_text("10 questions in the test set, 0 drafts.")).to_be_visible()
    published = open_evaluation(evaluation.folder, store=evaluation.store).questions
    authors = {question.author for question in published if question.series == "2"}
    assert authors == {"Ada"}


def test_an_answer_is_selected_in_a_document_by_keyboard(olga: Any, accessible: Make) -> None:
    _, _, go = olga
    page = go("/development")
    begin(page, "Pierre Curie")
    series = page.locator(".series").first
    series.get_by_text("Add a question").click()
    series.get_by_label("Question", exact=True).fill("Where was Pierre Curie born?")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Where was Pierre Curie born?").click()
    accessible(page)
    page.get_by_role("button", name="Search the documents").click()
    expect(page.locator(".hit mark").first).to_be_visible()
    accessible(page)
    page.get_by_role("link", name="Pierre Curie").first.click()
    accessible(page)
    text = page.locator("#document-text")
    before = text.text_content()
    text.focus()
    page.keyboard.press("Control+Home")
    for _ in range(len("Pierre Curie was born in ")):
        page.keyboard.press("ArrowRight")
    for _ in "Paris":
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.type("xyz")  # nothing in the document can change
    assert text.text_content() == before
    page.keyboard.press("Enter")
    expect(page.get_by_label("Answer", exact=True)).to_have_value("Paris")
    expect(page.get_by_label("Answer", exact=True)).to_be_focused()
    page.get_by_role("button", name="Add the answer").click()
    expect(page.locator("#done")).to_contain_text("Added: Paris")
    page.get_by_role("link", name="To the question").click()
    expect(page.locator(".answer-list")).to_contain_text("Paris")
    expect(page.locator(".answer-list")).to_contain_text("demo-curie-5")


def test_an_answer_is_selected_with_the_mouse_for_a_new_question(olga: Any) -> None:
    _, server, go = olga
    page = go("/development")
    begin(page, "Pierre Curie")
    page.goto(f"{server.url}/development/document?id=demo-curie-5&find=physician")
    mark = page.locator("#document-text mark").first
    mark.dblclick()
    expect(page.get_by_label("Answer", exact=True)).to_have_value("physician")
    page.get_by_label("Of the question").select_option(label="A new question")
    page.get_by_label("Question", exact=True).fill("What was his father?")
    page.get_by_role("button", name="Add the answer").click()
    page.get_by_role("link", name="To the question").click()
    expect(page.get_by_label("Question", exact=True)).to_have_value("What was his father?")
    expect(page.locator(".answer-list")).to_contain_text("physician")


def test_a_known_answer_is_withdrawn_with_a_reason(olga: Any, accessible: Make) -> None:
    _, _, go = olga
    page = go("/development/question?id=1.1")
    page.get_by_role("button", name="Withdraw the answer").first.click()
    accessible(page)
    page.get_by_label("Reason").fill("the document is a copy")
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.locator(".answer-list")).to_contain_text("the document is a copy")
    page.get_by_role("button", name="Restore").click()
    expect(page.locator(".answer-list")).not_to_contain_text("withdrawn")


def test_changes_by_somebody_else_are_not_overwritten(olga: Any) -> None:
    _, _, go = olga
    page = go("/development/question?id=1.1", expected=("409",))
    other = page.context.new_page()
    other.goto(page.url)
    for tab, text in ((page, "Where was she born?"), (other, "Born where?")):
        tab.get_by_label("Question", exact=True).fill(text)
        expect(tab.locator("#save-state")).to_have_text("Not saved")
        tab.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.locator("#save-state")).to_have_text("Saved")
    expect(other.locator("form .notice.error")).to_contain_text("It reads now: Where was she born?")
    expect(other.get_by_label("Question", exact=True)).to_have_value("Born where?")


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_it_fits_a_phone(olga: Any, accessible: Make, scheme: str) -> None:
    _, server, go = olga
    page = go("/development", viewport={"width": 360, "height": 740}, color_scheme=scheme)
    begin(page, "W" * 90)
    addresses = ["/development", "/development/question?id=1.1", "/development/question?id=1.7"]
    addresses += ["/development/search?q=curie", "/development/document?id=demo-curie-5&find=Paris"]
    for address in addresses:
        page.goto(server.url + address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
        accessible(page)


def test_a_passage_for_a_question_judged_by_nuggets_becomes_a_nugget(olga: Any, accessible: Make) -> None:
    _, _, go = olga
    page = go("/development/document?id=demo-curie-5&find=physician&question=1.7")
    page.locator("#document-text mark").first.dblclick()
    expect(page.get_by_role("heading", name="Add a nugget")).to_be_visible()
    expect(page.get_by_label("Nugget", exact=True)).to_have_value("physician")
    page.get_by_label("vital").check()
    accessible(page)
    page.get_by_role("button", name="Add the nugget").click()
    expect(page.locator("#done")).to_contain_text("Added as a nugget: physician")
    page.get_by_role("link", name="To the question").click()
    expect(page.locator(".nugget").filter(has=page.locator("[value=physician]")).get_by_label("vital")).to_be_checked()
    expect(page.locator(".found-at")).to_have_text("Pierre Curie demo-curie-5")
    expect(page.get_by_role("heading", name="Known answers")).to_have_count(0)
    accessible(page)


def test_a_passage_with_turned_text_is_marked_and_taken_as_it_is_written(
    make_evaluation: Make, serve: Make, visit: Make, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(demo_folder("series"), tmp_path / "series"))
    text = "abc \u202etxt.exe\u202c and more"
    row = {"id": "turned", "title": "Turned", "text": text}
    (folder / "collection" / "turned.jsonl").write_text(json.dumps(row) + "\n")
    evaluation = make_evaluation(folder, "1")
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Olga")
    page.goto(f"{server.url}/development/document?id=turned&find=more")
    document = page.locator("#document-text")
    marks = document.locator(".control")
    expect(marks).to_have_count(2)
    assert [mark.evaluate("e => getComputedStyle(e, '::before').content") for mark in marks.all()] == [
        '"U+202E"',
        '"U+202C"',
    ]
    document.press("Control+a")
    document.press("Enter")
    expect(page.locator("#answer")).to_have_value(text)
