"""Free-text answers: judged by keyboard in both stages, disputed, ruled on; the scores equal those from files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from qassay.evaluation import open_evaluation

Make = Callable[..., Any]
MOVED = "address => location.href !== address || document.querySelector('.notice-done')"
SETTLED = {"Bulgakov wrote it.": "correct", "In 1928.": "partly", "In Moscow.": "wrong"}
LONG = "partly"


def _judge_everything(page: Page, url: str, choose: Callable[[str, str, str], str], saved: Make) -> list[str]:
    """Judge all that is assigned; the screens in the order they came."""
    page.goto(f"{url}/work")
    page.get_by_role("link", name="judging").click()
    screens = []
    while True:
        expect(page.locator(".decision, .notice-done").first).to_be_visible()
        if page.locator(".notice-done").count():
            break
        screens.append(str(page.locator("article").get_attribute("data-screen")))
        answer = str(page.locator(".answer-string").text_content())
        contexts = " ".join(page.locator(".context").all_text_contents())
        before = page.url
        page.keyboard.press(choose(screens[-1], answer, contexts))
        page.wait_for_function(MOVED, arg=before)
    saved(page)
    return screens


def _right(screen: str, answer: str, contexts: str) -> str:
    if screen == "contexts":
        return "1" if "author" in contexts else "2"
    return {"correct": "1", "partly": "2", "wrong": "x"}[SETTLED.get(answer, LONG)]


def _lenient(screen: str, answer: str, contexts: str) -> str:
    return "1"


def test_two_stages_two_assessors_and_an_adjudicator(
    free_text: Path, make_evaluation: Make, serve: Make, visit: Make, saved: Make, accessible: Make
) -> None:
    evaluation = make_evaluation(free_text)
    evaluation.give_out("Ada", "Ben")
    server = serve(evaluation.folder)
    screens = _judge_everything(visit(server, evaluation, "Ada"), server.url, _right, saved)
    assert screens == ["labels", "contexts", "contexts", "labels", "labels", "contexts", "contexts", "labels"]
    _judge_everything(visit(server, evaluation, "Ben"), server.url, _lenient, saved)

    page = visit(server, evaluation, "Cleo")
    ruled = []
    while page.goto(f"{server.url}/adjudication") and page.locator("#go-on").count():
        page.locator("#go-on").click()
        while not page.locator("#onward").count():
            expect(page.locator(".verdict")).to_have_count(2)
            accessible(page)
            support = page.locator(".said", has_text="supported").count()
            has_gold = page.locator("#question-id").inner_text() != "q3" and not support
            expect(page.locator(".gold")).to_have_count(int(has_gold))
            before = page.locator("#position").text_content()
            ruled.append("u" if support else {"partly": "p", "wrong": "x"}[_settled(page)])
            page.keyboard.press(ruled[-1])
            expect(page.locator("#position")).not_to_have_text(str(before))
        saved(page)
    assert sorted(ruled) == ["p", "p", "u", "u", "x"]

    served = open_evaluation(evaluation.folder, store=evaluation.store)
    assert served.sets[0] == "adjudicated"
    (free_text / "judgments").mkdir()
    (free_text / "judgments" / "adjudicated.jsonl").write_text("".join(map(_line, _rows(free_text))))
    from_store, from_files = served.score(), open_evaluation(free_text).score()
    assert from_store.runs == from_files.runs
    assert {run.run: run.score for run in from_files.runs} == {"small": pytest.approx(0.5), "large": pytest.approx(0.5)}


def _settled(page: Page) -> str:
    return SETTLED.get(str(page.locator(".answer-string").text_content()), LONG)


def _rows(folder: Path) -> list[dict[str, str]]:
    """What is settled, as a file says it."""
    rows = []
    for path in sorted((folder / "runs").iterdir()):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            if row["items"]:
                text = row["items"][0]["text"]
                rows.append({"question": row["question"], "text": text, "judgment": SETTLED.get(text, LONG)})
            if row.get("contexts"):
                support = "supported" if path.stem == "small" else "unsupported"
                rows.append({"question": row["question"], "run": path.stem, "support": support})
    return list({_line(row): row for row in rows}.values())


def _line(row: dict[str, str]) -> str:
    return json.dumps(row) + "\n"


@pytest.fixture
def ada_judges(free_text: Path, make_evaluation: Make, serve: Make, visit: Make) -> tuple[Any, Callable[..., Page]]:
    """All questions assigned to Ada: the evaluation, and a way to open her first."""
    evaluation = make_evaluation(free_text)
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)

    def sit_down(**options: Any) -> Page:
        page: Page = visit(server, evaluation, "Ada", **options)
        page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
        expect(page.locator(".answer-string")).to_be_visible()
        return page

    return evaluation, sit_down


def test_notes_undo_and_gold(ada_judges: Any, saved: Make) -> None:
    evaluation, sit_down = ada_judges
    page = sit_down()
    expect(page.locator(".gold li")).to_have_text(["Mikhail Bulgakov", "ميخائيل بولغاكوف"])
    expect(page.locator(".context")).to_have_count(2)  # of both systems, for one answer
    page.keyboard.press("m")
    page.keyboard.type("1 x z")
    page.locator("#stage").focus()
    page.keyboard.press("x")
    expect(page.get_by_role("link", name="Support by the contexts")).to_have_attribute("aria-current", "page")
    expect(page.locator(".gold")).to_have_count(0)
    expect(page.locator(".context")).to_have_count(1)
    saved(page)
    assert [(row["judgment"], row["note"]) for row in evaluation.rows("first")] == [("wrong", "1 x z")]
    page.keyboard.press("z")
    expect(page.locator(".decision[aria-pressed=true]")).to_have_count(0)
    expect(page.locator(".gold")).to_be_visible()
    saved(page)
    assert evaluation.rows("first") == []


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_it_fits_a_phone(ada_judges: Any, accessible: Make, scheme: str) -> None:
    """A shared answer with gold from right to left; then a long answer, from right to left too."""
    _, sit_down = ada_judges
    page = sit_down(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    for position in ("Item 1 of 1", "Item 1 of 2", "Item 2 of 2", "Item 1 of 2", "Item 2 of 2"):
        expect(page.locator("#position")).to_have_text(position)
        expect(page.locator(".decision").last).to_be_in_viewport()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        accessible(page)
        before = page.url
        page.keyboard.press("1")
        page.wait_for_function(MOVED, arg=before)
