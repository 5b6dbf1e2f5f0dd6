"""The evaluation that is served, how it is served, and who asks: Site, Settings, Person."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from qassay.errors import UsageError
from qassay.formats.folder import Configuration, Folder
from qassay.store.acts import Assessor
from qassay.store.engine import Store
from qassay.store.people import Account
from qassay.web.errors import Refusal
from qassay.web.logs import Metrics

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MIB = 1024 * 1024
# Which browsers leave out of an origin.
DEFAULT_PORTS = {"http": 80, "https": 443}
# Tries of one name, and from one address: a class of assessors behind one address signs in at nine o'clock.
BY_NAME: Final = parse("10 per 10 minutes")
BY_ADDRESS: Final = parse("100 per 10 minutes")
# What one person may write beside judgments: known answers, impressions.
BY_PERSON: Final = parse("120 per 10 minutes")
Role: TypeAlias = Literal["organiser", "adjudicator", "assessor", "reader", "participant"]


@dataclass(frozen=True, slots=True)
class SignOn:
    """An identity provider: single sign-on with OpenID Connect."""

    issuer: str
    client: str
    secret: str | None = field(default=None, repr=False)
    name: str = "single sign-on"


@dataclass(frozen=True, slots=True)
class Settings:
    """How the application is served; the defaults are those of one person on one machine."""

    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str | None = None
    insecure: bool = False
    trusted_header: str | None = None
    trusted_proxies: tuple[str, ...] = ()
    sign_on: SignOn | None = None
    log: Literal["text", "json", "none"] = "text"
    body_limit: int = MIB
    upload_limit: int = 256 * MIB
    # How long the head of a request may take, and a body, at this many bytes per second, on top.
    head_seconds: float = 30.0
    body_seconds: float = 30.0
    body_rate: int = 16 * 1024
    # How long an answer waits for its reader to take some of it.
    reading_seconds: float = 60.0
    depth_limit: int = 40
    more_hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.public_url is not None:
            parts = urlsplit(self.public_url)
            is_address = parts.scheme in DEFAULT_PORTS and parts.hostname and _has_port_or_none(parts)
            if not is_address or parts.path.strip("/") or parts.query:
                raise UsageError(f"--public-url {self.public_url} is not an address like https://qa.example.org")
        if self.host not in LOOPBACK and not self.is_secure and not self.insecure:
            raise UsageError(
                f"--host {self.host} is open to the network: name the https address that people use with --public-url, "
                "or accept that passwords are sent in the clear with --insecure"
            )
        if self.trusted_header is not None and not self.trusted_proxies:
            raise UsageError("--trusted-header needs --trusted-proxy: anybody else could send that header too")
        for proxy in self.trusted_proxies:
            _address(proxy)

    @property
    def is_secure(self) -> bool:
        """Whether browsers come by https."""
        return self.public_url is not None and self.public_url.startswith("https://")

    @property
    def origin(self) -> str | None:
        """Scheme, host and port of the public address, as browsers write it; None without one."""
        if self.public_url is None:
            return None
        parts = urlsplit(self.public_url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        port = "" if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
        return f"{parts.scheme}://{host}{port}"

    @property
    def cookie(self) -> str:
        """The name of the session cookie; the prefix makes browsers refuse it from any other host."""
        return "__Host-qassay" if self.is_secure else "qassay"

    def accepts_host(self, host: str) -> bool:
        """Whether a request for this host (without port) is meant for us: a name of somebody else's is not.

        A name that an attacker points at this machine would otherwise make his page and ours the same origin.
        """
        allowed = {*LOOPBACK, *self.more_hosts, self.host}
        if self.public_url is not None:
            allowed.add(urlsplit(self.public_url).hostname or "")
        if host in allowed:
            return True
        if self.host in LOOPBACK or self.public_url is not None:
            return False
        # Open to the network by --insecure: by number, or by the machine's own name.
        return _is_address(host) or host == socket.gethostname().lower()

    def is_proxy(self, peer: str | None) -> bool:
        """Whether a connection comes from the trusted proxy."""
        if peer is None or not _is_address(peer):
            return False
        address = ipaddress.ip_address(peer)
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in _address(proxy) for proxy in self.trusted_proxies)


def _has_port_or_none(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:  # no number, or none of a port
        return False


def _address(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        message = f"--trusted-proxy {text} is not an address like 10.0.0.2, or a range like 10.0.0.0/24"
        raise UsageError(message) from None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def sign_on_from(variables: Mapping[str, str]) -> SignOn | None:
    """The identity provider that QASSAY_SSO_* name; None where they name none.

    They are variables and not keys of `qassay.toml`: a secret does not belong into a file that is handed around.
    """
    issuer, client = variables.get("QASSAY_SSO_ISSUER"), variables.get("QASSAY_SSO_CLIENT")
    if not issuer and not client:
        return None
    if not issuer or not client:
        raise UsageError("single sign-on needs both QASSAY_SSO_ISSUER and QASSAY_SSO_CLIENT")
    parts = urlsplit(issuer)
    if parts.scheme != "https" and parts.hostname not in LOOPBACK:
        raise UsageError(f"QASSAY_SSO_ISSUER {issuer} is not an https address")
    return SignOn(
        issuer=issuer,
        client=client,
        secret=variables.get("QASSAY_SSO_SECRET") or None,
        name=variables.get("QASSAY_SSO_NAME") or "single sign-on",
    )


class Limits:
    """Counts tries in a moving window. One process serves an evaluation, so memory is the place to count."""

    def __init__(self) -> None:
        self._window = MovingWindowRateLimiter(MemoryStorage())

    def count(self, item: RateLimitItem, kind: str, key: str) -> None:
        """Count a try; refuse it where there were too many."""
        # Keys may be as long as a sender likes; the store of the counts keeps them.
        key = key[:200]
        if not self._window.hit(item, kind, key):
            wait = max(1, int(self._window.get_window_stats(item, kind, key).reset_time - time.time()) + 1)
            minutes = -(-wait // 60)
            time_left = "a minute" if minutes == 1 else f"{minutes} minutes"
            raise Refusal(429, f"too many tries; wait {time_left} and try again", headers={"Retry-After": str(wait)})

    def forget(self, item: RateLimitItem, kind: str, key: str) -> None:
        """Start again, after a try that succeeded."""
        self._window.clear(item, kind, key[:200])


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
    memory: dict[str, Any] = field(default_factory=dict)


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
    organisation: str | None = None

    @classmethod
    def of(cls, account: Account, *, session: int | None = None, token: int | None = None) -> Person:
        """The person behind an account."""
        fields = (account.id, account.name, account.role, account.preferences, account.has_password)
        return cls(*fields, session, token, account.organisation)

    def assessor(self) -> Assessor:
        """The person as the store names those who judge."""
        return Assessor(self.id, self.name)
