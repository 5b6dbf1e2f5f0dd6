"""The page that compares assessors: for organisers, with the numbers of its command, and a reason without any."""

from __future__ import annotations

import json
import shutil

import pytest

from qassay.cli import main
from qassay.demo import demo_folder
from qassay.store.schema import ROLES

ASSESSORS = ("ana", "bo", "cem")


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory, serve):
    """The pairs of the demonstration, whose judgments name three people in turn."""
    folder = tmp_path_factory.mktemp("signed") / "pairs"
    shutil.copytree(demo_folder("entailment"), folder)
    for shift, name in enumerate(("first", "second")):
        path = folder / "judgments" / f"{name}.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        named = [row | {"assessor": ASSESSORS[(place + shift) % 3]} for place, row in enumerate(rows)]
        path.write_text("".join(json.dumps(row) + "\n" for row in named), encoding="utf-8")
    return serve(folder)


def test_the_page_says_what_the_command_says(signed, capsys: pytest.CaptureFixture[str]) -> None:
    page = signed.page("/results/people")
    assert page["state"] == "found", page["message"]
    assert main(["agree", str(signed.folder), "--by", "person", "--json"]) == 0
    assert page["document"] == json.loads(capsys.readouterr().out)
    assert {row["person"] for row in page["document"]["people"]} == set(ASSESSORS)
    shown = signed.html("/results/people")
    assert "Which assessor is out of line?" in shown
    assert page["answer"] in shown.replace("&#39;", "'")


def test_nobody_else_sees_it(signed) -> None:
    for role in set(ROLES) - {"organiser"}:
        assert signed.client(role).get("/api/results/people").status_code == 403, role


def test_without_names_the_page_says_why_there_is_nothing(demos) -> None:
    page = demos["series"].page("/results/people")
    assert (page["state"], page["tables"]) == ("found", [])
    assert page["answer"].startswith("No judgment names its assessor (first, second, third): ")


def test_the_facts_of_a_served_evaluation_count_its_assessors(signed) -> None:
    page = signed.page("/results/facts")
    assert set(page["document"]["assessors"]) == set(ASSESSORS)
    assert page["document"]["pair_labels"]
