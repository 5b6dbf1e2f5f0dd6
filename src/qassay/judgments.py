"""Judgments and keys: what assessors said, and what scoring makes of it (METHOD 4).

A judgment set is one table with a row for every judgment, of whatever kind: the fields that are there tell which. The
last row for an item stands; earlier ones are its history. A `Key` is a judgment set together with what follows from
it: the questions where NIL is right and the known answers of list questions are derived here, never typed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.errors import InputError, Problem, Rule
from qassay.nuggets import NUGGET_COLUMNS
from qassay.questions import TestSet
from qassay.tasks import DECISION_LABELS, Task

# The written schema of a judgment set; a kind of judgment uses some of the columns.
JUDGMENT_COLUMNS: Mapping[str, Any] = {
    "question": pl.String,
    "run": pl.String,
    "doc": pl.String,
    "text": pl.String,
    "start": pl.Int64,
    "length": pl.Int64,
    "judgment": pl.String,
    "answer": pl.String,
    "distinct": pl.Boolean,
    "nuggets": pl.List(pl.String),
    "item": pl.Int64,
    "nugget": pl.String,
    "support": pl.String,
    "sentence": pl.Int64,
    "content": pl.Int64,
    "organization": pl.Int64,
    "understandability": pl.Int64,
    "correctness": pl.Int64,
    "assessor": pl.String,
}
ANSWER_COLUMNS: Mapping[str, Any] = {
    "question": pl.String,
    "answer": pl.String,
    "doc": pl.String,
    "withdrawn": pl.Boolean,
}

# What makes two judgments of one kind judgments of the same thing: of those the last stands.
IDENTITY: Mapping[str, tuple[str, ...]] = {
    "item": ("question", "doc", "text", "start", "length"),
    "list": ("question", "run", "doc", "text"),
    "pair": ("question",),
    "match": ("question", "run", "item"),
    "support": ("question", "run", "nugget"),
    "citation": ("question", "run", "sentence", "doc"),
    "holistic": ("question", "run"),
    "rating": ("question", "run", "assessor"),
}

# The kind of a judgment, told by the first of these fields that it has; a plain label is told by the question's type.
KIND_BY_FIELD: Mapping[str, str] = {
    "nuggets": "match",
    "nugget": "support",
    "sentence": "citation",
    "content": "holistic",
    "organization": "holistic",
    "understandability": "rating",
}
KIND_BY_TYPE: Mapping[str, str] = {"list": "list", "pair": "pair"}

# Reports every row that an expression is true of: the rule it breaks, the expression, the message with {columns}.
Report = Callable[[Rule, pl.Expr, str], Iterator[Problem]]

SUPPORT = ("full", "partial", "none")
# Sets that are nobody's own judgments.
SETTLED_SETS = ("adjudicated", "reference")


@dataclass(frozen=True, eq=False)
class JudgmentSet:
    """The judgments of one set that stand, by kind; a kind that does not occur is absent."""

    name: str
    kinds: Mapping[str, pl.DataFrame]

    def kind(self, kind: str) -> pl.DataFrame:
        """The judgments of one kind; empty where there are none."""
        return self.kinds.get(kind, pl.DataFrame(schema={"line": pl.UInt32, **JUDGMENT_COLUMNS}))

    def pair_labels(self) -> dict[str, str]:
        """The label of every labelled pair."""
        table = self.kind("pair")
        return dict(zip(table["question"], table["judgment"], strict=True))


@dataclass(frozen=True, eq=False)
class Key:
    """What scoring uses: judgments, and the nuggets and known answers that belong to them."""

    judgments: JudgmentSet
    nuggets: pl.DataFrame
    answers: pl.DataFrame
    # Ratings of justifications are read from all sets together; the judge is the assessor, or the set's name.
    ratings: pl.DataFrame | None = None
    # Labels of pairs where they are not those of the set as it stands (folded, or derived from several sets).
    pairs: Mapping[str, str] | None = None
    # Whether decisions are compared after folding UNKNOWN into NO.
    two_way: bool = False

    @property
    def name(self) -> str:
        """Name of the key."""
        return self.judgments.name

    def pair_labels(self) -> Mapping[str, str]:
        """Reference answer of every labelled pair."""
        return self.judgments.pair_labels() if self.pairs is None else self.pairs

    def developed_answers(self) -> pl.DataFrame:
        """The answers known from question development that are not withdrawn."""
        return self.answers.filter(~pl.col("withdrawn").fill_null(value=False)).select("question", "answer")

    def nil_is_right(self, questions: TestSet) -> NDArray[np.bool_]:
        """For each question, whether it has no known answer: none from development, no item judged R."""
        right = self.judgments.kind("item").filter(pl.col("judgment") == "R")["question"]
        answered = {*right, *self.developed_answers()["question"]}
        return np.array([question.id not in answered for question in questions])

    def answer_classes(self) -> pl.DataFrame:
        """The known answers, each class once: those from development, and those of the R items of all runs."""
        found = self.right_list_items().drop_nulls("class").select("question", answer="class")
        return pl.concat([self.developed_answers(), found]).unique(maintain_order=True)

    def known_answers(self, questions: TestSet) -> NDArray[np.int64]:
        """S of each question: the number of its answer classes."""
        sizes = dict(self.answer_classes().group_by("question").len().iter_rows())
        return np.array([sizes.get(question.id, 0) for question in questions], dtype=np.int64)

    def right_list_items(self) -> pl.DataFrame:
        """R items of lists with their `class`: as named, else the string; null where only `distinct` is known."""
        named = pl.col("answer").fill_null(pl.when(pl.col("distinct").is_null()).then(pl.col("text")))
        rows = self.judgments.kind("list").filter(pl.col("judgment") == "R")
        return rows.with_columns(named.alias("class"))


def sort_out(name: str, table: pl.DataFrame, questions: TestSet, task: Task, *, file: str) -> JudgmentSet:
    """Check the rows of a judgment set and sort them by kind, the last row of each item standing."""
    kinds = with_kinds(table, questions)
    problems = list(_faults(kinds, task, file))
    if problems:
        raise InputError(problems)
    return JudgmentSet(
        name,
        {
            kind: group.drop("kind", "type").unique(IDENTITY[kind], keep="last", maintain_order=True)
            for (kind,), group in kinds.partition_by("kind", as_dict=True, include_key=True).items()
            if isinstance(kind, str)
        },
    )


def with_kinds(table: pl.DataFrame, questions: TestSet) -> pl.DataFrame:
    """The rows of a judgment set with the `type` of their question and their own `kind` (null: none of any kind)."""
    types = {question.id: question.type for question in questions}
    typed = pl.col("question").replace_strict(types, default=None, return_dtype=pl.String)
    return table.with_columns(type=typed).with_columns(kind=_kind())


def check_nuggets(judgments: JudgmentSet, nuggets: pl.DataFrame, *, file: str) -> Iterator[Problem]:
    """Nuggets that judgments name but the list does not hold."""
    listed = set(nuggets.select("question", "nugget").iter_rows())
    matched = judgments.kind("match").explode("nuggets").select("line", "question", nugget="nuggets")
    supported = judgments.kind("support").select("line", "question", "nugget")
    for line, question, nugget in pl.concat([matched, supported]).drop_nulls("nugget").iter_rows():
        if (question, nugget) not in listed:
            message = f"question {question} has no nugget {nugget!r}; add it to the nugget list or correct the id"
            yield Problem("unknown-nugget", message, file, line, question)


def check_known_answers(key: Key, *, file: str) -> Iterator[Problem]:
    """List questions whose judgments say only `distinct`, without a list of known answers to count against."""
    unnamed = key.right_list_items().filter(pl.col("class").is_null())["question"].unique(maintain_order=True)
    developed = set(key.developed_answers()["question"])
    for question in unnamed:
        if question not in developed:
            message = f"question {question} is judged without answer classes and answers.jsonl has no answers for it"
            yield Problem("missing-question", message, file, None, question)


def folded(labels: Mapping[str, str]) -> dict[str, str]:
    """Three-way labels as two-way ones: UNKNOWN becomes NO."""
    return {question: "NO" if label == "UNKNOWN" else label for question, label in labels.items()}


def disagreement_unknown(
    assessors: Iterable[Mapping[str, str]], two_way: Iterable[Mapping[str, str]] = ()
) -> dict[str, str]:
    """A label stands only where every assessor gave it and no two-way key contradicts it; else UNKNOWN [RTE08].

    >>> disagreement_unknown([{"1": "YES", "2": "NO"}, {"1": "YES", "2": "YES"}])
    {'1': 'YES', '2': 'UNKNOWN'}
    """
    sets, keys = list(assessors), list(two_way)
    pairs = dict.fromkeys(question for labels in sets for question in labels)
    return {question: _agreed(question, sets, keys) for question in pairs}


def _agreed(question: str, sets: list[Mapping[str, str]], keys: list[Mapping[str, str]]) -> str:
    given = {labels.get(question) for labels in sets}
    label = given.pop() if len(given) == 1 else None
    if label in ("YES", "NO") and all(key.get(question, label) == label for key in keys):
        return label
    return "UNKNOWN"


def _kind() -> pl.Expr:
    """Which kind of judgment a row is; null where it is none."""
    named = pl.coalesce(pl.when(pl.col(name).is_not_null()).then(pl.lit(kind)) for name, kind in KIND_BY_FIELD.items())
    labelled = pl.col("type").replace_strict(KIND_BY_TYPE, default="item", return_dtype=pl.String)
    return pl.coalesce(named, pl.when(pl.col("judgment").is_not_null()).then(labelled))


def _faults(rows: pl.DataFrame, task: Task, file: str) -> Iterator[Problem]:
    """Everything wrong with the rows of a judgment set, rule by rule."""

    def report(rule: Rule, wrong: pl.Expr, message: str) -> Iterator[Problem]:
        for row in rows.filter(wrong).iter_rows(named=True):
            yield Problem(rule, message.format(**row), file, row["line"], row["question"])

    kind = pl.col("kind")
    labels = DECISION_LABELS if task.has("decision", "justified") else task.labels
    yield from report("syntax", pl.col("question").is_null(), 'the row has no "question"')
    unknown = pl.col("type").is_null() & pl.col("question").is_not_null()
    yield from report("unknown-question", unknown, "question {question} is not in the test set")
    bare = kind.is_null() & ~unknown & pl.col("question").is_not_null()
    yield from report("syntax", bare, "question {question}: the row holds no judgment of any kind")
    wrong = pl.col("judgment").is_not_null() & ~pl.col("judgment").is_in(labels)
    yield from report(
        "bad-label", wrong, f"question {{question}}: {{judgment!r}} is no label; it is one of {' '.join(labels)}"
    )
    unplaced = (kind == "item") & pl.col("text").is_null() & (pl.col("start").is_null() | pl.col("length").is_null())
    yield from report(
        "syntax",
        unplaced | ((kind == "item") & pl.col("doc").is_null()),
        "question {question}: an item is named by doc and text (or start and length)",
    )
    unowned = kind.is_in(["list", "match", "support", "citation", "holistic", "rating"]) & pl.col("run").is_null()
    yield from report("syntax", unowned, 'question {question}: a judgment of this kind has a "run"')
    stringless = (kind == "list") & pl.col("text").is_null()
    yield from report("syntax", stringless, "question {question}: a list item is named by doc and text")
    wrong = kind.is_in(["support", "citation"]) & ~pl.col("support").is_in(SUPPORT).fill_null(value=False)
    yield from report("bad-label", wrong, "question {question}: {support!r} is no support; it is full, partial or none")
    yield from _rating_faults(report)


def _rating_faults(report: Report) -> Iterator[Problem]:
    for column, low, high in (
        ("content", 0, 10),
        ("organization", 0, 10),
        ("understandability", 1, 5),
        ("correctness", 1, 5),
    ):
        outside = ~pl.col(column).is_between(low, high)
        yield from report(
            "bad-label", outside, f"question {{question}}: {column} {{{column}}} is not from {low} to {high}"
        )
    needless = pl.col("correctness").is_not_null() & (pl.col("understandability") < 3)
    yield from report(
        "bad-label",
        needless,
        "question {question}: correctness is judged only from understandability 3 up, not at {understandability}",
    )


def no_nuggets() -> pl.DataFrame:
    """An empty nugget list."""
    return pl.DataFrame(schema=dict(NUGGET_COLUMNS))


def no_answers() -> pl.DataFrame:
    """An empty list of known answers."""
    return pl.DataFrame(schema=dict(ANSWER_COLUMNS))
