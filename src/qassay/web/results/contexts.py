"""What the templates of the results pages get, and what their JSON twins are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from qassay.tables import Cell, Table, show
from qassay.web.results.finding import About, Part, Window
from qassay.web.results.parameters import query
from qassay.web.results.publishing import Publication
from qassay.web.results.wording import on_page
from qassay.web.routing import Context

# A cell with more characters than this may break its lines, and one with more than that is folded.
UNBROKEN = 32
FOLDED = 240
# Control characters as their pictures, and marks that make a text read otherwise than it is as their codes.
_PICTURES: dict[int, int | str] = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_PICTURES |= {127: 0x2421} | {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_PLACES: dict[About, tuple[str, str]] = {
    "run": ("/results/run", "run"),
    "question": ("/results/question", "question"),
    "series": ("/results/units", "series"),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One cell as the page shows it: a number, a short text or a long one; `beginning` is set where it is folded."""

    text: str
    kind: str
    link: str | None = None
    beginning: str | None = None


class ColumnView(Context):
    """One column of a table."""

    header: str
    spec: str
    left: bool


class WindowView(Context):
    """Which part of a longer table is here, and where the parts before and after it are."""

    first: int
    size: int
    total: int
    of: str
    before: str | None = None
    after: str | None = None


class TableView(Context):
    """One table: numbers as they are in `rows`, undefined cells null."""

    name: str
    title: str
    columns: list[ColumnView]
    rows: list[list[Cell]]
    notes: list[str]
    csv: str
    provisional: str | None = None
    window: WindowView | None = None
    links: list[str] = Field(default_factory=list, exclude=True)
    link_column: int = Field(default=0, exclude=True)

    def shown(self) -> list[list[Shown]]:
        """The rows as a page shows them."""
        return [
            [
                self._cell(cell, column, self.links[i] if self.links and j == self.link_column else None)
                for j, (cell, column) in enumerate(zip(row, self.columns, strict=True))
            ]
            for i, row in enumerate(self.rows)
        ]

    @property
    def is_of_pairs(self) -> bool:
        """Whether the table is a list of names and values, without headers worth showing."""
        return len(self.columns) == 2 and self.columns[0].header == "" and self.columns[1].header == "value"

    def _cell(self, cell: Cell, column: ColumnView, link: str | None) -> Shown:
        text = show(cell, column.spec).translate(_PICTURES)
        kind = "number" if not column.left else "long" if len(text) > UNBROKEN else "short"
        beginning = text[:FOLDED].rstrip() + "…" if len(text) > FOLDED else None
        return Shown(text, kind, link, beginning)


def table_view(
    part: Part, *, csv: str, common: dict[str, Any], provisional: str | None, window: WindowView | None = None
) -> TableView:
    """A part of a finding for the page; `common` goes into its links."""
    made = plain_view(part.name, part.table, csv=csv, provisional=provisional)
    if part.about is not None and part.subjects:
        path, name = _PLACES[part.about]
        more = {"by": "question"} if part.about == "series" else {}
        made.links = [path + query({**common, **more, name: subject}) for subject in part.subjects]
        made.link_column = part.column
    made.window = window
    return made


def plain_view(name: str, table: Table, *, csv: str, provisional: str | None) -> TableView:
    """A table for the page, without links."""
    return TableView(
        name=name,
        title=table.title,
        columns=[ColumnView(header=one.header, spec=one.spec, left=one.left) for one in table.columns],
        rows=[list(row) for row in table.rows],
        notes=[on_page(note) for note in table.notes],
        csv=csv,
        provisional=provisional,
    )


class OfferView(Context):
    """What there is to choose from."""

    keys: tuple[str, ...]
    default_key: str | None
    sets: tuple[str, ...]
    measures: tuple[str, ...]
    components: tuple[str, ...]
    runs: tuple[str, ...]


class OpenQuestionView(Context):
    """A question on which work is open."""

    question: str
    assessors: int
    items: int


class GateView(Context):
    """What is not complete: numbers, and the first few names."""

    is_open: bool
    open_items: int
    open_assignments: int
    open_questions: int
    unassigned_questions: int
    unjudged_questions: int
    unruled_questions: int
    open: list[OpenQuestionView]
    unassigned: list[str]
    unjudged: list[str]
    unruled: list[str]


class Tab(Context):
    """A way to another results page, with the same choice."""

    label: str
    address: str
    current: bool


class ProblemView(Context):
    """One thing that stands in the way of a result."""

    message: str
    rule: str | None = None
    file: str | None = None
    line: int | None = None
    question: str | None = None


State = Literal["found", "computing", "refused", "broken", "closed", "published"]


class ResultsPage(Context):
    """A results page.

    `state` is `found` with tables; `computing`, with the job to ask for; `refused` or `broken` with a message;
    `closed` while assigned work is open; `published` for those who see what is published and nothing else.
    `provisional` marks every number where work is open. `document` is what the command prints with --json, unless
    `left_out` says that it is too large.
    """

    view: str
    path: str
    heading: str
    state: State
    asked: dict[str, Any] = Field(default_factory=dict)
    choice: dict[str, str] = Field(default_factory=dict)
    tabs: list[Tab] = Field(default_factory=list)
    gate: GateView | None = None
    # Why what there is to judge is not what the runs returned; empty where it is.
    pool: str = ""
    offer: OfferView | None = None
    job: str | None = None
    done: int = 0
    total: int = 0
    message: str = ""
    problems: list[ProblemView] = Field(default_factory=list)
    at: str | None = None
    stale: bool = False
    again: str | None = None
    json_address: str = Field(default="", exclude=True)
    provisional: str | None = None
    answer: str = ""
    tables: list[TableView] = Field(default_factory=list)
    across: WindowView | None = None
    document: dict[str, Any] = Field(default_factory=dict)
    left_out: str | None = None
    published: list[Publication] = Field(default_factory=list)


def window_view(window: Window, *, before: str | None, after: str | None) -> WindowView:
    """A window with the ways on from it."""
    return WindowView(
        first=window.first, size=window.size, total=window.total, of=window.of, before=before, after=after
    )
