"""Parts on a Ray cluster: what they raise comes back, one that ends is replaced, and nothing is tried where none is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from qassay.cluster import Cluster, GoneError, Pool
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

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def fail(self, error: Exception | None) -> int:
        if error is None:
            raise OddError(1, 2)
        raise error

    def end_once(self) -> int:
        if not self.mark.exists():
            self.mark.write_text(str(os.getpid()))
            os._exit(1)
        return os.getpid()

    def end(self) -> None:
        os._exit(1)

    def close(self) -> None:
        pass


@pytest.fixture
def pool(cluster: Cluster, tmp_path: Path) -> Iterator[Pool]:
    mark = tmp_path / "mark"
    pool = Pool(cluster, cluster.packed(lambda: Part(mark), "the part"))
    yield pool
    pool.close()


def test_what_a_part_raises_is_raised_here(pool: Pool) -> None:
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


def test_a_part_that_ends_is_replaced(pool: Pool, tmp_path: Path) -> None:
    assert pool.call("end_once") != int((tmp_path / "mark").read_text())


@pytest.mark.slow
def test_a_call_that_ends_every_actor_fails(pool: Pool) -> None:
    with pytest.raises(GoneError):
        pool.call("end")


@pytest.mark.parametrize(
    ("address", "message"), [("127.0.0.1:9", "no Ray cluster at"), ("nonsense", "takes HOST:PORT, auto or local")]
)
def test_addresses_where_nobody_is(monkeypatch: pytest.MonkeyPatch, address: str, message: str) -> None:
    monkeypatch.setattr("qassay.cluster.require", lambda extra, what: None)
    with pytest.raises(UsageError, match=message):
        Cluster(address)
