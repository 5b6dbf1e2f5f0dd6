"""Single sign-on with OpenID Connect: authorization code, PKCE, state and nonce.

A person who signs in this way is known by issuer and subject, which an invitation binds to an account; an identity
provider alone opens no door. A try begins on our own page (a POST, guarded like every change) and is remembered here
under a cookie that the browser brings back; it is used once. Needs the extra `sso`.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote, urlencode

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from qassay import net
from qassay.errors import UsageError
from qassay.extras import require
from qassay.store.people import Account, accept_invitation, clean_name, find_account, find_subject
from qassay.web.errors import Refusal
from qassay.web.guard import client_address, cookie_rules
from qassay.web.pages.sign_in import begin, own_path
from qassay.web.rendering import render
from qassay.web.routing import PUBLIC, Context, Input, Router, TheSite
from qassay.web.site import BY_ADDRESS, SignOn, Site

LEEWAY_SECONDS: Final = 60
# Signatures that a provider makes with a key of its own; one made with a shared secret, or none, is not among them.
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
# What somebody is called here, the first that is there and free.
NAMES: Final = ("name", "preferred_username", "email")
ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
NOT_UNDERSTOOD: Final = "the identity provider's answer is not understood"
FAILED: Final = "single sign-on did not succeed; try again, or ask the organiser"
router = Router()
PATH: Final = "/single-sign-on"
TRY_SECONDS: Final = 600
# What the provider may take for an answer: seconds, and bytes.
TIMEOUT: Final = 10.0
LONGEST_ANSWER: Final = 1 << 20
MOST_TRIES: Final = 10_000


class Provider:
    """An identity provider."""

    def __init__(self, sign_on: SignOn) -> None:
        self.sign_on = sign_on

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The provider's metadata, fetched once."""
        issuer = self.sign_on.issuer
        metadata = _ask(issuer.rstrip("/") + "/.well-known/openid-configuration")
        if metadata.get("issuer") != issuer:
            raise Refusal(502, f"the identity provider calls itself {metadata.get('issuer')!r}, not {issuer!r}")
        if not all(isinstance(metadata.get(name), str) for name in ENDPOINTS):
            raise Refusal(502, NOT_UNDERSTOOD)
        return metadata

    def exchange(self, code: str, *, verifier: str, redirect_uri: str) -> dict[str, Any]:
        """The provider's answer to a code: its signed word on who it is, and leave to ask for more."""
        client, secret = self.sign_on.client, self.sign_on.secret
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": client,
            "code_verifier": verifier,
        }
        login = f"{quote(client, safe='')}:{quote(secret, safe='')}" if secret else ""
        authorization = login and f"Basic {base64.b64encode(login.encode()).decode()}"
        return _ask(self.metadata["token_endpoint"], form=sent, authorization=authorization)

    def claims(self, token: object, *, nonce: str) -> dict[str, Any]:
        """The content of a token, where the signature is the provider's and it was made for us and this try."""
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        if not isinstance(token, str):
            raise Refusal(403, FAILED)
        client = self.sign_on.client
        keys: Any = _ask(self.metadata["jwks_uri"])
        rules = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": self.sign_on.issuer},
            aud={"essential": True, "value": client},
            nonce={"essential": True, "value": nonce},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
        )
        try:
            claims: dict[str, Any] = jwt.decode(token, KeySet.import_key_set(keys), algorithms=ALGORITHMS).claims
            rules.validate(claims)
        except (JoseError, ValueError, TypeError, KeyError):
            raise Refusal(403, FAILED) from None
        # With several audiences the token says which of them it was made for.
        if claims.get("azp", client) != client or not isinstance(claims["sub"], str) or not claims["sub"]:
            raise Refusal(403, FAILED)
        return claims

    def with_names(self, claims: dict[str, Any], token: object) -> dict[str, Any]:
        """The claims with the names that a provider sends separately: they need not be in what it signs."""
        at = self.metadata.get("userinfo_endpoint")
        if not isinstance(at, str) or not isinstance(token, str):
            return claims
        names = _ask(at, authorization=f"Bearer {token}")
        if names.get("sub") != claims["sub"]:
            raise Refusal(403, FAILED)
        return {key: names.get(key) for key in NAMES} | claims


def _ask(at: str, *, form: Mapping[str, str] | None = None, authorization: str | None = None) -> dict[str, Any]:
    """A JSON object from the provider; a refusal where it is away or says no."""
    headers = {"Accept": "application/json"} | ({"Authorization": authorization} if authorization else {})
    body = None
    if form is not None:
        body = urlencode(form).encode()
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    method = "GET" if form is None else "POST"
    try:
        reply = net.exchange(method, at, headers=headers, body=body, seconds=TIMEOUT, most=LONGEST_ANSWER)
        content = reply.json() if reply.status < 300 else None
    except (net.NoReplyError, ValueError):
        content = None
    if content is None:
        raise Refusal(502, "the identity provider cannot be reached or refused; try again later")
    if not isinstance(content, dict):
        raise Refusal(502, NOT_UNDERSTOOD)
    return content


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to sign in, from the button to the provider's answer."""

    state: str
    nonce: str
    verifier: str
    then: str
    token: str | None
    until: float


