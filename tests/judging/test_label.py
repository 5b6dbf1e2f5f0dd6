"""Free-text answers: the task `qa` and tasks of a user's own, from files to scores, without a line of code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qassay
from on_disk import write
from qassay.cli import main
from qassay.errors import InputError
from qassay.judging import KINDS, Wanted
from qassay.judging.items import pool_items
from qassay.studies.agree import agreement
from qassay.tasks import task

QUESTIONS = [
    {"id": "q1", "type": "qa", "text": "Who?", "gold": ["Ann", "Anne"]},
    {"id": "q2", "type": "qa", "text": "When?", "gold": "1901"},
    {"id": "q3", "type": "qa", "text": "Where?"},
]
RUNS = {
    "a": {"q1": ("Ann", ["x", {"doc": "D1", "text": "y"}]), "q2": ("in 1901", []), "q3": None},
    "b": {"q1": ("Ann", [{"doc": "D1", "text": "y"}, "z"]), "q2": ("1902", ["w"]), "q3": ("Oslo", [])},
}
LABELS = [("q1", "Ann", "correct"), ("q2", "in 1901", "partly"), ("q2", "1902", "incorrect"), ("q3", "Oslo", "correct")]
OWN = """
name = "grades"
title = "Answers with grades"
forms = ["jsonl"]
labels = {excellent = {value = 5, key = "e"}, fair = 3, poor = 1}
measure = "label_mean"
support = true

[types.qa]
response = "text"
score = "label_mean"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qassay.toml").write_text('task = "qa"\n')
    write(tmp_path / "questions.jsonl", QUESTIONS)
    for tag, answers in RUNS.items():
        rows = []
        for question, given in answers.items():
            items = [] if given is None else [{"text": given[0]}]
            rows.append({"run": tag, "question": question, "items": items, "contexts": given[1] if given else []})
        write(tmp_path / "runs" / f"{tag}.jsonl", rows)
    write(tmp_path / "judgments" / "first.jsonl", [{"question": q, "text": t, "judgment": j} for q, t, j in LABELS])
    return tmp_path


def test_the_score_is_the_mean_value_and_the_components_are_shares(folder: Path) -> None:
    """Worked by hand: a has correct, partly and an empty answer; b has correct, incorrect and correct."""
    document = qassay.open(folder).score().as_json()
    assert document["measure"] == "label_mean"
    scores = {row["run"]: (row["score"], row["components"]) for row in document["runs"]}
    third = 1 / 3
    assert scores == {
        "a": (0.5, {"correct": third, "partly": third, "incorrect": 0.0}),
        "b": (2 / 3, {"correct": 2 / 3, "partly": 0.0, "incorrect": third}),
    }
    assert document["matrix"] == {"a": [1.0, 0.5, 0.0], "b": [1.0, 0.0, 1.0]}


def test_empty_answers_are_counted_where_they_are_scored(folder: Path) -> None:
    """Else the shares of a run with empty answers do not add up, and nothing says why."""
    scores = qassay.open(folder).score()
    assert scores.as_json()["empty"] == {"a": 1}
    assert "Empty answers have no label and score 0: a 1." in scores.table().notes
    (folder / "qassay.toml").write_text('task = "qa"\n[drop]\nq3 = "unclear"\n')
    without = qassay.open(folder).score()
    assert "empty" not in without.as_json()
    assert not any(note.startswith("Empty") for note in without.table().notes)


def test_agreement_has_the_labels_in_the_order_of_the_task(folder: Path) -> None:
    """Not in that of the alphabet, where `partly` is last."""
    other = [{"question": q, "text": t, "judgment": "incorrect" if j == "partly" else j} for q, t, j in LABELS]
    write(folder / "judgments" / "second.jsonl", other)
    (agreed,) = agreement(qassay.open(folder), resamples=0)
    assert (agreed.order, dict(agreed.patterns)) == (("correct", "partly", "incorrect"), {"partly/incorrect": 1})


def test_equal_answers_are_one_item_with_the_contexts_of_both_and_without_the_runs(folder: Path) -> None:
    evaluation = qassay.open(folder)
    items = list(pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="s"))
    assert [(item.question, item.kind, item.run) for item in items] == [
        (question, "label", None) for question in ("q1", "q2", "q2", "q3")
    ]
    contexts = items[0].body["contexts"]
    assert sorted(map(json.dumps, contexts)) == ['{"doc": "D1", "text": "y"}', '{"text": "x"}', '{"text": "z"}']
    assert not any("run" in item.body for item in items)
    # Contexts are no part of what is judged: an item keeps its number when another run brings more of them.
    lone = evaluation.runs.table.filter(evaluation.runs.table["run"] == "a")
    alone = list(pool_items(type(evaluation.runs)(("a",), lone), evaluation.questions, evaluation.task, seed="s"))
    assert {item.id for item in alone} <= {item.id for item in items}


def test_support_by_contexts_is_a_second_judgment_for_each_run(folder: Path) -> None:
    (folder / "qassay.toml").write_text('task = "qa"\nsupport = true\n')
    support = [
        {"question": "q1", "run": tag, "support": level} for tag, level in (("a", "supported"), ("b", "unsupported"))
    ]
    write(folder / "judgments" / "second.jsonl", [*support, {"question": "q2", "run": "b", "support": "supported"}])
    (folder / "judgments" / "both.jsonl").write_text(
        "".join((folder / "judgments" / f"{name}.jsonl").read_text() for name in ("first", "second"))
    )
    evaluation = qassay.open(folder)
    items = list(pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="s", wanted=Wanted()))
    assert [(item.question, item.run) for item in items if item.kind == "context"] == [
        ("q1", "a"), ("q1", "b"), ("q2", "b"),
    ]  # fmt: skip
    shares = {row.run: row.components["supported"] for row in evaluation.score("both").runs}
    assert shares == {"a": 1.0, "b": 0.5}


