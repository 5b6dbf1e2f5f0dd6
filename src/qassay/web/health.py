"""Routes that belong to no page: is it alive, how is it doing, the static files, the description of the API."""

from __future__ import annotations

from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse

from qassay.store.engine import is_alive
from qassay.store.judging.judgments import count_judgments
from qassay.store.people.sessions import count_sessions
from qassay.web.description import describe
from qassay.web.errors import MESSAGES, Refusal
from qassay.web.rendering import TYPES, static_files, static_version
from qassay.web.routing import EVERYBODY, ORGANISERS, PUBLIC, Context, Router, TheSite

router = Router()
FOR_GOOD = "public, max-age=31536000, immutable"


class Health(Context):
    """The store answers."""

    status: Literal["ok"] = "ok"


@router.download("/health", roles=PUBLIC)
def health(site: TheSite) -> Health:
    """Whether the application can read its store."""
    is_alive(site.store)
    return Health()


@router.download("/metrics", roles=ORGANISERS)
def metrics(site: TheSite) -> PlainTextResponse:
    """Numbers for Prometheus."""
    with site.store.read() as connection:
        saved = count_judgments(connection)
        signed_in = count_sessions(connection)
    lines = [
        *site.metrics.lines(),
        "# TYPE qassay_judgments_saved_total counter",
        f"qassay_judgments_saved_total {saved}",
        "# TYPE qassay_sessions gauge",
        f"qassay_sessions {signed_in}",
    ]
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


@router.download("/static/{version}/{path:path}", roles=PUBLIC)
async def static(version: str, path: str) -> FileResponse:
    """A file of the package: one of those that are known by name, so no path leads elsewhere."""
    found = static_files().get(path)
    if found is None or version != static_version():
        raise Refusal(404, MESSAGES[404])
    return FileResponse(found, media_type=TYPES[found.suffix], headers={"Cache-Control": FOR_GOOD})


@router.action("GET", "/openapi.json", roles=EVERYBODY)
def description(request: Request) -> dict[str, Any]:
    """The API, described for programs."""
    return describe(request.app)
