"""Adjudication by keyboard: from question to question, and assessors' own lists of nuggets side by side."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import desk as desks
import pytest
from playwright.sync_api import Page, expect

from acting import act
from qassay.demo import demo_folder
from qassay.evaluation import open_evaluation
from qassay.store.acts import Assessor
from qassay.store.judging.nuggets import write_nugget

Make = Callable[..., Any]
LISTS = {
    "first": [
        ("discovered polonium and radium", True),
        ("born in Warsaw", False),
        ("her notebooks are radioactive", False),
    ],
    "second": [("discovered radium", True), ("born in Warsaw", True), ("first woman at the Sorbonne", False)],
}


@pytest.fixture
def cleo(make_evaluation: Make, serve: Make, visit: Make) -> Callable[..., Page]:
    """Two questions whose assessors wrote their own nuggets and found the first of them everywhere; Cleo's browser."""
    evaluation = make_evaluation("series", "1.7", "2.7")
    evaluation.give_out("Ada", "Ben")
    people = [Assessor(evaluation.account[name], name) for name in ("Ada", "Ben")]
    judging = desks.Desk(evaluation.store, open_evaluation(evaluation.folder, store=evaluation.store), people)
    with evaluation.store.write() as connection:
        for name, nuggets in LISTS.items():
            for question in ("1.7", "2.7"):
                for text, vital in nuggets:
                    body = {"vital": vital, "text": text}
                    write_nugget(act(connection), name, question, None, body)
                judging.judge_all(
                    connection, question, name, lambda _, part: {"nuggets": ["1"] if part.name == "" else []}
                )
    server = serve(evaluation.folder)

    def sit_down(**options: Any) -> Page:
        page: Page = visit(server, evaluation, "Cleo", **options)
        page.goto(f"{server.url}/adjudication/question?id=1.7")
        expect(page.locator(".verdict")).to_have_count(2)
        return page

    return sit_down


def test_lists_side_by_side_and_on_to_the_next_question(cleo: Make, accessible: Make) -> None:
    page: Page = cleo()
    accessible(page)
    rows = page.locator(".side-by-side tbody.differs td")
    expect(rows).to_have_count(4)
    expect(page.locator(".side-by-side mark")).to_have_text(["polonium and"])
    expect(page.locator(".side-by-side tbody.missing td.none")).to_have_count(2)
    expect(page.locator(".side-by-side tbody.same")).to_have_count(0)
    page.keyboard.press("g")  # skip it
    expect(page.locator(".judge-where")).to_contain_text("question 2.7")
    expect(page.locator("#skip")).to_have_text("Go on with 1.7")
    page.keyboard.press("1")
    expect(page.locator("#onward")).to_have_text("Go on with 1.7")
    page.keyboard.press("g")
    expect(page.locator("#question-id")).to_have_text("1.7")
    expect(page.locator(".verdict")).to_have_count(2)  # from here on the page listens
    page.keyboard.press("2")
    expect(page.locator("#onward")).to_have_text("Back to all questions")
    page.keyboard.press("g")
    expect(page.get_by_text("Nothing to decide.")).to_be_visible()


def test_a_label_of_two_kinds_of_judgment_has_one_key(
    make_evaluation: Make, serve: Make, visit: Make, tmp_path: Path
) -> None:
    """Nuggets and citations of one question, both with full, partial and none."""
    folder = Path(shutil.copytree(demo_folder("rag"), tmp_path / "rag"))
    for name in ("first", "second"):
        (folder / "nuggets" / f"{name}.jsonl").unlink()
    evaluation = make_evaluation(folder, "r1", without=("judgments",))
    evaluation.give_out("Ada", "Ben", citations=True)
    people = [Assessor(evaluation.account[name], name) for name in ("Ada", "Ben")]
    judging = desks.Desk(evaluation.store, open_evaluation(evaluation.folder, store=evaluation.store), people)
    with evaluation.store.write() as connection:
        for name, support in (("first", "full"), ("second", "none")):
            judging.judge_all(connection, "r1", name, lambda _, part, support=support: {"support": support})
    server = serve(evaluation.folder)
    page: Page = visit(server, evaluation, "Cleo")
    page.goto(f"{server.url}/adjudication/question?id=r1")
    expect(page.locator(".own-ruling kbd")).to_have_text(["F", "P", "O"])
    page.keyboard.press("p")
    expect(page.locator("#position")).to_contain_text("Disagreement 2")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#position")).to_contain_text("Disagreement 1")
    expect(page.locator("#save-state")).to_have_text("Saved")
    assert [row["support"] for row in evaluation.rows("adjudicated")] == ["partial"]
