"""Scores in every form: the same scores give the same matrix, and what is wrong is said with its place. (FORMATS 7)"""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import qassay
from on_disk import workbook
from qassay.errors import InputError, UsageError
from qassay.formats.matrix import Missing
from qassay.formats.scores import ScoreTables, read_scores
from qassay.formats.sources import is_source, split_source
from qassay.matrix import ScoreMatrix

Write = Callable[..., Path]

QUESTIONS = ("q1", "q2", "q3", "q4", "q5", "q6")
SCORES = {"A": [0.1, 0.25, 1, 0, 0.5, 0.7], "B": [1, 0.3, 0, 0, 0.125, 0.7]}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def save(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return save


def wide_csv(separator: str = ",", decimal: str = ".") -> str:
    rows = zip(QUESTIONS, *SCORES.values(), strict=True)
    lines = [separator.join(map(str, row)) for row in rows]
    return "\n".join([separator.join(["qid", *SCORES]), *(line.replace(".", decimal) for line in lines)]) + "\n"


def long_rows(**extra: Any) -> list[dict[str, Any]]:
    """One row per answer, question by question."""
    return [
        {"qid": question, "system": system, "score": scores[i], **extra}
        for i, question in enumerate(QUESTIONS)
        for system, scores in SCORES.items()
    ]


def long_csv(separator: str = ",") -> str:
    rows = [[str(value) for value in row.values()] for row in long_rows()]
    return "\n".join(separator.join(row) for row in [["qid", "system", "score"], *rows]) + "\n"


def frame() -> pl.DataFrame:
    return pl.DataFrame({"qid": QUESTIONS, **{name: list(map(float, scores)) for name, scores in SCORES.items()}})


def saved(path: Path, content: pl.DataFrame, form: str) -> Path:
    getattr(content, f"write_{form}")(path)
    return path


FORMS: dict[str, Callable[[Path], Any]] = {
    "wide CSV": lambda folder: _text(folder, "scores.csv", wide_csv()),
    "wide TSV": lambda folder: _text(folder, "scores.tsv", wide_csv("\t")),
    "wide with semicolons": lambda folder: _text(folder, "scores.csv", wide_csv(";", ",")),
    "long CSV": lambda folder: _text(folder, "scores.csv", long_csv()),
    "long TSV": lambda folder: _text(folder, "scores.tsv", long_csv("\t")),
    "long JSONL": lambda folder: _text(folder, "scores.jsonl", "\n".join(map(json.dumps, long_rows()))),
    "long JSON": lambda folder: _text(folder, "scores.json", json.dumps(long_rows(), indent=1)),
    "wide JSONL": lambda folder: _text(folder, "scores.jsonl", "\n".join(map(json.dumps, frame().to_dicts()))),
    "wide Parquet": lambda folder: saved(folder / "scores.parquet", frame(), "parquet"),
    "wide Arrow": lambda folder: saved(folder / "scores.arrow", frame(), "ipc"),
    "Arrow stream": lambda folder: saved(folder / "scores.arrows", frame(), "ipc_stream"),
    "long Parquet": lambda folder: saved(folder / "scores.parquet", pl.DataFrame(long_rows(), strict=False), "parquet"),
    "polars frame": lambda _: frame(),
    "lazy frame": lambda _: frame().lazy(),
    "long polars frame": lambda _: pl.DataFrame(long_rows(), strict=False),
    "Arrow interface": lambda _: Stream(frame()),
    "dictionary of lists": lambda _: {"qid": list(QUESTIONS), **SCORES},
    "dictionary of systems": lambda _: {
        name: dict(zip(QUESTIONS, scores, strict=True)) for name, scores in SCORES.items()
    },
    "rows": lambda _: long_rows(),
    "one file per system": lambda folder: [
        _text(folder, f"{name}.jsonl", "\n".join(json.dumps({"id": q, "score": s}) for q, s in pairs))
        for name, pairs in ((name, zip(QUESTIONS, scores, strict=True)) for name, scores in SCORES.items())
    ],
    "compressed": lambda folder: _packed(folder / "scores.csv.gz"),
}


class Stream:
    """A table that offers nothing but the Arrow interface."""

    def __init__(self, content: pl.DataFrame) -> None:
        self.content = content

    def __arrow_c_stream__(self, schema: object = None) -> object:
        return self.content.__arrow_c_stream__(schema)


def _text(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _packed(path: Path) -> Path:
    path.write_bytes(gzip.compress(wide_csv().encode()))
    return path


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_matrix(tmp_path: Path, form: str) -> None:
    matrix = read_scores(FORMS[form](tmp_path)).matrix
    assert (matrix.runs, matrix.units) == (("A", "B"), QUESTIONS)
    assert matrix.values.tolist() == [[float(x) for x in scores] for scores in SCORES.values()]
    assert (matrix.denominator, matrix.measure, matrix.repeats) == (1000, "score", None)
    assert matrix.read.endswith("2 systems x 6 questions")


@pytest.mark.parametrize("form", ["long CSV", "polars frame", "wide Parquet", "dictionary of lists"])
def test_every_form_gives_the_same_results(tmp_path: Path, form: str) -> None:
    expected = qassay.compare(FORMS["wide CSV"](tmp_path), "A", "B").as_json()
    assert qassay.compare(FORMS[form](tmp_path), "A", "B").as_json() == expected
    assert qassay.compare_all(FORMS[form](tmp_path)).as_json()["pairs"]


def test_the_result_says_what_was_read(write: Write, tmp_path: Path) -> None:
    assert read_scores(write("w.csv", "topic,A,B\n1,0,1\n2,1,1\n")).read == "wide table: 2 systems x 2 topics"
    rows = "qid,model,epoch,metric,value\n" + "".join(
        f"q{q},{m},{e},faithfulness,{q % 2}\n" for q in range(4) for m in "AB" for e in range(3)
    )
    assert read_scores(write("l.csv", rows)).read == (
        "long table: 2 systems x 4 questions, 3 repeats, metric faithfulness"
    )
    assert read_scores(FORMS["one file per system"](tmp_path)).read == (
        "2 files, one per system (long table): 2 systems x 6 questions"
    )
    series = read_scores(write("s.csv", "qid,A,B\n1.1,0,1\n1.2,1,1\n2.1,1,1\n"), series_from="^([^.]+)")
    assert series.read == "wide table: 2 systems x 3 questions, averaged into 2 series"
    assert repr(series) == f"<scores: {series.read}>"


def test_pandas_frames(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    wide = pandas.DataFrame({"qid": QUESTIONS, **SCORES})
    expected = read_scores(FORMS["wide CSV"](tmp_path)).matrix
    for form in (wide, wide.set_index("qid"), wide.set_index("qid").rename_axis(None), pandas.DataFrame(long_rows())):
        matrix = read_scores(form).matrix
        assert (matrix.runs, matrix.units, matrix.denominator) == (expected.runs, expected.units, expected.denominator)
        assert (matrix.values == expected.values).all()
    holes = wide.astype({"A": "Float64"})
    holes.loc[1, "A"] = pandas.NA
    with pytest.raises(InputError, match=r"row q2, column A: '<NA>' is not a number"):
        read_scores(holes)
    numbered = pandas.DataFrame({"id": [1.0, 2.0], "A": [True, False], "B": [0, 1]})
    assert read_scores(numbered).matrix.units == ("1", "2")
    with pytest.raises(InputError, match=r"several levels"):
        read_scores(wide.pivot_table(index="qid", columns="A", aggfunc="sum").T.unstack().unstack().to_frame().T)


def test_the_index_of_a_frame_has_the_ids() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"prompt": ["p1", "p2"], "a": [1, 0], "b": [0, 0]}).set_index("prompt")
    assert qassay.scores(frame).matrix.units == ("p1", "p2")
    assert qassay.scores(frame, columns={"question": "prompt"}).matrix.units == ("p1", "p2")
    by_model = pd.DataFrame({"model": ["a", "b"], "id": ["q", "q"], "score": [1, 0]}).set_index("model")
    assert qassay.scores(by_model).matrix.runs == ("a", "b")


def test_a_column_and_a_dictionary_of_frames_are_refused() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"id": ["q1"], "a": [1]})
    with pytest.raises(UsageError, match="not as Series"):
        qassay.scores(frame["a"])
    with pytest.raises(InputError, match="'a' is a table"):
        qassay.scores({"a": frame, "b": frame})


