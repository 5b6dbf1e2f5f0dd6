"""What is asked of an identity provider (OpenID Connect), and what of its answers is believed."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final
from urllib.parse import quote

from qassay.web.errors import Refusal
from qassay.web.settings import SignOn

LEEWAY_SECONDS: Final = 60
# Signatures that a provider makes with a key of its own; one made with a shared secret, or none, is not among them.
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
# What somebody is called here, the first that is there and free.
NAMES: Final = ("name", "preferred_username", "email")
ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
NOT_UNDERSTOOD: Final = "the identity provider's answer is not understood"
FAILED: Final = "single sign-on did not succeed; try again, or ask the organiser"


class Provider:
    """An identity provider."""

    def __init__(self, sign_on: SignOn) -> None:
        self.sign_on = sign_on

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """What the provider says of itself, asked once."""
        issuer = self.sign_on.issuer
        found = _ask("GET", issuer.rstrip("/") + "/.well-known/openid-configuration")
        if found.get("issuer") != issuer:
            raise Refusal(502, f"the identity provider calls itself {found.get('issuer')!r}, not {issuer!r}")
        if not all(isinstance(found.get(name), str) for name in ENDPOINTS):
            raise Refusal(502, NOT_UNDERSTOOD)
        return found

    def exchange(self, code: str, *, verifier: str, redirect_uri: str) -> dict[str, Any]:
        """What the provider gives for a code: its signed word on who it is, and leave to ask for more."""
        client, secret = self.sign_on.client, self.sign_on.secret
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": client,
            "code_verifier": verifier,
        }
        auth = (quote(client, safe=""), quote(secret, safe="")) if secret else None
        return _ask("POST", self.metadata["token_endpoint"], data=sent, auth=auth)

    def claims(self, token: object, *, nonce: str) -> dict[str, Any]:
        """What a token says, where the signature is the provider's and it was made for us and this try."""
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        if not isinstance(token, str):
            raise Refusal(403, FAILED)
        client = self.sign_on.client
        keys: Any = _ask("GET", self.metadata["jwks_uri"])
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
        """The claims with the names that a provider tells apart from them: they need not be in what it signs."""
        at = self.metadata.get("userinfo_endpoint")
        if not isinstance(at, str) or not isinstance(token, str):
            return claims
        told = _ask("GET", at, headers={"Authorization": f"Bearer {token}"})
        if told.get("sub") != claims["sub"]:
            raise Refusal(403, FAILED)
        return {key: told.get(key) for key in NAMES} | claims


def _ask(method: str, at: str, **sent: Any) -> dict[str, Any]:
    """A JSON object from the provider; a refusal where it is away or says no."""
    import httpx

    try:
        with httpx.Client(timeout=10, follow_redirects=False, headers={"Accept": "application/json"}) as provider:
            answered = provider.request(method, at, **sent)
            answered.raise_for_status()
            found = answered.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        raise Refusal(502, "the identity provider cannot be reached or refused; try again later") from None
    if not isinstance(found, dict):
        raise Refusal(502, NOT_UNDERSTOOD)
    return found
