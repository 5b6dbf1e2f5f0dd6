"""HTTP to the address that the user has named, and to no other: no redirect is followed and no proxy is used.

A redirect would carry the questions, and a password or token, to a server that nobody named. The time-out is one for
the whole response: that of a socket starts again with every byte, and a server could send one now and then for ever.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.message import Message
from types import TracebackType
from typing import IO, Any, Final

# Statuses of a server that is too busy, still starting, or lost behind a proxy: the same request may be answered later.
BUSY: Final = frozenset({408, 425, 429, 502, 503, 504, 529})
# The same, with the mistake of a program that may not be made twice.
PASSING: Final = BUSY | {500}
# Bytes per second of a slow line: a request may take the time-out, and a second more for each time that many bytes.
SLOW_LINE: Final = 16 * 1024


def direct() -> urllib.request.OpenerDirector:
    """An opener of requests to the named address only, whose time-out is for the whole response."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect, _Plain, _Secure)


def refusal_text(error: urllib.error.HTTPError, most: int) -> str:
    """The beginning of what a server says with a status that is an error; nothing where it breaks off."""
    with error:
        try:
            return error.read(most).decode("utf-8", errors="replace")
        except (OSError, http.client.HTTPException):
            return ""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect as the response it is."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        """Follow nothing."""


class _Watch:
    """Ends a connection that takes longer than it may; what was done with it then is a TimeoutError."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._timer: threading.Timer | None = None
        self._is_over = False

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._is_over:
            raise TimeoutError("timed out") from None

    def hold(self, line: socket.socket) -> None:
        """Watch this connection; a duplicate stays usable whatever TLS makes of the socket."""
        self._line = line.dup()

    def start(self, seconds: float) -> None:
        """Let it take this many seconds from now on."""
        self._cancel()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Watch no more."""
        self._cancel()
        if self._line is not None:
            self._line.close()

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        self._is_over = True
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)


class _Response(http.client.HTTPResponse):
    """A response that is watched until it is closed."""

    watch: _Watch

    def begin(self) -> None:
        """Read status and headers."""
        with self.watch:
            super().begin()

    def read(self, amt: int | None = None) -> bytes:
        """Read the body, or this many bytes of it."""
        with self.watch:
            return super().read(amt)

    def read1(self, n: int = -1) -> bytes:
        """Read what has come."""
        with self.watch:
            return super().read1(n)

    def close(self) -> None:
        """End the response, and its watch."""
        self.watch.stop()
        super().close()


class _Connection(http.client.HTTPConnection):
    """A connection for one request, watched from the moment that it is made."""

    def __init__(self, host: str, *options: Any, **more: Any) -> None:
        super().__init__(host, *options, **more)
        self._watch = _Watch()
        assert self.timeout is not None  # who opens an address says how long it may take
        self._seconds = self.timeout
        self._sending = self._seconds
        self._is_answered = False
        self.response_class = self._responding  # type: ignore[assignment]  # it is called, and nothing else

    def request(
        self, method: str, url: str, body: Any = None, headers: Mapping[str, Any] | None = None, **options: Any
    ) -> None:
        """Send a request; a long one may take longer."""
        self._sending = self._seconds + len(body or b"") / SLOW_LINE
        with self._watch:
            super().request(method, url, body, headers or {}, **options)

    def connect(self) -> None:
        """Connect, and watch the connection before TLS begins on it."""
        super().connect()
        self._watch.hold(self.sock)
        self._watch.start(self._sending)

    def close(self) -> None:
        """Close the connection; a response that there is goes on with it."""
        if not self._is_answered:
            self._watch.stop()
        super().close()

    def _responding(self, sock: socket.socket, *options: Any, **more: Any) -> http.client.HTTPResponse:
        response = _Response(sock, *options, **more)
        self._is_answered, response.watch = True, self._watch
        self._watch.start(self._seconds)
        return response


class _SecureConnection(http.client.HTTPSConnection, _Connection):
    """The same with TLS."""


class _Plain(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open a connection without TLS."""
        return self.do_open(_Connection, req)


class _Secure(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open a connection with TLS."""
        return self.do_open(_SecureConnection, req)
