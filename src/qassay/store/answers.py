"""Known answers: append-only; the last row of (question, answer, document) stands, withdrawn or not."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select

from qassay.store.engine import now
from qassay.store.schema import answer as table

Row = dict[str, Any]


def add_answer(
    connection: Connection,
    *,
    question: str,
    answer: str,
    doc: str | None = None,
    account: int | None = None,
    by: str | None = None,
    withdrawn: bool = False,
    reason: str | None = None,
) -> Row:
    """Append a known answer, or with `withdrawn` take it off the list; one that stands as it is, is not repeated."""
    row: Row = {"question": question, "answer": answer}
    for name, value in (("doc", doc), ("withdrawn", withdrawn or None), ("reason", reason), ("assessor", by)):
        if value is not None:
            row[name] = value
    standing = {(one["answer"], one.get("doc")): one for one in answers_of(connection, question)}
    known = standing.get((answer, doc))
    if withdrawn == (known is None):
        return known or row
    connection.execute(
        insert(table).values(question=question, body=msgspec.json.encode(row).decode(), account=account, at=now())
    )
    return row


def answers_of(connection: Connection, question: str) -> list[Row]:
    """The known answers of a question that stand, withdrawn ones left out, in the order they came."""
    rows = connection.execute(select(table.c.body).where(table.c.question == question).order_by(table.c.id)).scalars()
    last: dict[tuple[str, str | None], Row] = {}
    for body in rows:
        row = msgspec.json.decode(body)
        last[str(row["answer"]), row.get("doc")] = row
    return [row for row in last.values() if not row.get("withdrawn")]
