"""Items: what one screen shows an assessor, made from the runs, each thing once (METHOD 4).

Equal items of factoid and passage questions are one, and similar strings stand together. Lists, nugget responses,
answers and justifications are one run's, in a random order drawn once for all assessors; their numbers are drawn too,
so that neither number nor order tells the run.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import polars as pl
from sqlalchemy import Connection, select

from qassay.pools import THINGS, judged_as, rows_to_judge
from qassay.questions import TestSet
from qassay.runs import Runs
from qassay.store.pool.things import digest
from qassay.store.schema import item
from qassay.store.settings import get_setting, put_once
from qassay.tasks import Task

# Room for numbers that JavaScript can hold.
NUMBER_BITS = 52
_ORDER_BITS = 31
_SEED = "order-seed"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to judge. `body` is what is shown; the run is for scoring, never for whoever judges."""

    id: int
    question: str
    kind: str
    run: str | None
    ordinal: int
    body: Mapping[str, Any]
    parts: int
    active: bool = True


def pool_items(
    runs: Runs,
    questions: TestSet,
    task: Task,
    *,
    seed: str,
    justified: Iterable[str] = (),
    holistic: bool = False,
    citations: bool = False,
) -> Iterator[Item]:
    """Every item the runs give to judge; `seed` decides numbers and random orders.

    `holistic` asks for content and organization of the responses to nugget questions, `citations` for the support of
    each citation of long answers.
    """
    chosen = set(justified)
    for type_, rules in task.types.items():
        kind = judged_as(type_, rules)
        asked = [one.id for one in questions.of_type(type_) if not chosen or one.id in chosen or kind != "rating"]
        if not asked:
            continue
        if kind == "pair":
            for question in asked:
                yield _item(seed, kind, question, None, 0, {}, 1)
            continue
        rows = rows_to_judge(runs, asked)
        if kind in ("item", "extract"):
            yield from _pooled(seed, rows, kind)
        elif kind == "rating":
            yield from _justifications(seed, rows)
        else:
            yield from _responses(seed, rows, kind, holistic=holistic, citations=citations)


def order_seed(connection: Connection) -> str:
    """The secret that numbers and orders are drawn from: made once, then the same for everybody."""
    seed = get_setting(connection, _SEED)
    return str(seed if seed is not None else put_once(connection, _SEED, secrets.token_hex(16)))


def item_with_number(connection: Connection, number: int) -> Item | None:
    """The item with this number, or nothing."""
    row = connection.execute(select(item).where(item.c.id == number)).one_or_none()
    return None if row is None else _read(row)


def items_of(connection: Connection, question: str) -> list[Item]:
    """The items of a question in their order."""
    c = item.c
    rows = connection.execute(select(item).where(c.question == question, c.active).order_by(c.kind, c.ordinal, c.id))
    return [_read(row) for row in rows]


def pooled_after(connection: Connection, number: int, *, limit: int) -> list[Item]:
    """Items of the pool in the order of their numbers, from the one after this on."""
    rows = connection.execute(select(item).where(item.c.active, item.c.id > number).order_by(item.c.id).limit(limit))
    return [_read(row) for row in rows]


def _read(row: Any) -> Item:
    return Item(
        row.id, row.question, row.kind, row.run, row.ordinal, msgspec.json.decode(row.body), row.parts, row.active
    )


def _pooled(seed: str, rows: pl.DataFrame, kind: str) -> Iterator[Item]:
    """Distinct items, similar strings together; passages by document and place."""
    things = rows.select(THINGS[kind]).unique()
    if kind == "extract":
        things = things.sort(THINGS[kind])
    else:
        similar = (
            pl.col("text")
            .str.to_lowercase()
            .str.replace_all(r"[^\p{L}\p{N}]+", " ")
            .str.strip_chars()
            .str.replace(r"^(?:the|a|an) ", "")
        )
        things = things.with_columns(group=similar).sort("question", "group", "text", "doc", nulls_last=True)
    things = things.with_columns(place=pl.int_range(pl.len()).over("question"))
    for row in things.iter_rows(named=True):
        place, question = row.pop("place"), row.pop("question")
        yield _item(seed, kind, question, None, place, row, 1)


def _responses(seed: str, rows: pl.DataFrame, kind: str, *, holistic: bool, citations: bool) -> Iterator[Item]:
    """One item for each run's response: its list, its strings for nuggets, or its answer with citations."""
    names = [name for name in ("doc", "text", "citations") if name in rows.columns]
    groups = rows.group_by("question", "run", maintain_order=True).agg(*names)
    for row in groups.iter_rows(named=True):
        elements = [
            dict(zip(names, values, strict=True)) for values in zip(*(row[name] for name in names), strict=True)
        ]
        if kind == "list":  # equal items of one list are judged once
            elements = list({(one["doc"], one["text"]): one for one in elements}.values())
        body: dict[str, Any] = {"elements": elements}
        if kind == "support":
            body["citations"] = citations
        parts = len(elements) if kind == "list" else 1
        yield _drawn(seed, kind, row["question"], row["run"], body, parts)
        if holistic and kind == "match":
            yield _drawn(seed, "holistic", row["question"], row["run"], {"elements": elements}, 1)


def _justifications(seed: str, rows: pl.DataFrame) -> Iterator[Item]:
    if "justification" not in rows.columns:
        return
    for row in rows.filter(pl.col("justification").is_not_null()).iter_rows(named=True):
        yield _drawn(seed, "rating", row["question"], row["run"], {"justification": row["justification"]}, 1)


def _drawn(seed: str, kind: str, question: str, run: str, body: dict[str, Any], parts: int) -> Item:
    place = int(digest(seed, "order", question, run), 16) >> (128 - _ORDER_BITS)
    return _item(seed, kind, question, run, place, body, parts)


def _item(seed: str, kind: str, question: str, run: str | None, place: int, body: dict[str, Any], parts: int) -> Item:
    shown = {} if run is not None else {name: value for name, value in body.items() if name != "group"}
    number = int(digest(seed, kind, question, run, shown), 16) >> (128 - NUMBER_BITS)
    return Item(number, question, kind, run, place, body, parts)
