"""The checks between a matching route and its view: who is it, may they, and is the body fit to be read.

All of it happens before the body is read, so that a stranger cannot make the server read an upload. A request comes to
an account by a token, the header of a trusted proxy, or the session of a browser.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import quote

from fastapi.routing import APIRoute
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Message, Receive

from qassay.store.people import admit_invited, find_subject, is_invited
from qassay.store.people.sessions import find_session, find_token, note_session, note_token
from qassay.web.errors import GoTo, Refusal, cannot_be_written, is_busy, wants_json
from qassay.web.site import Person, Site

SAFE = ("GET", "HEAD", "OPTIONS")
PUBLIC = "public"
UPLOADS = ("multipart/form-data", "application/octet-stream")
# Bytes that are read of somebody who is not signed in: a name and a password take less.
STRANGER_LIMIT = 128 * 1024
_CLOSE = {"Connection": "close"}
# A string that does not end takes the rest with it: searched again from every quote, it would cost the square.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_NULL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
# Escapes one after the other: a pair of surrogates, one alone (marked), any other.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<alone>\\u[dD][89a-fA-F])|\\.", re.DOTALL
)


class GuardedRoute(APIRoute):
    """A route with the roles that may use it."""

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        roles: frozenset[str],
        upload: bool = False,
        **more: Any,
    ) -> None:
        self.roles, self.upload = roles, upload
        super().__init__(path, endpoint, **more)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The view behind its guard."""
        view = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            site: Site = request.app.state.site
            await run_in_threadpool(self._let_in, request, site)
            fit = await _with_body(request, site, upload=self.upload)
            try:
                return await view(fit)
            except HTTPException as error:
                # What ends a body while the framework reads it comes as one word: "the body cannot be parsed".
                if isinstance(error.__cause__, Refusal | ClientDisconnect):
                    raise error.__cause__ from None
                raise

        return guarded

    def _let_in(self, request: Request, site: Site) -> Person | None:
        """Find out who asks, and refuse where they may not."""
        try:
            person = identify(request, site)
        except Refusal:
            if PUBLIC not in self.roles:
                raise
            person = None  # the door is open to people who cannot be identified as well
        request.state.person = person
        if request.method not in SAFE and (person is None or person.token is None):
            check_origin(request, site)
        _admit(request, person, self.roles)
        return person


def _admit(request: Request, person: Person | None, roles: frozenset[str]) -> None:
    if PUBLIC in roles or (person is not None and person.role in roles):
        return
    if person is not None:
        raise Refusal(403, f"this is not for the role you have ({person.role})")
    if wants_json(request) or request.method != "GET":
        raise Refusal(401, "sign in first", headers={"WWW-Authenticate": "Bearer"})
    address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    raise GoTo("/sign-in" + (f"?then={quote(address, safe='/')}" if address != "/" else ""))


def _limited(request: Request, site: Site, most: int) -> Request:
    settings = site.settings
    receive = limited(request.receive, most=most, seconds=settings.body_seconds, rate=settings.body_rate)
    return Request(request.scope, receive)


def _check_body(request: Request, site: Site, body: bytes, *, upload: bool = False) -> None:
    """Refuse a body of another type, and JSON that is not fit to be read."""
    kind = _kind(request)
    if body and kind != "application/json":
        types = ", ".join(("application/json", *(UPLOADS if upload else ())))
        raise Refusal(415, f"the body is {kind or 'of no type'}; this address takes {types}")
    check_json(body, deepest=site.settings.depth_limit)


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _with_body(request: Request, site: Site, *, upload: bool) -> Request:
    """The request with a body that is limited in size, time and depth."""
    settings = site.settings
    most = settings.upload_limit if upload else settings.body_limit
    if request.state.person is None:
        most = min(most, STRANGER_LIMIT)
    announced = request.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > most:
        raise too_long(most)
    guarded = _limited(request, site, most)
    if request.method in SAFE or (upload and _kind(request) in UPLOADS):
        return guarded
    _check_body(request, site, await guarded.body(), upload=upload)
    return guarded


# ---- who is it -------------------------------------------------------------------------------------------------------


def identify(request: HTTPConnection, site: Site) -> Person | None:
    """Who asks; None where nobody is signed in. A token that is not (or no longer) good is refused, not ignored."""
    sent, name = request.headers.get("authorization"), header_name(request, site)
    # A proxy that asks for passwords itself passes them on: they are its own affair.
    is_for_proxy = name is not None and sent is not None and sent.lower().startswith("basic ")
    if sent is not None and not is_for_proxy:
        return _by_token(sent, site)
    if name is not None:
        return _by_header(name, site)
    secret = request.cookies.get(site.settings.cookie)
    if not secret:
        return None
    with site.store.read() as connection:
        session = find_session(connection, secret)
    if session is None:
        return None
    account, number, stale = session
    if stale:
        _note(site, note_session, number)
    return Person.of(account, session=number)


def _note(site: Site, note: Callable[[Connection, int], None], number: int) -> None:
    """Write down that a session or token was used, where the store can be written: what is there can be read anyway."""
    try:
        with site.store.write() as connection:
            note(connection, number)
    except DBAPIError as error:
        if not is_busy(error) and not cannot_be_written(error):
            raise


