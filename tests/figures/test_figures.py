"""Figures: every number comes from its record; the form of each is approved."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import qassay
from qassay import figures
from qassay.demo import copy_demo
from qassay.display import short_name
from qassay.errors import UsageError
from qassay.extras import MissingExtraError
from qassay.figures.drawing import spread_out
from qassay.figures.figure import DARK, LIGHT, NO_FIGURES, Figure
from qassay.matrix import Repeats, ScoreMatrix
from qassay.meta.agreement.by_person import by_person
from qassay.meta.agreement.people import PeopleAgreement
from qassay.meta.correction.result import About, CorrectedRun, CorrectedScores
from qassay.meta.fidelity import beta_sweep
from qassay.meta.intervals import score_intervals
from qassay.meta.progress import judging_progress
from qassay.meta.significance import compare_all, power
from qassay.meta.trust import Trust
from qassay.scoring import Scores
from qassay.studies.agree import judging_progress as progress_of_evaluation
from qassay.studies.one_question import one_question

APPROVED = Path(__file__).parent / "approved"
SVG = "{http://www.w3.org/2000/svg}"


@cache
def evaluation() -> qassay.Evaluation:
    return qassay.open(qassay.demo_folder())


@cache
def records() -> dict[str, Any]:
    scores = evaluation().score()
    ratings = qassay.agreement(qassay.open(qassay.demo_folder("entailment")), resamples=0).ratings
    return {
        "scores": scores,
        "board": qassay.leaderboard(scores),
        "pair": qassay.compare(scores, "hobby", "egret", top=100),
        "curves": qassay.sensitivity(scores, intervals=0),
        "plan": qassay.plan(scores),
        "ranks": next(iter(qassay.stability(evaluation()).measures.values())),
        "agreement": qassay.agreement(evaluation(), resamples=0),
        "spread": qassay.describe(evaluation()).units,
        "sweep": beta_sweep(
            {beta: evaluation().score(measure=f"nugget_f(beta={beta:g})").matrix for beta in (1.0, 5.0)}
        ),
        "rated": ratings["correctness"],
        "fitted": qassay.sensitivity(scores, intervals=0, fit=True),
        "trust": trusted(),
        "decided": decided(),
        "pace": judging_progress(TIMES),
        "corrected": corrected(),
        "people": people(),
        "control": qassay.compare_all(scores, control="egret"),
    }


TIMES = {
    "first": ["2026-03-02T09:00:00Z", "2026-03-02T09:02:00Z", "2026-03-03T10:00:00Z"],
    "adjudicated": [None, "2026-03-03T11:00:00Z", "2026-03-03T10:30:00Z"],
}


def corrected() -> CorrectedScores:
    """Three runs as a judge scores them and after correction; one of them cannot be corrected."""
    about = About(
        *("qa", "model", "adjudicated", "first", "new", "accuracy", 40, 30, 200),
        *(("question", "questions"), ("answer", "answers")),
    )
    runs = (
        CorrectedRun("A", 0.5, (0.4, 0.6), 0.7, 10),
        CorrectedRun("B", 0.3, None, 0.2, 10),
        CorrectedRun("C", None, None, 0.9, 0),
    )
    return CorrectedScores(about, runs)


def people() -> PeopleAgreement:
    """Four people on forty items, of whom one says R where the others say W."""
    texts = [
        (item, person, "R" if person == "dan" else "W") for item in range(40) for person in ("ana", "ben", "cy", "dan")
    ]
    columns = {"question": [f"q{row[0]}" for row in texts], "item": [str(row[0]) for row in texts]}
    rows = pl.DataFrame({**columns, "person": [row[1] for row in texts], "label": [row[2] for row in texts]})
    return by_person(rows, resamples=0)


def trusted() -> Trust:
    """The patterns of the built-in evaluation as an assessor."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "demo"
        copy_demo(folder)
        judged = qassay.open(folder)
        qassay.judge(judged, "patterns")
        return qassay.trust(qassay.open(folder), "patterns", resamples=0)


