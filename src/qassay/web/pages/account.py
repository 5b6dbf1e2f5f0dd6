"""Your account: password, sessions, tokens, shortcuts."""

from __future__ import annotations

from pydantic import Field

from qassay.store.people import change_password, change_preferences, end_resets, get_account, password_of
from qassay.store.people.sessions import (
    PASSWORD_LENGTH,
    Token,
    end_session,
    end_sessions,
    end_token,
    end_tokens,
    hash_password,
    make_token,
    sessions,
    tokens,
    verify_password,
)
from qassay.web.errors import Refusal
from qassay.web.routing import EVERYBODY, Context, Input, Number, Router, ThePerson, TheSite
from qassay.web.site import BY_NAME, Person

router = Router()

# Signs by which browsers and systems are known, the more particular first: most call themselves by each other's names.
BROWSERS = (("Firefox/", "Firefox"), ("Edg/", "Edge"), ("OPR/", "Opera"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (
    *(("Android", "Android"), ("iPhone", "iOS"), ("iPad", "iOS")),
    *(("Windows", "Windows"), ("Macintosh", "macOS"), ("Linux", "Linux")),
)


class SessionRow(Context):
    """A browser where one is signed in."""

    id: int
    created: str
    seen: str
    expires: str
    address: str | None
    browser: str
    current: bool


class AccountPage(Context):
    """Your account."""

    name: str
    role: str
    created: str
    has_password: bool
    subject: str | None
    shortest: int
    longest: int
    sessions: list[SessionRow]
    tokens: list[Token]


class NewPassword(Input):
    """The password one has, and the one to have."""

    current: str = Field(max_length=PASSWORD_LENGTH[1])
    new: str = Field(min_length=PASSWORD_LENGTH[0], max_length=PASSWORD_LENGTH[1])


class Shortcuts(Input):
    """Keys that were changed, by the name of their shortcut."""

    shortcuts: dict[str, str] = Field(max_length=200)


class TokenName(Input):
    """The purpose of a token."""

    name: str = Field(min_length=1, max_length=100)


class NewToken(Context):
    """A token, shown once."""

    token: str


class Ended(Context):
    """How many sessions, tokens or links ended."""

    ended: int


@router.page("/account", template="account.html", roles=EVERYBODY)
def show(person: ThePerson, site: TheSite) -> AccountPage:
    """Your account."""
    with site.store.read() as connection:
        account = get_account(connection, person.id)
        browsers, programs = sessions(connection, person.id), tokens(connection, person.id)
    return AccountPage.build(
        account,
        shortest=PASSWORD_LENGTH[0],
        longest=PASSWORD_LENGTH[1],
        sessions=[
            SessionRow.build(session, browser=browser_name(session.agent), current=session.id == person.session)
            for session in browsers
        ],
        tokens=programs,
    )


@router.action("PUT", "/account/password", roles=EVERYBODY)
def set_password(person: ThePerson, site: TheSite, sent: NewPassword) -> Ended:
    """Change your password; every other session and every token ends."""
    in_person(person)
    site.limits.count(BY_NAME, "password of", str(person.id))
    with site.store.read() as connection:
        hashed = password_of(connection, person.id)
    if not verify_password(hashed, sent.current):
        message = "this is not your password"
        raise Refusal(422, message, problems=({"field": "current", "message": message},))
    renewed = hash_password(sent.new)
    with site.store.write() as connection:
        change_password(connection, person.id, renewed)
        end_resets(connection, person.name)
        ended = end_sessions(connection, person.id, but=person.session) + end_tokens(connection, person.id)
    site.limits.forget(BY_NAME, "password of", str(person.id))
    return Ended(ended=ended)


@router.action("PUT", "/account/shortcuts", roles=EVERYBODY)
def set_shortcuts(person: ThePerson, site: TheSite, sent: Shortcuts) -> Shortcuts:
    """Save changed keyboard shortcuts."""
    if any(len(name) > 100 or not 1 <= len(key) <= 20 for name, key in sent.shortcuts.items()):
        raise Refusal(422, "a shortcut has a name of at most 100 characters and a key of at most 20")
    with site.store.write() as connection:
        preferences = dict(get_account(connection, person.id).preferences)
        change_preferences(connection, person.id, preferences | {"shortcuts": sent.shortcuts})
    return sent


@router.action("DELETE", "/account/sessions/{number}", roles=EVERYBODY)
def end_one(person: ThePerson, site: TheSite, number: Number) -> Ended:
    """End one of your sessions."""
    in_person(person)
    with site.store.write() as connection:
        end_session(connection, person.id, number)
    return Ended(ended=1)


@router.action("DELETE", "/account/sessions", roles=EVERYBODY)
def end_others(person: ThePerson, site: TheSite) -> Ended:
    """End all your sessions but this one."""
    in_person(person)
    with site.store.write() as connection:
        return Ended(ended=end_sessions(connection, person.id, but=person.session))


@router.action("POST", "/account/tokens", roles=EVERYBODY, status=201)
def add_token(person: ThePerson, site: TheSite, sent: TokenName) -> NewToken:
    """Make a token for a program; it is shown once."""
    in_person(person)
    with site.store.write() as connection:
        if len(tokens(connection, person.id)) >= 50:
            raise Refusal(409, "50 tokens are enough; revoke one first")
        return NewToken(token=make_token(connection, person.id, sent.name))


@router.action("DELETE", "/account/tokens/{number}", roles=EVERYBODY)
def revoke_token(person: ThePerson, site: TheSite, number: Number) -> Ended:
    """Revoke one of your tokens."""
    in_person(person)
    with site.store.write() as connection:
        end_token(connection, person.id, number)
    return Ended(ended=1)


def browser_name(agent: str | None) -> str:
    """The common name of a browser, from its user agent.

    >>> browser_name("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    """
    if not agent:
        return "unknown"
    browser = next((name for sign, name in BROWSERS if sign in agent), agent[:40])
    system = next((name for sign, name in SYSTEMS if sign in agent), None)
    return browser if system is None else f"{browser} on {system}"


def in_person(person: Person) -> None:
    """Refuse a token: one that leaked must not be able to make itself at home, or to lock people out."""
    if person.token is not None:
        raise Refusal(403, "a token cannot do this; sign in with a browser")
