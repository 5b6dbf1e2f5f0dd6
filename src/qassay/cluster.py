"""Parts of the program on the nodes of a Ray cluster (the extra `ray`).

A part is an object that is made on a node, in an actor, by a function that travels there. Its methods are called from
here, and what they raise is raised here. What a part needs (Qassay, its module or program, documents under the same
path) has to be on the node. Order, journal, retries and time limits stay with the caller.

    Cluster    the connection, and how a part is packed       Actor    one part at work on a node
    Pool       actors that take turns; a call whose actor dies goes to another one
"""

from __future__ import annotations

import asyncio
import os
import pickle
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

from qassay.errors import QassayError, UsageError
from qassay.extras import require

LOCAL = "local"
# Seconds until an actor is placed and started, and until a part has closed what it keeps open.
STARTING, CLOSING = 120.0, 30.0
# Actors that a call of a pool may end before it fails.
ATTEMPTS = 3


class GoneError(Exception):
    """An actor gave no answer: it has ended, or is late."""

    def __init__(self, message: str, *, is_late: bool = False) -> None:
        super().__init__(message)
        self.is_late = is_late


class Cluster:
    """The cluster at an address; `local` starts one on this machine."""

    def __init__(self, address: str) -> None:
        require("ray", "--ray")
        _knock(address)
        # Ray reports its use over the network unless told otherwise, and nobody has named that address.
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        self.ray: Any = import_module("ray")
        try:
            self.ray.init(
                address=None if address == LOCAL else address,
                ignore_reinit_error=True,
                log_to_driver=False,
                logging_level="ERROR",
                include_dashboard=False if address == LOCAL else None,
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise UsageError(f"no Ray cluster at {address}: {error}") from None

    def processors(self) -> int:
        """The number of processors of all nodes."""
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))

    def packed(self, make: Callable[[], Any], name: str) -> Any:
        """The function that makes a part as the nodes get it: in Ray's store of objects, fetched once per node."""
        try:
            return self.ray.put(self.ray.cloudpickle.dumps(make))
        except Exception as error:  # noqa: BLE001  # other people's objects refuse in their own ways
            raise UsageError(f"{name} cannot be sent to a Ray cluster: {error}; go on without --ray") from None

    def start(self, packed: Any, number: int = 1, *, at_once: int = 1) -> list[Actor]:
        """Actors with this part, spread over the nodes, when they are ready.

        There are as many as there are workers: the user says how many are good. An actor has to be placed and started
        before it can answer; that is not part of the time of an answer.
        """
        actors = [self.placed(packed, at_once=at_once) for _ in range(number)]
        try:
            with _gone(self.ray, STARTING):
                self.ray.get([actor.handle.ready.remote() for actor in actors], timeout=STARTING)
        except GoneError as error:
            for actor in actors:
                actor.end()
            if not error.is_late:
                raise
            raise UsageError("the Ray cluster has no place for more workers; lower --workers") from None
        return actors

    def placed(self, packed: Any, *, at_once: int = 1) -> Actor:
        """An actor with this part on one of the nodes; calls wait in it until it is ready."""
        options = {"num_cpus": 0, "max_concurrency": at_once, "scheduling_strategy": "SPREAD"}
        return Actor(self.ray, self.ray.remote(_Host).options(**options).remote(packed, str(Path.cwd())))


@dataclass(eq=False)
class Actor:
    """One part at work on a node."""

    ray: Any
    handle: Any
    # Calls under way, as the caller counts them.
    busy: int = 0

    def call(self, method: str, *arguments: Any, seconds: float | None = None) -> Any:
        """What a method of the part returns, or raises; a GoneError where the actor ends or is late."""
        with _gone(self.ray, seconds):
            outcome = self.ray.get(self.handle.call.remote(method, *arguments), timeout=seconds)
        return _result(outcome)

    async def call_async(self, method: str, *arguments: Any, seconds: float) -> Any:
        """The same for a part whose methods are asynchronous."""
        with _gone(self.ray, seconds):
            async with asyncio.timeout(seconds):
                outcome = await self.handle.call.remote(method, *arguments)
        return _result(outcome)

    def close(self) -> None:
        """Let the part close what it keeps open, and end the actor."""
        try:
            self.call("close", seconds=CLOSING)
        finally:
            self.end()

    def abort(self) -> None:
        """End what the part is doing, and the actor: a killed one would leave the programs that it started."""
        self.handle.call.remote("abort")
        self.end()

    def end(self) -> None:
        """End the actor."""
        self.ray.kill(self.handle)