def decided() -> Scores:
    """The decisions on the pairs of the built-in evaluation."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "demo"
        copy_demo(folder, "entailment")
        (folder / "qassay.toml").write_text('task = "entailment3"\n', encoding="utf-8")
        return qassay.open(folder).score()


@cache
def drawn() -> dict[str, Figure]:
    made = records()
    every = [
        made["board"].figure(),
        made["pair"].figure(),
        made["curves"].figure(),
        made["plan"].figure(),
        figures.ranks_by_set(made["ranks"]),
        figures.tau_heat_map(made["ranks"]),
        made["agreement"].figure(),
        made["scores"].figure(),
        made["spread"].figure(),
        figures.score_by_beta(made["sweep"]),
        figures.score_by_length(made["scores"]),
        figures.contingency({"YES": {"YES": 3, "NO": 1}, "NO": {"YES": 0, "NO": 2}}),
        figures.rating_histogram(made["rated"]),
        figures.mean_rank_by_judge(made["rated"]),
        figures.top_runs(made["scores"]),
        figures.conditioned_accuracy(made["decided"]),
        figures.error_curves(made["fitted"]),
        made["trust"].figure(),
        made["pace"].figure(),
        figures.run_by_unit(made["scores"].matrix, "egret"),
        figures.unit_by_run(made["scores"].matrix, "6"),
        made["corrected"].figure(),
        made["people"].figure(),
        made["control"].figure(),
    ]
    return {figure.name: figure for figure in every}


NAMES = (
    *("leaderboard", "differences", "error-rate", "power", "ranks-by-set", "tau", "agreement", "scores-by-unit"),
    *("spread-by-unit", "score-by-beta", "score-by-length", "contingency", "histogram-correctness"),
    *("mean-rank-correctness", "top-runs", "conditioned-accuracy", "error-curves", "bias", "judging-progress"),
    *("run-by-unit", "unit-by-run", "corrected", "people-items", "control"),
)


def cells(figure: Figure, *fields: str) -> set[tuple[Any, ...]]:
    """The rows of the specification that have these fields."""
    rows = (row for values in _data(figure.spec) for row in values)
    return {tuple(row[field] for field in fields) for row in rows if set(fields) <= set(row)}


def _data(spec: Any) -> Iterator[list[dict[str, Any]]]:
    if isinstance(spec, Mapping):
        if isinstance(spec.get("values"), list) and all(isinstance(row, dict) for row in spec["values"]):
            yield spec["values"]
        for key, part in spec.items():
            if key == "datasets":
                yield from part.values()
            else:
                yield from _data(part)
    elif isinstance(spec, list):
        for part in spec:
            yield from _data(part)


# Every number from its record


def test_the_leaderboard_shows_scores_intervals_and_groups() -> None:
    board = records()["board"]
    expected = {(row.run, row.score, *board.intervals.interval(row.run)) for row in board.scores.runs}
    assert cells(drawn()["leaderboard"], "run", "score", "low", "high") == expected
    alike = {run for run, letters in board.letters.items() if "a" in letters}
    assert {run for run, same in cells(drawn()["leaderboard"], "run", "alike") if same} == alike
    members = cells(drawn()["leaderboard"], "run", "group")
    groups = {(run, place) for place, group in enumerate(board.pairs.groups, start=1) for run in group}
    assert groups <= members


def test_differences_are_those_of_the_units() -> None:
    matrix = records()["scores"].matrix
    difference = matrix.values[matrix.index("hobby")] - matrix.values[matrix.index("egret")]
    shown = dict(cells(drawn()["differences"], "unit", "difference"))
    assert shown == pytest.approx(dict(zip(matrix.units, difference.tolist(), strict=True)))
    figure = drawn()["differences"]
    assert f"ahead on {(difference > 0).sum()}, behind on {(difference < 0).sum()}" in figure.caption


def test_a_comparison_with_few_units_says_that_it_shows_the_largest() -> None:
    figure = qassay.compare(records()["scores"], "hobby", "egret", top=3).figure()
    assert "The 3 largest of 16 differences." in figure.caption
    assert len(figure.table.rows) == 3


def test_error_rates_are_the_expected_ones_and_the_gap_is_marked() -> None:
    curves = records()["curves"]
    expected = {(curve.low, curve.predicted_at_target) for curve in curves.bins if curve.high is not None}
    assert expected <= cells(drawn()["error-rate"], "difference", "rate")
    gap = curves.minimum_difference().predicted
    assert cells(drawn()["error-rate"], "difference", "text") == {(gap, f"repeatable from about {gap:g} on")}


def test_power_is_that_of_the_paired_t_test() -> None:
    plan = records()["plan"]
    for difference, units, shown in cells(drawn()["power"], "difference", "units", "power"):
        assert shown == power(float(difference) / plan.deviation_upper, units, alpha=plan.wanted.alpha)
    assert cells(drawn()["power"], "units", "text") == {(16, "16 series now")}


def test_power_of_systems_that_ran_several_times_includes_running_again() -> None:
    rng = np.random.default_rng(3)
    shifts = np.array([[0.1, -0.1, 0.0], [-0.06, 0.04, 0.08], [0.0, 0.08, -0.08]])
    values = tuple(0.5 + shift + rng.normal(0, 0.1, (40, 3)) for shift in shifts)
    means = np.stack([scores.mean(axis=1) for scores in values])
    matrix = ScoreMatrix(("A", "B", "C"), tuple(map(str, range(40))), means, repeats=Repeats(values))
    plan = qassay.plan(matrix, differences=[0.35])
    assert plan.running_again is not None
    needed = plan.differences[0].power
    reached = {units: power for _, units, power in cells(plan.figure(), "difference", "units", "power")}
    assert all((power >= 0.8) == (units >= needed) for units, power in reached.items())
    # Questions alone would find it nearly always.
    assert reached[max(reached)] < 0.999 < power(0.35 / plan.deviation, 40)


def test_power_with_series_counts_questions() -> None:
    rng = np.random.default_rng(3)
    clusters = tuple(str(unit // 4) for unit in range(40))
    matrix = ScoreMatrix(("A", "B", "C"), tuple(map(str, range(40))), rng.random((3, 40)).round(2), clusters=clusters)
    plan = qassay.plan(matrix, differences=[0.2])
    assert plan.block == 4
    reached = {units: power for _, units, power in cells(plan.figure(), "difference", "units", "power")}
    enough = min(units for units, power in reached.items() if power >= 0.8)
    assert enough >= plan.differences[0].power - plan.block


def test_ranks_are_those_of_each_set() -> None:
    ranks = records()["ranks"]
    shown = cells(drawn()["ranks-by-set"], "run", "set", "rank", "moved")
    document = ranks.ranks
    assert {(run, name, rank) for run, name, rank, _ in shown} == {
        (run, name, rank) for name, of_set in document.items() for run, rank in of_set.items()
    }
    moved = {run for run in ranks.runs if len({document[name][run] for name in ranks.sets}) > 1}
    assert {run for run, _, _, is_moved in shown if is_moved} == moved


def test_taus_are_those_of_the_comparisons() -> None:
    ranks = records()["ranks"]
    taus = {
        (a, b, ranks.comparisons[i][j].tau)
        for i, a in enumerate(ranks.sets)
        for j, b in enumerate(ranks.sets)
        if i != j
    }
    assert cells(drawn()["tau"], "row", "column", "value") == taus


def test_labels_are_counted_as_in_the_agreement() -> None:
    pair = records()["agreement"][0].pairs[0]
    counts = {(a, b, count) for a, row in pair.matrix.items() for b, count in row.items()}
    assert cells(drawn()["agreement"], "row", "column", "value") == counts


def test_the_heat_map_has_every_score() -> None:
    matrix = records()["scores"].matrix
    shown = {(run, unit): score for run, unit, score in cells(drawn()["scores-by-unit"], "run", "unit", "score")}
    for i, run in enumerate(matrix.runs):
        for j, unit in enumerate(matrix.units):
            assert shown[run, unit] == pytest.approx(matrix.values[i, j], abs=6e-5)


def test_a_run_is_drawn_beside_the_median_and_the_best() -> None:
    matrix = records()["scores"].matrix
    own = matrix.values[matrix.index("egret")]
    shown = {row[0]: row[1:] for row in cells(drawn()["run-by-unit"], "unit", "own", "median", "best")}
    for place, unit in enumerate(matrix.units):
        of_unit = sorted(matrix.values[:, place])
        assert shown[unit] == pytest.approx((own[place], (of_unit[4] + of_unit[5]) / 2, of_unit[-1]))
    above = sum(mine > middle for mine, middle, _ in shown.values())
    assert f"egret is above the median on {above}, " in drawn()["run-by-unit"].description
    with pytest.raises(UsageError, match="unknown run 'egre'"):
        figures.run_by_unit(matrix, "egre")


def test_one_unit_has_the_scores_of_all_runs() -> None:
    matrix = records()["scores"].matrix
    column = matrix.values[:, matrix.units.index("6")]
    assert dict(cells(drawn()["unit-by-run"], "run", "score")) == dict(zip(matrix.runs, column.tolist(), strict=True))
    assert cells(drawn()["unit-by-run"], "mean") == {(float(column.mean()),)}
    with pytest.raises(UsageError, match="'none' has no scores"):
        figures.unit_by_run(matrix, "none")


def test_a_heat_map_of_many_units_averages_neighbours() -> None:
    values = np.linspace(1, 0, 600).reshape(1, 600).round(4)
    figure = ScoreMatrix(("A",), tuple(map(str, range(600))), values).figure()
    shown = sorted(cells(figure, "place", "score"))
    assert len(shown) == 60
    assert [score for _, score in shown] == pytest.approx(values.reshape(60, 10).mean(axis=1).tolist(), abs=1e-4)
    assert "the mean of 10 questions" in figure.caption


def test_boxes_are_those_of_the_distributions() -> None:
    spread = records()["spread"]
    boxes = {(box.unit, box.low, box.q1, box.median, box.q3, box.high) for box in spread.units}
    assert cells(drawn()["spread-by-unit"], "unit", "low", "q1", "median", "q3", "high") == boxes
    outliers = {(box.unit, outlier.score) for box in spread.units for outlier in box.outliers}
    assert cells(drawn()["spread-by-unit"], "unit", "score") == outliers


def test_beta_length_and_ratings_come_from_their_records() -> None:
    sweep, rated = records()["sweep"], records()["rated"]
    expected = {
        (row.run, beta, score) for row in sweep.runs for beta, score in zip(sweep.betas, row.scores, strict=True)
    }
    assert expected <= cells(drawn()["score-by-beta"], "run", "beta", "score")
    lengths = {(row.run, row.mean_length, row.score) for row in records()["scores"].runs}
    assert cells(drawn()["score-by-length"], "run", "length", "score") == lengths
    counts = {(run, value, number) for run, own in rated.histogram.items() for value, number in own.items()}
    assert cells(drawn()["histogram-correctness"], "run", "rating", "number") == counts
    ranks = {(run, judge, rank) for judge, own in rated.judge_ranks.items() for run, rank in own.items()}
    assert cells(drawn()["mean-rank-correctness"], "run", "judge", "rank") == ranks


def test_decisions_are_counted() -> None:
    figure = drawn()["contingency"]
    assert ("YES", "NO", 1) in cells(figure, "row", "column", "value")
    assert "5 of 6 decisions" in figure.caption


def test_the_best_run_of_each_organisation_is_among_the_top() -> None:
    scores = records()["scores"]
    best: dict[str | None, tuple[str, float]] = {}
    for row in scores.runs:
        best.setdefault(scores.information[row.run].organisation, (row.run, row.score))
    assert cells(drawn()["top-runs"], "run", "score") == set(best.values())
    alone = replace(scores, information={})
    assert len(cells(figures.top_runs(alone, most=3), "run", "score")) == 3
    assert "top 3 runs" in figures.top_runs(alone, most=3).title


def test_accuracy_is_that_of_the_pairs_of_each_answer() -> None:
    scores = records()["decided"]
    expected = {(row.run, "overall", row.score) for row in scores.runs}
    for row in scores.runs:
        for answer, counts in row.contingency.items():
            expected.add((row.run, answer, counts[answer] / sum(counts.values())))
    shown = cells(drawn()["conditioned-accuracy"], "run", "answer", "accuracy")
    assert {(run, answer): share for run, answer, share in shown} == pytest.approx(
        {(run, answer): share for run, answer, share in expected}
    )
    with pytest.raises(UsageError, match="no decisions"):
        figures.conditioned_accuracy(records()["scores"])


def test_curves_are_measured_expected_and_fitted_rates() -> None:
    curves = records()["fitted"]
    by_name = {f"{curve.low:g}–{curve.high:g}": (place, curve) for place, curve in enumerate(curves.bins) if curve.high}
    kinds = set()
    for name, kind, size, rate in cells(drawn()["error-curves"], "bin", "kind", "size", "rate"):
        place, curve = by_name[name]
        kinds.add(kind)
        if kind == "measured":
            assert rate == curve.error_rate[curves.sizes.index(size)]
        elif kind == "fit":
            assert rate == curve.fit.A1 * math.exp(-curve.fit.A2 * size)
        else:
            assert rate == pytest.approx(curves.predicted_at(size)[place])
    assert kinds == {"measured", "expected", "fit"}
    gap = curves.minimum_difference().predicted
    marked = {text for (text,) in cells(drawn()["error-curves"], "text") if text.endswith(", repeatable")}
    assert next(name for name in by_name if by_name[name][1].low >= gap - 1e-9) in {
        text.split(",")[0] for text in marked
    }
    assert all(by_name[text.split(",")[0]][1].low >= gap - 1e-9 for text in marked)
    assert "fit of the TREC papers" in drawn()["error-curves"].caption
    assert "fit of the TREC papers" not in figures.error_curves(records()["curves"]).caption


def test_bias_is_that_of_each_run() -> None:
    trust = records()["trust"]
    expected = {(run, bias.bias, *bias.interval, bias.is_clear) for run, bias in trust.bias.items()}
    assert cells(drawn()["bias"], "run", "bias", "low", "high", "clear") == expected
    assert "jay is clearly moved by patterns" in drawn()["bias"].description
    with pytest.raises(UsageError, match="no bias to draw"):
        replace(trust, bias={}).figure()


def test_corrected_scores_stand_beside_those_of_the_judge() -> None:
    expected = {("A", 0.5, 0.4, 0.6, 0.7), ("B", 0.3, None, None, 0.2)}
    assert cells(drawn()["corrected"], "run", "score", "low", "high", "judge") == expected
    record = corrected()
    with pytest.raises(UsageError, match="no run has a corrected score"):
        replace(record, runs=record.runs[2:]).figure()


def test_people_stand_by_their_agreement_with_the_others() -> None:
    expected = {(person.person, person.agreement, person.out_of_line) for person in people().people}
    assert cells(drawn()["people-items"], "person", "agreement", "out") == expected
    assert "dan is out of line" in drawn()["people-items"].description
    alone = replace(people(), people=people().people[:1])
    with pytest.raises(UsageError, match="nobody can be compared"):
        alone.figure()


def test_every_record_of_a_figure_has_it_as_its_own() -> None:
    made = records()
    for record, draw in (
        (made["sweep"], figures.score_by_beta),
        (made["rated"], figures.rating_histogram),
        (made["ranks"], figures.ranks_by_set),
        (made["agreement"][0].pairs[0], figures.agreement_matrix),
    ):
        assert record.figure().spec == draw(record).spec
    question = one_question(evaluation(), "1.6")
    scores = {response.run: response.score for response in question.responses}
    assert dict(cells(question.figure(), "run", "score")) == scores


def test_the_reference_is_the_first_set_whatever_its_name() -> None:
    values = {"zulu": np.array([0.3, 0.2, 0.1]), "alpha": np.array([0.1, 0.2, 0.3])}
    matrices = {name: ScoreMatrix(("a", "b", "c"), ("q1",), scores[:, None]) for name, scores in values.items()}
    ranks = next(iter(qassay.stability(matrices, reference="zulu").measures.values()))
    drawn_ranks = figures.ranks_by_set(ranks)
    letters = re.findall(r"<text[^>]*translate\(([\d.]+),[^>]*>(zulu|alpha)</text>", drawn_ranks.svg())
    assert [name for _, name in sorted(letters, key=lambda pair: float(pair[0]))] == ["zulu", "alpha"]


def test_progress_counts_judgments_by_time() -> None:
    shown = cells(drawn()["judging-progress"], "set", "at", "number")
    assert {("first", moment, place) for place, moment in enumerate(TIMES["first"], start=1)} <= shown
    assert {("adjudicated", "2026-03-03T10:30:00Z", 1), ("adjudicated", "2026-03-03T11:00:00Z", 2)} <= shown
    pace = records()["pace"]
    assert pace.sentence() == "5 judgments of 2 sets from 2026-03-02 09:00 UTC to 2026-03-03 11:00 UTC"
    assert pace.untimed == {"first": 0, "adjudicated": 1}
    assert pace.table().rows[1] == ("adjudicated", 3, 1, "2026-03-03 10:30 UTC", "2026-03-03 11:00 UTC")
    many = judging_progress({"first": [f"2026-03-02T09:00:{i // 60:02d}.{i % 60:03d}Z" for i in range(3_000)]})
    assert len(many.points["first"]) == 200
    assert many.points["first"][-1][1] == 3_000
    with pytest.raises(UsageError, match="no times"):
        judging_progress({"first": [None, None]}).figure()


def test_progress_shows_the_hours_of_the_afternoon() -> None:
    """17:48 was 05:48: the default of the charts has twelve hours."""
    afternoon = judging_progress({"first": ["2026-03-02T17:45:00Z", "2026-03-02T17:48:00Z", "2026-03-02T17:52:30Z"]})
    assert {"17:45", "17:48", "17:52"} <= set(re.findall(r">(\d\d:\d\d)<", afternoon.figure().svg()))


def test_progress_of_an_evaluation_reads_the_times_of_its_rows(tmp_path: Path) -> None:
    copy_demo(tmp_path / "demo")
    path = tmp_path / "demo" / "judgments" / "first.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[0]["at"], rows[1]["at"], rows[2]["at"] = "2026-03-02T10:00:00+01:00", "2026-03-02T09:30:00Z", "no time"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    pace = progress_of_evaluation(qassay.open(tmp_path / "demo"))
    assert pace.points == {"first": (("2026-03-02T09:00:00Z", 1), ("2026-03-02T09:30:00Z", 2))}
    assert (pace.judgments["first"], pace.untimed["first"]) == (len(rows), len(rows) - 2)
    assert list(pace.judgments) == ["first", "second", "third", "adjudicated"]


# The form


def outline(spec: Any) -> Any:
    """The specification without its data: of a table only the names of its fields."""
    if isinstance(spec, Mapping):
        if isinstance(spec.get("values"), list) and all(isinstance(row, dict) for row in spec["values"]):
            return {"fields": sorted({field for row in spec["values"] for field in row})}
        chosen = {
            key: part for key, part in spec.items() if key not in ("config", "datasets", "height", "sort", "domain")
        }
        return {key: outline(part) for key, part in chosen.items()}
    return [outline(part) for part in spec] if isinstance(spec, list) else spec


@pytest.mark.parametrize("name", NAMES)
def test_the_form_is_the_approved_one(name: str) -> None:
    """After a wanted change, and a look at the picture: QASSAY_APPROVE=1 pytest tests/figures."""
    path = APPROVED / f"{name}.json"
    form = json.dumps(outline(drawn()[name].spec), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    if os.environ.get("QASSAY_APPROVE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(form, encoding="utf-8")
    assert form == path.read_text(encoding="utf-8")


def test_every_figure_is_approved() -> None:
    assert set(NAMES) == set(drawn()) == {path.stem for path in APPROVED.glob("*.json")}


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_static_labelled_and_coloured_by_name(name: str) -> None:
    figure = drawn()[name]
    inside, alone = figure.svg(alone=False), figure.svg()
    for picture in (inside, alone):
        root = ElementTree.fromstring(picture)
        labels = (root.attrib["aria-labelledby"]).split()
        texts = {
            element.attrib.get("id"): element.text for element in root if element.tag in (SVG + "title", SVG + "desc")
        }
        assert [texts[label] for label in labels] == [figure.title, figure.description]
        assert not re.search(r"<script|href|url\(|onload|style=", picture.replace("<style>", ""))
    assert "<style>" not in inside
    # Colours of marks are names: a page gives them, light or dark.
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', inside))
    assert all(colour in ("none", "transparent") or colour.startswith("var(--") for colour in colours), colours
    assert {colour[6:-1] for colour in colours if colour.startswith("var")} <= set(LIGHT) == set(DARK)
    assert "prefers-color-scheme:dark" in alone


def test_a_picture_for_print_has_no_names_of_colours() -> None:
    figure = drawn()["leaderboard"]
    assert figure.png().startswith(b"\x89PNG")
    assert figure.pdf().startswith(b"%PDF")
    assert "var(--" not in json.dumps(figure.chart().to_dict())


def test_a_figure_has_its_table() -> None:
    for name, figure in drawn().items():
        assert figure.to_polars().height > 0, name
        assert figure.csv().count("\n") == figure.to_polars().height + 1
        assert figure.caption.endswith(".")
        assert figure.description.endswith(".")


def test_a_notebook_shows_the_figure() -> None:
    shown = drawn()["leaderboard"]._repr_html_()
    assert "<svg" in shown
    assert drawn()["leaderboard"].caption in shown
    assert repr(drawn()["leaderboard"]) == "Figure leaderboard: Scores of 10 runs with 95% intervals"


# Odd input


HOSTILE = ("</title><script>alert(1)</script>", "x\x1b\x00\x9b", "\ufffe", "a\u202eb", "שלום עולם", "n" * 200, "\"&'")


def test_hostile_names_stay_text() -> None:
    rng = np.random.default_rng(0)
    matrix = ScoreMatrix(HOSTILE, tuple(f"<b>{unit}\x07" for unit in range(8)), rng.random((len(HOSTILE), 8)).round(2))
    board = figures.leaderboard(compare_all(matrix), score_intervals(matrix))
    pair = qassay.compare(matrix, HOSTILE[0], HOSTILE[1]).figure()
    for figure in (board, pair, matrix.figure(), qassay.describe(matrix).figure()):
        for picture in (figure.svg(), figure.svg(alone=False)):
            ElementTree.fromstring(picture)
            assert "<script" not in picture
            assert "\u202e" not in picture
        assert figure.png()
    assert {run for (run,) in cells(board, "run")} == set(HOSTILE)


def test_one_run_and_equal_runs_are_drawn() -> None:
    alone = ScoreMatrix(("A",), ("q1", "q2"), np.array([[0.5, 0.5]]))
    equal = ScoreMatrix(("A", "B", "C"), ("q1", "q2"), np.zeros((3, 2)))
    for matrix in (alone, equal):
        assert figures.leaderboard(compare_all(matrix), score_intervals(matrix)).svg()
        assert matrix.figure().svg()
        assert qassay.describe(matrix).figure().svg()


def test_a_leaderboard_of_many_runs_shows_the_first_and_has_all_in_its_table() -> None:
    rng = np.random.default_rng(1)
    matrix = ScoreMatrix(tuple(f"run{run}" for run in range(60)), tuple("abcdefgh"), rng.random((60, 8)).round(2))
    figure = compare_all(matrix).figure()
    assert len({run for (run,) in cells(figure, "run")}) == 40
    assert "The first 40 of 60 runs" in figure.caption
    assert len(figure.table.rows) == 60


def test_a_result_without_a_figure_says_so() -> None:
    with pytest.raises(UsageError, match="Reuse has no figure"):
        qassay.reuse(evaluation(), component="factoid").figure()


def test_figures_without_the_extra_say_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = records()["scores"]
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(UsageError) as failure:
        scores.figure()
    assert str(failure.value) == NO_FIGURES == str(MissingExtraError("figures", "a figure"))


def test_names_beside_lines_do_not_cover_each_other() -> None:
    moved = spread_out([0.5, 0.5, 0.52, 0.9], 0.1)
    assert np.diff(sorted(moved)).min() >= 0.1 - 1e-9
    assert moved[3] == 0.9
    assert np.mean(moved[:3]) == pytest.approx(np.mean([0.5, 0.5, 0.52]))


def test_few_runs_have_dots_in_place_of_boxes() -> None:
    few = ScoreMatrix(("A", "B", "C"), ("q1", "q2"), np.array([[0.2, 0.4], [0.3, 0.9], [0.7, 0.5]]))
    figure = qassay.describe(few).figure()
    assert "lowest and the highest" in figure.caption
    assert sorted(cells(figure, "unit", "score")) == [("q1", 0.2), ("q1", 0.7), ("q2", 0.4), ("q2", 0.9)]


def test_scores_of_0_and_1_are_shown_as_shares() -> None:
    values = np.zeros((6, 100))
    values[:3, 0], values[:, 99] = 1.0, 1.0
    decided = ScoreMatrix(tuple("ABCDEF"), tuple(f"q{unit}" for unit in range(100)), values)
    figure = qassay.describe(decided).figure()
    assert "share of the runs that score 1. The figure has 40 of 100 questions" in figure.caption
    shown = dict(cells(figure, "unit", "mean"))
    assert len(shown) == 40
    assert shown["q99"] == 1.0
    assert len(figure.table.rows) == 100


def test_tags_that_begin_alike_differ_in_a_figure() -> None:
    tags = tuple(f"university-of-somewhere_some-model_top{number}_rerank" for number in range(6))
    matrix = ScoreMatrix(tags, ("q1", "q2", "q3"), np.random.default_rng(2).random((6, 3)))
    picture = compare_all(matrix).figure().svg()
    shown = set(re.findall(r">([^<>]*…[^<>]*)<", picture))
    assert shown == {short_name(tag) for tag in tags}
    assert len(shown) == len(tags)


def test_tags_that_differ_in_their_middle_alone_differ_in_a_figure() -> None:
    tags = tuple(f"university-of-somewhere_group-{number}_hybrid-retriever_rerank" for number in range(6))
    matrix = ScoreMatrix(tags, ("q1", "q2", "q3"), np.random.default_rng(2).random((6, 3)))
    shown = set(re.findall(r">([^<>]*…[^<>]*)<", compare_all(matrix).figure().svg()))
    assert shown >= {f"…oup-{number}_hybrid-retriever_rerank" for number in range(6)}
