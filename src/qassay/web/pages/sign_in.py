"""The door: signing in and out, and the page where a one-time link leads.

The token of a link is in the fragment of the address (/welcome#token), which browsers send to nobody: it is in no
log of a server or proxy.
"""

from __future__ import annotations

from fastapi import Query, Request, Response
from pydantic import Field

from qassay.store.people import (
    RESET,
    accept_invitation,
    change_password,
    find_account,
    folded,
    has_organiser,
    look_at_invitation,
)
from qassay.store.people.sessions import (
    LONGEST,
    PASSWORD_LENGTH,
    begin_session,
    end_secret,
    end_session,
    hash_password,
    outdated,
    verify_password,
)
from qassay.web.errors import GoTo, Refusal
from qassay.web.guard import client_address, cookie_rules, header_name
from qassay.web.routing import EVERYBODY, PUBLIC, Context, Done, Input, Router, ThePerson, TheSite, Visitor
from qassay.web.site import BY_ADDRESS, BY_NAME, Site

router = Router()

# One answer for an unknown name, a wrong password and an account that was closed.
WRONG = "the name or the password is wrong"


class SignIn(Context):
    """The sign-in page."""

    then: str
    sign_on: str | None
    is_new: bool


class Welcome(Context):
    """The page where a one-time link leads."""

    shortest: int
    longest: int
    sign_on: str | None
    vouched: str | None


class Credentials(Input):
    """A name and a password."""

    name: str = Field(min_length=1, max_length=200)
    password: str = Field(min_length=1, max_length=PASSWORD_LENGTH[1])


class Offered(Input):
    """The token of a one-time link."""

    token: str = Field(min_length=10, max_length=100)


class Offer(Context):
    """The offer of a one-time link."""

    role: str
    name: str | None
    resets: bool
    expires: str


class Accepting(Offered):
    """The name and password of a new account."""

    name: str | None = Field(default=None, max_length=200)
    password: str | None = Field(default=None, max_length=PASSWORD_LENGTH[1])


class SignedIn(Context):
    """Who has signed in."""

    name: str
    role: str


@router.page("/sign-in", template="sign_in.html", roles=PUBLIC)
def sign_in_page(person: Visitor, site: TheSite, then: str = Query("/", max_length=2000)) -> SignIn:
    """The sign-in page."""
    if person is not None:
        raise GoTo(own_path(then))
    with site.store.read() as connection:
        is_new = not has_organiser(connection)
    offered = site.settings.sign_on
    return SignIn(then=own_path(then), sign_on=offered.name if offered else None, is_new=is_new)


@router.action("POST", "/sign-in", roles=PUBLIC)
def sign_in(site: TheSite, request: Request, response: Response, sent: Credentials) -> SignedIn:
    """Sign in with a password."""
    address, key = client_address(request, site), folded(sent.name)
    site.limits.count(BY_ADDRESS, "sign-in address", address)
    site.limits.count(BY_NAME, "sign-in name", key)
    with site.store.read() as connection:
        account, hashed = find_account(connection, sent.name)
    if not verify_password(hashed, sent.password) or account is None or not account.active:
        raise Refusal(401, WRONG)
    site.limits.forget(BY_NAME, "sign-in name", key)
    if outdated(hashed):
        renewed = hash_password(sent.password)
        with site.store.write() as connection:
            change_password(connection, account.id, renewed)
    begin(site, request, response, account.id)
    return SignedIn(name=account.name, role=account.role)


@router.action("POST", "/sign-out", roles=EVERYBODY)
def sign_out(person: ThePerson, site: TheSite, response: Response) -> Done:
    """End this session."""
    if person.session is not None:
        with site.store.write() as connection:
            end_session(connection, person.id, person.session)
    response.delete_cookie(site.settings.cookie, **cookie_rules(site))
    return Done()


@router.page("/welcome", template="welcome.html", roles=PUBLIC)
def welcome_page(site: TheSite, request: Request) -> Welcome:
    """The page where a one-time link leads; what it offers is asked for by its script."""
    offered = site.settings.sign_on
    shortest, longest = PASSWORD_LENGTH
    return Welcome(
        shortest=shortest,
        longest=longest,
        sign_on=offered.name if offered else None,
        vouched=header_name(request, site),
    )


@router.action("POST", "/welcome/look", roles=PUBLIC)
def look(site: TheSite, request: Request, sent: Offered) -> Offer:
    """The offer of a one-time link, without using it up."""
    site.limits.count(BY_ADDRESS, "link address", client_address(request, site))
    with site.store.read() as connection:
        invitation = look_at_invitation(connection, sent.token)
    return Offer.build(invitation, resets=invitation.role == RESET)


@router.action("POST", "/welcome", roles=PUBLIC)
def accept(site: TheSite, request: Request, response: Response, sent: Accepting) -> SignedIn:
    """Use a one-time link: make the account it offers, and sign in."""
    site.limits.count(BY_ADDRESS, "link address", client_address(request, site))
    vouched = header_name(request, site)
    if sent.password is None and vouched is None:
        raise Refusal(422, "choose a password", problems=({"field": "password", "message": "choose a password"},))
    with site.store.read() as connection:
        invitation = look_at_invitation(connection, sent.token)  # before the work of hashing
    # A name that is refused is the name of an account: nobody should find out by a link who has one.
    site.limits.count(BY_NAME, "link", str(invitation.id))
    hashed = None if sent.password is None else hash_password(sent.password)
    with site.store.write() as connection:
        account = accept_invitation(
            connection,
            sent.token,
            name=sent.name or vouched,
            password=hashed,
            subject=vouched,
            by_proxy=vouched is not None,
        )
    begin(site, request, response, account.id)
    return SignedIn(name=account.name, role=account.role)


def begin(site: Site, request: Request, response: Response, number: int) -> None:
    """Begin a new session, whatever secret the browser came with: that one ends."""
    before = request.cookies.get(site.settings.cookie)
    with site.store.write() as connection:
        if before:
            end_secret(connection, before)
        secret = begin_session(
            connection, number, address=client_address(request, site), agent=request.headers.get("user-agent")
        )
    response.set_cookie(site.settings.cookie, secret, max_age=int(LONGEST.total_seconds()), **cookie_rules(site))


def own_path(then: str) -> str:
    """A path of ours to go on to; the first page where it is anything else.

    >>> own_path("/work?q=1"), own_path("//example.org"), own_path("https://example.org"), own_path("/\\\\example.org")
    ('/work?q=1', '/', '/', '/')
    """
    fine = then.startswith("/") and not then.startswith(("//", "/\\")) and then.isprintable() and "\\" not in then
    return then if fine and not then.startswith(("/sign-in", "/api/")) else "/"
