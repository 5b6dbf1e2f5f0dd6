"""Answers as a run.

Each answer is checked by the rules for runs as it comes. The finished run is put in order, written in one of the forms,
checked as any other run, and only then kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from qassay.errors import InputError, Problem, Problems, unknown
from qassay.formats import jsonl
from qassay.formats.folder import INFORMATION, Configuration, Folder, run_file
from qassay.formats.importing.plan import ImportPlan, IncomingRows, Options, line_of
from qassay.formats.lines import is_one_line
from qassay.formats.parts import part_of
from qassay.formats.runs import read_runs
from qassay.formats.runs.json_lines import RunFile, parse_jsonl
from qassay.questions import Question, TestSet
from qassay.runs import NIL, Batch, RunInformation, check
from qassay.systems import Answer, Documents, Item
from qassay.systems.harness.wire import CallError
from qassay.tasks import Task


def run_row(tag: str, question: Question, answer: Answer, task: Task) -> dict[str, Any]:
    """The line of a run in the form of FORMATS 3, with the keys that the task has."""
    row: dict[str, Any] = {"run": tag, "question": question.id}
    if task.decides:
        fields = {"decision": answer.decision, "justification": answer.justification}
        return row | {name: value for name, value in fields.items() if value is not None}
    row["items"] = [_item_row(item, extract=task.has_extracts) for item in answer.items]
    if answer.nil:
        row["nil"] = True
    if answer.confidence is not None:
        row["confidence"] = answer.confidence
    return row


def check_answer(answer: Answer, question: Question, task: Task, collection: Documents | None) -> None:
    """Stop at an answer that no run may contain: the failure says which rule it breaks."""
    line = msgspec.json.encode(run_row("run", question, answer, task))
    parsed = parse_jsonl([RunFile(0, "answer", "answer", "jsonl", line)], task)
    problems = parsed.problems
    if not problems:
        alone = TestSet((question,))
        rows = parsed.rows.with_columns(question=parsed.rows["asked"].cast(alone.enum))
        problems = Problems(check(Batch(rows, ("answer",), objects=True), alone, task))
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
        fields: dict[str, Any] = {"doc": item.doc, "start": item.start, "length": item.length}
    else:
        fields = {"doc": item.doc, "text": item.text, "citations": list(item.citations) or None}
    return {name: value for name, value in fields.items() if value is not None}


SUFFIXES = {"jsonl": ".jsonl", "trec4": ".txt", "trec7": ".txt", "extract": ".txt", "rte": ".rte", "rag24": ".jsonl"}


def plan_run(
    folder: Folder,
    configuration: Configuration,
    tag: str,
    answers: Mapping[str, Answer],
    *,
    questions: TestSet,
    form: str = "jsonl",
    information: RunInformation | None = None,
    lengths: Mapping[str, int] | None = None,
) -> ImportPlan:
    """The import of a run, checked by the rules for runs, with what it says of itself.

    An error reports all problems at once.
    """
    task, plan = configuration.task, ImportPlan(folder, configuration, Options(), questions)
    data = run_text(tag, answers, task=task, questions=questions, form=form).encode()
    part = plan.incoming.runs[tag] = part_of(run_file(tag, SUFFIXES[form]), data)
    if problems := read_runs([part], task=task, questions=questions, form=form).faults(lengths):
        raise InputError(problems)
    if information is not None:
        before = next((row for _, row in reversed(plan.rows(INFORMATION)) if row.get("run") == tag), {})
        row = information.or_before(RunInformation.of_row(before)).row(tag, before)
        if row != before:
            plan.incoming.batches.append(IncomingRows("run-information", "", INFORMATION, [line_of(row)], new=[0]))
    return plan


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
        if form == "extract":
            rows = [f"{item.doc} {item.start} {item.length}" for item in answer.items]
        else:
            rows = list(_items(question, answer, form))
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
    return sorted(filled, key=lambda pair: -(pair[1].confidence or 0.0))


def _items(question: Question, answer: Answer, form: str) -> Iterator[str]:
    """Doc-id and string of every item, where a line can express them."""
    for item in answer.items:
        if item.doc is None or any(blank in item.doc for blank in " \t\r\n") or not is_one_line(item.text):
            message = f"question {question.id}: an item has no doc-id, or line breaks or blanks that {form} cannot have"
            raise InputError(Problem("syntax", f"{message}; write the run as --form jsonl", None, None, question.id))
        yield f"{item.doc} {item.text}"


def _trec7_lines(tag: str, question: Question, answer: Answer) -> Iterator[str]:
    """The ranked form wants a score on every line; 1/rank falls as the rank does and says no more than it."""
    for rank, row in enumerate(_items(question, answer, "trec7"), 1):
        doc, _, text = row.partition(" ")
        yield f"{question.id} Q0 {doc} {rank} {1 / rank:.4f} {tag} {text}\n"


def _rag_row(tag: str, question: Question, answer: Answer) -> dict[str, Any]:
    """Sentences with places in one list of references, each document once."""
    places: dict[str, int] = {}
    sentences = []
    for item in answer.items:
        cited = item.citations or ((item.doc,) if item.doc else ())
        sentences.append({"text": item.text, "citations": [places.setdefault(doc, len(places)) for doc in cited]})
    return {"run_id": tag, "topic_id": question.id, "references": list(places), "answer": sentences}
