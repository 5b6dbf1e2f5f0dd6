"""A judge is corrected: a program judges all answers, a person the drawn ones in the browser, and the page says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from qassay.cli import main

Make = Callable[..., Any]
MOVED = "address => location.href !== address || document.querySelector('.notice-done')"
QUESTIONS = 30


@pytest.fixture
def hills(tmp_path: Path) -> Path:
    """The answers of two systems; the new one says the right thing in its own words."""
    files = []
    for system in ("old", "new"):
        rows = []
        for number in range(QUESTIONS):
            right = number % 3 > 0 if system == "old" else number % 5 > 0
            text = f"{number} metres" if right else f"{number + 50} metres"
            if system == "new" and right and number % 2:
                text = f"It is {number} m high."
            rows.append(
                {"id": f"q{number}", "question": f"How high is {number}?", "answer": text, "gold": f"{number} metres"}
            )
        files.append(tmp_path / f"{system}.jsonl")
        files[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["import", str(tmp_path / "hills"), *map(str, files), "--task", "qa"]) == 0
    return tmp_path / "hills"


def _judge_everything(page: Page, url: str) -> int:
    """Judge all that is assigned, by what is true; how many answers that were."""
    page.goto(f"{url}/work")
    page.get_by_role("link", name="judging").click()
    judged = 0
    while True:
        expect(page.locator(".decision, .notice-done").first).to_be_visible()
        if page.locator(".notice-done").count():
            return judged
        height = int(str(page.locator(".answer-string").text_content()).removeprefix("It is ").split()[0])
        before = page.url
        page.keyboard.press("1" if height < 50 else "3")
        page.wait_for_function(MOVED, arg=before)
        judged += 1


def test_sixty_labels_in_small(
    hills: Path,
    make_evaluation: Make,
    serve: Make,
    visit: Make,
    saved: Make,
    accessible: Make,
    capsys: pytest.CaptureFixture[str],
) -> None:
    evaluation = make_evaluation(hills)
    folder = str(evaluation.folder)
    assert main(["judge", folder, "--with", "match(contains=true)", "--set", "judge"]) == 0
    capsys.readouterr()
    assert main(["sample", folder, "--size", "20", "--for", "judge", "--assign", "ada", "--json"]) == 0
    drawn = json.loads(capsys.readouterr().out)
    assert drawn["assigned"] == 20
    server = serve(evaluation.folder)

    page = visit(server, evaluation, "Ada")
    judged = _judge_everything(page, server.url)
    saved(page)
    assert judged == drawn["labels"]
    assert {row["question"] for row in evaluation.rows("first")} == {draw["question"] for draw in drawn["draws"]}

    page = visit(server, evaluation, "Olga")
    page.goto(f"{server.url}/results?key=judge")
    corrected = page.locator("#table-corrected")
    expect(corrected).to_be_visible(timeout=60_000)
    expect(page.locator("#table-leaderboard")).to_be_visible()
    expect(corrected.locator("caption")).to_contain_text("judge corrected with")
    assert main(["score", folder, "--key", "judge", "--correct-with", "first", "--json"]) == 0
    rows = {row["run"]: row for row in json.loads(capsys.readouterr().out)["runs"]}
    for name, row in rows.items():
        shown = corrected.locator("tbody tr", has=page.get_by_role("link", name=name, exact=True))
        expect(shown).to_contain_text(f"{row['score']:.3f}")
        expect(shown).to_contain_text(f"{row['interval'][0]:.3f}–{row['interval'][1]:.3f}")
    assert rows["new"]["judge_score"] < rows["old"]["judge_score"] < rows["new"]["score"]
    accessible(page)

    page.goto(f"{server.url}/results/compare?key=judge&a=new&b=old")
    corrected = page.locator("#table-corrected")
    expect(corrected).to_be_visible(timeout=60_000)
    assert main(["compare", folder, "new", "old", "--key", "judge", "--correct-with", "first", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    expect(corrected).to_contain_text(f"{document['difference']:+.3f}")
    expect(page.locator("#table-compare-1")).to_contain_text(f"{document['judge_difference']:+.3f}")
