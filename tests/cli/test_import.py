"""`qassay import`: all or nothing, and nothing twice."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from on_disk import read, refused, run_import, snapshot, write
from qassay.cli import main
from qassay.formats.parts import file_part
from qassay.formats.questions import read_questions

Captured = pytest.CaptureFixture[str]
Data = Callable[[str], Path]

QUESTIONS = [
    {"id": "1.1", "type": "factoid", "text": "When?", "series": "1", "target": "Crips"},
    {"id": "1.2", "type": "list", "text": "Which?", "series": "1", "target": "Crips"},
    {"id": "1.3", "type": "other", "text": "", "series": "1", "target": "Crips"},
]
RUN = "1.1 alpha D1 1969\n1.2 alpha D1 Boston\n1.2 alpha D2 Austin\n1.3 alpha D1 a gang\n"


@pytest.fixture
def folder(tmp_path: Path, capsys: Captured) -> Path:
    """An evaluation with three questions."""
    folder = tmp_path / "eval"
    main(["init", str(folder), "--task", "series2004"])
    assert main(["import", str(folder), str(write(tmp_path / "q.jsonl", QUESTIONS))]) == 0
    capsys.readouterr()
    return folder


def test_the_keys_of_2004(tmp_path: Path, data: Data, capsys: Captured) -> None:
    main(["init", str(tmp_path / "e"), "--task", "series2004"])
    capsys.readouterr()
    names = [
        "trec13answers_other",
        "trec13answers_list",
        "trec13patterns+docs_factoid",
        "trec13patterns_list",
        "trec13questions.xml",
    ]
    paths = [data(f"trec_qa/{name}") for name in names]
    assert run_import(tmp_path / "e", *paths) == 0
    assert [line.split(": ", 1)[1] for line in capsys.readouterr().out.splitlines()] == [
        "580 nuggets to nuggets/adjudicated.jsonl",
        "484 answers to answers.jsonl",
        "225 patterns to patterns.txt",
        "484 patterns to patterns.txt",
        "351 questions in 65 series (230 factoid, 56 list, 65 other)",
    ]
    before = snapshot(tmp_path / "e")
    assert run_import(tmp_path / "e", *paths) == 0
    assert snapshot(tmp_path / "e") == before
    assert all("nothing new" in line for line in capsys.readouterr().out.splitlines())


def test_rag_assignments_in_one_step(tmp_path: Path, data: Data, capsys: Captured) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "nuggets"])
    capsys.readouterr()
    assert run_import(folder, data("trec_rag24/nugget_assignment.20241108.jl"), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["added"][0]["count"] == 21 + 45 + 298 + 13_158
    assert document["warnings"][0]["rule"] == "missing-question"
    assert len(list((folder / "runs").iterdir())) == 45
    assert len(read(folder / "judgments" / "adjudicated.jsonl")) == 13_158
    before = snapshot(folder)
    assert run_import(folder, data("trec_rag24/nugget_assignment.20241108.jl")) == 0
    assert snapshot(folder) == before
    # Best vital_strict over the topics a run has: README.md of the data.
    capsys.readouterr()
    assert main(["score", str(folder), "--missing", "skip", "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["runs"][0]
    assert (best["run"], round(best["score"], 4)) == ("ldilab_gpt_4o", 0.6666)


def test_questions_that_are_there_stay_with_assignments(tmp_path: Path, data: Data, capsys: Captured) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "nuggets"])
    assert run_import(folder, data("trec_rag24/topics.rag24.test.txt")) == 0
    before = (folder / "questions.jsonl").read_bytes()
    assert run_import(folder, data("trec_rag24/nugget_assignment.20241108.jl")) == 0
    assert (folder / "questions.jsonl").read_bytes() == before
    assert "6 questions read differently in the evaluation, and stay" in capsys.readouterr().err


def test_pairs_bring_their_labels(tmp_path: Path, data: Data, capsys: Captured) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "entailment3"])
    assert run_import(folder, data("rte3/RTE3-TEST-GOLD.xml")) == 0
    rows = read(folder / "judgments" / "reference.jsonl")
    assert [sum(row["judgment"] == label for row in rows) for label in ("YES", "NO")] == [410, 390]
    assert "two_way" in capsys.readouterr().err
    assert run_import(folder, data("rte3/RTE3-TEST-GOLD.xml"), "--set", "main") == 0
    assert (folder / "judgments" / "main.jsonl").exists()


def test_two_way_labels_are_marked(tmp_path: Path) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "entailment3"])
    pair = '<pair id="1" entailment="NO ENTAILMENT"><t>T</t><h>H</h></pair>'
    (tmp_path / "rte.xml").write_text(f"<entailment-corpus>{pair}</entailment-corpus>")
    assert run_import(folder, tmp_path / "rte.xml") == 0
    assert (folder / "qassay.toml").read_text().startswith('two_way = ["reference"]\n')
    assert run_import(folder, tmp_path / "rte.xml") == 0
    assert (folder / "qassay.toml").read_text().count('two_way = ["reference"]') == 1


def test_labels_of_a_file_in_place_are_not_lost(tmp_path: Path) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "entailment3"])
    pair = '<pair id="1" entailment="NO ENTAILMENT"><t>T</t><h>H</h></pair>'
    (folder / "questions.xml").write_text(f"<entailment-corpus>{pair}</entailment-corpus>")
    more = write(tmp_path / "q.jsonl", [{"id": "2", "type": "pair", "text": "T", "hypothesis": "H"}])
    assert run_import(folder, more) == 0
    assert sorted(path.name for path in folder.glob("questions.*")) == ["questions.jsonl"]
    assert read(folder / "judgments" / "reference.jsonl") == [{"question": "1", "judgment": "NO"}]
    assert 'two_way = ["reference"]' in (folder / "qassay.toml").read_text()


def test_questions_merge_and_are_replaced_only_with_leave(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    more = {"id": "2.1", "type": "factoid", "text": "Who?", "series": "2", "target": "X", "level": 3}
    assert run_import(folder, write(tmp_path / "more.jsonl", [QUESTIONS[0], more])) == 0
    assert "2 questions in 2 series of type factoid, 1 of them new" in capsys.readouterr().out
    assert read(folder / "questions.jsonl") == [*QUESTIONS, more]
    other = write(tmp_path / "other.jsonl", [{**QUESTIONS[0], "text": "Where?"}])
    assert "1 question differs from the evaluation's (1.1)" in refused(folder, capsys, other)
    assert run_import(folder, other, "--replace") == 0
    assert read(folder / "questions.jsonl")[0]["text"] == "Where?"


def test_types_that_the_task_lacks(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    message = refused(folder, capsys, write(tmp_path / "x.jsonl", [{"id": "9", "type": "definition", "text": "Who?"}]))
    assert "1 question of type definition (9); task series2004 takes factoid, list, other" in message
    assert "without a series" in message
    assert 'add "series" and "target" to each row' in message


def test_type_of_untyped_topics(tmp_path: Path) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "main2003"])
    (tmp_path / "topics").write_text("<top>\n<num> Number: 1\n<desc> Description:\nName them.\n</top>\n")
    assert run_import(folder, tmp_path / "topics", "--type", "list") == 0
    assert read_questions(file_part(folder / "questions.jsonl")).questions.types == ("list",)
    assert run_import(folder, tmp_path / "topics", "--type", "essay") == 2


def test_runs_keep_their_bytes(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    data = RUN.replace("\n", "\r\n").encode()
    (tmp_path / "any name.dat").write_bytes(data)
    assert run_import(folder, tmp_path / "any name.dat") == 0
    assert (folder / "runs" / "alpha.txt").read_bytes() == data
    assert "run alpha written to runs/alpha.txt" in capsys.readouterr().out
    packed = gzip.compress(RUN.replace("alpha", "be:ta").encode())
    (tmp_path / "b").write_bytes(packed)
    assert run_import(folder, tmp_path / "b") == 0
    assert (folder / "runs" / "be%3Ata.txt.gz").read_bytes() == packed
    assert run_import(folder, tmp_path / "b", tmp_path / "any name.dat") == 0
    assert capsys.readouterr().out.count("nothing new") == 2


def test_runs_in_another_encoding_become_utf8(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(RUN.replace("Boston", "Malmö").encode("latin-1"))
    assert run_import(folder, tmp_path / "r") == 1
    assert run_import(folder, tmp_path / "r", "--encoding", "latin-1") == 0
    assert (folder / "runs" / "alpha.txt").read_text(encoding="utf-8") == RUN.replace("Boston", "Malmö")
    assert run_import(folder, tmp_path / "r", "--encoding", "latin-1") == 0  # the same run again is nothing new


def test_a_collection_without_documents_says_nothing_of_runs(folder: Path, tmp_path: Path) -> None:
    (folder / "collection").mkdir()
    (tmp_path / "r.txt").write_text(RUN)
    assert run_import(folder, tmp_path / "r.txt") == 0


def test_another_run_of_the_same_tag(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "a.txt").write_text(RUN)
    (tmp_path / "b.txt").write_text(RUN.replace("1969", "1970"))
    assert "as " in refused(folder, capsys, tmp_path / "a.txt", tmp_path / "b.txt")
    assert run_import(folder, tmp_path / "a.txt") == 0
    capsys.readouterr()
    assert "another run alpha" in refused(folder, capsys, tmp_path / "b.txt")
    rows = [{"run": "alpha", "question": q["id"], "items": [{"doc": "D", "text": "x"}]} for q in QUESTIONS]
    assert run_import(folder, write(tmp_path / "c.jsonl", rows), "--replace") == 0
    assert [path.name for path in (folder / "runs").iterdir()] == ["alpha.jsonl"]


def test_nothing_of_a_faulty_run_is_stored(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "good.txt").write_text(RUN)
    (tmp_path / "bad.txt").write_text("1.1 beta D1 x\n1.1 beta D2 y\n9 beta D1 x\n1.3 beta D1 z\n")
    message = refused(folder, capsys, tmp_path / "good.txt", tmp_path / "bad.txt")
    assert "bad.txt:2: question 1.1 has 2 answers; a factoid takes one" in message
    assert "bad.txt:3: question 9 is not in the test set" in message


def test_all_errors_of_all_files_are_reported(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "run.txt").write_text("1.1 beta D1 x\n9 beta D1 x\n")
    write(tmp_path / "judged.jsonl", [{"question": "1.1", "doc": "D", "text": "x", "judgment": "Q"}])
    write(tmp_path / "nuggets.jsonl", [{"question": "8", "nugget": "1", "vital": True, "text": "x"}])
    (tmp_path / "binary").write_bytes(b"\0\1\2")
    write(tmp_path / "good.jsonl", [{"question": "1.1", "answer": "1969"}])
    names = ["run.txt", "judged.jsonl", "nuggets.jsonl", "binary", "good.jsonl", "none"]
    message = refused(folder, capsys, *(tmp_path / name for name in names), tmp_path)
    for part in (
        "run.txt:2: question 9 is not in the test set",
        "judged.jsonl:1: question 1.1: 'Q' is not a label",
        "nuggets.jsonl:1: question 8 is not in the test set",
        "binary: is not a text file",
        "none: cannot be read: No such file",
        f"{tmp_path}: is a folder; name the files in it",
    ):
        assert part in message
    assert "good.jsonl" not in message


def test_faulty_questions_do_not_hide_other_faults(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "series2004"])
    (tmp_path / "q.jsonl").write_text('{"id": "1", "type": "essay", "text": "x"}\n')
    (tmp_path / "j.jsonl").write_text('{"question": "1", "judgment": "R"}\n{oops\n')
    capsys.readouterr()
    message = refused(folder, capsys, tmp_path / "q.jsonl", tmp_path / "j.jsonl")
    assert "q.jsonl:1: type 'essay'" in message
    assert "j.jsonl:2: this line is not JSON" in message
    assert len(message.splitlines()) == 2


def test_questions_come_first(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "e"
    main(["init", str(folder), "--task", "series2004"])
    capsys.readouterr()
    (tmp_path / "r.txt").write_text(RUN)
    assert "the evaluation has no questions yet" in refused(folder, capsys, tmp_path / "r.txt")
    assert run_import(folder, tmp_path / "r.txt", write(tmp_path / "q.jsonl", QUESTIONS)) == 0


ITEM = {"question": "1.1", "doc": "D1", "text": "1969"}


def test_judgments_are_appended_as_history(folder: Path, tmp_path: Path) -> None:
    first = write(
        tmp_path / "first.jsonl", [{**ITEM, "judgment": "R", "note": {"sure": 0.5}, "at": "2024-01-01T00:00:00Z"}]
    )
    second = write(tmp_path / "second.jsonl", [{**ITEM, "judgment": "W"}])
    assert run_import(folder, first) == 0
    assert run_import(folder, second, "--set", "first") == 0
    expected = [*read(first), *read(second)]
    target = folder / "judgments" / "first.jsonl"
    assert read(target) == expected
    for path in (first, second, first):
        assert run_import(folder, path, "--set", "first") == 0
    assert read(target) == expected


@pytest.mark.parametrize(
    ("stored", "new", "result"),
    [
        ("", "RWR", "RWR"),  # the history of the file itself stays whole
        ("R", "RW", "RW"),
        ("R", "WR", "RWR"),  # the last row of the file counts
        ("RW", "R", "RW"),  # known history
        ("RWX", "RX", "RWX"),
        ("RW", "WR", "RWR"),
        ("RR", "RRR", "RRR"),
    ],
)
def test_which_judgments_are_new(folder: Path, tmp_path: Path, stored: str, new: str, result: str) -> None:
    other = {"question": "1.1", "doc": "D2", "text": "x", "judgment": "W"}
    target = folder / "judgments" / "a.jsonl"
    if stored:
        write(target, [other, *({**ITEM, "judgment": label} for label in stored)])
    rows = [{**ITEM, "judgment": label} for label in new]
    assert run_import(folder, write(tmp_path / "a.jsonl", rows)) == 0
    assert "".join(row["judgment"] for row in read(target) if row["doc"] == "D1") == result


def test_a_file_without_a_last_line_end(folder: Path, tmp_path: Path) -> None:
    target = folder / "judgments" / "a.jsonl"
    target.write_text(json.dumps({**ITEM, "judgment": "R"}))
    assert run_import(folder, write(tmp_path / "a.jsonl", [{**ITEM, "judgment": "W"}])) == 0
    assert [row["judgment"] for row in read(target)] == ["R", "W"]


def test_compressed_sets_stay_compressed(folder: Path, tmp_path: Path) -> None:
    target = folder / "judgments" / "a.jsonl.gz"
    target.write_bytes(gzip.compress((json.dumps({**ITEM, "judgment": "R"}) + "\n").encode()))
    assert run_import(folder, write(tmp_path / "a.jsonl", [{**ITEM, "judgment": "W"}])) == 0
    assert [path.name for path in target.parent.iterdir()] == ["a.jsonl.gz"]
    assert gzip.decompress(target.read_bytes()).count(b"\n") == 2


def test_nist_forms_go_to_adjudicated(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "factoid").write_text("1.1 D1 1 1969\n1.1 D2 -1 1970\n1.1 NIL -1\n")
    (tmp_path / "list").write_text("1.2 alpha D1 1 1 Boston\n1.2 alpha D2 -1 0 Austin\n")
    (tmp_path / "other").write_text("1.3 alpha 1 D1 a gang\n1.3 alpha 1 2\n")
    (tmp_path / "nuggets").write_text("Qid 1.3: Crips\n1.3 1\tvital\tgang\n1.3 2\tokay\tblue\n")
    (tmp_path / "answers").write_text("# 1.2\nQ:Which?\nBoston\nOakland\n")
    names = ["factoid", "list", "other", "nuggets", "answers"]
    assert run_import(folder, *(tmp_path / name for name in names)) == 0
    printed = capsys.readouterr()
    assert "factoid:3: question 1.1: NIL needs no judgment" in printed.err
    assert [row.get("judgment") for row in read(folder / "judgments" / "adjudicated.jsonl")] == [
        "R",
        "W",
        "R",
        "W",
        None,
    ]
    (tmp_path / "run.txt").write_text(RUN)
    assert run_import(folder, tmp_path / "run.txt") == 0
    capsys.readouterr()
    assert main(["score", str(folder), "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    # IP = 1/2, IR = 1/2; the vital nugget was not returned.
    assert scored["questions"]["alpha"] == {"1.1": 1.0, "1.2": 0.5, "1.3": 0.0}


def test_nuggets_that_judgments_name_must_be_there(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    judged = write(tmp_path / "a.jsonl", [{"question": "1.3", "run": "x", "nuggets": ["7"]}])
    nuggets = write(tmp_path / "n.jsonl", [{"question": "1.3", "nugget": "1", "vital": True, "text": "x"}])
    assert "question 1.3 has no nugget '7'" in refused(folder, capsys, judged, nuggets)


def test_patterns(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "p").write_text("1.1 19(69|70) NYT19980619.0373\r\n7.7 x\n1.1 19(69|70) NYT19980619.0373\n")
    assert run_import(folder, tmp_path / "p") == 0
    assert (folder / "patterns.txt").read_text() == "1.1 19(69|70) NYT19980619.0373\n7.7 x\n"
    assert "patterns for 1 question not in the test set: 7.7" in capsys.readouterr().err
    (tmp_path / "p2").write_text("1.1 (oops\n")
    assert "is not a regular expression" in refused(folder, capsys, tmp_path / "p2")


def test_run_information(folder: Path, tmp_path: Path) -> None:
    rows = [{"run": "alpha", "organisation": "Ours", "manual": True, "tool": "x"}]
    assert run_import(folder, write(tmp_path / "runs.jsonl", rows)) == 0
    assert read(folder / "runs.jsonl") == rows
    assert run_import(folder, write(tmp_path / "runs.jsonl", [{"run": "alpha", "manual": "yes"}])) == 1


def test_unknown_fields_and_odd_characters_survive(folder: Path, tmp_path: Path) -> None:
    row = {"question": "1.1", "doc": "D", "text": 'a\u2028b\x85c\x0cd\t"', "judgment": "R", "mine": [1, 0.1, None, "é"]}
    assert run_import(folder, write(tmp_path / "a.jsonl", [row])) == 0
    assert read(folder / "judgments" / "a.jsonl") == [row]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--as", "jugments"], "did you mean 'judgments'"),
        (["--set", "a b"], "white space"),
        (["--set", ""], "is empty"),
    ],
)
def test_wrong_usage(folder: Path, tmp_path: Path, capsys: Captured, arguments: list[str], says: str) -> None:
    path = write(tmp_path / "a.jsonl", [{**ITEM, "judgment": "R"}])
    assert run_import(folder, path, *arguments) == 2
    assert says in capsys.readouterr().err


def test_names_too_long_for_a_file(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path / "a.jsonl", [{**ITEM, "judgment": "R"}])
    assert "too long for a file" in refused(folder, capsys, path, "--set", "é" * 100)


def test_a_full_disk_leaves_everything_as_it_was(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "r.txt").write_text(RUN)
    path = write(tmp_path / "a.jsonl", [{**ITEM, "judgment": "R"}])
    calls = []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert "No space left on device" in refused(folder, capsys, tmp_path / "r.txt", path)


def test_a_run_with_unknown_documents_is_not_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "with-documents"
    (folder / "collection").mkdir(parents=True)
    (folder / "qassay.toml").write_text('task = "main2003"\n')
    (folder / "questions.jsonl").write_text('{"id": "1", "type": "factoid", "text": "Who?"}\n')
    (folder / "collection" / "documents.jsonl").write_text('{"id": "here", "text": "It was Ada."}\n')
    run = tmp_path / "r.txt"
    run.write_text("1 r nowhere Ada\n")
    assert main(["import", str(folder), str(run)]) == 1
    assert "document nowhere is not in the collection" in capsys.readouterr().err
    assert not (folder / "runs").exists()
    run.write_text("1 r here Ada\n")
    assert main(["import", str(folder), str(run)]) == 0
