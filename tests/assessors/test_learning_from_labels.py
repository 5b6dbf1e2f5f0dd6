"""A program that has seen labels of the same questions is not corrected by them, whatever its set is called."""

from __future__ import annotations

import inspect
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

import qassay
from on_disk import write
from qassay.assessors import _FACTORIES
from qassay.cli import main
from qassay.evaluation.learning import learned_from

RUNS, TOPICS, NUGGETS = 5, 16, 4
HITS = "learned(people=ada,hits=true)"
SEEN = "use what people said of the same questions"


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nuggets that responses have or not, all judged by ada; the words of a response tell it often."""
    place = tmp_path_factory.mktemp("labelled") / "rag"
    place.mkdir()
    (place / "qassay.toml").write_text('task = "nuggets"\n')
    drawn = random.Random(3)
    topics = [f"t{topic}" for topic in range(TOPICS)]
    texts = {(topic, n): " ".join(drawn.sample(WORDS, 6)) for topic in topics for n in range(NUGGETS)}
    write(place / "questions.jsonl", [{"id": topic, "type": "other", "text": f"{topic}?"} for topic in topics])
    listed = [{"question": t, "nugget": str(n), "text": text, "vital": True} for (t, n), text in texts.items()]
    write(place / "nuggets" / "development.jsonl", listed)
    labels = []
    for run in (f"run{number}" for number in range(RUNS)):
        responses = []
        for topic in topics:
            has = [drawn.random() < 0.5 for _ in range(NUGGETS)]
            told = [drawn.random() < (0.8 if has[n] else 0.2) for n in range(NUGGETS)]
            parts = [texts[topic, n][:30] if told[n] else " ".join(drawn.sample(WORDS, 5)) for n in range(NUGGETS)]
            responses.append({"run": run, "question": topic, "items": [{"text": ". ".join(parts)}]})
            labels += [
                {"question": topic, "run": run, "nugget": str(n), "support": "full" if has[n] else "none"}
                for n in range(NUGGETS)
            ]
        write(place / "runs" / f"{run}.jsonl", responses)
    write(place / "judgments" / "ada.jsonl", labels)
    assert main(["judge", str(place), "--with", "overlap"]) == 0
    assert main(["sample", str(place), "--size", "32", "--for", "overlap", "--name", "drawn"]) == 0
    return place


WORDS = [f"w{number}" for number in range(300)]


@pytest.fixture
def rag(labelled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(labelled, tmp_path / "rag"))


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Exit status and error of a command."""
    capsys.readouterr()
    return main([*map(str, arguments)]), capsys.readouterr().err


