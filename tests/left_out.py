"""A small evaluation of main2003 from which runs are left out: two factoid questions, a list, three runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from on_disk import write

QUESTIONS = [
    {"id": "1", "type": "factoid", "text": "?"},
    {"id": "2", "type": "factoid", "text": "?"},
    {"id": "3", "type": "list", "text": "?"},
]
RUNS = {
    "a": "1 a d1 x\n2 a d2 y\n3 a d3 p\n3 a d3 q\n",
    "b": "1 b d1 x\n2 b NIL\n3 b d3 p\n",
    "c": "1 c d9 z\n2 c NIL\n3 c d4 r\n",
}
# Without what b returned for the list.
JUDGMENTS = [
    {"question": "1", "doc": "d1", "text": "x", "judgment": "R"},
    {"question": "1", "doc": "d9", "text": "z", "judgment": "R"},
    {"question": "2", "doc": "d2", "text": "y", "judgment": "R"},
    {"question": "3", "run": "a", "doc": "d3", "text": "p", "judgment": "R", "answer": "P"},
    {"question": "3", "run": "a", "doc": "d3", "text": "q", "judgment": "R", "answer": "Q"},
    {"question": "3", "run": "c", "doc": "d4", "text": "r", "judgment": "R", "answer": "R"},
]


def write_evaluation(folder: Path, runs: Mapping[str, str], judgments: Iterable[Mapping[str, Any]]) -> Path:
    """The evaluation as a folder, with these runs and judgments."""
    (folder / "runs").mkdir()
    (folder / "qassay.toml").write_text('task = "main2003"\n')
    write(folder / "questions.jsonl", QUESTIONS)
    for tag, text in runs.items():
        (folder / "runs" / f"{tag}.txt").write_text(text)
    write(folder / "judgments" / "adjudicated.jsonl", judgments)
    return folder
