"""Files of questions: the real ones with their counts, and those that are not as they should be."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qassay.errors import InputError, Problem
from qassay.formats import jsonl
from qassay.formats.parts import file_part
from qassay.formats.questions import parse_questions, question_row, read_questions
from qassay.questions import Question, gather

Data = Callable[[str], Path]


def faults(data: bytes | str, **options: str) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        parse_questions(data.encode() if isinstance(data, str) else data, file="q", **options)  # type: ignore[arg-type]
    return list(caught.value.problems)


# Counts: README.md of the data.


def test_trec_2002(data: Data) -> None:
    questions = read_questions(file_part(data("trec_qa/trec11questions"))).questions
    assert questions.counts() == {"factoid": 500}
    assert questions.by_id["1394"].text == "In what country did the game of croquet originate?"


def test_trec_2003(data: Data) -> None:
    questions = read_questions(file_part(data("trec_qa/trec12questions"))).questions
    assert questions.counts() == {"factoid": 413, "list": 37, "definition": 50}


def test_trec_2004(data: Data) -> None:
    questions = read_questions(file_part(data("trec_qa/trec13questions.xml"))).questions
    assert questions.counts() == {"factoid": 230, "list": 56, "other": 65}
    assert len(questions.series) == 65
    assert sum(all(q.type != "list" for q in series.questions) for series in questions.series) == 19
    assert questions.by_id["1.6"] == Question("1.6", "other", "Other", series="1", target="Crips")


def test_rte_3(data: Data) -> None:
    parsed = read_questions(file_part(data("rte3/RTE3-TEST-GOLD.xml")))
    assert parsed.questions.counts() == {"pair": 800}
    assert Counter(parsed.reference.values()) == {"YES": 410, "NO": 390}
    assert not parsed.two_way
    first = parsed.questions.questions[0]
    assert first.hypothesis == "Le Beau Serge was directed by Chabrol."
    assert first.extra == {"task": "IE", "length": "short"}


def test_trec_rag_2024(data: Data) -> None:
    questions = read_questions(file_part(data("trec_rag24/topics.rag24.test.txt"))).questions
    assert questions.counts() == {"other": 301}
    assert questions.by_id["2024-145979"].text == "what is vicarious trauma and how can it be coped with?"


def test_real_files_survive_json_lines(data: Data, tmp_path: Path) -> None:
    for name in ("trec_qa/trec12questions", "trec_qa/trec13questions.xml", "rte3/RTE3-TEST-GOLD.xml"):
        questions = read_questions(file_part(data(name))).questions
        jsonl.write_rows(tmp_path / "q.jsonl", map(question_row, questions))
        again = read_questions(file_part(tmp_path / "q.jsonl")).questions
        assert again == questions
        assert [q.extra for q in again] == [q.extra for q in questions]


SERIES = """<?xml version="1.0"?>
<trecqa year="2004">
<target id = "1" text = " Crips ">
 <qa><q id = "1.1" type="FACTOID">
   When &amp; where?
 </q></qa>
 <qa><q id="1.2" type="Other"/></qa>
</target>
</trecqa>
"""


def test_series_xml() -> None:
    questions = parse_questions(SERIES.encode(), file="q").questions
    assert questions.questions == (
        Question("1.1", "factoid", "When & where?", series="1", target="Crips"),
        Question("1.2", "other", "", series="1", target="Crips"),
    )


def test_series_xml_tells_all_faults_with_lines() -> None:
    text = """<trecqa>
<target id="1" text="a"><q type="LIST">x</q>
<q id="1.2" type="ESSAY">x</q>
<q id="1.3" type="LIST"> </q></target>
<target id="1" text=""></target>
</trecqa>"""
    problems = [(p.line, p.rule, p.question) for p in faults(text)]
    assert problems == [
        (2, "syntax", None),
        (3, "syntax", "1.2"),
        (4, "syntax", "1.3"),
        (5, "syntax", None),
        (5, "duplicate-question", None),
        (5, "syntax", None),
    ]


def test_duplicate_ids_and_misplaced_other_have_lines() -> None:
    text = """<trecqa><target id="1" text="a">
