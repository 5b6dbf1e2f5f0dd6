"""Sums that triggers keep (`share`, `stage`), what settling found in a table of its own, indexes for what is few.

The triggers are those of this version, in the folder `0002`: what they are today changes nothing here.
"""

from __future__ import annotations

import json
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

NAME = sa.String(200)
SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables, fill them, and have them kept from then on."""
    _tables()
    _indexes()
    _settled()
    connection = op.get_bind()
    run(connection, "fill")
    run(connection, connection.dialect.name)


def run(connection: sa.Connection, name: str) -> None:
    """Run the statements of a file, which empty lines keep apart."""
    text = (Path(__file__).with_name(revision) / f"{name}.sql").read_text(encoding="utf-8")
    for statement in text.strip().split("\n\n"):
        connection.exec_driver_sql(statement.strip())


def _sum(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False, server_default="0")


def _tables() -> None:
    op.add_column("question", _sum("changes"))
    op.create_table(
        "settled",
        sa.Column("question", NAME, primary_key=True),
        sa.Column("unanimous", sa.Integer(), nullable=False),
        sa.Column("disagreements", sa.Integer(), nullable=False),
        sa.Column("unruled", sa.Integer(), nullable=False),
    )
    op.create_table(
        "share",
        sa.Column("slot", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("set", NAME, primary_key=True),
        sa.Column("account", SEQUENCE, primary_key=True, autoincrement=False),
        *(_sum(name) for name in ("questions", "closed", "total", "done", "waiting", "seconds", "timed")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "stage",
        sa.Column("question", NAME, primary_key=True),
        sa.Column("ordinal", sa.Integer()),
        sa.Column("first", SEQUENCE),
        sa.Column("pooled", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("judged", sa.Boolean(), nullable=False, server_default=sa.false()),
        *(_sum(name) for name in ("assessors", "open", "total", "done", "waiting", "seconds", "unruled")),
        sqlite_with_rowid=False,
    )


def _indexes() -> None:
    op.create_index("ix_question_mark", "question", ["draft", "version", "at", "changes"])
    op.create_index("ix_judgment_set", "judgment", ["set", "id"])
    op.create_index("ix_judgment_account", "judgment", ["account", "set", "id"])
    _some("ix_assignment_open", "assignment", ["account", "id"], "closed IS NULL")
    _some("ix_assignment_leased", "assignment", ["leased"], "leased IS NOT NULL")
    true, false = ("{0}", "NOT {0}") if op.get_bind().dialect.name == "postgresql" else ("{0} = 1", "{0} = 0")
    pooled, unjudged = true.format("pooled"), false.format("judged")
    unassigned = f"ordinal IS NOT NULL AND {pooled} AND assessors = 0"
    op.create_index("ix_stage_place", "stage", ["ordinal", "question"])
    _some("ix_stage_first", "stage", ["first", "assessors"], "assessors > 0")
    _some("ix_stage_open", "stage", ["ordinal", "question", "open"], "open > 0")
    _some("ix_stage_unassigned", "stage", ["ordinal", "question", "pooled", "assessors"], unassigned)
    lacking = f"ordinal IS NOT NULL AND {pooled} AND {unjudged}"
    _some("ix_stage_unjudged", "stage", ["ordinal", "question", "pooled", "judged"], lacking)
    unruled = "first IS NOT NULL AND unruled > 0 AND open = 0"
    _some("ix_stage_unruled", "stage", ["first", "question", "unruled", "open"], unruled)


def _some(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _settled() -> None:
    """Findings of settling were a setting for each question."""
    setting = sa.table("setting", sa.column("name"), sa.column("value"))
    settled = sa.table("settled", *map(sa.column, ("question", "unanimous", "disagreements", "unruled")))
    kept = setting.c.name.startswith("adjudication:")
    found = map(json.loads, op.get_bind().execute(sa.select(setting.c.value).where(kept)).scalars().all())
    names = {"question": "question", "unanimous": "unanimous", "disagreements": "disagreements", "unruled": "left"}
    rows = [{name: row[before] for name, before in names.items()} for row in found]
    if rows:
        op.bulk_insert(settled, rows)
    op.get_bind().execute(sa.delete(setting).where(kept))
