"""Who may do what: accounts, and the one-time links that make them. `sessions`: who is signed in.

An account needs an invitation, which is used once, even by two requests at the same moment, because using it is one
conditional update in the transaction that makes the account. Of a link only a digest is kept. Passwords are hashed and
verified outside a transaction (it takes a while on purpose), so the functions here take and give hashes.
"""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, RowMapping, Table, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from qassay.errors import UsageError, unknown
from qassay.formats.times import later, now
from qassay.store.acts import Act
from qassay.store.schema import ROLES, account, invitation, run, session
from qassay.store.schema import token as token_table
from qassay.store.settings import take_turn

# How long an invitation can be used.
LIFE = timedelta(days=7)
# The role of an invitation that gives an existing account a new password.
RESET = "reset"
PARTICIPANT = "participant"
TAKEN = "there is an account {!r} already; choose another name"
ALIKE = "the name {!r} looks like that of another account ({!r}); choose a name that people can tell apart"
# New names wait for each other: two that look alike are not accepted at once.
_NAMES = "names"
SPENT = "this link has been used, has expired or was withdrawn; ask an organiser for a new one"


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may sign in."""

    id: int
    name: str
    role: str
    active: bool
    created: str
    has_password: bool
    subject: str | None = None
    preferences: Mapping[str, Any] = field(default_factory=dict)
    # Of a participant; nobody else has one.
    organisation: str | None = None


@dataclass(frozen=True, slots=True)
class Invitation:
    """A one-time link, without its token."""

    id: int
    role: str
    name: str | None
    created: str
    expires: str
    by: str | None
    organisation: str | None = None


def digest(token: str) -> str:
    """The digest of a secret that the server made itself: long and random, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def clean_name(name: str) -> str:
    """A name as it is kept: composed, without white space around; an error where it cannot be one."""
    cleaned = unicodedata.normalize("NFC", name).strip()
    if not 1 <= len(cleaned) <= 100:
        raise UsageError("a name has 1 to 100 characters")
    if any(
        character in _BLANK or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn")
        for character in cleaned
    ):
        raise UsageError("a name has no control or invisible characters")
    return cleaned


# Letters and symbols that show nothing.
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
# Marks that choose between shapes of the character before them, which look much the same.
_SELECTORS = dict.fromkeys([*range(0x180B, 0x180E), 0x180F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])


def folded(name: str) -> str:
    """The common form of all spellings of a name, by which it is looked up: composed, in small letters."""
    return unicodedata.normalize("NFC", name).strip().casefold()


