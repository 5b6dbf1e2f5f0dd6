"""Shared by the assessors of short and free answers: the gold answers of a question, and the labels they give.

Gold answers are those of the questions file (`gold`) and of answers.jsonl, not withdrawn. These assessors say only
whether an answer is right: R or W for items, the task's highest- and lowest-valued label for free text (METHOD 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from qassay.assessors.base import Case
from qassay.assessors.words import normalised
from qassay.evaluation import Evaluation
from qassay.judging import ROW_KINDS, STRINGS
from qassay.judging.list_item import class_of
from qassay.questions import Question
from qassay.tasks import Task

RIGHT, WRONG, UNSUPPORTED = "R", "W", "U"
# Why an assessor that compares with gold answers has no opinion.
NO_GOLD = "no known answer to the question"
# Questions that an answer is tried on beside its own, at most.
SPREAD = 200


def known_answers(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The rows of answers.jsonl that a program may know: not withdrawn, and not noted by an assessor while judging.

    A note is its assessor's until it is accepted; a program that knew it would have seen the label of that question.
    """
    rows = evaluation.answers.iter_rows(named=True)
    return [row for row in rows if not row.get("withdrawn") and row.get("assessor") is None]


@dataclass(frozen=True)
class Gold:
    """The gold answers of each question, and the labels of right and wrong free-text answers."""

    answers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    labels: tuple[str, str] | None = None
    # What is asked, by question.
    texts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, questions: Iterable[Question], known: Iterable[Mapping[str, Any]], task: Task) -> Gold:
        """The gold answers of the questions and the rows of answers.jsonl."""
        answers: dict[str, list[str]] = {}
        texts: dict[str, str] = {}
        for question in questions:
            texts[question.id] = " ".join(filter(None, (question.target, question.text)))
            answers.setdefault(question.id, []).extend(question.gold)
        for row in known:
            if not row.get("withdrawn"):
                answers.setdefault(row["question"], []).append(row["answer"])
        unique = {question: tuple(dict.fromkeys(texts)) for question, texts in answers.items() if texts}
        return cls(unique, best_and_worst(task), texts)

    @cached_property
    def spread(self) -> tuple[str, ...]:
        """Some of the questions that have gold answers, from all parts of the list."""
        return tuple(islice(self.answers, 0, None, max(1, len(self.answers) // SPREAD)))[:SPREAD]

    def of_case(self, case: Case) -> Sequence[str]:
        """The gold answers to compare with; none where the part is not a string or has none."""
        if case.kind not in STRINGS or case.part.row.get("text") is None:
            return ()
        return self.answers.get(case.question.id, ())

    def verdict(self, case: Case, *, right: bool, answer: str | None = None) -> dict[str, Any] | None:
        """Right or wrong as a verdict of the part's kind; a right item of a list belongs to the class `answer`."""
        return right_or_wrong(case, self.labels, right=right, answer=answer)


# Question -> normalised string -> the class of equal answers it belongs to.
Classes = Mapping[str, Mapping[str, str]]


def known_classes(answers: Iterable[Mapping[str, Any]], right: Iterable[Mapping[str, Any]] = ()) -> Classes:
    """The classes of known answers, and of the list items that people judged right."""
    classes: dict[str, dict[str, str]] = {}
    for row in answers:
        if not row.get("withdrawn"):
            classes.setdefault(row["question"], {}).setdefault(normalised(row["answer"]), row["answer"])
    for row in right:
        if row.get("run") is not None and row.get("text") is not None:
            name = class_of(row)
            for string in (name, row["text"]):
                classes.setdefault(row["question"], {}).setdefault(normalised(string), name)
    return classes


def best_and_worst(task: Task) -> tuple[str, str] | None:
    """The labels of the highest and the lowest value; None where the task's labels have no values."""
    values = task.values
    if not values:
        return None
    return max(values, key=values.__getitem__), min(values, key=values.__getitem__)


def right_or_wrong(
    case: Case, labels: tuple[str, str] | None, *, right: bool, answer: str | None = None
) -> dict[str, Any] | None:
    """Right or wrong as a verdict of the part's kind; None for free text whose labels have no values."""
    record = ROW_KINDS[case.kind]
    if record.has_values:
        return None if labels is None else {"judgment": labels[0 if right else 1]}
    answer_class = {"answer": answer} if record.has_classes and right and answer else {}
    return {"judgment": RIGHT if right else WRONG, **answer_class}
