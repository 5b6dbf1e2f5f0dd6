"""`qassay import` of answers with keys of people's own: questions, runs, and everything that can be wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from on_disk import read, refused, run_import, snapshot, workbook, write
from qassay.cli import main
from qassay.evaluation import open_evaluation
from qassay.formats.folder import Folder
from qassay.store.engine import open_store
from qassay.store.folder.importing import import_folder

Captured = pytest.CaptureFixture[str]

OLD: list[dict[str, Any]] = [
    {"id": "q1", "query": "Who wrote it?", "prediction": "Bulgakov", "ground_truth": "Mikhail Bulgakov"},
    {"id": "q2", "query": "When was it finished?", "prediction": "1887", "ground_truth": ["1889"]},
    {"id": "q3", "query": "Which moon?", "prediction": ""},
]


@pytest.fixture
def folder(tmp_path: Path, capsys: Captured) -> Path:
    """An evaluation with the answers of one system."""
    assert run_import(tmp_path / "e", write(tmp_path / "old.jsonl", OLD), "--task", "qa") == 0
    capsys.readouterr()
    return tmp_path / "e"


def test_one_command_from_answers_to_an_evaluation(tmp_path: Path, capsys: Captured) -> None:
    old = write(tmp_path / "old.jsonl", OLD)
    (tmp_path / "new.csv").write_text("question,response\nWho wrote it?,Bulgakov\nWhich moon?,Titan\n")
    assert run_import(tmp_path / "e", old, tmp_path / "new.csv", "--task", "qa") == 0
    printed = capsys.readouterr()
    assert "question from query, answer from prediction, gold from ground_truth" in printed.out
    assert "new.csv: CSV with 2 rows (answer from response), without ids" in printed.out
    assert "warning" in printed.err
    gaps = "run new has no answer to 1 question (q2); scoring asks what they count. To count 0: qassay score"
    assert gaps in printed.err
    assert read(tmp_path / "e" / "questions.jsonl") == [
        {"id": "q1", "type": "qa", "text": "Who wrote it?", "gold": ["Mikhail Bulgakov"]},
        {"id": "q2", "type": "qa", "text": "When was it finished?", "gold": ["1889"]},
        {"id": "q3", "type": "qa", "text": "Which moon?"},
    ]
    assert read(tmp_path / "e" / "runs" / "new.jsonl") == [
        {"run": "new", "question": "q1", "items": [{"text": "Bulgakov"}]},
        {"run": "new", "question": "q3", "items": [{"text": "Titan"}]},
    ]
    assert read(tmp_path / "e" / "runs" / "old.jsonl")[2] == {"run": "old", "question": "q3", "items": []}


def test_importing_again_adds_nothing(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    before = snapshot(folder)
    assert run_import(folder, tmp_path / "old.jsonl") == 0
    assert snapshot(folder) == before
    assert "nothing new: run old is there already" in capsys.readouterr().out


def test_gold_answers_are_united(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    more = [{"qid": "q2", "question": "When was it finished?", "golds": ["March 1889", "1889"], "output": "1889"}]
    assert run_import(folder, write(tmp_path / "new.jsonl", more)) == 0
    assert read(folder / "questions.jsonl")[1]["gold"] == ["1889", "March 1889"]
    assert "changes 1 question" in capsys.readouterr().out


def test_without_ids_the_position_is_the_id(tmp_path: Path, capsys: Captured) -> None:
    rows = [{"question": text, "answer": text.lower(), "model": model} for text in ("A b", "C d") for model in "XY"]
    assert run_import(tmp_path / "e", write(tmp_path / "both.jsonl", rows), "--task", "qa") == 0
    more = [{"question": "E f", "answer": "x"}, {"question": "C d", "answer": "y"}]
    assert run_import(tmp_path / "e", write(tmp_path / "Z.jsonl", more), "--new-questions") == 0
    ids = [(row["id"], row["text"]) for row in read(tmp_path / "e" / "questions.jsonl")]
    assert ids == [("1", "A b"), ("2", "C d"), ("3", "E f")]
    assert [row["question"] for row in read(tmp_path / "e" / "runs" / "Y.jsonl")] == ["1", "2"]
    assert [row["question"] for row in read(tmp_path / "e" / "runs" / "Z.jsonl")] == ["3", "2"]


def test_files_without_ids_find_the_ids_of_others(tmp_path: Path) -> None:
    bare = [{"question": row["query"], "answer": "x"} for row in OLD]
    files = write(tmp_path / "bare.jsonl", bare), write(tmp_path / "old.jsonl", OLD)
    assert run_import(tmp_path / "e", *files, "--task", "qa") == 0
    assert [row["question"] for row in read(tmp_path / "e" / "runs" / "bare.jsonl")] == ["q1", "q2", "q3"]


def test_a_number_and_a_text_are_the_same_id(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", [{"id": 7, "question": "Who now?", "answer": "x"}])
    second = write(tmp_path / "b.jsonl", [{"id": "7", "question": "Who now?", "answer": "y"}])
    third = write(tmp_path / "c.jsonl", [{"id": 7.0, "question": "Who now?", "answer": "z"}])
    assert run_import(tmp_path / "e", first, second, third, "--task", "qa") == 0
    assert [row["id"] for row in read(tmp_path / "e" / "questions.jsonl")] == ["7"]


def test_questions_without_answers_are_questions(tmp_path: Path, capsys: Captured) -> None:
    rows = [{"question": "Who wrote it?", "answers": ["Bulgakov"]}]
    assert run_import(tmp_path / "e", write(tmp_path / "gold.jsonl", rows), "--task", "qa", "--json") == 0
    added = json.loads(capsys.readouterr().out)["added"]
    assert [(row["kind"], row["count"], row["to"]) for row in added] == [("responses", 1, ["questions.jsonl"])]
    assert list((tmp_path / "e" / "runs").iterdir()) == []


def test_the_run_is_named(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    assert (
        run_import(folder, write(tmp_path / "x.jsonl", [{**row, "system": "A"} for row in OLD]), "--run", "best") == 0
    )
    assert (folder / "runs" / "best.jsonl").exists()
    said = capsys.readouterr().out
    assert "system from" not in said
    assert "left out: system" in said
    rows = [{**row, "model": name} for row in OLD for name in ("openai/gpt 4", "llama")]
    assert run_import(folder, write(tmp_path / "several.jsonl", rows)) == 0
    assert {path.name for path in (folder / "runs").iterdir()} == {
        *("old.jsonl", "best.jsonl", "openai-gpt-4.jsonl", "llama.jsonl"),
    }
    assert "system 'openai/gpt 4' becomes the run openai-gpt-4" in capsys.readouterr().err


def test_rows_that_repeat_an_earlier_row_are_left_out(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    """A job that was started again writes some of its rows twice."""
    rows = [{**row, "contexts": [{"id": "D1", "text": "t"}]} for row in OLD]
    assert run_import(folder, write(tmp_path / "again.jsonl", [rows[0], *rows, rows[1]])) == 0
    assert len(read(folder / "runs" / "again.jsonl")) == len(OLD)
    left_out = f"again.jsonl: 2 rows left out: they repeat earlier rows (lines 2, {len(OLD) + 2})"
    assert left_out in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (
            [{**OLD[0], "query": "Who drew it?"}],
            (),
            "x.jsonl:1: question q1 is 'Who drew it?' here and 'Who wrote it?' in",
        ),
        (
            [OLD[0], {**OLD[0], "prediction": "x"}],
            (),
            "x.jsonl:2: run x has a second answer to question q1; the first: line 1",
        ),
        (
            [{**OLD[0], "model": m} for m in "AB"],
            ("--run", "C"),
            "has answers of 2 systems (A, B): they cannot be the run C",
        ),
        ([{**OLD[0], "model": m} for m in ("a b", "a-b")], (), "the systems 'a b' and 'a-b' would both be the run a-b"),
        ([{**OLD[0], "answer": "x"}], (), "'answer' and 'prediction' could both be the answer. To say which: --map"),
        ([{**OLD[0], "run": "old"}], (), "the evaluation has another run old; give this one a tag of its own"),
        (
            [{"prediction": "x", "number": "q1"}],
            ("--as", "responses"),
            "no key is known as the question: it has prediction, number",
        ),
        ([{**OLD[0], "id": None}, OLD[1]], (), "x.jsonl:1: the row has no id ('id'), but other rows have"),
    ],
    ids=["text", "twice", "several", "names", "keys", "run", "no question", "no id"],
)
def test_bad_answers_change_nothing(
    folder: Path, tmp_path: Path, capsys: Captured, rows: list[dict[str, Any]], options: tuple[str, ...], message: str
) -> None:
    good = write(tmp_path / "good.jsonl", [{**OLD[0], "prediction": "other"}])
    assert message in refused(folder, capsys, write(tmp_path / "x.jsonl", rows), *options)
    if not options:
        assert message in refused(folder, capsys, good, tmp_path / "x.jsonl")


def test_the_same_id_with_two_texts_in_two_files(tmp_path: Path, capsys: Captured) -> None:
    first, second = write(tmp_path / "a.jsonl", OLD), tmp_path / "b.csv"
    second.write_text("id,question,answer\nq1,Who drew it?,x\n")
    assert run_import(tmp_path / "e", first, second, "--task", "qa") == 1
    message = capsys.readouterr().err
    assert f"{second}:2: question q1 is 'Who drew it?' here and 'Who wrote it?' in {first}:1" in message
    assert not (tmp_path / "e").exists()


def test_a_changed_question_needs_leave(folder: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [{**OLD[0], "query": "Who drew it?"}])
    assert run_import(folder, path, "--replace") == 0
    assert read(folder / "questions.jsonl")[0]["text"] == "Who drew it?"


def test_two_files_with_one_name(tmp_path: Path, capsys: Captured) -> None:
    paths = [tmp_path / name / "answers.jsonl" for name in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        write(path, OLD)
    assert run_import(tmp_path / "e", *paths, "--task", "qa") == 1
    assert "is the run answers, as" in capsys.readouterr().err
    assert run_import(tmp_path / "e", *paths, "--task", "qa", "--run", "x") == 2


def test_ids_of_the_file_alone_are_found_by_text(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    """A frame numbers its rows itself."""
    before = (folder / "questions.jsonl").read_bytes()
    renumbered = [{**row, "id": place} for place, row in enumerate(OLD)]
    assert run_import(folder, write(tmp_path / "new.jsonl", renumbered)) == 0
    assert (
        "3 ids are not in the evaluation; the questions were found by their texts (0 is q1" in capsys.readouterr().err
    )
    assert [row["question"] for row in read(folder / "runs" / "new.jsonl")] == ["q1", "q2", "q3"]
    assert (folder / "questions.jsonl").read_bytes() == before


def test_equal_texts_under_two_ids_are_pointed_out(tmp_path: Path, capsys: Captured) -> None:
    twice = write(tmp_path / "old.jsonl", [OLD[0], {**OLD[0], "id": "0"}])
    assert run_import(tmp_path / "e", twice, "--task", "qa") == 0
    assert "1 question with the same text but two ids (q1 and 0)" in capsys.readouterr().err


@pytest.mark.parametrize("in_store", [False, True], ids=["folder", "store"])
def test_answers_never_change_a_test_set_that_has_questions(
    folder: Path, tmp_path: Path, capsys: Captured, in_store: bool
) -> None:
    if in_store:
        store = open_store(folder, create=True)
        import_folder(store, Folder(folder))
        store.close()
    more = [{"id": f"x{place}", "query": f"Is it {place}?", "prediction": "yes"} for place in range(12)]
    first = write(tmp_path / "first.jsonl", [*OLD, *more[:7]])
    second = write(tmp_path / "second.jsonl", [*OLD, *more[5:]])
    before = [*open_evaluation(folder).questions]
    message = refused(folder, capsys, first, second)
    assert message.count("error: ") == 1  # the files count together
    assert f"12 questions are not in the evaluation: {', '.join(row['id'] for row in more[:10])}, ..." in message
    assert f"(also in {second})" in message
    assert "--new-questions" in message
    assert run_import(folder, first, second, "--new-questions") == 0
    after = [*open_evaluation(folder).questions]
    assert after[: len(before)] == before
    assert len(after) == len(before) + 12


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("new.jsonl", '{"id": "q2", "answer": "1889"}\n{"id": "q1", "answer": "Bulgakov"}\n', ()),
        ("new.jsonl", '{"question": "q2", "answer": "1889"}\n{"question": "q1", "answer": "Bulgakov"}\n', ()),
        ("new.csv", "sample_id,output\nq2,1889\nq1,Bulgakov\n", ()),
        ("new.csv", f"id,question,output\nq2,,1889\nq1,{OLD[0]['query']},Bulgakov\n", ()),
        ("new.csv", "sample_id,output\nq2,1889\nq1,Bulgakov\n", ("--as", "responses")),
        ("new.csv", "number,says\nq2,1889\nq1,Bulgakov\n", ("--map", "id=number,answer=says")),
    ],
    ids=["JSON lines", "ids as questions", "CSV", "some questions", "named", "mapped"],
)
def test_an_id_and_an_answer_are_enough(
    folder: Path, tmp_path: Path, capsys: Captured, name: str, content: str, options: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(content)
    before = (folder / "questions.jsonl").read_bytes()
    assert run_import(folder, tmp_path / name, *options) == 0
    assert [(row["question"], row["items"]) for row in read(folder / "runs" / "new.jsonl")] == [
        ("q2", [{"text": "1889"}]),
        ("q1", [{"text": "Bulgakov"}]),
    ]
    assert (folder / "questions.jsonl").read_bytes() == before
    (tmp_path / name).write_text(content.replace("q2", "q9"))
    says = "1 question is not in the evaluation: q9"
    assert says in refused(folder, capsys, tmp_path / name, *options)
    if "question" not in content:
        assert "correct the ids" in refused(folder, capsys, tmp_path / name, *options, "--new-questions")


def test_answers_need_a_task_for_them(tmp_path: Path, capsys: Captured) -> None:
    main(["init", str(tmp_path / "e"), "--task", "ranked5"])
    capsys.readouterr()
    message = refused(tmp_path / "e", capsys, write(tmp_path / "a.jsonl", OLD))
    assert "contains answers in free text, and the task ranked5 takes none" in message
    assert "qassay init FOLDER --task qa" in message
    assert "has the task ranked5" in refused(tmp_path / "e", capsys, tmp_path / "a.jsonl", "--task", "qa", status=2)


def test_known_answers_of_other_tasks_stay_known_answers(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path / "known.jsonl", [{"question": "q1", "answer": "Bulgakov"}])
    assert run_import(folder, path, "--as", "answers") == 0
    assert read(folder / "answers.jsonl") == [{"question": "q1", "answer": "Bulgakov"}]


def test_a_folder_that_is_not_there_is_named_with_the_command(tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path / "a.jsonl", OLD)
    assert run_import(tmp_path / "e", path) == 1
    assert f"qassay import {tmp_path / 'e'} {path} --task qa" in capsys.readouterr().err
    (tmp_path / "run.txt").write_text("1 tag NIL\n")
    assert run_import(tmp_path / "e", tmp_path / "run.txt") == 1
    assert f"qassay init {tmp_path / 'e'} --task NAME" in capsys.readouterr().err
    assert not (tmp_path / "e").exists()


def test_a_failed_import_leaves_no_evaluation(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "mine.txt").write_text("stay")
    assert (
        run_import(tmp_path / "e", write(tmp_path / "a.jsonl", [OLD[0], OLD[0] | {"prediction": "x"}]), "--task", "qa")
        == 1
    )
    assert snapshot(tmp_path / "e") == {"mine.txt": b"stay"}


def test_real_answers_and_labels_give_the_known_scores(tmp_path: Path, data: Callable[[str], Path]) -> None:
    """Systems on Natural Questions with human labels, joined here by hand: equal strings, all others wrong."""
    systems = [data(f"nq301/{name}.jsonl") for name in ("NQ_DPR", "NQ_FiD", "NQ_EviGen")]
    assert run_import(tmp_path / "e", *systems, "--task", "qa") == 0
    keys = "question=Question,text=Model answer,judgment=Acceptable?"
    labels = ("--as", "judgments", "--map", keys, "--labels", "Yes=correct,No=incorrect", "--set", "human")
    assert run_import(tmp_path / "e", data("nq301/NQ301_human.tsv"), *labels) == 0
    scores = open_evaluation(tmp_path / "e").score(unjudged="wrong")
    judged = [line.split("\t") for line in data("nq301/NQ301_human.tsv").read_text(encoding="utf-8").splitlines()]
    right = {(row[1], row[2]): row[3] == "Yes" for row in judged[1:]}
    known = {}
    for path in systems:
        answers = read(path)
        known[path.stem] = sum(right.get((row["question"], row["prediction"]), False) for row in answers) / len(answers)
    assert {scored.run: scored.score for scored in scores.runs} == pytest.approx(known, abs=1e-12)
    assert min(known.values()) > 0.3


def test_into_a_store(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    store = open_store(folder, create=True)
    import_folder(store, Folder(folder))
    store.close()
    new = [{**OLD[1], "ground_truth": "March 1889", "prediction": "1889"}]
    labels = [{"question": "q2", "run": "new", "judgment": "correct"}]
    assert run_import(folder, write(tmp_path / "new.jsonl", new), write(tmp_path / "first.jsonl", labels)) == 0
    assert "They are in the store" in capsys.readouterr().out
    evaluation = open_evaluation(folder)
    assert evaluation.questions.by_id["q2"].gold == ("1889", "March 1889")
    assert evaluation.runs.tags == ("new", "old")
    assert evaluation.judgment_set("first").kind("label")["text"].to_list() == ["1889"]


def test_answers_and_labels_from_the_sheets_of_one_workbook(tmp_path: Path, capsys: Captured) -> None:
    notes: list[list[object]] = [["text"], ["See the next sheets"]]
    answers: list[list[object]] = [["Frage", "said", "model"], ["Who wrote it?", "Bulgakov", "A"], ["When?", 1889, "A"]]
    labels: list[list[object]] = [["question", "run", "Bewertung"], ["Who wrote it?", "A", "ja"], ["2", "A", "correct"]]
    book = workbook(tmp_path / "book.xlsx", notes, answers, labels, names=["Notes", "Answers", "Labels"])
    assert run_import(tmp_path / "e", book, "--sheet", "Answers", "--map", "answer=said", "--task", "qa") == 0
    assert "Excel with 2 rows (question from Frage, answer from said, system from model)" in capsys.readouterr().out
    assert [row["items"] for row in read(tmp_path / "e" / "runs" / "A.jsonl")] == [
        [{"text": "Bulgakov"}],
        [{"text": "1889"}],
    ]
    assert run_import(tmp_path / "e", book, "--sheet", "Labels", "--set", "ana", "--labels", "ja=correct") == 0
    stored = [(row["question"], row["judgment"]) for row in read(tmp_path / "e" / "judgments" / "ana.jsonl")]
    assert stored == [("1", "correct"), ("2", "correct")]
    assert main(["look", str(book), "--sheet", "Labels"]) == 0
    assert f"qassay import my-eval {book} --sheet Labels" in capsys.readouterr().out
    assert run_import(tmp_path / "e", book, "--sheet", "Label") == 1
    assert "there is no sheet 'Label'. The sheets are Notes, Answers, Labels" in capsys.readouterr().err


def test_each_file_has_its_own_keys(tmp_path: Path, capsys: Captured) -> None:
    old = write(tmp_path / "old.jsonl", [{"question": "Who?", "said": "Ann", "answer": "Anna"}])
    new = write(tmp_path / "new.jsonl", [{"question": "Who?", "answer": "Bob"}])
    keys = ("--map", "old.jsonl:answer=said,gold=answer")
    assert run_import(tmp_path / "e", old, new, *keys, "--task", "qa") == 0
    assert read(tmp_path / "e" / "questions.jsonl")[0]["gold"] == ["Anna"]
    items = [read(tmp_path / "e" / "runs" / f"{name}.jsonl")[0]["items"] for name in ("old", "new")]
    assert items == [[{"text": "Ann"}], [{"text": "Bob"}]]
    assert main(["check", str(old), "--in", str(tmp_path / "e"), *keys]) == 0
    capsys.readouterr()
    assert run_import(tmp_path / "e", new, *keys) == 2
    assert "--map names the file old.jsonl, and the files are " in capsys.readouterr().err
