"""The endpoint of a model: its address, and the key that it is asked with.

The key comes from an environment variable and goes into one header. It is never part of a trace, a log or an error:
whatever is kept or shown goes through `without_key` first.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from qassay.errors import UsageError

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
_PATH = "/chat/completions"
_HIDDEN = "[key]"
_HEADER = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked, over the protocol of OpenAI's chat completions."""

    url: str
    host: str
    # The variable that the key came from; None where no key is sent.
    key_env: str | None = None
    _key: str | None = field(default=None, repr=False)

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
    """The endpoint at an address, OpenAI's where none is given, with the key of an environment variable.

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
    return Endpoint(url, host if port is None else f"{host}:{port}", variable, _key_of(variable))


def _key_of(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError(f"llm: the variable {variable} is not set; put the API key of the endpoint into it")
    if not _HEADER.fullmatch(key):
        raise UsageError(f"llm: the API key in {variable} has spaces or other characters that no key has; set it again")
    return key
