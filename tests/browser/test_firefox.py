"""The main road in Debian's Firefox, at the width of a desk and of a phone."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Make = Callable[..., Any]
ROAD = Path(__file__).with_name("firefox_road.mjs")
ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a long enough password"
MODULES = ROOT / ".venv" / "firefox" / "node_modules"


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 360])
def test_from_signing_in_to_the_results(width: int, make_evaluation: Make, serve: Make) -> None:
    firefox, node = shutil.which("firefox-esr"), shutil.which("node")
    if firefox is None or node is None or not (MODULES / "puppeteer-core").exists():
        pytest.skip("Firefox, Node.js or puppeteer-core is not installed (make soak)")
    without = ("judgments", "nuggets", "answers.jsonl")  # a verdict against a known answer asks first
    evaluation = make_evaluation("series", "1.1", "1.3", "5.1", task="confidence", without=without)
    evaluation.give_out("Ada", "Ben", assessors=2)
    server = serve(evaluation.folder)
    order = {"modules": str(MODULES), "browser": firefox, "address": server.url, "password": PASSWORD, "width": width}
    ended = subprocess.run([node, str(ROAD), json.dumps(order)], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-3000:]
    seen = json.loads(ended.stdout)
    assert (seen["odd"], seen["overflow"]) == ([], [])
    rows = [*evaluation.rows("first"), *evaluation.rows("second")]
    for name, judged in seen["judged"].items():
        stored = [[row["text"], {"W": "1", "R": "4"}[row["judgment"]]] for row in rows if row["assessor"] == name]
        assert sorted(stored) == sorted(judged)
    disputed = [text for text, key in seen["judged"]["Ben"] if key == "4"]
    assert seen["ruled"] == len(disputed) > 0
    assert {row["judgment"] for row in evaluation.rows("adjudicated")} == {"W"}
