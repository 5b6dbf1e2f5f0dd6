"""Trust a judge with a few labels, from end to end by commands: import, judge, draw, label, correct."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.stats

import qassay
from on_disk import write
from qassay.cli import main
from qassay.meta.correction.estimates import corrected_mean, corrected_share
from qassay.meta.correction.sampling import Draw, random_order
from qassay.meta.looks import Look, Plan

Call = Callable[..., Any]
JUDGE = "match(contains=true)"
QUESTIONS = 150


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def calling(*arguments: object, status: int = 0) -> Any:
        assert main([*map(str, arguments), "--json"]) == status, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return calling


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Call:
    """What a command says that refuses its input."""

    def refusing(*arguments: object, status: int = 1) -> str:
        assert main([*map(str, arguments)]) == status
        return capsys.readouterr().err

    return refusing


class World:
    """Answers of three systems whose truth is known: right in the words of the gold answer, right in others, wrong."""

    def __init__(self, questions: int = QUESTIONS) -> None:
        drawn = random.Random(5)
        self.truth: dict[tuple[str, str], bool] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {}
        for system, (right, reworded) in {"new": (0.75, 0.5), "old": (0.6, 0.1), "base": (0.35, 0.1)}.items():
            for number in range(questions):
                text = f"answer {number}"
                is_right = drawn.random() < right
                if not is_right:
                    text = f"nonsense {drawn.randrange(3)}"
                elif drawn.random() < reworded:
                    text = f"number {number} in other words"
                self.truth[f"q{number}", text] = is_right
                self.rows.setdefault(system, []).append(
                    {"id": f"q{number}", "question": f"What is {number}?", "answer": text, "gold": f"answer {number}"}
                )

    def label(self, row: dict[str, Any]) -> str:
        return "correct" if self.truth[row["question"], row["text"]] else "incorrect"

    def scores(self, system: str) -> np.ndarray:
        return np.array([float(self.truth[row["id"], row["answer"]]) for row in self.rows[system]])

    def judged(self, system: str) -> np.ndarray:
        return np.array([float(row["answer"] == row["gold"]) for row in self.rows[system]])


@pytest.fixture(scope="module")
def world() -> World:
    return World()


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, world: World) -> Path:
    """Imported, and judged by a program; tests get a copy."""
    place = tmp_path_factory.mktemp("judged")
    folder = place / "my-eval"
    assert main(["init", str(folder), "--task", "qa"]) == 0
    files = [str(write(place / f"{system}.jsonl", rows)) for system, rows in world.rows.items()]
    assert main(["import", str(folder), *files]) == 0
    assert main(["judge", str(folder), "--with", JUDGE]) == 0
    return folder


@pytest.fixture
def evaluation(tmp_path: Path, judged: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A copy of one's own."""
    capsys.readouterr()
    return Path(shutil.copytree(judged, tmp_path / "my-eval"))


