"""A page shows the numbers of its command: the JSON twin holds what the command prints with --json."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from qassay.cli import main
from qassay.demo import DEMOS, Demo, demo_folder

PAGES = {
    "score": "/results",
    "describe": "/results/describe",
    "facts": "/results/facts",
    "agree": "/results/agree",
    "stability": "/results/stability",
    "plan": "/results/plan",
    "sensitivity": "/results/sensitivity",
    "compare": "/results/compare",
}


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What a command prints with --json."""
    status = main([*arguments, "--json"])
    printed = capsys.readouterr().out
    assert status == 0, printed
    return json.loads(printed)


@pytest.mark.parametrize("verb", PAGES)
@pytest.mark.parametrize("demo", DEMOS)
def test_the_page_and_the_command_say_the_same(demos, capsys, demo: Demo, verb: str) -> None:
    page = demos[demo].page(PAGES[verb])
    assert page["state"] == "found", page["message"]
    assert page["document"] == command(capsys, verb, str(demo_folder(demo)))
    assert page["provisional"] is None
    assert page["tables"]


@pytest.mark.parametrize("verb", PAGES)
def test_the_page_and_the_command_give_one_answer(demos, capsys, verb: str) -> None:
    assert main([verb, str(demo_folder())]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    # What follows the first sentence names commands in the terminal, and pages on the page.
    shown = demos["series"].page(PAGES[verb])["answer"]
    assert shown.split(". ")[0].rstrip(".") == first.split(". ")[0].rstrip(".")


@pytest.mark.parametrize("demo", DEMOS)
def test_two_runs(demos, capsys, demo: Demo) -> None:
    first, second = demos[demo].page("/results")["offer"]["runs"][:2]
    page = demos[demo].page("/results/compare", a=first, b=second)
    assert page["document"] == command(capsys, "compare", str(demo_folder(demo)), first, second)
    assert page["answer"] == f"{page['document']['answer']}."


def test_a_control(demos, capsys) -> None:
    first, second, *_ = demos["series"].page("/results")["offer"]["runs"]
    page = demos["series"].page("/results/compare", control=second)
    assert page["document"] == command(capsys, "compare", str(demo_folder()), "--control", second)
    assert first in {row["system"] for row in page["document"]["against"]}
    assert "Corrected for 9 comparisons." in page["answer"]
    assert "Every run compared with" in demos["series"].html("/results/compare", control=second)


def test_a_choice_is_that_of_the_command(demos, capsys) -> None:
    folder = str(demo_folder())
    page = demos["series"].page("/results", key="first", measure="nugget_f(beta=1)")
    assert page["document"] == command(capsys, "score", folder, "--key", "first", "--measure", "nugget_f(beta=1)")
    page = demos["series"].page("/results", component="list", key="third", unjudged="wrong")
    assert page["document"] == command(
        capsys, "score", folder, "--component", "list", "--key", "third", "--unjudged", "wrong"
    )
    page = demos["series"].page("/results", best_per_organisation=1)
    assert page["document"] == command(capsys, "score", folder, "--best-per-organisation")
    page = demos["series"].page("/results/agree", sets=["first", "adjudicated"])
    assert page["document"] == command(capsys, "agree", folder, "--sets", "first,adjudicated")
    pair = {"a": "dunlin", "b": "jay", "over": ["first", "second"], "people": "new"}
    page = demos["series"].page("/results/compare", **pair)
    assessors = ("--over", "first,second", "--people", "new")
    assert page["document"] == command(capsys, "compare", folder, "dunlin", "jay", *assessors)
    assert "For these 2 assessors dunlin − jay lies between " in page["answer"]
    shown = (
        demos["series"]
        .client("organiser")
        .get("/results/compare?a=dunlin&b=jay&over=first&over=second&people=&method=max-t&control=")
    )
    assert shown.status_code == 200
    assert "for other assessors like them" in shown.text
    page = demos["series"].page("/results/sensitivity", component="factoid", error=0.1)
    assert page["document"] == command(capsys, "sensitivity", folder, "--component", "factoid", "--error", "0.1")


def test_the_csv_of_the_scores_is_the_matrix_of_the_command(demos, capsys) -> None:
    scores = command(capsys, "score", str(demo_folder()))
    sent = demos["series"].client("organiser").get("/results/units.csv")
    assert sent.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(sent.text)))
    assert [row["series"] for row in rows] == scores["units"]
    for run, values in scores["matrix"].items():
        assert [float(row[run]) for row in rows] == values


def test_every_table_has_its_csv(demos) -> None:
    for path in (*PAGES.values(), "/results/units"):
        page = demos["rag"].page(path)
        for table in page["tables"]:
            sent = demos["rag"].client("organiser").get(table["csv"])
            assert sent.status_code == 200, sent.text
            rows = list(csv.reader(io.StringIO(sent.text)))
            assert rows[0] == [column["header"] for column in table["columns"]]
            assert len(rows) == 1 + len(table["rows"])
