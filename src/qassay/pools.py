"""Pools: what is to be judged, each thing once, and how much of it is not yet (METHOD 4).

Items of factoid and passage questions are pooled: equal items of different runs are judged once. Lists, nugget
responses and justifications are judged run by run; entailment pairs once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from qassay.judgments import JudgmentSet
from qassay.questions import TestSet
from qassay.runs import Runs
from qassay.tables import Column, Table, table
from qassay.tasks import DECISION_FORMS, QuestionRules, ResponseForm, Task

# What names one thing to be judged, by how it is judged; of long answers every nugget is one.
THINGS: Mapping[str, tuple[str, ...]] = {
    "item": ("question", "doc", "text"),
    "extract": ("question", "doc", "start", "length"),
    "list": ("question", "run", "doc", "text"),
    "match": ("question", "run"),
    "support": ("question", "run", "nugget"),
    "pair": ("question",),
    "rating": ("question", "run"),
}
_JUDGED_AS: Mapping[ResponseForm, str] = {
    "ranked": "item",
    "one": "item",
    "extract": "extract",
    "set": "match",
    "decision": "pair",
    "justified": "rating",
    "answer": "support",
}


@dataclass(frozen=True, eq=False)
class TypePool:
    """The pool of one type of question: what runs returned, each distinct thing, and whether it is judged."""

    type: str
    kind: str
    returned: int
    things: pl.DataFrame

    @property
    def left(self) -> pl.DataFrame:
        """The things that are not judged yet."""
        return self.things.filter(~pl.col("judged"))


@dataclass(frozen=True, eq=False)
class Pool:
    """What is to be judged in an evaluation, by type of question."""

    key: str | None
    types: tuple[TypePool, ...]

    def table(self) -> Table:
        """Things returned, distinct, judged and left, by type of question."""
        names = ("returned", "to judge", "judged", "left")
        columns: list[Column | str] = ["type", "judged as", *(Column(name) for name in names)]
        rows = [
            (
                one.type,
                _NAMES[one.kind],
                one.returned,
                one.things.height,
                one.things.height - one.left.height,
                one.left.height,
            )
            for one in self.types
        ]
        against = f"against {self.key}" if self.key else "nothing is judged yet"
        return table(f"What is to be judged: {against}", columns, rows)

    def as_json(self) -> dict[str, Any]:
        """The counts by type of question."""
        return {
            "key": self.key,
            "types": {
                one.type: {
                    "kind": one.kind,
                    "returned": one.returned,
                    "to_judge": one.things.height,
                    "judged": one.things.height - one.left.height,
                    "left": one.left.height,
                }
                for one in self.types
            },
        }

    def sheet(self, questions: TestSet) -> list[dict[str, Any]]:
        """The things left, as rows of a judgment set with the verdict still to be filled in."""
        rows = []
        for one in self.types:
            for thing in one.left.drop("judged").iter_rows(named=True):
                named = {name: value for name, value in thing.items() if value is not None}
                asked = questions.by_id[thing["question"]]
                rows.append({**named, **_BLANKS[one.kind], "asked": asked.text or asked.target or ""})
        return rows


def judged_as(type_: str, rules: QuestionRules, *, has_nuggets: bool = True) -> str:
    """How responses to a type of question are judged; long answers as a whole, as long as there are no nuggets.

    >>> judged_as("list", QuestionRules("set", "list_f")), judged_as("other", QuestionRules("set", "nugget_f"))
    ('list', 'match')
    """
    if type_ == "list" and rules.response not in DECISION_FORMS:
        return "list"
    kind = _JUDGED_AS[rules.response]
    return "match" if kind == "support" and not has_nuggets else kind


def rows_to_judge(runs: Runs, questions: Collection[str]) -> pl.DataFrame:
    """What the runs returned to some questions, but for NIL and empty responses, which need no judging."""
    rows = runs.table.filter(pl.col("question").cast(pl.String).is_in(list(questions)))
    rows = rows.with_columns(pl.col("question", "run").cast(pl.String))
    return rows.filter(pl.col("rank") > 0) if "rank" in rows.columns else rows


def pool(
    runs: Runs, questions: TestSet, task: Task, judged: JudgmentSet | None = None, nuggets: pl.DataFrame | None = None
) -> Pool:
    """What the runs give to judge, and what of it a judgment set has."""
    made = []
    for type_, rules in task.types.items():
        asked = [question.id for question in questions.of_type(type_)]
        if not asked:
            continue
        rows = rows_to_judge(runs, asked)
        kind = judged_as(type_, rules, has_nuggets=nuggets is not None and nuggets.height > 0)
        if kind == "support" and nuggets is not None:
            rows = rows.select("question", "run").unique(maintain_order=True).join(nuggets, on="question")
        # By question and then by string, so that equal and similar answers stand together and runs are not told apart.
        order = [pl.col("question").cast(questions.enum), *THINGS[kind][1:]]
        things = rows.select(THINGS[kind]).unique().sort(order)
        made.append(TypePool(type_, kind, rows.height, _marked(things, kind, judged)))
    return Pool(judged.name if judged else None, tuple(made))


def _marked(things: pl.DataFrame, kind: str, judged: JudgmentSet | None) -> pl.DataFrame:
    """The things with a column that tells whether they are judged."""
    if judged is None:
        return things.with_columns(judged=pl.lit(value=False))
    known = judged.kind("item" if kind == "extract" else kind)
    on = list(THINGS[kind])
    done = known.select(pl.col(name).cast(things.schema[name]) for name in on).unique().with_columns(judged=True)
    marked = things.join(done, on=on, how="left", nulls_equal=True, maintain_order="left")
    return marked.with_columns(pl.col("judged").fill_null(value=False))


_NAMES = {
    "item": "distinct items",
    "extract": "distinct extracts",
    "list": "items of each list",
    "match": "responses, for nuggets",
    "support": "nuggets of each answer",
    "pair": "pairs",
    "rating": "justifications",
}
# Null is no verdict: a row that nobody has filled in is refused, and never read as "no nugget" or as one class of
# answers without a name.
_BLANKS: Mapping[str, dict[str, Any]] = {
    "item": {"judgment": ""},
    "extract": {"judgment": ""},
    "list": {"judgment": "", "answer": None},
    "match": {"nuggets": None},
    "support": {"support": ""},
    "pair": {"judgment": ""},
    "rating": {"understandability": None, "correctness": None},
}
