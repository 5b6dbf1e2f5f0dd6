"""What a store holds, as a short text that changes whenever something that scoring reads changes.

Judgments, nuggets and answers are only ever appended: the last row tells. On PostgreSQL a lower number may be committed
after a higher one, so that they are counted too. Questions and runs change in place and are few.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, func, select

from qassay.store.pool.things import digest
from qassay.store.schema import answer, judgment, nugget, question, run, setting

# Runs that are described before they are there: rows of runs.jsonl as JSON text.
WAITING = "run-information"
# The evaluation that a database belongs to.
EVALUATION = "evaluation"


def fingerprint(connection: Connection) -> str:
    """The fingerprint of the store as this connection sees it."""
    appended = [_appended(connection, table) for table in (judgment, nugget, answer)]
    questions = select(question.c.id, question.c.ordinal, question.c.draft, question.c.version, question.c.body)
    runs = select(
        *(run.c.tag, run.c.file, run.c.at, run.c.withdrawn, run.c.information, func.length(run.c.data)),
    )
    waiting = select(setting.c.value).where(setting.c.name == WAITING)
    changing = [
        [tuple(row) for row in connection.execute(query)]
        for query in (questions.order_by(question.c.id), runs.order_by(run.c.tag), waiting)
    ]
    return digest(appended, changing)


def _appended(connection: Connection, table: Table) -> list[Any]:
    last = connection.execute(select(table).order_by(table.c.id.desc()).limit(1)).first()
    counted = connection.dialect.name != "sqlite"
    count = connection.execute(select(func.count()).select_from(table)).scalar_one() if counted else None
    return [None if last is None else tuple(last), count]
