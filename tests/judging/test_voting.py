"""Keys by a vote: the majority, and the model of Dawid and Skene against plain loops and on simulated people."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import qassay
from on_disk import write
from qassay.cli import main
from qassay.errors import InputError, UsageError
from qassay.judging.voting import Votes, dawid_skene, majority, parse_rule, shared_nuggets

Given = list[tuple[int, int, int]]  # item, person, label


def votes(given: Given, labels: int) -> Votes:
    items, people, codes = (np.array(column, dtype=np.int64) for column in zip(*given, strict=True))
    return Votes(items, people, codes, (int(items.max()) + 1, int(people.max()) + 1, labels))


# ---- the model ------------------------------------------------------------------------------------------------------


def plain_dawid_skene(given: Given, items: int, people: int, labels: int, steps: int) -> list[list[float]]:
    """The same model written as its definition reads, one number at a time."""
    q = [[0.0] * labels for _ in range(items)]
    for item, _, label in given:
        q[item][label] += 1 / sum(1 for other, _, _ in given if other == item)
    for _ in range(steps):
        share = [(1 + sum(q[i][c] for i in range(items))) / (labels + items) for c in range(labels)]
        confusion: dict[tuple[int, int, int], float] = {}
        for p in range(people):
            for c in range(labels):
                counts = [sum(q[i][c] for i, who, label in given if who == p and label == k) for k in range(labels)]
                for k in range(labels):
                    confusion[p, c, k] = (1 + counts[k]) / (labels + sum(counts))
        for i in range(items):
            weight = [
                share[c] * math.prod(confusion[p, c, label] for item, p, label in given if item == i)
                for c in range(labels)
            ]
            q[i] = [value / sum(weight) for value in weight]
    return q


def crowd(
    rng: np.random.Generator, accuracy: list[float], items: int, each: int, labels: int
) -> tuple[Given, list[int]]:
    """Labels of people of uneven accuracy, a few people per item, drawn at random; with the truth."""
    truth = rng.integers(labels, size=items).tolist()
    given = []
    for item, right in enumerate(truth):
        for person in rng.choice(len(accuracy), size=each, replace=False).tolist():
            wrong = [label for label in range(labels) if label != right]
            is_right = rng.random() < accuracy[person]
            given.append((item, person, right if is_right else wrong[rng.integers(len(wrong))]))
    return given, truth


@pytest.mark.parametrize("labels", [2, 3])
def test_the_model_is_the_one_of_the_definition(labels: int) -> None:
    given, _ = crowd(np.random.default_rng(labels), [0.9, 0.8, 0.6, 0.5], 25, 3, labels)
    fitted = dawid_skene(votes(given, labels))
    plain = plain_dawid_skene(given, 25, 4, labels, fitted.steps)
    assert np.abs(fitted.probabilities - np.array(plain)).max() < 1e-9
    assert fitted.confusion.sum(axis=2) == pytest.approx(np.ones((4, labels)))
    assert fitted.shares.sum() == pytest.approx(1)
    # One step more changes nothing: it has arrived.
    more = plain_dawid_skene(given, 25, 4, labels, fitted.steps + 1)
    assert np.abs(fitted.probabilities - np.array(more)).max() < 1e-8


def test_uneven_people_are_weighed() -> None:
    """With a few reliable people among careless ones the model finds more of the truth, in every one of ten crowds."""
    gains = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        given, truth = crowd(rng, [0.95] * 4 + [0.45] * 8, 300, 6, 3)
        cast = votes(given, 3)
        guess = dawid_skene(cast).probabilities.argmax(axis=1)
        most = majority(cast)
        gains.append(float((guess == truth).mean() - (most == truth).mean()))
        assert (guess == truth).mean() > 0.9
    assert min(gains) > 0.02


def test_it_knows_a_person_who_turns_labels_round() -> None:
    rng = np.random.default_rng(7)
    given, truth = crowd(rng, [0.9, 0.9, 0.9, 0.05], 200, 4, 2)
    fitted = dawid_skene(votes(given, 2))
    assert np.trace(fitted.confusion[3]) / 2 < 0.15 < 0.8 < np.trace(fitted.confusion[0]) / 2
    assert (fitted.probabilities.argmax(axis=1) == truth).mean() > 0.93


def test_the_majority_leaves_ties_open() -> None:
    given = [(0, 0, 1), (0, 1, 1), (0, 2, 0), (1, 0, 0), (1, 1, 1), (2, 0, 2)]
    assert majority(votes(given, 3)).tolist() == [1, -1, 2]


def test_names_of_rules() -> None:
    assert parse_rule("dawid-skene: first , second,first") == ("dawid-skene", ("first", "second"))
    assert parse_rule("majority:") == ("majority", ())
    assert parse_rule("majorityx") is None


def test_nugget_lists_are_shared_where_they_name_the_same() -> None:
    first_list = pl.DataFrame(
        {"question": ["1", "1"], "nugget": ["a", "b"], "vital": [True, False], "text": ["x", "y"]}
    )
    other = first_list.with_columns(vital=pl.Series([True, True]))
    shared = shared_nuggets([first_list, other, other])
    assert shared is not None
    assert shared["vital"].to_list() == [True, True]
    assert shared_nuggets([first_list, other])["vital"].to_list() == [True, False]  # type: ignore[index]
    assert shared_nuggets([first_list, first_list.head(1)]) is None


# ---- keys -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    """Forty questions answered by two runs; three sets, whose rows six people share."""
    folder = tmp_path / "e"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "qa"\n')
    ids = [f"q{number}" for number in range(40)]
    write(folder / "questions.jsonl", [{"id": i, "type": "qa", "text": f"{i}?"} for i in ids])
    for run in ("A", "B"):
        write(folder / "runs" / f"{run}.jsonl", [{"run": run, "question": i, "items": [{"text": run}]} for i in ids])
    for place, name in enumerate(("first", "second", "third")):
        write(folder / "judgments" / f"{name}.jsonl", [_judged(i, run, place) for i in ids for run in ("A", "B")])
    return folder


def _judged(question: str, run: str, place: int) -> dict[str, Any]:
    number = int(question[1:])
    right = (run == "A") == (number % 4 != 0)
    careless = place == 2 and number % 3 == 0
    person = f"p{place}{number % 2}"
    label = "incorrect" if right == careless else "correct"
    return {"question": question, "text": run, "judgment": label, "assessor": person}


def _scores(evaluation: qassay.Evaluation) -> dict[str, float | None]:
    return {row.run: row.score for row in evaluation.score("majority").runs}


def test_the_key_of_the_majority(answered: Path) -> None:
    evaluation = qassay.open(answered)
    assert evaluation.voted_keys == ("majority", "dawid-skene")
    scores = evaluation.score("majority")
    # The careless third person is outvoted: A is right on 30 of 40.
    assert {row.run: row.score for row in scores.runs} == {"A": 0.75, "B": 0.25}
    assert scores.vote is not None
    assert (scores.vote.people, scores.vote.items, scores.vote.ties) == (6, 80, 0)
    key = evaluation.key("majority:first,third")
    labels = Counter(key.judgments.kind("label")["judgment"])
    # The two differ on every third question, in both runs: ties, which are not in the key.
    assert sum(labels.values()) == 80 - 2 * len([n for n in range(40) if n % 3 == 0])
    assert key.judgments.kind("label")["assessor"].null_count() == sum(labels.values())
    with pytest.raises(InputError, match="28 items are not judged in the set majority:first,third"):
        evaluation.score("majority:first,third")


def test_other_judgments_are_voted_on_again(answered: Path) -> None:
    evaluation = qassay.open(answered)
    assert _scores(evaluation) == {"A": 0.75, "B": 0.25}
    careless = [replace(evaluation.judgment_set("third"), name=name) for name in ("first", "second")]
    # A is right on 20 questions where the third assessor is not careless, and on 4 others.
    assert _scores(evaluation.with_judgments(careless)) == {"A": 0.6, "B": 0.4}


def test_the_guess_of_the_model_is_marked(answered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(answered), "--key", "dawid-skene", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["key"], document["vote"]["rule"], document["vote"]["people"]) == ("dawid-skene", "dawid-skene", 6)
    assert document["runs"][0] == document["runs"][0] | {"run": "A", "score": 0.75}
    assert main(["score", str(answered), "--key", "dawid-skene"]) == 0
    assert "a model's guess (Dawid-Skene) from first, second, third (6 people," in " ".join(
        capsys.readouterr().out.split()
    )
    assert main(["stability", str(answered), "--sets", "first,majority,dawid-skene", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sets"] == ["first", "majority", "dawid-skene"]


def test_the_model_is_not_offered_where_it_is_worse(answered: Path) -> None:
    evaluation = qassay.open(answered)
    with pytest.raises(InputError, match="needs 3 labels per item and 20 items per person") as error:
        evaluation.score("dawid-skene:first,second")
    assert 'here they are 2 and 40. To take the label of most: key="majority"' in str(error.value)
    # A person with one item each: a crowd of strangers.
    for name in ("first", "second", "third"):
        path = answered / "judgments" / f"{name}.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        write(path, [row | {"assessor": f"{name}{place}"} for place, row in enumerate(rows)])
    with pytest.raises(InputError, match="here they are 3 and 1"):
        qassay.open(answered).score("dawid-skene")
    assert qassay.open(answered).score("majority").runs[0].score == 0.75


def test_bad_names_are_refused(answered: Path) -> None:
    evaluation = qassay.open(answered)
    with pytest.raises(UsageError, match="unknown judgment set 'thrid'; did you mean 'third'"):
        evaluation.score("dawid-skene:first,second,thrid")
    with pytest.raises(InputError, match="takes the judgment sets of two assessors or more"):
        evaluation.score("majority:first")
    with pytest.raises(UsageError, match="unknown judgment set 'majorty'"):
        evaluation.score("majorty")


def test_a_set_of_that_name_wins(answered: Path) -> None:
    write(answered / "judgments" / "majority.jsonl", [_judged(f"q{n}", run, 0) for n in range(40) for run in "AB"])
    scores = qassay.open(answered).score("majority")
    assert scores.vote is None


def test_lists_keep_their_classes_and_nuggets_are_voted_on(tmp_path: Path) -> None:
    folder = tmp_path / "e"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "series2004"\n')
    asked = [("1.1", "list"), ("1.2", "other")]
    write(folder / "questions.jsonl", [{"id": i, "type": t, "text": "?", "series": "1"} for i, t in asked])
    items = {"1.1": [{"doc": "D", "text": "x"}, {"doc": "D", "text": "y"}], "1.2": [{"doc": "D", "text": "n" * 90}]}
    write(folder / "runs" / "A.jsonl", [{"run": "A", "question": i, "items": listed} for i, listed in items.items()])
    marks = [{"question": "1.2", "nugget": str(n), "vital": n < 3, "text": f"nugget {n}"} for n in (1, 2, 3)]
    write(folder / "nuggets" / "development.jsonl", marks)
    listed = {"question": "1.1", "run": "A", "doc": "D"}
    for name, labels, nuggets in (("first", "RR", "12"), ("second", "RX", "1"), ("third", "WR", "23")):
        rows = [
            listed | {"text": text, "judgment": label} | ({"answer": f"{text} class"} if label == "R" else {})
            for text, label in zip("xy", labels, strict=True)
        ]
        write(folder / "judgments" / f"{name}.jsonl", [*rows, {"question": "1.2", "run": "A", "nuggets": [*nuggets]}])
    key = qassay.open(folder).key("majority")
    assert key.judgments.kind("list").select("text", "judgment", "answer").rows() == [
        ("x", "R", "x class"),
        ("y", "R", "y class"),
    ]
    assert key.judgments.kind("match")["nuggets"].to_list() == [["1", "2"]]
    scores = qassay.open(folder).score("majority")
    assert scores.runs[0].components == {"list": 1.0, "other": 1.0}
    # With lists of their own there is nothing to vote on: the nugget question is then unjudged.
    write(folder / "nuggets" / "first.jsonl", marks[:2])
    write(folder / "nuggets" / "second.jsonl", marks)
    list_scores = qassay.open(folder).score("majority", component="list")
    assert list_scores.vote is not None
    assert list_scores.vote.nugget_judgments_left_out == 3
    assert "3 nugget judgments are left out" in " ".join(list_scores.notes_for_output())
