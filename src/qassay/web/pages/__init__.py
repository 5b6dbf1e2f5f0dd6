"""The pages, one file each, in the order of the navigation."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

from qassay.web.routing import ADJUDICATORS, ASSESSORS, EVERYBODY, ORGANISERS, PARTICIPANTS, READERS

MODULES = (
    *("home", "sign_in", "account", "people", "work", "judging", "judging_aids", "sets", "nuggets"),
    *("development", "question_draft", "documents", "runs", "submissions"),
    *("assignments", "flags", "adjudication", "history", "results", "glossary"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation, with what one does there; `step` where the steps of an evaluation lead there.

    `group` is the menu that contains it, and `also` are the other addresses that belong to it.
    """

    path: str
    label: str
    roles: frozenset[str]
    does: str = ""
    step: bool = False
    group: str = ""
    also: tuple[str, ...] = ()
    # Who else has it where assessors write questions.
    authors: frozenset[str] = frozenset()

    def holds(self, path: str) -> bool:
        """Whether the page at this path belongs here."""
        return any(path == prefix or path.startswith(f"{prefix}/") for prefix in (self.path, *self.also))


SET_UP, JUDGE = "Set up", "Judge"

NAVIGATION = (
    Entry("/", "Home", EVERYBODY),
    Entry(
        *("/work", "Work", ASSESSORS, "Judge what is assigned to you, one question at a time."),
        group=JUDGE,
        also=("/judge", "/document"),
    ),
    Entry("/adjudication", "Adjudication", ADJUDICATORS, "Decide where assessors disagree.", True, JUDGE),
    Entry(
        *("/development", "Questions", ORGANISERS, "Write questions, with their answers from the documents."),
        step=True,
        group=SET_UP,
        authors=ASSESSORS,
    ),
    Entry("/runs", "Runs", ORGANISERS, "Add runs and see what is wrong with them.", True, SET_UP),
    Entry("/assignments", "Assignments", ORGANISERS, "Who judges what, and how far they are.", True, JUDGE),
    Entry("/flags", "Flagged answers", ORGANISERS, "Answers that assessors are not sure of.", group=JUDGE),
    Entry("/people", "People", ORGANISERS, "Invite, change roles, end access.", group=SET_UP),
    Entry("/history", "History", ORGANISERS, "Every judgment: who, when, from what to what.", group=JUDGE),
    Entry("/submissions", "Submissions", PARTICIPANTS, "Submit, replace and withdraw the runs of your organisation."),
    Entry("/organisation-results", "Results", PARTICIPANTS, "How your runs did, once the results are published."),
    Entry("/results", "Results", READERS, "Scores, and what they are worth.", True),
)


@dataclass(frozen=True, slots=True)
class Menu:
    """A menu of the header as one page shows it; one of a single entry is shown as that link."""

    label: str
    entries: tuple[Entry, ...]
    current: Entry | None


def load() -> dict[str, ModuleType]:
    """The page modules by name."""
    return {name: importlib.import_module(f"{__name__}.{name}") for name in MODULES}


def entries(role: str | None, *, authors: bool) -> list[Entry]:
    """The entries of the navigation for this role; `authors` says whether assessors write questions."""
    return [entry for entry in NAVIGATION if role in entry.roles or (authors and role in entry.authors)]


def navigation(role: str | None, path: str, *, authors: bool = False) -> list[Menu]:
    """The menus that an account with this role sees on the page at this path: setting up, judging, then the rest."""
    menus: dict[str, list[Entry]] = {SET_UP: [], JUDGE: []}
    for entry in entries(role, authors=authors):
        if entry.path != "/":
            menus.setdefault(entry.group or entry.label, []).append(entry)
    return [
        Menu(label, tuple(menu_entries), next((entry for entry in menu_entries if entry.holds(path)), None))
        for label, menu_entries in menus.items()
        if menu_entries
    ]
