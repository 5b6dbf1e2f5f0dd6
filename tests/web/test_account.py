"""One's own account, and the page of people."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

PASSWORD = "a long enough password"
NEW = "another long password"
Client = Callable[..., TestClient]


def test_a_new_password_ends_the_other_sessions(site) -> None:
    here, elsewhere = site.client("assessor"), site.client("assessor")
    other = site.client("reader")
    wrong = here.put("/api/account/password", json={"current": "not this one", "new": NEW})
    assert wrong.json()["problems"] == [{"field": "current", "message": "this is not your password"}]
    assert elsewhere.get("/account").status_code == 200
    assert here.put("/api/account/password", json={"current": PASSWORD, "new": "short"}).status_code == 422
    assert here.put("/api/account/password", json={"current": PASSWORD, "new": NEW}).json() == {"ended": 1}
    assert [client.get("/account").status_code for client in (here, elsewhere, other)] == [200, 303, 200]
    sent = {"name": "Some assessor", "password": NEW}
    assert site.client().post("/api/sign-in", json=sent).status_code == 200


def test_guessing_the_password_from_within_is_stopped(client: Client) -> None:
    browser = client("assessor")
    statuses = [
        browser.put("/api/account/password", json={"current": f"guess {n}", "new": NEW}).status_code for n in range(11)
    ]
    assert statuses == [422] * 10 + [429]


def test_sessions_are_listed_and_ended(client: Client) -> None:
    here, elsewhere, third = client("assessor"), client("assessor"), client("assessor")
    stranger = client("reader")
    listed = here.get("/api/account").json()["sessions"]
    assert [session["current"] for session in listed].count(True) == 1
    assert len(listed) == 3
    own = elsewhere.get("/api/account").json()["sessions"]
    number = next(session["id"] for session in own if session["current"])
    assert stranger.delete(f"/api/account/sessions/{number}").status_code == 400
    assert here.delete(f"/api/account/sessions/{number}").status_code == 200
    assert [client.get("/account").status_code for client in (here, elsewhere, third)] == [200, 303, 200]
    assert here.delete("/api/account/sessions").json() == {"ended": 1}
    assert [client.get("/account").status_code for client in (here, third, stranger)] == [200, 303, 200]


def test_tokens_work_until_they_are_revoked(site) -> None:
    browser = site.client("assessor")
    answer = browser.post("/api/account/tokens", json={"name": "nightly"})
    token = answer.json()["token"]
    program = TestClient(site.app, headers={"Authorization": f"Bearer {token}"})
    account = program.get("/api/account").json()
    assert (account["name"], account["tokens"][0]["name"]) == ("Some assessor", "nightly")
    assert token not in browser.get("/account").text
    assert program.get("/api/people").status_code == 403
    for method, path, sent in (
        ("POST", "/api/account/tokens", {"name": "another"}),
        ("PUT", "/api/account/password", {"current": PASSWORD, "new": NEW}),
    ):
        assert program.request(method, path, json=sent).status_code == 403
    assert site.client("reader").delete(f"/api/account/tokens/{account['tokens'][0]['id']}").status_code == 400
    assert browser.delete(f"/api/account/tokens/{account['tokens'][0]['id']}").status_code == 200
    assert program.get("/api/account").status_code == 401


def test_shortcuts_are_kept_with_the_account(client: Client) -> None:
    browser = client("assessor")
    assert browser.put("/api/account/shortcuts", json={"shortcuts": {"judge.right": "ü"}}).status_code == 200
    assert '"shortcuts":{"judge.right":"ü"}' in client("assessor").get("/account").text
    assert '"shortcuts":{}' in client("reader").get("/account").text
    for wrong in ({"a": "x" * 21}, {"a" * 101: "x"}, {"a": ""}, {str(n): "x" for n in range(201)}, {"a": 1}, []):
        assert browser.put("/api/account/shortcuts", json={"shortcuts": wrong}).status_code == 422


def test_roles_change_at_once(site, accounts) -> None:
    organiser, assessor = site.client("organiser"), site.client("assessor")
    changed = organiser.patch(f"/api/people/{accounts['assessor']}", json={"role": "reader"})
    assert changed.json()["role"] == "reader"
    assert assessor.get("/api/account").status_code == 401
    assert site.client("assessor").get("/api/account").json()["role"] == "reader"
    assert organiser.patch(f"/api/people/{accounts['assessor']}", json={"role": "root"}).status_code == 422
    assert organiser.patch("/api/people/99", json={"role": "reader"}).status_code == 404


def test_access_ends_at_once(site, accounts) -> None:
    assessor = site.client("assessor")
    token = assessor.post("/api/account/tokens", json={"name": "x"}).json()["token"]
    site.client("organiser").patch(f"/api/people/{accounts['assessor']}", json={"active": False})
    assert assessor.get("/api/account").status_code == 401
    program = TestClient(site.app, headers={"Authorization": f"Bearer {token}"})
    assert program.get("/api/account").status_code == 401


@pytest.mark.parametrize("way", ["sign out", "reset", "role", "password", "end and renew"])
def test_tokens_end_with_the_sessions(site, accounts, way: str) -> None:
    organiser, number = site.client("organiser"), accounts["assessor"]
    token = site.client("assessor").post("/api/account/tokens", json={"name": "x"}).json()["token"]
    program = TestClient(site.app, headers={"Authorization": f"Bearer {token}"})
    assert program.get("/api/account").status_code == 200
    if way == "sign out":
        assert organiser.delete(f"/api/people/{number}/sessions").json() == {"ended": 2}
    elif way == "reset":
        link = organiser.post(f"/api/people/{number}/reset").json()["link"]
        assert program.get("/api/account").status_code == 200  # until the link is used
        site.client().post("/api/welcome", json={"token": link.partition("#")[2], "password": NEW})
    elif way == "role":
        organiser.patch(f"/api/people/{number}", json={"role": "reader"})
    elif way == "password":
        site.client("assessor").put("/api/account/password", json={"current": PASSWORD, "new": NEW})
    else:
        for active in (False, True):
            organiser.patch(f"/api/people/{number}", json={"active": active})
    assert program.get("/api/account").status_code == 401
    assert site.client("assessor").get("/api/account").json()["tokens"] == []


def test_the_last_organiser_cannot_leave(site, accounts) -> None:
    organiser = site.client("organiser")
    for sent in ({"role": "reader"}, {"active": False}):
        refused = organiser.patch(f"/api/people/{accounts['organiser']}", json=sent)
        assert refused.status_code == 400
        assert "only organiser" in refused.json()["message"]
    assert organiser.get("/people").status_code == 200


def test_invitations_are_made_and_withdrawn(site) -> None:
    organiser = site.client("organiser")
    new_invitation = organiser.post(
        "/api/people/invitations", json={"role": "assessor", "name": "Eve", "days": 3}
    ).json()
    assert new_invitation["link"].startswith("http://testserver/welcome#")
    token = new_invitation["link"].partition("#")[2]
    assert token not in organiser.get("/people").text
    listed = organiser.get("/api/people").json()["invitations"]
    assert [(invitation["name"], invitation["role"], invitation["by"]) for invitation in listed] == [
        ("Eve", "assessor", "Some organiser")
    ]
    assert organiser.delete(f"/api/people/invitations/{listed[0]['id']}").status_code == 200
    assert site.client().post("/api/welcome/look", json={"token": token}).status_code == 400
    assert organiser.delete(f"/api/people/invitations/{listed[0]['id']}").status_code == 400
    for wrong in ({"role": "root"}, {"role": "reset"}, {"role": "reader", "days": 0}, {"role": "reader", "more": 1}):
        assert organiser.post("/api/people/invitations", json=wrong).status_code == 422


def test_a_new_password_and_signing_out_by_the_organiser(site, accounts) -> None:
    organiser, reader = site.client("organiser"), site.client("reader")
    number = accounts["reader"]
    assert organiser.delete(f"/api/people/{number}/sessions").json() == {"ended": 1}
    assert reader.get("/api/account").status_code == 401
    token = organiser.post(f"/api/people/{number}/reset").json()["link"].partition("#")[2]
    sent = {"token": token, "password": NEW}
    assert site.client().post("/api/welcome", json=sent).json()["name"] == "Some reader"
