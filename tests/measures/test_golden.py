"""Figures printed in the papers, and figures recomputed from them, through the whole way from files to scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qassay
from on_disk import write
from qassay.matrix import ScoreMatrix
from qassay.measures.entailment import contingency
from qassay.measures.nil import nil_precision, nil_recall
from qassay.measures.nugget_f import f_measure, length_precision
from qassay.measures.weighted_types import weights_for
from qassay.runs import RunInformation
from qassay.scoring import RunScore, Scores
from qassay.scoring.record import Units
from qassay.summaries import ConfidenceWeighted, confidence_weighted_score
from qassay.tasks import task

Golden = dict[str, Any]
SIX = 5e-7  # a figure given with six digits


def evaluation(folder: Path, name: str, files: Mapping[str, Iterable[Mapping[str, Any]]], more: str = "") -> Path:
    """Write an evaluation of JSON lines."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "qassay.toml").write_text(f'task = "{name}"\n{more}', encoding="utf-8")
    for file, rows in files.items():
        write(folder / f"{file}.jsonl", rows)
    return folder


def run_of(folder: Path, **options: Any) -> dict[str, Any]:
    document = qassay.open(folder).score(**options).as_json()
    assert len(document["runs"]) == 1
    return document["runs"][0]


# ---------------------------------------------------------------- definition questions


@pytest.fixture
def reeve(golden: Golden, tmp_path: Path) -> Path:
    """[DEF03] figure 1: who is Christopher Reeve?"""
    figure = golden["DEF03"]["reeve"]
    nuggets = [("vital", True), ("okay", False)]
    return evaluation(
        tmp_path,
        "definition",
        {
            "questions": [{"id": "1", "type": "definition", "text": "Who is Christopher Reeve?"}],
            "nuggets/adjudicated": [
                {"question": "1", "nugget": nugget, "vital": vital}
                for kind, vital in nuggets
                for nugget in figure[kind]
            ],
            "runs/system": [
                {"run": "system", "question": "1", "items": [{"text": text} for text in figure["strings"]]}
            ],
            "judgments/adjudicated": [{"question": "1", "run": "system", "nuggets": figure["matched"]}],
        },
    )


@pytest.mark.parametrize(("beta", "figure"), [(5, "F5"), (3, "F3"), (1, "F1")])
def test_reeve(golden: Golden, reeve: Path, beta: int, figure: str) -> None:
    wanted = golden["DEF03"]["reeve"]["recomputed"]
    scored = run_of(reeve, measure=f"nugget_f(beta={beta})")
    assert scored["score"] == pytest.approx(wanted[figure], abs=SIX)
    # 171 characters that are not white space, counted in the strings themselves: below the allowance of 300.
    assert scored["mean_length"] == wanted["length"] == 171
    assert length_precision(171, 3) == wanted["precision"] == 1.0


def test_the_pilot_uses_beta_5(golden: Golden, reeve: Path) -> None:
    """[DEF03] settles on beta = 5, and the task does."""
    document = qassay.open(reeve).score().as_json()
    assert document["measure"] == "nugget_f(beta=5)"
    assert document["runs"][0]["components"] == {
        "definition": pytest.approx(golden["DEF03"]["reeve"]["recomputed"]["F5"], abs=SIX)
    }


@pytest.fixture
def golden_parachute(golden: Golden, tmp_path: Path) -> Path:
    """[QA03] figures 2 and 3: what is a golden parachute? Of the strings only the lengths are needed."""
    figure = golden["QA03"]["golden_parachute"]
    sizes = figure["recomputed"]["string_lengths"]
    names = list(sizes)
    nuggets = [
        {"question": "1905", "nugget": name, "vital": kind == "vital", "text": text}
        for name, (kind, text) in figure["nuggets"].items()
    ]
    # Blanks between the characters: they do not count.
    items = [{"doc": name, "text": " ".join("x" * sizes[name])} for name in names]
    return evaluation(
        tmp_path,
        "main2003",
        {
            "questions": [{"id": "1905", "type": "definition", "text": "What is a golden parachute?"}],
            "nuggets/adjudicated": nuggets,
            "runs/system": [{"run": "system", "question": "1905", "items": items}],
            "judgments/adjudicated": [
                {"question": "1905", "run": "system", "item": place, "nuggets": figure["matched"].get(name, [])}
                for place, name in enumerate(names)
            ],
        },
    )


