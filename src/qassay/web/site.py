"""What the application works on, and who is at the door: the two things that views ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from qassay.formats.folder import Configuration, Folder
from qassay.store.acts import Assessor
from qassay.store.engine import Store
from qassay.store.people import Account
from qassay.web.limits import Limits
from qassay.web.logs import Metrics
from qassay.web.settings import Settings

Role: TypeAlias = Literal["organiser", "adjudicator", "assessor", "reader"]


@dataclass(frozen=True, eq=False)
class Site:
    """The evaluation that is served: its folder, its store, what `qassay.toml` says, and how it is served."""

    folder: Folder
    store: Store
    configuration: Configuration
    settings: Settings
    metrics: Metrics = field(default_factory=Metrics)
    limits: Limits = field(default_factory=Limits)
    # What pages keep between requests (an opened collection, say), under the name of their module.
    kept: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Person:
    """Who is signed in, and by what: a session of a browser, a token of a program, or the header of a proxy."""

    id: int
    name: str
    role: str
    preferences: Mapping[str, Any] = field(default_factory=dict)
    has_password: bool = True
    session: int | None = None
    token: int | None = None

    @classmethod
    def of(cls, account: Account, *, session: int | None = None, token: int | None = None) -> Person:
        """The person behind an account."""
        return cls(account.id, account.name, account.role, account.preferences, account.has_password, session, token)

    def assessor(self) -> Assessor:
        """The person as the store names whoever judges."""
        return Assessor(self.id, self.name)
