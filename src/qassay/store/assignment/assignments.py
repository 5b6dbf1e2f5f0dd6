"""Who judges what: every question goes to k assessors, a series to the same ones, the work spread evenly.

Judgment set i is every question's i-th assessor, different people for different questions (METHOD 4). An assignment
without an account waits for anyone who asks for work: it is theirs at once, for good as soon as they have judged a part
of it or changed its nuggets, until the lease ends otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, delete, exists, func, insert, or_, select, update

from qassay.errors import InputError, Problem, unknown
from qassay.formats.times import later, now
from qassay.judging import KINDS, Item, sharing
from qassay.judging.sets import SLOTS
from qassay.questions import TestSet
from qassay.store.acts import Act
from qassay.store.pool.items import as_item
from qassay.store.schema import account as people
from qassay.store.schema import assignment as table
from qassay.store.schema import item, judgment, nugget
from qassay.store.settings import forget_settled

LEASE = timedelta(minutes=30)
# Kinds of item that take a decision for each nugget of a list.
COUNTED_BY_NUGGETS = [name for name, kind in KINDS.items() if kind.by_nuggets and not kind.linked]


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
    act: Act,
    questions: TestSet,
    *,
    assessors: int,
    accounts: Sequence[int],
    authors: Mapping[str, int] = MappingProxyType({}),
) -> int:
    """Give every question to k assessors and return how many assignments are new; earlier assignments stay.

    The questions of a series go to the same people. The person with the least to judge is next, and the person who was
    least often a first assessor goes first. Without accounts the work is open to all. A question that is among those of
    `authors`, with the account of its author, goes to the author first and to others second.
    """
    connection = act.connection
    sharing.check_number(assessors, accounts)
    keep_others_out(connection)
    sizes = pool_sizes(connection)
    existing = {(assignment.question, assignment.slot): assignment for assignment in all_assignments(connection)}
    load, firsts = sharing.loads(existing, accounts)
    judging: dict[str, set[int | None]] = {}
    for (question, _), assignment in existing.items():
        judging.setdefault(question, set()).add(assignment.account)
    rows: list[dict[str, Any]] = []
    for group in sharing.groups(questions, sizes):
        slot_accounts = sharing.with_author(sharing.kept_slots(group, assessors, existing), group, authors)
        chosen = sharing.choose(assessors, accounts, slot_accounts, load, firsts)
        for slot, taker in chosen.items():
            for question in (name for name in group if (name, slot) not in existing):
                others = judging.setdefault(question, set())
                preferred = authors.get(question, taker) if slot == 1 else taker
                account = preferred if preferred not in others else sharing.least_loaded(accounts, others, load)
                if account is not None:
                    others.add(account)
                    load[account] = load.get(account, 0) + sizes[question]
                    firsts[account] = firsts.get(account, 0) + (slot == 1)
                rows.append(_row(question, slot, account, sizes[question]))
    if rows:
        order = {question: place for place, question in enumerate(questions.ids)}
        rows.sort(key=lambda row: (order[row["question"]], row["slot"]))  # people go through their work in this order
        connection.execute(insert(table), rows)
        act.note("assign", assessors=assessors, accounts=list(accounts), new=len(rows))
        _count_again(act, rows)
    return len(rows)


def _count_again(act: Act, rows: Sequence[Mapping[str, Any]]) -> None:
    """Count the judgments that a set has before anybody is assigned to it (imported, or another person's), and answers
    that are judged by the nuggets of the set.
    """
    from qassay.store.assignment.counting import recount_question  # it builds on this module

    c = judgment.c
    earlier = select(c.question, c.set).distinct().where(c.set.in_({row["set"] for row in rows}))
    judged = {(question, name) for question, name in act.connection.execute(earlier)}
    by_nuggets = select(item.c.question).distinct().where(item.c.active, item.c.kind.in_(COUNTED_BY_NUGGETS))
    bound = set(act.connection.execute(by_nuggets).scalars())
    for question in dict.fromkeys(
        row["question"] for row in rows if row["question"] in bound or (row["question"], row["set"]) in judged
    ):
        recount_question(act, question)


def refresh_totals(act: Act) -> None:
    """Count everything again after the pool has changed; a question with new items is open again.

    Both counts change where one run goes and another comes. Closed questions are settled again.
    """
    from qassay.store.assignment.counting import recount_question  # it builds on this module

    for question in dict.fromkeys(assignment.question for assignment in all_assignments(act.connection)):
        recount_question(act, question)


def reassign(act: Act, number: int, account: int | None) -> None:
    """Give an assignment to somebody else; its judgments stay in its set."""
    connection = act.connection
    keep_others_out(connection)
    assignment = assignment_with_number(connection, number)
    if assignment is None:
        raise unknown("assignment", str(number), ())
    query = select(table.c.id).where(table.c.question == assignment.question, table.c.account == account)
    if account is not None and connection.execute(query).first() is not None:
        message = f"question {assignment.question}: this assessor judges it already, in another set"
        raise InputError(Problem("configuration", message))
    connection.execute(update(table).where(table.c.id == number).values(account=account, leased=None))
    changed = {"slot": assignment.slot, "before": assignment.account, "to": account}
    act.note("reassign", question=assignment.question, **changed)


def take(act: Act) -> Assignment | None:
    """The next open assignment for the person who asks for work: nobody's, or one whose lease ended unused."""
    connection, account = act.connection, act.person.id
    # A person who asks twice at once waits for the first answer: nobody gets two slots of one question.
    connection.execute(select(people.c.id).where(people.c.id == account).with_for_update(key_share=True))
    number: int | None = connection.execute(_free(account).with_for_update(skip_locked=True)).scalar()
    if number is None:
        return None
    values = {"account": account, "leased": later(LEASE)}
    connection.execute(update(table).where(table.c.id == number).values(values))
    return assignment_with_number(connection, number)


def is_work_waiting(connection: Connection, account: int) -> bool:
    """Whether `take` would find something for this account."""
    return connection.execute(_free(account)).first() is not None


def _free(account: int) -> Select[Any]:
    c = table.c
    own_work = table.alias("mine")
    judges_already = exists().where(own_work.c.question == c.question, own_work.c.account == account)
    lapsed = and_(c.leased.is_not(None), c.leased < now(), ~_BEGUN)
    return (
        select(c.id)
        .where(c.closed.is_(None), or_(c.account.is_(None), lapsed), ~judges_already)
        .order_by(c.id)
        .limit(1)
    )


def reopen(act: Act, question: str, *, reason: str) -> None:
    """Open a question again for its assessors; recorded. Rulings stay, and wait until they have finished."""
    connection = act.connection
    if not lock_assignments(connection, question):
        raise unknown("assigned question", question, ())
    forget_settled(connection, question)
    connection.execute(update(table).where(table.c.question == question).values(closed=None))
    act.note("reopen", question=question, reason=reason)


def withdraw_assignments(act: Act, *, slot: int) -> int:
    """Remove the assignments of a slot on which nobody has begun; questions that the others finished are settled."""
    from qassay.store.assignment.counting import recount_question  # it builds on this module

    connection = act.connection
    keep_others_out(connection)
    c = table.c
    withdrawn = connection.execute(select(c.id, c.question).where(c.slot == slot, ~_BEGUN).order_by(c.question)).all()
    if withdrawn:
        connection.execute(delete(table).where(c.id == bindparam("which")), [{"which": row.id} for row in withdrawn])
    for row in withdrawn:
        recount_question(act, row.question)
    act.note("withdraw-slot", slot=slot, assignments=len(withdrawn))
    return len(withdrawn)


def assignment_with_number(connection: Connection, number: int) -> Assignment | None:
    """The assignment with this number, or nothing."""
    row = connection.execute(_ROWS.where(table.c.id == number)).first()
    return None if row is None else Assignment(*row)


def all_assignments(connection: Connection) -> list[Assignment]:
    """Every assignment, in the order they were made."""
    return _read(connection)


def assignments_of(
    connection: Connection, account: int, *, first: int = 0, limit: int | None = None, open_first: bool = False
) -> list[Assignment]:
    """The work of one assessor, in order: all of it, or `limit` assignments from `first` on."""
    rows = _ROWS.where(table.c.account == account).offset(first).limit(limit)
    if open_first:
        rows = rows.order_by(None).order_by(table.c.closed.is_not(None), table.c.id)
    return [Assignment(*row) for row in connection.execute(rows)]


def first_open(connection: Connection, account: int) -> int | None:
    """The first assignment of an assessor with open work."""
    number: int | None = connection.execute(_open_of(account)).scalar()
    return number


def own_on(connection: Connection, account: int, questions: Collection[str]) -> dict[str, Assignment]:
    """The assignments of one assessor on some questions, by question."""
    c = table.c
    if not questions:  # the database would read all assignments of the account
        return {}
    assignments = _read(connection, c.account == account, c.question.in_(list(questions)))
    return {assignment.question: assignment for assignment in assignments}


def next_open(connection: Connection, assignment: Assignment) -> int | None:
    """The next assignment of the same assessor with open work, going round; nothing where this is the last."""
    others = _open_of(assignment.account).where(table.c.id != assignment.id)
    number: int | None = connection.execute(others.where(table.c.id > assignment.id)).scalar()
    return number if number is not None else connection.execute(others).scalar()


def _open_of(account: int | None) -> Select[Any]:
    c = table.c
    return select(c.id).where(c.account == account, c.closed.is_(None)).order_by(c.id).limit(1)


def assignments_on(connection: Connection, question: str) -> list[Assignment]:
    """The assignments of one question, by slot."""
    return sorted(_read(connection, table.c.question == question), key=lambda assignment: assignment.slot)


def lock_assignments(connection: Connection, question: str) -> list[Assignment]:
    """The assignments of a question, by slot, locked until the transaction ends.

    Saving, ruling and counting lock them first: two people who finish a question at the same moment, or two tabs that
    finish one item, see each other. SQLite has one writer anyway.
    """
    rows = connection.execute(_LOCKED, {"asked": question})
    return sorted((Assignment(*row) for row in rows), key=lambda assignment: assignment.slot)


def hold(connection: Connection, number: int, item_number: int) -> tuple[list[Assignment], Item | None]:
    """The assignments of the question of one of them, locked as above, and an item, whatever its question: one query.

    Both are empty where there is no such assignment.
    """
    rows = connection.execute(_HELD, {"number": number, "item": item_number}).all()
    assignments = sorted((Assignment(*row[: len(_NAMES)]) for row in rows), key=lambda assignment: assignment.slot)
    shown = rows[0][len(_NAMES) :] if rows else (None,)
    return assignments, None if shown[0] is None else as_item(shown)


def keep_others_out(connection: Connection) -> None:
    """On PostgreSQL, where writers do not wait for each other: nobody takes, locks or is given work meanwhile.

    A transaction that locks further tables locks this one first, as a save does.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE assignment IN EXCLUSIVE MODE")


def is_closed(connection: Connection, question: str) -> bool:
    """Whether every assigned assessor has finished the question."""
    assignments = assignments_on(connection, question)
    return bool(assignments) and all(assignment.closed is not None for assignment in assignments)


def pool_sizes(connection: Connection) -> dict[str, int]:
    """How many decisions each question takes; of answers that are judged by nuggets, how many there are."""
    counted = select(item.c.question, func.sum(item.c.parts)).where(item.c.active).group_by(item.c.question)
    return {row[0]: int(row[1]) for row in connection.execute(counted)}


def _read(connection: Connection, *where: Any) -> list[Assignment]:
    return [Assignment(*row) for row in connection.execute(_ROWS.where(*where))]


_NAMES = ("id", "question", "slot", "set", "account", "step", "total", "done", "closed", "seconds")
_ROWS = select(*(table.c[name] for name in _NAMES)).order_by(table.c.id)
# Somebody has judged a part, or changed the list of nuggets; the copy that a list begins as has no key.
_BEGUN = or_(
    exists().where(judgment.c.question == table.c.question, judgment.c.set == table.c.set),
    exists().where(
        nugget.c.question == table.c.question,
        nugget.c.list == table.c.set,
        nugget.c.account.is_not(None),
        nugget.c.key.is_not(None),
    ),
)
_own = table.alias("own")
_HELD = (
    _ROWS.add_columns(*item.c)
    .outerjoin_from(table, item, item.c.id == bindparam("item"))
    .where(table.c.question == select(_own.c.question).where(_own.c.id == bindparam("number")).scalar_subquery())
    .with_for_update(key_share=True, of=table)
)
_LOCKED = _ROWS.where(table.c.question == bindparam("asked")).with_for_update(key_share=True)


def _row(question: str, slot: int, account: int | None, total: int) -> dict[str, Any]:
    return {"question": question, "slot": slot, "set": SLOTS[slot - 1], "account": account, "total": total}
