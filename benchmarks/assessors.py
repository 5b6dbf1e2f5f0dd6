"""Automatic assessors beside people, on real judgments; what they can be talked into; runs left out; large jobs.

TREC RAG 2024 (45 runs, 21 topics, 13,107 nugget decisions by NIST) and NQ-301 (12 systems, 301 questions). Every
threshold is fitted on other topics than it is scored on: `overlap, held-out threshold` takes for each topic the one
from which it calls as many nuggets of the other topics supported as people do. The two thresholds of `overlap` as
shipped were set with a look at these topics, and so were the five features of `learned` for nuggets; `learned` for
short answers was trained on TriviaQA alone.
"""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import qassay
from benchmarks.judging import match_job, overlap_job
from benchmarks.rows import Row
from qassay.assessors import Case, Overlap
from qassay.assessors.embeddings import Embedder
from qassay.assessors.nuggets import sentences_of
from qassay.assessors.overlap import places_of, text_of
from qassay.assessors.words import STOP_WORDS, words
from qassay.formats.folder import open_folder
from qassay.formats.importing import plan_import
from qassay.judging.items import pool_items
from qassay.tables import Cell, Column, Table, table

ROOT = Path(__file__).resolve().parent.parent
WORK = Path(__file__).parent / ".work"
DATA = Path(os.environ.get("QASSAY_DATA", ROOT.parent / "shared" / "data"))
ASSIGNMENTS = DATA / "trec_rag24" / "nugget_assignment.20241108.jl"
NQ = DATA / "nq301"
NEGATION = "It is not true that "
# Runs that say nothing, or the opposite, in the order of the tables; nuggets have fewer of them.
ATTACKS = (
    *("commonest-words", "words-by-alphabet", "words-among-small-ones", "fifty-words"),
    *("shuffled-words", "negated-sentences", "question-repeated", "very-long"),
)
# The cosine of wordllama from which as many answers of TriviaQA (evouna_tq) are called right as people call right.
COSINE = 0.230

Subject = tuple[str, str, str]
Runs = Mapping[str, Mapping[str, str]]


def quality() -> list[Table]:
    """How near each assessor is to people; nothing where the data is not installed."""
    tables = []
    if ASSIGNMENTS.exists():
        folder = rag24()
        tables.append(
            _beside_people("TREC RAG 2024, against NIST's assessors", folder, _nugget_sets(folder), "adjudicated")
        )
    if NQ.exists():
        folder = nq301()
        tables.append(
            _beside_people("NQ-301, against the final human label", folder, _answer_sets(folder), "adjudicated")
        )
        tables.append(_beside_people("NQ-301, one person against the other", folder, {"second": "second"}, "first"))
    return tables


def persuasion() -> list[Table]:
    """What each assessor can be talked into: scores of answers that say nothing, beside those of the best run."""
    tables = []
    if ASSIGNMENTS.exists():
        folder = rag24("rag24-attacked", attacked=_attacks_on_nuggets)
        attacked = [
            "overlap",
            "overlap(near=0)",
            "learned",
            "learned(hits=true)",
            *_embedding(),
            *_embedding("hits=true"),
        ]
        tables.append(_persuaded("TREC RAG 2024: share of vital nuggets called supported", folder, attacked))
    if NQ.exists():
        folder = nq301("nq301-attacked", attacked=_attacks_on_answers)
        attacked = ["match", "match(normalise=true)", "match(contains=true)", "match(contains=true,judged=adjudicated)"]
        attacked += ["transfer(people=adjudicated)", "recall", "learned", *_embedding()]
        tables.append(_persuaded("NQ-301: share of answers called right", folder, attacked))
    return tables


