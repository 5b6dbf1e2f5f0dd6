"""A results page as its template and its JSON twin show it: found, being computed, or the reason why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from markupsafe import Markup
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from qassay.display import safe_text, short_name
from qassay.errors import Problem, Remedy
from qassay.pages import About
from qassay.store.assignment.progress import (
    OpenQuestion,
)
from qassay.tables import Cell, Column, Table, show
from qassay.web.errors import Refusal, on_page, pages_for
from qassay.web.results.choices import ScoringChoices
from qassay.web.results.finding import Form, Part, Picture, StudyRequest, Window
from qassay.web.results.jobs import CrowdedError, Job, JobQueue
from qassay.web.results.permission import permission_for, snapshot
from qassay.web.results.publishing import Publication
from qassay.web.results.saving import forms_of
from qassay.web.results.views import ONCE, TRUST, Parameters, View, query, tabs
from qassay.web.routing import Context
from qassay.web.site import Site

# A page waits this long (seconds) before it says that its results are being computed.
PATIENCE = 1.5
# A cell with more characters than this may break its lines, and one with more than that is folded.
UNBROKEN = 24
FOLDED = 240
# Buttons for other judgments where a page cannot be computed with its own.
MOST_SUGGESTIONS = 6
_CHOICES = {
    ("unjudged", "drop"): "Leave unjudged questions out",
    ("unjudged", "wrong"): "Count unjudged items as wrong",
    ("missing", "zero"): "Count missing responses as 0",
    ("missing", "skip"): "Leave missing responses out",
}
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


@dataclass(frozen=True, slots=True)
class PagedWindow(Window):
    """Which part of a longer table is here, and where the parts before and after it are."""

    before: str | None = None
    after: str | None = None


class TableView(Context):
    """One table: numbers as they are in `rows`, undefined cells null."""

    name: str
    title: str
    columns: list[Column]
    rows: list[list[Cell]]
    notes: list[str]
    csv: str
    provisional: str | None = None
    window: PagedWindow | None = None
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

    def head(self, column: Column) -> str:
        """The header of a column; of a long one the part that tells it apart from the others."""
        return short_name(column.header, [other.header for other in self.columns])

    @property
    def is_of_pairs(self) -> bool:
        """Whether the table is a list of names and values, without headers worth showing."""
        return len(self.columns) == 2 and self.columns[0].header == "" and self.columns[1].header == "value"

    def _cell(self, cell: Cell, column: Column, link: str | None) -> Shown:
        text = safe_text(show(cell, column.spec))
        kind = "number" if not column.left else "long" if len(text) > UNBROKEN else "short"
        beginning = text[:FOLDED].rstrip() + "…" if len(text) > FOLDED else None
        return Shown(text, kind, link, beginning)


class FigureView(Context):
    """A figure of the page, above its tables; the picture is part of the page alone."""

    name: str
    title: str
    caption: str
    # Where it can be saved from, by form.
    files: dict[Form, str]
    svg: str = Field(exclude=True)

    @property
    def picture(self) -> Markup:
        """The picture, drawn by this program: names in it are escaped there."""
        return Markup(self.svg)  # noqa: S704


class GateView(Context):
    """The incomplete work: numbers, and the first few names."""

    is_open: bool
    open_decisions: int
    open_assignments: int
    open_questions: int
    unassigned_questions: int
    unjudged_questions: int
    unruled_questions: int
    open: list[OpenQuestion]
    unassigned: list[str]
    unjudged: list[str]
    unruled: list[str]


class Tab(Context):
    """A way to another results page, with the same choice."""

    label: str
    address: str
    current: bool


class Suggestion(Context):
    """What to do where a page cannot be computed: a button."""

    label: str
    address: str


State = Literal["found", "computing", "refused", "broken", "closed", "published"]


class ResultsPage(Context):
    """A results page.

    `state` is `found` with tables; `computing`, with the job to ask for; `refused` or `broken` with a message;
    `closed` while assigned work is open; `published` for those who see what is published and nothing else.
    `provisional` marks every number where work is open; `finished` is the number of questions that are finished then.
    `document` is what the command prints with --json, unless `left_out` says that it is too large.
    """

    view: str
    path: str
    heading: str
    state: State
    asked: dict[str, Any] = Field(default_factory=dict)
    choice: dict[str, str] = Field(default_factory=dict)
    tabs: list[Tab] = Field(default_factory=list)
    # The pages of the same tab, this one among them.
    beside: list[Tab] = Field(default_factory=list)
    gate: GateView | None = None
    # Why what there is to judge is not what the runs returned; empty where it is.
    pool: str = ""
    offer: ScoringChoices | None = None
    job: str | None = None
    done: int = 0
    total: int = 0
    message: str = ""
    problems: list[Problem] = Field(default_factory=list)
    suggestions: list[Suggestion] = Field(default_factory=list, exclude=True)
    at: str | None = None
    stale: bool = False
    again: str | None = None
    json_address: str = Field(default="", exclude=True)
    provisional: str | None = None
    finished: int = 0
    # Whether organisers see finished questions without asking, while others are judged.
    shown_early: bool = False
    # The page of finished questions alone, where there are some.
    early: str | None = None
    answer: str = ""
    figures: list[FigureView] = Field(default_factory=list)
    tables: list[TableView] = Field(default_factory=list)
    across: PagedWindow | None = None
    document: dict[str, Any] = Field(default_factory=dict)
    left_out: str | None = None
    published: list[Publication] = Field(default_factory=list)


def queue_of(site: Site) -> JobQueue:
    """The queue of the application, which is made when it is first needed."""
    jobs: JobQueue = site.memory.setdefault("results", JobQueue())
    return jobs


def submit(site: Site, request: StudyRequest, state: str, *, fresh: bool = False) -> Job:
    """Have a result computed; a refusal where too many wait already."""
    try:
        return queue_of(site).submit(request, state, fresh=fresh)
    except CrowdedError:
        message = "many results are waiting to be computed; try again in a minute"
        raise Refusal(503, message, headers={"Retry-After": "30"}) from None


async def present(site: Site, view: View, parameters: Parameters) -> ResultsPage:
    """A results page: found, being computed, or the reason why not."""
    now = await run_in_threadpool(snapshot, site, finished=parameters.finished)
    permission = permission_for(view, parameters, now)
    parameters = permission.parameters if permission is not None else parameters
    common = query(parameters.common())
    page = ResultsPage(
        view=view.name,
        path=view.path,
        heading=_heading(view, parameters),
        state="closed",
        asked=parameters.model_dump(mode="json", exclude=set(ONCE)),
        choice=parameters.changed(),
        tabs=[Tab(label=name, address=views[0].path + common, current=view in views) for name, views in tabs().items()],
        beside=[
            Tab(label=other.study.label, address=other.path + common, current=other is view)
            for other in tabs().get(view.study.tab or "", ())
        ],
        gate=GateView.model_validate(now.gate),
        pool=now.pool,
        finished=now.finished,
        shown_early=now.shown_early,
    )
    if permission is None:
        page.again = view.path + parameters.address(provisional=True)
        page.early = view.path + parameters.address(finished=True) if now.finished else None
        return page
    page.provisional = permission.mark
    request = view.request(str(site.folder.path), parameters, unfinished=permission.unfinished)
    job = submit(site, request, now.state, fresh=parameters.fresh)
    if not await queue_of(site).wait(job, PATIENCE):
        page.state, page.job, page.done, page.total = "computing", job.id, job.done, job.total
        return page
    page.at, page.stale = job.at, job.state != now.state
    page.again = view.path + parameters.address(fresh=True)
    page.json_address = f"/api{view.path}{parameters.address()}"
    return await run_in_threadpool(_fill, page, view, parameters, job, site.folder.path.name)


def _heading(view: View, parameters: Parameters) -> str:
    """The heading of a page; one that is about a single series names it."""
    series: str | None = getattr(parameters, "series", None)
    return f"Series {series}" if series else view.study.heading.format_map(parameters.model_dump())


def _fill(page: ResultsPage, view: View, parameters: Parameters, job: Job, folder: str) -> ResultsPage:
    """Put the result of a job, or the reason why it has none, into the page."""
    if job.condition == "broken":
        page.state, page.message = "broken", job.message
        return page
    result = job.result()
    page.offer = result.offer
    if page.offer is not None and not page.offer.automatic and view is not TRUST:
        page.beside = [tab for tab in page.beside if tab.label != TRUST.study.label]
    if result.finding is None:
        page.state, page.message = "refused", result.message.removeprefix(f"{folder}: ")
        page.problems = list(result.problems)
        page.suggestions = _suggestions(page, result.way_out, view, parameters)
        return page
    finding = result.finding
    page.state, page.answer, page.left_out = "found", on_page(finding.answer), finding.left_out
    page.document = dict(finding.document)
    page.figures = figure_views(finding.pictures, view.figure, parameters.address)
    if page.provisional and page.document:
        page.document["provisional"] = page.provisional
    page.tables = [_table(part, view, parameters, page.provisional) for part in finding.parts]
    over = next((part.across for part in finding.parts if part.across is not None), None)
    page.across = _paged(over, "across", view, parameters) if over is not None else None
    return page


def _suggestions(page: ResultsPage, way_out: Sequence[Remedy], view: View, parameters: Parameters) -> list[Suggestion]:
    """Suggestions where a page cannot be computed: other choices of what helps, and the pages that do."""
    names = {option.name for option in way_out}
    choices: list[tuple[str, dict[str, str]]] = []
    if page.offer is not None and "against" in names:
        people = [name for name in page.offer.sets if name not in page.offer.automatic]
        choices += [(f"Compare with {name}", {"against": name}) for name in people[:MOST_SUGGESTIONS]]
    if page.offer is not None and names & {"key", "unjudged"}:
        others = [name for name in page.offer.keys if name != (parameters.key or page.offer.default_key)]
        choices += [(f"Use judgments: {name}", {"key": name}) for name in others[:MOST_SUGGESTIONS]]
    choices += [(label, {name: value}) for (name, value), label in _CHOICES.items() if name in names]
    return [
        *(Suggestion(label=f"Open {name}", address=path) for name, path in pages_for(way_out).items()),
        *(Suggestion(label=label, address=view.path + parameters.address(**chosen)) for label, chosen in choices),
    ]


def figure_views(pictures: Sequence[Picture], path: str, address: Callable[..., str]) -> list[FigureView]:
    """The figures of a page; they are saved from `path` with the query that `address` makes."""
    return [
        FigureView(
            name=picture.name,
            title=picture.title,
            caption=picture.caption,
            files={form: path + address(figure=picture.name, form=form) for form in forms_of(picture)},
            svg=picture.svg,
        )
        for picture in pictures
    ]


def _table(part: Part, view: View, parameters: Parameters, provisional: str | None) -> TableView:
    """A part of a finding for the page, with links to what its rows are about."""
    shown_table = table_view(
        part.name, part.table, csv=view.csv + parameters.address(table=part.name), provisional=provisional
    )
    about, subjects = part.links.about, part.links.subjects
    if about is not None and subjects:
        path, name = _PLACES[about]
        common = parameters.common() | ({"by": "question"} if about == "series" else {})
        shown_table.links = [path + query({**common, name: subject}) for subject in subjects]
        shown_table.link_column = part.links.column
    shown_table.window = _paged(part.window, "page", view, parameters) if part.window else None
    return shown_table


def table_view(name: str, table: Table, *, csv: str, provisional: str | None) -> TableView:
    """A table for the page, without links."""
    return TableView(
        name=name,
        title=table.title,
        columns=list(table.columns),
        rows=[list(row) for row in table.rows],
        notes=[on_page(note) for note in table.notes],
        csv=csv,
        provisional=provisional,
    )


def _paged(window: Window, name: Literal["page", "across"], view: View, parameters: Parameters) -> PagedWindow:
    """A window with the addresses before and after it."""
    page = getattr(parameters, name)
    more = window.first + window.size < window.total
    before = view.path + parameters.address(**{name: page - 1 if page > 2 else None}) if page > 1 else None
    after = view.path + parameters.address(**{name: page + 1}) if more else None
    return PagedWindow(**asdict(window), before=before, after=after)
