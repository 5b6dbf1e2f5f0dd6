"""Results in a real browser: waiting for what is computed, every page of them, publishing, and what others see."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

Make = Callable[..., Any]
# The colours of letters in figures, which are those of the page (--soft and --ink).
LETTERS = {
    "light": ("rgb(79, 93, 105)", "rgb(22, 32, 43)"),
    "dark": ("rgb(163, 179, 193)", "rgb(232, 237, 242)"),
}

PAGES = (
    *("/results", "/results/units?by=question&sort=mean&down=1", "/results/describe", "/results/compare"),
    *("/results/compare?a=harbor&b=meadow", "/results/sensitivity", "/results/stability", "/results/agree"),
    *("/results/facts", "/results/run?run=harbor", "/results/question?question=r1"),
)
# Those of them that have figures.
WITH_FIGURES = (
    *("/results", "/results/describe", "/results/compare", "/results/stability", "/results/agree"),
    *("/results/run?run=harbor", "/results/question?question=r1"),
)


def _computed(page: Page) -> None:
    """Wait until the page shows its tables; it loads itself again when they are there."""
    expect(page.locator("section.result").first).to_be_visible(timeout=120_000)


@pytest.mark.parametrize("looks", [{}, {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}])
def test_every_page_of_results(
    make_evaluation: Make, serve: Make, visit: Make, accessible: Make, looks: dict[str, Any]
) -> None:
    evaluation = make_evaluation("rag", without=())
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Olga", **looks)
    for path in PAGES:
        page.goto(server.url + path)
        _computed(page)
        accessible(page)
        expect(page.locator("footer")).to_have_css("position", "static")
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"], path
        if path in WITH_FIGURES:
            expect(page.locator("figure.chart svg").first).to_be_visible()
            colour = page.locator("figure.chart svg text").first.evaluate("text => getComputedStyle(text).fill")
            assert colour in LETTERS[looks.get("color_scheme", "light")], path
        if page.locator(".tabs [aria-current]").count():
            expect(page.locator(".tabs [aria-current]")).to_be_in_viewport(ratio=1)
        if path == "/results":
            page.locator(".save summary").first.click()
            with page.expect_download() as saved:
                page.get_by_role("link", name="PNG of").first.click()
            assert saved.value.suggested_filename == "leaderboard.png"
            assert saved.value.path().read_bytes().startswith(b"\x89PNG")
            accessible(page)


def test_provisional_then_published(make_evaluation: Make, serve: Make, visit: Make, accessible: Make) -> None:
    evaluation = make_evaluation("rag", without=())
    # What is there already may count for the first two; the third one's work is open.
    evaluation.give_out("Ada", "Ben", "Cleo", assessors=3)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Olga")
    page.goto(f"{server.url}/results")
    expect(page.get_by_text("There are no results while assigned work is unfinished")).to_be_visible()
    accessible(page)
    page.get_by_role("link", name="Show provisional results anyway").click()
    _computed(page)
    expect(page.locator("caption").filter(has_text="decisions open").first).to_be_visible()
    page.get_by_label("Title (optional)").fill("First figures")
    page.get_by_role("button", name="Publish as provisional").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish as provisional").click()
    expect(page.get_by_role("link", name="First figures")).to_be_visible(timeout=60_000)

    reader = visit(server, evaluation, "Rea")
    reader.goto(f"{server.url}/results")
    reader.get_by_role("link", name="First figures").click()
    expect(
        reader.get_by_role("cell", name="harbor*").or_(reader.get_by_role("rowheader", name="harbor*"))
    ).to_be_visible()
    expect(reader.get_by_text(re.compile(r"^Provisional: \d+ decisions open$"))).to_be_visible()
    accessible(reader)

    judging = visit(server, evaluation, "Ada")
    judging.goto(f"{server.url}/results")
    expect(judging.get_by_text("Results are shown when all assigned work is done.")).to_be_visible()
    assert "harbor" not in judging.content()
    accessible(judging)

    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("Nothing is published")).to_be_visible(timeout=60_000)


def test_choosing_how_runs_are_scored(make_evaluation: Make, serve: Make, visit: Make) -> None:
    evaluation = make_evaluation("rag", without=())
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Olga")
    page.goto(f"{server.url}/results")
    _computed(page)
    page.get_by_text("How runs are scored").click()
    page.get_by_label("Judgments", exact=True).select_option("first")
    page.get_by_label("Measure", exact=True).select_option("all_strict")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("caption").first).to_have_text("nuggets, judgments: first, 10 questions", timeout=60_000)
    # The choice goes along to the other pages, and to a run and back.
    page.get_by_role("link", name="Where do they differ?").click()
    expect(page.locator("caption").first).to_contain_text("judgments: first", timeout=60_000)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV of").first.click()
    assert download.value.suggested_filename == "units.csv"
    page.get_by_role("link", name="Who is best?").click()
    page.get_by_role("link", name="meadow*").click()
    expect(page.get_by_role("heading", name="Run meadow")).to_be_visible(timeout=60_000)
    expect(page.locator("caption").first).to_contain_text("judgments: first", timeout=60_000)


def test_agreement_is_open_while_judging_goes_on(
    make_evaluation: Make, serve: Make, visit: Make, accessible: Make
) -> None:
    evaluation = make_evaluation("rag", without=())
    evaluation.give_out("Ada", "Ben", "Cleo", assessors=3)
    server = serve(evaluation.folder)
    page = visit(server, evaluation, "Olga")
    # Work is open everywhere: agreement is shown, and says that judging goes on.
    page.goto(f"{server.url}/results")
    page.get_by_role("link", name="See how far the assessors agree").click()
    _computed(page)
    expect(page.get_by_text("Judging goes on:")).to_be_visible()
    expect(page.locator("figure.chart").first).to_be_visible()
    accessible(page)
    page.goto(f"{server.url}/results/trust?provisional=1")
    expect(page.get_by_text("No program has judged yet")).to_be_visible(timeout=60_000)
    accessible(page)
