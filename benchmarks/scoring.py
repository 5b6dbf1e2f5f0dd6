"""The whole `score` command beside a plain-Python scorer that checks nothing, and beside peers on equal work."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rows import Row, processor_seconds
from benchmarks.significance import best, peer_python
from qassay.evaluation import Evaluation, open_evaluation
from qassay.scoring import score
from qassay.tally import tally

WORK = Path(__file__).parent / ".work"
QASSAY = Path(sys.executable).parent / "qassay"
QUESTIONS = 10_000

PLAIN = """
import glob, json, sys
folder = sys.argv[1]
key = {}
for line in open(folder + "/judgments/adjudicated.jsonl"):
    row = json.loads(line)
    key[row["question"], row["doc"], row["text"]] = row["judgment"]
answered = {question for (question, _, _), label in key.items() if label == "R"}
for path in sorted(glob.glob(folder + "/runs/*.txt")):
    right = total = rank = 0
    for line in open(path):
        question, tag, doc, *text = line.rstrip("\\n").split(None, 3)
        rank += 1
        right += question not in answered if doc == "NIL" else key.get((question, doc, text[0])) == "R"
        total += right / rank
    print(tag, total / rank)
"""


# Labels of free-text answers, and the same numbers as `score --json`: of every question of every run, twice.
PLAIN_JSON = """
import glob, json, sys
folder, values = sys.argv[1], {"correct": 1.0, "partly": 0.5, "incorrect": 0.0}
key = {}
for line in open(folder + "/judgments/adjudicated.jsonl"):
    row = json.loads(line)
    key[row["question"], row["text"]] = values[row["judgment"]]
scores = {}
for path in sorted(glob.glob(folder + "/runs/*.jsonl")):
    run = {}
    for line in open(path):
        row = json.loads(line)
        run[row["question"]] = key[row["question"], row["items"][0]["text"]]
    scores[row["run"]] = run
json.dump({
    "runs": [{"run": tag, "score": sum(run.values()) / len(run)} for tag, run in scores.items()],
    "matrix": {tag: list(run.values()) for tag, run in scores.items()},
    "questions": scores,
}, sys.stdout)
"""


# The same evaluation by ranx, in the peers' own environment: files read, then timed after one run to compile.
RANX = """
import glob, json, sys, time
from ranx import Qrels, Run, evaluate
folder = sys.argv[1]
qrels = {}
for line in open(folder + "/judgments/adjudicated.jsonl"):
    row = json.loads(line)
    qrels.setdefault(row["question"], {})[row["doc"] + " " + row["text"]] = int(row["judgment"] == "R")
runs = []
for path in sorted(glob.glob(folder + "/runs/*.txt")):
    run = {}
    for line in open(path):
        question, tag, doc, text = line.rstrip("\\n").split(None, 3)
        run[question] = {doc + " " + text: 1.0}
    runs.append(run)
evaluate(Qrels(qrels), Run(runs[0]), "mrr")
begin = time.perf_counter()
known = Qrels(qrels)
for run in runs:
    evaluate(known, Run(run), "mrr")