@pytest.mark.parametrize(("beta", "figure"), [(5, "F5"), (3, "F3"), (1, "F1")])
def test_golden_parachute(golden: Golden, golden_parachute: Path, beta: int, figure: str) -> None:
    wanted = golden["QA03"]["golden_parachute"]["recomputed"]
    scored = run_of(golden_parachute, measure=f"nugget_f(beta={beta})")
    assert scored["mean_length"] == wanted["length"] == sum(wanted["string_lengths"].values()) == 1139
    assert scored["score"] == pytest.approx(wanted[figure], abs=SIX)
    # Recall 3/3; five nuggets allow 500 characters.
    precision = length_precision(1139, 5)
    assert precision == pytest.approx(wanted["precision"], abs=SIX)
    assert f_measure(precision, np.float64(1.0), beta) == pytest.approx(wanted[figure], abs=SIX)


def test_a_definition_alone_has_the_whole_weight(golden: Golden, golden_parachute: Path) -> None:
    """The weights of the types that a test set lacks are shared out: the final score is the definition's F(5)."""
    scored = run_of(golden_parachute)
    assert scored["score"] == pytest.approx(golden["QA03"]["golden_parachute"]["recomputed"]["F5"], abs=SIX)


def test_the_misprinted_f_is_not_used(golden: Golden, golden_parachute: Path) -> None:
    """[QA03] 4.1 prints beta^2*P*R / ((beta^2+1)*P + R); figure 3 and [DEF03] need the other one."""
    precision, recall = 0.438982, 1.0
    misprint = 25 * precision * recall / (26 * precision + recall)
    assert run_of(golden_parachute, measure="nugget_f(beta=5)")["score"] > misprint + 0.05


def test_okay_nuggets_only_add_allowance(golden: Golden, golden_parachute: Path) -> None:
    """Misprint of [SERIES05] 2.3: matched nuggets / vital nuggets would give 5/3 here."""
    table = golden_parachute / "judgments" / "adjudicated.jsonl"
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    write(table, [row | {"nuggets": [n for n in row["nuggets"] if n in "456"]} for row in rows])
    assert run_of(golden_parachute)["score"] == 0  # recall is 0 without a vital nugget, whatever the precision


def test_precision_at_the_allowance() -> None:
    """[DEF03]: 100 characters for each nugget; what is longer is imprecise by the share that is too long."""
    precision = length_precision(np.array([0, 99, 100, 101, 200, 1, 0]), np.array([1, 1, 1, 1, 1, 0, 0]))
    assert precision.tolist() == pytest.approx([1, 1, 1, 100 / 101, 0.5, 0, 1], abs=1e-15)
    assert length_precision(50, 1, allowance=25) == 0.5


@pytest.mark.parametrize("beta", range(1, 6))
def test_the_rank_of_the_baseline_depends_on_beta(golden: Golden, beta: int) -> None:
    """[QA03] table 6: SENT-BASE climbs from rank 11 to rank 2 as beta grows."""
    table = {run: figures[beta - 1] for run, figures in golden["QA03"]["beta_table6"].items()}
    ranks = scores_of(table, f"nugget_f(beta={beta})").ranks()
    assert ranks["SENT-BASE"] == golden["QA03"]["sent_base_rank_by_beta_recomputed"][beta - 1]


def test_ties_share_the_mean_rank(golden: Golden) -> None:
    """[QA03] table 6, beta = 1: BBN2003C and irstqa2003d both have 0.310, after LCCmainS03."""
    table = {run: figures[0] for run, figures in golden["QA03"]["beta_table6"].items()}
    ranks = scores_of(table, "nugget_f(beta=1)").ranks()
    assert (ranks["LCCmainS03"], ranks["BBN2003C"], ranks["irstqa2003d"], ranks["MITCSAIL03a"]) == (1, 2.5, 2.5, 4)


@pytest.mark.parametrize("assessor", ["author", "other"])
def test_runs_stand_in_the_order_of_their_scores(golden: Golden, assessor: str) -> None:
    """[DEF03] table 1 and the rankings printed beside it."""
    table = golden["DEF03"]["table1"][assessor]
    order = "".join(row.run for row in scores_of(table, "nugget_f(beta=5)").runs)
    assert order == golden["DEF03"]["rankings"][f"F5_{assessor}"]


