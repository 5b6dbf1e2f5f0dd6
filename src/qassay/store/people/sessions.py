"""How people sign in and stay signed in: passwords, sessions of browsers, tokens of programs.

Passwords are hashed with argon2id; ten characters or more, and no other rule. Sessions and tokens live in the store, so
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

import argon2
from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from qassay.errors import UsageError
from qassay.formats.times import later, now
from qassay.store.people import Account, as_account, clean_name, digest
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
    secret = secrets.token_urlsafe(32)
    at = now()
    connection.execute(
        insert(session).values(
            digest=digest(secret),
            account=number,
            created=at,
            seen=at,
            expires=later(LONGEST),
            address=(address or "")[:100] or None,
            agent=_printable(agent),
        )
    )
    return secret


def find_session(connection: Connection, secret: str) -> tuple[Account, int, bool] | None:
    """Whose session this is, its number, and whether its use should be noted; None where it is over."""
    row = (
        connection.execute(
            select(
                account, session.c.id.label("session"), session.c.seen.label("seen"), session.c.expires.label("expires")
            )
            .join(account, account.c.id == session.c.account)
            .where(session.c.digest == digest(secret), session.c.ended.is_(None), account.c.active)
        )
        .mappings()
        .first()
    )
    if row is None:
        return None
    moment, seen = datetime.now(UTC), datetime.fromisoformat(row["seen"])
    if moment >= datetime.fromisoformat(row["expires"]) or moment - seen >= IDLE:
        return None
    return as_account(row), row["session"], moment - seen >= NOTED_EVERY


def note_session(connection: Connection, number: int) -> None:
    """Write down that a session was used just now."""
    connection.execute(update(session).where(session.c.id == number).values(seen=now()))


def sessions(connection: Connection, number: int) -> list[Session]:
    """The open sessions of an account, the last used first."""
    rows = connection.execute(
        select(session)
        .where(session.c.account == number, *_open())
        .order_by(session.c.seen.desc(), session.c.id.desc())
    ).mappings()
    return [
        Session(row["id"], row["created"], row["seen"], row["expires"], row["address"], row["agent"]) for row in rows
    ]


def end_session(connection: Connection, number: int, session_number: int) -> None:
    """End one session of an account; an error where it has no such session."""
    done = connection.execute(
        update(session)
        .where(session.c.id == session_number, session.c.account == number, session.c.ended.is_(None))
        .values(ended=now())
    )
    if done.rowcount != 1:
        raise UsageError("there is no such session; it may have ended already")


def end_sessions(connection: Connection, number: int, *, but: int | None = None) -> int:
    """End the sessions of an account, but for one; how many ended."""
    query = update(session).where(session.c.account == number, session.c.ended.is_(None))
    if but is not None:
        query = query.where(session.c.id != but)
    return connection.execute(query.values(ended=now())).rowcount


def end_secret(connection: Connection, secret: str) -> None:
    """End the session with this secret, if there is one."""
    connection.execute(
        update(session).where(session.c.digest == digest(secret), session.c.ended.is_(None)).values(ended=now())
    )


def count_sessions(connection: Connection) -> int:
    """How many sessions are open."""
    return connection.execute(select(func.count()).select_from(session).where(*_open())).scalar_one()


# ---- tokens ---------------------------------------------------------------------------------------------------------


def make_token(connection: Connection, number: int, name: str) -> str:
    """Make a token for an account and return it: it is shown once."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    connection.execute(
        insert(token).values(digest=digest(secret), account=number, name=clean_name(name), created=now())
    )
    return secret


def find_token(connection: Connection, secret: str) -> tuple[Account, int, bool] | None:
    """Whose token this is, its number, and whether its use should be noted; None where it was revoked."""
    if not secret.startswith(TOKEN_PREFIX):
        return None
    row = (
        connection.execute(
            select(account, token.c.id.label("token"), token.c.used.label("used"))
            .join(account, account.c.id == token.c.account)
            .where(token.c.digest == digest(secret), token.c.ended.is_(None), account.c.active)
        )
        .mappings()
        .first()
    )
    if row is None:
        return None
    used = row["used"]
    stale = used is None or datetime.now(UTC) - datetime.fromisoformat(used) >= NOTED_EVERY
    return as_account(row), row["token"], stale


def note_token(connection: Connection, number: int) -> None:
    """Write down that a token was used just now."""
    connection.execute(update(token).where(token.c.id == number).values(used=now()))


def tokens(connection: Connection, number: int) -> list[Token]:
    """The tokens of an account that were not revoked."""
    rows = connection.execute(
        select(token).where(token.c.account == number, token.c.ended.is_(None)).order_by(token.c.id)
    ).mappings()
    return [Token(row["id"], row["name"], row["created"], row["used"]) for row in rows]


def end_token(connection: Connection, number: int, token_number: int) -> None:
    """Revoke one token of an account; an error where it has no such token."""
    done = connection.execute(
        update(token)
        .where(token.c.id == token_number, token.c.account == number, token.c.ended.is_(None))
        .values(ended=now())
    )
    if done.rowcount != 1:
        raise UsageError("there is no such token; it may have been revoked already")


def _open() -> tuple[ColumnElement[bool], ...]:
    return (session.c.ended.is_(None), session.c.expires > now(), session.c.seen > later(-IDLE))


def _printable(agent: str | None) -> str | None:
    """What a browser calls itself, fit to be shown."""
    kept = "".join(character for character in agent or "" if character.isprintable())
    return kept[:300] or None
