"""Every route with every role: nobody gets in who is not declared, and everybody who is gets past the guard."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

import qassay.web
from qassay.store.schema import ROLES
from qassay.web.guard import PUBLIC, GuardedRoute
from qassay.web.routing import EVERYBODY, Router

# What may be reached without an account. A new address here is a decision, not an accident.
OPEN = {
    *("/health", "/static/{version}/{path:path}", "/sign-in", "/api/sign-in", "/welcome", "/api/welcome"),
    *("/api/welcome/look", "/single-sign-on", "/api/single-sign-on"),
}


def routes(app: object) -> list[APIRoute]:
    return list(app.routes)  # type: ignore[attr-defined]


def address(path: str) -> str:
    """A path with something in place of its parameters: what is behind them does not exist, the guard comes first."""
    return re.sub(r"\{[^}]*\}", "999999", path)


def test_every_route_is_guarded_and_names_its_roles(site) -> None:
    assert len(routes(site.app)) > 20
    for route in routes(site.app):
        assert isinstance(route, GuardedRoute), route
        assert route.roles
        assert route.roles <= EVERYBODY | {PUBLIC}


def test_only_the_door_is_open(site) -> None:
    assert {route.path for route in routes(site.app) if PUBLIC in route.roles} <= OPEN


def test_nobody_gets_in_without_signing_in(site) -> None:
    browser = site.client()
    for route in routes(site.app):
        for method in route.methods:
            answer = browser.request(method, address(route.path))
            context = f"{method} {route.path}: {answer.status_code}"
            if PUBLIC in route.roles:
                assert answer.status_code not in (401, 403) or route.path == "/api/sign-in", context
            elif route.path.startswith("/api") or route.path == "/metrics" or method == "HEAD":
                assert answer.status_code == 401, context
            else:
                assert (answer.status_code, answer.headers["location"][:8]) == (303, "/sign-in"), context


@pytest.mark.parametrize("role", ROLES)
def test_a_role_gets_what_is_declared_and_nothing_else(site, role: str) -> None:
    browser = site.client(role)
    for route in routes(site.app):
        for method in route.methods:
            answer = browser.request(method, address(route.path))
            if route.path == "/api/sign-out":
                browser = site.client(role)
            context = f"{role}: {method} {route.path}: {answer.status_code} {answer.text[:200]}"
            if PUBLIC not in route.roles and role not in route.roles:
                assert answer.status_code == 403, context
            else:
                assert answer.status_code < 500, context
                assert "not for the role" not in answer.text, context


def test_a_page_and_its_twin_have_the_same_roles(site) -> None:
    by_path = {(route.path, method): route.roles for route in routes(site.app) for method in route.methods}
    twins = [path for path, method in by_path if method == "GET" and ("/api" + path, "GET") in by_path]
    assert "/people" in twins
    for path in twins:
        assert by_path[path, "GET"] == by_path["/api" + path, "GET"], path


def test_the_map_of_the_application_names_every_module() -> None:
    named = set(re.findall(r"^([a-z_]+)/?  ", str(qassay.web.__doc__), re.MULTILINE))
    assert named == {module.name for module in pkgutil.iter_modules(qassay.web.__path__)}


def test_no_page_changes_anything(site) -> None:
    for route in routes(site.app):
        if not route.path.startswith("/api/"):
            assert route.methods <= {"GET", "HEAD"}, route.path


@pytest.mark.parametrize("roles", [[], ["everybody"], ["organiser", "root"]])
def test_a_route_without_known_roles_cannot_be_declared(roles: list[str]) -> None:
    router = Router()
    with pytest.raises(ValueError, match="roles"):
        router.action("POST", "/x", roles=roles)(lambda: None)
    with pytest.raises(ValueError, match="roles"):
        router.page("/x", template="home.html", roles=roles)(lambda: None)
    assert router.routes == []


def test_methods_that_are_not_declared_are_refused(client: Callable[..., TestClient]) -> None:
    browser = client("organiser")
    assert browser.post("/people").status_code == 405
    assert browser.request("TRACE", "/people").status_code == 405
    assert browser.options("/people").status_code == 405


def test_pages_and_twins_show_the_same(client: Callable[..., TestClient]) -> None:
    browser = client("organiser")
    twin = browser.get("/api/people").json()
    page = browser.get("/people").text
    assert [person["name"] for person in twin["people"]] == sorted(f"Some {role}" for role in ROLES)
    assert all(person["name"] in page for person in twin["people"])


def test_the_navigation_goes_by_role(client: Callable[..., TestClient]) -> None:
    for path in ("/people", "/flags"):
        assert f'href="{path}"' in client("organiser").get("/").text
    for role in ("adjudicator", "assessor", "reader"):
        assert 'href="/people"' not in client(role).get("/account").text
        assert 'href="/account"' in client(role).get("/account").text


def test_where_there_is_nothing_there_is_still_the_menu(client: Callable[..., TestClient]) -> None:
    for role, own, not_own in (("organiser", "/people", "/nowhere"), ("assessor", "/work", "/people")):
        answer = client(role).get("/nowhere")
        assert answer.status_code == 404
        assert f'href="{own}"' in answer.text
        assert f'href="{not_own}"' not in answer.text
        assert f"Some {role}" in answer.text
    stranger = client().get("/nowhere")
    assert stranger.status_code == 404
    assert 'href="/sign-in"' in stranger.text
    assert 'href="/work"' not in stranger.text
    refused = client().get("/nowhere", headers={"Authorization": "Bearer of no token"})
    assert (refused.status_code, 'href="/sign-in"' in refused.text) == (404, True)


def test_signing_in_leads_to_the_wanted_page(client: Callable[..., TestClient]) -> None:
    assert client().get("/people?x=1").headers["location"] == "/sign-in?then=/people%3Fx%3D1"
    page = client().get("/sign-in?then=/people%3Fx%3D1").text
    assert 'data-then="/people?x=1"' in page
    for elsewhere in (
        "//example.org",
        "https://example.org/",
        "/\\example.org",
        "javascript:alert(1)",
        "/\t/example.org",
    ):
        page = client().get("/sign-in", params={"then": elsewhere}).text
        assert 'data-then="/"' in page
        assert client("reader").get("/sign-in", params={"then": elsewhere}).headers["location"] == "/"
        assert client("reader").get("/api/sign-in", params={"then": elsewhere}).json()["goto"] == "/"
