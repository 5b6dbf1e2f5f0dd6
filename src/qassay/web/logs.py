"""One line per request, and the numbers of /metrics.

A line names method, route, status, duration and account; never the query, a header, a body or what somebody wrote: a
log is read by more people than the store.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
from collections import Counter
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from qassay.formats.times import timestamp

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
FIELDS = ("request", "method", "route", "status", "milliseconds", "account")

log = logging.getLogger("qassay.web")


def where(error: BaseException) -> str:
    """Kind and place of an error and of its cause, without its message, which may quote somebody's text."""
    place = "".join(traceback.format_tb(error.__traceback__)) + type(error).__qualname__
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return f"{where(cause)}\n\n{place}" if cause is not None else place


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = timestamp(datetime.fromtimestamp(record.created, UTC))
        line: dict[str, Any] = {"at": at, "level": record.levelname.lower(), "message": record.getMessage()}
        line |= {name: getattr(record, name) for name in FIELDS if getattr(record, name, None) is not None}
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = where(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


class TextLines(logging.Formatter):
    """A record as a line to read."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        status, route = getattr(record, "status", None), getattr(record, "route", None)
        if status is None or route is None:
            line = f"{at} {record.levelname.lower()}: {record.getMessage()}"
        else:
            method, took = getattr(record, "method", ""), getattr(record, "milliseconds", 0.0)
            line = f"{at} {status} {method} {route} {took:.0f} ms"
            account = getattr(record, "account", None)
            line += f" account {account}" if account is not None else ""
        error = record.exc_info[1] if record.exc_info else None
        return line + ("\n" + where(error) if error is not None else "")


def set_up(form: Literal["text", "json", "none"], stream: TextIO | None = None) -> None:
    """Send the application's log to stderr in this form."""
    handler: logging.Handler = logging.NullHandler()
    if form != "none":
        handler = logging.StreamHandler(stream or sys.stderr)
        handler.setFormatter(JsonLines() if form == "json" else TextLines())
    # The server's own words go the same way: its errors quote exceptions otherwise.
    for logger, level in ((log, logging.INFO), (logging.getLogger("uvicorn.error"), logging.WARNING)):
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level)


class Metrics:
    """Requests by route and status, and how long they took, since the start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._below: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._count: Counter[str] = Counter()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._count[route] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]  # a counter adds floats as well
            for bucket in BUCKETS:
                if seconds <= bucket:
                    self._below[route, bucket] += 1

    def lines(self) -> list[str]:
        """The counters, in Prometheus' text form."""
        with self._lock:
            lines = ["# TYPE qassay_requests_total counter"]
            for (method, route, status), count in sorted(self._requests.items()):
                lines.append(f'qassay_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}')
            lines.append("# TYPE qassay_request_seconds histogram")
            name = "qassay_request_seconds"
            for route, count in sorted(self._count.items()):
                below = [(str(bucket), self._below[route, bucket]) for bucket in BUCKETS] + [("+Inf", count)]
                lines += [f'{name}_bucket{{route="{route}",le="{limit}"}} {number}' for limit, number in below]
                lines.append(f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}')
                lines.append(f'{name}_count{{route="{route}"}} {count}')
            return lines
