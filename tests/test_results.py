"""What every result offers in Python: a sentence, tables, HTML, data frames; the figures in all of them agree."""

from __future__ import annotations

import html.parser
import inspect
import json
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import qassay
import typed_api
from qassay.errors import UsageError
from qassay.evaluation import Evaluation
from qassay.frames import NO_PANDAS
from qassay.matrix import ScoreMatrix
from qassay.meta.significance import AllPairs
from qassay.results import Result
from qassay.tables import ROWS_AS_HTML, Column, table

NAMES = (
    *("Scores", "ScoreMatrix", "Leaderboard", "PairComparison", "AllPairs", "SensitivityCurves", "Plan", "Description"),
    *("ControlComparison", "AgreementStudy", "Agreement", "Stability", "Reuse", "Facts"),
)
ANALYSES = (
    *("leaderboard", "compare", "compare_all", "sensitivity", "plan", "describe", "agreement", "stability", "reuse"),
    "facts",
)
NEW, OLD = [1, 1, 0, 1, 1, 1, 0.5, 1, 1, 0], [0, 1, 0, 1, 0, 1, 0, 1, 0, 0.25]


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return qassay.open(qassay.demo_folder())


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """One result of every analysis, by the name of its class."""
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    rows = [f"q{number},{new},{old}" for number, (new, old) in enumerate(zip(NEW, OLD, strict=True))]
    path.write_text("\n".join(["id,new,old", *rows]))
    return {type(result).__name__: result for result in typed_api.results(qassay.demo_folder(), path)}


def matrix(*runs: str, seed: int = 1) -> ScoreMatrix:
    values = np.random.default_rng(seed).random((len(runs), 12))
    return ScoreMatrix(runs, tuple(f"q{number}" for number in range(12)), values)


