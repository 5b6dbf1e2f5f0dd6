"""Sentences and passages: exact offsets, neighbours together, nothing lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qassay.collections.documents import LONGEST, Document, passage_spans, sentence_spans, units


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def test_sentences_of_news() -> None:
    text = """Mr. Smith went to Washington, D.C., on Jan. 5, 1998.  He paid $3.5 million to
the U.S. Government.  "Was it right?" he asked.

A HEADLINE WITHOUT A STOP

Apple Inc. rose 3.2 percent."""
    assert sentences(text) == [
        "Mr. Smith went to Washington, D.C., on Jan. 5, 1998.",
        "He paid $3.5 million to\nthe U.S. Government.",
        '"Was it right?" he asked.',
        "A HEADLINE WITHOUT A STOP",
        "Apple Inc. rose 3.2 percent.",
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\0", "...", "no stop"])
def test_little_texts(text: str) -> None:
    assert sentences(text) == ([text.strip()] if text.strip() else [])


def test_passages_are_three_sentences_and_share_one() -> None:
    text = "One is here. Two is here. Three is here. Four is here. Five is here. Six is here."
    assert [text[start:end] for start, end in passage_spans(text)] == [
        "One is here. Two is here. Three is here.",
        "Three is here. Four is here. Five is here.",
        "Five is here. Six is here.",
    ]


def test_long_sentences_are_cut_at_blanks() -> None:
    text = "word " * 1000
    spans = list(passage_spans(text))
    assert all(end - start <= LONGEST for start, end in spans)
    assert all(text[start:end].split() == ["word"] * ((end - start + 1) // 5) for start, end in spans)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text) - 1


@given(
    st.lists(
        st.sampled_from(["A b c. ", "What? ", "e.g. ", "\n\n", "x" * 1300 + " ", "Mr. Foo ", "! ", "\u2028", " "])
    ).map("".join)
)
def test_every_word_is_in_a_passage_and_every_pair_of_sentences_too(text: str) -> None:
    spans = list(passage_spans(text))
    covered = {position for start, end in spans for position in range(start, end)}
    assert all(position in covered for position, character in enumerate(text) if not character.isspace())
    assert spans == sorted(set(spans))
    ends = sentence_spans(text)
    for (start, _), (_, end) in pairwise(ends):
        if end - start <= LONGEST:
            assert any(first <= start and end <= last for first, last in spans)


@pytest.mark.parametrize("unit", ["?!", ".)", "A. ", "a." * 140 + " ", "?!" * 140 + " ", "... ", "\n ", "x", '"'])
def test_no_text_takes_for_ever(unit: str) -> None:
    """A splitter that compares every stop with every other would not be back for hours."""
    text = unit * (300_000 // len(unit))
    spans = list(passage_spans(text))
    assert all(end - start <= LONGEST for start, end in spans)


def test_units_count_in_the_stored_text() -> None:
    text = "<DOC><DOCNO>1</DOCNO><HEADLINE>Big news</HEADLINE>\n"
    text += "<TEXT><P>First &AMP; last.</P>\n<P>Second.</P></TEXT></DOC>"
    document = Document("1", text, "Big news", "sgml")
    found = [
        (text[unit.start : unit.start + unit.length], unit.text.split()) for unit in units(4, document, "passages")
    ]
    assert found == [
        ("Big news", ["Big", "news"]),
        ("First &AMP; last.</P>\n<P>Second.", ["First", "&", "last.", "Second."]),
    ]
    (whole,) = units(4, document, "documents")
    assert (whole.document, whole.start, whole.length, whole.title) == (4, 0, len(text), "Big news")
