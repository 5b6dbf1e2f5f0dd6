"""Nuggets in two steps, by keyboard: writing the list, matching it, changing it later; and the scores of it all."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select
from written import write_out

import qassay
from acting import act
from qassay.demo import demo_folder
from qassay.formats.folder import Folder
from qassay.store.assignment.assignments import assignments_of
from qassay.store.judging.nuggets import nuggets_of, write_nugget
from qassay.store.schema import item

Make = Callable[..., Any]
NUGGETS = "section[aria-label=Nuggets] [role=option]"
STRINGS = "section[aria-label=Strings] [role=option], section[aria-label=Response] [role=option]"
TOLD = ("409", "Conflict")


@pytest.fixture
def ada(make_evaluation: Make, serve: Make, visit: Make) -> tuple[Any, Callable[..., Page]]:
    """An `other` question assigned to Ada, with two nuggets from development: the evaluation, and a way to open it."""
    evaluation = make_evaluation("series", "1.6", "1.7")
    with evaluation.store.write() as connection:
        for text in ("discovered radium", "discovered polonium"):
            body = {"vital": True, "text": text}
            write_nugget(act(connection), "development", "1.7", None, body)
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)
    number = assigned(evaluation, "1.7")

    def sit_down(stage: str = "nuggets", **options: Any) -> Page:
        page: Page = visit(server, evaluation, "Ada", **options)
        page.goto(f"{server.url}/judge/{number}?stage={stage}")
        expect(page.locator(NUGGETS)).not_to_have_count(0)
        expect(page.locator(STRINGS)).not_to_have_count(0)
        return page

    return evaluation, sit_down


def assigned(evaluation: Any, question: str) -> int:
    """The number of Ada's assignment on a question."""
    with evaluation.store.read() as connection:
        return next(
            assignment.id
            for assignment in assignments_of(connection, evaluation.account["Ada"])
            if assignment.question == question
        )


def nuggets(evaluation: Any) -> list[tuple[str, bool]]:
    """Ada's list as it is stored."""
    with evaluation.store.read() as connection:
        return [(nugget.text, nugget.vital) for nugget in nuggets_of(connection, "first", "1.7")]


def write(page: Page, text: str, key: str = "Enter") -> None:
    """Write a nugget and wait until it is on the list."""
    count = page.locator(NUGGETS).count()
    page.locator("#new-nugget").fill(text)
    page.keyboard.press(key)
    expect(page.locator(NUGGETS)).to_have_count(count + 1)


