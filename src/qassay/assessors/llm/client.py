"""Calls to an endpoint: many under way, patient with what passes, and quick to stop at what does not.

429, 408, 5xx, time-outs, broken connections    asked again after a wait, as long as the endpoint answers others
400, 422                                        what the endpoint does not take is left out (see `protocol`)
401, 402, 403, 404, an exhausted quota          the job stops: every other call would fail too
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from qassay.assessors.llm.endpoint import Carrier, Endpoint
from qassay.assessors.llm.pace import Pace
from qassay.assessors.llm.protocol import SHOWN, Dialect, is_too_long
from qassay.net import PASSING, NoReplyError, Reply

# Waits between two attempts grow from the first to the longest.
FIRST_WAIT, LONGEST_WAIT = 0.25, 30.0
# An endpoint that refuses everything as too much for so long has no place for this job.
PATIENCE = 900.0


class GivenUpError(Exception):
    """One call has no answer; the job goes on."""


class StoppedError(Exception):
    """The job cannot go on: the endpoint refuses it as a whole, or is gone."""


@dataclass
class EndpointClient:
    """Asks one endpoint; belongs to one event loop."""

    endpoint: Endpoint
    carrier: Carrier
    pace: Pace
    timeout: float
    attempts: int
    dialect: Dialect = field(default_factory=Dialect)
    # The dialect of the last answer: what it has taken once is not what it refuses.
    proven: Dialect | None = None
    answered: int = 0
    _last_answer: float = field(default_factory=time.monotonic)

    async def ask(self, request: Callable[[Dialect], bytes], *, again: bool = False) -> bytes:
        """The body of the answer to a request; waits and asks again as long as there is hope.

        The request is written when its turn comes, in the dialect that is known by then. One that asks `again` comes
        before those that wait for their first turn: what is begun is finished, or found to be hopeless, soon.
        """
        tried = 0
        while True:
            started = await self.pace.enter(first=again)
            dialect = self.dialect
            try:
                reply, fault = await self._try(request(dialect))
                if reply is not None and reply.status == 200:
                    self.answered += 1
                    self.proven = dialect
                    self._last_answer = time.monotonic()
                    self.pace.succeeded(reply.headers)
                    return reply.body
                if reply is not None and reply.status in (400, 422) and self._simpler(reply, dialect):
                    continue
                wait = self._wait(reply, fault, tried, started)
            finally:
                self.pace.leave()
            # Too many requests is not a fault of the call: it does not use up its attempts.
            tried += reply is None or reply.status != 429
            await asyncio.sleep(wait)

    async def close(self) -> None:
        """End all connections."""
        await self.carrier.close()

    async def _try(self, body: bytes) -> tuple[Reply | None, str]:
        """One attempt: the response, or what happened in its place."""
        try:
            return await self.carrier.post(body, self.timeout), ""
        except NoReplyError as error:
            fault = f"{self.endpoint.host} {error}"
            if error.cause == "long":
                raise GivenUpError(fault) from None
            return None, fault

    def _simpler(self, reply: Reply, refused: Dialect) -> bool:
        """Leave out what the endpoint does not take; whether there is something to leave out."""
        reply_text = reply.shown(SHOWN)
        if self.dialect != refused:
            return True  # another call has done so already
        if is_too_long(reply_text) or self.proven == refused:
            return False
        simpler = refused.without(reply_text)
        self.dialect = simpler or refused
        return simpler is not None

    def _wait(self, reply: Reply | None, fault: str, tried: int, started: float) -> float:
        """How long to wait before the next attempt; raises where there is no hope for the call or for the job."""
        if reply is not None and reply.status not in PASSING:
            raise self._refused(reply)
        reply_text = "" if reply is None else self.endpoint.without_key(reply.shown(SHOWN))
        if reply is not None and reply.status == 429:
            if "insufficient_quota" in reply_text or (
                "quota" in reply_text.lower() and "billing" in reply_text.lower()
            ):
                raise StoppedError(f"the endpoint says that the quota is used up: {reply_text}")
            wait = self.pace.refused(started, reply.headers)
            if time.monotonic() + wait - self._last_answer > PATIENCE:
                raise StoppedError(f"the endpoint has refused every call for {PATIENCE / 60:g} minutes: {reply_text}")
            return 0.0
        fault = fault or f"status {reply.status if reply else 0}: {reply_text}"
        if tried + 1 >= self.attempts:
            raise self._hopeless(self.endpoint.without_key(fault))
        if reply is not None and reply.status == 503:
            self.pace.refused(started, reply.headers)
        jitter = 0.75 + random.random() / 2  # noqa: S311
        return min(LONGEST_WAIT, FIRST_WAIT * 2.0**tried) * jitter

    def _hopeless(self, fault: str) -> Exception:
        """The error to raise: for the call, or for the job where the endpoint never answered."""
        if not self.answered:
            return StoppedError(f"{fault} ({self.attempts} attempts)")
        return GivenUpError(fault)

    def _refused(self, reply: Reply) -> Exception:
        """The meaning of a status that will not go away."""
        reply_text = self.endpoint.without_key(reply.shown(SHOWN))
        shown = f"status {reply.status}{': ' + reply_text if reply_text else ''}"
        if reply.status in (400, 413, 422):
            if reply.status == 413 or is_too_long(reply_text):
                return GivenUpError(f"the model cannot read so much text: {shown}")
            if self.proven == self.dialect:
                return GivenUpError(shown)
            return StoppedError(f"the endpoint does not take the request: {shown}")
        if reply.status in (401, 403):
            variable = self.endpoint.key_env
            remedy = f"see the key in {variable}" if variable else "name the variable of its key: key_env=MY_KEY"
            return StoppedError(f"the endpoint does not let us in; {remedy}; {shown}")
        if 300 <= reply.status < 400:
            place = reply.headers.get("location", "")[:SHOWN]
            return StoppedError(f"the endpoint points to {place}, which was not named; name it to use it")
        return StoppedError(f"{self.endpoint.url}: {shown}")
