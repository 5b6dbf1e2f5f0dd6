"""Judging sheets: undo, notes, two tabs, two machines, hostile strings, phones, and what the file gives away."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from on_disk import read
from qassay.cli import main

Make = Callable[..., Any]


def test_undo_notes_and_known_answers_come_back(folder: Path, sheet: Make, handed: Make) -> None:
    page = sheet(folder, "--questions", "1.1")
    page.get_by_role("link", name="Begin judging").click()
    page.keyboard.press("4")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    page.keyboard.press("z")
    expect(page.locator("#position")).to_have_text("Item 1 of 5")
    expect(page.locator("#progress-text")).to_have_text(re.compile("^0 of"))
    page.keyboard.press("m")
    page.keyboard.type("1 2 s z, a note")
    page.locator("#stage").focus()
    page.keyboard.press("3")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    page.get_by_text("Add a known answer").click()
    page.get_by_label("Known answer").fill("Warszawa")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".known-answers")).to_contain_text("Warszawa")
    page.locator("#stage").focus()
    assert main(["import", str(folder), str(handed(page))]) == 0
    [row] = read(folder / "judgments" / "ada.jsonl")
    assert (row["judgment"], row["note"]) == ("X", "1 2 s z, a note")
    last = read(folder / "answers.jsonl")[-1]
    assert (last["question"], last["answer"], last["assessor"]) == ("1.1", "Warszawa", "ada")


def test_classes_are_renamed_undone_and_merged(folder: Path, sheet: Make, handed: Make) -> None:
    page = sheet(folder, "--questions", "1.6")
    page.get_by_role("link", name="Begin judging").click()
    expect(page.get_by_role("listbox", name="Elements of the list")).to_be_focused()
    page.keyboard.press("4")
    page.keyboard.type("Somebody")
    page.keyboard.press("Enter")
    known = page.get_by_role("region", name="Known answers")
    expect(known.get_by_text("Somebody", exact=True)).to_be_visible()
    page.keyboard.press("c")
    page.keyboard.press("Enter")
    page.keyboard.type("Somebody else")
    page.keyboard.press("Enter")
    expect(known.get_by_text("Somebody else", exact=True)).to_be_visible()
    page.keyboard.press("z")
    expect(known.get_by_text("Somebody", exact=True)).to_be_visible()
    page.keyboard.press("c")
    page.keyboard.press("Enter")
    page.keyboard.type("Pierre Curie")
    page.keyboard.press("Enter")
    expect(known.get_by_text("Somebody", exact=True)).to_have_count(0)
    page.reload()
    expect(page.get_by_role("option").first).to_contain_text("Pierre Curie")
    [*_, last] = read(handed(page))
    assert last["verdict"] == {"judgment": "R", "answer": "Pierre Curie"}


def test_work_goes_on_with_another_browser(folder: Path, sheet: Make, handed: Make) -> None:
    page = sheet(folder, "--questions", "1.1,1.2")
    page.get_by_role("link", name="Begin judging").click()
    for key in "4", "1":
        page.keyboard.press(key)
    expect(page.locator("#position")).to_have_text("Item 3 of 5")
    file = handed(page)
    other = sheet(folder)
    expect(other.locator("#sheet-progress")).to_have_text("0 of 9 decisions")
    other.locator("#load-file").set_input_files(file)
    expect(other.locator("#told")).to_contain_text("2 decisions loaded")
    expect(other.locator("#sheet-progress")).to_have_text("2 of 9 decisions")
    other.locator("#load-file").set_input_files(file)
    expect(other.locator("#told")).to_contain_text("here already")
    other.get_by_role("link", name="Go on judging").click()
    expect(other.locator("#position")).to_have_text("Item 3 of 5")
    again = handed(other)
    assert again.read_text() == file.read_text()
    file.write_text(file.read_text().replace('"sheet":"ada-', '"sheet":"bob-'))
    other.locator("#load-file").set_input_files(file)
    expect(other.locator("#told")).to_contain_text("belongs to the sheet bob-")


def _wait_for_stored(page: Page, name: str) -> None:
    """Two tabs are two processes: what one stores reaches the other a moment later."""
    page.wait_for_function("name => Object.keys(localStorage).some(key => key.endsWith(`/${name}`))", arg=name)


def test_of_two_tabs_the_second_gets_a_conflict(folder: Path, sheet: Make) -> None:
    page = sheet(folder, "--questions", "1.1")
    page.get_by_role("link", name="Begin judging").click()
    expect(page.locator("#position")).to_have_text("Item 1 of 5")
    other = page.context.new_page()
    other.goto(page.url)
    _wait_for_stored(other, "place")
    other.reload()
    expect(other.locator("#position")).to_have_text("Item 1 of 5")
    page.bring_to_front()
    page.keyboard.press("4")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    _wait_for_stored(other, "question-1")
    other.bring_to_front()
    other.keyboard.press("1")
    dialog = other.get_by_role("dialog")
    expect(dialog).to_contain_text("Correct (R)")
    expect(dialog).to_contain_text("Incorrect (W)")
    dialog.get_by_role("button", name="Keep the saved one").click()
    expect(other.locator(".decision[aria-pressed=true]")).to_have_attribute("data-label", "R")


def test_a_browser_that_keeps_nothing_is_reported(
    folder: Path, sheet: Make, browser: Any, tmp_path: Path, handed: Make
) -> None:
    sheet(folder, "--questions", "1.1")
    context: BrowserContext = browser.new_context()
    context.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
    )
    page = context.new_page()
    page.goto((tmp_path / "ada.html").as_uri())
    page.get_by_role("link", name="Begin judging").click()
    page.keyboard.press("4")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    expect(page.locator("#save-state")).to_contain_text("Not saved")
    assert len(read(handed(page))) == 1
    context.close()


def test_shortcuts_are_shown_and_kept(folder: Path, sheet: Make, accessible: Make) -> None:
    page = sheet(folder, "--questions", "1.1")
    page.get_by_role("link", name="Begin judging").click()
    expect(page.locator(".decision[data-label=R]")).to_be_visible()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Save judgments to a file")
    accessible(page)
    dialog.get_by_role("button", name="Change the key of Correct (R)").click()
    page.keyboard.press("g")
    expect(dialog).to_contain_text("is G now")
    page.reload()
    expect(page.locator(".decision[data-label=R] kbd")).to_have_text("G")


def test_hostile_strings_stay_strings(tmp_path: Path, sheet: Make) -> None:
    """Answers, documents, questions and names that try to be markup, end the script or reorder the line."""
    hostile = (
        "</script><script>window.hacked=1</script><img src=x onerror=hacked=1> "
        "<!--<script> \u2028\u202e&lt; ${1} \\u003c"
    )
    folder = tmp_path / "eval"
    for name in ("runs", "collection"):
        (folder / name).mkdir(parents=True)
    (folder / "qassay.toml").write_text('name = "<b>E</b>"\ntask = "ranked5"\n')
    question = {"id": "</script>", "type": "factoid", "text": hostile}
    (folder / "questions.jsonl").write_text(json.dumps(question) + "\n")
    item = {"run": "secret", "question": "</script>", "items": [{"doc": '"><script>', "text": hostile}]}
    (folder / "runs" / "secret.jsonl").write_text(json.dumps(item) + "\n")
    document = {"id": '"><script>', "text": f"before {hostile} after \U0001f600"}
    (folder / "collection" / "c.jsonl").write_text(json.dumps(document) + "\n")
    page = sheet(folder)
    page.get_by_role("link", name="Begin judging").click()
    # A character that turns text around is shown as a mark, and has no effect.
    assert page.locator(".answer-string").text_content() == hostile.replace("\u202e", "U+202E")
    expect(page.locator(".document-text mark")).to_have_text(hostile.replace("\u202e", "U+202E"))
    assert page.locator(".document-text").text_content() == document["text"].replace("\u202e", "U+202E")
    assert page.evaluate("window.hacked") is None
    assert page.locator("#main img, #main script").count() == 0


@pytest.mark.parametrize("width", [1280, 360])
def test_pages_are_accessible_and_fit(folder: Path, sheet: Make, accessible: Make, width: int) -> None:
    scheme = "light" if width > 1000 else "dark"
    page = sheet(folder, "--questions", "1.1,1.6,1.7", viewport={"width": width, "height": 740}, color_scheme=scheme)
    accessible(page)
    for name in "1.1", "1.6", "1.7":
        page.keyboard.press("o")
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.locator("#position")).to_contain_text("Item 1 of")
        expect(page.locator("#stage")).not_to_be_empty()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        accessible(page)


def test_the_file_names_no_run_and_lets_nothing_in_or_out(folder: Path, sheet: Make, tmp_path: Path) -> None:
    page = sheet(folder, "--questions", "1")
    text = (tmp_path / "ada.html").read_text()
    tags = [path.stem for path in (folder / "runs").iterdir()]
    assert len(tags) > 5
    assert not [tag for tag in tags if tag in text]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.get_by_role("link", name="Begin judging").click()
    page.keyboard.press("1")
    assert [url for url in asked if not url.startswith(("data:image/svg", "data:font/woff2"))] == [page.url]
    policy = page.locator("meta[http-equiv]").get_attribute("content") or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert not [
        word
        for word in ("unsafe", "connect-src", "http", "data:;", "blob:")
        if word in policy.replace("img-src data:; font-src data:;", "")
    ]


def test_passages_are_marked_where_they_occur(tmp_path: Path, sheet: Make, handed: Make) -> None:
    folder = tmp_path / "eval"
    for name in ("runs", "collection"):
        (folder / name).mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "passages"\n')
    (folder / "questions.jsonl").write_text(json.dumps({"id": "1", "type": "factoid", "text": "Where?"}) + "\n")
    text = "Not here. \U0001f600 Here, in Warsaw. Not here either."
    (folder / "collection" / "c.jsonl").write_text(json.dumps({"id": "D1", "text": text}) + "\n")
    (folder / "runs" / "a.txt").write_text(f"1 a D1 {text.index('Here')} {len('Here, in Warsaw.')}\n")
    page = sheet(folder)
    page.get_by_role("link", name="Begin judging").click()
    expect(page.locator(".document-text mark")).to_have_text("Here, in Warsaw.")
    expect(page.locator(".decision")).to_have_count(3)
    page.keyboard.press("3")
    expect(page.locator(".notice-done")).to_be_visible()
    assert main(["import", str(folder), str(handed(page))]) == 0
    [row] = read(folder / "judgments" / "ada.jsonl")
    assert (row["start"], row["length"], row["judgment"]) == (12, 16, "R")


def test_many_questions_are_turned_over(tmp_path: Path, sheet: Make) -> None:
    folder = tmp_path / "eval"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "entailment2"\n')
    pairs = [{"id": str(number), "type": "pair", "text": "T", "hypothesis": "H"} for number in range(1, 503)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs))
    page = sheet(folder)
    expect(page.get_by_text("Questions 1 to 500 of 502")).to_be_visible()
    page.get_by_role("button", name="After").click()
    page.get_by_role("link", name="502", exact=True).click()
    page.keyboard.press("1")
    expect(page.locator("#question-id")).to_have_text("1")
    page.keyboard.press("o")
    expect(page.locator("#sheet-progress")).to_have_text("1 of 502 decisions")


def test_without_judgments_there_is_no_file(folder: Path, sheet: Make) -> None:
    page = sheet(folder, "--questions", "1.1")
    downloads: list[Any] = []
    page.on("download", lambda download: downloads.append(download))
    page.get_by_role("button", name="Save judgments").click()
    expect(page.locator("#told")).to_have_text("Nothing to save yet: you have not judged anything on this sheet.")
    page.wait_for_timeout(300)
    assert downloads == []


def test_notes_on_a_sheet_outlive_the_page(folder: Path, sheet: Make) -> None:
    page = sheet(folder, "--questions", "1.1")
    page.get_by_role("link", name="Begin judging").click()
    page.keyboard.press("m")
    page.keyboard.type("look again")
    page.keyboard.press("Tab")
    page.keyboard.press("n")
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    page.reload()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#note")).to_have_value("look again")


def test_doubts_are_kept_listed_and_handed_over(
    folder: Path, sheet: Make, handed: Make, accessible: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    page = sheet(folder, "--questions", "1.1")
    page.get_by_role("link", name="Begin judging").click()
    expect(page.locator("details.rules")).to_have_attribute("open", "")
    expect(page.locator(".known-answers")).to_contain_text("Warsaw Marie Curie as a student demo-curie-1")
    string = page.locator(".answer-string").inner_text()
    page.keyboard.press("f")
    page.keyboard.type("two cities in one")
    page.keyboard.press("Enter")
    expect(page.locator("#move-flag")).to_contain_text("Flagged")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#move-flag")).not_to_contain_text("Flagged")
    page.keyboard.press("f")
    page.keyboard.type("a slip")
    page.keyboard.press("Enter")
    page.keyboard.press("f")
    page.get_by_role("button", name="Remove flag").click()
    page.reload()
    page.keyboard.press("o")
    doubts = page.get_by_role("region", name="Flagged answers")
    expect(doubts).to_contain_text(f"{string} two cities in one")
    expect(doubts).not_to_contain_text("a slip")
    accessible(page)
    file = handed(page)
    assert {row.get("flag") for row in read(file)} == {"two cities in one", ""}
    page.evaluate("localStorage.clear()")
    page.reload()
    page.locator("#load-file").set_input_files(file)
    expect(doubts).to_contain_text("two cities in one")
    capsys.readouterr()
    assert main(["import", str(folder), str(file)]) == 0
    printed = capsys.readouterr().out
    assert f"1 answer flagged as doubtful (question 1.1, {string!r}: two cities in one)" in printed
    assert not (folder / "judgments" / "ada.jsonl").exists()  # a flag is not a judgment
