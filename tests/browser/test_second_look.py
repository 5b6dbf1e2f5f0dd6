"""The screens as a person sees them: the last decision, verdicts in one row, guidelines beside, notes of rulings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import desk as desks
import pytest
from playwright.sync_api import Page, expect

from qassay.demo import demo_folder
from qassay.evaluation import open_evaluation
from qassay.store.acts import Assessor

Make = Callable[..., Any]
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 780}


@pytest.fixture
def open_work(make_evaluation: Make, serve: Make, visit: Make) -> Callable[..., tuple[Any, Page]]:
    """`open_work(demo, question, stage=..., **pool)`: Ada at the first item of a question, in a wide window."""

    def make(source: Any, question: str, stage: str = "", ready: str = ".decision", **options: Any) -> tuple[Any, Page]:
        pool = {name: options.pop(name) for name in ("citations", "holistic") if name in options}
        evaluation = make_evaluation(source, question, **options)
        evaluation.give_out("Ada", assessors=1, **pool)
        server = serve(evaluation.folder)
        page: Page = visit(server, evaluation, "Ada")
        page.set_viewport_size(WIDE)
        page.goto(f"{server.url}/judge/{evaluation.first('Ada')}{stage}")
        expect(page.locator(ready).first).to_be_visible()
        return evaluation, page

    return make


def box(page: Page, place: str) -> dict[str, float]:
    box = page.locator(place).first.bounding_box()
    assert box is not None, place
    return dict(box)


def rows_of(page: Page, place: str) -> int:
    """The number of rows that elements stand in."""
    return len({round(element.bounding_box()["y"]) for element in page.locator(place).all()})


def test_verdicts_stand_in_one_row_with_letter_and_colour(open_work: Make, accessible: Make) -> None:
    _, page = open_work("series", "1.1")
    assert rows_of(page, ".decision") == 1
    expect(page.locator(".decision .dot")).to_have_text(["W", "U", "X", "R"])
    colours = {
        decision.evaluate("e => getComputedStyle(e).borderTopColor") for decision in page.locator(".decision").all()
    }
    assert len(colours) == 4
    page.set_viewport_size(PHONE)
    assert rows_of(page, ".decision") == 2
    accessible(page)


@pytest.mark.parametrize(
    ("question", "string", "choices"),
    [("15.5", "1999", ".near button"), ("15.6", "Culebra", ".list-side [role=option]")],
)
def test_the_mark_is_scrolled_to_on_a_phone(open_work: Make, question: str, string: str, choices: str) -> None:
    _, page = open_work("series", question)
    page.set_viewport_size(PHONE)
    choice = page.locator(choices, has_text=string)
    for _ in range(10):
        if choice.count():
            break
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(150)
    choice.first.click()
    expect(page.locator(".document-text mark").first).to_have_text(string)
    page.wait_for_timeout(200)
    text, mark = box(page, ".document-text"), box(page, ".document-text mark")
    assert text["y"] <= mark["y"] <= text["y"] + text["height"] - mark["height"]


def test_three_labels_stand_in_one_row(open_work: Make, tmp_path: Path) -> None:
    folder = tmp_path / "free"
    (folder / "runs").mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "qa"\nsupport = true\n')
    (folder / "questions.jsonl").write_text('{"id": "1", "type": "qa", "text": "Who wrote it?"}\n')
    items, contexts = [{"text": "Bulgakov wrote it."}], [{"text": "He did."}]
    row = {"run": "a", "question": "1", "items": items, "contexts": contexts}
    (folder / "runs" / "a.jsonl").write_text(json.dumps(row) + "\n")
    _, page = open_work(folder, "1")
    expect(page.locator(".decision")).to_have_count(3)
    for size in (WIDE, PHONE):
        page.set_viewport_size(size)
        assert rows_of(page, ".decision") == 1, size
    page.keyboard.press("1")
    # An answer has no name of its own on this screen: its text is what was decided on.
    expect(page.locator("#last")).to_have_text("Last: correct “Bulgakov wrote it.”")


@pytest.mark.parametrize(
    ("demo", "question", "stage", "current"),
    [
        ("series", "1.1", "", ".decision"),
        ("series", "1.6", "", ".decision"),
        ("series", "1.7", "?stage=nuggets", "#new-nugget"),
        ("entailment", "5", "", ".decision, fieldset"),
        ("rag", "r1", "", ".part"),
    ],
)
def test_guidelines_stand_beside_every_screen(
    open_work: Make, accessible: Make, demo: str, question: str, stage: str, current: str
) -> None:
    without = ("judgments",) if demo == "rag" else ()
    _, page = open_work(demo, question, stage, current, without=without)
    stage_box, rules = box(page, "#stage"), box(page, ".rules")
    assert rules["x"] >= stage_box["x"] + stage_box["width"]
    assert abs(rules["y"] - stage_box["y"]) < 40
    page.set_viewport_size(PHONE)
    assert box(page, ".rules")["y"] >= box(page, "#stage")["y"] + box(page, "#stage")["height"]
    accessible(page)


def test_support_names_what_was_decided_and_counts_decisions(open_work: Make, saved: Make) -> None:
    _, page = open_work("rag", "r1", ready=".part.current", without=("judgments",), citations=True)
    total = page.locator(".part").count()
    expect(page.locator("#decisions")).to_have_text(f"0 of {total} done")
    expect(page.locator(".part.current p")).not_to_have_text("1")  # the nuggets are there
    nugget = str(page.locator(".part.current p").inner_text())
    page.keyboard.press("2")
    expect(page.locator("#last")).to_have_text(f"Last: Partial support “{nugget[:60]}”")
    expect(page.locator("#decisions")).to_have_text(f"1 of {total} done")
    assert page.locator("#progress").evaluate("e => e.value") == 1
    page.set_viewport_size(PHONE)
    expect(page.locator("#last")).to_be_visible()
    saved(page)


def test_matching_names_the_string_that_was_linked(open_work: Make, saved: Make) -> None:
    evaluation, page = open_work("series", "1.7", "?stage=nuggets", "#new-nugget")
    page.locator("#new-nugget").fill("discovered radium")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Go on to step 2").click()
    expect(page.get_by_role("listbox", name="Strings of the response")).to_be_focused()
    expect(page.get_by_role("listbox", name="Nuggets").get_by_role("option").first).to_be_visible()
    for _ in range(20):  # a response with two strings or more
        if page.locator("section[aria-label=Response] [role=option]").count() > 1:
            break
        page.keyboard.press(".")
        page.wait_for_timeout(150)
    page.keyboard.press("ArrowDown")
    string = str(page.locator("section[aria-label=Response] .current .line-text").inner_text())
    page.keyboard.press("1")
    expect(page.locator("#last")).to_have_text(f"Last: Nugget 1 “{string[:60]}”")
    # A note is on the response as a whole, before it is done and after.
    position = page.locator("#position").inner_text()
    page.keyboard.press("m")
    page.locator("#note").fill("before")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator("#position")).not_to_have_text(position)
    page.keyboard.press(",")
    expect(page.locator("#position")).to_have_text(position)
    expect(page.locator("#note")).to_have_value("before")
    page.locator("#note").fill("after")
    page.keyboard.press("Tab")
    saved(page)
    assert [(row["note"], row.get("item")) for row in evaluation.rows("first") if "note" in row] == [("after", None)]


def test_a_list_shows_known_answers_with_documents_and_asks_before_a_verdict_against_one(
    open_work: Make, saved: Make, accessible: Make
) -> None:
    evaluation, page = open_work("series", "1.6")
    known = page.locator(".class-list li", has_text="Pierre Curie")
    expect(known).to_contain_text("Two new elements demo-curie-2")
    line = page.locator(".list-side [role=option]", has_text="Pierre Curie")
    for _ in range(20):
        if line.count() and line.first.locator(".line-text").inner_text() == "Pierre Curie":
            break
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(150)
    line.first.click()
    expect(page.locator(".answer-string")).to_have_text("Pierre Curie")
    page.keyboard.press("1")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("“Pierre Curie” is a known answer of this question. Judge it incorrect anyway?")
    accessible(page)
    dialog.get_by_role("button", name="Cancel").click()
    assert evaluation.rows("first") == []
    page.keyboard.press("1")  # asked once
    saved(page)
    assert [row["judgment"] for row in evaluation.rows("first")] == ["W"]


@pytest.fixture
def rulings(make_evaluation: Make, serve: Make, visit: Make, tmp_path: Path) -> tuple[Any, Callable[[], Page]]:
    """A question on which two assessors agree about nothing; Cleo's browser at its disagreements."""
    folder = Path(shutil.copytree(demo_folder("series"), tmp_path / "series"))
    evaluation = make_evaluation(folder, "1.1", without=("judgments",))
    evaluation.give_out("Ada", "Ben")
    people = [Assessor(evaluation.account[name], name) for name in ("Ada", "Ben")]
    judging = desks.Desk(evaluation.store, open_evaluation(evaluation.folder, store=evaluation.store), people)
    with evaluation.store.write() as connection:
        for name, label in (("first", "W"), ("second", "R")):
            judging.judge_all(connection, "1.1", name, lambda _, part, label=label: {"judgment": label})
    server = serve(evaluation.folder)

    def sit_down() -> Page:
        page: Page = visit(server, evaluation, "Cleo")
        page.set_viewport_size(WIDE)
        page.goto(f"{server.url}/adjudication/question?id=1.1")
        expect(page.locator(".verdict")).to_have_count(2)
        return page

    return evaluation, sit_down


