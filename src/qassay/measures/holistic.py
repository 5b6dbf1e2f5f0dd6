"""Holistic scores of definitions: content and organization, 0 to 10 [DEF03]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from qassay.arrays import Floats
from qassay.measures.base import Measure, block
from qassay.tally import Block, NuggetCounts


class _Score(Measure):
    source: ClassVar[str] = "DEF03"
    needs = NuggetCounts
    optional_kind: ClassVar[str | None] = "holistic"
    high: ClassVar[float] = 10.0


class Content(_Score):
    """The assessor's score for content, 0 to 10, of a response; NaN where none was given."""

    name: ClassVar[str] = "content"
    title: ClassVar[str] = "holistic score for content"
    column: ClassVar[str | None] = "content"


class Organization(_Score):
    """The assessor's score for organization, 0 to 10, of a response; NaN where none was given."""

    name: ClassVar[str] = "organization"
    title: ClassVar[str] = "holistic score for organization"
    column: ClassVar[str | None] = "organization"


@dataclass(frozen=True)
class Holistic(_Score):
    """content * weight of content + organization * weight of organization.

    [DEF03] says that content weighs much more and does not print the weights; 0.8 and 0.2 are ours.
    """

    name: ClassVar[str] = "holistic"
    title: ClassVar[str] = "holistic score"

    content: float = 0.8
    organization: float = 0.2

    def per_question(self, counts: Block) -> Floats:
        """Weighted sum of both scores; NaN where one is missing."""
        c = block(counts, NuggetCounts)
        return self.content * c.content + self.organization * c.organization
