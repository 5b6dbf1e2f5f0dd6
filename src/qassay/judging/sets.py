"""Judgment sets: rows of every kind in one table, checked and sorted by kind.

The fields of a row show its kind. The last row for a subject counts; earlier ones are its history.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from qassay.errors import InputError, Problem, Problems, Rule
from qassay.judging import ADJUDICATED, JUDGMENT_COLUMNS, ROW_KINDS, SETTLED_SETS, Kind, kinds_of_rows
from qassay.questions import TestSet
from qassay.tasks import Task


@dataclass(frozen=True, eq=False)
class JudgmentSet:
    """The current judgments of one set, by kind; a kind that does not occur is absent."""

    name: str
    kinds: Mapping[str, pl.DataFrame]

    def kind(self, kind: str) -> pl.DataFrame:
        """The judgments of one kind; empty where there are none."""
        return self.kinds.get(kind, pl.DataFrame(schema={"line": pl.UInt32, **JUDGMENT_COLUMNS}))

    def pair_labels(self) -> dict[str, str]:
        """The label of every labelled pair."""
        table = self.kind("pair")
        return dict(zip(table["question"], table["judgment"], strict=True))


def judgment_set(
    name: str, table: pl.DataFrame, questions: TestSet, task: Task, *, file: str, incoming: bool = True
) -> JudgmentSet:
    """Check the rows of a judgment set and sort them by kind; of each subject the last row counts.

    Rows that come in are checked by all rules. Those that are already in an evaluation must be readable: an earlier
    release may have let in what the rules refuse today.
    """
    rows = with_kinds(table, questions, task)
    groups = {
        kind: group
        for (kind,), group in rows.partition_by("kind", as_dict=True, include_key=False).items()
        if isinstance(kind, str)
    }
    problems = Problems(_row_faults(rows, questions, file))
    for kind, group in groups.items():
        problems += _verdict_faults(ROW_KINDS[kind], group, task, file, incoming=incoming)
    if problems:
        raise InputError(problems)
    current = {
        kind: group.unique(ROW_KINDS[kind].identity, keep="last", maintain_order=True) for kind, group in groups.items()
    }
    return JudgmentSet(name, current)


def with_kinds(table: pl.DataFrame, questions: TestSet, task: Task) -> pl.DataFrame:
    """The rows of a judgment set with their `kind`; null where a row has no verdict."""
    types = {question.id: question.type for question in questions}
    return table.with_columns(kind=kinds_of_rows(types, task))


# The judgment sets of assessors: set i has every question's i-th assessor (METHOD 4).
# A crowd may have more of them than the application hands out, up to a number that is certainly a mistake.
MOST_SLOTS = 100
SLOTS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
DEVELOPMENT = "development"


def slot_name(place: int) -> str:
    """The name of an assessors' set by its place, from 0.

    >>> slot_name(0), slot_name(9), slot_name(10), slot_name(21), slot_name(110)
    ('first', 'tenth', '11th', '22nd', '111th')
    """
    if place < len(SLOTS):
        return SLOTS[place]
    number = place + 1
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def in_order(names: Iterable[str]) -> list[str]:
    """Names of sets as people expect them: settled ones, then first, second, third, ..., then by alphabet.

    >>> in_order(["third", "first", "11th", "ana", "second", "adjudicated"])
    ['adjudicated', 'first', 'second', 'third', '11th', 'ana']
    """
    places = {slot_name(place): place for place in range(MOST_SLOTS)}
    return sorted(names, key=lambda name: (name not in SETTLED_SETS, places.get(name, MOST_SLOTS), name))


def list_shown(set_name: str, names: Collection[str]) -> str:
    """The nugget list that an assessor is shown: the assessor's own, or one for all assessors.

    Assessors never see the lists of other assessors; without any other list, they write their own.
    """
    if set_name in names:
        return set_name
    written = any(name in SLOTS for name in names)
    if len(names) == 1 and not written:
        return next(iter(names))
    # Where assessors write their own lists, `adjudicated` was made from them.
    shared_lists = (DEVELOPMENT,) if written else (DEVELOPMENT, ADJUDICATED)
    return next((name for name in shared_lists if name in names), set_name)


def labels(sets: Iterable[JudgmentSet]) -> pl.DataFrame:
    """Labels of every judged item: columns question, item and one for each set (null: not judged)."""
    records = [record for record in ROW_KINDS.values() if record.compared == "items"]
    nothing = pl.DataFrame(schema={"question": pl.String, "nugget": pl.String, "text": pl.String})
    return joined(
        {
            judged.name: pl.concat([record.labels_of(judged.kind(record.name), nothing) for record in records])
            for judged in sets
        }
    )


def joined(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Tables of question, item and label as one table, which has the labels of each in a column of its name."""
    side_by_side = pl.DataFrame(schema={"question": pl.String, "item": pl.String})
    for name, table in tables.items():
        labels = table.rename({"label": name})
        side_by_side = side_by_side.join(
            labels, on=["question", "item"], how="full", coalesce=True, maintain_order="left_right"
        )
    return side_by_side