def scores_of(table: Mapping[str, float], measure: str) -> Scores:
    """Scores as computed."""
    runs = [RunScore(run, score, {}) for run, score in sorted(table.items(), key=lambda item: (-item[1], item[0]))]
    values = np.array([[row.score] for row in runs], dtype=float)
    units = Units(("1",), values, ScoreMatrix(("a",), ("1",), np.zeros((1, 1))).summary, None, None)
    return Scores(
        task="definition",
        key="adjudicated",
        measure=measure,
        runs=tuple(runs),
        units=units,
        questions={},
        asked=(),
        information={row.run: RunInformation() for row in runs},
    )


# ---------------------------------------------------------------- final scores


@pytest.mark.parametrize("place", range(15))
def test_final_scores_of_2003(golden: Golden, place: int) -> None:
    """[QA03] table 5: 1/2 factoid + 1/4 list + 1/4 definition, for the best run of each of the 15 best groups."""
    _, factoid, list_f, definition, final = golden["QA03"]["final_table5_factoid_list_definition_final"][place]
    main = task("main2003")
    weights = weights_for(frozenset(main.types), main.weights, main.without)
    assert weights == {"factoid": 0.5, "list": 0.25, "definition": 0.25}
    computed = weights["factoid"] * factoid + weights["list"] * list_f + weights["definition"] * definition
    # Rounded figures: within one unit of the last digit.
    assert computed == pytest.approx(final, abs=0.001)


def test_a_series_without_a_list_question_uses_the_printed_weights() -> None:
    """[SERIES05] 2.4 prints 0.67 and 0.33, not 2/3 and 1/3; other missing types are shared out."""
    series = task("series2004")
    assert weights_for(frozenset(["factoid", "other"]), series.weights, series.without) == {
        "factoid": 0.67,
        "other": 0.33,
    }
    assert weights_for(frozenset(["factoid", "list"]), series.weights, series.without) == {
        "factoid": pytest.approx(2 / 3),
        "list": pytest.approx(1 / 3),
    }
    assert weights_for(frozenset(["other"]), series.weights, series.without) == {"other": 1.0}
    # By question type, as in 2003, nothing is printed: the weights are shared out in proportion.
    assert weights_for(frozenset(["factoid", "other"]), series.weights, {})["factoid"] == pytest.approx(2 / 3)


# ---------------------------------------------------------------- confidence-weighted score


@pytest.mark.parametrize("pattern", ["RWW", "WWR", "RWRR"])
def test_confidence_weighted_scores_of_short_runs(golden: Golden, tmp_path: Path, pattern: str) -> None:
    """[EVAL02] section 2.2, recomputed from the formula: a right answer counts more the earlier it comes."""
    wanted = golden["EVAL02"]["cws_recomputed"][pattern]
    assert confidence_weighted_score([label == "R" for label in pattern]) == pytest.approx(wanted, abs=SIX)
    names = [str(n) for n in range(len(pattern))]
    folder = evaluation(
        tmp_path,
        "confidence",
        {
            # The test set is in the opposite order: the order of the run's lines is what counts.
            "questions": [{"id": name, "type": "factoid", "text": "?"} for name in reversed(names)],
            "judgments/adjudicated": [
                {"question": name, "doc": "D", "text": "a", "judgment": label}
                for name, label in zip(names, pattern, strict=True)
            ],
            "runs/r": [{"run": "r", "question": name, "items": [{"doc": "D", "text": "a"}]} for name in names],
        },
    )
    scored = run_of(folder)
    assert scored["score"] == scored["components"]["cws"] == pytest.approx(wanted, abs=SIX)
    assert scored["components"]["accuracy"] == pattern.count("R") / len(pattern)


