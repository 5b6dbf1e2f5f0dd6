"""Answers in people's own tables: forms, keys, and what is wrong with them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from qassay.errors import InputError, UsageError
from qassay.formats.answers import ANSWER_KEYS, AnswerTable, as_list, parse_map, read_answers
from qassay.formats.tables import parse_table
from qassay.formats.tables.json_rows import LONGEST_LITERAL

ROWS: list[dict[str, Any]] = [
    {
        "id": "q1",
        "question": "Who?",
        "answer": "Ann",
        "gold": ["Ann", "Anna"],
        "contexts": ["A was here.", "So was B."],
    },
    {"id": "q2", "question": "When?", "answer": "1932, in March", "gold": ["1932"], "contexts": ["Opened in 1932."]},
]


def table(data: bytes, **keys: str) -> AnswerTable:
    return read_answers(parse_table(data, file="f"), keys)


def lines(*rows: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def as_csv(separator: str) -> bytes:
    cells = [[row["id"], row["question"], row["answer"], json.dumps(row["gold"]), str(row["contexts"])] for row in ROWS]
    quoted = [separator.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells]
    return "\r\n".join([separator.join(ROWS[0]), *quoted, ""]).encode()


def as_binary(form: str) -> bytes:
    out = io.BytesIO()
    getattr(pl.DataFrame(ROWS), f"write_{form}")(out)
    return out.getvalue()


def as_workbook() -> bytes:
    out = io.BytesIO()
    texts = [{name: cell if isinstance(cell, str) else json.dumps(cell) for name, cell in row.items()} for row in ROWS]
    pl.DataFrame(texts).write_excel(out)
    return out.getvalue()


FORMS = {
    "JSON lines": lines(*ROWS),
    "JSON list": json.dumps(ROWS, indent=2).encode(),
    "CSV": as_csv(","),
    "CSV with tabs": as_csv("\t"),
    "CSV with semicolons": b"\xef\xbb\xbf" + as_csv(";"),
    "CSV that names its separator": b"sep=;\r\n" + as_csv(";"),
    "CSV in UTF-16": as_csv("\t").decode().encode("utf-16"),
    "JSON lines in UTF-16": lines(*ROWS).decode().encode("utf-16"),
    "Parquet": as_binary("parquet"),
    "Arrow": as_binary("ipc"),
    "Arrow stream": as_binary("ipc_stream"),
    "Excel": as_workbook(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_answers(form: str) -> None:
    read = table(FORMS[form])
    assert form.startswith(read.records.form)
    assert [(row.id, row.question, row.text) for row in read.rows] == [
        ("q1", "Who?", "Ann"),
        ("q2", "When?", "1932, in March"),
    ]
    assert [row.gold for row in read.rows] == [("Ann", "Anna"), ("1932",)]
    assert [[context["text"] for context in row.contexts] for row in read.rows] == [
        ["A was here.", "So was B."],
        ["Opened in 1932."],
    ]


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, keys in ANSWER_KEYS.items() for key in keys])
def test_every_name_of_a_key_is_known(name: str, key: str) -> None:
    row = {"id": "q1", "question": "Who?", "answer": "Ann", "gold": "Anna", "contexts": "Ann was here.", "system": "A"}
    row[key] = row.pop(name)
    (read,) = table(lines(row)).rows
    assert (read.id, read.question, read.text, read.gold, read.system) == ("q1", "Who?", "Ann", ("Anna",), "A")
    assert read.contexts == ({"text": "Ann was here."},)


def test_case_and_blanks_of_a_key_do_not_count() -> None:
    (read,) = table(b"Question ID,Question,Answer,Ground truth\n7,Who?,Ann,Anna\n").rows
    assert (read.id, read.question, read.text, read.gold) == ("7", "Who?", "Ann", ("Anna",))


def test_a_map_names_other_keys() -> None:
    row = {"q": "Who?", "answer": "Anna", "model_says": "Ann"}
    (read,) = table(lines(row), question="q", answer="model_says", gold="answer").rows
    assert (read.question, read.text, read.gold) == ("Who?", "Ann", ("Anna",))


def test_two_keys_for_one_thing_are_not_guessed() -> None:
    with pytest.raises(InputError) as caught:
        table(lines({"question": "Who?", "answer": "Anna", "prediction": "Ann"}))
    assert str(caught.value) == (
        "f: 'answer' and 'prediction' could both be the answer. To say which: map=\"answer=prediction\"; "
        "and where 'answer' is the right answer: map=\"gold=answer\""
    )
    read = table(lines({"question": "Who?", "answer": "Anna", "prediction": None}))
    assert read.rows[0].text == "Anna"  # a key without a value is none


def test_lists_beside_a_prediction_are_gold_answers(data: Callable[[str], Path]) -> None:
    (row,) = table(lines({"question": "Who?", "answer": ["Anna", "Ann"], "prediction": "Ann"})).rows
    assert (row.text, row.gold) == ("Ann", ("Anna", "Ann"))
    real = read_answers(parse_table(data("nq301/NQ_FiD.jsonl").read_bytes(), file="f"), {})
    assert real.keys.of == {"question": "question", "answer": "prediction", "gold": "answer"}


def test_contexts_may_be_objects_of_other_tools() -> None:
    contexts = [
        "plain",
        {"id": 7, "text": "a"},
        {"page_content": "b", "metadata": {"source": "D2"}},
        {"content": "c", "doc_id": "D3"},
    ]
    (read,) = table(lines({"question": "Who?", "answer": "Ann", "documents": contexts})).rows
    assert list(read.contexts) == [
        {"text": "plain"},
        {"doc": "7", "text": "a"},
        {"doc": "D2", "text": "b"},
        {"doc": "D3", "text": "c"},
    ]


def test_numbers_are_texts_as_people_write_them() -> None:
    out = io.BytesIO()
    frame = {"id": [7.0, 8.0], "question": ["a b", "c d"], "answer": [42, None], "reference": [1.5, float("nan")]}
    pl.DataFrame(frame).write_parquet(out)
    read = table(out.getvalue()).rows
    assert [(row.id, row.text, row.gold) for row in read] == [("7", "42", ("1.5",)), ("8", "", ())]


def test_gold_answers_of_squad() -> None:
    (read,) = table(lines({"question": "Who?", "answers": {"text": ["Ann", "Ann"], "answer_start": [3, 3]}})).rows
    assert (read.text, read.gold) == (None, ("Ann",))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lines({"q": "x", "answer": "y"}), "f: no key is known as the question: it has q, answer; known names are"),
        (lines({"question": "x", "y": "z"}), "f: no key is known as the answer: it has question, y; known names are"),
        (lines(ROWS[0] | {"id": None}, {"answer": "y"}), r"f:2: the row has no question \('question' is empty\)"),
        (lines(ROWS[0], {"question": "a", "answer": "y"}), r"f:2: the row has no id \('id'\), but other rows have"),
        (lines({"question": ["x"], "answer": "y"}), r"f:1: the question \('question'\) is not a text"),
        (lines({"question": "x", "answer": ["y", "z"]}), "is a list of 2 texts; a question takes one"),
        (lines({"question": "x", "answer": {"a": 1}}), r"f:1: the answer \('answer'\) is not a text"),
        (lines({"question": "x", "answer": "y", "gold": [{"a": 1}]}), "f:1: the gold answer is neither a text nor"),
        (lines({"question": "x", "answer": "y", "context": [{"id": 1}]}), "f:1: context 1 has no text"),
        (b'[{"question": "x", "answer": {}}]', r"f: row 1: the answer \('answer'\) is not a text"),
        (b"[1, 2]", "f: row 1 is not an object"),
        (b'[{"question": ', "f: this is not JSON"),
        (b"[]", "f: there is nothing in it"),
        (
            b"question,answer\nx,y,z\n",
            "f:2: 3 cells where the header has 2. Put quotation marks around cells that",
        ),
        (b"question,question\nx,y\n", "f:1: two columns are called 'question'"),
        (b'question,answer\nx,"y\n', "f:2: not CSV"),
        (b"question,answer\nx,\xff\n", "f:2: byte 0xff"),
        (b"PAR1 broken", "f: not a table that can be read from Parquet"),
        (b'{"question": "x"\n', "f:1: this line is not JSON"),
        (b"[" * 100_000, "f: this is not JSON"),
    ],
)
def test_bad_files_are_refused_with_their_place(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        table(data)


def test_a_key_that_the_map_names_is_there() -> None:
    with pytest.raises(
        InputError, match=r"has no key 'pred', which --map gives as the answer; its keys are question, p"
    ):
        table(lines({"question": "x", "p": "y"}), answer="pred")


def test_names_in_german() -> None:
    (read,) = table("Nummer;Frage;Antwort;Modell\n1;Wer?;0,5;A\n".encode("utf-16"), id="Nummer").rows
    assert (read.id, read.question, read.text, read.system) == ("1", "Wer?", "0,5", "A")


@pytest.mark.parametrize("text", ["answer", "answer=", "=x", ""])
def test_a_map_is_made_of_pairs(text: str) -> None:
    with pytest.raises(UsageError, match="--map takes pairs such as answer=prediction"):
        parse_map([text])


def test_a_map_names_what_there_is() -> None:
    with pytest.raises(UsageError, match="unknown name in --map 'anser'; did you mean 'answer'"):
        parse_map(["anser=x"])


def test_quotation_marks_in_tables_with_tabs() -> None:
    data = b'id\tquestion\tanswer\n1\tWhat is it?\t"Mercy" is a song\n2\tWho?\tAnn\n'
    assert [row.text for row in table(data).rows] == ['"Mercy" is a song', "Ann"]


def test_a_list_in_a_cell_is_bounded() -> None:
    assert as_list("[[1], [2]]") == ["[[1], [2]]"]
    assert as_list("[" * 10_000 + "]" * 10_000) == ["[" * 10_000 + "]" * 10_000]
    long = "['" + "x" * LONGEST_LITERAL + "']"
    assert as_list(long) == [long]
    assert as_list("['\\ud800']") == ["['\\ud800']"]  # half a character: no file can contain it
