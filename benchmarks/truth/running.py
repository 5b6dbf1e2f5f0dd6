"""Run promises on their populations with two processes, and keep what was observed.

python -m benchmarks truth                         every promise, a quick look
python -m benchmarks truth --whole                 as often as needs an hour
python -m benchmarks truth --only pair --times 50  the promises whose names contain this
python -m benchmarks truth scores.csv              on questions drawn from your own scores: reported, not judged
python -m benchmarks truth --save                  keep the result for docs/method.md
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.truth.judges import JUDGES
from benchmarks.truth.pairs import PAIRS
from benchmarks.truth.populations import FromFile
from benchmarks.truth.promises import Case, Observed, Promise, observed_table
from benchmarks.truth.scores import OWN_SCORES, SCORES
from qassay.tables import Table

PROMISES: tuple[Promise, ...] = (*PAIRS, *SCORES, *JUDGES)
KEPT = Path(__file__).parent / "observed.json"
SEED = 20_261_119
QUICK, WHOLE, LEAST = 60, 700, 20
# Repetitions that a process makes at a time.
AT_ONCE = 25
OWN_SIZES = (50, 200)


def truth_table(arguments: Sequence[str]) -> Table:
    """The table of promises, as it was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks truth", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help="wide tables of scores: one row per question")
    parser.add_argument("--whole", action="store_true", help=f"{WHOLE:,} evaluations of a case, not {QUICK:,}")
    parser.add_argument("--times", type=int, help="this many evaluations of a case")
    parser.add_argument("--only", default="", help="only promises whose names contain this")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--save",
        action="store_true",
        help=f"keep the result in {KEPT.name}, in place of an earlier one of the same promises",
    )
    chosen = parser.parse_args(arguments)
    times = chosen.times or (WHOLE if chosen.whole else QUICK)
    promises = own_promises(chosen.files) if chosen.files else PROMISES
    promises = tuple(promise for promise in promises if chosen.only in promise.name)
    rows = list(observe(promises, times=times, seed=chosen.seed, processes=chosen.processes))
    if chosen.save:
        keep(rows)
    return observed_table(rows, f"Promises, up to {times:,} evaluations of each population, seed {chosen.seed}")


def keep(rows: Iterable[Observed]) -> None:
    """Keep what was observed, in the order of the promises; what was not tried now stays as it was."""
    kept = {
        (row["promise"], row["population"], row["questions"]): row
        for row in [*json.loads(KEPT.read_text(encoding="utf-8")), *(row.as_row() for row in rows)]
    }
    order = [(promise.name, case.population.name, case.questions) for promise in PROMISES for case in promise.cases]
    lines = [json.dumps(kept[place]) for place in order if place in kept]
    KEPT.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def own_promises(files: Iterable[Path]) -> tuple[Promise, ...]:
    """The promises about scores on questions of these tables: as they are, and with the means made equal."""
    return tuple(
        Promise(
            *(promise.name, promise.says, promise.kind, promise.rate, promise.outcome),
            tuple(
                Case(FromFile(name=f"{file.stem}{', means equalised' * equal}", file=str(file), equal=equal), size)
                for file in files
                for size in OWN_SIZES
            ),
        )
        for promise, equal in OWN_SCORES
    )


def observe(promises: Sequence[Promise], *, times: int, seed: int = SEED, processes: int = 2) -> Iterator[Observed]:
    """What each promise came to, in the order of the promises; progress on standard error."""
    if processes == 1:
        for promise, case, number in planned(promises, times):
            yield Observed.of(promise, case, [promise.try_one(case, place, seed) for place in range(number)])
        return
    with multiprocessing.get_context("fork").Pool(processes, _hold, (promises,)) as pool:
        waiting = []
        for promise, case, number in planned(promises, times):
            place = promises.index(promise), promise.cases.index(case)
            parts = [(*place, start, min(start + AT_ONCE, number), seed) for start in range(0, number, AT_ONCE)]
            waiting.append((promise, case, pool.map_async(_part, parts, chunksize=1)))
        for done, (promise, case, result) in enumerate(waiting, 1):
            row = Observed.of(promise, case, [outcome for part in result.get() for outcome in part])
            what = f"{promise.name}; {case.population.name}, {case.questions}"
            share = "none" if row.now is None else f"{row.now:.3f} ± {row.error:.3f}"
            print(f"{done}/{len(waiting)} {what}: {share}{' WORSE' * row.is_worse}", file=sys.stderr, flush=True)
            yield row


def planned(promises: Iterable[Promise], times: int) -> Iterator[tuple[Promise, Case, int]]:
    """Every case whose data is there, and its number of evaluations."""
    for promise in promises:
        for case in promise.cases:
            if case.population.is_there:
                yield promise, case, max(min(times, LEAST), round(times * promise.share))


_HELD: list[Promise] = []


def _hold(promises: Sequence[Promise]) -> None:
    """Keep the promises in a process."""
    _HELD[:] = promises


def _part(what: tuple[int, int, int, int, int]) -> list[float | None]:
    """Some evaluations of one case."""
    promise, case, start, stop, seed = what
    held = _HELD[promise]
    return [held.try_one(held.cases[case], number, seed) for number in range(start, stop)]
