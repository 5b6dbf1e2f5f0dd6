"""A finished run as a file: put in order, written in one of the forms, checked as any other run, and only then kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from qassay.errors import InputError, Problem, unknown
from qassay.formats import files, jsonl
from qassay.formats.folder import Folder
from qassay.formats.lines import is_one_line
from qassay.formats.names import file_name
from qassay.formats.runs import read_runs
from qassay.questions import Question, TestSet
from qassay.runs import NIL, RunInformation
from qassay.systems.harness.rules import run_row
from qassay.systems.records import Answer
from qassay.tasks import Task

SUFFIXES = {
    "jsonl": ".jsonl",
    "trec4": ".txt",
    "trec7": ".txt",
    "extract": ".txt",
    "rte": ".rte",
    "rag24": ".jsonl",
}


def write_run(
    folder: Folder,
    tag: str,
    answers: Mapping[str, Answer],
    *,
    task: Task,
    questions: TestSet,
    form: str = "jsonl",
    information: RunInformation | None = None,
    lengths: Mapping[str, int] | None = None,
) -> Path:
    """Write a run whole, with what it says of itself; nothing is written where it breaks a rule."""
    data = run_text(tag, answers, task=task, questions=questions, form=form).encode()
    check_run(tag, data, task=task, questions=questions, form=form, lengths=lengths)
    path = folder.run_file(tag, SUFFIXES[form])
    contents = {path: data}
    if information is not None:
        contents[folder.run_information] = _described(folder, tag, information)
    old = [one for one in folder.files_of_run(tag) if one != path]
    files.write_all(contents)
    for one in old:
        one.unlink()
    return path


def run_text(tag: str, answers: Mapping[str, Answer], *, task: Task, questions: TestSet, form: str) -> str:
    """The run as text."""
    if form not in task.forms:
        raise unknown(f"run form of task {task.name}", form, task.forms)
    ordered = in_order([(question, answers[question.id]) for question in questions], task)
    if form == "jsonl":
        return jsonl.dump_rows(run_row(tag, question, answer, task) for question, answer in ordered)
    if form == "rag24":
        return jsonl.dump_rows(_rag_row(tag, question, answer) for question, answer in ordered)
    if form == "rte":
        return "ranked: no\n" + "".join(f"{question.id} {answer.decision}\n" for question, answer in ordered)
    lines: list[str] = []
    for question, answer in ordered:
        if form == "trec7":
            lines += _trec7_lines(tag, question, answer)
            continue
        rows = list(_extract_lines(answer) if form == "extract" else _items(question, answer, form))
        lines += [f"{question.id} {tag} {row}\n" for row in rows or [NIL]]
    return "".join(lines)


def in_order(answers: Sequence[tuple[Question, Answer]], task: Task) -> list[tuple[Question, Answer]]:
    """The order of the test set or, where the task ranks questions, that of confidence (equal ones keep their order).

    A response that stands for a failed one has no confidence of its own; it goes to the end.
    """
    if not task.ordered or all(answer.confidence is None for _, answer in answers):
        return list(answers)
    least = min((answer.confidence for _, answer in answers if answer.confidence is not None), default=0.0)
    filled = []
    for question, answer in answers:
        sure = answer.confidence if answer.confidence is not None else min(least, 0.0)
        filled.append((question, replace(answer, confidence=sure)))
    return sorted(filled, key=lambda one: -(one[1].confidence or 0.0))


def check_run(
    tag: str, data: bytes, *, task: Task, questions: TestSet, form: str, lengths: Mapping[str, int] | None
) -> None:
    """Check the bytes of a run by the rules for runs; all problems are reported at once."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / (file_name(tag)[:200] + SUFFIXES[form])
        path.write_bytes(data)
        found = read_runs([path], task=task, questions=questions, form=form, names={path: f"runs/{path.name}"})
    problems = found.faults(lengths)
    if problems:
        raise InputError(problems)


def _items(question: Question, answer: Answer, form: str) -> Iterator[str]:
    """Doc-id and string of every item, where a line can hold them."""
    for item in answer.items:
        if item.doc is None or any(blank in item.doc for blank in " \t\r\n") or not is_one_line(item.text):
            message = f"question {question.id}: an item has no doc-id, or line breaks or blanks that {form} cannot hold"
            raise InputError(Problem("syntax", f"{message}; write the run as --form jsonl", None, None, question.id))
        yield f"{item.doc} {item.text}"


def _trec7_lines(tag: str, question: Question, answer: Answer) -> Iterator[str]:
    """The ranked form wants a score on every line; 1/rank falls as the rank does and says no more than it."""
    for rank, row in enumerate(_items(question, answer, "trec7"), 1):
        doc, _, text = row.partition(" ")
        yield f"{question.id} Q0 {doc} {rank} {1 / rank:.4f} {tag} {text}\n"


def _rag_row(tag: str, question: Question, answer: Answer) -> dict[str, Any]:
    """Sentences with places in one list of references, each document once."""
    cited = dict.fromkeys(doc for item in answer.items for doc in item.citations or ((item.doc,) if item.doc else ()))
    place = {doc: number for number, doc in enumerate(cited)}
    sentences = [
        {"text": item.text, "citations": [place[doc] for doc in item.citations or ((item.doc,) if item.doc else ())]}
        for item in answer.items
    ]
    return {"run_id": tag, "topic_id": question.id, "references": list(cited), "answer": sentences}


def _extract_lines(answer: Answer) -> Iterator[str]:
    for item in answer.items:
        yield f"{item.doc} {item.start} {item.length}"


def _described(folder: Folder, tag: str, information: RunInformation) -> bytes:
    """The file of what runs say of themselves, with the row of this run in it; other rows stay as they are."""
    path = folder.run_information
    rows: list[dict[str, Any]] = []
    if path.exists():
        rows = [row for _, row in jsonl.read_rows(path, file=folder.name(path))]
    given = {
        "organisation": information.organisation,
        "description": information.description,
        "manual": information.manual,
        "priority": information.priority,
    }
    new = {"run": tag, **{name: value for name, value in given.items() if value is not None}}
    place = next((number for number, row in enumerate(rows) if row.get("run") == tag), None)
    if place is None:
        rows.append(new)
    else:
        rows[place] = {**rows[place], **new}
    return jsonl.dump_rows(rows).encode()
