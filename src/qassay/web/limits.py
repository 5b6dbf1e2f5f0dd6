"""How often somebody may try, and how much a body may hold."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Final

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.types import Message, Receive

from qassay.web.errors import Refusal

# Tries of one name, and from one address: a class of assessors behind one address signs in at nine o'clock.
BY_NAME: Final = parse("10 per 10 minutes")
BY_ADDRESS: Final = parse("100 per 10 minutes")


class Limits:
    """Counts tries in a moving window. One process serves an evaluation, so memory is the place to count."""

    def __init__(self) -> None:
        self._window = MovingWindowRateLimiter(MemoryStorage())

    def count(self, item: RateLimitItem, kind: str, key: str) -> None:
        """Count a try; refuse it where there were too many."""
        # Keys may be as long as a sender likes; the store of the counts keeps them.
        key = key[:200]
        if not self._window.hit(item, kind, key):
            wait = max(1, int(self._window.get_window_stats(item, kind, key).reset_time - time.time()) + 1)
            minutes = -(-wait // 60)
            told = "a minute" if minutes == 1 else f"{minutes} minutes"
            raise Refusal(429, f"too many tries; wait {told} and try again", headers={"Retry-After": str(wait)})

    def forget(self, item: RateLimitItem, kind: str, key: str) -> None:
        """Start anew, after a try that succeeded."""
        self._window.clear(item, kind, key[:200])


def limited(receive: Receive, *, most: int, seconds: float, rate: int) -> Receive:
    """A body that is broken off where it grows too long or comes too slowly, whatever its header says.

    It may take some seconds, and one more for each so many bytes that have come: a long one over a slow line takes its
    time, and one that trickles does not hold us.
    """
    begun = time.monotonic()
    seen = 0
    whole = False

    async def receiving() -> Message:
        nonlocal seen, whole
        if whole:  # what comes now is the news that the other side has gone
            return await receive()
        left = begun + seconds + seen / rate - time.monotonic()
        try:
            message = await asyncio.wait_for(receive(), max(0.0, left))
        except TimeoutError:
            told = f"the request came too slowly: after {seconds:g} seconds, less than {rate:,} bytes a second"
            raise Refusal(408, told, headers=_CLOSE) from None
        seen += len(message.get("body", b""))
        if seen > most:
            raise too_long(most)
        whole = not message.get("more_body", False)
        return message

    return receiving


_CLOSE = {"Connection": "close"}


def too_long(most: int) -> Refusal:
    """The answer to a body that is too long."""
    told = f"{most // (1024 * 1024)} MiB" if most >= 1024 * 1024 else f"{most:,} bytes"
    return Refusal(413, f"the request holds more than {told}", headers=_CLOSE)


# A string that does not end takes the rest with it: looked for anew from every quote, it would cost the square.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NULL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
# Escapes one after the other: a pair of surrogates, one alone (marked), any other.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<alone>\\u[dD][89a-fA-F])|\\.", re.DOTALL
)


def check_json(body: bytes, *, deepest: int) -> None:
    """Refuse JSON that is nested too deeply, or holds what no database keeps in a text.

    That is a null character, and half of a surrogate pair, escaped or in bytes. What is not UTF-8 would be read in
    another encoding, past these checks.
    """
    try:
        body.decode()
    except UnicodeDecodeError:
        raise Refusal(422, "the request is not written in UTF-8") from None
    if b"\0" in body or _NULL.search(body):
        raise Refusal(422, "the request holds a null character (\\u0000)")
    if any(escape["alone"] for escape in _ESCAPE.finditer(body)):
        raise Refusal(422, "the request holds half of a character: a surrogate (\\ud800 to \\udfff) without its pair")
    depth = 0
    for bracket in re.finditer(rb"[\[{\]}]", _STRING.sub(b"", body)):
        depth += 1 if bracket[0] in (b"[", b"{") else -1
        if depth > deepest:
            raise Refusal(422, f"the request is nested more than {deepest} levels deep")
