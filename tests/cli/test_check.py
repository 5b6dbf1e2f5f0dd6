"""`qassay check`: everything that is wrong, at once, with its place, for people and for machines."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

import random_evaluations as evaluations
from on_disk import write_texts
from qassay.cli import main
from qassay.errors import Rule

RULES = set(Rule.__args__)  # type: ignore[attr-defined]
KEYS = {"questions", "series", "runs", "judgments", "nuggets", "answers", "errors", "errors_total", "warnings"}


def rows(*given: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in given)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_texts(
        tmp_path / "evaluation",
        {
            "qassay.toml": 'task = "series2004"',
            "questions.jsonl": rows(
                {"id": "1.1", "type": "factoid", "text": "?", "series": "1"},
                {"id": "1.2", "type": "list", "text": "?", "series": "1"},
                {"id": "1.3", "type": "other", "text": "", "series": "1"},
            ),
            "runs/a.txt": "1.1 a D x\n1.2 a D x\n1.3 a D fact\n",
            "judgments/adjudicated.jsonl": rows(
                {"question": "1.1", "doc": "D", "text": "x", "judgment": "W"},
                {"question": "1.1", "doc": "D", "text": "x", "judgment": "R"},
                {"question": "1.2", "run": "a", "doc": "D", "text": "x", "judgment": "R"},
            ),
            "nuggets/adjudicated.jsonl": rows(
                {"question": "1.3", "nugget": "1", "vital": True},
                {"question": "1.3", "nugget": "2", "vital": False},
            ),
            "nuggets/development.jsonl": rows({"question": "1.3", "nugget": "1", "vital": False}),
            "answers.jsonl": rows({"question": "1.2", "answer": "x"}, {"question": "1.2", "answer": "y"}),
        },
    )


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def checked(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    status, out, err = printed(capsys, "check", *arguments, "--json")
    assert err == ""
    report = json.loads(out)
    assert set(report) == KEYS
    for row in (*report["errors"], *report["warnings"]):
        assert set(row) == {"file", "line", "question", "rule", "message"}
        assert row["rule"] in RULES
    assert status == (1 if report["errors"] else 0)
    return status, report


def test_the_document(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only current judgments count: an overruled one is history."""
    assert checked(capsys, folder) == (
        0,
        {
            "questions": {"factoid": 1, "list": 1, "other": 1},
            "series": 1,
            "runs": ["a"],
            "judgments": {"adjudicated": 2},
            "nuggets": {
                "adjudicated": {"lists": 1, "nuggets": 2, "vital": 1},
                "development": {"lists": 1, "nuggets": 1, "vital": 0},
            },
            "answers": 2,
            "errors": [],
            "errors_total": 0,
            "warnings": [],
        },
    )


def test_the_rules_of_the_contract() -> None:
    """FORMATS 6 names sixteen; `unjudged` is what scoring adds."""
    assert len(RULES - {"unjudged"}) == 16


def test_the_summary_for_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = printed(capsys, "check", folder)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "questions  1 factoid, 1 list, 1 other in 1 series",
        "runs       1: a",
        "judgments  adjudicated: 2",
        "nuggets    adjudicated: 2 (1 vital) for 1 question",
        "nuggets    development: 1 (0 vital) for 1 question",
        "answers    2 known from question development",
        "no errors",
    ]


def test_the_documents_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_texts(folder, {"collection/c.jsonl": rows({"id": "D", "text": "x"}, {"id": "E", "text": "y"})})
    assert "documents  2" in printed(capsys, "check", folder)[1].splitlines()


