"""Who judges what: every question goes to k assessors, a series to the same ones, the work spread evenly.

Judgment set i is every question's i-th assessor, different people for different questions (METHOD 4). An assignment
without an account waits for whoever asks for work: it is theirs at once, for good as soon as they have judged a part
of it or changed its nuggets, until the lease ends otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, delete, exists, func, insert, or_, select, update

from qassay.errors import InputError, Problem, unknown
from qassay.formats.times import later, now
from qassay.questions import TestSet
from qassay.store.schema import account as people
from qassay.store.schema import assignment, item, judgment, nugget
from qassay.store.settings import forget_settled, note_action

SLOTS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
LEASE = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Assignment:
    """One assessor's work on one question."""

    id: int
    question: str
    slot: int
    set: str
    account: int | None
    step: int
    total: int
    done: int
    closed: str | None
    seconds: int


def assign(
    connection: Connection, questions: TestSet, *, assessors: int, accounts: Sequence[int], by: int | None = None
) -> int:
    """Give every question to k assessors and return how many assignments are new; what is assigned stays so.

    The questions of a series go to the same people. Whoever has the least to judge is next, and whoever was least
    often a first assessor goes first. Without accounts the work is open to all.
    """
    _check_number(assessors, accounts, len(SLOTS))
    keep_others_out(connection)
    sizes = pool_sizes(connection)
    existing = {(one.question, one.slot): one for one in all_assignments(connection)}
    load, firsts = _loads(existing, accounts)
    judging: dict[str, set[int | None]] = {}
    for (question, _), one in existing.items():
        judging.setdefault(question, set()).add(one.account)
    rows: list[dict[str, Any]] = []
    for group in _groups(questions, sizes):
        chosen = _choose(assessors, accounts, _kept_slots(group, assessors, existing), load, firsts)
        for slot, wanted in chosen.items():
            for question in (one for one in group if (one, slot) not in existing):
                others = judging.setdefault(question, set())
                account = wanted if wanted not in others else _least_loaded(accounts, others, load)
                if account is not None:
                    others.add(account)
                    load[account] = load.get(account, 0) + sizes[question]
                    firsts[account] = firsts.get(account, 0) + (slot == 1)
                rows.append(_row(question, slot, account, sizes[question]))
    if rows:
        order = {question: place for place, question in enumerate(questions.ids)}
        rows.sort(key=lambda row: (order[row["question"]], row["slot"]))  # people go through their work in this order
        connection.execute(insert(assignment), rows)
        note_action(connection, "assign", account=by, assessors=assessors, accounts=list(accounts), new=len(rows))
        _count_what_is_there(connection, rows)
    return len(rows)


