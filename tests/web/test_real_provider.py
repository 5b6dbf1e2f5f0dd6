"""Single sign-on as people see it: Chromium, our pages, and those of a certified OpenID Connect provider."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from listening import listening

from acting import act
from qassay.store.people import invite
from qassay.web.site import SignOn

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / ".venv/provider/node_modules/oidc-provider/lib/index.js"
INSTALL = "npm install --no-save --prefix .venv/provider oidc-provider@8.8.1"
SECRET = "a secret: 100% & more"

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Site:
    """The application, and a page of a browser that opens it."""

    address: str
    page: Any
    invitation: str

    def go_in(self) -> None:
        """Use the invitation, up to the provider's page."""
        self.page.goto(f"{self.address}/welcome#{self.invitation}")
        self.page.get_by_role("button", name="Continue with Example ID").click()

    def sign_in(self) -> None:
        """Sign in without an invitation, up to the provider's page or where that leads."""
        self.page.goto(f"{self.address}/sign-in")
        self.page.get_by_role("button", name="Sign in with Example ID").click()

    def name_at_provider(self, name: str, *, consents: bool = True) -> None:
        """Sign in on the provider's pages."""
        self.page.get_by_placeholder("Enter any login").fill(name)
        self.page.get_by_placeholder("and password").fill("anything")
        self.page.get_by_role("button", name="Sign-in").click()
        if consents:
            self.page.get_by_role("button", name="Continue").click()
        else:
            self.page.get_by_role("link", name="[ Cancel ]").click()

    def name(self) -> str | None:
        """The signed-in person, as the page shows it."""
        account = self.page.evaluate("fetch('/api/account').then(answer => answer.ok ? answer.json() : {})")
        return account.get("name")

    def name_inside(self) -> str | None:
        """The same, when the browser has come back from the provider."""
        self.page.wait_for_url(re.compile(rf"^{self.address}/(?!single-sign-on|welcome|sign-in)"))
        return self.name()


Serve = Callable[..., Site]


@pytest.fixture
def serve(site: Any, browser: Any) -> Iterator[Serve]:
    """Serve the application with a provider beside it, under settings of some kind."""
    node = shutil.which("node")
    if node is None or not PACKAGE.exists():
        pytest.skip(f"the identity provider is not installed ({INSTALL})")
    with ExitStack() as running:

        def start(issuer: str = "", client: str = "qassay", secret: str | None = SECRET) -> Site:
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            sign_on = SignOn(f"http://127.0.0.1:{port}{issuer}", client, secret, "Example ID")
            served = site.with_settings(sign_on=sign_on)
            address = f"http://127.0.0.1:{running.enter_context(listening(served.app))[1]}"
            arguments = [node, str(Path(__file__).with_name("provider.mjs")), PACKAGE.as_uri(), str(port)]
            provider = running.enter_context(
                _ended(subprocess.Popen([*arguments, f"{address}/single-sign-on"], **PIPES))
            )
            assert provider.stdout is not None
            assert provider.stdout.readline() == "ready\n"
            with site.store.write() as connection:
                token = invite(act(connection), "assessor")
            page = running.enter_context(browser.new_context()).new_page()
            page.set_default_timeout(20_000)
            return Site(address, page, token)

        yield start


PIPES: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}


class _ended:  # noqa: N801  # read as a word: with ended(process)
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def __enter__(self) -> subprocess.Popen[str]:
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)


@pytest.mark.parametrize(("client", "secret"), [("qassay", SECRET), ("public", None)])
def test_from_the_invitation_to_signing_out_and_in_again(serve: Serve, client: str, secret: str | None) -> None:
    site = serve(client=client, secret=secret)
    site.go_in()
    site.name_at_provider("ada")
    assert site.name_inside() == "ada of the provider"
    site.page.goto(f"{site.address}/account")
    site.page.get_by_role("main").get_by_role("button", name="Sign out").click()
    site.page.wait_for_url(f"{site.address}/sign-in")
    assert site.name() is None
    # The provider still knows the browser: that is its own session.
    site.sign_in()
    assert site.name_inside() == "ada of the provider"


def test_who_refuses_at_the_provider_is_not_signed_in(serve: Serve) -> None:
    site = serve()
    site.go_in()
    site.name_at_provider("ada", consents=False)
    site.page.get_by_text("single sign-on did not succeed").wait_for()
    site.page.goto(f"{site.address}/sign-in")
    assert site.name() is None
    # The invitation is not used up.
    site.go_in()
    site.page.get_by_role("button", name="Continue").click()
    assert site.name_inside() == "ada of the provider"


def test_an_identity_without_an_invitation_stays_outside(serve: Serve) -> None:
    site = serve()
    site.sign_in()
    site.name_at_provider("eve")
    site.page.get_by_text("an organiser has to invite you first").wait_for()


@pytest.mark.parametrize("issuer", ["/", "/another"])
def test_a_wrong_issuer_is_reported_on_the_page(serve: Serve, issuer: str) -> None:
    site = serve(issuer=issuer)
    site.sign_in()
    reason = "calls itself" if issuer == "/" else "cannot be reached or refused"
    site.page.get_by_text(reason).wait_for()
    assert site.page.url == f"{site.address}/sign-in"


def test_a_wrong_secret_signs_nobody_in(serve: Serve) -> None:
    site = serve(secret="another secret")
    site.go_in()
    site.name_at_provider("ada")
    site.page.get_by_text("cannot be reached or refused").wait_for()
