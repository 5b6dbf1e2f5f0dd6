"""Where the scores of a command come from: a file or a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from qassay.cli.inputs import ScoringOptions
from qassay.errors import InputError, UsageError


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text("qid,A,B\n1.1,1,0\n1.2,0,\n2.1,1,1\n", encoding="utf-8")
    return path


def test_a_file_is_a_score_matrix(scores: Path) -> None:
    with pytest.raises(InputError, match=r"row 1\.2, column B"):
        ScoringOptions().read([scores])
    matrix = ScoringOptions(missing="zero", series_from=r"^(\d+)").read([scores]).matrix
    assert (matrix.units, matrix.unit_name) == (("1", "2"), ("series", "series"))
    assert len(matrix.notes) == 2
    with pytest.raises(UsageError, match="chosen with --metric NAME"):
        ScoringOptions(measure="accuracy").read([scores])


def test_options_of_a_folder_do_not_apply_to_a_file(scores: Path) -> None:
    with pytest.raises(UsageError, match="--key and --unjudged do not apply to a table of scores"):
        ScoringOptions(key="first", unjudged="wrong").read([scores])
    with pytest.raises(UsageError, match="--component does not apply"):
        ScoringOptions(component="list").read([scores])


def test_options_of_a_file_do_not_apply_to_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--runs-as-rows and --series-from do not apply to a folder"):
        ScoringOptions(runs_as_rows=True, series_from="(x)").read([tmp_path])


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ScoringOptions().read([tmp_path / "none.csv"])


def entailment(folder: Path) -> Path:
    """The smallest evaluation there is: three pairs, two runs, one key."""
    (folder / "runs").mkdir(parents=True)
    (folder / "judgments").mkdir()
    (folder / "qassay.toml").write_text('task = "entailment3"\n', encoding="utf-8")
    pairs = [f'{{"id": "{i}", "type": "pair", "text": "t", "hypothesis": "h"}}' for i in (1, 2, 3)]
    (folder / "questions.jsonl").write_text("\n".join(pairs) + "\n", encoding="utf-8")
    key = [f'{{"question": "{i}", "judgment": "{label}"}}' for i, label in ((1, "YES"), (2, "NO"), (3, "UNKNOWN"))]
    (folder / "judgments" / "adjudicated.jsonl").write_text("\n".join(key) + "\n", encoding="utf-8")
    for tag, labels in (("good", "YES NO UNKNOWN"), ("bad", "YES YES YES")):
        lines = [f"{i} {label}" for i, label in enumerate(labels.split(), 1)]
        (folder / "runs" / f"{tag}.txt").write_text("\n".join(["ranked: no", *lines]) + "\n", encoding="utf-8")
    return folder


def test_a_folder_is_scored(tmp_path: Path) -> None:
    matrix = ScoringOptions().read([entailment(tmp_path / "evaluation")]).matrix
    assert dict(zip(matrix.runs, matrix.scores().tolist(), strict=True)) == {"good": 1.0, "bad": pytest.approx(1 / 3)}
    assert matrix.units == ("1", "2", "3")
