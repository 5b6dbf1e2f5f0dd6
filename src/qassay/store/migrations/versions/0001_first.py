"""The first tables: people, what is asked and answered, what is judged."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NAME = sa.String(200)
AT = sa.String(40)
SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables in an empty database."""
    _people()
    _sessions()
    _contents()
    _work()
    _judgments()


def _number() -> sa.Column[int]:
    return sa.Column("id", SEQUENCE, primary_key=True)


def _account(*, nullable: bool = True, index: bool = False) -> sa.Column[int]:
    return sa.Column("account", SEQUENCE, sa.ForeignKey("account.id"), nullable=nullable, index=index)


def _people() -> None:
    roles = "role IN ('organiser', 'adjudicator', 'assessor', 'reader')"
    op.create_table(
        "account",
        _number(),
        sa.Column("name", NAME, nullable=False, unique=True),
        sa.Column("role", sa.String(20), sa.CheckConstraint(roles, name="role"), nullable=False),
        sa.Column("password", sa.String(300)),
        sa.Column("subject", sa.String(500), unique=True),
        sa.Column("active", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("preferences", sa.Text(), nullable=False, server_default="{}"),
        sa.Column("created", AT, nullable=False),
    )
    op.create_table(
        "record",
        _number(),
        sa.Column("at", AT, nullable=False),
        _account(),
        sa.Column("action", sa.String(50), nullable=False),
        sa.Column("question", NAME, index=True),
        sa.Column("body", sa.Text(), nullable=False, server_default="{}"),
    )
    op.create_table(
        "setting",
        sa.Column("name", NAME, primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
    )


def _sessions() -> None:
    op.create_table(
        "invitation",
        _number(),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("name", NAME),
        sa.Column("created", AT, nullable=False),
        sa.Column("expires", AT, nullable=False),
        sa.Column("used", AT),
        sa.Column("by", SEQUENCE, sa.ForeignKey("account.id")),
    )
    op.create_table(
        "session",
        _number(),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        _account(nullable=False, index=True),
        sa.Column("created", AT, nullable=False),
        sa.Column("seen", AT, nullable=False),
        sa.Column("expires", AT, nullable=False),
        sa.Column("ended", AT),
        sa.Column("address", sa.String(100)),
        sa.Column("agent", sa.String(300)),
    )
    op.create_table(
        "token",
        _number(),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        _account(nullable=False, index=True),
        sa.Column("name", NAME, nullable=False),
        sa.Column("created", AT, nullable=False),
        sa.Column("used", AT),
        sa.Column("ended", AT),
    )


def _contents() -> None:
    op.create_table(
        "question",
        sa.Column("id", NAME, primary_key=True),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("draft", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("version", sa.Integer(), nullable=False, server_default="1"),
        _account(),
        sa.Column("at", AT, nullable=False),
    )
    op.create_table(
        "answer",
        _number(),
        sa.Column("question", NAME, nullable=False, index=True),
        sa.Column("body", sa.Text(), nullable=False),
        _account(),
        sa.Column("at", AT, nullable=False),
    )
    op.create_table(
        "run",
        sa.Column("tag", NAME, primary_key=True),
        sa.Column("file", sa.String(300), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("information", sa.Text()),
        sa.Column("withdrawn", sa.Boolean(), nullable=False, server_default=sa.false()),
        _account(),
        sa.Column("at", AT, nullable=False),
    )


def _work() -> None:
    op.create_table(
        "item",
        sa.Column("id", SEQUENCE, primary_key=True, autoincrement=False),
        sa.Column("question", NAME, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("run", NAME),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("parts", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("active", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Index("ix_item_question_ordinal", "question", "ordinal"),
    )
    op.create_table(
        "assignment",
        _number(),
        sa.Column("question", NAME, nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("set", NAME, nullable=False),
        _account(index=True),
        sa.Column("leased", AT),
        sa.Column("step", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("closed", AT),
        sa.Column("seconds", sa.Integer(), nullable=False, server_default="0"),
        sa.UniqueConstraint("question", "slot"),
        sa.UniqueConstraint("question", "account"),
    )


def _judgments() -> None:
    op.create_table(
        "judgment",
        _number(),
        sa.Column("set", NAME, nullable=False),
        sa.Column("question", NAME, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("thing", sa.String(32), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text()),
        sa.Column("key", sa.String(100), unique=True),
        _account(),
        sa.Column("at", AT, nullable=False),
        sa.UniqueConstraint("set", "thing", "version"),
        sa.Index("ix_judgment_question", "question", "set"),
    )
    op.create_table(
        "standing",
        sa.Column("set", NAME, primary_key=True),
        sa.Column("thing", sa.String(32), primary_key=True),
        sa.Column("question", NAME, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("judgment", SEQUENCE, sa.ForeignKey("judgment.id"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text()),
        sa.Index("ix_standing_question", "question", "set"),
    )
    op.create_table(
        "nugget",
        _number(),
        sa.Column("list", NAME, nullable=False),
        sa.Column("question", NAME, nullable=False),
        sa.Column("nugget", NAME, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text()),
        sa.Column("key", sa.String(100), unique=True),
        _account(),
        sa.Column("at", AT, nullable=False),
        sa.UniqueConstraint("list", "question", "nugget", "version"),
        sa.Index("ix_nugget_question", "question", "list"),
    )
