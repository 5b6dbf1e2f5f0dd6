"""Large jobs: the journal becomes the file of the set, in flat memory, and nothing is written twice."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

import qassay
from qassay.assessors import Case, judging
from qassay.cli import main
from qassay.formats.files import append_file


def _folder(place: Path, questions: int) -> Path:
    """A `qa` evaluation with one answer to each question."""
    (place / "runs").mkdir(parents=True)
    (place / "qassay.toml").write_text('task = "qa"\n')
    asked = ({"id": f"q{n}", "type": "qa", "text": f"{n}?", "gold": [f"answer {n}"]} for n in range(questions))
    (place / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    _answer(place, "a", questions)
    return place


def _answer(place: Path, run: str, questions: int) -> None:
    texts = (f"answer {n}" if n % 2 else f"answer {n} of {run}" for n in range(questions))
    rows = ({"run": run, "question": f"q{n}", "items": [{"text": text}]} for n, text in enumerate(texts))
    (place / "runs" / f"{run}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def lines(folder: Path, name: str) -> list[str]:
    return (folder / "judgments" / f"{name}.jsonl").read_text().splitlines()


def test_a_file_is_appended_whole(tmp_path: Path) -> None:
    target, more = tmp_path / "sets" / "all.jsonl", tmp_path / "more"
    for text, expected in (("a\n", "a\n"), ("b", "a\nb"), ("c\n", "a\nb\nc\n"), ("", "a\nb\nc\n")):
        more.write_text(text)
        append_file(target, more)
        assert target.read_text() == expected
        assert not more.exists()
    assert [path.name for path in target.parent.iterdir()] == ["all.jsonl"]


def test_new_judgments_are_added_behind_those_of_the_set(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "qa", 30)
    qassay.judge(qassay.open(folder), "match")
    first = lines(folder, "match")
    _answer(folder, "b", 30)
    done = qassay.judge(qassay.open(folder), "match")
    assert (done.judged, done.known) == (15, 30)
    assert lines(folder, "match")[:30] == first
    assert len(lines(folder, "match")) == 45
    assert qassay.open(folder).score("match").runs[0].score == 0.5
    # Judged again, equal verdicts are not repeated.
    qassay.judge(qassay.open(folder), "match", again=True)
    assert len(lines(folder, "match")) == 45
    assert main(["check", str(folder)]) == 0


def test_a_journal_that_was_added_before_the_end_is_not_added_twice(tmp_path: Path) -> None:
    """The machine stops after the set was written and before the journal was removed."""
    folder = _folder(tmp_path / "qa", 20)
    qassay.judge(qassay.open(folder), "match")
    written = lines(folder, "match")
    (folder / ".judging-match.jsonl").write_text("".join(f"{line}\n" for line in written[12:]))
    done = qassay.judge(qassay.open(folder), "match")
    assert done.resumed == 8
    assert lines(folder, "match") == written
    assert not list(folder.glob(".judging-*"))


def test_the_file_is_the_one_that_an_import_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rag = tmp_path / "rag"
    assert main(["demo", "--which", "rag", "--to", str(rag)]) == 0
    qassay.judge(qassay.open(rag), "overlap", set_name="fast")
    monkeypatch.setattr(judging, "append_file", lambda *_: pytest.fail("not this way"))
    real = judging._import

    def slowly(*arguments: object, new: bool) -> None:
        real(*arguments, new=False)  # type: ignore[arg-type]

    monkeypatch.setattr(judging, "_import", slowly)
    qassay.judge(qassay.open(rag), "overlap", set_name="slow")
    assert lines(rag, "fast") == lines(rag, "slow")
    for name in ("fast", "slow"):
        assert (rag / "nuggets" / f"{name}.jsonl").read_text() == (rag / "nuggets" / "fast.jsonl").read_text()


def _peak(folder: Path) -> float:
    """Megabytes of Python objects at most while judging."""
    evaluation = qassay.open(folder)
    assert evaluation.runs.tags

    def judge(case: Case) -> str:
        return "correct" if case.text in case.question.gold else "incorrect"

    tracemalloc.start()
    try:
        qassay.judge(evaluation, judge, set_name="mine")
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_pool(tmp_path: Path) -> None:
    small, large = (_folder(tmp_path / str(size), size) for size in (500, 4_000))
    _peak(small)
    (small / "judgments" / "mine.jsonl").unlink()
    # A row as a dictionary takes about a kilobyte; 3,500 of them would be more than three megabytes.
    assert _peak(large) < _peak(small) + 1.5
    assert len(lines(large, "mine")) == 4_000
