"""Flagged answers: assessors are not sure of them, and say why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from qassay.judging import Item
from qassay.judging.items import label_of
from qassay.store.judging.flags import Flag, flags
from qassay.store.pool.items import item_with_number
from qassay.web.pages.documents import titles_of
from qassay.web.questions import questions_of
from qassay.web.routing import ORGANISERS, Context, Router, TheSite
from qassay.web.site import Site

router = Router()
# Flags that a page shows, the latest first.
MOST_SHOWN = 500


class FlagView(Context):
    """A flag, with the beginning of the answer that it is on."""

    question: str
    text: str
    item: int
    answer: str
    # Where a passage is, where the answer is the title of its document.
    place: str | None
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
        items = flagged_items(connection, current[:MOST_SHOWN])
    views = [
        FlagView.build(view, text=questions[view.question].text if view.question in questions else "")
        for view in flag_views(site, current[:MOST_SHOWN], items)
    ]
    return FlagsPage(flags=views, total=len(current))


def flagged_items(connection: Connection, shown: Sequence[Flag]) -> dict[int, Item]:
    """The items that flags are on, by their numbers."""
    items = (item_with_number(connection, flag.item) for flag in shown)
    return {item.id: item for item in items if item is not None}


def flag_views(site: Site, shown: Sequence[Flag], items: Mapping[int, Item]) -> list[FlagView]:
    """Flags as pages show them."""
    by_place = {item.id: str(item.body["doc"]) for item in items.values() if item.body.get("start") is not None}
    titles = titles_of(site, by_place.values())
    return [
        FlagView.build(
            flag,
            text="",
            answer=label_of(items[flag.item], titles) if flag.item in items else "",
            place=label_of(items[flag.item]) if by_place.get(flag.item) in titles else None,
        )
        for flag in shown
    ]