@dataclass(frozen=True, eq=False)
class ActorPool:
    """Actors with one part, each of which has one call at a time."""

    cluster: Cluster
    packed: Any
    _free: list[Actor] = field(default_factory=list, repr=False)

    def call(self, method: str, *arguments: Any) -> Any:
        """What a method of the part returns, or raises; a GoneError where it has ended three actors."""
        gone = GoneError("")
        for _ in range(ATTEMPTS):
            actor = None
            try:
                actor = self._actor()
                result = actor.call(method, *arguments)
            except GoneError as error:
                gone = error
                if actor is not None:
                    actor.end()
            except Exception:
                if actor is not None:
                    self._free.append(actor)
                raise
            else:
                self._free.append(actor)
                return result
        raise gone

    def _actor(self) -> Actor:
        try:
            return self._free.pop()
        except IndexError:
            return self.cluster.start(self.packed)[0]

    def close(self) -> None:
        """End the actors, and what they started."""
        while self._free:
            with suppress(GoneError):
                self._free.pop().close()


def _knock(address: str) -> None:
    """Stop at an address where nothing answers: Ray itself would go on trying for minutes."""
    parts = re.fullmatch(r"(?:ray://)?(?P<host>[^:/]+):(?P<port>\d+)/?", address)
    if parts is None:
        if address not in (LOCAL, "auto"):
            raise UsageError(f"--ray takes HOST:PORT, auto or local, not {address!r}")
        return
    try:
        socket.create_connection((parts["host"], int(parts["port"])), timeout=5).close()
    except (OSError, OverflowError) as error:
        raise UsageError(f"no Ray cluster at {address}: {error}") from None


@contextmanager
def _gone(ray: Any, seconds: float | None) -> Iterator[None]:
    try:
        yield
    except (ray.exceptions.GetTimeoutError, TimeoutError):
        raise GoneError(f"no answer from the cluster within {seconds:g} s", is_late=True) from None
    except ray.exceptions.RayError as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise GoneError(lines[-1][:300]) from None


# ---- on the node ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Failure:
    """What a part raised. It goes back as a value: raised on a node, it would come as another exception."""

    error: Exception


def _failure(error: Exception) -> _Failure:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  # made here
    except Exception:  # noqa: BLE001  # other people's exceptions need not travel
        text = str(error)
        return _Failure(UsageError(text if isinstance(error, QassayError) else f"{type(error).__name__}: {text}"))
    return _Failure(error)


def _result(outcome: Any) -> Any:
    if isinstance(outcome, _Failure):
        raise outcome.error
    return outcome


class _Host:
    """An actor: makes its part and calls it."""

    def __init__(self, packed: bytes, folder: str) -> None:
        import sys

        # A module beside the user is found here too, where the node has the folder.
        if folder not in sys.path:
            sys.path.append(folder)
        self._part = pickle.loads(packed)()  # noqa: S301  # made by the job that started this actor

    def ready(self) -> bool:
        """Answer when the actor is ready."""
        return True

    async def call(self, method: str, *arguments: Any) -> Any:
        """The result of a method; one that is not asynchronous runs in a thread, beside the others."""
        work = getattr(self._part, method)
        try:
            return await (work(*arguments) if iscoroutinefunction(work) else asyncio.to_thread(work, *arguments))
        except Exception as error:  # noqa: BLE001  # it is raised where the method was called
            return _failure(error)
