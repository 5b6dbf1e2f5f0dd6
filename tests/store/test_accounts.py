"""Accounts, one-time links, sessions and tokens in the store."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import argon2
import pytest
from sqlalchemy import Connection, select, update

from acting import act
from qassay.errors import UsageError
from qassay.store.engine import Store, open_store
from qassay.store.people import (
    RESET,
    accept_invitation,
    add_account,
    change_account,
    change_preferences,
    find_account,
    get_account,
    has_organiser,
    invite,
    look_at_invitation,
    open_invitations,
    password_of,
    withdraw_invitation,
)
from qassay.store.people import sessions as passwords
from qassay.store.people.sessions import (
    begin_session,
    count_sessions,
    end_session,
    end_sessions,
    end_token,
    find_session,
    find_token,
    make_token,
    sessions,
    tokens,
)
from qassay.store.schema import invitation, record, session, token


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "qassay.toml").write_text('task = "series2004"\n')
    opened_store = open_store(tmp_path, create=True)
    yield opened_store
    opened_store.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store in each of the databases, for what happens at the same moment."""
    named = ""
    if request.param == "postgresql":
        named = f'database = "{request.getfixturevalue("postgres_url")}"\n'
    (tmp_path / "qassay.toml").write_text(f'task = "series2004"\n{named}')
    opened_store = open_store(tmp_path, create=True)
    yield opened_store
    opened_store.close()


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "HASHER", argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def test_a_link_makes_one_account(store: Store) -> None:
    with store.write() as connection:
        secret = invite(act(connection), "organiser")
        assert not has_organiser(connection)
    with store.read() as connection:
        assert secret not in str(connection.execute(select(invitation)).all())
        assert look_at_invitation(connection, secret).role == "organiser"
    with store.write() as connection:
        person = accept_invitation(connection, secret, name="  Ada ", password="hash")
        assert (person.name, person.role, has_organiser(connection)) == ("Ada", "organiser", True)
    for name in ("Ada", "Eve"):
        with store.write() as connection, pytest.raises(UsageError, match="used, has expired or was withdrawn"):
            accept_invitation(connection, secret, name=name, password="hash")
    with store.read() as connection, pytest.raises(UsageError, match="used, has expired or was withdrawn"):
        look_at_invitation(connection, secret)


def test_of_many_who_use_a_link_at_once_one_gets_in(either: Store) -> None:
    store = either
    with store.write() as connection:
        secret = invite(act(connection), "organiser")
    gate, made = threading.Barrier(8), []

    def use(number: int) -> None:
        gate.wait()
        try:
            with store.write() as connection:
                made.append(accept_invitation(connection, secret, name=f"Number {number}", password="hash").name)
        except UsageError:
            pass

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as connection:
        assert len(made) == 1
        assert find_account(connection, made[0])[0] is not None


def test_a_failed_try_does_not_use_the_link_up(store: Store) -> None:
    with store.write() as connection:
        add_account(connection, "Ada", "reader")
        secret = invite(act(connection), "assessor")
    with pytest.raises(UsageError, match="already"), store.write() as connection:
        accept_invitation(connection, secret, name="ADA", password="hash")
    with store.write() as connection:
        assert accept_invitation(connection, secret, name="Eve", password="hash").role == "assessor"


def test_a_link_expires_and_can_be_withdrawn(store: Store) -> None:
    with store.write() as connection:
        old = invite(act(connection), "reader", life=timedelta(seconds=-1))
        taken_back = invite(act(connection), "reader", name="Eve")
        ada = add_account(connection, "Ada", "organiser")
        assert [invitation.name for invitation in open_invitations(connection)] == ["Eve"]
        withdraw_invitation(act(connection, account=ada.id), open_invitations(connection)[0].id)
        assert open_invitations(connection) == []
        for secret in (old, taken_back, "never was one"):
            with pytest.raises(UsageError, match="ask an organiser"):
                look_at_invitation(connection, secret)


def test_a_named_link_makes_that_name(store: Store) -> None:
    with store.write() as connection:
        secret = invite(act(connection), "assessor", name="Eve")
        assert accept_invitation(connection, secret, name="Mallory", password="hash").name == "Eve"
        with pytest.raises(UsageError, match="already"):
            invite(act(connection), "assessor", name="eve")


