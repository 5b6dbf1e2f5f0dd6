"""Bare score matrices: headers, exact decimals, every bad cell, series, round trips."""

from __future__ import annotations

import csv
import gzip
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qassay.errors import InputError, Remedy, UsageError, with_way_out
from qassay.formats.columns import UNIT_HEADERS
from qassay.formats.matrix import Missing, average_series, format_matrix, read_matrix, write_matrix
from qassay.formats.scores import read_scores
from qassay.matrix import ScoreMatrix

SKIP_OR_ZERO = '. To leave the question out: missing="skip"; to count 0: missing="zero"'


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def save(text: str, name: str = "scores.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return save


def messages(error: pytest.ExceptionInfo[InputError]) -> list[str]:
    return [with_way_out(problem.message, problem.way_out, Remedy.in_python) for problem in error.value.problems]


def test_unit_column(write: Callable[..., Path]) -> None:
    matrix = read_matrix(write("qid,A,B\nq1,1,0\nq2,0.5,1\n"))
    assert matrix.runs == ("A", "B")
    assert matrix.units == ("q1", "q2")
    assert matrix.values.tolist() == [[1, 0.5], [0, 1]]
    assert matrix.denominator == 10
    assert matrix.measure == "score"


@pytest.mark.parametrize(
    "header", ["", "unit", "id", "qid", "query_id", "question", "topic", "series", '"topic"', "Topic", "sample_id"]
)
def test_unit_headers(write: Callable[..., Path], header: str) -> None:
    first = {"", "unit", "id", "qid", "query_id", "question", "topic", "series"}  # FORMATS 5
    others = {
        "question_id",
        "sample_id",
        "query",
        "doc_id",
        "item",
        "user_input",
        "input",
        "prompt",
        "frage",
    }  # FORMATS 7
    assert set(UNIT_HEADERS) == first | others
    assert read_matrix(write(f"{header},A\n7,1\n9,0\n")).units == ("7", "9")


def test_ids_are_not_taken_for_scores(write: Callable[..., Path]) -> None:
    rows = "1,0.2,0.3\n2,0.1,1\n3,0.5,0.4\n"
    with pytest.raises(InputError, match="the column 'thing' looks like the ids of the questions"):
        read_matrix(write("thing,B,C\n" + rows))
    with_ids = "".join(f"q{i},{row}\n" for i, row in enumerate(rows.split()))
    assert read_matrix(write("question,A,B,C\n" + with_ids)).runs == ("A", "B", "C")


def test_without_unit_column_units_are_numbered(write: Callable[..., Path]) -> None:
    matrix = read_matrix(write("A,B\n1,0\n0,1\n"))
    assert matrix.runs == ("A", "B")
    assert matrix.units == ("1", "2")
    assert matrix.denominator == 1


@pytest.mark.parametrize("header", ["", "run", "tag", "system"])
def test_runs_as_rows(write: Callable[..., Path], header: str) -> None:
    matrix = read_matrix(write(f"{header},q1,q2,q3\nA,1,0,0.25\nB,0,0,1\n"), runs_as_rows=True)
    assert matrix.runs == ("A", "B")
    assert matrix.units == ("q1", "q2", "q3")
    assert matrix.values.tolist() == [[1, 0, 0.25], [0, 0, 1]]
    assert matrix.denominator == 100


def test_runs_as_rows_needs_a_column_of_tags(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="with runs as rows its header is empty, run, tag or system"):
        read_matrix(write("qid,q1\nA,1\n"), runs_as_rows=True)


def test_a_table_of_runs_as_rows_says_so(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="runs_as_rows=True"):
        read_matrix(write("system,q1,q2\nA,1,0\nB,0,1\n"), missing="zero")


def test_bom_quotes_crlf_and_blank_lines(write: Callable[..., Path]) -> None:
    matrix = read_matrix(write('\ufeff"topic","A, the first","B"\r\n"q 1", 1 ,0\r\n\r\nq2,0,1\r\n\r\n'))
    assert matrix.runs == ("A, the first", "B")
    assert matrix.units == ("q 1", "q2")
    assert matrix.values.tolist() == [[1, 0], [0, 1]]


def test_compressed(tmp_path: Path) -> None:
    text = b"qid,A\n1,0.5\n"
    for name, content in (("a.csv.gz", gzip.compress(text)), ("a.csv.zst", zstandard.compress(text))):
        path = tmp_path / name
        path.write_bytes(content)
        assert read_matrix(path).values.tolist() == [[0.5]]


@pytest.mark.parametrize(
    ("cells", "denominator"),
    [
        (["0", "1", "1.0", "1."], 1),
        (["7e-04", "0.5"], 10_000),
        (["0.50", "1E-1", ".3", "+2"], 10),
        (["0.166666666667", "1"], 10**12),
        (["0.3333333333333333", "1"], None),  # 16 places: sums would not be exact
        (["1e-9", "123456789"], None),
        (["2e3", "1"], 1),
    ],
)
def test_denominator_is_the_power_of_ten_as_written(
    write: Callable[..., Path], cells: list[str], denominator: int | None
) -> None:
    matrix = read_matrix(write("A\n" + "\n".join(cells) + "\n"))
    assert matrix.denominator == denominator
    if denominator is not None:
        numerators = matrix.numerators()
        assert numerators is not None
        assert [Fraction(int(n), denominator) for n in numerators[0]] == [Fraction(cell) for cell in cells]


def test_every_bad_cell_is_reported_with_row_and_column(write: Callable[..., Path]) -> None:
    path = write("qid,A,B\nq1,1,\nq2,x,1\nq3,nan,inf\nq4,1_0,0x1\nq5,1e999,١\n")
    with pytest.raises(InputError) as error:
        read_matrix(path)
    problems = [(problem.line, problem.message.split(" (")[0]) for problem in error.value.problems]
    assert problems == [
        (2, "row q1, column B: empty cell"),
        (3, "row q2, column A: 'x' is not a number"),
        (4, "row q3, column A: 'nan' is not a number"),
        (4, "row q3, column B: 'inf' is not a number"),
        (5, "row q4, column A: '1_0' is not a number"),
        (5, "row q4, column B: '0x1' is not a number"),
        (6, "row q5, column A: '1e999' is not a number"),
        (6, "row q5, column B: '١' is not a number"),
    ]
    assert all(problem.file == str(path) for problem in error.value.problems)


def test_bad_cell_of_runs_as_rows_names_tag_and_unit(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="row B, column q2: empty cell"):
        read_matrix(write("run,q1,q2\nA,1,1\nB,0,\n"), runs_as_rows=True)


@pytest.mark.parametrize(
    ("cell", "way_out"),
    [
        ("NA", SKIP_OR_ZERO),
        ("n/a", SKIP_OR_ZERO),
        ("-", SKIP_OR_ZERO),
        ("50%", " (write 0.5)"),
        ('"12,5 %"', " (write 0.125)"),
        ('"0,5"', " (write 0.5)"),
        ("who?", ""),
    ],
)
def test_text_is_not_steered_to_zero(write: Callable[..., Path], cell: str, way_out: str) -> None:
    with pytest.raises(InputError) as error:
        read_matrix(write(f"qid,A,B\nq1,1,0\nq2,{cell},1\n"))
    stripped = cell.strip('"')
    assert messages(error) == [f"row q2, column A: {stripped!r} is not a number{way_out}"]


@pytest.mark.parametrize("missing", ["stop", "zero", "skip"])
def test_a_column_of_text_is_left_out_and_named(write: Callable[..., Path], missing: Missing) -> None:
    matrix = read_matrix(write("qid,asks,A\nq1,,1\nq2,who?,0\nq3,what?,1\n"), missing=missing)
    assert (matrix.runs, matrix.notes) == (("A",), ("Column 'asks' is not a score and was left out.",))
    path = write("run,organisation,q1\nA,Ours,1\nB,Theirs,0\n")
    matrix = read_matrix(path, runs_as_rows=True, missing=missing)
    assert (matrix.units, matrix.notes) == (("q1",), ("Column 'organisation' is not a score and was left out.",))
    with pytest.raises(InputError, match="no column has numbers"):
        read_matrix(write("qid,asks\nq1,who?\nq2,what?\n"), missing=missing)


def test_a_run_without_any_score_is_still_a_run(write: Callable[..., Path]) -> None:
    assert read_matrix(write("qid,A,B\nq1,NA,1\nq2,,0\n"), missing="zero").values.tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize("missing", ["stop", "zero", "skip"])
def test_a_blank_column_is_left_out_and_named(write: Callable[..., Path], missing: Missing) -> None:
    path = write("qid,A,B,comment\nq1,1,0, \nq2,0,1,\n")
    note = "Column 'comment' is not a score and was left out."
    for metric in (None, "all"):
        matrix = read_scores(path, metric=metric, missing=missing).matrix
        assert (matrix.runs, matrix.notes) == (("A", "B"), (note,))
    with pytest.raises(InputError, match="column comment: empty cell"):
        read_scores(path, systems=["A", "comment"])
    with pytest.raises(InputError):
        read_scores(write("some prose\nin a file\n"), missing=missing)


def test_a_tag_may_hold_a_semicolon(write: Callable[..., Path]) -> None:
    assert read_matrix(write("a;b\n1\n0\n")).runs == ("a;b",)


def test_missing_zero(write: Callable[..., Path]) -> None:
    matrix = read_matrix(write("qid,A,B\nq1,1,\nq2,x,1\n"), missing="zero")
    assert matrix.values.tolist() == [[1, 0], [0, 1]]
    assert matrix.notes == (
        "2 cells without a score counted as 0 (missing: zero).",
        "1 of the cells without a score contains text, such as 'x'.",
    )


def test_missing_skip_drops_the_unit(write: Callable[..., Path]) -> None:
    matrix = read_matrix(write("qid,A,B\nq1,1,\nq2,0,1\n"), missing="skip")
    assert matrix.units == ("q2",)
    assert matrix.values.tolist() == [[0], [1]]
    assert matrix.notes == ("1 of 2 questions left out: a run has no score for them (missing: skip).",)
    with pytest.raises(InputError, match="none is left"):
        read_matrix(write("qid,A,B\nq1,1,NA\n"), missing="skip")


def test_no_note_where_nothing_is_missing(write: Callable[..., Path]) -> None:
    assert read_matrix(write("A\n1\n"), missing="zero").notes == ()


def test_duplicated_tags_name_their_columns(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError) as error:
        read_matrix(write("qid,A,B,A,B ,C\nq1,1,1,1,1,1\n"))
    assert messages(error) == [
        "run tag 'A' is there 2 times, in columns 2, 4",
        "run tag 'B' is there 2 times, in columns 3, 5",
    ]
    with pytest.raises(InputError, match="run tag 'A' is there 2 times, in lines 2, 3"):
        read_matrix(write("run,q1\nA,1\nA,0\n"), runs_as_rows=True)


def test_duplicated_and_empty_units(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError) as error:
        read_matrix(write("qid,A\nq1,1\nq1,0\n,1\n"))
    double = "question id 'q1' is there 2 times, in lines 2, 3. If these are repeats: repeats=\"rows\""
    assert messages(error) == [double, "line 4: no question id"]


def test_rows_of_another_width(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError) as error:
        read_matrix(write("qid,A,B\nq1,1\nq2,1,0\nq3,1,0,1\n"), missing="zero")
    assert [(p.line, p.message) for p in error.value.problems] == [
        (2, "2 cells where the header has 3. Put quotation marks around cells that contain commas"),
        (4, "4 cells where the header has 3. Put quotation marks around cells that contain commas"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        ("qid,A\n", "no questions: the table has only a header"),
        ("qid\nq1\n", "no systems: the table has only one column"),
        ("qid,A,\nq1,1,1\n", "no run tag"),
        ('qid,A\n"q1,1\n', "not CSV"),
        ("asked,A\nwhat?,1\nwho?,0\n", "column 'asked' has no numbers.*columns={.question.: .asked.}"),
        ("qid\tA\nq1\t0,5\n", "'0,5' is not a number"),
    ],
)
def test_a_file_that_is_not_a_matrix(write: Callable[..., Path], text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_matrix(write(text))


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes(b"qid,A\nq1,1\nq\xe9,0\n")
    with pytest.raises(InputError) as error:
        read_matrix(path)
    assert error.value.problems[0].line == 3


@pytest.mark.parametrize("blank", ["\n", ",,\n", " , ,\n"])
def test_rows_of_separators_are_not_rows(write: Callable[..., Path], blank: str) -> None:
    matrix = read_matrix(write(f"{blank}qid,A,B\nq1,1,0\n{blank}q2,0,1\n{blank}{blank}"))
    assert matrix.units == ("q1", "q2")


@pytest.mark.parametrize("name", ["Average", "TOTAL", "mean:", "all", "Std"])
def test_a_summary_below_a_table_is_not_a_question(write: Callable[..., Path], name: str) -> None:
    with pytest.raises(InputError, match=f"row '{name}' looks like a summary") as error:
        read_matrix(write(f"qid,A,B\nq1,1,0\nq2,1,1\n,,\n{name},1,0.5\n"))
    assert error.value.problems[0].line == 5
    with pytest.raises(InputError, match=f"column '{name}' looks like a summary"):
        read_matrix(write(f"run,q1,q2,{name}\nA,1,0,0.5\n"), runs_as_rows=True)


def test_names_of_functions_are_questions(write: Callable[..., Path]) -> None:
    assert read_matrix(write("id,A\nsum,1\nmax,0\nsort,1\n")).units == ("sum", "max", "sort")


def test_a_table_without_names_of_systems(write: Callable[..., Path]) -> None:
    for text in ("q1,0.5,0.4\nq2,0.1,0.2\n", "0.5,0.4\n0.1,0.2\n", "1,0.5,1\n2,0.1,0\n"):
        with pytest.raises(InputError, match="the first line has numbers where names of systems belong"):
            read_matrix(write(text))
    assert read_matrix(write("id,0.0,0.5\nq1,1,0\n")).runs == ("0.0", "0.5")
    assert read_matrix(write("7,13\n1,0\n0,1\n")).runs == ("7", "13")


@pytest.mark.parametrize(
    ("cells", "advice"), [(("85%", "7%"), "For '85%' write 0.85"), (("B", "A"), "Write a number for each of 'A', 'B'")]
)
def test_a_table_without_a_number_says_what_to_write(
    write: Callable[..., Path], cells: tuple[str, str], advice: str
) -> None:
    with pytest.raises(InputError, match=advice):
        read_matrix(write(f"id,new\nq1,{cells[0]}\nq2,{cells[1]}\n"))


def test_utf_16_with_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "scores.txt"
    path.write_bytes("qid\tA\tB\nq\u00e9\t1\t0\n".encode("utf-16"))
    assert read_matrix(path).units == ("q\u00e9",)


def test_a_pickle_is_named_and_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "frame.pkl"
    path.write_bytes(pickle.dumps({"A": [1, 0]}))
    with pytest.raises(InputError, match="is a pickle of Python"):
        read_matrix(path)


def test_one_column_keeps_blank_lines_as_empty_cells(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="row 2, column A: empty cell"):
        read_matrix(write("A\n1\n\n0\n"))


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    frame = pl.DataFrame({"qid": [11, 12], "A": [0.1, 1.0], "B": [True, False], "C": [0, 1]})
    frame.write_parquet(path)
    matrix = read_matrix(path)
    assert matrix.runs == ("A", "B", "C")
    assert matrix.units == ("11", "12")
    assert matrix.values.tolist() == [[0.1, 1.0], [1, 0], [0, 1]]
    assert matrix.denominator == 10
    frame.with_columns(pl.Series("B", [None, 0.5])).write_parquet(path)
    with pytest.raises(InputError, match="row 11, column B: empty cell"):
        read_matrix(path)
    path.write_bytes(b"PAR1 is no such file")
    with pytest.raises(InputError, match="not a table that can be read"):
        read_matrix(path)


def test_parquet_runs_as_rows(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    pl.DataFrame({"system": ["A", "B"], "q1": [0.25, 1.0]}).write_parquet(path)
    matrix = read_matrix(path, runs_as_rows=True)
    assert (matrix.runs, matrix.units, matrix.denominator) == (("A", "B"), ("q1",), 100)


def test_series_are_means_of_their_units(write: Callable[..., Path]) -> None:
    path = write("qid,A,B\n1.1,1,0.5\n2.1,0,1\n1.2,0,0\n1.3,0,0.1\n")
    matrix = read_matrix(path, series_from=r"^([^.]+)")
    assert matrix.units == ("1", "2")
    assert matrix.values == pytest.approx(np.array([[1 / 3, 0], [0.2, 1]]))
    assert matrix.denominator == 30
    numerators = matrix.numerators()
    assert numerators is not None
    assert numerators.tolist() == [[10, 0], [6, 30]]
    assert matrix.notes == ("4 questions averaged into 2 series.",)


def test_series_pattern_must_fit(write: Callable[..., Path]) -> None:
    path = write("qid,A\n1.1,1\nx,0\n")
    with pytest.raises(UsageError, match="finds no series in 1 question id: x"):
        read_matrix(path, series_from=r"^(\d+)\.")
    with pytest.raises(UsageError, match="has no group"):
        read_matrix(path, series_from="^[^.]+")
    with pytest.raises(UsageError, match="not a regular expression"):
        read_matrix(path, series_from="(")


def test_series_of_inexact_scores() -> None:
    matrix = ScoreMatrix(("A",), ("1.1", "1.2"), np.array([[1 / 3, 1 / 7]]))
    assert average_series(matrix, r"^(\d+)").denominator is None


scores = st.one_of(
    st.integers(0, 1).map(float), st.decimals(0, 1, places=4).map(float), st.floats(-1e6, 1e6, allow_nan=False)
)


@settings(max_examples=50)
@given(st.lists(st.lists(scores, min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_written_matrix_is_read_back(tmp_path_factory: pytest.TempPathFactory, rows: list[list[float]]) -> None:
    # A first run of whole numbers would be read as the ids of the questions.
    assume(len(rows) == 1 or any(value != round(value) or value <= 1 for value in rows[0]))
    matrix = ScoreMatrix(tuple(f"r{i}," for i in range(len(rows))), ("a b", 'q"2', "3"), np.array(rows))
    path = tmp_path_factory.mktemp("matrix") / "m.csv"
    write_matrix(matrix, path)
    back = read_matrix(path)
    assert (back.runs, back.units) == (matrix.runs, matrix.units)
    assert (back.values == matrix.values).all()


def test_whole_numbers_are_written_whole() -> None:
    matrix = ScoreMatrix(("A", "B"), ("q",), np.array([[1.0], [0.5]]))
    assert format_matrix(matrix) == "unit,A,B\nq,1,0.5\n"


@pytest.mark.parametrize(
    ("name", "shape", "denominator"),
    [
        ("score_matrices/adhoc8_ap.csv", (129, 50), 10_000),
        ("score_matrices/robust2004_p10.csv", (110, 249), 10),
        ("nq301/matrix.csv", (12, 301), 1),
    ],
)
def test_real_matrices(data: Callable[[str], Path], name: str, shape: tuple[int, int], denominator: int) -> None:
    path = data(name)
    matrix = read_matrix(path)
    assert matrix.values.shape == shape
    assert matrix.denominator == denominator
    with path.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    first = int(shape[0] < len(rows[0]))
    assert [float(cell) for cell in rows[-1][first:]] == matrix.values[:, -1].tolist()


def test_real_matrix_with_empty_cells(data: Callable[[str], Path]) -> None:
    path = data("score_matrices/trec2006_factoid_rr_strict.csv")
    with path.open(newline="") as file:
        empty = sum(cell == "" for row in csv.reader(file) for cell in row)
    with pytest.raises(InputError) as error:
        read_matrix(path)
    assert len(error.value.problems) == empty > 0
    series = read_matrix(path, missing="zero", series_from=r"^([^.]+)")
    assert series.values.shape == (139, 75)  # counts of the data's README