@pytest.mark.parametrize("correct", [290, 271, 415])
def test_bounds_of_the_confidence_weighted_score(golden: Golden, correct: int) -> None:
    """[EVAL02]: 500 questions; pris2002 has 290 right, exactanswer 271, and 415 is the best run's number."""
    low, high = golden["EVAL02"]["cws_bounds_recomputed_500"][str(correct)]
    right = np.array([1.0] * correct + [0.0] * (500 - correct))
    assert confidence_weighted_score(right) == pytest.approx(high, abs=SIX)
    assert confidence_weighted_score(right[::-1]) == pytest.approx(low, abs=SIX)
    # The same through a matrix whose order is handed in, on all units and on a subset in the run's own order.
    order = np.array([np.arange(500), np.arange(500)[::-1]])
    matrix = ScoreMatrix(
        runs=("best", "worst"),
        units=tuple(map(str, range(500))),
        values=np.array([right, right]),
        summary=ConfidenceWeighted(order),
    )
    assert matrix.scores() == pytest.approx([high, low], abs=SIX)
    half = np.arange(0, 500, 2)
    expected = [confidence_weighted_score(right[half]), confidence_weighted_score(right[half][::-1])]
    assert matrix.scores_on(np.random.default_rng(0).permutation(half)) == pytest.approx(expected, abs=1e-12)


def test_more_right_answers_can_score_less(golden: Golden) -> None:
    """[EVAL02] section 2.2: exactanswer (271 right) scores above pris2002 (290 right) because of its order."""
    bounds = golden["EVAL02"]["cws_bounds_recomputed_500"]
    fewer, more = golden["EVAL02"]["correct"]["exactanswer"], golden["EVAL02"]["correct"]["pris2002"]
    assert (fewer, more) == (271, 290)
    assert bounds["271"][1] > bounds["290"][0]


# ---------------------------------------------------------------- NIL


@pytest.mark.parametrize("place", range(11))
def test_nil_precision_and_recall_of_the_passages_task(golden: Golden, place: int) -> None:
    """[QA03] table 1, with 30 questions where NIL is right; a dash for both where a run never returned NIL."""
    _, _, precision, recall = golden["QA03"]["passages_table1"][place]
    number = golden["QA03"]["counts"]["nil"]
    right = np.arange(413) < number
    if precision is None:
        never = np.zeros(413, dtype=bool)
        assert (nil_precision(never, right), nil_recall(never, right)) == (None, None)
        return
    hits = round(recall * number)
    # A number of returned NILs that gives the printed precision with these hits; any will do where there is no hit.
    returned = round(hits / precision) if precision else 7
    nil = (np.arange(413) < hits) | ((np.arange(413) >= number) & (np.arange(413) < number + returned - hits))
    assert nil_precision(nil, right) == pytest.approx(precision, abs=0.0006)
    assert nil_recall(nil, right) == pytest.approx(recall, abs=0.0006)


def test_recall_is_undefined_where_nil_is_never_right() -> None:
    nil, right = np.array([True, False]), np.array([False, False])
    assert nil_precision(nil, right) == 0.0
    assert nil_recall(nil, right) is None


# ---------------------------------------------------------------- tasks of one's own


def test_a_task_may_score_by_pyramid(tmp_path: Path) -> None:
    """Votes for vital: both assessors for nugget 1, one for nugget 2; recall of a run with nugget 1 is 1 / 1.5."""
    lists = {"first": (True, True), "second": (True, False), "adjudicated": (True, False)}
    folder = evaluation(
        tmp_path,
        "definition",
        {
            "questions": [{"id": "1", "type": "definition", "text": "What?"}],
            "runs/a": [{"run": "a", "question": "1", "items": [{"doc": "d", "text": "short"}]}],
            "judgments/adjudicated": [{"question": "1", "run": "a", "nuggets": ["1"]}],
            **{
                f"nuggets/{name}": [
                    {"question": "1", "nugget": str(n), "vital": vital, "text": "t"} for n, vital in enumerate(marks, 1)
                ]
                for name, marks in lists.items()
            },
        },
        'measure = "pyramid_f"\n[types.definition]\nscore = "pyramid_f"\n',
    )
    recall = 1 / 1.5
    assert run_of(folder)["score"] == pytest.approx(10 * recall / (9 + recall))
    assert run_of(folder)["score"] == run_of(folder, measure="pyramid_f")["score"]


def test_figures_about_nil_belong_to_tasks_with_nil(tmp_path: Path) -> None:
    files = {
        "questions": [{"id": "1", "type": "factoid", "text": "What?"}],
        "runs/a": [{"run": "a", "question": "1", "items": [{"doc": "d", "text": "x"}]}],
        "judgments/adjudicated": [{"question": "1", "doc": "d", "text": "x", "judgment": "R"}],
    }
    assert run_of(evaluation(tmp_path / "with", "confidence", files))["nil_precision"] is None
    without = evaluation(tmp_path / "without", "confidence", files, "[types.factoid]\nnil = false\n")
    assert "nil_precision" not in run_of(without)


