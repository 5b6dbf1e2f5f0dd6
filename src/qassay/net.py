"""HTTP to the address that the user has named, and to no other.

No redirect is followed and no proxy is used: either would carry the questions, and a password or token, to a server
that nobody named. A reply is read up to a size, within one time limit: the time-out of a socket starts again with every
byte, and a server could send one now and then for ever.

    exchange       one request and its reply          send_again     the same, repeated where that may help
    Connections    many requests at a time, in an event loop (the extra `llm`)

Tests put a function of their own in the place of `exchange`.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import SplitResult, urlsplit

if TYPE_CHECKING:
    import httpx

# Statuses of a server that is too busy, still starting, or lost behind a proxy: the same request may be answered later.
BUSY: Final = frozenset({408, 425, 429, 502, 503, 504, 529})
# The same, with the mistake of a program that may not be made twice.
PASSING: Final = BUSY | {500}
# Bytes per second of a slow line: a request may take the time-out, and a second more for each time that many bytes.
SLOW_LINE: Final = 16 * 1024
# The longest wait that a server may ask for before the next attempt, in seconds.
LONGEST_WAIT: Final = 60.0
AGENT: Final = "qassay"
# A pool of connections takes time in proportion to its size at every call, so that there are many small ones.
LANE: Final = 4
# Open files that a process needs for everything else.
OTHER_FILES: Final = 64

Cause = Literal["timeout", "unreachable", "certificate", "broken", "long"]
MAY_PASS: Final = frozenset[Cause]({"timeout", "unreachable", "broken"})
_SECONDS = re.compile(r"\d{1,9}(?:\.\d+)?", re.ASCII)


class NoReplyError(Exception):
    """A request without a reply. The message is what the server does: "does not answer within 5 s"."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(cause, message)
        self.cause = cause

    def __str__(self) -> str:
        return str(self.args[1])


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, headers and body of a response; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def reason(self) -> str:
        """The usual name of the status."""
        return http.client.responses.get(self.status, "")

    def shown(self, most: int) -> str:
        """The beginning of the body, for a message."""
        return shown(self.body[: 4 * most].decode("utf-8", errors="replace"), most)

    def json(self) -> Any:
        """The value of the body; a ValueError where it is not JSON."""
        try:
            return json.loads(self.body)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None


def shown(text: str, most: int) -> str:
    """The beginning of a stranger's text, on one line and without control characters.

    >>> shown("no \\x1b[31mmodel\\n loaded", 300)
    'no [31mmodel loaded'
    """
    return "".join(c for c in " ".join(text.split()) if c.isprintable())[:most]


def address(text: str) -> SplitResult | None:
    """The parts of an address that can be asked: http or https, with a host; None for any other.

    >>> address("http://127.0.0.1:8000/v1").port, address("ftp://x"), address("http://x:port")
    (8000, None, None)
    """
    try:
        parts = urlsplit(text.strip())
        parts.port  # noqa: B018  # a port that is not a number raises when it is read
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") and parts.hostname else None


def exchange(
    method: str, url: str, *, headers: Mapping[str, str], body: bytes | None = None, seconds: float, most: int
) -> Reply:
    """The reply to a request, of at most this many bytes, within these seconds; a long request may take longer."""
    parts = address(url)
    if parts is None or parts.username is not None:
        raise NoReplyError("unreachable", "cannot be reached: not an address with a host and without a password")
    is_secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
    host, path = parts.hostname or "", (parts.path or "/") + (parts.query and f"?{parts.query}")
    connection = kind(host, parts.port, timeout=seconds)
    response = None
    is_sent = False
    try:
        with (
            socket.create_connection((host, connection.port), seconds) as line,
            contextlib.closing(connection),
            _TimeLimit(line, seconds + len(body or b"") / SLOW_LINE),
        ):
            connection.sock = _tls().wrap_socket(line, server_hostname=host) if is_secure else line
            connection.request(method, path, body, {"User-Agent": AGENT, "Connection": "close", **headers})
            is_sent = True
            response = connection.getresponse()
            content = _body(response, most)
    except TimeoutError:
        partly = " in full" if response is not None else ""
        raise NoReplyError("timeout", f"does not answer{partly} within {seconds:g} s") from None
    except ssl.SSLError as error:
        raise NoReplyError("certificate", f"cannot be trusted: {error}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        cause: Cause = "broken" if is_sent else "unreachable"
        what = "breaks the connection" if is_sent else "cannot be reached"
        raise NoReplyError(cause, f"{what}: {error or type(error).__name__}") from None
    if len(content) > most and response.status < 300:
        raise NoReplyError("long", f"answers with more than {most >> 20} MiB")
    return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, content[:most])


