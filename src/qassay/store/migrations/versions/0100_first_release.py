"""All tables of the first release, and the triggers that keep `question_progress` and `workload`.

Why these two are kept is measured by `python -m benchmarks counters` (see `qassay.store.schema`). Every column of
`question_progress` comes from one table, whose trigger reads it again for the question of the changed row; both
databases run the same statements. On PostgreSQL a writer locks the assignments of a question, or all assignments,
before it changes them, so that two writers do not read the same question at once. A row of a question that is gone
stays with its zeros. In `workload` a changed assignment is subtracted as it was and added as it is.
"""

# ruff: noqa: S608  (statements consist of the constants below)

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa
from alembic import op

revision = "0100"
down_revision = None
branch_labels = None
depends_on = None

NAME = sa.String(200)
AT = sa.String(40)
SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


class Source(NamedTuple):
    """Columns of the progress, the columns of a table on which they depend, and the query that gives them."""

    table: str
    # The column of the table that contains the question.
    key: str
    watched: str
    columns: str
    query: str
    # A new row for which this holds makes the column true: if it is true already, the trigger has nothing to do.
    suffices: str | None = None

    @property
    def name(self) -> str:
        """The name of the trigger."""
        return f"tr_{self.table}_{self.columns.partition(',')[0]}"

    def update(self, question: str) -> str:
        """The statement that reads the columns again for a question."""
        query = self.query.format(question=question)
        return f"UPDATE question_progress SET ({self.columns}) = ({query}) WHERE question = {question}"

    def keep(self, row: str) -> str:
        """The statements of the trigger, for the old or the new row."""
        question = f"{row}.{self.key}"
        insert = f"INSERT INTO question_progress (question) VALUES ({question}) ON CONFLICT DO NOTHING"
        return f"{insert}; {self.update(question)};"

    @property
    def condition(self) -> str:
        """Whether a new row may change something."""
        if self.suffices is None:
            return "true"
        known = f"SELECT 1 FROM question_progress WHERE question = NEW.{self.key} AND {self.columns}"
        return f"NOT (NEW.{self.suffices} AND EXISTS ({known}))"


SOURCES = (
    Source(
        "question",
        "id",
        "id, ordinal, draft",
        "ordinal",
        "SELECT max(ordinal) FROM question WHERE id = {question} AND NOT draft",
    ),
    Source(
        "item",
        "question",
        "question, active",
        "pooled",
        "SELECT EXISTS (SELECT 1 FROM item WHERE question = {question} AND active)",
        suffices="active",
    ),
    Source(
        "standing",
        "question",
        "question, body",
        "judged",
        "SELECT EXISTS (SELECT 1 FROM standing WHERE question = {question} AND body IS NOT NULL)",
        suffices="body IS NOT NULL",
    ),
    Source(
        "assignment",
        "question",
        "question, closed",
        "first, assessors, open",
        "SELECT min(id), count(*), count(*) - count(closed) FROM assignment WHERE question = {question}",
    ),
    # What a save changes is by itself: no index contains it.
    Source(
        "assignment",
        "question",
        "question, total, done, closed, seconds",
        "done, waiting, seconds",
        "SELECT coalesce(sum(done), 0), coalesce(sum(CASE WHEN closed IS NULL THEN total - done ELSE 0 END), 0),"
        " coalesce(sum(seconds), 0) FROM assignment WHERE question = {question}",
    ),
    Source(
        "settled",
        "question",
        "question, unruled",
        "unruled",
        "SELECT coalesce(max(unruled), 0) FROM settled WHERE question = {question}",
    ),
)
# What an assignment adds to the work of a person in a slot.
WORK = {
    "questions": "1",
    "closed": "CASE WHEN {row}.closed IS NULL THEN 0 ELSE 1 END",
    "total": "{row}.total",
    "done": "{row}.done",
    "waiting": "CASE WHEN {row}.closed IS NULL THEN {row}.total - {row}.done ELSE 0 END",
    "seconds": "{row}.seconds",
    "timed": "CASE WHEN {row}.seconds > 0 THEN {row}.done ELSE 0 END",
}
WORK_WATCHED = 'slot, "set", account, total, done, closed, seconds'
WORK_COLUMNS = f'slot, "set", account, {", ".join(WORK)}'


def upgrade() -> None:
    """Make the tables and triggers in an empty database."""
    _people()
    _sessions()
    _contents()
    _work()
    _judgments()
    _progress()
    connection = op.get_bind()
    for statement in triggers(connection.dialect.name):
        connection.exec_driver_sql(statement)


def _number() -> sa.Column[int]:
    return sa.Column("id", SEQUENCE, primary_key=True)


def _sum(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False, server_default="0")


def _account(*, nullable: bool = True, index: bool = False) -> sa.Column[int]:
    return sa.Column("account", SEQUENCE, sa.ForeignKey("account.id"), nullable=nullable, index=index)


def _index_of_some(name: str, table: str, columns: list[str], where: str) -> None:
    """An index of the rows for which a condition holds."""
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _people() -> None:
    roles = "role IN ('organiser', 'adjudicator', 'assessor', 'reader', 'participant')"
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
        sa.Column("organisation", NAME),
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
        sa.Column("organisation", NAME),
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
        _sum("changes"),
        sa.Index("ix_question_mark", "draft", "version", "at", "changes"),
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
    _index_of_some("ix_assignment_open", "assignment", ["account", "id"], "closed IS NULL")
    _index_of_some("ix_assignment_leased", "assignment", ["leased"], "leased IS NOT NULL")


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
        sa.Index("ix_judgment_set", "set", "id"),
        sa.Index("ix_judgment_account", "account", "set", "id"),
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


