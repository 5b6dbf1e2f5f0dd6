"""Settling a finished question: unanimous verdicts become adjudicated by rule, the rest is counted.

What settling found is kept by question, and summed up: pages say how much is left without reading the pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from qassay.errors import QassayError
from qassay.judging import ADJUDICATED, KINDS, Item, Row
from qassay.judging import settling as rules
from qassay.judging.sets import SLOTS
from qassay.judging.settling import Current, Matter, State
from qassay.store.acts import Act
from qassay.store.adjudication.adopting import bound_judgments, lists_changed, mirror_list, undo_by_rule
from qassay.store.assignment.assignments import Assignment, lock_assignments
from qassay.store.development.answers import known_answers
from qassay.store.judging.judgments import BATCH, append_judgments, decoded, rows_of_kind
from qassay.store.judging.nuggets import list_for
from qassay.store.pool.items import items_of
from qassay.store.schema import ASSIGNED, OPEN, UNRULED, current_judgment, judgment, question_progress
from qassay.store.schema import settled as table


class NotClosedError(QassayError):
    """Some assessor has not finished the question: nobody sees what the others said, and nothing is settled."""

    def __init__(self, question: str) -> None:
        super().__init__(f"question {question} is not finished by all its assessors; adjudication waits for them")


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of settling a question; `left` are the disagreements that nobody has ruled on as they are now."""

    unanimous: int
    disagreements: int
    left: int


@dataclass(frozen=True, slots=True)
class SettlingProgress:
    """How far a question is; `settled` is None until it is closed and has been settled."""

    question: str
    assessors: int
    closed: bool
    settled: Settled | None


@dataclass(frozen=True, slots=True)
class Overview:
    """Assigned questions, those of them that are still with an assessor, and disagreements to rule on in the others."""

    questions: int
    waiting: int
    left: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question: its units, and the one list of nuggets that its sets go by (None: by none, or each by its own).

    With `own_lists`, judgments that name nuggets cannot be compared and are not units: one set's list is adopted.
    """

    question: str
    sets: tuple[str, ...]
    units: tuple[Matter, ...]
    list_name: str | None = None
    nuggets: tuple[str, ...] = ()
    own_lists: bool = False


def compare(
    connection: Connection, question: str, sets: Sequence[str], items: Sequence[Item], *, some: bool = False
) -> Comparison:
    """Lay side by side what some sets say about the items of a question; with `some`, these are not all its items."""
    bound = any(KINDS[item.kind].by_nuggets for item in items)
    lists = {name: list_for(connection, name, question) for name in sets} if bound else {}
    own_lists = len({name for name, _ in lists.values()}) > 1
    list_name, listed = next(iter(lists.values())) if lists and not own_lists else (None, [])
    nuggets = tuple(nugget.nugget for nugget in listed)
    units = rules.units_of(items, nuggets, own_lists=own_lists)
    subjects = [part.subject for _, parts in units for part in parts] if some else None
    judged: Mapping[tuple[str, str], Current] = _current(connection, question, (*sets, ADJUDICATED), subjects)
    if classed := [kind for kind in {item.kind for item in items} if KINDS[kind].has_classes]:
        rows = {name: [row for _, row in rows_of_kind(connection, name, question, *classed)] for name in sets}
        answers = {answer.answer for answer in known_answers(connection, [question]).get(question, ())}
        judged = rules.with_common_classes(judged, rules.common_classes(rows, answers))
    return Comparison(question, tuple(sets), rules.laid_out(units, sets, judged), list_name, nuggets, own_lists)


def states(act: Act, comparison: Comparison) -> list[State]:
    """The state of each unit of a question."""
    units, sets = comparison.units, comparison.sets
    older = rules.needs_history(units)
    changed = rules.changed_since(older, sets, _history(act.connection, older, sets)) if older else set()
    return rules.states(units, sets, act.task, comparison.nuggets, changed)


def settle(act: Act, question: str) -> Settled:
    """Settle the unanimous verdicts of a question that all its assessors have finished; a person's ruling stays."""
    act = act.by_rule()
    sets = closed_sets(lock_assignments(act.connection, question), question)
    comparison = compare(act.connection, question, sets, items_of(act.connection, question))
    _settle_list(act, comparison)
    settled = _settle_units(act, states(act, comparison))
    if comparison.own_lists:
        left = settled.left + lists_left(act.connection, comparison)
        settled = replace(settled, disagreements=settled.disagreements + 1, left=left)
    keep(act.connection, question, settled)
    return settled


