"""The tally: runs joined with a key, once.

For every type of question there is one block of counts, arrays of runs x questions, and every measure reads nothing
else. What is unjudged is counted here and decided elsewhere; what is undefined stays NaN inside these arrays and
leaves them only as null.

    rows      the rows of runs for one type of question, and how they are counted into arrays
    items     answers that are judged one by one: factoids, passages, lists, free text
    nuggets   nuggets matched in responses, and supported by long answers
    pairs     decisions on pairs, and ratings of justifications
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.judging import kind_of_type
from qassay.judging.keys import Key
from qassay.questions import Question, TestSet
from qassay.runs import Runs
from qassay.tally.items import ItemCounts, LabelCounts, ListCounts, count_items, count_labels, count_lists
from qassay.tally.nuggets import AnswerCounts, NuggetCounts, count_answers, count_nuggets
from qassay.tally.pairs import PairCounts, count_pairs
from qassay.tally.rows import Rows
from qassay.tasks import Task

Block: TypeAlias = ItemCounts | ListCounts | NuggetCounts | PairCounts | AnswerCounts | LabelCounts

__all__ = [
    "AnswerCounts",
    "Block",
    "ItemCounts",
    "LabelCounts",
    "ListCounts",
    "NuggetCounts",
    "PairCounts",
    "Tally",
    "TypeTally",
    "block_of",
    "restricted",
    "tally",
]


@dataclass(frozen=True, eq=False)
class TypeTally:
    """The counts of one type of question: which questions, who answered, how much is unjudged, and the block.

    `judged[q]` is false for a question without anything in the key. `unjudged` lists what the key lacks to score the
    runs, with the columns of UNJUDGED. `order[r]` has the columns in the order of the run's file: by confidence.
    """

    questions: tuple[Question, ...]
    answered: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    unjudged: pl.DataFrame
    order: NDArray[np.int64]
    counts: Block


@dataclass(frozen=True, eq=False)
class Tally:
    """Runs joined with a key: one `TypeTally` for each type of question that occurs."""

    runs: Runs
    questions: TestSet
    key: Key
    task: Task
    types: Mapping[str, TypeTally]


def tally(runs: Runs, questions: TestSet, key: Key, task: Task) -> Tally:
    """Join runs with a key."""
    types: dict[str, TypeTally] = {}
    for kind in task.types:
        of_type = questions.of_type(kind)
        if not of_type:
            continue
        rows = _rows(runs, questions, kind, of_type)
        counts, judged, unjudged = _count(rows, key, task, kind)
        types[kind] = TypeTally(of_type, rows.answered(), judged, unjudged, rows.order(), counts)
    return Tally(runs, questions, key, task, types)


def restricted(joined: Tally, responses: Collection[tuple[str, str]]) -> Tally:
    """The tally as if runs had given only these responses, named by question and run."""
    types = {}
    for kind, part in joined.types.items():
        mask = np.array(
            [[(question.id, tag) in responses for question in part.questions] for tag in joined.runs.tags], dtype=bool
        ).reshape(part.answered.shape)
        types[kind] = replace(part, answered=part.answered & mask)
    return replace(joined, types=types)


# The counts of questions by the kind of judgment, and how the rows of runs become these.
_COUNTED: Mapping[str, tuple[type[Block], Callable[[Rows, Key, Task], tuple[Block, NDArray[np.bool_], pl.DataFrame]]]]
_COUNTED = {
    "item": (ItemCounts, lambda rows, key, _: count_items(rows, key)),
    "extract": (ItemCounts, lambda rows, key, _: count_items(rows, key)),
    "list": (ListCounts, lambda rows, key, _: count_lists(rows, key)),
    "label": (LabelCounts, count_labels),
    "match": (NuggetCounts, lambda rows, key, _: count_nuggets(rows, key)),
    "support": (AnswerCounts, lambda rows, key, _: count_answers(rows, key)),
    "pair": (PairCounts, lambda rows, key, task: count_pairs(rows, key, task, rated=False)),
    "rating": (PairCounts, lambda rows, key, task: count_pairs(rows, key, task, rated=True)),
}


def block_of(task: Task, kind: str) -> type[Block]:
    """The kind of counts that the questions of one type have."""
    return _COUNTED[kind_of_type(kind, task.types[kind]).name][0]


def _count(rows: Rows, key: Key, task: Task, kind: str) -> tuple[Block, NDArray[np.bool_], pl.DataFrame]:
    """The block of one type of question, which questions the key knows, and what it lacks."""
    return _COUNTED[kind_of_type(kind, task.types[kind]).name][1](rows, key, task)


def _rows(runs: Runs, questions: TestSet, kind: str, of_type: tuple[Question, ...]) -> Rows:
    """The rows of one type of question, with the column number of each question among its type."""
    of_kind = np.array(questions.types) == kind
    table = runs.table
    question = table["question"].to_physical().to_numpy() if table.height else np.empty(0, dtype=np.uint32)
    if not of_kind.all():
        mask = of_kind[question]
        table, question = table.filter(pl.Series(mask)), question[mask]
    column = np.cumsum(of_kind) - 1
    return Rows(
        table=table,
        tags=runs.tags,
        questions=TestSet(of_type),
        run=table["run"].to_physical().to_numpy().astype(np.int64),
        column=column[question],
    )
