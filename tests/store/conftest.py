"""What the tests of the store share: evaluations, and stores of them in both databases."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import qassay
from qassay.demo import Demo, demo_folder
from qassay.formats.folder import Folder
from qassay.store.engine import Store, open_store, using_named_database
from qassay.store.folder.importing import import_folder

SMALL: dict[str, str | list[dict[str, Any]]] = {
    "qassay.toml": 'task = "series2004"\n',
    "questions.jsonl": [
        {"id": "1.1", "type": "factoid", "text": "When was the club founded?", "series": "1", "target": "club"},
        {"id": "1.2", "type": "list", "text": "Who are its members?", "series": "1"},
        {"id": "1.3", "type": "other", "text": "", "series": "1"},
    ],
    "answers.jsonl": [{"question": "1.1", "answer": "1901", "doc": "D1"}],
    "runs/a.txt": "1.1 a D1 1901\n1.2 a D1 Ann\n1.2 a D2 Bob\n1.3 a D1 a chess club\n",
    "runs/b.txt": "1.1 b NIL\n1.2 b D1 Ann\n1.3 b D2 it plays\n",
    "runs.jsonl": [{"run": "a", "organisation": "north"}, {"run": "b", "organisation": "south", "colour": "red"}],
    "nuggets/first.jsonl": [
        {"question": "1.3", "nugget": "1", "vital": True, "text": "chess"},
        {"question": "1.3", "nugget": "2", "vital": False, "text": "plays"},
    ],
    "judgments/first.jsonl": [
        {"question": "1.1", "doc": "D1", "text": "1901", "judgment": "W", "assessor": "x"},
        {"question": "1.1", "doc": "D1", "text": "1901", "judgment": "R", "assessor": "x", "note": "after all"},
        {"question": "1.2", "run": "a", "doc": "D1", "text": "Ann", "judgment": "R", "answer": "Ann"},
        {"question": "1.2", "run": "a", "doc": "D2", "text": "Bob", "judgment": "W"},
        {"question": "1.2", "run": "b", "doc": "D1", "text": "Ann", "judgment": "R", "answer": "Ann"},
        {"question": "1.3", "run": "a", "nuggets": ["1"]},
        {"question": "1.3", "run": "b", "nuggets": ["2"]},
    ],
}


def _write(folder: Path, name: str, content: str | list[dict[str, Any]]) -> Path:
    """Write a file of an evaluation: text, or rows."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content)
    path.write_text(text, encoding="utf-8")
    return path


def _scores(folder: Path) -> dict[str, Any]:
    """Every score of an evaluation under every key, or why there is none."""
    evaluation = qassay.open(folder)
    scores: dict[str, Any] = {}
    for key in (None, *evaluation.sets, *evaluation.derived_sets):
        try:
            scores[str(key)] = evaluation.score(key, unjudged="wrong", missing="skip").as_json()
        except qassay.QassayError as error:
            scores[str(key)] = str(error).replace(str(folder), "FOLDER")
    return scores


@pytest.fixture
def write() -> Callable[[Path, str, str | list[dict[str, Any]]], Path]:
    return _write


@pytest.fixture
def scores() -> Callable[[Path], dict[str, Any]]:
    return _scores


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A small evaluation in files."""
    folder = tmp_path / "small"
    for name, content in SMALL.items():
        _write(folder, name, content)
    return folder


@pytest.fixture
def demo(tmp_path: Path) -> Callable[[Demo], Path]:
    """A copy of a built-in evaluation."""

    def copy(name: Demo) -> Path:
        return Path(shutil.copytree(demo_folder(name), tmp_path / name))

    return copy


@pytest.fixture(params=["sqlite", "postgresql"])
def in_database(request: pytest.FixtureRequest) -> Iterator[Callable[[Path], Path]]:
    """Has the store of an evaluation kept in one of the databases; the files stay as they are."""
    server = request.getfixturevalue("postgres_server") if request.param == "postgresql" else None
    made: list[str] = []

    def prepare(folder: Path) -> Path:
        if server is not None:
            made.append(server.new_database())
            path = folder / "qassay.toml"
            path.write_text(f'database = "{made[-1]}"\n' + path.read_text(encoding="utf-8"), encoding="utf-8")
        return folder

    with using_named_database():
        yield prepare
    for url in made:
        server.drop(url)


@pytest.fixture
def served(in_database: Callable[[Path], Path]) -> Iterator[Callable[[Path], Store]]:
    """Makes the store of an evaluation from its files, in one of the databases, and opens it."""
    opened: list[Store] = []

    def serve(folder: Path) -> Store:
        store = open_store(in_database(folder), create=True)
        opened.append(store)
        import_folder(store, Folder(folder))
        return store

    yield serve
    for store in opened:
        store.close()