def header_name(request: HTTPConnection, site: Site) -> str | None:
    """The name that a trusted proxy vouches for; what anybody else sends under that header is not looked at."""
    header = site.settings.trusted_header
    if header is None or request.client is None or not site.settings.is_proxy(request.client.host):
        return None
    sent = request.headers.getlist(header)
    if len(sent) > 1:
        # A proxy that adds its header to one that a client sent is not configured to remove the latter.
        raise Refusal(400, f"the proxy sends {header} twice; it must remove what a client sends under that name")
    return sent[0].strip() or None if sent else None


def client_address(request: HTTPConnection, site: Site) -> str:
    """The address of the client: what the trusted proxy says, else that of the connection."""
    peer = request.client.host if request.client else "unknown"
    if not site.settings.is_proxy(peer):
        return peer
    sent = [part.strip() for line in request.headers.getlist("x-forwarded-for") for part in line.split(",")]
    # The last one that is not itself a proxy of ours: those before it can be made up.
    return next((part for part in reversed(sent) if part and not site.settings.is_proxy(part)), peer)[:100]


def cookie_rules(site: Site, samesite: str = "strict") -> dict[str, Any]:
    """The attributes of every cookie of the application: no script reads it, and no other site sends it along."""
    return {"path": "/", "secure": site.settings.is_secure, "httponly": True, "samesite": samesite}


def _by_token(sent: str, site: Site) -> Person:
    scheme, _, secret = sent.partition(" ")
    wrong = Refusal(401, "the token is not known or was revoked", headers={"WWW-Authenticate": "Bearer"})
    if scheme.lower() != "bearer":
        raise wrong
    with site.store.read() as connection:
        token = find_token(connection, secret.strip())
    if token is None:
        raise wrong
    account, number, stale = token
    if stale:
        _note(site, note_token, number)
    return Person.of(account, token=number)


def _by_header(name: str, site: Site) -> Person:
    with site.store.read() as connection:
        # Exactly who the proxy says: the names of accounts are chosen by people, and may be somebody else's.
        account = find_subject(connection, name)
        invited = account is None and is_invited(connection, name)
    if invited:
        with site.store.write() as connection:
            account = admit_invited(connection, name)
    if account is None or not account.active:
        raise Refusal(403, f"{name!r} has no account here; an organiser has to invite you first")
    return Person.of(account)


# ---- is the body fit to be read, and from where does it come ---------------------------------------------------------


def limited(receive: Receive, *, most: int, seconds: float, rate: int) -> Receive:
    """A body that is closed where it grows too long or comes too slowly, whatever its header says.

    It may take some seconds, and one more for every `rate` bytes that have come: a long one over a slow line takes its
    time, and one that trickles is closed.
    """
    begun = time.monotonic()
    seen = 0
    whole = False

    async def receiving() -> Message:
        nonlocal seen, whole
        if whole:  # what comes now is the news that the other side has gone
            return await receive()
        left = begun + seconds + seen / rate - time.monotonic()
        try:
            message = await asyncio.wait_for(receive(), max(0.0, left))
        except TimeoutError:
            reason = f"the request came too slowly: after {seconds:g} seconds, less than {rate:,} bytes per second"
            raise Refusal(408, reason, headers=_CLOSE) from None
        seen += len(message.get("body", b""))
        if seen > most:
            raise too_long(most)
        whole = not message.get("more_body", False)
        return message

    return receiving


def too_long(most: int) -> Refusal:
    """The answer to a body that is too long."""
    limit = f"{most // (1024 * 1024)} MiB" if most >= 1024 * 1024 else f"{most:,} bytes"
    return Refusal(413, f"the request has more than {limit}", headers=_CLOSE)


def check_json(body: bytes, *, deepest: int) -> None:
    """Refuse JSON that is nested too deeply, or contains what no database keeps in a text.

    That is a null character, and half of a surrogate pair, escaped or in bytes. What is not UTF-8 would be read in
    another encoding, past these checks.
    """
    try:
        body.decode()
    except UnicodeDecodeError:
        raise Refusal(422, "the request is not written in UTF-8") from None
    if b"\0" in body or _NULL.search(body):
        raise Refusal(422, "the request contains a null character (\\u0000)")
    if any(escape["alone"] for escape in _ESCAPE.finditer(body)):
        raise Refusal(422, "the request has half of a character: a surrogate (\\ud800 to \\udfff) without its pair")
    depth = 0
    for bracket in re.finditer(rb"[\[{\]}]", _STRING.sub(b"", body)):
        depth += 1 if bracket[0] in (b"[", b"{") else -1
        if depth > deepest:
            raise Refusal(422, f"the request is nested more than {deepest} levels deep")


def check_origin(request: Request, site: Site) -> None:
    """Refuse a change that another site's page makes a browser send along with our cookie.

    Browsers say where a change comes from (Origin), and the newer ones how it relates to us (Sec-Fetch-Site). What says
    neither is not a recent browser, and needs no cookie: programs use tokens.
    """
    fetched_from, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own_origin = site.settings.origin or f"http://{request.headers.get('host', '')}".lower()
    if origin is not None:
        if origin.lower() != own_origin:
            raise Refusal(403, "this change was sent from another site")
    elif fetched_from is None:
        raise Refusal(403, "this change does not say where it comes from; programs use a token instead of a cookie")
    if fetched_from is not None and fetched_from != "same-origin":
        raise Refusal(403, "this change was sent from another site")
