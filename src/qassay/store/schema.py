"""The tables of the store.

Verdicts are append-only: a judgment, a nugget or an answer that changes is a new row with the next version,
and a unique constraint lets only one writer have it. `standing` is derived: the last judgment of each subject, written
in the same transaction, so that a page never reads history to show the present. So are `question_progress` and
`workload`, which triggers keep (the last migration that made them contains them): a page never counts the pool.

Triggers are kept only where plain queries are too slow for a page. Medians in ms with 1,000,000 items, 10,000 questions
and 30,000 assignments, on SQLite and PostgreSQL (`python -m benchmarks counters`):

    the completeness gate              3 and 8 with `question_progress`, 75 and 97 by plain queries
    questions without items            3 and 3, 27 and 45
    counts for adjudication            1 and 5, 9 and 23
    the work of all assessors          0.5 and 1 with `workload`, 16 and 8

The triggers add less than 0.1 ms to a save, and 0.1 and 0.7 s to 100,000 new items.

Texts of unknown length are Text, names are at most 200 characters (FORMATS 1). Bodies are rows as FORMATS writes them,
JSON text kept to the byte: what is exported is what was stored. Times are UTC, RFC 3339 text, so that SQLite and
PostgreSQL store and compare the same value.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    and_,
    false,
    literal_column,
    text,
    true,
)

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


def _only(condition: ColumnElement[bool]) -> dict[str, Any]:
    """An index of some rows only."""
    return {"sqlite_where": condition, "postgresql_where": condition}


ROLES = ("organiser", "adjudicator", "assessor", "reader", "participant")

# ---- people ---------------------------------------------------------------------------------------------------------

account = Table(
    "account",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("name", Name, nullable=False, unique=True),
    Column("role", String(20), CheckConstraint(f"role IN {ROLES}", name="role"), nullable=False),
    Column("password", String(300)),  # argon2; null where somebody signs in elsewhere
    Column("subject", String(500), unique=True),  # who somebody is elsewhere (issuer and subject, or header)
    Column("active", Boolean, nullable=False, server_default=true()),
    Column("preferences", Text, nullable=False, server_default="{}"),  # JSON: shortcuts and the like
    Column("created", At, nullable=False),
    Column("organisation", Name),  # of a participant, whose runs are those of the organisation; else null
)
invitation = Table(
    "invitation",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),  # of the token: a reader of the table cannot use it
    Column("role", String(20), nullable=False),
    Column("name", Name),
    Column("created", At, nullable=False),
    Column("expires", At, nullable=False),
    Column("used", At),
    Column("by", ForeignKey("account.id")),  # null: the first organiser's link
    Column("organisation", Name),
)
session = Table(
    "session",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("account", ForeignKey("account.id"), nullable=False, index=True),
    Column("created", At, nullable=False),
    Column("seen", At, nullable=False),
    Column("expires", At, nullable=False),
    Column("ended", At),
    Column("address", String(100)),
    Column("agent", String(300)),
)
token = Table(
    "token",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("account", ForeignKey("account.id"), nullable=False, index=True),
    Column("name", Name, nullable=False),
    Column("created", At, nullable=False),
    Column("used", At),
    Column("ended", At),
)
record = Table(  # what organisers and adjudicators did: reassigning, reopening, publishing, inviting
    "record",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("at", At, nullable=False),
    Column("account", ForeignKey("account.id")),
    Column("action", String(50), nullable=False),
    Column("question", Name, index=True),
    Column("body", Text, nullable=False, server_default="{}"),
)
setting = Table(
    "setting",
    metadata,
    Column("name", Name, primary_key=True),
    Column("value", Text, nullable=False),  # JSON
)

# ---- what is asked, and what was answered ---------------------------------------------------------------------------

question = Table(
    "question",
    metadata,
    Column("id", Name, primary_key=True),
    Column("ordinal", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("draft", Boolean, nullable=False, server_default=false()),  # under development: not in the test set yet
    Column("version", Integer, nullable=False, server_default="1"),
    Column("account", ForeignKey("account.id")),
    Column("at", At, nullable=False),
    # Every update counts, also one that only moves a draft, which is not a new version for people.
    Column("changes", Integer, nullable=False, server_default="0", onupdate=text("changes + 1")),
    Index("ix_question_mark", "draft", "version", "at", "changes"),  # whether any has changed
)
answer = Table(  # answers known from question development; the last row of (question, answer, doc) counts
    "answer",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("question", Name, nullable=False, index=True),
    Column("body", Text, nullable=False),
    Column("account", ForeignKey("account.id")),
    Column("at", At, nullable=False),
)
run = Table(
    "run",
    metadata,
    Column("tag", Name, primary_key=True),
    Column("file", String(300), nullable=False),  # its name in runs/, which shows the form and the compression
    Column("data", LargeBinary, nullable=False),  # the file, to the byte
    Column("information", Text),  # JSON: its row of runs.jsonl
    Column("withdrawn", Boolean, nullable=False, server_default=false()),
    Column("account", ForeignKey("account.id")),
    Column("at", At, nullable=False),
)

# ---- what is judged, by whom, and what they said --------------------------------------------------------------------

item = Table(  # what one screen shows: a pooled item, or one run's whole response
    "item",
    metadata,
    Column("id", Sequence, primary_key=True, autoincrement=False),  # drawn: it reveals neither run nor order
    Column("question", Name, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("run", Name),  # never shown to assessors
    Column("ordinal", Integer, nullable=False),
    Column("body", Text, nullable=False),  # JSON: what is shown, without the run
    Column("parts", Integer, nullable=False, server_default="1"),
    Column("active", Boolean, nullable=False, server_default=true()),  # false: only withdrawn runs returned it
    Index("ix_item_question_ordinal", "question", "ordinal"),
)
assignment = Table(
    "assignment",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("question", Name, nullable=False),
    Column("slot", Integer, nullable=False),  # 1 for the first assessor of the question
    Column("set", Name, nullable=False),  # the judgment set of the slot: first, second, ...
    Column("account", ForeignKey("account.id"), index=True),  # null: the first to ask for work
    Column("leased", At),  # until when a taken question stays with somebody who has judged nothing of it
    Column("step", Integer, nullable=False, server_default="1"),  # nuggets: writing the list, then matching
    Column("total", Integer, nullable=False),  # decisions: an item may take many
    Column("done", Integer, nullable=False, server_default="0"),
    Column("closed", At),
    Column("seconds", Integer, nullable=False, server_default="0"),  # spent so far, for the estimate of time left
    UniqueConstraint("question", "slot"),
    UniqueConstraint("question", "account"),
)
# What somebody goes on with, and what a lease may have ended for: few of many.
Index("ix_assignment_open", assignment.c.account, assignment.c.id, **_only(assignment.c.closed.is_(None)))
Index("ix_assignment_leased", assignment.c.leased, **_only(assignment.c.leased.is_not(None)))
judgment = Table(
    "judgment",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("set", Name, nullable=False),
    Column("question", Name, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("thing", String(32), key="subject", nullable=False),  # digest of what is judged (judging.subject)
    Column("version", Integer, nullable=False),
    Column("body", Text),  # null: the judgment before it was undone
    Column("key", String(100), unique=True),  # made by the client: the same save twice is one judgment
    Column("account", ForeignKey("account.id")),
    Column("at", At, nullable=False),
    UniqueConstraint("set", "subject", "version"),
    Index("ix_judgment_question", "question", "set"),
    Index("ix_judgment_set", "set", "id"),
    Index("ix_judgment_account", "account", "set", "id"),
)
current_judgment = Table(
    "standing",
    metadata,
    Column("set", Name, primary_key=True),
    Column("thing", String(32), key="subject", primary_key=True),
    Column("question", Name, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("judgment", ForeignKey("judgment.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("body", Text),
    Index("ix_standing_question", "question", "set"),
)
nugget = Table(
    "nugget",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("list", Name, nullable=False),
    Column("question", Name, nullable=False),
    Column("nugget", Name, nullable=False),
    Column("version", Integer, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("body", Text),  # null: taken off the list
    Column("key", String(100), unique=True),
    Column("account", ForeignKey("account.id")),
    Column("at", At, nullable=False),
    UniqueConstraint("list", "question", "nugget", "version"),
    Index("ix_nugget_question", "question", "list"),
)

# ---- how far it is --------------------------------------------------------------------------------------------------

settled = Table(  # what settling a question found, as long as it is closed; unruled: disagreements that are left
    "settled",
    metadata,
    Column("question", Name, primary_key=True),
    *(Column(name, Integer, nullable=False) for name in ("unanimous", "disagreements", "unruled")),
)


def _sum(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default="0")


question_progress = Table(  # how far a question is; kept by triggers
    "question_progress",
    metadata,
    Column("question", Name, primary_key=True),
    Column("ordinal", Integer),  # null: not in the test set
    Column("first", Sequence),  # its first assignment
    Column("pooled", Boolean, nullable=False, server_default=false()),  # it has items to judge
    Column("judged", Boolean, nullable=False, server_default=false()),  # it has judgments
    # `waiting` are the decisions still to be made in open assignments.
    *(_sum(name) for name in ("assessors", "open", "done", "waiting", "seconds", "unruled")),
    sqlite_with_rowid=False,
)
workload = Table(  # the work of a person in a slot; kept by triggers
    "workload",
    metadata,
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("set", Name, primary_key=True),
    Column("account", Sequence, primary_key=True, autoincrement=False),  # 0: open to anyone who asks
    *(_sum(name) for name in ("questions", "closed", "total", "done", "waiting", "seconds", "timed")),
    sqlite_with_rowid=False,
)
KEPT_BY_TRIGGERS = (question_progress, workload)
_NONE: ColumnElement[int] = literal_column("0")
_c = question_progress.c
ASSIGNED = _c.assessors > _NONE
OPEN = _c.open > _NONE
UNASSIGNED = and_(_c.ordinal.is_not(None), _c.pooled, _c.assessors == _NONE)
UNJUDGED = and_(_c.ordinal.is_not(None), _c.pooled, ~_c.judged)
UNRULED = and_(_c.first.is_not(None), _c.unruled > _NONE, _c.open == _NONE)
Index("ix_question_progress_place", _c.ordinal, _c.question)
# An index contains the columns of its condition too: SQLite checks the condition again and needs no other page for it.
for _name, _columns, _condition in (
    ("first", ("first", "assessors"), ASSIGNED),
    ("open", ("ordinal", "question", "open"), OPEN),
    ("unassigned", ("ordinal", "question", "pooled", "assessors"), UNASSIGNED),
    ("unjudged", ("ordinal", "question", "pooled", "judged"), UNJUDGED),
    ("unruled", ("first", "question", "unruled", "open"), UNRULED),
):
    Index(f"ix_question_progress_{_name}", *(_c[name] for name in _columns), **_only(_condition))
