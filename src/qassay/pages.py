"""A page: what a study says first, and what shows it. The terminal, the application and the report render the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from qassay.tables import Table

if TYPE_CHECKING:
    # The floor of figures is below: they are drawn where a door shows pictures.
    Figure = Any

# What the rows of a table are about, so that a door can lead there.
About = Literal["run", "question", "series"]


@dataclass(frozen=True, slots=True)
class Links:
    """Row i of a table is about `subjects[i]`; the cell in `column` leads there."""

    about: About | None = None
    subjects: tuple[str, ...] = ()
    column: int = 0


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A figure, a table, or a figure with a table of its own beside it.

    `name` is that of its files and of its place on a page. One that is `folded` opens on request.
    """

    name: str
    table: Table | None = None
    draw: Callable[[], Figure] | None = None
    folded: bool = False
    links: Links = Links()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Keys of the document that are too large for a page of the application, and where they are."""

    keys: tuple[str, ...]
    where: str


@dataclass(frozen=True, slots=True)
class Page:
    """The answer in whole sentences, the first of them to the question of the study; and the exhibits in order."""

    answer: tuple[str, ...]
    exhibits: tuple[Exhibit, ...] = ()
    left_out: LeftOut | None = None

    @property
    def tables(self) -> list[Table]:
        """The tables that are open."""
        return [exhibit.table for exhibit in self.exhibits if exhibit.table is not None and not exhibit.folded]
