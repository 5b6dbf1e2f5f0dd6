"""One who waits for another: on PostgreSQL for a lock, on SQLite for the turn to write."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from sqlalchemy import Connection, text

from qassay.store.engine import Store

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def until_it_waits(store: Store, other: Future[Any]) -> None:
    """Wait until the other one waits for us, or is done; SQLite lets nobody in anyway."""
    for _ in range(200 if not store.is_file else 0):
        with store.read() as connection:
            if other.done() or connection.execute(text(WAITING)).scalar_one():
                return
        time.sleep(0.02)


def behind(
    store: Store,
    first: Callable[[Connection], object],
    second: Callable[[], object],
    then: Callable[[Connection], object] = lambda _: None,
) -> Any:
    """Do the first thing, have the second one begun before it is committed, and return what the second came to."""
    with ThreadPoolExecutor(1) as pool:
        with store.write() as connection:
            first(connection)
            other = pool.submit(second)
            until_it_waits(store, other)
            then(connection)
        return other.result()
