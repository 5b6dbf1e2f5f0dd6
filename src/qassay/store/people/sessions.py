"""How people sign in and stay signed in: passwords, sessions of browsers, tokens of programs.

Passwords are hashed with argon2id; ten characters or more, not all the same. Sessions and tokens live in the store, so
that a restart signs nobody out and an organiser can end them: `people.end_access` ends all of both, as do a new role, a
new password by a link and the end of an account. Of the secret only a digest is kept. A session ends after a time
without use, after a longest time in any case, and when it is ended; a token, when it is revoked.
"""

from __future__ import annotations

import functools
import secrets
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import argon2
from sqlalchemy import ColumnElement, Connection, Table, func, insert, select, update

from qassay.errors import UsageError
from qassay.formats.times import later, now
from qassay.store.people import Account, as_account, clean_name, digest, end
from qassay.store.schema import account, session, token

PASSWORD_LENGTH = (10, 200)
HASHER = argon2.PasswordHasher()
# Hashing takes 64 MiB and a core; a crowd at the door must not take all of either.
_AT_ONCE = threading.BoundedSemaphore(2)
IDLE = timedelta(hours=12)
LONGEST = timedelta(days=14)
TOKEN_PREFIX = "qsy_"  # noqa: S105  # makes a token that leaked into a file easy to find
# A use is written down this often at most: reading a page is not a write.
NOTED_EVERY = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Session:
    """One browser where somebody is signed in."""

    id: int
    created: str
    seen: str
    expires: str
    address: str | None
    agent: str | None


@dataclass(frozen=True, slots=True)
class Token:
    """One program that may act for somebody; its secret is kept nowhere."""

    id: int
    name: str
    created: str
    used: str | None


# ---- passwords ------------------------------------------------------------------------------------------------------


def hash_password(password: str) -> str:
    """The argon2id hash of a password; an error where it is too short or too long."""
    shortest, longest = PASSWORD_LENGTH
    if not shortest <= len(password) <= longest:
        raise UsageError(f"a password has {shortest} to {longest} characters; this one has {len(password)}")
    if len(set(password.casefold())) == 1:
        raise UsageError("this password is one character repeated; choose one that is harder to guess")
    with _AT_ONCE:
        return HASHER.hash(password)


def verify_password(hashed: str | None, password: str) -> bool:
    """Whether this is the password; without a hash, the same work is done and the answer is no."""
    with _AT_ONCE:
        try:
            # Else the time of the answer would show that there is no such account.
            return HASHER.verify(hashed or _nobody(HASHER), password) and hashed is not None
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False


def outdated(hashed: str | None) -> bool:
    """Whether a hash was made with weaker parameters than today's."""
    return hashed is not None and HASHER.check_needs_rehash(hashed)


@functools.cache
def _nobody(hasher: argon2.PasswordHasher) -> str:
    """A hash of a random secret, made with the same parameters as the others."""
    return hasher.hash(secrets.token_hex())


# ---- sessions -------------------------------------------------------------------------------------------------------


def begin_session(connection: Connection, number: int, *, address: str | None, agent: str | None) -> str:
    """Sign an account in and return the secret of the session."""
    secret, at = secrets.token_urlsafe(32), now()
    values = {"digest": digest(secret), "account": number, "created": at, "seen": at, "expires": later(LONGEST)}
    browser = {"address": (address or "")[:100] or None, "agent": _printable(agent)}
    connection.execute(insert(session).values(**values, **browser))
    return secret


def find_session(connection: Connection, secret: str) -> tuple[Account, int, bool] | None:
    """The account of a session, its number, and whether its use should be noted; None where it is over."""
    row = _find(connection, session, secret, "seen", "expires")
    if row is None:
        return None
    moment, seen = datetime.now(UTC), datetime.fromisoformat(row["seen"])
    if moment >= datetime.fromisoformat(row["expires"]) or moment - seen >= IDLE:
        return None
    return as_account(row), row["number"], moment - seen >= NOTED_EVERY


