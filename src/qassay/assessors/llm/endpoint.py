"""The endpoint of a model: its address, the key that it is asked with, and what carries a request there and back.

The key comes from an environment variable and goes into one header. It is never part of a trace, a log or an error:
whatever is kept or shown goes through `without_key` first.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import Protocol
from urllib.parse import urlsplit

from qassay import net
from qassay.errors import UsageError
from qassay.net import Connections, Reply

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
_PATH = "/chat/completions"
_HIDDEN = "[key]"
_HEADER = re.compile(r"[\x21-\x7e]+")

LONGEST_REPLY = 8 << 20


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
    parts = net.address(address or OPENAI)
    if parts is None:
        raise UsageError("llm: endpoint takes an address such as http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        message = "the endpoint has a user, a password or a query; put the API key into an environment variable"
        raise UsageError(f"llm: {message} and name it: key_env=MY_KEY")
    path = parts.path.rstrip("/")
    url = f"{parts.scheme}://{parts.netloc}{path if path.endswith(_PATH) else path + _PATH}"
    is_openai = parts.hostname == urlsplit(OPENAI).hostname
    variable = key_env or (OPENAI_KEY if is_openai else None)
    host = f"{parts.hostname}" if parts.port is None else f"{parts.hostname}:{parts.port}"
    return Endpoint(url, host, variable)


def _key_of(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"llm: the variable {variable} is not set; put the API key of the endpoint into it")
    if not _HEADER.fullmatch(key):
        raise UsageError(f"llm: the API key in {variable} has spaces or other characters that no key has; set it again")
    return key


class Carrier(Protocol):
    """Carries requests to one endpoint; belongs to one event loop."""

    def room(self, parallel: int) -> int:
        """How many requests may be under way at once: as many as wanted, or fewer."""

    async def post(self, body: bytes, seconds: float) -> Reply:
        """The reply to a request; a NoReplyError where none comes."""

    async def close(self) -> None:
        """End what it keeps open."""


def connections(endpoint: Endpoint) -> Connections:
    """Connections of this process to an endpoint."""
    return Connections(endpoint.url, endpoint.headers(), LONGEST_REPLY)
