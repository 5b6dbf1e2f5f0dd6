"""The pages, one file each, in the order of the navigation."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

from qassay.web.routing import ADJUDICATORS, ASSESSORS, EVERYBODY, ORGANISERS

MODULES = (
    *("home", "sign_in", "account", "people", "work", "judging", "judging_aids", "sets", "nuggets"),
    *("development", "question_draft", "documents", "runs"),
    *("assignments", "flags", "adjudication", "history", "results"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation, with what one does there; `step` where the steps of an evaluation lead there.

    `group` is the menu that holds it, and `also` are the other addresses where one is still at this place.
    """

    path: str
    label: str
    roles: frozenset[str]
    does: str = ""
    step: bool = False
    group: str = ""
    also: tuple[str, ...] = ()

    def holds(self, path: str) -> bool:
        """Whether the page at this path belongs here."""
        return any(path == own or path.startswith(f"{own}/") for own in (self.path, *self.also))


SET_UP, JUDGE = "Set up", "Judge"

NAVIGATION = (
    Entry("/", "Home", EVERYBODY),
    Entry(
        *("/work", "Work", ASSESSORS, "Judge what is assigned to you, one question at a time."),
        group=JUDGE,
        also=("/judge", "/document"),
    ),
    Entry("/adjudication", "Adjudication", ADJUDICATORS, "Rule where assessors disagree.", True, JUDGE),
    Entry(
        "/development", "Questions", ORGANISERS, "Write questions, with their answers from the documents.", True, SET_UP
    ),
    Entry("/runs", "Runs", ORGANISERS, "Add runs and see what is wrong with them.", True, SET_UP),
    Entry("/assignments", "Assignments", ORGANISERS, "Who judges what, and how far they are.", True, JUDGE),
    Entry("/people", "People", ORGANISERS, "Invite, change roles, end access.", group=SET_UP),
    Entry("/history", "History", ORGANISERS, "Every judgment: who, when, from what to what.", group=JUDGE),
    Entry("/results", "Results", EVERYBODY, "Scores, and what they are worth.", True),
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


def navigation(role: str | None, path: str) -> list[Menu]:
    """The menus that an account with this role sees on the page at this path: setting up, judging, then the rest."""
    menus: dict[str, list[Entry]] = {SET_UP: [], JUDGE: []}
    for entry in NAVIGATION:
        if role in entry.roles and entry.path != "/":
            menus.setdefault(entry.group or entry.label, []).append(entry)
    return [
        Menu(label, tuple(entries), next((entry for entry in entries if entry.holds(path)), None))
        for label, entries in menus.items()
        if entries
    ]
