"""Counting comparisons, swaps and ties by bin, over all trials of all sizes.

Small jobs run in array code; large ones are compiled and shared among threads. Both give the same counts.
"""

from __future__ import annotations

import importlib.util
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from qassay.arrays import Floats, Integers
from qassay.meta.sensitivity.trials import (
    BINS,
    LIMITED_BINS,
    STUDY,
    Keys,
    Prepared,
    Scale,
    deal,
    subset_scores,
    trial_keys,
)

Ties: TypeAlias = Literal["stay", "half", "exclude"]

# Trials x units in memory at once while dealing, and pairs x trials while counting: small enough for the caches.
DEALT_AT_ONCE = 4_000_000
COUNTED_AT_ONCE = 30_000

# What happened to a comparison: the offset of its class among the cells of a trial.
_CLASSES = 3

# What a class counts for, under each rule for ties: as a swap, and as a comparison.
AS_SWAPS: dict[Ties, tuple[float, ...]] = {"stay": (0, 1, 0), "half": (0, 1, 0.5), "exclude": (0, 1, 0)}
AS_COMPARISONS: dict[Ties, tuple[float, ...]] = {"stay": (1, 1, 1), "half": (1, 1, 1), "exclude": (1, 1, 0)}

Path: TypeAlias = Literal["auto", "arrays", "compiled"]
Progress: TypeAlias = Callable[[int, int], None]

# From this many seconds of array code on, loading compiled code pays.
LARGE = 0.5

# Seconds of array code for one pair in one trial, and for one unit score of a run; measured, and only a guide.
SECONDS_A_PAIR = 7e-9
SECONDS_A_SCORE = {True: 1e-9, False: 8e-9}

# Scores in one task: a task takes well under a second, so that progress moves and an interrupt is heard.
SCORES_A_TASK = 1_000_000


@dataclass(frozen=True, eq=False)
class Counts:
    """Comparisons, swaps and ties by size (rows) and bin (columns), over all trials and pairs.

    A tie is a pair that is equal in base, in test or in both; it is never a swap. `sums` are sizes x 3 x bins, the
    classes being neither, swap, tie. `products` (sizes x 3 x 3 x bins) shows how trials vary: it adds up over trials
    what two classes of a bin have in one trial, multiplied.
    """

    sums: Integers
    products: Integers

    @property
    def comparisons(self) -> Integers:
        """Pairs that fell into each bin."""
        return np.asarray(self.sums.sum(axis=1))

    @property
    def swaps(self) -> Integers:
        """Those on which base and test disagree."""
        return self.sums[:, 1]

    @property
    def ties(self) -> Integers:
        """Those that are equal in base or in test; 0 in compiled code where the rule for ties does not ask."""
        return self.sums[:, 2]

    def rates(self, ties: Ties) -> Floats:
        """Error rates; not-a-number where a bin is empty.

        stay: a tie is not a swap and stays in the denominator. half: it counts half a swap. exclude: it leaves the
        denominator.
        """
        swaps = self.swaps + self.ties / 2 if ties == "half" else self.swaps.astype(np.float64)
        of = self.denominators(ties)
        return np.asarray(np.divide(swaps, of, out=np.full(swaps.shape, np.nan), where=of > 0))

    def denominators(self, ties: Ties) -> Integers:
        """The comparisons that an error rate is a share of."""
        return self.comparisons - self.ties if ties == "exclude" else self.comparisons

    def alone(self, ties: Ties) -> Floats:
        """Sum over comparisons of (what it counts as - rate)^2: their variance as draws of their own."""
        return np.asarray((self.sums * self._away(ties) ** 2).sum(axis=1))

    def by_trial(self, ties: Ties) -> Floats:
        """Sum over trials of (swaps - rate x comparisons)^2: the variance of the swaps, trials being the draws."""
        away = self._away(ties)
        return np.asarray(np.einsum("sak,sbk,sabk->sk", away, away, self.products))

    def in_a_trial(self, ties: Ties) -> Floats:
        """Sum over trials of the squared number of comparisons."""
        counted = np.array(AS_COMPARISONS[ties])
        return np.asarray(np.einsum("a,b,sabk->sk", counted, counted, self.products))

    def _away(self, ties: Ties) -> Floats:
        """The value of a comparison of each class, minus the rate of its bin; sizes x 3 x bins."""
        rate = np.nan_to_num(self.rates(ties))[:, None]
        return np.asarray(np.array(AS_SWAPS[ties])[:, None] - np.array(AS_COMPARISONS[ties])[:, None] * rate)


def counts_of_trials(trials: Integers) -> Counts:
    """The counts of some trials of one size (trials x 3 x bins)."""
    return Counts(trials.sum(axis=0)[None], np.einsum("tak,tbk->abk", trials, trials)[None])


@dataclass(frozen=True, slots=True)
class Study:
    """The trials to count, of each size."""

    prepared: Prepared
    sizes: tuple[int, ...]
    trials: int
    seed: int
    with_ties: bool = False

    @property
    def all_trials(self) -> int:
        """Trials over all sizes."""
        return len(self.sizes) * self.trials

    def seconds(self) -> float:
        """About how long array code would take."""
        runs, units = self.prepared.runs, self.prepared.units
        plain = self.prepared.matrix.summary.is_mean
        one_trial = runs * (runs - 1) / 2 * SECONDS_A_PAIR + runs * units * SECONDS_A_SCORE[plain]
        return self.all_trials * one_trial


