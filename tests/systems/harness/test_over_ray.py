"""Driving over a Ray cluster: the same answers, and failures that come back as what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from qassay import tasks
from qassay.questions import TestSet
from qassay.systems.harness.driving import DriveOptions, drive
from qassay.systems.harness.opening import open_system, over_ray
from qassay.systems.harness.wire import DriveError

SERIES = tasks.task("series2004")
Program = Callable[[str], str]
OpenLog = Callable[..., Any]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    ray = pytest.importorskip("ray")
    yield "local"
    ray.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_same_answers_over_ray(
    cluster: str, two_series: TestSet, open_log: OpenLog, program: Program, collect: Callable[..., Any]
) -> None:
    documents = collect("target 1: Colin Archer was first.", "target 2: Otto Sverdrup was first.")
    for spelling in (program("say(answer(row))"), "series"):
        system = open_system(spelling, task=SERIES, collection=documents)
        checked = documents if spelling == "series" else None
        answers = []
        for placed in (system, over_ray(system, cluster)):
            with open_log(two_series, system=spelling, restart=True) as log:
                options = DriveOptions(workers=2, retries=0)
                answers.append(drive(placed, two_series, task=SERIES, log=log, collection=checked, options=options))
        assert answers[0] == answers[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('no model')", "ended with status 1 before it answered; it last said: no model"),
        ("time.sleep(30)", "no answer within 1 s"),
        ("say(answer(row)); say(answer(row))", "answers no question"),
    ],
)
def test_failures_over_ray(
    cluster: str, two_series: TestSet, open_log: OpenLog, program: Program, body: str, message: str
) -> None:
    system = over_ray(open_system(program(body), task=SERIES), cluster)
    with open_log(two_series) as log, pytest.raises(DriveError, match=message):
        drive(system, two_series, task=SERIES, log=log, options=DriveOptions(timeout=1, retries=0))
