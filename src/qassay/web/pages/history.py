"""The history of every judgment: who, when, from what to what; and what organisers did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query

from qassay.judging import KINDS
from qassay.judging.kind import SUBJECT_COLUMNS
from qassay.store.judging.history import PAGE, JudgmentChange, actions, changes, set_names
from qassay.store.people import accounts
from qassay.web.routing import ORGANISERS, Context, Number, Router, TheSite

router = Router()
# What is shown of an answer; the rest is one click away, on its question's page.
LONGEST = 200


class ChangeView(Context):
    """A judgment as the history shows it."""

    id: int
    at: str
    who: str | None
    set: str
    question: str
    kind: str
    what: str
    before: str | None
    after: str | None
    note: str | None


class ActionView(Context):
    """An action of an organiser."""

    at: str
    who: str | None
    action: str
    question: str | None
    details: str


class PersonView(Context):
    """Somebody to look for."""

    id: int
    name: str


class HistoryPage(Context):
    """One page of the history, and what it is narrowed to."""

    changes: list[ChangeView]
    actions: list[ActionView]
    people: list[PersonView]
    sets: list[str]
    question: str | None
    set: str | None
    person: int | None
    # The page after this one begins before the change with this number.
    more: int | None


@router.page("/history", template="history.html", roles=ORGANISERS)
def history(
    site: TheSite,
    question: Annotated[str | None, Query(max_length=200)] = None,
    set: Annotated[str | None, Query(max_length=200)] = None,  # noqa: A002  # the name in the address
    person: Annotated[str | None, Query(pattern=r"^[0-9]{0,15}$")] = None,
    before: Annotated[Number | None, Query()] = None,
) -> HistoryPage:
    """Every judgment, the newest first; narrowed to a question, a set or a person."""
    number = int(person) if person else None
    with site.store.read() as connection:
        found_changes = changes(
            connection, question=question or None, set_name=set or None, person=number, before=before
        )
        found_actions = actions(connection, question=question or None) if before is None else []
        people = [PersonView.build(account) for account in accounts(connection)]
        sets = set_names(connection)
    return HistoryPage(
        changes=[_view(change) for change in found_changes],
        actions=[ActionView.build(action, details=_in_words(action.details)) for action in found_actions],
        people=people,
        sets=sets,
        question=question or None,
        set=set or None,
        person=number,
        more=found_changes[-1].id if len(found_changes) == PAGE else None,
    )


def _in_words(details: Mapping[str, Any]) -> str:
    """Details of an action as a line."""
    return ", ".join(f"{name}: {_plain(value)}" for name, value in details.items() if value is not None)[:LONGEST]


def _plain(value: Any) -> str:
    """A value in plain words, one of several parts in brackets.

    >>> _plain([{"file": "a.txt", "new": 3}, {"file": "b.txt", "same": True}])
    '(file a.txt, new 3), (file b.txt, same yes)'
    """
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{name} {_plain(part)}" for name, part in value.items() if part is not None) + ")"
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _verdict_in_words(kind: str, row: Mapping[str, Any] | None) -> str | None:
    """A verdict as a few words; None where there is none."""
    if row is None:
        return None
    settled = f" ({row['settled']})" if row.get("settled") else ""
    return KINDS[kind].in_words(row)[:LONGEST] + settled


def _view(change: JudgmentChange) -> ChangeView:
    row = change.after or change.before or {}
    names = [name for name in SUBJECT_COLUMNS if name not in ("question", "assessor")]
    subject_text = " · ".join(str(row[name])[:LONGEST] for name in names if row.get(name) is not None)
    return ChangeView.build(
        change,
        who=change.who or str(row.get("assessor") or "") or None,
        what=subject_text,
        before=_verdict_in_words(change.kind, change.before),
        after=_verdict_in_words(change.kind, change.after),
        note=str(row["note"])[:LONGEST] if row.get("note") else None,
    )
