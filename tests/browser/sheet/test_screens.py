"""Judging sheets: every screen by keyboard out of one file, offline; what comes back is what was decided."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from on_disk import read
from qassay.cli import main
from qassay.demo import demo_folder
from qassay.judging.kind import IDENTITY

Make = Callable[..., Any]
LABELS = {"W": "1", "U": "2", "X": "3", "R": "4"}
PAIRS = {"YES": "1", "NO": "2", "UNKNOWN": "3"}
SUPPORT = {"full": "1", "partial": "2", "none": "3"}


@pytest.fixture
def capsys_json(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a command prints with --json."""

    def run(*arguments: object) -> Any:
        capsys.readouterr()
        status = main([*map(str, arguments), "--json"])
        captured = capsys.readouterr()
        assert status == 0, captured.err
        return json.loads(captured.out)

    return run


def _key(folder: Path) -> dict[str, Any]:
    path = next(path for path in (folder / "sheets").iterdir() if path.name != "order.json")
    key: dict[str, Any] = json.loads(path.read_text())
    return key


def _place(page: Page) -> dict[str, int] | None:
    """Question and item that are shown."""
    box: dict[str, int] | None = page.evaluate(
        "() => { const name = Object.keys(localStorage).find((one) => one.endsWith('/place'));"
        " return name ? JSON.parse(localStorage.getItem(name)) : null; }"
    )
    return box


def _name(kind: str, row: dict[str, Any]) -> tuple[Any, ...]:
    return (kind, *(row.get(name) for name in IDENTITY[kind] if name != "assessor"))


class Assessor:
    """Somebody who judges a sheet by keyboard and says what the rows of a file say."""

    def __init__(self, page: Page, folder: Path, rows: list[dict[str, Any]]) -> None:
        self.page = page
        self.items: dict[str, Any] = _key(folder)["items"]
        self.nuggets = [(row["question"], row["nugget"]) for row in _key(folder)["nuggets"]]
        self.rows = {_name(kind, row): row for row in rows for kind in IDENTITY}

    def judge_all(self, most: int = 500) -> None:
        """Judge until nothing is left."""
        for _ in range(most):
            if self.page.locator(".notice-done").count():
                return
            before = _place(self.page)
            assert before is not None
            for part in self.items[str(before["item"])].values():
                self.judge(part["kind"], part["row"])
            self.page.wait_for_function(
                "before => document.querySelector('.notice-done') || Object.keys(localStorage).some((name) =>"
                " name.endsWith('/place') && JSON.parse(localStorage.getItem(name)).item !== before.item)",
                arg=before,
            )
        raise AssertionError("the sheet does not come to an end")

    def judge(self, kind: str, row: dict[str, Any]) -> None:
        """Say of one part what the rows say."""
        if kind == "match" and "item" in row:
            return
        verdict, press = self.rows[_name(kind, row)], self.page.keyboard.press
        if kind in ("item", "list"):
            press(LABELS[verdict["judgment"]])
            if kind == "list" and verdict["judgment"] == "R":
                expect(self.page.get_by_role("combobox")).to_be_focused()
                self.page.keyboard.type(verdict["answer"])
                press("Enter")
        elif kind == "pair":
            press(PAIRS[verdict["judgment"]])
        elif kind in ("support", "citation"):
            press(SUPPORT[verdict["support"]])
        elif kind == "rating":
            press(str(verdict["understandability"]))
            if "correctness" in verdict:
                press(str(verdict["correctness"]))
        elif kind == "holistic":
            press("t" if verdict["content"] == 10 else str(verdict["content"]))
            press("t" if verdict["organization"] == 10 else str(verdict["organization"]))
        else:
            self.match(verdict)

    def match(self, verdict: dict[str, Any]) -> None:
        """Link the nuggets of a response with its first string, and look through."""
        listed = [nugget for question, nugget in self.nuggets if question == verdict["question"]]
        for nugget in verdict["nuggets"]:
            for _ in listed:
                self.page.keyboard.press("ArrowLeft")
            for _ in range(listed.index(nugget)):
                self.page.keyboard.press("ArrowRight")
            self.page.keyboard.press("Space")
        self.page.keyboard.press("Enter")


def _only(folder: Path, *names: str) -> None:
    """Cut the demo down to some series or questions, with what runs and judgments say of them."""
    asked = [row for row in read(folder / "questions.jsonl") if row.get("series") in names or row["id"] in names]
    chosen = {row["id"] for row in asked}
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    paths = [*folder.glob("judgments/*"), *folder.glob("nuggets/*"), *folder.glob("runs/*"), folder / "answers.jsonl"]
    for path in filter(Path.exists, paths):
        lines = path.read_text().splitlines()
        first = [json.loads(line) if line.startswith("{") else {"question": line.split()[0]} for line in lines]
        questions = [str(row.get("question") or row.get("topic_id")) for row in first]
        path.write_text("".join(line + "\n" for line, name in zip(lines, questions, strict=True) if name in chosen))


