"""Results: leaderboard, scores, comparisons, agreement, stability and sensitivity; to others, what is published."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from qassay.web.results import asked as asking
from qassay.web.results.contexts import PublicationView, ResultsPage
from qassay.web.results.publishing import visible_to
from qassay.web.results.showing import laboratory_of, show
from qassay.web.routing import EVERYBODY, ORGANISERS, Context, Place, Router, Who

router = Router()

WHEN_DONE = "Results are shown when all assigned work is done."

Leaderboard: TypeAlias = Annotated[asking.LeaderboardAsked, Query()]
Units: TypeAlias = Annotated[asking.UnitsAsked, Query()]
Spread: TypeAlias = Annotated[asking.Asked, Query()]
Compare: TypeAlias = Annotated[asking.CompareAsked, Query()]
Sensitivity: TypeAlias = Annotated[asking.SensitivityAsked, Query()]
Stability: TypeAlias = Annotated[asking.StabilityAsked, Query()]
Agreement: TypeAlias = Annotated[asking.SetsAsked, Query()]
Run: TypeAlias = Annotated[asking.RunAsked, Query()]
Question: TypeAlias = Annotated[asking.QuestionAsked, Query()]


@router.page("/results", template="results.html", roles=EVERYBODY)
async def leaderboard(who: Who, place: Place, asked: Leaderboard) -> ResultsPage:
    """The leaderboard for organisers; for all others, what is published."""
    published = await run_in_threadpool(visible_to, place.store, who.role)
    listed = [PublicationView.model_validate(one) for one in published or ()]
    if who.role != "organiser":
        message = WHEN_DONE if published is None else "" if published else "No results are published yet."
        made = ResultsPage(view="published", path="/results", heading="Results", state="published", published=listed)
        return made.model_copy(update={"message": message})
    page = await show(place, "leaderboard", asked)
    page.published = listed
    return page


@router.page("/results/units", template="results_units.html", roles=ORGANISERS)
async def units(place: Place, asked: Units) -> ResultsPage:
    """Every run on every unit or question."""
    return await show(place, "units", asked)


@router.page("/results/spread", template="results.html", roles=ORGANISERS)
async def spread(place: Place, asked: Spread) -> ResultsPage:
    """Box statistics, zero medians, and what the ranking owes to weights."""
    return await show(place, "spread", asked)


@router.page("/results/compare", template="results_compare.html", roles=ORGANISERS)
async def compare(place: Place, asked: Compare) -> ResultsPage:
    """Two runs, or all pairs."""
    return await show(place, "compare", asked)


@router.page("/results/sensitivity", template="results_sensitivity.html", roles=ORGANISERS)
async def sensitivity(place: Place, asked: Sensitivity) -> ResultsPage:
    """Error rates of comparisons and the minimum difference."""
    return await show(place, "sensitivity", asked)


@router.page("/results/stability", template="results_sets.html", roles=ORGANISERS)
async def stability(place: Place, asked: Stability) -> ResultsPage:
    """Rankings under different judgment sets."""
    return await show(place, "stability", asked)


@router.page("/results/agreement", template="results_sets.html", roles=ORGANISERS)
async def agreement(place: Place, asked: Agreement) -> ResultsPage:
    """Disagreement tables and agreement statistics."""
    return await show(place, "agreement", asked)


@router.page("/results/run", template="results_run.html", roles=ORGANISERS)
async def run(place: Place, asked: Run) -> ResultsPage:
    """What one run got right and wrong."""
    page = await show(place, "run", asked)
    page.heading = f"Run {asked.run}"
    return page


@router.page("/results/question", template="results.html", roles=ORGANISERS)
async def question(place: Place, asked: Question) -> ResultsPage:
    """All answers to one question, and all judgments of them."""
    page = await show(place, "question", asked)
    page.heading = f"Question {asked.question}"
    return page


class Progress(Context):
    """How far a computation is; `over` where the page can be loaded again."""

    over: bool
    waiting: bool = False
    done: int = 0
    total: int = 0


@router.action("GET", "/results/progress/{job}", roles=ORGANISERS)
async def progress(place: Place, job: str) -> Progress:
    """How far the computation with this id is; one that is not remembered is over."""
    found = laboratory_of(place).find(job)
    if found is None:
        return Progress(over=True)
    return Progress(over=found.is_over, waiting=found.condition == "waiting", done=found.done, total=found.total)
