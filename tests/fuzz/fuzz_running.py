"""Start workers and watch them: an input that ends its reader, takes too long or too much memory is a crash too.

    python tests/fuzz/fuzz_running.py --count 100000 --seed 1 --work DIR

prints what was found; the inputs that broke something are in DIR/crashes, to be copied to tests/fuzz/crashes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WORKER = HERE / "fuzz_worker.py"
KEPT = HERE / "crashes"
sys.path[:0] = [str(HERE), str(HERE.parent)]
from fuzz_worker import kept_inputs, note_crash  # noqa: E402

LIMIT_SECONDS = 10.0
LIMIT_BYTES = 2 << 30
# A worker starts by making valid inputs.
START_SECONDS = 120.0
# Inputs per worker: memory that one reader leaves behind must not count against later inputs.
ROUND = 5_000


@dataclass
class Outcome:
    """What came of the inputs."""

    tried: int = 0
    crashes: list[dict[str, Any]] = field(default_factory=list)
    by_target: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    longest: dict[str, float] = field(default_factory=dict)
    taken: int = 0


def fuzz(place: Path, count: int, *, seed: str, until: float | None = None) -> Outcome:
    """Try the inputs that are kept, then newly damaged ones up to a number or a time."""
    place.mkdir(parents=True, exist_ok=True)
    outcome = Outcome()
    number = -len(kept_inputs(KEPT))
    while number < count and (until is None or time.monotonic() < until):
        last = min(count, number + ROUND)
        reached, reason = _watch(place, number, last, seed)
        if reason:
            at = _at(place)
            _keep(place, at, reason)
            reached = at["number"] + 1
        number = max(reached, number + 1)
    outcome.tried = max(0, number)
    crashes = place / "crashes.jsonl"
    outcome.crashes = [json.loads(line) for line in crashes.read_text().splitlines()] if crashes.exists() else []
    for path in place.glob("spent-*.json"):
        for name, (tries, seconds, longest, taken) in json.loads(path.read_text()).items():
            outcome.by_target[name] += tries
            outcome.seconds[name] += seconds
            outcome.taken += taken
            outcome.longest[name] = max(longest, outcome.longest.get(name, 0.0))
    return outcome


def _watch(place: Path, first: int, last: int, seed: str) -> tuple[int, str]:
    """Run one worker; the number that it reached, and why it was ended or ended itself, if it did."""
    (place / "at").write_bytes(json.dumps({"number": first - 1, "target": "", "file": ""}).encode().ljust(600))
    source = str(HERE.parents[1] / "src")
    settings = {**os.environ, "PYTHONPATH": source, "POLARS_MAX_THREADS": "1", "RUST_BACKTRACE": "0"}
    settings |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"}
    call = [sys.executable, str(WORKER), str(place), str(first), str(last), seed, str(KEPT)]
    with (place / "stderr").open("ab") as err:
        process = subprocess.Popen(call, env=settings, stdout=subprocess.DEVNULL, stderr=err)
        try:
            return _until_it_ends(process, place, first)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def _until_it_ends(process: subprocess.Popen[bytes], place: Path, first: int) -> tuple[int, str]:
    before, since = first - 1, time.monotonic()
    while (status := process.poll()) is None:
        time.sleep(0.1)
        number = _at(place)["number"]
        if number != before:
            before, since = number, time.monotonic()
        limit = LIMIT_SECONDS if number >= first else START_SECONDS
        if time.monotonic() - since > limit:
            return number, f"takes longer than {limit:g} seconds"
        if _memory(process.pid) > LIMIT_BYTES:
            return number, f"takes more than {LIMIT_BYTES >> 20} MiB"
    at = _at(place)
    if status == 0 and not at["target"]:
        return int(at["number"]), ""
    if at["number"] < first:
        raise RuntimeError(f"the worker does not start: {(place / 'stderr').read_text(errors='replace')[-3000:]}")
    return int(at["number"]), f"ends the process with status {status}"


def _at(place: Path) -> dict[str, Any]:
    while True:
        try:
            at: dict[str, Any] = json.loads((place / "at").read_bytes())
        except ValueError:  # half written
            continue
        return at


def _memory(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _keep(place: Path, at: dict[str, Any], reason: str) -> None:
    note_crash(place, at["number"], at["target"], at["file"], (place / "input").read_bytes(), reason)


def main() -> None:
    """Fuzz from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--work", type=Path, required=True)
    given = parser.parse_args()
    until = None if given.minutes is None else time.monotonic() + 60 * given.minutes
    started = time.monotonic()
    outcome = fuzz(given.work, given.count, seed=given.seed, until=until)
    seconds = time.monotonic() - started
    print(f"{outcome.tried:,} inputs in {seconds:.0f} s, {outcome.taken:,} not refused, {len(outcome.crashes)} crashes")
    for name, tries in outcome.by_target.most_common():
        mean = 1000 * outcome.seconds[name] / max(1, tries)
        print(f"{name:16} {tries:7,} inputs, {mean:6.1f} ms each, longest {outcome.longest[name]:.1f} s")
    for crash in outcome.crashes:
        print(crash["number"], crash["target"], crash["file"], crash["text"].strip().splitlines()[-1][:200])


if __name__ == "__main__":
    main()
