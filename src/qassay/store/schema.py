"""The tables of the store.

What assessors say is append-only: a judgment, a nugget or an answer that changes is a new row with the next version,
and a unique constraint lets only one writer have it. `standing` is the one derived table: the last judgment of each
thing, kept in the same transaction, so that a page never reads history to show the present.

Texts of unknown length are Text, names are at most 200 characters (FORMATS 1). Bodies are rows as FORMATS writes them,
JSON text kept to the byte: what is exported is what was stored. Times are UTC, RFC 3339 text, so that SQLite and
PostgreSQL hold and compare the same thing.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
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