def test_an_own_task_needs_no_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "grades.toml").write_text(OWN)
    (folder / "qassay.toml").write_text('task = "grades.toml"\n')
    grades = {"correct": "excellent", "partly": "fair", "incorrect": "poor"}
    rows = [{"question": q, "text": t, "judgment": grades[j]} for q, t, j in LABELS]
    write(folder / "judgments" / "first.jsonl", rows)
    evaluation = qassay.open(folder)
    shown = KINDS["label"].labels(evaluation.task)
    assert [(label.label, label.key, label.tone) for label in shown] == [
        ("excellent", "e", "good"), ("fair", "2", "warn"), ("poor", "3", "bad"),
    ]  # fmt: skip
    # An empty answer has the lowest value.
    assert {row.run: row.score for row in evaluation.score().runs} == {"a": 3.0, "b": pytest.approx(11 / 3)}
    assert evaluation.task == type(evaluation.task)(**vars(qassay.open(folder).task))
    assert main(["agree", str(folder), "--sets", "first,first"]) == 2
    capsys.readouterr()
    write(folder / "judgments" / "second.jsonl", [*rows[:-1], rows[-1] | {"judgment": "fair"}])
    assert main(["agree", str(folder), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["items"], document["patterns"]) == (4, {"excellent/fair": 1})


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ('["correct", "incorrect"]', "need two or more labels with values"),
        ("{correct = 1}", "need two or more labels with values"),
        ('{correct = "yes", no = 0}', "labels.correct: is 'yes'; it takes a number"),
        ("{correct = inf, no = 0}", "labels.correct"),
        ('{correct = {value = 1, key = "ab"}, no = 0}', "a key is one character"),
        ('{correct = {value = 1, key = "a"}, no = {value = 0, key = "a"}}', "two labels have the same key"),
        ("{correct = {value = 1, colour = 2}, no = 0}", "labels.correct.colour"),
        ('{"" = 1, no = 0}', "is not a name of a label"),
        ('{good = {value = 1, key = "2"}, bad = 0}', "two labels have the same key"),
        ('{good = {value = 1, key = "Z"}, bad = 0}', "is one of the screen's own"),
    ],
)
def test_labels_that_cannot_be_used_are_errors_of_the_configuration(folder: Path, labels: str, message: str) -> None:
    (folder / "qassay.toml").write_text(f'task = "qa"\nlabels = {labels}\n')
    with pytest.raises(InputError) as caught:
        qassay.open(folder)
    assert any(message in str(problem) for problem in caught.value.problems), str(caught.value)


def test_labels_in_the_configuration_replace_those_of_the_task(folder: Path) -> None:
    (folder / "qassay.toml").write_text('task = "qa"\nlabels = {yes = 1, no = 0}\n')
    assert qassay.open(folder).task.labels == ("yes", "no")
    with pytest.raises(InputError, match="'correct' is not a label; use one of yes no"):
        qassay.open(folder).score()


def test_a_task_is_what_its_definition_says() -> None:
    for name in ("qa", "series2004", "nuggets"):
        label_task = task(name)
        assert qassay.tasks.from_definition(label_task.definition(), file=name) == label_task  # type: ignore[attr-defined]


def test_scores_of_random_labels_are_means_of_their_values(folder: Path) -> None:
    rng = np.random.default_rng(5)
    values = task("qa").values
    texts = sorted({(q, given[0]) for answers in RUNS.values() for q, given in answers.items() if given})
    for _ in range(20):
        given = {key: str(rng.choice(list(values))) for key in texts}
        write(
            folder / "judgments" / "first.jsonl",
            [{"question": q, "text": t, "judgment": label} for (q, t), label in given.items()],
        )
        expected = {
            tag: np.mean([values[given[q, answer[0]]] if answer else 0.0 for q, answer in answers.items()])
            for tag, answers in RUNS.items()
        }
        assert {row.run: row.score for row in qassay.open(folder).score().runs} == pytest.approx(expected, abs=1e-15)


def test_an_unjudged_answer_stops_scoring_and_counts_as_wrong_on_request(folder: Path) -> None:
    write(folder / "judgments" / "first.jsonl", [{"question": "q1", "text": "Ann", "judgment": "correct"}])
    with pytest.raises(InputError, match="3 items are not judged"):
        qassay.open(folder).score()
    scores = qassay.open(folder).score(unjudged="wrong")
    assert {row.run: row.score for row in scores.runs} == {"a": pytest.approx(1 / 3), "b": pytest.approx(1 / 3)}


def test_judging_a_bare_folder_loads_no_database(tmp_path: Path) -> None:
    assert main(["demo", "--which", "rag", "--to", str(tmp_path / "rag")]) == 0
    code = (
        "import sys; from qassay.cli import main; status = main(sys.argv[1:]); "
        "assert not {'sqlalchemy', 'fastapi'} & set(sys.modules), 'a database was loaded'; sys.exit(status)"
    )
    arguments = ("judge", str(tmp_path / "rag"), "--with", "overlap", "--json")
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["judged"] > 0
    assert set(document["labels"]) <= {"full", "none"}
