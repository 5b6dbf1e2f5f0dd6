"""Bodies that are too long, too slow, too deep or not what they say: against a real server, over a socket."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Annotated, Any

import pytest
from fastapi import File, UploadFile
from listening import listening
from starlette.testclient import TestClient
from worksheets import give_out

from qassay.web.application import create_app
from qassay.web.guard import STRANGER_LIMIT
from qassay.web.routing import ORGANISERS, PUBLIC, Input, Router, TheSite

Client = Callable[..., TestClient]


class Anything(Input):
    """A body with a text and whatever else."""

    text: str = ""
    more: object = None
    number: float | None = None


def with_routes(site, **changes: object):
    """The application with an action that takes anything, and an upload."""
    router = Router()

    @router.action("POST", "/echo", roles=PUBLIC)
    def echo(sent: Anything) -> int:
        return len(sent.text)

    @router.action("POST", "/upload", roles=ORGANISERS, upload=True)
    def upload(site: TheSite, files: Annotated[list[UploadFile], File()]) -> list[int]:
        return [len(file.file.read()) for file in files]

    settings = replace(site.app.state.site.settings, **changes)
    app = create_app(site.folder, settings, store=site.store)
    app.router.routes.extend(router.routes)
    return replace(site, app=app)


@pytest.fixture
def server(site) -> Iterator[Callable[..., tuple[int, bytes]]]:
    """Send raw bytes to a server that waits half a second for a body; status and body of the answer."""
    with listening(with_routes(site, body_limit=10_000, body_seconds=0.5).app) as (_, port):

        def ask(head: str, *parts: bytes, pause: float = 0.0) -> tuple[int, bytes]:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                origin = f"http://127.0.0.1:{port}"
                lines = ["POST /api/echo HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Origin: {origin}", *head.split("\n")]
                connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
                try:
                    for part in parts:
                        connection.sendall(part)
                        time.sleep(pause)
                except OSError:
                    pass  # answered and closed before all was sent
                return _read(connection)

        yield ask


def _read(connection: socket.socket) -> tuple[int, bytes]:
    body = b""
    while b"\r\n\r\n" not in body:
        piece = connection.recv(65536)
        if not piece:
            break
        body += piece
    status = int(body.split(b" ", 2)[1]) if body else 0
    return status, body


JSON = "Content-Type: application/json\n"


def test_a_body_within_the_limits_is_taken(server) -> None:
    body = json.dumps({"text": "x" * 9000}).encode()
    status, answer = server(f"{JSON}Content-Length: {len(body)}", body)
    assert status == 200
    assert b"9000" in answer or b"content-length: 4" in answer.lower()


def test_a_body_that_announces_too_much_is_refused_before_it_is_read(server) -> None:
    status, answer = server(f"{JSON}Content-Length: 99999999999")
    assert status == 413
    assert b"content-security-policy" in answer.lower()


def test_chunks_without_a_length_are_counted(server) -> None:
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    status, _ = server(f"{JSON}Transfer-Encoding: chunked", *[chunk] * 10, b"0\r\n\r\n")
    assert status == 413
    small = b'b\r\n{"text":""}\r\n0\r\n\r\n'
    assert server(f"{JSON}Transfer-Encoding: chunked", small)[0] == 200


def test_a_body_that_comes_too_slowly_is_closed(server) -> None:
    status, _ = server(f"{JSON}Content-Length: 100", *[b"x"] * 8, pause=0.1)
    assert status == 408
    assert server(f"{JSON}Content-Length: 100")[0] == 408


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"text": "fine"}', 200),
        (b'{"more": ' + b"[" * 30 + b"]" * 30 + b"}", 200),
        (b'{"more": ' + b"[" * 50 + b"]" * 50 + b"}", 422),
        (b'{"more": ' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}", 422),
        (b"[" * 100_000, 422),
        (b'{"text": "' + b"[" * 100 + b'"}', 200),
        (b'{"text": "\\"' + b"[" * 100 + b'"}', 200),
        (b'{"text": "a\\u0000b"}', 422),
        (b'{"text": "a\\\\u0000b"}', 200),
        (b'{"text": "\\ud800"}', 422),
        (b'{"more": ["\\ud83d"]}', 422),
        (b'{"more": ["\\\\\\udC00x"]}', 422),
        (b'{"more": {"\\ud83d\\ud83d\\ude00": 1}}', 422),
        (b'{"more": ["\\\\ud83d", "\\uD83D\\uDE00", "\\u00e9"]}', 200),
        (b'{"more": ["\xed\xa0\x80"]}', 422),
        ('{"more": ["a\\u0000b"]}'.encode("utf-16-le"), 422),
        ('{"more": ["fine"]}'.encode("utf-32"), 422),
        (b'{"number": NaN}', 422),
        (b'{"number": 1e999}', 422),
        (b'{"number": 1}', 200),
        (b'{"number": true}', 422),
        (b'{"number": "1"}', 422),
        (b'{"text": "a", "unknown": 1}', 422),
        (b'{"text": ', 422),
        (b"", 422),
        (b"\xff\xfe", 422),
        (b'"just a text"', 422),
    ],
)
def test_json_that_is_hostile_or_broken(site, body: bytes, status: int) -> None:
    browser = with_routes(site).client()
    answer = browser.post("/api/echo", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    if status != 200:
        assert answer.json()["message"]


def test_a_refused_value_is_not_repeated(site) -> None:
    answer = site.client().post("/api/sign-in", json={"name": "x", "password": ["secret word"]})
    assert answer.status_code == 422
    assert "secret word" not in answer.text
    assert answer.json()["problems"] == [{"field": "password", "message": "this must be a valid string"}]


def test_uploads_have_their_own_limit(site) -> None:
    served = with_routes(site, body_limit=1000, upload_limit=100_000)
    browser = served.client("organiser")
    small = [("files", ("a.txt", b"x" * 40_000)), ("files", ("b.txt", b"y" * 10))]
    assert browser.post("/api/upload", files=small).json() == [40_000, 10]
    large = [("files", ("a.txt", b"x" * 200_000))]
    assert browser.post("/api/upload", files=large).status_code == 413
    assert browser.post("/api/echo", json={"text": "x" * 2000}).status_code == 413


def test_a_stranger_cannot_make_the_server_read_an_upload(site) -> None:
    served = with_routes(site)
    read = []

    def parts() -> Iterator[bytes]:
        for _ in range(3):
            read.append(1)
            yield b"x" * 1000

    headers = {"Content-Type": "application/octet-stream"}
    assert served.client().post("/api/upload", content=parts(), headers=headers).status_code == 401
    assert served.client("reader").post("/api/upload", content=parts(), headers=headers).status_code == 403


def test_null_characters_in_addresses_are_refused(client: Client) -> None:
    assert client("organiser").get("/api/people/%00").status_code == 400
    assert client().get("/sign-in?then=%00").status_code == 400


def test_a_body_that_is_missing_is_named(client: Client) -> None:
    """A program posts without a body: the answer said "Field required", and no field."""
    answer = client("organiser").post("/api/assignments/pool")
    assert answer.status_code == 422
    assert answer.json()["message"] == "the body is missing: send a JSON object, for example {}"


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
