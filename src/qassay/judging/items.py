"""Items: what one screen shows an assessor, the parts of it that take a verdict, and the rows that verdicts become.

Pooled answers are sorted so that similar ones are together. Whatever is judged run by run comes in a random
order, drawn once for all assessors; its numbers are drawn too, so that neither number nor order reveals the run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import polars as pl

from qassay.judging import KINDS, Item, Part, Row, Verdict, Wanted, digest, kind_of_type
from qassay.judging.kind import REMARKS, Draft
from qassay.judging.kind import check_verdict as check_by_kind
from qassay.judging.pool import rows_to_judge
from qassay.questions import TestSet
from qassay.runs import Runs
from qassay.tasks import Task

# Room for numbers that JavaScript can represent.
NUMBER_BITS = 52
_ORDER_BITS = 31


def pool_items(
    runs: Runs,
    questions: TestSet,
    task: Task,
    *,
    seed: str,
    justified: Collection[str] = (),
    wanted: Wanted = Wanted(),  # noqa: B008  # frozen
) -> Iterator[Item]:
    """Every item the runs give to judge; `seed` decides numbers and random orders.

    `justified` are the pairs whose justifications are judged, where not all are.
    """
    wanted = replace(wanted, contexts=task.support)
    for type_, rules in task.types.items():
        record = kind_of_type(type_, rules)
        chosen = justified if record.name == "rating" else ()
        ids = [question.id for question in questions.of_type(type_) if not chosen or question.id in chosen]
        if ids:
            rows = rows_to_judge(runs, ids) if record.of_runs else pl.DataFrame({"question": ids})
            for draft in record.drafts(rows, wanted):
                yield _numbered(seed, draft)


def unique_numbers(items: Iterable[Item]) -> Iterator[Item]:
    """The items with numbers of their own: one that was drawn twice goes to the first, the other gets the next."""
    taken: set[int] = set()
    for item in items:
        number = item.id
        while number in taken:
            number = (number + 1) % (1 << NUMBER_BITS)
        taken.add(number)
        yield item if number == item.id else replace(item, id=number)


def parts_of(item: Item, *, nuggets: Sequence[str] = (), assessor: str | None = None) -> list[Part]:
    """The parts of an item; answers have one for each nugget of the list that they are judged against."""
    return KINDS[item.kind].parts(item, nuggets, assessor)


def row_of(part: Part, verdict: Verdict, *, assessor: str, at: str) -> Row:
    """The judgment row of a verdict on a part."""
    subject = {name: value for name, value in part.row.items() if value is not None}
    return {**subject, **KINDS[part.kind].verdict(verdict, "note"), "assessor": assessor, "at": at}


def verdict_of(part: Part, row: Mapping[str, Any]) -> Row:
    """The verdict of a judgment row, with its note and how it was settled."""
    return KINDS[part.kind].verdict(row, *REMARKS)


def check_verdict(part: Part, verdict: Verdict, task: Task, *, nuggets: Iterable[str] = ()) -> None:
    """Refuse a verdict that is not one for this part; the rules are those of judgment files."""
    check_by_kind(KINDS[part.kind], part, verdict, task, nuggets=set(nuggets))


def is_allowed(part: Part, row: Mapping[str, Any], task: Task, nuggets: Collection[str]) -> bool:
    """Whether the rules allow the verdict of a row: the task, or the list of nuggets, may have changed since."""
    record = KINDS[part.kind]
    verdict = record.verdict(row, *record.file_fields)
    unlisted = any(nugget not in nuggets for nugget in record.nuggets_named({**part.row, **verdict}))
    return record.fault(verdict, task) is None and not unlisted


def label_of(item: Item, titles: Mapping[str, str] = MappingProxyType({}), longest: int = 80) -> str:
    """How people call an item among the others of its question; an extract by its document, whose title `titles` may
    have, and without a title by its place too.
    """
    if item.run is not None:
        return ""
    doc = str(item.body.get("doc") or "")
    if "start" in item.body and doc in titles:
        return _cut(titles[doc], longest)
    text = _cut(str(item.body.get("text") or doc), longest)
    return f"{text}, from character {item.body['start'] + 1:,}" if "start" in item.body else text


def _cut(text: str, longest: int) -> str:
    """The beginning of a text.

    >>> _cut("a rather long answer", 9)
    'a rather…'
    """
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _numbered(seed: str, draft: Draft) -> Item:
    """The item with its number, and its place where the order is drawn at random."""
    place = draft.place
    if place is None:
        place = int(digest(seed, "order", draft.question, draft.run), 16) >> (128 - _ORDER_BITS)
    shown = (
        {name: draft.body[name] for name in KINDS[draft.kind].pooled if name != "question"} if draft.run is None else {}
    )
    number = int(digest(seed, draft.kind, draft.question, draft.run, shown), 16) >> (128 - NUMBER_BITS)
    return Item(number, draft.question, draft.kind, draft.run, place, draft.body, draft.parts)
