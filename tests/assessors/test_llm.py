"""A language model as an assessor: over real HTTP, with a server that says what a script makes it say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import qassay
from benchmarks.model_server import ModelServer, Said, data_of, number_of_decisions, serving
from qassay.cli import main

CITIES = ("Paris", "London", "Rome", "Oslo", "Bern", "Kiev")
NUMBER = 30


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def rows(folder: Path, name: str = "m") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "judgments" / f"{name}.jsonl").read_text().splitlines()]


def qa(place: Path, number: int = NUMBER) -> Path:
    """Free-text answers, all different, half of them right."""
    place.mkdir()
    (place / "qassay.toml").write_text('task = "qa"\n')
    asked = [{"id": f"q{n}", "type": "qa", "text": f"City {n}?", "gold": [CITIES[n % 6]]} for n in range(number)]
    write(place / "questions.jsonl", asked)
    said = [f"It is {CITIES[(n + n % 2) % 6]}, number {n}" for n in range(number)]
    answers = [{"run": "a", "question": f"q{n}", "items": [{"text": text}]} for n, text in enumerate(said)]
    write(place / "runs" / "a.jsonl", answers)
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return qa(tmp_path / "qa")


def by_gold(request: dict[str, Any]) -> dict[str, str]:
    """What an honest model says: right if the gold answer is in the answer."""
    shown = data_of(request)
    return {"reason": "looked", "judgment": "correct" if shown["gold"] in shown["answer"] else "incorrect"}


def judge(folder: Path, server: ModelServer, *options: str, **settings: Any) -> int:
    given = "".join(f", {name}={value}" for name, value in settings.items())
    return main(["judge", str(folder), "--with", f"llm(model=m, endpoint={server.url}{given})", *options])


def test_a_model_judges_and_the_trace_tells_how(folder: Path) -> None:
    with serving(by_gold) as server:
        assert judge(folder, server, price="1/2") == 0
    judged = rows(folder)
    assert len(judged) == NUMBER == server.calls
    assert all((row["judgment"] == "correct") == (int(row["question"][1:]) % 2 == 0) for row in judged)
    trace = judged[0]["trace"]
    assert json.loads(trace["raw"])["judgment"] == judged[0]["judgment"]
    assert trace["model"] == "m"
    assert trace["parameters"] == {"temperature": 0.0, "max_tokens": 1024}
    assert trace["cost"] == pytest.approx((trace["tokens"]["input"] + 2 * trace["tokens"]["output"]) / 1e6)
    kept = json.loads((folder / ".models" / "prompts" / f"{trace['prompt']}.json").read_text())
    assert "free text" in kept["system"]
    assert "m" not in qassay.open(folder).assessor_sets