def item_states(act: Act, item: Item, sets: Sequence[str]) -> list[State] | None:
    """The states of the units of one item; None where they depend on other items, by classes or a list of nuggets."""
    kind = KINDS[item.kind]
    if kind.has_classes or kind.by_nuggets:
        return None
    return states(act, compare(act.connection, item.question, sets, [item], some=True))


def settle_item(act: Act, item: Item, sets: Sequence[str], before: Sequence[State] | None) -> None:
    """Settle a question again after the verdict on one item changed; `before` are the item's states until then.

    Only the item is read where no other depends on it, however many the question has.
    """
    after = None if before is None else item_states(act, item, sets)
    if before is not None and after is not None:
        old, new = _counts(before), _settle_units(act.by_rule(), after)
        changes = {
            "unanimous": new.unanimous - old.unanimous,
            "disagreements": new.disagreements - old.disagreements,
            "left": new.left - old.left,
        }
        if adjust(act.connection, item.question, **changes):
            return
    settle(act, item.question)


def _settle_units(act: Act, unit_states: Sequence[State]) -> Settled:
    """Have the adjudicated set say what all sets say; the result."""
    append_judgments(act, ADJUDICATED, list(rules.new_judgments(unit_states, act.at)))
    return _counts(unit_states)


def _counts(unit_states: Sequence[State]) -> Settled:
    disagreements = sum(state.disagreement for state in unit_states)
    return Settled(len(unit_states) - disagreements, disagreements, sum(state.left for state in unit_states))


def progress(connection: Connection, *, first: int = 0, limit: int | None = None) -> list[SettlingProgress]:
    """How far assigned questions are, in the order in which they were assigned: all of them, or a page of them."""
    return [
        SettlingProgress(
            row.question,
            row.assessors,
            row.open == 0,
            None if row.open or row.unanimous is None else Settled(row.unanimous, row.disagreements, row.unruled),
        )
        for row in connection.execute(_PROGRESS.offset(first).limit(limit))
    ]


def overview(connection: Connection) -> Overview:
    """How far all of them are together: counted and summed up over few rows."""
    count = select(func.count()).select_from(question_progress)
    left = select(func.coalesce(func.sum(question_progress.c.unruled), 0)).where(UNRULED)
    queries = (count.where(ASSIGNED), count.where(OPEN), left)
    return Overview(*(int(connection.execute(query).scalar_one()) for query in queries))


def next_to_rule(connection: Connection, *, after: str | None = None) -> str | None:
    """The first question with a disagreement to rule on; after one of them the next, and after the last the first."""
    c = question_progress.c
    waiting = select(c.question).where(UNRULED).order_by(c.first).limit(1)
    if after is None:
        return connection.execute(waiting).scalar()
    place = select(c.first).where(c.question == after).scalar_subquery()
    following: str | None = connection.execute(waiting.where(c.first > place)).scalar()
    return following or connection.execute(waiting.where(c.question != after)).scalar()


def closed_sets(assignments: Sequence[Assignment], question: str) -> list[str]:
    """The judgment sets of a question whose assessors have all finished; an error where one has not."""
    if not assignments or any(assignment.closed is None for assignment in assignments):
        raise NotClosedError(question)
    return [assignment.set for assignment in assignments]


def lists_left(connection: Connection, comparison: Comparison) -> bool:
    """Whether the assessors' own lists wait for one of them to be adopted."""
    ruled = bound_judgments(connection, comparison.question, (ADJUDICATED,))[ADJUDICATED].is_ruled
    return not ruled or lists_changed(connection, comparison.question, comparison.sets)


