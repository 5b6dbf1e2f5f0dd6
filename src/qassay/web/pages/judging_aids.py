"""What a judging screen shows beside an item: the nuggets to look for, the reference answer of a pair."""

from __future__ import annotations

from pydantic import Field
from sqlalchemy import Connection

from qassay.judgments import SETTLED_SETS
from qassay.store.judging.judgments import standing_rows
from qassay.store.judging.nuggets import list_for
from qassay.store.pool.things import thing
from qassay.store.settings import note_action
from qassay.web.judging import own_assignment
from qassay.web.routing import ASSESSORS, Context, Input, Number, Router, TheSite, Who

router = Router()


class NuggetToFind(Context):
    """A nugget to look for; whether it is vital is not told, since it has no part in whether it is there."""

    nugget: str
    text: str


class Aids(Context):
    """What belongs to a question besides its items."""

    nuggets: list[NuggetToFind]
    reference: str | None


class Impressions(Input):
    """A judge's summary after rating justifications."""

    text: str = Field(min_length=1, max_length=20_000)


class Kept(Context):
    """Says that something was kept."""

    kept: bool


@router.action("GET", "/judge/{assignment}/aids", roles=ASSESSORS)
def aids(who: Who, site: TheSite, assignment: Number) -> Aids:
    """The nuggets that answers are judged against; where justifications are rated, the reference answer."""
    with site.store.read() as connection:
        one = own_assignment(connection, who, assignment)
        nuggets = [
            NuggetToFind(nugget=nugget.nugget, text=nugget.text)
            for nugget in list_for(connection, one.set, one.question)[1]
        ]
        rated = site.configuration.task.has("justified")
        return Aids(nuggets=nuggets, reference=_reference(connection, one.question) if rated else None)


@router.action("POST", "/impressions", roles=ASSESSORS)
def keep_impressions(who: Who, site: TheSite, sent: Impressions) -> Kept:
    """Keep a judge's summary of impressions with the evaluation (METHOD 4, justifications)."""
    with site.store.write() as connection:
        note_action(connection, "impressions", account=who.id, text=sent.text)
    return Kept(kept=True)


def _reference(connection: Connection, question: str) -> str | None:
    """The label of a pair in the key."""
    named = thing("pair", {"question": question})
    for key in SETTLED_SETS:
        _, row = standing_rows(connection, key, [named]).get(named, (0, None))
        if row is not None:
            return str(row["judgment"])
    return None