def refused_everywhere(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    corrected = ("--key", name, "--correct-with", "ada", "--sample", "drawn")
    for arguments in (
        ("score", folder, *corrected),
        ("compare", folder, *corrected),
        ("compare", folder, "run0", "run1", *corrected, "--gate"),
        ("sample", folder, "--size", 32, "--for", name, "--name", "other"),
    ):
        status, message = said(capsys, *arguments)
        assert (status, SEEN in message) == (2, True), message
    with pytest.raises(qassay.UsageError, match=SEEN):
        qassay.open(folder).score(name, correct_with="ada", sample="drawn")
    assert not (folder / "samples" / "other.jsonl").exists()


def test_a_judge_that_uses_the_labels_is_refused_under_any_name(rag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", str(rag), "--with", HITS, "--set", "J"]) == 0
    refused_everywhere(rag, "J", capsys)
    # Rows that were moved to another evaluation's set, or into that of another program.
    shutil.copy(rag / "judgments" / "J.jsonl", rag.parent / "rows.jsonl")
    (rag / "judgments" / "J.jsonl").unlink()
    assert main(["import", str(rag), str(rag.parent / "rows.jsonl"), "--set", "imported"]) == 0
    refused_everywhere(rag, "imported", capsys)
    panel = [json.loads(line) for line in (rag / "judgments" / "overlap.jsonl").read_text().splitlines()]
    panel[7] = {**panel[7], "trace": {"assessor": "mine", "learned_from": "ada"}}
    write(rag / "judgments" / "panel.jsonl", panel)
    refused_everywhere(rag, "panel", capsys)
    capsys.readouterr()
    assert main(["trust", str(rag), "--assessor", "imported", "--resamples", "0"]) == 0
    assert "as a judge of new runs, not of new questions" in " ".join(capsys.readouterr().out.split())


def test_a_set_of_a_program_with_rows_of_people_is_refused(rag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [rag / "judgments" / f"{name}.jsonl" for name in ("overlap", "ada")]
    lines = [file.read_text().splitlines(keepends=True) for file in files]
    corrected = ("score", rag, "--key", "panel", "--correct-with", "ada", "--sample", "drawn")
    (rag / "judgments" / "panel.jsonl").write_text("".join(lines[0] + lines[1][:40]))
    status, message = said(capsys, *corrected)
    assert (status, "40 verdicts of panel have no trace, as those of people" in message) == (2, True)
    # What the program said later is current.
    (rag / "judgments" / "panel.jsonl").write_text("".join(lines[1][:40] + lines[0]))
    assert said(capsys, *corrected) == (0, "")


def test_a_cross_fitted_judge_is_corrected_and_old_verdicts_do_not_count(
    rag: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge", str(rag), "--with", HITS, "--set", "J"]) == 0
    assert main(["judge", str(rag), "--with", "learned(people=ada)", "--set", "J", "--again"]) == 0
    corrected = ("score", rag, "--key", "J", "--correct-with", "ada", "--sample", "drawn", "--json")
    assert said(capsys, *corrected) == (0, "")


@pytest.mark.parametrize("key", ["overlap+J", "ada+overlap", "majority:overlap,J,ada", "majority:ada,overlap"])
def test_panels_are_refused(key: str, rag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", str(rag), "--with", HITS, "--set", "J"]) == 0
    status, message = said(capsys, "score", rag, "--key", key, "--correct-with", "ada", "--sample", "drawn")
    assert (status, "has no interval. To correct one: --key SET" in message) == (2, True)


@pytest.mark.parametrize("assessor", ["match", "recall", "learned"])
def test_an_answer_that_an_assessor_noted_while_judging_is_known_to_no_program(assessor: str, tmp_path: Path) -> None:
    place = tmp_path / "short"
    place.mkdir()
    (place / "qassay.toml").write_text('task = "confidence"\n')
    ids = ("1", "2")
    write(place / "questions.jsonl", [{"id": name, "type": "factoid", "text": f"{name}?"} for name in ids])
    items = [{"doc": "D", "text": "Warsaw"}]
    write(place / "runs" / "a.jsonl", [{"run": "a", "question": name, "items": items} for name in ids])
    noted = {"question": "2", "answer": "Warsaw", "assessor": "ada"}
    write(place / "answers.jsonl", [{"question": name, "answer": "Kraków"} for name in ids] + [noted])
    assert main(["judge", str(place), "--with", assessor, "--set", "J"]) == 0
    judged = [json.loads(line) for line in (place / "judgments" / "J.jsonl").read_text().splitlines()]
    assert [(row["question"], row["judgment"]) for row in judged] == [("1", "W"), ("2", "W")]


def test_every_assessor_that_learns_is_known_by_its_spelling() -> None:
    teaching = {"people", "judged", "hits"}
    cross_fitted = {("learned", "people"), ("embedding", "people")}
    for name, factory in _FACTORIES.items():
        for parameter in inspect.signature(factory).parameters:
            value = "true" if parameter == "hits" else "ada"
            expected = parameter in teaching and (name, parameter) not in cross_fitted
            assert (learned_from({"assessor": f"{name}({parameter}={value})"}) is not None) is expected


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ({"assessor": "embedding(model=m,people=ada,hits=true)"}, "ada"),
        ({"assessor": "learned(hits=true)"}, "people"),
        ({"assessor": "match", "copied_from": "ada"}, "ada"),
        ({"assessor": "python judge.py --people=ada"}, None),
        ({}, None),
    ],
)
def test_what_a_trace_says(trace: dict[str, Any], expected: str | None) -> None:
    assert learned_from(trace) == expected
