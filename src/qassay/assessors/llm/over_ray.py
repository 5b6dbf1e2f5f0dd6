"""The calls of a language model over the nodes of a Ray cluster (the extra `ray`).

One process keeps the job together: the one that was started. It has the cache, the account with its spending limit, the
pace learned from the endpoint, and the repeats, so that all of them hold as they do without a cluster. The nodes have
the connections: each of `workers` actors sends requests and reads replies, many at a time.

An actor that dies, alone or with its node, is replaced. The requests that were under way in it have no reply; they are
sent again, like those of any broken connection. Every reply that came back is kept by then.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from qassay.assessors.llm.assessor import LanguageModel
from qassay.assessors.llm.connections import Connections, GivenUpError, Reply, UnreachableError
from qassay.assessors.llm.endpoint import Endpoint
from qassay.errors import UsageError
from qassay.systems.harness.over_ray import STARTING

# Requests under way in one worker, at most.
PLACES = 1_000
# What a worker sends back: a reply, why there is none, or why the reply cannot be used.
Outcome = tuple[int, dict[str, str], bytes] | tuple[str, str]


def model_over_ray(assessor: LanguageModel, ray: Any, workers: int) -> LanguageModel:
    """The same assessor, its requests sent from the nodes of the cluster that `ray` is connected to."""
    connect = partial(over_workers, ray=ray, workers=workers, timeout=assessor.model.timeout)
    return replace(assessor, model=replace(assessor.model, connect=connect))


def over_workers(endpoint: Endpoint, *, ray: Any, workers: int, timeout: float) -> RayCarrier:
    """A carrier with all its workers started."""
    carrier = RayCarrier(ray, endpoint, timeout)
    carrier.workers += [carrier.started() for _ in range(workers)]
    try:
        ray.get([worker.actor.ready.remote() for worker in carrier.workers], timeout=STARTING)
    except ray.exceptions.GetTimeoutError:
        carrier.kill()
        raise UsageError("the Ray cluster has no place for the workers of a language model; lower --workers") from None
    except ray.exceptions.RayError as error:
        carrier.kill()
        last = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        raise UsageError(f"a worker of the Ray cluster cannot start: {last[:300]}") from None
    return carrier


@dataclass(eq=False)
class Worker:
    """An actor, and how many requests are under way in it."""

    actor: Any
    busy: int = 0


@dataclass(eq=False)
class RayCarrier:
    """Carries requests through the workers of a cluster, to the least busy one."""

    ray: Any
    endpoint: Endpoint
    timeout: float
    workers: list[Worker] = field(default_factory=list)

    def started(self) -> Worker:
        """A new worker on one of the nodes; requests wait in it until it is ready."""
        remote_class = self.ray.remote(_Sender).options(
            num_cpus=0, max_concurrency=PLACES, scheduling_strategy="SPREAD"
        )
        return Worker(remote_class.remote(self.endpoint, self.timeout))

    def places(self, parallel: int) -> int:
        """As many as wanted, or as the workers have."""
        return min(parallel, PLACES * len(self.workers))

    async def post(self, body: bytes) -> Reply:
        """The reply to a request."""
        worker = min(self.workers, key=lambda worker: worker.busy)
        worker.busy += 1
        try:
            outcome: Outcome = await worker.actor.post.remote(body)
        except self.ray.exceptions.RayError as error:
            self._replace(worker)
            raise UnreachableError(f"a worker of the Ray cluster ended ({type(error).__name__})") from None
        finally:
            worker.busy -= 1
        if len(outcome) == 3:
            return Reply(*outcome)
        kind, message = outcome
        raise UnreachableError(message) if kind == "unreachable" else GivenUpError(message)

    async def close(self) -> None:
        """End the workers."""
        self.kill()

    def kill(self) -> None:
        """End the workers, whatever they do."""
        for worker in self.workers:
            self.ray.kill(worker.actor)
        self.workers.clear()

    def _replace(self, worker: Worker) -> None:
        """Start another worker in place of one that died; the first of its requests to fail does so."""
        if worker in self.workers:
            self.workers[self.workers.index(worker)] = self.started()


class _Sender:
    """What runs on a node. Errors go back as values, because exceptions lose their fields on the way."""

    def __init__(self, endpoint: Endpoint, timeout: float) -> None:
        self._connections = Connections(endpoint)
        self._connections.places(PLACES)
        self._timeout = timeout

    async def ready(self) -> bool:
        """Answer when the actor is ready."""
        return True

    async def post(self, body: bytes) -> Outcome:
        """The reply to a request, or what happened in its place."""
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self._connections.post(body)
        except TimeoutError:
            return "unreachable", f"no answer within {self._timeout:g} s"
        except UnreachableError as error:
            return "unreachable", str(error)
        except GivenUpError as error:
            return "given up", str(error)
        return reply.status, dict(reply.headers), reply.body
