"""Who takes part: accounts, their roles, and invitations."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from fastapi import Request
from pydantic import Field

from qassay.formats.times import later
from qassay.store.people import (
    RESET,
    Account,
    Invitation,
    accounts,
    change_account,
    end_access,
    invite,
    open_invitations,
    organisations,
    withdraw_invitation,
)
from qassay.web.errors import Refusal
from qassay.web.judging import acting
from qassay.web.pages.account import Ended, in_person
from qassay.web.routing import ORGANISERS, Context, Input, Number, Router, ThePerson, TheSite
from qassay.web.site import Person, Role, Site

router = Router()

MAY: Final[dict[Role, str]] = {
    "organiser": "everything: questions, runs, people, assignments, results",
    "adjudicator": "decide disagreements once every assessor has finished a question",
    "assessor": "judge what is assigned",
    "participant": "submit the runs of one organisation, and see its results once they are published",
    "reader": "see the published results",
}
RESET_LIFE = timedelta(days=1)


class AccountRow(Context):
    """Somebody who takes part."""

    id: int
    name: str
    role: str
    active: bool
    created: str
    own: bool
    organisation: str | None


class RoleRow(Context):
    """A role, and what it may."""

    role: str
    may: str


class People(Context):
    """Everybody who takes part, or is invited to."""

    people: list[AccountRow]
    invitations: list[Invitation]
    roles: list[RoleRow]
    # Those that are known, to choose from.
    organisations: list[str]


class Inviting(Input):
    """Whom to invite."""

    role: Role
    name: str | None = Field(default=None, max_length=100)
    days: int = Field(default=7, ge=1, le=60)
    # Of a participant.
    organisation: str | None = Field(default=None, max_length=100)


class OneTimeLink(Context):
    """A link to hand on, shown once."""

    link: str
    role: str
    name: str | None
    expires: str
    organisation: str | None = None


class Changing(Input):
    """The changes to an account."""

    role: Role | None = None
    active: bool | None = None
    organisation: str | None = Field(default=None, max_length=100)


@router.page("/people", template="people.html", roles=ORGANISERS)
def show(person: ThePerson, site: TheSite) -> People:
    """Everybody, and the open invitations."""
    with site.store.read() as connection:
        everybody, invited, names = accounts(connection), open_invitations(connection), organisations(connection)
    return People(
        people=[AccountRow.build(account, own=account.id == person.id) for account in everybody],
        invitations=invited,
        roles=[RoleRow(role=role, may=may) for role, may in MAY.items()],
        organisations=names,
    )


@router.action("POST", "/people/invitations", roles=ORGANISERS, status=201)
def add_invitation(person: ThePerson, site: TheSite, request: Request, sent: Inviting) -> OneTimeLink:
    """Invite somebody: a link that works once."""
    if sent.role == "organiser":
        in_person(person)
    return _invited(person, site, request, sent.role, sent.name or None, timedelta(days=sent.days), sent.organisation)


@router.action("DELETE", "/people/invitations/{number}", roles=ORGANISERS)
def withdraw(person: ThePerson, site: TheSite, number: Number) -> Ended:
    """Withdraw an invitation."""
    with acting(site, person) as act:
        withdraw_invitation(act, number)
    return Ended(ended=1)


@router.action("PATCH", "/people/{number}", roles=ORGANISERS)
def change(person: ThePerson, site: TheSite, number: Number, sent: Changing) -> AccountRow:
    """Change a role, or end or renew somebody's access; their sessions and tokens end at once."""
    in_person(person)
    _account(site, number)
    with acting(site, person) as act:
        changed = change_account(act, number, role=sent.role, active=sent.active, organisation=sent.organisation)
    return AccountRow.build(changed, own=number == person.id)


@router.action("POST", "/people/{number}/reset", roles=ORGANISERS, status=201)
def reset(person: ThePerson, site: TheSite, request: Request, number: Number) -> OneTimeLink:
    """A link with which somebody sets a new password."""
    in_person(person)
    return _invited(person, site, request, RESET, _account(site, number).name, RESET_LIFE)


@router.action("DELETE", "/people/{number}/sessions", roles=ORGANISERS)
def sign_out_everywhere(person: ThePerson, site: TheSite, number: Number) -> Ended:
    """End every session of an account, and revoke its tokens."""
    in_person(person)
    account = _account(site, number)
    with site.store.write() as connection:
        return Ended(ended=end_access(connection, account.id))


def _invited(
    person: Person,
    site: Site,
    request: Request,
    role: str,
    name: str | None,
    life: timedelta,
    organisation: str | None = None,
) -> OneTimeLink:
    """An invitation as a link at the address that people use."""
    with acting(site, person) as act:
        token = invite(act, role, name=name, life=life, organisation=organisation)
    origin = site.settings.origin or f"http://{request.headers['host']}"
    link = f"{origin}/welcome#{token}"
    return OneTimeLink(link=link, role=role, name=name, expires=later(life), organisation=organisation)


def _account(site: Site, number: int) -> Account:
    with site.store.read() as connection:
        by_number = {account.id: account for account in accounts(connection)}
    if number not in by_number:
        raise Refusal(404, f"there is no account {number}")
    return by_number[number]
