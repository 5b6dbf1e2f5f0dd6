"""What the tables of the store have in common: types of columns, names of constraints, indexes of a few rows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Integer, MetaData, String

# Constraints carry names, so that a migration can speak of them on every database.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Name = String(200)
At = String(40)
# SQLite numbers rows by itself only where the key is its own INTEGER.
Sequence = BigInteger().with_variant(Integer, "sqlite")


def only(condition: ColumnElement[bool]) -> dict[str, Any]:
    """An index of some rows only."""
    return {"sqlite_where": condition, "postgresql_where": condition}
