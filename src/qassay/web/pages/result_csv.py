"""The tables of the results pages as CSV, whole."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import Query
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, Response, StreamingResponse

from qassay.web.errors import Refusal
from qassay.web.results.compute import WINDOWED
from qassay.web.results.csv_tables import csv_lines
from qassay.web.results.jobs import Job
from qassay.web.results.parameters import Parameters
from qassay.web.results.present import queue_of, snapshot, submit
from qassay.web.results.request import Reply, StudyRequest
from qassay.web.results.views import VIEWS, View
from qassay.web.results.worker import Order
from qassay.web.routing import ORGANISERS, Router, TheSite
from qassay.web.site import Site

router = Router()

# A download waits for its numbers so long (seconds).
LONGEST_WAIT = 240.0
CSV = "text/csv; charset=utf-8"


def _offer(view: View) -> None:
    """Serve the tables of a page."""

    async def download(site: TheSite, parameters: Parameters) -> Response:
        return await _download(site, view.study, parameters)

    download.__name__ = f"{view.study}_csv"
    download.__annotations__["parameters"] = Annotated[view.parameters, Query()]
    router.download(view.csv, roles=ORGANISERS)(download)


for _view in VIEWS:
    _offer(_view)


async def _download(site: Site, study: str, parameters: Parameters) -> Response:
    """A table as CSV: out of what the page shows where that is all of it, else computed whole and sent from a file."""
    now = await run_in_threadpool(snapshot, site)
    if now.gate.is_open and not parameters.provisional:
        raise Refusal(409, f"nothing is scored while assigned work is open ({now.gate.mark}); provisional=1 shows it")
    name = parameters.table or study
    headers = {"Content-Disposition": f'attachment; filename="{_file_name(study, name)}"'}
    folder, mark = str(site.folder.path), now.gate.mark
    if study not in WINDOWED:
        reply = await _reply(site, Order(folder, parameters.request(study)), now.state, fresh=parameters.fresh)
        part = reply.finding.part(name) if reply.finding else None
        if part is None:
            raise Refusal(404, f"this page has no table {name!r}")
        if part.window is None:
            return StreamingResponse(csv_lines(part.table, provisional=mark), media_type=CSV, headers=headers)
    whole = await _written(site, parameters.request(study, whole=True), name, now.state, mark)
    gone = BackgroundTask(whole.unlink, missing_ok=True)
    return FileResponse(whole, media_type=CSV, headers=headers, background=gone)


async def _written(site: Site, request: StudyRequest, name: str, state: str, mark: str | None) -> Path:
    """A file with the whole table, which the process that computes has written."""
    with tempfile.NamedTemporaryFile(prefix="qassay-", suffix=".csv", delete=False) as made:
        path = Path(made.name)
    try:
        await _reply(site, Order(str(site.folder.path), request, name, str(path), mark), state)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


async def _reply(site: Site, wanted: Order, state: str, *, fresh: bool = False) -> Reply:
    """What was computed, or a refusal that says why it does not."""
    job = submit(site, wanted, state, fresh=fresh)
    if not await queue_of(site).wait(job, LONGEST_WAIT):
        raise Refusal(503, "the numbers are still being computed; try again in a while", headers={"Retry-After": "60"})
    return replied(job)


def replied(job: Job) -> Reply:
    """What a job found; a refusal with its sentence where it found nothing."""
    if job.condition != "found":
        raise Refusal(422 if job.condition == "refused" else 500, job.message, problems=tuple(job.problems))
    reply: Reply = job.found()
    if reply.message:
        raise Refusal(422, reply.message, problems=reply.problems)
    return reply


def _file_name(study: str, table: str) -> str:
    safe = "".join(c if c.isascii() and (c.isalnum() or c == "-") else "_" for c in table)[:60]
    return f"{study}.csv" if safe in ("", study) else f"{study}-{safe}.csv"
