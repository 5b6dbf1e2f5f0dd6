"""Names with parameters: what is read, and what the annotations of a function make of it."""

from __future__ import annotations

from typing import Any

import pytest

from qassay.errors import UsageError
from qassay.spelling import Spelled, arguments, parse


def _parsed(text: str) -> Spelled:
    return parse(text, "system", example="x(a=1)")


def test_values_have_the_types_of_the_parameters() -> None:
    def make(collection: Any, *, a: int = 1, b: float | None = None, c: bool = False, d: str = "") -> None:
        """Take one parameter of each type."""

    assert arguments(_parsed("x(a=2, b=0.5, c=true, d=word)"), make) == {"a": 2, "b": 0.5, "c": True, "d": "word"}


def test_only_keywords_are_parameters() -> None:
    def make(collection: Any, *, known: bool = False) -> None:
        """Take a collection, which nobody spells."""

    with pytest.raises(UsageError, match="unknown parameter of x 'collection'; there is only 'known'"):
        arguments(_parsed("x(collection=1)"), make)


def test_inner_brackets_keep_their_commas() -> None:
    assert dict(_parsed("x(a=y(b=1, c=2), d=3)").parameters) == {"a": "y(b=1, c=2)", "d": "3"}


def test_a_value_without_a_name_is_reported_with_the_example() -> None:
    with pytest.raises(UsageError, match=r"'5' is not a parameter; write name=value, as in x\(a=1\)"):
        _parsed("y(5)")
