"""Lists of nuggets side by side: what corresponds, what differs in words, and what stands alone."""

from __future__ import annotations

from typing import Any

from qassay.web.similar_strings import NuggetRow, compared, corresponding, differences


def listed(*nuggets: tuple[str, bool], found: tuple[str, ...] = ()) -> dict[str, Any]:
    """A verdict on lists as the store lays it out; `found` are the nuggets that each response holds."""
    rows = [{"nugget": str(at), "text": text, "vital": vital} for at, (text, vital) in enumerate(nuggets, start=1)]
    return {"list": rows, "responses": {"7": dict.fromkeys(found, "full"), "8": dict.fromkeys(found, "none")}}


def shown(row: NuggetRow) -> tuple[str, list[str | None]]:
    """A row in short: its likeness, and its texts with what differs in brackets."""
    texts = [
        None if cell is None else "".join(f"[{word.text}]" if word.differs else word.text for word in cell.words)
        for cell in row.cells
    ]
    return row.likeness, texts


def test_rows_are_the_same_differ_or_are_in_one_list() -> None:
    first_list = listed(
        ("Won the Nobel prize", True), ("born in Warsaw", False), ("her notebooks glow", False), found=("1",)
    )
    second_list = listed(("Born in Warsaw.", False), ("won the Nobel prize in 1903", True), ("taught in Paris", True))
    rows = compared([first_list, second_list])
    assert [shown(row) for row in rows] == [
        ("differs", ["Won the Nobel prize", "won the Nobel prize [in 1903]"]),
        ("same", ["born in Warsaw", "Born in Warsaw."]),
        ("missing", ["her notebooks glow", None]),
        ("missing", [None, "taught in Paris"]),
    ]
    first = rows[0].cells
    assert [(cell.place, cell.vital, cell.responses) for cell in first if cell] == [(0, True, 1), (1, True, 0)]


def test_another_importance_is_a_difference() -> None:
    (row,) = compared([listed(("born in Warsaw", True)), listed(("born in Warsaw", False))])
    assert shown(row) == ("differs", ["born in Warsaw", "born in Warsaw"])


def test_equal_texts_meet_before_similar_ones() -> None:
    facts = ["discovered radium with Pierre", "discovered polonium with Pierre"]
    assert corresponding([facts, facts[::-1]]) == [[0, 1], [1, 0]]
    assert corresponding([["discovered radium"], ["discovered polonium"]]) == [[0, None], [None, 0]]


def test_of_three_lists_none_gives_two_nuggets_to_a_row() -> None:
    lists = [["born in Warsaw", "was born in Warsaw"], ["born in Warsaw"], ["born in Warsaw, Poland"]]
    rows = corresponding(lists)
    assert rows[0] == [0, 0, 0]
    assert rows[1] == [1, None, None]


def test_words_that_only_some_of_three_have_are_marked() -> None:
    marked = differences(["born in Warsaw", "born in Poland", None, "was born in Warsaw"])
    assert [[word.text for word in text if word.differs] for text in marked] == [
        ["Warsaw"],
        ["Poland"],
        [],
        ["was ", "Warsaw"],
    ]


def test_nuggets_without_a_text_go_by_their_id() -> None:
    bare = {"list": [{"nugget": "1", "vital": True}, {"nugget": "2", "vital": True}], "responses": {}}
    assert [shown(row) for row in compared([bare, bare])] == [
        ("same", ["nugget 1", "nugget 1"]),
        ("same", ["nugget 2", "nugget 2"]),
    ]


def test_empty_lists_and_texts_without_words() -> None:
    assert compared([listed(), listed()]) == []
    assert corresponding([["…"], ["…"]]) == [[0, 0]]
    assert corresponding([[], ["the"]]) == [[None, 0]]


def test_very_long_texts_differ_as_a_whole() -> None:
    long = "word " * 500
    assert [word.differs for word in differences([long, long])[0]] == [False]
    assert [word.differs for word in differences([long, long + "more"])[0]] == [True]


def test_of_very_many_nuggets_the_equal_ones_correspond() -> None:
    many = [f"fact {number} of many" for number in range(1200)]
    rows = corresponding([many, [*many[1:], "a fact 0 of many"]])
    assert rows[0] == [0, None]
    assert rows[1] == [1, 0]
    assert len(rows) == 1201
