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
from qassay.web.place import Premises
from qassay.web.results.asked import Asked
from qassay.web.results.inquiry import Inquiry, Reply
from qassay.web.results.investigate import WINDOWED
from qassay.web.results.laboratory import Job
from qassay.web.results.sheets import lines
from qassay.web.results.showing import laboratory_of, order, standing
from qassay.web.results.views import VIEWS, View
from qassay.web.results.worker import Order
from qassay.web.routing import ORGANISERS, Place, Router

router = Router()

# A download waits for its numbers so long (seconds).
LONGEST_WAIT = 240.0
CSV = "text/csv; charset=utf-8"


def _offer(view: View) -> None:
    """Serve the tables of a page."""

    async def sheet(place: Place, asked: Asked) -> Response:
        return await _sheet(place, view.study, asked)

    sheet.__name__ = f"{view.study}_csv"
    sheet.__annotations__["asked"] = Annotated[view.asked, Query()]
    router.download(view.csv, roles=ORGANISERS)(sheet)


for _view in VIEWS:
    _offer(_view)


async def _sheet(place: Premises, study: str, asked: Asked) -> Response:
    """A table as CSV: out of what the page shows where that is all of it, else computed whole and sent from a file."""
    now = await run_in_threadpool(standing, place)
    if now.gate.is_open and not asked.provisional:
        raise Refusal(409, f"nothing is scored while assigned work is open ({now.gate.mark}); provisional=1 shows it")
    name = asked.table or study
    headers = {"Content-Disposition": f'attachment; filename="{_file_name(study, name)}"'}
    folder, mark = str(place.folder.path), now.gate.mark
    if study not in WINDOWED:
        reply = await _reply(place, Order(folder, asked.inquiry(study)), now.state, fresh=asked.fresh)
        part = reply.finding.part(name) if reply.finding else None
        if part is None:
            raise Refusal(404, f"this page has no table {name!r}")
        if part.window is None:
            return StreamingResponse(lines(part.table, provisional=mark), media_type=CSV, headers=headers)
    whole = await _written(place, asked.inquiry(study, whole=True), name, now.state, mark)
    gone = BackgroundTask(whole.unlink, missing_ok=True)
    return FileResponse(whole, media_type=CSV, headers=headers, background=gone)


async def _written(place: Premises, inquiry: Inquiry, name: str, state: str, mark: str | None) -> Path:
    """A file with the whole table, which the process that computes has written."""
    with tempfile.NamedTemporaryFile(prefix="qassay-", suffix=".csv", delete=False) as made:
        path = Path(made.name)
    try:
        await _reply(place, Order(str(place.folder.path), inquiry, name, str(path), mark), state)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


async def _reply(place: Premises, wanted: Order, state: str, *, fresh: bool = False) -> Reply:
    """What the laboratory answers, or a refusal that says why it does not."""
    job = order(place, wanted, state, fresh=fresh)
    if not await laboratory_of(place).wait(job, LONGEST_WAIT):
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