def reusability() -> list[Table]:
    """Each run left out, and judged by an assessor in place of the people: how far its score and place move."""
    if not ASSIGNMENTS.exists():
        return []
    rows: list[list[Cell]] = []
    for name in ("overlap",):
        result = qassay.reuse(qassay.open(rag24("rag24-reuse")), name, missing="skip")
        errors = [row.change for row in result.runs]
        moved = [abs((row.rank_with or 0) - row.rank) for row in result.runs]
        rmse = float(np.sqrt(np.mean(np.square(errors))))
        rows.append([name, result.comparison.tau, rmse, result.mean_change, float(np.median(moved)), max(moved)])
    columns: list[Column | str] = [
        "judged by",
        *(Column(name, ".3f") for name in ("tau with people", "RMSE", "mean change")),
        *(Column(name, ".1f") for name in ("median places moved", "most")),
    ]
    title = "TREC RAG 2024: a run left out and judged automatically, the others by people (45 runs in turn)"
    return [table(title, columns, rows)]


def speed() -> list[Row]:
    """A million strings by `match` and 100,000 nugget decisions by `overlap`, beside plain loops over the same."""
    if not ASSIGNMENTS.exists():
        missing = Row("100,000 nugget decisions by overlap", None, None, None, "needs the data of TREC RAG 2024")
        return [match_job(), missing]
    return [match_job(), overlap_job(rag24("rag24-speed"))]


# ---- the evaluations ------------------------------------------------------------------------------------------------


def rag24(name: str = "rag24", attacked: Callable[[Runs, Mapping[str, str], str], Runs] | None = None) -> Path:
    """TREC RAG 2024 as an evaluation, with attacking runs where they are asked for."""
    folder = _new(name, "nuggets")
    plan_import(open_folder(folder), [ASSIGNMENTS]).write_files()
    if attacked:
        answers: dict[str, dict[str, str]] = {}
        questions = {}
        for line in ASSIGNMENTS.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            answers.setdefault(row["run_id"], {})[row["qid"]] = row["answer_text"]
            questions[row["qid"]] = row["query"]
        best = qassay.open(folder).score(missing="skip").runs[0].run
        _write_runs(folder, attacked(answers, questions, best))
    return folder


def nq301(name: str = "nq301", attacked: Callable[[Runs, Mapping[str, str], str], Runs] | None = None) -> Path:
    """NQ-301 as a `qa` evaluation, the stored judges as sets of their own."""
    folder = _new(name, "qa")
    answers: dict[str, dict[str, str]] = {}
    gold: dict[str, list[str]] = {}
    # Answers that differ only in case were judged once; of several answers of one system the first was judged.
    judged = {(row["Question"], row["Model answer"].casefold()): row["Model answer"] for row in _tsv("NQ301_human.tsv")}
    for path in sorted(NQ.glob("*.jsonl")):
        tag = path.stem.removeprefix("NQ_").removeprefix("NQ301_")
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            gold[row["question"]] = row["answer"]
            prediction = row["prediction"] if isinstance(row["prediction"], str) else row["prediction"][0]
            text = judged.get((row["question"], prediction.casefold()), prediction)
            answers.setdefault(tag, {})[row["question"]] = text
    ids = {text: f"q{number}" for number, text in enumerate(gold, 1)}
    rows = [{"id": ids[text], "type": "qa", "text": text, "gold": golds} for text, golds in gold.items()]
    _write(folder / "questions.jsonl", rows)
    by_id = {tag: {ids[text]: answer for text, answer in own.items()} for tag, own in answers.items()}
    _write_runs(folder, by_id)
    _write_judges(folder, ids)
    if attacked:
        best = qassay.open(folder).score(unjudged="wrong").runs[0].run
        questions = {number: text for text, number in ids.items()}
        _write_runs(folder, attacked(by_id, questions, best))
    return folder


def _write_judges(folder: Path, ids: Mapping[str, str]) -> None:
    """The labels of two people, the final one, and those of the stored programs."""
    labels = {"Yes": "correct", "No": "incorrect"}
    people = {"adjudicated": "Acceptable?", "first": "annotator1", "second": "annotator2"}
    sets: dict[str, list[dict[str, Any]]] = {name: [] for name in (*people, "gpt-4", "BEM")}
    for row in _tsv("NQ301_human.tsv"):
        for name, column in people.items():
            if row[column] in labels:
                sets[name].append(_judgment(ids, row, labels[row[column]]))
    for row in _tsv("NQ301_gpt-4.tsv"):
        reply = row["gpt-4"].strip().lower()
        if reply.startswith(("yes", "no")):
            sets["gpt-4"].append(
                _judgment(ids, row, "correct" if reply.startswith("yes") else "incorrect", program=True)
            )
    for row in _tsv("NQ301_BEM.tsv"):
        right = max(chance for _, chance in json.loads(row["BEM probs per gold answer"])) >= 0.5
        sets["BEM"].append(_judgment(ids, row, "correct" if right else "incorrect", program=True))
    for name, rows in sets.items():
        _write(folder / "judgments" / f"{name}.jsonl", rows)


