"""Flagged answers: assessors are not sure of them, and say why."""

from __future__ import annotations

from sqlalchemy import Connection

from qassay.judging.items import label_of
from qassay.store.judging.flags import Flag, flags
from qassay.store.pool.items import item_with_number
from qassay.web.questions import questions_of
from qassay.web.routing import ORGANISERS, Context, Router, TheSite

router = Router()
# Flags that a page shows, the latest first.
MOST_SHOWN = 500


class FlagView(Context):
    """A flag, with the beginning of the answer that it is on."""

    question: str
    text: str
    item: int
    answer: str
    reason: str
    by: str
    at: str


class FlagsPage(Context):
    """All current flags."""

    flags: list[FlagView]
    total: int


@router.page("/flags", template="flags.html", roles=ORGANISERS)
def show(site: TheSite) -> FlagsPage:
    """The answers that assessors flagged, the latest first."""
    with site.store.read() as connection:
        current = flags(connection)
        questions = questions_of(site, connection).by_id
        views = [
            flag_view(connection, flag, questions[flag.question].text if flag.question in questions else "")
            for flag in current[:MOST_SHOWN]
        ]
    return FlagsPage(flags=views, total=len(current))


def flag_view(connection: Connection, flag: Flag, text: str) -> FlagView:
    """A flag as pages show it."""
    item = item_with_number(connection, flag.item)
    return FlagView.build(flag, text=text, answer="" if item is None else label_of(item))