FAULTS: list[tuple[str, dict[str, str], list[tuple[str, int | None, str | None, str]]]] = [
    # the change, and for each error: file, line, question, rule
    ("missing", {"runs/a.txt": "1.1 a D x\n1.3 a D y\n"}, [("runs/a.txt", None, "1.2", "missing-question")]),
    (
        "several in a run",
        {"runs/a.txt": "1.1 a D x\n1.1 a D y\n9 a D z\n1.3 b D y\n"},
        [
            ("runs/a.txt", 2, "1.1", "one-answer"),
            ("runs/a.txt", 3, "9", "unknown-question"),
            ("runs/a.txt", 4, "1.3", "second-tag"),
            ("runs/a.txt", None, "1.2", "missing-question"),
        ],
    ),
    (
        "unknown doc",
        {"collection/c.jsonl": rows({"id": "E", "text": "x"})},
        [("runs/a.txt", line, question, "unknown-doc") for line, question in ((1, "1.1"), (2, "1.2"), (3, "1.3"))],
    ),
    (
        "judgments",
        {
            "judgments/first.jsonl": rows(
                {"question": "1.1", "doc": "D", "text": "x", "judgment": "Y"},
                {"question": "7", "doc": "D", "text": "x", "judgment": "R"},
                {"question": "1.1", "judgment": "R"},
                {"question": "1.2", "doc": "D", "text": "x", "judgment": "R"},
                {"question": "1.3", "run": "a"},
                {"doc": "D"},
            )
        },
        [
            ("judgments/first.jsonl", 1, "1.1", "bad-label"),
            ("judgments/first.jsonl", 2, "7", "unknown-question"),
            ("judgments/first.jsonl", 3, "1.1", "syntax"),
            ("judgments/first.jsonl", 4, "1.2", "syntax"),
            ("judgments/first.jsonl", 5, "1.3", "syntax"),
            ("judgments/first.jsonl", 6, None, "syntax"),
        ],
    ),
    (
        "ratings",
        {
            "judgments/first.jsonl": rows(
                {"question": "1.3", "run": "a", "content": 11, "organization": 0},
                {"question": "1.3", "run": "a", "understandability": 0},
                {"question": "1.3", "run": "a", "understandability": 2, "correctness": 1},
                {"question": "1.3", "run": "a", "nugget": "1", "support": "some"},
            )
        },
        [("judgments/first.jsonl", line, "1.3", "bad-label") for line in (1, 2, 3, 4)],
    ),
    (
        "types of fields",
        {"judgments/first.jsonl": '{"question": "1.1", "judgment": 3, "doc": "D", "text": ["x"]}\n{"question": {}}\n'},
        [
            ("judgments/first.jsonl", 1, "1.1", "syntax"),
            ("judgments/first.jsonl", 2, "{}", "syntax"),
        ],
    ),
    (
        "numbers that no table holds",
        {"judgments/first.jsonl": f'{{"question": "1.3", "run": "a", "item": {2**70}, "nuggets": []}}\n'},
        [("judgments/first.jsonl", 1, "1.3", "syntax")],
    ),
    (
        "no JSON",
        {"judgments/first.jsonl": "{\n[1]\n"},
        [
            ("judgments/first.jsonl", 1, None, "syntax"),
            ("judgments/first.jsonl", 2, None, "syntax"),
        ],
    ),
    (
        "unknown nugget",
        {"judgments/adjudicated.jsonl": rows({"question": "1.3", "run": "a", "nuggets": ["1", "3"]})},
        [("judgments/adjudicated.jsonl", 1, "1.3", "unknown-nugget")],
    ),
    (
        "distinct marks without known answers",
        {
            "judgments/adjudicated.jsonl": rows(
                {"question": "1.2", "run": "a", "doc": "D", "text": "x", "judgment": "R", "distinct": True}
            ),
            "answers.jsonl": "",
        },
        [("judgments/adjudicated.jsonl", None, "1.2", "missing-question")],
    ),
    (
        "nuggets",
        {
            "nuggets/first.jsonl": rows(
                {"question": "1.3", "vital": True}, {"question": "8", "nugget": "1", "vital": True, "weight": -1}
            )
        },
        [
            ("nuggets/first.jsonl", 1, "1.3", "syntax"),
            ("nuggets/first.jsonl", 2, "8", "bad-label"),
            ("nuggets/first.jsonl", 2, "8", "unknown-question"),
        ],
    ),
    (
        "answers",
        {"answers.jsonl": rows({"question": "1.2"}, {"question": "8", "answer": "x"})},
        [
            ("answers.jsonl", 1, "1.2", "syntax"),
            ("answers.jsonl", 2, "8", "unknown-question"),
        ],
    ),
    (
        "dropped",
        {"qassay.toml": 'task = "series2004"\n[drop]\n"8" = "x"'},
        [("qassay.toml", None, None, "configuration")],
    ),
    ("task", {"qassay.toml": 'task = "serie2004"'}, [("qassay.toml", None, None, "configuration")]),
    ("TOML", {"qassay.toml": "="}, [("qassay.toml", None, None, "configuration")]),
    (
        "two of one id",
        {"questions.jsonl": rows(*({"id": "1", "type": "list", "text": "?", "series": "1"} for _ in range(2)))},
        [
            ("questions.jsonl", 2, "1", "duplicate-question"),
        ],
    ),
    ("run information", {"runs.jsonl": '{"run": "a", "manual": "no"}\n'}, [("runs.jsonl", 1, None, "syntax")]),
]


