"""Where a page of results cannot be computed, it says why in a sentence and offers what to do."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from qassay.demo import demo_folder
from qassay.web.results.views import VIEWS

PAGES = [view.path for view in VIEWS if view.study.tab is not None]


def buttons(page: str) -> dict[str, str]:
    """The buttons below the reason, by what is on them."""
    (reason,) = re.findall(r'<section class="notice warn refused">(.*?)</section>', page, re.DOTALL)
    links = re.findall(r'<a class="button[^"]*" href="([^"]*)"><bdi>(.*?)</bdi></a>', reason)
    return {unescape(label): unescape(address) for address, label in links}


@pytest.fixture(scope="module")
def two_sets(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], Any]) -> Any:
    """Two assessors, and nothing adjudicated."""
    folder = tmp_path_factory.mktemp("sets") / "rag"
    shutil.copytree(demo_folder("rag"), folder)
    for kind in ("judgments", "nuggets"):
        (folder / kind / "adjudicated.jsonl").unlink()
    return serve(folder)


def test_of_several_judgment_sets_one_is_chosen_with_a_button(two_sets: Any) -> None:
    offered = buttons(two_sets.html("/results"))
    assert offered["Use judgments: first"] == "/results?key=first"
    assert offered["Use judgments: second"] == "/results?key=second"
    assert two_sets.page("/results", key="first")["state"] == "found"
    # The reason has the name of no folder in front, and the settings are not unfolded above it.
    assert "There are several judgment sets and none is adjudicated" in two_sets.html("/results")


def test_unjudged_items_are_left_out_or_counted_with_a_button(demos: Any) -> None:
    offered = buttons(demos["series"].html("/results", key="third"))
    assert offered["Leave unjudged questions out"] == "/results?key=third&unjudged=drop"
    assert offered["Count unjudged items as wrong"] == "/results?key=third&unjudged=wrong"
    assert offered["Use judgments: adjudicated"] == "/results?key=adjudicated"


@pytest.mark.parametrize("path", PAGES)
def test_an_evaluation_without_questions_shows_every_page(
    path: str, tmp_path: Path, serve: Callable[[Path], Any]
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "qassay.toml").write_text('name = "Empty"\ntask = "qa"\n')
    page = serve(tmp_path).html(path)
    assert buttons(page) == {"Open Questions": "/development"}
    assert "There are no questions yet; write and publish them on the page Questions." in page
