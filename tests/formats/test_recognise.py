"""Telling what a file holds."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qassay.errors import InputError, UsageError
from qassay.formats.recognise import KINDS, Setting, kind_of, recognise

SAMPLES = {
    b"q1 tag NYT19980619.0373 Paris\nq2 tag NIL\n": "run",
    b"1 A D1 x\n1 B D1 x\n1 A D2 x\nbroken\n1 A D3 x\n": "run",
    b"1 Q0 D1 1 0.5 TAG Paris\n1 Q0 D1 2 0.4 TAG Rome\n": "run",
    b"q1 tag D1 0 100\nq2 tag NIL\n": "run",
    b"q1 tag 17 1 2\nq2 tag 12 3 4\n": "run",
    b"ranked: no\n1 YES\n2 NO\n": "run",
    b"1\tt\tD\tParis\n2\tt\tD\tRome\n": "run",
    b'{"run": "A", "question": "1", "items": []}\n': "run",
    b'{"run": "A", "question": 1, "decision": "YES", "justification": "x"}': "run",
    b'{"run_id": "A", "topic_id": "1", "references": [], "answer": []}': "run",
    b'{"run": "A", "organisation": "X"}': "run-information",
    b'{"question": "1", "doc": "D", "text": "x", "judgment": "R"}': "judgments",
    b'{"question": "1", "run": "A", "doc": "D", "text": "x", "judgment": "R", "answer": "x"}': "judgments",
    b'{"question": "1", "run": "A", "nuggets": []}': "judgments",
    b'{"question": "1", "run": "A", "nugget": "1", "support": "full"}': "judgments",
    b'{"question": "1", "run": "A", "content": 8, "organization": 6}': "judgments",
    b'{"question": "1", "run": "A", "understandability": 2}': "judgments",
    b'{"sheet": "ada-1", "item": 5, "part": "", "verdict": {"judgment": "R"}, "at": "2026-01-01T00:00:00Z"}': "sheet",
    b'{"sheet": "ada-1", "question": "1", "known_answer": "x", "at": "2026-01-01T00:00:00Z"}': "sheet",
    b'{"question": "1", "nugget": "1", "vital": true, "text": "x"}': "nuggets",
    b'{"question": "1", "answer": "x", "doc": "D"}': "answers",
    b'{"id": "1", "type": "list", "text": "x"}': "questions",
    b'{oops}\n{"id": "1", "type": "list", "text": "x"}': "questions",
    b'\xef\xbb\xbf  {"id": "1", "type": "list", "text": "x"}': "questions",
    b'{"qid": "1", "query": "x", "run_id": "A", "answer_text": "y", "nuggets": []}': "rag-assignments",
    b'{"query": "Who?", "prediction": "Ann"}': "responses",
    b'[{"question": "Who?", "answer": "Ann"}]': "responses",
    b"id,question,answer\n1,Who?,Ann\n": "responses",
    b"id;Question;Ground truth\n1;Who?;Ann\n": "responses",
    b'{"id": "1", "system": "A", "label": "yes"}': "judgments",
    b"question,run,verdict\n1,A,good\n": "judgments",
    b'{"metadata": {"run_id": "A", "narrative_id": 7}, "references": [], "answer": []}': "run",
    b'{"qid": "1", "query": "x", "nuggets": [{"text": "y", "importance": "vital"}]}': "rag-nuggets",
    b"1.6\t1\t0.75\tguides ships\n1.6\t2\t0\tfirst lamps\n": "nugget-weights",
    b"#PERSON Fred Durst\n#ORG Crips\n": "target-types",
    b"q1\twhat is this\nq2\tand\tthis\n": "questions",
    b"<top>\n<num> Number: 1\n": "questions",
    b"<?xml version='1.0'?><trecqa/>": "questions",
    "<?xml version='1.0'?><trecqa/>".encode("utf-16"): "questions",
    b"1 NYT1 1 Paris\n1 NYT2 -1 London\n": "nist-factoid",
    b"1 D -1 Paris\n2 D -1 London\n": "nist-factoid",
    b"1 NYT19980619.0373 2 Paris\n2 NYT19980619.0373 1 New York\n2 NYT19980619.0373 2 York\n": "nist-factoid",
    b"1\tD1\t1\tParis\n2\tD2\t-1\tLondon\n": "nist-factoid",
    b"1.3 TAG D1 1 1 Atlanta\n1.3 TAG D2 -1 0 Foo\n": "nist-list",
    b"1.6 TAG 1 D1 some text\n1.6 TAG 2 D2 more text\n1.6 TAG 1 3\n": "nist-other",
    b"1.6 TAG 1 3\n1.6 TAG 1 4\n": "nist-other",
    b"Qid 1901: Who?\n1901 1\tvital\tx\n": "nist-nuggets",
    b"1901 1\tvital\tx\n1901 2\tokay\ty\n": "nist-nuggets",
    b"# 1\nQ:Where?\nParis\n": "nist-answers",
    b"1394 French\n1395 Nicole Kidman\n": "patterns",
    b"1895 midnight NYT19990810.0082\n": "patterns",
    b"1 x NYT19980619.0373\n2 y\n1 x NYT19980619.0373\n": "patterns",
}


@pytest.mark.parametrize(("data", "kind"), SAMPLES.items())
def test_samples(data: bytes, kind: str) -> None:
    assert kind_of(data) == kind


def test_every_kind_has_a_sample() -> None:
    assert set(SAMPLES.values()) == set(KINDS)


REAL = {
    "rte3/RTE3-TEST-GOLD.xml": "questions",
    "rte3/RTE3-FR-test-gold-3class.tsv": None,
    "nq301/NQ301_human.tsv": None,
    "nq301/matrix.csv": None,
    "score_matrices/adhoc8_ap.csv": None,
    "trec_qa/trec11patterns": "patterns",
    "trec_qa/trec11questions": "questions",
    "trec_qa/trec12answers_definition": "nist-nuggets",
    "trec_qa/trec12answers_list": "nist-answers",
    "trec_qa/trec12patterns+docs": "patterns",
    "trec_qa/trec12questions": "questions",
    "trec_qa/trec13answers_list": "nist-answers",
    "trec_qa/trec13answers_other": "nist-nuggets",
    "trec_qa/trec13patterns+docs_factoid": "patterns",
    "trec_qa/trec13patterns_list": "patterns",
    "trec_qa/trec13questions.xml": "questions",
    "trec_qa/trec13targettypes": "target-types",
    "trec_rag24/nugget_assignment.20241108.jl": "rag-assignments",
    "trec_rag24/topics.rag24.test.txt": "questions",
}


@pytest.mark.parametrize(("name", "kind"), REAL.items())
def test_real_files(data: Callable[[str], Path], name: str, kind: str | None) -> None:
    assert kind_of(data(name).read_bytes()) == kind


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\x89PNG\0\0", "is not a text file"),
        (b'[{"id": "1"}]', "JSON list"),
        (b"<DOC>\n<DOCNO> X </DOCNO>", "collection/"),
        (b"some prose\nin a file\n", "say it with --as KIND, one of questions, responses, run, judgments"),
        (b"q1 x 1 Paris\nq2 x 1 Rome\n", "--as KIND"),
    ],
)
def test_an_ambiguous_file(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(InputError, match=says):
        recognise(tmp_path / "f")


def test_known_questions_tell_patterns(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("who-1 Paris\nwho-2 Rome\n")
    assert recognise(tmp_path / "f", setting=Setting({"who-1", "who-2"})) == "patterns"
    with pytest.raises(InputError):
        recognise(tmp_path / "f")


def test_the_form_that_the_user_names_is_used(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("some prose\n")
    assert recognise(path, asked="patterns") == "patterns"
    with pytest.raises(UsageError, match="did you mean 'questions'"):
        recognise(path, asked="question")


@pytest.mark.parametrize(
    ("asked", "content", "kind"),
    [
        ("judgments", '{"odd": 1}\n', "judgments"),
        ("judgments", "1 NYT1 1 Paris\n1 NYT2 -1 London\n", "nist-factoid"),
        ("judgments", "1.3 TAG D1 1 1 Atlanta\n", "nist-list"),
        ("nuggets", "1901 1\tvital\tx\n", "nist-nuggets"),
        ("answers", "anything\n", "nist-answers"),
        ("answers", '{"question": "1", "answer": "x"}\n', "answers"),
    ],
)
def test_the_form_of_what_the_user_names(tmp_path: Path, asked: str, content: str, kind: str) -> None:
    (tmp_path / "f").write_text(content)
    assert recognise(tmp_path / "f", asked=asked) == kind


def test_judgments_of_an_ambiguous_form(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("some prose\n")
    with pytest.raises(UsageError, match="--as nist-factoid, --as nist-list"):
        recognise(tmp_path / "f", asked="judgments")


def test_compressed(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(gzip.compress(b"1394 French\n1395 Nicole\n"))
    assert recognise(tmp_path / "f") == "patterns"


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_are_recognised_or_not(content: bytes) -> None:
    assert kind_of(content) in (None, *KINDS)


def test_large_files_are_recognised_by_their_beginning() -> None:
    assert kind_of(b"1394 French\n" * 200_000 + b"\xe9") == "patterns"
    assert kind_of(b"x" * (3 << 20)) is None
