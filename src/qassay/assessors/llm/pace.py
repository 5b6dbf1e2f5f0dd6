"""How many calls are under way: more while all goes well, half as many when the endpoint says it is too much.

The limits of an endpoint are learned from what it answers: 429 with or without `Retry-After`, and the headers that say
how many requests are left until when. During a pause no call starts.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from qassay.net import retry_after

START = 16
FIRST_WAIT = 0.5
LONGEST_WAIT = 120.0
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass
class Pace:
    """The number of calls that may be under way, learned."""

    most: int
    limit: float = 0.0
    running: int = 0
    # The most calls that were under way at once.
    peak: int = 0
    _until: float = 0.0
    _cut_at: float = -1.0
    _refusals: int = 0
    _grown: bool = False
    _answered: bool = False
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    _alarm: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        # The first call goes alone: what it learns about the endpoint, the others need not.
        self.limit = 1.0

    async def enter(self, *, first: bool = False) -> float:
        """Wait for a place, the `first` one if asked; the time at which the call starts."""
        if self._waiting or not self._open():
            place = asyncio.get_running_loop().create_future()
            (self._waiting.appendleft if first else self._waiting.append)(place)
            self._wake()
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self.leave()
                raise
        else:
            self.running += 1
        self.peak = max(self.peak, self.running)
        return time.monotonic()

    def leave(self) -> None:
        """The call is over, whatever came of it."""
        self.running -= 1
        self._wake()

    def succeeded(self, headers: Mapping[str, str]) -> None:
        """An answer came: one place more, or a small part of one after the endpoint has shown where its limit is."""
        self._refusals = 0
        if not self._answered:
            self._answered, self.limit = True, float(START)
        self.limit = min(float(self.most), self.limit + (1.0 / self.limit if self._grown else 1.0))
        left, reset = headers.get("x-ratelimit-remaining-requests"), headers.get("x-ratelimit-reset-requests")
        if left is not None and left.strip() == "0" and reset:
            self.pause(duration(reset) or 0.0)

    def refused(self, started: float, headers: Mapping[str, str]) -> float:
        """The endpoint is too busy: half the calls, and a pause; how long it is."""
        self._grown = True
        # Calls that began before the last cut say nothing about the pace since then.
        if started > self._cut_at:
            self.limit = max(1.0, self.limit / 2)
            self._refusals += 1
            self._cut_at = time.monotonic()
        retry = retry_after(headers)
        # Jitter keeps processes apart; it decides nothing.
        growing = FIRST_WAIT * 2 ** min(self._refusals - 1, 10) * (0.75 + random.random() / 2)  # noqa: S311
        wait = min(LONGEST_WAIT, growing if retry is None else retry)
        self.pause(wait)
        return wait

    def pause(self, seconds: float) -> None:
        """Start no call for so long."""
        self._until = max(self._until, time.monotonic() + min(seconds, LONGEST_WAIT))

    def _open(self) -> bool:
        return self.running < int(self.limit) and time.monotonic() >= self._until

    def _wake(self) -> None:
        """Let in those who may start; come back when a pause ends."""
        while self._waiting and self._open():
            place = self._waiting.popleft()
            if not place.done():
                self.running += 1
                place.set_result(None)
        left = self._until - time.monotonic()
        if self._waiting and left > 0 and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_later(left + 0.001, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self._wake()


def duration(text: str) -> float | None:
    """A duration as rate limits give it.

    >>> duration("1m30.5s"), duration("20ms"), duration("soon")
    (90.5, 0.02, None)
    """
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
