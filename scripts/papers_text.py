"""What the source papers print in their text beside figures and tables: worked examples, counts and single numbers.

`papers` puts these rows below those of the numbered tables. Rows are as there: what the paper shows, the command, what
the paper says, what Qassay says, and on what basis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import qassay
from qassay.evaluation import Evaluation
from qassay.measures.nugget_f import f_measure, length_precision
from qassay.meta.sensitivity import PRESETS
from qassay.summaries import confidence_weighted_score

PRINTED, BUILT_IN = "printed numbers", "built-in"
Row = tuple[str, str, str, str, str]


def eval02(paper: dict[str, Any], demo: Evaluation) -> list[Row]:
    """Number right beside the confidence-weighted score; disagreements; error rates."""
    questions, correct = paper["questions"], paper["correct"]
    bounds = []
    for right in sorted(correct.values()):
        worst, best = ([0] * (questions - right) + [1] * right, [1] * right + [0] * (questions - right))
        bounds.append(f"{right} right: {confidence_weighted_score(worst):.3f} to {confidence_weighted_score(best):.3f}")
    curves = qassay.sensitivity(demo.score(), preset="trec2002", intervals=0)
    rate = curves.error_rate_at(0.05).predicted
    share = paper["disagreements"] / paper["not_all_wrong"]
    return [
        (
            "Two runs that the number right and the confidence-weighted score rank differently",
            "`qassay score` (task `confidence`)",
            ", ".join(f"{run} {right} right" for run, right in correct.items()) + f" of {questions}",
            "confidence-weighted scores that are possible: " + "; ".join(bounds),
            PRINTED,
        ),
        (
            "Disagreements among the answers that not everybody calls wrong",
            "`qassay agree`",
            f"{paper['disagreements']:,} of {paper['not_all_wrong']:,}",
            f"{share:.1%}",
            PRINTED,
        ),
        (
            "Error rate of a difference of 0.05",
            "`qassay sensitivity demo --preset trec2002`",
            f"about {paper['error_at_0.05']:.0%} with {questions} questions",
            f"expected {rate:.1%} with 16 series" if rate is not None else "no pair differs so",
            BUILT_IN,
        ),
    ]


def def03(paper: dict[str, Any], demo: Evaluation) -> list[Row]:
    """The worked example of the pilot."""
    example = paper["reeve"]
    length = sum(len("".join(text.split())) for text in example["strings"])
    vital = len(set(example["matched"]) & set(example["vital"]))
    says = _nugget_f(length, vital, len(example["matched"]), len(example["vital"]), 5)
    return [
        (
            "The worked example: five strings with three nuggets",
            "`qassay score --measure nugget_f(beta=5)`",
            f"recall {example['recall']}, allowance {example['allowance']}",
            says,
            PRINTED,
        )
    ]


def qa03(paper: dict[str, Any], demo: Evaluation) -> list[Row]:
    """Figure 3, list questions, the second assessor, rank ranges and the study of list questions."""
    example = paper["golden_parachute"]
    length = sum(example["recomputed"]["string_lengths"].values())
    matched = {nugget for nuggets in example["matched"].values() for nugget in nuggets}
    vital = {nugget for nugget, (kind, _) in example["nuggets"].items() if kind == "vital"}
    second, above, median = paper["second_assessor"], paper["list_runs_over_0.1"], paper["list_questions_median_over_0"]
    lists = demo.score(component="list")
    board = [(row[0], row[1]) for row in paper["definition_table4_F5_length"]]
    curves = qassay.sensitivity(lists, preset="trec2003-list", intervals=0)
    gap = curves.minimum_difference().predicted
    middle = board[len(board) // 2]
    highest, lowest = (
        1 + sum(score > middle[1] + shift for run, score in board if run != middle[0]) for shift in (0.1, -0.1)
    )
    return [
        (
            "Figure 3: question 1905, its nuggets and one response",
            "`qassay score --measure nugget_f(beta=5)`",
            f"recall {example['recall']}, allowance {example['allowance']}",
            _nugget_f(length, len(matched & vital), len(matched), len(vital), 5),
            PRINTED,
        ),
        _component(demo, "factoid"),
        _component(demo, "list"),
        (
            "List runs above 0.1, and list questions with a median above 0",
            "`qassay score demo --component list`, `qassay describe demo`",
            f"{above[0]} of {above[1]} runs; {median[0]} of {median[1]} questions",
            f"{sum((row.score or 0) > 0.1 for row in lists.runs)} of {len(lists.runs)} runs; "
            f"{int((np.median(lists.units.values, axis=0) > 0).sum())} of {len(lists.units.ids)} questions",
            BUILT_IN,
        ),
        (
            "The largest difference that the second assessor reverses",
            "`qassay stability demo --component other`",
            f"{second['largest_swapped_difference']}; {second['swaps_over_0.1']} swaps above 0.1",
            _largest(demo),
            BUILT_IN,
        ),
        (
            "The ranks that the middle run of table 4 takes with ±0.1",
            "`qassay sensitivity`",
            "fifth to twelfth (a misprint, see [Method](method.md))",
            f"{middle[0]}: {highest} to {lowest}",
            PRINTED,
        ),
        (
            "Error rate by difference, list questions",
            "`qassay sensitivity demo --component list --preset trec2003-list`",
            f"{PRESETS['trec2003-list'].result} with 36 questions",
            f"expected {'none' if gap is None else f'{gap:g}'} with {curves.target} questions",
            BUILT_IN,
        ),
    ]


def series05(paper: dict[str, Any], demo: Evaluation) -> list[Row]:
    """Series with a median of 0, repeatable pairs, and the weights that the paper leaves open."""
    described = qassay.describe(demo)
    zero = [box.unit for box in described.units.units if box.has_zero_median]
    curves = qassay.sensitivity(demo.score(), preset="trec2004", intervals=0)
    share = curves.pairs_at_least_minimum
    return [
        (
            "Series with a median of 0",
            "`qassay describe demo`",
            f"{len(paper['zero_median_series'])} of {paper['scored_series']}: {', '.join(paper['zero_median_series'])}",
            f"{len(zero)} of {len(described.units.units)}",
            BUILT_IN,
        ),
        (
            "Pairs of runs whose difference is repeatable",
            "`qassay sensitivity demo --preset trec2004`",
            f"{paper['pairs_at_least_minimum']:.0%} of {paper['pairs']:,}",
            "none" if share is None else f"{share:.0%} of {curves.pairs:,}",
            BUILT_IN,
        ),
    ]


def rte08(paper: dict[str, Any], demo: Evaluation) -> list[Row]:
    """Keys from two judges, the accuracies of the runs, and ranks by judge."""
    key, agreed = paper["disagreement_unknown_key"], paper["agreed_by_two_judges_recomputed"]
    three = paper["table3_pairs_of_judges"]
    same = {label: three[f"{label}/{label}"] for label in ("YES", "NO")}
    same["UNKNOWN"] = 800 - sum(same.values())
    accuracy = paper["accuracy"]
    ranked = "".join(sorted(accuracy, key=lambda run: -accuracy[run]))
    assert same == agreed, "the golden numbers contradict each other"
    return [
        (
            "A key that has UNKNOWN wherever the judges disagree",
            "`qassay score --key disagreement-unknown`",
            ", ".join(f"{label} {number}" for label, number in key.items()) + " (with the two-way key)",
            ", ".join(f"{label} {number}" for label, number in same.items()) + " (from table 3 alone)",
            PRINTED,
        ),
        (
            "Accuracy of the twelve runs",
            "`qassay score` (task `entailment3`)",
            f"from {max(accuracy.values())} to {min(accuracy.values())}",
            f"ranking {ranked}; the official one is {paper['rankings']['official']}",
            PRINTED,
        ),
        _mean_ranks(paper),
    ]


def _component(demo: Evaluation, component: str) -> Row:
    """The scores of one component, in the form of an overview."""
    best = demo.score(component=component).runs[0]
    says = f"best {best.run} {best.score or 0.0:.3f}"
    command = f"`qassay report demo --component {component} --format latex`"
    return (f"Scores of the {component} component", command, "", says, BUILT_IN)


def _mean_ranks(paper: dict[str, Any]) -> Row:
    """The mean rank of each run over six judges of one pair."""
    from qassay.meta.ranking import mean_ranks

    runs = sorted(paper["pair75"])
    ratings = np.array([[rating[1] or 0 for rating in paper["pair75"][run]] for run in runs], dtype=float)
    ranks = np.mean([mean_ranks(ratings[:, judge]) for judge in range(ratings.shape[1])], axis=0)
    return (
        f"Mean rank by judge: one pair, {paper['judges']} judges, correctness",
        "`qassay agree pairs`, [figure](#forms)",
        f"ratings of {len(runs)} runs",
        ", ".join(f"{run} {rank:.2f}" for run, rank in zip(runs, ranks, strict=True)),
        PRINTED,
    )


def _nugget_f(length: int, vital: int, matched: int, known: int, beta: float) -> str:
    precision = np.asarray(length_precision(length, matched), dtype=float)
    value = float(f_measure(precision, np.asarray(vital / known), beta))
    return (
        f"{length:,} characters: precision {float(precision):.3f}, recall {vital / known:.3f}, F({beta:g}) {value:.3f}"
    )


def _largest(demo: Evaluation) -> str:
    ranks = next(iter(qassay.stability(demo, component="other").measures.values()))
    width = ranks.largest_swapped_difference
    return "no two runs change places" if width is None else f"{width:.3f}; {ranks.swaps_with_reference} swaps"


TEXT: dict[str, Callable[[dict[str, Any], Evaluation], list[Row]]] = {
    "EVAL02": eval02,
    "DEF03": def03,
    "QA03": qa03,
    "SERIES05": series05,
    "RTE08": rte08,
}
