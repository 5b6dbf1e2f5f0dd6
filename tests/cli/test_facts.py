"""`qassay facts`: the counts that the overviews of TREC print, and what is not known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import qassay
from on_disk import imported
from qassay.cli import main

Data = Callable[[str], Path]


def write_rows(path: Path, *rows: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def facts(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["facts", *map(str, arguments), "--json"]) == status
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


# ---- the real keys --------------------------------------------------------------------------------------------------


def test_trec_2004_as_its_overview_prints_it(
    data: Data, tmp_path: Path, golden: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("trec13questions.xml", "trec13answers_other", "trec13answers_list", "trec13targettypes")
    folder = imported(tmp_path / "e", "series2004", *(data(f"trec_qa/{name}") for name in names))
    printed = golden["SERIES05"]
    document = facts(capsys, folder)
    assert document["questions"] == {kind: printed[kind] for kind in ("factoid", "list", "other")}
    assert document["series"]["count"] == 65
    assert document["series"]["questions"] == {"min": 4, "mean": pytest.approx(351 / 65), "max": 10}
    assert document["target_types"] == {"PERSON": 23, "ORG": 25, "THING": 17}
    assert round(document["list_answers"]["mean"], 1) == printed["list_answers"]["mean"] == 8.8
    assert (document["list_answers"]["min"], document["list_answers"]["max"]) == (2, 41)
    assert document["list_answers"]["questions"] == 55
    assert document["nuggets"]["lists"] == 64
    assert document["nuggets"]["mean"] * 64 == pytest.approx(580)
    assert document["nuggets"]["vital"] * 64 == pytest.approx(234)
    assert (document["key"], document["nil_questions"], document["assessors"]) == (None, None, {})
    assert document["scored"]["questions"] == {"factoid": 230, "list": 55, "other": 64}
    assert set(document["scored"]["left_out"]) == {"7.4", "25.4"}


def test_trec_2004_has_64_series_when_the_organiser_drops_one(
    data: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("trec13questions.xml", "trec13answers_other", "trec13answers_list")
    folder = imported(tmp_path / "e", "series2004", *(data(f"trec_qa/{name}") for name in names))
    with (folder / "qassay.toml").open("a") as file:
        file.write('[drop]\n"7" = {reason = "never judged whole", from = "series"}\n')
    scored = facts(capsys, folder)["scored"]
    assert (scored["series"], scored["questions"]) == (64, {"factoid": 230, "list": 55, "other": 64})
    assert scored["left_out"]["series 7 (series scores only)"] == "never judged whole"


def test_trec_2003_and_2002(data: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("trec12questions", "trec12answers_definition", "trec12answers_list")
    folder = imported(tmp_path / "2003", "main2003", *(data(f"trec_qa/{name}") for name in names))
    document = facts(capsys, folder)
    assert document["questions"] == {"factoid": 413, "list": 37, "definition": 50}
    assert (document["list_answers"]["min"], document["list_answers"]["max"]) == (3, 44)
    assert document["list_answers"]["mean"] * 37 == pytest.approx(549)
    assert (round(document["nuggets"]["mean"] * 50), round(document["nuggets"]["vital"] * 50)) == (417, 207)
    assert (document["series"], document["target_types"]) == (None, {})
    folder = imported(tmp_path / "2002", "confidence", data("trec_qa/trec11questions"))
    assert facts(capsys, folder)["questions"] == {"factoid": 500}


def test_rte_3_counts_its_labels(data: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = imported(tmp_path / "e", "entailment2", data("rte3/RTE3-TEST-GOLD.xml"))
    document = facts(capsys, folder)
    assert (document["questions"], document["pair_labels"]) == ({"pair": 800}, {"YES": 410, "NO": 390})
    assert document["nil_questions"] is None


# ---- NIL, assessors, keys -------------------------------------------------------------------------------------------


@pytest.fixture
def factoids(tmp_path: Path) -> Path:
    """Four factoids: one with a known answer, one judged R, one judged W, one returned by nobody."""
    folder = tmp_path / "e"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "confidence"\n')
    write_rows(folder / "questions.jsonl", *({"id": n, "type": "factoid", "text": "?"} for n in "1234"))
    return folder


def judged(question: str, label: str, **more: str) -> dict[str, Any]:
    return {"question": question, "doc": "D", "text": "x", "judgment": label, **more}


def test_nil_questions_follow_from_the_key(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert facts(capsys, factoids)["nil_questions"] is None
    write_rows(factoids / "answers.jsonl", {"question": "1", "answer": "x"})
    document = facts(capsys, factoids)
    assert (document["nil_questions"], document["nil"]) == (3, ["2", "3", "4"])
    write_rows(factoids / "judgments" / "adjudicated.jsonl", judged("2", "R"), judged("3", "W"))
    document = facts(capsys, factoids)
    assert (document["nil_questions"], document["nil"]) == (2, ["3", "4"])
    assert document["notes"] == ["Among the NIL questions are 1 without any judged answer."]
    # An answer that is withdrawn is not known.
    write_rows(factoids / "answers.jsonl", {"question": "1", "answer": "x", "withdrawn": True})
    assert facts(capsys, factoids)["nil"] == ["1", "3", "4"]


def test_who_judged_how_much(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Current judgments count, by person and set; those of programs do not, and unnamed ones are counted as such."""
    sets = factoids / "judgments"
    write_rows(sets / "first.jsonl", judged("1", "R", assessor="ana"), judged("1", "W", assessor="ana"))
    write_rows(
        sets / "second.jsonl", judged("1", "R", assessor="bo"), judged("2", "R", assessor="ana"), judged("3", "W")
    )
    write_rows(sets / "llm.jsonl", judged("1", "R", assessor="llm") | {"trace": {"model": "m"}})
    document = facts(capsys, factoids)
    assert document["assessors"] == {
        "ana": {"judgments": 2, "sets": {"first": 1, "second": 1}},
        "bo": {"judgments": 1, "sets": {"second": 1}},
    }
    assert document["sets"] == {"first": 1, "second": 3}
    assert document["key"] is None
    assert "choose one with --key (first, second)" in document["notes"][-1]
    assert facts(capsys, factoids, "--key", "second")["nil"] == ["3", "4"]
    assert main(["facts", str(factoids)]) == 0
    assert "not named          1      0       1" in capsys.readouterr().out


def test_an_unknown_key_is_refused(factoids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["facts", str(factoids), "--key", "thrid"]) == 2
    assert "unknown judgment set 'thrid'" in capsys.readouterr().err


def test_the_demonstration_in_words_and_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["facts", str(qassay.demo_folder())]) == 0
    out = capsys.readouterr().out
    # As the README of the demonstration says.
    assert out.startswith("109 questions (77 factoid, 16 list, 16 other) in 16 series; NIL is right for 9;")
    assert "1.4, 3.4, 4.5, 7.4, 12.4, 13.4, 14.5, 15.4, 16.4" in out
    result = qassay.facts(qassay.open(qassay.demo_folder()))
    assert result.as_json()["list_answers"]["mean"] == result.list_answers.mean  # type: ignore[union-attr]
    assert (result.runs, result.organisations) == (10, 6)
