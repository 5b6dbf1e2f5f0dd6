"""What an automatic assessor is: a name, and an opinion on a part of an item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from qassay.questions import Question
from qassay.store.pool.parts import Part


@dataclass(frozen=True, slots=True)
class Opinion:
    """A verdict, with the fields of its kind (see `qassay.store.pool.parts.FIELDS`), and how it came about."""

    verdict: Mapping[str, Any]
    trace: Mapping[str, Any] = field(default_factory=dict)


class AutomaticAssessor(Protocol):
    """Whoever judges without being a person."""

    @property
    def name(self) -> str:
        """The name that its judgment set gets."""

    def judge(self, question: Question, part: Part) -> Opinion | None:
        """What it thinks of a part; None where it cannot tell. `part.row` has doc, text and so on."""
