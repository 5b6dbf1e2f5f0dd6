"""What the tests of judging sheets share: an evaluation, its sheet opened from the file, what is saved."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from qassay.cli import main
from qassay.demo import demo_folder

Make = Callable[..., Any]
NO_SERVER = SimpleNamespace(url="file://")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The demo, with one nugget list: the one of its key."""
    folder = Path(shutil.copytree(demo_folder(), tmp_path / "eval"))
    for path in (folder / "nuggets").iterdir():
        if path.stem != "adjudicated":
            path.unlink()
    return folder


@pytest.fixture
def sheet(visit: Make, tmp_path: Path) -> Callable[..., Page]:
    """`sheet(folder, "--questions", "1")`: Ada's sheet, opened from its file without a network."""

    def make(folder: Path, *options: str, **context: Any) -> Page:
        file = tmp_path / "ada.html"
        if not file.exists():
            assert main(["sheet", str(folder), "--assessor", "ada", "--to", str(file), *options]) == 0
        page: Page = visit(NO_SERVER, **context)
        page.context.set_offline(True)
        page.goto(file.as_uri())
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        return page

    return make


@pytest.fixture
def handed(tmp_path: Path) -> Callable[[Page], Path]:
    """`handed(page)`: the file that a sheet saves by its key."""

    def save(page: Page) -> Path:
        to = tmp_path / f"back-{len(list(tmp_path.glob('back-*')))}.jsonl"
        with page.expect_download() as download:
            page.keyboard.press("s")
        download.value.save_as(to)
        return to

    return save
