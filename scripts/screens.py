"""Pictures of the application: every screen on the built-in evaluations, in light and dark, some at a phone's width.

    python scripts/screens.py                  all of them
    python scripts/screens.py factoid list     some

They go to docs/pictures as WebP. Needs Chromium and the extra `dev`.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, FilePayload, Page, sync_playwright

import evaluations
import qassay
from evaluations import PreparedEvaluation, served
from qassay.demo import demo_folder
from qassay.reports.page import report_page

PICTURES: Final = Path(__file__).resolve().parent.parent / "docs" / "pictures"
FLAGS: Final = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
WIDTH: Final = 1280
PHONE: Final = 360
TALLEST: Final = 900
TALLEST_PHONE: Final = 780
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
QUALITY: Final = 72
PATIENCE: Final = 90_000
REPORT: Final = "report"
# Whatever day it is, a picture shows this one.
DAY: Final = "2026-03-02 09:15"


@dataclass(frozen=True)
class Screen:
    """One picture: where, by whom, and what is done before it is taken."""

    path: str
    who: str | None
    ready: str
    act: Callable[[Page], None] = lambda page: None
    phone: bool = False
    # The question whose assignment the path names.
    question: str | None = None


def keys(*pressed: str) -> Callable[[Page], None]:
    """Press keys one after the other."""

    def act(page: Page) -> None:
        for key in pressed:
            page.keyboard.press(key)
            page.wait_for_timeout(250)

    return act


def decided(*labels: str) -> Callable[[Page], None]:
    """Decide on the first items by their keys, and wait until that is saved."""

    def act(page: Page) -> None:
        keys(*labels)(page)
        page.wait_for_function("() => document.getElementById('save-state').dataset.state === 'saved'")

    return act


def long_list(page: Page) -> None:
    """Judge the first elements of a longer list, and stop where the class of a right one is asked for."""
    while page.locator("[role=option]").count() < 6:
        keys("ArrowRight")(page)
    for _ in range(6):
        shown = page.locator(".answer-string").text_content()
        keys("4" if shown in ("Miraflores", "Pedro Miguel") else "3")(page)
        if shown == "Pedro Miguel":
            return
        if shown == "Miraflores":
            keys("Enter")(page)


def upload(page: Page) -> None:
    """Add a faulty run."""
    good = (demo_folder() / "runs" / "hobby.txt").read_text(encoding="utf-8").replace(" hobby ", " heron ")
    faulty = good.replace("demo-curie-1 Warsaw", "demo-curie-99 Warsaw").replace("\n1.3 heron", "\n99.1 heron")
    page.get_by_label("Files").set_input_files(
        FilePayload(name="heron.txt", mimeType="text/plain", buffer=faulty.encode())
    )
    page.get_by_role("button", name="Check and add").click()
    page.locator(".report").first.wait_for()


def draft(page: Page) -> None:
    """Begin a series with a question."""
    if page.get_by_role("heading", name="Halley's Comet").count():
        return
    page.get_by_text("Begin a series").first.click()
    page.get_by_label("Target", exact=True).first.fill("Halley's Comet")
    page.get_by_role("button", name="Begin the series").click()
    page.get_by_role("heading", name="Halley's Comet").wait_for()
    series = page.locator(".series").first
    series.get_by_text("Add a question").click()
    series.get_by_label("Question", exact=True).fill("When was it last seen from the Earth?")
    page.keyboard.press("Enter")
    page.get_by_text("When was it last seen").first.wait_for()


def invite(page: Page) -> None:
    """Invite a person."""
    page.get_by_label("Name (optional)").fill("assessor-3")
    page.get_by_role("button", name="Make a link").click()
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    # The page reloads itself.
    page.get_by_role("cell", name="assessor-3").wait_for()
    page.wait_for_load_state("networkidle")


def shortcuts(page: Page) -> None:
    """Show the keys."""
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()


JUDGE: Final = "/judge/{assignment}"
ITEM: Final = ".decision"
RESULT: Final = "section.result"

HALF_WAY: Final[Mapping[str, Screen]] = {
    "sign-in": Screen("/sign-in", None, "#sign-in"),
    "home": Screen("/", "organiser", "main h1"),
    "work": Screen("/work", "assessor-1", "table"),
    "factoid": Screen(JUDGE, "assessor-1", ITEM, decided("4", "z", "4", "1"), phone=True, question="15.1"),
    "shortcuts": Screen(JUDGE, "assessor-1", ITEM, shortcuts, question="15.1"),
    "list": Screen(JUDGE, "assessor-1", ITEM, long_list, phone=True, question="15.6"),
    "nuggets-1": Screen(
        JUDGE + "?stage=nuggets", "assessor-1", "[role=option]", keys("ArrowDown", "ArrowDown"), True, "15.7"
    ),
    "nuggets-2": Screen(
        JUDGE + "?stage=matches", "assessor-1", "[role=option]", keys("ArrowDown", "ArrowDown", "1"), True, "1.7"
    ),
    "adjudication": Screen("/adjudication", "adjudicator", "table"),
    "adjudicate": Screen("/adjudication/question?id=13.1", "adjudicator", ".verdict", phone=True),
    "history": Screen("/history?question=15.1", "organiser", "table"),
    "assignments": Screen("/assignments", "organiser", "table"),
    "people": Screen("/people", "organiser", "table", invite),
    "account": Screen("/account", "organiser", "table"),
    "runs": Screen("/runs", "organiser", "table", upload),
    "questions": Screen("/development", "organiser", "main h1", draft),
    "search": Screen("/development/search?q=first+Director-General+of+CERN", "organiser", ".hit"),
    "document": Screen(
        "/development/document?id=demo-curie-1&find=Flying+University", "organiser", "#document-text mark"
    ),
    "gate": Screen("/results", "organiser", "main h2"),
}
FINISHED: Final[Mapping[str, Screen]] = {
    "leaderboard": Screen("/results", "organiser", RESULT),
    "units": Screen("/results/units", "organiser", RESULT),
    "agreement": Screen("/results/agree", "organiser", RESULT),
    "stability": Screen("/results/stability", "organiser", RESULT),
    "sensitivity": Screen("/results/sensitivity", "organiser", RESULT),
    "compare": Screen("/results/compare?a=badger&b=crane", "organiser", RESULT),
    "run": Screen("/results/run?run=hobby", "organiser", RESULT),
    "question": Screen("/results/question?question=1.3", "organiser", RESULT),
    "components": Screen("/components", "organiser", "main h1"),
}
EVALUATIONS: Final[Mapping[Callable[[Path], PreparedEvaluation], Mapping[str, Screen]]] = {
    evaluations.half_way: HALF_WAY,
    evaluations.finished: FINISHED,
    evaluations.passages: {"passages": Screen(JUDGE, "assessor-1", ITEM, decided("1"), question="1.3")},
    evaluations.entailment: {"entailment": Screen(JUDGE, "assessor-1", ITEM, phone=True, question="5")},
    evaluations.justifications: {
        "justifications": Screen(JUDGE, "assessor-1", "fieldset", keys("4"), phone=True, question="3")
    },
    evaluations.long_answers: {
        "support": Screen(JUDGE, "assessor-1", ".part.current", decided("1", "2", "1"), phone=True, question="r1")
    },
    evaluations.free_text: {
        "labels": Screen(JUDGE, "assessor-1", ITEM, question="q1"),
        "contexts": Screen(JUDGE + "?stage=contexts", "assessor-1", ITEM, decided("1"), question="q1"),
    },
    evaluations.definitions: {
        "holistic": Screen(JUDGE + "?stage=holistic", "assessor-1", "fieldset", keys("7"), question="1.7")
    },
}


def names() -> list[str]:
    """The files of all pictures."""
    screens = {name: screen for screens_of in EVALUATIONS.values() for name, screen in screens_of.items()}
    shown = [(name, width) for name, screen in screens.items() for width in (("", "-phone") if screen.phone else ("",))]
    return [f"{name}{width}-{theme}.webp" for name, width in [*shown, (REPORT, "")] for theme in THEMES]


def take(page: Page, name: str, *, phone: bool) -> None:
    """Take the pictures of what a page shows."""
    widths = {"": (WIDTH, TALLEST)} | ({"-phone": (PHONE, TALLEST_PHONE)} if phone else {})
    for suffix, (width, tallest) in widths.items():
        page.set_viewport_size({"width": width, "height": 400})
        page.wait_for_timeout(150)
        height = int(page.evaluate("document.documentElement.scrollHeight"))
        page.set_viewport_size({"width": width, "height": min(max(height, 400), tallest)})
        page.evaluate("scrollTo(0, 0)")
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            page.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
            page.wait_for_timeout(500)
            capture(page, f"{name}{suffix}-{theme}")


def capture(page: Page, name: str) -> None:
    """Write what the window shows as a picture."""
    picture = page.context.new_cdp_session(page).send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    (PICTURES / f"{name}.webp").write_bytes(base64.b64decode(picture["data"]))


def shoot_report(browser: Browser, place: Path) -> None:
    """Take the pictures of the first screen of a report, which is a file and needs no server."""
    written = place / "report.html"
    written.write_text(report_page(qassay.report(qassay.open(demo_folder()))), encoding="utf-8")
    context = browser.new_context(viewport={"width": WIDTH, "height": TALLEST}, locale="en-GB")
    page = context.new_page()
    page.goto(written.as_uri())
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(500)
        capture(page, f"{REPORT}-{theme}")
    context.close()


def shoot(browser: Browser, url: str, prepared: PreparedEvaluation, name: str, screen: Screen) -> None:
    """Open a screen, do what belongs to it, and take its pictures."""
    context = browser.new_context(viewport={"width": WIDTH, "height": TALLEST}, timezone_id="UTC", locale="en-GB")
    context.set_default_timeout(PATIENCE)
    if screen.who is not None:
        context.add_cookies([{"name": "qassay", "value": prepared.session(screen.who), "url": url}])
    page = context.new_page()
    number = prepared.assignment(screen.who, screen.question) if screen.who and screen.question else ""
    page.goto(url + screen.path.format(assignment=number))
    page.locator(screen.ready).first.wait_for()
    page.wait_for_load_state("networkidle")
    screen.act(page)
    page.evaluate("day => document.querySelectorAll('time').forEach((one) => (one.textContent = day))", DAY)
    # A caret that blinks is in every other picture.
    page.evaluate("document.documentElement.style.caretColor = 'transparent'")
    take(page, name, phone=screen.phone)
    context.close()


def main() -> int:
    """Take the pictures that are named, or all."""
    chosen_names = set(sys.argv[1:])
    if unknown := chosen_names - {REPORT, *(name for screens in EVALUATIONS.values() for name in screens)}:
        print(f"error: there is no screen {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    if "history" in chosen_names:
        chosen_names.add("factoid")  # whose decisions it shows
    chromium = shutil.which("chromium")
    if chromium is None:
        print("error: chromium is not installed", file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(prefix="qassay-screens-") as place:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for make, screens in EVALUATIONS.items():
            chosen = {name: screen for name, screen in screens.items() if not chosen_names or name in chosen_names}
            if not chosen:
                continue
            prepared = make(Path(place) / make.__name__)
            with served(prepared.folder) as url:
                for name, screen in chosen.items():
                    shoot(browser, url, prepared, name, screen)
                    print(f"took {name}")
            prepared.store.close()
        if not chosen_names or REPORT in chosen_names:
            shoot_report(browser, Path(place))
            print(f"took {REPORT}")
        browser.close()
    size = sum(path.stat().st_size for path in PICTURES.iterdir())
    print(f"{len(list(PICTURES.iterdir()))} pictures, {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
