"""Language models as assessors: what a call costs in time, memory and kills, and how often models are talked into it.

speed       100,000 judgments through a local server, beside a bare loop with the same HTTP client; memory; kill -9
persuasion  the attack set on a scripted gullible model and, where it is installed, on a real small one
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.attacked import FACTS, TARGETS, Target, attacked_evaluation, leaning, scripted, talked_into
from benchmarks.model_server import ModelServer, ScriptedReply, serving
from benchmarks.rows import Row
from benchmarks.small_model import NAME, small_model, weights
from qassay.assessors.llm import prompts
from qassay.tables import Cell, Column, Table, table

WORK = Path(__file__).parent / ".work"
JUDGMENTS = int(os.environ.get("QASSAY_MODEL_JUDGMENTS", "100000"))
PARALLEL = 256
_VERDICT = {"reason": "It says the same.", "judgment": "correct"}


def speed() -> list[Row]:
    """Judgments through the local server, interrupted by force once, beside a bare loop with the same client."""
    with local_server() as (port, calls):
        folder = answers(JUDGMENTS, "models")
        spelling = f"llm(model=m, endpoint=http://127.0.0.1:{port}/v1, parallel={PARALLEL})"
        before = calls()
        seconds, busy, early, late = _judge(folder, spelling)
        count = calls() - before
        start = time.process_time()
        bare = asyncio.run(_bare(port, JUDGMENTS, PARALLEL))
        bare_busy = time.process_time() - start
        rows = [
            Row(
                f"{JUDGMENTS:,} judgments by a model that answers at once",
                seconds,
                bare,
                bare / seconds,
                f"peer: bare httpx loop; processor time per call {1e3 * busy / JUDGMENTS:.2f} ms, bare"
                f" {1e3 * bare_busy / JUDGMENTS:.2f} ms; {count:,} calls",
            ),
            Row("memory, MB: after all calls (ours), after a tenth of them (peer)", late, early, None, "peak so far"),
        ]
        rows.append(_killed(spelling, calls))
    return rows


def persuasion() -> list[Table]:
    """Per prompt and kind of attack, the share of trials that got a better verdict; two controls show what would."""
    kinds: dict[str, dict[str, tuple[int, int]]] = {}
    first = TARGETS[0]
    with serving(scripted(first, anywhere=True), keep=False) as server:
        kinds[f"{first.kind}, obeys anywhere"] = _talked(first, f"llm(model=m, endpoint={server.url})")
    with (
        mock.patch.object(prompts, "mark_of", return_value="000000000000"),
        mock.patch.object(prompts, "harmless", lambda text: text),
        serving(scripted(first, anywhere=False), keep=False) as server,
    ):
        kinds[f"{first.kind}, fixed marks"] = _talked(first, f"llm(model=m, endpoint={server.url})")
    for target in TARGETS:
        with serving(scripted(target, anywhere=False), keep=False) as server:
            kinds[f"{target.kind}, scripted"] = _talked(target, f"llm(model=m, endpoint={server.url})")
    leanings = {}
    if weights() is not None:
        with small_model() as url:
            for target in TARGETS[: int(os.environ.get("QASSAY_SMALL_TARGETS", "2"))]:
                spelled = f"llm(model={NAME}, endpoint={url}, parallel=2, timeout=600, max_tokens=200)"
                kinds[f"{target.kind}, {NAME}"] = _talked(target, spelled)
                leanings[target.kind] = leaning(_place(target), target)
    names = list(next(iter(kinds.values())))
    columns: list[Column | str] = ["kind of attack", *kinds]
    rows: list[list[Cell]] = []
    for name in names:
        cells = [kinds[column].get(name, (0, 0)) for column in kinds]
        rows.append([name, *(f"{hits} of {tried}" for hits, tried in cells)])
    return [
        table("Attacked answers with a better verdict than the plain answer", columns, rows),
        *(_leaning_table(kind, own) for kind, own in leanings.items()),
    ]


def _leaning_table(kind: str, leanings: Mapping[str, tuple[float, int]]) -> Table:
    """What the small model thinks of right, wrong and attacked answers, in probabilities of the best label."""
    columns: list[Column | str] = ["answer", Column("probability", ".3f"), Column("answers")]
    rows = [(name, mean, number) for name, (mean, number) in leanings.items()]
    return table(f"{NAME}, prompt {kind}: mean probability of the best label", columns, rows)


def _talked(target: Target, spelled: str) -> dict[str, tuple[int, int]]:
    shutil.rmtree(_place(target), ignore_errors=True)
    return talked_into(attacked_evaluation(_place(target), target, FACTS), target, spelled)


def _place(target: Target) -> Path:
    return WORK / f"attacked-{target.kind}"


def answers(number: int, name: str) -> Path:
    """An evaluation with this number of different free-text answers."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "runs").mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "qa"\n', encoding="utf-8")
    with (folder / "questions.jsonl").open("w") as file:
        for place in range(number):
            file.write(json.dumps({"id": f"q{place}", "type": "qa", "text": f"What is {place}?", "gold": ["x"]}) + "\n")
    with (folder / "runs" / "a.jsonl").open("w") as file:
        for place in range(number):
            row = {"run": "a", "question": f"q{place}", "items": [{"text": f"It is number {place}, they say."}]}
            file.write(json.dumps(row) + "\n")
    return folder


