"""The demonstration: the story agrees with the commands it stands for, and the copy with the original."""

from __future__ import annotations

import io
import itertools
import json
import socket
from functools import cache
from pathlib import Path

import pytest

import qassay
from qassay.cli import main
from qassay.cli.demo import _material
from qassay.demo import copy_demo
from qassay.pages import QUESTIONS
from qassay.reports import Material
from qassay.reports.sections import pages_of


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "copy"
    copy_demo(folder)
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for temporary files that are kept."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_the_steps_are_the_questions_of_results(capsys: pytest.CaptureFixture[str], elsewhere: Path) -> None:
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    for run in material().matrix.runs:
        assert run in printed
    # README of the evaluation: the three assessors agree on 216 of the 268 factoid items.
    assert "agree on 80.6% of 268 items" in " ".join(printed.split())
    for page in pages_of(material()):
        assert " ".join(page.answer) in " ".join(printed.split())
    steps = [*(f"{number}. {question}" for number, question in enumerate(QUESTIONS, 1)), "What to try next"]
    assert [printed.index(f"\n{step}\n") for step in steps] == sorted(printed.index(f"\n{step}\n") for step in steps)
    # Prose is folded; a table is as wide as its command prints it.
    assert max(len(line) for line in printed.splitlines() if "file:" not in line) <= 110
    (report,) = elsewhere.glob("qassay-demo-*/report.html")
    assert report.as_uri() in printed
    assert "<svg" in report.read_text(encoding="utf-8")


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("arguments", "terminal", "serves"),
    [
        ([], True, True),
        ([], False, False),
        (["--no-serve"], True, False),
        (["--serve"], False, True),
        (["--json"], True, False),
        (["--to", "copy"], True, False),
        (["--to", "copy", "--serve"], False, True),
    ],
)
def test_it_serves_on_a_terminal_by_default(
    arguments: list[str], terminal: bool, serves: bool, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Path] = []
    monkeypatch.setattr("qassay.cli.serve.serve_folder", lambda folder, settings, before: served.append(folder))
    monkeypatch.setattr("qassay.cli.demo._material", material)
    monkeypatch.setattr("qassay.cli.demo._write_report", lambda path, material: "")
    monkeypatch.setattr("sys.stdout", Terminal() if terminal else io.StringIO())
    monkeypatch.chdir(elsewhere)
    assert main(["demo", *arguments]) == 0
    assert bool(served) is serves


@cache
def material() -> Material:
    return _material()


def test_without_extras_it_tells_the_story_and_what_to_install(
    capsys: pytest.CaptureFixture[str], elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qassay.cli.demo._material", material)
    monkeypatch.setattr("qassay.cli.demo.installed", lambda extra: False)
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    assert "pip install 'qassay[figures]'" in printed
    assert "pip install 'qassay[serve]'" in printed
    assert list(elsewhere.iterdir()) == []


def test_the_served_demo_has_three_addresses_and_fits_a_screen(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from qassay.cli.demo import TO_SEE, _prepare
    from qassay.store.engine import open_store
    from qassay.web.results.publishing import publications, published

    _prepare(tmp_path / "demo", tmp_path / "report.html", "http://127.0.0.1:8000", is_kept=False)
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) <= 14
    for address in ((tmp_path / "report.html").as_uri(), "http://127.0.0.1:8000/results", "http://127.0.0.1:8000/work"):
        assert address in printed
    assert all(f"  {name} " in printed for name in TO_SEE)
    # The commands of the report are about a copy that the demonstration makes.
    assert "qassay score demo" in (tmp_path / "report.html").read_text(encoding="utf-8")
    store = open_store(tmp_path / "demo")
    with store.read() as connection:
        (publication,) = publications(connection)
        stored = published(connection, publication.id)
    store.close()
    assert stored is not None
    assert (publication.title, publication.provisional) == ("The first 12 series", None)
    assert "12 series" in stored.tables["leaderboard"].title
    assert [picture.name for picture in stored.pictures] == ["leaderboard"]
    assert stored.answer


@pytest.mark.parametrize(
    ("part", "arguments"),
    [
        ("score", ["score"]),
        ("agree", ["agree"]),
        ("stability", ["stability"]),
        ("sensitivity", ["sensitivity", "--intervals", "0"]),
    ],
)
def test_each_part_is_what_its_command_says(
    part: str, arguments: list[str], copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)[part]
    assert main([arguments[0], str(copy), *arguments[1:], "--json"]) == 0
    commanded = json.loads(capsys.readouterr().out)
    shared = document.keys() & commanded.keys() - {"notes"}
    assert len(shared) >= 3
    assert {key: document[key] for key in shared} == {key: commanded[key] for key in shared}


def test_the_closest_neighbours_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    scores = [run["score"] for run in document["score"]["runs"]]
    assert document["compare"]["difference"] == pytest.approx(min(a - b for a, b in itertools.pairwise(scores)))


def test_the_copy_is_the_evaluation(copy: Path) -> None:
    source = qassay.demo_folder()
    names = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file())
    assert sorted(path.relative_to(copy) for path in copy.rglob("*") if path.is_file()) == names
    assert all((copy / name).read_bytes() == (source / name).read_bytes() for name in names)
    (copy / "qassay.toml").write_bytes((copy / "qassay.toml").read_bytes())  # it can be changed