def test_a_new_password_by_link_ends_the_sessions(store: Store) -> None:
    with store.write() as connection:
        ada = add_account(connection, "Ada", "assessor", password="old")
        begin_session(connection, ada.id, address=None, agent=None)
        secret = invite(act(connection), RESET, name="Ada")
        again = accept_invitation(connection, secret, name="Mallory", password="new")
        assert (again.id, again.role) == (ada.id, "assessor")
        assert password_of(connection, ada.id) == "new"
        assert sessions(connection, ada.id) == []


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\u202eb", "x" * 101, "a\0b"])
def test_names_that_mislead_are_refused(store: Store, name: str) -> None:
    with store.write() as connection, pytest.raises(UsageError, match="a name"):
        add_account(connection, name, "reader")


def test_names_differ_in_more_than_capitals(store: Store) -> None:
    with store.write() as connection:
        person = add_account(connection, "Jose\u0301", "reader")
        assert find_account(connection, " JOSÉ")[0] == person
        with pytest.raises(UsageError, match="already"):
            add_account(connection, "josé", "reader")
        with pytest.raises(UsageError, match="unknown role 'root'"):
            add_account(connection, "root", "root")


def test_the_last_organiser_stays(store: Store) -> None:
    with store.write() as connection:
        ada = add_account(connection, "Ada", "organiser")
        eve = add_account(connection, "Eve", "assessor")
        for change in ({"role": "reader"}, {"active": False}):
            with pytest.raises(UsageError, match="only organiser"):
                change_account(act(connection, account=ada.id), ada.id, **change)  # type: ignore[arg-type]
        change_account(act(connection, account=ada.id), eve.id, role="organiser")
        assert change_account(act(connection, account=ada.id), ada.id, role="reader").role == "reader"
        with pytest.raises(UsageError, match="only organiser"):
            change_account(act(connection, account=eve.id), eve.id, active=False)


def test_two_organisers_cannot_demote_each_other(either: Store) -> None:
    with either.write() as connection:
        ada, eve = (add_account(connection, name, "organiser").id for name in ("Ada", "Eve"))
    gate, refused = threading.Barrier(2), []

    def demote(number: int, by: int) -> None:
        gate.wait()
        try:
            with either.write() as connection:
                change_account(act(connection, account=by), number, role="reader")
        except UsageError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=demote, args=pair) for pair in ((ada, eve), (eve, ada))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    with either.read() as connection:
        assert has_organiser(connection)


def test_of_two_who_take_a_name_at_once_one_gets_it(either: Store) -> None:
    gate, refused = threading.Barrier(4), []

    def take() -> None:
        gate.wait()
        try:
            with either.write() as connection:
                add_account(connection, "Ada", "reader")
        except UsageError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 3


def test_names_that_look_alike_are_not_taken_at_once(either: Store) -> None:
    refused = []

    def take(connection: Connection, person: str, organisation: str) -> None:
        add_account(connection, person, "reader")
        invite(act(connection), "participant", organisation=organisation)

    def take_meanwhile(person: str, organisation: str) -> None:
        try:
            with either.write() as connection:
                take(connection, person, organisation)
        except UsageError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=take_meanwhile, args=names) for names in [("Аda", "South"), ("Bob", "Nоrth")]]
    with either.write() as connection:
        take(connection, "Ada", "North")
        for thread in threads:
            thread.start()
        time.sleep(0.3)
    for thread in threads:
        thread.join()
    assert len(refused) == 2


def test_a_change_ends_sessions_and_is_recorded(store: Store) -> None:
    with store.write() as connection:
        ada = add_account(connection, "Ada", "organiser")
        eve = add_account(connection, "Eve", "assessor")
        secret = begin_session(connection, eve.id, address="192.0.2.1", agent="x")
        change_account(act(connection, account=ada.id), eve.id, role="adjudicator")
        assert find_session(connection, secret) is None
        assert connection.execute(select(record.c.action)).scalars().all() == ["account"]
        change_account(act(connection, account=ada.id), eve.id, role="adjudicator")
        assert len(connection.execute(select(record)).all()) == 1


