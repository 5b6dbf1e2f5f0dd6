"""Judging factoid answers: by keyboard to the end, offline, in two tabs, with undo, on a phone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

Make = Callable[..., Any]


def test_work_is_judged_by_keyboard_to_its_end(ada: Any, saved: Make, accessible: Make) -> None:
    evaluation, server, sit_down = ada
    page = sit_down()
    accessible(page)
    shown = []
    labels = "1234" * 5
    for key in labels:
        if page.locator(".notice-done").count():
            break
        shown.append(page.locator(".answer-string").text_content())
        before = page.url
        page.keyboard.press(key)
        page.wait_for_function(
            "address => location.href !== address || document.querySelector('.notice-done')", arg=before
        )
    saved(page)
    rows = evaluation.rows("first")
    assert len(rows) == len(shown) > 5
    assert [row["text"] for row in rows] == shown
    assert [row["judgment"] for row in rows] == [
        {"1": "W", "2": "U", "3": "X", "4": "R"}[key] for key in labels[: len(rows)]
    ]
    assert {row["assessor"] for row in rows} == {"Ada"}
    page.goto(f"{server.url}/work")
    expect(page.get_by_text("finished")).to_have_count(2)
    accessible(page)


def test_nothing_is_shown_again_while_decisions_are_on_their_way(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    waiting: list[Any] = []
    page.route("**/decisions", lambda route: waiting.append(route))  # a built-in method is not taken
    shown: list[str] = []
    while not page.locator(".notice-done").count():
        shown.append(page.url)
        page.keyboard.press("1")
        page.wait_for_function(
            "address => location.href !== address || document.querySelector('.notice-done')", arg=shown[-1]
        )
        assert len(set(shown)) == len(shown)
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    assert (len(waiting), evaluation.rows("first")) == (1, [])
    page.unroute("**/decisions")  # what was held goes on
    saved(page)
    assert len(evaluation.rows("first")) == len(shown)


def test_an_item_undone_in_another_tab_is_shown_again(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    first = page.url
    for number in range(2, 6):
        page.keyboard.press("1")
        expect(page.locator("#position")).to_have_text(f"Item {number} of 5")
    saved(page)
    sent = {
        "item": int(parse_qs(urlsplit(first).query)["item"][0]),
        "part": "",
        "expected": 1,
        "to": 0,
        "key": "k" * 16,
    }
    answered = page.evaluate(
        """([to, sent]) => fetch(to, {method: "POST", body: JSON.stringify(sent),
            headers: {"Content-Type": "application/json"}}).then((answer) => answer.status)""",
        [f"/api/judge/{evaluation.first('Ada')}/undo", sent],
    )
    assert answered == 200
    page.keyboard.press("1")
    expect(page.locator("#question-id")).to_have_text("1.2")
    while page.locator("#question-id").text_content() == "1.2" and not page.locator(".notice-done").count():
        before = page.url
        page.keyboard.press("1")
        page.wait_for_function(
            "address => location.href !== address || document.querySelector('.notice-done')", arg=before
        )
    expect(page.locator("#question-id")).to_have_text("1.1")
    expect(page).to_have_url(first)


def test_an_item_whose_decision_was_refused_is_shown_again(ada: Any) -> None:
    evaluation, _, sit_down = ada
    page = sit_down(expected=("422",))
    first = page.url
    answer = {"status": 422, "json": {"message": "nothing was saved"}}
    page.route("**/decisions", lambda route: route.fulfill(**answer), times=1)
    page.keyboard.press("1")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    expect(page.get_by_text("nothing was saved")).to_be_visible()
    expect(page.locator("#progress-text")).to_have_text(re.compile("^0 of"))
    for number in range(3, 6):
        page.keyboard.press("1")
        expect(page.locator("#position")).to_have_text(f"Item {number} of 5")
    page.keyboard.press("1")
    expect(page).to_have_url(first)
    expect(page.locator(".decision[aria-pressed=true]")).to_have_count(0)
    page.keyboard.press("1")
    expect(page.locator("#question-id")).to_have_text("1.2")
    page.wait_for_function(
        "() => Object.entries(localStorage).every(([name, kept]) => !name.startsWith('qassay-outbox') || kept === '[]')"
    )
    assert len(evaluation.rows("first")) == 5


def test_an_item_that_comes_late_is_not_shown_in_place_of_the_next(ada: Any) -> None:
    _, _, sit_down = ada
    page = sit_down(expected=("422",))
    number = parse_qs(urlsplit(page.url).query)["item"][0]
    decisions: list[Any] = []
    items: list[Any] = []
    page.route("**/decisions", lambda route: decisions.append(route), times=1)
    page.keyboard.press("1")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#position")).to_have_text("Item 1 of 5")
    page.route(f"**/items/{number}", lambda route: items.append(route), times=1)
    with page.expect_request(f"**/items/{number}"):  # it was decided on in vain, and is fetched again
        decisions[0].fulfill(status=422, json={"message": "nothing was saved"})
    page.keyboard.press("ArrowRight")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    with page.expect_response(f"**/items/{number}"):
        items[0].continue_()
    expect(page.locator("#progress-text")).to_have_text(re.compile("^0 of"))
    expect(page.locator("#position")).to_have_text("Item 2 of 5")


def test_the_string_is_marked_in_its_document(ada: Any) -> None:
    _, _, sit_down = ada
    page = sit_down()
    mark = page.locator(".document-text mark").first
    expect(mark).to_be_visible()
    assert mark.text_content() == page.locator(".answer-string").text_content()


def test_a_passage_is_marked_where_it_occurs(
    make_evaluation: Make, serve: Make, visit: Make, saved: Make, accessible: Make, tmp_path: Path
) -> None:
    folder = tmp_path / "passages"
    (folder / "runs").mkdir(parents=True)
    (folder / "collection").mkdir()
    (folder / "qassay.toml").write_text('name = "Passages"\ntask = "passages"\n')
    (folder / "questions.jsonl").write_text('{"id": "1", "type": "factoid", "text": "Where?"}\n')
    text = "Ω 🜚 one two. The city of Warsaw lies on the Vistula."
    (folder / "collection" / "d.jsonl").write_text(json.dumps({"id": "D", "text": text}) + "\n")
    start, length = text.index("The city"), len("The city of Warsaw")
    (folder / "runs" / "a.txt").write_text(f"1 a D {start} {length}\n")
    (folder / "runs" / "b.txt").write_text("1 b D 0 5\n")
    evaluation = make_evaluation(folder)
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Ada")
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    expect(page.locator(".decision")).to_have_count(3)  # passages are not exact or inexact
    expect(page.locator("mark")).to_have_text("Ω 🜚 o")
    accessible(page)
    page.keyboard.press("1")
    expect(page.locator("mark")).to_have_text("The city of Warsaw")
    page.keyboard.press("3")
    saved(page)
    assert [(row["start"], row["length"], row["judgment"]) for row in evaluation.rows("first")] == [
        (0, 5, "W"),
        (start, length, "R"),
    ]


def test_undo_is_one_key_and_is_recorded(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    first = page.locator(".answer-string").text_content()
    page.keyboard.press("4")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    page.keyboard.press("z")
    expect(page.locator("#position")).to_have_text("Item 1 of 5")
    expect(page.locator("#notified")).to_have_text(f"Undone: Correct “{first}”.")
    expect(page.locator(".answer-string")).to_have_text(str(first))
    expect(page.locator(".decision[aria-pressed=true]")).to_have_count(0)
    saved(page)
    assert evaluation.rows("first") == []
    page.goto(page.url)
    expect(page.locator("#progress-text")).to_have_text(re.compile("^0 of"))


def test_keys_are_silent_while_typing_and_a_note_is_saved(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    page.keyboard.press("k")
    page.keyboard.type("Warsaw, 1")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.type("1234z n?")
    assert evaluation.rows("first") == []
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator(".known-answers .chip")).to_contain_text("Warsaw, 1")
    expect(page.get_by_label("Known answer")).to_be_focused()
    expect(page.locator("#note")).to_have_value("1234z n?")
    page.locator("#stage").focus()
    page.keyboard.press("3")
    saved(page)
    assert [(row["judgment"], row["note"]) for row in evaluation.rows("first")] == [("X", "1234z n?")]


def test_decisions_are_kept_while_the_server_is_away(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down(expected=("ERR_INTERNET_DISCONNECTED",))
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    page.keyboard.press("4")
    for number in range(2, 6):
        expect(page.locator("#position")).to_have_text(f"Item {number} of 5")
        page.keyboard.press("1")
    expect(page.locator("#save-state")).to_contain_text("Not saved")
    expect(page.locator("#announcements")).to_have_text("W kept here, not saved yet")
    expect(page.locator("#complaint")).to_contain_text(
        "The next question cannot be loaded. The server cannot be reached."
    )
    expect(page.locator(".decision[aria-pressed=true]")).to_contain_text("Incorrect")
    page.keyboard.press("1")  # decides nothing again
    expect(page.locator("#save-state")).to_contain_text("(5 waiting)")
    assert evaluation.rows("first") == []
    page.context.set_offline(False)
    saved(page)
    assert [row["judgment"] for row in evaluation.rows("first")] == ["R", "W", "W", "W", "W"]
    expect(page.locator("#question-id")).to_have_text("1.2")  # by itself
    expect(page.locator(".document-text")).to_be_visible()
    page.keyboard.press("2")
    expect(page.locator("#announcements")).to_have_text("U saved")


def test_decisions_outlive_the_page(ada: Any, saved: Make) -> None:
    evaluation, server, sit_down = ada
    page = sit_down(expected=("ERR_INTERNET_DISCONNECTED",))
    waiting: list[Any] = []
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    page.keyboard.press("2")
    expect(page.locator("#save-state")).to_contain_text("Not saved")
    again = page.context.new_page()
    page.close()
    again.context.set_offline(False)
    again.route("**/decisions", lambda route: waiting.append(route), times=1)
    again.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    # It is not asked for again while it is on its way.
    expect(again.locator("#position")).to_have_text("Item 2 of 5")
    expect(again.locator(".near .dot").first).to_have_text("U")
    expect(again.locator("#progress-text")).to_have_text(re.compile("^1 of"))
    waiting[0].continue_()
    saved(again)
    expect(again.locator("#progress-text")).to_have_text(re.compile("^1 of"))
    assert [row["judgment"] for row in evaluation.rows("first")] == ["U"]


def test_of_two_tabs_the_second_is_shown_both(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down(expected=("409",))
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".answer-string")).to_be_visible()
    page.keyboard.press("4")
    saved(page)
    other.bring_to_front()
    other.keyboard.press("1")
    dialog = other.get_by_role("dialog")
    expect(dialog).to_contain_text("Saved")
    expect(dialog).to_contain_text("R")
    expect(dialog).to_contain_text("W")
    assert [row["judgment"] for row in evaluation.rows("first")] == ["R"]
    dialog.get_by_role("button", name="Use my decision").click()
    saved(other)
    other.wait_for_function("() => !document.querySelector('dialog')")
    assert [row["judgment"] for row in evaluation.rows("first")] == ["W"]


def test_shortcuts_are_shown_and_can_be_changed(ada: Any, saved: Make, accessible: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Not supported")
    accessible(page)
    dialog.get_by_role("button", name="Change the key of Correct (R)").click()
    page.keyboard.press("g")
    expect(dialog).to_contain_text("is G now")
    dialog.get_by_role("button", name="Close").click()
    page.reload()
    expect(page.locator(".decision[data-label=R] kbd")).to_have_text("G")
    page.keyboard.press("g")
    saved(page)
    assert [row["judgment"] for row in evaluation.rows("first")] == ["R"]


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_it_fits_a_phone(ada: Any, accessible: Make, scheme: str) -> None:
    _, _, sit_down = ada
    page = sit_down(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.locator(".decision").last).to_be_in_viewport()
    accessible(page)


def test_nothing_that_is_sent_tells_a_run(ada: Any) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    bodies: list[str] = []
    page.on("response", lambda answer: bodies.append(answer.text()) if "/api/" in answer.url else None)
    page.reload()
    page.wait_for_load_state("networkidle")
    bodies.append(page.content())
    tags = {path.stem for path in (evaluation.folder / "runs").iterdir()}
    assert bodies
    assert not [tag for tag in tags for body in bodies if tag in body]


def test_a_double_click_judges_one_answer(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    for number in (1, 2):
        before = page.url
        page.locator(".decision[data-label=R]").dblclick()
        expect(page.locator("#notified")).to_have_text("Ignored: the second click of a double click.")
        page.wait_for_function("address => location.href !== address", arg=before)
        saved(page)
        assert len(evaluation.rows("first")) == number
        page.wait_for_timeout(600)  # a click of its own, not the third one


def test_two_clicks_with_a_look_between_them_judge_two_answers(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    for _ in range(2):
        page.locator(".decision[data-label=R]").click()
        page.wait_for_timeout(200)
    saved(page)
    assert len(evaluation.rows("first")) == 2


def test_keys_are_never_dropped_and_a_key_held_down_decides_once(ada: Any, saved: Make) -> None:
    evaluation, _, sit_down = ada
    page = sit_down()
    for _ in range(2):  # pressed and released, as fast as the page takes them
        before = page.url
        page.keyboard.press("1")
        page.wait_for_function("address => location.href !== address", arg=before)
    page.keyboard.down("1")
    page.keyboard.down("1")  # a second time without a release: the key repeats
    page.keyboard.up("1")
    saved(page)
    assert len(evaluation.rows("first")) == 3
