"""The report of 70 runs x 500 questions: seconds for the whole command, size of the file, first paint in Chromium."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.rows import Row
from benchmarks.significance import QASSAY, simulated
from qassay.formats.matrix import write_matrix

RUNS, QUESTIONS = 70, 500
CHROMIUM = "/usr/bin/chromium"


def reports() -> list[Row]:
    """Every row of this file."""
    with tempfile.TemporaryDirectory(prefix="qassay-report-") as place:
        folder = Path(place)
        write_matrix(simulated(RUNS, QUESTIONS), folder / "scores.csv")
        begin = time.perf_counter()
        subprocess.run([QASSAY, "report", "scores.csv"], cwd=folder, check=True, capture_output=True)
        seconds = time.perf_counter() - begin
        page = folder / "report.html"
        size = page.stat().st_size / 1e6
        name = f"report, {RUNS} runs x {QUESTIONS} questions"
        return [
            Row(name, seconds, None, None, f"one file of {size:.2f} MB"),
            Row("its first paint", first_paint(page), None, None, "opened from disk"),
        ]


def first_paint(page: Path) -> float | None:
    """Seconds until something is seen; None where there is no Chromium."""
    if not Path(CHROMIUM).exists():
        return None
    from playwright.sync_api import sync_playwright

    script = "performance.getEntriesByName('first-contentful-paint').map(entry => entry.startTime)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page()
        opened.goto(page.as_uri())
        opened.wait_for_timeout(500)
        painted: list[float] = opened.evaluate(script)
        browser.close()
    return painted[0] / 1000 if painted else None
