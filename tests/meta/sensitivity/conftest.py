"""The sensitivity analysis once more, in plain Python with fractions: what every fast path must agree with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from qassay.matrix import ScoreMatrix

Score = Callable[[int, Sequence[int]], Fraction]
Cells = list[list[list[int]]]
MASK = 2**64 - 1


def splitmix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def plain_deal(seed: int, stream: int, size: int, trial: int, units: int) -> tuple[list[int], list[int]]:
    """Base and test set of one trial, by a textbook shuffle of a list."""
    golden = 0x9E3779B97F4A7C15
    key = seed & MASK
    for number in (stream, size, trial):
        key = splitmix((key + golden * (number + 1)) & MASK)
    pool = list(range(units))
    for step in range(2 * size):
        word = splitmix((key + golden * (step + 1)) & MASK) >> 32
        other = step + ((word * (units - step)) >> 32)
        pool[step], pool[other] = pool[other], pool[step]
    return sorted(pool[:size]), sorted(pool[size : 2 * size])


def plain_count(
    runs: int, units: int, score: Score, *, sizes: Sequence[int], trials: int, seed: int, width: Fraction
) -> Cells:
    """[agreements, swaps, ties] by bin for each size, one pair after the other."""
    found = []
    for size in sizes:
        cells = [[0] * 21 for _ in range(3)]
        for trial in range(trials):
            base, test = plain_deal(seed, 0, size, trial, units)
            in_base = [score(run, base) for run in range(runs)]
            in_test = [score(run, test) for run in range(runs)]
            for a in range(runs):
                for b in range(a):
                    d_base, d_test = in_base[a] - in_base[b], in_test[a] - in_test[b]
                    what = 2 if d_base * d_test == 0 else 1 if d_base * d_test < 0 else 0
                    cells[what][min(20, abs(d_base) // width)] += 1
        found.append(cells)
    return found


@pytest.fixture(scope="session")
def reference() -> Callable[..., Cells]:
    return plain_count


@pytest.fixture(scope="session")
def deal_plainly() -> Callable[..., tuple[list[int], list[int]]]:
    return plain_deal


@pytest.fixture(scope="session")
def matrix_of() -> Callable[..., ScoreMatrix]:
    """A score matrix from values alone."""

    def make(values: object, **fields: Any) -> ScoreMatrix:
        array = np.array(values, dtype=np.float64)
        return ScoreMatrix(
            runs=tuple(f"r{i}" for i in range(array.shape[0])),
            units=tuple(f"u{i}" for i in range(array.shape[1])),
            values=array,
            **fields,
        )

    return make
