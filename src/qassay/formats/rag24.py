"""The nugget assignments of TREC RAG 2024: questions, runs, nuggets and judgments in one file. (FORMATS 4)

One JSON object per line: what one run answered to one question, and for each nugget whether the answer supports it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qassay.errors import InputError, Problem, Problems, Rule
from qassay.formats import jsonl
from qassay.formats.names import name_fault
from qassay.questions import Question, TestSet, gather

SUPPORT = {"support": "full", "partial_support": "partial", "not_support": "none"}
IMPORTANCE = {"vital": True, "okay": False}
_KNOWN = ("qid", "query", "run_id", "answer_text", "nuggets")


@dataclass(frozen=True)
class Assignments:
    """The content of a file of assignments; rows are those of the JSON lines of each kind."""

    questions: TestSet
    runs: dict[str, list[jsonl.Row]]
    nuggets: list[jsonl.Row]
    judgments: list[jsonl.Row]


@dataclass(frozen=True, slots=True)
class _Line:
    """One line: what a run answered to a question, and the nuggets with their importance and support."""

    number: int
    question: str
    query: str
    run: str
    answer: str
    nuggets: list[tuple[str, bool, str]]
    extra: jsonl.Row

    @property
    def listed(self) -> list[tuple[str, bool]]:
        """The nuggets without their judgments."""
        return [(text, vital) for text, vital, _ in self.nuggets]


def parse_assignments(text: str, *, file: str) -> Assignments:
    """The assignments in a text.

    Nuggets are numbered from 1 in the order of their list, which is the same for all runs of a question. Fields that
    are not known stay with the run's response.
    """
    # The first line of a question says what it asks and what its nuggets are.
    first: dict[str, _Line] = {}
    answered: dict[tuple[str, str], int] = {}
    runs: dict[str, list[jsonl.Row]] = {}
    judgments: list[jsonl.Row] = []
    problems = Problems()
    for number, row in jsonl.parse_rows(text, file=file):
        faults: list[tuple[Rule, str]] = []
        line = _read(number, row, faults)
        earlier = answered.get((line.run, line.question))
        faults += _contradictions(line, first.get(line.question, line), earlier, whole=not faults)
        problems += [Problem(*fault, file, number, line.question or None) for fault in faults]
        if faults:
            continue
        first.setdefault(line.question, line)
        answered[line.run, line.question] = number
        items = [{"text": line.answer}] if line.answer.strip() else []
        response = {"run": line.run, "question": line.question, "items": items, **line.extra}
        runs.setdefault(line.run, []).append(response)
        judgments += (
            {"question": line.question, "run": line.run, "nugget": str(place), "support": support}
            for place, (_, _, support) in enumerate(line.nuggets, 1)
        )
    if problems:
        raise InputError(problems)
    nuggets = [
        {"question": question, "nugget": str(place), "vital": vital, "text": fact}
        for question, line in first.items()
        for place, (fact, vital) in enumerate(line.listed, 1)
    ]
    questions = gather((Question(line.question, "other", line.query) for line in first.values()), file=file)
    return Assignments(questions, runs, nuggets, judgments)


@dataclass(frozen=True)
class NuggetLists:
    """The output of nuggetizer for some questions: the questions, and rows of nuggets with the lines they come from."""

    questions: TestSet
    nuggets: list[jsonl.Numbered]


def parse_nugget_lists(text: str, *, file: str) -> NuggetLists:
    """The nugget lists in a text: one JSON object per question, with qid, query, and nuggets with their importance."""
    questions: list[Question] = []
    nuggets: list[jsonl.Numbered] = []
    problems = Problems()
    for number, row in jsonl.parse_rows(text, file=file):
        faults: list[tuple[Rule, str]] = []
        question, query = str(row.get("qid") or "").strip(), row.get("query")
        if not question or not isinstance(query, str):
            faults.append(("syntax", "the line has no qid, or no query"))
        listed = list(_nuggets(row.get("nuggets"), faults, assigned=False))
        problems += [Problem(*fault, file, number, question or None) for fault in faults]
        questions.append(Question(question, "other", str(query or "").strip()))
        nuggets += (
            (number, {"question": question, "nugget": str(place), "vital": vital, "text": fact})
            for place, (fact, vital, _) in enumerate(listed, 1)
        )
    if problems:
        raise InputError(problems)
    return NuggetLists(gather(questions, file=file), nuggets)


def _read(number: int, row: jsonl.Row, faults: list[tuple[Rule, str]]) -> _Line:
    """One line; its own faults go to `faults`."""

    def string(name: str) -> str:
        value = row.get(name)
        if isinstance(value, str):
            return value
        faults.append(("syntax", f"{name!r} is missing or not a string"))
        return ""

    question = str(row.get("qid") or "").strip()
    if not question:
        faults.append(("syntax", "the line has no qid"))
    query, run, answer = (string(name) for name in ("query", "run_id", "answer_text"))
    if isinstance(row.get("run_id"), str) and (fault := name_fault(run)):
        faults.append(("syntax", f"the run tag {run[:80]!r} {fault}"))
    nuggets = list(_nuggets(row.get("nuggets"), faults))
    extra = {name: value for name, value in row.items() if name not in _KNOWN}
    return _Line(number, question, query.strip(), run, answer, nuggets, extra)


def _contradictions(line: _Line, first: _Line, earlier: int | None, *, whole: bool) -> Iterator[tuple[Rule, str]]:
    """Where a line contradicts the first one of its question, or the run has answered before, on the line `earlier`.

    Nuggets are compared where all of the line could be read (`whole`).
    """
    question = line.question
    if earlier is not None:
        whole = False
        message = f"run {line.run} has a second answer to question {question}; the first: line {earlier}"
        yield "duplicate-question", message
    if first.query != line.query:
        whole = False
        yield "syntax", f"question {question} reads differently here than before: {line.query!r}"
    if whole and first.listed != line.listed:
        fault = f"the nuggets of question {question} are not those of line {first.number}"
        yield "syntax", f"{fault}; one list is for all runs"


def _nuggets(
    value: object, faults: list[tuple[Rule, str]], *, assigned: bool = True
) -> Iterator[tuple[str, bool, str]]:
    """Text, importance and, where they are `assigned`, support of the nuggets of one line."""
    if not isinstance(value, list):
        faults.append(("syntax", "'nuggets' is missing or not a list"))
        return
    for place, nugget in enumerate(value, 1):
        if not isinstance(nugget, dict) or not isinstance(nugget.get("text"), str):
            faults.append(("syntax", f"nugget {place} has no text"))
            continue
        importance, assignment = nugget.get("importance"), nugget.get("assignment")
        if not isinstance(importance, str) or importance not in IMPORTANCE:
            message = f"nugget {place}: importance {importance!r}; it is {' or '.join(IMPORTANCE)}"
            faults.append(("bad-label", message))
        elif not assigned:
            yield nugget["text"], IMPORTANCE[importance], ""
        elif not isinstance(assignment, str) or assignment not in SUPPORT:
            message = f"nugget {place}: assignment {assignment!r}; it is one of {', '.join(SUPPORT)}"
            faults.append(("bad-label", message))
        else:
            yield nugget["text"], IMPORTANCE[importance], SUPPORT[assignment]