def test_a_list_is_written_by_keyboard(ada: Any, saved: Make, accessible: Make) -> None:
    evaluation, sit_down = ada
    page = sit_down()
    accessible(page)
    expect(page.locator(".earlier")).to_contain_text("Which members of her family")
    page.keyboard.press("w")
    page.keyboard.type("Her notebooks are radioactive")
    page.keyboard.press("Enter")
    page.keyboard.type("First woman at the Sorbonne")
    page.keyboard.press("Shift+Enter")
    expect(page.locator("#new-nugget")).to_be_focused()
    expect(page.locator("#new-hint")).to_contain_text("Esc goes back to the lists")
    page.keyboard.press("Escape")
    expect(page.locator("section[aria-label=Strings] [role=listbox]")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("w")
    page.keyboard.press("Escape")
    expect(page.locator("section[aria-label=Nuggets] [role=listbox]")).to_be_focused()
    expect(page.locator(".pending")).to_have_count(0)
    for _ in range(3):  # sent one after the other, without waiting for an answer
        page.keyboard.press("u")
    page.keyboard.press("v")
    saved(page)
    assert nuggets(evaluation) == [
        ("First woman at the Sorbonne", False),
        ("discovered radium", True),
        ("discovered polonium", True),
        ("Her notebooks are radioactive", False),
    ]
    page.keyboard.press("x")
    expect(page.locator(NUGGETS)).to_have_count(3)
    page.keyboard.press("z")
    expect(page.locator(NUGGETS)).to_have_count(4)
    page.keyboard.press("z")
    expect(page.locator(NUGGETS).first).to_contain_text("vital")
    saved(page)
    assert nuggets(evaluation)[0] == ("First woman at the Sorbonne", True)


def test_nuggets_are_edited_split_and_merged_in_dialogs(ada: Any, saved: Make, accessible: Make) -> None:
    evaluation, sit_down = ada
    page = sit_down()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("s")
    accessible(page)
    page.keyboard.type("radium")
    page.keyboard.press("Tab")
    page.keyboard.type("in 1898")
    page.keyboard.press("Enter")
    expect(page.locator(NUGGETS)).to_have_count(3)
    expect(page.locator(".pending")).to_have_count(0)
    page.keyboard.press("j")
    accessible(page)
    page.get_by_label("Merge with").select_option(label="discovered polonium")
    page.get_by_label("Text of the merged nugget").fill("discovered radium and polonium")
    page.keyboard.press("Enter")
    expect(page.locator(NUGGETS)).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("e")
    page.keyboard.type("in July 1898")
    page.keyboard.press("Enter")
    expect(page.locator(NUGGETS).last).to_contain_text("July")
    saved(page)
    assert nuggets(evaluation) == [("discovered radium and polonium", True), ("in July 1898", True)]


def test_a_nugget_begins_from_a_string_that_the_filter_found(ada: Any) -> None:
    _, sit_down = ada
    page = sit_down()
    page.keyboard.press("f")
    page.keyboard.type("sorbonne")
    page.keyboard.press("Enter")
    text = page.locator(STRINGS).first.text_content()
    assert "sorbonne" in str(text).lower()
    page.keyboard.press("t")
    expect(page.locator("#new-nugget")).to_have_value(re.sub(r"\s+", " ", str(text)).strip())


def test_late_data_does_not_take_the_focus_from_the_writer(ada: Any) -> None:
    _, sit_down = ada
    page = sit_down()
    waiting: list[Any] = []
    page.route("**/strings", lambda route: waiting.append(route))  # a built-in method is not taken
    page.reload()
    expect(page.locator(NUGGETS)).to_have_count(2)
    page.keyboard.press("w")
    page.keyboard.type("entirely ")
    for route in waiting:
        route.continue_()
    expect(page.locator(STRINGS)).not_to_have_count(0)
    page.keyboard.type("new")
    expect(page.locator("#new-nugget")).to_have_value("entirely new")


def test_nuggets_are_dragged_to_another_place(ada: Any, saved: Make) -> None:
    evaluation, sit_down = ada
    page = sit_down()
    write(page, "third")
    expect(page.locator(".pending")).to_have_count(0)
    page.locator(NUGGETS).nth(2).drag_to(page.locator(NUGGETS).nth(0))
    expect(page.locator(NUGGETS).first).to_contain_text("third")
    saved(page)
    assert [text for text, _ in nuggets(evaluation)] == ["third", "discovered radium", "discovered polonium"]


def test_a_second_tab_gets_the_current_list(ada: Any, saved: Make) -> None:
    evaluation, sit_down = ada
    first, second = sit_down(), sit_down(expected=TOLD)
    for page, text in ((first, "found radium"), (second, "saw radium")):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("e")
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        saved(page)
    expect(second.locator("#complaint")).to_contain_text("“found radium”")
    expect(second.locator(NUGGETS).first).to_contain_text("found radium")
    assert nuggets(evaluation)[0][0] == "found radium"


def test_nuggets_written_while_the_server_is_away_are_sent_later(ada: Any, saved: Make) -> None:
    evaluation, sit_down = ada
    page = sit_down(expected=("ERR_INTERNET_DISCONNECTED", "Failed to fetch"))
    page.context.set_offline(True)
    write(page, "one")
    write(page, "two")
    expect(page.locator("#save-state")).to_contain_text("Not saved")
    page.context.set_offline(False)
    saved(page)
    expect(page.locator(".pending")).to_have_count(0)
    assert [text for text, _ in nuggets(evaluation)] == ["discovered radium", "discovered polonium", "one", "two"]


def test_nuggets_are_matched_by_keyboard_and_count_once_per_response(ada: Any, saved: Make, accessible: Make) -> None:
    evaluation, sit_down = ada
    page = sit_down()
    page.keyboard.press("g")
    page.wait_for_url("**stage=matches**")
    expect(page.locator(NUGGETS)).to_have_count(2)
    accessible(page)
    page.keyboard.press("1")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    expect(page.locator(f"{NUGGETS} >> text=linked")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("1")
    expect(page.locator(".judge-bar #notified")).to_contain_text("moved here from string 1")
    expect(page.locator(".judge-bar")).to_have_css("position", "sticky")
    page.get_by_role("button", name="Done with this response").click(trial=True, timeout=2_000)
    saved(page)
    assert {row["item"]: row["nuggets"] for row in evaluation.rows("first")} == {0: ["2"], 1: ["1"]}
    page.keyboard.press("z")
    saved(page)
    assert {row["item"]: row["nuggets"] for row in evaluation.rows("first")} == {0: ["1", "2"]}
    page.keyboard.press("i")
    expect(page.get_by_role("dialog")).to_contain_text("discovered polonium")
    accessible(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator("#progress-text")).to_have_text(re.compile("^1 of"))
    saved(page)
    assert {row.get("item"): row["nuggets"] for row in evaluation.rows("first")}[None] == []


def test_links_are_made_by_clicks_too(ada: Any, saved: Make) -> None:
    evaluation, sit_down = ada
    sit_down().keyboard.press("g")
    page = sit_down("matches")
    page.locator(STRINGS).nth(1).click()
    page.locator(NUGGETS).nth(1).click()
    expect(page.locator(NUGGETS).nth(1)).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Done with this response").click()
    expect(page.locator("#progress-text")).to_have_text(re.compile("^1 of"))
    saved(page)
    assert sorted((str(row.get("item")), row["nuggets"]) for row in evaluation.rows("first")) == [
        ("1", ["2"]),
        ("None", []),
    ]


def test_a_change_after_matching_began_asks_what_to_look_at_again(ada: Any, saved: Make, accessible: Make) -> None:
    evaluation, sit_down = ada
    page = sit_down()
    page.keyboard.press("g")
    page.wait_for_url("**stage=matches**")
    expect(page.locator(NUGGETS)).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page.locator("#progress-text")).to_have_text(re.compile("^1 of"))
    saved(page)
    page.get_by_role("link", name="1. Write nuggets").click()
    expect(page.locator(NUGGETS)).to_have_count(2)
    page.keyboard.press("w")
    page.keyboard.type("entirely new")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("look at again")
    accessible(page)
    page.get_by_role("button", name="All of them").click()
    expect(page.locator(NUGGETS)).to_have_count(3)
    saved(page)
    assert evaluation.rows("first") == []
    page.reload()
    expect(page.locator("#progress-text")).to_have_text(re.compile("^0 of"))


def test_both_steps_fit_a_phone(ada: Any, accessible: Make) -> None:
    _, sit_down = ada
    begun = sit_down()
    begun.keyboard.press("g")
    begun.wait_for_url("**stage=matches**")
    for stage in ("nuggets", "matches"):
        for theme in ("light", "dark"):
            page = sit_down(stage, viewport={"width": 360, "height": 740}, color_scheme=theme)
            accessible(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= 360


def rows_of(kind: str, question: str) -> list[dict[str, Any]]:
    """What the built-in evaluation says of a question."""
    lines = (demo_folder() / kind / "adjudicated.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["question"] == question]


def run_shown(evaluation: Any, page: Page) -> str:
    """The run of the item that is shown: the page does not tell, its address names the item."""
    number = re.search(r"item=(\d+)", page.url)
    assert number is not None
    with evaluation.store.read() as connection:
        return str(connection.execute(select(item.c.run).where(item.c.id == int(number[1]))).scalar_one())


def judge_lists(evaluation: Any, page: Page) -> None:
    """Judge all lists as the built-in evaluation does."""
    verdicts = {(row["run"], row["text"]): row for row in rows_of("judgments", "1.6")}
    total = page.evaluate("JSON.parse(document.getElementById('page-data').textContent).items.length")
    for done in range(total):
        expect(page.locator("#position")).to_have_text(f"Item {done + 1} of {total}")
        run = run_shown(evaluation, page)
        for text in page.locator(".list-side [role=option] .line-text").all_text_contents():
            row = verdicts[run, text]
            page.keyboard.press({"W": "1", "U": "2", "X": "3", "R": "4"}[row["judgment"]])
            if row["judgment"] == "R":
                page.locator(".chooser input").fill(row["answer"])
                page.keyboard.press("Enter")


def judge_nuggets(evaluation: Any, page: Page) -> None:
    """Write the list and match it as the built-in evaluation does."""
    listed = rows_of("nuggets", "1.7")
    expect(page.locator("#new-nugget")).to_be_visible()
    expect(page.locator(STRINGS)).not_to_have_count(0)
    for row in listed:
        write(page, row["text"], "Shift+Enter" if row["vital"] else "Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.wait_for_url("**stage=matches**")
    matched = {row["run"]: row["nuggets"] for row in rows_of("judgments", "1.7")}
    places = [row["nugget"] for row in listed]
    total = page.evaluate("JSON.parse(document.getElementById('page-data').textContent).items.length")
    before = int(page.locator("#progress-text").inner_text().split()[0])  # of the questions before this one
    for done in range(total):
        expect(page.locator("#position")).to_have_text(f"Item {done + 1} of {total}")
        expect(page.locator(NUGGETS)).to_have_count(len(listed))
        for name in matched[run_shown(evaluation, page)]:
            page.locator(NUGGETS).nth(places.index(name)).click()
        page.locator("section[aria-label=Response] [role=listbox]").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#progress-text")).to_have_text(re.compile(rf"^{before + done + 1} of"))


def test_judging_here_gives_the_scores_of_the_same_judgments_from_files(
    make_evaluation: Make, serve: Make, visit: Make, saved: Make, tmp_path: Path
) -> None:
    evaluation = make_evaluation("series", "1.6", "1.7")
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)
    page: Page = visit(server, evaluation, "Ada")
    page.goto(f"{server.url}/judge/{assigned(evaluation, '1.6')}")
    expect(page.locator(".list-side [role=option]")).not_to_have_count(0)
    judge_lists(evaluation, page)
    page.wait_for_url(re.compile(f"/judge/{assigned(evaluation, '1.7')}"))
    judge_nuggets(evaluation, page)
    saved(page)

    exported = tmp_path / "exported"
    write_out(evaluation.store, exported, Folder(evaluation.folder))
    files = tmp_path / "files"
    shutil.copytree(exported, files, ignore=shutil.ignore_patterns("judgments", "nuggets"))
    for kind in ("judgments", "nuggets"):
        rows = [*rows_of(kind, "1.6"), *rows_of(kind, "1.7")]
        (files / kind).mkdir()
        (files / kind / "first.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    here, in_files = (qassay.open(folder).score("first").as_json() for folder in (exported, files))
    assert here == in_files
    assert here["runs"][0]["score"] > 0
