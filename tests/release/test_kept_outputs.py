"""Evaluations and stores that were kept give, opened by the code of today, what they gave then.

`scripts/release_sample.py` made the samples. Scores, pools, agreement and stability are compared to
the last bit, exported files by their digest, stored judgments row by row; a store that is filled from the export has
the same digests of what is judged; and assessors who sign in see what they said, and can say it again. Keys that came
later are allowed, and sentences may be worded otherwise.
"""

from __future__ import annotations

import gzip
import importlib
import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import qassay
from nursery import call, nursery

HERE = Path(__file__).parent
SCRIPTS = HERE.parent.parent / "scripts"
SAMPLES = sorted(path.name.removesuffix(".json.gz") for path in (HERE / "samples").glob("*.json.gz"))
# Written for people, and may be worded otherwise; how many they are is compared, and rule, file and line of an error.
SENTENCES = {"message", "notes"}
# Keys of these objects are names of runs, sets, questions and labels, not fields: none may be added.
BY_NAME = {
    "matrix",
    "questions",
    "judgments",
    "nuggets",
    "patterns",
    "contingency",
    "exported",
    "exported_nist",
    "seen",
}


def script(name: str) -> ModuleType:
    """A module of the folder of scripts."""
    if str(SCRIPTS) not in sys.path:
        sys.path.insert(0, str(SCRIPTS))
    return importlib.import_module(name)


def recorded(name: str) -> dict[str, Any]:
    """What was kept."""
    sample: dict[str, Any] = json.loads(gzip.decompress((HERE / "samples" / f"{name}.json.gz").read_bytes()))
    return sample


# What depends on the processor in the last bit; scores do not.
NOT_TO_THE_LAST_BIT = re.compile("/intervals?/|/krippendorff_alpha")


def differences(then: Any, now: Any, place: str = "", *, by_name: bool = False) -> Iterator[str]:
    """Every place at which two outputs differ, but for keys that were added and the words of sentences."""
    if isinstance(then, dict) and isinstance(now, dict):
        added = sorted(now.keys() - then.keys())
        if added and by_name:
            yield f"{place}: {added} were added"
        for name, value in then.items():
            if name not in now:
                yield f"{place}/{name} is gone"
            elif name in SENTENCES and type(value) is type(now[name]):
                if isinstance(value, list) and len(value) != len(now[name]):
                    yield f"{place}/{name}: {now[name]!r} instead of {value!r}"
            else:
                yield from differences(value, now[name], f"{place}/{name}", by_name=by_name or name in BY_NAME)
    elif isinstance(then, list) and isinstance(now, list):
        if len(then) != len(now):
            yield f"{place}: {len(now)} instead of {len(then)}"
        for index, (old, new) in enumerate(zip(then, now, strict=False)):
            yield from differences(old, new, f"{place}/{index}", by_name=by_name)
    elif isinstance(then, float) and isinstance(now, float) and NOT_TO_THE_LAST_BIT.search(place):
        if not math.isclose(then, now, rel_tol=1e-12, abs_tol=1e-13):
            yield f"{place}: {now!r} instead of {then!r}"
    elif type(then) is not type(now) or then != now:
        yield f"{place}: {now!r} instead of {then!r}"


def test_there_are_samples_of_every_task() -> None:
    tasks = script("release_sample").TASKS
    assert set(SAMPLES) == {*tasks, *(f"random-{task}" for task in tasks)}


def test_every_kind_of_judgment_is_in_the_samples() -> None:
    """With several versions, undone ones, unanimous and ruled ones."""
    rows = [row for name in SAMPLES for row in recorded(name).get("stored", ())]
    assert {row[1] for row in rows} == {"item", "list", "match", "support", "citation", "pair", "holistic", "rating"}
    bodies = [json.loads(row[4]) for row in rows if row[0] == "adjudicated" and row[4] is not None]
    assert {body.get("settled") for body in bodies} == {None, "unanimous"}
    assert any(row[4] is None for row in rows)
    assert max(row[3] for row in rows) >= 3


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_gives_what_it_gave(name: str, tmp_path: Path) -> None:
    sample = script("release_sample")
    then = recorded(name)
    store = sample.unpack(HERE / "samples" / f"{name}.tar.gz", tmp_path)
    now = sample.record(tmp_path, store=store)
    then.pop("seen", None)
    assert list(differences(then, json.loads(json.dumps(now)))) == []


