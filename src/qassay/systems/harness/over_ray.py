"""Connections to a system that live on the nodes of a Ray cluster (the extra `ray`).

A connection becomes an actor, one for each of `--workers`, spread over the nodes: there the program is started, or the
reference system answers. The harness here keeps the order, the time-outs, the retries and the log. What a node needs
(Qassay, the program, the documents of a reference system under the same path) has to be there.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from qassay.errors import UsageError
from qassay.extras import require
from qassay.systems import Answer, Asked
from qassay.systems.harness.callers import Caller
from qassay.systems.harness.opening import UnderTest
from qassay.systems.harness.wire import CallError

LOCAL = "local"
# Seconds until an actor is placed and started.
STARTING = 120.0


def over_ray(system: UnderTest, address: str) -> UnderTest:
    """The same system, its connections on the cluster at this address; `local` starts one on this machine."""
    ray = cluster(address)
    return replace(system, connect=lambda: RayCaller(ray, system.connect))


def cluster(address: str) -> Any:
    """The module `ray`, connected to the cluster at this address; `local` starts one on this machine."""
    require("ray", "--ray")
    _knock(address)
    # Ray reports its use over the network unless told otherwise, and nobody has named that address.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray: Any = import_module("ray")
    try:
        ray.init(
            address=None if address == LOCAL else address,
            ignore_reinit_error=True,
            log_to_driver=False,
            logging_level="ERROR",
            include_dashboard=False if address == LOCAL else None,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UsageError(f"no Ray cluster at {address}: {error}") from None
    return ray


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


def started(ray: Any, host: type, *arguments: Any, calls: int = 1) -> Any:
    """An actor of this class (it has a method `ready`) on one of the nodes, when it is ready.

    There are as many as there are workers, spread over the nodes: the user says how many are good. An actor has to be
    placed and started before it can answer; that is not part of the time of an answer.
    """
    actor = ray.remote(host).options(num_cpus=0, max_concurrency=calls, scheduling_strategy="SPREAD").remote(*arguments)
    ray.get(actor.ready.remote(), timeout=STARTING)
    return actor


class _Host:
    """One connection, on the node. Failures go back as values, because exceptions lose their fields."""

    def __init__(self, connect: Callable[[], Caller]) -> None:
        self._caller = connect()

    def ready(self) -> bool:
        """Answer when the actor is ready."""
        return True

    def ask(self, asked: Asked, timeout: float) -> Answer | dict[str, Any]:
        """The answer, or what a CallError is made of."""
        try:
            return self._caller.ask(asked, timeout)
        except CallError as error:
            return error.fields()

    def close(self) -> dict[str, Any] | None:
        """Nothing, or what a CallError is made of."""
        try:
            self._caller.close()
        except CallError as error:
            return error.fields()
        return None

    def abort(self) -> None:
        """End all open calls."""
        self._caller.abort()


class RayCaller(Caller):
    """A connection on the cluster; a node that dies is a crash, and the next attempt starts on another."""

    def __init__(self, ray: Any, connect: Callable[[], Caller]) -> None:
        self._ray = ray
        self._connect = connect
        self._actor: Any = None

    def ask(self, asked: Asked, timeout: float) -> Answer:
        """Ask the actor."""
        outcome = self._get("ask", asked, timeout, seconds=timeout + 5.0)
        if isinstance(outcome, Answer):
            return outcome
        raise CallError(**outcome)

    def close(self) -> None:
        """End the connection on its node."""
        if self._actor is None:
            return
        failure = self._get("close", seconds=30.0)
        self._leave()
        if failure is not None:
            raise CallError(**failure)

    def abort(self) -> None:
        """End the actor, and with it what it has started."""
        if self._actor is not None:
            # The connection first: a killed actor would leave its program behind.
            self._actor.abort.remote()
        self._leave()

    def _get(self, method: str, *arguments: Any, seconds: float) -> Any:
        errors = self._ray.exceptions
        try:
            if self._actor is None:
                self._actor = started(self._ray, _Host, self._connect, calls=2)
            return self._ray.get(getattr(self._actor, method).remote(*arguments), timeout=seconds)
        except errors.GetTimeoutError:
            self.abort()
            raise CallError("timeout", f"no answer from the cluster within {seconds:g} s") from None
        except errors.RayError as error:
            self._leave()
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise CallError("crash", f"its node failed: {lines[-1][:300]}") from None

    def _leave(self) -> None:
        actor, self._actor = self._actor, None
        if actor is not None:
            self._ray.kill(actor)
