"""Judgments: appended, never overwritten; the last of each subject is current.

A save names the version that it replaces. Of two savers with the same version the second gets a conflict with the
current judgment, and nothing is lost; the same save sent twice (one idempotency key) is one judgment, and both get one
answer. Rows of the table `judgment`, and of `standing`, which has the current judgment of each subject, are always
written together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, String, bindparam, delete, func, insert, select, true
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import ARRAY

from qassay.errors import InputError, Problem, QassayError
from qassay.judging import Row, subject
from qassay.judging.settling import NewJudgment
from qassay.store.acts import Act
from qassay.store.assignment.assignments import keep_others_out
from qassay.store.schema import current_judgment, judgment

# Rows written at once.
BATCH = 5_000


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judgment as stored; a body of None says that the judgment before it is undone."""

    id: int
    set: str
    subject: str
    version: int
    body: Row | None
    account: int | None
    at: str


class ConflictError(QassayError):
    """Somebody else, or another tab, was first: the current judgment."""

    def __init__(
        self,
        current: Judgment | None,
        message: str = "this was judged in the meantime; look at the current judgment and decide again",
    ) -> None:
        super().__init__(message)
        self.current = current


class KeyReusedError(QassayError):
    """One idempotency key was sent for two different judgments."""


def append(
    act: Act,
    set_name: str,
    kind: str,
    row: Mapping[str, Any],
    *,
    expected: int | None = None,
    undone: bool = False,
) -> Judgment:
    """Append a judgment; with `undone`, the subject that `row` names becomes unjudged again.

    `expected` is the version that the writer has seen (0: not judged yet); None takes whatever is current.
    """
    body = None if undone else row
    if earlier := repeated(act, set_name, kind, row, body):
        return earlier
    current = version_of(act.connection, set_name, subject(kind, row))
    return append_next(act, set_name, kind, row, body, current=current, expected=expected)


def append_next(
    act: Act,
    set_name: str,
    kind: str,
    row: Mapping[str, Any],
    body: Mapping[str, Any] | None,
    *,
    current: int,
    expected: int | None,
) -> Judgment:
    """Append a judgment to the current version, where the key was found to be new. `row` names what is judged."""
    new = NewJudgment(kind, str(row["question"]), subject(kind, row), current + 1, body)
    number: int | None = None
    if expected is None or expected == current:
        values = _values(set_name, new, at=act.at, key=act.key, account=act.account)
        number = act.connection.execute(_APPEND[act.connection.dialect.name], values).scalar()
    if number is None:
        # Somebody was faster: the same save, which has its answer, or another one, which is met as a conflict.
        if earlier := repeated(act, set_name, kind, row, body):
            return earlier
        raise ConflictError(last(act.connection, set_name, new.subject))
    if act.connection.dialect.name == "sqlite":  # PostgreSQL writes both rows in one statement
        act.connection.execute(_MAKE_CURRENT["sqlite"], _current_values(set_name, number, new))
    return Judgment(
        number, set_name, new.subject, current + 1, None if body is None else dict(body), act.account, act.at
    )


def repeated(
    act: Act, set_name: str, kind: str, row: Mapping[str, Any], body: Mapping[str, Any] | None
) -> Judgment | None:
    """The judgment saved before under the key of an act: the answer to the same save sent again.

    A key that comes with another verdict is refused: answering with the first would lose the second.
    """
    if act.key is None:
        return None
    act.check_key()
    earlier = by_key(act.connection, act.key)
    if earlier is None:
        return None
    same = (earlier.set, earlier.subject, earlier.account) == (set_name, subject(kind, row), act.account)
    if not same or _compared(earlier.body) != _compared(body):
        raise KeyReusedError("this idempotency key belongs to another judgment; make a new one for every save")
    return earlier


