"""Large jobs of automatic assessors: how long, how much memory, and whether a killed job goes on.

Each job runs in a process of its own, from the folder to the written set. The memory is what judging adds to the opened
evaluation. The peer is a plain loop over the same files that checks nothing, keeps no journal and cannot go on.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.rows import Row

WORK = Path(__file__).parent / ".work"
# Opens the evaluation, judges, and prints seconds, megabytes before and at most while judging, and the judgments.
JOB = """
import json, sys, time
import qassay
from qassay.assessors import open_assessor

def megabytes(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(name))

begin = time.perf_counter()
evaluation = qassay.open(sys.argv[1])
assessor = open_assessor(sys.argv[2], evaluation)
evaluation.runs
before, most = megabytes("VmRSS:"), 0.0
count = 0
def look(done):
    global most, count
    if done - count >= 10_000:
        most, count = max(most, megabytes("VmRSS:")), done
judged = qassay.judge(evaluation, assessor, set_name=sys.argv[3], progress=look)
seconds = time.perf_counter() - begin
counts = {"judged": judged.judged, "resumed": judged.resumed}
print(json.dumps({"seconds": seconds, "before": before, "most": most, **counts}))
"""


def match_job(runs: int = 100, questions: int = 10_000) -> Row:
    """Free-text answers against gold answers: all of them different strings."""
    folder = answers("million", runs=runs, questions=questions)
    return _row(folder, "match", f"{runs * questions:,} strings by match", _match_loop)


def overlap_job(source: Path, copies: int = 8) -> Row:
    """The nugget decisions of an evaluation, its runs taken several times under other tags."""
    folder = _new("many-nuggets")
    for part in ("qassay.toml", "nuggets"):
        place = source / part
        (shutil.copytree if place.is_dir() else shutil.copy)(place, folder / part)
    shutil.copy(next(source.glob("questions.*")), folder)
    shutil.rmtree(folder / "runs")
    (folder / "runs").mkdir()
    for path in sorted((source / "runs").iterdir()):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for copy in range(copies):
            lines = (json.dumps({**row, "run": f"{row['run']}-{copy}"}) + "\n" for row in rows)
            (folder / "runs" / f"{path.stem}-{copy}.jsonl").write_text("".join(lines), encoding="utf-8")
    return _row(folder, "overlap", "nugget decisions by overlap", _overlap_loop)


def _row(folder: Path, assessor: str, title: str, loop: Callable[[Path], int]) -> Row:
    whole = _job(folder, assessor, "whole")
    resumed = _killed_and_resumed(folder, assessor)
    begin = time.perf_counter()
    count = loop(folder)
    peer = time.perf_counter() - begin
    assert count == whole["judged"], (count, whole)
    ours = float(whole["seconds"])
    memory = f"memory {whole['before']:,.0f} MB opened, at most {whole['most']:,.0f} MB while judging"
    name = title if title[0].isdigit() else f"{whole['judged']:,} {title}"
    note = f"{memory}; kill -9 after {resumed:,}, resumed: the same file"
    return Row(name, ours, peer, peer / ours, note)


def _job(folder: Path, assessor: str, name: str) -> dict[str, Any]:
    done = subprocess.run(_call(folder, assessor, name), capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _call(folder: Path, assessor: str, name: str) -> list[str]:
    return [sys.executable, "-c", JOB, str(folder), assessor, name]


def _killed_and_resumed(folder: Path, assessor: str) -> int:
    """Kill a second job in the middle, let it go on, and compare the sets; how many judgments were kept."""
    size = (folder / "judgments" / "whole.jsonl").stat().st_size
    job = subprocess.Popen(_call(folder, assessor, "killed"), stdout=subprocess.DEVNULL)
    journal = folder / ".judging-killed.jsonl"
    while job.poll() is None and not (journal.exists() and journal.stat().st_size > size / 2):
        time.sleep(0.02)
    os.kill(job.pid, signal.SIGKILL)
    job.wait()
    assert journal.exists(), "the job ended before it could be killed"
    done = _job(folder, assessor, "killed")
    first, second = (_digest(folder / "judgments" / f"{name}.jsonl") for name in ("whole", "killed"))
    assert first == second, "the resumed job wrote another set"
    return int(done["resumed"])


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _new(name: str) -> Path:
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "runs").mkdir(parents=True)
    return folder


def answers(name: str, *, runs: int, questions: int) -> Path:
    """A new evaluation of free-text answers, all of them different."""
    folder = _new(name)
    (folder / "qassay.toml").write_text('task = "qa"\n', encoding="utf-8")
    lines = ({"id": f"q{n}", "type": "qa", "text": f"What is {n}?", "gold": [f"answer {n}"]} for n in range(questions))
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines), encoding="utf-8")
    for run in range(runs):
        rows = (
            {"run": f"r{run}", "question": f"q{n}", "items": [{"text": answer(run, n, runs=runs)}]}
            for n in range(questions)
        )
        (folder / "runs" / f"r{run}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    return folder


def answer(run: int, question: int, *, runs: int) -> str:
    """What a run answers: one of them gives the gold answer alone."""
    return f"answer {question}" + f" or {run}" * (run != question % runs)


def _match_loop(folder: Path) -> int:
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    gold = {row["id"]: set(row["gold"]) for row in map(json.loads, lines)}
    seen = set()
    with (folder / "plain.jsonl").open("w", encoding="utf-8") as out:
        for path in sorted((folder / "runs").iterdir()):
            for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
                question, text = row["question"], row["items"][0]["text"]
                if (question, text) not in seen:
                    seen.add((question, text))
                    label = "correct" if text in gold[question] else "incorrect"
                    out.write(json.dumps({"question": question, "text": text, "judgment": label}) + "\n")
    return len(seen)


def _overlap_loop(folder: Path) -> int:
    """A nugget counts where the response has half of its words: no stems, weights, window or check for text."""
    nuggets: dict[str, list[tuple[str, set[str]]]] = {}
    for path in (folder / "nuggets").iterdir():
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            words = set(row["text"].lower().split())
            nuggets.setdefault(str(row["question"]), []).append((row["nugget"], words))
        break
    count = 0
    with (folder / "plain.jsonl").open("w", encoding="utf-8") as out:
        for path in sorted((folder / "runs").iterdir()):
            for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
                text = " ".join(item["text"] for item in row["items"])
                if not text:  # an empty response needs no judgment
                    continue
                response_words = set(text.lower().split())
                for nugget, words in nuggets.get(str(row["question"]), ()):
                    support = "full" if len(words & response_words) >= len(words) / 2 else "none"
                    verdict = {"run": row["run"], "question": row["question"], "nugget": nugget, "support": support}
                    out.write(json.dumps(verdict) + "\n")
                    count += 1
    return count
