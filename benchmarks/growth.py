"""How each part grows, in steps of ten, until a step takes too long, too much memory, or fails: docs/scale.md.

Every step is a whole process. What is measured is what a person waits for, what the processors did, and the most memory
that the process used. `QASSAY_GROWTH_SECONDS` (120) says how long a step may take for the next one to be tried.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import collections, judging, models, scoring
from qassay.tables import Cell, Column, Table, table

WORK = Path(__file__).parent / ".work"
QASSAY = str(Path(sys.executable).parent / "qassay")
LONGEST = float(os.environ.get("QASSAY_GROWTH_SECONDS", "120"))
MOST_MEMORY = 16 * 2**30

Command = list[str]


@dataclass(frozen=True)
class Part:
    """What grows: what is counted, the sizes to try, and the command for a size, which prepares its input."""

    name: str
    counted: str
    sizes: tuple[int, ...]
    prepare: Callable[[int], Command]


@dataclass(frozen=True)
class Step:
    """What one size took."""

    size: int
    seconds: float
    busy: float
    memory: int
    failed: bool = False


def growth() -> Iterator[Table]:
    """A table for each part, printed as soon as it is measured."""
    names = [name for name in os.environ.get("QASSAY_GROWTH_PARTS", "").split(",") if name]
    with models.local_server() if not names or "model calls" in names else nullcontext((0, None)) as (port, _):
        for part in (*PARTS, model_calls(port)):
            if not names or part.name in names:
                yield grown(part)


def grown(part: Part) -> Table:
    """Steps of ten until one is too long or too large."""
    steps: list[Step] = []
    for size in part.sizes:
        steps.append(measured(size, _prepared(part, size)))
        if steps[-1].failed or steps[-1].seconds > LONGEST or steps[-1].memory > MOST_MEMORY:
            break
    columns: list[Column | str] = [
        Column(part.counted, ",d"),
        Column("seconds", ".2f"),
        Column("processor, s", ".2f"),
        Column("memory, MB", ",.0f"),
        Column("grows with the power", ".2f"),
    ]
    return table(part.name, columns, [_row(step, before) for step, before in zip(steps, [None, *steps], strict=False)])


def _prepared(part: Part, size: int) -> Command:
    """Write the input in a process of its own: a command begins with the peak memory of the process that starts it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, json.dumps(part.prepare(size)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        command: Command = json.loads(answer.read())
    os.waitpid(child, 0)
    return command


def _row(step: Step, before: Step | None) -> list[Cell]:
    if step.failed:
        return [step.size, None, None, step.memory / 1e6, None]
    power = None
    if before is not None:
        power = math.log(step.busy / before.busy) / math.log(step.size / before.size)
    return [step.size, step.seconds, step.busy, step.memory / 1e6, power]


def measured(size: int, command: Command) -> Step:
    """Run a command to its end, or for five times as long as a step may take."""
    begin = time.perf_counter()
    with subprocess.Popen(["timeout", str(5 * LONGEST), *command], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begin
    busy = usage.ru_utime + usage.ru_stime
    return Step(size, seconds, busy, usage.ru_maxrss * 1024, failed=process.returncode != 0)


def _scores(runs: int, questions: int) -> Path:
    """A wide table of right-or-wrong scores of systems between 0.4 and 0.6."""
    path = WORK / f"growth-{runs}-{questions}.parquet"
    if not path.exists():
        rng = np.random.default_rng(0)
        columns: dict[str, Any] = {"id": [f"q{number}" for number in range(questions)]}
        for run, mean in enumerate(np.linspace(0.4, 0.6, runs)):
            columns[f"s{run:04d}"] = (rng.random(questions) < mean).astype(np.float64)
        path.parent.mkdir(exist_ok=True)
        pl.DataFrame(columns).write_parquet(path)
    return path


def _two_systems(questions: int) -> Command:
    return [QASSAY, "compare", str(_scores(2, questions)), "s0000", "s0001"]


def _all_pairs(runs: int) -> Command:
    return [QASSAY, "compare", str(_scores(runs, 500))]


def _sensitivity(cells: int) -> Command:
    runs = round(math.sqrt(cells / 10))
    return [QASSAY, "sensitivity", str(_scores(runs, 10 * runs))]


def _responses(number: int) -> Command:
    return [QASSAY, "score", str(scoring.evaluation(number // scoring.QUESTIONS))]


def _judged_by_program(number: int) -> Command:
    folder = judging.answers(f"growth-match-{number}", runs=10, questions=number // 10)
    return [QASSAY, "judge", str(folder), "--with", "match"]


def _judged_by_people(number: int) -> Command:
    """Three assessors, each of whom judged every answer of ten systems."""
    folder = judging.answers(f"growth-people-{number}", runs=10, questions=number // 30)
    _write_judgments(folder, assessors=3, questions=number // 30, per_question=3)
    return [QASSAY, "agree", str(folder)]


def _assessors(number: int) -> Command:
    """A crowd: each answer is judged by three people of a crowd, each of whom judges about a hundred answers."""
    questions = max(1, number * 100 // 30)
    folder = judging.answers(f"growth-crowd-{number}", runs=10, questions=questions)
    _write_judgments(folder, assessors=number, questions=questions, per_question=3)
    return [QASSAY, "agree", str(folder), "--by", "person"]


def _write_judgments(folder: Path, *, assessors: int, questions: int, per_question: int) -> None:
    rng = np.random.default_rng(0)
    (folder / "judgments").mkdir()
    files = [(folder / "judgments" / f"{name}.jsonl").open("w") for name in ("first", "second", "third")[:per_question]]
    for question in range(questions):
        chosen = rng.choice(assessors, size=per_question, replace=False)
        for run in range(10):
            text = judging.answer(run, question, runs=10)
            right = rng.random() < 0.5
            for place, file in enumerate(files):
                label = "correct" if right != (rng.random() < 0.1) else "incorrect"
                row = {"question": f"q{question}", "text": text, "judgment": label, "assessor": f"p{chosen[place]}"}
                file.write(json.dumps(row) + "\n")
    for file in files:
        file.close()


def _documents(number: int) -> Command:
    folder = WORK / f"growth-documents-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    collections.generated(f"{folder.name}/part", number, sentences=10)
    return [sys.executable, "-c", collections.READ_AND_INDEX, str(folder)]


def model_calls(port: int) -> Part:
    """Judgments by a model that answers at once, on this machine."""
    spelling = f"llm(model=m, endpoint=http://127.0.0.1:{port}/v1, parallel={models.PARALLEL})"

    def prepare(number: int) -> Command:
        return [QASSAY, "judge", str(models.answers(number, f"growth-calls-{number}")), "--with", spelling]

    return Part("model calls", "calls", _tens(2, 5), prepare)


def _tens(first: int, last: int) -> tuple[int, ...]:
    return tuple(10**power for power in range(first, last + 1))


PARTS: Sequence[Part] = (
    Part("score", "responses", _tens(4, 7), _responses),
    Part("compare two systems", "questions", _tens(2, 7), _two_systems),
    Part("compare all pairs of systems on 500 questions", "systems", _tens(1, 3), _all_pairs),
    Part("sensitivity", "systems x questions", _tens(3, 7), _sensitivity),
    Part("judge by program", "answers", _tens(3, 6), _judged_by_program),
    Part("agree, three assessors", "judgments", _tens(3, 6), _judged_by_people),
    Part("agree by person", "assessors", _tens(1, 4), _assessors),
    Part("index documents", "documents", _tens(3, 5), _documents),  # a million: `python -m benchmarks million`
)