# Which size, how many trials, and what they show.
Part: TypeAlias = tuple[int, int, Counts]


def count(study: Study, *, path: Path = "auto", threads: int | None = None, progress: Progress | None = None) -> Counts:
    """The counts of all trials and pairs."""
    sizes = len(study.sizes)
    counts = Counts(np.zeros((sizes, 3, BINS), dtype=np.int64), np.zeros((sizes, 3, 3, BINS), dtype=np.int64))
    if study.prepared.runs < 2:
        return counts
    compiled = path == "compiled" or (path == "auto" and study.seconds() > LARGE and has_numba())
    parts = _with_threads(study, threads or processors()) if compiled else _with_arrays(study)
    done = 0
    for number, trials, counted in parts:
        counts.sums[number] += counted.sums[0]
        counts.products[number] += counted.products[0]
        done += trials
        if progress is not None:
            progress(done, study.all_trials)
    return counts


def _with_arrays(study: Study) -> Iterator[Part]:
    """The counts of chunks of trials as the work goes; their sums are the result."""
    prepared, sizes = study.prepared, study.sizes
    scales = [prepared.scale(size) for size in sizes]
    for rows, keys, row_sizes in _blocks(study):
        sides = deal(keys, row_sizes, prepared.units)
        base = np.empty((prepared.runs, len(rows)))
        test = np.empty_like(base)
        numbers = rows // study.trials
        for number in np.unique(numbers).tolist():
            of_size = numbers == number
            base[:, of_size], test[:, of_size] = subset_scores(prepared, sides[of_size], sizes[number])
        by_trial = count_pairs(base, test, numbers, scales)
        for number in np.unique(numbers).tolist():
            of_size = by_trial[numbers == number]
            yield number, len(of_size), counts_of_trials(of_size)


def count_pairs(base: Floats, test: Floats, numbers: Integers, scales: Sequence[Scale]) -> Integers:
    """Cells (trials x 3 x bins) of all pairs of runs in trials (columns) whose size has the given number."""
    runs, trials = base.shape
    by_trial = np.zeros((trials, _CLASSES, BINS), dtype=np.int64)
    at_once = max(1, COUNTED_AT_ONCE // max(runs, _CLASSES * BINS))
    steps = np.array([scale.step for scale in scales])[numbers]
    slack, tie = scales[0].slack, scales[0].tie
    for start in range(0, trials, at_once):
        part = slice(start, start + at_once)
        in_base, in_test, step = base[:, part], test[:, part], steps[part]
        offsets = np.arange(in_base.shape[1]) * (_CLASSES * BINS)
        cells = by_trial[part].reshape(-1)
        for run in range(runs - 1):
            d_base = in_base[run + 1 :] - in_base[run]
            d_test = in_test[run + 1 :] - in_test[run]
            # 0: the sets agree, 1: a swap, 2: a tie.
            outcome = (d_base * d_test < 0.0).view(np.int8)
            np.abs(d_base, out=d_base)
            np.abs(d_test, out=d_test)
            np.minimum(d_test, d_base, out=d_test)
            outcome[d_test < tie] = 2
            d_base += slack
            d_base /= step
            np.minimum(d_base, LIMITED_BINS, out=d_base)
            cell = d_base.astype(np.int64)
            cell += outcome * np.int64(BINS)
            cell += offsets
            cells += np.bincount(cell.ravel(), minlength=len(cells))
    return by_trial


def _blocks(study: Study) -> Iterator[tuple[Integers, Keys, Integers]]:
    """All trials of all sizes in blocks: their numbers (size by size), keys and sizes."""
    keys = np.concatenate([trial_keys(study.seed, STUDY, size, study.trials) for size in study.sizes])
    all_sizes = np.repeat(np.array(study.sizes, dtype=np.int64), study.trials)
    at_once = max(1, DEALT_AT_ONCE // study.prepared.units)
    for start in range(0, len(keys), at_once):
        rows = np.arange(start, min(start + at_once, len(keys)))
        yield rows, keys[rows], all_sizes[rows]


def _with_threads(study: Study, threads: int) -> Iterator[Part]:
    """Chunks of trials on threads; only a few wait at a time, so that memory stays small."""
    pool = ThreadPoolExecutor(threads)
    waiting: deque[Future[Part]] = deque()
    try:
        for task in _tasks(study):
            waiting.append(pool.submit(task))
            if len(waiting) > 4 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # An interrupt ends here too: what has not started is dropped, what runs takes a moment.
        pool.shutdown(wait=True, cancel_futures=True)


def _tasks(study: Study) -> Iterator[Callable[[], Part]]:
    from qassay.meta.sensitivity.compiled.counting import Counter

    counter = Counter(study.prepared, with_ties=study.with_ties)
    at_once = max(1, SCORES_A_TASK // max(study.prepared.units, study.prepared.runs))
    for number, size in enumerate(study.sizes):
        keys = trial_keys(study.seed, STUDY, size, study.trials)
        for start in range(0, study.trials, at_once):
            yield partial(counter, number, size, keys[start : start + at_once])


def has_numba() -> bool:
    """Whether compiled code is available."""
    return importlib.util.find_spec("numba") is not None


def processors() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
