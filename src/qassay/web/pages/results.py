"""Results: leaderboard, scores, comparisons, agreement, stability and sensitivity; to others, what is published."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from qassay.web.results.contexts import ResultsPage
from qassay.web.results.parameters import LeaderboardParameters, Parameters
from qassay.web.results.present import queue_of, show
from qassay.web.results.publishing import visible_to
from qassay.web.results.views import LEADERBOARD, STUDIES, View
from qassay.web.routing import EVERYBODY, ORGANISERS, Context, Router, TheSite, Who

router = Router()

WHEN_DONE = "Results are shown when all assigned work is done."


@router.page(LEADERBOARD.path, template=LEADERBOARD.template, roles=EVERYBODY)
async def leaderboard(who: Who, site: TheSite, parameters: Annotated[LeaderboardParameters, Query()]) -> ResultsPage:
    """The leaderboard for organisers; for all others, what is published."""
    published = await run_in_threadpool(visible_to, site.store, who.role)
    listed = published or []
    if who.role != "organiser":
        message = WHEN_DONE if published is None else "" if published else "No results are published yet."
        made = ResultsPage(view="published", path="/results", heading="Results", state="published", published=listed)
        return made.model_copy(update={"message": message})
    page = await show(site, LEADERBOARD, parameters)
    page.published = listed
    return page


def _serve(view: View) -> None:
    """Serve the page of a study."""

    async def page(site: TheSite, parameters: Parameters) -> ResultsPage:
        return await show(site, view, parameters)

    # The API is described by the names and sentences of its views, and by what each of them asks.
    page.__name__, page.__doc__ = view.study, view.about
    page.__annotations__["parameters"] = Annotated[view.parameters, Query()]
    router.page(view.path, template=view.template, roles=ORGANISERS)(page)


for _view in STUDIES:
    _serve(_view)


class Progress(Context):
    """How far a computation is; `over` where the page can be loaded again."""

    over: bool
    waiting: bool = False
    done: int = 0
    total: int = 0


@router.action("GET", "/results/progress/{job}", roles=ORGANISERS)
async def progress(site: TheSite, job: str) -> Progress:
    """How far the computation with this id is; one that is not remembered is over."""
    found = queue_of(site).find(job)
    if found is None:
        return Progress(over=True)
    return Progress(over=found.is_over, waiting=found.condition == "waiting", done=found.done, total=found.total)
