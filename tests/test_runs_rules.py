"""Every rule that a run must keep (METHOD 3), in every form, and every way in which a file can be odd."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import qassay.formats.runs as reading
from qassay.checking import check_folder, check_run_files
from qassay.errors import Problem, UsageError
from qassay.formats.parts import file_part
from qassay.formats.runs import RunFiles, read_runs
from qassay.formats.runs.forms import EXTRACT, TREC4, TREC7, split_fields
from qassay.questions import Question, TestSet
from qassay.tasks import task

TYPES: Mapping[str, Mapping[str, str]] = {
    "ranked5": {"1": "factoid", "2": "factoid"},
    "confidence": {"1": "factoid", "2": "factoid"},
    "passages": {"1": "factoid", "2": "factoid"},
    "main2003": {"1": "factoid", "2": "list", "3": "definition"},
    "entailment2": {"1": "pair", "2": "pair"},
    "entailment3": {"1": "pair", "2": "pair"},
    "justification": {"1": "pair", "2": "pair"},
    "nuggets": {"1": "other", "2": "other"},
}
Told = tuple[str, int | None, str | None]


def questions(name: str) -> TestSet:
    return TestSet(tuple(Question(q, kind, "?") for q, kind in TYPES[name].items()))


def read(folder: Path, name: str, *contents: bytes | str, **options: Any) -> RunFiles:
    """The runs in files that hold these contents."""
    paths = [folder / f"t{n or ''}.txt" for n in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_runs(
        [file_part(path, path.name) for path in paths], task=task(name), questions=questions(name), **options
    )


def rules_of(problems: Iterable[Problem]) -> list[Told]:
    return sorted(((problem.rule, problem.line, problem.question) for problem in problems), key=str)


def objects(*rows: Mapping[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def items(*strings: str) -> list[dict[str, str]]:
    return [{"doc": "D", "text": string} for string in strings]


# ---------------------------------------------------------------- one table of rules

NIL = {"run": "t", "nil": True}
RULES: list[tuple[str, str, str, list[Told]]] = [
    # name, task, file, what is wrong: rule, line, question
    ("trec4", "confidence", "1 t D a\n2 t NIL\n", []),
    ("trec4 missing", "confidence", "1 t D a\n", [("missing-question", None, "2")]),
    ("trec4 twice", "confidence", "1 t D a\n2 t D b\n1 t D c\n", [("one-answer", 3, "1")]),
    ("trec4 three times", "confidence", "1 t D a\n1 t D b\n1 t D c\n2 t NIL\n", [("one-answer", 2, "1")]),
    ("trec4 unknown", "confidence", "1 t D a\n2 t D b\n3 t D c\n", [("unknown-question", 3, "3")]),
    ("trec4 NIL with item", "confidence", "1 t D a\n1 t NIL\n2 t NIL\n", [("nil-with-items", 2, "1")]),
    ("trec4 NIL with string", "confidence", "1 t NIL a\n2 t NIL\n", [("nil-with-items", 1, "1")]),
    ("trec4 no string", "confidence", "1 t D\n2 t NIL\n", [("syntax", 1, "1")]),
    ("trec4 no doc", "confidence", "1 t\n2 t NIL\n", [("syntax", 1, "1")]),
    ("trec4 qid alone", "confidence", "1\n2 t NIL\n", [("syntax", 1, "1")]),
    ("trec4 second tag", "confidence", "1 t D a\n2 u D b\n", [("second-tag", 2, "2")]),
    ("trec4 slash in tag", "confidence", "1 a/b D a\n2 a/b NIL\n", [("syntax", 1, None)]),
    ("trec4 long tag", "confidence", f"1 {'x' * 201} D a\n2 {'x' * 201} NIL\n", [("syntax", 1, None)]),
    ("trec4 control in tag", "confidence", "1 a\x01b D a\n2 a\x01b NIL\n", [("syntax", 1, None)]),
    ("trec4 lists", "main2003", "1 t D a\n2 t D a\n2 t D a\n2 t E b\n3 t D x\n", []),
    ("trec4 lists apart", "main2003", "2 t D a\n1 t NIL\n2 t D b\n3 t D x\n", []),
    ("trec4 empty lists", "main2003", "1 t NIL\n2 t NIL\n3 t NIL\n", []),
    ("trec4 NIL in a list", "main2003", "1 t NIL\n2 t D a\n2 t NIL\n3 t NIL\n", [("nil-with-items", 3, "2")]),
    ("trec4 ranked", "ranked5", "".join(f"1 t D {n}\n" for n in range(5)) + "2 t D a\n", []),
    ("trec4 six", "ranked5", "".join(f"1 t D {n}\n" for n in range(6)) + "2 t D a\n", [("too-many-items", 6, "1")]),
    ("trec4 ranked NIL", "ranked5", "1 t NIL\n2 t D a\n", [("nil-with-items", 1, "1")]),
    ("trec7", "ranked5", "1 Q0 D 2 0.1 t b\n1 Q0 D 1 0.2 t a a\n2 Q0 D 1 -3e2 t c\n", []),
    ("trec7 gap", "ranked5", "1 Q0 D 1 1 t a\n1 Q0 D 3 1 t b\n2 Q0 D 1 1 t c\n", [("syntax", 2, "1")]),
    ("trec7 from 0", "ranked5", "1 Q0 D 0 1 t a\n2 Q0 D 1 1 t c\n", [("syntax", 1, "1")]),
    ("trec7 equal ranks", "ranked5", "1 Q0 D 1 1 t a\n1 Q0 D 1 1 t b\n2 Q0 D 1 1 t c\n", [("syntax", 2, "1")]),
    ("trec7 no number", "ranked5", "1 Q0 D one 1 t a\n2 Q0 D 1 high t c\n", [("syntax", 1, "1"), ("syntax", 2, "2")]),
    ("trec7 no string", "ranked5", "1 Q0 D 1 1 t\n2 Q0 D 1 1 t c\n", [("syntax", 1, "1")]),
    ("trec7 NIL", "ranked5", "1 Q0 NIL 1 1 t\n2 Q0 D 1 1 t c\n", [("nil-with-items", 1, "1")]),
    ("trec7 second tag", "ranked5", "1 Q0 D 1 1 t a\n2 Q0 D 1 1 u c\n", [("second-tag", 2, "2")]),
    (
        "trec7 six",
        "ranked5",
        "".join(f"1 Q0 D {n} 1 t {n}\n" for n in range(1, 7)) + "2 Q0 D 1 1 t c\n",
        [("too-many-items", 6, "1")],
    ),
    ("extract", "passages", "1 t D 0 250\n2 t NIL\n", []),
    ("extract too long", "passages", "1 t D 0 251\n2 t NIL\n", [("extract-too-long", 1, "1")]),
    ("extract twice", "passages", "1 t D 0 2\n1 t D 0 2\n2 t NIL\n", [("one-answer", 2, "1")]),
    ("extract negative", "passages", "1 t D -1 2\n2 t D 0 -2\n", [("syntax", 1, "1"), ("syntax", 2, "2")]),
    ("extract of nothing", "passages", "1 t D 0 0\n2 t NIL\n", [("syntax", 1, "1")]),
    ("extract fraction", "passages", "1 t D 0.5 2\n2 t D 1 2.0\n", [("syntax", 1, "1"), ("syntax", 2, "2")]),
    ("extract and more", "passages", "1 t D 0 2 text\n2 t NIL\n", [("syntax", 1, "1")]),
    ("extract short", "passages", "1 t D 0\n2 t D\n", [("syntax", 1, "1"), ("syntax", 2, "2")]),
    ("extract NIL and place", "passages", "1 t NIL 0 2\n2 t NIL\n", [("nil-with-items", 1, "1")]),
    ("extract huge", "passages", "1 t D 99999999999999999999 2\n2 t NIL\n", [("syntax", 1, "1")]),
    ("rte", "entailment3", "ranked: no\n1 YES\n2 UNKNOWN\n", []),
    ("rte ranked", "entailment2", "ranked: yes\n2 YES\n1 NO\n", []),
    ("rte headless", "entailment3", "1 YES\n2 NO\n", [("syntax", 1, None)]),
    ("rte odd head", "entailment3", "ranked: maybe\n1 YES\n2 NO\n", [("syntax", 1, None)]),
    ("rte no decision", "entailment3", "ranked: no\n1\n2 NO\n", [("syntax", 2, "1")]),
    ("rte and more", "entailment3", "ranked: no\n1 YES 0.9\n2 NO\n", [("syntax", 2, "1")]),
    ("rte label", "entailment3", "ranked: no\n1 yes\n2 NO\n", [("bad-label", 2, "1")]),
    ("rte three-way in two-way", "entailment2", "ranked: no\n1 UNKNOWN\n2 NO\n", [("bad-label", 2, "1")]),
    ("rte twice", "entailment3", "ranked: no\n1 YES\n2 NO\n1 NO\n", [("duplicate-question", 4, "1")]),
    ("rte unknown", "entailment3", "ranked: no\n1 YES\n2 NO\n3 NO\n", [("unknown-question", 4, "3")]),
    ("rte missing", "entailment3", "ranked: no\n2 NO\n", [("missing-question", None, "1")]),
    (
        "jsonl",
        "main2003",
        objects(
            NIL | {"question": 1},
            {"run": "t", "question": "2", "items": []},
            {"run": "t", "question": "3", "items": [{"text": "x"}]},
        ),
        [],
    ),
    (
        "jsonl empty factoid",
        "main2003",
        objects(*({"run": "t", "question": q, "items": []} for q in "123")),
        [("one-answer", 1, "1")],
    ),
    (
        "jsonl two answers",
        "confidence",
        objects({"run": "t", "question": "1", "items": items("a", "b")}, NIL | {"question": "2"}),
        [("one-answer", 1, "1")],
    ),
    (
        "jsonl twice",
        "confidence",
        objects(NIL | {"question": "1"}, NIL | {"question": "2"}, NIL | {"question": "1"}),
        [("duplicate-question", 3, "1")],
    ),
    (
        "jsonl twice in a list",
        "main2003",
        objects(NIL | {"question": "1"}, *({"run": "t", "question": q, "items": []} for q in "232")),
        [("duplicate-question", 4, "2")],
    ),
    (
        "jsonl NIL with items",
        "confidence",
        objects(NIL | {"question": "1", "items": items("a")}, NIL | {"question": "2"}),
        [("nil-with-items", 1, "1")],
    ),
    (
        "jsonl NIL with a string",
        "confidence",
        objects({"run": "t", "question": "1", "items": [{"doc": "NIL", "text": "a"}]}, NIL | {"question": "2"}),
        [("nil-with-items", 1, "1")],
    ),
    (
        "jsonl NIL among items",
        "main2003",
        objects(
            NIL | {"question": "1"},
            {"run": "t", "question": "2", "items": [*items("a"), {"doc": "NIL", "text": ""}]},
            {"run": "t", "question": "3"},
        ),
        [("nil-with-items", 2, "2")],
    ),
    (
        "jsonl six",
        "ranked5",
        objects(
            {"run": "t", "question": "1", "items": items(*"abcdef")}, {"run": "t", "question": "2", "items": items("a")}
        ),
        [("too-many-items", 1, "1")],
    ),
    (
        "jsonl ranked NIL",
        "ranked5",
        objects(NIL | {"question": "1"}, {"run": "t", "question": "2", "items": []}),
        [("nil-with-items", 1, "1"), ("nil-with-items", 2, "2")],
    ),
    (
        "jsonl without doc",
        "main2003",
        objects(*({"run": "t", "question": q, "items": [{"text": "x"}]} for q in "123")),
        [("syntax", 1, "1"), ("syntax", 2, "2")],
    ),
    (
        "jsonl empty doc",
        "confidence",
        objects({"run": "t", "question": "1", "items": [{"doc": "", "text": "x"}]}, NIL | {"question": "2"}),
        [("syntax", 1, "1")],
    ),
    (
        "jsonl empty string",
        "confidence",
        objects({"run": "t", "question": "1", "items": items("")}, NIL | {"question": "2"}),
        [("syntax", 1, "1")],
    ),
    (
        "jsonl broken doc",
        "confidence",
        objects({"run": "t", "question": "1", "items": [{"doc": "D\nE", "text": "x"}]}, NIL | {"question": "2"}),
        [("syntax", 1, "1")],
    ),
    (
        "jsonl second tag",
        "confidence",
        objects(NIL | {"question": "1"}, NIL | {"question": "2", "run": "u"}),
        [("second-tag", 2, "2")],
    ),
    (
        "jsonl broken lines",
        "confidence",
        objects(NIL | {"question": "1"}, NIL | {"question": "2"})
        + '{"run": "t"\n[1]\n"x"\n{"run": 1, "question": "2"}\n',
        [("syntax", line, None) for line in (3, 4, 5, 6)],
    ),
    (
        "jsonl extract",
        "passages",
        objects(
            {"run": "t", "question": "1", "items": [{"doc": "D", "start": 0, "length": 251}]}, NIL | {"question": "2"}
        ),
        [("extract-too-long", 1, "1")],
    ),
    (
        "jsonl odd extracts",
        "passages",
        objects(
            {"run": "t", "question": "1", "items": [{"doc": "D", "start": -1, "length": 1}]},
            {"run": "t", "question": "2", "items": [{"doc": "D", "start": 2**40, "length": 1}]},
        ),
        [("syntax", 1, "1"), ("syntax", 2, "2")],
    ),
    (
        "jsonl extract of text",
        "passages",
        objects({"run": "t", "question": "1", "items": items("a")}, NIL | {"question": "2"}),
        [("syntax", 1, "1")],
    ),
    (
        "jsonl decisions",
        "justification",
        objects({"run": "t", "question": "1", "decision": "YES", "justification": "x"}, {"run": "t", "question": "2"}),
        [("syntax", 2, "2")],
    ),
    (
        "jsonl label",
        "justification",
        objects({"run": "t", "question": "1", "decision": "ENTAILED"}, {"run": "t", "question": "2", "decision": "NO"}),
        [("bad-label", 1, "1")],
    ),
    (
        "jsonl confidence on some lines",
        "confidence",
        objects(NIL | {"question": "1", "confidence": 0.5}, NIL | {"question": "2"}),
        [("confidence-order", 2, "2")],
    ),
    (
        "jsonl confidence rises",
        "confidence",
        objects(NIL | {"question": "2", "confidence": 0.5}, NIL | {"question": "1", "confidence": 0.6}),
        [("confidence-order", 2, "1")],
    ),
    (
        "jsonl confidence stays",
        "confidence",
        objects(NIL | {"question": "2", "confidence": -1}, NIL | {"question": "1", "confidence": -1.0}),
        [],
    ),
    (
        "jsonl confidence without meaning",
        "main2003",
        objects(*(NIL | {"question": q, "confidence": int(q)} for q in "123")),
        [],
    ),
    (
        "rag24",
        "nuggets",
        objects(
            {
                "run_id": "t",
                "topic_id": "1",
                "topic": "x",
                "references": ["a", "b"],
                "answer": [{"text": "x", "citations": [1]}],
            },
            {"run_id": "t", "topic_id": 2, "references": [], "answer": []},
        ),
        [],
    ),
    (
        "rag24 citation out of range",
        "nuggets",
        objects(
            {"run_id": "t", "topic_id": "1", "references": ["a"], "answer": [{"text": "x", "citations": [1]}]},
            {"run_id": "t", "topic_id": "2", "references": ["a"], "answer": [{"text": "x", "citations": [-1]}]},
        ),
        [("syntax", 1, "1"), ("syntax", 2, "2")],
    ),
    (
        "rag24 twice, unknown and missing",
        "nuggets",
        objects(*({"run_id": "t", "topic_id": q, "answer": []} for q in "113")),
        [("duplicate-question", 2, "1"), ("missing-question", None, "2"), ("unknown-question", 3, "3")],
    ),
]


@pytest.mark.parametrize(("name", "content", "wrong"), [row[1:] for row in RULES], ids=[row[0] for row in RULES])
def test_rules(tmp_path: Path, name: str, content: str, wrong: list[Told]) -> None:
    runs = read(tmp_path, name, content)
    problems = [*runs.problems, *runs.missing]
    assert rules_of(problems) == sorted(wrong, key=str)
    assert {problem.file for problem in problems} <= {"t.txt"}
    for problem in problems:
        assert problem.message
        if problem.question is not None:
            assert f"question {problem.question}" in problem.message
    # A run that leaves questions out can still be scored, if the user asks for it; any other fault keeps it out.
    faulty = bool(runs.problems)
    assert runs.runs.tags == (() if faulty else ("t",))
    assert runs.runs.table.height == 0 or not faulty


def test_all_errors_of_a_file_at_once(tmp_path: Path) -> None:
    text = "9 t D a\n1 t D b\n1 t D c\n2 u NIL\n2 u\n3 t D\n2 t D x\n"
    runs = read(tmp_path, "main2003", text.encode() + b"2 t D caf\xe9\n")
    assert rules_of([*runs.problems, *runs.missing]) == sorted(
        [
            ("unknown-question", 1, "9"),
            ("one-answer", 3, "1"),
            ("second-tag", 4, "2"),
            ("nil-with-items", 4, "2"),
            ("syntax", 5, "2"),
            ("syntax", 6, "3"),
            ("encoding", 8, None),
        ],
        key=str,
    )


def test_nothing_of_a_faulty_run_is_stored(tmp_path: Path) -> None:
    good = "1 {0} D a\n2 {0} D b\n3 {0} D c\n"
    contents = [good.format("t"), good.format("bad") + "1 bad D z\n", good.format("t2"), "garbage", good.format("t4")]
    runs = read(tmp_path, "main2003", *contents)
    assert runs.runs.tags == ("t", "t2", "t4")
    assert runs.runs.table["run"].cast(str).to_list() == ["t"] * 3 + ["t2"] * 3 + ["t4"] * 3
    assert runs.files == {"t": "t.txt", "t2": "t2.txt", "t4": "t4.txt"}
    assert {problem.file for problem in runs.problems} == {"t1.txt", "t3.txt"}


def test_a_second_run_with_the_same_tag_beside_documents(tmp_path: Path) -> None:
    folder = folder_with_documents(tmp_path)
    for name in ("t", "u"):
        (folder / "runs" / f"{name}.txt").write_text("1 t D 0 1\n2 t NIL\n")
    assert rules_of(check_folder(folder).errors) == [("second-tag", None, None)]


def test_two_files_with_one_tag(tmp_path: Path) -> None:
    runs = read(tmp_path, "confidence", "1 t D a\n2 t NIL\n", "1 t D b\n2 t NIL\n", "1 t2 D b\n2 t2 NIL\n")
    (problem,) = runs.problems
    assert (problem.rule, problem.file) == ("second-tag", "t1.txt")
    assert "t.txt" in problem.message
    assert runs.runs.tags == ("t", "t2")
    assert runs.runs.table["text"].to_list() == ["a", None, "b", None]


def test_a_file_name_that_differs_from_the_tag_is_a_warning(tmp_path: Path) -> None:
    runs = read(tmp_path, "confidence", "1 other D a\n2 other NIL\n")
    assert runs.problems == ()
    assert [(warning.rule, warning.file) for warning in runs.warnings] == [("configuration", "t.txt")]


# ---------------------------------------------------------------- the documents


def folder_with_documents(path: Path, name: str = "passages") -> Path:
    (path / "collection").mkdir()
    (path / "qassay.toml").write_text(f'task = "{name}"')
    (path / "questions.jsonl").write_text(objects(*({"id": q, "type": k, "text": "?"} for q, k in TYPES[name].items())))
    (path / "collection" / "one.jsonl").write_text(objects({"id": "D", "text": "h\u00e9\U0001f600lo"}))
    (path / "runs").mkdir()
    return path


def test_documents_and_ends_of_extracts(tmp_path: Path) -> None:
    folder = folder_with_documents(tmp_path)
    # Five code points, whatever their bytes: 3 + 2 is within, 3 + 3 is past the end.
    (folder / "runs" / "good.txt").write_text("1 good D 3 2\n2 good NIL\n")
    (folder / "runs" / "past.txt").write_text("1 past D 3 3\n2 past E 0 1\n")
    result = check_folder(folder)
    assert rules_of(result.errors) == [("extract-past-end", 1, "1"), ("unknown-doc", 2, "2")]
    assert {error.file for error in result.errors} == {"runs/past.txt"}


def test_documents_of_a_run_with_other_faults_are_reported_at_once(tmp_path: Path) -> None:
    folder = folder_with_documents(tmp_path)
    run = tmp_path / "t.txt"
    run.write_text("1 t D 0 6\n1 t E 0 5\n2 t F 0 300\n3 t G 0 1\n")
    result = check_run_files([run], folder)
    assert rules_of(result.errors) == sorted(
        [
            ("one-answer", 2, "1"),
            ("extract-too-long", 3, "2"),
            ("unknown-question", 4, "3"),
            ("extract-past-end", 1, "1"),
            ("unknown-doc", 2, "1"),
            ("unknown-doc", 3, "2"),
            ("unknown-doc", 4, "3"),
        ],
        key=str,
    )
    assert result.runs == []


@pytest.mark.parametrize(
    ("file", "content", "text"),
    [
        ("a.jsonl", b'{"docno": "X", "contents": "abc"}\n', "abc"),
        ("a.jsonl.gz", gzip.compress(b'{"id": "X", "text": "abc"}\n', mtime=0), "abc"),
        ("X.txt", b"a\r\nb", "a\r\nb"),
        ("X.txt.gz", gzip.compress(b"abc", mtime=0), "abc"),
        ("X.html", b"<p>a", "<p>a"),
        ("X.html.zst", zstandard.compress(b"<p>a"), "<p>a"),
        ("a.sgml", b"\n<DOC>\n<DOCNO> X </DOCNO>caf\xe9</DOC>\n", "<DOC>\n<DOCNO> X </DOCNO>caf\u00e9</DOC>"),
        ("a.gz", gzip.compress(b"<DOC><DOCNO>X</DOCNO></DOC>", mtime=0), "<DOC><DOCNO>X</DOCNO></DOC>"),
    ],
)
def test_ends_of_extracts_in_every_form_of_documents(tmp_path: Path, file: str, content: bytes, text: str) -> None:
    folder = folder_with_documents(tmp_path)
    (folder / "collection" / "one.jsonl").unlink()
    (folder / "collection" / file).write_bytes(content)
    (folder / "runs" / "t.txt").write_text(f"1 t X 0 {len(text)}\n2 t X 1 {len(text)}\n")
    assert rules_of(check_folder(folder).errors) == [("extract-past-end", 2, "2")]


# ---------------------------------------------------------------- lines, blanks and odd characters


def test_lines_end_in_lf_or_crlf_and_nowhere_else(tmp_path: Path) -> None:
    strings = ["a\u2028b", "a\u0085b", "a\x0cb", "a\x0bb", "a\x1cb", "a\u2029b", "a\rb", "\u00a0a\u00a0"]
    types = {str(n): "list" for n in range(len(strings))}
    text = "".join(f"{n} t D {string}\r\n" for n, string in enumerate(strings))
    path = tmp_path / "t.txt"
    path.write_bytes(text.encode())
    asked = TestSet(tuple(Question(q, kind) for q, kind in types.items()))
    runs = read_runs([file_part(path)], task=task("main2003"), questions=asked)
    assert runs.problems == ()
    assert runs.runs.table["text"].to_list() == strings


def test_blanks_and_tabs_between_fields(tmp_path: Path) -> None:
    lines = ["  1 \t t\tD   a  b\tc \t ", "\t2\tt\tNIL\t", "   ", "\t", ""]
    runs = read(tmp_path, "confidence", "\r\n".join(lines))
    assert runs.problems == ()
    assert runs.runs.table.select("line", "doc", "text").rows() == [(1, "D", "a  b\tc"), (2, None, None)]


def test_lines_are_numbered_as_in_the_file(tmp_path: Path) -> None:
    runs = read(tmp_path, "confidence", "\n\n1 t D a\n\n9 t D a\n2 t NIL\n")
    assert rules_of(runs.problems) == [("unknown-question", 5, "9")]


def test_the_order_of_lines_is_kept(tmp_path: Path) -> None:
    runs = read(tmp_path, "main2003", "3 t D z\n2 t D b\n1 t D x\n2 t D a\n2 t D b\n")
    assert runs.runs.table.select(pl.col("question").cast(str), "rank", "text").rows() == [
        ("3", 1, "z"),
        ("2", 1, "b"),
        ("1", 1, "x"),
        ("2", 2, "a"),
        ("2", 3, "b"),
    ]


FIELD = st.text(st.sampled_from("ab1\u2028\u0085\u00a0\x0b\x0c\x1c\u00e9\u3000.%"), min_size=1, max_size=4)
LINE = st.lists(st.one_of(FIELD, st.sampled_from([" ", "  ", "\t", "NIL", "Q0"])), max_size=12).map("".join)


def plainly_split(line: str, number: int) -> list[str | None]:
    """Fields by hand: the rest of the line is the last one."""
    parts: list[str | None] = []
    rest = line.strip(" \t")
    while rest and len(parts) < number - 1:
        cut = min((rest.index(blank) for blank in " \t" if blank in rest), default=len(rest))
        parts.append(rest[:cut])
        rest = rest[cut:].lstrip(" \t")
    parts += [rest] if rest else []
    return parts + [None] * (number - len(parts))


@pytest.mark.parametrize("names", [TREC4, TREC7, EXTRACT, ("asked", "decision", "rest")], ids=len)
@given(lines=st.lists(LINE, min_size=1, max_size=6))
@settings(max_examples=80)
def test_the_fast_and_the_general_splitter_agree(names: tuple[str, ...], lines: list[str]) -> None:
    text = pl.Series([line.rstrip(" \t") for line in lines], dtype=pl.String)
    wanted = [tuple(plainly_split(line, len(names))) for line in lines]
    assert split_fields(text, names, tabs=True).rows() == wanted
    if not any("\t" in line for line in lines):
        assert split_fields(text, names, tabs=False).rows() == wanted


STRING = (
    st.text(st.characters(exclude_characters="\n\0", exclude_categories=("Cs",)), min_size=1, max_size=12)
    .filter(lambda text: text == text.strip(" \t") and not text.endswith("\r"))
    .filter(bool)
)


@given(strings=st.lists(STRING, min_size=1, max_size=5), end=st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=60)
def test_a_string_survives_every_form(strings: list[str], end: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing is normalised: the same strings in lines and in JSON are the same items."""
    folder = tmp_path_factory.mktemp("run")
    text = "".join(f"2 t D {string}{end}" for string in strings) + f"1 t NIL{end}3 t NIL"
    rows = [NIL | {"question": "1"}, {"run": "t1", "question": "2", "items": items(*strings)}, NIL | {"question": "3"}]
    runs = read(folder, "main2003", text, objects(*(row | {"run": "t1"} for row in rows)))
    assert runs.problems == ()
    for tag in ("t", "t1"):
        own = runs.runs.table.filter(pl.col("run") == tag, pl.col("question") == "2")
        assert own["text"].to_list() == strings
        assert own["rank"].to_list() == list(range(1, len(strings) + 1))


