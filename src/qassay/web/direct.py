"""Changes answered in one go: from the body that was read to the bytes of the answer, in one thread.

The framework resolves the parameters of a view in the event loop, and has the view run in a thread of its own, after
the guard has looked up in a thread who asks. Between two threads every request waits its turn, and a judgment is saved
in less time than that takes. Where a view takes nothing but the person, the site, parts of the path and a body, all of
it can be done in one thread. Whatever does not fit is left to the framework, which says what is wrong with it.
"""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi.params import Depends
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.responses import Response


@dataclass(frozen=True, slots=True)
class DirectView:
    """A view with what reads its parameters and writes its answer."""

    view: Callable[..., Any]
    # The names of the parameters that take the person, and the site.
    person: str | None
    site: str | None
    path: Mapping[str, TypeAdapter[Any]]
    # The name of the body, and its model.
    body: str
    model: TypeAdapter[Any]
    result: TypeAdapter[Any]
    status: int

    def arguments(self, path: Mapping[str, Any], body: bytes) -> dict[str, Any] | None:
        """The arguments of the view, from the path and the body; None where these are not valid."""
        try:
            values = {name: adapter.validate_python(path[name]) for name, adapter in self.path.items()}
            values[self.body] = self.model.validate_python(json.loads(body))
        except (ValidationError, ValueError):
            return None
        return values

    def answer(self, person: Any, site: Any, arguments: dict[str, Any]) -> Response:
        """The answer of the view."""
        if self.person is not None:
            arguments[self.person] = person
        if self.site is not None:
            arguments[self.site] = site
        content = self.result.dump_json(self.result.validate_python(self.view(**arguments)))
        return Response(content, self.status, media_type="application/json")


def direct_view(
    view: Callable[..., Any],
    path: str,
    status: int | None,
    given: Mapping[Callable[..., Any], str],
) -> DirectView | None:
    """The view as it can be answered directly; None where it takes or gives anything else.

    `given` are the dependencies that are known beforehand: "person" and "site".
    """
    if inspect.iscoroutinefunction(view):
        return None
    hints = typing.get_type_hints(view, include_extras=True)
    result = hints.pop("return", None)
    if not (inspect.isclass(result) and issubclass(result, BaseModel)):
        return None
    known: dict[str, str] = {}
    in_path: dict[str, TypeAdapter[Any]] = {}
    bodies: dict[str, Any] = {}
    for name in inspect.signature(view).parameters:
        hint = hints[name]
        dependency = next((part for part in getattr(hint, "__metadata__", ()) if isinstance(part, Depends)), None)
        what = None if dependency is None or dependency.dependency is None else given.get(dependency.dependency)
        if what is not None:
            known[what] = name
        elif f"{{{name}}}" in path:
            in_path[name] = TypeAdapter(hint)
        elif inspect.isclass(hint) and issubclass(hint, BaseModel):
            bodies[name] = hint
        else:
            return None
    if len(bodies) != 1:
        return None
    ((body, model),) = bodies.items()
    return DirectView(
        view,
        known.get("person"),
        known.get("site"),
        in_path,
        body,
        TypeAdapter(model),
        TypeAdapter(result),
        status or 200,
    )
