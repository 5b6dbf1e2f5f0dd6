"""How a page module declares what it serves.

    router = Router()

    @router.page("/questions/{question}", template="question.html", roles=ORGANISERS, data=True)
    def show(person: ThePerson, site: TheSite, question: str) -> QuestionPage: ...

    @router.action("POST", "/questions/{question}/drop", roles=ORGANISERS)
    def drop(person: ThePerson, site: TheSite, question: str, sent: Dropping) -> Dropped: ...

A page is served as HTML at its path and as JSON at /api + its path, from the same model. An action is JSON alone, at
/api + its path; all changes are actions. A download is a GET whose view returns the response itself (a CSV, a picture).
Views may be plain functions: they run in a thread, and a store's connection belongs there.

Every route names the roles that may use it; there is no default. EVERYBODY is everybody who is signed in; READERS may
see what is published of all runs, which participants may not; PUBLIC needs no sign-in and is for the door alone. What
a role sees of what is behind a route is the view's to decide.

Bodies are models derived from `Input` (what they do not name is refused), contexts from `Context`. A view that takes an
`UploadFile` says `upload=True`. Refuse with `qassay.web.errors.Refusal`; send elsewhere with `GoTo`.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, TypeVar

from fastapi import Depends
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from qassay.web.guard import PUBLIC as ANYONE
from qassay.web.guard import GuardedRoute
from qassay.web.rendering import render
from qassay.web.site import Person, Site

ORGANISERS: Final = frozenset({"organiser"})
ADJUDICATORS: Final = frozenset({"organiser", "adjudicator"})
ASSESSORS: Final = frozenset({"organiser", "adjudicator", "assessor"})
READERS: Final = frozenset({"organiser", "adjudicator", "assessor", "reader"})
PARTICIPANTS: Final = frozenset({"participant"})
EVERYBODY: Final = READERS | PARTICIPANTS
PUBLIC: Final = frozenset({ANYONE})

# The number of a row. A number that no database or browser can store is refused before anything looks for it.
Number: TypeAlias = Annotated[int, Field(ge=0, lt=2**53)]

View = TypeVar("View", bound=Callable[..., Any])


class Input(BaseModel):
    """The body of an action, as JSON: `true` is not a number, and "1" is neither."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, str_max_length=200_000)


class Context(BaseModel):
    """The data of a page, or the answer of an action."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)

    @classmethod
    def build(cls, *sources: object, **values: Any) -> Self:
        """The model with these values; its other fields are attributes of the sources, of the first that has them."""
        for source in sources:
            values |= {
                name: getattr(source, name) for name in cls.model_fields if name not in values and hasattr(source, name)
            }
        return cls(**values)


class Done(Context):
    """Says that it was done, where there is nothing else to say."""

    done: bool = True


async def _person(request: Request) -> Any:
    return request.state.person  # the guard has identified them before: on a route that is not public there is somebody


async def _site(request: Request) -> Any:
    return request.app.state.site


async def _request(request: Request) -> Request:
    return request


ThePerson: TypeAlias = Annotated[Person, Depends(_person)]
# The person on a public page: perhaps nobody.
Visitor: TypeAlias = Annotated[Person | None, Depends(_person)]
TheSite: TypeAlias = Annotated[Site, Depends(_site)]
# The framework hands the request itself to one parameter only, and the view may have that one.
TheRequest: TypeAlias = Annotated[Request, Depends(_request)]


class Router:
    """The routes of one page module."""

    def __init__(self) -> None:
        self.routes: list[GuardedRoute] = []

    def page(self, path: str, *, template: str, roles: Iterable[str], data: bool = False) -> Callable[[View], View]:
        """Declare a page; with `data`, its context is in the page for scripts too (`pageData()` of dom.js)."""

        def declare(view: View) -> View:
            self._add("GET", path, _as_html(view, template, data=data), roles, include_in_schema=False)
            self._add("GET", "/api" + path, view, roles)
            return view

        return declare

    def action(
        self,
        method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"],
        path: str,
        *,
        roles: Iterable[str],
        status: int = 200,
        upload: bool = False,
    ) -> Callable[[View], View]:
        """Declare an endpoint that takes and answers JSON, at /api + path."""

        def declare(view: View) -> View:
            self._add(method, "/api" + path, view, roles, upload=upload, status_code=status)
            return view

        return declare

    def download(self, path: str, *, roles: Iterable[str]) -> Callable[[View], View]:
        """Declare a GET whose view returns a response: a file, a picture, a text."""

        def declare(view: View) -> View:
            self._add("GET", path, view, roles, response_model=None, include_in_schema=False)
            return view

        return declare

    def _add(self, method: str, path: str, view: Callable[..., Any], roles: Iterable[str], **more: Any) -> None:
        all_roles, allowed = EVERYBODY | PUBLIC, frozenset(roles)
        if not allowed or allowed - all_roles:
            raise ValueError(f"{method} {path}: names its roles among {', '.join(sorted(all_roles))}")
        methods = ["GET", "HEAD"] if method == "GET" and not path.startswith("/api") else [method]
        self.routes.append(GuardedRoute(path, view, roles=allowed, methods=methods, **more))


def _as_html(view: Callable[..., Any], template: str, *, data: bool) -> Callable[..., Any]:
    """The view with its context put into the template."""
    hints = typing.get_type_hints(view, include_extras=True)
    signature = inspect.signature(view)
    parameters = [
        parameter.replace(
            annotation=_from_form(hints.get(name, parameter.annotation)), kind=inspect.Parameter.KEYWORD_ONLY
        )
        for name, parameter in signature.parameters.items()
    ]
    request_parameter = inspect.Parameter("the_request", inspect.Parameter.KEYWORD_ONLY, annotation=TheRequest)

    @functools.wraps(view)
    async def rendered(*, the_request: Request, **arguments: Any) -> Response:
        if inspect.iscoroutinefunction(view):
            context = await view(**arguments)
        else:
            context = await run_in_threadpool(view, **arguments)
        return await run_in_threadpool(render, the_request, template, context, data=data)

    # The framework would look through the wrapping to the view's own signature.
    del rendered.__wrapped__
    rendered.__signature__ = inspect.Signature([request_parameter, *parameters], return_annotation=Response)  # type: ignore[attr-defined]
    rendered.__annotations__ = {parameter.name: parameter.annotation for parameter in (request_parameter, *parameters)}
    return rendered


def _from_form(annotation: Any) -> Any:
    """The parameters of a page's address, where what a form sends empty is left out; a program leaves it out itself."""
    model = getattr(annotation, "__origin__", None)
    if not (inspect.isclass(model) and issubclass(model, BaseModel)):
        return annotation
    validators: dict[str, Any] = {"without_empty": model_validator(mode="before")(_without_empty)}
    form_model = create_model(model.__name__, __base__=model, __validators__=validators)
    return Annotated[form_model, *annotation.__metadata__]


def _without_empty(sent: Any) -> Any:
    if not isinstance(sent, dict):
        return sent
    return {name: value for name, value in sent.items() if value not in ("", [""])}