# ---------------------------------------------------------------- bytes: compression, encodings, garbage

PLAIN = b"1 t D caf\xc3\xa9\n2 t NIL\n"


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(PLAIN, mtime=0),
        gzip.compress(PLAIN[:10], mtime=0) + gzip.compress(PLAIN[10:]),
        zstandard.compress(PLAIN),
        zstandard.compress(PLAIN[:10]) + zstandard.compress(PLAIN[10:]),
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.rstrip(b"\n"),
        PLAIN.replace(b"\n", b"\r\n"),
    ],
    ids=["gzip", "gzip members", "zstandard", "zstandard frames", "byte order mark", "no last line end", "crlf"],
)
def test_bytes_that_mean_the_same(tmp_path: Path, data: bytes) -> None:
    """Told by the content: the name says nothing of compression."""
    runs = read(tmp_path, "confidence", data)
    assert runs.problems == ()
    assert runs.runs.table["text"].to_list() == ["caf\u00e9", None]


@pytest.mark.parametrize("encoding", ["latin-1", "ISO-8859-1", "cp1252", "utf-16", "utf-8", "UTF8"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    runs = read(tmp_path, "confidence", PLAIN.decode().encode(encoding), encoding=encoding)
    assert runs.problems == ()
    assert runs.runs.table["text"].to_list() == ["caf\u00e9", None]


def test_a_latin_1_byte_that_is_a_line_end_elsewhere(tmp_path: Path) -> None:
    runs = read(tmp_path, "confidence", b"1 t D a\x85b\n2 t NIL\n", encoding="latin-1")
    assert runs.runs.table["text"].to_list() == ["a\u0085b", None]


def test_a_byte_that_is_not_utf_8_is_an_error_with_its_line(tmp_path: Path) -> None:
    runs = read(tmp_path, "confidence", b"1 t D caf\xe9\n2 t D \xff\n")
    assert rules_of(runs.problems) == [("encoding", 1, None), ("encoding", 2, None)]
    assert "0xe9" in runs.problems[0].message
    assert "--encoding" in runs.problems[0].message
    runs = read(tmp_path, "confidence", b'{"run": "t", "question": "1", "items": [{"doc": "D", "text": "caf\xe9"}]}\n')
    assert ("encoding", 1, None) in rules_of(runs.problems)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "syntax"),
        (b"\n \r\n\t\n", "syntax"),
        (b"1 t D a\x00b\n2 t NIL\n", "encoding"),
        (bytes(range(256)) * 4, "encoding"),
        (gzip.compress(PLAIN * 1000, mtime=0)[:-9], "encoding"),
        (gzip.compress(PLAIN, mtime=0)[:5], "encoding"),
        (b"\x1f\x8b garbage", "encoding"),
        (zstandard.compress(PLAIN)[:9], "encoding"),
        (b"\x28\xb5\x2f\xfd garbage", "encoding"),
        (PLAIN.decode().encode("utf-16"), "encoding"),
    ],
    ids=["empty", "blank", "NUL", "binary", "short gzip", "shorter gzip", "no gzip", "short zstd", "no zstd", "utf-16"],
)
def test_bytes_that_are_not_text_are_an_error(tmp_path: Path, data: bytes, rule: str) -> None:
    runs = read(tmp_path, "confidence", data)
    assert [(problem.rule, problem.file) for problem in runs.problems] == [(rule, "t.txt")]
    assert runs.missing == ()
    assert runs.runs.tags == ()


