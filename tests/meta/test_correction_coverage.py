"""How often corrected intervals hold the truth, over a thousand simulated evaluations of real and synthetic systems.

`python -m benchmarks correction` prints the table. A case fails where its share is outside the limits by more than two
Monte-Carlo errors. Limits: never below 0.93 (0.92 for synthetic scores of 0.97 and above, or 0.03 and below); 0.94 to
0.97 from 60 labels on where the rarer verdict is expected five times; more is allowed below 60 labels and with judges
that are nearly free of errors, whose intervals are wide on purpose.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parents[2])
BY_CHANCE = 2.0


def of_the_benchmarks():
    """The module of the benchmarks, which lie beside the tests and not on the path of an installed package."""
    if ROOT not in sys.path:
        sys.path.insert(0, ROOT)
    return importlib.import_module("benchmarks.correction")


correction = of_the_benchmarks()


def outside(case, low: float, high: float) -> bool:
    off = BY_CHANCE * case.error
    return not low - off <= case.share <= high + off


def limits(case, *, lowest: float = 0.93) -> tuple[float, float]:
    settled = case.labels >= 60 and (case.rarer is None or case.rarer >= 5)
    nearly_free = case.name.startswith(("no errors", "good"))
    return (0.94 if settled else lowest), (0.97 if settled and not nearly_free else 1.0)


def rows_of(cases, **more: float) -> list[tuple[str, int, str, float]]:
    listed = list(cases)
    assert len(listed) >= 6
    return [
        (case.name, case.labels, case.target, case.share) for case in listed if outside(case, *limits(case, **more))
    ]


@pytest.mark.slow
def test_scores_of_synthetic_systems() -> None:
    cases = list(correction.synthetic(1000))
    extreme = [case for case in cases if any(case.name.endswith(f" {share:g}") for share in (0.03, 0.97, 0.99))]
    assert rows_of(extreme, lowest=0.92) == []
    assert rows_of([case for case in cases if case not in extreme]) == []


@pytest.mark.slow
@pytest.mark.parametrize("which", ["real_scores", "graded_scores"])
def test_scores_of_real_systems(which: str, data) -> None:
    data("nq301/matrix.csv")
    assert rows_of(getattr(correction, which)(1000)) == []


@pytest.mark.slow
def test_differences_of_all_pairs_of_real_systems(data) -> None:
    data("nq301/matrix.csv")
    assert rows_of(correction.real_differences(250)) == []


@pytest.mark.slow
def test_nugget_scores_by_topic(data) -> None:
    data("trec_rag24/nugget_assignment.20241108.jl")
    cases = list(correction.topics(250))
    assert [(case.name, case.share) for case in cases if outside(case, 0.93, 0.96)] == []
    assert all(1.03 < case.gain < 1.3 for case in cases)


@pytest.mark.slow
def test_a_judge_is_worth_labels_and_a_useless_one_none(data) -> None:
    data("nq301/matrix.csv")
    judges = correction.judges()
    gains = {
        name: correction.simulate(
            name, judges[name], 60, "new", 200, questions=301, estimate=correction.share_estimate
        ).gain
        for name in ("gpt-4", "BEM", "always right")
    }
    assert 1.25 < gains["gpt-4"] < 1.6
    assert 1.25 < gains["BEM"] < 1.6
    assert gains["always right"] == pytest.approx(1.0, abs=0.01)