def append_judgments(act: Act, set_name: str, made: Sequence[NewJudgment]) -> None:
    """Append judgments whose next versions the caller knows, because it has locked their question."""
    for batch in _batches(made):
        rows = [_values(set_name, new, at=act.at, key=None, account=act.account) for new in batch]
        numbers = {subject_digest: number for number, subject_digest in act.connection.execute(_APPEND_SEVERAL, rows)}
        current = [_current_values(set_name, numbers[new.subject], new) for new in batch]
        act.connection.execute(_MAKE_CURRENT[act.connection.dialect.name], current)


def append_many(
    connection: Connection, *, set_name: str, rows: Iterable[tuple[str, str]], at: str, account: int | None = None
) -> int:
    """Append many rows to a set in order, given as kind and JSON text; returns how many.

    For files and for automatic assessors: what is current is replaced without a look. Others wait meanwhile.
    """
    if connection.dialect.name == "postgresql":
        # In the order in which everybody takes them: a save locks the question's assignments first.
        keep_others_out(connection)
        connection.exec_driver_sql("LOCK TABLE judgment, standing IN SHARE ROW EXCLUSIVE MODE")
    latest = connection.execute(select(judgment.c.id).order_by(judgment.c.id.desc()).limit(1)).scalar() or 0
    stored = connection.execute(
        select(current_judgment.c.subject, current_judgment.c.version).where(current_judgment.c.set == set_name)
    )
    current: dict[str, int] = {row.subject: row.version for row in stored}
    count = 0
    for batch in _batches(_versioned(rows, current, set_name, at, account)):
        connection.execute(insert(judgment), batch)
        count += len(batch)
    if count:
        _make_latest_current(connection, set_name, after=latest)
    return count


def version_of(connection: Connection, set_name: str, subject_digest: str) -> int:
    """The current version; 0 where the subject was never judged."""
    version, _ = versions(connection, set_name, [subject_digest]).get(subject_digest, (0, False))
    return version


def last(connection: Connection, set_name: str, subject_digest: str) -> Judgment | None:
    """The last judgment of a subject, undone or not."""
    rows = _saved(connection, _LAST, name=set_name, subject=subject_digest)
    return rows[0] if rows else None


def history(connection: Connection, set_name: str, subject_digest: str) -> list[Judgment]:
    """All judgments of a subject in a set, in order."""
    return _saved(connection, _HISTORY, name=set_name, subject=subject_digest)


def body_at(versions: Sequence[Judgment], version: int, question: str) -> Row | None:
    """The judgment at a version (0: none); a version that never was is refused, it would undo everything."""
    if version == 0:
        return None
    for saved in versions:
        if saved.version == version:
            return saved.body
    message = f"question {question}: there is no version {version} to go back to; there are {len(versions)}"
    raise InputError(Problem("syntax", message, None, None, question))


def body_before(connection: Connection, set_name: str, subject_digest: str, number: int) -> Row | None:
    """The current judgment of a subject before a certain one, by its number."""
    c = judgment.c
    query = select(c.body).where(c.set == set_name, c.subject == subject_digest, c.id < number)
    return decoded(connection.execute(query.order_by(c.version.desc()).limit(1)).scalar())


def by_key(connection: Connection, key: str) -> Judgment | None:
    """The judgment that was saved under an idempotency key."""
    rows = _saved(connection, _BY_KEY, key=key)
    return rows[0] if rows else None


def versions(connection: Connection, set_name: str, subjects: Collection[str]) -> dict[str, tuple[int, bool]]:
    """Current version of some subjects in a set, and whether they are judged; one that was never judged is absent."""
    rows = _of_subjects(connection, _VERSIONS, set_name, subjects)
    return {subject_digest: (version, bool(judged)) for subject_digest, version, judged in rows}


def current_rows(connection: Connection, set_name: str, subjects: Collection[str]) -> dict[str, tuple[int, Row | None]]:
    """Version and body of the current judgments of some subjects; a subject that was never judged is absent."""
    rows = _of_subjects(connection, _BODIES, set_name, subjects)
    return {subject_digest: (version, decoded(body)) for subject_digest, version, body in rows}


