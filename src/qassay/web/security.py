"""What holds for every request and every response, whatever the route: hosts, headers, request ids, the log.

It stands outside of the framework, so that an error of any kind is answered with the same headers.
"""

from __future__ import annotations

import re
import secrets
import time
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qassay.web.errors import Refusal, answer
from qassay.web.logs import log
from qassay.web.site import Site

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
SAFE = ("GET", "HEAD", "OPTIONS")
_HOST = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")


class SecurityMiddleware:
    """Checks the host, adds the headers, answers what nobody else answered, counts and logs."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self.app = app
        self.site = site

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
                self._add_headers(scope, MutableHeaders(scope=message))
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
            told = "This server does not answer for that host; see --public-url of: qassay serve --help\n"
            return PlainTextResponse(told, 400)
        if "\0" in scope["path"] or b"%00" in scope.get("query_string", b"") or b"\0" in scope.get("query_string", b""):
            return answer(Request(scope), Refusal(400, "the address holds a null character"))
        return None

    def _add_headers(self, scope: Scope, headers: MutableHeaders) -> None:
        for name, value in HEADERS.items():
            headers[name] = value
        headers["X-Request-Id"] = scope["qassay.id"]
        headers.setdefault("Cache-Control", "no-store")
        if self.site.settings.is_secure:
            headers["Strict-Transport-Security"] = "max-age=31536000"

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in (*SAFE, "POST", "PUT", "PATCH", "DELETE") else "OTHER"
        route = getattr(scope.get("route"), "path", "(none)")
        who = scope["state"].get("who")
        details: dict[str, Any] = {"request": scope["qassay.id"], "method": method, "route": route, "status": status}
        details |= {"milliseconds": round(seconds * 1000, 1), "account": who.id if who else None}
        self.site.metrics.request(method, route, status, seconds)
        log.info("request", extra=details)


def check_origin(request: Request, site: Site) -> None:
    """Refuse a change that another site's page makes a browser send along with our cookie.

    Browsers say where a change comes from (Origin), and the newer ones how it relates to us (Sec-Fetch-Site). What says
    neither is no browser of the last years, and has no business with a cookie: programs use tokens.
    """
    fetched_from, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    ours = site.settings.origin or f"http://{request.headers.get('host', '')}".lower()
    if origin is not None:
        if origin.lower() != ours:
            raise Refusal(403, "this change was sent from another site")
    elif fetched_from is None:
        raise Refusal(403, "this change does not say where it comes from; programs use a token instead of a cookie")
    if fetched_from is not None and fetched_from != "same-origin":
        raise Refusal(403, "this change was sent from another site")