def send_again(
    send: Callable[[], Reply],
    waits: Iterable[float],
    *,
    statuses: frozenset[int] = PASSING,
    causes: frozenset[Cause] = MAY_PASS,
) -> Reply:
    """The first reply with another status; after these waits, or longer ones that the server asks for, the last."""
    for wait in (*waits, None):
        try:
            reply = send()
        except NoReplyError as error:
            if wait is None or error.cause not in causes:
                raise
            time.sleep(wait)
        else:
            if wait is None or reply.status not in statuses:
                return reply
            time.sleep(max(wait, min(retry_after(reply.headers) or 0.0, LONGEST_WAIT)))
    raise AssertionError  # the last turn has no wait, and ends above


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait that a server asks for: in seconds, in milliseconds, or as a date; None where it asks for none."""
    exact, header = (headers.get(name, "").strip() for name in ("retry-after-ms", "retry-after"))
    if _SECONDS.fullmatch(exact):
        return float(exact) / 1000
    if _SECONDS.fullmatch(header):
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _body(response: http.client.HTTPResponse, most: int) -> bytes:
    """The body, or one byte more than it may have; nothing where an error breaks off."""
    try:
        content = response.read(most + 1)
        if response.length and len(content) <= most:
            raise http.client.IncompleteRead(content, response.length)
    except (OSError, http.client.HTTPException):
        if response.status < 300:
            raise
        return b""
    return content


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


class _TimeLimit:
    """Ends a connection that takes longer than it may; what was done with it then is a TimeoutError."""

    def __init__(self, line: socket.socket, seconds: float) -> None:
        # A duplicate stays usable whatever TLS makes of the socket.
        self._line = line.dup()
        self._is_over = False
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._line.close()
        if self._is_over:
            raise TimeoutError from None

    def _end(self) -> None:
        self._is_over = True
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)


# ---- many requests at a time ----------------------------------------------------------------------------------------


@dataclass
class Connections:
    """Connections to one address for POST requests, kept open from call to call; belongs to one event loop."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    most: int
    # Pools of connections, and their free places: each has one for every connection. Transports, and not clients: what
    # a client adds (cookies, redirects, proxies, authentication) is not wanted, and takes as long as the call.
    _pools: list[httpx.AsyncHTTPTransport] = field(default_factory=list)
    _free: list[httpx.AsyncHTTPTransport] = field(default_factory=list)
    _address: httpx.URL | None = None
    _sent: list[tuple[bytes, bytes]] = field(default_factory=list, repr=False)

    def room(self, parallel: int) -> int:
        """How many requests may be under way: as many as wanted, or as the limit of open files allows.

        The limit is raised as far as the system lets a process do that by itself.
        """
        try:
            import resource
        except ImportError:  # Windows has no such limit
            return parallel
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < parallel + OTHER_FILES:
            raised = parallel + OTHER_FILES if hard == resource.RLIM_INFINITY else min(hard, parallel + OTHER_FILES)
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return parallel if soft == resource.RLIM_INFINITY else max(1, min(parallel, soft - OTHER_FILES))

    async def post(self, body: bytes, seconds: float) -> Reply:
        """The reply to a request."""
        import asyncio

        import httpx

        pool = self._free.pop() if self._free else self._opened()
        try:
            assert self._address is not None
            request = httpx.Request("POST", self._address, headers=self._sent, content=body)
            async with asyncio.timeout(seconds):
                response = await pool.handle_async_request(request)
                try:
                    pieces, size = [], 0
                    assert isinstance(response.stream, httpx.AsyncByteStream)
                    async for piece in response.stream:
                        pieces.append(piece)
                        size += len(piece)
                        if size > self.most:
                            raise NoReplyError("long", f"answers with more than {self.most >> 20} MiB")
                    return Reply(response.status_code, dict(response.headers), b"".join(pieces))
                finally:
                    await response.aclose()
        except TimeoutError:
            raise NoReplyError("timeout", f"does not answer within {seconds:g} s") from None
        except httpx.TransportError as error:
            raise NoReplyError("unreachable", f"cannot be reached: {error or type(error).__name__}") from None
        finally:
            self._free.append(pool)

    async def close(self) -> None:
        """End all connections."""
        for pool in self._pools:
            await pool.aclose()

    def _opened(self) -> httpx.AsyncHTTPTransport:
        """A new pool of connections; its other places are free."""
        import httpx

        if self._address is None:
            self._address = httpx.URL(self.url)
            usual = {"Host": self._address.netloc.decode("ascii"), "Connection": "keep-alive", "User-Agent": AGENT}
            self._sent = [(n.encode("ascii"), v.encode("latin-1")) for n, v in {**usual, **self.headers}.items()]
        limits = httpx.Limits(max_connections=LANE, max_keepalive_connections=LANE)
        pool = httpx.AsyncHTTPTransport(verify=_tls(), limits=limits, trust_env=False)
        self._pools.append(pool)
        self._free += [pool] * (LANE - 1)
        return pool