RATED: Sequence[str] = ("rating", "holistic")


def ratings(sets: Iterable[JudgmentSet]) -> pl.DataFrame:
    """Ratings of justifications and holistic scores; an unnamed assessor has the name of the set."""
    values = [name for kind in RATED for name in ROW_KINDS[kind].fields]
    tables = []
    for judged in sets:
        rows = pl.concat([judged.kind(kind) for kind in RATED], how="diagonal")
        assessor = pl.col("assessor").fill_null(judged.name)
        tables.append(rows.select(pl.lit(judged.name).alias("set"), assessor, "question", "run", *values))
    if not tables:
        return pl.DataFrame(schema={"set": pl.String, "assessor": pl.String, "question": pl.String, "run": pl.String})
    return pl.concat(tables).unique(["assessor", "question", "run", "set"], keep="last", maintain_order=True)


def check_nuggets(judgments: JudgmentSet, nuggets: pl.DataFrame, *, file: str) -> Iterator[Problem]:
    """Nuggets that judgments name but the list does not have."""
    listed = set(nuggets.select("question", "nugget").iter_rows())
    for name, table in judgments.kinds.items():
        record = ROW_KINDS[name]
        for row in table.iter_rows(named=True) if record.by_nuggets else ():
            for nugget in record.nuggets_named(row):
                if (row["question"], nugget) not in listed:
                    message = f"question {row['question']} has no nugget {nugget!r}; add it to the nugget list"
                    place = (file, row["line"], row["question"])
                    yield Problem("unknown-nugget", f"{message} or correct the id", *place)


def _row_faults(rows: pl.DataFrame, questions: TestSet, file: str) -> Iterator[Problem]:
    """Rows without a question or a verdict, and rows that do not say what they judge."""

    def problems(rule: Rule, wrong: pl.Expr, message: str) -> Iterator[Problem]:
        for line, question in rows.filter(wrong).select("line", "question").iter_rows():
            yield Problem(rule, message.format(question=question), file, line, question)

    has_question, kind = pl.col("question").is_not_null(), pl.col("kind")
    known = pl.col("question").is_in(list(questions.ids))
    yield from problems("syntax", ~has_question, 'the row has no "question"')
    yield from problems("unknown-question", has_question & ~known, "question {question} is not in the test set")
    yield from problems("syntax", has_question & known & kind.is_null(), "question {question}: the row has no verdict")
    for record in ROW_KINDS.values():
        identified = pl.any_horizontal(
            pl.all_horizontal(pl.lit(value=True), *(pl.col(field).is_not_null() for field in fields))
            for fields in record.identified
        )
        message = f"question {{question}}: {record.unidentified}"
        yield from problems("syntax", (kind == record.name) & ~identified, message)


def _verdict_faults(record: Kind, rows: pl.DataFrame, task: Task, file: str, *, incoming: bool) -> Iterator[Problem]:
    """The faults of the verdicts of one kind. Each distinct verdict is checked once: files have few of them."""
    rule = record.fault if incoming else record.unreadable
    fields = [*record.fields, *record.file_fields]
    distinct = rows.select(fields).unique(maintain_order=True)
    faults = [rule(verdict, task) for verdict in distinct.iter_rows(named=True)]
    if not any(faults):
        return
    wrong = distinct.with_columns(fault=pl.Series(faults, dtype=pl.String)).drop_nulls("fault")
    for row in rows.join(wrong, on=fields, nulls_equal=True, maintain_order="left").iter_rows(named=True):
        message = f"question {row['question']}: {row['fault']}"
        yield Problem("bad-label", message, file, row["line"], row["question"])
