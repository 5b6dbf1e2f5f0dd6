"""`qassay import` of judgments in people's own tables: runs for items, labels, and sets of programs."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from on_disk import read, refused, run_import, write
from qassay.cli import main

Captured = pytest.CaptureFixture[str]

QUESTIONS = {"q1": "Who wrote it?", "q2": "When was it finished?", "q3": "Which moon?"}
ANSWERS = {
    "old": {"q1": "Bulgakov", "q2": "1887", "q3": ""},
    "new": {"q1": "Bulgakov", "q2": "1889", "q3": "Titan"},
}
STORED = [
    {"question": "q1", "text": "Bulgakov", "judgment": "correct"},
    {"question": "q2", "text": "1887", "judgment": "incorrect"},
    {"question": "q2", "text": "1889", "judgment": "correct"},
]


def answers(tmp_path: Path, system: str) -> Path:
    rows = [{"id": name, "question": QUESTIONS[name], "answer": text} for name, text in ANSWERS[system].items()]
    return write(tmp_path / f"{system}.jsonl", rows)


@pytest.fixture
def folder(tmp_path: Path, capsys: Captured) -> Path:
    """An evaluation with the answers of two systems."""
    folder = tmp_path / "e"
    assert run_import(folder, answers(tmp_path, "old"), answers(tmp_path, "new"), "--task", "qa") == 0
    capsys.readouterr()
    return folder


def test_a_row_may_name_the_run(folder: Path, tmp_path: Path) -> None:
    rows = [
        {"question": "q1", "run": "old", "judgment": "correct"},
        {"question": "q1", "run": "new", "judgment": "correct"},
        {"question": "q2", "run": "old", "judgment": "incorrect", "note": "a year early"},
        {"question": "q2", "text": "1889", "judgment": "correct"},
    ]
    assert run_import(folder, write(tmp_path / "first.jsonl", rows)) == 0
    assert read(folder / "judgments" / "first.jsonl") == [STORED[0], STORED[1] | {"note": "a year early"}, STORED[2]]


@pytest.mark.parametrize("form", ["csv", "tsv", "german", "parquet", "ipc", "excel", "json"])
def test_tables_of_labels(folder: Path, tmp_path: Path, form: str) -> None:
    rows = [
        {"id": "q1", "system": "old", "verdict": "yes"},
        {"id": "q2", "system": "old", "verdict": "no"},
        {"id": "q2", "system": "new", "verdict": "yes"},
    ]
    suffixes = {"german": "csv", "ipc": "arrow", "excel": "xlsx"}
    path = tmp_path / f"first.{suffixes.get(form, form)}"
    if form in ("parquet", "ipc", "excel"):
        getattr(pl.DataFrame(rows), f"write_{form}")(path)
    elif form == "german":
        text = "\r\n".join(["sep=;", "Frage;Modell;Bewertung", *(";".join(row.values()) for row in rows)])
        path.write_bytes(text.encode("utf-16"))
    elif form == "json":
        path.write_text(json.dumps(rows))
    else:
        mark = "," if form == "csv" else "\t"
        path.write_text("\n".join(mark.join(line) for line in [rows[0].keys(), *(row.values() for row in rows)]))
    assert run_import(folder, path, "--labels", "yes=correct,no=incorrect") == 0
    assert read(folder / "judgments" / "first.jsonl") == STORED


def test_labels_that_are_still_empty_are_left_out(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "first.csv"
    path.write_text("id,system,label\nq1,old,correct\nq2,old,\nq2,new,\n")
    assert run_import(folder, path) == 0
    assert "first.csv: 2 rows without a verdict left out (q2)" in capsys.readouterr().err
    assert read(folder / "judgments" / "first.jsonl") == STORED[:1]


def test_labels_that_are_true_and_false(folder: Path, tmp_path: Path) -> None:
    rows = [{"question": "q2", "answer": "1889", "label": True}, {"question": "q2", "answer": "1887", "label": False}]
    path = write(tmp_path / "first.jsonl", rows)
    assert run_import(folder, path, "--as", "judgments", "--labels", "true=correct,false=incorrect") == 0
    assert read(folder / "judgments" / "first.jsonl") == [STORED[2], STORED[1]]


def test_questions_may_be_named_by_their_text(folder: Path, tmp_path: Path) -> None:
    rows = [{"q": QUESTIONS["q2"], "model": "new", "human": "ok", "rater": "ana"}]
    options = ("--as", "judgments", "--map", "question=q,judgment=human,assessor=rater", "--labels", "ok=correct")
    assert run_import(folder, write(tmp_path / "first.jsonl", rows), *options) == 0
    assert read(folder / "judgments" / "first.jsonl") == [STORED[2] | {"assessor": "ana"}]


def test_runs_and_their_labels_in_one_import(tmp_path: Path) -> None:
    labels = write(tmp_path / "first.jsonl", [{"question": "q2", "run": "old", "judgment": "incorrect"}])
    assert run_import(tmp_path / "e", labels, answers(tmp_path, "old"), "--task", "qa") == 0
    assert read(tmp_path / "e" / "judgments" / "first.jsonl") == [STORED[1]]


def test_empty_answers_need_no_judgment(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    rows = [
        {"question": "q3", "run": "old", "judgment": "incorrect"},
        {"question": "q2", "run": "old", "judgment": "partly"},
    ]
    assert run_import(folder, write(tmp_path / "first.jsonl", rows)) == 0
    assert "1 row about empty answers, which need no judgment, left out (q3)" in capsys.readouterr().err
    assert run_import(folder, write(tmp_path / "silent.jsonl", [row for row in rows if row["question"] == "q3"])) == 1
    assert "every row is about an empty answer, which needs no judgment (q3)" in capsys.readouterr().err
    assert [row["question"] for row in read(folder / "judgments" / "first.jsonl")] == ["q2"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [
                {"question": "q1", "run": run, "judgment": label}
                for run, label in (("old", "correct"), ("new", "partly"))
            ],
            "f.jsonl:2: question q1: 'partly' for run new, but 'correct' for the same answer of run old (row 1)",
        ),
        ([{"question": "q1", "run": "odd", "judgment": "correct"}], "there is no run 'odd'; the runs are new, old"),
        ([{"question": "q9", "run": "old", "judgment": "correct"}], "f.jsonl:1: question q9 is not in the test set"),
        (
            [{"question": "q2", "run": "old", "judgment": "good"}],
            "f.jsonl:1: question q2: 'good' is not a label; use one of correct partly incorrect, "
            "or translate it: --labels good=LABEL",
        ),
    ],
    ids=["two labels", "no run", "no question", "label"],
)
def test_bad_rows_change_nothing(
    folder: Path, tmp_path: Path, capsys: Captured, rows: list[dict[str, Any]], message: str
) -> None:
    assert message in refused(folder, capsys, write(tmp_path / "f.jsonl", rows))


def test_a_strange_label_is_one_error_however_many_rows_have_it(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    """A model judged, wrote its labels in capitals, and failed on some answers."""
    labels = ["CORRECT", "ERROR: timeout", "ERROR: timeout"]
    subjects = [("q1", "old"), ("q2", "old"), ("q2", "new")]
    rows = [
        {"question": name, "run": run, "judgment": label} for (name, run), label in zip(subjects, labels, strict=True)
    ]
    file = write(tmp_path / "gpt.jsonl", rows)
    errors = refused(folder, capsys, file).splitlines()
    assert len(errors) == 2
    assert "or translate it: --labels CORRECT=correct" in errors[0]
    assert "gpt.jsonl:2: question q2: 'ERROR: timeout' is not a label (2 rows)" in errors[1]
    assert "--labels 'ERROR: timeout=LABEL'" in errors[1]
    assert run_import(folder, file, "--labels", "CORRECT=correct,ERROR: timeout=") == 0
    assert "2 rows without a verdict left out (q2)" in capsys.readouterr().err
    assert read(folder / "judgments" / "gpt.jsonl") == STORED[:1]


def test_rows_of_a_table_without_lines_have_a_number(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    rows = [{"id": "q1", "run": "old", "label": "correct"}, {"id": "q2", "run": "old", "label": "no"}]
    (tmp_path / "f.json").write_text(json.dumps(rows))
    assert f"{tmp_path / 'f.json'}: row 2: question q2: 'no' is not a label" in refused(
        folder, capsys, tmp_path / "f.json"
    )


def test_other_tasks_name_runs_too(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "series2004"])
    rows = [
        {"id": "1.1", "type": "factoid", "text": "When?", "series": "1", "target": "Crips"},
        {"id": "1.2", "type": "list", "text": "Which?", "series": "1", "target": "Crips"},
    ]
    (tmp_path / "a.txt").write_text("1.1 a D1 1969\n1.2 a D1 Boston\n1.2 a D2 Austin\n")
    (tmp_path / "b.txt").write_text("1.1 b NIL\n1.2 b D1 Boston\n")
    assert run_import(folder, write(tmp_path / "q.jsonl", rows), tmp_path / "a.txt", tmp_path / "b.txt") == 0
    judged = [
        {"question": "1.1", "run": "a", "judgment": "R"},
        {"question": "1.2", "run": "b", "judgment": "R", "answer": "Boston"},
    ]
    assert run_import(folder, write(tmp_path / "first.jsonl", judged)) == 0
    assert read(folder / "judgments" / "first.jsonl") == [
        {"question": "1.1", "doc": "D1", "text": "1969", "judgment": "R"},
        {"question": "1.2", "doc": "D1", "text": "Boston", "run": "b", "judgment": "R", "answer": "Boston"},
    ]
    several = write(tmp_path / "several.jsonl", [{"question": "1.2", "run": "a", "judgment": "R"}])
    assert "question 1.2: run a returned 2 items; say in the row which (doc and text)" in refused(
        folder, capsys, several
    )


def test_a_program_is_not_the_key(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    rows = [*STORED, {"question": "q3", "text": "Titan", "judgment": "correct"}]
    assert run_import(folder, write(tmp_path / "gpt.jsonl", rows), "--automatic") == 0
    assert tomllib.loads((folder / "qassay.toml").read_text())["automatic"] == ["gpt"]
    capsys.readouterr()
    assert main(["score", str(folder)]) == 1
    message = capsys.readouterr().err
    assert "no person has judged yet" in message
    assert "if you ask for them: gpt. To choose one: --key SET" in message
    assert main(["pool", str(folder), "--json"]) == 0
    pool = json.loads(capsys.readouterr().out)
    assert (pool["key"], pool["types"]["qa"]["judged"]) == (None, 0)
    assert main(["score", str(folder), "--key", "gpt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["key"] == "gpt"
    # With the judgments of a person beside them, these are the key.
    assert (
        run_import(folder, write(tmp_path / "ana.jsonl", rows), write(tmp_path / "more.jsonl", rows), "--set", "ana")
        == 0
    )
    assert run_import(folder, write(tmp_path / "llama.jsonl", rows), "--automatic") == 0
    assert tomllib.loads((folder / "qassay.toml").read_text())["automatic"] == ["gpt", "llama"]
    capsys.readouterr()
    assert main(["score", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["key"] == "ana"
    assert main(["pool", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["types"]["qa"]["left"] == 0


def test_one_row_with_a_trace_makes_a_set_automatic(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    rows = [STORED[0], STORED[1] | {"trace": {"assessor": "x"}}, STORED[2] | {"note": 'not a "trace" of it'}]
    assert run_import(folder, write(tmp_path / "mixed.jsonl", rows)) == 0
    assert (
        run_import(folder, write(tmp_path / "ana.jsonl", [STORED[2] | {"note": 'a "trace" in a note', "trace": None}]))
        == 0
    )
    capsys.readouterr()
    assert main(["pool", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["key"] == "ana"


def test_judgments_of_people_are_not_marked_as_a_programs(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    assert run_import(folder, write(tmp_path / "ana.jsonl", STORED)) == 0
    capsys.readouterr()
    more = write(tmp_path / "more.jsonl", [{"question": "q3", "text": "Titan", "judgment": "correct"}])
    message = refused(folder, capsys, more, "--set", "ana", "--automatic", status=2)
    assert "the set ana contains judgments of people. To name another set: --set NAME" in message
    assert "is for the judgments of people" in refused(
        folder, capsys, more, "--set", "adjudicated", "--automatic", status=2
    )


def test_a_configuration_that_cannot_be_changed_safely(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    configuration = folder / "qassay.toml"
    configuration.write_text('automatic = ["odd]name"]\n' + configuration.read_text())
    message = refused(folder, capsys, write(tmp_path / "gpt.jsonl", STORED), "--automatic")
    assert "qassay.toml: cannot be changed safely; add 'gpt' to automatic in it by hand" in message


def test_match_judges_free_text_by_the_gold_answers(tmp_path: Path, capsys: Captured) -> None:
    rows = [
        {"id": "q1", "question": "Who wrote it?", "answer": "the Bulgakov", "gold": "Bulgakov"},
        {"id": "q2", "question": "When was it finished?", "answer": "1887", "gold": ["1889", "March 1889"]},
        {"id": "q3", "question": "Which moon?", "answer": "Titan"},
    ]
    folder = tmp_path / "e"
    assert run_import(folder, write(tmp_path / "old.jsonl", rows), "--task", "qa") == 0
    assert main(["judge", str(folder), "--with", "match(normalise=true)", "--set", "match"]) == 0
    printed = capsys.readouterr().out
    assert "match: judged 2 (1 correct, 1 incorrect)" in printed
    assert "used only if you ask for them. To score with these: --key match" in printed
    assert main(["score", str(folder)]) == 1
    assert "if you ask for them: match. To choose one: --key SET" in capsys.readouterr().err
