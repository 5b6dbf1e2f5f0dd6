"""The kinds of judgment: each is one record that files, store, pages, sheets and automatic assessors all ask.

A *judgment* is one row: who says what about which subject, and when. Its *verdict* is what the row says. A kind knows

    its subject    the fields that identify what is judged; of two judgments of one subject the later one counts
    its verdict    the fields, the values they take, and what is wrong with a verdict (`fault`)
    its items      what one screen shows an assessor, made from the runs, and the parts of it that take a verdict
    agreement      when two verdicts say the same, and whether unanimous verdicts are adjudicated by rule
    words          names for people, the labels with their keys, a verdict in words, the blank verdict of a form

The rules are the same wherever a verdict comes in: `fault` is the one place that refuses it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeAlias

import msgspec
import polars as pl

from qassay.errors import InputError, Problem, Rule
from qassay.tasks import Task

Row: TypeAlias = dict[str, Any]
Verdict: TypeAlias = Mapping[str, Any]

# The fields that identify what is judged, in the order of the table of judgments.
SUBJECT_COLUMNS: Mapping[str, Any] = {
    "question": pl.String,
    "run": pl.String,
    "doc": pl.String,
    "text": pl.String,
    "start": pl.Int64,
    "length": pl.Int64,
    "item": pl.Int64,
    "nugget": pl.String,
    "sentence": pl.Int64,
    "assessor": pl.String,
}
# What a page and a history show of a row beside its verdict.
REMARKS = ("note", "settled")
LONGEST_NOTE = 2_000


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a verdict: its name for people, the key that gives it, and what it means."""

    label: str
    name: str
    key: str
    meaning: str = ""
    # How it is coloured: good, warn, bad or nothing.
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One screen of an assessor: it shows `body`. The run is for scoring and is never shown to an assessor."""

    id: int
    question: str
    kind: str
    run: str | None
    ordinal: int
    body: Mapping[str, Any]
    parts: int
    active: bool = True


@dataclass(frozen=True, slots=True)
class Draft:
    """An item before it gets its number and its place; `place` is None where the order is drawn at random."""

    kind: str
    question: str
    run: str | None
    body: Row
    parts: int = 1
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One decision on an item; `row` has the fields that identify what is judged."""

    name: str
    kind: str
    row: Mapping[str, Any]
    required: bool = True
    # The digest under which its judgments are stored.
    subject: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "subject", subject(self.kind, self.row))


@dataclass(frozen=True, slots=True)
class Marked:
    """A document, and what is marked in it: the first `text`, or `length` characters from `start`."""

    doc: str
    text: str | None = None
    start: int | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Further judgments that an organiser asks for beside the main one."""

    holistic: bool = False  # content and organization of responses to nugget questions
    citations: bool = False  # the support of each citation of a long answer
    contexts: bool = False  # whether the contexts support a free-text answer


class Lookup(Protocol):
    """The judgments of one set, by kind and subject."""

    def row(self, kind: str, subject: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The judgment of a subject; None where it is not judged."""

    def has_response(self, kind: str, question: str, run: str) -> bool:
        """Whether anything of a run's response is judged."""


