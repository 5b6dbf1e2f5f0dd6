"""Real data by others, brought in and scored by the commands, against counts, other tools and a few lines of our own.

What the readers make of each file is tested beside them (tests/formats); here the whole way is, from files to scores.
"""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import qassay
from on_disk import imported
from qassay.cli import main

Data = Callable[[str], Path]
ASSIGNMENTS = "trec_rag24/nugget_assignment.20241108.jl"


def command(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> Any:
    """What a command says in JSON."""
    assert main([*map(str, arguments), "--json"]) == status
    return json.loads(capsys.readouterr().out)


# ---------------------------------------------------------------- TREC 2002 to 2004: counts of the README of the data


def test_trec_2002(data: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = imported(tmp_path / "e", "confidence", data("trec_qa/trec11questions"))
    capsys.readouterr()
    checked = command(capsys, "check", folder)
    assert (checked["questions"], checked["errors"]) == ({"factoid": 500}, [])


def test_trec_2003(data: Data, tmp_path: Path, golden: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    names = ("trec12questions", "trec12answers_definition", "trec12answers_list")
    folder = imported(tmp_path / "e", "main2003", *(data(f"trec_qa/{name}") for name in names))
    capsys.readouterr()
    checked = command(capsys, "check", folder)
    # [QA03] 2: 413 factoid, 37 list, 50 definition questions.
    assert checked["questions"] == {k: golden["QA03"]["counts"][k] for k in ("factoid", "list", "definition")}
    assert checked["nuggets"] == {"adjudicated": {"lists": 50, "nuggets": 417, "vital": 207}}
    assert checked["answers"] == 549
    known = per_question(folder / "answers.jsonl")
    assert (len(known), min(known.values()), max(known.values())) == (37, 3, 44)


def test_trec_2004(data: Data, tmp_path: Path, golden: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    names = ("trec13questions.xml", "trec13answers_other", "trec13answers_list")
    folder = imported(tmp_path / "e", "series2004", *(data(f"trec_qa/{name}") for name in names))
    capsys.readouterr()
    checked = command(capsys, "check", folder)
    printed = golden["SERIES05"]
    assert checked["questions"] == {kind: printed[kind] for kind in ("factoid", "list", "other")}
    assert checked["series"] == printed["series"] == 65
    assert checked["nuggets"] == {"adjudicated": {"lists": 64, "nuggets": 580, "vital": 234}}
    known = per_question(folder / "answers.jsonl")
    assert len(known) == printed["list_scored"] == 55
    # [SERIES05] 2.2: 8.8 answers a list question on average, from 2 to 41.
    assert round(sum(known.values()) / len(known), 1) == printed["list_answers"]["mean"]
    assert (min(known.values()), max(known.values())) == (
        printed["list_answers"]["min"],
        printed["list_answers"]["max"],
    )
    questions = qassay.open(folder).questions
    assert sum(all(q.type != "list" for q in series.questions) for series in questions.series) == 19
    assert all(series.questions[-1].type == "other" for series in questions.series)


def per_question(path: Path) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for line in path.read_text(encoding="utf-8").splitlines():
        counts[json.loads(line)["question"]] += 1
    return dict(counts)


def test_trec_2004_is_scored_as_it_was(data: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """64 of 65 series: what was never judged is left out, and with an other question its series.

    The run answers NIL and nothing else, which needs no judgment; the real key of factoids is not here, so NIL is
    right everywhere and each series scores its share of factoids.
    """
    names = ("trec13questions.xml", "trec13answers_other", "trec13answers_list")
    folder = imported(tmp_path / "e", "series2004", *(data(f"trec_qa/{name}") for name in names))
    questions = qassay.open(folder).questions
    (folder / "runs").mkdir(exist_ok=True)
    (folder / "runs" / "nil.txt").write_text("".join(f"{question.id} nil NIL\n" for question in questions))
    (folder / "judgments").mkdir(exist_ok=True)
    (folder / "judgments" / "adjudicated.jsonl").write_text("")
    capsys.readouterr()
    refused = command(capsys, "score", folder, status=1)
    assert {row["rule"] for row in refused["errors"]} == {"unjudged"}
    document = command(capsys, "score", folder, "--unjudged", "drop")
    assert len(document["units"]) == 64
    # The question and the series that TREC 2004 left out.
    assert document["dropped"] == [
        {"question": "25.4", "reason": "never judged"},
        {"unit": "7", "question": "7.4", "reason": "never judged"},
    ]
    # 55 of 56 list questions have a key; one of them is in series 7.
    lists = {question.id for question in questions if question.type == "list"}
    assert sum(document["questions"]["nil"][name] is not None for name in lists) == 54
    has_list = {series.id: any(q.type == "list" for q in series.questions) for series in questions.series}
    for unit, score in zip(document["units"], document["matrix"]["nil"], strict=True):
        assert score == pytest.approx(0.5 if has_list[unit] and unit != "25" else 0.67)
    assert document["runs"][0]["nil_recall"] == 1.0
    # TREC 2004 scored 64 series, and 230, 55 and 64 questions: those of series 7 stay in the means by type.
    with (folder / "qassay.toml").open("a") as file:
        file.write('[drop]\n"7" = {reason = "not judged whole", from = "series"}\n')
        file.write('"7.4" = "never judged"\n"25.4" = "never judged"\n')
    document = command(capsys, "score", folder)
    assert (len(document["units"]), "7" in document["units"]) == (64, False)
    types = Counter(
        questions.by_id[name].type for name, value in document["questions"]["nil"].items() if value is not None
    )
    assert types == {"factoid": 230, "list": 55, "other": 64}


def test_rte_3(data: Data, tmp_path: Path, golden: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    folder = imported(tmp_path / "e", "entailment2", data("rte3/RTE3-TEST-GOLD.xml"))
    (folder / "runs").mkdir(exist_ok=True)
    text = "".join(f"{question.id} YES\n" for question in qassay.open(folder).questions)
    (folder / "runs" / "yes.txt").write_text("ranked: no\n" + text)
    capsys.readouterr()
    document = command(capsys, "score", folder)
    # 410 of 800 pairs are YES; [RTE08] 2.
    assert document["key"] == "reference"
    assert document["runs"][0]["score"] == golden["RTE08"]["key"]["YES"] / 800
    assert document["contingency"] == {"YES": {"YES": 410, "NO": 0}, "NO": {"YES": 390, "NO": 0}}
    assert document["runs"][0]["components"] == {"YES": 1.0, "NO": 0.0}


# ---------------------------------------------------------------- TREC RAG 2024


@pytest.fixture(scope="module")
def rag(data: Data, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    source = data(ASSIGNMENTS)
    return imported(tmp_path_factory.mktemp("rag") / "e", "nuggets", source), source


def test_rag_2024_scores(rag: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder, source = rag
    document = command(capsys, "score", folder, "--missing", "skip")
    assert (len(document["runs"]), len(document["units"]), document["measure"]) == (45, 21, "vital_strict")
    best = document["runs"][0]
    # README of the data: best vital_strict over the topics a run has.
    assert (best["run"], round(best["score"], 4)) == ("ldilab_gpt_4o", 0.6666)
    # The same from the raw file, by the definitions.
    worth = {
        "all": (1, 1, 0.5),
        "all_strict": (1, 1, 0),
        "vital": (1, 0, 0.5),
        "vital_strict": (1, 0, 0),
        "weighted": (1, 0.5, 0.5),
        "weighted_strict": (1, 0.5, 0),
    }
    sums: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in source.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for name, (vital, okay, partial) in worth.items():
            credit = {"support": 1, "partial_support": partial, "not_support": 0}
            weights = [vital if n["importance"] == "vital" else okay for n in row["nuggets"]]
            got = sum(w * credit[n["assignment"]] for w, n in zip(weights, row["nuggets"], strict=True))
            sums[row["run_id"]][name].append(got / sum(weights))
    for row in document["runs"]:
        own = {name: sum(values) / len(values) for name, values in sums[row["run"]].items()}
        assert row["components"] == pytest.approx(own, abs=1e-12)
        assert row["score"] == pytest.approx(own["vital_strict"], abs=1e-12)
    gaps = {run: 21 - len(values["all"]) for run, values in sums.items() if len(values["all"]) < 21}
    assert document["missing"] == {"rule": "skip", "questions": gaps}


def test_rag_2024_with_missing_answers_as_zero(rag: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = rag
    skipped = {row["run"]: row["score"] for row in command(capsys, "score", folder, "--missing", "skip")["runs"]}
    document = command(capsys, "score", folder, "--missing", "zero")
    gaps = document["missing"]["questions"]
    for row in document["runs"]:
        answered = 21 - gaps.get(row["run"], 0)
        assert row["score"] == pytest.approx(skipped[row["run"]] * answered / 21, abs=1e-12)
    command(capsys, "score", folder, status=1)


@pytest.mark.slow
def test_rag_2024_against_nuggetizer(
    rag: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The formulas of the release that the track's organisers published; it is downloaded, never installed."""
    folder, source = rag
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        str(tmp_path),
        "nuggetizer==0.0.5",
    ]
    try:
        subprocess.run(pip, check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"nuggetizer cannot be downloaded: {error}")
    (wheel,) = tmp_path.glob("nuggetizer-*.whl")
    program = (
        "import collections, json, sys; sys.path.insert(0, sys.argv[1])\n"
        "from nuggetizer.core.metrics import calculate_global_metrics\n"
        "runs = collections.defaultdict(list)\n"
        "for line in open(sys.argv[2], encoding='utf-8'):\n"
        "    row = json.loads(line); runs[row['run_id']].append(row)\n"
        "print(json.dumps({run: calculate_global_metrics(rows) for run, rows in runs.items()}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(wheel), str(source)], check=True, capture_output=True, text=True
    )
    theirs = json.loads(done.stdout)
    names = {
        "vital_strict": "strict_vital_score",
        "all_strict": "strict_all_score",
        "vital": "vital_score",
        "all": "all_score",
    }
    document = command(capsys, "score", folder, "--missing", "skip")
    assert len(theirs) == len(document["runs"]) == 45
    for row in document["runs"]:
        for ours, name in names.items():
            assert row["components"][ours] == pytest.approx(theirs[row["run"]][name], abs=1e-12)


# ---------------------------------------------------------------- reciprocal rank against other tools


def ranked_evaluation(folder: Path, rng: random.Random) -> tuple[Path, dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Random ranked runs in both line forms, with the same as other tools take it: runs, strict and lenient qrels."""
    questions = [str(n) for n in range(1, 31)]
    pool = [(f"D{n % 7}", f"answer {n}") for n in range(12)]
    labels = {(q, item): rng.choices("RUW", (1, 1, 4))[0] for q in questions for item in pool}
    for name in ("runs", "judgments"):
        (folder / name).mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "ranked5"')
    (folder / "questions.jsonl").write_text(
        "".join(json.dumps({"id": q, "type": "factoid", "text": "?"}) + "\n" for q in questions)
    )
    (folder / "judgments" / "adjudicated.jsonl").write_text(
        "".join(
            json.dumps({"question": q, "doc": item[0], "text": item[1], "judgment": label}) + "\n"
            for (q, item), label in labels.items()
        )
    )
    runs: dict[str, Any] = {}
    for tag in ("one", "two", "three"):
        lines = []
        runs[tag] = {}
        for q in questions:
            items = rng.sample(pool, rng.randint(1, 5))
            runs[tag][q] = {f"{doc}|{text}": 1.0 / rank for rank, (doc, text) in enumerate(items, 1)}
            for rank, (doc, text) in enumerate(items, 1):
                trec7 = f"{q} Q0 {doc} {rank} {1 / rank} {tag} {text}\n"
                lines.append(trec7 if tag == "two" else f"{q} {tag} {doc} {text}\n")
        if tag == "two":
            rng.shuffle(lines)
        (folder / "runs" / f"{tag}.txt").write_text("".join(lines))
    strict: dict[str, Any] = {q: {} for q in questions}
    lenient: dict[str, Any] = {q: {} for q in questions}
    for (q, (doc, text)), label in labels.items():
        strict[q][f"{doc}|{text}"] = int(label == "R")
        lenient[q][f"{doc}|{text}"] = int(label in "RU")
    return folder, runs, strict, lenient


@pytest.mark.parametrize("seed", range(3))
def test_reciprocal_rank_against_pytrec_eval(tmp_path: Path, seed: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder, runs, *judged = ranked_evaluation(tmp_path / "e", random.Random(seed))
    for measure, qrels in zip(("mrr", "mrr_lenient"), judged, strict=True):
        document = qassay.open(folder).score(measure=measure).as_json()
        for tag, run in runs.items():
            theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
            assert document["questions"][tag] == pytest.approx({q: row["recip_rank"] for q, row in theirs.items()})


def test_reciprocal_rank_against_ir_measures(tmp_path: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    folder, runs, strict, lenient = ranked_evaluation(tmp_path / "e", random.Random("ir_measures"))
    document = qassay.open(folder).score().as_json()
    for row in document["runs"]:
        for name, qrels in (("mrr", strict), ("mrr_lenient", lenient)):
            theirs = ir_measures.calc_aggregate([ir_measures.RR @ 5], qrels, runs[row["run"]])
            assert row["components"][name] == pytest.approx(theirs[ir_measures.RR @ 5])


# ---------------------------------------------------------------- people: two annotators, a third where they differ


@pytest.fixture
def annotated(data: Data, tmp_path: Path) -> tuple[Path, list[dict[str, str]]]:
    """Answers to 301 questions with the labels of three annotators, spread over sets; and the rows of the file."""
    with data("nq301/NQ301_human.tsv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file, delimiter="\t"))
    rows = list({(row["id"], row["Model answer"].strip()): row for row in read if row["Model answer"].strip()}.values())
    folder = tmp_path / "e"
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "qa"\n')
    asked = {row["id"]: row["Question"] for row in rows}
    (folder / "questions.jsonl").write_text(
        "".join(json.dumps({"id": number, "type": "qa", "text": text}) + "\n" for number, text in asked.items())
    )
    given = [
        {"question": row["id"], "text": row["Model answer"].strip(), "label": row[who], "annotator": who}
        for row in rows
        for who in ("annotator1", "annotator2", "annotator3")
        if row[who]
    ]
    (tmp_path / "crowd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    options = ["--spread", "--labels", "Yes=correct,No=incorrect"]
    assert main(["import", str(folder), str(tmp_path / "crowd.jsonl"), *options]) == 0
    return folder, rows


def test_the_majority_of_real_annotators_is_their_final_label(annotated: tuple[Path, list[dict[str, str]]]) -> None:
    folder, rows = annotated
    evaluation = qassay.open(folder)
    voted = evaluation.key("majority").judgments.kind("label")
    final = {(row["id"], row["Model answer"].strip()): row["Acceptable?"] == "Yes" for row in rows}
    labels = {
        (q, text): label == "correct" for q, text, label in voted.select("question", "text", "judgment").iter_rows()
    }
    assert labels == final
    assert len(labels) > 1480
    # Two labels for most answers are too few for the model, and it says so.
    with pytest.raises(qassay.InputError, match="here they are 2 and "):
        evaluation.key("dawid-skene")


def test_real_annotators_by_person(annotated: tuple[Path, list[dict[str, str]]]) -> None:
    """A third label was given where the first two differ: such items cannot show who is out of line."""
    folder, rows = annotated
    names = ("annotator1", "annotator2", "annotator3")
    result = qassay.people(qassay.open(folder), resamples=0)[0]
    people = {person.person: person for person in result.people}
    for name in names:
        own = [row for row in rows if row[name]]
        others = [[row[other] for other in names if other != name and row[other]] for row in own]
        shares = [
            sum(o == row[name] for o in labels) / len(labels) for row, labels in zip(own, others, strict=True) if labels
        ]
        assert people[name].items == len(own)
        assert people[name].agreement == pytest.approx(sum(shares) / len(shares))
    three = [row for row in rows if all(row[name] for name in names)]
    sides = sum(row["annotator3"] == row["annotator1"] for row in three)
    assert people["annotator2"].compared == len(three)
    assert people["annotator2"].others_agreement == pytest.approx(sides / len(three))
    assert result.out_of_line == ()
    assert result.sentence().startswith("who is out of line cannot be seen: 3 people agree with the others on ")
    assert any("where the first ones differ" in note for note in result.notes)
