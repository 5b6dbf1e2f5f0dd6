"""Passwords: argon2id, ten characters or more, and no other rule."""

from __future__ import annotations

import functools
import secrets
import threading

import argon2

from qassay.errors import UsageError

PASSWORD_LENGTH = (10, 200)

HASHER = argon2.PasswordHasher()
# Hashing takes 64 MiB and a core; a crowd at the door must not take all of either.
_AT_ONCE = threading.BoundedSemaphore(2)


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
            # The other way round a missing account would be told by the clock.
            return HASHER.verify(hashed or _nobody(HASHER), password) and hashed is not None
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False


def outdated(hashed: str | None) -> bool:
    """Whether a hash was made with weaker parameters than today's."""
    return hashed is not None and HASHER.check_needs_rehash(hashed)


@functools.cache
def _nobody(hasher: argon2.PasswordHasher) -> str:
    """A hash of nothing anybody knows, made with the same parameters as the others."""
    return hasher.hash(secrets.token_hex())
