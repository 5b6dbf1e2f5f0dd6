"""JSON lines, the careful way and the fast way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qassay.errors import InputError, Problem
from qassay.formats import jsonl

SCHEMA = {
    "question": pl.String,
    "vital": pl.Boolean,
    "item": pl.Int64,
    "weight": pl.Float64,
    "nuggets": pl.List(pl.String),
}


def faults(text: str) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        jsonl.parse_rows(text, file="f")
    return list(caught.value.problems)


TEXT = st.text(
    st.sampled_from(list("\u2028\u2029\x85\x0c\x0b\x1c\t\r\n\"'\\\0\ufeff")) | st.characters(exclude_categories=["Cs"]),
    max_size=10,
)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.dictionaries(TEXT, JSON, max_size=4), max_size=4))
def test_reading_what_was_written(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.jsonl"
    jsonl.write_rows(path, rows)
    assert jsonl.parse_rows(path.read_text("utf-8"), file="f") == list(enumerate(rows, 1))


def test_lines_end_in_lf_or_crlf_and_nowhere_else() -> None:
    text = '{"a": "x\u2028\x85y"}\r\n\n \t\r\n{"a": 1}'
    assert jsonl.parse_rows(text, file="f") == [(1, {"a": "x\u2028\x85y"}), (4, {"a": 1})]


def test_all_faulty_lines_are_reported() -> None:
    deep = "[" * 100_000
    text = f'{{"a": 1}}\n{{"a": \n[1]\n"x"\nnull\n{deep}\n{{"a": NaN}}\n{{"a": "\0"}}\n{{"a": "\\ud800"}}\n{{}} {{}}\n'
    assert [(problem.rule, problem.line) for problem in faults(text)] == [("syntax", n) for n in range(2, 11)]


def test_megabyte_long_lines(tmp_path: Path) -> None:
    row = {"question": "x" * (3 << 20), "nuggets": ["n"] * 100_000}
    jsonl.write_rows(tmp_path / "f.jsonl", [row])
    assert jsonl.parse_rows((tmp_path / "f.jsonl").read_text("utf-8"), file="f") == [(1, row)]
    assert jsonl.parse_table((tmp_path / "f.jsonl").read_bytes(), SCHEMA, file="f")["question"][0] == row["question"]


def table(text: str) -> pl.DataFrame:
    return jsonl.parse_table(text.encode(), SCHEMA, file="f")


def test_typed_columns() -> None:
    text = '{"question": "1", "vital": true, "item": 0, "weight": 1, "nuggets": ["a"], "note": {"x": 1}}\n'
    text += '{"question": "2"}\n'
    rows = table(text)
    assert rows.schema == {"line": pl.UInt32, **SCHEMA}
    assert rows.rows() == [(1, "1", True, 0, 1.0, ["a"]), (2, "2", None, None, None, None)]


def test_whole_numbers_stand_for_their_digits() -> None:
    rows = table('{"question": 1894, "nuggets": [1, "2"]}\n')
    assert rows.select("question", "nuggets").rows() == [("1894", ["1", "2"])]


def test_line_numbers_count_blank_lines() -> None:
    assert table('\n{"question": "1"}\n\r\n{"question": "2"}')["line"].to_list() == [2, 4]


def test_all_values_of_another_type_are_reported() -> None:
    text = '{"question": "1", "vital": "yes"}\n{"question": ["1"]}\n{"item": 1.5}\n'
    text += '{"weight": true}\n{"nuggets": "a"}\n{"item": true}\n'
    with pytest.raises(InputError) as caught:
        table(text)
    assert [(p.line, p.question) for p in caught.value.problems] == [
        (1, "1"), (2, "['1']"), (3, None), (4, None), (5, None), (6, None),
    ]  # fmt: skip


VALUE = {
    "question": st.none() | TEXT | st.integers(-5, 5),
    "vital": st.none() | st.booleans(),
    "item": st.none() | st.integers(-(2**40), 2**40),
    "weight": st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5),
    "nuggets": st.none() | st.lists(TEXT, max_size=2),
    "extra": JSON,
}


@given(st.lists(st.fixed_dictionaries({}, optional=VALUE), min_size=1, max_size=4), st.booleans())
def test_the_fast_way_reads_what_the_careful_way_reads(rows: list[dict[str, Any]], ascii_only: bool) -> None:
    text = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows)
    careful = jsonl.rows_table(jsonl.parse_rows(text, file="f"), SCHEMA, file="f")
    assert table(text).equals(careful)


WRONG = st.one_of(JSON, TEXT, st.integers(), st.floats(), st.booleans())


@given(st.lists(st.dictionaries(st.sampled_from([*SCHEMA, "extra"]), WRONG), min_size=1, max_size=3))
def test_both_ways_refuse_the_same_files(rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    try:
        careful = jsonl.rows_table(jsonl.parse_rows(text, file="f"), SCHEMA, file="f")
    except InputError:
        with pytest.raises(InputError):
            table(text)
    else:
        assert table(text).equals(careful)