@pytest.mark.parametrize(("change", "wrong"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_faults(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, str],
    wrong: list[tuple[str, int | None, str | None, str]],
) -> None:
    write_texts(folder, change)
    status, report = checked(capsys, folder)
    assert status == 1
    errors = [(row["file"], row["line"], row["question"], row["rule"]) for row in report["errors"]]
    assert sorted(errors, key=str) == sorted(wrong, key=str)
    # People get the same on stderr, and the count at the end of stdout.
    status, out, err = printed(capsys, "check", folder)
    assert status == 1
    assert err.count("error: ") == len(wrong)
    assert out.splitlines()[-1].startswith("1 error" if len(wrong) == 1 else f"{len(wrong)} errors")


def test_faults_everywhere_are_reported_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _, change, _ in FAULTS[1], FAULTS[3], FAULTS[11]:
        write_texts(folder, change)
    _, report = checked(capsys, folder)
    assert {row["file"] for row in report["errors"]} == {"runs/a.txt", "judgments/first.jsonl", "answers.jsonl"}
    assert len(report["errors"]) == 12


def test_warnings_are_not_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "runs" / "a.txt").rename(folder / "runs" / "b.txt")
    write_texts(folder, {"runs.jsonl": rows({"run": "nobody"})})
    status, report = checked(capsys, folder)
    assert status == 0
    assert [(row["file"], row["rule"]) for row in report["warnings"]] == [
        ("runs/b.txt", "configuration"),
        ("runs.jsonl", "configuration"),
    ]
    status, out, err = printed(capsys, "check", folder)
    assert status == 0
    assert err.count("warning: ") == 2
    assert out.splitlines()[-1] == "no errors, 2 warnings"


def test_of_many_errors_people_see_a_few_and_machines_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_texts(folder, {"runs/a.txt": "".join(f"x{n} a D x\n" for n in range(100))})
    _, report = checked(capsys, folder)
    assert len(report["errors"]) == 103
    _, out, err = printed(capsys, "check", folder)
    assert err.count("is not in the test set") == 10
    assert "... and 90 more of rule unknown-question" in err
    assert out.splitlines()[-1] == "103 errors"


def test_other_faults_of_one_kind_are_not_called_by_a_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scores.csv").write_text("qid,A\n" + "".join(f"q{n},\n" for n in range(40)))
    status, _, err = printed(capsys, "describe", tmp_path / "scores.csv")
    assert status == 1
    assert err.splitlines()[-1].endswith("... and 30 more like these (--json lists them)")


# ---------------------------------------------------------------- runs before they are added


