"""Systems under test: what goes into one and what comes out, and how the reference systems are named.

A system is any callable that takes one `Asked` and returns one `Answer`. It gets one question at a time, with the
earlier questions of the series and its own answers to them, and nothing else: it cannot look ahead, because nothing
that it holds leads to a later question. (METHOD 3)

    reference/   the reference systems: `factoid(threshold=0.3)`, `series(other=sentence-baseline)`
    harness/     questions one at a time, time-outs, retries, the log, the run
    text         words and sentences
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeAlias

from qassay import spelling
from qassay.collections.documents import Document, Hit
from qassay.errors import UsageError, unknown
from qassay.questions import Question
from qassay.spelling import Spelled, arguments


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
    """The answer of a system to one question: items, NIL, or (entailment) a decision."""

    items: tuple[Item, ...] = ()
    nil: bool = False
    confidence: float | None = None
    decision: str | None = None
    justification: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, and the system's own answers to the earlier questions of its series."""

    question: Question
    history: tuple[tuple[Question, Answer], ...] = ()

    @property
    def target(self) -> str:
        """The subject of the question: the target of its series; empty where it has none."""
        return self.question.target or ""


System: TypeAlias = Callable[[Asked], Answer]


class Documents(Protocol):
    """The methods of a collection that reference systems need; `qassay.collections.Collection` has them."""

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
    """The question as a system sees it: without the fields for assessors (the author's definition, further ones)."""
    return replace(question, definition=None, extra={})


def nothing(question: Question) -> Answer:
    """The response that says nothing: NIL to a factoid, the empty one to any other question."""
    return Answer(nil=question.type == "factoid")


_HOME = "qassay.systems.reference."
# Name, and the function that makes the system: imported when first used.
SYSTEMS: Final[Mapping[str, str]] = {
    "sentence-baseline": _HOME + "definitions:sentence_baseline",
    "frequent-name": _HOME + "factoid:frequent_name",
    "factoid": _HOME + "factoid:factoid",
    "passages": _HOME + "factoid:extracts",
    "list": _HOME + "factoid:list_answers",
    "definition": _HOME + "definitions:definition",
    "series": "qassay.systems.reference:series",
}


def spelled(text: str, settings: Mapping[str, str] | None = None) -> Spelled:
    """Read the spelling of a system; `settings` are added to its parameters and may not repeat one.

    >>> str(spelled("series( other = sentence-baseline(overlap=0.6) , list=list )"))
    'series(other=sentence-baseline(overlap=0.6), list=list)'
    """
    return spelling.parse(text, "system", example="factoid(threshold=0.3)", settings=settings)


def make_reference(text: str | Spelled, collection: Documents) -> System:
    """The reference system that is spelled so, on a collection."""
    parsed = text if isinstance(text, Spelled) else spelled(text)
    if parsed.name not in SYSTEMS:
        raise unknown("system", parsed.name, SYSTEMS)
    factory = load(SYSTEMS[parsed.name])
    system: System = factory(collection, **arguments(parsed, factory))
    return system


def load(place: str) -> Any:
    """The object that `module:name` names."""
    module, _, name = place.partition(":")
    try:
        attribute: Any = importlib.import_module(module)
        for part in name.split("."):
            attribute = getattr(attribute, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"cannot load {place}: {error}") from None
    return attribute
