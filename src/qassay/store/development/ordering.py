"""The order of drafts: series among each other, and questions within a series, whose `other` question stays last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy import Connection, bindparam, update

from qassay.store.development.drafts import Stored, find_stored, grouped, keep_others_out, read_drafts
from qassay.store.schema import question as table

Thing = TypeVar("Thing")


def move_question(connection: Connection, number: str, places: int) -> None:
    """Move a draft within its series, or among all drafts; the `other` question stays last."""
    keep_others_out(connection)
    moving = find_stored(connection, number)
    drafts = read_drafts(connection)
    if moving.question.series is None:
        _arrange(connection, _moved(grouped(drafts), lambda group: group[0].group == moving.group, places))
        return
    groups = grouped(drafts)
    for place, group in enumerate(groups):
        if group[0].group == moving.group:
            movable = [one for one in group if one.question.type != "other"]
            moved = _moved(movable, lambda one: one.question.id == number, places)
            groups[place] = [*moved, *(one for one in group if one.question.type == "other")]
    _arrange(connection, groups)


def move_series(connection: Connection, series: str, places: int) -> None:
    """Move a series of drafts among the others."""
    keep_others_out(connection)
    groups = grouped(read_drafts(connection))
    _arrange(connection, _moved(groups, lambda group: group[0].group == series, places))


def _arrange(connection: Connection, groups: Sequence[Sequence[Stored]]) -> None:
    """Set the order of the drafts; whoever read them has kept the others out."""
    order = [one for group in groups for one in group]
    changed = [{"which": one.question.id, "to": at} for at, one in enumerate(order) if one.ordinal != at]
    if changed:
        connection.execute(
            update(table).where(table.c.id == bindparam("which")).values(ordinal=bindparam("to")), changed
        )


def _moved(things: Sequence[Thing], is_it: Callable[[Thing], bool], places: int) -> list[Thing]:
    """The things with one of them moved by some places, as far as it goes."""
    order = list(things)
    at = next((place for place, one in enumerate(order) if is_it(one)), None)
    if at is not None:
        one = order.pop(at)
        order.insert(max(0, min(len(order), at + places)), one)
    return order
