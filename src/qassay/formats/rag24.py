"""The nugget assignments of TREC RAG 2024: questions, runs, nuggets and judgments in one file. (FORMATS 4)

One JSON object a line: what one run answered to one question, and for each nugget whether the answer supports it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qassay.errors import InputError, Problem
from qassay.formats import files, jsonl
from qassay.formats.folder import name_fault
from qassay.questions import Question, TestSet, gather

SUPPORT = {"support": "full", "partial_support": "partial", "not_support": "none"}
IMPORTANCE = {"vital": True, "okay": False}
_KNOWN = ("qid", "query", "run_id", "answer_text", "nuggets")


@dataclass(frozen=True)
class Assignments:
    """What a file of assignments holds; rows are those of the JSON lines of each kind."""

    questions: TestSet
    runs: dict[str, list[jsonl.Row]]
    nuggets: list[jsonl.Row]
    judgments: list[jsonl.Row]


@dataclass
class _Gathering:
    file: str
    questions: dict[str, Question] = field(default_factory=dict)
    runs: dict[str, list[jsonl.Row]] = field(default_factory=dict)
    # The nuggets of a question, with the line on which they were first seen.
    lists: dict[str, tuple[int, list[tuple[str, bool]]]] = field(default_factory=dict)
    judgments: list[jsonl.Row] = field(default_factory=list)
    answered: dict[tuple[str, str], int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read_assignments(path: Path, *, encoding: str = "utf-8", file: str | None = None) -> Assignments:
    """The assignments of a file."""
    name = file or str(path)
    return parse_assignments(files.read_text(path, encoding=encoding), file=name)


def parse_assignments(text: str, *, file: str) -> Assignments:
    """The assignments in a text.

    Nuggets are numbered from 1 in the order of their list, which is the same for all runs of a question. Fields that
    are not known stay with the run's response.
    """
    made = _Gathering(file)
    for line, row in jsonl.parse_rows(text, file=file):
        _add(made, line, row)
    if made.problems:
        raise InputError(made.problems)
    nuggets = [
        {"question": question, "nugget": str(place), "vital": vital, "text": fact}
        for question, (_, listed) in made.lists.items()
        for place, (fact, vital) in enumerate(listed, 1)
    ]
    return Assignments(gather(made.questions.values(), file=file), made.runs, nuggets, made.judgments)


def _add(made: _Gathering, line: int, row: jsonl.Row) -> None:
    """Take in one line, or note all that is wrong with it."""
    question = str(row.get("qid") or "").strip()
    before = len(made.problems)

    def fault(rule: Any, message: str) -> None:
        made.problems.append(Problem(rule, message, made.file, line, question or None))

    if not question:
        fault("syntax", "the line has no qid")
    strings = {}
    for name in ("query", "run_id", "answer_text"):
        value = row.get(name)
        if not isinstance(value, str):
            fault("syntax", f"{name!r} is missing or not a string")
        strings[name] = value if isinstance(value, str) else ""
    run = strings["run_id"]
    if isinstance(row.get("run_id"), str) and (what := name_fault(run)):
        fault("syntax", f"the run tag {run[:80]!r} {what}")
    assigned = _nuggets(row.get("nuggets"), fault)
    if (run, question) in made.answered:
        first = made.answered[run, question]
        fault("duplicate-question", f"run {run} has a second answer to question {question}; the first: line {first}")
    known = made.questions.get(question)
    if known is not None and known.text != strings["query"].strip():
        fault("syntax", f"question {question} reads differently here than before: {strings['query'].strip()!r}")
    listed = [(text, vital) for text, vital, _ in assigned]
    first, before_list = made.lists.get(question, (line, listed))
    if before_list != listed and len(made.problems) == before:
        fault(
            "syntax", f"the nuggets of question {question} are not those of line {first}; one list holds for all runs"
        )
    if len(made.problems) > before:
        return
    made.questions.setdefault(question, Question(question, "other", strings["query"].strip()))
    made.lists.setdefault(question, (line, listed))
    made.answered[run, question] = line
    answer = strings["answer_text"]
    items = [{"text": answer}] if answer.strip() else []
    extra = {name: value for name, value in row.items() if name not in _KNOWN}
    made.runs.setdefault(run, []).append({"run": run, "question": question, "items": items, **extra})
    made.judgments += (
        {"question": question, "run": run, "nugget": str(place), "support": support}
        for place, (_, _, support) in enumerate(assigned, 1)
    )


def _nuggets(value: object, fault: Callable[[Any, str], None]) -> list[tuple[str, bool, str]]:
    """Text, importance and support of the nuggets of one line."""
    if not isinstance(value, list):
        fault("syntax", "'nuggets' is missing or not a list")
        return []
    made = []
    for place, nugget in enumerate(value, 1):
        if not isinstance(nugget, dict) or not isinstance(nugget.get("text"), str):
            fault("syntax", f"nugget {place} has no text")
            continue
        importance, assignment = nugget.get("importance"), nugget.get("assignment")
        if not isinstance(importance, str) or importance not in IMPORTANCE:
            fault("bad-label", f"nugget {place}: importance {importance!r}; it is {' or '.join(IMPORTANCE)}")
        elif not isinstance(assignment, str) or assignment not in SUPPORT:
            fault("bad-label", f"nugget {place}: assignment {assignment!r}; it is one of {', '.join(SUPPORT)}")
        else:
            made.append((nugget["text"], IMPORTANCE[importance], SUPPORT[assignment]))
    return made