def _judgment(ids: Mapping[str, str], row: Mapping[str, str], label: str, *, program: bool = False) -> dict[str, Any]:
    trace = {"trace": {"assessor": "stored"}} if program else {}
    return {"question": ids[row["Question"]], "text": row["Model answer"], "judgment": label, **trace}


def _tsv(name: str) -> list[dict[str, str]]:
    with (NQ / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _new(name: str, task: str) -> Path:
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("runs", "judgments"):
        (folder / part).mkdir(parents=True)
    (folder / "qassay.toml").write_text(f'task = "{task}"\n', encoding="utf-8")
    return folder


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _write_runs(folder: Path, runs: Runs) -> None:
    for tag, answers in runs.items():
        rows = ({"run": tag, "question": name, "items": [{"text": text}]} for name, text in answers.items())
        _write(folder / "runs" / f"{tag}.jsonl", rows)


# ---- beside people --------------------------------------------------------------------------------------------------


def _beside_people(title: str, folder: Path, sets: Mapping[str, str], people: str) -> Table:
    columns: list[Column | str] = [
        "assessor",
        *(Column(name, ".3f") for name in ("kappa", "run tau", "per-question tau")),
    ]
    columns += [Column("RMSE", ".3f"), Column("tau, best third", ".3f")]
    rows: list[list[Cell]] = []
    for name, words_ in sets.items():
        result = qassay.trust(qassay.open(folder), name, people, resamples=0)
        runs = result.runs
        rows.append([words_, result.kappa, runs.tau, result.questions.mean_tau, runs.rmse, runs.tau_best_third])
    return table(title, columns, rows)


def _nugget_sets(folder: Path) -> dict[str, str]:
    """Judge with every assessor of nuggets; the name of each set, and what the table calls it."""
    for name in ("overlap", "learned", "learned(hits=true)", *_embedding(), *_embedding("hits=true")):
        qassay.judge(qassay.open(folder), name)
    evaluation = qassay.open(folder)
    people = {
        (row["question"], row["run"], row["nugget"]): row["support"] == "full"
        for row in evaluation.judgment_set("adjudicated").kind("support").iter_rows(named=True)
    }
    texts = {
        (row["question"], row["nugget"]): row["text"]
        for row in evaluation.nugget_list("adjudicated").iter_rows(named=True)
    }
    items = [item for item in pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="") if item.run]
    overlap = Overlap.from_items(items)
    guarded, plain, length = {}, {}, {}
    cosine = _nugget_cosines([(str(item.run), item.question, text_of(item)) for item in items], texts)
    for item in items:
        places, response_words = places_of(text_of(item)), set(words(text_of(item)))
        for question, nugget in texts:
            if question == item.question:
                shares = overlap.shares(texts[question, nugget], places)
                nugget_words = set(words(texts[question, nugget]))
                subject = (question, str(item.run), nugget)
                guarded[subject] = shares.anywhere if shares.close >= overlap.near else 0.0
                plain[subject] = len(nugget_words & response_words) / len(nugget_words)
                length[subject] = float(len(text_of(item)))
    for name, scores in {"held-out": guarded, "plain": plain, "length": length, "cosine": cosine}.items():
        _write_decisions(folder / "judgments" / f"{name}.jsonl", held_out(scores, people))
    return {
        "length": "length of the response alone",
        "plain": "plain overlap: share of words",
        "cosine": "cosine alone, nearest sentence (wordllama)",
        "overlap": "overlap, as shipped",
        "held-out": "overlap, held-out threshold",
        "learned": "learned, from other topics",
        **{_set_of(name): f"{_set_of(name)}, from other topics" for name in _embedding()},
        "learned(hits=true)": "learned, for a new run on judged topics",
        **{_set_of(name): f"{_set_of(name)}, the same" for name in _embedding("hits=true")},
    }