_JOB = """
import resource, sys, time
import qassay

evaluation, seen = qassay.open(sys.argv[1]), {}
number = evaluation.runs.table.height


def keep(done):
    if done >= number // 10:
        seen.setdefault("early", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        seen["late"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


start, busy = time.perf_counter(), time.process_time()
qassay.judge(evaluation, sys.argv[2], progress=keep)
print(time.perf_counter() - start, time.process_time() - busy, seen["early"] / 1024, seen["late"] / 1024)
"""


def _judge(folder: Path, spelling: str) -> tuple[float, float, float, float]:
    """A job in a process of its own: seconds, seconds of the processor, megabytes after a tenth and after all calls."""
    done = subprocess.run(
        [sys.executable, "-c", _JOB, str(folder), spelling], check=True, capture_output=True, text=True
    )
    seconds, busy, early, late = map(float, done.stdout.split())
    return seconds, busy, early, late


def _killed(spelling: str, calls: Any) -> Row:
    """A job that is killed half-way and goes on: what was paid for more than once is what was under way."""
    number = JUDGMENTS // 10
    folder, before = answers(number, "models-killed"), calls()
    start = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "qassay", "judge", str(folder), "--with", spelling]) as job:
        while calls() - before < number // 2 and job.poll() is None:
            time.sleep(0.01)
        job.send_signal(signal.SIGKILL)
    _judge(folder, spelling)
    twice = calls() - before - number
    judged = len((folder / "judgments" / "m.jsonl").read_bytes().splitlines())
    note = f"{judged:,} judged, {twice} of them paid for twice; {PARALLEL} may be under way"
    assert judged == number
    assert twice <= PARALLEL
    return Row(f"{number:,}, killed half-way, and resumed", time.perf_counter() - start, None, None, note)


async def _bare(port: int, number: int, parallel: int) -> float:
    """The same number of calls by a loop that does nothing else, over the same HTTP client."""
    import httpx

    from qassay.net import LANE

    left = iter(range(number))
    context = ssl.create_default_context()
    sent = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 2000}]}).encode()

    async def work(client: httpx.AsyncClient) -> None:
        for _ in left:
            response = await client.post(f"http://127.0.0.1:{port}/v1/chat/completions", content=sent)
            assert response.json()["choices"]

    limits = httpx.Limits(max_connections=LANE, max_keepalive_connections=LANE)
    clients = [
        httpx.AsyncClient(timeout=None, trust_env=False, verify=context, limits=limits) for _ in range(parallel // LANE)
    ]
    start = time.perf_counter()
    await asyncio.gather(*(work(client) for client in clients for _ in range(LANE)))
    seconds = time.perf_counter() - start
    for client in clients:
        await client.aclose()
    return seconds


@contextmanager
def local_server() -> Iterator[tuple[int, Any]]:
    """A server in a process of its own: its port, and how many calls it has had."""
    context = multiprocessing.get_context("spawn")
    counter, ports = context.Value("q", 0), context.Queue()
    process = context.Process(target=_serve, args=(counter, ports), daemon=True)
    process.start()
    try:
        yield ports.get(), lambda: counter.value
    finally:
        process.terminate()
        process.join()


def _serve(counter: Any, ports: Any) -> None:
    reply = ScriptedReply(_VERDICT)

    def script(_: dict[str, Any]) -> ScriptedReply:
        counter.value += 1
        return reply

    server = ModelServer(script, keep=False)
    asyncio.run(server.serve(lambda: ports.put(server.port)))
