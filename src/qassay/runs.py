"""Runs: what systems returned, as one table, and the rules it must keep (METHOD 3).

All runs of an evaluation are one table, one row per item. A response without items (NIL, or an empty list) is one row
whose `doc` and `text` are null. Rows of one run are in the order of its file, which is the order of confidence
where a task ranks questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.errors import Problem, Remedy, Rule
from qassay.questions import TestSet
from qassay.tasks import QuestionRules, Task

NIL = "NIL"

# The written schema of the table of runs. `run` and `question` are Enums, made from the evaluation's own names.
ITEM_COLUMNS: Mapping[str, Any] = {
    "run": pl.Enum,  # the tag
    "question": pl.Enum,
    "line": pl.UInt32,  # of the run's file
    "rank": pl.UInt32,  # place within the response, from 1; 0 in a row without an item
    "doc": pl.String,
    "text": pl.String,
    # Only where the task has them:
    "start": pl.UInt32,  # extracts: text is absent, the document has it
    "length": pl.UInt32,
    "citations": pl.List(pl.String),  # sentences of long answers
    "contexts": pl.List(pl.Struct({"doc": pl.String, "text": pl.String})),  # of free-text answers
    "decision": pl.String,  # entailment
    "justification": pl.String,
}


@dataclass(frozen=True, slots=True)
class RunInformation:
    """The information that comes with a run: the fields of its row in runs.jsonl. Manual runs carry a star."""

    organisation: str | None = None
    description: str | None = None
    manual: bool = False
    priority: int | None = None

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> RunInformation:
        """The information in a row; its other fields are left out."""
        given = {field.name: row.get(field.name) for field in fields(cls)}
        return cls(**{name: value for name, value in given.items() if value is not None})

    def row(self, tag: str, before: Mapping[str, Any]) -> dict[str, Any]:
        """The row of the run; other fields of the row before stay."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        absent = {name for name, value in own.items() if value is None or (value is False and name not in before)}
        return {name: value for name, value in {"run": tag, **before, **own}.items() if name not in absent}

    def or_before(self, before: RunInformation) -> RunInformation:
        """The same; what it leaves open is as before, and a manual run stays one."""
        own = ((field.name, getattr(self, field.name)) for field in fields(self))
        given: dict[str, Any] = {name: value for name, value in own if value or type(value) is int}
        return replace(before, **given)


_COLUMN_TYPES: Mapping[str, Any] = {"str | None": pl.String, "bool": pl.Boolean, "int | None": pl.Int64}
# The written schema of what runs say of themselves.
INFORMATION_COLUMNS: Mapping[str, Any] = {
    "run": pl.String,
    **{field.name: _COLUMN_TYPES[str(field.type)] for field in fields(RunInformation)},
}


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of an evaluation: their tags in the order of `table`'s Enum, and the table of items."""

    tags: tuple[str, ...]
    table: pl.DataFrame
    information: Mapping[str, RunInformation] = field(default_factory=dict)

    def answered(self, questions: TestSet) -> NDArray[np.bool_]:
        """Which run (row) has a response to which question (column)."""
        return row_counts(self.table, len(self.tags), len(questions)) > 0

    def about(self, tag: str) -> RunInformation:
        """The information that comes with the run."""
        return self.information.get(tag, RunInformation())

    def only(self, tags: Sequence[str]) -> Runs:
        """Some of the runs, in this order."""
        run = pl.col("run").cast(pl.String)
        table = self.table.filter(run.is_in(list(tags))).with_columns(run.cast(pl.Enum(tags)))
        return Runs(tuple(tags), table, self.information)

    def to_judge(self, most: int | None) -> Runs:
        """The runs with the rows of those only that are judged: `most` of each organisation (None: all)."""
        chosen = first_of_organisations({tag: self.about(tag) for tag in self.tags}, most)
        if len(chosen) == len(self.tags):
            return self
        return replace(self, table=self.table.filter(pl.col("run").cast(pl.String).is_in(list(chosen))))


