"""An assessor on the nodes of a Ray cluster (the extra `ray`): batches of parts go there, opinions come back.

Each of `workers` actors has a copy of the assessor. Order, checks, journal and progress stay here, so that a job on a
cluster is interrupted and resumed like any other. The batch of an actor that dies goes to a new one; a batch that ends
three of them stops the job.

A language model stays here. The process that was started has the cache, the account with its spending limit, the pace
learned from the endpoint, and the repeats, so that all of them hold as they do without a cluster. The nodes have the
connections: each actor sends requests and reads replies, many at a time. Requests under way in an actor that dies are
sent again, like those of any broken connection; every reply that came back is kept by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from qassay.assessors.base import BATCH, AutomaticAssessor, Case, Opinion, documents_at
from qassay.assessors.llm.assessor import LanguageModel
from qassay.assessors.llm.endpoint import Endpoint, connections
from qassay.cluster import ATTEMPTS, CLOSING, Actor, ActorPool, Cluster, GoneError
from qassay.errors import InputError, Problem, QassayError, UsageError
from qassay.judging import Item, Part
from qassay.net import Connections, NoReplyError, Reply
from qassay.questions import Question

# Parts sent at once to an assessor that judges one after the other: little is lost when a node dies.
SMALL_BATCH = 16
MOST_WORKERS = 64
# Requests under way in one worker, at most.
ROOM = 1_000

# A case without the way to its documents, which each node has of its own.
Sent = tuple[Question, Item, Part, Sequence[Any]]


def over_ray(
    assessor: AutomaticAssessor, address: str, *, collection: Path, workers: int | None = None
) -> AutomaticAssessor:
    """The assessor on the cluster at this address; `local` starts one on this machine.

    Where `workers` is not given there is one for each processor of the cluster.
    """
    cluster = Cluster(address)
    workers = workers or min(MOST_WORKERS, cluster.processors())
    if isinstance(assessor, LanguageModel):
        connect = partial(RayCarrier.started, cluster, workers)
        return replace(assessor, model=replace(assessor.model, connect=connect))
    packed = cluster.packed(partial(_Judge, assessor, collection), f"the assessor {assessor.name}")
    return OverRay(assessor, ActorPool(cluster, packed), workers)


@dataclass(frozen=True, eq=False)
class OverRay:
    """The same assessor under the same name, judging on a cluster."""

    inner: AutomaticAssessor
    pool: ActorPool
    under_way: int

    @property
    def name(self) -> str:
        """The name of the assessor."""
        return self.inner.name

    @property
    def batch(self) -> int:
        """Parts in one call."""
        return BATCH if hasattr(self.inner, "judge_together") else SMALL_BATCH

    def judge(self, case: Case) -> Opinion | None:
        """The assessor's opinion on a part."""
        return self.judge_together([case])[0]

    def judge_together(self, cases: Sequence[Case]) -> Sequence[Opinion | None]:
        """The opinions of an actor."""
        sent: list[Sent] = [(case.question, case.item, case.part, case.nuggets) for case in cases]
        try:
            opinions: Sequence[Opinion | None] = self.pool.call("judge", sent)
        except GoneError as error:
            first = cases[0].question.id
            message = f"question {first}: {ATTEMPTS} workers of the Ray cluster ended while judging it"
            more = "judgments made so far are kept; judge again to go on"
            raise InputError(Problem("configuration", f"{message}: {error} ({more})", None, None, first)) from None
        except QassayError:
            raise
        except Exception as error:
            raise UsageError(f"the assessor {self.name} failed on the cluster: {error}") from error
        return opinions

    def close(self) -> None:
        """End the actors, and what they started."""
        self.pool.close()


class _Judge:
    """The part that runs on a node: the assessor."""

    def __init__(self, assessor: AutomaticAssessor, collection: Path) -> None:
        self._assessor: Any = assessor
        self._documents = documents_at(collection)

    def judge(self, sent: Sequence[Sent]) -> Sequence[Opinion | None]:
        """An opinion or None for each part."""
        cases = [Case(*parts, self._documents) for parts in sent]
        if hasattr(self._assessor, "judge_together"):
            return list(self._assessor.judge_together(cases))
        return [self._assessor.judge(case) for case in cases]

    def close(self) -> None:
        """End whatever the assessor keeps running."""
        if callable(ending := getattr(self._assessor, "close", None)):
            ending()


@dataclass(eq=False)
class RayCarrier:
    """Carries the requests of a language model through the workers of a cluster, to the least busy one."""

    cluster: Cluster
    # The connections of a worker, packed.
    packed: Any
    actors: list[Actor] = field(default_factory=list)

    @classmethod
    def started(cls, cluster: Cluster, workers: int, endpoint: Endpoint) -> RayCarrier:
        """A carrier with all its workers started."""
        carrier = cls(cluster, cluster.packed(partial(_connected, endpoint), "the endpoint"))
        try:
            carrier.actors = cluster.start(carrier.packed, workers, at_once=ROOM)
        except GoneError as error:
            raise UsageError(f"a worker of the Ray cluster cannot start: {error}") from None
        return carrier

    def room(self, parallel: int) -> int:
        """The wanted number, or the number that the workers have."""
        return min(parallel, ROOM * len(self.actors))

    async def post(self, body: bytes, seconds: float) -> Reply:
        """The reply to a request."""
        actor = min(self.actors, key=lambda actor: actor.busy)
        actor.busy += 1
        try:
            reply: Reply = await actor.call_async("post", body, seconds, seconds=seconds + CLOSING)
        except GoneError as error:
            if error.is_late:
                raise NoReplyError("timeout", f"does not answer within {seconds:g} s") from None
            self._replace(actor)
            raise NoReplyError("broken", f"is not reached: a worker of the Ray cluster ended ({error})") from None
        finally:
            actor.busy -= 1
        return reply

    async def close(self) -> None:
        """End the workers, whatever they do."""
        for actor in self.actors:
            actor.end()
        self.actors.clear()

    def _replace(self, actor: Actor) -> None:
        """Start another worker in place of one that died; the first of its requests to fail does so."""
        if actor in self.actors:
            self.actors[self.actors.index(actor)] = self.cluster.placed(self.packed, at_once=ROOM)


def _connected(endpoint: Endpoint) -> Connections:
    """The part that runs on a node: connections, with as many open files as they may need."""
    connected = connections(endpoint)
    connected.room(ROOM)
    return connected
