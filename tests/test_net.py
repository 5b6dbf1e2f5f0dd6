"""Addresses that the user has named, with a hostile server behind them: whatever it sends, the answer is an error."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from qassay import client, net, tasks
from qassay.cli import main
from qassay.client import Client, ServerError
from qassay.collections import opensearch
from qassay.collections.opensearch import OpenSearchEngine
from qassay.errors import InputError
from qassay.questions import Question
from qassay.systems import Asked
from qassay.systems.harness.http import ChatCaller, HttpCaller
from qassay.systems.harness.wire import CallError

SECONDS = 0.4
ASKED = Asked(Question("1", "factoid", "Who?"))
HEAD = b"HTTP/1.1 %d OK\r\n"
OK, BUSY, ERROR = HEAD % 200, HEAD % 429, HEAD % 500
# What a server sends: pieces, one after the other, then the connection is closed, or (None) left open.
Pieces = Iterator[bytes | None]


def drip(start: bytes) -> Pieces:
    """The start, and then a byte now and then."""
    yield start
    for _ in range(200):
        time.sleep(SECONDS / 8)
        yield b"a"


def goes_on() -> Pieces:
    """An interim response, again and again."""
    for _ in range(200):
        yield b"HTTP/1.1 100 Continue\r\n\r\n"
        time.sleep(SECONDS / 8)


def body(head: bytes, content: bytes) -> Pieces:
    yield head + b"Content-Length: %d\r\n\r\n" % len(content) + content


SENT: dict[str, Callable[[], Pieces]] = {
    "nothing": lambda: iter([None]),
    "head drips": lambda: drip(OK + b"X-A: "),
    "status drips": lambda: drip(b"HTTP/1.1 "),
    "goes on later": goes_on,
    "body drips": lambda: drip(OK + b"Content-Length: 9000\r\n\r\n"),
    "endless body drips": lambda: drip(OK + b"\r\n"),
    "error drips": lambda: drip(ERROR + b"Content-Length: 9000\r\n\r\n"),
    "error stalls": lambda: iter([ERROR + b"Content-Length: 500\r\n\r\nabc", None]),
    "error is cut": lambda: iter([ERROR + b"Transfer-Encoding: chunked\r\n\r\n50\r\nabc"]),
    "error has no chunks": lambda: iter([ERROR + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc"]),
    "body is cut": lambda: iter([OK + b"Transfer-Encoding: chunked\r\n\r\n50\r\nabc"]),
    "wait is no number": lambda: body(BUSY + b"Retry-After: \xb2\r\n", b""),
    "wait is long": lambda: body(BUSY + b"Retry-After: " + b"9" * 5_000 + b"\r\n", b""),
    "not HTTP": lambda: iter([b"SSH-2.0-OpenSSH_9.6\r\n"]),
    "deep": lambda: body(OK, b"[" * 200_000),
    "deep error": lambda: body(ERROR, b"[" * 200_000),
    "large number": lambda: body(OK, b"9" * 10_000),
    "other form": lambda: body(OK, b'{"files": 3, "items": {"a": [1]}, "_shards": 7}'),
    "other form of an error": lambda: body(HEAD % 422, b'{"problems": [3, "x"], "error": [1]}'),
}


@pytest.fixture(params=list(SENT))
def hostile(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that answers so."""
    yield from serving(SENT[request.param])


def serving(pieces: Callable[[], Pieces]) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def answer(line: socket.socket) -> None:
        with closing(line), suppress(OSError):
            line.recv(1 << 16)
            for piece in pieces():
                if over.is_set():
                    return
                if piece is None:
                    over.wait(30)
                else:
                    line.sendall(piece)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    over.set()
    listener.close()


@pytest.fixture
def soon() -> Iterator[None]:
    """The test ends soon."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < 12 * SECONDS


def test_a_system(hostile: str, soon: None) -> None:
    with pytest.raises(CallError):
        HttpCaller(f"http://{hostile}/x").ask(ASKED, SECONDS)


def test_a_chat_model(hostile: str, soon: None) -> None:
    chat = ChatCaller(
        f"http://{hostile}/x", task=tasks.task("series2004"), collection=None, parameters={"model": "m"}, token=None
    )
    with pytest.raises(CallError):
        chat.ask(ASKED, SECONDS)


def test_a_server_of_an_evaluation(
    hostile: str, soon: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(client, "TIMEOUT", SECONDS)
    monkeypatch.setattr(client, "WAITS", ())
    server = Client(f"http://{hostile}", token="x")
    asks: list[Callable[[], object]] = [server.evaluation, lambda: list(server.items()), lambda: server.judged("s")]
    for ask in asks:
        with pytest.raises((ServerError, InputError)):
            ask()
    monkeypatch.setenv("QASSAY_TOKEN", "x")
    assert main(["submit", "my-track", "--server", f"http://{hostile}"]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_a_search_server(hostile: str, soon: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opensearch, "_TIME_OUT", SECONDS)
    monkeypatch.setattr(opensearch, "_WAITS", ())
    with pytest.raises(InputError):
        OpenSearchEngine(f"http://{hostile}", "x").done()


def test_tls_that_drips(soon: None) -> None:
    def record() -> Pieces:
        return drip(b"\x16\x03\x03\x40\x00")

    for address in serving(record):
        with pytest.raises(CallError, match="does not answer within"):
            HttpCaller(f"https://{address}/x").ask(ASKED, SECONDS)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "40", "retry-after": "9"}, 0.04),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_an_endpoint_asks_for(headers: dict[str, str], wait: float | None) -> None:
    assert net.retry_after(headers) == wait


def test_a_wait_may_be_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert net.retry_after({"retry-after": soon}) == pytest.approx(30, abs=3)


def test_a_request_is_sent_again_where_that_may_help(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(net.time, "sleep", waits.append)
    broken, busy = net.NoReplyError("broken", "x"), net.Reply(503, {"retry-after": "7"}, b"")
    answers = iter([broken, busy, net.Reply(429, {"retry-after": "999"}, b""), net.Reply(200, {}, b"{}")])

    def send() -> net.Reply:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert net.send_again(send, (0.5,) * 4).status == 200
    assert waits == [0.5, 7.0, net.LONGEST_WAIT]
    answers = iter([busy, busy, net.NoReplyError("certificate", "x"), broken, broken])
    assert net.send_again(send, (0.5,)) is busy
    for left in (4, 5):
        with pytest.raises(net.NoReplyError):
            net.send_again(send, (0.5,))
        assert len(waits) == left


def test_an_answer_is_not_longer_than_it_may_be() -> None:
    for address in serving(lambda: iter([OK + b"Transfer-Encoding: chunked\r\n\r\n200000\r\n", b"a" * (1 << 21)])):
        with pytest.raises(net.NoReplyError, match="more than 1 MiB"):
            net.exchange("GET", f"http://{address}/", headers={}, seconds=5, most=1 << 20)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://me:word@127.0.0.1/", "http://x:y/"])
def test_other_addresses_are_not_asked(url: str) -> None:
    with pytest.raises(net.NoReplyError, match="not an address"):
        net.exchange("GET", url, headers={}, seconds=5, most=10)


def test_no_redirect_is_followed_and_no_proxy_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    for address in serving(lambda: body(HEAD % 302 + b"Location: http://127.0.0.1:9/\r\n", b"")):
        reply = net.exchange("GET", f"http://{address}/", headers={}, seconds=5, most=10)
        assert (reply.status, reply.headers["location"]) == (302, "http://127.0.0.1:9/")
