"""`qassay agree` on small evaluations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

import qassay
from on_disk import write
from qassay.cli import main

PATTERNS = {"WWW": 6, "RRR": 5, "RRX": 2, "WRR": 1, "WUX": 1}


def evaluation(folder: Path, task: str, questions: Iterable[Mapping[str, Any]], more: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "qassay.toml").write_text(f'task = "{task}"\n{more}', encoding="utf-8")
    write(folder / "questions.jsonl", questions)
    return folder


@pytest.fixture
def factoids(tmp_path: Path) -> Path:
    """Fifteen items judged by three sets, one more by the first only; an adjudicated and an automatic set."""
    rows = [pattern for pattern, number in PATTERNS.items() for _ in range(number)]
    ids = [str(i) for i in range(len(rows))]
    folder = evaluation(
        tmp_path / "factoids", "confidence", [{"id": i, "type": "factoid", "text": "?"} for i in [*ids, "last"]]
    )
    for place, name in enumerate(["first", "second", "third"]):
        judged = [
            {"question": i, "doc": "D", "text": "x", "judgment": row[place]} for i, row in zip(ids, rows, strict=True)
        ]
        if name == "first":
            judged.append({"question": "last", "doc": "D", "text": "x", "judgment": "R"})
        write(folder / "judgments" / f"{name}.jsonl", judged)
    settled = [{"question": i, "doc": "D", "text": "x", "judgment": "R"} for i in ids]
    write(folder / "judgments" / "adjudicated.jsonl", settled)
    write(folder / "judgments" / "llm%3Am.jsonl", [row | {"trace": {"model": "m"}} for row in settled])
    return folder


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict[str, Any]:
    assert main(["agree", *arguments, "--json"]) == status
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_the_sets_of_assessors_are_compared(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, str(factoids))
    assert document["sets"] == ["first", "second", "third"]
    assert document["items"] == 15
    assert document["disagreements"] == 4
    assert document["not_all_wrong"] == 9
    assert document["patterns"] == {"WRR": 1, "WUX": 1, "RRX": 2}
    assert document["raw"] == pytest.approx(11 / 15)
    assert document["folded"] == pytest.approx(12 / 15)
    assert document["fold"] == {"X": "W", "U": "W"}
    assert set(document["intervals"]) == {"raw", "folded", "fleiss_kappa", "krippendorff_alpha"}
    first = document["pairs"][0]
    assert (first["a"], first["b"], first["matrix"]["W"]["R"]) == ("first", "second", 1)
    assert "1 items" in document["notes"][-1]


def test_named_sets_may_be_settled_or_automatic(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, str(factoids), "--sets", "adjudicated, llm:m")
    assert document["sets"] == ["adjudicated", "llm:m"]
    assert document["raw"] == 1.0
    assert document["krippendorff_alpha"] is None
    again = run_json(capsys, str(factoids), "--sets", "first", "--sets", "third")
    assert again["sets"] == ["first", "third"]


def test_the_same_command_gives_the_same_output(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, str(factoids))
    assert run_json(capsys, str(factoids)) == document
    assert run_json(capsys, str(factoids), "--seed", "1")["intervals"] != document["intervals"]
    assert run_json(capsys, str(factoids), "--resamples", "0")["intervals"]["raw"] is None


def test_the_tables_for_people(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agree", str(factoids)]) == 0
    shown = capsys.readouterr().out
    for words in ("Agreement of first, second, third on items", "Fleiss' kappa", "RRX", "Labels of second (rows)"):
        assert words in shown
    assert "e-" not in shown


def test_entailment_with_a_two_way_key(
    tmp_path: Path, golden: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    # [RTE08] tables 2 and 3: 136 disagreements on 800 pairs; the first judge against the two-way key.
    counts = golden["RTE08"]["table2_judges_vs_two_way"]["judge1"]
    labels = [
        (key, label)
        for key in ("YES", "NO")
        for label, count in zip(("YES", "UNKNOWN", "NO"), counts[key], strict=True)
        for _ in range(count)
    ]
    folder = evaluation(
        tmp_path / "rte",
        "entailment3",
        [{"id": str(i), "type": "pair", "text": "t", "hypothesis": "h"} for i in range(len(labels))],
        'two_way = ["main"]\n',
    )
    for place, name in enumerate(["main", "judge1"]):
        rows = [{"question": str(i), "judgment": row[place]} for i, row in enumerate(labels)]
        write(folder / "judgments" / f"{name}.jsonl", rows)
    document = run_json(capsys, str(folder))
    assert document["sets"] == ["judge1", "main"]
    assert document["items"] == 800
    assert document["raw"] is None
    assert document["folded"] == pytest.approx(counts["conflated"])
    assert document["fold"] == {"UNKNOWN": "NO"}
    assert document["pairs"][0]["matrix"]["UNKNOWN"] == {"YES": 27, "UNKNOWN": 0, "NO": 242}


def test_justifications_are_ratings(tmp_path: Path, golden: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    # [RTE08] figure 2, pair 75: six judges, one set each.
    folder = evaluation(
        tmp_path / "why", "justification", [{"id": "75", "type": "pair", "text": "t", "hypothesis": "h"}]
    )
    for judge in range(6):
        rows = []
        for run, ratings in golden["RTE08"]["pair75"].items():
            understandability, correctness = ratings[judge]
            row = {"question": "75", "run": run, "understandability": understandability}
            rows.append(row if correctness is None else row | {"correctness": correctness})
        write(folder / "judgments" / f"judge{judge}.jsonl", rows)
    document = run_json(capsys, str(folder))
    rated = document["ratings"]["correctness"]
    expected = golden["RTE08"]["pair75_recomputed"]
    assert rated["mean"] == pytest.approx(expected["mean_correctness"], abs=1e-6)
    assert rated["mean_rank"] == pytest.approx(expected["mean_rank_correctness"], abs=1e-6)
    assert rated["histogram"]["C"]["0"] == 3
    assert document["items"] == 0
    assert main(["agree", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "mean rank by judge" in shown
    assert "nothing to compare" not in shown


def test_nugget_support_and_citations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = evaluation(tmp_path / "rag", "nuggets", [{"id": "q", "type": "other", "text": "?"}])
    nuggets = [{"question": "q", "nugget": n, "vital": True, "text": f"fact {n}"} for n in "1234"]
    write(folder / "nuggets" / "adjudicated.jsonl", nuggets)
    for name, labels in {
        "one": ("full", "partial", "none", "none"),
        "two": ("full", "full", "none", "partial"),
    }.items():
        rows: list[dict[str, Any]] = [
            {"question": "q", "run": "r", "nugget": n, "support": s} for n, s in zip("1234", labels, strict=True)
        ]
        rows += [{"question": "q", "run": "r", "sentence": 0, "doc": "D", "support": labels[1]}]
        write(folder / "judgments" / f"{name}.jsonl", rows)
    document = run_json(capsys, str(folder))
    assert document["about"] == "support judgments"
    assert document["items"] == 4
    assert document["patterns"] == {"none/partial": 1, "partial/full": 1}
    assert document["krippendorff_alpha_ordinal"] > document["krippendorff_alpha"]
    # Strict folding: partial counts as none.
    assert document["folded"] == pytest.approx(3 / 4)
    assert document["citations"]["disagreements"] == 1


def test_nugget_matches_are_compared_where_the_lists_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = evaluation(tmp_path / "def", "definition", [{"id": "q", "type": "definition", "text": "Who?"}])
    for name, second in {"author": "born in 1820", "other": "nurse"}.items():
        texts = ["reformer", second, "Crimea"]
        nuggets = [{"question": "q", "nugget": str(n), "vital": True, "text": t} for n, t in enumerate(texts, 1)]
        write(folder / "nuggets" / f"{name}.jsonl", nuggets)
    rows = [
        {"question": "q", "run": "a", "item": 0, "nuggets": ["1"]},
        {"question": "q", "run": "a", "item": 1, "nuggets": ["2", "1"]},
    ]
    write(folder / "judgments" / "author.jsonl", [*rows, {"question": "q", "run": "b", "nuggets": []}])
    rows = [{"question": "q", "run": "a", "nuggets": ["1", "3"]}, {"question": "q", "run": "b", "nuggets": []}]
    write(folder / "judgments" / "other.jsonl", rows)
    document = run_json(capsys, str(folder))
    # Nuggets 1 and 3 are in both lists: found by both, found by one; and twice by neither.
    assert document["about"] == "nugget matches"
    assert document["items"] == 4
    assert document["pairs"][0]["matrix"] == {"no": {"no": 2, "yes": 1}, "yes": {"no": 0, "yes": 1}}
    assert "not compared: 4" in document["notes"][-2]
    assert "2 of 3 and 3 nuggets are in both" in document["notes"][-1]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--sets", "first,secnod"], 2, "did you mean 'second'?"),
        (["--sets", "first"], 2, "two judgment sets or more"),
        (["--resamples", "-1"], 2, "resamples"),
    ],
)
def test_wrong_usage(
    factoids: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, message: str
) -> None:
    assert main(["agree", str(factoids), *arguments]) == status
    assert message in capsys.readouterr().err


def test_one_assessor_has_nobody_to_agree_with(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("second", "third"):
        (factoids / "judgments" / f"{name}.jsonl").unlink()
    document = run_json(capsys, str(factoids), status=1)
    assert "two assessors or more" in document["errors"][0]["message"]


def test_sets_without_labels_are_left_out_unless_named(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (factoids / "judgments" / "third.jsonl").write_text("", encoding="utf-8")
    document = run_json(capsys, str(factoids))
    assert document["sets"] == ["first", "second"]
    assert document["notes"][0] == "Sets without judgments of these items: third."
    chosen = run_json(capsys, str(factoids), "--sets", "first,second,third")
    assert chosen["items"] == 0
    assert chosen["raw"] is None


# ---- by person ------------------------------------------------------------------------------------------------------


def signed(folder: Path, name: str, people: Mapping[str, str]) -> None:
    """Name an assessor in every row of a set, by question."""
    path = folder / "judgments" / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    write(path, [row | {"assessor": people[row["question"]]} for row in rows])


def test_people_are_compared_whatever_their_set(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [*map(str, range(15)), "last"]
    for place, name in enumerate(["first", "second", "third"]):
        signed(factoids, name, {i: "abc"[(n + place) % 3] for n, i in enumerate(ids)})
    document = run_json(capsys, str(factoids), "--by", "person")
    # Everyone has a label for each of the 15 items; a also judged the last one, alone.
    assert {row["person"]: (row["items"], row["common"]) for row in document["people"]} == {
        "a": (16, 15),
        "b": (15, 15),
        "c": (15, 15),
    }
    by_set = run_json(capsys, str(factoids))
    assert document["krippendorff_alpha"] == pytest.approx(by_set["krippendorff_alpha"])
    assert main(["agree", str(factoids), "--by", "person"]) == 0
    assert capsys.readouterr().out.startswith("Nobody is out of line: 3 people agree with the others on ")


def test_times_and_unnamed_rows(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = factoids / "judgments" / "first.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    at = [{"at": f"2026-01-02T03:{minute:02}:00Z"} for minute in range(len(rows))]
    write(path, [row | {"assessor": "ana"} | moment for row, moment in zip(rows, at, strict=True)])
    signed(factoids, "second", {str(n): "bo" for n in range(15)})
    document = run_json(capsys, str(factoids), "--by", "person")
    assert {row["person"]: row["seconds"] for row in document["people"]} == {"ana": 60, "bo": None}
    assert document["notes"] == ["Left out, because they name no assessor: third 15 judgments."]
    assert document["answer"].startswith("two people, ")


def test_rows_without_assessors_cannot_be_compared_by_person(
    factoids: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agree", str(factoids), "--by", "person"]) == 1
    assert "no judgment names its assessor (first, second, third)" in capsys.readouterr().err
    assert main(["agree", str(factoids), "--by", "person", "--sets", "frist"]) == 2
    assert "did you mean 'first'?" in capsys.readouterr().err


def test_nugget_lists_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, str(qassay.demo_folder()), "--sets", "first,second", "--resamples", "0")
    (pair,) = document["nugget_lists"]
    assert pair == {
        **{"a": "first", "b": "second", "questions": 16, "nuggets": [160, 160]},
        **{"vital": [48, 48], "okay": [112, 112], "both": 128, "same_mark": 128},
    }
