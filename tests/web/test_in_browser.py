"""The core of the pages in a real browser: links, forms, theme, shortcuts, the phone, and what axe-core finds."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from acting import act
from qassay.store.people import invite

PASSWORD = "a long enough password"


@pytest.fixture
def address(site) -> Iterator[str]:
    """The application, answering at a loopback address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(site.app, log_config=None, ws="none", proxy_headers=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page that collects what the browser complains about; the test fails on anything but a refused request."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, base_url=address)
    page = context.new_page()
    odd: list[str] = []
    page.on("pageerror", lambda error: odd.append(str(error)))
    page.on("console", lambda message: odd.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: None if request.url.startswith(address) else odd.append(request.url))
    yield page
    context.close()
    assert [message for message in odd if "the server responded with a status of 4" not in message] == []


def sign_in(page: Page, name: str = "Some organiser", password: str = PASSWORD) -> None:
    page.goto("/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_a_link_leads_to_an_account(site, page: Page) -> None:
    with site.store.write() as connection:
        token = invite(act(connection), "assessor")
    page.goto(f"/welcome#{token}")
    expect(page.get_by_text("You are invited as an assessor.")).to_be_visible()
    assert token not in page.url
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Confirm password").fill(PASSWORD + "x")
    page.get_by_role("button", name="Create account").click()
    assert page.url.endswith("/welcome")  # the two differ: the browser says so, nothing was sent
    page.get_by_label("Confirm password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.locator(".own summary", has_text="Ada").click()
    expect(page.get_by_text("Signed in as assessor")).to_be_visible()
    expect(page.get_by_role("link", name="Your account")).to_be_visible()
    page.goto(f"/welcome#{token}")
    page.reload()
    expect(page.locator("#offer")).to_contain_text("one-time link")


def test_errors_are_shown_and_focused(page: Page) -> None:
    sign_in(page, password="not the password")
    notice = page.get_by_role("alert")
    expect(notice).to_have_text("The name or the password is wrong.")
    expect(notice).to_be_focused()
    sign_in(page)
    expect(page.get_by_role("heading", name="Qassay demo")).to_be_visible()
    page.goto("/account")
    page.get_by_label("Current password").fill("not the password")
    page.get_by_label("New password").fill("another long password")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_label("Current password")).to_be_focused()
    expect(page.locator("#current-problem")).to_have_text("this is not your password")
    expect(page.get_by_label("Current password")).to_have_attribute("aria-invalid", "true")


def test_signed_in_people_skip_the_sign_in_page(page: Page) -> None:
    sign_in(page)
    expect(page.get_by_role("heading", name="Qassay demo")).to_be_visible()
    page.goto("/sign-in?then=/people")
    expect(page.get_by_role("heading", name="People", exact=True)).to_be_visible()


def test_an_invitation_is_shown_once(page: Page) -> None:
    sign_in(page)
    menu = page.get_by_role("navigation", name="Main").locator("details", has_text="Set up")
    menu.locator("summary").press("Enter")
    expect(menu.get_by_role("link", name="People")).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu.get_by_role("link", name="People")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    menu.locator("summary").click()
    menu.get_by_role("link", name="People").click()
    expect(menu.locator("summary")).to_have_text("Set up: People")
    page.get_by_label("Name (optional)").fill("Eve <b>")
    page.get_by_role("button", name="Make a link").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("/welcome#")
    expect(dialog).to_contain_text("It works on this machine only")
    dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_role("region", name="Open invitations")).to_contain_text("Eve <b>")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("None: every link")).to_be_visible()


def test_the_theme_is_kept(page: Page) -> None:
    page.goto("/sign-in")
    theme = page.locator("html")
    expect(theme).to_have_attribute("data-theme", "light")
    page.locator("#theme-switch").click()
    page.locator("#theme-switch").click()
    expect(theme).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(theme).to_have_attribute("data-theme", "dark")
    page.locator("#theme-switch").click()
    page.emulate_media(color_scheme="dark")
    expect(theme).to_have_attribute("data-theme", "dark")
    page.emulate_media(color_scheme="light")
    expect(theme).to_have_attribute("data-theme", "light")


def test_shortcuts(page: Page) -> None:
    sign_in(page)
    expect(page.get_by_role("heading", name="Qassay demo")).to_be_visible()
    page.goto("/components")
    times = page.locator("#times")
    page.keyboard.press("c")
    expect(times).to_have_text("1")
    for combinations in ("Control+c", "Alt+c", "Meta+c"):
        page.keyboard.press(combinations)
    for field in ("#one", "#four"):
        page.locator(field).press("c")
        expect(page.locator(field)).to_have_value("c")
    page.locator("#three").press("c")
    expect(times).to_have_text("1")
    page.locator("#one").blur()
    page.locator("#three").blur()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Shortcuts")
    expect(dialog).to_be_visible()
    page.keyboard.press("c")
    expect(times).to_have_text("1")  # silent while a dialog is open
    dialog.get_by_role("button", name="Change the key of Count one").click()
    page.keyboard.press("0")
    expect(dialog.get_by_role("status")).to_contain_text("is taken by “Start over”")
    page.keyboard.press("Control+k")
    expect(dialog.get_by_role("status")).to_contain_text("belongs to the browser")
    page.keyboard.press("x")
    expect(dialog.get_by_role("status")).to_contain_text("is X now")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.reload()
    expect(page.locator("#count-key")).to_have_text("X")
    page.keyboard.press("c")
    page.keyboard.press("x")
    expect(times).to_have_text("1")
    page.keyboard.press("?")
    dialog.get_by_role("button", name="Reset to defaults").click()
    expect(dialog.get_by_role("status")).to_contain_text("shortcuts are reset")
    page.reload()
    expect(page.locator("#count-key")).to_have_text("C")


PAGES = ("/", "/people", "/account", "/components", "/sign-in", "/welcome", "/nowhere")


@pytest.mark.parametrize("width", [360, 640])
def test_nothing_is_wider_than_a_phone_or_a_page_at_twice_its_size(page: Page, width: int) -> None:
    sign_in(page)
    expect(page.get_by_role("heading", name="Qassay demo")).to_be_visible()
    page.set_viewport_size({"width": width, "height": 740})
    for path in PAGES:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(site, browser: Browser, address: str, theme: str) -> None:
    # Axe brings its script along, which the content-security policy keeps out otherwise.
    context = browser.new_context(bypass_csp=True, base_url=address, color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    violations: dict[str, Any] = {path: _violations(page, path) for path in ("/sign-in", "/welcome", "/nowhere")}
    sign_in(page)
    expect(page.get_by_role("heading", name="Qassay demo")).to_be_visible()
    violations |= {path: _violations(page, path) for path in PAGES[:4]}
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    violations["shortcuts"] = _violations(page, None)
    context.close()
    assert violations == {path: [] for path in violations}


def _violations(page: Page, path: str | None) -> list[str]:
    if path is not None:
        page.goto(path)
    return [
        f"{violation['id']}: {violation['nodes'][0]['html']}" for violation in Axe().run(page).response["violations"]
    ]
