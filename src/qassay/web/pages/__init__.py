"""The pages, one file each, in the order of the navigation."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

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
    *("adjudication", "history", "results"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation."""

    path: str
    label: str
    roles: frozenset[str]


NAVIGATION = (
    Entry("/", "Home", EVERYBODY),
    Entry("/work", "Work", ASSESSORS),
    Entry("/adjudication", "Adjudication", ADJUDICATORS),
    Entry("/development", "Questions", ORGANISERS),
    Entry("/runs", "Runs", ORGANISERS),
    Entry("/assignments", "Assignments", ORGANISERS),
    Entry("/people", "People", ORGANISERS),
    Entry("/history", "History", ORGANISERS),
    Entry("/results", "Results", EVERYBODY),
)


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the navigation as one page shows it."""

    path: str
    label: str
    current: bool


def load() -> dict[str, ModuleType]:
    """The page modules by name."""
    return {name: importlib.import_module(f"{__name__}.{name}") for name in MODULES}


def navigation(role: str | None, path: str) -> list[Link]:
    """The links that somebody with this role sees on the page at this path."""
    served = [entry for entry in NAVIGATION if role in entry.roles]
    return [Link(entry.path, entry.label, _within(entry.path, path)) for entry in served]


def _within(entry: str, path: str) -> bool:
    return path == entry or (entry != "/" and path.startswith(entry + "/"))
