"""An assessor on the nodes of a Ray cluster (the extra `ray`): batches of parts go there, opinions come back.

Each of `workers` actors, spread over the nodes, has a copy of the assessor. Order, checks, journal and progress stay
here, so that a job on a cluster is interrupted and resumed like any other. An actor that dies, with its node or alone,
is replaced, and its batch goes to the new one; a batch that ends three of them stops the job. What an assessor needs on
a node (Qassay, its module or program, documents under the same path) has to be there.

A language model stays here (`model_over_ray`). The process that was started has the cache, the account with its
spending limit, the pace learned from the endpoint, and the repeats, so that all of them hold as they do without a
cluster. The nodes have the connections: each actor sends requests and reads replies, many at a time. Requests under way
in an actor that dies are sent again, like those of any broken connection; every reply that came back is kept by then.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from qassay.assessors.base import BATCH, AutomaticAssessor, Case, Opinion, documents_at
from qassay.assessors.llm.assessor import LanguageModel
from qassay.assessors.llm.endpoint import Endpoint, connections
from qassay.errors import InputError, Problem, QassayError, UsageError
from qassay.judging import Item, Part
from qassay.net import NoReplyError, Reply
from qassay.questions import Question
from qassay.systems.harness.over_ray import STARTING, cluster, started

# Parts sent at once to an assessor that judges one after the other: little is lost when a node dies.
SMALL_BATCH = 16
ATTEMPTS = 3
MOST_WORKERS = 64
# Requests under way in one worker, at most.
PLACES = 1_000

# A case without the way to its documents, which each node has of its own.
Sent = tuple[Question, Item, Part, Sequence[Any]]


@dataclass(frozen=True, eq=False)
class OverRay:
    """The same assessor under the same name, judging on a cluster."""

    inner: AutomaticAssessor
    ray: Any
    # The assessor as the nodes get it: in Ray's store of objects, fetched once per node.
    packed: Any
    collection: Path
    under_way: int
    _free: list[Any] = field(default_factory=list, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

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
        """The opinions of an actor; of another one where it dies on the way."""
        sent: list[Sent] = [(case.question, case.item, case.part, case.nuggets) for case in cases]
        errors = self.ray.exceptions
        for _ in range(ATTEMPTS):
            actor = None
            try:
                actor = self._actor()
                outcome = self.ray.get(actor.judge.remote(sent))
            except errors.RayTaskError as error:
                self._leave(actor)
                raise UsageError(f"the assessor {self.name} failed on the cluster: {error.cause}") from None
            except errors.GetTimeoutError:
                raise UsageError("the Ray cluster has no place for an assessor; lower --workers") from None
            except errors.RayError as error:
                self._leave(actor)
                ended = str(error).strip().splitlines()[-1:] or [type(error).__name__]
                continue
            with self._lock:
                self._free.append(actor)
            return _opinions(outcome)
        first = cases[0].question.id
        message = f"question {first}: {ATTEMPTS} workers of the Ray cluster ended while judging it"
        more = "judgments made so far are kept; judge again to go on"
        raise InputError(Problem("configuration", f"{message}: {ended[0][:300]} ({more})", None, None, first))

    def close(self) -> None:
        """End the actors, and what they started."""
        with self._lock:
            actors, self._free[:] = list(self._free), []
        for actor in actors:
            try:
                self.ray.get(actor.close.remote(), timeout=30.0)
            except self.ray.exceptions.RayError:
                pass
            finally:
                self.ray.kill(actor)

    def _actor(self) -> Any:
        with self._lock:
            if self._free:
                return self._free.pop()
        return started(self.ray, _Host, self.packed, str(Path.cwd()), str(self.collection))

    def _leave(self, actor: Any) -> None:
        if actor is not None:
            self.ray.kill(actor)


def over_ray(
    assessor: AutomaticAssessor, address: str, *, collection: Path, workers: int | None = None
) -> AutomaticAssessor:
    """The assessor on the cluster at this address; `local` starts one on this machine.

    Where `workers` is not given there is one for each processor of the cluster.
    """
    ray = cluster(address)
    if workers is None:
        workers = min(MOST_WORKERS, max(1, int(ray.cluster_resources().get("CPU", 1))))
    if isinstance(assessor, LanguageModel):
        return model_over_ray(assessor, ray, workers)
    try:
        packed = ray.cloudpickle.dumps(assessor)
    except Exception as error:  # noqa: BLE001  # other people's objects refuse in their own ways
        message = f"the assessor {assessor.name} cannot be sent to a Ray cluster: {error}"
        raise UsageError(f"{message}; judge without --ray") from None
    return OverRay(assessor, ray, ray.put(packed), collection, workers)


class _Host:
    """The part that runs on a node. Errors of the assessor go back as values, because exceptions lose their fields."""

    def __init__(self, packed: bytes, folder: str, collection: str) -> None:
        import pickle
        import sys

        # A module beside the user is found here too, where the node has the folder.
        if folder not in sys.path:
            sys.path.append(folder)
        self._assessor = pickle.loads(packed)  # noqa: S301  # made by the job that started this actor
        self._documents = documents_at(Path(collection))

    def ready(self) -> bool:
        """Answer when the actor is ready."""
        return True

    def judge(self, sent: Sequence[Sent]) -> Sequence[Opinion | None] | dict[str, Any]:
        """An opinion or None for each part, or what the assessor's error is made of."""
        cases = [Case(*parts, self._documents) for parts in sent]
        try:
            if hasattr(self._assessor, "judge_together"):
                return list(self._assessor.judge_together(cases))
            return [self._assessor.judge(case) for case in cases]
        except InputError as error:
            return {"problems": error.problems}
        except QassayError as error:
            return {"message": str(error)}

    def close(self) -> None:
        """End whatever the assessor keeps running."""
        if callable(ending := getattr(self._assessor, "close", None)):
            ending()


