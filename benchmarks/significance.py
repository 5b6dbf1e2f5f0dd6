"""All pairs of many runs beside peers: 67 runs x 500 units, 10,000 permutations; and 139 x 386 as a whole command.

Peers compare one pair after the other, so a few of their pairs are measured and the rest reckoned from them. They
live in an environment of their own under `benchmarks/.work`, made when it is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.rows import Row
from qassay.arrays import Floats
from qassay.formats.matrix import write_matrix
from qassay.matrix import ScoreMatrix
from qassay.meta.significance import Method, compare_all

WORK = Path(__file__).parent / ".work"
QASSAY = Path(sys.executable).parent / "qassay"
RUNS, UNITS, PERMUTATIONS = 67, 500, 10_000
PEERS = ("ranx>=0.3.20", "evalstats>=0.3")

# Each prints seconds for one pair, compiling left out.
RANX = """
import time, numpy as np
from ranx.statistical_tests import fisher_randomization_test
scores = np.load({path!r})
fisher_randomization_test(scores[0], scores[1], 10)
begin = time.perf_counter()
for i in range(4):
    fisher_randomization_test(scores[i], scores[i + 1], {permutations})
print((time.perf_counter() - begin) / 4)
"""
EVALSTATS = """
import time, numpy as np, evalstats
scores = np.load({path!r})[:8]
begin = time.perf_counter()
evalstats.all_pairwise(scores, [f"r{{i}}" for i in range(8)], method="permutation", n_bootstrap={permutations},
                       correction="holm", simultaneous_ci=False, rng=np.random.default_rng(0))
print((time.perf_counter() - begin) / 28)
"""


def significance() -> list[Row]:
    """Every row of this file."""
    return [*peers(), *beside_tukey(), *whole_command()]


def simulated(runs: int, units: int) -> ScoreMatrix:
    """Scores of runs of different quality on units of different difficulty."""
    rng = np.random.default_rng(0)
    ease = rng.beta(1, 2, units)
    values = np.clip(ease + rng.normal(0, 0.1, (runs, 1)) + rng.normal(0, 0.2, (runs, units)), 0, 1).round(4)
    tags = tuple(f"run{i:03d}" for i in range(runs))
    return ScoreMatrix(tags, tuple(map(str, range(units))), values, denominator=10_000)


def peers() -> list[Row]:
    """Paired randomisation tests of all pairs, corrected by Holm."""
    matrix = simulated(RUNS, UNITS)
    ours = timed(lambda: compare_all(matrix, method="holm", permutations=PERMUTATIONS))
    python, reason = peer_python()
    rows = []
    for name, script in (("ranx", RANX), ("evalstats", EVALSTATS)):
        title = f"all pairs of {RUNS} runs x {UNITS} units, {PERMUTATIONS:,} permutations / {name}"
        if python is None:
            rows.append(Row(title, ours, None, None, reason))
            continue
        seconds, reason_ = one_pair(python, script, matrix.values)
        if seconds is None:
            rows.append(Row(title, ours, None, None, reason_))
            continue
        total = seconds * matrix.pairs
        note = f"peer: {seconds:.3f} s a pair, times {matrix.pairs:,}; wanted: at least 20 times"
        rows.append(Row(title, ours, total, total / ours, note))
    return rows


def beside_tukey() -> list[Row]:
    """Flips with the largest of all pairs beside the randomised Tukey test, which was the default before."""
    rows = []
    for runs, units, wanted in ((139, 386, 0.7), (500, 2000, 1 / 3)):
        matrix = simulated(runs, units)
        ours = timed(partial(compare_all, matrix))
        tukey = timed(partial(compare_all, matrix, method="randomised-tukey"), times=1)
        note = f"wanted: at most {wanted:.2g} times the seconds; here {ours / tukey:.2f} times"
        rows.append(Row(f"all pairs, {runs} x {units} / randomised Tukey", ours, tukey, tukey / ours, note))
    return rows


def whole_command() -> list[Row]:
    """139 runs x 386 units, all pairs corrected, from the file to the table."""
    WORK.mkdir(exist_ok=True)
    path = WORK / "significance-139x386.csv"
    write_matrix(simulated(139, 386), path)
    methods: tuple[Method, ...] = ("max-t", "randomised-tukey", "tukey", "holm", "bh")
    rows = []
    for method in methods:
        seconds, memory = best([str(QASSAY), "compare", str(path), "--method", method])
        note = f"{memory / 1e6:.0f} MB; wanted: under 5 s and 500 MB"
        rows.append(Row(f"qassay compare, 139 x 386, --method {method}", seconds, None, None, note))
    return rows


def timed(work: Callable[[], object], times: int = 3) -> float:
    """Least seconds of some work."""
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def best(command: list[str], times: int = 3) -> tuple[float, int]:
    """Least wall time of a command, and its largest memory in bytes."""
    seconds, memory = float("inf"), 0
    for _ in range(times):
        begin = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{command[:3]} ended with status {process.returncode}")
        seconds = min(seconds, time.perf_counter() - begin)
        memory = max(memory, usage.ru_maxrss * 1024)
    return seconds, memory


def one_pair(python: Path, script: str, values: Floats) -> tuple[float | None, str]:
    """Seconds a peer takes for one pair, or why it took none."""
    path = WORK / "significance.npy"
    np.save(path, values)
    source = script.format(path=str(path), permutations=PERMUTATIONS)
    try:
        done = subprocess.run([str(python), "-c", source], capture_output=True, text=True, timeout=600, check=True)
        return float(json.loads(done.stdout.splitlines()[-1])), ""
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        return None, f"peer failed: {str(error).splitlines()[0]}"


def peer_python() -> tuple[Path | None, str]:
    """Python of the peers' own environment, made when it is missing; None with a reason where that fails."""
    folder = WORK / "peers-significance"
    python = folder / "bin" / "python"
    if (folder / "installed").exists():
        return python, ""
    try:
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *PEERS]
        subprocess.run(install, capture_output=True, text=True, timeout=900, check=True)
    except (subprocess.SubprocessError, OSError) as error:
        return None, f"peers could not be installed: {str(error).splitlines()[0][:120]}"
    (folder / "installed").touch()
    return python, ""