@dataclass
class PendingSignOns:
    """The provider, and the tries under way."""

    provider: Provider
    tries: dict[str, Attempt] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, attempt: Attempt) -> str:
        """Remember a try; the handle goes into a cookie."""
        handle = secrets.token_urlsafe(32)
        with self.lock:
            self.tries = {key: earlier for key, earlier in self.tries.items() if earlier.until > time.monotonic()}
            if len(self.tries) >= MOST_TRIES:
                raise Refusal(503, "too many people are signing in; try again in some minutes")
            self.tries[handle] = attempt
        return handle

    def take(self, handle: str | None, state: str) -> Attempt:
        """The try of this browser, once; an error where there is none, or the answer belongs to another."""
        with self.lock:
            attempt = self.tries.pop(handle or "", None)
        if attempt is None or attempt.until <= time.monotonic() or not secrets.compare_digest(attempt.state, state):
            raise Refusal(400, "this sign-in has ended or was begun in another browser; please sign in again")
        return attempt


class Beginning(Input):
    """Where to go afterwards, and the token of an invitation where one is used."""

    then: str = Field(default="/", max_length=2000)
    token: str | None = Field(default=None, max_length=100)


class Address(Context):
    """Where to go to sign in."""

    address: str


def check_installed() -> None:
    """An error that says what to install, where the extra is missing."""
    require("sso", "single sign-on (QASSAY_SSO_ISSUER)")


@router.action("POST", PATH, roles=PUBLIC)
def begin_try(site: TheSite, request: Request, response: Response, sent: Beginning) -> Address:
    """Begin to sign in: where the provider's page is."""
    site.limits.count(BY_ADDRESS, "sign-on address", client_address(request, site))
    pending = _pending(site)
    attempt = Attempt(
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(48),
        then=own_path(sent.then),
        token=sent.token,
        until=time.monotonic() + TRY_SECONDS,
    )
    at = pending.provider.metadata["authorization_endpoint"]
    challenge = base64.urlsafe_b64encode(hashlib.sha256(attempt.verifier.encode()).digest()).decode().rstrip("=")
    parameters = {
        "response_type": "code",
        "client_id": pending.provider.sign_on.client,
        "redirect_uri": _redirect_uri(site, request),
        "scope": "openid profile email",
        "state": attempt.state,
        "nonce": attempt.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    # Lax: the provider's page sends the browser back to us, and this cookie has to come along.
    response.set_cookie(_cookie(site), pending.begin(attempt), max_age=TRY_SECONDS, **cookie_rules(site, "lax"))
    return Address(address=f"{at}{'&' if '?' in at else '?'}{urlencode(parameters)}")


@router.download(PATH, roles=PUBLIC)
def finish_try(
    site: TheSite,
    request: Request,
    state: str = Query("", max_length=200),
    code: str = Query("", max_length=4000),
    iss: str | None = Query(None, max_length=2000),
) -> Response:
    """Where the provider sends the browser back to."""
    provider = _pending(site).provider
    attempt = _pending(site).take(request.cookies.get(_cookie(site)), state)
    # A provider may say that the answer is its own (RFC 9207).
    if not code or iss not in (None, provider.sign_on.issuer):
        raise Refusal(403, FAILED)
    answered = provider.exchange(code, verifier=attempt.verifier, redirect_uri=_redirect_uri(site, request))
    claims = provider.claims(answered.get("id_token"), nonce=attempt.nonce)
    if attempt.token is not None and not any(_name(claims.get(key)) for key in NAMES):
        claims = provider.with_names(claims, answered.get("access_token"))
    account = _account(site, attempt, claims)
    # A page and not a redirect: the session's cookie is strict, and browsers keep it back from a redirect that began
    # at another site.
    response = render(request, "signed_in.html", {"then": attempt.then, "name": account.name})
    response.delete_cookie(_cookie(site), **cookie_rules(site, "lax"))
    begin(site, request, response, account.id)
    return response


def _account(site: Site, attempt: Attempt, claims: dict[str, Any]) -> Account:
    """The account of an identity; with an invitation, the account that it gets."""
    subject = f"{claims['iss']}|{claims['sub']}"
    if len(subject) > 500:
        raise Refusal(403, FAILED)
    with site.store.write() as connection:
        account = find_subject(connection, subject)
        if account is None and attempt.token is not None:
            names = [_name(claims.get(key)) for key in (*NAMES, "sub")]
            free = (name for name in names if name is not None and find_account(connection, name)[0] is None)
            account = accept_invitation(connection, attempt.token, name=next(free, None), subject=subject)
    if account is None:
        raise Refusal(403, "you have no account here; an organiser has to invite you first")
    if not account.active:
        raise Refusal(403, "your access has ended; ask an organiser")
    return account


def _name(claimed: object) -> str | None:
    try:
        return clean_name(claimed) if isinstance(claimed, str) else None
    except UsageError:
        return None


def _pending(site: Site) -> PendingSignOns:
    if site.settings.sign_on is None:
        raise Refusal(404, "single sign-on is not set up")
    pending: PendingSignOns = site.memory.setdefault("single_sign_on", PendingSignOns(Provider(site.settings.sign_on)))
    return pending


def _cookie(site: Site) -> str:
    return site.settings.cookie + "-sign-on"


def _redirect_uri(site: Site, request: Request) -> str:
    return (site.settings.origin or f"http://{request.headers['host']}") + PATH
