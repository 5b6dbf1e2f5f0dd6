"""The pool: what is to be judged, each subject once, and how much of it is not yet (METHOD 4).

Answers to factoid and passage questions are pooled: equal answers of different runs are judged once. Lists, nugget
responses and justifications are judged run by run; entailment pairs once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from qassay.judging import KINDS, Kind, kind_of_type
from qassay.judging.sets import JudgmentSet
from qassay.questions import TestSet
from qassay.runs import Runs
from qassay.tables import Cell, Column, Table, table
from qassay.tasks import Task


@dataclass(frozen=True, eq=False)
class TypePool:
    """The pool of one type of question: what runs returned, each distinct subject, and whether it is judged."""

    type: str
    record: Kind
    returned: int
    subjects: pl.DataFrame

    @property
    def left(self) -> pl.DataFrame:
        """The subjects that are not judged yet."""
        return self.subjects.filter(~pl.col("judged"))

    def counts(self) -> dict[str, int]:
        """How much is returned, to judge, judged and left."""
        total, left = self.subjects.height, self.left.height
        return {"returned": self.returned, "to_judge": total, "judged": total - left, "left": left}


@dataclass(frozen=True, eq=False)
class Pool:
    """The work to judge in an evaluation, by type of question."""

    key: str | None
    types: tuple[TypePool, ...]

    def table(self) -> Table:
        """The items returned, distinct, judged and left, by type of question."""
        names = ("returned", "to judge", "judged", "left")
        columns: list[Column | str] = ["type", "judged as", *(Column(name) for name in names)]
        rows: list[list[Cell]] = [[part.type, part.record.counted, *part.counts().values()] for part in self.types]
        against = f"against {self.key}" if self.key else "nothing is judged yet"
        return table(f"What is to be judged: {against}", columns, rows)

    def as_json(self) -> dict[str, Any]:
        """The counts by type of question."""
        types = {part.type: {"kind": part.record.name, **part.counts()} for part in self.types}
        return {"key": self.key, "types": types}

    def sheet(self, questions: TestSet) -> list[dict[str, Any]]:
        """The subjects left, as rows of a judgment set with the verdict still to be filled in."""
        rows = []
        for part in self.types:
            for subject in part.left.drop("judged").iter_rows(named=True):
                fields = {name: value for name, value in subject.items() if value is not None}
                question = questions.by_id[subject["question"]]
                rows.append({**fields, **part.record.blank, "asked": question.text or question.target or ""})
        return rows


def pool(
    runs: Runs, questions: TestSet, task: Task, judged: JudgmentSet | None = None, nuggets: pl.DataFrame | None = None
) -> Pool:
    """The items of the runs to judge, and those that a judgment set has."""
    types = []
    for type_, rules in task.types.items():
        ids = [question.id for question in questions.of_type(type_)]
        if not ids:
            continue
        rows = rows_to_judge(runs, ids)
        record = kind_of_type(type_, rules, has_nuggets=nuggets is not None and nuggets.height > 0)
        if record.name == "support" and nuggets is not None:
            rows = rows.select("question", "run").unique(maintain_order=True).join(nuggets, on="question")
        # By question and then by string, so that similar answers are together and runs cannot be recognised.
        order: list[pl.Expr | str] = [pl.col("question").cast(questions.enum), *record.pooled[1:]]
        subjects = rows.select(record.pooled).unique().sort(order)
        types.append(TypePool(type_, record, rows.height, _marked(subjects, record, judged)))
        if task.support and record.name == "label":
            supported = rows.filter(pl.col("contexts").list.len() > 0) if "contexts" in rows.columns else rows.clear()
            contexts = supported.select(KINDS["context"].pooled).unique().sort(order[0], "run")
            marked = _marked(contexts, KINDS["context"], judged)
            types.append(TypePool(f"{type_}, support", KINDS["context"], supported.height, marked))
    return Pool(judged.name if judged else None, tuple(types))


def rows_to_judge(runs: Runs, questions: Collection[str]) -> pl.DataFrame:
    """The answers of the runs to some questions, without NIL and empty responses, which need no judging."""
    rows = runs.table.filter(pl.col("question").cast(pl.String).is_in(list(questions)))
    rows = rows.with_columns(pl.col("question", "run").cast(pl.String))
    return rows.filter(pl.col("rank") > 0) if "rank" in rows.columns else rows


def _marked(subjects: pl.DataFrame, record: Kind, judged: JudgmentSet | None) -> pl.DataFrame:
    """The subjects with a column that says whether they are judged."""
    if judged is None:
        return subjects.with_columns(judged=pl.lit(value=False))
    on = list(record.pooled)
    rows = judged.kind(record.rows).select(pl.col(name).cast(subjects.schema[name]) for name in on)
    marked = subjects.join(
        rows.unique().with_columns(judged=True), on=on, how="left", nulls_equal=True, maintain_order="left"
    )
    return marked.with_columns(pl.col("judged").fill_null(value=False))


def judged_responses(
    runs: Runs, questions: TestSet, task: Task, judged: JudgmentSet, nuggets: pl.DataFrame | None = None
) -> pl.DataFrame:
    """The responses of which a set judges everything, as rows of question and run; NIL and empty ones need nothing."""
    every = runs.table.select(pl.col("question", "run").cast(pl.String)).unique(maintain_order=True)
    for record, subjects in _subjects_by_run(runs, questions, task, nuggets):
        lacking = _marked(subjects, record, judged).filter(~pl.col("judged"))
        every = every.join(lacking, on=["question", "run"], how="anti", maintain_order="left")
    return every


def judged_by(
    runs: Runs, questions: TestSet, task: Task, sets: Sequence[JudgmentSet], nuggets: pl.DataFrame | None = None
) -> dict[str, dict[str, int]]:
    """For each run, how many of its subjects each set judges; a subject counts for the first set that judges it."""
    counts = {tag: {judged.name: 0 for judged in sets} for tag in runs.tags}
    for record, subjects in _subjects_by_run(runs, questions, task, nuggets):
        left = subjects
        for judged in sets:
            marked = _marked(left, record, judged)
            for tag, number in marked.filter("judged").group_by("run").len().iter_rows():
                counts[tag][judged.name] += number
            left = marked.filter(~pl.col("judged")).drop("judged")
    return counts


def _subjects_by_run(
    runs: Runs, questions: TestSet, task: Task, nuggets: pl.DataFrame | None
) -> Iterator[tuple[Kind, pl.DataFrame]]:
    """The subjects of each run to judge, each once per run, with its kind."""
    for type_, rules in task.types.items():
        ids = [question.id for question in questions.of_type(type_)]
        if not ids:
            continue
        record = kind_of_type(type_, rules, has_nuggets=nuggets is not None and nuggets.height > 0)
        rows = rows_to_judge(runs, ids)
        if record.name == "support" and nuggets is not None:
            listed = nuggets.select("question", "nugget")
            rows = rows.select("question", "run").unique(maintain_order=True).join(listed, on="question", how="left")
        yield record, rows.select(list(dict.fromkeys(("run", *record.pooled)))).unique(maintain_order=True)
