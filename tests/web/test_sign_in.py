"""Signing in and out, one-time links, rate limits, sessions as a browser sees them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from acting import act
from qassay.formats.times import later
from qassay.store.engine import open_store
from qassay.store.people import RESET, add_account, invite
from qassay.store.people.sessions import find_session
from qassay.store.schema import account, session
from qassay.web.application import create_app
from qassay.web.site import BY_ADDRESS, BY_NAME

PASSWORD = "a long enough password"
Client = Callable[..., TestClient]


def enter(browser: TestClient, name: str = "Some assessor", password: str = PASSWORD):
    return browser.post("/api/sign-in", json={"name": name, "password": password})


def test_signing_in_and_out(client: Client) -> None:
    browser = client()
    answer = enter(browser)
    assert answer.json() == {"name": "Some assessor", "role": "assessor"}
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("qassay=")
    for wanted in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age="):
        assert wanted in cookie
    assert "Secure" not in cookie
    assert browser.get("/account").status_code == 200
    secret = browser.cookies["qassay"]
    assert browser.post("/api/sign-out").status_code == 200
    assert "qassay" not in browser.cookies
    browser.cookies.set("qassay", secret)
    assert browser.get("/account").status_code == 303


def test_behind_https_the_cookie_is_bound_to_the_host(site) -> None:
    browser = site.with_settings(public_url="https://qa.example.org").client()
    headers = {"Host": "qa.example.org", "Origin": "https://qa.example.org"}
    call = {"json": {"name": "Some reader", "password": PASSWORD}, "headers": headers}
    answer = browser.post("/api/sign-in", **call)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-qassay=")
    assert "Secure" in cookie
    assert "Domain" not in cookie
    assert answer.headers["strict-transport-security"]


@pytest.mark.parametrize("name", ["Some assessor", "nobody at all"])
def test_wrong_name_and_wrong_password_get_the_same_answer(client: Client, name: str) -> None:
    answer = enter(client(), name, "not the password")
    assert answer.status_code == 401
    assert answer.json() == {"message": "the name or the password is wrong", "problems": []}
    assert "set-cookie" not in answer.headers


def test_a_closed_account_gets_the_same_answer(site, accounts) -> None:
    site.client("organiser").patch(f"/api/people/{accounts['assessor']}", json={"active": False})
    assert enter(site.client()).json()["message"] == "the name or the password is wrong"


def test_a_session_from_before_is_not_taken_over(site) -> None:
    browser = site.client()
    browser.cookies.set("qassay", "chosen-by-somebody-else", domain="testserver.local", path="/")
    enter(browser)
    assert "chosen" not in browser.cookies["qassay"]
    first = browser.cookies["qassay"]
    enter(browser, "Some reader")
    assert browser.cookies["qassay"] != first
    with site.store.read() as connection:
        assert find_session(connection, first) is None
        assert find_session(connection, "chosen-by-somebody-else") is None


def test_sessions_survive_a_restart(site) -> None:
    browser = site.client()
    enter(browser)
    store = open_store(site.folder)
    again = TestClient(create_app(site.folder, site.app.state.site.settings, store=store))
    again.cookies.set("qassay", browser.cookies["qassay"])
    assert again.get("/api/account").json()["name"] == "Some assessor"
    store.close()


@pytest.mark.parametrize("column", ["seen", "expires", "ended"])
def test_a_session_that_is_over_is_over(site, column: str) -> None:
    browser = site.client("assessor")
    assert browser.get("/api/account").status_code == 200
    with site.store.write() as connection:
        connection.execute(update(session).values({column: "2020-01-01T00:00:00.000Z"}))
    assert browser.get("/api/account").status_code == 401


def test_use_keeps_a_session_alive(site) -> None:
    browser = site.client("assessor")
    with site.store.write() as connection:
        before = connection.execute(select(session.c.seen)).scalar_one()
        connection.execute(update(session).values(seen=before.replace(before[:4], str(int(before[:4]) - 1))))
    assert browser.get("/api/account").status_code == 401
    with site.store.write() as connection:
        from datetime import timedelta

        hour_ago = later(-timedelta(hours=1))
        connection.execute(update(session).values(seen=hour_ago))
    assert browser.get("/api/account").status_code == 200
    with site.store.read() as connection:
        assert connection.execute(select(session.c.seen)).scalar_one() > hour_ago


# ---- rate limits ----------------------------------------------------------------------------------------------------


SPELLINGS = (
    "Zoë Éclair",
    "zoë éclair",
    "Zoe\u0308 Éclair",
    "Zoë E\u0301clair",
    "Zoe\u0308 E\u0301clair",
    " ZOË ÉCLAIR ",
)


def test_guessing_one_password_is_stopped_however_the_name_is_spelt(site) -> None:
    with site.store.write() as connection:
        add_account(connection, "Zoë Éclair", "reader")
    tries = [
        enter(site.client(client=(f"192.0.2.{n}", 1)), SPELLINGS[n % len(SPELLINGS)], "wrong password")
        for n in range(BY_NAME.amount + 1)
    ]
    assert [answer.status_code for answer in tries] == [401] * BY_NAME.amount + [429]
    assert int(tries[-1].headers["retry-after"]) > 0
    assert enter(site.client(), "Some reader").status_code == 200


@pytest.mark.parametrize("headers", [(), ("X-Forwarded-For", "Forwarded")])
def test_guessing_from_one_address_is_stopped_whatever_headers_say(site, headers: tuple[str, ...]) -> None:
    browser = site.client(client=("192.0.2.1", 1))
    statuses = []
    for n in range(BY_ADDRESS.amount + 1):
        for header in headers:
            browser.headers[header] = f"{'for=' if header == 'Forwarded' else ''}198.51.100.{n}"
        statuses.append(enter(browser, f"name {n}", "wrong password").status_code)
    assert statuses == [401] * BY_ADDRESS.amount + [429]
    assert enter(site.client(client=("192.0.2.2", 1))).status_code == 200


def test_behind_a_proxy_addresses_are_distinguished(site) -> None:
    served = site.with_settings(trusted_proxies=("10.0.0.1",))
    statuses = []
    for n in range(102):
        browser = served.client(client=("10.0.0.1", 1))
        # What comes before the last address can be made up by whoever asks.
        browser.headers["X-Forwarded-For"] = f"198.51.100.{n}, 192.0.2.{n % 2}"
        statuses.append(enter(browser, f"name {n}", "wrong password").status_code)
    assert 429 not in statuses


def test_success_starts_the_count_again(site) -> None:
    for _ in range(3):
        for _ in range(8):
            assert enter(site.client(), password="wrong password").status_code == 401
        assert enter(site.client()).status_code == 200


# ---- one-time links -------------------------------------------------------------------------------------------------


def link(site, role: str = "organiser", name: str | None = None) -> str:
    with site.store.write() as connection:
        return invite(act(connection), role, name=name)


def test_a_link_makes_an_account_and_signs_in(site) -> None:
    token, browser = link(site, "adjudicator"), site.client()
    assert token not in browser.get("/welcome").text
    invitation = browser.post("/api/welcome/look", json={"token": token}).json()
    assert (invitation["role"], invitation["name"], invitation["resets"]) == ("adjudicator", None, False)
    answer = browser.post("/api/welcome", json={"token": token, "name": "Ada", "password": PASSWORD})
    assert answer.json() == {"name": "Ada", "role": "adjudicator"}
    assert browser.get("/api/account").json()["name"] == "Ada"
    again = site.client().post("/api/welcome", json={"token": token, "name": "Eve", "password": PASSWORD})
    assert again.status_code == 400
    assert "has been used" in again.json()["message"]


def test_of_many_requests_with_one_link_one_succeeds(site) -> None:
    token, gate, statuses = link(site), threading.Barrier(6), []

    def use(number: int) -> None:
        browser = site.client()
        gate.wait()
        sent = {"token": token, "name": f"Number {number}", "password": PASSWORD}
        statuses.append(browser.post("/api/welcome", json=sent).status_code)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 400, 400, 400, 400, 400]
    with site.store.read() as connection:
        names = connection.execute(select(account.c.name).where(account.c.name.like("Number%"))).all()
    assert len(names) == 1


def test_a_password_that_is_too_short_is_reported_at_its_field(site) -> None:
    token = link(site)
    answer = site.client().post("/api/welcome", json={"token": token, "name": "Ada", "password": "short"})
    assert answer.status_code == 400
    assert "10 to 200" in answer.json()["message"]
    answer = site.client().post("/api/welcome", json={"token": token, "name": "Ada"})
    assert answer.json()["problems"] == [{"field": "password", "message": "choose a password"}]
    assert site.client().post("/api/welcome", json={"token": token, "name": "Ada", "password": PASSWORD}).is_success


def test_a_reset_link_changes_the_password_only(site) -> None:
    token, browser = link(site, RESET, "Some reader"), site.client("reader")
    renewed = {"token": token, "name": "Mallory", "password": "another long password"}
    assert site.client().post("/api/welcome", json=renewed).json() == {"name": "Some reader", "role": "reader"}
    assert browser.get("/api/account").status_code == 401
    assert enter(site.client(), "Some reader").status_code == 401
    assert enter(site.client(), "Some reader", "another long password").status_code == 200


def test_guessing_links_is_stopped(site) -> None:
    browser = site.client()
    statuses = {browser.post("/api/welcome/look", json={"token": f"guess-{n:08}"}).status_code for n in range(101)}
    assert statuses == {400, 429}


def test_a_link_does_not_show_who_has_an_account(site) -> None:
    token, browser = link(site), site.client()
    tries = [
        browser.post("/api/welcome", json={"token": token, "name": name, "password": PASSWORD}).status_code
        for name in ["Some reader", "Some organiser"] * 6
    ]
    assert tries == [400] * 10 + [429] * 2
    assert browser.post("/api/welcome/look", json={"token": token}).is_success


def test_before_the_first_organiser_the_page_says_where_the_link_is(site) -> None:
    assert "in the terminal" not in site.client().get("/sign-in").text
    with site.store.write() as connection:
        connection.execute(update(account).values(role="reader"))
    assert "in the terminal" in site.client().get("/sign-in").text