def test_sessions_end_by_time_and_by_hand(store: Store) -> None:
    with store.write() as connection:
        ada = add_account(connection, "Ada", "organiser")
        secrets = [begin_session(connection, ada.id, address="a", agent="b\x1b[1m" + "x" * 999) for _ in range(4)]
        assert not any(secret in str(connection.execute(select(session)).all()) for secret in secrets)
        open_session = find_session(connection, secrets[0])
        assert open_session is not None
        assert (open_session[0], open_session[2]) == (ada, False)
        assert count_sessions(connection) == 4
        numbers = [session.id for session in reversed(sessions(connection, ada.id))]
        assert "\x1b" not in str(sessions(connection, ada.id)[0].agent)
        _set(connection, numbers[0], seen="2020-01-01T00:00:00.000Z")
        _set(connection, numbers[1], expires="2020-01-01T00:00:00.000Z")
        end_session(connection, ada.id, numbers[2])
        assert [find_session(connection, secret) is None for secret in secrets] == [True, True, True, False]
        assert count_sessions(connection) == 1
        with pytest.raises(UsageError, match="no such session"):
            end_session(connection, ada.id + 1, numbers[3])
        assert end_sessions(connection, ada.id, but=numbers[3]) == 2
        assert find_session(connection, secrets[3]) is not None
        assert find_session(connection, "nonsense") is None


def _set(connection, number: int, **values: str) -> None:
    connection.execute(update(session).where(session.c.id == number).values(**values))


def test_tokens_are_shown_once_and_can_be_revoked(store: Store) -> None:
    with store.write() as connection:
        ada = add_account(connection, "Ada", "organiser")
        eve = add_account(connection, "Eve", "organiser")
        secret = make_token(connection, ada.id, "nightly")
        assert secret.startswith("qsy_")
        assert secret not in str(connection.execute(select(token)).all())
        valid_token = find_token(connection, secret)
        assert valid_token is not None
        assert valid_token[0].name == "Ada"
        with pytest.raises(UsageError, match="no such token"):
            end_token(connection, eve.id, valid_token[1])
        change_account(act(connection, account=eve.id), ada.id, active=False)
        assert find_token(connection, secret) is None
        change_account(act(connection, account=eve.id), ada.id, active=True)
        assert find_token(connection, secret) is None  # it does not come back with the account
        secret = make_token(connection, ada.id, "nightly")
        valid_token = find_token(connection, secret)
        assert valid_token is not None
        end_token(connection, ada.id, valid_token[1])
        assert find_token(connection, secret) is None
        assert tokens(connection, ada.id) == []


def test_a_session_secret_is_not_a_token(store: Store) -> None:
    with store.write() as connection:
        ada = add_account(connection, "Ada", "organiser")
        assert find_token(connection, begin_session(connection, ada.id, address=None, agent=None)) is None
        assert find_session(connection, make_token(connection, ada.id, "x")) is None


def test_preferences_are_kept(store: Store) -> None:
    with store.write() as connection:
        ada = add_account(connection, "Ada", "organiser")
        change_preferences(connection, ada.id, {"shortcuts": {"judge.right": "ü"}})
        assert get_account(connection, ada.id).preferences == {"shortcuts": {"judge.right": "ü"}}


def test_passwords() -> None:
    hashed = passwords.hash_password("xy" * 5)
    assert hashed.startswith("$argon2id$")
    assert passwords.verify_password(hashed, "xy" * 5)
    assert not passwords.verify_password(hashed, "xy" * 6)
    assert not passwords.verify_password(None, "xy" * 5)
    assert not passwords.verify_password("not a hash", "xy" * 5)
    for wrong in ("x" * 9, "x" * 201):
        with pytest.raises(UsageError, match="10 to 200 characters"):
            passwords.hash_password(wrong)


def test_a_hash_of_weaker_parameters_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = passwords.hash_password("xy" * 5)
    assert not passwords.outdated(hashed)
    monkeypatch.setattr(passwords, "HASHER", argon2.PasswordHasher(time_cost=2, memory_cost=8, parallelism=1))
    assert passwords.outdated(hashed)
    assert not passwords.outdated(None)


def test_the_parameters_in_use_are_not_cheap() -> None:
    # The first one: the tests above work with a cheap one.
    hasher = argon2.PasswordHasher()
    assert (hasher.type, hasher.memory_cost >= 19 * 1024) == (argon2.Type.ID, True)


def test_an_unknown_name_costs_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class Counting(argon2.PasswordHasher):
        def verify(self, hash: str | bytes, password: str | bytes) -> bool:  # noqa: A002
            calls.append(str(hash).rsplit("$", 2)[0])
            return super().verify(hash, password)  # type: ignore[return-value]

    monkeypatch.setattr(passwords, "HASHER", Counting(time_cost=1, memory_cost=8, parallelism=1))
    hashed = passwords.hash_password("xy" * 5)
    passwords.verify_password(hashed, "wrong one")
    passwords.verify_password(None, "wrong one")
    assert len(calls) == 2
    assert calls[0] == calls[1]  # the same parameters, so the same time
