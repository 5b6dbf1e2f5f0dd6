"""Which way a measure is better. Scores and differences stay as measured; a question about the better run asks here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from qassay.arrays import Floats

Number = TypeVar("Number", float, Floats)


@dataclass(frozen=True, slots=True)
class Direction:
    """Whether higher scores are better, and whether that was assumed: nobody stated it, and it could be otherwise."""

    higher_is_better: bool = True
    assumed: bool = False

    def oriented(self, scores: Number) -> Number:
        """The scores, or a difference of two, such that more is better.

        >>> Direction(higher_is_better=False).oriented(0.25)
        -0.25
        """
        return scores if self.higher_is_better else -scores

    def interval(self, limits: tuple[float, float]) -> tuple[float, float]:
        """The interval of a difference such that more is better."""
        return limits if self.higher_is_better else (-limits[1], -limits[0])

    @property
    def words(self) -> str:
        """What the sentence about the scores says of their direction; nothing where it is the usual one.

        >>> Direction(higher_is_better=False, assumed=True).words
        '; lower is better (assumed from its name)'
        """
        if self.higher_is_better:
            return "; higher is better (assumed)" if self.assumed else ""
        return f"; lower is better{' (assumed from its name)' if self.assumed else ''}"

    def as_json(self) -> dict[str, object]:
        """The keys beside every `measure`."""
        return {"higher_is_better": self.higher_is_better, "direction_assumed": self.assumed}


HIGHER = Direction()
