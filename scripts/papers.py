"""The figures and tables of the five source papers, and what Qassay prints for each: docs/papers.md.

Three bases. *Printed*: the numbers of the paper itself (tests/golden/papers.json), worked out again with Qassay.
*Public data*: the data of the paper or of its kind, in the folder that QASSAY_DATA names; where that is absent the page
keeps what it has. *Built-in*: the same form on the built-in evaluations, where the paper's data is not public.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import papers_text
import qassay
from qassay.demo import copy_demo
from qassay.evaluation import Evaluation
from qassay.figures import (
    Figure,
    boxes_by_unit,
    conditioned_accuracy,
    error_curves,
    mean_rank_by_judge,
    rating_histogram,
    score_by_beta,
    score_by_length,
    top_runs,
)
from qassay.matrix import ScoreMatrix
from qassay.meta.agreement.coefficients import cohen_kappa
from qassay.meta.fidelity import beta_sweep
from qassay.meta.ranking import compare_rankings
from qassay.meta.sensitivity import PRESETS
from qassay.tables import Column, table

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden" / "papers.json"
PRINTED, PUBLIC, BUILT_IN = "printed numbers", "public data", "built-in"

# What the paper shows, the command that prints it here, what the paper says, what Qassay says, and on what basis.
Row = tuple[str, str, str, str, str]


def data_folder() -> Path:
    """Where public data would be."""
    return Path(os.environ.get("QASSAY_DATA") or ROOT.parent / "shared" / "data")


def has_data() -> bool:
    """Whether the public data is installed."""
    return (data_folder() / "trec_qa").is_dir()


@cache
def golden() -> dict[str, Any]:
    """The numbers that the papers print."""
    read: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return read


@cache
def demo(name: Any = "series") -> Evaluation:
    """A built-in evaluation."""
    return qassay.open(qassay.demo_folder(name))


@cache
def decisions() -> Any:
    """The scores of the built-in pairs by their decisions alone."""
    with tempfile.TemporaryDirectory(prefix="qassay-papers-") as place:
        folder = Path(place) / "pairs"
        copy_demo(folder, "entailment")
        (folder / "qassay.toml").write_text('task = "entailment3"\n', encoding="utf-8")
        return qassay.open(folder).score()


def section(paper: str) -> str:
    """The table of one paper, without its public data."""
    headers = ("in the paper", "command", "the paper says", "Qassay says", "from")
    rows = [*ROWS[paper](), *papers_text.TEXT[paper](golden()[paper], demo())]
    whole = table("", [Column(header, left=True) for header in headers], rows)
    return whole.markdown().partition("\n\n")[2].strip()


# ---- by paper --------------------------------------------------------------------------------------------------------


def _eval02() -> list[Row]:
    paper = golden()["EVAL02"]
    study = qassay.agreement(demo(), resamples=0)[0]
    ranks = next(iter(qassay.stability(demo()).measures.values()))
    curves = qassay.sensitivity(demo().score(), preset="trec2002", intervals=0)
    disagreements = sum(paper["disagreements_table2"].values())
    share = disagreements / paper["pairs"]
    ours = study.disagreements / study.items
    at_least = paper["swaps_at_least"]
    return [
        (
            "Table 2: labels of three assessors, by combination",
            "`qassay agree`",
            f"{paper['disagreements']:,} of {paper['pairs']:,} answers are labelled differently",
            f"{disagreements:,}, {share:.1%}",
            PRINTED,
        ),
        ("the same", "`qassay agree demo`", "", f"{study.disagreements} of {study.items} items, {ours:.1%}", BUILT_IN),
        (
            "Kendall's tau of rankings by different assessors",
            "`qassay stability demo`",
            f"mean {paper['mean_tau']['cws']} (confidence-weighted), {paper['mean_tau']['raw']} (number right)",
            f"mean with the adjudicated ranking {ranks.mean_tau_with_reference:.3f}",
            BUILT_IN,
        ),
        (
            "Swaps of two runs by the size of their difference",
            "`qassay stability demo`",
            f"{paper['swaps']}; {at_least['0.05']} of at least 0.05, {at_least['0.07']} of at least 0.07",
            f"{ranks.swaps_with_reference}; the largest is {ranks.largest_swapped_difference:.3f}",
            BUILT_IN,
        ),
        (
            "Error rate by difference and number of questions, with fitted curves",
            "`qassay sensitivity demo --preset trec2002`",
            f"differences from {paper['minimum_difference']} on with 500 questions (5%)",
            f"expected {_gap(curves)} with 16 series",
            BUILT_IN,
        ),
    ]


def _def03() -> list[Row]:
    paper = golden()["DEF03"]
    tables, ranks = paper["table1"], paper["rankings"]
    systems = sorted(tables["author"])
    tau = compare_rankings(*([tables[judge][name] for name in systems] for judge in ("author", "other"))).tau
    rows: list[Row] = [
        (
            "Table 1: F(5) of eight systems by two assessors",
            "`qassay stability --measure nugget_f(beta=5)`",
            f"best {tables['author']['F']} and {tables['other']['F']}",
            f"tau of the two columns {tau:.3f}",
            PRINTED,
        )
    ]
    for pair in paper["tau_recomputed"]:
        first, second = (ranks[name] for name in pair.split("/"))
        ranking = compare_rankings(_places(first), _places(second))
        words = pair.replace("_", " ").replace("/", " and ")
        rows.append(
            (f"Rankings: {words}", "`qassay stability`", f"{first} and {second}", f"tau {ranking.tau:.3f}", PRINTED)
        )
    scores = demo().score(measure="nugget_f(beta=5)")
    longest = max(scores.runs, key=lambda row: row.mean_length or 0.0)
    lengths = paper["average_length"]
    rows.append(
        (
            "Average length of responses beside their scores",
            "`qassay score demo --measure nugget_f(beta=5)`",
            f"from {min(lengths.values())} to {max(lengths.values())} characters",
            f"longest: {longest.run}, {longest.mean_length:,.1f} characters, {longest.score:.3f}",
            BUILT_IN,
        )
    )
    return rows


def _qa03() -> list[Row]:
    paper = golden()["QA03"]
    final = paper["final_table5_factoid_list_definition_final"]
    equal = sum(abs(0.5 * row[1] + 0.25 * row[2] + 0.25 * row[3] - row[4]) < 0.00101 for row in final)
    sweep = paper["beta_table6"]
    ranks = [1 + sum(row[beta] > sweep["SENT-BASE"][beta] for row in sweep.values()) for beta in range(5)]
    baseline, second = paper["sent_base_rank_over_all_runs"], paper["second_assessor"]
    noise = {part.component: part for part in qassay.stability(demo()).noise or ()}
    lengths = paper["definition_table4_F5_length"]
    correlation = compare_rankings([row[1] for row in lengths], [row[2] for row in lengths]).tau
    curves = qassay.sensitivity(demo().score(component="other"), preset="trec2003-definition", intervals=0)
    board = demo().score().best_per_organisation()
    return [
        (
            "Table 1: passages, accuracy with NIL precision and recall",
            "`qassay score` (task `passages`)",
            f"{len(paper['passages_table1'])} runs, a dash where NIL was never returned",
            "a dash there too: `nil_precision` is undefined, not 0",
            PRINTED,
        ),
        (
            "Table 4: F(5) and length of the definition runs",
            "`qassay report --format latex --top 15`",
            f"{len(lengths)} runs",
            f"tau of score and length {correlation:.3f}",
            PRINTED,
        ),
        (
            "Table 5: final scores, best run of each organisation",
            "`qassay score` (task `main2003`, `final_score`)",
            f"{len(final)} runs",
            f"1/2, 1/4, 1/4 give the printed score in {equal} of {len(final)} rows",
            PRINTED,
        ),
        (
            "the same form",
            "`qassay report demo --format latex`",
            "",
            f"{len(board.runs)} organisations, best {board.runs[0].run} {board.runs[0].score:.3f}",
            BUILT_IN,
        ),
        (
            "Table 6: F by beta, and the rank of the baseline",
            "`qassay score --measure nugget_f(beta=1)`, [figure](#forms)",
            f"{baseline['beta1'][0]}th of {baseline['beta1'][1]} runs by F(1), {baseline['beta5'][0]}th by F(5)",
            f"among the {len(sweep)} runs of the table: ranks {', '.join(map(str, ranks))} for beta 1 to 5",
            PRINTED,
        ),
        (
            "A second assessor's definition judgments",
            "`qassay stability`",
            f"{second['swaps']} swaps of {second['pairs']:,} pairs, tau {second['tau']}",
            f"1 − 2 · {second['swaps']}/{second['pairs']:,} = {1 - 2 * second['swaps'] / second['pairs']:.3f}",
            PRINTED,
        ),
        (
            "Identical responses that were judged differently",
            "`qassay stability demo`",
            f"{paper['identical_pairs']['definition']['pairs']} pairs of runs, differences up to "
            f"{paper['identical_pairs']['definition']['max']}",
            "; ".join(f"{name}: {_noise(part)}" for name, part in noise.items()),
            BUILT_IN,
        ),
        (
            "Error rate by difference, definition questions",
            "`qassay sensitivity demo --preset trec2003-definition`",
            f"{PRESETS['trec2003-definition'].result} with 50 questions",
            f"expected {_gap(curves)} with {curves.target} questions",
            BUILT_IN,
        ),
    ]


def _series05() -> list[Row]:
    paper = golden()["SERIES05"]
    described = qassay.describe(demo())
    zero = {name: f"{count} of {of}" for name, (count, of) in paper["zero_median"].items()}
    curves = qassay.sensitivity(demo().score(), preset="trec2004", intervals=0)
    pairs, swaps = paper["pairs"], paper["swaps_recomputed"]
    zero_medians = sum(box.has_zero_median for box in described.units.units)
    plan = qassay.plan(demo().score())
    return [
        (
            "Box and whiskers of the runs on each series",
            "`qassay describe demo`, [figure](#forms)",
            f"{paper['runs']} runs, {paper['scored_series']} series",
            f"{described.units.runs} runs, {len(described.units.units)} series",
            BUILT_IN,
        ),
        (
            "Questions with a median of 0",
            "`qassay describe demo`",
            ", ".join(f"{name} {count}" for name, count in zero.items()),
            f"{zero_medians} of {len(described.units.units)} series",
            BUILT_IN,
        ),
        (
            "The ranking by series beside the ranking by type",
            "`qassay describe`",
            f"tau {paper['tau_series_vs_type']} over {pairs:,} pairs",
            f"1 − 2 · {swaps}/{pairs:,} = {1 - 2 * swaps / pairs:.3f}",
            PRINTED,
        ),
        (
            "Error rate by difference and number of series, with fitted curves",
            "`qassay sensitivity demo --preset trec2004`, [figure](#forms)",
            f"differences from {paper['minimum_difference']} on; "
            f"{paper['series_for_0.05']} series for a difference of 0.05",
            f"expected {_gap(curves)} with 16 series",
            BUILT_IN,
        ),
        (
            "How many series a difference needs",
            "`qassay plan demo`",
            f"{paper['series_for_0.05']} for 0.05",
            "; ".join(f"{row.power:,} for {row.difference:g}" for row in plan.differences if row.power)[:80],
            BUILT_IN,
        ),
    ]


def _rte08() -> list[Row]:
    paper = golden()["RTE08"]
    counts = np.array(paper["table1_rows_reference_columns_response"]["counts"], dtype=float)
    labels = paper["table1_rows_reference_columns_response"]["labels"]
    right = ", ".join(f"{label} {counts[i, i] / counts[i].sum():.3f}" for i, label in enumerate(labels))
    three = paper["table3_pairs_of_judges"]
    joint = _symmetric(three, labels)
    kappa = float(cohen_kappa(joint))
    agreed = sum(three[f"{label}/{label}"] for label in labels) / 800
    rows: list[Row] = [
        (
            "Table 1: reference answers and responses of twelve runs",
            "`qassay score` (task `entailment3`)",
            f"{int(counts.sum()):,} responses",
            f"accuracy {np.trace(counts) / counts.sum():.3f}; by reference answer: {right}",
            PRINTED,
        ),
        (
            "Accuracy by reference answer, with the overall accuracy on top",
            "`qassay score` (task `entailment3`), [figure](#forms)",
            f"best run {max(paper['accuracy'].values())} overall",
            f"best run {decisions().runs[0].run}, {decisions().runs[0].score:.3f} overall",
            BUILT_IN,
        ),
        (
            "Table 3: the labels of two judges",
            "`qassay agree`",
            f"agreement {three['agreement']}",
            f"agreement {agreed:.2f}, Scott's pi {kappa:.3f}",
            PRINTED,
        ),
        *_two_way(paper),
        (
            "What the disagreements can change",
            "`qassay stability`",
            f"at most {paper['bound']} of a score, {paper['largest_change']} seen",
            f"{paper['disagreements']} / 800 = {paper['disagreements'] / 800:.2f}",
            PRINTED,
        ),
    ]
    official = _places(paper["rankings"]["official"])
    for name in paper["tau_recomputed"]:
        ranking = compare_rankings(official, _places(paper["rankings"][name]))
        rows.append(
            (
                f"The ranking under the key {name.replace('_', ' ')}",
                "`qassay stability`",
                f"{paper['rankings']['official']} and {paper['rankings'][name]}",
                f"tau {ranking.tau:.3f}, {ranking.swaps} swaps",
                PRINTED,
            )
        )
    rows += _ratings(paper)
    return rows


def _two_way(paper: dict[str, Any]) -> list[Row]:
    """The judges beside the two-way key: NO and UNKNOWN are one answer there."""
    rows: list[Row] = []
    for judge in ("judge1", "judge2"):
        figures = paper["table2_judges_vs_two_way"][judge]
        same = figures["YES"][0] + sum(figures["NO"][1:])
        about = f"Table 2: {judge.replace('judge', 'judge ')} beside the two-way key"
        says = f"agreement {figures['conflated']} with UNKNOWN and NO as one"
        rows.append((about, "`qassay agree --sets`", says, f"{same} of 800, {same / 800:.2f}", PRINTED))
    return rows


def _ratings(paper: dict[str, Any]) -> list[Row]:
    """The ratings of justifications."""
    pair = paper["pair75"]["A"]
    means = [np.mean([rating[place] or 0 for rating in pair]) for place in (0, 1)]
    rated = qassay.agreement(demo("entailment"), resamples=0).ratings
    best = {scale: ratings.runs[0] for scale, ratings in rated.items()}
    printed = paper["figure3_means"]["A"]
    return [
        (
            "Ratings of one pair by six judges, run A",
            "`qassay score` (task `justification`)",
            "understandability/correctness "
            + ", ".join(f"{understandability}/{correctness or '–'}" for understandability, correctness in pair),
            f"means {means[0]:.3f} and {means[1]:.3f}; a justification that is not understood has correctness 0",
            PRINTED,
        ),
        (
            "Figure 3: histograms of understandability and correctness",
            "`qassay agree pairs`, [figure](#forms)",
            f"run A: means {printed[0]} and {printed[1]}",
            "; ".join(f"{scale}: best {run}, mean {rated[scale].mean[run]:.2f}" for scale, run in best.items()),
            BUILT_IN,
        ),
    ]


ROWS = {"EVAL02": _eval02, "DEF03": _def03, "QA03": _qa03, "SERIES05": _series05, "RTE08": _rte08}


def _noise(part: Any) -> str:
    largest = max((pair.difference for pair in part.pairs), default=0.0)
    return f"{len(part.pairs)} pairs of runs, differences up to {largest:.3f}"


def _gap(curves: Any) -> str:
    gap = curves.minimum_difference()
    expected = "none" if gap.predicted is None else f"{gap.predicted:g}"
    return expected + ("" if gap.fit is None else f" (by the fit of the papers {gap.fit:g})")


def _places(order: str) -> list[float]:
    """Scores that rank the runs A, B, C... in this order."""
    return [-float(order.index(run)) for run in sorted(order)]


def _symmetric(counts: dict[str, float], labels: Sequence[str]) -> Any:
    """Counts of unordered pairs of labels as a table of two judges, each order half."""
    joint = np.zeros((len(labels), len(labels)))
    for i, first in enumerate(labels):
        for j, second in enumerate(labels):
            count = counts.get(f"{first}/{second}", counts.get(f"{second}/{first}", 0))
            joint[i, j] = count if i == j else count / 2
    return joint


# ---- public data -----------------------------------------------------------------------------------------------------


def public() -> str:
    """What the public data gives, recomputed from its files."""
    paper = golden()
    series, main, pairs = _counts("series2004", "trec13questions.xml"), _counts("main2003", "trec12questions"), _pairs()
    counts = paper["QA03"]["counts"]
    rows: list[tuple[str, ...]] = [
        (
            "[QA03] questions by type",
            f"{counts['factoid']} factoid, {counts['list']} list, {counts['definition']} definition",
            ", ".join(f"{number} {kind}" for kind, number in main["types"].items()),
            "`trec_qa/trec12questions`",
        ),
        (
            "[SERIES05] series and questions by type",
            f"{paper['SERIES05']['series']} series; {paper['SERIES05']['factoid']} factoid, "
            f"{paper['SERIES05']['list']} list, {paper['SERIES05']['other']} other",
            f"{series['series']} series; " + ", ".join(f"{number} {kind}" for kind, number in series["types"].items()),
            "`trec_qa/trec13questions.xml`",
        ),
        (
            "[SERIES05] known answers of a list question",
            "mean {mean}, from {min} to {max}".format(**paper["SERIES05"]["list_answers"]),
            _list_answers(),
            "`trec_qa/trec13answers_list`",
        ),
        (
            "[RTE08] the three-way key",
            ", ".join(f"{label} {number}" for label, number in paper["RTE08"]["key"].items()),
            ", ".join(f"{label} {number}" for label, number in pairs.items()),
            "`rte3`, from the French translation: near, not equal",
        ),
        *_curves_of_public_runs(),
    ]
    headers = ("figure or table", "the paper says", "Qassay says", "data")
    whole = table("", [Column(header, left=True) for header in headers], rows)
    return whole.markdown().partition("\n\n")[2].strip()


def _counts(task: str, questions: str) -> dict[str, Any]:
    from qassay.cli import main

    with tempfile.TemporaryDirectory(prefix="qassay-papers-") as place:
        folder = Path(place) / "evaluation"
        _quiet(main, ["init", str(folder), "--task", task])
        _quiet(main, ["import", str(folder), str(data_folder() / "trec_qa" / questions)])
        test_set = qassay.open(folder).questions
        return {"types": test_set.counts(), "series": len(test_set.series)}


def _quiet(main: Any, arguments: list[str]) -> None:
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()):
        status = main(arguments)
    if status:
        raise RuntimeError(f"qassay {' '.join(arguments)} ends with status {status}")


def _list_answers() -> str:
    path = data_folder() / "trec_qa" / "trec13answers_list"
    numbers: Counter[str] = Counter()
    current = ""
    for line in path.read_text(encoding="latin-1").splitlines():
        if line.startswith("#"):
            current = line.split()[-1]
        elif line.strip() and not line.startswith("Q:"):
            numbers[current] += 1
    return f"mean {np.mean(list(numbers.values())):.1f}, from {min(numbers.values())} to {max(numbers.values())}"


def _pairs() -> dict[str, int]:
    lines = (data_folder() / "rte3" / "RTE3-FR-test-gold-3class.tsv").read_text(encoding="utf-8").splitlines()
    labels = Counter(cell.upper() for line in lines for cell in line.split("\t") if cell.upper() in LABELS)
    return {name: labels[label] for label, name in LABELS.items() if labels[label]}


LABELS = {"ENTAILMENT": "YES", "YES": "YES", "UNKNOWN": "UNKNOWN", "NEUTRAL": "UNKNOWN"} | {
    "CONTRADICTION": "NO",
    "NO": "NO",
}


def _curves_of_public_runs() -> list[tuple[str, ...]]:
    """Error rates in the form of the papers, for runs and systems whose scores are public."""
    rows: list[tuple[str, ...]] = []
    for name, file, preset, paper in (
        (
            "[EVAL02] error rate by difference, factoid questions",
            "nq301/matrix.csv",
            "trec2002",
            "0.07 with 500 questions",
        ),
        (
            "[SERIES05] error rate by difference, 129 runs",
            "score_matrices/adhoc8_ap.csv",
            "trec2004",
            "0.05 with 64 series",
        ),
    ):
        matrix: ScoreMatrix = qassay.read_matrix(data_folder() / file)
        curves = qassay.sensitivity(matrix, preset=preset, intervals=0)
        says = f"{_gap(curves)} with {len(matrix.units)} ({len(matrix.runs)} runs)"
        rows.append((name, f"{paper} (5%)", says, f"`{file}`, `--preset {preset}`"))
    return rows


# ---- pictures --------------------------------------------------------------------------------------------------------


def figures() -> dict[str, Figure]:
    """The forms of the papers' figures on the built-in evaluations, by the name of their file."""
    scores = demo().score()
    rated = qassay.agreement(demo("entailment"), resamples=0).ratings
    sweep = beta_sweep({b: demo().score(measure=f"nugget_f(beta={b:g})").matrix for b in (1.0, 2.0, 3.0, 4.0, 5.0)})
    return {
        "paper-top-runs": top_runs(scores),
        "paper-boxes": boxes_by_unit(qassay.describe(demo()).units),
        "paper-error-curves": error_curves(qassay.sensitivity(scores, preset="trec2004", intervals=0)),
        "paper-score-by-beta": score_by_beta(sweep),
        "paper-score-by-length": score_by_length(scores),
        "paper-conditioned-accuracy": conditioned_accuracy(decisions()),
        "paper-histogram": rating_histogram(rated["understandability"]),
        "paper-mean-rank": mean_rank_by_judge(rated["correctness"]),
    }
