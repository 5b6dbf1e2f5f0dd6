"""Nuggets of two lists are the same only where their texts are; other judgments are not compared, in any door."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import qassay
from on_disk import write
from qassay.cli import main

TOPICS, NUGGETS = 20, 4


@pytest.fixture(params=["support", "match"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def evaluation(place: Path, kind: str, *, shared: int) -> Path:
    """Two runs judged by two people, whose lists have the same numbers and this many texts in common per question."""
    place.mkdir()
    type_ = "other" if kind == "support" else "definition"
    (place / "qassay.toml").write_text(f'task = "{"nuggets" if kind == "support" else "definition"}"\n')
    topics = [f"t{topic}" for topic in range(TOPICS)]
    write(place / "questions.jsonl", [{"id": topic, "type": type_, "text": f"{topic}?"} for topic in topics])
    for run in "ab":
        rows = [{"run": run, "question": topic, "items": [{"text": f"{run} of {topic}."}]} for topic in topics]
        write(place / "runs" / f"{run}.jsonl", rows)
    for person in ("ann", "bob"):
        nuggets, rows = [], []
        for topic in topics:
            for n in range(NUGGETS):
                text = f"fact {n} of {topic}" + ("" if n < shared else f" by {person}")
                nuggets.append({"question": topic, "nugget": str(n), "vital": True, "text": text})
            for run in "ab":
                # They agree on what their lists share, and on nothing else.
                has = [str(n) for n in range(NUGGETS) if n < shared or person == "ann"]
                if kind == "match":
                    rows.append({"question": topic, "run": run, "nuggets": has})
                else:
                    labels = [(str(n), "full" if str(n) in has else "none") for n in range(NUGGETS)]
                    subject = {"question": topic, "run": run}
                    rows += [{**subject, "nugget": nugget, "support": label} for nugget, label in labels]
        write(place / "nuggets" / f"{person}.jsonl", nuggets)
        write(place / "judgments" / f"{person}.jsonl", rows)
    return place


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([*map(str, arguments)]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("shared", [0, 3])
def test_every_door_compares_what_the_lists_share_and_says_that_they_differ(
    shared: int, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = evaluation(tmp_path / "rag", kind, shared=shared)
    opened = qassay.open(place)
    numbers = f"{shared * TOPICS:,} of 80 and 80 nuggets are in both"
    items = shared * TOPICS * 2
    agreed = 1.0 if shared else None

    study = qassay.agreement(opened, resamples=0)
    compared = [kind for kind in study if kind.items]
    assert [(kind.items, kind.raw) for kind in compared] == ([(items, 1.0)] if shared else [])
    judged = qassay.trust(opened, "ann", "bob", resamples=0)
    assert (judged.items, judged.agreement) == (items, agreed)

    trust = ("trust", place, "--assessor", "ann", "--against", "bob", "--resamples", 0)
    documents: dict[str, Any] = {
        "agree": json.loads(printed(capsys, "agree", place, "--json")),
        "trust": json.loads(printed(capsys, *trust, "--json")),
    }
    for door, document in documents.items():
        assert any(numbers in note for note in document["notes"]), door
        (lists,) = document["nugget_lists"]
        assert (lists["nuggets"], lists["both"]) == ([80, 80], shared * TOPICS), door
    report = tmp_path / "report.md"
    assert main(["report", str(place), "--key", "ann", "--to", str(report)]) == 0
    texts = {"agree": printed(capsys, "agree", place), "trust": printed(capsys, *trust), "report": report.read_text()}
    for door, text in texts.items():
        assert numbers in text, door
        assert "on the questions of both" in text, door


def test_equal_lists_are_compared_as_before(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = evaluation(tmp_path / "rag", kind, shared=NUGGETS)
    judged = qassay.trust(qassay.open(place), "ann", "bob", resamples=0)
    assert (judged.items, judged.agreement) == (TOPICS * NUGGETS * 2, 1.0)
    assert "lists of ann and bob" not in printed(
        capsys, "trust", place, "--assessor", "ann", "--against", "bob", "--resamples", 0
    )


def test_labels_of_another_list_correct_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = evaluation(tmp_path / "rag", "support", shared=0)
    assert main(["sample", str(place), "--size", "40", "--for", "ann"]) == 0
    assert main(["score", str(place), "--key", "ann", "--correct-with", "bob"]) == 2
    assert "0 of 80 and 80 nuggets are in both; labels of one list cannot correct" in capsys.readouterr().err
