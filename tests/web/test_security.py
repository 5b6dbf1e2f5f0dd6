"""What holds for every response and every change: headers, hosts, origins, the trusted header, static files."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from acting import act
from qassay.errors import UsageError
from qassay.store.people import add_account, invite
from qassay.store.people.sessions import make_token
from qassay.store.schema import account
from qassay.web.rendering import LOOK, static_files, static_version
from qassay.web.site import Settings, sign_on_from

NEW = {"role": "reader"}
Client = Callable[..., TestClient]


def check_headers(answer) -> None:
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in answer.headers["permissions-policy"]
    assert re.fullmatch("[0-9a-f]{16}", answer.headers["x-request-id"])


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 200), ("/nowhere", 404), ("/api/nowhere", 404), ("/api/people", 200), ("/health", 200), ("/break", 500)],
)
def test_every_response_has_the_headers(site, path: str, status: int) -> None:
    break_something(site)
    answer = site.client("organiser").get(path)
    assert answer.status_code == status
    check_headers(answer)
    assert answer.headers["cache-control"] == "no-store"


def test_refusals_have_the_headers(client: Client) -> None:
    nobody = client()
    for answer in (
        nobody.get("/people"),
        nobody.get("/api/people"),
        client("reader").get("/people"),
        nobody.post("/api/sign-in", json={}),
        nobody.get("/", headers={"Host": "example.org"}),
        nobody.post("/api/sign-in", json={}, headers={"Origin": "https://example.org"}),
    ):
        assert answer.status_code in (303, 400, 401, 403, 422)
        check_headers(answer)


def break_something(site) -> None:
    """A view with a bug in it."""
    from qassay.web.routing import EVERYBODY, GuardedRoute

    def broken() -> None:
        raise RuntimeError("secret internals")

    for path in ("/break", "/api/break"):
        site.app.router.routes.append(GuardedRoute(path, broken, roles=EVERYBODY))


def test_a_bug_is_answered_without_internals(site) -> None:
    break_something(site)
    for path in ("/break", "/api/break"):
        answer = site.client("reader").get(path)
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
    assert site.client("reader").get("/api/break").json()["message"].startswith("something went wrong")


# ---- changes from elsewhere -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://example.org", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://testserver.example.org"},
        {"Origin": "https://testserver"},
        {"Origin": "http://testserver:81"},
        {"Origin": "null"},
        {"Origin": "http://testserver", "Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "none"},
        {},
    ],
)
def test_a_change_from_another_site_is_refused(site, headers: dict[str, str]) -> None:
    browser = site.client("organiser")
    for name in ("Origin", "Sec-Fetch-Site"):
        del browser.headers[name]
    answer = browser.post("/api/people/invitations", json=NEW, headers=headers)
    assert answer.status_code == 403
    assert "site" in answer.json()["message"] or "token" in answer.json()["message"]
    # Signing somebody in as somebody else is a change too.
    assert browser.post("/api/sign-in", json={"name": "a", "password": "b"}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://testserver"}, {"Sec-Fetch-Site": "same-origin"}, {"Origin": "HTTP://TESTSERVER"}],
)
def test_a_change_from_our_own_page_is_taken(site, headers: dict[str, str]) -> None:
    browser = site.client("organiser")
    for name in ("Origin", "Sec-Fetch-Site"):
        del browser.headers[name]
    assert browser.post("/api/people/invitations", json=NEW, headers=headers).status_code == 201


def test_behind_a_proxy_the_public_address_counts(site) -> None:
    browser = site.with_settings(public_url="https://qa.example.org").client("organiser")
    call = {"json": NEW, "headers": {"Host": "qa.example.org", "Origin": "https://qa.example.org"}}
    assert browser.post("/api/people/invitations", **call).json()["link"].startswith("https://qa.example.org/welcome#")
    call["headers"] = {"Host": "qa.example.org", "Origin": "http://qa.example.org"}
    assert browser.post("/api/people/invitations", **call).status_code == 403


@pytest.mark.parametrize(
    ("public_url", "origin"),
    [
        ("https://qa.example.org:443", "https://qa.example.org"),
        ("http://QA.example.org:80/", "http://qa.example.org"),
        ("https://qa.example.org:80", "https://qa.example.org:80"),
        ("https://[2001:db8::7]:443", "https://[2001:db8::7]"),
        ("https://[2001:db8::7]:8443", "https://[2001:db8::7]:8443"),
    ],
)
def test_an_origin_is_written_as_browsers_write_it(public_url: str, origin: str) -> None:
    assert Settings(public_url=public_url).origin == origin


def test_a_default_port_in_the_public_address_locks_nobody_out(site) -> None:
    browser = site.with_settings(public_url="https://qa.example.org:443").client("organiser")
    call = {"json": NEW, "headers": {"Host": "qa.example.org", "Origin": "https://qa.example.org"}}
    assert browser.post("/api/people/invitations", **call).status_code == 201


def test_a_token_needs_no_origin(site, accounts) -> None:
    with site.store.write() as connection:
        token = make_token(connection, accounts["organiser"], "script")
    program = TestClient(site.app)
    answer = program.post("/api/people/invitations", json=NEW, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 201


def test_a_cookie_beside_a_token_does_not_count(site, accounts) -> None:
    browser = site.client("organiser")
    with site.store.write() as connection:
        token = make_token(connection, accounts["reader"], "script")
    answer = browser.post("/api/people/invitations", json=NEW, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 403
    for wrong in ("Bearer qsy_nonsense", "Basic YTpi", "Bearer", f"Bearer {token}x"):
        assert browser.get("/api/people", headers={"Authorization": wrong}).status_code == 401


def test_a_form_of_another_site_cannot_speak_json(client: Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        headers = {"Content-Type": kind}
        answer = client("organiser").post("/api/people/invitations", content=b'{"role":"reader"}', headers=headers)
        assert answer.status_code == 415


# ---- hosts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "testserver@example.org", "", "a b", "[::1"])
def test_another_host_is_not_answered_for(client: Client, host: str) -> None:
    assert client().get("/health", headers={"Host": host}).status_code == 400
    assert "Qassay demo" not in client().get("/", headers={"Host": host}).text


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST"])
def test_our_own_hosts_are_answered_for(client: Client, host: str) -> None:
    assert client().get("/health", headers={"Host": host}).json() == {"status": "ok"}


def test_settings_that_would_be_unsafe_are_refused() -> None:
    for wrong in (
        {"host": "0.0.0.0"},
        {"host": "0.0.0.0", "public_url": "http://qa.example.org"},
        {"public_url": "qa.example.org"},
        {"public_url": "https://qa.example.org/path"},
        {"public_url": "https://qa.example.org:https"},
        {"public_url": "https://qa.example.org:70000"},
        {"trusted_header": "X-Remote-User"},
        {"trusted_header": "X-Remote-User", "trusted_proxies": ("proxy",)},
    ):
        with pytest.raises(UsageError):
            Settings(**wrong)  # type: ignore[arg-type]
    Settings(host="0.0.0.0", public_url="https://qa.example.org")
    open_one = Settings(host="0.0.0.0", insecure=True)
    assert open_one.accepts_host("192.0.2.7")
    assert not open_one.accepts_host("rebound.example.org")


def test_single_sign_on_is_named_by_variables() -> None:
    assert sign_on_from({}) is None
    with pytest.raises(UsageError, match="both"):
        sign_on_from({"QASSAY_SSO_ISSUER": "https://id.example.org"})
    with pytest.raises(UsageError, match="https"):
        sign_on_from({"QASSAY_SSO_ISSUER": "http://id.example.org", "QASSAY_SSO_CLIENT": "c"})
    provider = sign_on_from(
        {"QASSAY_SSO_ISSUER": "https://id.example.org", "QASSAY_SSO_CLIENT": "c", "QASSAY_SSO_SECRET": "hush"}
    )
    assert provider is not None
    assert "hush" not in repr(provider)


# ---- the header of a trusted proxy ----------------------------------------------------------------------------------

NAMED = {"X-Remote-User": "Some organiser"}


def proxied(site, address: str = "127.0.0.1"):
    served = site.with_settings(trusted_header="X-Remote-User", trusted_proxies=("127.0.0.1", "10.0.0.0/24"))
    with site.store.write() as connection:
        connection.execute(
            update(account).where(account.c.name == NAMED["X-Remote-User"]).values(subject=account.c.name)
        )
    return served.client(client=(address, 1))


def test_a_trusted_proxy_says_who_it_is(site) -> None:
    assert proxied(site).get("/api/account", headers=NAMED).json()["role"] == "organiser"
    assert proxied(site, "10.0.0.9").get("/api/account", headers=NAMED).status_code == 200
    assert proxied(site).get("/api/account").status_code == 401


def test_anybody_else_who_sends_the_header_is_nobody(site) -> None:
    assert proxied(site, "192.0.2.1").get("/api/account", headers=NAMED).status_code == 401
    assert proxied(site, "10.0.1.1").get("/api/account", headers=NAMED).status_code == 401
    spoofed = {**NAMED, "X-Forwarded-For": "127.0.0.1"}
    assert proxied(site, "192.0.2.1").get("/api/account", headers=spoofed).status_code == 401
    # Off unless asked for.
    assert site.client(client=("127.0.0.1", 1)).get("/api/account", headers=NAMED).status_code == 401


def test_a_header_sent_twice_is_refused(site) -> None:
    twice = [("X-Remote-User", "Some reader"), ("X-Remote-User", "Some organiser")]
    assert proxied(site).get("/api/account", headers=twice).status_code == 400


def test_a_password_for_the_proxy_is_not_ours(site) -> None:
    password = {"Authorization": "Basic " + base64.b64encode(b"ada:secret").decode()}
    assert proxied(site).get("/api/account", headers={**NAMED, **password}).status_code == 200
    # Without a name from the proxy it is a wrong token, as ever; and a token counts more than a name.
    assert proxied(site).get("/api/account", headers=password).status_code == 401
    assert proxied(site, "192.0.2.1").get("/api/account", headers={**NAMED, **password}).status_code == 401
    assert proxied(site).get("/api/account", headers={**NAMED, "Authorization": "Bearer x"}).status_code == 401


def test_an_unknown_name_waits_for_an_invitation(site) -> None:
    stranger = {"X-Remote-User": "stranger"}
    answer = proxied(site).get("/api/account", headers=stranger)
    assert answer.status_code == 403
    assert "invite" in answer.json()["message"]
    with site.store.write() as connection:
        invite(act(connection), "assessor", name="stranger")
    account = proxied(site).get("/api/account", headers=stranger).json()
    assert (account["name"], account["role"], account["subject"]) == ("stranger", "assessor", "stranger")


def test_a_closed_account_stays_closed_behind_a_proxy(site, accounts) -> None:
    with site.store.write() as connection:
        added = add_account(connection, "gone", "reader", subject="gone@example.org")
    organiser = site.client("organiser")
    assert proxied(site).get("/api/account", headers={"X-Remote-User": "gone@example.org"}).status_code == 200
    assert organiser.patch(f"/api/people/{added.id}", json={"active": False}).status_code == 200
    assert proxied(site).get("/api/account", headers={"X-Remote-User": "gone@example.org"}).status_code == 403


def test_the_header_does_not_replace_the_origin_check(site) -> None:
    call = {"json": NEW, "headers": {**NAMED, "Origin": "https://example.org"}}
    assert proxied(site).post("/api/people/invitations", **call).status_code == 403


# ---- static files ---------------------------------------------------------------------------------------------------


def test_static_files_are_kept_for_good(client: Client) -> None:
    assert len(static_files()) > 5
    for name in static_files():
        answer = client().get(f"/static/{static_version()}/{name}")
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        check_headers(answer)


def test_every_page_has_the_whole_look(client: Client) -> None:
    looks = {name for name in static_files() if name.startswith("css/look/")}
    linked = re.findall(r'rel="stylesheet" href="/static/\w+/(css/look/\w+\.css)"', client().get("/sign-in").text)
    assert linked == [f"css/look/{name}.css" for name in LOOK]
    assert set(linked) == looks


@pytest.mark.parametrize(
    "path",
    [
        "../application.py",
        "..%2fapplication.py",
        "%2e%2e/application.py",
        "..%5capplication.py",
        "css/../../application.py",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "js/tsconfig.json",
        "js",
        "",
        "css/judge.css%00.js",
        "js/api.js/",
    ],
)
def test_no_path_leads_to_another_file(client: Client, path: str) -> None:
    answer = client().get(f"/static/{static_version()}/{path}")
    assert answer.status_code in (400, 404)
    assert "import" not in answer.text


def test_an_old_version_is_gone(client: Client) -> None:
    assert client().get("/static/0000000000000000/css/judge.css").status_code == 404


def test_hostile_text_stays_text(client: Client) -> None:
    page = client("organiser").get("/components").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    data = re.search(r'id="page-data">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert "\\u003cscript\\u003e" in data[1]
    assert data[1].rstrip().endswith("}")


def test_no_page_has_anything_inline(client: Client) -> None:
    for path in ("/", "/people", "/account", "/components", "/sign-in", "/welcome", "/nowhere"):
        page = client("organiser").get(path).text
        assert not re.search(r"<script(?![^>]*(?:src=|application/json))", page)
        assert not re.search(r"<[^>]+\s(?:style|on[a-z]+)=", page)
        assert "<style" not in page
        assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page)