def _opinions(outcome: Sequence[Opinion | None] | dict[str, Any]) -> Sequence[Opinion | None]:
    if not isinstance(outcome, dict):
        return outcome
    if "problems" in outcome:
        raise InputError(outcome["problems"])
    raise UsageError(str(outcome["message"]))


# ---- a language model: its requests from the nodes ------------------------------------------------------------------


def model_over_ray(assessor: LanguageModel, ray: Any, workers: int) -> LanguageModel:
    """The same assessor, its requests sent from the nodes of the cluster that `ray` is connected to."""
    connect = partial(over_workers, ray=ray, workers=workers)
    return replace(assessor, model=replace(assessor.model, connect=connect))


def over_workers(endpoint: Endpoint, *, ray: Any, workers: int) -> RayCarrier:
    """A carrier with all its workers started."""
    carrier = RayCarrier(ray, endpoint)
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
    workers: list[Worker] = field(default_factory=list)

    def started(self) -> Worker:
        """A new worker on one of the nodes; requests wait in it until it is ready."""
        remote_class = self.ray.remote(_Sender).options(
            num_cpus=0, max_concurrency=PLACES, scheduling_strategy="SPREAD"
        )
        return Worker(remote_class.remote(self.endpoint))

    def room(self, parallel: int) -> int:
        """The wanted number, or the number that the workers have."""
        return min(parallel, PLACES * len(self.workers))

    async def post(self, body: bytes, seconds: float) -> Reply:
        """The reply to a request."""
        worker = min(self.workers, key=lambda worker: worker.busy)
        worker.busy += 1
        try:
            outcome: Reply | NoReplyError = await worker.actor.post.remote(body, seconds)
        except self.ray.exceptions.RayError as error:
            self._replace(worker)
            raise NoReplyError("broken", f"a worker of the Ray cluster ended ({type(error).__name__})") from None
        finally:
            worker.busy -= 1
        if isinstance(outcome, NoReplyError):
            raise outcome
        return outcome

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
    """The part that runs on a node. Errors go back as values, because exceptions lose their fields on the way."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._connections = connections(endpoint)
        self._connections.room(PLACES)

    async def ready(self) -> bool:
        """Answer when the actor is ready."""
        return True

    async def post(self, body: bytes, seconds: float) -> Reply | NoReplyError:
        """The reply to a request, or what happened in its place."""
        try:
            reply = await self._connections.post(body, seconds)
        except NoReplyError as error:
            return error
        return replace(reply, headers=dict(reply.headers))
