"""Participants: a role, and the organisation that an account or an invitation is for.

SQLite cannot change a constraint of a table, and the table cannot be made again under the keys that lead to it. The
check of the roles is therefore changed where SQLite keeps its text, as its documentation describes for changes that
leave the stored rows as they are (https://www.sqlite.org/lang_altertable.html#otheralter).
"""

from __future__ import annotations

import sqlite3
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

BEFORE = "role IN ('organiser', 'adjudicator', 'assessor', 'reader')"
AFTER = "role IN ('organiser', 'adjudicator', 'assessor', 'reader', 'participant')"


def upgrade() -> None:
    """Allow the role, and say which organisation somebody belongs to."""
    connection = op.get_bind()
    op.add_column("account", sa.Column("organisation", sa.String(200)))
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ALTER TABLE account DROP CONSTRAINT ck_account_role")
        connection.exec_driver_sql(f"ALTER TABLE account ADD CONSTRAINT ck_account_role CHECK ({AFTER})")
    else:
        _change_check(connection)
    # On SQLite the new column makes this and every other connection read the texts of all tables again.
    op.add_column("invitation", sa.Column("organisation", sa.String(200)))


def _change_check(connection: sa.Connection) -> None:
    raw: Any = connection.connection.driver_connection
    defensive = getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE", None)  # from Python 3.12 on
    if defensive is not None:  # some builds of SQLite guard their own table unless told otherwise
        raw.setconfig(defensive, False)
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    changed = connection.exec_driver_sql(
        "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'table' AND name = 'account'", (BEFORE, AFTER)
    )
    connection.exec_driver_sql("PRAGMA writable_schema = OFF")
    if changed.rowcount != 1:
        raise RuntimeError("the table of accounts is not the one that earlier versions made")
