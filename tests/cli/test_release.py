"""`qassay export --release` and the forms of tracks: given out, imported again, the same questions and scores."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qassay
from qassay.cli import main
from qassay.errors import InputError
from qassay.formats.folder import open_folder
from qassay.formats.importing import plan_import
from qassay.formats.nist_forms import rag_topics, series_xml, topics
from qassay.formats.questions import parse_questions
from qassay.questions import Question, TestSet, gather

Captured = pytest.CaptureFixture[str]
Data = Callable[[str], Path]


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    return Path(shutil.copytree(qassay.demo_folder(), tmp_path / "demo"))


def command(capsys: Captured, *arguments: object, status: int = 0) -> Any:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json"]) == status
    return json.loads(capsys.readouterr().out)


# ---- the bundle -----------------------------------------------------------------------------------------------------


def test_a_bundle_has_readme_checksums_and_licence(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "bundle"
    printed = command(capsys, "export", demo, "--to", out, "--release", "--licence", "CC BY 4.0")
    readme = (out / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# Qassay demo\n\nLicence: CC BY 4.0\n")
    assert "| factoid questions | 77 |" in readme
    assert "| 1 | hobby | 0.541 |" in readme
    assert (out / "LICENCE.txt").read_text() == "CC BY 4.0\n"
    # Every file but the list of checksums and the one that export keeps for itself, as `sha256sum -c` reads them.
    lines = (out / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    files = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    assert set(sums) == set(files) - {"SHA256SUMS", "export.json"}
    assert all(hashlib.sha256(files[name].read_bytes()).hexdigest() == digest for name, digest in sums.items())
    assert {"nist/questions.xml", "nist/target-types.txt", "judgments/first.jsonl"} < set(printed["files"])


def test_a_bundle_scores_the_same_and_so_does_what_is_imported_from_it(
    demo: Path, tmp_path: Path, capsys: Captured
) -> None:
    out, new = tmp_path / "bundle", tmp_path / "new"
    command(capsys, "export", demo, "--to", out, "--release")
    wanted = command(capsys, "score", demo)
    assert command(capsys, "score", out) == wanted
    assert main(["init", str(new), "--task", "series2004"]) == 0
    files = [out / "questions.jsonl", out / "answers.jsonl", out / "runs.jsonl"]
    files += [path for part in ("runs", "judgments", "nuggets") for path in sorted((out / part).iterdir())]
    assert main(["import", str(new), *map(str, files)]) == 0
    assert command(capsys, "score", new) == wanted
    for key in ("first", "second"):
        assert command(capsys, "score", new, "--key", key) == command(capsys, "score", demo, "--key", key)


def test_the_forms_of_nist_alone_score_the_same(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    """Questions in TREC's XML, runs, judgments, nuggets and answers as NIST writes them: nothing else is needed."""
    out, new = tmp_path / "bundle", tmp_path / "new"
    command(capsys, "export", demo, "--to", out, "--release")
    assert main(["init", str(new), "--task", "series2004"]) == 0
    nist = [out / "nist" / "questions.xml", out / "nist" / "target-types.txt"]
    nist += sorted((out / "nist").glob("adjudicated-*.txt"))
    assert main(["import", str(new), *map(str, [*nist, *sorted((out / "runs").iterdir())])]) == 0
    old, again = (command(capsys, "score", folder) for folder in (demo, new))
    by_run = {row["run"]: row for row in old["runs"]}
    for row in again["runs"]:
        assert row["score"] == by_run[row["run"]]["score"]
        assert row["components"] == by_run[row["run"]]["components"]
        assert (row["nil_precision"], row["nil_recall"]) == tuple(
            by_run[row["run"]][name] for name in ("nil_precision", "nil_recall")
        )
    assert again["matrix"] == old["matrix"]
    first, second = (command(capsys, "facts", folder)["target_types"] for folder in (demo, new))
    assert first == second