def rows_of_kind(connection: Connection, set_name: str, question: str, *kinds: str) -> list[tuple[int, Row]]:
    """The current judgments of a question in a set, of some kinds, oldest first: version and row."""
    c = current_judgment.c
    conditions = (c.set == set_name, c.question == question, c.kind.in_(kinds), c.body.is_not(None))
    rows = connection.execute(select(c.version, c.body).where(*conditions).order_by(c.judgment))
    return [(row.version, msgspec.json.decode(row.body)) for row in rows]


def subjects_after(connection: Connection, set_name: str, subject_digest: str, *, limit: int) -> list[str]:
    """The subjects that a set has judged, in the order of their digests, from the one after this on."""
    c = current_judgment.c
    judged = (c.set == set_name, c.body.is_not(None), c.subject > subject_digest)
    return list(connection.execute(select(c.subject).where(*judged).order_by(c.subject).limit(limit)).scalars())


def count_judgments(connection: Connection) -> int:
    """How many judgments were ever appended, by anyone."""
    return int(connection.execute(select(func.count()).select_from(judgment)).scalar_one())


def decoded(body: str | None) -> Row | None:
    """A stored body as a row."""
    return None if body is None else msgspec.json.decode(body)


def _saved(connection: Connection, statement: Select[Any], **parameters: Any) -> list[Judgment]:
    return [
        Judgment(number, set_name, subject_digest, version, decoded(body), account, at)
        for number, set_name, subject_digest, version, body, account, at in connection.execute(statement, parameters)
    ]


