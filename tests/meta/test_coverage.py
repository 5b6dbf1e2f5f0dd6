"""How often every kind of interval holds the truth, in a thousand simulated evaluations of populations that nobody
looked at while the intervals were being made. `python -m benchmarks coverage` prints the table.

A share of a thousand simulations is off by 0.007 by chance. So an interval fails where its share is further from 0.95
than two points and what chance explains: two Monte-Carlo errors for a whole row of the table; for a single bin of an
error rate, of which there are more than a thousand, as many errors as leave a chance of one in a hundred that any of
them fails though all are at the very edge.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from qassay.matrix import ScoreMatrix
from qassay.meta.sensitivity.prediction import predict

ROOT = str(Path(__file__).parents[2])


def of_the_benchmarks(name):
    """A module of the benchmarks, which lie beside the tests and not on the path of an installed package."""
    if ROOT not in sys.path:
        sys.path.insert(0, ROOT)
    return importlib.import_module(f"benchmarks.coverage.{name}")


intervals, rates, gaps = (of_the_benchmarks(name) for name in ("intervals", "rates", "gaps"))

SIMULATIONS = 1000
BY_CHANCE = 2.0
BINS = 1400
ANY_BIN = NormalDist().inv_cdf(1 - 0.01 / BINS)

# What was found to be held less often, and how often at least; it is in docs/method.md, too. Where the true means of
# all runs are the same, the last bins are reached only where the units by chance set the runs apart.
KNOWN = {"normal, 10 x 50, true means: equal": 0.83}


def beyond(share, error, *, at_least=False):
    off = share - rates.NOMINAL
    return (off if not at_least else min(off, 0.0)) ** 2 > (rates.TOLERANCE + BY_CHANCE * error) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["score", "difference", "simultaneous", "agreement"])
def test_intervals_hold_the_truth_as_often_as_they_say(kind):
    coverages = list(getattr(intervals, f"{kind}_coverages")(SIMULATIONS, rates.SEED))
    assert len(coverages) > 4
    assert [
        (coverage.name, coverage.share)
        for coverage in coverages
        if beyond(coverage.share, coverage.error, at_least=coverage.at_least)
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("population", rates.POPULATIONS, ids=lambda population: population.name)
def test_intervals_of_error_rates_hold_the_truth_as_often_as_they_say(population):
    covered = rates.rate_coverage(population, SIMULATIONS)
    assert covered.judged.sum() >= 6
    sizes = [row for row in covered.by_size() if beyond(row[1], row[2])]
    bins = covered.outside(ANY_BIN)
    known = KNOWN.get(population.name)
    assert [row for row in sizes if known is None or row[1] < known] == []
    assert [row for row in bins if known is None or row[2] < known] == []


@pytest.mark.slow
@pytest.mark.parametrize("population", gaps.POPULATIONS, ids=lambda population: population.name)
def test_a_repeatable_gap_is_what_it_says(population):
    gap = gaps.gaps_of(population)
    # At the gap that is printed the sign turns in about one of twenty repetitions, whatever the sample.
    assert 0.03 < gap.true.mean() < 0.07
    # And at the gap and all larger ones together, as the answer says, in no more than that.
    assert gap.kept >= 0.9
    # With a hundred right-or-wrong questions the printed gap is up to 0.03 off (docs/method.md).
    few = population.scores == "binary" and population.units == 100
    assert gap.near >= 0.9 or few
    assert abs(gap.gaps.mean() - gap.true_gap) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize(("questions", "gap", "close"), [(100, 0.09, 0.85), (200, 0.06, 0.97), (400, 0.04, 0.99)])
def test_a_repeatable_gap_is_true_on_a_real_population(data, questions, gap, close):
    """Five systems judged by people on 1,938 questions of TriviaQA, of which samples are evaluations."""
    answered = [row for row in json.loads(data("evouna_tq/TQ.json").read_text()) if not row.get("improper")]
    systems = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
    right = np.array([[float(row[f"judge_{system}"]) for row in answered] for system in systems])
    rng = np.random.default_rng(questions)
    compared, swapped = np.zeros(21), np.zeros(21)
    first, second = np.triu_indices(len(systems), 1)
    for _ in range(5000):
        # Two evaluations of fresh questions: what is a bin of the first, does the second reverse?
        base, test = right[:, rng.integers(len(answered), size=(2, questions))].sum(axis=2).T
        difference, again = base[first] - base[second], test[first] - test[second]
        bins = np.minimum(np.abs(difference) * 100 // questions, 20).astype(int)
        np.add.at(compared, bins, 1)
        np.add.at(swapped, bins, difference * again < 0)
    true = swapped / np.maximum(compared, 1)
    seen = [k for k in range(1, 21) if compared[k] > 50]
    assert min(k for k in seen if all(true[later] <= 0.05 for later in seen if later >= k)) / 100 == gap
    printed = []
    for _ in range(500):
        drawn = right[:, rng.choice(len(answered), questions, replace=False)]
        units = tuple(map(str, range(questions)))
        printed.append(predict(ScoreMatrix(systems, units, drawn, denominator=1)).repeatable(questions, 0.05))
    known = np.array([value for value in printed if value is not None])
    assert len(known) >= 460
    # Seen: about nine of ten of the samples of 100 questions that have a gap, and nearly all larger ones.
    assert (np.abs(known - gap) <= 0.02 + 1e-9).mean() >= close
    assert 0.025 < true[np.rint(known * 100).astype(int)].mean() < 0.05