def _nugget_cosines(
    responses: list[tuple[str, str, str]], texts: Mapping[tuple[str, str], str]
) -> dict[Subject, float]:
    """The largest cosine of each nugget and a sentence of each response."""
    embedder = Embedder()
    nuggets: dict[str, list[str]] = {}
    for question, nugget in texts:
        nuggets.setdefault(question, []).append(nugget)
    vectors = {
        question: embedder.vectors([texts[question, name] for name in names]) for question, names in nuggets.items()
    }
    cosines = {}
    for run, question, text in responses:
        if question in nuggets:
            largest = (vectors[question] @ embedder.vectors(sentences_of(text)).T).max(axis=1)
            for nugget, value in zip(nuggets[question], largest.tolist(), strict=True):
                cosines[question, run, nugget] = value
    return cosines


def _embedding(*parameters: str) -> list[str]:
    """`embedding` with wordllama and, where QASSAY_ONNX_MODEL names its folder, with an ONNX model."""
    models = [[], *([f"model={path}"] for path in [os.environ.get("QASSAY_ONNX_MODEL")] if path)]
    settings = [",".join([*model, *parameters]) for model in models]
    return [f"embedding({text})" if text else "embedding" for text in settings]


def _set_of(spelling: str) -> str:
    """The name of the set of an assessor: of a model's path only the last part."""
    return re.sub(r"model=[^,)]*/([^,)/]+)", r"model=\1", spelling)


def held_out(scores: Mapping[Subject, float], people: Mapping[Subject, bool]) -> dict[Subject, bool]:
    """Decisions with a threshold for each question that comes from the others: it says yes as often as people there."""
    decisions = {}
    for question in dict.fromkeys(subject[0] for subject in scores):
        others = [subject for subject in scores if subject[0] != question and subject in people]
        share = np.mean([people[subject] for subject in others])
        threshold = np.quantile([scores[subject] for subject in others], 1 - share)
        own = (subject for subject in scores if subject[0] == question)
        decisions.update({subject: scores[subject] >= threshold for subject in own})
    return decisions


def _write_decisions(path: Path, decisions: Mapping[Subject, bool]) -> None:
    _write(
        path,
        (
            {
                "question": question,
                "run": run,
                "nugget": nugget,
                "support": "full" if supported else "none",
                "trace": {"assessor": path.stem},
            }
            for (question, run, nugget), supported in decisions.items()
        ),
    )


def _answer_sets(folder: Path) -> dict[str, str]:
    """Judge with every assessor of short answers."""
    names = ("match(normalise=true)", "match(contains=true)", "recall", "learned", *_embedding())
    for name in names:
        qassay.judge(qassay.open(folder), name)
    qassay.judge(qassay.open(folder), _cosine_alone(), set_name="cosine")
    qassay.judge(qassay.open(folder), _as_long_as_the_gold, set_name="length")
    qassay.judge(qassay.open(folder), _plain_overlap, set_name="plain")
    return {
        "length": "length: at least that of the shortest gold answer",
        "plain": "plain overlap: half of the gold answer's words",
        "cosine": "cosine alone, the threshold from TriviaQA (wordllama)",
        **{_set_of(name): _set_of(name) for name in names},
        "BEM": "BEM (stored)",
        "gpt-4": "gpt-4 (stored)",
    }


def _cosine_alone() -> Callable[[Case], str]:
    """Right from the cosine on that calls as many answers of TriviaQA right as people do."""
    embedder = Embedder()

    def judge(case: Case) -> str:
        vectors = embedder.vectors([case.text, *case.question.gold])
        return "correct" if float((vectors[1:] @ vectors[0]).max()) >= COSINE else "incorrect"

    return judge


def _as_long_as_the_gold(case: Case) -> str:
    return "correct" if len(case.text) >= min(map(len, case.question.gold)) else "incorrect"


