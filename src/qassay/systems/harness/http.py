"""A system behind an HTTP address: the question as JSON in a POST, the answer as JSON in the response.

Nothing but the address that the user has named is spoken to: no redirect is followed and no proxy is used.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from qassay.direct import PASSING, direct
from qassay.systems.harness.failures import CallError
from qassay.systems.harness.wire import read_answer, request
from qassay.systems.records import Answer, Asked

LONGEST_BODY = 16 << 20
_LONGEST_WAIT = 60.0


class HttpCaller:
    """Posts to one address. It keeps nothing between two questions."""

    def __init__(self, url: str, *, token: str | None = None) -> None:
        self._url = url
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """Post the question and read the answer."""
        return read_answer(self.post(request(asked), timeout), asked.question)

    def close(self) -> None:
        """Nothing to close."""

    def abort(self) -> None:
        """Nothing to end."""

    def post(self, body: Mapping[str, Any], timeout: float) -> bytes:
        """The body of the response; every other outcome is a failure that says what happened."""
        deadline = time.monotonic() + timeout
        data = json.dumps(body, ensure_ascii=False).encode()
        sent = urllib.request.Request(self._url, data, self._headers, method="POST")  # noqa: S310  # http(s): checked
        try:
            with direct().open(sent, timeout=timeout) as response:
                read = _within(response, deadline, timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise _refused(error) from None
        except TimeoutError:
            raise CallError("timeout", f"no answer within {timeout:g} s") from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise CallError("timeout", f"no answer within {timeout:g} s") from None
            raise CallError("unreachable", f"{self._url} cannot be reached: {error.reason}") from None
        except (OSError, http.client.HTTPException) as error:
            raise CallError("crash", f"the connection broke: {error or type(error).__name__}") from None
        if len(read) > LONGEST_BODY:
            raise CallError("form", f"its answer has more than {LONGEST_BODY >> 20} MiB")
        return read


def _within(response: Any, deadline: float, timeout: float) -> bytes:
    """The body, piece by piece: a time-out of the socket alone would let a server drip for ever."""
    pieces: list[bytes] = []
    while piece := response.read1(1 << 16):
        pieces.append(piece)
        if time.monotonic() > deadline:
            raise CallError("timeout", f"no whole answer within {timeout:g} s")
        if sum(map(len, pieces)) > LONGEST_BODY:
            break
    return b"".join(pieces)


def _refused(error: urllib.error.HTTPError) -> CallError:
    """What a status other than 200 means."""
    text = error.read(500).decode("utf-8", errors="replace").strip().replace("\n", " ")
    status = f"status {error.code} {error.reason}".strip()
    if 300 <= error.code < 400:
        message = f"{status}: it points to {error.headers.get('Location')}, which was not named; name it to use it"
        return CallError("refused", message, again=False, fatal=True)
    message = f"{status}{': ' + text[:200] if text else ''}"
    if error.code in PASSING:
        return CallError("unreachable", message, wait=_seconds(error.headers.get("Retry-After")))
    fatal = error.code in (401, 403, 404, 405, 407)
    return CallError("refused", message, again=False, fatal=fatal)


def _seconds(value: str | None) -> float | None:
    """The wait that the other side asks for, where it gives seconds."""
    return min(float(value), _LONGEST_WAIT) if value and value.strip().isdigit() else None
