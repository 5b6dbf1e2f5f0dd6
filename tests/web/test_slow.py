"""Clients that send, or read, a byte at a time: they are closed, and meanwhile the others are served."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Annotated, Any

import pytest
import uvicorn
from fastapi import File, UploadFile
from listening import listening
from starlette.responses import Response, StreamingResponse

from qassay.store.people.sessions import make_token
from qassay.web import application
from qassay.web.application import create_app
from qassay.web.routing import ORGANISERS, PUBLIC, Router, TheSite

# A limit that is reached within the test, and one that is not.
SOON, LATE = 0.5, 60.0
TOO_MUCH = 1 << 20


@dataclass(frozen=True)
class Line:
    """The way to a server."""

    server: uvicorn.Server
    port: int
    token: str

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def head(self, method: str, path: str, *more: str) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *more]
        return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n"

    def is_answered(self) -> bool:
        """Whether an honest client gets its answer, which comes from the store."""
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            asked.request("GET", "/health")
            return asked.getresponse().status == 200
        finally:
            asked.close()


def an_upload(length: int) -> tuple[bytes, tuple[str, str]]:
    """The body of an upload that holds one file of some length, and its headers."""
    before = b'--cut\r\nContent-Disposition: form-data; name="files"; filename="run.txt"\r\n\r\n'
    body = before + b"x" * length + b"\r\n--cut--\r\n"
    return body, ("Content-Type: multipart/form-data; boundary=cut", f"Content-Length: {len(body)}")


Serve = Callable[..., Line]


@pytest.fixture
def serve(site: Any, accounts: dict[str, int]) -> Iterator[Serve]:
    """Serve the evaluation with some limits, with an upload and a long download beside its own routes."""
    router = Router()

    @router.action("POST", "/upload", roles=ORGANISERS, upload=True)
    def upload(site: TheSite, files: Annotated[list[UploadFile], File()]) -> list[int]:
        with site.store.write():  # only when all has come
            return [len(file.file.read()) for file in files]

    @router.download("/long", roles=PUBLIC)
    def long() -> Response:
        return StreamingResponse((b"x" * TOO_MUCH for _ in range(1000)), media_type="text/plain")

    with ExitStack() as running:

        def serving_with(**limits: float) -> Line:
            settings = replace(site.app.state.site.settings, **limits)
            app = create_app(site.folder, settings, store=site.store)
            app.router.routes.extend(router.routes)
            with site.store.write() as connection:
                token = make_token(connection, accounts["organiser"], "test")
            return Line(*running.enter_context(listening(app)), token)

        yield serving_with


def trickle(connection: socket.socket, data: bytes) -> bytes:
    """Send bytes one by one until they are all sent or the other side has had enough; what it says to that."""
    try:
        for at in range(len(data)):
            connection.sendall(data[at : at + 1])
            connection.settimeout(0.05)
            try:
                if answer := connection.recv(65536):
                    return answer
                break
            except TimeoutError:
                continue
    except OSError:
        pass  # closed
    return b""


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side closes without a word."""
    connection.settimeout(20)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def ends(connection: socket.socket) -> bool:
    """Whether the other side closes after what is left of its answer, which may come in several pieces."""
    connection.settimeout(20)
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def test_a_head_that_comes_byte_by_byte_is_closed(serve: Serve) -> None:
    line = serve(head_seconds=SOON)
    with line.connect() as slow:
        assert trickle(slow, line.head("GET", "/health", "X-Long: " + "x" * 200)) == b""
        assert is_closed(slow)
    assert line.is_answered()


def test_a_silent_connection_is_closed(serve: Serve) -> None:
    line = serve(head_seconds=SOON)
    with line.connect() as silent:
        assert line.is_answered()
        assert is_closed(silent)


def test_the_second_head_of_a_connection_has_its_time_too(serve: Serve) -> None:
    line = serve(head_seconds=SOON)
    with line.connect() as slow:
        slow.sendall(line.head("GET", "/health"))
        assert slow.recv(65536).startswith(b"HTTP/1.1 200")
        time.sleep(SOON)  # nothing is begun: this time is not counted
        slow.sendall(line.head("GET", "/health"))
        assert slow.recv(65536).startswith(b"HTTP/1.1 200")
        assert trickle(slow, line.head("GET", "/health", "X-Long: " + "x" * 200)) == b""
        assert is_closed(slow)