def test_a_series_is_judged_by_keyboard_and_scores_as_from_files(
    folder: Path, sheet: Make, handed: Make, capsys_json: Make
) -> None:
    """Factoids, lists and nuggets, with a reload in the middle."""
    _only(folder, "1")
    page = sheet(folder)
    rows = read(folder / "judgments" / "adjudicated.jsonl")
    page.keyboard.press("Tab")
    page.get_by_role("link", name="Begin judging").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".answer-string")).to_be_visible()
    ada = Assessor(page, folder, rows)
    ada.judge("item", ada.items[str((_place(page) or {})["item"])][""]["row"])
    page.reload()
    expect(page.locator("#position")).to_have_text("Item 2 of 5")
    expect(page.locator("#sheet-progress")).to_have_text("1 of 70 decisions")
    ada.judge_all()
    expect(page.locator("#sheet-progress")).to_have_text("70 of 70 decisions")
    file = handed(page)
    page.keyboard.press("o")
    expect(page.get_by_text("Everything is judged")).to_be_visible()
    expect(page.locator(".badge", has_text="finished")).to_have_count(7)
    [added] = capsys_json("import", folder, file)["added"]
    assert (added["kind"], added["to"]) == ("sheet", ["judgments/ada.jsonl"])
    score = {name: capsys_json("score", folder, "--key", name) for name in ("ada", "adjudicated")}
    assert score["ada"]["runs"] == score["adjudicated"]["runs"]
    assert score["ada"]["questions"] == score["adjudicated"]["questions"]
    assert capsys_json("import", folder, file)["added"][0]["count"] == 0


def _verdicts(rows: list[dict[str, Any]]) -> set[str]:
    """What rows say, without who, when and by what rule."""
    apart = ("assessor", "at", "settled", "note")
    return {json.dumps({n: v for n, v in row.items() if n not in apart}, sort_keys=True) for row in rows}


@pytest.mark.parametrize(
    ("which", "keep", "task", "options"),
    [
        ("entailment", ("3", "5", "7"), "entailment3", ()),
        ("entailment", ("3", "5"), None, ()),
        ("rag", ("r1",), None, ("--citations",)),
    ],
    ids=["pairs", "ratings", "support"],
)
def test_every_other_screen_gives_back_what_was_decided(
    which: Any,
    keep: tuple[str, ...],
    task: str | None,
    options: tuple[str, ...],
    tmp_path: Path,
    sheet: Make,
    handed: Make,
) -> None:
    folder = Path(shutil.copytree(demo_folder(which), tmp_path / "eval"))
    _only(folder, *keep)
    configuration = (folder / "qassay.toml").read_text()
    if task is not None:
        (folder / "qassay.toml").write_text(f'task = "{task}"\n')
    elif "justified" in configuration:
        (folder / "qassay.toml").write_text(f'task = "justification"\njustified = {json.dumps(keep)}\n')
    source = "first" if which == "entailment" and task is None else "adjudicated"
    for path in (folder / "nuggets").glob("*") if source == "adjudicated" else ():
        if path.stem != source:
            path.unlink()
    rows = read(folder / "judgments" / f"{source}.jsonl")
    page = sheet(folder, *options)
    page.get_by_role("link", name="Begin judging").click()
    Assessor(page, folder, rows).judge_all()
    file = handed(page)
    assert main(["import", str(folder), str(file)]) == 0
    judged = read(folder / "judgments" / "ada.jsonl")
    assert {row["assessor"] for row in judged} == {"ada"}
    wanted = [row for row in rows if "understandability" in row] if source == "first" else rows
    assert _verdicts(judged) == _verdicts(wanted)


def test_free_text_answers_and_their_contexts(free_text: Path, sheet: Make, handed: Make, accessible: Make) -> None:
    page = sheet(free_text)
    page.get_by_role("link", name="Begin judging").click()
    expect(page.locator(".gold li").first).to_have_text("Mikhail Bulgakov")
    for place in range(1, 9):
        expect(page.locator(".decision").first).to_be_visible()
        accessible(page)
        contexts = page.locator("[data-screen=contexts]").count()
        page.keyboard.press("2" if contexts else "x")
        expect(page.locator("#sheet-progress")).to_have_text(f"{place} of 8 decisions")
    expect(page.locator(".notice-done")).to_contain_text("Save your judgments to a file and send it")
    assert main(["import", str(free_text), str(handed(page))]) == 0
    rows = read(free_text / "judgments" / "ada.jsonl")
    assert {row["judgment"] for row in rows if "judgment" in row} == {"wrong"}
    support = {(row["question"], row["run"]): row["support"] for row in rows if "support" in row}
    pairs = [(question, run) for question in ("q1", "q2") for run in ("small", "large")]
    assert support == dict.fromkeys(pairs, "unsupported")
    assert len(rows) == 8


def test_holistic_scores_are_a_stage_beside_matching(folder: Path, sheet: Make, handed: Make) -> None:
    page = sheet(folder, "--questions", "1.7", "--holistic")
    page.get_by_role("link", name="Begin judging").click()
    page.get_by_role("link", name="Content and organization").click()
    for key in "8", "6", "t", "0":
        page.keyboard.press(key)
    expect(page.locator("#position")).to_have_text("Item 3 of 10")
    page.get_by_role("link", name="Match nuggets").click()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#position")).to_have_text("Item 2 of 10")
    page.reload()
    expect(page.locator("#sheet-progress")).to_have_text("3 of 20 decisions")
    assert main(["import", str(folder), str(handed(page))]) == 0
    rows = read(folder / "judgments" / "ada.jsonl")
    assert [(row["content"], row["organization"]) for row in rows if "content" in row] == [(8, 6), (10, 0)]
    assert [row["nuggets"] for row in rows if "nuggets" in row] == [["1"], []]
