"""Bring the items of a store up to date in one step, as tests do that are about something else."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from qassay.judging.items import Item
from qassay.store.pool.items import Pooled, find_changes, numbered, store_changes


def store_items(connection: Connection, items: Iterable[Item]) -> Pooled:
    """New items are added, those that no run returns any more are set aside."""
    changes = find_changes(connection, numbered(items))
    store_changes(connection, changes.by_question.values())
    return changes.summary()