def label_sheet(path: Path, world: World, *, only: int | None = None) -> Path:
    """A sheet filled in by somebody who knows the truth, or its first questions."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    chosen = list(dict.fromkeys(row["question"] for row in rows))[:only]
    filled = [{**row, "judgment": world.label(row)} for row in rows if row["question"] in chosen]
    return write(path.with_name(f"filled-{path.name}"), filled)


def draw(call: Call, folder: Path, world: World, size: int = 60, *more: object) -> dict[str, Any]:
    """Draw a sample and have all of it labelled by ada."""
    sheet = folder.parent / f"sheet-{size}-{len(list(folder.parent.glob('sheet-*')))}.jsonl"
    drawn = call("sample", folder, "--size", size, "--for", JUDGE, "--sheet", sheet, *more)
    call("import", folder, label_sheet(sheet, world), "--set", "ada")
    return drawn


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory, judged: Path, world: World) -> Path:
    """The evaluation with 60 questions labelled by ada; tests leave it as it is."""
    folder = Path(shutil.copytree(judged, tmp_path_factory.mktemp("labelled") / "my-eval"))
    sheet = folder.parent / "sheet.jsonl"
    assert main(["sample", str(folder), "--size", "60", "--for", JUDGE, "--sheet", str(sheet)]) == 0
    assert main(["import", str(folder), str(label_sheet(sheet, world)), "--set", "ada"]) == 0
    return folder


# ---- the road -------------------------------------------------------------------------------------------------------


def test_the_road_from_answers_to_a_corrected_score(evaluation: Path, world: World, call: Call) -> None:
    drawn = draw(call, evaluation, world)
    assert (drawn["size"], drawn["population"], drawn["file"]) == (
        60,
        QUESTIONS,
        "samples/match%28contains%3Dtrue%29.jsonl",
    )
    places = [int(draw["question"][1:]) for draw in drawn["draws"]]
    distinct = {(number, rows[number]["answer"]) for rows in world.rows.values() for number in places}
    assert drawn["labels"] == drawn["sheet_rows"] == len(distinct)
    assert drawn["half_width"]["good_judge"] < drawn["half_width"]["useless_judge"] < 0.15
    for target in ("new", "these"):
        document = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada", "--target", target)
        assert (document["labelled"], document["units"], document["target"]) == (60, QUESTIONS, target)
        for row in document["runs"]:
            truth, judge = world.scores(row["run"]), world.judged(row["run"])
            wanted = corrected_share(truth[places], judge[places], judge, target=target, look=planned(60))
            assert [row["score"], *row["interval"]] == pytest.approx([wanted.value, *wanted.interval])
            assert row["judge_score"] == pytest.approx(judge.mean())
            assert row["labels"] == 60
            assert row["bias"]["bias"] == pytest.approx((judge - truth)[places].mean())
            assert row["interval"][0] < truth.mean() < row["interval"][1]
    # The judge puts the old system first: it does not know the new one's words. People's labels put it right.
    assert [row["run"] for row in document["runs"]] == ["new", "old", "base"]
    judged = call("score", evaluation, "--key", JUDGE)
    assert judged["runs"][0]["run"] == "old"


def test_two_runs_on_corrected_scores(evaluation: Path, world: World, call: Call) -> None:
    places = [int(draw["question"][1:]) for draw in draw(call, evaluation, world)["draws"]]
    document = call("compare", evaluation, "new", "base", "--key", JUDGE, "--correct-with", "ada")
    d, f = (getattr(world, name)("new") - getattr(world, name)("base") for name in ("scores", "judged"))
    wanted = corrected_mean(d[places], f[places], f, look=planned(60))
    assert [document["difference"], *document["interval"]] == pytest.approx([wanted.value, *wanted.interval])
    assert (document["verdict"], document["labels"], document["judge_difference"]) == (
        "better",
        60,
        pytest.approx(f.mean()),
    )
    other = call("compare", evaluation, "base", "new", "--key", JUDGE, "--correct-with", "ada")
    assert other["interval"] == pytest.approx([-document["interval"][1], -document["interval"][0]])
    every = call("compare", evaluation, "--key", JUDGE, "--correct-with", "ada")
    assert (len(every["pairs"]), every["method"]) == (3, "Bonferroni")
    pair = next(pair for pair in every["pairs"] if (pair["a"], pair["b"]) == ("new", "base"))
    assert pair["interval"][0] < document["interval"][0]
    assert every["level"] == pytest.approx(1 - 0.045 / 3)


@pytest.mark.parametrize(
    ("runs", "options", "decision", "status"),
    [
        (("new", "base"), (), "ALLOW", 0),
        (("base", "new"), (), "REJECT", 3),
        (("new", "old"), (), "INCONCLUSIVE", 4),
        (("new", "old"), ("--margin", 0.2), "ALLOW", 0),
        (("new", "old"), ("--inconclusive", "fail"), "INCONCLUSIVE", 3),
    ],
)
def test_a_gate_decides_by_the_corrected_interval(
    labelled: Path, call: Call, tmp_path: Path, runs: tuple[str, str], options: tuple, decision: str, status: int
) -> None:
    summary, junit = tmp_path / "gate.md", tmp_path / "gate.xml"
    files = ("--summary", summary, "--junit", junit)
    corrected = (labelled, *runs, "--key", JUDGE, "--correct-with", "ada")
    document = call("compare", *corrected, "--gate", *options, *files, status=status)
    plain = call("compare", *corrected)
    assert (document.pop("gate"), document.pop("margin")) == (
        decision,
        dict([options]).get("--margin", 0) if options else 0,
    )
    assert document == plain
    low, high = document["interval"]
    sentence = f"{decision}: the 95.5% interval of {runs[0]} - {runs[1]}, {low:+.3f} to {high:+.3f}, corrected with "
    assert f"{sentence}60 questions labelled by ada, " in summary.read_text(encoding="utf-8").replace("\\", "")
    assert ("More labels, or more questions, would." in summary.read_text(encoding="utf-8")) == (
        decision == "INCONCLUSIVE"
    )
    case = ElementTree.parse(junit).getroot().find("testsuite/testcase")
    assert (case.find("failure") is not None) == (status != 0)
    assert f"{sentence}60 questions labelled by ada, " in case.find("system-out").text


def test_a_gate_without_an_interval_is_inconclusive(evaluation: Path, world: World, call: Call, refused: Call) -> None:
    draw(call, evaluation, world, 19)
    corrected = (evaluation, "--key", JUDGE, "--correct-with", "ada", "--gate")
    document = call("compare", evaluation, "new", "base", *corrected[1:], status=4)
    assert (document["gate"], document["interval"]) == ("INCONCLUSIVE", None)
    assert "--gate compares two systems" in refused("compare", *corrected, status=2)


def test_a_sample_for_two_runs(evaluation: Path, world: World, call: Call, refused: Call) -> None:
    drawn = draw(call, evaluation, world, 50, "--for-pair", "new,old")
    differing = {
        a["id"] for a, b in zip(world.rows["new"], world.rows["old"], strict=True) if a["answer"] != b["answer"]
    }
    assert {draw["question"] for draw in drawn["draws"]} <= differing
    assert (drawn["population"], drawn["labels"]) == (len(differing), 100)
    places = [int(draw["question"][1:]) for draw in drawn["draws"]]
    document = call("compare", evaluation, "old", "new", "--key", JUDGE, "--correct-with", "ada")
    d, f = (getattr(world, name)("old") - getattr(world, name)("new") for name in ("scores", "judged"))
    among = [int(name[1:]) for name in sorted(differing, key=lambda name: int(name[1:]))]
    wanted = corrected_mean(d[places], f[places], f[among], among=QUESTIONS, look=planned(50))
    assert [document["difference"], *document["interval"]] == pytest.approx([wanted.value, *wanted.interval])
    assert document["units"] == QUESTIONS
    message = refused("score", evaluation, "--key", JUDGE, "--correct-with", "ada", "--sample", "new-old", status=2)
    assert "serves only the difference of new and old" in message
    assert "there is no random sample" in refused(
        "compare", evaluation, "new", "base", "--key", JUDGE, "--correct-with", "ada"
    )


def test_equal_answers_of_a_pair_need_no_label(evaluation: Path, world: World, call: Call, tmp_path: Path) -> None:
    """Of a sample for all runs, only answers in which two runs differ have to be labelled to compare these two."""
    sheet = tmp_path / "sheet.jsonl"
    drawn = call("sample", evaluation, "--size", 60, "--for", JUDGE, "--sheet", sheet)
    answers = [{row["id"]: row["answer"] for row in world.rows[system]} for system in ("new", "old")]
    rows = [json.loads(line) for line in label_sheet(sheet, world).read_text(encoding="utf-8").splitlines()]
    needed = [
        row
        for row in rows
        if row["text"] in (given := {answer[row["question"]] for answer in answers}) and len(given) == 2
    ]
    assert len(needed) < len(rows)
    call("import", evaluation, write(tmp_path / "needed.jsonl", needed), "--set", "ada")
    document = call("compare", evaluation, "new", "old", "--key", JUDGE, "--correct-with", "ada")
    assert document["labelled"] == len(drawn["draws"])


def test_people_read_the_answer_first(evaluation: Path, world: World, call: Call, capsys) -> None:
    draw(call, evaluation, world)
    assert main(["score", str(evaluation), "--key", JUDGE, "--correct-with", "ada"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("new scores best with 0.")
    assert "60 questions labelled by ada" in out.splitlines()[0]
    assert f"{JUDGE} alone says 0." in out.splitlines()[0]
    assert f"Intervals include the errors of {JUDGE}, and apply to new questions like these 150." in out
    assert main(["compare", str(evaluation), "new", "old", "--key", JUDGE, "--correct-with", "ada"]) == 0
    assert capsys.readouterr().out.startswith("new ")


def test_corrected_differences_show_on_which_side_of_0_they_end(evaluation: Path, world: World, call: Call) -> None:
    draw(call, evaluation, world)
    pair = qassay.open(evaluation).correction(JUDGE, "ada").pair("new", "old")
    equal = replace(pair, estimate=replace(pair.estimate, value=0.0, interval=(-0.1, 0.1)))
    assert equal.sentence().startswith("new and old have the same corrected score (")
    barely = replace(pair, level=0.9875, estimate=replace(pair.estimate, value=0.05, interval=(0.0002, 0.1)))
    assert barely.verdict == "better"
    assert "98.75% interval +0.0002 to +0.100" in str(barely.table())


def test_the_judges_own_interval_says_what_it_leaves_out(evaluation: Path, capsys) -> None:
    for command in (["score", evaluation], ["compare", evaluation, "new", "old"], ["compare", evaluation]):
        assert main([*map(str, command), "--key", JUDGE]) == 0
        assert "Judged by a program: intervals and tests leave its errors out." in " ".join(
            capsys.readouterr().out.split()
        )


# ---- the draw -------------------------------------------------------------------------------------------------------


def test_a_larger_draw_continues_a_smaller_one(evaluation: Path, world: World, call: Call, refused: Call) -> None:
    small = draw(call, evaluation, world, 30)
    few = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada")
    more = evaluation.parent / "more.jsonl"
    large = call("sample", evaluation, "--size", 70, "--for", JUDGE, "--sheet", more, "--assessor", "ada")
    new = {json.loads(line)["question"] for line in more.read_text(encoding="utf-8").splitlines()}
    assert new == {draw["question"] for draw in large["draws"][30:]}
    assert large["draws"][:30] == small["draws"]
    assert "30 were planned before, and 70 are now." in large["notes"][-1]
    # What is judged so far is the first part of the larger sample: its plan is not complete any more.
    again = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada")
    assert (again["labelled"], again["drawn"]) == (30, 70)
    for now, before in zip(again["runs"], few["runs"], strict=True):
        assert now["score"] == before["score"]
        assert now["interval"][0] < before["interval"][0] < before["interval"][1] < now["interval"][1]
    assert "already has 70 draws" in refused("sample", evaluation, "--size", 30, "--for", JUDGE)
    assert "has another draw" in refused("sample", evaluation, "--size", 80, "--for", JUDGE, "--seed", 1)
    other = call("sample", evaluation, "--size", 80, "--for", JUDGE, "--seed", 1, "--name", "other")
    assert other["draws"][:30] != small["draws"]
    assert "there are several samples" in refused("score", evaluation, "--key", JUDGE, "--correct-with", "ada")
    assert "there are only 150 questions" in refused("sample", evaluation, "--size", 151, "--for", JUDGE)


def test_every_question_is_drawn_equally_often() -> None:
    draws = [Draw(f"q{number}") for number in range(QUESTIONS)]
    counts = dict.fromkeys(draws, 0)
    for seed in range(60):
        for chosen in random_order(draws, None, seed=seed)[:30]:
            counts[chosen] += 1
    # 60 draws with probability 1/5: 12 expected, standard deviation 3.1; the largest of 150 is below 5 of these.
    assert sum(counts.values()) == 60 * 30
    assert 0 <= min(counts.values()) <= max(counts.values()) < 28
    assert np.std(list(counts.values())) == pytest.approx(3.1, abs=0.6)


def test_labels_are_planned_from_a_first_batch(evaluation: Path, world: World, call: Call, refused: Call) -> None:
    draw(call, evaluation, world, 30)
    document = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada", "--half-width", 0.1)
    assert document["half_width"] == 0.1
    assert document["labels_needed"] == max(row["labels_needed"] for row in document["runs"]) > 30
    draw(call, evaluation, world, document["labels_needed"])
    reached = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada")
    widths = [(row["interval"][1] - row["interval"][0]) / 2 for row in reached["runs"]]
    assert max(widths) == pytest.approx(0.1, abs=0.02)
    narrow = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada", "--half-width", 0.01)
    assert narrow["labels_needed"] is None
    assert all(row["best_half_width"] > 0.01 for row in narrow["runs"])
    assert "half-width" in refused(
        "score", evaluation, "--key", JUDGE, "--correct-with", "ada", "--half-width", 0, status=2
    )


def test_few_labels_have_no_interval(evaluation: Path, world: World, call: Call, capsys) -> None:
    draw(call, evaluation, world, 19)
    document = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada")
    assert {row["interval"] for row in document["runs"]} == {None}
    assert all(row["score"] is not None and row["bias"]["interval"] is None for row in document["runs"])
    assert "No intervals: they need 20 labelled questions, and 19 are." in document["notes"]
    pair = call("compare", evaluation, "new", "old", "--key", JUDGE, "--correct-with", "ada")
    assert (pair["interval"], pair["verdict"]) == (None, "cannot tell")


def test_an_exported_evaluation_is_corrected_alike(evaluation: Path, world: World, call: Call) -> None:
    draw(call, evaluation, world, 30)
    call("export", evaluation, "--to", evaluation.parent / "copy")
    corrected = ("--key", JUDGE, "--correct-with", "ada")
    assert call("score", evaluation.parent / "copy", *corrected) == call("score", evaluation, *corrected)


# ---- what is refused ------------------------------------------------------------------------------------------------


def test_a_gap_blocks_correction_and_is_counted(evaluation: Path, world: World, call: Call, refused: Call) -> None:
    sheet = evaluation.parent / "sheet.jsonl"
    drawn = call("sample", evaluation, "--size", 40, "--for", JUDGE, "--sheet", sheet)
    rows = [json.loads(line) for line in label_sheet(sheet, world).read_text(encoding="utf-8").splitlines()]
    skipped = [draw["question"] for draw in drawn["draws"][4:7]]
    others = write(evaluation.parent / "kept.jsonl", [row for row in rows if row["question"] not in skipped])
    call("import", evaluation, others, "--set", "ada")
    message = refused("score", evaluation, "--key", JUDGE, "--correct-with", "ada")
    assert f"not completely 3 questions drawn before it: {', '.join(skipped)}" in message
    left = write(evaluation.parent / "left.jsonl", [row for row in rows if row["question"] in skipped])
    call("import", evaluation, left, "--set", "ada")
    assert call("score", evaluation, "--key", JUDGE, "--correct-with", "ada")["labelled"] == 40


def test_a_first_part_of_the_order_is_a_sample(evaluation: Path, world: World, call: Call, refused: Call) -> None:
    sheet = evaluation.parent / "sheet.jsonl"
    call("sample", evaluation, "--size", 60, "--for", JUDGE, "--sheet", sheet)
    message = refused("score", evaluation, "--key", JUDGE, "--correct-with", JUDGE, status=2)
    assert "name the assessor whose scores" in message
    call("import", evaluation, label_sheet(sheet, world, only=25), "--set", "ada")
    document = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada")
    assert (document["labelled"], document["drawn"]) == (25, 60)


def test_labels_without_a_sample_correct_nothing(evaluation: Path, world: World, call: Call, refused: Call) -> None:
    rows = [
        {
            "question": row["id"],
            "text": row["answer"],
            "judgment": world.label({"question": row["id"], "text": row["answer"]}),
        }
        for row in world.rows["new"]
    ]
    call("import", evaluation, write(evaluation.parent / "all.jsonl", rows), "--set", "ada")
    message = refused("score", evaluation, "--key", JUDGE, "--correct-with", "ada")
    assert "there is no random sample" in message
    assert f"--size 60 --for {JUDGE}" in message


def test_a_sample_picked_by_hand_is_refused(evaluation: Path, world: World, call: Call, refused: Call) -> None:
    drawn = draw(call, evaluation, world)
    path = evaluation / drawn["file"]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    unseen = next(name for name in (f"q{n}" for n in range(QUESTIONS)) if name not in {row["question"] for row in rows})
    write(path, [{**row, "question": unseen} if row["position"] == 3 else row for row in rows])
    assert "is not the random draw that its seed gives" in refused(
        "score", evaluation, "--key", JUDGE, "--correct-with", "ada"
    )
    write(path, [{name: value for name, value in row.items() if name != "probability"} for row in rows])
    assert "a sample picked by hand corrects nothing" in refused(
        "score", evaluation, "--key", JUDGE, "--correct-with", "ada"
    )


def test_a_sample_drawn_elsewhere(evaluation: Path, world: World, call: Call, refused: Call, tmp_path: Path) -> None:
    draw(call, evaluation, world, QUESTIONS)
    places = random.Random(1).sample(range(QUESTIONS), 50)
    rows = [
        {"position": place, "question": f"q{number}", "probability": 1 / 3} for place, number in enumerate(places, 1)
    ]
    file = write(tmp_path / "theirs.jsonl", rows)
    document = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada", "--sample", file)
    assert (document["sample"], document["labelled"]) == ("theirs", 50)
    judge = world.judged("new")
    wanted = corrected_share(world.scores("new")[places], judge[places], judge, look=planned(50))
    assert next(row for row in document["runs"] if row["run"] == "new")["interval"] == pytest.approx(
        list(wanted.interval)
    )
    rows[0]["probability"] = 0.5
    message = refused("score", evaluation, "--key", JUDGE, "--correct-with", "ada", "--sample", write(file, rows))
    assert "different probabilities" in message
    message = refused(
        "score", evaluation, "--key", JUDGE, "--correct-with", "ada", "--sample", write(file, [*rows[1:], rows[3]])
    )
    assert "occurs twice" in message


def test_a_run_that_came_later_is_not_corrected_and_counted(
    evaluation: Path, world: World, call: Call, refused: Call, tmp_path: Path
) -> None:
    draw(call, evaluation, world)
    late = [{**row, "answer": f"late {number}"} for number, row in enumerate(world.rows["new"])]
    call("import", evaluation, write(tmp_path / "late.jsonl", late))
    call("judge", evaluation, "--with", JUDGE)
    document = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada")
    rows = {row["run"]: row for row in document["runs"]}
    assert (rows["late"]["score"], rows["late"]["skipped"], rows["new"]["labels"]) == (None, 60, 60)
    assert any("late (60)" in note for note in document["notes"])
    message = refused("compare", evaluation, "new", "late", "--key", JUDGE, "--correct-with", "ada")
    assert "but not completely 59 questions drawn before it" in message
    assert call("compare", evaluation, "new", "old", "--key", JUDGE, "--correct-with", "ada")["labels"] == 60


def test_a_judge_that_repeats_peoples_labels_is_refused(
    evaluation: Path, world: World, call: Call, refused: Call
) -> None:
    draw(call, evaluation, world)
    call("judge", evaluation, "--with", "transfer(people=ada)")
    message = refused(
        "score", evaluation, "--key", "transfer(people=ada)", "--correct-with", "ada", "--unjudged", "wrong", status=2
    )
    assert "use what people said of the same questions" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--key", f"ada+{JUDGE}", "--correct-with", "ada"], "mixes the judgments of several sets"),
        (["--key", "ada", "--correct-with", JUDGE], "is a program: only labels of people"),
        (["--correct-with", "ada"], "name the assessor whose scores ada corrects. To name it: --key SET"),
        (["--key", JUDGE, "--correct-with", "adda"], "did you mean 'ada'?"),
        (["--key", JUDGE, "--target", "these"], "target, sample and half-width go with correct-with"),
        (["--key", JUDGE, "--correct-with", "ada", "--csv"], "use it without --correct-with"),
        (["--key", JUDGE, "--correct-with", "ada", "--sample", "nowhere"], "unknown sample 'nowhere'"),
    ],
)
def test_calls_that_mean_nothing(
    evaluation: Path, world: World, call: Call, refused: Call, options: list[str], message: str
) -> None:
    draw(call, evaluation, world, 20)
    assert message in refused("score", evaluation, *options, status=2)


def test_comparisons_that_mean_nothing(
    evaluation: Path, world: World, call: Call, refused: Call, tmp_path: Path
) -> None:
    draw(call, evaluation, world, 20)
    table = tmp_path / "scores.csv"
    table.write_text("id,A,B\nq1,1,0\nq2,0,1\n", encoding="utf-8")
    assert "does not apply to a table of scores" in refused(
        "compare", table, "A", "B", "--correct-with", "ada", status=2
    )
    corrected = ("--key", JUDGE, "--correct-with", "ada")
    refusal = refused("compare", evaluation, "new", "old", *corrected, "--permutations", "9", status=2)
    assert "options of the tests do not apply" in refusal
    assert "unknown run 'neu'" in refused("compare", evaluation, "neu", "old", *corrected, status=2)
    assert "with itself" in refused("compare", evaluation, "new", "new", *corrected, status=2)
    message = refused("sample", evaluation, "--size", 20, "--for", JUDGE, "--for-pair", "new", status=2)
    assert "--for-pair takes two runs" in message
    assert "unknown judgment set" in refused("sample", evaluation, "--size", 20, "--for", "nobody", status=2)
    assert "has no store" in refused("sample", evaluation, "--size", 20, "--for", JUDGE, "--assign", "ada")


# ---- the sheet and the application ----------------------------------------------------------------------------------


def test_the_judging_sheet_has_the_sample_in_its_order(evaluation: Path, world: World, call: Call) -> None:
    page = evaluation.parent / "ada.html"
    drawn = call("sample", evaluation, "--size", 25, "--for", JUDGE, "--sheet", page, "--assessor", "ada")
    assert drawn["sheet_rows"] == drawn["labels"]
    assert "new" not in page.name
    (key,) = (evaluation / "sheets").glob("ada-*.json")
    sheet_key = json.loads(key.read_text(encoding="utf-8"))
    rows = [part["row"] for parts in sheet_key["items"].values() for part in parts.values()]
    assert {row["question"] for row in rows} == {draw["question"] for draw in drawn["draws"]}
    # What comes back from the sheet is the labels of the sample.
    back = [
        {
            "sheet": sheet_key["sheet"],
            "item": int(item),
            "part": name,
            "verdict": {"judgment": world.label(part["row"])},
            "at": "2026-01-02T03:04:05Z",
        }
        for item, parts in sheet_key["items"].items()
        for name, part in parts.items()
    ]
    call("import", evaluation, write(evaluation.parent / "back.jsonl", back))
    assert call("score", evaluation, "--key", JUDGE, "--correct-with", "ada")["labelled"] == 25


@pytest.fixture
def served(evaluation: Path) -> Path:
    """The evaluation with a store, and two accounts."""
    from qassay.formats.folder import open_folder
    from qassay.store.engine import open_store
    from qassay.store.folder.importing import import_folder
    from qassay.store.people import add_account

    store = open_store(open_folder(evaluation), create=True)
    import_folder(store, open_folder(evaluation))
    with store.write() as connection:
        for name in ("ada", "ben"):
            add_account(connection, name=name, role="assessor", password=None)
    store.close()
    return evaluation


def test_a_sample_becomes_an_assignment(served: Path, world: World, call: Call, refused: Call) -> None:
    from qassay.formats.folder import open_folder
    from qassay.store.assignment.assignments import all_assignments
    from qassay.store.engine import open_store

    assert "no account 'eve'" in refused("sample", served, "--size", 30, "--for", JUDGE, "--assign", "eve")
    assert not (served / "samples").exists()
    drawn = call("sample", served, "--size", 30, "--for", JUDGE, "--assign", "ada,Ben")
    assert drawn["assigned"] == 30
    store = open_store(open_folder(served))
    with store.read() as connection:
        given = all_assignments(connection)
    store.close()
    assert [each.question for each in given] == [draw["question"] for draw in drawn["draws"]]
    assert {each.set for each in given} == {"first"}
    assert len({each.account for each in given}) == 2
    more = call("sample", served, "--size", 40, "--for", JUDGE, "--assign", "ada")
    assert more["assigned"] == 10


# ---- units with several decisions -----------------------------------------------------------------------------------


def test_series_get_labels_in_turn(tmp_path: Path, call: Call, refused: Call) -> None:
    call("demo", "--to", tmp_path / "series")
    folder = tmp_path / "series"
    assert "each of the 16 topics or series needs a label" in refused("sample", folder, "--size", 10, "--for", "second")
    drawn = call("sample", folder, "--size", 40, "--for", "second")
    series = [draw["question"].split(".")[0] for draw in drawn["draws"]]
    assert len(set(series[:16])) == len(set(series[16:32])) == 16
    document = call("score", folder, "--key", "second", "--correct-with", "adjudicated")
    assert (document["units"], document["labelled"]) == (16, 40)
    assert all(row["interval"] is not None for row in document["runs"])
    whole = call("sample", folder, "--size", drawn["population"], "--for", "second")
    assert whole["draws"][:40] == drawn["draws"]
    # With every question labelled the corrected score is people's own.
    every = call("score", folder, "--key", "second", "--correct-with", "adjudicated")
    people = {row["run"]: row["score"] for row in call("score", folder, "--key", "adjudicated")["runs"]}
    assert {row["run"]: row["score"] for row in every["runs"]} == pytest.approx(people)
    assert "are not a target here" in refused(
        "score", folder, "--key", "second", "--correct-with", "adjudicated", "--target", "these", status=2
    )


def test_questions_of_one_type_in_series(tmp_path: Path, call: Call) -> None:
    """Factoids are a mean over questions that come in series: a longer series counts for more."""
    folder = tmp_path / "series"
    shutil.copytree(qassay.demo_folder(), folder)
    drawn = call("sample", folder, "--size", 77, "--for", "second", "--component", "factoid")
    assert drawn["population"] == 77
    scored = ("--component", "factoid")
    document = call("score", folder, "--key", "second", "--correct-with", "adjudicated", *scored)
    people = {row["run"]: row["score"] for row in call("score", folder, *scored)["runs"]}
    judge = {row["run"]: row["score"] for row in call("score", folder, "--key", "second", *scored)["runs"]}
    assert {row["run"]: row["score"] for row in document["runs"]} == pytest.approx(people)
    assert {row["run"]: row["judge_score"] for row in document["runs"]} == pytest.approx(judge)


def test_scores_that_are_not_means_are_refused(tmp_path: Path, refused: Call) -> None:
    folder = tmp_path / "pairs"
    shutil.copytree(qassay.demo_folder("entailment"), folder)
    assert "ratings of justifications are not corrected" in refused(
        "sample", folder, "--size", 20, "--for", "second", status=2
    )


def test_entailment_pairs(tmp_path: Path, call: Call) -> None:
    folder = tmp_path / "pairs"
    shutil.copytree(qassay.demo_folder("entailment"), folder)
    (folder / "qassay.toml").write_text('task = "entailment3"\n', encoding="utf-8")
    drawn = call("sample", folder, "--size", 60, "--for", "second")
    assert drawn["labels"] == 60  # one label serves all runs
    document = call("score", folder, "--key", "second", "--correct-with", "adjudicated", "--target", "these")
    people = {row["run"]: row["score"] for row in call("score", folder)["runs"]}
    assert {row["run"]: row["score"] for row in document["runs"]} == pytest.approx(people)
    for row in document["runs"]:
        assert row["interval"] == pytest.approx([row["score"], row["score"]])


def test_nuggets_of_every_topic(tmp_path: Path, call: Call, refused: Call) -> None:
    shutil.copytree(qassay.demo_folder("rag"), tmp_path / "rag")
    folder = tmp_path / "rag"
    shutil.copy(folder / "nuggets" / "adjudicated.jsonl", folder / "nuggets" / "second.jsonl")
    for measure in ("vital_strict", "weighted"):
        drawn = call("sample", folder, "--size", 15, "--for", "second", "--measure", measure, "--name", measure)
        assert all("nugget" in draw for draw in drawn["draws"])
        call(
            "sample", folder, "--size", drawn["population"], "--for", "second", "--measure", measure, "--name", measure
        )
        scoring = ("--measure", measure, "--sample", measure)
        planned = ("--half-width", 0.02)
        document = call("score", folder, "--key", "second", "--correct-with", "adjudicated", *scoring, *planned)
        assert document["units_needed"] == max(row["units_needed"] for row in document["runs"]) > 15
        people = {row["run"]: row["score"] for row in call("score", folder, "--measure", measure)["runs"]}
        assert {row["run"]: row["score"] for row in document["runs"]} == pytest.approx(people)
        assert {row["interval"] for row in document["runs"]} == {None}  # ten topics are too few
    message = refused("score", folder, "--key", "second", "--correct-with", "adjudicated", "--sample", "weighted")
    assert "was drawn for weighted, and does not serve vital_strict" in message
    assert "single nuggets: add --whole" in refused(
        "sample", folder, "--size", 10, "--for", "second", "--name", "x", "--assign", "ada", status=2
    )
    whole = call("sample", folder, "--size", 10, "--for", "second", "--whole", "--name", "whole")
    assert all(draw["nugget"] is None for draw in whole["draws"])
    document = call("score", folder, "--key", "second", "--correct-with", "adjudicated", "--sample", "whole")
    people = {row["run"]: row["score"] for row in call("score", folder)["runs"]}
    assert {row["run"]: row["score"] for row in document["runs"]} == pytest.approx(people)


def test_a_sheet_of_nuggets_has_those_drawn(tmp_path: Path, call: Call) -> None:
    shutil.copytree(qassay.demo_folder("rag"), tmp_path / "rag")
    drawn = call("sample", tmp_path / "rag", "--size", 12, "--for", "second", "--sheet", tmp_path / "ada.html")
    key = json.loads(next((tmp_path / "rag" / "sheets").glob("people-*.json")).read_text(encoding="utf-8"))
    rows = [part["row"] for parts in key["items"].values() for part in parts.values() if part["kind"] == "support"]
    assert {(row["question"], row["nugget"]) for row in rows} == {
        (draw["question"], draw["nugget"]) for draw in drawn["draws"]
    }
    assert len(rows) == drawn["labels"]


# ---- Python ---------------------------------------------------------------------------------------------------------


def test_the_same_from_python(evaluation: Path, world: World, call: Call) -> None:
    opened = qassay.open(evaluation)
    drawn = qassay.sample(opened, 60, JUDGE)
    assert len(drawn.sample.draws) == 60
    draw(call, evaluation, world)
    opened = qassay.open(evaluation)
    scores = opened.score(JUDGE, correct_with="ada")
    assert scores.as_json() == call("score", evaluation, "--key", JUDGE, "--correct-with", "ada") | {
        "runs": scores.as_json()["runs"]
    }
    pair = qassay.compare(opened, "new", "old", key=JUDGE, correct_with="ada")
    assert pair.difference == pytest.approx(
        call("compare", evaluation, "new", "old", "--key", JUDGE, "--correct-with", "ada")["difference"]
    )
    every = qassay.compare_all(opened, key=JUDGE, correct_with="ada")
    assert len(every.pairs) == 3
    for result in (drawn, scores, pair, every):
        assert result.sentence()
        assert str(result)
        assert result.to_polars().height
    with pytest.raises(qassay.UsageError, match="takes an evaluation"):
        qassay.compare(opened.score(JUDGE), "new", "old", correct_with="ada")  # type: ignore[call-overload]


def test_a_judge_that_calls_everything_right_promises_no_width_of_nothing(
    evaluation: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its scores have no spread, and tell nothing of that of people's labels."""
    rows = (evaluation / "judgments").glob("*.jsonl")
    judged = [json.loads(line) for path in rows for line in path.read_text(encoding="utf-8").splitlines()]
    right = [{name: row[name] for name in ("question", "text")} | {"judgment": "correct"} for row in judged]
    write(evaluation / "judgments" / "kind.jsonl", right)
    drawn = call("sample", evaluation, "--size", 60, "--for", "kind")
    alone = 2.004654 * 0.5 / 60**0.5
    assert drawn["half_width"] == {
        "good_judge": pytest.approx(alone, 1e-3),
        "useless_judge": pytest.approx(alone, 1e-3),
    }
    assert main(["sample", str(evaluation), "--size", "40", "--for", "kind", "--for-pair", "new,old"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "as without a judge: kind says the same of everything" in shown
    assert "±0.00" not in shown


def test_a_judge_that_calls_nearly_everything_right_promises_no_tiny_width(evaluation: Path, call: Call) -> None:
    """One answer that it calls wrong does not show how people's labels vary either."""
    rows = (evaluation / "judgments").glob("*.jsonl")
    judged = [json.loads(line) for path in rows for line in path.read_text(encoding="utf-8").splitlines()]
    right = [{name: row[name] for name in ("question", "text")} | {"judgment": "correct"} for row in judged]
    write(evaluation / "judgments" / "kind.jsonl", [{**right[0], "judgment": "incorrect"}, *right[1:]])
    widths = call("sample", evaluation, "--size", 60, "--for", "kind")["half_width"]
    assert widths["useless_judge"] == pytest.approx(2.004654 * 0.5 / 60**0.5, 1e-3)
    ones = np.ones(QUESTIONS)
    reached = corrected_share(ones[:60], ones[:60], ones, look=planned(60)).half_width
    assert widths["good_judge"] > 0.7 * reached


# ---- looking again and again ----------------------------------------------------------------------------------------


def planned(size: int, labelled: int | None = None) -> Look:
    return Plan("planned", size).look(labelled or size)


def test_before_the_plan_is_complete_the_interval_is_that_of_any_look(
    evaluation: Path, world: World, call: Call, capsys
) -> None:
    sheet = evaluation.parent / "sheet.jsonl"
    drawn = call("sample", evaluation, "--size", 100, "--for", JUDGE, "--sheet", sheet)
    assert drawn["notes"][0] == (
        "Judge from the top; 100 questions are planned. You may look at any time: until all 100 are judged, intervals "
        "are about twice as wide, so that looking early does no harm. Skip no question."
    )
    places = [int(draw["question"][1:]) for draw in drawn["draws"]][:42]
    call("import", evaluation, label_sheet(sheet, world, only=42), "--set", "ada")
    pair = ("compare", evaluation, "new", "old", "--key", JUDGE, "--correct-with", "ada")
    document = call(*pair)
    d, f = (getattr(world, name)("new") - getattr(world, name)("old") for name in ("scores", "judged"))
    wanted = corrected_mean(d[places], f[places], f, look=planned(100, 42))
    assert document["interval"] == pytest.approx(list(wanted.interval))
    looks = document["looks"]
    assert (looks["kind"], looks["n"], looks["planned"], looks["alpha"], looks["any_time"], looks["next"]) == (
        *("planned", 42, 100, 0.005, True, 100),
    )
    # Expected with all 100: the ordinary t interval at 95.5%, from the variance so far.
    variance = wanted.left * (1 / 100 - 1 / QUESTIONS) + wanted.spread / QUESTIONS
    assert looks["expected"] == pytest.approx(scipy.stats.t.ppf(0.9775, 100) * variance**0.5)
    assert main(list(map(str, pair))) == 0
    shown = " ".join(capsys.readouterr().out.split())
    low, high = document["interval"]
    assert (
        "42 of 100 planned questions are judged. Before the plan is complete, the difference lies between "
        f"{low:+.2f} and {high:+.2f}; with all 100 expect about ±{looks['expected']:.2f}."
    ) in shown
    assert "any-time 99.5% interval" in shown
    scores = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada")
    judge = world.judged("new")
    share = corrected_share(world.scores("new")[places], judge[places], judge, look=planned(100, 42))
    row = next(row for row in scores["runs"] if row["run"] == "new")
    assert row["interval"] == pytest.approx(list(share.interval))
    assert row["bias"]["interval"] is None
    every = call("compare", evaluation, "--key", JUDGE, "--correct-with", "ada")
    assert every["level"] == pytest.approx(1 - 0.005 / 3)


def test_between_planned_looks_there_is_no_interval(evaluation: Path, world: World, call: Call, refused: Call) -> None:
    sheet = evaluation.parent / "sheet.jsonl"
    drawn = call("sample", evaluation, "--size", 100, "--for", JUDGE, "--sheet", sheet, "--looks", 3)
    assert "with looks at 34, 67 and 100. Between these" in drawn["notes"][0]
    assert drawn["looks"] == {"kind": "steps", "planned": 100, "steps": 3}
    pair = ("compare", evaluation, "new", "base", "--key", JUDGE, "--correct-with", "ada")
    seen = {}
    for labelled in (30, 34, 50, 67, 100):
        call("import", evaluation, label_sheet(sheet, world, only=labelled), "--set", "ada")
        document = call(*pair)
        seen[labelled] = document["looks"]["alpha"]
        assert (document["interval"] is None) == (labelled in (30, 50))
        if labelled == 50:
            assert document["verdict"] == "cannot tell"
            assert "No intervals before 67 questions are labelled, the next look that is planned." in document["notes"]
            call(*pair, "--gate", status=4)
    levels = [2 * scipy.stats.norm.sf(2.004 * (3 / step) ** 0.5) for step in (1, 2, 3)]
    assert [seen[34], seen[67], seen[100]] == pytest.approx(levels)
    assert "has another plan of when to look" in refused("sample", evaluation, "--size", 120, "--for", JUDGE)
    path = evaluation / drawn["file"]
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    write(path, [{**row, "looks": 9} for row in rows])
    assert '"looks" is a whole number from 2 to 5' in refused(*pair)


def test_a_sample_for_any_time_has_one_line(evaluation: Path, world: World, call: Call, refused: Call) -> None:
    drawn = draw(call, evaluation, world, 60, "--anytime")
    assert "They are about 1.6 times as wide as for one look." in drawn["notes"][0]
    places = [int(draw["question"][1:]) for draw in drawn["draws"]]
    document = call("score", evaluation, "--key", JUDGE, "--correct-with", "ada", "--half-width", 0.15)
    judge = world.judged("new")
    wanted = corrected_share(world.scores("new")[places], judge[places], judge, look=Plan("any time").look(60))
    row = next(row for row in document["runs"] if row["run"] == "new")
    assert row["interval"] == pytest.approx(list(wanted.interval))
    assert (document["looks"]["alpha"], document["looks"]["any_time"]) == (0.05, True)
    again = call("sample", evaluation, "--size", 90, "--for", JUDGE, "--anytime")
    assert not any("planned before" in note for note in again["notes"])
    assert "choose one" in refused(
        "sample", evaluation, "--size", 60, "--for", JUDGE, "--anytime", "--looks", 2, "--name", "both", status=2
    )


def test_a_third_run_without_a_response_does_not_block_a_corrected_pair(
    labelled: Path, tmp_path: Path, call: Call
) -> None:
    folder = Path(shutil.copytree(labelled, tmp_path / "my-eval"))
    pair = ("compare", folder, "new", "old", "--key", JUDGE, "--correct-with", "ada")
    before = call(*pair)
    run = folder / "runs" / "base.jsonl"
    run.write_text("".join(run.read_text(encoding="utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")
    assert call(*pair) == before