def _plain_overlap(case: Case) -> str:
    answer_words = set(case.text.lower().split())
    shares = [
        len(answer_words & set(gold.lower().split())) / len(gold.split()) for gold in case.question.gold if gold.split()
    ]
    return "correct" if max(shares, default=0) >= 0.5 else "incorrect"


# ---- what they can be talked into -----------------------------------------------------------------------------------


def _attacks_on_nuggets(answers: Runs, questions: Mapping[str, str], best: str) -> Runs:
    """Runs that say nothing, or the opposite, in the words of the others."""
    rng = random.Random(0)
    own = answers[best]
    return {
        "commonest-words": {question: _commonest(answers, question) for question in questions},
        "words-by-alphabet": {question: _commonest(answers, question, in_order=True) for question in questions},
        "shuffled-words": {question: _shuffled(text, rng) for question, text in own.items()},
        "negated-sentences": {question: _negated(text) for question, text in own.items()},
        "question-repeated": {question: f"{text}. " * 50 for question, text in questions.items()},
        "very-long": {
            question: " ".join(run.get(question, "") for run in list(answers.values())[:10]) for question in questions
        },
    }


def _attacks_on_answers(answers: Runs, questions: Mapping[str, str], best: str) -> Runs:
    rng = random.Random(0)
    own = answers[best]
    everything = " ".join(word for run in answers.values() for word in run.values())
    common = " ".join(word for word, _ in Counter(words(everything)).most_common(400))
    return {
        "commonest-words": dict.fromkeys(questions, common),
        "words-by-alphabet": dict.fromkeys(questions, " ".join(sorted(common.split()))),
        "words-among-small-ones": dict.fromkeys(questions, " ".join(f"{word} of the" for word in common.split())),
        "fifty-words": dict.fromkeys(questions, " ".join(common.split()[:50])),
        "shuffled-words": {question: _shuffled(text, rng) for question, text in own.items()},
        "negated-sentences": {question: NEGATION + text for question, text in own.items()},
        "question-repeated": {question: f"{text}? " * 50 for question, text in questions.items()},
        "very-long": {question: " or ".join(run[question] for run in answers.values()) for question in questions},
    }


def _commonest(answers: Runs, question: str, *, in_order: bool = False, count: int = 400) -> str:
    """The commonest words of all responses to a question but for stop words: the commonest first, or by alphabet."""
    counts = Counter(
        word for run in answers.values() for word in words(run.get(question, "")) if word not in STOP_WORDS
    )
    chosen = [word for word, _ in counts.most_common(count)]
    return " ".join(sorted(chosen) if in_order else chosen)


def _shuffled(text: str, rng: random.Random) -> str:
    tokens = text.split()
    rng.shuffle(tokens)
    return " ".join(tokens)


def _negated(text: str) -> str:
    return " ".join(f"{NEGATION}{sentence.strip()}." for sentence in text.split(".") if sentence.strip())


def _persuaded(title: str, folder: Path, names: Iterable[str]) -> Table:
    """The scores of attacking runs under each assessor, in parts of the score it gives to the best real run."""
    attacks = [path.stem for path in (folder / "runs").glob("*.jsonl") if path.stem in ATTACKS]
    attacks.sort(key=ATTACKS.index)
    rows: list[list[Cell]] = []
    for name in names:
        qassay.judge(qassay.open(folder), name)
        scores = qassay.open(folder).score(_set_of(name), unjudged="wrong", missing="skip")
        of_run = {row.run: row.score or 0.0 for row in scores.runs}
        best = max(score for run, score in of_run.items() if run not in attacks)
        rows.append([_set_of(name), best, *(of_run[attack] for attack in attacks)])
    columns: list[Column | str] = [
        "assessor",
        Column("best real run", ".3f"),
        *(Column(a.replace("-", " "), ".3f") for a in attacks),
    ]
    notes = [
        "Shuffled words and negated sentences are those of the best run by people; very long answers are those of ten"
        " runs one after the other, or all systems' answers joined by 'or'.",
    ]
    return table(title, columns, rows, notes)
