"""Runs in a browser: several files at once, errors with their lines, a description, a withdrawal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

Make = Callable[..., Any]


@pytest.fixture
def olga(make_evaluation: Make, serve: Make, visit: Make) -> tuple[Any, Any, Callable[..., Page]]:
    """The evaluation, the server, and a way to open the page of runs as the organiser."""
    evaluation = make_evaluation("series", "1")
    server = serve(evaluation.folder)

    def go(**options: Any) -> Page:
        page: Page = visit(server, evaluation, "Olga", **options)
        page.goto(f"{server.url}/runs")
        return page

    return evaluation, server, go


def test_files_are_checked_at_once_and_the_faulty_are_not_kept(olga: Any, accessible: Make) -> None:
    evaluation, _, go = olga
    good = (evaluation.folder / "runs" / "crane.txt").read_text().replace(" crane ", " fresh ")
    bad = "1.1 <b>bad</b> NO-SUCH-DOC x\n1.2 oops\n"
    page = go()
    accessible(page)
    files = [("fresh.txt", good.encode()), ("bad.txt", bad.encode()), ("runs.zip", b"PK\x03\x04")]
    payload = [{"name": name, "mimeType": "text/plain", "buffer": data} for name, data in files]
    page.get_by_label("Files").set_input_files(payload)
    page.get_by_role("button", name="Check and add").click()
    reports = page.locator(".report")
    expect(reports.nth(0)).to_contain_text("added as fresh")
    expect(reports.nth(1)).to_contain_text("line 1")
    expect(reports.nth(1)).to_contain_text("NO-SUCH-DOC is not in the collection")
    expect(reports.nth(1)).to_contain_text("line 2")
    expect(reports.nth(2)).to_contain_text("is a zip archive")
    # The list below is that of now, and the reports stay.
    expect(page.get_by_role("rowheader", name="fresh")).to_be_visible()
    accessible(page)
    reports.nth(1).get_by_role("link").click()
    expect(page.get_by_text("the file was not added")).to_be_visible()
    accessible(page)
    page.get_by_role("main").get_by_role("link", name="Runs").click()
    expect(page.get_by_role("rowheader", name="fresh")).to_be_visible()


def test_a_run_is_described_withdrawn_and_restored(olga: Any, accessible: Make) -> None:
    _, _, go = olga
    page = go()
    page.get_by_role("button", name="Describe crane").click()
    accessible(page)
    page.get_by_role("dialog").get_by_label("Organisation").fill("Group North")
    page.get_by_role("dialog").get_by_role("checkbox").check()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="crane"))
    expect(row).to_contain_text("crane*")
    expect(row).to_contain_text("Group North")
    expect(page.get_by_role("button", name="Describe crane")).to_be_focused()
    page.get_by_role("button", name="Withdraw crane").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(row).to_contain_text("withdrawn")
    expect(page.get_by_role("button", name="Restore crane")).to_be_focused()
    page.keyboard.press("Enter")
    expect(row).not_to_contain_text("withdrawn")


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_it_fits_a_phone(olga: Any, accessible: Make, scheme: str) -> None:
    _, _, go = olga
    page = go(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    accessible(page)