def test_a_summary_below_a_long_table_is_not_a_question(write: Write) -> None:
    path = write("a.csv", "qid,system,score\nq1,A,1\nq2,A,0\nmean,A,0.5\nq1,B,1\nq2,B,1\nmean,B,1\n")
    with pytest.raises(InputError, match="row 'mean' looks like a summary") as error:
        read_scores(path)
    assert [problem.line for problem in error.value.problems] == [4, 7]


def test_arrow_tables(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    matrix = read_scores(pyarrow.table({"qid": QUESTIONS, **SCORES})).matrix
    assert matrix.values.tolist() == read_scores(FORMS["wide CSV"](tmp_path)).matrix.values.tolist()


def test_excel_workbooks(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel", reason="fastexcel is not installed: the extra excel")
    pytest.importorskip("xlsxwriter", reason="xlsxwriter is not installed")
    path = tmp_path / "scores.xlsx"
    frame().write_excel(path)
    assert read_scores(path).matrix.values.tolist() == [list(map(float, scores)) for scores in SCORES.values()]


def test_excel_without_its_reader_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zipfile

    path = tmp_path / "scores.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")

    monkeypatch.setitem(sys.modules, "fastexcel", None)
    monkeypatch.setattr(sys, "executable", "")  # no child: what is patched here is used
    with pytest.raises(InputError, match=r"pip install 'qassay\[excel\]'"):
        read_scores(path)


def test_a_formula_that_was_never_calculated_is_not_a_score(tmp_path: Path) -> None:
    header: list[object] = ["id", "A", "B"]
    for value in ((), (None, "")):  # 0, as one library writes it; nothing, as the other does
        formulas = workbook(tmp_path / "f.xlsx", [header, ["1", 0.5, ("=B2", *value)], ["2", 0.25, ("=B3", *value)]])
        with pytest.raises(InputError, match=r"f\.xlsx: cell C2 has a formula that was never calculated.*save it"):
            read_scores(formulas)
    calculated = workbook(tmp_path / "c.xlsx", [header, ["1", 0.5, ("=B2", None, 0.5)], ["2", 0, ("=B3", None, 0)]])
    assert read_scores(calculated).matrix.values.tolist() == [[0.5, 0], [0.5, 0]]


def test_workbooks_keep_the_names_in_their_first_row(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"two columns are called 'A'"):
        read_scores(workbook(tmp_path / "d.xlsx", [["id", "A", "A"], ["1", 1, 0], ["2", 0, 1]]))
    with pytest.raises(InputError, match=r"two columns have no name.*delete titles above them"):
        read_scores(workbook(tmp_path / "t.xlsx", [["My results"], [], ["id", "A", "B"], ["1", 1, 0]]))
    empty_column = workbook(tmp_path / "e.xlsx", [["id", "A", None, "B"], ["1", 1, None, 0]])
    assert read_scores(empty_column).matrix.runs == ("A", "B")


def test_the_first_of_several_sheets_is_read_and_named(tmp_path: Path) -> None:
    table: list[list[object]] = [["id", "A", "B"], ["1", 1, 0], ["2", 0, 1]]
    matrix = read_scores(workbook(tmp_path / "s.xlsx", table, [["text"]])).matrix
    assert matrix.notes == ("The first of 2 sheets was read: Sheet1.",)
    with pytest.raises(InputError, match=r"n\.xlsx \(sheet Sheet1\): row 1, column text: 'words' is not a number"):
        read_scores(workbook(tmp_path / "n.xlsx", [["text"], ["words"]], table))


def test_a_system_whose_numbers_are_written_otherwise_is_not_left_out(write: Write) -> None:
    """Without it the comparison would be about other systems; and with --missing zero it would score 0."""
    for cells, advice in ((("50%", "60%"), "write 0.5"), (('"0,5"', '"0,6"'), "write 0.5")):
        text = f"id,A,B,C\n1,{cells[0]},0.2,0.3\n2,{cells[1]},0.1,0.4\n"
        rules: tuple[Missing, ...] = ("stop", "zero", "skip")
        for missing in rules:
            with pytest.raises(InputError, match=rf"w\.csv:2: row 1, column A: .* is not a number \({advice}\)"):
                read_scores(write("w.csv", text), missing=missing)
        assert read_scores(write("w.csv", text), systems=["B", "C"]).matrix.runs == ("B", "C")
        with pytest.raises(InputError, match=r"row 1, column score: '50%' is not a number \(write 0.5\)"):
            read_scores(write("l.csv", "id,model,score\n1,A,50%\n1,B,60%\n"), missing=missing)
    with pytest.raises(InputError, match=r"row 1, column f1: '50%' is not a number \(write 0.5\)"):
        read_scores(write("l.csv", "id,model,f1\n1,A,50%\n1,B,60%\n"))
    with pytest.raises(InputError, match=r"'1,234' is not a number \(write 1234 or 1.234\)"):
        read_scores(write("t.csv", 'id,A,B\n1,"1,234",900\n2,800,900\n'))


def test_separators(write: Write) -> None:
    """Tables for Excel name theirs in the first line; an unusual one, or a title above the names, is said."""
    named = read_scores(write("e.csv", "sep=;\nid;A;B\n1;0,5;1\n2;0;0,25\n")).matrix
    assert (named.runs, named.values.tolist()) == (("A", "B"), [[0.5, 0], [1, 0.25]])
    with pytest.raises(InputError, match=r"p\.csv:3: row 1, column B: 'x' is not a number"):
        read_scores(write("p.csv", '"sep=|"\r\nid|A|B\r\n1|0.5|x\r\n2|0|1\r\n'))
    for text, noun in (("id|A|B\n1|0.5|1\n", r"'\|'"), ("id  A B\n1 0.5  1\n", "blanks")):
        with pytest.raises(InputError, match=rf"s\.csv:1: its columns are separated by {noun}. Write commas"):
            read_scores(write("s.csv", text))
    with pytest.raises(InputError, match=r"t\.csv:1: this line has 1 cell, and line 2 has 3.*delete lines above them"):
        read_scores(write("t.csv", "# made by hand\nid,A,B\n1,0.5,1\n"))


def test_systems_that_are_columns_keep_their_repeats(write: Write) -> None:
    path = write("w.csv", "id,epoch,A,B\nq1,1,1,0\nq1,2,0,0\nq2,1,1,1\nq2,2,1,0\n")
    matrix = read_scores(path, systems=["A", "B"]).matrix
    assert matrix.values.tolist() == read_scores(path).matrix.values.tolist() == [[0.5, 1], [0, 0.5]]


def test_a_table_of_a_german_spreadsheet(tmp_path: Path, write: Write) -> None:
    text = "Frage;A;B;C\n1;0,5;WAHR;\n2;1;FALSCH;0\n"
    (tmp_path / "g.csv").write_bytes(text.encode("utf-16"))
    matrix = read_scores(tmp_path / "g.csv", missing="zero").matrix
    assert (matrix.runs, matrix.values.tolist()) == (("A", "B", "C"), [[0.5, 1], [1, 0], [0, 0]])
    assert "WAHR and FALSCH were read as true and false." in matrix.notes
    with pytest.raises(InputError, match="column B: 'WAHR' is not a number"):
        read_scores(write("e.csv", "id;A;B\n1;0,5;WAHR\n2;1;0\n"))


def test_a_sheet_of_a_workbook_is_chosen_by_its_name(tmp_path: Path, write: Write) -> None:
    table: list[list[object]] = [["id", "A", "B"], ["1", 1, 0], ["2", 0, 1]]
    path = workbook(tmp_path / "s.xlsx", [["text"], [("=A1",)]], table)
    matrix = read_scores(path, sheet="Sheet2").matrix
    assert (matrix.values.tolist(), matrix.notes) == ([[1, 0], [0, 1]], ())
    with pytest.raises(InputError, match=r"s\.xlsx: there is no sheet 'x'. The sheets are Sheet1, Sheet2"):
        read_scores(path, sheet="x")
    with pytest.raises(InputError, match="is not an Excel workbook and has no sheet 'x'"):
        read_scores(write("a.csv", "id,A,B\n1,0,1\n"), sheet="x")


def test_words_count_as_numbers_with_a_note(write: Write) -> None:
    matrix = read_scores(write("w.csv", "qid,A,B\nq1,C,yes\nq2,I,No\nq3,P,PASS\nq4,C,fail\n")).matrix
    assert matrix.values.tolist() == [[1, 0, 0.5, 1], [1, 0, 1, 0]]
    assert matrix.notes == (
        "Words were read as numbers: C is 1, I is 0, No is 0, P is 0.5, PASS is 1, fail is 0, yes is 1.",
    )
    assert matrix.denominator == 10
    rows = read_scores(
        write("l.jsonl", '{"id": 1, "model": "A", "correct": true}\n{"id": 2, "model": "A", "correct": false}')
    )
    assert rows.matrix.values.tolist() == [[1, 0]]
    with pytest.raises(InputError, match=r"row q2, column A: 'C' is not a number"):
        read_scores(write("mixed.csv", "qid,A\nq1,0.5\nq2,C\n"))


def test_decimal_commas_are_noted(write: Write) -> None:
    matrix = read_scores(write("w.csv", "qid;A, new;B\nq1;0,5;1\nq2;0,25;0\n")).matrix
    assert (matrix.runs, matrix.values.tolist()) == (("A, new", "B"), [[0.5, 0.25], [1, 0]])
    assert matrix.notes == ("Decimal commas were read as decimal points.",)


def test_columns_that_are_not_scores_are_named(write: Write) -> None:
    text = "qid,comment,A,B,latency_ms,total_tokens\nq1,good,1,0,310,12\nq2,bad,0,1,250,11\n"
    matrix = read_scores(write("w.csv", text)).matrix
    assert matrix.runs == ("A", "B")
    assert matrix.notes == ("Columns that are not scores were left out: latency_ms, total_tokens, comment.",)
    chosen = read_scores(write("w.csv", text), systems=["latency_ms", "A"]).matrix
    assert chosen.runs == ("latency_ms", "A")
    rows = read_scores(write("l.csv", "id,model,score,cost,answer\n1,A,1,0.3,yes\n1,B,0,0.1,who\n")).matrix
    assert rows.notes == ("Columns that are not scores were left out: cost, answer.",)


def test_two_scales_ask_which_are_systems(write: Write) -> None:
    path = write("w.csv", "qid,A,B,speed\nq1,1,0,300\nq2,0,1,20\n")
    with pytest.raises(InputError, match=r"A, B lie between 0 and 1, those of speed go up to 300.*systems=..A., .B.."):
        read_scores(path)
    assert read_scores(path, systems=["B", "A"]).matrix.runs == ("B", "A")
    with pytest.raises(UsageError, match=r"unknown system 'X'; there are A, B, speed"):
        read_scores(path, systems=["X", "A"])
    assert read_scores(write("r.csv", "qid,A,B\nq1,60,99\nq2,1,12\n")).matrix.runs == ("A", "B")
    with pytest.raises(InputError, match=r"systems=..A.."):
        read_scores(write("l.csv", "id,model,score\n1,A,1\n1,B,90\n"))


def test_the_running_number_of_pandas_is_not_a_system(write: Write) -> None:
    assert read_scores(write("w.csv", ",qid,A,B\n0,q1,1,0\n1,q2,0,1\n")).matrix.units == ("q1", "q2")
    assert read_scores(write("l.csv", ",qid,model,f1\n0,q1,A,0\n1,q1,B,1\n")).matrix.measure == "f1"


def test_long_columns_by_option(write: Write) -> None:
    path = write(
        "l.csv", "nr,who,points,round\n1,A,1,x\n2,A,0,x\n1,B,0,x\n2,B,1,x\n1,A,0,y\n2,A,0,y\n1,B,1,y\n2,B,1,y\n"
    )
    columns = {"question": "nr", "system": "who", "score": "points", "repeat": "round"}
    matrix = read_scores(path, columns=columns).matrix
    assert matrix.values.tolist() == [[0.5, 0], [0.5, 1]]
    assert matrix.repeats is not None
    assert matrix.repeats.values[1].tolist() == [[0, 1], [1, 1]]
    with pytest.raises(InputError, match=r"no column 'what'. The columns are nr, who, points, round"):
        read_scores(path, columns={**columns, "system": "what"})
    with pytest.raises(UsageError, match=r"unknown column 'sistem'"):
        read_scores(path, columns={"sistem": "who"})
    with pytest.raises(InputError, match=r"no column of questions"):
        read_scores(path, columns={"system": "who"})


def test_a_wide_table_with_epochs_has_repeats(write: Write) -> None:
    matrix = read_scores(write("w.csv", "qid,epoch,A,B\nq1,1,1,0\nq1,2,0,0\nq2,1,1,1\nq2,2,1,1\n")).matrix
    assert (matrix.runs, matrix.values.tolist()) == (("A", "B"), [[0.5, 1], [0, 1]])
    assert matrix.denominator == 2


def test_two_rows_without_a_repeat_column_are_an_error(write: Write) -> None:
    path = write("l.csv", "qid,model,score\nq1,A,1\nq2,A,0\nq1,A,0\nq2,A,0\nq1,B,1\nq2,B,1\nq1,B,1\nq2,B,1\n")
    with pytest.raises(InputError) as error:
        read_scores(path)
    problem = error.value.problems[0]
    assert problem.line == 4
    assert 'question q1 of system A has two rows, lines 2 and 4. If they are repeats: repeats="rows"' in str(problem)
    matrix = read_scores(path, repeats="rows").matrix
    assert (matrix.values.tolist(), matrix.read) == (
        [[0.5, 0], [1, 1]],
        "long table: 2 systems x 2 questions, 2 repeats",
    )
    with pytest.raises(InputError, match=r"two rows for repeat 1, lines 2 and 3"):
        read_scores(write("e.csv", "qid,model,epoch,score\nq1,A,1,1\nq1,A,1,0\n"))


def test_repeats_for_some_questions_only(write: Write) -> None:
    path = write("l.csv", "qid,model,epoch,score\nq1,A,1,1\nq1,A,2,0\nq2,A,1,1\nq3,A,1,1\nq3,A,2,1\n")
    with pytest.raises(
        InputError, match=r"system A has repeats for some questions only: q2 \(1 of 2\).*missing=.skip."
    ):
        read_scores(path)
    assert read_scores(path, missing="skip").matrix.units == ("q1", "q3")
    zero = read_scores(path, missing="zero").matrix
    assert zero.values.tolist() == [[0.5, 0.5, 1]]
    assert zero.notes == ("1 missing score counted as 0 (missing: zero): q2.",)
    seeds = write("s.csv", "qid,model,seed,score\nq1,A,17,1\nq1,A,4,0\nq2,A,3,1\nq2,A,9,1\n")
    with pytest.raises(InputError, match=r"no question has them all.*repeats=.rows."):
        read_scores(seeds)
    assert read_scores(seeds, repeats="rows").matrix.values.tolist() == [[0.5, 1]]


def test_different_numbers_of_repeats_per_system(write: Write) -> None:
    rows = [("A", 1, 0.3), ("A", 2, 0.5), ("A", 3, 0.1), ("B", 1, 1), ("B", 2, 0.5)]
    text = "".join(f"q{q},{system},{epoch},{score}\n" for q in (1, 2) for system, epoch, score in rows)
    matrix = read_scores(write("l.csv", "qid,model,epoch,score\n" + text)).matrix
    assert matrix.repeats is not None
    assert (matrix.repeats.numbers, matrix.denominator) == ((3, 2), 60)
    assert matrix.values[:, 0] == pytest.approx([0.3, 0.75])
    assert matrix.read.endswith("2 to 3 repeats")


def test_series_of_repeats(write: Write) -> None:
    text = "qid,model,epoch,score\n1.1,A,1,1\n1.1,A,2,0\n1.2,A,1,0\n1.2,A,2,0\n2.1,A,1,1\n2.1,A,2,1\n"
    matrix = read_scores(write("l.csv", text), series_from="^([^.]+)").matrix
    assert matrix.repeats is not None
    assert matrix.repeats.values[0].tolist() == [[0.5, 0], [1, 1]]
    assert matrix.values.tolist() == [[0.25, 1]]


METRICS = "qid,model,f1,em\nq1,A,0.5,1\nq2,A,0.7,0\nq1,B,0.1,0\nq2,B,0.3,1\n"


def test_several_metrics(write: Write) -> None:
    path = write("l.csv", METRICS)
    with pytest.raises(InputError, match=r"several metrics: f1, em. Choose one: metric=.NAME.; or all: metric=.all."):
        read_scores(path)
    assert read_scores(path, metric="em").matrix.values.tolist() == [[1, 0], [0, 1]]
    both = read_scores(path, metric="all")
    assert [(name, matrix.measure) for name, matrix in both] == [("f1", "f1"), ("em", "em")]
    with pytest.raises(UsageError, match=r"several metrics: f1, em"):
        _ = both.matrix
    with pytest.raises(UsageError, match=r"unknown metric 'F1'; there are em, f1"):
        read_scores(path, metric="F1")
    tall = "qid,model,metric,value\n" + "".join(f"q{q},A,{m},{q}\n" for q in (0, 1) for m in ("f1", "em"))
    assert read_scores(write("tall.csv", tall), metric="f1").matrix.values.tolist() == [[0, 1]]


def test_the_metric_that_all_files_share_is_taken(write: Write) -> None:
    a = write("a.csv", "id,f1,em\n1,0.5,1\n2,0.1,0\n")
    b = write("b.csv", "id,f1,bleu\n1,0.4,1\n2,0.3,0\n")
    tables = read_scores([a, b])
    assert (tables.matrix.measure, tables.matrix.runs) == ("f1", ("a", "b"))
    with pytest.raises(InputError, match=r"there is no metric 'em' here"):
        read_scores([a, b], metric="em")
    c = write("c.csv", "id,rouge\n1,0.4\n2,0.3\n")
    with pytest.raises(InputError, match=r"no metric in common .*a.csv: f1, em; .*c.csv: rouge"):
        read_scores([f"A={a}", f"C={c}"])


def test_columns_of_different_files_are_systems(write: Write) -> None:
    matrix = read_scores([write("1.csv", "id,A\nx,1\ny,0\n"), write("2.csv", "id,B\nx,0\ny,1\n")]).matrix
    assert (matrix.runs, matrix.values.tolist()) == (("A", "B"), [[1, 0], [0, 1]])


def one_system(model: str | None = None, ids: tuple[object, ...] = (1, 2)) -> str:
    extra: Mapping[str, str] = {} if model is None else {"model": model}
    return "\n".join(json.dumps({"id": name, "score": i, **extra}) for i, name in enumerate(ids))


def test_names_of_systems(write: Write) -> None:
    a, b = write("a.jsonl", one_system("gpt")), write("b.jsonl", one_system("gpt"))
    assert read_scores([a, b]).matrix.runs == ("a", "b")
    assert read_scores([f"old={a}", f"new={b}"]).matrix.runs == ("old", "new")
    assert read_scores([a, write("c.jsonl", one_system("llama"))]).matrix.runs == ("gpt", "llama")
    with pytest.raises(InputError, match=r"system 'a' is also in .*NAME="):
        read_scores([a, write("other/a.jsonl", one_system("gpt"))])
    with pytest.raises(InputError, match=r"system 'x' is also in"):
        read_scores([f"x={a}", f"x={b}"])
    two = write("two.csv", long_csv())
    with pytest.raises(InputError, match=r"new= names one system, but the file has 2: A, B"):
        read_scores([f"new={two}", f"old={a}"])


def test_ids_that_mean_the_same_match(write: Write) -> None:
    a, b = write("a.jsonl", one_system(ids=(7, 8))), write("b.jsonl", one_system(ids=("7", 8.0)))
    assert read_scores([a, b]).matrix.units == ("7", "8")
    c = write("c.csv", "id,score\n7.0,1\n8.0,0\n")
    matrix = read_scores([a, c]).matrix
    assert matrix.units == ("7", "8")
    assert "Question ids such as 7.0 were read as 7, to match the other files." in matrix.notes or (
        "Question ids such as 8.0 were read as 8, to match the other files." in matrix.notes
    )


def test_questions_that_only_some_systems_have(write: Write) -> None:
    sources = [write("a.jsonl", one_system(ids=("x", "y"))), write("b.jsonl", one_system(ids=("y", "z", "w")))]
    with pytest.raises(InputError) as error:
        read_scores(sources)
    assert [problem.message.split(". ")[0] for problem in error.value.problems] == [
        "system a has no score for 2 of 4 questions: z, w",
        "system b has no score for 1 of 4 questions: x",
    ]
    skipped = read_scores(sources, missing="skip").matrix
    assert skipped.units == ("y",)
    assert skipped.notes == ("3 of 4 questions left out: a system has no score for them (missing: skip): x, z, w.",)
    assert read_scores(sources, missing="zero").matrix.values.tolist() == [[0, 1, 0, 0], [0, 0, 1, 2]]
    with pytest.raises(InputError, match=r"a and c have no question in common. Their ids are x, y and 1, 2"):
        read_scores([sources[0], write("c.jsonl", one_system())], missing="zero")


def test_scores_that_are_missing_in_rows(write: Write) -> None:
    path = write("l.csv", "qid,model,score\nq1,A,1\nq2,A,\nq1,B,0\nq2,B,bad\n")
    with pytest.raises(InputError, match=r"l.csv:5: row 4, column score: 'bad' is not a number"):
        read_scores(path)
    path = write("l.csv", "qid,model,score\nq1,A,1\nq2,A,\nq1,B,0\nq2,B,0\n")
    with pytest.raises(
        InputError, match=r"l.csv:3: question q2, system A: no score. To leave the question out: missing=.skip."
    ):
        read_scores(path)
    assert read_scores(path, missing="zero").matrix.values.tolist() == [[1, 0], [0, 0]]
    nan = write("n.jsonl", '{"id": 1, "A": NaN, "B": 1}\n{"id": 2, "A": 0, "B": null}\n')
    assert read_scores(nan, missing="zero").matrix.values.tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{"results": [1, 2]}', r"a JSON document \(fields: results\), not rows"),
        ("a.json", '{\n "results": {"a": 1}\n}', "a JSON document"),
        ("a.json", "[1, 2]", "row 1 is not an object"),
        ("a.json", "[]", "an empty JSON list"),
        ("a.json", '{"id": 1,', "this line is not JSON: the text ends too early"),
        ("a.json", "[{", "this is not JSON"),
        ("a.jsonl", '{"id": 1, "A": 1}\nqid,A\n', "a.jsonl:2: this line is not JSON"),
        ("a.jsonl", '{"id": 1, "A": 1}\n[1]\n', "a.jsonl:2: this line is a list; every line is one JSON object"),
        ("a.csv", "id,model,score\n,A,1\n", "row 1, column id: no question"),
        ("a.csv", "id,model,score\nq,,1\n", "row 1, column model: no system"),
        ("a.csv", "id,model,comment\nq,A,x\n", "there is no column of scores.*columns={.score.: .NAME.}"),
        ("a.csv", "id,model,metric,f1,f2\nq,A,m,1,2\n", "several columns of numbers: f1, f2"),
        ("a.csv", "id,id,score\nq,A,1\n", "two columns are called 'id'"),
        ("a.csv", "id,model,score\n", "no scores: the table has only a header"),
        ("a.xls", "\ufeff", "the file is empty"),
    ],
)
def test_errors_say_what_is_wrong(write: Write, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_scores(write(name, text))


def test_files_that_are_not_tables(tmp_path: Path) -> None:
    import zipfile

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("x.txt", "x")
    for data, message in (
        (archive.getvalue(), "neither an Excel workbook nor a log of a known tool"),
        (b"PK\x03\x04 broken", "a broken archive"),
        (b"\xd0\xcf\x11\xe0", r"an old Excel workbook \(.xls\) cannot be read. Save the table as CSV"),
        (b"FEA1", "Feather file of version 1"),
        (b"ARROW1 broken", "not a table that can be read"),
        (b"\xff\xff\xff\xff broken", "not a table that can be read"),
        (b"PAR1 broken", "not a table that can be read"),
    ):
        path = tmp_path / "scores"
        path.write_bytes(data)
        with pytest.raises(InputError, match=message):
            read_scores(path)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (3.5, UsageError, "scores come as a path, a frame.*not as float"),
        ([], UsageError, "scores take a source"),
        ({}, InputError, "the dictionary is empty"),
        ({"A": [1], "B": [1, 2]}, InputError, "column 'A' has 1 values and column 'B' has 2"),
        ({"A": 1}, InputError, "column 'A' is not a list"),
        (pl.DataFrame(), InputError, "the table has no columns"),
    ],
)
def test_inputs_that_are_not_tables(source: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_scores(source)


def test_a_score_matrix_is_a_source_too() -> None:
    matrix = ScoreMatrix(("A", "B"), ("q1", "q2"), np.array([[1.0, 0], [0.5, 1]]), measure="f1")
    assert read_scores(matrix).matrix is matrix
    assert read_scores(matrix, systems=["B"]).matrix.runs == ("B",)
    both = read_scores([matrix, {"qid": ["q1", "q2"], "score": [1, 1]}]).matrix
    assert both.runs == ("A", "B", "table 2")
    assert isinstance(qassay.scores(matrix), ScoreTables)


def test_nested_columns_and_nested_scores(write: Write) -> None:
    lines = [{"id": i, "scores": {"f1": i / 2, "em": 1}, "contexts": ["x"]} for i in (0, 1)]
    path = write("a.jsonl", "\n".join(map(json.dumps, lines)))
    matrix = read_scores([f"A={path}"], metric="f1").matrix
    assert (matrix.values.tolist(), matrix.runs) == ([[0, 0.5]], ("A",))
    assert "Column 'contexts' is not a score and was left out." in matrix.notes
    frame = pl.DataFrame({"qid": ["a", "b"], "A": [1, 0], "docs": [["x"], ["y"]]})
    assert read_scores(frame).matrix.runs == ("A",)


def test_names_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "x=y.csv", "y.csv"):
        (tmp_path / name).write_text("qid,A\n1,1\n")
    assert split_source("a.csv") == (None, Path("a.csv"))
    assert split_source("new=a.csv") == ("new", Path("a.csv"))
    assert split_source("x=y.csv") == (None, Path("x=y.csv"))
    assert split_source("none.csv") == (None, Path("none.csv"))
    assert [is_source(text) for text in ("a.csv", "new=a.csv", "new=b.csv", "A")] == [True, True, False, False]
    with pytest.raises(FileNotFoundError):
        read_scores("none.csv")


