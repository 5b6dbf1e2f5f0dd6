"""Single sign-on with OpenID Connect: authorization code, PKCE, state and nonce.

Who signs in so is known by issuer and subject, which an invitation binds to an account; an identity provider alone
opens no door. A try is begun by our own page (a POST, guarded like every change) and remembered here under a cookie
that the browser brings back; it is used once. Needs the extra `sso`.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from qassay.errors import InputError, Problem, UsageError
from qassay.store.people.accounts import Account, accept_invitation, clean_name, find_account, find_subject
from qassay.web.errors import Refusal
from qassay.web.identity import client_address
from qassay.web.limits import BY_ADDRESS
from qassay.web.pages.sign_in import begin, own_path
from qassay.web.place import Premises
from qassay.web.rendering import render
from qassay.web.routing import PUBLIC, Context, Input, Place, Router
from qassay.web.settings import SignOn

if TYPE_CHECKING:
    import httpx

router = Router()

PATH: Final = "/single-sign-on"
TRY_SECONDS: Final = 600
MOST_TRIES: Final = 10_000
LEEWAY_SECONDS: Final = 60
# Signatures that a provider makes with a key of its own; one made with a shared secret, or none, is not among them.
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
FAILED: Final = "single sign-on did not succeed; try again, or ask the organiser"


@dataclass(frozen=True, slots=True)
class Try:
    """One try to sign in, from the button to the provider's answer."""

    state: str
    nonce: str
    verifier: str
    then: str
    token: str | None
    until: float


@dataclass
class Desk:
    """The tries under way, and what the provider says of itself."""

    tries: dict[str, Try] = field(default_factory=dict)
    metadata: dict[str, Any] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, one: Try) -> str:
        """Remember a try; the handle goes into a cookie."""
        handle = secrets.token_urlsafe(32)
        with self.lock:
            self.tries = {key: kept for key, kept in self.tries.items() if kept.until > time.monotonic()}
            if len(self.tries) >= MOST_TRIES:
                raise Refusal(503, "too many people are signing in; try again in some minutes")
            self.tries[handle] = one
        return handle

    def take(self, handle: str | None, state: str) -> Try:
        """The try of this browser, once; an error where there is none, or the answer belongs to another."""
        with self.lock:
            found = self.tries.pop(handle or "", None)
        if found is None or found.until <= time.monotonic() or not secrets.compare_digest(found.state, state):
            raise Refusal(400, "this try to sign in is over or was begun in another browser; begin anew")
        return found


class Beginning(Input):
    """Where to go afterwards, and the token of an invitation where one is used."""

    then: str = Field(default="/", max_length=2000)
    token: str | None = Field(default=None, max_length=100)


class Address(Context):
    """Where to go to sign in."""

    address: str


def check_installed() -> None:
    """An error that says what to install, where the extra is missing."""
    from importlib.util import find_spec

    if find_spec("joserfc") is None or find_spec("httpx") is None:
        message = "single sign-on needs more packages; install them with: pip install 'qassay[sso]'"
        raise InputError(Problem("configuration", message, "QASSAY_SSO_ISSUER"))