# ---------------------------------------------------------------- entailment


def test_contingency_table_and_conditioned_accuracy(golden: Golden, tmp_path: Path) -> None:
    """[RTE08] table 1: 12 runs x 800 pairs, dealt to the runs in some order; only the sums are printed."""
    figure = golden["RTE08"]["table1_rows_reference_columns_response"]
    labels = figure["labels"]
    counts = dict(zip(labels, figure["counts"], strict=True))
    key = golden["RTE08"]["key"]
    assert key["UNKNOWN"] == 318  # [RTE08] 2 prints 319
    pairs = [(f"{label}{n}", label) for label in labels for n in range(key[label])]
    decisions: dict[str, list[str]] = {}
    for label in labels:
        given = [response for response, n in zip(labels, counts[label], strict=True) for _ in range(n)]
        assert len(given) == 12 * key[label]
        for (pair, reference), place in zip([p for p in pairs if p[1] == label], range(len(pairs)), strict=False):
            assert reference == label
            decisions[pair] = given[place :: key[label]]
    folder = evaluation(
        tmp_path,
        "entailment3",
        {
            "questions": [{"id": pair, "type": "pair", "text": "t", "hypothesis": "h"} for pair, _ in pairs],
            "judgments/adjudicated": [{"question": pair, "judgment": label} for pair, label in pairs],
        },
    )
    (folder / "runs").mkdir()
    for run in range(12):
        text = "".join(f"{pair} {decisions[pair][run]}\n" for pair, _ in pairs)
        (folder / "runs" / f"run{run}.txt").write_text("ranked: no\n" + text)
    document = qassay.open(folder).score().as_json()
    assert document["contingency"] == {row: dict(zip(labels, counts[row], strict=True)) for row in labels}
    right = sum(counts[label][place] for place, label in enumerate(labels))
    assert np.mean([row["score"] for row in document["runs"]]) == pytest.approx(right / 9600)
    for place, label in enumerate(labels):
        mean = np.mean([row["components"][label] for row in document["runs"]])
        assert mean == pytest.approx(counts[label][place] / sum(counts[label]))


def test_a_reference_answer_that_no_pair_has_is_an_empty_row() -> None:
    table = contingency(np.array([0, 1]), np.array([0, 0]), 2)
    assert table.tolist() == [[1, 1], [0, 0]]


@pytest.fixture
def two_judges(golden: Golden, tmp_path: Path) -> Path:
    """[RTE08] table 3 as pairs, with the two-way key's answers on the pairs that both judges call YES or NO.

    Of the 381 both call YES, 360 are YES in the two-way key; of the 66 both call NO, 64 are NO.
    """
    table, derived = golden["RTE08"]["table3_pairs_of_judges"], golden["RTE08"]["disagreement_unknown_key"]
    rows: list[tuple[str, str, str]] = []
    for name, number in table.items():
        if name == "agreement":
            continue
        first, second = name.split("/")
        for place in range(number):
            if name == "YES/YES":
                main = "YES" if place < derived["YES"] else "NO"
            elif name == "NO/NO":
                main = "NO" if place < derived["NO"] else "YES"
            else:
                main = "NO"
            # Which judge said which is not printed: taken in turns.
            rows.append((first, second, main) if place % 2 else (second, first, main))
    assert len(rows) == 800
    names = [str(n) for n in range(800)]
    sets = {"judge1": 0, "judge2": 1, "main": 2}
    return evaluation(
        tmp_path,
        "entailment3",
        {
            "questions": [{"id": name, "type": "pair", "text": "t", "hypothesis": "h"} for name in names],
            "runs/yes": [{"run": "yes", "question": name, "decision": "YES"} for name in names],
            **{
                f"judgments/{judge}": [
                    {"question": name, "judgment": row[place]} for name, row in zip(names, rows, strict=True)
                ]
                for judge, place in sets.items()
            },
        },
        'two_way = ["main"]\n',
    )


