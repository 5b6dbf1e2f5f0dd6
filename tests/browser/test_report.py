"""The report in a real browser: opened from disk, without a request, at every size, in light, dark and print."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import qassay
from qassay.matrix import ScoreMatrix
from qassay.reports import build_report
from qassay.reports.organisations import organisation_page
from qassay.studies.reporting import of_matrix

HOSTILE = ("</style><script>document.title='pwned'</script>", '"><img src=x onerror=alert(1)>', "שלום עולם", "n" * 200)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    evaluation = qassay.open(qassay.demo_folder())
    rng = np.random.default_rng(0)
    odd = ScoreMatrix(HOSTILE, tuple(f"<b>{unit}" for unit in range(12)), rng.random((4, 12)).round(2))
    texts = {
        "report": qassay.report(evaluation).html(),
        "entailment": qassay.report(qassay.open(qassay.demo_folder("entailment"))).html(),
        "odd": build_report(of_matrix(odd, name=HOSTILE[0])).html(),
        "organisation": organisation_page(evaluation.score(), "team B").html(),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts}


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """A page from disk; a request, a script or a word on the console fails the test."""
    odd: list[str] = []
    contexts = []

    def opened(path: Path, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: odd.append(message.text))
        page.on("pageerror", lambda error: odd.append(str(error)))
        page.on("request", lambda asked: asked.url == path.as_uri() or odd.append(f"asked for {asked.url}"))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not odd, odd


NAMES = ("report", "entailment", "odd", "organisation")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_accessible_in_light_and_dark(
    pages: dict[str, Path],
    open_page: Callable[..., Page],
    accessible: Callable[[Page], None],
    name: str,
    scheme: str,
) -> None:
    page = open_page(pages[name], color_scheme=scheme)
    for details in page.locator("details").all():
        details.evaluate("element => { element.open = true }")
    accessible(page)
    assert page.title().startswith("Results")


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("name", NAMES)
def test_a_report_fits_the_window(
    pages: dict[str, Path], open_page: Callable[..., Page], name: str, width: int
) -> None:
    page = open_page(pages[name], viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    folded = page.locator("summary")
    assert min(folded.evaluate_all("all => all.map((e) => e.getBoundingClientRect().height || 24)"), default=24) >= 24


def test_a_report_prints_in_light_colours_without_folded_parts(
    pages: dict[str, Path], open_page: Callable[..., Page]
) -> None:
    page = open_page(pages["report"], color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(22, 32, 43)"
    assert page.locator("summary").first.is_hidden()
    assert page.locator("nav.contents").is_hidden()
    assert page.locator("figure svg").first.is_visible()


def test_figures_follow_the_colours_of_the_page(pages: dict[str, Path], open_page: Callable[..., Page]) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        page = open_page(pages["report"], color_scheme=scheme)
        label = page.locator("figure svg text").first
        colours[scheme] = label.evaluate("element => getComputedStyle(element).fill")
    # The colour `soft` of axes.
    assert colours == {"light": "rgb(85, 99, 111)", "dark": "rgb(159, 176, 191)"}


def test_a_figure_and_its_table_are_saved_out_of_the_page(
    pages: dict[str, Path], open_page: Callable[..., Page]
) -> None:
    page = open_page(pages["report"])
    page.get_by_text("Table and files").first.click()
    for name, beginning in {"leaderboard.csv": "run,", "leaderboard.svg": "<svg "}.items():
        with page.expect_download() as saved:
            page.get_by_role("link", name=name).click()
        assert saved.value.suggested_filename == name
        assert saved.value.path().read_text(encoding="utf-8").startswith(beginning)
