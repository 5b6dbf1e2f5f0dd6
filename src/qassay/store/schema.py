"""The tables of the store.

What assessors say is append-only: a judgment, a nugget or an answer that changes is a new row with the next version,
and a unique constraint lets only one writer have it. `standing` is derived: the last judgment of each thing, kept
in the same transaction, so that a page never reads history to show the present. So are `share` and `stage`, which
triggers keep (counters): a page never adds up the pool.

Texts of unknown length are Text, names are at most 200 characters (FORMATS 1). Bodies are rows as FORMATS writes them,
JSON text kept to the byte: what is exported is what was stored. Times are UTC, RFC 3339 text, so that SQLite and
PostgreSQL hold and compare the same thing.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
    and_,
    event,
    false,
    literal_column,
    true,
)

from qassay.store.columns import At, Name, Sequence, only
from qassay.store.columns import metadata as metadata  # with all its tables only once this module is read
from qassay.store.counters import install_with

ROLES = ("organiser", "adjudicator", "assessor", "reader")

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
)
invitation = Table(
    "invitation",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),  # of the token: whoever reads the table cannot use it
    Column("role", String(20), nullable=False),
    Column("name", Name),
    Column("created", At, nullable=False),
    Column("expires", At, nullable=False),
    Column("used", At),
    Column("by", ForeignKey("account.id")),  # null: the first organiser's link
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
    # Counted by a trigger, whatever changes: versions are for people, who do not mind that a draft was moved.
    Column("changes", Integer, nullable=False, server_default="0"),
    Index("ix_question_mark", "draft", "version", "at", "changes"),  # whether any has changed
)
answer = Table(  # answers known from question development; the last row of (question, answer, doc) stands
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
    Column("file", String(300), nullable=False),  # its name in runs/, which tells the form and the compression
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
    Column("id", Sequence, primary_key=True, autoincrement=False),  # drawn: it tells neither run nor order
    Column("question", Name, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("run", Name),  # never shown to whoever judges
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
    Column("account", ForeignKey("account.id"), index=True),  # null: whoever asks for work first
    Column("leased", At),  # until when a taken question stays with somebody who has judged nothing of it
    Column("step", Integer, nullable=False, server_default="1"),  # nuggets: writing the list, then matching
    Column("total", Integer, nullable=False),
    Column("done", Integer, nullable=False, server_default="0"),
    Column("closed", At),
    Column("seconds", Integer, nullable=False, server_default="0"),  # spent so far, for the estimate of time left
    UniqueConstraint("question", "slot"),
    UniqueConstraint("question", "account"),
)
# What somebody goes on with, and what a lease may have ended for: few of many.
Index("ix_assignment_open", assignment.c.account, assignment.c.id, **only(assignment.c.closed.is_(None)))
Index("ix_assignment_leased", assignment.c.leased, **only(assignment.c.leased.is_not(None)))
judgment = Table(
    "judgment",
    metadata,
    Column("id", Sequence, primary_key=True),
    Column("set", Name, nullable=False),
    Column("question", Name, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("thing", String(32), nullable=False),  # digest of what is judged (judgments.IDENTITY)
    Column("version", Integer, nullable=False),
    Column("body", Text),  # null: the judgment before it was taken back
    Column("key", String(100), unique=True),  # made by the client: the same save twice is one judgment
    Column("account", ForeignKey("account.id")),
    Column("at", At, nullable=False),
    UniqueConstraint("set", "thing", "version"),
    Index("ix_judgment_question", "question", "set"),
    Index("ix_judgment_set", "set", "id"),
    Index("ix_judgment_account", "account", "set", "id"),
)
standing = Table(
    "standing",
    metadata,
    Column("set", Name, primary_key=True),
    Column("thing", String(32), primary_key=True),
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


share = Table(  # the work of one person in one slot, summed up
    "share",
    metadata,
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("set", Name, primary_key=True),
    Column("account", Sequence, primary_key=True, autoincrement=False),  # 0: open to whoever asks
    *(_sum(name) for name in ("questions", "closed", "total", "done")),
    _sum("waiting"),  # items to be judged in what is not closed
    _sum("seconds"),
    _sum("timed"),  # items done where the time was taken
    sqlite_with_rowid=False,
)
stage = Table(  # how far a question is
    "stage",
    metadata,
    Column("question", Name, primary_key=True),
    Column("ordinal", Integer),  # null: assigned, but not of the test set
    Column("first", Sequence),  # its first assignment
    Column("pooled", Boolean, nullable=False, server_default=false()),  # there is something to judge
    Column("judged", Boolean, nullable=False, server_default=false()),  # somebody has judged something
    *(_sum(name) for name in ("assessors", "open", "total", "done", "waiting", "seconds", "unruled")),
    sqlite_with_rowid=False,
)
_NONE: ColumnElement[int] = literal_column("0")
ASSIGNED = stage.c.assessors > _NONE
OPEN = stage.c.open > _NONE
UNASSIGNED = and_(stage.c.ordinal.is_not(None), stage.c.pooled, stage.c.assessors == _NONE)
UNJUDGED = and_(stage.c.ordinal.is_not(None), stage.c.pooled, ~stage.c.judged)
UNRULED = and_(stage.c.first.is_not(None), stage.c.unruled > _NONE, stage.c.open == _NONE)
Index("ix_stage_place", stage.c.ordinal, stage.c.question)
# What a condition is about stands in its index too: SQLite looks at it again, and need not look elsewhere.
for _name, _columns, _condition in (
    ("first", ("first", "assessors"), ASSIGNED),
    ("open", ("ordinal", "question", "open"), OPEN),
    ("unassigned", ("ordinal", "question", "pooled", "assessors"), UNASSIGNED),
    ("unjudged", ("ordinal", "question", "pooled", "judged"), UNJUDGED),
    ("unruled", ("first", "question", "unruled", "open"), UNRULED),
):
    Index(f"ix_stage_{_name}", *(stage.c[name] for name in _columns), **only(_condition))
event.listen(metadata, "after_create", install_with)
