"""NQ-301: twelve systems under the labels of two people, of both settled, and of two automatic judges."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from on_disk import write
from qassay.matrix import ScoreMatrix

# The files of the systems under their names in the table of scores.
FILES = {
    "DPR": "NQ_DPR",
    "FiD": "NQ_FiD",
    "FiD-KD": "NQ_FiD-KD",
    "ANCE+": "NQ_ANCE-plus_FiD",
    "RocketQAv2": "NQ_Rocketv2_FiD",
    "Contriever": "NQ_Contriever_FiD",
    "GAR+": "NQ_GAR-plus_FiD",
    "EviGen": "NQ_EviGen",
    "EMDR2": "NQ_EMDR2",
    "R2-D2": "NQ_R2D2",
    "InstructGPT-zero": "NQ301_text-davinci-003_zeroshot",
    "InstructGPT-few": "NQ301_text-davinci-003_fewshot-n64",
}
# Judges: the file of their labels, and the column.
JUDGES = {
    "final": ("NQ301_human.tsv", "Acceptable?"),
    "first": ("NQ301_human.tsv", "annotator1"),
    "second": ("NQ301_human.tsv", "annotator2"),
    "gpt4": ("NQ301_gpt-4.tsv", "Acceptable?"),
    "bem": ("NQ301_BEM.tsv", "Acceptable?"),
}


def labels(data: Callable[[str], Path], judge: str) -> dict[tuple[str, str], str]:
    """The label of every answer that a judge judged, by question and answer."""
    name, column = JUDGES[judge]
    with data(f"nq301/{name}").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {
            (row["Question"], text_of(row["Model answer"])): row[column] for row in rows if row[column] in ("Yes", "No")
        }


def answers(data: Callable[[str], Path]) -> dict[str, dict[str, str]]:
    """The answer of every system to every question."""
    given = {}
    for system, name in FILES.items():
        lines = data(f"nq301/{name}.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        given[system] = {row["question"]: text_of(row["prediction"]) for row in rows}
    return given


def text_of(prediction: str | list[str]) -> str:
    """An answer as its label has it: the first of several, in any case and spacing."""
    text = prediction if isinstance(prediction, str) else prediction[0]
    return " ".join(text.lower().split())


def judged_alike(data: Callable[[str], Path], *judges: str) -> dict[str, ScoreMatrix]:
    """The scores under each judge, on the questions of which all of them judged every answer."""
    given, by_judge = answers(data), {judge: labels(data, judge) for judge in judges}
    asked = dict.fromkeys(question for system in given.values() for question in system)
    complete = tuple(
        question
        for question in asked
        if all((question, system.get(question)) in known for system in given.values() for known in by_judge.values())
    )
    return {
        judge: ScoreMatrix(
            tuple(given),
            complete,
            np.array([[float(known[q, system[q]] == "Yes") for q in complete] for system in given.values()]),
            denominator=1,
        )
        for judge, known in by_judge.items()
    }


def evaluation(folder: Path, data: Callable[[str], Path], *judges: str, complete: bool = True) -> Path:
    """An evaluation with a judgment set of each judge; where `complete`, of the questions that all judged."""
    given, known = answers(data), {judge: labels(data, judge) for judge in judges}
    asked = judged_alike(data, *judges)[judges[0]].units if complete else tuple(next(iter(given.values())))
    ids = {question: f"q{number}" for number, question in enumerate(asked, 1)}
    rows = {"questions": [{"id": ids[question], "type": "qa", "text": question} for question in asked]}
    for system, said in given.items():
        rows[f"runs/{system}"] = [{"run": system, "question": ids[q], "items": [{"text": said[q]}]} for q in asked]
    for judge, labelled in known.items():
        texts = {(q, said[q]) for said in given.values() for q in asked}
        rows[f"judgments/{judge}"] = [
            {"question": ids[q], "text": text, "judgment": "correct" if labelled[q, text] == "Yes" else "incorrect"}
            for q, text in sorted(texts & labelled.keys())
        ]
    folder.mkdir()
    (folder / "qassay.toml").write_text('task = "qa"\n', encoding="utf-8")
    for name, written in rows.items():
        write(folder / f"{name}.jsonl", written)
    return folder
