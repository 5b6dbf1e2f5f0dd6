"""Train the models of `learned` and `embedding` on human judgments of TriviaQA answers, and write them down.

    .venv/bin/python scripts/train_learned.py [TQ.json]
    .venv/bin/python scripts/train_learned.py --embedding             with wordllama: its part of embedding.json
    .venv/bin/python scripts/train_learned.py --embedding --model DIR with an ONNX model: the part for all of them

The data (wangcunxiang/QA-Eval, Apache-2.0) are 1,938 questions answered by five systems, each answer judged by a
person. What the script prints and writes down with the model comes from ten folds of questions: each is judged by a
model that has seen none of its questions. Without a date of today (--keep-date) the file changes only where the model
does.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from qassay.arrays import Floats
from qassay.assessors.embeddings import Embedder, embedder
from qassay.assessors.features import FEATURES, closest
from qassay.assessors.learned import COSINES, cosines
from qassay.assessors.logistic import Logistic, fit
from qassay.meta.agreement.coefficients import cohen_kappa

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("QASSAY_DATA", ROOT.parent / "shared" / "data")) / "evouna_tq" / "TQ.json"
MODEL = ROOT / "src" / "qassay" / "assessors" / "learned.json"
EMBEDDING = MODEL.with_name("embedding.json")
SOURCE = "EVOUNA-TriviaQA, wangcunxiang/QA-Eval (Apache-2.0): human judgments of five systems' answers"
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
FOLDS = 10


def read(path: Path, embeddings: Embedder | None) -> list[dict[str, Any]]:
    """One row per judged answer; improper questions are left out, as their authors did."""
    rows: list[dict[str, Any]] = []
    for number, entry in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        if entry["improper"]:
            continue
        golds = [gold.strip() for gold in entry["golden_answer"].split("/") if gold.strip()]
        for system in SYSTEMS:
            answer = entry[f"answer_{system}"]
            gold, features = closest(entry["question"], golds, answer)
            rows.append(
                {
                    "question": number,
                    "system": system,
                    "right": bool(entry[f"judge_{system}"]),
                    "features": features,
                    "texts": (entry["question"], answer, gold, golds),
                }
            )
    if embeddings is not None:
        for row, near in zip(rows, cosines(embeddings, [row["texts"] for row in rows]), strict=True):
            row["features"] = [*row["features"], *near]
    return rows


def cross_validated(names: Sequence[str], questions: Floats, rows: Floats, labels: Floats) -> Floats:
    """Probabilities of answers, each by a model that has not seen the answer's question."""
    folds = questions.astype(np.int64) * 7919 % 1009 % FOLDS
    probabilities = np.zeros(len(labels))
    for fold in range(FOLDS):
        inside = folds == fold
        probabilities[inside] = fit(names, rows[~inside], labels[~inside]).probabilities(rows[inside])
    return probabilities


def kappa(people: Floats, machine: Floats) -> float:
    """Cohen's kappa of two series of 0 and 1."""
    joint = np.zeros((2, 2))
    np.add.at(joint, (people.astype(int), machine.astype(int)), 1)
    return float(cohen_kappa(joint))


def train(path: Path, embeddings: Embedder | None = None) -> tuple[Logistic, dict[str, Any]]:
    """The model of all answers, and how it does on questions it has not seen."""
    table = read(path, embeddings)
    names = FEATURES if embeddings is None else (*FEATURES, *COSINES)
    rows = np.array([row["features"] for row in table])
    labels = np.array([row["right"] for row in table], dtype=np.float64)
    systems = np.array([row["system"] for row in table])
    questions = np.array([row["question"] for row in table])
    verdicts = (cross_validated(names, questions, rows, labels) >= 0.5).astype(np.float64)
    differences = {
        system: round(float((verdicts - labels)[systems == system].mean()), 4) for system in dict.fromkeys(systems)
    }
    figures = {"answers": len(table), "kappa": round(kappa(labels, verdicts), 4), "score_differences": differences}
    return fit(names, rows, labels), figures


def main() -> None:
    """Train, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--keep-date", action="store_true", help="keep the date of the file that is there")
    parser.add_argument("--embedding", action="store_true", help="train the model of embedding, with cosines")
    parser.add_argument("--model", help="folder of an ONNX sentence model, in place of wordllama")
    arguments = parser.parse_args()
    embeddings = embedder(arguments.model) if arguments.embedding else None
    model, figures = train(arguments.data, embeddings)
    path = MODEL if embeddings is None else EMBEDDING
    before: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    part = before if embeddings is None else before.get(embeddings.family, {})
    today = datetime.now(tz=UTC).date().isoformat()
    written = {
        "script": "scripts/train_learned.py",
        "source": SOURCE,
        "date": part.get("date", today) if arguments.keep_date else today,
        "cross_validation": figures,
        "model": model.as_json(),
    }
    if embeddings is not None:
        written = before | {embeddings.family: {"embeddings": embeddings.label, **written}}
    path.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
