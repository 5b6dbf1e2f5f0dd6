"""Answers that were paid for, kept in the evaluation's folder: none is asked for twice, whatever ends a job.

    .models/answers.db        usable answers, by model, prompt, parameters, what was asked about, and repeat index
    .models/failures.jsonl    calls without a usable answer; never read again, so that they are repeated
    .models/prompts/          the prompts that were used, by their hash

Every answer is written when it comes, together with those that come at the same moment: it survives the end of the
process by force.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from qassay.assessors.llm.prompts import Prompt
from qassay.errors import InputError, Problem
from qassay.formats.links import refuse_way_out

FOLDER = ".models"
_BUSY = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    call TEXT NOT NULL, repeat INTEGER NOT NULL, answer BLOB NOT NULL, PRIMARY KEY (call, repeat)
) WITHOUT ROWID
"""


class UsableAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A usable answer as it came, with what it took."""

    content: str
    model: str | None
    input_tokens: int
    output_tokens: int
    cost: float | None
    at: str
    # How often the model was asked until the answer could be used.
    asked: int = 1
    estimated: bool = False
    # The probability of each decision's label, where the endpoint gives it.
    chances: list[float | None] = []


class Cache:
    """The answers of one evaluation; used by one thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        path = self._folder / "answers.db"
        self._failures = self._folder / "failures.jsonl"
        for place in (path, self._failures):
            refuse_way_out(place)
        try:
            self._folder.mkdir(exist_ok=True)
            self._base = sqlite3.connect(path, isolation_level=None, timeout=_BUSY)
            # The log of changes is written at once and survives the process; the disk is waited for now and then.
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.execute(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise _broken(path, error) from None
        self._path = path

    def get(self, call: str, repeat: int) -> UsableAnswer | None:
        """The answer to a call, where it was paid for."""
        try:
            row = self._base.execute(
                "SELECT answer FROM answers WHERE call = ? AND repeat = ?", (call, repeat)
            ).fetchone()
            return None if row is None else msgspec.json.decode(row[0], type=UsableAnswer)
        except (sqlite3.Error, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _broken(self._path, error) from None

    def put(self, call: str, repeat: int, answer: UsableAnswer) -> None:
        """Keep an answer; it is written by `commit`."""
        row = (call, repeat, msgspec.json.encode(answer))
        try:
            if not self._base.in_transaction:
                self._base.execute("BEGIN")
            self._base.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)
        except sqlite3.Error as error:
            raise _broken(self._path, error) from None

    @property
    def is_open(self) -> bool:
        """Whether an answer waits to be written."""
        return self._base.in_transaction

    def commit(self) -> None:
        """Write the answers that were put."""
        try:
            if self._base.in_transaction:
                self._base.execute("COMMIT")
        except sqlite3.Error as error:
            raise _broken(self._path, error) from None

    def failed(self, row: Mapping[str, Any]) -> None:
        """Record a failure; it is asked again by the next job."""
        with self._failures.open("ab", buffering=0) as file:
            file.write(msgspec.json.encode({"at": now(), **row}) + b"\n")

    def close(self) -> None:
        """Write what waits, and end the connection."""
        self.commit()
        self._base.close()


def keep_prompt(folder: Path, prompt: Prompt) -> None:
    """Keep a prompt under its hash, so that a trace can be read years later."""
    path = folder / FOLDER / "prompts" / f"{prompt.kind}-{prompt.hash}.json"
    if not path.exists():
        refuse_way_out(path).parent.mkdir(parents=True, exist_ok=True)
        record: dict[str, Any] = {
            "kind": prompt.kind,
            "hash": prompt.hash,
            "system": prompt.system,
            "user": prompt.user,
        }
        record |= {"batch": prompt.batch, "reason": prompt.reason, "labels": dict(prompt.labels)}
        path.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def now() -> str:
    """The time, as judgments have it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _broken(path: Path, error: Exception) -> InputError:
    message = f"the answers of earlier calls cannot be read or written: {error}; to start again, move {FOLDER} away"
    return InputError(Problem("configuration", message, str(path)))
