"""What tests of systems share: small collections, the built-in one, and questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

import qassay
from qassay.collections import Collection, open_collection
from qassay.questions import Question, TestSet
from qassay.systems import Answer, Asked


@pytest.fixture
def collect(tmp_path: Path) -> Callable[..., Collection]:
    """A collection of documents D1, D2, ... with the given texts."""
    number = count()

    def make(*texts: str) -> Collection:
        folder = tmp_path / f"documents{next(number)}"
        folder.mkdir()
        rows = [{"id": f"D{place}", "text": text} for place, text in enumerate(texts, 1)]
        (folder / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return open_collection(folder)

    return make


@pytest.fixture(scope="session")
def demo_documents() -> Collection:
    """The collection of the built-in evaluation."""
    return open_collection(qassay.demo_folder() / "collection")


@pytest.fixture
def ask() -> Callable[..., Answer]:
    """Put one question to a system."""

    def asking(system: Callable[[Asked], Answer], text: str, kind: str = "factoid", **more: object) -> Answer:
        history = more.pop("history", ())
        return system(Asked(Question("1", kind, text, **more), tuple(history)))  # type: ignore[arg-type]

    return asking


@pytest.fixture
def two_series() -> TestSet:
    """Two series of three questions, and a question that is in none."""
    made = []
    for series in ("1", "2"):
        made += [
            Question(f"{series}.1", "factoid", f"first of {series}?", series, f"target {series}"),
            Question(f"{series}.2", "list", f"second of {series}?", series, f"target {series}"),
            Question(
                f"{series}.3", "other", "", series, f"target {series}", definition="secret", extra={"key": "secret"}
            ),
        ]
    return TestSet((*made, Question("9", "factoid", "alone?")))