def test_an_encoding_that_does_not_exist(tmp_path: Path) -> None:
    runs = read(tmp_path, "confidence", PLAIN, encoding="klingon")
    assert [problem.rule for problem in runs.problems] == ["encoding"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    runs = read_runs([file_part(tmp_path / "no.txt")], task=task("confidence"), questions=questions("confidence"))
    assert [(problem.rule, problem.file) for problem in runs.problems] == [("syntax", str(tmp_path / "no.txt"))]


def test_lines_of_megabytes(tmp_path: Path) -> None:
    long = "word " * 600_000 + "end"
    runs = read(tmp_path, "confidence", f"1 t D {long}\n2 t NIL\n")
    assert runs.runs.table["text"].to_list() == [long, None]
    runs = read(
        tmp_path, "confidence", objects({"run": "t", "question": "1", "items": items(long)}, NIL | {"question": "2"})
    )
    assert runs.runs.table["text"].to_list() == [long, None]


# ---------------------------------------------------------------- forms and batches


def test_a_form_that_the_task_lacks(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown run form of task confidence 'rte'"):
        read(tmp_path, "confidence", PLAIN, form="rte")


def test_the_form_can_be_named(tmp_path: Path) -> None:
    runs = read(tmp_path, "ranked5", "1 Q0 D a\n2 Q0 D b\n", form="trec4")
    assert runs.problems == ()
    assert runs.runs.tags == ("Q0",)
    runs = read(tmp_path, "ranked5", "1 Q0 D a\n2 Q0 D b\n")
    assert {problem.rule for problem in runs.problems} == {"syntax"}


@pytest.mark.parametrize("size", [1, 60, 4 << 20])
def test_batches_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Many files of several forms, good and bad, in batches of any size."""
    monkeypatch.setattr(reading, "BATCH_BYTES", size)
    contents = []
    for n in range(12):
        tag = f"t{n or ''}"
        if n % 4 == 3:
            contents.append(f"1 {tag} D a\n1 {tag} D b\n2 {tag} NIL")
        elif n % 3 == 1:
            contents.append(objects(*({"run": tag, "question": q, "items": items(f"{n} {q}")} for q in "12")))
        else:
            contents.append(f"2 {tag} D {n} 2\n1\t{tag} D  {n} 1" if n % 2 else f"2 {tag} D {n} 2\n1 {tag} D {n} 1\n")
    runs = read(tmp_path, "confidence", *contents)
    good = [n for n in range(12) if n % 4 != 3]
    assert runs.runs.tags == tuple(f"t{n or ''}" for n in good)
    rows = runs.runs.table.select(pl.col("run").cast(str), pl.col("question").cast(str), "text").rows()
    assert sorted(rows) == sorted((f"t{n or ''}", q, f"{n} {q}") for n in good for q in "12")
    assert rules_of(runs.problems) == [("one-answer", 2, "1")] * 3
    assert [problem.file for problem in runs.problems] == ["t3.txt", "t7.txt", "t11.txt"]