def test_copying_says_what_to_do_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "new"
    assert main(["demo", "--to", str(target), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["to"] == str(target)
    assert "qassay.toml" in document["files"]
    assert main(["demo", "--to", str(tmp_path / "other")]) == 0
    assert "qassay score" in capsys.readouterr().out


def test_copying_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "qassay.toml"
    mine.write_text("task = 'ranked5'")
    assert main(["demo", "--to", str(tmp_path)]) == 1
    assert "not empty" in capsys.readouterr().err
    assert main(["demo", "--to", str(mine)]) == 1
    assert "is a file" in capsys.readouterr().err
    assert mine.read_text() == "task = 'ranked5'"
    assert sorted(tmp_path.iterdir()) == [mine]


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    assert "questions.jsonl" in copy_demo(tmp_path)


def test_the_served_copy_is_half_judged_with_work_for_everybody(tmp_path: Path) -> None:
    from qassay.store.adjudication.settling import progress
    from qassay.store.assignment.assignments import all_assignments
    from qassay.store.engine import open_store
    from qassay.web.demonstration import FINISHED, JUDGED, PEOPLE, prepare

    copy_demo(tmp_path / "demo")
    people = prepare(tmp_path / "demo")
    assert [(person.name, person.role) for person in people] == list(PEOPLE)
    # One password for everybody, a new one at every start.
    assert len({person.password for person in people}) == 1
    store = open_store(tmp_path / "demo")
    with store.read() as connection:
        work = all_assignments(connection)
        questions = progress(connection)
    store.close()
    closed = {assignment.question.split(".")[0] for assignment in work if assignment.closed}
    assert closed == JUDGED
    assert {assignment.question.split(".")[0] for assignment in work if not assignment.closed}.isdisjoint(JUDGED)
    matching = {assignment.question for assignment in work if assignment.step == 2}
    assert matching
    assert matching <= {assignment.question for assignment in work if assignment.closed}
    assert sum(question.settled.left for question in questions if question.settled) >= 5
    left = {question.question.split(".")[0] for question in questions if question.settled and question.settled.left}
    assert left == JUDGED - FINISHED, "the finished series are adjudicated"
    assert len({assignment.account for assignment in work}) == 2


def test_serving_refuses_what_it_does_not_serve(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--serve", "--which", "rag"]) == 2
    assert "--serve" in capsys.readouterr().err


def test_a_port_that_is_taken_is_reported_before_anything_is_copied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["demo", "--serve", "--to", str(tmp_path / "copy"), "--port", str(port)]) == 2
    printed = capsys.readouterr()
    assert f"port {port} is taken" in printed.err
    assert printed.out == ""
    assert not (tmp_path / "copy").exists()