def _progress() -> None:
    op.create_table(
        "settled",
        sa.Column("question", NAME, primary_key=True),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("unanimous", "disagreements", "unruled")),
    )
    op.create_table(
        "question_progress",
        sa.Column("question", NAME, primary_key=True),
        sa.Column("ordinal", sa.Integer()),
        sa.Column("first", SEQUENCE),
        sa.Column("pooled", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("judged", sa.Boolean(), nullable=False, server_default=sa.false()),
        *(_sum(name) for name in ("assessors", "open", "done", "waiting", "seconds", "unruled")),
        sqlite_with_rowid=False,
    )
    true, false = ("{0}", "NOT {0}") if op.get_bind().dialect.name == "postgresql" else ("{0} = 1", "{0} = 0")
    asked = f"ordinal IS NOT NULL AND {true.format('pooled')}"
    for name, columns, condition in (
        ("first", ["first", "assessors"], "assessors > 0"),
        ("open", ["ordinal", "question", "open"], "open > 0"),
        ("unassigned", ["ordinal", "question", "pooled", "assessors"], f"{asked} AND assessors = 0"),
        ("unjudged", ["ordinal", "question", "pooled", "judged"], f"{asked} AND {false.format('judged')}"),
        ("unruled", ["first", "question", "unruled", "open"], "first IS NOT NULL AND unruled > 0 AND open = 0"),
    ):
        _index_of_some(f"ix_question_progress_{name}", "question_progress", columns, condition)
    op.create_index("ix_question_progress_place", "question_progress", ["ordinal", "question"])
    op.create_table(
        "workload",
        sa.Column("slot", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("set", NAME, primary_key=True),
        sa.Column("account", SEQUENCE, primary_key=True, autoincrement=False),
        *(_sum(name) for name in WORK),
        sqlite_with_rowid=False,
    )


def triggers(dialect: str) -> list[str]:
    """The statements that make the triggers."""
    if dialect == "postgresql":
        return [*(statement for source in SOURCES for statement in _postgresql(source)), *_work_on_postgresql()]
    return [*(statement for source in SOURCES for statement in _sqlite(source)), *_work_on_sqlite()]


def _count(row: str, sign: str) -> str:
    """The statement that adds an assignment to the work of its person, or subtracts it."""
    values = ", ".join(f"{sign} ({value.format(row=row)})" for value in WORK.values())
    sums = ", ".join(f"{name} = workload.{name} + excluded.{name}" for name in WORK)
    return (
        f'INSERT INTO workload ({WORK_COLUMNS}) VALUES ({row}.slot, {row}."set", coalesce({row}.account, 0), {values})'
        f' ON CONFLICT (slot, "set", account) DO UPDATE SET {sums};'
    )


def _work_on_postgresql() -> tuple[str, str]:
    return (
        "CREATE FUNCTION tr_workload() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF TG_OP <> 'INSERT' THEN {_count('OLD', '-')} END IF;"
        f" IF TG_OP <> 'DELETE' THEN {_count('NEW', '+')} END IF;"
        " RETURN NULL; END $$",
        f"CREATE TRIGGER tr_workload AFTER INSERT OR UPDATE OF {WORK_WATCHED} OR DELETE ON assignment"
        " FOR EACH ROW EXECUTE FUNCTION tr_workload()",
    )


def _work_on_sqlite() -> list[str]:
    old, new = _count("OLD", "-"), _count("NEW", "+")
    events = {"INSERT": new, f"UPDATE OF {WORK_WATCHED}": f"{old} {new}", "DELETE": old}
    return [
        f"CREATE TRIGGER tr_workload_{event.partition(' ')[0].lower()} AFTER {event} ON assignment BEGIN {count} END"
        for event, count in events.items()
    ]


def _postgresql(source: Source) -> tuple[str, str]:
    """A row that does not exist is null: the old one of an insert, the new one of a delete."""
    is_moved = f"OLD.{source.key} IS DISTINCT FROM NEW.{source.key}"
    return (
        f"CREATE FUNCTION {source.name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF TG_OP <> 'DELETE' AND {source.condition} THEN {source.keep('NEW')} END IF;"
        f" IF TG_OP <> 'INSERT' AND {is_moved} THEN {source.keep('OLD')} END IF;"
        " RETURN NULL; END $$",
        f"CREATE TRIGGER {source.name} AFTER INSERT OR UPDATE OF {source.watched} OR DELETE ON {source.table}"
        f" FOR EACH ROW EXECUTE FUNCTION {source.name}()",
    )


def _sqlite(source: Source) -> list[str]:
    events = {
        "insert": ("INSERT", "NEW", source.condition),
        "update": (f"UPDATE OF {source.watched}", "NEW", source.condition),
        "move": (f"UPDATE OF {source.key}", "OLD", f"OLD.{source.key} <> NEW.{source.key}"),
        "delete": ("DELETE", "OLD", "true"),
    }
    return [
        f"CREATE TRIGGER {source.name}_{name} AFTER {event} ON {source.table} WHEN {condition}"
        f" BEGIN {source.keep(row)} END"
        for name, (event, row, condition) in events.items()
    ]
