"""From opinions to judgment rows."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import Any

from qassay.assessors.records import AutomaticAssessor
from qassay.questions import TestSet
from qassay.store.pool.items import Item
from qassay.store.pool.parts import check_verdict, parts_of
from qassay.tasks import Task


@dataclass(frozen=True)
class Judged:
    """The rows an assessor wrote, and how many things it could not or need not judge."""

    rows: list[dict[str, Any]]
    silent: int = 0
    known: int = 0


def judge_items(
    assessor: AutomaticAssessor,
    items: Iterable[Item],
    questions: TestSet,
    task: Task,
    *,
    known: Container[str] = (),
    progress: Callable[[int], None] | None = None,
) -> Judged:
    """Ask an assessor about every part of every item, but for what is judged already (`known`, by thing).

    A verdict that the task does not have is an error of the assessor: it is refused as a person's would be.
    """
    rows: list[dict[str, Any]] = []
    silent = skipped = 0
    for count, item in enumerate(items, 1):
        question = questions.by_id[item.question]
        for part in parts_of(item, assessor=assessor.name):
            if not part.required:
                continue
            if part.thing in known:
                skipped += 1
                continue
            opinion = assessor.judge(question, part)
            if opinion is None:
                silent += 1
                continue
            check_verdict(part, opinion.verdict, task)
            named = {name: value for name, value in part.row.items() if value is not None}
            trace = {"assessor": assessor.name, **opinion.trace}
            rows.append({**named, **opinion.verdict, "assessor": assessor.name, "trace": trace})
        if progress is not None:
            progress(count)
    return Judged(rows, silent, skipped)
