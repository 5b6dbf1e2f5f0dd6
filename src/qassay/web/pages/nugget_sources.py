"""What nuggets are written from: the strings of all responses, without their runs, and what the series has asked."""

from __future__ import annotations

from sqlalchemy import Connection

from qassay.store.assignment.assignments import Assignment, own_on
from qassay.store.judging.classes import developed_answers, right_answers
from qassay.store.pool.items import items_of
from qassay.store.pool.things import digest
from qassay.web.judging import own_assignment
from qassay.web.questions import earlier_in_series, question_named
from qassay.web.routing import ASSESSORS, Context, Number, Router, TheSite, Who
from qassay.web.similar_strings import grouped

router = Router()

# Questions whose groups of strings are kept at hand.
KEPT = 50


class StringView(Context):
    """A string that some response holds, and a document that it came from."""

    text: str
    doc: str | None


class Strings(Context):
    """The strings of all responses of a question, each once, in groups of similar ones."""

    groups: list[list[StringView]]


class EarlierView(Context):
    """An earlier question of the series and what is known to answer it: nothing of this is a nugget."""

    id: str
    type: str
    text: str
    answers: list[str]


class Earlier(Context):
    """The questions of a series that come before this one."""

    questions: list[EarlierView]


@router.action("GET", "/judge/{assignment}/strings", roles=ASSESSORS)
def strings(who: Who, site: TheSite, assignment: Number) -> Strings:
    """All strings of all responses; their order depends on the strings alone."""
    with site.store.read() as connection:
        one = own_assignment(connection, who, assignment)
        items = [item for item in items_of(connection, one.question) if item.kind == "match"]
    docs: dict[str, str | None] = {}
    for item in items:
        for element in item.body["elements"]:
            text, doc = str(element.get("text") or ""), element.get("doc")
            if text.strip():
                docs[text] = min(filter(None, (docs.get(text), doc)), default=None)
    kept: dict[str, list[list[str]]] = site.kept.setdefault("strings", {})
    mark = digest(one.question, sorted(docs))
    # What another request throws out of the kept ones meanwhile is still here.
    groups = kept.get(mark)
    if groups is None:
        groups = grouped(docs)
        for old in list(kept)[: max(0, len(kept) + 1 - KEPT)]:
            kept.pop(old, None)
        kept[mark] = groups
    return Strings(groups=[[StringView(text=text, doc=docs[text]) for text in group] for group in groups])


@router.action("GET", "/judge/{assignment}/earlier", roles=ASSESSORS)
def earlier(who: Who, site: TheSite, assignment: Number) -> Earlier:
    """The earlier questions of the series, each with its known answers and what the assessor called right."""
    with site.store.read() as connection:
        one = own_assignment(connection, who, assignment)
        before = earlier_in_series(site, question_named(site, one.question, connection), connection)
        own = own_on(connection, who.id, [question.id for question in before])
        found = [
            EarlierView(
                id=question.id,
                type=question.type,
                text=question.text,
                answers=_answers(connection, question.id, own.get(question.id), who.id),
            )
            for question in before
        ]
    return Earlier(questions=found)


def _answers(connection: Connection, question: str, own: Assignment | None, account: int) -> list[str]:
    found = [
        *developed_answers(connection, question, account),
        *(right_answers(connection, own) if own is not None else ()),
    ]
    return list(dict.fromkeys(one for one in found if one))
