"""The pages, one file each, in the order of the navigation."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from types import ModuleType

from fastapi import FastAPI

from qassay.web.routing import ADJUDICATORS, ASSESSORS, EVERYBODY, ORGANISERS

MODULES = (
    *(
        "home",
        "sign_in",
        "account",
        "people",
        "work",
        "judging",
        "judging_aids",
        "sets",
        "list_classes",
        "nugget_lists",
        "nugget_sources",
        "development",
        "question_draft",
        "search",
        "documents",
        "runs",
        "assignments",
    ),
    *("adjudication", "history", "results", "result_sheets", "result_publishing", "components"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation."""

    module: str
    path: str
    label: str
    roles: frozenset[str]


NAVIGATION = (
    Entry("home", "/", "Home", EVERYBODY),
    Entry("work", "/work", "Work", ASSESSORS),
    Entry("adjudication", "/adjudication", "Adjudication", ADJUDICATORS),
    Entry("development", "/development", "Questions", ORGANISERS),
    Entry("runs", "/runs", "Runs", ORGANISERS),
    Entry("assignments", "/assignments", "Assignments", ORGANISERS),
    Entry("people", "/people", "People", ORGANISERS),
    Entry("history", "/history", "History", ORGANISERS),
    Entry("results", "/results", "Results", EVERYBODY),
)


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the navigation as one page shows it."""

    path: str
    label: str
    current: bool


def load() -> dict[str, ModuleType]:
    """The page modules by name."""
    names = {name: f"{__name__}.{name}" for name in MODULES}
    return {name: importlib.import_module(at) for name, at in names.items() if importlib.util.find_spec(at)}


def navigation(role: str | None, path: str, app: FastAPI) -> list[Link]:
    """The links that somebody with this role sees on the page at this path."""
    served = [entry for entry in NAVIGATION if entry.module in app.state.pages and role in entry.roles]
    return [Link(entry.path, entry.label, _within(entry.path, path)) for entry in served]


def _within(entry: str, path: str) -> bool:
    return path == entry or (entry != "/" and path.startswith(entry + "/"))
