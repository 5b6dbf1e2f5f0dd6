"""Parts on a Ray cluster: what they raise comes back. (What is judged and asked there is in the folders of these.)"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qassay.cluster import ActorPool, Cluster
from qassay.errors import InputError, Problem, UsageError
from qassay.systems.harness.wire import CallError

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    ray = pytest.importorskip("ray")
    yield Cluster("local")
    ray.shutdown()


class OddError(Exception):
    """An exception that cannot be made again from what it says."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


class Part:
    """A part that does as it is told."""

    def fail(self, error: Exception | None) -> int:
        if error is None:
            raise OddError(1, 2)
        raise error

    def close(self) -> None:
        pass


def test_what_a_part_raises_is_raised_here(cluster: Cluster) -> None:
    pool = ActorPool(cluster, cluster.packed(Part, "the part"))
    problem = Problem("bad-label", "no label", "a.jsonl", 3)
    with pytest.raises(InputError) as refused:
        pool.call("fail", InputError([problem] * 300))
    assert (refused.value.problems[0], refused.value.problems.total) == (problem, 300)
    failure = CallError("twice", "m", again=False, fatal=True, wait=2.0, rule="syntax", raw="r")
    with pytest.raises(CallError) as failed:
        pool.call("fail", failure)
    assert vars(failed.value) == vars(failure)
    with pytest.raises(UsageError, match="OddError: 1 and 2"):
        pool.call("fail", None)
    pool.close()
