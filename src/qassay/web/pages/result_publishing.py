"""Publishing results, and what readers see of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from qassay.web.errors import Refusal
from qassay.web.pages.result_sheets import CSV, LONGEST_WAIT, replied
from qassay.web.place import Premises
from qassay.web.results import publishing
from qassay.web.results.asked import LeaderboardAsked
from qassay.web.results.contexts import PublicationView, TableView, plain_view
from qassay.web.results.laboratory import Job
from qassay.web.results.sheets import lines
from qassay.web.results.showing import laboratory_of, order, standing
from qassay.web.results.worker import Order
from qassay.web.routing import EVERYBODY, ORGANISERS, Context, Place, Router, Who

router = Router()


class Publishing(LeaderboardAsked):
    """What is to be published: the leaderboard under a choice; provisional only where the organiser says so."""

    title: str = Field(default="", max_length=200)

    def asked(self) -> LeaderboardAsked:
        """What the page of the leaderboard was asked."""
        return LeaderboardAsked(**self.model_dump(exclude={"title"}))


class PublishedPage(Context):
    """A published result: its tables as they were when it was published."""

    publication: PublicationView
    tables: list[TableView]
    document: dict[str, Any]


class Withdrawn(Context):
    """What is no longer published."""

    id: str


@router.action("POST", "/results/published", roles=ORGANISERS, status=201)
async def publish(who: Who, place: Place, sent: Publishing) -> PublicationView:
    """Publish the leaderboard as it is now."""
    now = await run_in_threadpool(standing, place)
    if now.gate.is_open and not sent.provisional:
        raise Refusal(409, f"assigned work is open ({now.gate.mark}); nothing is scored, unless as provisional")
    job = order(place, Order(str(place.folder.path), sent.asked().inquiry("leaderboard")), now.state, fresh=True)
    if not await laboratory_of(place).wait(job, LONGEST_WAIT):
        raise Refusal(503, "the leaderboard is still being computed; publish it when it is there")
    made = await run_in_threadpool(_publish, who, place, sent, job)
    return PublicationView.model_validate(made)


def _publish(who: Who, place: Premises, sent: Publishing, job: Job) -> publishing.Publication:
    reply = replied(job)
    if reply.finding is None:
        raise Refusal(422, "there is nothing to publish")
    now = standing(place)
    if job.state != now.state and not sent.provisional:
        raise Refusal(409, "judgments have come in meanwhile; look at the leaderboard again, then publish it")
    with place.store.write() as connection:
        return publishing.publish(
            connection,
            reply.finding,
            sent.choice(),
            title=sent.title,
            provisional=now.gate.mark if sent.provisional else None,
            account=who.id,
            name=who.name,
        )


@router.action("DELETE", "/results/published/{number}", roles=ORGANISERS)
def withdraw(who: Who, place: Place, number: str) -> Withdrawn:
    """Take a published result away from readers; recorded."""
    with place.store.write() as connection:
        if not any(one.id == number for one in publishing.publications(connection)):
            raise Refusal(404, "there is no such published result")
        publishing.withdraw(connection, number, account=who.id)
    return Withdrawn(id=number)


@router.page("/results/published/{number}", template="results_published.html", roles=EVERYBODY)
def published(who: Who, place: Place, number: str) -> PublishedPage:
    """A published result."""
    one, tables, document = _found(place, who.role, number)
    views = [
        plain_view(name, table, csv=f"/results/published/{one.id}/sheet.csv?table={name}", provisional=one.provisional)
        for name, table in tables.items()
    ]
    document |= {"provisional": one.provisional} if one.provisional else {}
    return PublishedPage(publication=PublicationView.model_validate(one), tables=views, document=document)


@router.download("/results/published/{number}/sheet.csv", roles=EVERYBODY)
def published_csv(who: Who, place: Place, number: str, table: Annotated[str, Query(max_length=200)]) -> Response:
    """A table of a published result."""
    one, tables, _ = _found(place, who.role, number)
    if table not in tables:
        raise Refusal(404, f"this result has no table {table!r}")
    headers = {"Content-Disposition": 'attachment; filename="results.csv"'}
    return StreamingResponse(lines(tables[table], provisional=one.provisional), media_type=CSV, headers=headers)


def _found(place: Premises, role: str, number: str) -> tuple[publishing.Publication, dict[str, Any], dict[str, Any]]:
    """A published result that this role may see; the same answer where there is none and where it may not yet."""
    visible = publishing.visible_to(place.store, role)
    with place.store.read() as connection:
        found = publishing.published(connection, number) if visible is not None else None
    if found is None:
        raise Refusal(404, "there is no such published result")
    return found
