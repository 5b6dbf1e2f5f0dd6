"""The pages, one file each, in the order of the navigation."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

from qassay.web.routing import ADJUDICATORS, ASSESSORS, EVERYBODY, ORGANISERS, PARTICIPANTS, READERS

MODULES = (
    *("home", "sign_in", "account", "people", "work", "judging", "judging_aids", "sets", "nuggets"),
    *("development", "question_draft", "documents", "runs", "submissions"),
    *("assignments", "flags", "adjudication", "history", "results"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation, with what one does there; `step` where the steps of an evaluation lead there."""

    path: str
    label: str
    roles: frozenset[str]
    does: str = ""
    step: bool = False
    # Who else has it where assessors write questions.
    authors: frozenset[str] = frozenset()


NAVIGATION = (
    Entry("/", "Home", EVERYBODY),
    Entry("/work", "Work", ASSESSORS, "Judge what is assigned to you, one question at a time."),
    Entry("/adjudication", "Adjudication", ADJUDICATORS, "Rule where assessors disagree.", True),
    Entry(
        "/development",
        "Questions",
        ORGANISERS,
        "Write questions, with their answers from the documents.",
        step=True,
        authors=ASSESSORS,
    ),
    Entry("/runs", "Runs", ORGANISERS, "Add runs and see what is wrong with them.", True),
    Entry("/assignments", "Assignments", ORGANISERS, "Who judges what, and how far they are.", True),
    Entry("/people", "People", ORGANISERS, "Invite, change roles, end access."),
    Entry("/history", "History", ORGANISERS, "Every judgment: who, when, from what to what."),
    Entry("/submissions", "Submissions", PARTICIPANTS, "Submit, replace and withdraw the runs of your organisation."),
    Entry("/organisation-results", "Results", PARTICIPANTS, "How your runs did, once the results are published."),
    Entry("/results", "Results", READERS, "Scores, and what they are worth.", True),
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


def entries(role: str | None, *, authors: bool) -> list[Entry]:
    """The entries of the navigation for this role; `authors` says whether assessors write questions."""
    return [entry for entry in NAVIGATION if role in entry.roles or (authors and role in entry.authors)]


def navigation(role: str | None, path: str, *, authors: bool = False) -> list[Link]:
    """The links that an account with this role sees on the page at this path."""
    return [
        Link(entry.path, entry.label, path == entry.path or (entry.path != "/" and path.startswith(entry.path + "/")))
        for entry in entries(role, authors=authors)
    ]