def test_disagreement_unknown_key(golden: Golden, two_judges: Path) -> None:
    """[RTE08] 3.2: 360 YES, 64 NO, 376 UNKNOWN, with the two-way key; 381/66/353 by the two judges alone."""
    document = qassay.open(two_judges).score("disagreement-unknown").as_json()
    key = {label: sum(row.values()) for label, row in document["contingency"].items()}
    assert key == golden["RTE08"]["disagreement_unknown_key"]
    (two_judges / "judgments" / "main.jsonl").unlink()
    (two_judges / "qassay.toml").write_text('task = "entailment3"\n')
    document = qassay.open(two_judges).score("disagreement-unknown").as_json()
    key = {label: sum(row.values()) for label, row in document["contingency"].items()}
    assert key == golden["RTE08"]["agreed_by_two_judges_recomputed"]


def test_a_two_way_key_folds_the_decisions(golden: Golden, two_judges: Path) -> None:
    """The set that the organiser marks as two-way has no UNKNOWN, and an UNKNOWN decision is a NO there."""
    text = (two_judges / "runs" / "yes.jsonl").read_text()
    (two_judges / "runs" / "yes.jsonl").write_text(text.replace('"YES"', '"UNKNOWN"'))
    document = qassay.open(two_judges).score("main").as_json()
    assert set(document["runs"][0]["components"]) == {"YES", "NO"}
    assert document["runs"][0]["components"] == {"YES": 0.0, "NO": 1.0}
    derived, judged = golden["RTE08"]["disagreement_unknown_key"], golden["RTE08"]["table3_pairs_of_judges"]
    yes = derived["YES"] + judged["NO/NO"] - derived["NO"]
    assert document["runs"][0]["score"] == pytest.approx(1 - yes / 800)


@pytest.fixture
def pair75(golden: Golden, tmp_path: Path) -> Path:
    """[RTE08] figure 2: six judges' ratings of the justifications of pair 75."""
    ratings = golden["RTE08"]["pair75"]
    sets: dict[str, list[dict[str, Any]]] = {f"judgments/judge{n}": [] for n in range(1, 7)}
    for run, given in ratings.items():
        for name, (understandability, correctness) in zip(cycle(sets), given, strict=False):
            row = {"question": "75", "run": run, "understandability": understandability}
            sets[name].append(row if correctness is None else row | {"correctness": correctness})
    return evaluation(
        tmp_path,
        "justification",
        {
            "questions": [{"id": name, "type": "pair", "text": "t", "hypothesis": "h"} for name in ("74", "75", "76")],
            **{
                f"runs/{run}": [
                    {"run": run, "question": name, "decision": "YES", "justification": "because"}
                    for name in ("74", "75", "76")
                ]
                for run in ratings
            },
            **sets,
        },
    )


def test_means_of_pair_75(golden: Golden, pair75: Path) -> None:
    """Means over the judges; a correctness that was not assigned counts as 0."""
    wanted = golden["RTE08"]["pair75_recomputed"]
    document = qassay.open(pair75).score().as_json()
    assert document["units"] == ["75"]
    for row in document["runs"]:
        run = row["run"]
        assert row["score"] == pytest.approx(wanted["mean_correctness"][run], abs=SIX)
        assert row["components"] == {
            "understandability": pytest.approx(wanted["mean_understandability"][run], abs=SIX),
            "correctness": pytest.approx(wanted["mean_correctness"][run], abs=SIX),
        }
        assert document["questions"][run] == {"74": None, "75": row["score"], "76": None}
    assert [row["run"] for row in document["runs"]] == list("ABDFCH")


def test_chosen_pairs_that_nobody_rated_are_unjudged(pair75: Path) -> None:
    (pair75 / "qassay.toml").write_text('task = "justification"\njustified = ["74", "75"]\n')
    with pytest.raises(qassay.InputError, match="1 item is not judged"):
        qassay.open(pair75).score()
    document = qassay.open(pair75).score(unjudged="drop").as_json()
    assert document["units"] == ["75"]
    assert document["unjudged"] == {"rule": "drop", "items": 1}


# ---------------------------------------------------------------- the misprints of METHOD 9 that the core has


def test_numbers_that_the_papers_misprint(golden: Golden) -> None:
    """[RTE08] 2 prints 319 UNKNOWN, [SERIES05] 3.2 64 runs; the sums and the pairs tell."""
    assert sum(golden["RTE08"]["key"].values()) == 800
    runs = golden["SERIES05"]["runs"]
    matrix = ScoreMatrix(tuple(map(str, range(runs))), ("1",), np.zeros((runs, 1)))
    assert matrix.pairs == golden["SERIES05"]["pairs"] == 1953
