"""Running a study: all trials of all sizes.

Small jobs run in array code; large ones are compiled and shared among threads. Both give the same counts.
"""

from __future__ import annotations

import importlib.util
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from qassay.meta.sensitivity.counting import Cells, count_with_arrays
from qassay.meta.sensitivity.sampling import STUDY, trial_keys
from qassay.meta.sensitivity.scale import BINS, Prepared

Path: TypeAlias = Literal["auto", "arrays", "compiled"]
Progress: TypeAlias = Callable[[int, int], None]

# From this many seconds of array code on, loading compiled code pays.
LARGE = 0.5

# Seconds of array code for one pair in one trial, and for one unit score of a run; measured, and only a guide.
SECONDS_A_PAIR = 7e-9
SECONDS_A_SCORE = {True: 1e-9, False: 8e-9}

# Scores held by one task: a task takes well under a second, so that progress moves and an interrupt is heard.
SCORES_A_TASK = 1_000_000


@dataclass(frozen=True, slots=True)
class Study:
    """What to count: the trials of each size."""

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


def count(study: Study, *, path: Path = "auto", threads: int | None = None, progress: Progress | None = None) -> Cells:
    """The cells of all trials and pairs."""
    sizes = len(study.sizes)
    cells = Cells(np.zeros((sizes, 3, BINS), dtype=np.int64), np.zeros((sizes, 3, 3, BINS), dtype=np.int64))
    if study.prepared.runs < 2:
        return cells
    compiled = path == "compiled" or (path == "auto" and study.seconds() > LARGE and has_numba())
    parts = _with_threads(study, threads or processors()) if compiled else _with_arrays(study)
    done = 0
    for number, trials, found in parts:
        cells.sums[number] += found.sums[0]
        cells.products[number] += found.products[0]
        done += trials
        if progress is not None:
            progress(done, study.all_trials)
    return cells


# Which size, how many trials, and what they show.
Part: TypeAlias = tuple[int, int, Cells]


def _with_arrays(study: Study) -> Iterator[Part]:
    return count_with_arrays(study.prepared, study.sizes, study.trials, seed=study.seed)


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
    from qassay.meta.sensitivity.compiled.counter import Counter

    counter = Counter(study.prepared, with_ties=study.with_ties)
    at_once = max(1, SCORES_A_TASK // max(study.prepared.units, study.prepared.runs))
    for number, size in enumerate(study.sizes):
        keys = trial_keys(study.seed, STUDY, size, study.trials)
        for start in range(0, study.trials, at_once):
            yield _task(counter, number, size, keys[start : start + at_once])


def _task(counter: Callable[[int, np.ndarray], Cells], number: int, size: int, keys: np.ndarray) -> Callable[[], Part]:
    def work() -> Part:
        return number, len(keys), counter(size, keys)

    return work


def has_numba() -> bool:
    """Whether compiled code can be had."""
    return importlib.util.find_spec("numba") is not None


def processors() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