class Texts(html.parser.HTMLParser):
    """The tags of a piece of HTML, and the texts between them; it must be balanced."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(markup)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


# Every result


def test_every_analysis_has_its_result(results: dict[str, Result]) -> None:
    assert set(results) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_repr_is_one_line_with_the_answer(results: dict[str, Result], name: str) -> None:
    shown = repr(results[name])
    assert shown == f"{name}: {results[name].sentence()}"
    assert "\n" not in shown
    assert 30 < len(shown) < 220


@pytest.mark.parametrize("name", NAMES)
def test_print_shows_all_tables(results: dict[str, Result], name: str) -> None:
    printed = str(results[name])
    assert results[name].tables()
    assert all(str(part) in printed for part in results[name].tables())


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_sentence_and_tables(results: dict[str, Result], name: str) -> None:
    result = results[name]
    seen = Texts(result._repr_html_())
    assert seen.tags <= {"style", "div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert result.sentence() in seen.texts
    for part in result.tables():
        assert part.title in seen.texts
        assert {cell for row in part.cells()[:ROWS_AS_HTML] for cell in row if cell} <= set(seen.texts)
        assert set(part.notes) <= set(seen.texts)


@pytest.mark.parametrize("name", NAMES)
def test_data_frames_have_numbers(results: dict[str, Result], name: str) -> None:
    frame = results[name].to_polars()
    assert frame.height
    assert sum(kind.is_numeric() for kind in frame.dtypes) >= 2
    for column in frame.select(pl.selectors.string()).drop("unit", strict=False):
        assert column.cast(pl.Float64, strict=False).null_count() == len(column), f"{column.name} is a number as text"


@pytest.mark.parametrize("name", NAMES)
def test_arrow_readers_get_the_same_frame(results: dict[str, Result], name: str) -> None:
    assert pl.DataFrame(results[name]).equals(results[name].to_polars())


@pytest.mark.parametrize("name", NAMES)
def test_json_has_no_undefined_numbers(results: dict[str, Result], name: str) -> None:
    json.dumps(results[name].as_json(), allow_nan=False)


# The figures are those of the record, at full precision


def test_a_comparison_as_a_frame(results: dict[str, Result]) -> None:
    (row,) = results["PairComparison"].to_polars().to_dicts()
    document = results["PairComparison"].as_json()
    assert row["score_a"] == pytest.approx(np.mean(NEW), abs=1e-15)
    assert row["difference"] == pytest.approx(np.mean(np.subtract(NEW, OLD)), abs=1e-15)
    assert [row["low"], row["high"]] == list(document["interval"])
    for name in ("a", "b", "reversal", "p", "effect_size", "found_with", "units_needed", "verdict"):
        assert row[name] == document[name]


def test_all_pairs_as_a_frame(results: dict[str, Result]) -> None:
    pairs = results["AllPairs"]
    frame = pairs.to_polars()
    scores = dict(results["Scores"].to_polars().select("run", "score").iter_rows())
    assert frame.height == 45
    for row in frame.iter_rows(named=True):
        assert row["difference"] == pytest.approx(scores[row["a"]] - scores[row["b"]], abs=1e-12)
    listed = [(row["a"], row["b"], row["p_adjusted"], row["different"]) for row in pairs.as_json()["pairs"]]
    assert list(frame.select("a", "b", "p_adjusted", "different").iter_rows()) == listed


def test_a_leaderboard_as_a_frame(results: dict[str, Result]) -> None:
    frame = results["Leaderboard"].to_polars()
    assert frame.columns[:6] == ["rank", "run", "score", "low", "high", "group"]
    listed = results["Leaderboard"].as_json()["runs"]
    assert list(frame.select("run", "score", "group").iter_rows()) == [
        (row["run"], row["score"], row["letters"]) for row in listed
    ]
    assert list(frame.select("low", "high").iter_rows()) == [tuple(row["interval"]) for row in listed]
    assert ((frame["low"] < frame["score"]) & (frame["score"] < frame["high"])).all()


def test_a_score_matrix_as_a_frame_and_back() -> None:
    scores = matrix("a", "question", "c")
    frame = scores.to_polars()
    assert frame.columns == ["question_", "a", "question", "c"]
    assert tuple(frame["question_"]) == scores.units
    assert np.array_equal(frame[:, 1:].to_numpy().T, scores.values)


def test_curves_as_a_frame(results: dict[str, Result]) -> None:
    document, frame = results["SensitivityCurves"].as_json(), results["SensitivityCurves"].to_polars()
    assert frame.height == len(document["bins"]) * len(document["sizes"])
    for curve in document["bins"]:
        rows = frame.filter(pl.col("difference_from") == curve["low"])
        assert rows["units"].to_list() == list(document["sizes"])
        assert rows["error_rate"].to_list() == curve["error_rate"]
        assert rows["comparisons"].to_list() == curve["comparisons"]
        assert list(rows.select("low", "high").iter_rows()) == [
            tuple(ends or (None, None)) for ends in curve["interval"]
        ]


def test_other_results_as_frames(results: dict[str, Result]) -> None:
    (needed,) = results["Plan"].to_polars().rows()
    (row,) = results["Plan"].as_json()["differences"]
    assert needed == (row["difference"], *row["units"].values(), row["power_now"])
    boxes = results["Description"].as_json()["units"]["units"]
    assert results["Description"].to_polars()["median"].to_list() == [box["median"] for box in boxes]
    agreement = dict(results["Agreement"].to_polars().select("statistic", "value").iter_rows())
    assert agreement["raw agreement (all agree)"] == results["Agreement"].as_json()["raw"]
    (taus,) = results["Stability"].as_json()["measures"].values()
    assert results["Stability"].to_polars()["tau"].to_list() == [taus["tau"][0][1]]
    changes = [run["change"] for run in results["Reuse"].as_json()["runs"]]
    assert results["Reuse"].to_polars()["change"].to_list() == changes


def test_mixed_and_empty_columns_of_a_table() -> None:
    columns = ["", "name", "name", Column("number", ".1f"), Column("none", ".1f"), "empty", Column("count"), "right"]
    rows = [["x", "a", 1.25, 1, None, None, 3, True], ["y", "b", "c", 0.5, None, None, None, False]]
    frame = table("t", columns, rows).to_polars()
    assert dict(frame.schema) == {
        "column_1": pl.String,
        "name": pl.String,
        "name_2": pl.String,
        "number": pl.Float64,
        "none": pl.Float64,
        "empty": pl.String,
        "count": pl.Int64,
        "right": pl.Boolean,
    }
    assert frame["name_2"].to_list() == ["1.25", "c"]
    assert table("t", columns, []).to_polars().height == 0


# pandas


def test_without_pandas_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError) as error:
        matrix("a", "b").to_pandas()
    assert str(error.value) == NO_PANDAS
    assert "pip install pandas" in NO_PANDAS


def test_pandas_gets_plain_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas alone is asked for, not pyarrow: it gets a dictionary of lists."""
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=dict))
    scores = matrix("a", "b")
    assert scores.to_pandas() == {
        "question": list(scores.units),
        "a": scores.values[0].tolist(),
        "b": scores.values[1].tolist(),
    }


