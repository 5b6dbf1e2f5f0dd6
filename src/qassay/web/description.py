"""The API described for programs (OpenAPI): what the declared routes say, and how every one of them refuses.

Served at /api/openapi.json to everybody who is signed in: it tells what may be asked, nothing of what is judged.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from qassay.web.guard import PUBLIC, GuardedRoute
from qassay.web.security import SAFE

REFUSED: Final = "Refused"
MEANS: Final = {
    400: "It cannot be done as things are; the message says why.",
    401: "Nobody is signed in, or the token, the name or the password is not known.",
    403: "Not for this role, or a change that another site sent.",
    404: "There is no such thing, or not for whoever asks.",
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
    "description": "Why the answer is no; what else a refusal carries (what stands, say) is beside.",
    "type": "object",
    "required": ["message", "problems"],
    "properties": {"message": {"type": "string"}, "problems": {"type": "array", "items": PROBLEM}},
    "additionalProperties": True,
}


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an application, made once."""
    if app.openapi_schema is None:
        app.openapi_schema = _made(app)
    return app.openapi_schema


def _made(app: FastAPI) -> dict[str, Any]:
    told = get_openapi(
        title="Qassay",
        version=app.version,
        description="Everything that the pages of the application do. Changes are made with a token of one's account.",
        routes=app.routes,
    )
    pages = {module.__name__: (_tag(name), _first_line(module)) for name, module in app.state.pages.items()}
    used: dict[str, str] = {}
    for route in app.routes:
        if isinstance(route, GuardedRoute) and route.include_in_schema:
            tag, about = pages.get(route.endpoint.__module__, ("server", "What belongs to no page."))
            used.setdefault(tag, about)
            for method in route.methods or ():
                _complete(told["paths"][route.path_format][method.lower()], route, method, tag)
    told["tags"] = [{"name": name, "description": about} for name, about in used.items()]
    schemas = told["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas[REFUSED] = SCHEMA
    told["components"]["securitySchemes"] = {
        "session": {"type": "apiKey", "in": "cookie", "name": app.state.site.settings.cookie},
        "token": {"type": "http", "scheme": "bearer"},
    }
    return told


def _complete(operation: dict[str, Any], route: GuardedRoute, method: str, tag: str) -> None:
    """Add to an operation what the framework does not know: who may, and how it refuses."""
    public = PUBLIC in route.roles
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
    changes = method not in SAFE
    found = {400} | (set() if public else {401, 403})
    if changes:
        found |= {403, 404, 408, 409, 413, 415, 422}
    if operation.get("parameters"):
        found |= {404, 422}
    if not changes:
        found |= {404, 409}  # a page may be elsewhere, or wait for something
    for beginning, statuses in OCCUR.items():
        if route.path.startswith(beginning):
            found |= set(statuses)
    return found


def _tag(module: str) -> str:
    return module.replace("_", " ")


def _first_line(module: Any) -> str:
    return (inspect.getdoc(module) or "").split("\n", 1)[0]
