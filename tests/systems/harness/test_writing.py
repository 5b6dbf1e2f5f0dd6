"""The finished run: in order, in every form, checked, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qassay import tasks
from qassay.errors import InputError, UsageError
from qassay.formats.folder import Configuration, Folder
from qassay.formats.parts import file_part
from qassay.formats.runs import read_runs
from qassay.questions import Question, TestSet
from qassay.runs import RunInformation
from qassay.systems import Answer, Item
from qassay.systems.harness.wire import answer_row, from_row, read_answer
from qassay.systems.harness.writing import in_order, plan_run, run_text
from qassay.tasks import Task

SERIES = tasks.task("series2004")
ANSWERS = {
    "1.1": Answer((Item("Colin Archer", "D1"),), confidence=0.5),
    "1.2": Answer((Item("a", "D1"), Item("b  c", "D2"))),
    "1.3": Answer(),
    "2.1": Answer(nil=True),
    "2.2": Answer(),
    "2.3": Answer((Item("Ünï “code”", "D1"),)),
    "9": Answer((Item("x", "D1"),)),
}


def write(folder: Folder, tag: str, answers: dict[str, Answer], *, task: Task, **options: Any) -> Path:
    plan = plan_run(folder, Configuration("test", task), tag, answers, **options)
    plan.write_files()
    return folder.path / plan.incoming.runs[tag].name


@pytest.mark.parametrize("form", ["jsonl", "trec4"])
def test_both_forms_are_read_back(two_series: TestSet, tmp_path: Path, form: str) -> None:
    folder = Folder(tmp_path)
    path = write(folder, "my:tag", ANSWERS, task=SERIES, questions=two_series, form=form)
    assert path.name == ("my%3Atag.jsonl" if form == "jsonl" else "my%3Atag.txt")
    runs = read_runs([file_part(path)], task=SERIES, questions=two_series)
    assert (runs.problems, runs.missing, runs.warnings) == ((), (), ())
    table = runs.runs.table
    assert runs.runs.tags == ("my:tag",)
    assert [(row["question"], row["doc"], row["text"]) for row in table.iter_rows(named=True)] == [
        ("1.1", "D1", "Colin Archer"),
        ("1.2", "D1", "a"),
        ("1.2", "D2", "b  c"),
        ("1.3", None, None),
        ("2.1", None, None),
        ("2.2", None, None),
        ("2.3", "D1", "Ünï “code”"),
        ("9", "D1", "x"),
    ]


def test_trec4_says_what_it_cannot_hold(two_series: TestSet) -> None:
    for item in (Item("two\nlines", "D1"), Item("x"), Item("x", "D 1"), Item(" x", "D1")):
        answers = {**ANSWERS, "1.1": Answer((item,))}
        with pytest.raises(InputError, match=r"question 1\.1: .*--form jsonl"):
            run_text("t", answers, task=SERIES, questions=two_series, form="trec4")


def test_extracts_and_decisions() -> None:
    questions = TestSet((Question("1", "factoid", "?"), Question("2", "factoid", "?")))
    answers = {"1": Answer((Item("text", "D1", 5, 4),)), "2": Answer(nil=True)}
    task = tasks.task("passages")
    assert run_text("t", answers, task=task, questions=questions, form="extract") == "1 t D1 5 4\n2 t NIL\n"
    rows = [
        json.loads(line) for line in run_text("t", answers, task=task, questions=questions, form="jsonl").splitlines()
    ]
    assert rows == [
        {"run": "t", "question": "1", "items": [{"doc": "D1", "start": 5, "length": 4}]},
        {"run": "t", "question": "2", "items": [], "nil": True},
    ]
    pairs = TestSet((Question("1", "pair", "T", hypothesis="H"),))
    decided = {"1": Answer(decision="UNKNOWN", justification="because")}
    assert (
        run_text("t", decided, task=tasks.task("entailment3"), questions=pairs, form="rte") == "ranked: no\n1 UNKNOWN\n"
    )
    row = json.loads(run_text("t", decided, task=tasks.task("justification"), questions=pairs, form="jsonl"))
    assert row == {"run": "t", "question": "1", "decision": "UNKNOWN", "justification": "because"}


def test_forms_that_a_task_has_not(two_series: TestSet) -> None:
    with pytest.raises(UsageError, match="unknown run form of task series2004 'rte'"):
        run_text("t", ANSWERS, task=SERIES, questions=two_series, form="rte")


def test_the_most_confident_comes_first_where_the_task_ranks() -> None:
    task = tasks.task("confidence")
    given = [0.2, None, 0.9, 0.2, 0.9]
    asked = [(Question(str(n), "factoid", "?"), Answer(nil=True, confidence=c)) for n, c in enumerate(given)]
    assert [question.id for question, _ in in_order(asked, task)] == ["2", "4", "0", "3", "1"]
    assert [answer.confidence for _, answer in in_order(asked, task)] == [0.9, 0.9, 0.2, 0.2, 0.0]
    assert [question.id for question, _ in in_order(asked, SERIES)] == ["0", "1", "2", "3", "4"]
    questions = TestSet(tuple(question for question, _ in asked))
    answers = {question.id: answer for question, answer in asked}
    text = run_text("t", answers, task=task, questions=questions, form="trec4")
    assert text.split()[::3] == ["2", "4", "0", "3", "1"]


def test_nothing_is_written_where_a_rule_is_broken(two_series: TestSet, tmp_path: Path) -> None:
    for wrong in ({**ANSWERS, "1.1": Answer()}, {**ANSWERS, "9": Answer((Item("x"),))}):
        with pytest.raises(InputError):
            write(Folder(tmp_path), "t", wrong, task=SERIES, questions=two_series, information=RunInformation())
    with pytest.raises(InputError, match="document D2 is not in the collection"):
        write(Folder(tmp_path), "t", ANSWERS, task=SERIES, questions=two_series, lengths={"D1": 9})
    assert list(tmp_path.rglob("*")) == []


def test_runs_describe_themselves(two_series: TestSet, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    (tmp_path / "runs.jsonl").write_text('{"run": "old", "own": 1}\n{"run": "t", "priority": 3, "note": "kept"}\n')
    for described in ("first", "second"):
        write(folder, "t", ANSWERS, task=SERIES, questions=two_series, information=RunInformation("us", described))
    rows = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert [row["run"] for row in rows] == ["old", "t", "t", "t"]
    assert rows[-1] == {"run": "t", "priority": 3, "note": "kept", "organisation": "us", "description": "second"}


def test_another_form_replaces_the_run(two_series: TestSet, tmp_path: Path) -> None:
    for form in ("jsonl", "trec4"):
        write(Folder(tmp_path), "t", ANSWERS, task=SERIES, questions=two_series, form=form)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["t.txt"]


def test_answers_survive_the_wire() -> None:
    question = Question("1", "factoid", "?")
    for answer in (
        *ANSWERS.values(),
        Answer((Item("s", citations=("D1", "D2")),)),
        Answer((Item("", "D1", 0, 7),), confidence=-1.0),
        Answer(decision="YES", justification="j"),
    ):
        assert from_row(answer_row(answer), question) == answer
        assert read_answer(json.dumps(answer_row(answer)), question) == answer


def test_ranked_items_are_read_back(tmp_path: Path) -> None:
    task, questions = tasks.task("ranked5"), TestSet((Question("1", "factoid", "?"), Question("2", "factoid", "?")))
    answers = {"1": Answer((Item("one  two", "D1"), Item("three", "D2"))), "2": Answer((Item("four", "D1"),))}
    path = write(Folder(tmp_path), "t", answers, task=task, questions=questions, form="trec7")
    assert path.read_text().splitlines()[1] == "1 Q0 D2 2 0.5000 t three"
    runs = read_runs([file_part(path)], task=task, questions=questions)
    assert (runs.problems, runs.missing) == ((), ())
    rows = runs.runs.table.select("question", "rank", "doc", "text").rows()
    assert rows == [("1", 1, "D1", "one  two"), ("1", 2, "D2", "three"), ("2", 1, "D1", "four")]


def test_sentences_with_citations_are_read_back(tmp_path: Path) -> None:
    task, questions = tasks.task("nuggets"), TestSet((Question("r1", "other", "?"), Question("r2", "other", "?")))
    items = (Item("A b.", citations=("D2", "D1")), Item("C.", citations=("D1",)), Item("D.", doc="D3"), Item("E."))
    answers = {"r1": Answer(items), "r2": Answer()}
    path = write(Folder(tmp_path), "t", answers, task=task, questions=questions, form="rag24")
    first = json.loads(path.read_text().splitlines()[0])
    assert first["references"] == ["D2", "D1", "D3"]
    runs = read_runs([file_part(path)], task=task, questions=questions)
    assert (runs.problems, runs.missing) == ((), ())
    cited = runs.runs.table.filter(runs.runs.table["rank"] > 0)["citations"].to_list()
    assert cited == [["D2", "D1"], ["D1"], ["D3"], []]