print(time.perf_counter() - begin)
"""


def scoring() -> list[Row]:
    """One million and ten million judged responses, from files to leaderboard."""
    rows = []
    for runs, goal in ((100, "at least 1.5 times, under 1.5 GiB"), (1000, "at least 3 times, under 8 GiB")):
        folder = evaluation(runs)
        ours, memory = best([str(QASSAY), "score", str(folder)])
        plain, _ = best([sys.executable, "-c", PLAIN, str(folder)], times=2)
        name = f"score, {runs * QUESTIONS / 1e6:g} million responses, all checks / plain dicts, no checks"
        rows.append(Row(name, ours, plain, plain / ours, f"{memory / 2**30:.2f} GiB; wanted: {goal}"))
    return rows


def as_json() -> list[Row]:
    """`score --json` of a million free-text answers, by processor time: every number of every question is written."""
    folder = labelled(100)
    commands = {
        "ours": [str(QASSAY), "score", str(folder), "--json"],
        "plain": [sys.executable, "-c", PLAIN_JSON, str(folder)],
    }
    ours, plain = processor_seconds(commands, times=3).values()
    name = "score --json, 1 million free-text answers, all checks / plain dicts, no checks; processor time"
    return [Row(name, ours, plain, plain / ours, "wanted: at least 1.5 times")]


def peers() -> list[Row]:
    """Reciprocal rank of one million judged responses: in-memory evaluation, files already parsed."""
    import ir_measures
    import pytrec_eval

    evaluation_ = open_evaluation(ranked(100))
    runs, key = evaluation_.runs, evaluation_.key()
    begin = time.perf_counter()
    score(tally(runs, evaluation_.questions, key, evaluation_.task))
    ours = time.perf_counter() - begin
    qrels, answers = _as_dicts(evaluation_)
    begin = time.perf_counter()
    judge = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"})
    for run in answers.values():
        judge.evaluate(run)
    pytrec = time.perf_counter() - begin
    begin = time.perf_counter()
    other = ir_measures.evaluator([ir_measures.RR], qrels)
    for run in answers.values():
        other.calc_aggregate(run)
    ir = time.perf_counter() - begin
    note = "tally and score in memory; per judged response {:.2f} and {:.2f} microseconds"
    return [
        Row("reciprocal rank, 1 million / pytrec_eval", ours, pytrec, pytrec / ours, note.format(ours, pytrec)),
        Row("reciprocal rank, 1 million / ir_measures", ours, ir, ir / ours, note.format(ours, ir)),
        _ranx(ours, note),
    ]


def _ranx(ours: float, note: str) -> Row:
    """The same by ranx, or why not."""
    python, why = peer_python()
    name = "reciprocal rank, 1 million / ranx, compiled"
    if python is None:
        return Row(name, ours, None, None, why)
    try:
        command = [str(python), "-c", RANX, str(ranked(100))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
        ranx = float(done.stdout.splitlines()[-1])
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        return Row(name, ours, None, None, f"peer failed: {str(error).splitlines()[0][:120]}")
    return Row(name, ours, ranx, ranx / ours, note.format(ours, ranx))


def evaluation(runs: int) -> Path:
    """A `confidence` evaluation of many runs, made once and kept out of the repository."""
    folder = WORK / f"scoring-{runs}"
    if (folder / "done").exists():
        return folder
    chance = random.Random(0)
    pool = _pool(chance)
    _write_key(folder, "confidence", pool, chance, "RXUW")
    for number in range(runs):
        tag = f"run{number:04d}"
        lines = []
        for question in chance.sample(range(QUESTIONS), QUESTIONS):
            doc, text = chance.choice(pool[question])
            nil = chance.random() < 0.05
            lines.append(f"{question + 1} {tag} NIL\n" if nil else f"{question + 1} {tag} {doc} {text}\n")
        (folder / "runs" / f"{tag}.txt").write_text("".join(lines))
    (folder / "done").touch()
    return folder


def ranked(runs: int) -> Path:
    """A `ranked5` evaluation with one answer per question: the work that ranking libraries do too."""
    folder = WORK / f"ranked-{runs}"
    if (folder / "done").exists():
        return folder
    chance = random.Random(0)
    pool = _pool(chance)
    _write_key(folder, "ranked5", pool, chance, "RUW")
    for number in range(runs):
        tag = f"run{number:04d}"
        chosen = [chance.choice(items) for items in pool]
        lines = [f"{question + 1} {tag} {doc} {text}\n" for question, (doc, text) in enumerate(chosen)]
        (folder / "runs" / f"{tag}.txt").write_text("".join(lines))
    (folder / "done").touch()
    return folder


def labelled(runs: int) -> Path:
    """A `qa` evaluation of free-text answers with labels, its runs in JSON lines."""
    folder = WORK / f"labelled-{runs}"
    if (folder / "done").exists():
        return folder
    chance = random.Random(0)
    pool = [list(dict.fromkeys(text for _, text in items)) for items in _pool(chance)]
    _write_key(
        folder, "qa", [[("", text) for text in texts] for texts in pool], chance, ["correct", "partly", "incorrect"]
    )
    for number in range(runs):
        tag = f"run{number:04d}"
        rows = [
            {"run": tag, "question": str(question + 1), "items": [{"text": chance.choice(texts)}]}
            for question, texts in enumerate(pool)
        ]
        (folder / "runs" / f"{tag}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "done").touch()
    return folder


def _pool(chance: random.Random) -> list[list[tuple[str, str]]]:
    words = [f"word{number}" for number in range(2000)]

    def item() -> tuple[str, str]:
        doc = f"NYT{chance.randint(19980101, 20001231)}.{chance.randint(0, 9999):04d}"
        return doc, " ".join(chance.choices(words, k=chance.randint(1, 5)))

    return [[item() for _ in range(10)] for _ in range(QUESTIONS)]


def _write_key(
    folder: Path, task: str, pool: list[list[tuple[str, str]]], chance: random.Random, labels: Sequence[str]
) -> None:
    for name in ("runs", "judgments"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "qassay.toml").write_text(f'task = "{task}"\n')
    with (folder / "questions.jsonl").open("w") as out:
        for question in range(QUESTIONS):
            out.write(
                json.dumps(
                    {"id": str(question + 1), "type": "qa" if task == "qa" else "factoid", "text": "A question?"}
                )
                + "\n"
            )
    with (folder / "judgments" / "adjudicated.jsonl").open("w") as out:
        for question, items in enumerate(pool):
            for doc, text in items:
                row = {
                    "question": str(question + 1),
                    "doc": doc or None,
                    "text": text,
                    "judgment": chance.choice(labels),
                }
                out.write(json.dumps(row) + "\n")


def _as_dicts(evaluation_: Evaluation) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Judgments and runs as ranking libraries take them: an item is a document."""
    qrels: dict[str, dict[str, int]] = {}
    for question, doc, text, label in (
        evaluation_.key().judgments.kind("item").select("question", "doc", "text", "judgment").iter_rows()
    ):
        qrels.setdefault(question, {})[f"{doc} {text}"] = int(label == "R")
    answers: dict[str, dict[str, dict[str, float]]] = {}
    for tag, question, doc, text, rank in evaluation_.runs.table.select(
        "run", "question", "doc", "text", "rank"
    ).iter_rows():
        answers.setdefault(tag, {}).setdefault(question, {})[f"{doc} {text}"] = 1.0 / rank
    return qrels, answers