def note_session(connection: Connection, number: int) -> None:
    """Write down that a session was used just now."""
    connection.execute(update(session).where(session.c.id == number).values(seen=now()))


def sessions(connection: Connection, number: int) -> list[Session]:
    """The open sessions of an account, the last used first."""
    c = session.c
    rows = select(c.id, c.created, c.seen, c.expires, c.address, c.agent).where(c.account == number, *_open())
    return [Session(*row) for row in connection.execute(rows.order_by(c.seen.desc(), c.id.desc()))]


def end_session(connection: Connection, number: int, session_number: int) -> None:
    """End one session of an account; an error where it has no such session."""
    if not end(connection, session, session.c.id == session_number, session.c.account == number):
        raise UsageError("there is no such session; it may have ended already")


def end_sessions(connection: Connection, number: int, *, but: int | None = None) -> int:
    """End the sessions of an account, but for one; how many ended."""
    but_one = () if but is None else (session.c.id != but,)
    return end(connection, session, session.c.account == number, *but_one)


def end_secret(connection: Connection, secret: str) -> None:
    """End the session with this secret, if there is one."""
    end(connection, session, session.c.digest == digest(secret))


def count_sessions(connection: Connection) -> int:
    """How many sessions are open."""
    return connection.execute(select(func.count()).select_from(session).where(*_open())).scalar_one()


# ---- tokens ---------------------------------------------------------------------------------------------------------


def make_token(connection: Connection, number: int, name: str) -> str:
    """Make a token for an account and return it: it is shown once."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    values = {"digest": digest(secret), "account": number, "name": clean_name(name), "created": now()}
    connection.execute(insert(token).values(**values))
    return secret


def find_token(connection: Connection, secret: str) -> tuple[Account, int, bool] | None:
    """The account of a token, its number, and whether its use should be noted; None where it was revoked."""
    row = _find(connection, token, secret, "used") if secret.startswith(TOKEN_PREFIX) else None
    if row is None:
        return None
    used = row["used"]
    stale = used is None or datetime.now(UTC) - datetime.fromisoformat(used) >= NOTED_EVERY
    return as_account(row), row["number"], stale


def note_token(connection: Connection, number: int) -> None:
    """Write down that a token was used just now."""
    connection.execute(update(token).where(token.c.id == number).values(used=now()))


def tokens(connection: Connection, number: int) -> list[Token]:
    """The tokens of an account that were not revoked."""
    c = token.c
    rows = select(c.id, c.name, c.created, c.used).where(c.account == number, c.ended.is_(None)).order_by(c.id)
    return [Token(*row) for row in connection.execute(rows)]


def end_token(connection: Connection, number: int, token_number: int) -> None:
    """Revoke one token of an account; an error where it has no such token."""
    if not end(connection, token, token.c.id == token_number, token.c.account == number):
        raise UsageError("there is no such token; it may have been revoked already")


def end_tokens(connection: Connection, number: int) -> int:
    """Revoke every token of an account; how many."""
    return end(connection, token, token.c.account == number)


def _find(connection: Connection, table: Table, secret: str, *columns: str) -> dict[str, Any] | None:
    """The account of a session or token that has not ended, with the number and some columns of that."""
    query = select(account, table.c.id.label("number"), *(table.c[name] for name in columns))
    query = query.join(account, account.c.id == table.c.account)
    row = connection.execute(
        query.where(table.c.digest == digest(secret), table.c.ended.is_(None), account.c.active)
    ).first()
    return None if row is None else dict(zip((*account.c.keys(), "number", *columns), row, strict=True))


def _open() -> tuple[ColumnElement[bool], ...]:
    return (session.c.ended.is_(None), session.c.expires > now(), session.c.seen > later(-IDLE))


def _printable(agent: str | None) -> str | None:
    """The name that a browser gives itself, safe to show."""
    printable = "".join(character for character in agent or "" if character.isprintable())
    return printable[:300] or None
