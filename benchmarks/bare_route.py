"""The least that saves a judgment: one FastAPI route, one insert, one writer at a time. What the application is beside.

`python -m benchmarks.bare_route FILE PORT` serves it on the loopback address.
"""

from __future__ import annotations

import sqlite3
import sys
import threading

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Decision(BaseModel):
    key: str
    item: int
    part: str
    expected: int
    verdict: dict[str, str]


def bare(path: str) -> FastAPI:
    app = FastAPI()
    turn = threading.Lock()
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE judgment (id INTEGER PRIMARY KEY, key TEXT UNIQUE, item INTEGER, verdict TEXT)")

    @app.post("/api/judge/{assignment}/decisions")
    def save(assignment: int, sent: Decision) -> dict[str, int]:
        with turn:
            connection.execute(
                "INSERT INTO judgment (key, item, verdict) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (sent.key, sent.item, sent.verdict["judgment"]),
            )
        return {"version": sent.expected + 1, "assignment": assignment}

    @app.get("/api/judge/{assignment}/items/{item}")
    def show(assignment: int, item: int) -> dict[str, object]:
        with turn:
            row = connection.execute("SELECT verdict FROM judgment WHERE item = ? LIMIT 1", (item,)).fetchone()
        return {"assignment": assignment, "item": item, "verdict": row[0] if row else None}

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    return app


if __name__ == "__main__":
    uvicorn.run(bare(sys.argv[1]), host="127.0.0.1", port=int(sys.argv[2]), log_level="error", access_log=False)
