"""Moments, as every file and table has them (FORMATS: RFC 3339, in UTC, to the millisecond).

Written alike, so that their order as strings is their order in time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def timestamp(moment: datetime) -> str:
    """A moment, written out.

    >>> timestamp(datetime(2026, 1, 2, 3, 4, 5, 678_999, tzinfo=UTC))
    '2026-01-02T03:04:05.678Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now() -> str:
    """This moment."""
    return timestamp(datetime.now(UTC))


def later(span: timedelta) -> str:
    """The moment that comes after a span of time, or that was before it, where the span is negative."""
    return timestamp(datetime.now(UTC) + span)
