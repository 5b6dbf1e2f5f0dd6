"""A page: what a study says first, and what shows it. The terminal, the application and the report render the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from qassay.tables import Table

if TYPE_CHECKING:
    # The floor of figures is below: they are drawn where a door shows pictures.
    Figure = Any

# The questions that people ask of results, in order, each with a short name: the tabs of the application, the sections
# of a report and the steps of the demonstration.
QUESTIONS = {
    "Who is best?": "best",
    "Is it real?": "real",
    "Where do they differ?": "where",
    "Do the judges agree?": "judges",
    "How many more questions?": "next",
}
BEST, REAL, WHERE, JUDGES, MORE = QUESTIONS

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

    `name` is that of its files and of its place on a page. One that is `folded` opens on request. A door with windows
    shows as many rows `at_once`, and of many columns after the `fixed` ones a part.
    """

    name: str
    table: Table | None = None
    draw: Callable[[], Figure] | None = None
    folded: bool = False
    links: Links = Links()
    at_once: int = 500
    fixed: int = 0

    @property
    def figure(self) -> Figure | None:
        """The figure, drawn now."""
        return None if self.draw is None else self.draw()

    @property
    def numbers(self) -> Table:
        """Its table, or that of the figure."""
        figure: Any = self.figure
        return self.table or cast(Table, figure.table)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Keys of the document that are too large for a page of the application, and where they are."""

    keys: tuple[str, ...]
    where: str


@dataclass(frozen=True, slots=True)
class Page:
    """The answer in whole sentences, the first of them to the question of the study; and the exhibits in order.

    `notes` are to be known with the answer. `steps` say what to do next, on lines of their own. `title` is the question
    that it answers where it is a part of something, and `name` is its place there.
    """

    answer: tuple[str, ...]
    exhibits: tuple[Exhibit, ...] = ()
    title: str = ""
    name: str = ""
    notes: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    left_out: LeftOut | None = None

    @property
    def tables(self) -> list[Table]:
        """The tables that are open."""
        return [exhibit.table for exhibit in self.exhibits if exhibit.table is not None and not exhibit.folded]
