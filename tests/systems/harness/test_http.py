"""Systems behind an address, on loopback: plain JSON and OpenAI-compatible chat."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from qassay import net, tasks
from qassay.errors import UsageError
from qassay.questions import Question, TestSet
from qassay.systems import Asked
from qassay.systems.harness.driving import DriveOptions, drive
from qassay.systems.harness.http import HttpCaller
from qassay.systems.harness.opening import open_system
from qassay.systems.harness.wire import CallError, DriveError

SERIES = tasks.task("series2004")
OpenLog = Callable[..., Any]
QUESTION = Asked(Question("1", "factoid", "Who designed it?", "1", "Fram"))


class Server:
    """In place of the network: the answers of a test, a function from the request to status, headers and body."""

    url = "http://127.0.0.1:9"

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.reply: Callable[[Any], tuple[int, dict[str, str], bytes]] = lambda body: (200, {}, b'{"nil": true}')

    def exchange(self, method: str, url: str, *, headers: dict[str, str], body: bytes, **_: object) -> net.Reply:
        assert method == "POST"
        asked = json.loads(body)
        self.requests.append((url.removeprefix(self.url), headers, asked))
        status, headers, data = self.reply(asked)
        if status == 0:
            raise net.NoReplyError("broken", "breaks the connection")
        return net.Reply(status, headers, data)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server()
    monkeypatch.setattr(net, "exchange", server.exchange)
    return server


def ok(row: Any) -> tuple[int, dict[str, str], bytes]:
    return 200, {}, json.dumps(row).encode()


def chat(content: Any) -> tuple[int, dict[str, str], bytes]:
    return ok({"choices": [{"message": {"role": "assistant", "content": content}}]})


def test_an_address_answers(server: Server, two_series: TestSet, open_log: OpenLog) -> None:
    def reply(body: Any) -> tuple[int, dict[str, str], bytes]:
        if body["question"]["type"] == "factoid":
            return ok({"items": [{"doc": "D1", "text": body["question"]["id"]}], "confidence": 0.5})
        return ok({"items": [], "question": body["question"]["id"]})

    server.reply = reply
    with open_log(two_series) as log:
        system = open_system(f"{server.url}/ask", task=SERIES, token="T")
        answers = drive(system, two_series, task=SERIES, log=log, options=DriveOptions(workers=3))
        logged = log.path.read_text()
    assert answers["2.1"].items[0].text == "2.1"
    path, headers, _ = server.requests[0]
    assert path == "/ask"
    assert headers["Authorization"] == "Bearer T"
    assert "Bearer" not in logged
    assert "secret" not in json.dumps([body for _, _, body in server.requests])


@pytest.mark.parametrize(
    ("status", "headers", "kind", "again", "fatal"),
    [
        (500, {}, "unreachable", True, False),
        (503, {"retry-after": "7"}, "unreachable", True, False),
        (429, {"retry-after": "100000"}, "unreachable", True, False),
        (400, {}, "refused", False, False),
        (401, {}, "refused", False, True),
        (404, {}, "refused", False, True),
        (302, {"location": "http://elsewhere.invalid/"}, "refused", False, True),
        (0, {}, "crash", True, False),
    ],
)
def test_statuses(server: Server, status: int, headers: dict[str, str], kind: str, again: bool, fatal: bool) -> None:
    server.reply = lambda body: (status, headers, b"no\nluck")
    with pytest.raises(CallError) as failed:
        HttpCaller(server.url).ask(QUESTION, 5)
    assert (failed.value.kind, failed.value.again, failed.value.fatal) == (kind, again, fatal)
    assert failed.value.wait == {503: 7.0, 429: 60.0}.get(status)
    assert len(server.requests) == 1
    if status == 302:
        assert "http://elsewhere.invalid/, which was not named" in str(failed.value)


def test_an_address_that_refuses_us_ends_the_run(server: Server, two_series: TestSet, open_log: OpenLog) -> None:
    server.reply = lambda body: (401, {}, b"who are you?")
    system = open_system(server.url + "/x", task=SERIES)
    with open_log(two_series) as log, pytest.raises(DriveError, match=r"status 401 .*who are you\?"):
        drive(system, two_series, task=SERIES, log=log, options=DriveOptions(on_failure="nil", backoff=0.01))
    assert len(server.requests) == 1


def test_a_passing_trouble_is_waited_out(server: Server, two_series: TestSet, open_log: OpenLog) -> None:
    replies = iter([(503, {"retry-after": "0"}, b""), (0, {}, b"")])
    server.reply = lambda body: next(replies, ok({"nil": True} if body["question"]["type"] == "factoid" else {}))
    with open_log(two_series) as log:
        answers = drive(
            open_system(server.url + "/x", task=SERIES),
            two_series,
            task=SERIES,
            log=log,
            options=DriveOptions(backoff=0.01),
        )
    assert len(answers) == 7
    assert len(server.requests) == 9


def test_nobody_is_there() -> None:
    with pytest.raises(CallError, match="cannot be reached") as failed:
        HttpCaller("http://127.0.0.1:9/x").ask(QUESTION, 2)
    assert failed.value.again


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"answer": "x"}', b'{"items": [{"doc": 1}]}'])
def test_bodies_that_are_not_an_answer(server: Server, body: bytes) -> None:
    server.reply = lambda asked: (200, {}, body)
    with pytest.raises(CallError, match="its answer is not one"):
        HttpCaller(server.url).ask(QUESTION, 5)


def test_a_chat_model_is_shown_passages_and_history(
    server: Server, collect: Callable[..., Any], open_log: OpenLog
) -> None:
    documents = collect("Colin Archer designed the Fram.", "Nothing else.")
    questions = TestSet((QUESTION.question, Question("2", "factoid", "When?", "1", "Fram")))
    replies = iter(['{"items": [{"doc": "D1", "text": "Colin Archer"}]}', 'So:\n```json\n{"nil": true}\n```'])
    server.reply = lambda body: chat(next(replies))
    system = open_system(
        f"{server.url}/v1/chat/completions",
        task=SERIES,
        collection=documents,
        settings={"model": "m", "max_tokens": "50", "passages": "1"},
    )
    with open_log(questions) as log:
        answers = drive(system, questions, task=SERIES, log=log, collection=documents)
    assert (answers["1"].items[0].text, answers["2"].nil) == ("Colin Archer", True)
    first, second = (body for _, _, body in server.requests)
    assert (first["model"], first["max_tokens"], first["temperature"]) == ("m", 50, 0.0)
    content = first["messages"][1]["content"]
    assert "Document D1: Colin Archer designed the Fram." in content
    assert "Question: Who designed it?" in content
    assert "Your answer: Colin Archer" in second["messages"][1]["content"]
    assert '{"nil": true}' in first["messages"][0]["content"]


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (ok({"choices": []}), "not a chat completion"),
        (ok({"error": "x"}), "not a chat completion"),
        (ok([]), "not a chat completion"),
        ((200, {}, b'{"choices": "\xff"}'), "not a chat completion"),
        (chat(None), "message is empty"),
        (chat("I do not know."), "its answer is not one"),
    ],
)
def test_chat_that_is_not_an_answer(server: Server, reply: Any, message: str) -> None:
    server.reply = lambda body: reply
    system = open_system(f"{server.url}/chat/completions", task=SERIES)
    with pytest.raises(CallError, match=message):
        system.connect().ask(QUESTION, 5)


@pytest.mark.parametrize("name", tasks.names())
def test_every_task_has_instructions(server: Server, name: str) -> None:
    task = tasks.task(name)
    server.reply = lambda body: chat('{"items": []}')
    caller = open_system(f"{server.url}/chat/completions", task=task).connect()
    for kind in task.types:
        caller.ask(Asked(Question("1", kind, "text", hypothesis="h")), 5)
    for _, _, body in server.requests:
        assert "JSON" in body["messages"][0]["content"]
        assert not any(name in body["messages"][0]["content"] for name in ("{labels}", "{most}"))


def test_passages_is_a_number(server: Server) -> None:
    with pytest.raises(UsageError, match="passages takes a whole number"):
        open_system(f"{server.url}/chat/completions", task=SERIES, settings={"passages": "many"})