def test_an_upload_that_comes_byte_by_byte_is_closed_and_others_are_served(site: Any, serve: Serve) -> None:
    line = serve(body_seconds=SOON)
    body, headers = an_upload(1000)
    with ExitStack() as slow:
        # More of them than the server has threads and the store has connections.
        many = [slow.enter_context(line.connect()) for _ in range(100)]
        for connection in many:
            connection.sendall(
                line.head("POST", "/api/upload", f"Authorization: Bearer {line.token}", *headers) + body[:1]
            )
        assert line.is_answered()
        with site.store.write():
            pass  # nobody holds it
        assert trickle(many[0], body[1:]).startswith(b"HTTP/1.1 408 ")
        assert ends(many[0])
        for connection in many[1:]:
            assert connection.recv(65536).startswith(b"HTTP/1.1 408 ")


def test_an_upload_without_a_length_is_refused_where_it_grows_too_long(serve: Serve) -> None:
    line = serve(upload_limit=1000)
    body, headers = an_upload(2000)
    chunked = f"{len(body):x}\r\n".encode() + body + b"\r\n"
    sent = (f"Authorization: Bearer {line.token}", headers[0], "Transfer-Encoding: chunked")
    with line.connect() as connection:
        connection.sendall(line.head("POST", "/api/upload", *sent) + chunked)
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_an_upload_over_a_slow_line_takes_its_time(serve: Serve) -> None:
    line = serve(body_seconds=SOON, body_rate=2_000)
    body, headers = an_upload(30_000)
    with line.connect() as steady:
        steady.sendall(line.head("POST", "/api/upload", f"Authorization: Bearer {line.token}", *headers))
        for at in range(0, len(body), 3_000):  # 30,000 bytes per second, twice as long as a short body may take
            steady.sendall(body[at : at + 3_000])
            time.sleep(0.1)
        assert steady.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_body_that_was_refused_does_not_trickle_on(serve: Serve) -> None:
    line = serve(head_seconds=SOON)
    body, headers = an_upload(1000)
    with line.connect() as stranger:
        stranger.sendall(line.head("POST", "/api/upload", "Origin: http://127.0.0.1", *headers))
        assert stranger.recv(65536).startswith(b"HTTP/1.1 4")
        stranger.settimeout(20)
        trickle(stranger, body)
        assert is_closed(stranger)


def test_a_head_that_does_not_end_is_refused(serve: Serve) -> None:
    line = serve(head_seconds=LATE)
    with line.connect() as endless:
        endless.sendall(line.head("GET", "/health")[:-2])
        answered = b""
        for number in range(1000):
            try:
                endless.sendall(f"X-{number}: {'x' * 1000}\r\n".encode())
            except OSError:
                break
            endless.settimeout(0.001)
            try:
                answered = endless.recv(65536)
                break
            except TimeoutError:
                continue
    assert answered.split()[1] in (b"431", b"400")  # the latter where there is no httptools
    assert line.is_answered()


def test_a_head_that_does_not_end_is_refused_while_an_answer_is_under_way(serve: Serve) -> None:
    line = serve(reading_seconds=LATE)
    with line.connect() as endless:
        endless.sendall(line.head("GET", "/long"))
        endless.recv(1)  # it has begun, and goes on as long as we do not read
        endless.sendall(line.head("GET", "/health")[:-2])
        lines = b"".join(b"X-%d: %s\r\n" % (number, b"x" * 1000) for number in range(10_000))
        with pytest.raises(ConnectionError):
            endless.sendall(lines)
    assert line.is_answered()


def test_an_answer_that_nobody_reads_is_not_kept(serve: Serve) -> None:
    line = serve(reading_seconds=SOON)
    with line.connect() as deaf:
        deaf.sendall(line.head("GET", "/long"))
        deaf.recv(1)  # it has begun
        for _ in range(400):
            if not line.server.server_state.connections:
                break
            time.sleep(0.05)
        assert not line.server.server_state.connections
    assert line.is_answered()


def test_who_has_waited_longest_gives_way(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "MOST_WAITING", 5)
    line = serve(head_seconds=LATE)
    with ExitStack() as crowd:
        silent = [crowd.enter_context(line.connect()) for _ in range(5)]
        assert line.is_answered()
        assert is_closed(silent[0])
        silent[4].sendall(line.head("GET", "/health"))
        assert silent[4].recv(65536).startswith(b"HTTP/1.1 200")