def first_of_organisations(runs: Mapping[str, RunInformation], most: int | None) -> tuple[str, ...]:
    """The first `most` runs of each organisation by priority, then by tag; runs without an organisation are all in.

    Priority 1 comes first, and a run without a priority last.

    >>> about = RunInformation
    >>> runs = {"a": about("North", priority=2), "b": about("North", priority=1), "c": about("North"), "d": about()}
    >>> first_of_organisations(runs, 2), first_of_organisations(runs, None)
    (('a', 'b', 'd'), ('a', 'b', 'c', 'd'))
    """
    if most is None:
        return tuple(runs)
    places: dict[str, int] = {}
    chosen = set()
    for tag, about in sorted(runs.items(), key=lambda run: (run[1].priority is None, run[1].priority or 0, run[0])):
        if about.organisation is not None:
            places[about.organisation] = places.get(about.organisation, 0) + 1
        if about.organisation is None or places[about.organisation] <= most:
            chosen.add(tag)
    return tuple(tag for tag in runs if tag in chosen)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some files of runs as parsed, before their rules are checked.

    `rows` has the columns of ITEM_COLUMNS that the form gives, but `run` is the index of the file, `question` is null
    where the test set lacks it, and `asked` is the question as written. In forms with one response per line
    (`objects`) a second line for a question is a second response; `nil` and `confidence` are there as written.
    """

    rows: pl.DataFrame
    files: tuple[str, ...]
    objects: bool = False


def check(batch: Batch, questions: TestSet, task: Task) -> Iterator[Problem]:
    """Check the rows of several runs at once (all rules but missing questions and documents).

    Every rule is tested on all rows together, and only where one is broken are rows visited.
    """
    rows = batch.rows
    unknown = rows.filter(pl.col("question").is_null())
    if unknown.height:
        rows = rows.filter(pl.col("question").is_not_null())
        once = unknown.unique(["run", "line"], maintain_order=True)
        yield from _faults(batch, once, "unknown-question", "is not in the test set; remove the line or correct the id")
    counts = row_counts(rows, len(batch.files), len(questions))
    if batch.objects and (counts > 1).any():
        yield from _second_responses(batch, rows)
    if task.ordered and "confidence" in rows.columns:
        yield from _confidence_order(batch, rows)
    if "decision" in rows.columns:
        wrong = rows.filter(~pl.col("decision").is_in(task.labels))
        for row in wrong.iter_rows(named=True):
            message = (
                f"question {row['asked']}: {row['decision']!r} is not a decision; it is one of {', '.join(task.labels)}"
            )
            yield Problem("bad-label", message, batch.files[row["run"]], row["line"], row["asked"])
    if "doc" in rows.columns:
        for kind, rules in task.types.items():
            of_kind = np.array(questions.types) == kind
            typed = rows if of_kind.all() else rows.filter(of_kind[rows["question"].to_physical().to_numpy()])
            yield from _check_items(batch, typed, counts, kind, rules)


def missing(counts: NDArray[np.int64], files: Sequence[str], questions: TestSet) -> list[Problem]:
    """One problem for every question without a response."""
    anyway = (Remedy("qassay", "score --missing zero", "To score it anyway"),)
    return [
        Problem(
            "missing-question",
            f"question {questions.ids[column]} has no response; a run answers every question",
            files[run],
            None,
            questions.ids[column],
            anyway,
        )
        for run, column in zip(*np.nonzero(counts == 0), strict=True)
    ]


def check_documents(table: pl.DataFrame, files: Mapping[str, str], lengths: Mapping[str, int]) -> Iterator[Problem]:
    """Check doc-ids, and the ends of extracts, against the documents of a loaded collection."""
    documents = pl.DataFrame(
        {"doc": list(lengths), "size": list(lengths.values())}, schema={"doc": pl.String, "size": pl.Int64}
    )
    joined = table.filter(pl.col("doc").is_not_null()).join(documents, on="doc", how="left", maintain_order="left")
    for row in joined.filter(pl.col("size").is_null()).iter_rows(named=True):
        message = f"question {row['question']}: document {row['doc']} is not in the collection"
        yield Problem("unknown-doc", message, files[row["run"]], row["line"], row["question"])
    if "length" not in joined.columns:
        return
    for row in joined.filter(pl.col("start").cast(pl.Int64) + pl.col("length") > pl.col("size")).iter_rows(named=True):
        message = (
            f"question {row['question']}: the extract ends at {row['start'] + row['length']},"
            f" but document {row['doc']} has {row['size']} characters"
        )
        yield Problem("extract-past-end", message, files[row["run"]], row["line"], row["question"])


def row_counts(rows: pl.DataFrame, runs: int, questions: int) -> NDArray[np.int64]:
    """How many rows each run (row) has for each question (column)."""
    run = rows["run"].to_physical().to_numpy().astype(np.int64)
    cells = np.bincount(run * questions + rows["question"].to_physical().to_numpy(), minlength=runs * questions)
    return cells.reshape(runs, questions)


def ranks(run: NDArray[np.int64], question: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Place of each row among the rows of its run and question, from 1, in the order of the file.

    >>> ranks(np.array([0, 0, 0, 1]), np.array([7, 8, 7, 7])).tolist()
    [1, 1, 2, 1]
    """
    group = run * (question.max(initial=0) + 1) + question
    order = np.argsort(group, kind="stable")
    first = np.diff(group[order], prepend=-1) != 0
    start = np.maximum.accumulate(np.where(first, np.arange(len(group)), 0))
    result = np.empty(len(group), dtype=np.uint32)
    result[order] = np.arange(len(group)) - start + 1
    return result


def _noun(kind: str) -> str:
    """The common name of a question of this type."""
    return {"qa": "a free-text question", "other": "an other question"}.get(kind, f"a {kind}")