@dataclass(frozen=True)
class Served:
    """A sample that the code of today serves."""

    address: str
    database: Path
    people: list[Any]

    def sign_in(self, name: str) -> Any:
        """Somebody who judged then."""
        served = script("served")
        person = served.Person(self.address, name)
        self.people.append(person)
        person.post("/sign-in", name=name, password=served.PASSWORD)
        return person


@pytest.fixture(scope="module")
def served_samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Served]]:
    """The samples whose screens were recorded."""
    sample, served = script("release_sample"), script("served")
    context = nursery(Path(qassay.__file__).parent.parent)
    processes, logs, people = [], {}, []
    for name in sample.SEEN:
        place = tmp_path_factory.mktemp(name)
        store = sample.unpack(HERE / "samples" / f"{name}.tar.gz", place)
        sample.restore(store, place / "eval" / "qassay.db")
        logs[name] = place / "log"
        command = [*served.arguments(place / "eval"), "--invite-organiser"]
        processes.append(context.Process(target=call, args=(command, str(logs[name]))))
        processes[-1].start()
    try:
        yield {
            name: Served(served.one_time_link(log).partition("/welcome#")[0], log.parent / "eval" / "qassay.db", people)
            for name, log in logs.items()
        }
    finally:
        for person in people:
            person.browser.close()
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


@pytest.mark.parametrize("name", script("release_sample").SEEN)
def test_assessors_see_their_judgments_and_repeat_them(name: str, served_samples: dict[str, Served]) -> None:
    """What is saved again is stored under the same digest, in the same words but for the time."""
    sample, then = script("release_sample"), recorded(name)["seen"]
    here = served_samples[name]
    people = {assessor: here.sign_in(assessor) for assessor in then}
    now = {assessor: sample.shown(person) for assessor, person in people.items()}
    assert list(differences(then, now)) == []
    before = bodies(sample.stored(here.database))
    adjudicator = here.sign_in("Jo")
    saved = 0
    for piece in people["Ada"].pieces():
        adjudicator.post("/adjudication/reopen", question=piece["question"], reason="to judge again")
        for item in now["Ada"][piece["question"]][:3]:
            for part in item["parts"]:
                if part["verdict"] is not None:
                    place = (piece["assignment"], item["id"], part["part"])
                    people["Ada"].decide(*place, part["verdict"], expected=part["version"])
                    saved += 1
    after = bodies(sample.stored(here.database))
    again = [
        (place, rows) for place, rows in after.items() if place[0] != "adjudicated" and len(rows) > len(before[place])
    ]
    assert len(again) == saved
    for place, rows in again:
        assert rows[-1] == before[place][-1]


def bodies(rows: list[list[Any]]) -> dict[tuple[str, str], list[str | None]]:
    """The bodies of every set and thing by version, without the time."""
    bodies: dict[tuple[str, str], list[str | None]] = {}
    for set_name, _, subject, _, body in rows:
        timeless = None if body is None else re.sub(r'"at":"[^"]*"', '"at":""', body)
        bodies.setdefault((set_name, subject), []).append(timeless)
    return bodies


@pytest.mark.parametrize(
    ("then", "now", "place"),
    [
        ({"score": 0.3}, {"score": 0.1 + 0.2}, "/score"),
        ({"score": 1}, {"score": 1.0}, "/score"),
        ({"score": None}, {}, "/score"),
        ({"runs": [{"run": "a"}]}, {"runs": [{"run": "a", "new": 1}]}, None),
        ({"runs": [{"run": "a"}]}, {"runs": [{"run": "a"}, {"run": "b"}]}, "/runs"),
        ({"matrix": {"a": [1.0]}}, {"matrix": {"a": [1.0], "b": [1.0]}}, "/matrix"),
        ({"errors": [{"line": 1, "message": "x"}]}, {"errors": [{"line": 1, "message": "y"}]}, None),
        ({"stored": [["first", "item", "0a", 1, "{}"]]}, {"stored": [["first", "item", "0b", 1, "{}"]]}, "/stored/0/2"),
    ],
)
def test_which_differences_count(then: Any, now: Any, place: str | None) -> None:
    listed = list(differences(then, now))
    assert [difference.startswith(str(place)) for difference in listed] == ([] if place is None else [True])
