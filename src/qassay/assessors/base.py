"""What an automatic assessor is: it is shown what a person is shown, and says what it thinks of each part."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from qassay.judging import KINDS, Item, Part, Row
from qassay.judging.items import check_verdict, parts_of
from qassay.questions import Question, TestSet
from qassay.tasks import Task

# The nuggets of each question, in the order of the list, as rows of a nugget list.
Nuggets = Mapping[str, Sequence[Mapping[str, Any]]]
# From the id of a document to its text; None where there is no such document.
Documents = Callable[[str], str | None]


@dataclass(frozen=True)
class Case:
    """One decision, with everything that a person sees who makes it: question, item, nuggets and documents."""

    question: Question
    item: Item
    part: Part
    nuggets: Sequence[Mapping[str, Any]] = ()
    documents: Documents = lambda _: None

    @property
    def kind(self) -> str:
        """The kind of judgment."""
        return self.part.kind

    @cached_property
    def shown(self) -> Row:
        """What the screen shows of the part: a string with its document, an answer with its sentences or contexts."""
        return KINDS[self.item.kind].part_shown(self.item, self.part.name)

    @cached_property
    def text(self) -> str:
        """The text that is judged: the string, or all strings of the response."""
        shown = self.shown
        if "elements" in shown:
            return "\n".join(element.get("text") or "" for element in shown["elements"])
        return str(shown.get("text") or shown.get("justification") or "")

    @property
    def doc(self) -> str | None:
        """The document of the string, where it has one."""
        return self.part.row.get("doc")

    @cached_property
    def document(self) -> str | None:
        """The text of that document; None without a collection."""
        return None if self.doc is None else self.documents(self.doc)

    @property
    def nugget(self) -> Mapping[str, Any] | None:
        """The nugget whose support is judged."""
        return next((nugget for nugget in self.nuggets if nugget["nugget"] == self.part.row.get("nugget")), None)


@dataclass(frozen=True, slots=True)
class Opinion:
    """A verdict, with the fields of its kind, and how it came about."""

    verdict: Mapping[str, Any]
    trace: Mapping[str, Any] = field(default_factory=dict)


class AutomaticAssessor(Protocol):
    """A program that judges."""

    @property
    def name(self) -> str:
        """The name that its judgment set gets."""

    def judge(self, case: Case) -> Opinion | None:
        """What it thinks of a part; None where it has no opinion."""


@dataclass(frozen=True)
class Judged:
    """The rows an assessor wrote, and how many parts it left unjudged or had judged before."""

    rows: list[Row]
    silent: int = 0
    known: int = 0


def judge_items(
    assessor: AutomaticAssessor,
    items: Iterable[Item],
    questions: TestSet,
    task: Task,
    *,
    nuggets: Nuggets | None = None,
    documents: Documents = lambda _: None,
    known: Container[str] = (),
    progress: Callable[[int], None] | None = None,
) -> Judged:
    """Ask an assessor about every part of every item, except those that are judged already (`known`, by subject).

    A verdict that the rules do not allow is an error of the assessor: it is refused as a person's would be.
    """
    rows: list[Row] = []
    silent = skipped = 0
    for count, item in enumerate(items, 1):
        listed = (nuggets or {}).get(item.question, ())
        names = [str(nugget["nugget"]) for nugget in listed]
        for part in parts_of(item, nuggets=names, assessor=assessor.name):
            if not part.required:
                continue
            if part.subject in known:
                skipped += 1
                continue
            opinion = assessor.judge(Case(questions.by_id[item.question], item, part, listed, documents))
            if opinion is None:
                silent += 1
                continue
            check_verdict(part, opinion.verdict, task, nuggets=names)
            subject = {name: value for name, value in part.row.items() if value is not None}
            trace = {"assessor": assessor.name, **opinion.trace}
            rows.append({**subject, **opinion.verdict, "assessor": assessor.name, "trace": trace})
        if progress is not None:
            progress(count)
    return Judged(rows, silent, skipped)
