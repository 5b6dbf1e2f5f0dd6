"""What a string of a search stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qassay.collections.search import MOST_CLAUSES, Analyser, Clause, highlights, parse

ANALYSER = Analyser()


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Where was Marie Curie born?", [Clause(("mari",)), Clause(("curi",)), Clause(("born",))]),
        ("Who was who", [Clause(("who",)), Clause(("was",))]),
        ('"The Who" band', [Clause(("the", "who")), Clause(("band",))]),
        ("title:Curie x", [Clause(("curi",), "title"), Clause(("x",))]),
        ('TITLE:"new elements"', [Clause(("new", "element"), "title")]),
        ("+radium -plutonium", [Clause(("radium",), "any", "must"), Clause(("plutonium",), "any", "not")]),
        ('-title:"a b"', [Clause(("a", "b"), "title", "not")]),
        ("minus -5 degrees", [Clause(("minus",)), Clause(("5",)), Clause(("degre",))]),
        ("London-based", [Clause(("london", "base")), Clause(("london",)), Clause(("base",))]),
        ("O'Neill's", [Clause(("o", "neill")), Clause(("neill",))]),
        ("the U.S.", [Clause(("u", "s"))]),
        ('6" pipe', [Clause(("6",)), Clause(("pipe",))]),
        ("Skłodowska Sklodowska", [Clause(("sklodowska",))]),
        ("title: subtitle:x", [Clause(("titl",)), Clause(("subtitl", "x")), Clause(("subtitl",))]),
        ("- + \" ' : ( ) [ ] { } ^ ~ * ? \\ / AND", [Clause(("and",))]),
        ("", []),
        ("?!", []),
    ],
)
def test_strings_and_what_they_stand_for(text: str, clauses: list[Clause]) -> None:
    assert list(parse(text, ANALYSER).clauses) == clauses


def test_a_query_of_prohibitions_looks_for_nothing() -> None:
    assert parse("-a -b", ANALYSER).empty
    assert parse("?", ANALYSER).empty
    assert not parse("-a b", ANALYSER).empty
    assert not parse("the -cat", ANALYSER).empty


def test_endless_queries_are_cut() -> None:
    text = " ".join(f"word{number}" for number in range(100_000))
    assert len(parse(text, ANALYSER).clauses) == MOST_CLAUSES


@given(st.text(max_size=200) | st.text(st.sampled_from('"+-: titleé\ud800\0()'), max_size=60))
def test_every_string_is_a_query(text: str) -> None:
    query = parse(text, ANALYSER)
    assert len(set(query.clauses)) == len(query.clauses)
    assert all(clause.words and all(clause.words) for clause in query.clauses)


def test_highlights_mark_words_and_whole_phrases() -> None:
    text = "The Who played. Who else? Bands, a band, née Skłodowska."
    query = parse('"the who" band -née sklodowska title:else', ANALYSER)
    marked = [text[start:end] for start, end in highlights(ANALYSER.placed(text), query)]
    assert marked == ["The", "Who", "Bands", "band", "Skłodowska"]