def test_a_table_that_would_be_large_and_empty_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few megabytes of rows, each with a question and a system of its own, must not become a table of terabytes."""
    rows = {"qid": range(30_000), "model": [f"m{i}" for i in range(30_000)], "score": [1] * 30_000}
    with pytest.raises(
        InputError, match=r"30,000 scores for 30,000 systems and 30,000 questions.*columns={.system.: .NAME.}"
    ):
        read_scores(rows)


def test_every_metric_of_a_wide_table_is_its_score(write: Write) -> None:
    tables = read_scores(write("w.csv", wide_csv()), metric="all")
    assert (list(tables.matrices), tables.matrix.runs) == (["score"], ("A", "B"))
    with pytest.raises(UsageError, match=r"unknown metric 'f1'; there is only 'score'"):
        read_scores(write("w.csv", wide_csv()), metric="f1")


def test_analyses_take_a_folder_too() -> None:
    folder = qassay.demo_folder()
    expected = qassay.open(folder).score().matrix
    pairs = qassay.compare_all(str(folder), permutations=10)  # type: ignore[arg-type]
    assert sorted(pairs.runs) == sorted(expected.runs)


def test_columns_of_numbers_beside_a_score_are_named_and_can_be_chosen(write: Write) -> None:
    """A notebook writes several metrics next to each other; one of them may be called a score."""
    text = "id,model,correct,f1,tokens,note\n1,A,1,0.3,9,x\n1,B,0,0.1,8,\n2,A,1,0.5,7,yes\n2,B,1,0.7,9,\n"
    path = write("l.csv", text)
    usual = read_scores(path).matrix
    assert usual.scores().tolist() == [1.0, 0.5]
    assert usual.notes == (
        "Columns that are not scores were left out: tokens, note.",
        "The scores are those in column 'correct'. To take others: --metric f1.",
    )
    other = read_scores(path, metric="f1").matrix
    assert other.scores().tolist() == pytest.approx([0.4, 0.4])
    assert other.read.endswith("metric f1")
    assert read_scores(path, metric="correct").matrix.scores().tolist() == [1.0, 0.5]


def test_systems_of_a_table_with_repeats_may_be_named(tmp_path: Path) -> None:
    rows = [f"q{n},{epoch},{n % 3 / 2},{(n + epoch) % 2}" for n in range(8) for epoch in (1, 2)]
    path = tmp_path / "epochs.csv"
    path.write_text("\n".join(["qid,epoch,new,old", *rows]), encoding="utf-8")
    named, whole = read_scores(path, systems=["new", "old"]).matrix, read_scores(path).matrix
    assert named.read == whole.read == "long table: 2 systems x 8 questions, 2 repeats"
    assert named.values.tolist() == whole.values.tolist()
