"""How connections are served: nobody holds one for ever by sending, or reading, a byte at a time.

The server underneath waits for a request's head as long as its sender likes, and takes one of any length. Bodies have
limits of their own (`limits.py`), which need no more than the application.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI

from qassay.web.settings import Settings

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
else:
    # Where there is no httptools (Windows), h11, which limits the length of a head by itself.
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as Protocol

GRACE_SECONDS = 10
MOST_REQUESTS = 1000
# Connections that wait for the head of a request; with one more, the one that has waited longest gives way.
MOST_WAITING = 500
# Bytes of a request's address and headers together.
HEAD_LIMIT = 64 * 1024


class Serving(uvicorn.Config):
    """The server's configuration for an application, and what its connections share."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(
            app,
            http=PunctualConnection,
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=GRACE_SECONDS,
            limit_concurrency=MOST_REQUESTS,
        )
        self.settings: Settings = app.state.site.settings
        # In the order in which they began to wait.
        self.waiting: dict[PunctualConnection, None] = {}


class PunctualConnection(Protocol):
    """A connection that is broken off where the other side is too slow.

    It is waited for a head, and for the rest of a body that was refused unread; and for the other side to read.
    """

    config: Serving
    _head_deadline: asyncio.TimerHandle | None = None
    _reading_deadline: asyncio.TimerHandle | None = None
    # Bytes of the head that is being received; None where none is. The piece in which it begins is not counted.
    _head: int | None = None
    _begins: bool = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as it is above
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Take a piece, of a request or of its body."""
        if self._is_idle():
            self._wait_for_head()
        self._begins = False
        super().data_received(data)
        if not self._is_idle():
            self._stop_waiting()
        # Also while an answer is under way: the next request may be sent before it is read.
        if self._head is not None and not self._begins:
            self._head += len(data)
            if self._head > HEAD_LIMIT:
                self._refuse_head()

    def on_message_begin(self) -> None:
        """Count what comes from here on."""
        self._head, self._begins = 0, True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Count no longer."""
        self._head = None
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """The other side does not read what was written: it is waited for."""
        super().pause_writing()
        self._reading_deadline = self.loop.call_later(self.config.settings.reading_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads."""
        self._is_read()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop_waiting()
        self._is_read()
        super().connection_lost(exc)

    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete

    def _wait_for_head(self) -> None:
        if self._head_deadline is None and not self.transport.is_closing():
            waiting = self.config.waiting
            self._head_deadline = self.loop.call_later(self.config.settings.head_seconds, self._give_up)
            waiting[self] = None
            if len(waiting) > MOST_WAITING:
                next(iter(waiting))._give_up()

    def _stop_waiting(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None
        self.config.waiting.pop(self, None)

    def _is_read(self) -> None:
        if self._reading_deadline is not None:
            self._reading_deadline.cancel()
            self._reading_deadline = None

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()

    def _refuse_head(self) -> None:
        if not self._is_idle():
            self.transport.abort()
            return
        head = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        self.transport.write(head)
        self.transport.close()
