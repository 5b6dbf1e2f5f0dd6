"""The triggers that keep `share` and `stage`: whoever writes, and however, a page reads sums instead of making them.

A row of `stage` is there for every question of the test set and for every one that is assigned, a row of `share` for
everybody who was ever given work in a slot. The triggers are part of the schema: a change of them is a migration, which
keeps its own copy of what it makes.

SQLite counts row by row, since it has one writer. PostgreSQL counts many rows at once where many are written. Whoever
changes an assignment there holds those of its question, or keeps everybody out, and goes by the order of the slots:
nobody waits for a sum whom the assignments do not make wait already, and nobody waits in a circle.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table


def install(connection: Connection) -> None:
    """Make the triggers; empty lines keep their statements apart."""
    text = Path(__file__).with_name(f"{connection.dialect.name}.sql").read_text(encoding="utf-8")
    for part in text.strip().split("\n\n"):
        connection.exec_driver_sql(part.strip())


def install_with(_: Any, connection: Connection, tables: Collection[Table], **__: Any) -> None:
    """Make the triggers where the tables have just been made without the migrations."""
    if any(table.name == "stage" for table in tables):
        install(connection)
