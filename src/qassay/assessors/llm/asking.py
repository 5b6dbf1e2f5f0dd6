"""The calls of a job, in an event loop of their own: cached answers first, bounded repeats, money kept in sight."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from qassay.assessors.llm.answers import Cache, UsableAnswer, now
from qassay.assessors.llm.calls import Call, key_of
from qassay.assessors.llm.client import EndpointClient, GivenUpError, StoppedError
from qassay.assessors.llm.cost import Spending
from qassay.assessors.llm.endpoint import Carrier, Endpoint, connections
from qassay.assessors.llm.forms import MalformedError, Verdict
from qassay.assessors.llm.pace import Pace
from qassay.assessors.llm.protocol import SHOWN, Completion, Dialect, RefusalError, Settings, read_completion
from qassay.net import shown

# The most of an answer that is kept in a trace or a record of a failure, in characters.
LONGEST_RAW = 20_000
# Calls in a row without a usable answer, after which the others are not asked.
MOST_UNUSABLE = 10
_AGAIN = "Your answer cannot be used: {fault}. {form}"


class FailedError(Exception):
    """A call without a usable answer."""

    def __init__(self, reason: str, raw: str = "") -> None:
        self.reason, self.raw = reason, raw
        super().__init__(reason)

    def in_words(self) -> str:
        """Why, with the beginning of what the model said."""
        said = shown(self.raw, SHOWN)
        return shown(self.reason, SHOWN) + (f" (it said: {said})" if said else "")


class LimitError(Exception):
    """A call that would pass the spending limit: it was not made."""


@dataclass(frozen=True)
class CheckedAnswer:
    """The answer to a call: as it is kept, and the verdicts read from it."""

    answer: UsableAnswer
    verdicts: list[Verdict]


@dataclass(frozen=True)
class Model:
    """Which model is asked, where, and how."""

    name: str
    endpoint: Endpoint
    settings: Settings = field(default_factory=Settings)
    # How often a malformed answer is asked for before the call fails; a broken call is tried more often.
    asks: int = 3
    attempts: int = 6
    timeout: float = 120.0
    parallel: int = 256
    # What carries requests there: connections of this process, unless a cluster has them.
    connect: Callable[[Endpoint], Carrier] = field(default=connections, compare=False, repr=False)

    def parameters(self) -> dict[str, Any]:
        """The part of a trace under which answers are kept."""
        return {"temperature": self.settings.temperature, "max_tokens": self.settings.max_tokens}


@dataclass
class Asking:
    """The tools of a job that asks; made and used in its event loop."""

    model: Model
    cache: Cache
    client: EndpointClient
    account: Spending
    _under_way: dict[tuple[str, int], asyncio.Future[CheckedAnswer]] = field(default_factory=dict)
    _settled: asyncio.Event = field(default_factory=asyncio.Event)
    _paying: int = 0
    # The calls that were asked in their order; which of them failed, how many are under way, and whether one succeeded.
    _number: int = 0
    _failed: set[int] = field(default_factory=set)
    _trying: int = 0
    _succeeded: bool = False
    _stopped: str | None = None

    @classmethod
    def of(cls, model: Model, folder: Path, account: Spending) -> Asking:
        """Open the cache and get ready to call."""
        model = replace(model, endpoint=model.endpoint.with_key())
        carrier = model.connect(model.endpoint)
        pace = Pace(carrier.room(model.parallel))
        client = EndpointClient(model.endpoint, carrier, pace, model.timeout, model.attempts)
        return cls(model, Cache(folder), client, account)

    async def close(self) -> None:
        """End connections and cache."""
        await self.client.close()
        self.cache.close()

    async def answer(self, call: Call, repeat: int) -> CheckedAnswer:
        """The answer to a call, from the cache or from the model; two equal calls at a time are one."""
        key = key_of(call, self.model.name, self.model.endpoint.url, self.model.parameters())
        cached = self.cache.get(key, repeat)
        if cached is not None:
            try:
                verdicts = call.form.read(cached.content, call.check)
            except MalformedError:
                pass  # the rules of the task have changed since
            else:
                self.account.cached += 1
                return CheckedAnswer(cached, verdicts)
        waiting = self._under_way.get((key, repeat))
        if waiting is not None:
            return await asyncio.shield(waiting)
        mine: asyncio.Future[CheckedAnswer] = asyncio.get_running_loop().create_future()
        self._under_way[key, repeat] = mine
        try:
            asked = await self._counted(call)
            self._keep(key, repeat, asked.answer)
        except BaseException as error:
            if isinstance(error, Exception):
                mine.set_exception(error)
                mine.exception()  # somebody may be waiting for it, or nobody
            else:
                mine.cancel()
            raise
        else:
            mine.set_result(asked)
            return asked
        finally:
            del self._under_way[key, repeat]

    def _keep(self, key: str, repeat: int, answer: UsableAnswer) -> None:
        """Keep an answer; those that come in the same turn of the loop are written together, at its end."""
        if not self.cache.is_open:
            asyncio.get_running_loop().call_soon(self.cache.commit)
        self.cache.put(key, repeat, answer)

    async def _counted(self, call: Call) -> CheckedAnswer:
        """The answer to a call; an error that ends the job after too many calls in a row without a usable one.

        Until there is one, no more calls than that are begun: what is useless is not paid for many times.
        """
        while self._trying + len(self._failed) >= MOST_UNUSABLE and not self._succeeded:
            self._settled.clear()
            await self._settled.wait()
        number = self._number
        self._number += 1
        self._trying += 1
        try:
            asked = await self._asked(call)
        except FailedError as failure:
            self._failed.add(number)
            if self._in_a_row(number) >= MOST_UNUSABLE or (len(self._failed) >= MOST_UNUSABLE and not self._succeeded):
                self._stopped = f"{MOST_UNUSABLE} calls in a row have no usable answer; the last: {failure.in_words()}"
                raise StoppedError(self._stopped) from None
            raise
        else:
            self._succeeded = True
            return asked
        finally:
            self._trying -= 1
            self._settled.set()

    def _in_a_row(self, number: int) -> int:
        """How many calls around one failed without a gap, in the order in which they were asked."""
        first = last = number
        while first - 1 in self._failed:
            first -= 1
        while last + 1 in self._failed:
            last += 1
        return last - first + 1

    async def _asked(self, call: Call) -> CheckedAnswer:
        """Ask until an answer can be used, a bounded number of times."""
        messages = list(call.messages)
        spent = [0, 0]
        fault, completion = MalformedError(""), Completion("", None, 0, 0)
        for attempts in range(1, self.model.asks + 1):
            if self._stopped:
                raise StoppedError(self._stopped)
            completion, unusable = await self._completed(messages, call, again=attempts > 1)
            spent[0] += completion.input_tokens
            spent[1] += completion.output_tokens
            try:
                if unusable is not None:
                    raise unusable
                verdicts = call.form.read(completion.content, call.check)
            except MalformedError as error:
                fault = error
                if isinstance(error, RefusalError):
                    break
                correction = _AGAIN.format(fault=error, form=call.form.in_words())
                answered = [{"role": "assistant", "content": completion.content[:LONGEST_RAW] or "(nothing)"}]
                messages = [*call.messages, *answered, {"role": "user", "content": correction}]
                continue
            return CheckedAnswer(self._answer_of(call, completion, spent, attempts), verdicts)
        raise FailedError(
            self.model.endpoint.without_key(str(fault)),
            self.model.endpoint.without_key(completion.content)[:LONGEST_RAW],
        )

    def _answer_of(self, call: Call, completion: Completion, spent: list[int], attempts: int) -> UsableAnswer:
        price = self.account.price
        return UsableAnswer(
            self.model.endpoint.without_key(completion.content),
            completion.model,
            spent[0],
            spent[1],
            None if price is None else price.of(spent[0], spent[1]),
            now(),
            attempts,
            completion.estimated,
            call.form.chances(completion.content, completion.tokens) if completion.tokens else [],
        )

    async def _completed(
        self, messages: list[Mapping[str, str]], call: Call, *, again: bool
    ) -> tuple[Completion, MalformedError | None]:
        """One paid call, within the limit."""
        schema = call.form.schema()
        model, settings = self.model.name, self.model.settings

        written: dict[Dialect, bytes] = {}

        def request(dialect: Dialect) -> bytes:
            if dialect not in written:
                written[dialect] = dialect.body(model, messages, schema, settings)
            return written[dialect]

        size = len(request(self.client.dialect))
        most = self.account.most(size, settings.max_tokens)
        await self._reserve(most)
        try:
            completion, unusable = read_completion(await self.client.ask(request, again=again), size)
            self.account.paid(completion.input_tokens, completion.output_tokens, estimated=completion.estimated)
            return completion, unusable
        except GivenUpError as error:
            raise FailedError(str(error)) from None
        finally:
            self._release(most)

    async def _reserve(self, most: float) -> None:
        """Put the money for a call aside; wait for calls under way where it does not fit."""
        while not self.account.fits(most):
            if not self._paying:
                raise LimitError
            self._settled.clear()
            await self._settled.wait()
        self._paying += 1
        self.account.reserved += most

    def _release(self, most: float) -> None:
        self._paying -= 1
        self.account.reserved = self.account.reserved - most if self._paying else 0.0
        self._settled.set()


class Loop:
    """An event loop in a thread: work goes in, results come out as they are ready.

    A thread of its own, because the caller may be in a loop already, as a notebook is.
    """

    def __init__(self, opened: Callable[[], Asking]) -> None:
        self._opened = opened
        # Works and results change hands together: waking the other thread for each would cost more than most works do.
        self._works: deque[tuple[Any, Callable[[Asking], Awaitable[Any]]]] = deque()
        self._is_woken = False
        self._done: list[tuple[Any, Any]] = []
        self._results: queue.SimpleQueue[list[tuple[Any, Any]]] = queue.SimpleQueue()
        self._taken: deque[tuple[Any, Any]] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._over: asyncio.Event | None = None
        self._ready = threading.Event()
        self._fault: BaseException | None = None
        self.asking: Asking | None = None
        self._thread = threading.Thread(target=self._run, name="models", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._fault is not None:
            self._thread.join()
            raise self._fault

    def submit(self, subject: Any, work: Callable[[Asking], Awaitable[Any]]) -> None:
        """Start a work; `take` gives its result together with `subject`."""
        assert self._loop is not None
        self._works.append((subject, work))
        if not self._is_woken:
            self._is_woken = True
            self._loop.call_soon_threadsafe(self._start)

    def take(self) -> tuple[Any, Any]:
        """The next result, or the exception in its place."""
        if not self._taken:
            self._taken.extend(self._results.get())
        return self._taken.popleft()

    def has_result(self) -> bool:
        """Whether a result is waiting."""
        return bool(self._taken) or not self._results.empty()

    def close(self) -> None:
        """Cancel all open requests and end the loop."""
        if self._loop is not None and self._over is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        try:
            self.asking = self._opened()
        except BaseException as error:  # noqa: BLE001  # it is raised in the thread that waits for the loop
            self._fault = error
            return
        finally:
            self._ready.set()
        try:
            await self._over.wait()
        finally:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self.asking.close()

    def _start(self) -> None:
        # Before the works are taken: one that is submitted meanwhile wakes the loop again.
        self._is_woken = False
        loop = asyncio.get_running_loop()
        while self._works:
            task = loop.create_task(self._work(*self._works.popleft()))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _work(self, subject: Any, work: Callable[[Asking], Awaitable[Any]]) -> None:
        assert self.asking is not None
        try:
            result = await work(self.asking)
        except Exception as error:  # noqa: BLE001  # it is raised where the result is taken
            result = error
        if not self._done:
            asyncio.get_running_loop().call_soon(self._hand_over)
        self._done.append((subject, result))

    def _hand_over(self) -> None:
        done, self._done = self._done, []
        self._results.put(done)


def as_row(failure: FailedError, **about: Any) -> dict[str, Any]:
    """A failure as it is recorded."""
    row = {**about, "reason": failure.reason, "raw": failure.raw or None}
    return {name: value for name, value in msgspec.to_builtins(row).items() if value is not None}