def test_runs_in_an_evaluation(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("1.1 good D x\n1.2 good NIL\n1.3 good NIL\n")
    bad.write_text("1.1 bad\n1.2 bad NIL\n1.3 bad NIL\n")
    status, report = checked(capsys, good, "--in", folder)
    assert (status, report["runs"], report["judgments"]) == (0, ["good"], {})
    status, report = checked(capsys, good, bad, "--in", folder)
    assert (status, report["runs"]) == (1, ["good"])
    assert [(row["file"], row["line"], row["rule"]) for row in report["errors"]] == [(str(bad), 1, "syntax")]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """An evaluation of answers in free text."""
    asked = rows({"id": "q1", "type": "qa", "text": "Who wrote it?"}, {"id": "q2", "type": "qa", "text": "When?"})
    return write_texts(tmp_path / "answers", {"qassay.toml": 'task = "qa"', "questions.jsonl": asked})


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ([{"answers": [{"text": "x"}]}] * 2, "'answers' is not a field of a run and is not read, here and in 1 more"),
        ([{"answers": ["x"]}] * 2, "is it meant as 'items'?"),
        ([{"item": [{"text": "x"}]}] * 2, "'item' is not a field"),
        ([{"items": [{"text": "x", "docid": "D"}]}] * 2, "'docid' is not a field of a run and is not read"),
        ([{"items": [{"text": "x"}], "context": ["c"]}] * 2, "is it meant as 'contexts'?"),
        ([{"items": []}, {"items": [{"text": " "}]}], "every answer is empty or NIL"),
        ([{"items": [{"text": "x"}], "latency": 1, "answer": "x", "cost": 2}] * 2, None),
    ],
    ids=["answers", "texts", "item", "docid", "context", "empty", "other"],
)
def test_answers_in_a_field_that_is_not_read_are_pointed_out(
    answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[dict[str, Any]], field: str | None
) -> None:
    """No answer counts 0 because its field has another name: every door says so."""
    run = tmp_path / "r.jsonl"
    run.write_text(rows(*({"run": "r", "question": f"q{n}", **line} for n, line in enumerate(lines, 1))))
    before = checked(capsys, run, "--in", answers)[1]
    assert printed(capsys, "import", answers, run)[0] == 0
    stored = checked(capsys, answers)[1]
    for report in (before, stored):
        messages = [row["message"] for row in report["warnings"]]
        assert any(field in message for message in messages) if field else messages == []
    status, _, err = printed(capsys, "import", answers, run, "--replace")
    assert status == 0
    assert field in err if field else err == ""


