"""Question development: the test set, drafts that are not in it yet, and answers noted while searching.

drafts      questions that no run has been asked: written, ordered and published
answers     known answers of a question
"""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, func, select

from qassay.formats.questions import question_of_row
from qassay.questions import TestSet
from qassay.store.schema import question as table


def test_set(connection: Connection) -> TestSet:
    """The questions that are not drafts, in order."""
    rows = connection.execute(select(table.c.body).where(~table.c.draft).order_by(table.c.ordinal, table.c.id))
    return TestSet(tuple(question_of_row(msgspec.json.decode(body)) for body in rows.scalars()))


def question_mark(connection: Connection) -> tuple[int, int, str]:
    """A mark that changes whenever a question does: questions that were read under the same mark are current."""
    c = table.c
    counted = select(func.count(), func.coalesce(func.sum(c.changes), 0), func.coalesce(func.max(c.at), ""))
    count, changes, at = connection.execute(counted.select_from(table)).one()
    return int(count), int(changes), str(at)
