"""The endpoint of a model: its address, the key that it is asked with, and what carries a request there and back.

The key comes from an environment variable and goes into one header. It is never part of a trace, a log or an error:
whatever is kept or shown goes through `without_key` first. Replies are read up to a limit. No redirect is followed and
no proxy is used.
"""

from __future__ import annotations

import contextlib
import os
import re
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from qassay.errors import UsageError

if TYPE_CHECKING:
    import httpx

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
_PATH = "/chat/completions"
_HIDDEN = "[key]"
_HEADER = re.compile(r"[\x21-\x7e]+")

LONGEST_REPLY = 8 << 20
# The beginning of a reply that messages show, in characters.
SHOWN = 300
# A pool of connections takes time in proportion to its size at every call, so that there are many small ones.
LANE = 4
AGENT = "qassay"
# Open files that a process needs for everything else.
OTHER_FILES = 64


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked, over the protocol of OpenAI's chat completions."""

    url: str
    host: str
    # The variable that the key comes from; None where no key is sent.
    key_env: str | None = None
    _key: str | None = field(default=None, repr=False)

    def with_key(self) -> Endpoint:
        """The same endpoint with its key, which an estimate does without; an error where the variable has none."""
        return replace(self, _key=_key_of(self.key_env))

    def headers(self) -> dict[str, str]:
        """The headers of every request."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return headers

    def without_key(self, text: str) -> str:
        """The text with the key blotted out: a server may repeat it in an error."""
        return text.replace(self._key, _HIDDEN) if self._key else text


def endpoint_at(address: str | None, key_env: str | None) -> Endpoint:
    """The endpoint at an address, OpenAI's where none is given; its key comes from an environment variable.

    OPENAI_API_KEY goes to OpenAI alone: another endpoint gets a key only where `key_env` names its variable.

    >>> endpoint_at("http://127.0.0.1:8000/v1/", None).url
    'http://127.0.0.1:8000/v1/chat/completions'
    """
    parts = urlsplit((address or OPENAI).strip())
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError("llm: endpoint takes an address such as http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        message = "the endpoint has a user, a password or a query; put the API key into an environment variable"
        raise UsageError(f"llm: {message} and name it: key_env=MY_KEY")
    path = parts.path.rstrip("/")
    url = f"{parts.scheme}://{parts.netloc}{path if path.endswith(_PATH) else path + _PATH}"
    is_openai = host == urlsplit(OPENAI).hostname
    variable = key_env or (OPENAI_KEY if is_openai else None)
    return Endpoint(url, host if port is None else f"{host}:{port}", variable)


def _key_of(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"llm: the variable {variable} is not set; put the API key of the endpoint into it")
    if not _HEADER.fullmatch(key):
        raise UsageError(f"llm: the API key in {variable} has spaces or other characters that no key has; set it again")
    return key


# ---- requests and replies -------------------------------------------------------------------------------------------


class GivenUpError(Exception):
    """One call has no answer; the job goes on."""


class UnreachableError(Exception):
    """A request that got no reply; another attempt may get one."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, headers and body of a response; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def shown(self) -> str:
        """The beginning of the body, for a message."""
        return shown(self.body[: 4 * SHOWN].decode("utf-8", errors="replace"))


def shown(text: str) -> str:
    """The beginning of a stranger's text, on one line and without control characters.

    >>> shown("no \\x1b[31mmodel\\n loaded")
    'no [31mmodel loaded'
    """
    return "".join(c for c in " ".join(text.split()) if c.isprintable())[:SHOWN]


class Carrier(Protocol):
    """Carries requests to one endpoint; belongs to one event loop."""

    def places(self, parallel: int) -> int:
        """How many requests may be under way at once: as many as wanted, or fewer."""

    async def post(self, body: bytes) -> Reply:
        """The reply to a request; UnreachableError where none comes, GivenUpError where it cannot be read."""

    async def close(self) -> None:
        """End what it keeps open."""


@dataclass
class Connections:
    """Connections of this process, kept open from call to call."""

    endpoint: Endpoint
    # Pools of connections, and their free places: each has one for every connection. Transports, and not clients: what
    # a client adds (cookies, redirects, proxies, authentication) is not wanted, and takes as long as the call.
    _pools: list[httpx.AsyncHTTPTransport] = field(default_factory=list)
    _free: list[httpx.AsyncHTTPTransport] = field(default_factory=list)
    _context: ssl.SSLContext | None = None
    _address: httpx.URL | None = None
    _headers: list[tuple[bytes, bytes]] = field(default_factory=list, repr=False)

    def places(self, parallel: int) -> int:
        """The wanted number, or the number that the limit of open files allows."""
        return connections(parallel)

    async def post(self, body: bytes) -> Reply:
        """The reply to a request."""
        import httpx

        pool = self._free.pop() if self._free else self._opened()
        try:
            assert self._address is not None
            request = httpx.Request("POST", self._address, headers=self._headers, content=body)
            response = await pool.handle_async_request(request)
            try:
                pieces, size = [], 0
                assert isinstance(response.stream, httpx.AsyncByteStream)
                async for piece in response.stream:
                    pieces.append(piece)
                    size += len(piece)
                    if size > LONGEST_REPLY:
                        raise GivenUpError(f"the reply has more than {LONGEST_REPLY >> 20} MiB")
                return Reply(response.status_code, response.headers, b"".join(pieces))
            finally:
                await response.aclose()
        except httpx.TransportError as error:
            raise UnreachableError(f"{self.endpoint.host} cannot be reached: {error or type(error).__name__}") from None
        finally:
            self._free.append(pool)

    async def close(self) -> None:
        """End all connections."""
        for pool in self._pools:
            await pool.aclose()

    def _opened(self) -> httpx.AsyncHTTPTransport:
        """A new pool of connections; its other places are free."""
        import httpx

        if self._context is None:
            self._context = ssl.create_default_context()
            settle_imports()
            self._address = httpx.URL(self.endpoint.url)
            usual = {"Host": self._address.netloc.decode("ascii"), "Connection": "keep-alive", "User-Agent": AGENT}
            sent = {**usual, **self.endpoint.headers()}
            self._headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in sent.items()]
        limits = httpx.Limits(max_connections=LANE, max_keepalive_connections=LANE)
        pool = httpx.AsyncHTTPTransport(verify=self._context, limits=limits, trust_env=False)
        self._pools.append(pool)
        self._free += [pool] * (LANE - 1)
        return pool


def connections(parallel: int) -> int:
    """How many connections this process may have open: as many as wanted, or as its limit of open files allows.

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


def settle_imports() -> None:
    """Answer once and for all the library's question of every call: is an optional module installed?"""
    if "sniffio" not in sys.modules and find_spec("sniffio") is None:
        sys.modules["sniffio"] = None  # type: ignore[assignment]
