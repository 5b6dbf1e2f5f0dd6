"""A server that speaks OpenAI's protocol over real HTTP, for tests and benchmarks; a script makes its replies.

The script gets each request as an object and returns a text, an object (sent as JSON), or a `ScriptedReply` with the
faults of a real endpoint: a status, headers, a delay, half an answer. Requests are counted, each by what it asks.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

LARGEST = 64 << 20
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_BLOCK = re.compile(r"\[(\w+) ([0-9a-f]{12})\]\n(.*?)\n\[end of \1 \2\]", re.DOTALL)
_COUNT = re.compile(r"each number from 1 to (\d+) once")


@dataclass(frozen=True)
class ScriptedReply:
    """What the server says, and how."""

    content: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    # Only this number of bytes of the response is sent before the connection is closed.
    cut: int | None = None
    # The body as it is, in the place of a completion.
    raw: bytes | None = None
    finish: str = "stop"
    refusal: str | None = None
    usage: bool = True
    # Tokens with their log-probabilities; by default every character of the content with 0.
    tokens: list[tuple[str, float]] | None = None


Script = Callable[[dict[str, Any]], Any]


@dataclass
class ModelServer:
    """A server in a thread of its own, on a free port of this machine."""

    script: Script
    port: int = 0
    calls: int = 0
    # How often each user message was sent; left empty by a server that only counts.
    asked: Counter[str] = field(default_factory=Counter)
    keep: bool = True
    under_way: int = 0
    most_under_way: int = 0
    headers: list[str] = field(default_factory=list)
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address that an assessor is given."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> ModelServer:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve(ready.set)), daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(5)

    async def serve(self, ready: Callable[[], object]) -> None:
        """Serve until it is stopped."""
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        open_: set[asyncio.Task[Any]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            open_.add(task)
            try:
                await self._connection(reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                pass
            finally:
                open_.discard(task)
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", self.port, limit=1 << 20, backlog=4096)
        self.port = server.sockets[0].getsockname()[1]
        ready()
        await self._over.wait()
        server.close()
        for task in list(open_):
            task.cancel()
        await asyncio.gather(*open_, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            match = _LENGTH.search(head)
            body = await reader.readexactly(min(int(match[1]) if match else 0, LARGEST))
            self.calls += 1
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            try:
                request = json.loads(body)
                if self.keep:
                    self.asked[request["messages"][-1]["content"]] += 1
                    self.headers.append(head.decode("latin-1"))
                reply = self.script(request)
                reply = reply if isinstance(reply, ScriptedReply) else ScriptedReply(reply)
                if reply.delay:
                    await asyncio.sleep(reply.delay)
                sent = _response(reply, request)
            finally:
                self.under_way -= 1
            writer.write(sent if reply.cut is None else sent[: reply.cut])
            await writer.drain()
            if reply.cut is not None:
                return


def _response(reply: ScriptedReply, request: Mapping[str, Any]) -> bytes:
    body = reply.raw if reply.raw is not None else _completion(reply, request)
    headers = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
    head = f"HTTP/1.1 {reply.status} Said\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


def _completion(reply: ScriptedReply, request: Mapping[str, Any]) -> bytes:
    content = reply.content if isinstance(reply.content, str) else json.dumps(reply.content)
    if reply.status != 200:
        return json.dumps({"error": {"message": content}}).encode()
    message = {"role": "assistant", "content": None if reply.refusal else content, "refusal": reply.refusal}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": reply.finish}
    if request.get("logprobs") and reply.tokens is not None:
        choice["logprobs"] = {"content": [{"token": text, "logprob": value} for text, value in reply.tokens]}
    answer: dict[str, Any] = {"object": "chat.completion", "model": request["model"], "choices": [choice]}
    if reply.usage:
        read = sum(len(row["content"]) for row in request["messages"]) // 4
        answer["usage"] = {"prompt_tokens": read, "completion_tokens": len(content) // 4}
    return json.dumps(answer).encode()


def data_of(request: Mapping[str, Any]) -> dict[str, str]:
    """The texts between the marks of a request's message, by name."""
    first = next(row["content"] for row in request["messages"] if row["role"] == "user")
    return {name: text for name, _, text in _BLOCK.findall(first)}


def number_of_decisions(request: Mapping[str, Any]) -> int | None:
    """How many numbered decisions a request asks for; None where it asks for one."""
    match = _COUNT.search(request["messages"][-1]["content"])
    return int(match[1]) if match else None


@contextmanager
def serving(script: Script, **settings: Any) -> Iterator[ModelServer]:
    """A server with a script."""
    with ModelServer(script, **settings) as server:
        yield server
