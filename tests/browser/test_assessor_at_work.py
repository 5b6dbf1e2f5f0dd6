"""What a person at work misses (ASSESSING 5): notes kept, verdicts shown, the job in view, doubt, direction of text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

Make = Callable[..., Any]
RLO = "\u202e"


def judge(page: Page, key: str, *, then: str) -> None:
    page.keyboard.press(key)
    expect(page.locator("#position")).to_have_text(then)


def test_a_note_on_an_item_that_is_not_judged_is_kept(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    page.keyboard.press("m")
    page.keyboard.type("look again")
    page.keyboard.press("Tab")
    judge(page, "n", then="Item 2 of 5")
    expect(page.locator("#note")).to_have_value("")
    judge(page, "ArrowLeft", then="Item 1 of 5")
    expect(page.locator("#note")).to_have_value("look again")
    page.reload()
    expect(page.locator("#note")).to_have_value("look again")
    judge(page, "2", then="Item 2 of 5")
    saved(page)
    assert [row.get("note") for row in evaluation.rows("first")] == ["look again"]


def test_a_note_on_a_judged_item_is_saved_on_leaving_the_field(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    judge(page, "2", then="Item 2 of 5")
    judge(page, "ArrowLeft", then="Item 1 of 5")
    page.keyboard.press("m")
    page.keyboard.type("see page 2")
    judge_by_click = page.locator(".near button").nth(2)
    judge_by_click.click()
    expect(page.locator("#position")).to_have_text("Item 3 of 5")
    saved(page)
    rows = evaluation.rows("first")
    assert [(row["judgment"], row.get("note")) for row in rows] == [("U", "see page 2")]


def test_a_note_that_is_typed_offline_is_saved_later(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down(expected=("ERR_INTERNET_DISCONNECTED",))
    judge(page, "2", then="Item 2 of 5")
    judge(page, "ArrowLeft", then="Item 1 of 5")
    saved(page)
    page.context.set_offline(True)
    page.keyboard.press("m")
    page.keyboard.type("offline")
    page.keyboard.press("Tab")
    expect(page.locator("#save-state")).to_contain_text("Not saved")
    page.context.set_offline(False)
    saved(page)
    assert [row.get("note") for row in evaluation.rows("first")] == ["offline"]


def test_escape_leaves_the_note_field(ada: Any) -> None:
    _, _, sit_down = ada
    page = sit_down()
    page.keyboard.press("m")
    page.keyboard.type("1")
    page.keyboard.press("Escape")
    judge(page, "2", then="Item 2 of 5")  # keys decide again


def test_answers_carry_the_letter_of_their_verdict(ada: Any, accessible: Make) -> None:
    _, _, sit_down = ada
    page = sit_down()
    judge(page, "2", then="Item 2 of 5")
    judge(page, "3", then="Item 3 of 5")
    marks = page.locator(".near .dot")
    expect(marks.nth(0)).to_have_text("U")
    expect(marks.nth(1)).to_have_text("X")
    expect(marks.nth(2)).to_have_text("not judged")
    assert "✓" not in page.locator("#stage").inner_text()
    page.reload()
    expect(marks.nth(0)).to_have_text("U")
    accessible(page)


def test_the_bar_has_the_whole_job_and_the_last_decision(ada: Any) -> None:
    _, _, sit_down = ada
    page = sit_down()
    total = int(re.search(r"of (\d+)", page.locator("#progress-text").inner_text())[1])  # type: ignore[index]
    assert total == 9  # of both questions
    first = page.locator(".answer-string").inner_text()
    judge(page, "2", then="Item 2 of 5")
    expect(page.locator("#progress-text")).to_have_text(re.compile("^1 of 9"))
    expect(page.locator("#last")).to_have_text(f"Last: Not supported “{first}”")
    page.keyboard.press("z")
    expect(page.locator("#progress-text")).to_have_text(re.compile("^0 of 9"))
    expect(page.locator("#last")).to_have_text("")


def test_the_end_says_that_all_is_done_with_counts(ada: Any) -> None:
    _, _, sit_down = ada
    page = sit_down()
    while not page.locator(".notice-done").count():
        before = page.url
        page.keyboard.press("2")
        page.wait_for_function(
            "address => location.href !== address || document.querySelector('.notice-done')", arg=before
        )
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    expect(page.locator(".notice-done")).to_contain_text("You have made all 9 decisions assigned to you.")
    expect(page.locator("#move-flag")).to_be_disabled()
    expect(page.locator("#position")).to_have_text("")
    judge(page, "ArrowLeft", then="Item 4 of 4")  # the last one, not the one before it
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()


def test_a_mark_says_that_a_question_ends(ada: Any) -> None:
    _, _, sit_down = ada
    page = sit_down()
    first = page.locator("#question-id").inner_text()
    for item in range(2, 6):
        judge(page, "2", then=f"Item {item} of 5")
    expect(page.locator("#notified")).to_have_count(0)
    page.keyboard.press("2")
    expect(page.locator("#question-id")).not_to_have_text(first)
    second = page.locator("#question-id").inner_text()
    expect(page.locator("#notified")).to_have_text(f"Question {first} is finished. This is question {second}.")


def test_no_mark_where_an_item_is_left_open(ada: Any) -> None:
    _, _, sit_down = ada
    page = sit_down()
    first = page.locator("#question-id").inner_text()
    for item in range(2, 6):
        judge(page, "2", then=f"Item {item} of 5")
    page.keyboard.press("n")  # on to the next question, without a decision on the last item
    expect(page.locator("#question-id")).not_to_have_text(first)
    expect(page.locator("#notified")).to_have_count(0)


def test_a_verdict_against_a_known_answer_asks_once(
    make_evaluation: Make, serve: Make, visit: Make, saved: Make, accessible: Make
) -> None:
    evaluation = make_evaluation("series", "1.1")
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Ada")
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    expect(page.locator(".known-answers")).to_contain_text("Warsaw")
    page.locator(".near button", has_text=re.compile("^.*Warsaw$")).first.click()
    expect(page.locator(".answer-string")).to_have_text("Warsaw")
    page.keyboard.press("1")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("“Warsaw” is a known answer of this question. Judge it incorrect anyway?")
    accessible(page)
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.locator(".answer-string")).to_have_text("Warsaw")
    assert evaluation.rows("first") == []
    page.keyboard.press("1")  # asked once
    saved(page)
    expect(page.locator(".answer-string")).not_to_have_text("Warsaw")


def test_doubt_has_a_key(ada: Any, saved: Make, visit: Make, accessible: Make) -> None:
    evaluation, server, sit_down = ada
    page = sit_down()
    string = page.locator(".answer-string").inner_text()
    page.keyboard.press("f")
    accessible(page)
    page.keyboard.type("two cities in one")
    page.keyboard.press("Enter")
    expect(page.locator("#move-flag")).to_contain_text("Flagged")
    saved(page)
    assert evaluation.rows("first") == []  # a flag is not a judgment
    page.reload()
    expect(page.locator("#move-flag")).to_contain_text("Flagged")
    page.goto(f"{server.url}/work")
    expect(page.get_by_role("region", name="Flagged answers")).to_contain_text("two cities in one")
    organiser = visit(server, evaluation, "Olga")
    organiser.goto(f"{server.url}/flags")
    expect(organiser.get_by_role("row", name=re.compile("two cities in one"))).to_contain_text("Ada")
    expect(organiser.get_by_role("row", name=re.compile("two cities in one"))).to_contain_text(string)
    accessible(organiser)
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    expect(page.locator("#move-flag")).to_contain_text("Flagged")
    page.keyboard.press("f")
    page.get_by_role("button", name="Remove flag").click()
    saved(page)
    organiser.reload()
    expect(organiser.get_by_text("two cities in one")).to_have_count(0)


def test_the_conflict_dialog_names_the_item(ada: Any, saved: Make) -> None:
    _, _, sit_down = ada
    page, other = sit_down(expected=("409",)), sit_down()
    string = page.locator(".answer-string").inner_text()
    judge(other, "2", then="Item 2 of 5")
    saved(other)
    page.keyboard.press("3")
    expect(page.get_by_role("dialog")).to_contain_text(f"1.1: “{string}”")


def test_right_to_left_text_is_right_to_left(make_evaluation: Make, serve: Make, visit: Make, tmp_path: Any) -> None:
    folder = tmp_path / "arabic"
    for name in ("runs", "collection"):
        (folder / name).mkdir(parents=True)
    text = "ولدت ماري كوري في وارسو."
    (folder / "qassay.toml").write_text('task = "main2003"\n')
    (folder / "questions.jsonl").write_text('{"id": "1", "type": "factoid", "text": "Where was she born?"}\n')
    (folder / "collection" / "docs.jsonl").write_text(json.dumps({"id": "D1", "text": text}) + "\n")
    (folder / "runs" / "a.txt").write_text(f"1 a D1 {text}\n")
    (folder / "runs" / "b.txt").write_text(f"1 b D1 Paris{RLO}gnp.exe\n")
    evaluation = make_evaluation(folder)
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Ada")
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    expect(page.locator(".answer-string")).to_be_visible()
    page.locator(".near button", has_text="ولدت").click()
    expect(page.locator(".answer-string")).to_have_text(text)
    for place in (".answer-string", ".document-text", ".near-text:has-text('ولدت')"):
        direction, align = page.locator(place).first.evaluate(
            "element => [getComputedStyle(element).direction, getComputedStyle(element).textAlign]"
        )
        assert (direction, align) == ("rtl", "start"), place
    page.locator(".near button", has_text="Paris").click()
    expect(page.locator(".answer-string .control")).to_have_text("U+202E")
    expect(page.locator(".near .control")).to_have_text("U+202E")
    assert RLO not in page.locator("#stage").inner_text()
