"""Changes that are answered in one thread: the same answers as the framework's, and nothing is read of a stranger."""

from __future__ import annotations

import json
import socket
from typing import Annotated, Any

import pytest
from fastapi import Query
from listening import listening
from worksheets import give_out

from qassay.web import pages
from qassay.web.direct import direct_view
from qassay.web.guard import STRANGER_LIMIT
from qassay.web.routing import Done, Input, Number, ThePerson, TheSite, _person, _site

GIVEN = {_person: "person", _site: "site"}


class Sent(Input):
    """A body."""

    text: str


def plain(person: ThePerson, site: TheSite, number: Number, sent: Sent) -> Done: ...


async def waiting(sent: Sent) -> Done: ...


def with_query(sent: Sent, page: Annotated[int, Query()] = 1) -> Done: ...


def without_body(person: ThePerson, number: Number) -> Done: ...


def without_model(sent: Sent) -> dict[str, Any]: ...


def test_only_what_fits_is_answered_directly() -> None:
    direct = direct_view(plain, "/things/{number}", 201, GIVEN)
    assert direct is not None
    assert (direct.person, direct.site, direct.body, direct.status) == ("person", "site", "sent", 201)
    assert direct.arguments({"number": "7"}, b'{"text": "x"}') == {"number": 7, "sent": Sent(text="x")}
    for path, body in (({"number": "x"}, b'{"text": "x"}'), ({"number": "-1"}, b'{"text": "x"}')):
        assert direct.arguments(path, body) is None
    for body in (b"", b"{", b'{"text": 1}', b'{"text": "x", "more": 1}', b"[]", b'{"text": "x"} x'):
        assert direct.arguments({"number": "7"}, body) is None
    for view in (waiting, with_query, without_body, without_model):
        assert direct_view(view, "/things/{number}", 200, GIVEN) is None


def test_saves_are_answered_directly() -> None:
    routes = {route.path: route.direct for module in pages.load().values() for route in module.router.routes}
    for path in ("/api/judge/{assignment}/decisions", "/api/judge/{assignment}/undo"):
        assert routes[path] is not None
    assert all(direct is None for path, direct in routes.items() if not path.startswith("/api/"))


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'{"key": 1}', b'{"reason": "' + b"x" * 600 + b'"}', b'{"item": -1, "key": "0123456789abcdef"}'],
)
def test_the_framework_says_what_is_wrong(site: Any, accounts: dict[str, int], body: bytes) -> None:
    """The same words as where nothing is answered directly."""
    give_out(site, accounts)
    headers = {"Content-Type": "application/json", "Origin": "http://testserver"}
    answers = []
    for is_direct in (True, False):
        client = site.client("assessor")
        # Without a length the body is read after it is known who sends it, and by the framework.
        content = body if is_direct else iter([body])
        answers.append(client.post("/api/judge/1/flags", content=content, headers=headers))
    assert answers[0].status_code == answers[1].status_code == 422
    assert answers[0].json() == answers[1].json()


def test_a_stranger_is_refused_before_the_body_is_read(site: Any) -> None:
    with listening(site.app) as (_, port):
        for cookie, length, status in (("", 100, 401), ("Cookie: other=1; qassay=x\r\n", STRANGER_LIMIT + 1, 401)):
            head = (
                f"POST /api/judge/1/decisions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
                f"{cookie}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
            )
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                connection.sendall(head.encode())  # and no body
                assert int(connection.recv(65536).split(b" ", 2)[1]) == status


def test_a_session_that_was_ended_saves_nothing(site: Any, accounts: dict[str, int]) -> None:
    give_out(site, accounts)
    client, other = site.client("assessor"), site.client("assessor")
    sent = {"key": "0123456789abcdef", "item": 1, "part": "", "expected": 0, "verdict": {}}
    headers = {"Content-Type": "application/json", "Origin": "http://testserver"}
    assert client.post("/api/judge/1/decisions", content=json.dumps(sent), headers=headers).status_code == 404
    assert other.delete("/api/account/sessions", headers=headers).status_code == 200
    assert client.post("/api/judge/1/decisions", content=json.dumps(sent), headers=headers).status_code == 401