def keep(connection: Connection, question: str, settled: Settled) -> None:
    """Keep what settling found."""
    values = {"unanimous": settled.unanimous, "disagreements": settled.disagreements, "unruled": settled.left}
    connection.execute(_KEEP[connection.dialect.name], {"question": question, **values})


def adjust(connection: Connection, question: str, *, unanimous: int = 0, disagreements: int = 0, left: int = 0) -> bool:
    """Update the sums of a question after one ruling or verdict; False where it has no sums."""
    changes = {"asked": question, "more_unanimous": unanimous, "more_disagreements": disagreements, "more_left": left}
    return connection.execute(_ADJUST, changes).rowcount == 1


def _settle_list(act: Act, comparison: Comparison) -> None:
    """Settle the nuggets too: the only list is copied where the key would not find it."""
    if comparison.own_lists:
        undo_by_rule(act, comparison.question)
    elif comparison.list_name is not None:
        list_name, _ = list_for(act.connection, ADJUDICATED, comparison.question)
        if comparison.list_name in SLOTS or list_name != comparison.list_name:
            mirror_list(act, comparison.list_name, comparison.question, settled=True)


def _current(
    connection: Connection, question: str, sets: Sequence[str], subjects: Sequence[str] | None
) -> dict[tuple[str, str], Current]:
    # A few subjects by their own index; many, as all of a question are.
    few = subjects is not None and len(subjects) <= BATCH
    query, which = (_OF_SUBJECTS, {"subjects": subjects}) if few else (_OF_QUESTION, {"asked": question})
    rows = connection.execute(query, {"sets": list(sets), **which})
    return {
        (set_name, subject): Current(number, version, decoded(body))
        for set_name, subject, number, version, body in rows
    }


def _history(connection: Connection, units: Sequence[Matter], sets: Sequence[str]) -> rules.Before:
    """The judgments of sets on some units before a judgment, with one query of their history."""
    names = [part.subject for unit in units for part in unit.parts]
    c = judgment.c
    history: dict[tuple[str, str], list[tuple[int, Row | None]]] = {}
    for start in range(0, len(names), BATCH):
        rows = select(c.set, c.subject, c.id, c.body).where(
            c.set.in_(sets), c.subject.in_(names[start : start + BATCH])
        )
        for row in connection.execute(rows.order_by(c.version)):
            history.setdefault((row.set, row.subject), []).append((row.id, decoded(row.body)))

    def before(set_name: str, subject: str, number: int) -> Row | None:
        earlier = [body for judged, body in history.get((set_name, subject), ()) if judged < number]
        return earlier[-1] if earlier else None

    return before


# ---- statements, built once -----------------------------------------------------------------------------------------

_j, _s = current_judgment.c, table.c
_CURRENT = select(_j.set, _j.subject, _j.judgment, _j.version, _j.body).where(
    _j.set.in_(bindparam("sets", expanding=True))
)
_OF_SUBJECTS = _CURRENT.where(_j.subject.in_(bindparam("subjects", expanding=True)))
_OF_QUESTION = _CURRENT.where(_j.question == bindparam("asked"))
_ADJUST = (
    update(table)
    .where(_s.question == bindparam("asked"))
    .values(
        unanimous=_s.unanimous + bindparam("more_unanimous"),
        disagreements=_s.disagreements + bindparam("more_disagreements"),
        unruled=_s.unruled + bindparam("more_left"),
    )
)


def _kept(dialect: Any) -> Any:
    statement = dialect.insert(table)
    changed = {name: statement.excluded[name] for name in ("unanimous", "disagreements", "unruled")}
    return statement.on_conflict_do_update(index_elements=["question"], set_=changed)


_KEEP = {"sqlite": _kept(sqlite), "postgresql": _kept(postgresql)}
_PROGRESS: Select[Any] = (
    select(
        question_progress.c.question,
        question_progress.c.assessors,
        question_progress.c.open,
        table.c.unanimous,
        table.c.disagreements,
        table.c.unruled,
    )
    .outerjoin(table, table.c.question == question_progress.c.question)
    .where(ASSIGNED)
    .order_by(question_progress.c.first)
)
