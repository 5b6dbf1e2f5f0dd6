"""Figures on the pages: the sentence first, the picture above the tables, drawn by the functions of the report."""

from __future__ import annotations

import csv
import re
import sys
from xml.etree import ElementTree

import pytest

import qassay
from qassay.demo import demo_folder
from qassay.evaluation import open_evaluation
from qassay.web.errors import Refusal
from qassay.web.results import finding, saving
from qassay.web.results.finding import find, pictures

PAGES = {
    "/results": ["leaderboard"],
    "/results/compare": ["leaderboard"],
    "/results/units": ["scores-by-unit"],
    "/results/describe": ["spread-by-unit"],
    "/results/stability": ["ranks-by-set", "tau"],
    "/results/sensitivity": ["error-rate", "error-curves"],
    "/results/run?run=egret": ["run-by-unit"],
    "/results/question?question=1.6": ["unit-by-run"],
    "/results/units?by=question&series=3": ["scores-by-unit"],
}


@pytest.mark.parametrize("path", PAGES)
def test_sentence_figure_table_in_this_order(demos, path: str) -> None:
    page = demos["series"].page(path)
    assert [figure["name"] for figure in page["figures"]] == PAGES[path]
    assert all("svg" not in figure for figure in page["figures"]), "the picture is part of the page alone"
    shown = demos["series"].html(path)
    places = [shown.index(text) for text in ('class="answer"', "<svg", "<table")]
    assert places == sorted(places)


def test_the_figure_of_a_series_has_its_questions_alone(demos) -> None:
    page = demos["series"].page("/results/units?by=question&series=3")
    sheet = demos["series"].client("organiser").get(page["figures"][0]["files"]["csv"]).text
    named = {row["question"] for row in csv.DictReader(sheet.splitlines())}
    assert named == {row[0] for row in page["tables"][0]["rows"]}
    assert len(named) > 3


def test_a_part_of_the_answers_has_no_figure_of_the_whole_run(demos) -> None:
    assert demos["series"].page("/results/run", run="egret", outcome="wrong")["figures"] == []


def test_two_runs_are_compared_by_series(demos) -> None:
    page = demos["series"].page("/results/compare", a="hobby", b="egret")
    assert [figure["name"] for figure in page["figures"]] == ["differences"]
    assert page["figures"][0]["caption"].startswith("hobby is ahead on")


def test_pictures_are_static_and_coloured_by_the_page(demos) -> None:
    for path in PAGES:
        shown = demos["series"].html(path)
        for picture in re.findall(r"<svg.*?</svg>", shown, re.DOTALL):
            assert not re.search(r"<style|<script|style=| on[a-z]+=|href", picture)
            # Letters of the page may be wider than those the picture was measured with.
            assert ' overflow="visible"' in picture.split(">")[0]
            colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', picture))
            assert all(colour in ("none", "transparent") or colour.startswith("var(--") for colour in colours)


def test_the_picture_is_that_of_the_result() -> None:
    evaluation = open_evaluation(demo_folder())
    shown = find("score", evaluation)
    assert shown.pictures[0].svg == qassay.leaderboard(evaluation.score()).figure().svg(alone=False)


def test_pages_work_without_the_packages_of_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    shown = find("score", open_evaluation(demo_folder()))
    assert shown.pictures == ()
    assert shown.answer
    assert shown.parts


def test_a_picture_too_large_for_a_page_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = open_evaluation(demo_folder()).score()
    assert len(pictures(scores.figure)) == 1
    monkeypatch.setattr(finding, "LARGEST_PICTURE", 100)
    assert pictures(scores.figure) == ()


def test_ratings_and_decisions_have_figures(demos) -> None:
    names = [figure["name"] for figure in demos["entailment"].page("/results/agree")["figures"]]
    assert {"histogram-correctness", "mean-rank-correctness"} <= set(names)
    assert len(set(names)) == len(names)


def test_without_a_program_the_page_of_programs_says_so_and_is_not_offered(demos) -> None:
    page = demos["series"].page("/results/trust")
    assert page["state"] == "found"
    assert page["answer"].startswith("No program has judged yet")
    assert page["tables"] == page["figures"] == []
    beside = [tab["label"] for tab in demos["series"].page("/results/agree")["beside"]]
    assert beside == ["Agreement", "People", "Stability"]


MAGIC = {"svg": b"<svg ", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b"run,"}


def test_a_figure_is_saved_in_every_form(demos) -> None:
    page = demos["series"].page("/results")
    files = page["figures"][0]["files"]
    assert list(files) == list(MAGIC)
    browser = demos["series"].client("organiser")
    for form, address in files.items():
        sent = browser.get(address)
        assert sent.status_code == 200
        assert sent.headers["content-disposition"] == f'attachment; filename="leaderboard.{form}"'
        assert sent.content.startswith(MAGIC[form]), form
    rows = list(csv.DictReader(browser.get(files["csv"]).text.splitlines()))
    scores = {row.run: row.score for row in open_evaluation(demo_folder()).score().runs}
    assert {row["run"]: float(row["score"]) for row in rows} == pytest.approx(scores)
    alone = ElementTree.fromstring(browser.get(files["svg"]).content)
    texts = "".join(alone.itertext())
    assert all(row in texts for row in (page["figures"][0]["title"], *scores))
    assert demos["series"].client("organiser").get("/results/leaderboard/figure?figure=none").status_code == 404
    shown = demos["series"].html("/results")
    assert shown.count('<details class="save">') == len(page["figures"])


def test_a_provisional_figure_says_so_in_its_file(at_work) -> None:
    browser = at_work.client("organiser")
    assert browser.get("/results/leaderboard/figure?figure=leaderboard").status_code == 409
    figure = at_work.page("/results", provisional=1)["figures"][0]
    assert "(provisional: 264 decisions open)" in browser.get(figure["files"]["svg"]).text
    assert browser.get(figure["files"]["csv"]).text.splitlines()[1].endswith(",264 decisions open")


def test_a_picture_that_cannot_be_converted_is_a_sentence() -> None:
    with pytest.raises(Refusal, match="cannot be saved as PDF; save it as SVG"):
        saving._convert("<svg", "pdf")
