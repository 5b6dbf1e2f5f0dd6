"""No results page speaks of options of a command: whatever the library says of them has words for the page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import qassay
from qassay.formats.folder import Folder
from qassay.formats.parts import Contents
from qassay.web.errors import _HERE, _PAGES, for_page, on_page
from qassay.web.pages import NAVIGATION
from qassay.web.results.views import tabs

HERE = Path(qassay.__file__).parent
# What results pages are computed by.
COMPUTING = (
    "scoring",
    "judging",
    "meta",
    "measures",
    "analysis",
    "tally",
    "evaluation*",
    "nuggets.py",
    "matrix.py",
)
OPTION = re.compile(r"--[a-z]")


def sentences(path: Path) -> Iterator[str]:
    """The texts in a file that name an option, with a word in place of what is put into them; not its docstrings."""
    tree = ast.parse(path.read_text())
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(value.value if isinstance(value, ast.Constant) else "word" for value in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described | within:
            text = node.value
        if OPTION.search(text):
            yield text


def texts_with_options() -> list[str]:
    places = [place for pattern in COMPUTING for place in HERE.glob(pattern)]
    files = [path for place in places for path in (place.rglob("*.py") if place.is_dir() else [place])]
    files = [path for path in files if path.name != "reporting.py"]  # it writes commands, for people to repeat
    return [text for path in sorted(files) for text in sentences(path)]


def test_pages_are_named_as_people_see_them() -> None:
    """A tab with a single page shows the question of the tab, and no label of the page."""
    seen = {entry.label for entry in NAVIGATION} | set(tabs())
    assert seen.issuperset(_PAGES)
    named = [name for words in _HERE.values() for name in re.findall(r"the page ([A-Z]\w+)", words)]
    assert set(named) == set(_PAGES)


@pytest.mark.parametrize("text", texts_with_options())
def test_options_have_words_of_the_page(text: str) -> None:
    assert not OPTION.search(on_page(text))


def test_there_are_options_to_say_otherwise() -> None:
    assert len(texts_with_options()) > 5


def test_questions_that_are_not_published_are_not_published_by_a_command() -> None:
    drafts = Folder(Path("/x"), Contents({}, drafts=2)).unpublished()
    assert drafts is not None
    assert for_page(drafts).message == ("has 2 drafts that are not published yet; publish them on the page Questions")