class Kind(ABC):
    """One kind of judgment. Subclasses say what it is about, what a verdict may say, and how people see it."""

    name: ClassVar[str]
    # The kind of the rows where it is another: extracts and strings are both rows of items.
    row_kind: ClassVar[str] = ""
    # Singular and plural for people; what the pool counts; what a screen shows, as a list of the pool calls them.
    nouns: ClassVar[tuple[str, str]]
    counted: ClassVar[str] = ""
    shown: ClassVar[str] = ""
    # What people compare when they ask how far assessors agree, a plural; empty where labels are not compared.
    compared: ClassVar[str] = ""
    screen: ClassVar[str] = ""
    title: ClassVar[str] = ""

    identity: ClassVar[tuple[str, ...]]
    # Fields of a row that must be there to identify its subject, in each form that a row may have, and how to say so.
    identified: ClassVar[tuple[tuple[str, ...], ...]] = ((),)
    unidentified: ClassVar[str] = 'a judgment of this kind has a "run"'
    # What is pooled: of these fields each combination is judged once.
    pooled: ClassVar[tuple[str, ...]] = ()
    # The fields of a verdict with the types of their columns, the main one first.
    fields: ClassVar[Mapping[str, Any]]
    # Fields that a file may have beside them, and a page may not.
    file_fields: ClassVar[Mapping[str, Any]] = {}
    # A row with one of these fields is of this kind, whatever the type of its question.
    marks: ClassVar[tuple[str, ...]] = ()
    # The same for a row without a plain label: these fields occur in rows of other kinds too.
    marks_alone: ClassVar[tuple[str, ...]] = ()
    # What a form leaves to be filled in. Null is not a verdict: a row that nobody has filled in is refused.
    blank: ClassVar[Mapping[str, Any]] = {}

    # Whether unanimous verdicts are adjudicated by rule; opinions are used side by side instead.
    settles: ClassVar[bool] = True
    # Whether a verdict is given against a list of nuggets.
    by_nuggets: ClassVar[bool] = False
    # Whether the further parts of an item only say where in the first one something occurs.
    linked: ClassVar[bool] = False
    # Whether correct items belong to classes of equal answers, which several assessors may name differently.
    has_classes: ClassVar[bool] = False
    # Whether a correct item is an answer to the question.
    has_answers: ClassVar[bool] = False
    # Whether its labels are the task's own, with values, in place of R, X, U and W.
    has_values: ClassVar[bool] = False
    # What an organiser may ask for beside it: the names of fields of `Wanted`.
    options: ClassVar[tuple[str, ...]] = ()
    # Whether what is judged comes from the runs; pairs are judged without any.
    of_runs: ClassVar[bool] = True
    # Whether a judgment by any assessor of a set completes the item for all of them: the subject names the assessor.
    by_assessor: ClassVar[bool] = False
    # Of opinions on scales: the field whose mean ranks the runs unless another is named, and what its fields mean.
    ranked_by: ClassVar[str] = ""
    scales: ClassVar[str] = ""

    @property
    def rows(self) -> str:
        """The kind of the judgment rows."""
        return self.row_kind or self.name

    def labels(self, task: Task) -> tuple[Label, ...]:
        """The labels that assessors choose from, in the order of their decision; none where it takes no label."""
        return ()

    @abstractmethod
    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """The fault of a verdict, or None. Absent fields and None are the same."""

    def unreadable(self, verdict: Verdict, task: Task) -> str | None:
        """The reason why a verdict that is already in an evaluation cannot be scored.

        It may be less than `fault`: files may contain judgments that no way in would take, and these keep their scores.
        """
        return self.fault(verdict, task)

    def nuggets_named(self, row: Mapping[str, Any]) -> Sequence[str]:
        """The nuggets that a row names: each has to be on the list."""
        return ()

    def levels(self, row: Mapping[str, Any]) -> dict[str, str]:
        """How far a response has each nugget that a row names: full, partial or none."""
        return {}

    def says(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """A verdict as it is compared: two rows with equal values say the same."""
        return tuple(row.get(name) for name in self.fields)

    def found_words(self, answer: Mapping[str, Any], lookup: Lookup) -> str | None:
        """The judgments of one row of a run, in words; None where it is not judged."""
        judged = lookup.row(self.rows, answer)
        return None if judged is None else self.in_words(judged)

    def combined(self, own: Row | None, links: Sequence[Row]) -> Row | None:
        """One row for a subject: its own, together with the rows of its further parts where the kind has such."""
        return own

    def drafts(self, rows: pl.DataFrame, wanted: Wanted) -> Iterator[Draft]:
        """The items to judge, from the rows that the runs returned to the questions of one type."""
        return iter(())

    def parts(self, item: Item, nuggets: Sequence[str], assessor: str | None) -> list[Part]:
        """The parts of an item that take a verdict."""
        return [Part("", self.rows, self.subject_of(item))]

    def part_shown(self, item: Item, part: str) -> Row:
        """The part as an assessor saw it."""
        return dict(item.body)

    def places(self, item: Item) -> list[Marked]:
        """Where the documents that an item shows are to be opened."""
        return []

    def subject_of(self, item: Item) -> Row:
        """The fields that all parts of an item share: question and, where it is judged run by run, the run."""
        return {"question": item.question} | ({"run": item.run} if item.run is not None else {})

    def verdict(self, row: Mapping[str, Any], *more: str) -> Row:
        """The verdict of a row, with some further fields where the row has them."""
        return {name: row[name] for name in (*self.fields, *more) if row.get(name) is not None}

    def in_words(self, row: Mapping[str, Any]) -> str:
        """A verdict as a few words: labels as they are, other values with their names."""
        words = []
        for name, value in self.verdict(row).items():
            shown = ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
            words.append(shown if self.fields[name] == pl.String else f"{name} {shown}")
        return "; ".join(words)

    def given(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows of a table of several kinds that have a verdict of this one."""
        main = next(iter(self.fields))
        return table.drop_nulls(main) if main in table.columns else table.clear()

    def averaged(self, table: pl.DataFrame) -> pl.DataFrame:
        """The same, with the numbers that a mean is taken of."""
        return self.given(table)

    def labels_of(self, table: pl.DataFrame, nuggets: pl.DataFrame) -> pl.DataFrame:
        """The labels of a table of judgments, for comparing assessors: columns question, item and label."""
        names = [pl.col(name).cast(pl.String) for name in self.identity if name != "question"]
        item = pl.concat_str(names, separator="\t", ignore_nulls=True) if names else pl.col("question")
        return table.select("question", item.alias("item"), label=next(iter(self.fields)))

    def labels_by_person(self, table: pl.DataFrame, nuggets: pl.DataFrame) -> pl.DataFrame:
        """The labels of a table of judgments that all name their assessor: question, item, label and person."""
        return self.labels_of(table, nuggets).with_columns(person=table["assessor"])


# ---- subjects -------------------------------------------------------------------------------------------------------

_WHOLE = {name for name, kind in SUBJECT_COLUMNS.items() if kind == pl.Int64}
# Filled by the register (`qassay.judging`): the digest of a subject needs its kind by name.
IDENTITY: dict[str, tuple[str, ...]] = {}


def subject(kind: str, row: Mapping[str, Any]) -> str:
    """The digest of what a judgment row of this kind judges.

    An imported row and one made in the application name the same subject by the same digest, so that each is the
    other's history. A whole number stands for its digits where a field is a string, as when a row is read for scoring:

    >>> import qassay.judging
    >>> subject("pair", {"question": 75}) == subject("pair", {"question": "75", "judgment": "YES"})
    True
    """
    return digest(kind, *(_plain(name, row.get(name)) for name in IDENTITY[kind]))


def digest(*parts: Any) -> str:
    """A short name for some values: 32 hexadecimal digits."""
    return hashlib.blake2b(msgspec.json.encode(parts), digest_size=16).hexdigest()


def _plain(name: str, value: Any) -> Any:
    return value if value is None or name in _WHOLE else str(value)


# ---- rules that several kinds share ---------------------------------------------------------------------------------


def label_fault(verdict: Verdict, labels: Iterable[str]) -> str | None:
    """The fault of the label of a verdict."""
    allowed, label = list(labels), verdict.get("judgment")
    return None if label in allowed else f"{label!r} is not a label; use one of {' '.join(allowed)}"


SUPPORT_LABELS = (
    Label("full", "Full support", "1", tone="good"),
    Label("partial", "Partial support", "2", tone="warn"),
    Label("none", "No support", "3", tone="bad"),
)


def support_fault(verdict: Verdict) -> str | None:
    """The fault of a level of support."""
    level = verdict.get("support")
    if any(level == label.label for label in SUPPORT_LABELS):
        return None
    return f"{level!r} is not a level of support; use full, partial or none"


def is_whole(value: Any, low: int, high: int) -> bool:
    """Whether a value is a whole number within limits; to Python true is a number, to a reader it is not."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def check_verdict(kind: Kind, part: Part, verdict: Verdict, task: Task, *, nuggets: Collection[str] = ()) -> None:
    """Refuse a verdict that a person or a program sends on a part, with the rules of judgment files.

    Beyond them, a sender's own verdict has no unknown fields, a short note, and text that every file can hold.
    """
    if unknown := set(verdict) - {*kind.fields, "note"}:
        raise _refused(part, f"a verdict of this kind has no {sorted(unknown)[0]!r}")
    note = verdict.get("note")
    if note is not None and (not isinstance(note, str) or len(note) > LONGEST_NOTE):
        raise _refused(part, f"a note is a text of at most {LONGEST_NOTE} characters")
    if fault := kind.fault(verdict, task):
        raise _refused(part, fault)
    if unlisted := [name for name in kind.nuggets_named({**part.row, **verdict}) if name not in nuggets]:
        raise _refused(part, f"the list has no nugget {unlisted[0]!r}", "unknown-nugget")
    for value in verdict.values():
        if isinstance(value, str) and not _is_text(value):
            raise _refused(
                part, "a text has half a character (a lone surrogate), which no file can contain; type it again"
            )


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refused(part: Part, message: str, rule: Rule = "bad-label") -> InputError:
    return InputError(Problem(rule, f"question {part.row['question']}: {message}", None, None))


def responses(rows: pl.DataFrame) -> Iterator[tuple[str, str, list[Row]]]:
    """Question, run and elements of every response: its strings with their documents, contexts and citations."""
    names = [name for name in ("doc", "text", "citations") if name in rows.columns]
    for row in rows.group_by("question", "run", maintain_order=True).agg(*names).iter_rows(named=True):
        elements = zip(*(row[name] for name in names), strict=True)
        yield row["question"], row["run"], [dict(zip(names, values, strict=True)) for values in elements]
