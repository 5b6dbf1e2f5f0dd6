"""Ratings of justifications: understandability and correctness, 1 to 5 [RTE08]."""

from __future__ import annotations

from typing import ClassVar

from qassay.measures.base import Measure
from qassay.tally import PairCounts


class _Rating(Measure):
    source: ClassVar[str] = "RTE08"
    needs = PairCounts
    high: ClassVar[float] = 5.0


class Correctness(_Rating):
    """Mean correctness over judges and judged pairs.

    Correctness is judged only from understandability 3 up; an unassigned one counts as 0. NaN where nobody judged.
    """

    name: ClassVar[str] = "correctness"
    title: ClassVar[str] = "mean correctness of justifications"
    column: ClassVar[str | None] = "correctness"


class Understandability(_Rating):
    """Mean understandability over judges and judged pairs; NaN where nobody judged."""

    name: ClassVar[str] = "understandability"
    title: ClassVar[str] = "mean understandability of justifications"
    column: ClassVar[str | None] = "understandability"