def test_a_bundle_without_a_licence_says_so(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    command(capsys, "export", demo, "--to", tmp_path / "bundle", "--release")
    assert "No licence is stated." in (tmp_path / "bundle" / "README.md").read_text()
    assert not (tmp_path / "bundle" / "LICENCE.txt").exists()
    assert main(["export", str(demo), "--to", str(tmp_path / "b2"), "--licence", "x"]) == 2
    assert "add --release" in capsys.readouterr().err
    assert main(["export", str(demo), "--to", str(tmp_path / "b2"), "--release", "--licence", "a\nb"]) == 1
    assert "--licence takes one line" in capsys.readouterr().err
    assert not (tmp_path / "b2").exists()


def test_the_address_of_a_database_is_not_given_out(demo: Path) -> None:
    from qassay.formats.exporting import make_release, without_database

    configuration = demo / "qassay.toml"
    address = 'database = "postgresql://me:pa55word@db/x"\n'
    configuration.write_text(address + configuration.read_text())
    release = make_release(open_folder(demo))
    assert b"pa55word" not in b"".join(release.contents.values())
    with pytest.raises(InputError, match="must not be in a release"):
        without_database('task = "qa"\n"database" = "postgresql://me:pa55word@db/x"\n')


def test_people_are_named_in_a_note_and_strings_that_nist_cannot_hold_stay_in_json(
    demo: Path, tmp_path: Path, capsys: Captured
) -> None:
    path = demo / "judgments" / "first.jsonl"
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(first) | {"assessor": "ana"}
    path.write_text("\n".join([json.dumps(row), *rest, json.dumps(row | {"text": "two\nlines"})]) + "\n")
    printed = command(capsys, "export", demo, "--to", tmp_path / "bundle", "--release")
    assert any(note.startswith("Judgments name their assessors (ana)") for note in printed["notes"])
    assert any(note.startswith("nist/ is left out: ") for note in printed["notes"])
    assert not (tmp_path / "bundle" / "nist").exists()
    assert command(capsys, "score", tmp_path / "bundle") == command(capsys, "score", demo)


def test_an_evaluation_without_judgments_is_released_too(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "e"
    assert main(["init", str(folder), "--task", "confidence"]) == 0
    (folder / "questions.jsonl").write_text('{"id": "1", "type": "factoid", "text": "Who?"}\n')
    command(capsys, "export", folder, "--to", tmp_path / "bundle", "--release")
    assert "There are no scores yet" in (tmp_path / "bundle" / "README.md").read_text()
    assert (tmp_path / "bundle" / "nist" / "topics.txt").is_file()


def test_tags_of_runs_are_not_markup_in_the_readme(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    tag = "<img/src=x>|`"
    (demo / "runs" / "kite.txt").unlink()
    rows = [
        {"run": tag, "question": q.id, "items": [], **({"nil": True} if q.type == "factoid" else {})}
        for q in qassay.open(demo).questions
    ]
    (demo / "runs" / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command(capsys, "export", demo, "--to", tmp_path / "bundle", "--release")
    readme = (tmp_path / "bundle" / "README.md").read_text(encoding="utf-8")
    assert "&lt;img" in readme
    assert "<" not in readme


def test_a_served_evaluation_is_released_from_its_store(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    from qassay.store.engine import open_store
    from qassay.store.folder.importing import import_folder

    wanted = command(capsys, "score", demo)
    store = open_store(open_folder(demo), create=True)
    import_folder(store, open_folder(demo))
    store.close()
    for part in ("judgments", "runs"):
        shutil.rmtree(demo / part)
    command(capsys, "export", demo, "--to", tmp_path / "bundle", "--release")
    assert command(capsys, "score", tmp_path / "bundle") == wanted
    assert not list((tmp_path / "bundle").rglob("*.db"))


def test_checksums_of_odd_names_are_those_of_sha256sum(tmp_path: Path) -> None:
    from qassay.formats.exporting import checksums

    for name in ("plain.txt", "back\\slash.txt"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "SHA256SUMS").write_text(
        checksums({"plain.txt": b"x"}, {"back\\slash.txt": tmp_path / "back\\slash.txt"})
    )
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("OK")) == (0, 2), done.stderr


# ---- questions in the forms of tracks -------------------------------------------------------------------------------


def test_the_questions_of_trec_2004_go_out_and_come_back(data: Data, tmp_path: Path, capsys: Captured) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        assert main(["init", str(folder), "--task", "series2004"]) == 0
    files = [str(data(f"trec_qa/{name}")) for name in ("trec13questions.xml", "trec13targettypes")]
    assert main(["import", str(first), *files]) == 0
    assert main(["export", str(first), "--nist", "--to", str(tmp_path / "out")]) == 0
    nist = [str(tmp_path / "out" / "nist" / name) for name in ("questions.xml", "target-types.txt")]
    assert main(["import", str(second), *nist]) == 0
    assert qassay.open(first).questions == qassay.open(second).questions
    assert len(qassay.open(second).questions) == 351


def test_the_questions_of_trec_2003_go_out_and_come_back(data: Data, tmp_path: Path) -> None:
    read = parse_questions(data("trec_qa/trec12questions").read_bytes(), file="topics").questions
    again = parse_questions(topics(read, file="topics").encode(), file="topics").questions
    assert again == read


# White space around a text is dropped when it is read.
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t\r"), min_size=1).map(str.strip)


@given(
    st.lists(st.tuples(TEXTS.filter(bool), st.sampled_from(["factoid", "list"])), min_size=1, max_size=5),
    TEXTS.filter(bool),
)
def test_any_text_survives_the_xml(asked: list[tuple[str, str]], target: str) -> None:
    flat = " ".join(target.split())
    if not flat or "\ufffe" in target or "\uffff" in target or any({"\ufffe", "\uffff"} & set(t) for t, _ in asked):
        return
    questions = [Question(f"1.{n}", kind, text, "1", flat) for n, (text, kind) in enumerate(asked)]
    gathered = gather(questions)
    again = parse_questions(series_xml(gathered, name="a & b", file="x").encode(), file="x").questions
    # XML makes one line end of every kind of it, but for those that are written as references.
    assert [q.text for q in again] == [q.text for q in gathered]
    assert [(q.id, q.type, q.series, q.target) for q in again] == [(q.id, q.type, q.series, q.target) for q in gathered]


def test_content_that_no_form_can_express_is_an_error_with_the_question() -> None:
    bell = TestSet((Question("1.1", "factoid", "ring \x07", "1", "t"),))
    with pytest.raises(InputError, match=r"question 1\.1: a control character"):
        series_xml(bell, name="x", file="questions.xml")
    with pytest.raises(InputError, match="question 7: its id or text cannot be written as a topic"):
        topics([Question("7", "factoid", "what is <desc>?")], file="topics.txt")
    with pytest.raises(InputError, match="question 7: its id or text has a tab"):
        rag_topics([Question("7", "other", "a\tb")], file="topics.tsv")


# ---- pyramid weights ------------------------------------------------------------------------------------------------


def test_weights_go_out_and_come_back_with_their_lists(tmp_path: Path, capsys: Captured) -> None:
    """In one command: the list says what is vital, whatever the weight; the weight stays."""
    first, second = tmp_path / "one", tmp_path / "two"
    for folder in (first, second):
        assert main(["init", str(folder), "--task", "series2004"]) == 0
        row = {"id": "1.1", "type": "other", "text": "", "series": "1", "target": "t"}
        (folder / "questions.jsonl").write_text(json.dumps(row) + "\n")
    weights = [("1", True, 1.0), ("2", False, 0.9), ("3", True, 0.25), ("4", False, 1e-7)]
    rows = [{"question": "1.1", "nugget": n, "vital": v, "text": f"n {n}", "weight": w} for n, v, w in weights]
    (first / "nuggets").mkdir(exist_ok=True)
    (first / "nuggets" / "adjudicated.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["export", str(first), "--nist", "--to", str(tmp_path / "out")]) == 0
    nist = [str(tmp_path / "out" / "nist" / f"adjudicated-{name}.txt") for name in ("weights", "nuggets")]
    assert main(["import", str(second), *nist]) == 0
    both = [qassay.open(folder).nugget_list("adjudicated").drop("line") for folder in (first, second)]
    assert both[0].rows() == both[1].rows()


# ---- incomplete runs ------------------------------------------------------------------------------------------------


def test_an_incomplete_run_is_stored_with_the_words_of_scoring(demo: Path, tmp_path: Path, capsys: Captured) -> None:
    """The warning of import names the options of score, and each of them works."""
    text = (demo / "runs" / "badger.txt").read_text(encoding="utf-8").replace(" badger ", " short ")
    (tmp_path / "short.txt").write_text(
        "".join(f"{line}\n" for line in text.splitlines() if not line.startswith("1.1 "))
    )
    plan = plan_import(open_folder(demo), [tmp_path / "short.txt"])
    (warning,) = plan.warnings
    assert (warning.rule, warning.question) == ("missing-question", "1.1")
    assert [way.value for way in warning.way_out][:2] == ["score --missing zero", "score --missing skip"]
    assert main(["import", str(demo), str(tmp_path / "short.txt")]) == 0
    capsys.readouterr()
    assert main(["score", str(demo), "--component", "factoid"]) == 1
    assert "--missing zero" in (error := capsys.readouterr().err)
    assert "--missing skip" in error
    for rule in ("zero", "skip"):
        document = command(capsys, "score", demo, "--component", "factoid", "--missing", rule)
        assert document["missing"] == {"rule": rule, "questions": {"short": 1}}
