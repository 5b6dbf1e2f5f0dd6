"""Items of lists: one run's whole list is judged at a time, and correct items belong to classes of equal answers.

Besides R, X, U or W an assessor says which known answer a correct item is (`answer`, the name of its class). Only
correct items have a class [QA03]. Where classes are unknown (NIST's form), `distinct` marks one item of each class
instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from qassay.judging.item import labels_of_items
from qassay.judging.kind import Draft, Item, Kind, Label, Marked, Part, Row, Verdict, Wanted, label_fault, responses
from qassay.tasks import Task

LONGEST_CLASS = 500


class ListItem(Kind):
    """One item of one run's list; equal items of a list are judged once."""

    name = "list"
    nouns = ("list item", "list items")
    counted = "items of each list"
    shown = "lists, run by run"
    compared = "items"
    screen = "lists"
    title = "Lists"
    identity = ("question", "run", "doc", "text")
    identified = (("run", "text"),)
    unidentified = "a list item is named by run, doc and text"
    pooled = identity
    fields = {"judgment": pl.String, "answer": pl.String}
    file_fields = {"distinct": pl.Boolean}
    blank = {"judgment": "", "answer": None}
    has_classes = True
    has_answers = True

    def labels(self, task: Task) -> tuple[Label, ...]:
        """W, U, X, R, as far as the task has them."""
        return labels_of_items(task)

    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """The label is one of the task's; a class has a name, and only a correct item belongs to one."""
        answer = verdict.get("answer")
        if answer is not None and fault_of_class(answer):
            return fault_of_class(answer)
        if verdict.get("judgment") != "R" and (answer is not None or verdict.get("distinct")):
            return label_fault(verdict, task.labels) or "only a correct item (R) belongs to a class of answers"
        return label_fault(verdict, task.labels)

    def unreadable(self, verdict: Verdict, task: Task) -> str | None:
        """Only the label: the class of an item that is not correct is ignored."""
        return label_fault(verdict, task.labels)

    def says(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """The label and, for R, the class."""
        if not is_right(row):
            return (row.get("judgment"),)
        answer_class = row.get("answer")
        if answer_class is None:
            answer_class = row.get("text") if row.get("distinct") is None else ("distinct", row["distinct"])
        return ("R", answer_class)

    def drafts(self, rows: pl.DataFrame, wanted: Wanted) -> Iterator[Draft]:
        """One item for each run's list, with an element for each distinct string."""
        for question, run, elements in responses(rows):
            distinct = list({(element["doc"], element["text"]): element for element in elements}.values())
            yield Draft(self.name, question, run, {"elements": distinct}, parts=len(distinct))

    def parts(self, item: Item, nuggets: object, assessor: str | None) -> list[Part]:
        """Every element takes a verdict."""
        shared = self.subject_of(item)
        return [
            Part(str(place), self.name, shared | {"doc": element.get("doc"), "text": element["text"]})
            for place, element in enumerate(item.body.get("elements", []))
        ]

    def part_shown(self, item: Item, part: str) -> Row:
        """The element."""
        return dict(item.body["elements"][int(part)])

    def places(self, item: Item) -> list[Marked]:
        """The document of each element, with its string marked."""
        return [Marked(element["doc"], element["text"]) for element in item.body["elements"] if element.get("doc")]

    def in_words(self, row: Mapping[str, Any]) -> str:
        """The label, with the class in brackets where a correct item has one."""
        name = row.get("answer") or ("distinct" if row.get("distinct") else None)
        return f"{row['judgment']} ({name})" if name and is_right(row) else str(row["judgment"])


def fault_of_class(name: object) -> str | None:
    """The fault of the name of a class of answers."""
    if isinstance(name, str) and name.strip() and len(name) <= LONGEST_CLASS:
        return None
    return f"the class of an answer is a text of 1 to {LONGEST_CLASS} characters"


def is_right(row: Mapping[str, Any]) -> bool:
    """Whether a row calls its item correct."""
    return row.get("judgment") == "R"


def class_of(row: Mapping[str, Any]) -> str:
    """The class of a right item; one without is its own class, named by its string (FORMATS 4)."""
    return str(row.get("answer") or row.get("text") or "")


def with_class(row: Mapping[str, Any], name: str) -> Row:
    """The row with another class."""
    return {**row, "answer": name}
