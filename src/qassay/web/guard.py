"""What happens between a matching route and its view: who is it, may they, and is the body fit to be read.

All of it happens before the body is read, so that a stranger cannot make the server read an upload.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import quote

from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from qassay.web.errors import GoTo, Refusal, wants_json
from qassay.web.identity import identify
from qassay.web.limits import check_json, limited, too_long
from qassay.web.security import SAFE, check_origin
from qassay.web.site import Person, Site

PUBLIC = "public"
UPLOADS = ("multipart/form-data", "application/octet-stream")
# Bytes that are read of somebody who is not signed in: a name and a password take less.
STRANGER_LIMIT = 128 * 1024


class GuardedRoute(APIRoute):
    """A route with the roles that may use it."""

    def __init__(self, path: str, endpoint: Callable[..., Any], *, roles: frozenset[str], upload: bool, **more: Any):
        if not roles:
            raise ValueError(f"{path}: no route without roles")
        self.roles = roles
        self.upload = upload
        super().__init__(path, endpoint, **more)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The view behind its guard."""
        view = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            site: Site = request.app.state.site
            try:
                person = await run_in_threadpool(identify, request, site)
            except Refusal:
                if PUBLIC not in self.roles:
                    raise
                person = None  # the door is open to whoever cannot be identified as well
            request.state.who = person
            if request.method not in SAFE and (person is None or person.token is None):
                check_origin(request, site)
            _admit(request, person, self.roles)
            fit = await _with_body(request, site, upload=self.upload)
            try:
                return await view(fit)
            except HTTPException as error:
                # What ends a body while the framework reads it comes as one word: "the body cannot be parsed".
                if isinstance(error.__cause__, Refusal | ClientDisconnect):
                    raise error.__cause__ from None
                raise

        return guarded


def _admit(request: Request, person: Person | None, roles: frozenset[str]) -> None:
    if PUBLIC in roles or (person is not None and person.role in roles):
        return
    if person is not None:
        raise Refusal(403, f"this is not for the role you have ({person.role})")
    if wants_json(request) or request.method != "GET":
        raise Refusal(401, "sign in first", headers={"WWW-Authenticate": "Bearer"})
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    raise GoTo("/sign-in" + (f"?then={quote(wanted, safe='/')}" if wanted != "/" else ""))


async def _with_body(request: Request, site: Site, *, upload: bool) -> Request:
    """The request with a body that is limited in size, time and depth."""
    settings = site.settings
    most = settings.upload_limit if upload else settings.body_limit
    if request.state.who is None:
        most = min(most, STRANGER_LIMIT)
    announced = request.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > most:
        raise too_long(most)
    receive = limited(request.receive, most=most, seconds=settings.body_seconds, rate=settings.body_rate)
    guarded = Request(request.scope, receive)
    if request.method in SAFE:
        return guarded
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if upload and kind in UPLOADS:
        return guarded
    body = await guarded.body()
    if body and kind != "application/json":
        taken = ", ".join(("application/json", *(UPLOADS if upload else ())))
        raise Refusal(415, f"the body is {kind or 'of no type'}; this address takes {taken}")
    check_json(body, deepest=settings.depth_limit)
    return guarded
