"""The rules of a track, from the table `[track]` of `qassay.toml`: deadline, limit, runs to judge, authors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

KEYS = ("deadline", "limit", "pooled", "authors")


@dataclass(frozen=True, slots=True)
class Track:
    """The rules for participants and authors; without a table `[track]`, no deadline, no limit and no authors."""

    # Runs are taken up to this moment.
    deadline: datetime | None = None
    # Runs per organisation.
    limit: int | None = None
    # Runs per organisation that are judged, those of the first priorities; None: all.
    pooled: int | None = None
    # Whether assessors write questions.
    authors: bool = False

    def is_over(self, moment: datetime) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and moment > self.deadline

    def closed(self, moment: datetime) -> str:
        """Why a submission at this moment is too late: the deadline and the time of the submission."""
        assert self.deadline is not None
        return (
            f"submissions closed on {spoken(self.deadline)}, and this one arrived on {spoken(moment.astimezone(UTC))};"
            " ask the organisers"
        )


def spoken(moment: datetime) -> str:
    """A moment for people, in UTC, and as it was written where that is another time of day.

    >>> spoken(datetime.fromisoformat("2026-12-01T23:59:00Z"))
    '2026-12-01 23:59 UTC'
    >>> spoken(datetime.fromisoformat("2026-12-01T23:59:00-12:00"))
    '2026-12-02 11:59 UTC (2026-12-01 23:59 UTC-12:00)'
    """
    seconds = ":%S" if moment.second else ""
    written = moment.astimezone(UTC).strftime(f"%Y-%m-%d %H:%M{seconds} UTC")
    offset = moment.utcoffset()
    return written if not offset else f"{written} ({moment.strftime(f'%Y-%m-%d %H:%M{seconds} %Z')})"


def track_faults(keys: object) -> Iterator[str]:
    """The faults of a table `[track]`, key by key."""
    if not isinstance(keys, Mapping):
        yield "track: takes a table, such as [track] with deadline = 2026-12-01T23:59:00Z and limit = 3"
        return
    for unknown in (key for key in keys if key not in KEYS):
        yield f"track.{unknown}: is not a rule of a track; there are {', '.join(KEYS)}"
    deadline = keys.get("deadline")
    if isinstance(deadline, datetime) and deadline.tzinfo is None:
        yield (
            f"track.deadline: {deadline} does not say which time zone it means;"
            " write 2026-12-01T23:59:00Z for UTC, or an offset: 2026-12-01T23:59:00-12:00"
        )
    elif isinstance(deadline, date | time) and not isinstance(deadline, datetime):
        yield f"track.deadline: {deadline} is not a moment; write day, time and zone: 2026-12-01T23:59:00Z"
    elif deadline is not None and not isinstance(deadline, datetime):
        yield f"track.deadline: is {deadline!r}; it takes a moment without quotes, such as 2026-12-01T23:59:00Z"
    for key in ("limit", "pooled"):
        value = keys.get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            yield f"track.{key}: is {value!r}; it takes a number of runs, 1 or more"
    if not isinstance(keys.get("authors", False), bool):
        yield f"track.authors: is {keys['authors']!r}; it takes true or false"


def track_of(keys: Mapping[str, Any]) -> Track:
    """The rules of a faultless table."""
    return Track(**keys)