@router.action("POST", PATH, roles=PUBLIC)
def begin_try(place: Place, request: Request, response: Response, sent: Beginning) -> Address:
    """Begin to sign in: where the provider's page is."""
    place.limits.count(BY_ADDRESS, "sign-on address", client_address(request, place))
    sign_on, desk = _sign_on(place), _desk(place)
    one = Try(
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(48),
        then=own_path(sent.then),
        token=sent.token,
        until=time.monotonic() + TRY_SECONDS,
    )
    at = str(_metadata(place)["authorization_endpoint"])
    challenge = base64.urlsafe_b64encode(hashlib.sha256(one.verifier.encode()).digest()).decode().rstrip("=")
    asked = {
        "response_type": "code",
        "client_id": sign_on.client,
        "redirect_uri": _redirect_uri(place, request),
        "scope": "openid profile email",
        "state": one.state,
        "nonce": one.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    # Lax: the provider's page sends the browser back to us, and this cookie has to come along.
    response.set_cookie(
        _cookie(place),
        desk.begin(one),
        max_age=TRY_SECONDS,
        path="/",
        secure=place.settings.is_secure,
        httponly=True,
        samesite="lax",
    )
    return Address(address=f"{at}{'&' if '?' in at else '?'}{urlencode(asked)}")


@router.download(PATH, roles=PUBLIC)
def finish_try(
    place: Place,
    request: Request,
    state: str = Query("", max_length=200),
    code: str = Query("", max_length=4000),
) -> Response:
    """Where the provider sends the browser back to."""
    one = _desk(place).take(request.cookies.get(_cookie(place)), state)
    if not code:
        raise Refusal(403, FAILED)
    claims = _claims(place, one, _fetch_token(place, request, one, code))
    account = _account(place, one, claims)
    # A page and not a redirect: the session's cookie is strict, and browsers keep it back from a redirect that began
    # at another site.
    response = render(request, "signed_in.html", {"then": one.then, "name": account.name})
    response.delete_cookie(_cookie(place), path="/", secure=place.settings.is_secure, httponly=True, samesite="lax")
    begin(place, request, response, account.id)
    return response


def _account(place: Premises, one: Try, claims: dict[str, Any]) -> Account:
    """Whose identity this is; with an invitation, whose it becomes."""
    subject = f"{claims['iss']}|{claims['sub']}"
    if len(subject) > 500:
        raise Refusal(403, FAILED)
    with place.store.write() as connection:
        known = find_subject(connection, subject)
        if known is None and one.token is not None:
            names = [_name(claims.get(key)) for key in ("name", "preferred_username", "email")]
            free = (name for name in names if name is not None and find_account(connection, name)[0] is None)
            known = accept_invitation(connection, one.token, name=next(free, None), subject=subject)
    if known is None:
        raise Refusal(403, "you have no account here; an organiser has to invite you first")
    if not known.active:
        raise Refusal(403, "your access has ended; ask an organiser")
    return known


def _name(claimed: object) -> str | None:
    try:
        return clean_name(claimed) if isinstance(claimed, str) else None
    except UsageError:
        return None


def _fetch_token(place: Premises, request: Request, one: Try, code: str) -> str:
    """The provider's signed word on who it is, in exchange for the code."""
    sign_on = _sign_on(place)
    sent = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": _redirect_uri(place, request),
        "client_id": sign_on.client,
        "code_verifier": one.verifier,
    }
    at = str(_metadata(place)["token_endpoint"])
    auth = (quote(sign_on.client, safe=""), quote(sign_on.secret, safe="")) if sign_on.secret else None
    with _http(auth) as provider:
        answered = _json(lambda: provider.post(at, data=sent))
    token = answered.get("id_token")
    if not isinstance(token, str):
        raise Refusal(403, FAILED)
    return token


def _claims(place: Premises, one: Try, token: str) -> dict[str, Any]:
    """What a token says, where the signature is the provider's and it was made for us and this try."""
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    sign_on = _sign_on(place)
    with _http() as provider:
        at = str(_metadata(place)["jwks_uri"])
        keys = _json(lambda: provider.get(at))
    rules = jwt.JWTClaimsRegistry(
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": sign_on.issuer},
        aud={"essential": True, "value": sign_on.client},
        nonce={"essential": True, "value": one.nonce},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        claims: dict[str, Any] = jwt.decode(token, KeySet.import_key_set(keys), algorithms=ALGORITHMS).claims  # type: ignore[arg-type]
        rules.validate(claims)
    except (JoseError, ValueError, TypeError, KeyError):
        raise Refusal(403, FAILED) from None
    # With several audiences the token says which of them it was made for.
    if claims.get("azp", sign_on.client) != sign_on.client or not isinstance(claims["sub"], str) or not claims["sub"]:
        raise Refusal(403, FAILED)
    return claims


def _metadata(place: Premises) -> dict[str, Any]:
    """What the provider says of itself, asked once."""
    desk, issuer = _desk(place), _sign_on(place).issuer
    if desk.metadata is None:
        with _http() as provider:
            found = _json(lambda: provider.get(issuer.rstrip("/") + "/.well-known/openid-configuration"))
        if found.get("issuer") != issuer:
            raise Refusal(502, f"the identity provider calls itself {found.get('issuer')!r}, not {issuer!r}")
        desk.metadata = found
    return desk.metadata


def _json(ask: Any) -> dict[str, Any]:
    """A JSON object from the provider; a refusal where it is away or says no."""
    import httpx

    try:
        answered: httpx.Response = ask()
        answered.raise_for_status()
        found = answered.json()
    except (httpx.HTTPError, ValueError):
        raise Refusal(502, "the identity provider cannot be reached or refused; try again later") from None
    if not isinstance(found, dict):
        raise Refusal(502, "the identity provider's answer is not understood")
    return found


def _http(auth: tuple[str, str] | None = None) -> httpx.Client:
    import httpx

    return httpx.Client(auth=auth, timeout=10, follow_redirects=False, headers={"Accept": "application/json"})


def _sign_on(place: Premises) -> SignOn:
    if place.settings.sign_on is None:
        raise Refusal(404, "single sign-on is not set up")
    return place.settings.sign_on


def _desk(place: Premises) -> Desk:
    desk: Desk = place.kept.setdefault("single_sign_on", Desk())
    return desk


def _cookie(place: Premises) -> str:
    return place.settings.cookie + "-sign-on"


def _redirect_uri(place: Premises, request: Request) -> str:
    return (place.settings.origin or f"http://{request.headers['host']}") + PATH
