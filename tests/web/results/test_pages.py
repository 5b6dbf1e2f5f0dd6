"""The pages: what can be asked, how large a page gets, and other people's strings."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qassay.demo import demo_folder
from qassay.evaluation import open_evaluation
from qassay.measures import MEASURES
from qassay.pages import Links
from qassay.tables import Column, table
from qassay.tasks import names, task
from qassay.web.results.choices import measures_of, offered_measures
from qassay.web.results.finding import CHARACTERS_SHOWN, Part, StudyRequest, Window, csv_lines, cut
from qassay.web.results.present import TableView, table_view
from qassay.web.results.views import ONCE, VIEWS, View

SCRIPT = "<script>alert(document.cookie)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
REVERSED = "\u202egnp.evil"
FORMULA = "=cmd|' /C calc'!A0"
LONG = "x" * 9_000
LONGEST = "word " * 50_000
TAG = "tag-" + "0123456789" * 17 + "<b>&?#%2e"


# ---- what can be asked ----------------------------------------------------------------------------------------------


def test_values_that_are_not_on_the_list_are_refused(demos) -> None:
    organiser = demos["series"].client("organiser")
    for query in (
        *("sort=text", "sort=mean;drop", "by=run", "kind=riddle", "page=0", "page=x", "across=-1", "unjudged=maybe"),
        *("missing=perhaps", "nonsense=1", "page=1000000000000"),
    ):
        assert organiser.get(f"/api/results/units?{query}").status_code == 422, query
    for query in ("preset=mine", "error=0.5", "bin_width=3", "error=nan"):
        assert organiser.get(f"/api/results/sensitivity?{query}").status_code == 422, query
    assert organiser.get("/api/results/compare?method=guess").status_code == 422
    assert organiser.get("/api/results/run").status_code == 422
    assert organiser.get("/api/results?key=" + "x" * 201).status_code == 422


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_page_has_its_twin_and_its_sheet_and_they_ask_the_same(demos, view: View) -> None:
    organiser = demos["series"].client("organiser")
    needed = {name: "x" for name, field in view.parameters.model_fields.items() if field.is_required()}
    for path in (view.path, f"/api{view.path}", view.csv, view.figure):
        assert organiser.get(path, params={**needed, "nonsense": "1"}).status_code == 422, path
    # Of a key that is not there nothing is computed.
    shown = organiser.get(f"/api{view.path}", params={**needed, "key": "none"}).json()
    assert shown["view"] == view.name
    assert set(shown["asked"]) == set(view.parameters.model_fields) - ONCE
    assert shown["heading"] == view.study.heading.replace("{run}", "x").replace("{question}", "x")


def test_a_name_that_is_not_there_is_reported_with_the_nearest(demos) -> None:
    page = demos["series"].page("/results", key="adjudicate")
    assert page["state"] == "refused"
    assert page["message"] == "unknown key 'adjudicate'; did you mean 'adjudicated'?"
    assert "did you mean" in demos["series"].html("/results", key="adjudicate")
    page = demos["series"].page("/results", measure="cws(beta=3)")
    assert (page["state"], page["message"][:16]) == ("refused", "unknown measure ")
    for query in ({"run": "hoby"}, {"run": "../../etc/passwd"}):
        assert demos["series"].page("/results/run", **query)["state"] == "refused"
    assert demos["series"].page("/results/compare", a="hobby")["message"].startswith("a comparison takes two runs")
    assert demos["series"].page("/results/agree", sets=["first"])["state"] == "refused"


def test_an_empty_field_of_a_form_is_as_if_it_were_not_there(demos) -> None:
    organiser = demos["series"].client("organiser")
    demos["series"].page("/results")
    empty = "?key=&measure=&component=&unjudged=&missing=stop"
    assert organiser.get(f"/results{empty}").text == organiser.get("/results").text
    # A program sends no form.
    for query in (empty, "?key=", "?unjudged="):
        assert organiser.get(f"/api/results{query}").status_code == 422, query


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_parameters_of_downloads_are_not_those_of_pages(demos, view: View) -> None:
    organiser = demos["series"].client("organiser")
    needed = {name: "x" for name, field in view.parameters.model_fields.items() if field.is_required()}
    for query in ({"table": "x"}, {"figure": "x"}, {"form": "svg"}):
        for path in (view.path, f"/api{view.path}"):
            assert organiser.get(path, params={**needed, **query}).status_code == 422, (path, query)
    assert organiser.get(view.csv, params={**needed, "form": "svg"}).status_code == 422
    assert organiser.get(view.figure, params={**needed, "table": "x"}).status_code == 422


@pytest.mark.parametrize("name", names())
def test_every_task_offers_its_measures(name: str) -> None:
    measures = measures_of(task(name))
    assert measures[0] == task(name).measure
    assert len(set(measures)) == len(measures)
    assert all(measure.split("(")[0] in MEASURES for measure in measures)


@pytest.mark.parametrize(
    ("name", "lacking"),
    [
        ("series2004", {"mrr", "mrr_lenient", "cws", "content", "organization", "holistic"}),
        ("entailment3", {"understandability", "correctness"}),
        ("ranked5", {"cws"}),
        ("definition", set()),
        ("justification", set()),
    ],
)
def test_measures_that_say_nothing_of_a_task_are_not_offered(name: str, lacking: set[str]) -> None:
    computable, offered = measures_of(task(name)), offered_measures(task(name), list(task(name).types))
    assert set(computable) - set(offered) == lacking
    assert offered[0] == task(name).measure


def test_of_questions_that_nobody_asks_nothing_is_offered() -> None:
    offered = offered_measures(task("series2004"), ["factoid"])
    assert offered == ("series_score", "accuracy")


def test_types_are_offered_where_there_are_several(demos) -> None:
    run = demos["series"].page("/results")["offer"]["runs"][0]
    for path, query in (("/results/units", {}), ("/results/run", {"run": run})):
        shown = demos["series"].html(path, **query)
        assert '<option value="other">' in shown
        assert "definition" not in shown
        assert '<option value="pair">' not in shown
    assert 'name="kind"' not in demos["entailment"].html("/results/units")
    # An address may name what is not led to, and the page then says so.
    assert '<option value="mrr" selected>' in demos["series"].html("/results", measure="mrr")


# ---- windows --------------------------------------------------------------------------------------------------------


def test_units_are_sorted_and_paged(demos) -> None:
    whole = demos["series"].page("/results/units", by="question", sort="mean", down=1)
    shown, second = (
        whole["tables"][0],
        demos["series"].page("/results/units", by="question", sort="mean", down=1, page=2),
    )
    window = shown["window"]
    assert (window["first"], window["size"], window["total"], window["of"]) == (0, 100, 109, "questions")
    assert window["before"] is None
    assert "page=2" in window["after"]
    assert "sort=mean" in window["after"]
    rows = [*shown["rows"], *second["tables"][0]["rows"]]
    assert len(rows) == 109
    means = [row[3] for row in rows]
    assert means == sorted(means, reverse=True)
    assert second["tables"][0]["window"]["after"] is None
    sheet = demos["series"].client("organiser").get(shown["csv"]).text
    assert [row[0] for row in csv.reader(io.StringIO(sheet))][1:] == [row[0] for row in rows]


def test_series_have_their_targets_and_ties_are_all_named(demos) -> None:
    page = demos["series"].page("/results/units")
    assert page["answer"] == (
        "The hardest series is 13 “Roald Amundsen” (mean 0.118), the easiest 6 “UNICEF” (mean 0.615)."
    )
    # A series has no type of its own.
    assert [column["header"] for column in page["tables"][0]["columns"][:3]] == ["series", "target", "mean"]
    page = demos["series"].page("/results/units", by="question")
    means = [row[3] for row in page["tables"][0]["rows"]]
    answer = re.fullmatch(
        r"The hardest are (\d+) questions with mean 0.000, the easiest .* \(mean 1.000\)\.", page["answer"]
    )
    assert answer is not None
    assert int(answer[1]) >= means.count(0.0) > 1


def test_columns_of_long_names_are_told_apart_by_their_heads() -> None:
    tags = [f"university-of-somewhere_group-{number:02d}_hybrid-retriever_with-a-reranker" for number in range(12)]
    columns = [Column("question", left=True), *(Column(tag, ".3f") for tag in tags)]
    view = TableView(name="units", title="Scores", columns=columns, rows=[], notes=[], csv="")
    heads = [view.head(column) for column in view.columns]
    assert heads[0] == "question"
    assert len(set(heads)) == len(columns)
    assert max(map(len, heads)) <= 31


def test_a_page_without_numbers_has_nothing_to_choose(demos) -> None:
    shown = demos["series"].html("/results/people")
    assert "No judgment names its assessor" in shown
    assert re.search(r'<form class="card choices"[^>]* hidden>', shown)


def test_a_question_that_all_runs_answer_alike_says_so(demos) -> None:
    page = demos["series"].page("/results/question", question="1.7")
    assert page["answer"] == (
        "All 10 runs are partly right on question 1.7. It asks: What else is there to know about Marie Curie?"
    )
    page = demos["series"].page("/results/question", question="1.3")
    assert page["answer"] == (
        "Of 10 runs, 6 are right and 4 are wrong on question 1.3; best: badger, crane, egret and 3 more with 1.000. "
        "It asks about Marie Curie: What was the name of the secret school that she attended?"
    )


def test_questions_of_a_series_and_of_a_type(demos) -> None:
    page = demos["series"].page("/results/units", by="question", series="3")
    assert [row[0].split(".")[0] for row in page["tables"][0]["rows"]] == ["3"] * 7
    page = demos["series"].page("/results/units", by="question", kind="list")
    assert {row[1] for row in page["tables"][0]["rows"]} == {"list"}
    assert 'href="/results/units?by=question&amp;series=1"' in demos["series"].html("/results/units")


def large(folder: Path, runs: int, questions: int) -> Path:
    """An evaluation with many runs and questions."""
    (folder / "runs").mkdir(parents=True)
    (folder / "judgments").mkdir()
    (folder / "qassay.toml").write_text('task = "confidence"\n')
    asked = [
        {"id": str(i), "type": "factoid", "text": f"What is the answer to question {i}?"} for i in range(questions)
    ]
    judged = [
        {"question": question["id"], "doc": "D", "text": text, "judgment": label}
        for question in asked
        for text, label in (("yes", "R"), ("no", "W"))
    ]
    for name, rows in (("questions.jsonl", asked), ("judgments/adjudicated.jsonl", judged)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    chance = random.Random(7)
    for number in range(runs):
        tag = f"run{number:03d}"
        right = (number + 1) / (runs + 1)
        answers = ("yes" if chance.random() < right else "no" for _ in asked)
        text = "".join(f"{question['id']} {tag} D {answer}\n" for question, answer in zip(asked, answers, strict=True))
        (folder / "runs" / f"{tag}.txt").write_text(text)
    return folder


def pages_of_bounded_size(folder: Path, runs: int, questions: int) -> None:
    """Every finding is small, and says how much more there is."""
    evaluation = open_evaluation(folder)
    ways = [
        StudyRequest(str(folder), "score"),
        StudyRequest(str(folder), "describe"),
        StudyRequest(str(folder), "units"),
        StudyRequest(str(folder), "units", page=2, across=2),
        StudyRequest(str(folder), "one_run", (("run", "run001"),)),
        StudyRequest(str(folder), "one_question", (("question", "1"),)),
    ]
    for way in ways:
        finding = way.compute(evaluation, lambda done, total: None)
        size = len(json.dumps(finding.document)) + sum(len(json.dumps(part.table.rows)) for part in finding.parts)
        assert size < 3_000_000, way
        assert all(len(part.table.rows) <= 500 for part in finding.parts)
        if way.study == "units":
            assert finding.parts[0].across is not None
            assert (finding.parts[0].across.size, finding.parts[0].across.total) == (20, runs)
            assert finding.parts[0].window is not None
            assert (finding.parts[0].window.size, finding.parts[0].window.total) == (100, questions)
        if way.study == "score" and runs * questions > 100_000:
            assert "matrix" not in finding.document
            assert finding.left_out is not None


@pytest.mark.parametrize(("runs", "questions"), [(139, 386), pytest.param(500, 10_000, marks=pytest.mark.slow)])
def test_a_page_of_many_runs_stays_small(tmp_path: Path, runs: int, questions: int) -> None:
    pages_of_bounded_size(large(tmp_path / "large", runs, questions), runs, questions)


# ---- runs and questions ---------------------------------------------------------------------------------------------


def test_a_run_page_tells_right_from_wrong(demos) -> None:
    page = demos["series"].page("/results/run", run="hobby")
    counts = page["document"]["outcomes"]
    types = page["tables"][1]
    assert [row[0] for row in types["rows"]] == ["factoid", "list", "other"]
    assert [sum(row[i] for row in types["rows"]) for i in (2, 3, 4)] == [
        counts[n] for n in ("right", "partly", "wrong")
    ]
    wrong = demos["series"].page("/results/run", run="hobby", outcome="wrong", kind="factoid")["tables"][-1]
    assert {row[7 - 1] for row in wrong["rows"]} == {0.0}
    assert not {"R"} & {row[5] for row in wrong["rows"]}
    right = demos["series"].page("/results/run", run="hobby", outcome="right", kind="factoid")["tables"][-1]
    assert {row[5] for row in right["rows"]} <= {"R", "right: no answer is known"}


def test_a_question_page_has_all_judgments_side_by_side(demos) -> None:
    page = demos["series"].page("/results/question", question="1.6")
    answers = next(table for table in page["tables"] if table["name"] == "answers")
    assert [column["header"] for column in answers["columns"]] == [
        *("run", "adjudicated", "first", "second", "document", "answer"),
    ]
    row = next(row for row in answers["rows"] if row[-1] == "Frédéric" and row[0] == "badger")
    assert row[1:4] == ["X", "X", "R (Frédéric Joliot)"]
    pair = demos["entailment"].page("/results/question", question="3")
    assert [table["name"] for table in pair["tables"]] == ["about", "answers", "scores"]
    answer = demos["rag"].page("/results/question", question="r1")
    support = next(table for table in answer["tables"] if table["name"] == "support")
    assert ["harbor", "1", "full", "full", "full"] in support["rows"]


# ---- other people's strings -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], Any]) -> Any:
    """The demo with a run of hostile answers under a tag as long as it may be."""
    folder = tmp_path_factory.mktemp("odd") / "eval"
    shutil.copytree(demo_folder(), folder)
    strings = (SCRIPT, IMAGE, REVERSED, FORMULA, LONG, LONGEST)
    rows, judged = [], []
    for number, question in enumerate(open_evaluation(folder).questions):
        texts = strings if question.type != "factoid" else (strings[number % len(strings)],)
        items = [{"doc": "demo-curie-1", "text": text} for text in texts]
        rows.append({"run": TAG, "question": question.id, "items": items})
        if question.type == "other":
            judged.append({"question": question.id, "run": TAG, "nuggets": []})
        else:
            owner = {"run": TAG} if question.type == "list" else {}
            judged += [{"question": question.id, **owner, **item, "judgment": "W"} for item in items]
    (folder / "runs" / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with (folder / "judgments" / "adjudicated.jsonl").open("a") as target:
        target.writelines(json.dumps(row) + "\n" for row in judged)
    return serve(folder)


@pytest.mark.parametrize("asked", [{"run": TAG}, {"question": "1.6"}])
def test_hostile_answers_are_text(odd, asked: dict[str, str]) -> None:
    path = "/results/run" if "run" in asked else "/results/question"
    shown = odd.html(path, **asked)
    assert SCRIPT not in shown
    assert "<img src=x" not in shown
    assert "&lt;script&gt;alert(document.cookie)" in shown
    assert "\u202e" not in shown
    assert r"\u202egnp.evil" in shown
    assert not re.search(r"<[^>]* (style|on\w+)=", shown)
    assert f"({len(LONGEST):,} characters in all" in shown
    assert len(shown) < 20 * CHARACTERS_SHOWN * 20
    sheet = odd.client("organiser").get(f"{path}.csv", params={**asked, "table": "answers"})
    assert sheet.status_code == 200
    assert LONGEST in sheet.text, "the CSV has everything"
    assert "'" + FORMULA in sheet.text, "and no formula"


def test_long_tags_lead_to_their_pages(odd) -> None:
    shown = odd.html("/results")
    assert "<b>&?" not in shown
    address = next(link for link in re.findall(r'href="(/results/run\?run=tag-[^"]*)"', shown))
    assert odd.client("organiser").get(address).status_code == 200
    assert odd.page("/results/run", run=TAG)["heading"] == f"Run {TAG}"


def test_cells() -> None:
    cells = table(
        "t", ["name", Column("score", ".3f")], [("a", 0.12345), (None, None), ("bell\x07", 1), ("y" * 300, 0)]
    )
    view = table_view("t", cells, csv="/t.csv", provisional=None)
    shown = view.shown()
    assert [cell.text for cell in shown[0]] == ["a", "0.123"]
    assert [cell.text for cell in shown[1]] == ["–", "–"]
    assert [cell.text for cell in shown[2]] == ["bell␇", "1"]
    assert shown[3][0].beginning == "y" * 240 + "…"
    assert [cell.kind for cell in shown[0]] == ["short", "number"]
    assert view.rows[0] == ["a", 0.12345], "numbers are not rounded in JSON"


def test_sheets() -> None:
    cells = table("t", ["name", Column("score", ".3f")], [("a,b", 0.12345), (None, None), ("=1+1", -2), ("@x", True)])
    assert "".join(csv_lines(cells)) == "name,score\n\"a,b\",0.12345\n,\n'=1+1,-2\n'@x,yes\n"
    assert "".join(csv_lines(cells, provisional="2 items open")).splitlines()[1] == '"a,b",0.12345,2 items open'


def test_cutting() -> None:
    rows = table("t", ["n"], [(str(i),) for i in range(900)])
    part = Part("p", rows, Links("question", tuple(map(str, range(900)))))
    short, last = cut(part), cut(part, 2)
    assert (len(short.table.rows), len(short.links.subjects), short.is_whole) == (500, 500, False)
    assert short.window == Window(0, 500, 900, "questions")
    assert last.window == Window(500, 400, 900, "questions")
    assert last.table.rows[0] == ("500",)
    few = Part("p", table("t", ["n"], [("z",)]))
    assert cut(few, 2) == few, "a short table is on every page of a long one"
    wide = cut(Part("p", table("t", ["n", *map(str, range(50))], [range(51)]), fixed=1), across=3)
    assert wide.across == Window(40, 10, 50, "runs")
    assert wide.table.rows[0] == (0, *range(41, 51))
    long = cut(Part("p", table("t", ["n"], [("z" * 20_000,)])))
    assert str(long.table.rows[0][0]).endswith("… (20,000 characters in all; the CSV has them)")
    assert not long.is_whole


def test_keys_by_a_vote_are_offered_and_marked(demos) -> None:
    """The scores under such a key are those of the command, and the page says where they come from."""
    page = demos["series"].page("/results", key="majority", unjudged="wrong")
    assert page["offer"]["keys"][-2:] == ["majority", "dawid-skene"]
    scores = open_evaluation(demo_folder()).score("majority", unjudged="wrong")
    shown = {row[1]: row[2] for row in page["tables"][0]["rows"]}
    assert shown == pytest.approx({row.run: row.score for row in scores.runs})
    assert any(
        note.startswith("Judgments: the majority of first, second, third") for note in page["tables"][0]["notes"]
    )
    few = demos["series"].page("/results", key="dawid-skene")
    assert few["state"] == "refused"
    assert few["message"].endswith("here they are 2 and 1,135; choose one")
    assert "dawid-skene (a model&#39;s guess from all assessors)</option>" in demos["series"].html("/results")
    both = demos["series"].page("/results/stability", sets=["adjudicated", "majority"], unjudged="wrong")
    assert both["document"]["sets"] == ["adjudicated", "majority"]
    assert "majority" not in demos["entailment"].page("/results/agree")["offer"]["sets"]