def _check_items(
    batch: Batch, rows: pl.DataFrame, counts: NDArray[np.int64], kind: str, rules: QuestionRules
) -> Iterator[Problem]:
    """Check the responses to the questions of one type."""
    nothing = pl.col("doc").is_null() & (pl.col("text").is_null() if "text" in rows.columns else True)
    yield from _check_nil(batch, rows.filter(nothing), counts, kind, rules)
    if batch.objects and "text" in rows.columns:
        yield from _check_written(batch, rows, kind, rules)
    most = rules.max_items or rules.form.most_items
    if most is not None and (counts > most).any():
        items = rows.filter(~nothing)
        place = pl.int_range(pl.len()).over("run", "question", *(["line"] if batch.objects else []))
        takes = f"{_noun(kind)} takes {'one' if most == 1 else f'at most {most}'}"
        surplus = items.with_columns(n=pl.len().over("run", "question")).filter(place == most)
        for row in surplus.iter_rows(named=True):
            message = f"question {row['asked']} has {row['n']} answers; {takes}"
            rule: Rule = "one-answer" if most == 1 else "too-many-items"
            yield Problem(rule, message, batch.files[row["run"]], row["line"], row["asked"])
    if rules.max_length is not None and "length" in rows.columns:
        long = rows.filter(pl.col("length") > rules.max_length)
        advice = f"has an extract of more than {rules.max_length} characters; shorten it"
        yield from _faults(batch, long, "extract-too-long", advice)


def _check_nil(
    batch: Batch, empty: pl.DataFrame, counts: NDArray[np.int64], kind: str, rules: QuestionRules
) -> Iterator[Problem]:
    """NIL beside items, NIL where the task has none, and a factoid that is given nothing."""
    if not empty.height:
        return
    beside = counts[empty["run"].to_numpy(), empty["question"].to_physical().to_numpy()] > 1
    if batch.objects:  # one line is one response: another line is a second response
        beside = np.zeros_like(beside)
    yield from _faults(batch, empty.filter(beside), "nil-with-items", "has NIL and other lines; keep one or the other")
    alone = empty.filter(~beside)
    if rules.form.empty == "never":
        advice = f"is given nothing; this task has no NIL, {_noun(kind)} takes 1 to {rules.max_items} items"
        yield from _faults(batch, alone, "nil-with-items", advice)
    elif rules.form.empty == "nil":
        silent = alone if not rules.nil else alone.filter(~pl.col("nil")) if "nil" in alone.columns else alone.clear()
        no_nil = " (this task has no NIL; nil = true would allow it)"
        yield from _faults(
            batch, silent, "one-answer", f"has no answer; {_noun(kind)} takes one{', or NIL' if rules.nil else no_nil}"
        )


def _check_written(batch: Batch, rows: pl.DataFrame, kind: str, rules: QuestionRules) -> Iterator[Problem]:
    """Faults that line forms cannot have: doc-ids that are absent or span lines, and strings without a character."""
    if kind in ("factoid", "list"):
        bare = rows.filter((pl.col("doc").is_null() | (pl.col("doc") == "")) & pl.col("text").is_not_null())
        yield from _faults(batch, bare, "syntax", 'has an item without "doc"; the document supports the answer')
    broken = rows.filter(pl.col("doc").str.contains("\n", literal=True))
    yield from _faults(batch, broken, "syntax", "has a doc-id with a line break in it")
    if not rules.form.has_sentences:
        yield from _faults(batch, rows.filter(pl.col("text") == ""), "syntax", "has an item with an empty string")


def _second_responses(batch: Batch, rows: pl.DataFrame) -> Iterator[Problem]:
    lines = rows.unique(["run", "line"], maintain_order=True)
    second = lines.filter(pl.int_range(pl.len()).over("run", "question") > 0)
    yield from _faults(batch, second, "duplicate-question", "has a second response; a run answers every question once")


def _confidence_order(batch: Batch, rows: pl.DataFrame) -> Iterator[Problem]:
    """Confidences that only some lines of a run have, or that are higher than on the line before."""
    with_confidence = rows.filter(pl.col("confidence").is_not_null().any().over("run"))
    advice = "has no confidence, but other lines of the run have; give it on every line or on none"
    yield from _faults(batch, with_confidence.filter(pl.col("confidence").is_null()), "confidence-order", advice)
    rising = with_confidence.filter(pl.col("confidence") > pl.col("confidence").shift(1).over("run"))
    advice = "is more confident than the line before it; the most confident comes first"
    yield from _faults(batch, rising, "confidence-order", advice)


def _faults(batch: Batch, rows: pl.DataFrame, rule: Rule, message: str) -> Iterator[Problem]:
    for run, line, question in rows.select("run", "line", "asked").iter_rows():
        yield Problem(rule, f"question {question} {message}", batch.files[run], line, question)
