"""`qassay sensitivity` on score matrices and on the built-in evaluation."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from qassay.cli import main
from qassay.formats.matrix import format_matrix
from qassay.meta.simulate import simulate_runs


@pytest.fixture
def scores(tmp_path):
    """A file with the scores of 15 runs on 40 questions in 10 series, right or wrong."""
    rng = np.random.default_rng(0)
    right = rng.random((40, 15)) < np.linspace(0.2, 0.7, 15)
    lines = ["qid," + ",".join(f"run{r}" for r in range(15))]
    lines += [f"{u // 4}.{u % 4}," + ",".join(str(int(x)) for x in right[u]) for u in range(40)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def documented(capsys, *arguments):
    assert main(["sensitivity", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_of_a_file(scores, capsys):
    document = documented(capsys, scores, "--intervals", 5)
    assert (document["preset"], document["units"], document["runs"], document["trials"]) == ("default", 40, 15, 200)
    assert document["sizes"] == list(range(5, 21))
    assert (document["seed"], document["ties"], document["error"]) == (0, "stay", 0.05)
    assert len(document["bins"]) == 21


def test_same_command_same_output(scores, capsys):
    first = documented(capsys, scores, "--intervals", 4)
    assert documented(capsys, scores, "--intervals", 4) == first
    assert documented(capsys, scores, "--intervals", 4, "--seed", 1)["bins"] != first["bins"]


def test_options_reach_the_analysis(scores, capsys):
    options = ["--sizes", "3-9", "--trials", 7, "--error", 0.1, "--bin-width", 0.05, "--intervals", 0, "--ties", "half"]
    document = documented(capsys, scores, *options)
    assert document["sizes"] == list(range(3, 10))
    assert (document["trials"], document["error"], document["ties"]) == (7, 0.1, "half")
    assert document["bins"][1]["low"] == 0.05
    assert document["bins"][1]["interval"] is None
    assert documented(capsys, scores, "--preset", "trec2002", "--intervals", 0)["sizes"] == list(range(1, 21))


def test_series_and_transposed_files(scores, tmp_path, capsys):
    document = documented(capsys, scores, "--series-from", r"^([^.]+)", "--intervals", 0)
    assert document["units"] == 10
    rows = [line.split(",") for line in scores.read_text(encoding="utf-8").splitlines()]
    rows[0][0] = "run"
    turned = tmp_path / "turned.csv"
    turned.write_text("\n".join(",".join(row) for row in zip(*rows, strict=True)) + "\n", encoding="utf-8")
    straight = documented(capsys, scores, "--intervals", 0)
    assert documented(capsys, turned, "--runs-as-rows", "--intervals", 0)["bins"] == straight["bins"]


def test_the_plain_answer_comes_first(scores, capsys):
    assert main(["sensitivity", str(scores), "--intervals", "10", "--error", "0.2"]) == 0
    out, err = capsys.readouterr()
    read, blank, first, *rest = out.splitlines()
    assert (read, blank) == ("Wide table: 15 systems x 40 questions.", "")
    answer = r"With 40 new questions, a gap of about \S+ or more keeps its sign in 80 of 100 repetitions, if new "
    assert re.match(answer, first)
    assert "Whether chance alone explains the difference of two given runs is another question" in first
    text = "\n".join(rest)
    assert "How often a comparison is wrong" in text
    assert "Groups of runs" not in text
    assert "TREC papers did it" not in text
    assert "trust" not in out
    assert err == ""
    assert main(["sensitivity", str(scores), "--intervals", "10", "--fit"]) == 0
    asked = capsys.readouterr().out
    assert "The study as the TREC papers did it" in asked
    assert "* Extrapolated beyond the largest size measured, 20." in asked


def test_two_systems_are_sent_to_compare(tmp_path, capsys):
    path = tmp_path / "two.csv"
    path.write_text(format_matrix(simulate_runs((0.2, 0.6), 30, scores="binary")), encoding="utf-8")
    assert main(["sensitivity", str(path)]) == 0
    out = capsys.readouterr().out
    assert "cannot show which gaps are repeatable" in out
    assert "`qassay compare`" in out
    assert "%" not in out
    document = documented(capsys, path, "--intervals", 0)
    assert document["repeatable_difference"] is None
    assert document["minimum_difference"] == {"fit": None, "predicted": None}
    assert document["groups"] is None


def test_ratings_have_bins_of_a_hundredth_of_what_they_span(tmp_path, capsys):
    path = tmp_path / "ratings.csv"
    values = np.random.default_rng(0).integers(1, 6, (20, 3))
    values[0], values[1] = 1, 5
    lines = ["qid,a,b,c", *(f"{i},{','.join(map(str, row))}" for i, row in enumerate(values))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert documented(capsys, path, "--intervals", 0)["bin_width"] == 0.04
    assert documented(capsys, path, "--intervals", 0, "--bin-width", 0.1)["bin_width"] == 0.1


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--preset", "trec2040"], 2, "did you mean 'trec2004'?"),
        (["--sizes", "5"], 0, ""),
        (["--sizes", "5to9"], 2, "such as 5-32"),
        (["--sizes", "9-5"], 2, "larger than the last"),
        (["--sizes", "5-21"], 2, "the largest size is 20"),
        (["--ties", "drop"], 2, "--ties"),
        (["--error", "5"], 2, "between 0 and 1"),
        (["--bin-width", "0"], 2, "bin width"),
        (["--trials", "0"], 2, "--trials"),
        (["--component", "list"], 2, "--component does not apply to a table of scores"),
        (["--series-from", r"^(.)", "--preset", "trec2004"], 0, ""),
        (["--series-from", "^()"], 1, ""),
    ],
)
def test_errors_say_what_is_wrong(scores, capsys, options, status, message):
    assert main(["sensitivity", str(scores), "--intervals", "0", *options]) == status
    assert message in capsys.readouterr().err


def test_too_few_units(tmp_path, capsys):
    path = tmp_path / "few.csv"
    path.write_text("qid,a,b\n1,1,0\n2,0,1\n3,1,1\n", encoding="utf-8")
    assert main(["sensitivity", str(path), "--json"]) == 1
    out, err = capsys.readouterr()
    assert "3 questions are too few" in err
    assert json.loads(out)["errors"][0]["message"].startswith("3 questions are too few")


def test_missing_cells(tmp_path, capsys):
    text = format_matrix(simulate_runs((0.2, 0.4, 0.6), 20, scores="binary"))
    lines = text.splitlines()
    lines[5] = lines[5].rsplit(",", 1)[0] + ","
    path = tmp_path / "holes.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["sensitivity", str(path)]) == 1
    assert "run3" in capsys.readouterr().err
    assert documented(capsys, path, "--missing", "skip", "--intervals", 0)["units"] == 19
    document = documented(capsys, path, "--missing", "zero", "--intervals", 0)
    assert document["units"] == 20
    assert document["notes"]


def test_an_interrupt_ends_the_work_and_its_threads(tmp_path, capsys, monkeypatch):
    path = tmp_path / "large.csv"
    path.write_text(format_matrix(simulate_runs(np.linspace(0.2, 0.6, 80), 300, scores="binary")), encoding="utf-8")

    @contextmanager
    def interrupted(label):
        def update(done, total):
            raise KeyboardInterrupt

        yield update

    monkeypatch.setattr("qassay.cli.studying.progress", interrupted)
    before = threading.active_count()
    assert main(["sensitivity", str(path), "--intervals", "5000"]) == 130
    assert capsys.readouterr().out == ""
    assert threading.active_count() == before


def test_noise_of_identical_responses_is_a_floor_where_all_questions_are_of_one_type(tmp_path, capsys):
    folder = tmp_path / "pilot"
    for name in ("runs", "judgments", "nuggets"):
        (folder / name).mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "definition"\n', encoding="utf-8")
    numbers = [str(i) for i in range(10)]
    counts = {"A": 2, "B": 1, "C": 0}  # nuggets of question 0; A and B return the same, and were judged separately

    def write(name, rows):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    write("questions.jsonl", [{"id": q, "type": "definition", "text": "What is it?"} for q in numbers])
    write("nuggets/only.jsonl", [{"question": q, "nugget": n, "vital": True, "text": n} for q in numbers for n in "12"])
    rows = []
    for tag, first in counts.items():
        items = [{"doc": "D", "text": "same" if tag < "C" else "other"}]
        write(f"runs/{tag}.jsonl", [{"run": tag, "question": q, "items": items} for q in numbers])
        rows += [{"question": q, "run": tag, "nuggets": ["1", "2"][: first if q == "0" else 1]} for q in numbers]
    write("judgments/only.jsonl", rows)
    document = documented(capsys, folder, "--intervals", 0)
    recall_half = 26 * 0.5 / (25 + 0.5)
    assert document["floor"] == pytest.approx((1 - recall_half) / 10)
    assert documented(capsys, folder, "--intervals", 0, "--measure", "nugget_f(beta=1)")["floor"] is None
