"""Tables for people: what is undefined is a dash, and nothing is lost on the way to text or Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qassay.tables import DASH, PROBABILITY, Column, Table, show, table

ONE = table(
    "Scores",
    ["run", Column("score", ".3f"), Column("rank", "g"), Column("right")],
    [["a|b", 0.12345, 1.0, 12], ["c", None, 2.5, True]],
    ["A note."],
)


@pytest.mark.parametrize(
    ("cell", "spec", "shown"),
    [
        (None, ".3f", DASH),
        (0.0, ".3f", "0.000"),
        (0.12345, ".3f", "0.123"),
        (2.0, "g", "2"),
        (2.5, "g", "2.5"),
        (12, ".3f", "12"),
        (True, ".3f", "yes"),
        (False, "", "no"),
        ("0.5", ".1f", "0.5"),
    ],
)
def test_cells(cell: str | float | bool | None, spec: str, shown: str) -> None:
    assert show(cell, spec) == shown


def test_plain_text() -> None:
    assert str(ONE).splitlines() == [
        "Scores",
        "run  score  rank  right",
        "a|b  0.123     1     12",
        "c        –   2.5    yes",
        "A note.",
    ]


def test_markdown() -> None:
    assert ONE.markdown() == (
        "**Scores**\n\n"
        "| run | score | rank | right |\n"
        "| :-- | --: | --: | --: |\n"
        "| a\\|b | 0.123 | 1 | 12 |\n"
        "| c | – | 2.5 | yes |\n\n"
        "A note.\n"
    )


def test_long_headers_break_and_stand_at_the_bottom() -> None:
    shown_table = table("", [Column("series_score", ".1f"), Column("NIL recall", ".1f"), "x"], [[0.5, None, "y"]])
    assert str(shown_table).splitlines() == [
        "series_     NIL",
        "  score  recall  x",
        "    0.5       –  y",
    ]


def test_a_table_without_rows() -> None:
    assert str(table("Nothing", ["run", Column("score")], [])).splitlines()[0] == "Nothing"
    assert table("Nothing", ["run"], []).cells() == []


def test_a_row_of_the_wrong_length_is_a_bug_and_shows() -> None:
    with pytest.raises(ValueError, match="zip"):
        str(Table("t", (Column("a"),), ((1, 2),)))


@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.integers(), st.booleans(), st.text("abc", max_size=9)), min_size=3, max_size=3)
    )
)
def test_columns_line_up(rows: list[list[str | int | bool | None]]) -> None:
    shown_table = table("t", [Column("first"), "second", Column("x y z")], rows)
    header, body = shown_table.lines()
    assert len(body) == len(rows)
    assert all(line == line.rstrip() for line in (*header, *body))
    for line, row in zip(body, rows, strict=True):
        assert " ".join(line.split()) == " ".join(" ".join(map(show, row)).split())


def wide() -> Table:
    columns = [Column("rank"), Column("run", left=True), *(Column(f"m{number}", ".3f") for number in range(8))]
    return table("Wide", columns, [[1, "alpha", *[0.5] * 8], [2, "beta", *[0.25] * 8]], ["A note."])


@pytest.mark.parametrize("width", [20, 30, 45, 80])
def test_a_wide_table_is_shown_in_parts_that_name_their_rows(width: int) -> None:
    parts = wide().within(width)
    assert [column.header for part in parts for column in part.columns[2:]] == [f"m{number}" for number in range(8)]
    assert all([column.header for column in part.columns[:2]] == ["rank", "run"] for part in parts)
    assert max(len(line) for part in parts for line in str(part).splitlines()) <= width
    assert [part.title for part in parts if part.title] == ["Wide"] == [parts[0].title]
    assert [part.notes for part in parts if part.notes] == [("A note.",)] == [parts[-1].notes]
    assert len(parts) == 1 or width < 80


def test_prose_in_the_last_column_is_folded_rather_than_parted() -> None:
    wide = table("", ["name", Column("value", ".1f"), "meaning"], [["a", 1.0, "some words " * 7], ["b", 2.0, "few"]])
    (part,) = wide.within(40)
    assert str(part).splitlines() == [
        "name  value  meaning",
        "a       1.0  some words some words some",
        "             words some words some words",
        "             some words some words",
        "b       2.0  few",
    ]


def test_a_column_too_wide_by_itself_is_shown_whole() -> None:
    wide = table("", ["run", "answer"], [["a", "x" * 60]])
    assert [str(part).splitlines()[-1] for part in wide.within(20)] == ["a    " + "x" * 60]


def test_long_names_lose_their_middle_before_a_table_is_parted() -> None:
    names = [f"university-of-somewhere_some-model_bm25_top{number}_rerank" for number in range(3)]
    columns = [Column("rank"), Column("run", left=True), *(Column(f"m{number}", ".3f") for number in range(4))]
    board = table("", columns, [[number, name, *[0.5] * 4] for number, name in enumerate(names, start=1)])
    (part,) = board.within(80)
    assert [row[1] for row in part.rows] == [f"university-of…ome-model_bm25_top{number}_rerank" for number in range(3)]
    assert part.notes == ("Long names are shortened: --json has them whole.",)
    # Names that differ in the middle alone stay whole.
    alike = table("", columns, [[1, "a" * 40 + "1" + "b" * 60, *[0.5] * 4], [2, "a" * 40 + "2" + "b" * 60, *[0.5] * 4]])
    assert [row[1] for row in alike.within(80)[0].rows] == [row[1] for row in alike.rows]


def test_numbers_are_shown_as_people_read_them_and_given_to_programs_as_they_are() -> None:
    shown = table("", ["", Column("value")], [["judgments", 4135], ["under", "second"]])
    assert shown.cells() == [["judgments", "4,135"], ["under", "second"]]
    assert shown.to_polars()["value"].to_list() == ["4135", "second"]
    p = table("", [Column("p", PROBABILITY)], [[0.00002], [0.04981], [None]])
    assert p.cells() == [["<0.001"], ["0.0498"], ["–"]]
    assert p.to_polars()["p"].to_list() == [0.00002, 0.04981, None]
