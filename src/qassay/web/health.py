"""Routes that belong to no page: health and metrics, the static files, and the API described for programs (OpenAPI).

The description is served at /api/openapi.json to everybody who is signed in: it says what may be asked, nothing of what
is judged. It is what the declared routes say, and how each of them refuses.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse

from qassay.store.engine import is_alive
from qassay.store.judging.judgments import count_judgments
from qassay.store.people.sessions import count_sessions
from qassay.web.errors import MESSAGES, Refusal
from qassay.web.guard import SAFE, GuardedRoute
from qassay.web.rendering import TYPES, static_files, static_version
from qassay.web.routing import EVERYBODY, ORGANISERS, PUBLIC, Context, Router, TheSite

REFUSED: Final = "Refused"
MEANS: Final = {
    400: "It cannot be done as things are; the message says why.",
    401: "Nobody is signed in, or the token, the name or the password is not known.",
    403: "Not for this role, or a change that another site sent.",
    404: "Not found, or not allowed for this account.",
    408: "The body came too slowly.",
    409: "Somebody else was faster, or something has to be said or done first.",
    413: "The body is too long.",
    415: "The body is of another type.",
    422: "What was sent breaks a rule; `problems` names the field, or the file and the line.",
    423: "The question is not open to this assessor.",
    429: "Too many tries; `Retry-After` says how long to wait.",
    502: "The identity provider cannot be reached, or refused.",
    503: "The store is busy, or too much is waiting; try again later.",
}
# What only some addresses answer, by how their paths begin.
OCCUR: Final = {
    "/api/": (503,),
    "/api/judge/": (423,),
    "/api/adjudication": (423,),
    "/api/sign-in": (401, 429),
    "/api/welcome": (429,),
    "/api/submissions": (429,),
    "/api/single-sign-on": (429, 502),
    "/api/account/password": (429,),
}
PROBLEM: Final = {
    "type": "object",
    "required": ["message"],
    "properties": {
        "message": {"type": "string"},
        "field": {"type": "string", "description": "of the body or the address"},
        "rule": {"type": "string"},
        "file": {"type": ["string", "null"]},
        "line": {"type": ["integer", "null"]},
        "question": {"type": ["string", "null"]},
    },
}
SCHEMA: Final = {
    "title": REFUSED,
    "description": "Why the answer is no; a refusal may have more fields (the current version, say).",
    "type": "object",
    "required": ["message", "problems"],
    "properties": {"message": {"type": "string"}, "problems": {"type": "array", "items": PROBLEM}},
    "additionalProperties": True,
}
router = Router()
FOR_GOOD = "public, max-age=31536000, immutable"


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an application, made once."""
    if app.openapi_schema is not None:
        return app.openapi_schema
    document = get_openapi(
        title="Qassay",
        version=app.version,
        description="Everything that the pages of the application do. Changes are made with a token of one's account.",
        routes=app.routes,
    )
    pages = {
        module.__name__: (name.replace("_", " "), (inspect.getdoc(module) or "").split("\n", 1)[0])
        for name, module in app.state.pages.items()
    }
    used: dict[str, str] = {}
    for route in app.routes:
        if isinstance(route, GuardedRoute) and route.include_in_schema:
            tag, about = pages.get(route.endpoint.__module__, ("server", "What belongs to no page."))
            used.setdefault(tag, about)
            for method in route.methods or ():
                _complete(document["paths"][route.path_format][method.lower()], route, method, tag)
    document["tags"] = [{"name": name, "description": about} for name, about in used.items()]
    schemas = document["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas[REFUSED] = SCHEMA
    document["components"]["securitySchemes"] = {
        "session": {"type": "apiKey", "in": "cookie", "name": app.state.site.settings.cookie},
        "token": {"type": "http", "scheme": "bearer"},
    }
    app.openapi_schema = document
    return document


def _complete(operation: dict[str, Any], route: GuardedRoute, method: str, tag: str) -> None:
    """Add to an operation what the framework does not know: who may, and how it refuses."""
    public = route.roles >= PUBLIC
    operation["tags"] = [tag]
    operation["summary"] = (inspect.getdoc(route.endpoint) or route.name).split("\n", 1)[0].rstrip(".")
    operation["security"] = [] if public else [{"session": []}, {"token": []}]
    if not public:
        operation["x-roles"] = sorted(route.roles)
    for status in sorted(_statuses(operation, route, method, public=public)):
        schema = {"$ref": f"#/components/schemas/{REFUSED}"}
        content = {"application/json": {"schema": schema}}
        operation["responses"][str(status)] = {"description": MEANS[status], "content": content}


def _statuses(operation: dict[str, Any], route: GuardedRoute, method: str, *, public: bool) -> set[int]:
    """How an operation may refuse."""
    statuses = {400} | (set() if public else {401, 403})
    if method not in SAFE:
        statuses |= {403, 404, 408, 409, 413, 415, 422}
    else:
        statuses |= {404, 409}  # a page may be elsewhere, or wait for something
    if operation.get("parameters"):
        statuses |= {404, 422}
    for beginning, more in OCCUR.items():
        if route.path.startswith(beginning):
            statuses |= set(more)
    return statuses


@router.download("/health", roles=PUBLIC)
def health(site: TheSite) -> dict[str, str]:
    """Whether the application can read its store."""
    is_alive(site.store)
    return {"status": "ok"}


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
    file = static_files().get(path)
    if file is None or version != static_version():
        raise Refusal(404, MESSAGES[404])
    return FileResponse(file, media_type=TYPES[file.suffix], headers={"Cache-Control": FOR_GOOD})


@router.action("GET", "/openapi.json", roles=EVERYBODY)
def description(request: Request) -> dict[str, Any]:
    """The API, described for programs."""
    return describe(request.app)


class Components(Context):
    """Contents that are hard to lay out."""

    long_word: str
    both_directions: str
    hostile: str


@router.page("/components", template="components.html", roles=ORGANISERS, data=True)
def show() -> Components:
    """The page of all components."""
    return Components(
        long_word="Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2,
        both_directions="An answer with שלום and \u202eright-to-left marks\u202c and مرحبا in it",
        hostile="<script>alert(1)</script></script><img src=x onerror=alert(1)> & \"quotes\" 'here' \u2028",
    )