def test_pandas_frames(results: dict[str, Result]) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    for result in results.values():
        frame, expected = result.to_pandas(), result.to_polars()
        assert list(frame.columns) == expected.columns
        for name in expected.select(pl.selectors.numeric()).columns:
            values = expected[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
            assert np.array_equal(frame[name].to_numpy(dtype=float), values, equal_nan=True)


# Strangers' names, and tables that are too long


HOSTILE = ("<script>alert(1)</script>", '"onmouseover="x', "a\x1b[2Jb", "left\u202eright", "\x9b31m")


def test_names_of_runs_are_shown_and_never_obeyed() -> None:
    scores = matrix(*HOSTILE)
    for result in (scores, qassay.compare(scores, HOSTILE[0], HOSTILE[1]), qassay.compare_all(scores)):
        seen = Texts(result._repr_html_())
        assert "script" not in seen.tags
        assert any(HOSTILE[0] in text for text in seen.texts)
        for shown in (result._repr_html_(), repr(result), repr(result.table())):
            assert not set("\x1b\u202e\x9b") & set(shown)


def test_a_long_table_is_shown_in_part() -> None:
    long = table("Long", [Column("number")], [[number] for number in range(10_000)], ["A note."])
    markup = long._repr_html_()
    assert markup.count("<tr>") == ROWS_AS_HTML + 1
    assert "9,950 more rows" in markup
    assert "A note." in markup
    assert len(repr(long).splitlines()) < 20
    assert "9,988 more rows" in repr(long)
    assert long.to_polars().height == 10_000
    assert len(str(long).splitlines()) == 10_003


def test_a_result_is_shown_without_loading_polars() -> None:
    code = (
        "import sys, numpy as np\n"
        "from qassay.matrix import ScoreMatrix\n"
        "from qassay.meta.significance import compare\n"
        "scores = ScoreMatrix(('a', 'b'), ('1', '2', '3'), np.array([[1., 0, 1], [0, 0, 1]]))\n"
        "result = compare(scores, 'a', 'b')\n"
        "repr(result), result._repr_html_(), str(scores)\n"
        "assert 'polars' not in sys.modules and 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# The functions


@pytest.mark.parametrize("name", ANALYSES)
def test_arguments_are_named_and_typed(name: str) -> None:
    function: Callable[..., Any] = getattr(qassay, name)
    assert "\n    >>> import qassay\n" in (function.__doc__ or "").replace("\r", ""), "no example"
    signature = inspect.signature(function)
    assert "Any" not in str(signature)
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    many = [p.annotation for p in signature.parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
    assert many in ([], ["Unpack[Scoring]"]), "keywords without names and types"
    assert sum(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds) <= 3


def test_an_evaluation_is_as_good_as_its_scores(evaluation: Evaluation) -> None:
    scores = evaluation.score()
    for given in (scores, scores.matrix):
        ours = qassay.compare(evaluation, "hobby", "ibis", permutations=100)
        assert ours == qassay.compare(given, "hobby", "ibis", permutations=100)
        assert qassay.plan(evaluation, differences=[0.1]).as_json() == qassay.plan(given, differences=[0.1]).as_json()
    assert qassay.leaderboard(evaluation).as_json() == qassay.leaderboard(scores).as_json()


def test_a_comparison_uses_the_judgments_that_are_named(evaluation: Evaluation) -> None:
    """The name was ignored without `correct_with`, and the default judgments were used."""
    first = evaluation.score(key="first")
    assert first.matrix != evaluation.score().matrix
    ours = qassay.compare(evaluation, "hobby", "ibis", key="first", permutations=100)
    assert ours == qassay.compare(first, "hobby", "ibis", permutations=100)
    pairs = qassay.compare_all(evaluation, key="first", permutations=100)
    assert pairs.as_json() == qassay.compare_all(first, permutations=100).as_json()
    for scores in (first, first.matrix, {"a": [1, 0], "b": [0, 0]}):
        with pytest.raises(UsageError, match="key is for an evaluation, not for scores"):
            qassay.compare(scores, key="first")


def test_a_study_is_the_sequence_of_its_kinds(evaluation: Evaluation) -> None:
    study = qassay.agreement(evaluation, resamples=0)
    assert [kind.about for kind in study] == [study[place].about for place in range(len(study))]
    assert study.to_polars()["about"].unique(maintain_order=True).to_list() == [kind.about for kind in study]


def test_stability_of_scores_by_name() -> None:
    people, model = matrix("a", "b", "c"), matrix("a", "b", "c", seed=2)
    result = qassay.stability({"people": people, "model": model})
    assert (result.reference, result.sets, result.noise) == ("people", ("people", "model"), None)
    assert result.as_json()["noise"] is None
    changes = np.abs(people.values.mean(axis=1) - model.values.mean(axis=1))
    assert result.measures["score"].largest_change.change == pytest.approx(changes.max(), abs=1e-12)
    assert qassay.stability({"people": people, "model": model}, reference="model").reference == "model"


def test_a_plan_by_assessor_uses_the_units_that_all_judged() -> None:
    first, second = matrix("a", "b", "c"), matrix("a", "b", "c", seed=2)
    fewer = ScoreMatrix(second.runs, second.units[:8], second.values[:, :8])
    study = qassay.plan(first, by_assessor=[first, fewer]).generalizability
    assert study is not None
    assert (study.units, study.assessors) == (8, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: qassay.plan(), "one of the two"),
        (lambda: qassay.plan(matrix("a", "b"), assume={"run": 1.0}), "one of the two"),
        (lambda: qassay.plan(assume={"run": 1.0}), "no variance for question, residual"),
        (
            lambda: qassay.plan(matrix("a", "b"), by_assessor=[matrix("a", "b"), _other_units()]),
            "no question in common",
        ),
        (lambda: qassay.describe(matrix("a", "b"), key="first"), "for an evaluation"),
        (lambda: qassay.stability({"a": matrix("a")}), "two judges or more"),
        (lambda: qassay.stability({"a": matrix("a")}, sets=["first"]), "for an evaluation"),
        (lambda: qassay.compare(matrix("a", "b"), "a", "bb"), "unknown run 'bb'; did you mean 'b'"),
        (lambda: qassay.compare(matrix("a", "b"), "a"), "name two of the runs: a, b"),
        (lambda: qassay.compare_all(matrix(*map(str, range(5_001)))), "5,001 runs make 12,502,500 pairs"),
        (lambda: qassay.compare(matrix("a", "b", "c")), "name two of the runs: a, b, c"),
    ],
)
def test_wrong_calls_are_explained(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


def _other_units() -> ScoreMatrix:
    return ScoreMatrix(("a", "b"), ("x", "y"), np.array([[0.0, 1.0], [1.0, 0.0]]))


def test_answers_of_edge_cases() -> None:
    alone = qassay.compare_all(matrix("a"))
    assert isinstance(alone, AllPairs)
    assert repr(alone) == "AllPairs: 1 run: a comparison needs two"
    nothing = ScoreMatrix(("a",), (), np.empty((1, 0)))
    assert repr(nothing) == "ScoreMatrix: 1 run x 0 questions, score"
    assert nothing.as_json()["scores"] == {"a": None}
    assert nothing.to_polars().height == 0
    few = ScoreMatrix(("a", "b"), ("1",), np.array([[1.0], [0.0]]), unit_name=("question", "questions"))
    assert repr(qassay.compare(few, "a", "b")) == (
        "PairComparison: a scores higher than b on this question, but chance alone could explain the difference"
    )
    assert "can be given" in repr(qassay.plan(few))


def test_an_opened_evaluation_names_itself(evaluation: Evaluation, tmp_path: Path) -> None:
    assert repr(evaluation) == f"Evaluation: {evaluation.name} (task series2004)"
