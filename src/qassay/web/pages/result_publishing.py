"""Publishing results, and what readers see of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from qassay.web.errors import Refusal
from qassay.web.pages.result_csv import CSV, LONGEST_WAIT, replied
from qassay.web.results import publishing
from qassay.web.results.contexts import TableView, plain_view
from qassay.web.results.csv_tables import csv_lines
from qassay.web.results.jobs import Job
from qassay.web.results.parameters import LeaderboardParameters
from qassay.web.results.present import queue_of, snapshot, submit
from qassay.web.results.publishing import Publication
from qassay.web.results.worker import Order
from qassay.web.routing import EVERYBODY, ORGANISERS, Context, Router, TheSite, Who
from qassay.web.site import Site

router = Router()


class Publishing(LeaderboardParameters):
    """What is to be published: the leaderboard under a choice; provisional only where the organiser says so."""

    title: str = Field(default="", max_length=200)

    def parameters(self) -> LeaderboardParameters:
        """What the page of the leaderboard was asked."""
        return LeaderboardParameters(**self.model_dump(exclude={"title"}))


class PublishedPage(Context):
    """A published result: its tables as they were when it was published."""

    publication: Publication
    tables: list[TableView]
    document: dict[str, Any]


class Withdrawn(Context):
    """What is no longer published."""

    id: str


@router.action("POST", "/results/published", roles=ORGANISERS, status=201)
async def publish(who: Who, site: TheSite, sent: Publishing) -> Publication:
    """Publish the leaderboard as it is now."""
    now = await run_in_threadpool(snapshot, site)
    if now.gate.is_open and not sent.provisional:
        raise Refusal(409, f"assigned work is open ({now.gate.mark}); nothing is scored, unless as provisional")
    job = submit(site, Order(str(site.folder.path), sent.parameters().request("leaderboard")), now.state, fresh=True)
    if not await queue_of(site).wait(job, LONGEST_WAIT):
        raise Refusal(503, "the leaderboard is still being computed; publish it when it is there")
    return await run_in_threadpool(_publish, who, site, sent, job)


def _publish(who: Who, site: Site, sent: Publishing, job: Job) -> Publication:
    reply = replied(job)
    if reply.finding is None:
        raise Refusal(422, "there is nothing to publish")
    now = snapshot(site)
    if job.state != now.state and not sent.provisional:
        raise Refusal(409, "judgments have come in meanwhile; look at the leaderboard again, then publish it")
    with site.store.write() as connection:
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
def withdraw(who: Who, site: TheSite, number: str) -> Withdrawn:
    """Take a published result away from readers; recorded."""
    with site.store.write() as connection:
        if not any(one.id == number for one in publishing.publications(connection)):
            raise Refusal(404, "there is no such published result")
        publishing.withdraw(connection, number, account=who.id)
    return Withdrawn(id=number)


@router.page("/results/published/{number}", template="results_published.html", roles=EVERYBODY)
def published(who: Who, site: TheSite, number: str) -> PublishedPage:
    """A published result."""
    one, tables, document = _found(site, who.role, number)
    views = [
        plain_view(name, table, csv=f"/results/published/{one.id}/sheet.csv?table={name}", provisional=one.provisional)
        for name, table in tables.items()
    ]
    document |= {"provisional": one.provisional} if one.provisional else {}
    return PublishedPage(publication=one, tables=views, document=document)


@router.download("/results/published/{number}/sheet.csv", roles=EVERYBODY)
def published_csv(who: Who, site: TheSite, number: str, table: Annotated[str, Query(max_length=200)]) -> Response:
    """A table of a published result."""
    one, tables, _ = _found(site, who.role, number)
    if table not in tables:
        raise Refusal(404, f"this result has no table {table!r}")
    headers = {"Content-Disposition": 'attachment; filename="results.csv"'}
    return StreamingResponse(csv_lines(tables[table], provisional=one.provisional), media_type=CSV, headers=headers)


def _found(site: Site, role: str, number: str) -> tuple[Publication, dict[str, Any], dict[str, Any]]:
    """A published result that this role may see; the same answer where there is none and where it may not yet."""
    visible = publishing.visible_to(site.store, role)
    with site.store.read() as connection:
        found = publishing.published(connection, number) if visible is not None else None
    if found is None:
        raise Refusal(404, "there is no such published result")
    return found
