"""What a store holds, as a short text that changes whenever something that scoring reads changes.

Judgments, nuggets and answers are only ever appended: the last row tells. On PostgreSQL a lower number may be committed
after a higher one, so that the last ones are counted too. Changes of questions are counted. Runs change in place and
are few.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, func, select

from qassay.judging import digest
from qassay.store.development.questions import question_mark
from qassay.store.schema import answer, judgment, nugget, run, setting

# Runs that are described before they are there: rows of runs.jsonl as JSON text.
WAITING = "run-information"
# The evaluation that a database belongs to.
EVALUATION = "evaluation"
# A row gets its number when it is written, and is seen when its transaction ends; far fewer are written meanwhile.
AT_ONCE = 20_000


def fingerprint(connection: Connection) -> str:
    """The fingerprint of the store as this connection sees it."""
    appended = [_appended(connection, table) for table in (judgment, nugget, answer)]
    runs = select(
        *(run.c.tag, run.c.file, run.c.at, run.c.withdrawn, run.c.information, func.length(run.c.data)),
    )
    waiting = select(setting.c.value).where(setting.c.name == WAITING)
    changing = [[tuple(row) for row in connection.execute(query)] for query in (runs.order_by(run.c.tag), waiting)]
    return digest(appended, question_mark(connection), changing)


def _appended(connection: Connection, table: Table) -> list[Any]:
    last = connection.execute(select(table).order_by(table.c.id.desc()).limit(1)).first()
    count = None
    if last is not None and connection.dialect.name != "sqlite":
        recent = select(func.count()).select_from(table).where(table.c.id > last.id - AT_ONCE)
        count = connection.execute(recent).scalar_one()
    return [None if last is None else tuple(last), count]
