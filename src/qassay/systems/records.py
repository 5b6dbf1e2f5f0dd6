"""What goes into a system under test and what comes out of it.

A system is any callable that takes one `Asked` and returns one `Answer`. It is handed one question at a time, with the
earlier questions of the series and its own answers to them, and nothing else: it cannot look ahead, because nothing
that it holds leads to a later question. (METHOD 3)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from qassay.collections.documents import Document, Hit
from qassay.questions import Question


@dataclass(frozen=True, slots=True)
class Item:
    """One item of an answer: a string from a document, or (with start and length) an extract of it."""

    text: str = ""
    doc: str | None = None
    start: int | None = None
    length: int | None = None
    citations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system returns to one question: items, NIL, or (entailment) a decision."""

    items: tuple[Item, ...] = ()
    nil: bool = False
    confidence: float | None = None
    decision: str | None = None
    justification: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, and what the system itself has said to the earlier questions of its series."""

    question: Question
    history: tuple[tuple[Question, Answer], ...] = ()

    @property
    def target(self) -> str:
        """What the question is about: the target of its series; empty where it has none."""
        return self.question.target or ""


System: TypeAlias = Callable[[Asked], Answer]


class Documents(Protocol):
    """What the reference systems need of a collection; `qassay.collections.Collection` has it, and a stand-in may."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Document]: ...
    def __contains__(self, doc_id: str, /) -> bool: ...

    def document(self, doc_id: str) -> Document:
        """The document with this id."""
        ...

    def search(self, query: str, *, limit: int = 10, passages: bool = True) -> Sequence[Hit]:
        """The best passages, or whole documents, for some words."""
        ...


def handed(question: Question) -> Question:
    """The question as a system sees it: without what is for assessors (the author's definition, further fields)."""
    return replace(question, definition=None, extra={})


def nothing(question: Question) -> Answer:
    """The response that says nothing: NIL to a factoid, the empty one to any other question."""
    return Answer(nil=question.type == "factoid")
