"""Automatic assessors: they see what a person sees, and give an opinion on each part."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from qassay.errors import UsageError
from qassay.judging import KINDS, ROW_KINDS, Item, Part, Row
from qassay.judging.items import check_verdict, parts_of
from qassay.questions import Question, TestSet
from qassay.tasks import Task

if TYPE_CHECKING:
    from qassay.collections import Collection

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
        """The part as the screen shows it: a string with its document, an answer with its sentences or contexts."""
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
    """A program that judges.

    It may also have `judge_together(cases)`, which judges several parts at once and returns an opinion or None for
    each: it is called instead of `judge`, with all parts of an item in a row, `batch` parts at once. `under_way` says
    how many calls it takes at the same time, from threads; 1 where it is absent. One with `judge_stream(cases)` decides
    itself how many it takes at a time: it yields cases with their opinions in whatever order they are ready, and may
    end early. `wanted` says what it judges beyond the main judgment. `learns` says whether it was made from people's
    judgments, as is assumed where it is absent: then `reuse` opens it again without those of the run left out. The
    trace of a verdict that uses people's judgments of the same question names their set, as `learned_from`. `judges`
    are the kinds of judgment that it gives (all where it is absent), `silence` says why it may have no opinion on one
    of these, and `remarks` are sentences about how it was made.
    """

    @property
    def name(self) -> str:
        """The name that its judgment set gets."""

    def judge(self, case: Case) -> Opinion | None:
        """Its opinion on a part; None where it has none."""


# Parts handed to an assessor at once; opinions kept in memory before they are written.
BATCH = 256


@dataclass
class Judging:
    """One pass of an assessor over the pool: rows as they come, and counts that grow with them."""

    assessor: AutomaticAssessor
    questions: TestSet
    task: Task
    nuggets: Nuggets = field(default_factory=dict)
    documents: Documents = lambda _: None
    # Subjects that are judged already.
    known: Set[str] = frozenset()
    # Called with the number of parts that are done.
    progress: Callable[[int], None] | None = None
    silent: int = 0
    # Of these, parts of a kind that the assessor does not judge, by kind.
    others: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    done: int = 0

    def rows(self, items: Iterable[Item]) -> Iterator[Row]:
        """The rows of everything the assessor has an opinion on, in the order of the pool unless it streams.

        A verdict that the rules do not allow is an error of the assessor: it is refused as a person's would be.
        """
        stream = getattr(self.assessor, "judge_stream", None)
        judged = stream(self.cases(items)) if stream else self._judged(self._batches(self.cases(items)))
        for cases, opinions in judged:
            if len(opinions) != len(cases):
                message = f"gave {len(opinions)} opinions on {len(cases)} answers; it has to give one for each, or None"
                raise UsageError(f"the assessor {self.assessor.name} {message}")
            for case, opinion in zip(cases, opinions, strict=True):
                if opinion is None:
                    self.silent += 1
                    self.others[case.kind] += case.kind not in self._judges
                else:
                    yield self._row(case, opinion)
            self.done += len(cases)
            if self.progress is not None:
                self.progress(self.done)

    @cached_property
    def _judges(self) -> Sequence[str]:
        kinds: Sequence[str] = trait(self.assessor, "judges", tuple(ROW_KINDS))
        return kinds

    def reasons(self, silent: int) -> Iterator[str]:
        """Why parts were left unjudged, in sentences; `silent` is their number without failed calls."""
        able = " and ".join(dict.fromkeys(ROW_KINDS[kind].nouns[1] for kind in self._judges))
        for kind, count in (+self.others).items():
            noun = ROW_KINDS[kind].nouns[count != 1]
            yield f"{count:,} {noun} left unjudged: {self.assessor.name} judges {able} only."
        if left := silent - self.others.total():
            yield f"{left:,} left unjudged: {trait(self.assessor, 'silence', 'no verdict from the assessor')}."

    def cases(self, items: Iterable[Item]) -> Iterator[Case]:
        """The decisions that are to be made: those that the set has are skipped and counted."""
        for item in items:
            listed = self.nuggets.get(item.question, ())
            names = [str(nugget["nugget"]) for nugget in listed]
            for part in parts_of(item, nuggets=names, assessor=self.assessor.name):
                if part.required and self.known and part.subject in self.known:
                    self.skipped += 1
                elif part.required:
                    yield Case(self.questions.by_id[item.question], item, part, listed, self.documents)

    def _batches(self, cases: Iterator[Case]) -> Iterator[list[Case]]:
        size = getattr(self.assessor, "batch", BATCH) if hasattr(self.assessor, "judge_together") else 1
        while batch := list(itertools.islice(cases, size)):
            yield batch

    def _judged(self, batches: Iterator[list[Case]]) -> Iterator[tuple[list[Case], Sequence[Opinion | None]]]:
        """Each batch with its opinions, in order; several are under way where the assessor takes them."""
        workers = max(1, int(getattr(self.assessor, "under_way", 1)))
        if workers == 1:
            for batch in batches:
                yield batch, self._opinions(batch)
            return
        with ThreadPoolExecutor(workers) as pool:
            waiting: deque[tuple[list[Case], Future[Sequence[Opinion | None]]]] = deque()
            try:
                for batch in batches:
                    waiting.append((batch, pool.submit(self._opinions, batch)))
                    if len(waiting) >= 2 * workers:
                        cases, opinions = waiting.popleft()
                        yield cases, opinions.result()
                while waiting:
                    cases, opinions = waiting.popleft()
                    yield cases, opinions.result()
            finally:
                for _, opinions in waiting:
                    opinions.cancel()

    def _opinions(self, cases: list[Case]) -> Sequence[Opinion | None]:
        together = getattr(self.assessor, "judge_together", None)
        if together is not None:
            opinions: Sequence[Opinion | None] = together(cases)
            return opinions
        return [self.assessor.judge(case) for case in cases]

    def _row(self, case: Case, opinion: Opinion) -> Row:
        part = case.part
        check_verdict(part, opinion.verdict, self.task, nuggets=[str(nugget["nugget"]) for nugget in case.nuggets])
        subject = {name: value for name, value in part.row.items() if value is not None}
        trace = {"assessor": self.assessor.name, **opinion.trace}
        return {**subject, **opinion.verdict, "assessor": self.assessor.name, "trace": trace}


def spelled(name: str, **parameters: object) -> str:
    """The name of an assessor with what was chosen of its parameters: without blanks, because a set is named so.

    >>> spelled("match", normalise=True, contains=False, judged=None), spelled("overlap", threshold=0.5)
    ('match(normalise=true)', 'overlap(threshold=0.5)')
    """
    chosen = {key: value for key, value in parameters.items() if value is not None and value is not False}
    written = {
        key: "true" if value is True else f"{value:g}" if isinstance(value, int | float) else value
        for key, value in chosen.items()
    }
    return f"{name}({','.join(f'{key}={value}' for key, value in written.items())})" if written else name


def trait(assessor: AutomaticAssessor, name: str, default: Any) -> Any:
    """An attribute that an assessor may have; one that judges on a cluster has those of the assessor within."""
    return getattr(getattr(assessor, "inner", assessor), name, default)


def documents_at(place: Path) -> Documents:
    """The texts of the collection in a folder, if there is one; it is opened when the first text is asked for."""

    @cache
    def collection() -> Collection | None:
        from qassay.collections import open_collection

        return open_collection(place) if place.is_dir() else None

    def text(doc: str) -> str | None:
        documents = collection()
        return documents.document(doc).text if documents is not None and doc in documents else None

    return text
