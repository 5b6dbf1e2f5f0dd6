"""The application put together, the checks around every request, and the connections that it is served on.

The middleware is outside of the framework, so that an error of any kind is answered with the same headers. A
connection ends where the other side sends, or reads, a byte at a time: the server underneath waits for a request's head
as long as its sender likes, and takes one of any length. Bodies have limits of their own in the guard (`guard.py`).
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qassay._version import __version__
from qassay.errors import QassayError
from qassay.formats.folder import open_folder, read_configuration
from qassay.store.engine import Store, open_store
from qassay.web import health, pages, single_sign_on
from qassay.web.errors import GoTo, Refusal, answer
from qassay.web.guard import SAFE
from qassay.web.logs import log
from qassay.web.site import Settings, Site

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
else:
    # Where there is no httptools (Windows), h11, which limits the length of a head by itself.
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as Protocol

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
# How a request is logged whose sender went away before it was read.
GONE = 499
_HOST = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")
GRACE_SECONDS = 10
MOST_REQUESTS = 1000
# Connections that wait for the head of a request; with one more, the one that has waited longest gives way.
MOST_WAITING = 500
# Bytes of a request's address and headers together.
HEAD_LIMIT = 64 * 1024


def create_app(folder: Path | str, settings: Settings | None = None, *, store: Store | None = None) -> FastAPI:
    """The application for the evaluation in a folder, which has a store.

    The store is opened here and closed when the application ends, unless it is handed in.
    """
    opened = open_folder(folder)
    site = Site(
        folder=opened,
        store=store or open_store(opened),
        configuration=read_configuration(opened),
        settings=settings or Settings(),
    )

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        for value in site.memory.values():
            if callable(close := getattr(value, "close", None)):
                close()
        site.memory.clear()
        if store is None:
            site.store.close()

    app = FastAPI(title="Qassay", version=__version__, lifespan=life, openapi_url=None, docs_url=None, redoc_url=None)
    app.router.redirect_slashes = False
    app.state.site = site
    app.state.pages = pages.load()
    if site.settings.sign_on is not None:
        single_sign_on.check_installed()
    # A request is compared with one route after the other: those of people who judge come first.
    modules = sorted(app.state.pages, key=lambda name: not name.startswith("judging"))
    for router in (*(app.state.pages[name].router for name in modules), health.router, single_sign_on.router):
        app.router.routes.extend(router.routes)
    for kind in (Refusal, GoTo, QassayError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, answer)
    app.add_middleware(SecurityMiddleware, site=site)
    return app


class SecurityMiddleware:
    """Checks the host, adds the headers, answers what nobody else answered, counts and logs."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self.app = app
        self.site = site
        secure = {"Strict-Transport-Security": "max-age=31536000"} if site.settings.is_secure else {}
        self._headers = {name.lower().encode(): value.encode() for name, value in {**HEADERS, **secure}.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope["qassay.id"] = secrets.token_hex(8)
        scope.setdefault("state", {})
        begun, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = self._with_headers(scope, message["headers"])
            await send(message)

        try:
            refused = self._refused(scope)
            await (refused or self.app)(scope, receive, sending)
        except ClientDisconnect:
            status = GONE  # nobody is left to answer
        except Exception as error:  # the last place before the server: everything gets an answer
            if status:
                log.error("failed while answering", exc_info=error, extra={"request": scope["qassay.id"]})
                raise
            await answer(Request(scope), error)(scope, receive, sending)
        finally:
            self._note(scope, status, time.perf_counter() - begun)

    def _refused(self, scope: Scope) -> Response | None:
        """The answer to a request that is not for us, or to nobody's liking.

        That to another host is a plain one: the page that asks may be somebody else's.
        """
        sent = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        match = _HOST.fullmatch(sent[0]) if len(sent) == 1 else None
        if match is None or not self.site.settings.accepts_host(match["host"].strip("[]")):
            message = "This server does not answer for that host; see --public-url of: qassay serve --help\n"
            return PlainTextResponse(message, 400)
        if "\0" in scope["path"] or b"%00" in scope.get("query_string", b"") or b"\0" in scope.get("query_string", b""):
            return answer(Request(scope), Refusal(400, "the address contains a null character"))
        return None

    def _with_headers(self, scope: Scope, sent: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """The headers of an answer with ours, in place of its own of these names."""
        headers = [header for header in sent if header[0].lower() not in self._headers]
        headers += self._headers.items()
        headers.append((b"x-request-id", scope["qassay.id"].encode()))
        if all(name.lower() != b"cache-control" for name, _ in headers):
            headers.append((b"cache-control", b"no-store"))
        return headers

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in (*SAFE, "POST", "PUT", "PATCH", "DELETE") else "OTHER"
        route = getattr(scope.get("route"), "path", "(none)")
        person = scope["state"].get("person")
        details: dict[str, Any] = {"request": scope["qassay.id"], "method": method, "route": route, "status": status}
        details |= {"milliseconds": round(seconds * 1000, 1), "account": person.id if person else None}
        self.site.metrics.request(method, route, status, seconds)
        log.info("request", extra=details)


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
    """A connection that is closed where the other side is too slow.

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