def test_rulings_have_the_looks_of_verdicts_and_ask_before_one_against_a_known_answer(
    rulings: Any, accessible: Make
) -> None:
    evaluation, sit_down = rulings
    page = sit_down()
    assert rows_of(page, ".own-ruling .decision") == 1
    accessible(page)
    for _ in range(10):
        if page.locator(".answer-string").inner_text() == "Warsaw":
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("w")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("“Warsaw” is a known answer")
    dialog.get_by_role("button", name="Judge incorrect").click()
    expect(page.locator("#last")).to_have_text("Last: Incorrect (W) “Warsaw”")
    expect(page.locator("#save-state")).to_have_text("Saved")
    assert [(row["text"], row["judgment"]) for row in evaluation.rows("adjudicated")] == [("Warsaw", "W")]
    assert page.locator("#progress").evaluate("e => e.value") == 1


def test_the_note_of_a_ruling_is_never_lost(rulings: Any) -> None:
    evaluation, sit_down = rulings
    page = sit_down()
    page.keyboard.press("m")
    page.keyboard.type("before the ruling")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#position")).to_contain_text("Disagreement 2")
    expect(page.locator("#note")).to_have_value("")
    page.reload()
    expect(page.locator("#position")).to_contain_text("Disagreement 1")
    expect(page.locator("#note")).to_have_value("before the ruling")
    page.keyboard.press("x")
    expect(page.locator("#position")).to_contain_text("Disagreement 2")
    page.keyboard.press("ArrowLeft")
    page.locator("#note").fill("after it")
    page.keyboard.press("Tab")
    expect(page.locator("#save-state")).to_have_text("Saved")
    page.wait_for_timeout(300)
    assert [(row["judgment"], row["note"]) for row in evaluation.rows("adjudicated")] == [("X", "after it")]


def test_pages_have_one_width_and_tabs_are_all_in_view(make_evaluation: Make, serve: Make, visit: Make) -> None:
    evaluation = make_evaluation("series", "1.1", "1.3")
    server = serve(evaluation.folder)
    page: Page = visit(server, evaluation, "Olga")
    page.set_viewport_size({"width": 1600, "height": 900})
    page.goto(f"{server.url}/development/document?id=demo-curie-1")
    brand, title, footer = (box(page, place)["x"] for place in (".brand", "main h1", ".bottom p"))
    assert abs(brand - title) < 1
    last = page.locator(".bottom p").last.bounding_box()
    main = page.locator("main > :last-child").bounding_box()
    assert last is not None
    assert main is not None
    assert last["x"] + last["width"] <= main["x"] + main["width"] + 1
    assert footer >= title - 1
    page.set_viewport_size(PHONE)
    page.goto(f"{server.url}/results/sensitivity")
    tabs = page.locator(".tabs a")
    expect(tabs).to_have_count(5)
    for tab in tabs.all():
        place = tab.bounding_box()
        assert place is not None
        assert place["x"] + place["width"] <= PHONE["width"]
