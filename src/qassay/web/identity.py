"""From a request to an account: a token, the header of a trusted proxy, or the session of a browser."""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.responses import Response

from qassay.store.people import admit_invited, find_account, find_subject, is_invited
from qassay.store.people.sessions import LONGEST, find_session, find_token, note_session, note_token
from qassay.web.errors import Refusal
from qassay.web.site import Person, Site


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
        found = find_session(connection, secret)
    if found is None:
        return None
    account, number, stale = found
    if stale:
        with site.store.write() as connection:
            note_session(connection, number)
    return Person.of(account, session=number)


def header_name(request: HTTPConnection, site: Site) -> str | None:
    """The name that a trusted proxy vouches for; what anybody else sends under that header is not looked at."""
    header = site.settings.trusted_header
    if header is None or request.client is None or not site.settings.is_proxy(request.client.host):
        return None
    sent = request.headers.getlist(header)
    if len(sent) > 1:
        # A proxy that adds its header to one that a client sent has not been told to remove the latter.
        raise Refusal(400, f"the proxy sends {header} twice; it must remove what a client sends under that name")
    return sent[0].strip() or None if sent else None


def client_address(request: HTTPConnection, site: Site) -> str:
    """The address of whoever asks: what the trusted proxy says, else that of the connection."""
    peer = request.client.host if request.client else "unknown"
    if not site.settings.is_proxy(peer):
        return peer
    named = [part.strip() for line in request.headers.getlist("x-forwarded-for") for part in line.split(",")]
    # The last one that is not itself a proxy of ours: those before it can be made up.
    return next((one for one in reversed(named) if one and not site.settings.is_proxy(one)), peer)[:100]


def set_session(response: Response, secret: str, site: Site) -> None:
    """Give the browser the secret of its session."""
    response.set_cookie(
        site.settings.cookie,
        secret,
        max_age=int(LONGEST.total_seconds()),
        path="/",
        secure=site.settings.is_secure,
        httponly=True,
        samesite="strict",
    )


def clear_session(response: Response, site: Site) -> None:
    """Take the secret back from the browser."""
    response.delete_cookie(
        site.settings.cookie, path="/", secure=site.settings.is_secure, httponly=True, samesite="strict"
    )


def _by_token(sent: str, site: Site) -> Person:
    scheme, _, secret = sent.partition(" ")
    wrong = Refusal(401, "the token is not known or was revoked", headers={"WWW-Authenticate": "Bearer"})
    if scheme.lower() != "bearer":
        raise wrong
    with site.store.read() as connection:
        found = find_token(connection, secret.strip())
    if found is None:
        raise wrong
    account, number, stale = found
    if stale:
        with site.store.write() as connection:
            note_token(connection, number)
    return Person.of(account, token=number)


def _by_header(name: str, site: Site) -> Person:
    with site.store.read() as connection:
        account = find_subject(connection, name) or find_account(connection, name)[0]
        invited = account is None and is_invited(connection, name)
    if invited:
        with site.store.write() as connection:
            account = admit_invited(connection, name)
    if account is None or not account.active:
        raise Refusal(403, f"{name!r} has no account here; an organiser has to invite you first")
    return Person.of(account)
