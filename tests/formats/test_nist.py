"""NIST's forms: the real keys with their counts, round trips, and faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qassay.errors import InputError, Problem
from qassay.formats import files, lines, nist

Data = Callable[[str], Path]


def rows(parse: Any, text: str) -> list[dict[str, Any]]:
    return [row for _, row in parse(text, file="f")]


def faults(parse: Any, text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        parse(text, file="f")
    return [(problem.line, problem.rule) for problem in caught.value.problems]


# Counts: README.md of the data.


@pytest.mark.parametrize(
    ("name", "questions", "nuggets", "vital"),
    [("trec12answers_definition", 50, 417, 207), ("trec13answers_other", 64, 580, 234)],
)
def test_real_nugget_lists(data: Data, name: str, questions: int, nuggets: int, vital: int) -> None:
    warnings: list[Problem] = []
    text = files.read_text(data(f"trec_qa/{name}"))
    parsed = [row for _, row in nist.parse_nuggets(text, file=name, warnings=warnings)]
    assert (len({row["question"] for row in parsed}), len(parsed)) == (questions, nuggets)
    assert sum(row["vital"] for row in parsed) == vital
    assert warnings == []
    assert rows(nist.parse_nuggets, nist.format_nuggets(parsed, {}, file="f")) == parsed


def test_real_list_answers_of_2003(data: Data) -> None:
    parsed = rows(nist.parse_answers, files.read_text(data("trec_qa/trec12answers_list")))
    sizes = Counter(row["question"] for row in parsed)
    assert (len(sizes), len(parsed), min(sizes.values()), max(sizes.values())) == (37, 549, 3, 44)
    repeated = [row["answer"] for row in parsed if row["answer"].endswith(" (2)")]
    assert sorted(repeated) == ["Israel (2)", "Moscow (2)", "Russia (2)", "Tunisia (2)"]  # 549 lines, 545 distinct
    assert rows(nist.parse_answers, nist.format_answers(parsed, {}, file="f")) == parsed


def test_real_list_answers_of_2004(data: Data) -> None:
    parsed = rows(nist.parse_answers, files.read_text(data("trec_qa/trec13answers_list")))
    sizes = Counter(row["question"] for row in parsed)
    assert (len(sizes), min(sizes.values()), max(sizes.values())) == (55, 2, 41)
    assert sum(sizes.values()) / len(sizes) == pytest.approx(8.8)
    assert "53.4" in sizes  # written `#  53.4`


@pytest.mark.parametrize(
    ("name", "patterns", "documents"),
    [
        ("trec11patterns", 530, 0),
        ("trec12patterns", 467, 0),
        ("trec12patterns+docs", 467, 1376),
        ("trec13patterns_factoid", 224, 0),
        ("trec13patterns+docs_factoid", 225, 797),
        ("trec13patterns_list", 484, 0),
    ],
)
def test_real_patterns(data: Data, name: str, patterns: int, documents: int) -> None:
    # Lines and doc-ids of the files, counted by grep.
    parsed = rows(nist.parse_patterns, files.read_text(data(f"trec_qa/{name}")))
    assert (len(parsed), sum(len(row["docs"]) for row in parsed)) == (patterns, documents)


def test_factoid() -> None:
    text = '1.4 NYT1  1 a "b"\tc \r\n\n1.4\tNYT2 -1 x\n2 D 2 u\u2028\n2 D 3 \x85x\n'
    assert rows(nist.parse_factoid, text) == [
        {"question": "1.4", "doc": "NYT1", "text": 'a "b"\tc', "judgment": "R"},
        {"question": "1.4", "doc": "NYT2", "text": "x", "judgment": "W"},
        {"question": "2", "doc": "D", "text": "u\u2028", "judgment": "U"},
        {"question": "2", "doc": "D", "text": "\x85x", "judgment": "X"},
    ]


def test_judged_nil_is_skipped_with_a_warning() -> None:
    # An item `NIL` judged right would make NIL wrong.
    warnings: list[Problem] = []
    assert nist.parse_factoid("1 NIL 1\n", file="f", warnings=warnings) == []
    assert [(problem.line, problem.file) for problem in warnings] == [(1, "f")]


def test_all_factoid_faults_are_reported() -> None:
    assert faults(nist.parse_factoid, "1 D 1 x\n1 D\n1 D 4 x\n1 D 1\n1 D R x\n1 D 1 \0\n") == [
        (6, "syntax"),
        (2, "syntax"),
        (3, "bad-label"),
        (4, "syntax"),
        (5, "bad-label"),
    ]


def test_list() -> None:
    text = "1.3 TAG D1 1 1 New York\n1.3 TAG D2 1 0 NY\n1.3 TAG D3 -1 -1 x y\n"
    assert rows(nist.parse_list, text) == [
        {"question": "1.3", "run": "TAG", "doc": "D1", "text": "New York", "judgment": "R", "distinct": True},
        {"question": "1.3", "run": "TAG", "doc": "D2", "text": "NY", "judgment": "R", "distinct": False},
        {"question": "1.3", "run": "TAG", "doc": "D3", "text": "x y", "judgment": "W", "distinct": False},
    ]


def test_equal_items_of_a_list_are_distinct_together() -> None:
    """The second line of an equal item is not marked, and must not take the mark away: the last row counts."""
    text = "1.3 TAG D1 1 1 New York\n1.3 TAG D1 1 0 New York\n1.3 B D1 1 0 New York\n1.3 TAG D1 -1 0 New York\n"
    assert [row["distinct"] for row in rows(nist.parse_list, text)] == [True, True, False, False]


def test_list_faults() -> None:
    text = "1 T D 1 2 x\n1 T D 1\n1 T D 5 1 x\n1 T D -1 1 x\n"
    assert faults(nist.parse_list, text) == [(1, "bad-label"), (2, "syntax"), (3, "bad-label"), (4, "bad-label")]


def test_list_classes_become_marks() -> None:
    item = {"question": "1", "run": "A", "doc": "D", "judgment": "R"}
    judged = [
        {**item, "text": "NY", "answer": "New York"},
        {**item, "text": "New York City", "answer": "New York"},
        {**item, "text": "Boston"},
        {**item, "text": "Boston", "doc": "E"},
        {**item, "text": "NY", "answer": "New York", "run": "B"},
        {**item, "text": "Rome", "distinct": True},
        {**item, "text": "Roma", "distinct": False},
        {**item, "text": "x", "judgment": "X", "answer": "New York"},
    ]
    text = nist.format_list(judged, file="f")
    assert [row["distinct"] for row in rows(nist.parse_list, text)] == [
        True, False, True, False, True, True, False, False,
    ]  # fmt: skip


def test_other_in_two_parts() -> None:
    text = """1.6 A 1 D1 founded in 1969
