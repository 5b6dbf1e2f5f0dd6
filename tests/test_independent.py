"""Every number of every task against a second scorer, written from the method alone (see reference_scorer.py)."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import qassay
import random_evaluations as evaluations
import reference_scorer as reference

TOLERANCE = 1e-12
RULES = [
    ("stop", "stop"),
    ("stop", "skip"),
    ("wrong", "stop"),
    ("wrong", "zero"),
    ("wrong", "skip"),
    ("drop", "zero"),
    ("drop", "skip"),
]
# What is scored beside the task's main measure under its default key.
VIEWS: dict[str, list[dict[str, str]]] = {
    "ranked5": [{"measure": "mrr_lenient"}, {"measure": "accuracy"}],
    "confidence": [{"measure": "accuracy"}, {"key": "first"}],
    "passages": [{"key": "second"}],
    "main2003": [
        {"component": "factoid"},
        {"component": "list"},
        {"component": "definition"},
        {"measure": "nugget_f(beta=1, allowance=40)"},
        {"measure": "pyramid_f"},
        {"key": "first"},
    ],
    "series2004": [
        {"component": "factoid"},
        {"component": "list"},
        {"component": "other"},
        {"measure": "final_score"},
        {"measure": "nugget_f(beta=0.5)"},
        {"key": "first"},
    ],
    "definition": [
        {"measure": "nugget_f(beta=1)"},
        {"measure": "pyramid_f"},
        {"measure": "holistic"},
        {"measure": "content"},
        {"key": "second"},
    ],
    "qaciad": [{"component": "list"}, {"key": "first"}],
    "entailment2": [{"key": "two-way"}, {"key": "disagreement-unknown"}, {"key": "first"}, {"key": "main"}],
    "entailment3": [{"key": "two-way"}, {"key": "disagreement-unknown"}, {"key": "second"}, {"key": "main"}],
    "justification": [{"measure": "understandability"}, {"key": "first"}],
    "nuggets": [
        {"measure": "all"},
        {"measure": "weighted"},
        {"measure": "weighted_strict"},
        {"measure": "citation_precision"},
        {"measure": "citation_recall"},
    ],
}


def differences(mine: Any, theirs: Any, place: str = "") -> list[str]:
    """Where two documents differ; numbers may differ by the tolerance, null is only null."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        if set(mine) != set(theirs):
            return [f"{place}: keys {sorted(mine)} against {sorted(theirs)}"]
        return [difference for key in mine for difference in differences(mine[key], theirs[key], f"{place}/{key}")]
    if isinstance(mine, list) and isinstance(theirs, list):
        if len(mine) != len(theirs):
            return [f"{place}: {mine} against {theirs}"]
        pairs = enumerate(zip(mine, theirs, strict=True))
        return [difference for n, (a, b) in pairs for difference in differences(a, b, f"{place}/{n}")]
    if isinstance(mine, Fraction) and isinstance(theirs, float | int) and not isinstance(theirs, bool):
        return [] if abs(float(mine) - theirs) <= TOLERANCE else [f"{place}: {float(mine)!r} against {theirs!r}"]
    return (
        []
        if mine == theirs and isinstance(mine, bool) == isinstance(theirs, bool)
        else [f"{place}: {mine!r} against {theirs!r}"]
    )


def agree(folder: Path, **options: str) -> str:
    """Compare both scorers; what they agreed on: `scored`, or that scoring is refused."""
    try:
        wanted = reference.score(folder, **options)
    except reference.RefusalError as refusal:
        with pytest.raises(qassay.QassayError):
            print(json.dumps(qassay.open(folder).score(**options).as_json(), indent=1))
        return str(refusal)
    scores = qassay.open(folder).score(**options)
    document = scores.as_json()
    json.dumps(document, allow_nan=False)
    if "missing" not in document:
        # The matrix that analyses take summarises to the same scores.
        computed = dict(zip(scores.matrix.runs, scores.matrix.scores().tolist(), strict=True))
        assert computed == pytest.approx({row["run"]: row["score"] for row in document["runs"]}, abs=TOLERANCE)
    dropped = document.pop("dropped")
    assert all(row["reason"] for row in dropped)
    places = sorted(((row.get("unit"), row.get("question")) for row in dropped), key=str)
    expected = sorted(wanted.pop("dropped"), key=str)
    assert places == expected, f"{folder} {options}: dropped {places}, not {expected}"
    # Runs whose scores are equal but for rounding go by tag, whichever is larger in the last bit.
    order = [row["run"] for row in document["runs"]]
    for above, below in itertools.pairwise(document["runs"]):
        high, low = (-1.0 if row["score"] is None else row["score"] for row in (above, below))
        assert high > low - 1e-9
        assert abs(high - low) >= 1e-9 or above["run"] < below["run"]
    wanted["runs"].sort(key=lambda row: order.index(row["run"]))
    wrong = differences(wanted, document)
    assert not wrong, f"{folder} {options}: " + "; ".join(wrong[:4])
    return "scored"


def trial(folder: Path, task: str, seed: int) -> list[str]:
    evaluations.make(folder, task, seed)
    views: list[dict[str, str]] = [{}, VIEWS[task][seed % len(VIEWS[task])]]
    outcomes = []
    for view, number in itertools.product(views, range(2)):
        unjudged, missing = RULES[(seed + 3 * number) % len(RULES)]
        sets = [path.stem for path in (folder / "judgments").iterdir()]
        if "key" in view and view["key"] not in (*sets, "two-way", "disagreement-unknown"):
            continue
        outcomes.append(agree(folder, **view, unjudged=unjudged, missing=missing))
    return outcomes


@pytest.mark.parametrize("task", evaluations.TASKS)
def test_every_number_of_random_evaluations_is_the_same(task: str, tmp_path: Path) -> None:
    outcomes = [outcome for seed in range(14) for outcome in trial(tmp_path / str(seed), task, seed)]
    # The comparison would be empty if most evaluations were refused.
    assert outcomes.count("scored") > len(outcomes) / 2


@pytest.mark.slow
@pytest.mark.parametrize("task", evaluations.TASKS)
def test_many_more_random_evaluations(task: str, tmp_path: Path) -> None:
    for seed in range(1000, 1200):
        trial(tmp_path / str(seed), task, seed)
