"""Two assessors and an adjudicator through a complete small evaluation: the scores equal those from files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from qassay.demo import demo_folder
from qassay.evaluation import open_evaluation

Make = Callable[..., Any]
KEYS = {"W": "1", "U": "2", "X": "3", "R": "4"}


def _labels(name: str) -> dict[tuple[str, str, str], str]:
    """What an assessor of the built-in evaluation said of each item."""
    rows = [json.loads(line) for line in (demo_folder() / "judgments" / f"{name}.jsonl").read_text().splitlines()]
    return {
        (row["question"], row["doc"], row["text"]): row["judgment"]
        for row in rows
        if "doc" in row and "run" not in row and "judgment" in row
    }


def _judge_everything(page: Page, url: str, labels: dict[tuple[str, str, str], str], saved: Make) -> None:
    page.goto(f"{url}/work")
    page.get_by_role("link", name="judging").click()
    while True:
        expect(page.locator(".decision, .notice-done").first).to_be_visible()
        if page.locator(".notice-done").count():
            break
        question = str(page.locator("#question-id").text_content())
        text = str(page.locator(".answer-string").text_content())
        doc = str(page.locator(".document h2").text_content()).split()[-1]  # after its title
        before = page.url
        page.keyboard.press(KEYS[labels[question, doc, text]])
        page.wait_for_function(
            "address => location.href !== address || document.querySelector('.notice-done')", arg=before
        )
    saved(page)


def test_two_assessors_and_an_adjudicator(
    make_evaluation: Make, serve: Make, visit: Make, saved: Make, accessible: Make, tmp_path: Path
) -> None:
    evaluation = make_evaluation("series", "1.1", "1.3", "5.1", "5.2", "9.1", "9.2", task="confidence")
    evaluation.give_out("Ada", "Ben", assessors=2)
    server = serve(evaluation.folder)
    first, second, settled = (_labels(name) for name in ("first", "second", "adjudicated"))
    _judge_everything(visit(server, evaluation, "Ada"), server.url, first, saved)

    cleo = visit(server, evaluation, "Cleo", expected=("409",))
    cleo.goto(f"{server.url}/adjudication/question?id=1.1")
    expect(cleo.get_by_text("adjudication waits")).to_be_visible()

    _judge_everything(visit(server, evaluation, "Ben"), server.url, second, saved)
    cleo.goto(f"{server.url}/adjudication")
    accessible(cleo)
    ruled = _rule_on_everything(cleo, server.url, settled, saved, accessible)
    disputed = [
        subject for subject in first if subject[0] in one_questions(evaluation) and first[subject] != second[subject]
    ]
    assert ruled == len(disputed) > 0

    served = open_evaluation(evaluation.folder, store=evaluation.store)
    assert served.sets[0] == "adjudicated"
    plain = tmp_path / "plain"
    shutil.copytree(evaluation.folder, plain, ignore=shutil.ignore_patterns("qassay.db*", "judgments", ".qassay"))
    _write(plain / "judgments" / "adjudicated.jsonl", settled, one_questions(evaluation))
    for measure in ("cws", "accuracy"):
        from_store = served.score(measure=measure)
        from_files = open_evaluation(plain).score(measure=measure)
        assert [(run.run, run.score) for run in from_store.runs] == [(run.run, run.score) for run in from_files.runs]


def one_questions(evaluation: Any) -> set[str]:
    """The questions of an evaluation."""
    return {json.loads(line)["id"] for line in (evaluation.folder / "questions.jsonl").read_text().splitlines()}


def _rule_on_everything(
    page: Page, url: str, settled: dict[tuple[str, str, str], str], saved: Make, accessible: Make
) -> int:
    """Rule as the built-in adjudicator did, question by question."""
    count = 0
    while True:
        page.goto(f"{url}/adjudication")
        if not page.locator("#go-on").count():
            return count
        page.locator("#go-on").click()
        expect(page.locator(".verdict").first).to_be_visible()
        accessible(page)
        while not page.locator("#onward").count():
            # With the last ruling of a question the page goes on to the next one.
            question = str(page.locator("#question-id").text_content())
            text = str(page.locator(".answer-string").text_content())
            doc = str(page.locator(".document h2").text_content()).split()[-1]  # after its title
            before = page.locator("#position").text_content()
            page.keyboard.press(settled[question, doc, text].lower())
            page.wait_for_function(
                "before => (document.getElementById('position')?.textContent ?? before) !== before", arg=before
            )
            count += 1
        saved(page)


def _write(path: Path, labels: dict[tuple[str, str, str], str], questions: set[str]) -> None:
    path.parent.mkdir()
    rows = [
        {"question": question, "doc": doc, "text": text, "judgment": label}
        for (question, doc, text), label in labels.items()
        if question in questions
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
