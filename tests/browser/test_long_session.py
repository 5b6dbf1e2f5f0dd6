"""Two hundred answers in one sitting: a person who thinks, goes back, undoes, writes notes, reloads and loses the net.

Time to think is scaled down: a tenth of a second stands for several. At every step the bar must say how many answers
are judged, and at the end the store must have what the person last said of each.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page, expect

Make = Callable[..., Any]
KEYS = {"1": "W", "2": "U", "3": "X", "4": "R"}
QUESTIONS, RUNS = 40, int(os.environ.get("QASSAY_SESSION_RUNS", "5"))
# What a script waits for after a decision: another answer, another question, or the end.
GONE_ON = """before => document.querySelector('.notice-done') ||
    (document.querySelector('.answer-string') && document.querySelector('.answer-string').innerText !== before)"""


def write_evaluation(folder: Path) -> Path:
    (folder / "runs").mkdir(parents=True)
    (folder / "qassay.toml").write_text('name = "Long"\ntask = "confidence"\n')
    rows = [{"id": f"q{number}", "type": "factoid", "text": f"Question {number}?"} for number in range(QUESTIONS)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for run in range(RUNS):
        lines = [f"q{number} run{run} DOC{run} answer {run} of {number}\n" for number in range(QUESTIONS)]
        (folder / "runs" / f"run{run}.txt").write_text("".join(lines))
    return folder


@dataclass
class Sitting:
    """A person at a page, and what they have said."""

    page: Page
    chance: Random
    said: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    steps: list[tuple[str, str | None]] = field(default_factory=list)
    acts: dict[str, int] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        return bool(self.page.locator(".notice-done").count())

    def think(self) -> None:
        self.page.wait_for_timeout(self.chance.expovariate(1 / 60))

    def answer(self) -> str:
        return self.page.locator(".answer-string").inner_text()

    def check_progress(self) -> None:
        if not self.is_done:
            wanted = re.compile(rf"^{len(self.said)} of {QUESTIONS * RUNS}\b")
            expect(self.page.locator("#progress-text")).to_have_text(wanted)

    def decide(self) -> None:
        self.go_on(self.press())

    def press(self) -> str:
        """Decide on the answer that is shown, and return it."""
        key = self.chance.choice(list(KEYS))
        before = self.answer()
        self.steps.append((before, self.said.get(before)))
        self.said[before] = KEYS[key]
        self.page.keyboard.press(key)
        return before

    def go_on(self, before: str) -> None:
        self.page.wait_for_function(GONE_ON, arg=before)

    def write_note(self) -> None:
        answer, note = self.answer(), f"note {len(self.notes)}"
        self.page.locator("#note").fill(note)
        self.page.keyboard.press("Escape")
        self.notes[answer] = note
        self.decide()

    def go_back(self) -> None:
        before = self.answer()
        if not re.match("Item 1 of", self.page.locator("#position").inner_text()):
            self.page.keyboard.press("ArrowLeft")
            self.page.wait_for_function(GONE_ON, arg=before)
        self.decide()

    def undo(self) -> None:
        """Undo the last decision, also that of another question; what was said before stands again."""
        if not self.steps:
            return
        answer, earlier = self.steps.pop()
        if earlier is None:
            del self.said[answer]
        else:
            self.said[answer] = earlier
        self.page.keyboard.press("z")
        expect(self.page.locator(".answer-string")).to_have_text(answer)

    def reload(self) -> None:
        self.page.reload()
        expect(self.page.locator(".answer-string")).to_be_visible()

    def lose_the_net(self) -> None:
        """Decide while the server cannot be reached; only within a question, where answers are fetched ahead.

        On a busy machine the next one may not have been fetched yet: then it comes when the server is back.
        """
        if self.page.locator(".near .dot", has_text="not judged").count() < 3:
            return
        self.page.context.set_offline(True)
        before = self.press()
        expect(self.page.locator("#save-state")).to_contain_text("Not saved")
        self.page.context.set_offline(False)
        self.go_on(before)

    def step(self) -> None:
        acts = {"decide": 80, "write_note": 6, "go_back": 5, "undo": 4, "reload": 3, "lose_the_net": 2}
        act = self.chance.choices(list(acts), list(acts.values()))[0]
        self.acts[act] = self.acts.get(act, 0) + 1
        getattr(self, act)()


@pytest.mark.slow
def test_two_hundred_answers_in_one_sitting(
    make_evaluation: Make, serve: Make, visit: Make, saved: Make, tmp_path: Path
) -> None:
    evaluation = make_evaluation(write_evaluation(tmp_path / "long"))
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Ada", expected=("ERR_INTERNET_DISCONNECTED",))
    page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
    expect(page.locator(".answer-string")).to_be_visible()
    sitting = Sitting(page, Random(200))
    for _ in range(4 * QUESTIONS * RUNS):
        if sitting.is_done:
            break
        sitting.think()
        sitting.step()
        sitting.check_progress()
    expect(page.locator(".notice-done")).to_contain_text(f"You have made all {QUESTIONS * RUNS} decisions")
    rows = {row["text"]: row for row in evaluation.rows("first")}
    assert {text: row["judgment"] for text, row in rows.items()} == sitting.said
    assert len(sitting.said) == QUESTIONS * RUNS
    noted = {text: row["note"] for text, row in rows.items() if row.get("note")}
    assert noted == sitting.notes
    assert min(sitting.acts.values()) > 0
    print(f"{sum(sitting.acts.values())} steps: {sitting.acts}")