1.6 A 2 D2 wear blue 7
1.6 B 1 D1 nothing
1.6 A 1 3
1.6 A 2 1
1.6 A 1 5
1.6 A 1 3
"""
    assert rows(nist.parse_other, text) == [
        {"question": "1.6", "run": "A", "item": 0, "nuggets": ["3", "5"]},
        {"question": "1.6", "run": "A", "item": 1, "nuggets": ["1"]},
        {"question": "1.6", "run": "B", "nuggets": []},
    ]


def test_other_parts_may_come_alone() -> None:
    assert rows(nist.parse_other, "1.6 A 1 3\n") == [{"question": "1.6", "run": "A", "item": 0, "nuggets": ["3"]}]
    assert rows(nist.parse_other, "1.6 A 1 D x\n") == [{"question": "1.6", "run": "A", "nuggets": []}]


def test_other_faults() -> None:
    text = "1.6 A 1 D x\n1.6 A 0 D x\n1.6 A x D x\n1.6 A\n1.6 A 2 3\n1.6 A ² 3\n1.6 B 1 1\n"
    assert faults(nist.parse_other, text) == [(n, "syntax") for n in (2, 3, 4, 6, 5, 7)]


def test_nuggets_under_another_heading() -> None:
    warnings: list[Problem] = []
    text = "Qid 1: a\n1 1\tvital\tx\n\nQid 2\n1 2\tOKAY\ty  z\n"
    parsed = nist.parse_nuggets(text, file="f", warnings=warnings)
    assert [row for _, row in parsed] == [
        {"question": "1", "nugget": "1", "vital": True, "text": "x"},
        {"question": "1", "nugget": "2", "vital": False, "text": "y  z"},
    ]
    assert [problem.line for problem in warnings] == [5]


def test_nugget_faults() -> None:
    text = "1 1\tvital\tx\n1 1\tokay\ty\n1 2\tgood\tz\n1 3\tvital\t\nx\n"
    assert faults(nist.parse_nuggets, text) == [(n, "syntax") for n in (2, 3, 4, 5)]


def test_answers_written_alike() -> None:
    text = "# 1\nQ:Where?\nMoscow\nMoscow (2)\nMoscow\nQ:not a question\n\t\t\n#2\n#  2\nMoscow \n"
    assert [(row["question"], row["answer"]) for row in rows(nist.parse_answers, text)] == [
        ("1", "Moscow"),
        ("1", "Moscow (2)"),
        ("1", "Moscow (3)"),
        ("1", "Q:not a question"),
        ("1", "#2"),
        ("2", "Moscow"),
    ]


def test_answer_without_a_question() -> None:
    assert faults(nist.parse_answers, "Paris\n# 1\nRome\n") == [(1, "syntax")]


def test_patterns() -> None:
    text = "1894 (190|249)\\s?million NYT19990923.0315 APW_ENG_20050101.0001 \n1 a b d7\n2 NYT19990923.0315\n"
    parsed = [row for _, row in nist.parse_patterns(text, file="f", documents={"d7"})]
    assert parsed == [
        {
            "question": "1894",
            "pattern": "(190|249)\\s?million",
            "docs": ["NYT19990923.0315", "APW_ENG_20050101.0001"],
        },
        {"question": "1", "pattern": "a b", "docs": ["d7"]},
        {"question": "2", "pattern": "NYT19990923.0315", "docs": []},
    ]


def test_pattern_faults() -> None:
    deep = "(" * 5000 + ")" * 5000
    text = f"1 (a\n2\n3 a{{1,99999999999999999999}}\n4 {deep}\n5 [[a]\n"
    assert faults(nist.parse_patterns, text) == [(n, "syntax") for n in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    "parse",
    [
        nist.parse_factoid,
        nist.parse_list,
        nist.parse_other,
        nist.parse_nuggets,
        nist.parse_answers,
        nist.parse_patterns,
    ],
)
@given(text=st.text(st.sampled_from("1 \t\n\rRx#Q:-D\0(\u2028") | st.characters(exclude_categories=["Cs"])))
def test_any_text_gives_rows_or_an_input_error(parse: Any, text: str) -> None:
    try:
        parsed = parse(text, file="f")
    except InputError as error:
        places = [problem.line for problem in error.problems]
    else:
        places = [line for line, _ in parsed]
    assert all(line is not None and 1 <= line <= text.count("\n") + 1 for line in places)


def test_megabyte_long_lines() -> None:
    string = "word " * (1 << 18) + "end"
    assert rows(nist.parse_factoid, f"1 D 1 {string}\n")[0]["text"] == string
    assert faults(nist.parse_patterns, f"1 {string} NYT19990923.0315\n") == [(1, "syntax")]
    documents = " NYT19990923.0315" * 50_000
    assert len(rows(nist.parse_patterns, f"1 x{documents}\n")[0]["docs"]) == 50_000
    blanks = " " * (1 << 20)
    assert rows(nist.parse_list, f"1{blanks}A{blanks}D{blanks}1 1 x{blanks}y{blanks}\n")[0]["text"] == f"x{blanks}y"


# Round trips. A field has no white space; a string fits on a line and has no blanks around it.
FIELD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n\0"), min_size=1, max_size=8)
CHARACTER = st.one_of(
    st.sampled_from(list("\u2028\x85\x0c\x0b\t \"'\r\ufeff\x1c")),
    st.characters(exclude_categories=["Cs"], exclude_characters="\n\0"),
)
STRING = st.text(CHARACTER, min_size=1, max_size=12).filter(lambda text: bool(text) and lines.is_one_line(text))
LABEL = st.sampled_from("RWUX")
# A docid NIL is not a document.
DOC = FIELD.filter(lambda doc: doc != "NIL")


@given(st.lists(st.fixed_dictionaries({"question": FIELD, "doc": DOC, "text": STRING, "judgment": LABEL})))
def test_factoid_round_trip(judged: list[dict[str, Any]]) -> None:
    assert rows(nist.parse_factoid, nist.format_factoid(judged, file="f")) == judged


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "question": FIELD,
                "run": FIELD,
                "doc": DOC,
                "text": STRING,
                "judgment": st.just("R"),
                "distinct": st.booleans(),
            }
        ),
        # Of equal items one line at most is marked.
        unique_by=lambda row: (row["question"], row["run"], row["doc"], row["text"]),
    )
)
def test_list_round_trip(judged: list[dict[str, Any]]) -> None:
    assert rows(nist.parse_list, nist.format_list(judged, file="f")) == judged


@given(
    st.dictionaries(
        st.tuples(FIELD, FIELD),
        st.lists(st.tuples(DOC, STRING, st.lists(FIELD, max_size=2, unique=True)), min_size=1, max_size=3),
        max_size=3,
    )
)
def test_other_round_trip(responses: dict[tuple[str, str], list[tuple[str, str, list[str]]]]) -> None:
    items = {key: [(doc, text) for doc, text, _ in items_of_run] for key, items_of_run in responses.items()}
    judged: list[dict[str, Any]] = []
    for (question, run), items_of_run in responses.items():
        judged += [
            {"question": question, "run": run, "item": place, "nuggets": nuggets}
            for place, (_, _, nuggets) in enumerate(items_of_run)
            if nuggets
        ]
    unmatched = [
        {"question": question, "run": run, "nuggets": []}
        for (question, run), items_of_run in responses.items()
        if not any(nuggets for _, _, nuggets in items_of_run)
    ]
    text = nist.format_other([*judged, *unmatched], items, file="f")
    assert rows(nist.parse_other, text) == [*judged, *unmatched]


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "question": FIELD.filter(lambda name: ":" not in name),
                "nugget": FIELD,
                "vital": st.booleans(),
                # Line ends become blanks: the text is for people.
                "text": STRING.filter(lambda text: "\r" not in text),
            }
        ),
        unique_by=lambda row: (row["question"], row["nugget"]),
    ).map(lambda drawn: sorted(drawn, key=lambda row: row["question"]))
)
def test_nuggets_round_trip(listed: list[dict[str, Any]]) -> None:
    written = [row for row in listed if row["question"] != "Qid"]
    text = nist.format_nuggets(written, {}, file="f")
    assert rows(nist.parse_nuggets, text) == written


@given(
    st.lists(
        st.fixed_dictionaries({"question": FIELD, "answer": STRING.filter(lambda text: text[0] not in "#Q")}),
        unique_by=lambda row: (row["question"], row["answer"]),
    ).map(lambda drawn: sorted(drawn, key=lambda row: row["question"]))
)
def test_answers_round_trip(known: list[dict[str, Any]]) -> None:
    assert rows(nist.parse_answers, nist.format_answers(known, {}, file="f")) == known


@pytest.mark.parametrize("text", ["", "a\nb", " a", "a\t", "a\r", "a\0b"])
def test_values_that_no_line_can_contain_are_errors(text: str) -> None:
    with pytest.raises(InputError, match="a NIST form cannot express it"):
        nist.format_factoid([{"question": "1", "doc": "D", "text": text, "judgment": "R"}], file="f")


def test_fields_with_white_space_and_foreign_labels_are_errors() -> None:
    judged = [
        {"question": "1 2", "doc": "D", "text": "x", "judgment": "R"},
        {"question": "1", "doc": "a b", "text": "x", "judgment": "good"},
    ]
    with pytest.raises(InputError) as caught:
        nist.format_factoid(judged, file="f")
    assert len(caught.value.problems) == 3


def test_answers_that_look_like_headings_are_errors() -> None:
    with pytest.raises(InputError, match="heading"):
        nist.format_answers([{"question": "1", "answer": "# 2"}], {}, file="f")