def test_answers_with_other_keys_are_checked_as_they_are_imported(
    answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new.csv"

    def errors(content: str, *options: str) -> list[tuple[str, str | None]]:
        path.write_text(content)
        before = sorted(answers.rglob("*"))
        report = checked(capsys, path, "--in", answers, *options)[1]
        assert sorted(answers.rglob("*")) == before
        assert not report["warnings"]
        return [(row["rule"], row["question"]) for row in report["errors"]]

    assert errors("user_input,response\nWhen?,1889\nWho wrote it?,Bulgakov\n") == []
    assert errors("id,output\nq1,x\n") == [("missing-question", "q2")]
    assert errors("id,output\nq1,x\nq7,y\n") == [("unknown-question", "q7")]
    assert errors("id,says\nq1,x\nq2,y\n") == [("syntax", None)]
    assert errors("id,says\nq1,x\nq2,y\n", "--map", "answer=says") == []
    several = "id,output,model\nq1,x,A\nq2,y,A\nq1,x,B\n"
    assert errors(several) == [("missing-question", "q2")]
    assert checked(capsys, path, "--in", answers)[1]["runs"] == ["A", "B"]


def test_a_line_that_cannot_be_read_is_one_error(
    answers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "r.jsonl"
    good = json.dumps({"run": "r", "question": "q1", "items": [{"text": "x"}]})
    for line in ('{"run": "r", "question": "q2", "items": [{', '{"run": '):
        run.write_text(f"{good}\n{line}\n")
        report = checked(capsys, run, "--in", answers)[1]
        assert [(row["rule"], row["line"]) for row in report["errors"]] == [("syntax", 2)]
    run.write_text('{"run": "r", "question": "q2", "items": [{\n')  # the other question is known to be missing
    report = checked(capsys, run, "--in", answers)[1]
    assert [(row["rule"], row["question"]) for row in report["errors"]] == [
        ("syntax", None),
        ("missing-question", "q1"),
    ]


def test_form_and_encoding_of_runs(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "r.txt"
    run.write_bytes(b"1.1 r D caf\xe9\n1.2 r NIL\n1.3 r NIL\n")
    assert [row["rule"] for row in checked(capsys, run, "--in", folder)[1]["errors"]] == ["encoding"]
    assert checked(capsys, run, "--in", folder, "--encoding", "latin-1")[0] == 0
    status, out, err = printed(capsys, "check", run, "--in", folder, "--form", "rte", "--json")
    assert (status, out) == (2, "")
    assert "unknown run form of task series2004 'rte'" in err


def test_runs_need_an_evaluation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ((folder / "runs" / "a.txt",), (folder, folder)):
        status, out, err = printed(capsys, "check", *arguments)
        assert (status, out) == (2, "")
        assert "--in FOLDER" in err


def test_missing_files(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, report = checked(capsys, tmp_path / "nowhere")
    assert status == 1
    assert report["errors"][0]["rule"] == "configuration"
    assert "qassay init" in report["errors"][0]["message"]
    status, report = checked(capsys, tmp_path / "no.txt", "--in", folder)
    assert (status, report["errors"][0]["file"]) == (1, str(tmp_path / "no.txt"))
    assert printed(capsys, "check")[0] == 2


def test_messages_cannot_move_the_cursor(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_texts(folder, {"runs/a.txt": "\x1b[2J a D x\n"})
    for command in ("check", "score"):
        _, _, err = printed(capsys, command, folder)
        assert "\x1b" not in err
        assert "\\x1b[2J" in err


# ---------------------------------------------------------------- whatever is broken, no traceback

ODD: list[Any] = [
    *(
        None,
        True,
        0,
        -1,
        7,
        2**31,
        2**40,
        2**63,
        2**70,
        1.5,
        1e308,
        "",
        " ",
        "NIL",
        "R",
        "full",
        "a\nb",
        "\x00",
        "\u2028",
    ),
    *("x" * 300, [], ["1"], [None], [["1"]], {}, {"a": 1}, "../x", "1"),
]
FIELDS = (
    *("nuggets", "nugget", "support", "sentence", "content", "organization", "understandability", "correctness"),
    *("judgment", "answer", "distinct", "item", "start", "length", "doc", "text", "run", "question", "weight", "vital"),
    *("withdrawn", "items", "nil", "confidence", "decision", "series", "type", "series_type", "assessor", "trace"),
)


def break_something(folder: Path, rng: random.Random) -> None:
    """Spoil one file: a value, a field, a line, a byte, its end, or all of it."""
    path = rng.choice(sorted(entry for entry in folder.rglob("*") if entry.is_file()))
    data = path.read_bytes()
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    try:
        row = json.loads(lines[place])
    except ValueError:  # a line of another form, or broken already
        row = None
    if isinstance(row, dict) and rng.random() < 0.7:
        name = rng.choice([*row, rng.choice(FIELDS)])
        if rng.random() < 0.2:
            row.pop(name, None)
        else:
            row[name] = rng.choice(ODD)
        if isinstance(row.get("items"), list) and rng.random() < 0.3:
            row["items"].append({rng.choice(("doc", "text", "start", "length", "citations")): rng.choice(ODD)})
        lines[place] = json.dumps(row).encode()
        data = b"\n".join(lines)
    else:
        cut = rng.randrange(len(data) + 1)
        lines[place] = rng.choice((b"", b"  ", b"a b c d e f g h", b"1 t NIL x", b"\xff", lines[place] + b" z", b"{}"))
        data = rng.choice(
            (
                *(data[:cut] + bytes([rng.randrange(256)]) + data[cut + 1 :], data[:cut], data + data),
                *(
                    b"\n".join(lines),
                    b"",
                    b"\n",
                    b"[1]",
                    b"null",
                    b"\x00" * 9,
                    b"\x1f\x8b",
                    b"\x28\xb5\x2f\xfd",
                    b"<a>",
                ),
            )
        )
    path.write_bytes(data)


def try_broken(folder: Path, task: str, seed: int, capsys: pytest.CaptureFixture[str]) -> int:
    """Check and score an evaluation in which something is broken; how often it was refused."""
    rng = random.Random(f"{task} {seed}")
    whole = evaluations.make(folder / "whole", task, seed)
    refused = 0
    for number in range(3):
        shutil.copytree(whole, folder / str(number))
        for _ in range(rng.choice((1, 1, 2))):
            break_something(folder / str(number), rng)
        for command in (["check"], ["score", "--unjudged", "wrong", "--missing", "zero"]):
            status, out, err = printed(capsys, command[0], folder / str(number), *command[1:], "--json")
            assert status in (0, 1, 2)
            assert "Traceback" not in err
            if status != 2:
                assert isinstance(json.loads(out), dict)
            refused += status != 0
    return refused


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(100, 160), marks=pytest.mark.slow)])
@pytest.mark.parametrize("task", evaluations.TASKS)
def test_broken_evaluations_are_refused_in_words(
    task: str, seeds: range, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = 0
    for seed in seeds:
        refused += try_broken(tmp_path / str(seed), task, seed, capsys)
        shutil.rmtree(tmp_path / str(seed))
    assert refused > 0