# Letters of other alphabets, digits and marks that look like a Latin letter, after folding.
_ALIKE = str.maketrans(
    {
        **dict(zip("аеорсухіјѕһԁԛԝкмтвнґӏԍ", "aeopcyxljshdqwkmtbhrlg", strict=True)),
        **dict(zip("αβενορτυχικγωηѡ", "abevoptuxlkywnw", strict=True)),
        **dict(zip("օոսհցզյտլ", "onuhgqjsl", strict=True)),
        **dict(zip("ⲟⲥⲣⲙⲏⲕⲛⲃⲧⲭⲩⲓ", "ocpmhknbtxyl", strict=True)),
        **dict(zip("ᎠᎡᎢᎥᎪᎫᎬᎳᎷᎻᏀᏃᏏᏒᏙᏚᏞᏟᏢᏦᏴ", "drtlajewmhgzbrvslcpkb", strict=True)),
        **dict(zip("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "bpdtgkjczfmnlsrvhwxyaelou", strict=True)),
        **dict(zip("1|!ıi0ɡɑʟǀɩȷᴏᴄᴠᴡᴢꜱ", "lllllogallljocvwzs", strict=True)),
        **{"ß": "b", "ø": "o", "đ": "d", "ł": "l", "’": "'", "`": "'", "‐": "-", "‑": "-", "–": "-", "—": "-"},
    }
)
# These look like c and j, and are made another letter by the composition below.
_LUNATE = {0x3F2: "c", 0x3F9: "c", 0x3F3: "j"}


def looks(name: str) -> str:
    """The look of a name: names with equal looks cannot be distinguished at a glance.

    >>> looks("Ada Byron") == looks("АDA  BYRОN"), looks("Bill") == looks("BilI"), looks("Ada") == looks("Ida")
    (True, True, False)
    """
    name = name.translate(_SELECTORS | _LUNATE)
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(letters.translate(_ALIKE).replace("rn", "m").replace("vv", "w").split())


# ---- accounts -------------------------------------------------------------------------------------------------------


def accounts(connection: Connection) -> list[Account]:
    """Everybody, by name."""
    return [as_account(row) for row in connection.execute(select(account).order_by(account.c.name)).mappings()]


def get_account(connection: Connection, number: int) -> Account:
    """One account; an error where there is none."""
    row = connection.execute(select(account).where(account.c.id == number)).mappings().first()
    if row is None:
        raise unknown("account", str(number), ())
    return as_account(row)


def find_account(connection: Connection, name: str) -> tuple[Account | None, str | None]:
    """The account with this name, whatever its capitals, and its password hash."""
    names, folded_name = connection.execute(select(account.c.id, account.c.name)).all(), folded(name)
    number = next((number for number, account_name in names if account_name.casefold() == folded_name), None)
    if number is None:
        return None, None
    row = connection.execute(select(account).where(account.c.id == number)).mappings().one()
    return as_account(row), row["password"]


def find_subject(connection: Connection, subject: str) -> Account | None:
    """The account of somebody who is known elsewhere under this subject."""
    row = connection.execute(select(account).where(account.c.subject == subject)).mappings().first()
    return None if row is None else as_account(row)


def password_of(connection: Connection, number: int) -> str | None:
    """The password hash of an account."""
    return connection.execute(select(account.c.password).where(account.c.id == number)).scalar()


def has_organiser(connection: Connection) -> bool:
    """Whether anybody can organise."""
    return _organisers(connection) > 0


def add_account(
    connection: Connection,
    name: str,
    role: str,
    *,
    password: str | None = None,
    subject: str | None = None,
    organisation: str | None = None,
) -> Account:
    """Make an account; `password` is a hash, and a participant has an organisation."""
    name = clean_name(name)
    if role not in ROLES:
        raise unknown("role", role, ROLES)
    organisation = organisation_for(connection, role, organisation)
    _refuse_taken(connection, name)
    if subject is not None and find_subject(connection, subject) is not None:
        raise UsageError("this identity has an account already; sign in with it")
    values = {"name": name, "role": role, "password": password, "subject": subject, "created": now()}
    values["organisation"] = organisation
    try:
        number = connection.execute(insert(account).values(**values).returning(account.c.id)).scalar_one()
    except IntegrityError:  # another process was faster by a moment
        raise UsageError(TAKEN.format(name)) from None
    return get_account(connection, number)


def change_account(
    act: Act,
    number: int,
    *,
    role: str | None = None,
    active: bool | None = None,
    organisation: str | None = None,
) -> Account:
    """Change role, organisation or activity; sessions and tokens of the account end at once.

    The last organiser stays one. An account that is no longer a participant's has no organisation.
    """
    connection = act.connection
    before = get_account(connection, number)
    role = before.role if role is None else role
    active = before.active if active is None else active
    if role not in ROLES:
        raise unknown("role", role, ROLES)
    earlier = before.organisation if role == PARTICIPANT else None
    organisation = organisation_for(connection, role, organisation or earlier)
    # On PostgreSQL two organisers could demote each other at the same moment: the rows are taken first.
    connection.execute(select(account.c.id).where(account.c.role == "organiser").with_for_update()).all()
    organises = before.role == "organiser" and before.active
    if organises and not (role == "organiser" and active) and _organisers(connection) == 1:
        raise UsageError(f"{before.name} is the only organiser; make somebody else one first")
    if (role, active, organisation) == (before.role, before.active, before.organisation):
        return before
    values = {"role": role, "active": active, "organisation": organisation}
    connection.execute(update(account).where(account.c.id == number).values(**values))
    end_access(connection, number)
    if not (role == "organiser" and active):
        _end_invitations(connection, invitation.c.by == number)
    if not active:
        end_resets(connection, before.name)
    member = {} if organisation is None else {"organisation": organisation}
    act.note("account", of=before.name, role=role, active=active, **member)
    return get_account(connection, number)


def end_access(connection: Connection, number: int) -> int:
    """End every session of an account and revoke every token; how many of both."""
    return sum(end(connection, table, table.c.account == number) for table in (session, token_table))


def end(connection: Connection, table: Table, *which: ColumnElement[bool]) -> int:
    """End sessions or tokens that have not ended; how many."""
    return connection.execute(update(table).where(*which, table.c.ended.is_(None)).values(ended=now())).rowcount


def change_password(connection: Connection, number: int, hashed: str) -> None:
    """Set the password hash of an account."""
    connection.execute(update(account).where(account.c.id == number).values(password=hashed))


def change_preferences(connection: Connection, number: int, preferences: Mapping[str, Any]) -> None:
    """Keep what somebody prefers: shortcuts and the like."""
    text = msgspec.json.encode(preferences).decode()
    connection.execute(update(account).where(account.c.id == number).values(preferences=text))


def as_account(row: RowMapping | Mapping[str, Any]) -> Account:
    """An account from its row."""
    fields = {name: row[name] for name in ("id", "name", "role", "created", "subject", "organisation")}
    preferences = msgspec.json.decode(row["preferences"])
    return Account(
        **fields, active=bool(row["active"]), has_password=row["password"] is not None, preferences=preferences
    )


def _refuse_taken(connection: Connection, name: str) -> None:
    """Refuse a name that an account has, or that looks like one."""
    take_turn(connection, _NAMES)
    if find_account(connection, name)[0] is not None:
        raise UsageError(TAKEN.format(name))
    look = looks(name)
    alike = next(
        (other for other in connection.execute(select(account.c.name)).scalars() if looks(other) == look), None
    )
    if alike is not None:
        raise UsageError(ALIKE.format(name, alike))


def _organisers(connection: Connection) -> int:
    organising = (account.c.role == "organiser") & account.c.active
    return connection.execute(select(func.count()).select_from(account).where(organising)).scalar_one()


# ---- organisations -------------------------------------------------------------------------------------------------


def organisations(connection: Connection) -> list[str]:
    """The organisations of participants, invited people and runs, by name."""
    informed = connection.execute(select(run.c.information).where(run.c.information.is_not(None))).scalars()
    described = (msgspec.json.decode(text).get("organisation") for text in informed)
    of_people = select(account.c.organisation).union(select(invitation.c.organisation))
    return sorted({name for name in (*described, *connection.execute(of_people).scalars()) if name})


def organisation_for(connection: Connection, role: str, organisation: str | None) -> str | None:
    """The organisation of somebody with this role; an error where it is missing, not wanted, or looks like another.

    A member sees the runs of their organisation, so two organisations must not be taken for each other.
    """
    if role != PARTICIPANT:
        if organisation:
            raise UsageError(f"only a participant belongs to an organisation; this is the role {role}")
        return None
    if not organisation or not organisation.strip():
        raise UsageError("a participant belongs to an organisation; name it")
    cleaned = clean_name(organisation)
    take_turn(connection, _NAMES)
    names = organisations(connection)
    if cleaned in names:
        return cleaned
    look = looks(cleaned)
    alike = next((name for name in names if looks(name) == look), None)
    if alike is not None:
        raise UsageError(
            f"the organisation {cleaned!r} looks like {alike!r}; write it the same way, or choose another name"
        )
    return cleaned


def members(connection: Connection, organisation: str) -> list[str]:
    """The names of the people who take part for an organisation."""
    c = account.c
    conditions = (c.role == PARTICIPANT, c.active, c.organisation == organisation)
    return list(connection.execute(select(c.name).where(*conditions).order_by(c.name)).scalars())


# ---- invitations ----------------------------------------------------------------------------------------------------


def invite(
    act: Act,
    role: str,
    *,
    name: str | None = None,
    life: timedelta = LIFE,
    organisation: str | None = None,
) -> str:
    """Make an invitation and return its token, which is shown once and kept nowhere."""
    connection = act.connection
    if role not in (*ROLES, RESET):
        raise unknown("role", role, ROLES)
    organisation = organisation_for(connection, role, organisation)
    if name is not None:
        name = clean_name(name)
        if role == RESET:
            end_resets(connection, name)
        else:
            _refuse_taken(connection, name)
    token = secrets.token_urlsafe(32)
    values = {"digest": digest(token), "role": role, "name": name, "created": act.at, "expires": later(life)}
    connection.execute(insert(invitation).values(**values, by=act.account, organisation=organisation))
    member = {} if organisation is None else {"organisation": organisation}
    act.note("invite", role=role, name=name, **member)
    return token


def open_invitations(connection: Connection, *which: ColumnElement[bool]) -> list[Invitation]:
    """Invitations that can still be used, the oldest first."""
    c = invitation.c
    rows = select(c.id, c.role, c.name, c.created, c.expires, account.c.name, c.organisation)
    rows = rows.join(account, account.c.id == c.by, isouter=True).order_by(c.id)
    return [Invitation(*row) for row in connection.execute(rows.where(c.used.is_(None), c.expires > now(), *which))]


def look_at_invitation(connection: Connection, token: str) -> Invitation:
    """The offer of an invitation, without using it; an error where it can no longer be used."""
    usable = open_invitations(connection, invitation.c.digest == digest(token))
    if not usable:
        raise UsageError(SPENT)
    return usable[0]


def accept_invitation(
    connection: Connection,
    token: str,
    *,
    name: str | None,
    password: str | None = None,
    subject: str | None = None,
    by_proxy: bool = False,
) -> Account:
    """Use an invitation up: make its account, or give the account it names a new password.

    `password` is a hash; `subject` is who a trusted proxy or an identity provider says that it is. A link for a new
    password binds an account to an identity only where a trusted proxy vouches for it (`by_proxy`).
    """
    offered = look_at_invitation(connection, token)
    unused = update(invitation).where(invitation.c.id == offered.id, invitation.c.used.is_(None))
    if connection.execute(unused.values(used=now())).rowcount != 1:
        raise UsageError(SPENT)
    if offered.role != RESET:
        member = {"password": password, "subject": subject, "organisation": offered.organisation}
        return add_account(connection, offered.name or name or "", offered.role, **member)
    known, _ = find_account(connection, offered.name or "")
    if known is None or not known.active or (password is None and not by_proxy):
        raise UsageError(SPENT)
    if password is not None:
        change_password(connection, known.id, password)
    if subject is not None and by_proxy:
        _bind(connection, known, subject)
    end_access(connection, known.id)
    end_resets(connection, known.name)
    return get_account(connection, known.id)


def _bind(connection: Connection, bound: Account, subject: str) -> None:
    """Let an account be that of somebody whom a trusted proxy vouches for."""
    other = find_subject(connection, subject)
    if other is not None and other.id != bound.id:
        raise UsageError(f"{subject!r} signs in as {other.name!r}; an identity has one account")
    connection.execute(update(account).where(account.c.id == bound.id).values(subject=subject))


def end_resets(connection: Connection, name: str) -> None:
    """End the links that would give an account another password."""
    _end_invitations(connection, invitation.c.name == name, invitation.c.role == RESET)


def _end_invitations(connection: Connection, *which: ColumnElement[bool]) -> None:
    at, c = now(), invitation.c
    connection.execute(update(invitation).where(*which, c.used.is_(None), c.expires > at).values(expires=at))


def is_invited(connection: Connection, name: str) -> bool:
    """Whether an invitation waits for somebody of this name."""
    return bool(_waiting_for(connection, name))


def admit_invited(connection: Connection, name: str) -> Account | None:
    """Use up the invitation that waits for exactly this name, for somebody whom a trusted proxy vouches for.

    An account that has the name already is not theirs: names are what people chose, and not who they are.
    """
    waiting = _waiting_for(connection, name)
    if not waiting:
        return find_subject(connection, name)
    connection.execute(update(invitation).where(invitation.c.id == waiting[0].id).values(used=now()))
    return add_account(connection, name, waiting[0].role, subject=name, organisation=waiting[0].organisation)


def _waiting_for(connection: Connection, name: str) -> list[Invitation]:
    return open_invitations(connection, invitation.c.name == name, invitation.c.role != RESET)


def withdraw_invitation(act: Act, number: int) -> None:
    """Make an invitation useless."""
    c = invitation.c
    usable = update(invitation).where(c.id == number, c.used.is_(None), c.expires > now())
    if act.connection.execute(usable.values(expires=now())).rowcount != 1:
        raise UsageError(SPENT)
    act.note("withdraw", invitation=number)
