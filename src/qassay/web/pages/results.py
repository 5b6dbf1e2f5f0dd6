"""Results: leaderboard, scores, comparisons, agreement, stability and sensitivity; to others, what is published."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from qassay.web.results.asked import Asked, LeaderboardAsked
from qassay.web.results.contexts import PublicationView, ResultsPage
from qassay.web.results.publishing import visible_to
from qassay.web.results.showing import laboratory_of, show
from qassay.web.results.views import LEADERBOARD, STUDIES, View
from qassay.web.routing import EVERYBODY, ORGANISERS, Context, Place, Router, Who

router = Router()

WHEN_DONE = "Results are shown when all assigned work is done."


@router.page(LEADERBOARD.path, template=LEADERBOARD.template, roles=EVERYBODY)
async def leaderboard(who: Who, place: Place, asked: Annotated[LeaderboardAsked, Query()]) -> ResultsPage:
    """The leaderboard for organisers; for all others, what is published."""
    published = await run_in_threadpool(visible_to, place.store, who.role)
    listed = [PublicationView.model_validate(one) for one in published or ()]
    if who.role != "organiser":
        message = WHEN_DONE if published is None else "" if published else "No results are published yet."
        made = ResultsPage(view="published", path="/results", heading="Results", state="published", published=listed)
        return made.model_copy(update={"message": message})
    page = await show(place, LEADERBOARD, asked)
    page.published = listed
    return page


def _serve(view: View) -> None:
    """Serve the page of a study."""

    async def showing(place: Place, asked: Asked) -> ResultsPage:
        return await show(place, view, asked)

    # The API is described by the names and sentences of its views, and by what each of them asks.
    showing.__name__, showing.__doc__ = view.study, view.about
    showing.__annotations__["asked"] = Annotated[view.asked, Query()]
    router.page(view.path, template=view.template, roles=ORGANISERS)(showing)


for _view in STUDIES:
    _serve(_view)


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