<q id="1.1" type="OTHER">x</q>
<q id="1.2" type="LIST">x</q>
<q id="1.2" type="LIST">x</q>
</target></trecqa>"""
    assert [(p.line, p.rule) for p in faults(text)] == [(4, "duplicate-question"), (2, "configuration")]


def test_xml_of_another_kind() -> None:
    assert "contains no questions" in faults("<html><body/></html>")[0].message


def pair(label: str | None, identifier: str = "1") -> str:
    attribute = "" if label is None else f' entailment="{label}"'
    return f'<pair id="{identifier}"{attribute}><t> T </t><h> H </h></pair>'


@pytest.mark.parametrize(
    ("label", "meant", "two_way"),
    [
        ("YES", "YES", False),
        ("no", "NO", False),
        ("UNKNOWN", "UNKNOWN", False),
        ("ENTAILMENT", "YES", False),
        ("CONTRADICTION", "NO", False),
        ("NO ENTAILMENT", "NO", True),
    ],
)
def test_entailment_labels(label: str, meant: str, two_way: bool) -> None:
    parsed = parse_questions(f"<entailment-corpus>{pair(label)}</entailment-corpus>".encode(), file="q")
    assert (parsed.reference, parsed.two_way) == ({"1": meant}, two_way)
    assert parsed.questions.questions == (Question("1", "pair", "T", hypothesis="H"),)


def test_pairs_without_labels_have_no_reference() -> None:
    parsed = parse_questions(f"<entailment-corpus>{pair(None)}</entailment-corpus>".encode(), file="q")
    assert parsed.reference == {}


def test_faulty_pairs() -> None:
    text = f"<entailment-corpus>\n{pair('MAYBE')}\n<pair id='2'><t>x</t></pair>\n<pair><t>x</t><h>y</h></pair>\n"
    problems = [(p.line, p.rule) for p in faults(text + "</entailment-corpus>")]
    assert problems == [(2, "bad-label"), (3, "syntax"), (4, "syntax")]


def test_two_way_and_three_way_labels_do_not_mix() -> None:
    text = f"<entailment-corpus>{pair('NO ENTAILMENT')}{pair('CONTRADICTION', '2')}</entailment-corpus>"
    assert [p.rule for p in faults(text)] == ["bad-label"]


def test_windows_characters_in_latin_1_are_reported() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<trecqa><target id="1" text="a">'
    text += '<q id="1" type="LIST">\x93a\x94</q>'
    parsed = parse_questions((text + "</target></trecqa>").encode("latin-1"), file="q")
    assert [(p.rule, p.line) for p in parsed.warnings] == [("encoding", 2)]
    mended = parse_questions((text + "</target></trecqa>").encode("latin-1"), file="q", encoding="cp1252")
    assert (mended.questions.questions[0].text, mended.warnings) == ("“a”", ())


TOPIC = "<top>\r\n\r\n<num> Number: 7\r\n<desc> Description:\r\n Who?\r\n\r\n</top>\r\n"


def test_topics() -> None:
    assert parse_questions(TOPIC.encode(), file="q").questions.questions == (Question("7", "factoid", "Who?"),)
    listed = parse_questions(TOPIC.encode(), file="q", default_type="list").questions
    assert listed.questions == (Question("7", "list", "Who?"),)


def test_topic_on_one_line() -> None:
    text = "<top> <num> Number: 1894 <type> Type: list <desc> Description: How far: a < b? </top>"
    questions = parse_questions(text.encode(), file="q", default_type="factoid").questions
    assert questions.questions == (Question("1894", "list", "How far: a < b?"),)


def test_topics_tell_all_faults() -> None:
    text = """<top>
