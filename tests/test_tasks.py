"""Definitions of tasks: every fault is reported with the key it is in and what the key takes."""

from __future__ import annotations

from typing import Any

import pytest

from qassay.errors import InputError
from qassay.tasks import definition, from_definition


def _faults(keys: dict[str, Any]) -> list[str]:
    with pytest.raises(InputError) as caught:
        from_definition(keys, file="my.toml")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("scor", "accuracy", "scor: unknown key 'scor'; did you mean 'score'?"),
        ("response", ["one"], "response: is ['one']; it takes a string"),
        ("response", "two", "response: is 'two'; it is one of ranked, one, "),
        ("weight", "much", "weight: is 'much'; it takes a number"),
        ("weight", 0, "weight: is 0; a weight is a number above 0"),
        ("weight", 1e300, "weight: is 1e+300; a weight is a number above 0, up to 1e+12"),
        ("weight", True, "weight: is True; it takes a number"),
        ("nil", 1, "nil: is 1; it takes true or false"),
        ("max_items", 0, "max_items: is 0; it takes a whole number from 1"),
        ("max_items", 2.5, "max_items: is 2.5; it takes a whole number"),
    ],
)
def test_a_fault_of_a_question_type_is_reported_once(key: str, value: object, message: str) -> None:
    keys = definition("confidence")
    keys["types"]["factoid"][key] = value
    (fault,) = _faults(keys)
    assert fault.startswith(f"my.toml: types.factoid.{message}")


@pytest.mark.parametrize("value", [1e308, -1e13, float("inf"), float("nan")])
def test_values_of_labels_that_no_mean_survives_are_refused(value: float) -> None:
    keys = definition("qa")
    keys["labels"]["correct"] = value
    (fault,) = _faults(keys)
    assert fault.startswith(f"my.toml: labels.correct: is {value!r}; it takes a number up to 1e+12")


def test_all_faults_are_reported_at_once() -> None:
    keys = definition("confidence")
    del keys["title"]
    keys |= {"titel": "x", "assessors": "two", "labels": ["R", "Q"], "unit": "turn", "without": {"other": 1}}
    assert _faults(keys) == [
        "my.toml: titel: unknown key 'titel'; did you mean 'title'?",
        "my.toml: assessors: is 'two'; it takes a whole number",
        "my.toml: title: is missing; a task needs it",
        "my.toml: unit: is 'turn'; it is question or series",
        "my.toml: labels: 'Q' is not a label that can be scored; they are among R X U W",
        "my.toml: without.other: is 1; it takes a table",
    ]