def _count_what_is_there(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Count the judgments that a set has before anybody is assigned to it: brought in, or another person's."""
    from qassay.store.assignment.counting import recount_question  # it builds on this module

    c = judgment.c
    there = connection.execute(select(c.question, c.set).distinct().where(c.set.in_({row["set"] for row in rows})))
    found = {(question, name) for question, name in there}
    for question in dict.fromkeys(row["question"] for row in rows if (row["question"], row["set"]) in found):
        recount_question(connection, question)


def _check_number(assessors: int, accounts: Sequence[int], most: int) -> None:
    """Stop where the people do not suffice for so many assessors a question."""
    if not 1 <= assessors <= most:
        raise InputError(Problem("configuration", f"a question goes to 1 to {most} assessors, not {assessors}"))
    if accounts and len(set(accounts)) < assessors:
        message = f"{assessors} assessors a question need as many people; {len(set(accounts))} are chosen"
        raise InputError(Problem("configuration", message))


def _groups(questions: TestSet, sizes: Mapping[str, int]) -> list[list[str]]:
    """Questions that stay together (a series, or one question), the largest first; only those with items."""
    found: dict[str, list[str]] = {}
    for one in questions:
        if one.id in sizes:
            found.setdefault(f"series {one.series}" if one.series is not None else f"question {one.id}", []).append(
                one.id
            )
    return sorted(found.values(), key=lambda group: -sum(sizes[question] for question in group))


def _loads(
    existing: Mapping[tuple[str, int], Assignment], accounts: Sequence[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """How many items everybody has to judge, and how often they are a first assessor."""
    load, firsts = dict.fromkeys(accounts, 0), dict.fromkeys(accounts, 0)
    for (_, slot), one in existing.items():
        if one.account in load:
            load[one.account] += one.total
            firsts[one.account] += slot == 1
    return load, firsts


def _kept_slots(
    group: Sequence[str], assessors: int, existing: Mapping[tuple[str, int], Assignment]
) -> dict[int, int | None]:
    """Who has which slot of a group already; nobody two of them, though single questions may have changed hands."""
    kept: dict[int, int | None] = {}
    for slot in range(1, assessors + 1):
        for question in group:
            one = existing.get((question, slot))
            if one is not None and (one.account is None or one.account not in kept.values()):
                kept.setdefault(slot, one.account)
    return kept


def _least_loaded(accounts: Sequence[int], others: Collection[int | None], load: Mapping[int, int]) -> int | None:
    """Who takes a slot of a question instead of somebody who judges it in another; None: whoever asks for work."""
    return min((one for one in accounts if one not in others), key=lambda one: load[one], default=None)


def _choose(
    assessors: int,
    accounts: Sequence[int],
    kept: Mapping[int, int | None],
    load: Mapping[int, int],
    firsts: Mapping[int, int],
) -> dict[int, int | None]:
    """Who takes which slot of a group; who has one already keeps it."""
    slots = [slot for slot in range(1, assessors + 1) if slot not in kept]
    chosen: dict[int, int | None] = dict(kept)
    if not accounts:
        return chosen | dict.fromkeys(slots)
    free = sorted((one for one in dict.fromkeys(accounts) if one not in kept.values()), key=lambda one: load[one])
    order = sorted(free[: len(slots)], key=lambda one: firsts[one])
    return chosen | dict(zip(slots, order, strict=False))


def refresh_totals(connection: Connection) -> None:
    """Count everything anew after the pool has changed; a question with new items is open again.

    Both counts change where one run goes and another comes. What is closed is settled anew.
    """
    from qassay.store.assignment.counting import recount_question  # it builds on this module

    for question in dict.fromkeys(one.question for one in all_assignments(connection)):
        recount_question(connection, question)


def reassign(connection: Connection, number: int, account: int | None, *, by: int | None) -> None:
    """Give an assignment to somebody else; what was judged stays in its set."""
    keep_others_out(connection)
    one = assignment_with_number(connection, number)
    if one is None:
        raise unknown("assignment", str(number), ())
    taken = select(assignment.c.id).where(assignment.c.question == one.question, assignment.c.account == account)
    if account is not None and connection.execute(taken).first() is not None:
        message = f"question {one.question}: this assessor judges it already, in another set"
        raise InputError(Problem("configuration", message))
    connection.execute(update(assignment).where(assignment.c.id == number).values(account=account, leased=None))
    note_action(
        connection, "reassign", account=by, question=one.question, slot=one.slot, before=one.account, to=account
    )


def take(connection: Connection, account: int) -> Assignment | None:
    """The next open assignment for somebody who asks for work: nobody's, or one whose lease ended unused."""
    # Somebody who asks twice at once waits for himself: nobody gets two slots of one question.
    connection.execute(select(people.c.id).where(people.c.id == account).with_for_update(key_share=True))
    number: int | None = connection.execute(_free(account).with_for_update(skip_locked=True)).scalar()
    if number is None:
        return None
    values = {"account": account, "leased": later(LEASE)}
    connection.execute(update(assignment).where(assignment.c.id == number).values(values))
    return assignment_with_number(connection, number)


def is_work_waiting(connection: Connection, account: int) -> bool:
    """Whether `take` would find something for this account."""
    return connection.execute(_free(account)).first() is not None


def _free(account: int) -> Select[Any]:
    c = assignment.c
    mine = assignment.alias("mine")
    own = exists().where(mine.c.question == c.question, mine.c.account == account)
    lapsed = and_(c.leased.is_not(None), c.leased < now(), ~_BEGUN)
    return select(c.id).where(c.closed.is_(None), or_(c.account.is_(None), lapsed), ~own).order_by(c.id).limit(1)


def reopen(connection: Connection, question: str, *, by: int | None, reason: str) -> None:
    """Open a question again for its assessors; recorded. What was ruled stays, and waits until they have finished."""
    held = hold(connection, question)
    if not held:
        raise unknown("assigned question", question, ())
    forget_settled(connection, question)
    for one in held:  # in the order in which everybody changes sums
        connection.execute(update(assignment).where(assignment.c.id == one.id).values(closed=None))
    note_action(connection, "reopen", account=by, question=question, reason=reason)


def withdraw_assignments(connection: Connection, *, slot: int, by: int | None) -> int:
    """Take away the assignments of a slot on which nobody has begun; what the others have finished is settled."""
    from qassay.store.assignment.counting import recount_question  # it builds on this module

    keep_others_out(connection)
    c = assignment.c
    gone = connection.execute(select(c.id, c.question).where(c.slot == slot, ~_BEGUN).order_by(c.question)).all()
    if gone:
        connection.execute(delete(assignment).where(c.id == bindparam("which")), [{"which": row.id} for row in gone])
    for row in gone:
        recount_question(connection, row.question)
    note_action(connection, "withdraw-slot", account=by, slot=slot, assignments=len(gone))
    return len(gone)


def assignment_with_number(connection: Connection, number: int) -> Assignment | None:
    """The assignment with this number, or nothing."""
    rows = _read(connection, assignment.c.id == number)
    return rows[0] if rows else None


def all_assignments(connection: Connection) -> list[Assignment]:
    """Every assignment, in the order they were made."""
    return _read(connection)


def assignments_of(
    connection: Connection, account: int, *, first: int = 0, limit: int | None = None
) -> list[Assignment]:
    """The work of one assessor, in order: all of it, or so many from one on."""
    rows = _ROWS.where(assignment.c.account == account).offset(first).limit(limit)
    return [Assignment(*row) for row in connection.execute(rows)]


def first_open(connection: Connection, account: int) -> int | None:
    """The first assignment of an assessor with open work."""
    number: int | None = connection.execute(_open_of(account)).scalar()
    return number


def own_on(connection: Connection, account: int, questions: Collection[str]) -> dict[str, Assignment]:
    """The assignments of one assessor on some questions, by question."""
    c = assignment.c
    if not questions:  # the database would look through all that somebody has
        return {}
    return {one.question: one for one in _read(connection, c.account == account, c.question.in_(list(questions)))}


def next_open(connection: Connection, one: Assignment) -> int | None:
    """The next assignment of the same assessor with open work, going round; nothing where this is the last."""
    others = _open_of(one.account).where(assignment.c.id != one.id)
    number: int | None = connection.execute(others.where(assignment.c.id > one.id)).scalar()
    return number if number is not None else connection.execute(others).scalar()


def _open_of(account: int | None) -> Select[Any]:
    c = assignment.c
    return select(c.id).where(c.account == account, c.closed.is_(None)).order_by(c.id).limit(1)


def assignments_on(connection: Connection, question: str) -> list[Assignment]:
    """The assignments of one question, by slot."""
    return sorted(_read(connection, assignment.c.question == question), key=lambda one: one.slot)


def hold(connection: Connection, question: str) -> list[Assignment]:
    """The assignments of a question, by slot, held until the transaction ends.

    Whoever saves, rules or counts holds them first: two people who finish a question at the same moment, or two tabs
    that finish one item, see each other. SQLite has one writer anyway.
    """
    rows = connection.execute(_HELD, {"asked": question})
    return sorted((Assignment(*row) for row in rows), key=lambda one: one.slot)


def keep_others_out(connection: Connection) -> None:
    """On PostgreSQL, where writers do not wait for each other: nobody takes, holds or is given work meanwhile.

    Whoever locks further tables locks this one first, as a save does.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE assignment IN EXCLUSIVE MODE")


def is_closed(connection: Connection, question: str) -> bool:
    """Whether every assigned assessor has finished the question."""
    found = assignments_on(connection, question)
    return bool(found) and all(one.closed is not None for one in found)


def pool_sizes(connection: Connection) -> dict[str, int]:
    """How many items each question has to judge."""
    counted = select(item.c.question, func.count()).where(item.c.active).group_by(item.c.question)
    return {row[0]: row[1] for row in connection.execute(counted)}


def _read(connection: Connection, *where: Any) -> list[Assignment]:
    return [Assignment(*row) for row in connection.execute(_ROWS.where(*where))]


_NAMES = ("id", "question", "slot", "set", "account", "step", "total", "done", "closed", "seconds")
_ROWS = select(*(assignment.c[name] for name in _NAMES)).order_by(assignment.c.id)
# Somebody has judged a part, or changed the list of nuggets; the copy that a list begins as has no key.
_BEGUN = or_(
    exists().where(judgment.c.question == assignment.c.question, judgment.c.set == assignment.c.set),
    exists().where(
        nugget.c.question == assignment.c.question,
        nugget.c.list == assignment.c.set,
        nugget.c.account.is_not(None),
        nugget.c.key.is_not(None),
    ),
)
_HELD = _ROWS.where(assignment.c.question == bindparam("asked")).with_for_update(key_share=True)


def _row(question: str, slot: int, account: int | None, total: int) -> dict[str, Any]:
    return {"question": question, "slot": slot, "set": SLOTS[slot - 1], "account": account, "total": total}