<num> Number: 1
</top>
<top>
<num> Number: 2
<type> Type: essay
<desc> Description: x
</top>
stray
<top>
<num> Number: 3 4
<desc> x
<top>
<num> Number: 5
<desc> y
"""
    problems = sorted((p.line, p.message) for p in faults(text))
    assert [line for line, _ in problems] == [1, 4, 9, 10, 13, 16]
    assert "no <desc>" in problems[0][1]
    assert "essay" in problems[1][1]
    assert "outside" in problems[2][1]
    assert "white space" in problems[3][1]
    assert "not closed" in problems[4][1]


def test_tab_separated() -> None:
    questions = parse_questions("q1\twhat\tis\u2028this?\x0b \r\n\r\n  q2\t b".encode(), file="q").questions
    # The vertical tab is white space around the text; the tab and U+2028 are within it.
    assert questions.questions == (Question("q1", "other", "what\tis\u2028this?"), Question("q2", "other", "b"))


def test_tab_separated_faults() -> None:
    assert [p.line for p in faults("q1\ta\nq2 b\nq3\n")] == [2, 3]


def test_json_lines_keep_what_is_unknown(tmp_path: Path) -> None:
    row = {"id": 12, "type": "Factoid", "text": " Who? ", "series": None, "level": {"hard": [1, 2.5, None]}, "seen": 3}
    questions = parse_questions(json.dumps(row).encode(), file="q").questions
    assert questions.questions[0] == Question("12", "factoid", "Who?")
    jsonl.write_rows(tmp_path / "q.jsonl", map(question_row, questions))
    written = json.loads((tmp_path / "q.jsonl").read_text())
    assert written == {"id": "12", "type": "factoid", "text": "Who?", "level": row["level"], "seen": 3}


def test_json_lines_tell_all_faults() -> None:
    text = """{"id": "1"}
{"id": "", "type": "list", "text": "x"}
{"id": "2", "type": "essay", "text": "x"}
{"id": "3", "type": "list", "text": ""}
{"id": "4", "type": "pair", "text": "x"}
{"id": ["5"], "type": "list", "text": "x"}
{"id": "6", "type": "list", "text": "x", "series": 1.5}
{"id": "7", "type": "other"}
"""
    problems = [(p.line, p.message.split(";")[0]) for p in faults(text)]
    assert [line for line, _ in problems] == [1, 1, 2, 3, 4, 5, 6, 7]
    assert problems[-1] == (7, "'series' is not a string")


def test_duplicate_in_json_lines_names_the_second() -> None:
    line = '{"id": "1", "type": "list", "text": "x"}\n'
    assert [(p.rule, p.line, p.question) for p in faults(line * 2)] == [("duplicate-question", 2, "1")]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n \n",
        b"\xff\xfe\x00\x01\x02",
        bytes(range(256)) * 10,
        b"\x1f\x8b\x08\x00truncated",
        b"q1\ta\0b\n",
        b"<top>\0<num>1<desc>x</top>",
        b'{"id": "1", "type": "list", "text": "\xe9"}',
        b"{" * 100_000,
        b'{"id": "1", "type": "list", "text": "x"',
        b"<trecqa><target id='1' text='x'><q id='1",
        b"x" * (4 << 20),
    ],
)
def test_a_file_without_questions_is_an_input_error(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_questions(file_part(tmp_path / "q", "q"))
    assert all(problem.file in ("q", str(tmp_path / "q")) for problem in caught.value.problems)


def test_megabyte_long_lines() -> None:
    text = "word " * (1 << 20)
    assert parse_questions(f"q1\t{text}".encode(), file="q").questions.questions[0].text == text.strip()


def test_compressed(tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(gzip.compress(SERIES.encode()))
    assert len(read_questions(file_part(tmp_path / "q")).questions) == 2


# Text as anyone may write it, but for half surrogates, which no file holds.
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ODD = st.sampled_from(["\u2028", "\x85", "\x0c", "\t", '"', "\\", "\r", "\n", "\0", "\ufeff", "\x1c", "'", "<&>"])
TEXT = st.lists(st.one_of(ANY, ODD), max_size=4).map("".join).map(str.strip)
NAME = TEXT.filter(bool)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
KNOWN = {"id", "type", "text", "series", "target", "target_type", "series_type", "definition", "hypothesis"}


@st.composite
def questions(draw: st.DrawFn) -> Question:
    kind = draw(st.sampled_from(["factoid", "list", "definition", "other", "pair"]))
    optional = {name: draw(st.none() | TEXT) for name in ("target", "target_type", "series_type", "definition")}
    extra = draw(st.dictionaries(TEXT.filter(lambda name: name not in KNOWN), JSON, max_size=2))
    return Question(
        draw(NAME),
        kind,
        draw(TEXT if kind == "other" else NAME),
        hypothesis=draw(NAME) if kind == "pair" else None,
        extra=extra,
        **optional,
    )


@given(st.lists(questions(), min_size=1, max_size=4, unique_by=lambda q: q.id))
def test_reading_what_was_written(asked: list[Question]) -> None:
    text = "".join(json.dumps(question_row(q), ensure_ascii=False) + "\n" for q in asked)
    questions = parse_questions(text.encode(), file="q").questions
    assert questions == gather(asked)
    assert [dict(q.extra) for q in questions] == [dict(q.extra) for q in asked]
