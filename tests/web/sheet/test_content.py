"""What a judging sheet holds: documents, known answers, and no more than a file should."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import qassay
from qassay.errors import UsageError
from qassay.evaluation import open_evaluation
from qassay.judging import digest
from qassay.web.sheet.content import Wanted, make_content
from qassay.web.sheet.page import write_page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The demo, in a folder of its own."""
    return Path(shutil.copytree(qassay.demo_folder(), tmp_path / "eval"))


def test_documents_are_cut_around_the_string(folder: Path) -> None:
    articles = folder / "collection" / "articles.jsonl"
    rows = [json.loads(line) for line in articles.read_text().splitlines()]
    padding = "x " * 30_000
    articles.write_text("".join(json.dumps({**row, "text": padding + row["text"]}) + "\n" for row in rows))
    content = make_content(open_evaluation(folder), Wanted("ada", ["1.1"]), seed="s")
    shown = content.questions[0]["documents"]
    assert len(shown) == 5
    for asked, (number, marks, begins, length, is_found) in shown.items():
        text = content.texts[number - 1]["text"]
        assert len(text) == 20_000
        assert begins > 0
        assert length > 60_000
        assert is_found == "exact"
        assert text[slice(*marks[0])] == json.loads(asked)[1]


def test_notes_of_another_assessor_are_not_shown(folder: Path) -> None:
    with (folder / "answers.jsonl").open("a") as file:
        for answer, assessor in (("Lodz", "bob"), ("Cracow", "ada")):
            file.write(json.dumps({"question": "1.1", "answer": answer, "assessor": assessor}) + "\n")
    content = make_content(open_evaluation(folder), Wanted("ada", ["1.1"]), seed="s")
    assert "Cracow" in content.questions[0]["answers"]
    assert "Lodz" not in content.questions[0]["answers"]


def test_who_has_a_sheet_cannot_name_that_of_another(folder: Path) -> None:
    """The attack: rows with the name of Bob's sheet, in the file that Ada sends back, became Bob's judgments."""
    evaluation = open_evaluation(folder)
    ada, bob, again = (make_content(evaluation, Wanted(name, ["1.1"]), seed="s") for name in ("ada", "bob", "bob"))
    computed = digest(evaluation.name, "bob", ada.questions)[:12]
    assert ada.questions == bob.questions
    assert bob.key.sheet != f"bob-{computed}"
    assert bob.key.sheet == again.key.sheet


@pytest.mark.parametrize(
    ("there", "shown"),
    [
        (["development", "first", "ada"], "ada"),
        (["development", "first"], "development"),
        (["adjudicated"], "adjudicated"),
        (["given"], "given"),
        (["first"], None),
        (["first", "second", "adjudicated"], None),
    ],
)
def test_nobody_is_shown_the_nuggets_that_another_assessor_wrote(
    folder: Path, there: list[str], shown: str | None
) -> None:
    for path in (folder / "nuggets").iterdir():
        path.unlink()
    for name in there:
        row = {"question": "1.7", "nugget": "1", "vital": True, "text": f"of {name}"}
        (folder / "nuggets" / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    content = make_content(open_evaluation(folder), Wanted("ada", ["1.1", "1.7"]), seed="s")
    texts = [nugget["text"] for question in content.questions for nugget in question["nuggets"]]
    assert texts == ([f"of {shown}"] if shown else [])
    assert content.waiting == ([] if shown else ["1.7"])


def test_a_sheet_that_is_too_large_says_what_to_do(folder: Path, tmp_path: Path) -> None:
    content = make_content(open_evaluation(folder), Wanted("ada"), seed="s")
    with pytest.raises(UsageError, match=r"larger than 0 MB; make several with --questions, or .* --no-documents"):
        write_page(content, tmp_path / "large.html", largest=500_000)
    assert not (tmp_path / "large.html").exists()


def test_documents_are_there_once_or_left_out(folder: Path, tmp_path: Path) -> None:
    evaluation = open_evaluation(folder)
    with_, without = (
        make_content(evaluation, Wanted("ada", documents=documents), seed="s") for documents in (True, False)
    )
    ids = [text["id"] for text in with_.texts]
    assert len(ids) == len(set(ids)) > 50
    assert without.texts == []
    sizes = [write_page(content, tmp_path / f"{len(content.texts)}.html") for content in (with_, without)]
    assert sizes[0] > sizes[1]


def test_a_string_with_characters_beyond_the_basic_plane_is_found_as_the_page_asks(folder: Path) -> None:
    """JavaScript cuts a long string by halves of such characters, and half a one is replaced."""
    text = "a" + "\U0001f600" * 1500
    run = folder / "runs" / "own.jsonl"
    asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    for path in (folder / "runs").iterdir():
        path.unlink()
    rows = [
        {"run": "own", "question": question["id"], "items": [{"doc": "demo-curie-1", "text": text}]}
        for question in asked
    ]
    run.write_text("".join(json.dumps(row) + "\n" for row in rows))
    content = make_content(open_evaluation(folder), Wanted("ada", ["1.1"]), seed="s")
    [shown] = content.questions[0]["documents"]
    assert json.loads(shown)[1] == "a" + "\U0001f600" * 999 + "\ufffd"
