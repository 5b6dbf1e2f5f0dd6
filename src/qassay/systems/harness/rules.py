"""Answers as rows of a run, checked by the package's own rules for runs, one by one as they come."""

from __future__ import annotations

from typing import Any

import msgspec

from qassay.formats.runs.objects import parse_jsonl
from qassay.formats.runs.source import Source
from qassay.questions import Question, TestSet
from qassay.runs import Batch, check
from qassay.systems.harness.failures import CallError
from qassay.systems.records import Answer, Documents, Item
from qassay.tasks import Task


def run_row(tag: str, question: Question, answer: Answer, task: Task) -> dict[str, Any]:
    """The line of a run in the form of FORMATS 3, with the keys that the task has."""
    row: dict[str, Any] = {"run": tag, "question": question.id}
    if task.has("decision", "justified"):
        given = {"decision": answer.decision, "justification": answer.justification}
        return row | {name: value for name, value in given.items() if value is not None}
    row["items"] = [_item_row(item, extract=task.has("extract")) for item in answer.items]
    if answer.nil:
        row["nil"] = True
    if answer.confidence is not None:
        row["confidence"] = answer.confidence
    return row


def check_answer(answer: Answer, question: Question, task: Task, collection: Documents | None) -> None:
    """Stop at an answer that could not stand in a run: the failure says which rule it breaks."""
    line = msgspec.json.encode(run_row("run", question, answer, task))
    parsed = parse_jsonl([Source(0, "answer", "answer", "jsonl", line)], task)
    problems = list(parsed.problems)
    if not problems:
        alone = TestSet((question,))
        rows = parsed.rows.with_columns(question=parsed.rows["asked"].cast(alone.enum))
        problems = list(check(Batch(rows, ("answer",), objects=True), alone, task))
    if problems:
        raise CallError("form", "; ".join(problem.message for problem in problems), rule=problems[0].rule)
    for item in answer.items:
        if collection is not None and item.doc is not None:
            _check_document(item, question, collection)


def _check_document(item: Item, question: Question, collection: Documents) -> None:
    doc = str(item.doc)
    if doc not in collection:
        message = f"question {question.id}: document {doc} is not in the collection"
        raise CallError("form", message, rule="unknown-doc")
    if item.start is not None and item.length is not None:
        size = len(collection.document(doc).text)
        if item.start + item.length > size:
            end = item.start + item.length
            message = f"question {question.id}: the extract ends at {end}, but document {doc} has {size} characters"
            raise CallError("form", message, rule="extract-past-end")


def _item_row(item: Item, *, extract: bool) -> dict[str, Any]:
    if extract:
        given: dict[str, Any] = {"doc": item.doc, "start": item.start, "length": item.length}
    else:
        given = {"doc": item.doc, "text": item.text, "citations": list(item.citations) or None}
    return {name: value for name, value in given.items() if value is not None}
