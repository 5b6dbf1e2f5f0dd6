"""Single sign-on against a small identity provider on the loopback address."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from sqlalchemy import select

from acting import act
from qassay import net
from qassay.store.people import RESET, invite
from qassay.store.schema import session
from qassay.web.site import SignOn

CLIENT, SECRET = "qassay-client", "provider secret"


@functools.cache
def own_key() -> RSAKey:
    """The provider's key: making one takes a while."""
    return RSAKey.generate_key(2048, {"kid": "k1"})


@dataclass
class Provider:
    """An identity provider: signs in whoever asks, as the person it was told."""

    issuer: str = ""
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "ada-1", "name": "Ada"})
    key: RSAKey = field(default_factory=lambda: own_key())
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    # What a test changes of the token, and of how it is made.
    claims: dict[str, Any] = field(default_factory=dict)
    sign: Callable[[dict[str, Any]], str] | None = None
    # What it tells of the person apart from the token, and what it says of itself.
    told: dict[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)

    def authorize(self, address: str) -> str:
        """What the provider's page does: send the browser back with a code."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        assert asked["scope"].split()[0] == "openid"
        code = f"code{len(self.codes)}"
        self.codes[code] = asked
        return f"{urlsplit(asked['redirect_uri']).path}?code={code}&state={asked['state']}"

    def token(self, sent: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        self.asked.append(sent)
        expected = base64.b64encode(f"{CLIENT}:provider%20secret".encode()).decode()
        begun = self.codes.pop(sent["code"], None)
        challenge = (
            base64.urlsafe_b64encode(hashlib.sha256(sent["code_verifier"].encode()).digest()).decode().rstrip("=")
        )
        if (
            begun is None
            or authorization != f"Basic {expected}"
            or challenge != begun["code_challenge"]
            or sent["redirect_uri"] != begun["redirect_uri"]
        ):
            return 400, {"error": "invalid_grant"}
        moment = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": moment, "exp": moment + 300, "nonce": begun["nonce"]}
        claims |= self.person | self.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        token = self.sign(claims) if self.sign else jwt.encode({"alg": "RS256", "kid": "k1"}, claims, self.key)
        return 200, {"access_token": "some access", "token_type": "Bearer", "id_token": token}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    known = Provider("http://id.example.org")
    real = net.exchange

    def exchange(method: str, url: str, *, headers: dict[str, str], body: bytes | None, **limits: Any) -> net.Reply:
        if not url.startswith(known.issuer):
            return real(method, url, headers=headers, body=body, **limits)
        authorization = headers.get("Authorization", "")
        status, answer = 200, {"keys": [known.key.as_dict(private=False)]}
        if url.endswith("/openid-configuration"):
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            names |= {"userinfo_endpoint": "me"} if known.told is not None else {}
            answer = {"issuer": known.issuer, **{name: f"{known.issuer}/{path}" for name, path in names.items()}}
            answer |= known.metadata
        elif url.endswith("/me"):
            status, answer = (200, known.told or {}) if authorization == "Bearer some access" else (401, {})
        elif method == "POST":
            sent = {name: values[0] for name, values in parse_qs((body or b"").decode()).items()}
            status, answer = known.token(sent, authorization)
        return net.Reply(status, {}, json.dumps(answer).encode())

    monkeypatch.setattr(net, "exchange", exchange)
    return known


@pytest.fixture
def served(site, provider: Provider):
    return site.with_settings(sign_on=SignOn(provider.issuer, CLIENT, SECRET, "Example ID"))


def begin(browser, **sent: str) -> str:
    answer = browser.post("/api/single-sign-on", json=sent)
    assert answer.status_code == 200, answer.text
    return answer.json()["address"]


def invitation(served, role: str = "assessor", name: str | None = None) -> str:
    with served.store.write() as connection:
        return invite(act(connection), role, name=name)


def test_an_invitation_binds_the_identity(served, provider: Provider) -> None:
    browser = served.client()
    assert "Sign in with Example ID" in browser.get("/sign-in").text
    assert "Continue with Example ID" in browser.get("/welcome").text
    back = provider.authorize(begin(browser, token=invitation(served), then="/account"))
    answer = browser.get(back)
    assert answer.status_code == 200
    assert 'content="0;url=/account"' in answer.text
    cookies = answer.headers.get_list("set-cookie")
    assert any(cookie.startswith("qassay=") and "SameSite=strict" in cookie for cookie in cookies)
    account = browser.get("/api/account").json()
    assert (account["name"], account["role"], account["has_password"]) == ("Ada", "assessor", False)
    assert account["subject"] == f"{provider.issuer}|ada-1"
    # The next time no invitation is needed, and the account is the same.
    again = served.client()
    again.get(provider.authorize(begin(again)))
    assert again.get("/api/account").json()["name"] == "Ada"


def test_the_cookie_of_a_try_comes_back_from_the_provider(served) -> None:
    cookie = served.client().post("/api/single-sign-on", json={}).headers["set-cookie"]
    assert "SameSite=lax" in cookie
    assert "HttpOnly" in cookie


def test_an_identity_without_an_account_stays_outside(served, provider: Provider) -> None:
    browser = served.client()
    answer = browser.get(provider.authorize(begin(browser)))
    assert answer.status_code == 403
    assert "invite" in answer.text
    assert "qassay" not in browser.cookies


def test_an_account_that_was_closed_stays_closed(served, provider: Provider) -> None:
    browser = served.client()
    browser.get(provider.authorize(begin(browser, token=invitation(served))))
    number = next(
        person["id"]
        for person in served.client("organiser").get("/api/people").json()["people"]
        if person["name"] == "Ada"
    )
    served.client("organiser").patch(f"/api/people/{number}", json={"active": False})
    assert browser.get(provider.authorize(begin(browser))).status_code == 403


def test_a_name_that_is_taken_gives_way_to_the_next(served, provider: Provider) -> None:
    provider.person = {"sub": "r", "name": "Some reader", "preferred_username": "a\nb", "email": "r@example.org"}
    browser = served.client()
    browser.get(provider.authorize(begin(browser, token=invitation(served))))
    assert browser.get("/api/account").json()["name"] == "r@example.org"


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({"sub": "ada-1", "name": "Ada of the provider"}, "Ada of the provider"),
        ({"sub": "ada-1", "name": "Some reader", "email": "ada@example.org"}, "ada@example.org"),
        ({"sub": "ada-1"}, "ada-1"),
        (None, "ada-1"),
    ],
)
def test_a_name_that_is_not_in_the_token_is_asked_for(
    served, provider: Provider, told: dict[str, Any] | None, name: str
) -> None:
    provider.person, provider.told = {"sub": "ada-1"}, told
    browser = served.client()
    browser.get(provider.authorize(begin(browser, token=invitation(served))))
    assert browser.get("/api/account").json()["name"] == name


def test_an_answer_about_somebody_else_is_refused(served, provider: Provider) -> None:
    provider.person, provider.told = {"sub": "ada-1"}, {"sub": "eve-1", "name": "Eve"}
    browser = served.client()
    assert browser.get(provider.authorize(begin(browser, token=invitation(served)))).status_code == 403
    assert browser.get("/api/account").status_code == 401


def test_an_answer_says_whose_it_is(served, provider: Provider) -> None:
    browser = served.client()
    back = provider.authorize(begin(browser, token=invitation(served)))
    assert browser.get(f"{back}&iss=https://id.example.org").status_code == 403
    back = provider.authorize(begin(browser, token=invitation(served)))
    assert browser.get(f"{back}&iss={provider.issuer}").status_code == 200


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
def test_a_provider_that_does_not_say_where_to_ask(served, provider: Provider, name: str) -> None:
    provider.metadata = {name: None}
    answer = served.client().post("/api/single-sign-on", json={})
    assert (answer.status_code, "not understood" in answer.json()["message"]) == (502, True)


def test_a_link_for_a_new_password_binds_no_identity(served, provider: Provider) -> None:
    browser = served.client()
    token = invitation(served, RESET, "Some organiser")
    assert browser.get(provider.authorize(begin(browser, token=token))).status_code == 400
    assert served.client().post("/api/welcome/look", json={"token": token}).status_code == 200


def test_a_try_is_used_once(served, provider: Provider) -> None:
    browser = served.client()
    back = provider.authorize(begin(browser, token=invitation(served)))
    cookies = dict(browser.cookies)
    assert browser.get(back).status_code == 200
    again = served.client()
    for name, value in cookies.items():
        again.cookies.set(name, value)
    assert again.get(back).status_code == 400


@pytest.mark.parametrize("change", ["state", "no state", "no cookie", "other browser", "no code"])
def test_an_answer_that_belongs_to_no_try_is_refused(served, provider: Provider, change: str) -> None:
    browser = served.client()
    back = provider.authorize(begin(browser, token=invitation(served)))
    if change == "state":
        back += "x"
    elif change == "no state":
        back = back.partition("&")[0]
    elif change == "no cookie":
        browser.cookies.clear()
    elif change == "other browser":
        browser = served.client()
        begin(browser)
    else:
        back = "/single-sign-on?error=access_denied&" + back.partition("&")[2]
    assert browser.get(back).status_code == (403 if change == "no code" else 400)
    assert browser.get("/api/account").status_code == 401


def _unsigned(claims: dict[str, Any]) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part(claims)}."


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another try"},
        {"nonce": None},
        {"aud": "another client"},
        {"aud": [CLIENT, "another client"], "azp": "another client"},
        {"iss": "https://id.example.org"},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"iat": 99_999_999_999},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 600},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_us_is_refused(served, provider: Provider, claims: dict[str, Any]) -> None:
    provider.claims = claims
    browser = served.client()
    assert browser.get(provider.authorize(begin(browser, token=invitation(served)))).status_code == 403
    assert browser.get("/api/account").status_code == 401


@pytest.mark.parametrize(
    "sign",
    [
        _unsigned,
        lambda claims: jwt.encode({"alg": "RS256", "kid": "k1"}, claims, RSAKey.generate_key(2048, {"kid": "k1"})),
        lambda claims: jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET * 4)),
        lambda _: "nonsense",
        lambda _: "a.b.c",
    ],
)
def test_a_token_that_the_provider_did_not_sign_is_refused(served, provider: Provider, sign: Any) -> None:
    provider.sign = sign
    browser = served.client()
    assert browser.get(provider.authorize(begin(browser, token=invitation(served)))).status_code == 403
    with served.store.read() as connection:
        assert connection.execute(select(session)).all() == []


def test_a_provider_that_refuses_or_is_away(served, provider: Provider) -> None:
    browser = served.client()
    back = provider.authorize(begin(browser))
    provider.codes.clear()
    answer = browser.get(back)
    assert answer.status_code == 502
    assert "identity provider" in answer.text
    away = served.with_settings(sign_on=SignOn("http://127.0.0.1:1", CLIENT)).client()
    assert away.post("/api/single-sign-on", json={}).status_code == 502


def test_a_provider_under_another_name_is_refused(served, provider: Provider) -> None:
    other = SignOn(provider.issuer + "/", CLIENT)
    answer = served.with_settings(sign_on=other).client().post("/api/single-sign-on", json={})
    assert answer.status_code == 502
    assert "calls itself" in answer.json()["message"]


def test_the_way_back_is_ours(served, provider: Provider) -> None:
    browser = served.client()
    answer = browser.get(provider.authorize(begin(browser, token=invitation(served), then="https://example.org/")))
    assert 'content="0;url=/"' in answer.text
    assert provider.asked[-1]["redirect_uri"] == "http://testserver/single-sign-on"


def test_a_try_is_begun_by_our_own_page(served) -> None:
    browser = served.client()
    elsewhere = {"Origin": "https://example.org", "Sec-Fetch-Site": "cross-site"}
    assert browser.post("/api/single-sign-on", json={}, headers=elsewhere).status_code == 403


def test_where_it_is_not_set_up_there_is_nothing(site) -> None:
    assert "single-sign-on" not in site.client().get("/sign-in").text
    assert site.client().post("/api/single-sign-on", json={}).status_code == 404
