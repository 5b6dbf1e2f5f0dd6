"""People's own labels, in the words of the task."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from qassay.errors import InputError, Problem
from qassay.formats.answers import plain_text
from qassay.formats.jsonl import Numbered, Row
from qassay.judging import kind_of_label
from qassay.questions import TestSet
from qassay.tables import plural
from qassay.tasks import Task


def with_labels_of_task(
    rows: Sequence[Numbered], translations: Mapping[str, str], questions: TestSet, task: Task, *, file: str
) -> Sequence[Numbered]:
    """The rows with the task's labels, as `translations` says.

    A label that the task does not have is one error, however many rows have it.
    """
    translated: list[Numbered] = []
    strange: dict[str, list[Numbered]] = {}
    for line, row in rows:
        own = plain_text(row.get("judgment"))
        if own is None:
            translated.append((line, row))
            continue
        label = translations.get(own, own)
        if label and label not in task.labels and _takes_labels(row, questions, task):
            strange.setdefault(own, []).append((line, row))
        translated.append((line, row if label == own else {**row, "judgment": label}))
    if strange:
        raise InputError(_problem(own, with_it, task, file) for own, with_it in strange.items())
    return translated


def _takes_labels(row: Row, questions: TestSet, task: Task) -> bool:
    """Whether the question of a row is judged with the labels of the task."""
    question = questions.by_id.get(str(row.get("question")))
    return bool(task.labels) and question is not None and kind_of_label(question.type, task) == "label"


def _problem(own: str, rows: Sequence[Numbered], task: Task, file: str) -> Problem:
    line, row = rows[0]
    question = str(row["question"])
    having = "" if len(rows) == 1 else f" ({plural(len(rows), 'row')})"
    same = next((label for label in task.labels if label.casefold() == own.strip().casefold()), "LABEL")
    message = (
        f"question {question}: {own!r} is not a label{having}; use one of {' '.join(task.labels)}, or translate it: "
        f"--labels {shlex.quote(f'{own}={same}')} (nothing after the = leaves it unjudged)"
    )
    return Problem("bad-label", message, file, line or None, question)
