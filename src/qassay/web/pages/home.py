"""Where everybody arrives: what this evaluation is, and where one's work is."""

from __future__ import annotations

from qassay.web.next_steps import Step, next_steps
from qassay.web.pages import NAVIGATION
from qassay.web.routing import EVERYBODY, Context, Router, TheSite, Who

router = Router()

DOES = {
    "/work": "Judge what is assigned to you, one question at a time.",
    "/adjudication": "Rule where assessors disagree.",
    "/development": "Write questions, with their answers from the documents.",
    "/runs": "Add runs and see what is wrong with them.",
    "/assignments": "Who judges what, and how far they are.",
    "/people": "Invite, change roles, end access.",
    "/history": "Every judgment: who, when, from what to what.",
    "/results": "Scores, and what they are worth.",
}

# Where the steps lead.
ON_THE_WAY = frozenset({"/development", "/runs", "/assignments", "/adjudication", "/results"})


class Door(Context):
    """A way on from here."""

    path: str
    label: str
    does: str


class Home(Context):
    """The first page."""

    evaluation: str
    task: str
    name: str
    role: str
    # What an organiser has to do, from the questions to the results.
    steps: list[Step]
    doors: list[Door]
    may_export: bool


@router.page("/", template="home.html", roles=EVERYBODY)
def home(who: Who, site: TheSite) -> Home:
    """The evaluation, and the ways on."""
    steps = []
    if who.role == "organiser":
        with site.store.read() as connection:
            steps = next_steps(site, connection)
    doors = [
        Door(path=entry.path, label=entry.label, does=DOES[entry.path])
        for entry in NAVIGATION
        if entry.path in DOES and who.role in entry.roles and not (steps and entry.path in ON_THE_WAY)
    ]
    return Home(
        evaluation=site.configuration.name,
        task=site.configuration.task.title,
        name=who.name,
        role=who.role,
        steps=steps,
        doors=doors,
        may_export=who.role == "organiser",
    )