def _compared(body: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A row without what differs when the same save is sent again."""
    return None if body is None else {name: value for name, value in body.items() if name not in ("at", "assessor")}


def _values(set_name: str, new: NewJudgment, *, at: str, key: str | None, account: int | None) -> dict[str, Any]:
    return {
        "set": set_name,
        "question": new.question,
        "kind": new.kind,
        "subject": new.subject,
        "version": new.version,
        "body": _text(new.body),
        "key": key,
        "account": account,
        "at": at,
    }


def _current_values(set_name: str, number: int, new: NewJudgment) -> dict[str, Any]:
    """The row that makes a judgment the current one."""
    return {
        "set": set_name,
        "subject": new.subject,
        "question": new.question,
        "kind": new.kind,
        "judgment": number,
        "version": new.version,
        "body": _text(new.body),
    }


def _make_latest_current(connection: Connection, set_name: str, *, after: int) -> None:
    """Bring the table `standing` up to date with the judgments of a set that came after a certain one."""
    fresh = select(judgment.c.subject).where(judgment.c.set == set_name, judgment.c.id > after)
    connection.execute(
        delete(current_judgment).where(current_judgment.c.set == set_name, current_judgment.c.subject.in_(fresh))
    )
    later = judgment.alias("later")
    newer = (
        select(later.c.id)
        .where(
            later.c.set == judgment.c.set, later.c.subject == judgment.c.subject, later.c.version > judgment.c.version
        )
        .exists()
    )
    latest = select(*(judgment.c[name] for name in _COPIED.values())).where(
        judgment.c.set == set_name, judgment.c.id > after, ~newer
    )
    connection.execute(insert(current_judgment).from_select(list(_COPIED), latest))


def _batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _versioned(
    rows: Iterable[tuple[str, str]], current: dict[str, int], set_name: str, at: str, account: int | None
) -> Iterator[Row]:
    for kind, body in rows:
        row = msgspec.json.decode(body)
        subject_digest = subject(kind, row)
        current[subject_digest] = current.get(subject_digest, 0) + 1
        yield {
            "set": set_name,
            "question": str(row["question"]),
            "kind": kind,
            "subject": subject_digest,
            "version": current[subject_digest],
            "body": body,
            "account": account,
            # When it was made, where the row says so: a file that is imported is older than today.
            "at": row["at"] if _is_moment(row.get("at")) else at,
        }


def _is_moment(value: Any) -> bool:
    """Whether a value can be a time; files say many things there."""
    return isinstance(value, str) and 0 < len(value) <= 40 and value.isascii() and value.isprintable()


def _text(body: Mapping[str, Any] | None) -> str | None:
    return None if body is None else msgspec.json.encode(body).decode()


def _of_subjects(
    connection: Connection, statements: Mapping[str, Any], set_name: str, subjects: Collection[str]
) -> Sequence[Any]:
    """The current judgments of some subjects; one parameter for all of them, because databases count parameters."""
    dialect, listed = connection.dialect.name, list(subjects)
    sought = msgspec.json.encode(listed).decode() if dialect == "sqlite" else listed
    return connection.execute(statements[dialect], {"name": set_name, "subjects": sought}).all()


# ---- statements, built once -----------------------------------------------------------------------------------------

_c = judgment.c
_ROWS = select(_c.id, _c.set, _c.subject, _c.version, _c.body, _c.account, _c.at)
_OF_SUBJECT = _ROWS.where(_c.set == bindparam("name"), _c.subject == bindparam("subject"))
_BY_KEY = _ROWS.where(_c.key == bindparam("key"))
_HISTORY = _OF_SUBJECT.order_by(_c.version)
_LAST = _OF_SUBJECT.order_by(_c.version.desc()).limit(1)
_APPEND_SEVERAL = insert(judgment).returning(_c.id, _c.subject)

# The columns of the current judgment, and those of the judgment that they are copied from.
_COPIED = {name: name for name in ("set", "subject", "question", "kind", "version", "body")} | {"judgment": "id"}
_DIALECTS: Mapping[str, Any] = {"sqlite": sqlite, "postgresql": postgresql}


def _upsert(dialect: Any, source: Any = None) -> Any:
    """Put judgments in the place of the current ones: those that are given, or the rows of a source."""
    statement = dialect.insert(current_judgment)
    if source is not None:
        statement = statement.from_select(list(_COPIED), select(*(source.c[_COPIED[name]] for name in _COPIED)))
    changed = {name: statement.excluded[name] for name in ("judgment", "version", "body")}
    return statement.on_conflict_do_update(
        index_elements=[current_judgment.c.set, current_judgment.c.subject], set_=changed
    )


_MAKE_CURRENT = {name: _upsert(dialect) for name, dialect in _DIALECTS.items()}


def _append(dialect: Any) -> Any:
    """Append one judgment, unless its key or its version is taken; the number of the new row, or nothing."""
    names = ("set", "question", "kind", "subject", "version", "body", "key", "account", "at")
    statement = dialect.insert(judgment).values({name: bindparam(name) for name in names}).on_conflict_do_nothing()
    if dialect is sqlite:
        return statement.returning(_c.id)
    new = statement.returning(*(_c[name] for name in _COPIED.values())).cte("new")
    return _upsert(dialect, new).returning(current_judgment.c.judgment)


_APPEND = {name: _append(dialect) for name, dialect in _DIALECTS.items()}


def _statements(*columns: Any) -> dict[str, Any]:
    """The current judgments of some subjects of a set.

    PostgreSQL looks up one subject after the other by the primary key. It may keep the plan of a statement from the
    time when the table was empty; given the subjects as a condition, that plan reads all judgments of the set.
    """
    c = current_judgment.c
    query = select(c.subject, c.version, *columns).where(c.set == bindparam("name"))
    listed = func.json_each(bindparam("subjects", type_=String)).table_valued("value")
    sought = func.unnest(bindparam("subjects", type_=ARRAY(String))).table_valued("value").render_derived()
    single = query.where(c.subject == sought.c.value).limit(1).lateral()
    return {
        "sqlite": query.where(c.subject.in_(select(listed.c.value))),
        "postgresql": select(*single.c).select_from(sought.join(single, true())),
    }


_VERSIONS = _statements(current_judgment.c.body.is_not(None))
_BODIES = _statements(current_judgment.c.body)
