"""Figures of a page as files: SVG from the picture itself, PNG and PDF made of it in a process of their own, CSV."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from qassay.child import ChildError, PythonProcess, Report
from qassay.errors import UsageError
from qassay.web.errors import Refusal
from qassay.web.results.finding import Form, Picture, csv_lines

TYPES: Mapping[str, str] = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "csv": "text/csv; charset=utf-8",
}
# One picture is converted at a time; the next one waits this long (seconds), and a conversion may take this long.
PATIENCE = 20.0
LIMIT_SECONDS = 60.0
_converting = threading.Lock()


def forms_of(picture: Picture) -> tuple[Form, ...]:
    """The forms that a figure can be saved in."""
    return tuple(form for form in get_args(Form) if form != "csv" or picture.table is not None)


async def saved_figure(picture: Picture, form: Form, *, provisional: str | None = None) -> Response:
    """A figure as a file; provisional numbers say so in it."""
    from qassay.figures.figure import picture_file

    if form == "csv":
        if picture.table is None:
            raise Refusal(
                404, "this figure has too many numbers for a table of its own; the tables of its page have them"
            )
        data = "".join(csv_lines(picture.table, provisional=provisional)).encode()
    else:
        if provisional:
            picture = replace(picture, title=f"{picture.title} (provisional: {provisional})")
        svg = picture_file(picture.svg, title=picture.title, caption=picture.caption)
        data = svg.encode() if form == "svg" else await _converted(svg, form)
    headers = {"Content-Disposition": f'attachment; filename="{_file_name(picture.name)}.{form}"'}
    return Response(data, media_type=TYPES[form], headers=headers)


def _file_name(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c == "-") else "_" for c in name)[:60] or "figure"


async def _converted(svg: str, form: Literal["png", "pdf"]) -> bytes:
    """The picture as PNG or PDF; a refusal where others are being converted for long."""
    until = time.monotonic() + PATIENCE
    while not _converting.acquire(blocking=False):
        if time.monotonic() > until:
            raise Refusal(503, "other figures are being saved; try again in a while", headers={"Retry-After": "20"})
        await asyncio.sleep(0.05)
    try:
        return await run_in_threadpool(_convert, svg, form)
    finally:
        _converting.release()


def _convert(svg: str, form: Literal["png", "pdf"]) -> bytes:
    """Convert in a process of its own: the library may end it, and lets no other thread of its process work."""
    with PythonProcess(_printed, name="qassay-figures") as process:
        try:
            printed: bytes | str = process.ask((svg, form), seconds=LIMIT_SECONDS)
        except ChildError:
            raise Refusal(500, f"the figure cannot be saved as {form.upper()}; save it as SVG") from None
    if isinstance(printed, str):
        raise Refusal(422, printed)
    return printed


def _printed(picture: tuple[str, Literal["png", "pdf"]], _report: Report) -> bytes | str:
    """The file, or why there is none."""
    from qassay.figures.figure import picture_for_print

    try:
        return picture_for_print(*picture)
    except UsageError as error:
        return str(error)
