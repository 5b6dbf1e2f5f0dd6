"""Calls to an endpoint: many under way, patient with what passes, and quick to stop at what does not.

    429, 408, 5xx, time-outs, broken connections    asked again after a wait, as long as the endpoint answers others
    400, 422                                        what the endpoint does not take is left out (see `protocol`)
    401, 402, 403, 404, an exhausted quota          the job stops: every other call would fail too

Replies are read up to a limit. No redirect is followed and no proxy is used.
"""

from __future__ import annotations

import asyncio
import random
import ssl
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from qassay.assessors.llm.endpoint import Endpoint
from qassay.assessors.llm.pace import Pace
from qassay.assessors.llm.protocol import Dialect, is_too_long
from qassay.direct import PASSING

if TYPE_CHECKING:
    import httpx

LONGEST_REPLY = 8 << 20
_SHOWN = 300
# A pool of connections takes time in proportion to its size at every call, so that there are many small ones.
LANE = 4
# Waits between two attempts grow from the first to the longest.
FIRST_WAIT, LONGEST_WAIT = 0.25, 30.0
# An endpoint that refuses everything as too much for so long has no place for this job.
PATIENCE = 900.0
# Calls in a row that are given up before the job is.
HOPELESS = 20


class GivenUpError(Exception):
    """One call has no answer; the job goes on."""


class StoppedError(Exception):
    """The job cannot go on: the endpoint refuses it as a whole, or is gone."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, headers and body of a response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def shown(self) -> str:
        """The beginning of the body, on one line."""
        return " ".join(self.body[: 4 * _SHOWN].decode("utf-8", errors="replace").split())[:_SHOWN]


@dataclass
class Client:
    """Asks one endpoint; belongs to one event loop."""

    endpoint: Endpoint
    pace: Pace
    timeout: float
    attempts: int
    dialect: Dialect = field(default_factory=Dialect)
    # The dialect of the last answer: what it has taken once is not what it refuses.
    proven: Dialect | None = None
    answered: int = 0
    given_up: int = 0
    _last_answer: float = field(default_factory=time.monotonic)
    _clients: list[httpx.AsyncClient] = field(default_factory=list)
    # Free places of their pools: each has one for every connection.
    _free: list[httpx.AsyncClient] = field(default_factory=list)
    _context: ssl.SSLContext | None = None

    async def ask(self, request: Callable[[Dialect], bytes]) -> bytes:
        """The body of the answer to a request; waits and asks again as long as there is hope.

        The request is written when its turn comes, in the dialect that is known by then.
        """
        tried = 0
        while True:
            started = await self.pace.enter()
            dialect = self.dialect
            try:
                reply, fault = await self._try(request(dialect))
                if reply is not None and reply.status == 200:
                    self.answered += 1
                    self.proven = dialect
                    self.given_up = 0
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
        for client in self._clients:
            await client.aclose()

    async def _try(self, body: bytes) -> tuple[Reply | None, str]:
        """One attempt: the response, or what happened in its place."""
        import httpx

        try:
            async with asyncio.timeout(self.timeout):
                return await self._post(body), ""
        except TimeoutError:
            return None, f"no answer within {self.timeout:g} s"
        except httpx.TransportError as error:
            return None, f"{self.endpoint.host} cannot be reached: {error or type(error).__name__}"

    async def _post(self, body: bytes) -> Reply:
        client = self._free.pop() if self._free else self._opened()
        try:
            async with client.stream("POST", self.endpoint.url, content=body) as response:
                pieces, size = [], 0
                async for piece in response.aiter_raw():
                    pieces.append(piece)
                    size += len(piece)
                    if size > LONGEST_REPLY:
                        raise GivenUpError(f"the reply has more than {LONGEST_REPLY >> 20} MiB")
                return Reply(response.status_code, response.headers, b"".join(pieces))
        finally:
            self._free.append(client)

    def _opened(self) -> httpx.AsyncClient:
        """A new pool of connections; its other places are free."""
        import httpx

        if self._context is None:
            self._context = ssl.create_default_context()
            settle_imports()
        client = httpx.AsyncClient(
            headers=self.endpoint.headers(),
            timeout=None,  # noqa: S113  # the whole call has a time-out
            follow_redirects=False,
            trust_env=False,
            verify=self._context,
            limits=httpx.Limits(max_connections=LANE, max_keepalive_connections=LANE),
        )
        self._clients.append(client)
        self._free += [client] * (LANE - 1)
        return client

    def _simpler(self, reply: Reply, refused: Dialect) -> bool:
        """Leave out what the endpoint does not take; whether there is something to leave out."""
        said = reply.shown()
        if self.dialect != refused:
            return True  # another call has done so already
        if is_too_long(said) or self.proven == refused:
            return False
        simpler = refused.without(said)
        self.dialect = simpler or refused
        return simpler is not None

    def _wait(self, reply: Reply | None, fault: str, tried: int, started: float) -> float:
        """How long to wait before the next attempt; raises where there is no hope for the call or for the job."""
        if reply is not None and reply.status not in PASSING:
            raise self._refused(reply)
        said = "" if reply is None else self.endpoint.without_key(reply.shown())
        if reply is not None and reply.status == 429:
            if "insufficient_quota" in said or ("quota" in said.lower() and "billing" in said.lower()):
                raise StoppedError(f"the endpoint says that the quota is used up: {said}")
            wait = self.pace.refused(started, reply.headers)
            if time.monotonic() + wait - self._last_answer > PATIENCE:
                raise StoppedError(f"the endpoint has refused every call for {PATIENCE / 60:g} minutes: {said}")
            return 0.0
        fault = fault or f"status {reply.status if reply else 0}: {said}"
        if tried + 1 >= self.attempts:
            raise self._hopeless(self.endpoint.without_key(fault))
        if reply is not None and reply.status == 503:
            self.pace.refused(started, reply.headers)
        jitter = 0.75 + random.random() / 2  # noqa: S311
        return min(LONGEST_WAIT, FIRST_WAIT * 2.0**tried) * jitter

    def _hopeless(self, fault: str) -> Exception:
        """The error to raise: for the call, or for the job where the endpoint never answered or stopped answering."""
        self.given_up += 1
        if self.given_up >= HOPELESS or not self.answered:
            return StoppedError(f"{fault} ({self.attempts} attempts)")
        return GivenUpError(fault)

    def _refused(self, reply: Reply) -> Exception:
        """The meaning of a status that will not go away."""
        said = self.endpoint.without_key(reply.shown())
        shown = f"status {reply.status}{': ' + said if said else ''}"
        if reply.status in (400, 413, 422):
            if reply.status == 413 or is_too_long(said):
                return GivenUpError(f"the model cannot read so much text: {shown}")
            if self.proven == self.dialect:
                return GivenUpError(shown)
            return StoppedError(f"the endpoint does not take the request: {shown}")
        if reply.status in (401, 403):
            variable = self.endpoint.key_env
            remedy = f"see the key in {variable}" if variable else "name the variable of its key: key_env=MY_KEY"
            return StoppedError(f"the endpoint does not let us in; {remedy}; {shown}")
        if 300 <= reply.status < 400:
            place = reply.headers.get("location", "")[:_SHOWN]
            return StoppedError(f"the endpoint points to {place}, which was not named; name it to use it")
        return StoppedError(f"{self.endpoint.url}: {shown}")


def settle_imports() -> None:
    """Answer at once what the library asks at every call: is there a module that it can do without?"""
    if "sniffio" not in sys.modules and find_spec("sniffio") is None:
        sys.modules["sniffio"] = None  # type: ignore[assignment]
