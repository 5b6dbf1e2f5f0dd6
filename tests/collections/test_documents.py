"""Text without markup and the way back to its offsets; sentences and passages with exact offsets."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qassay.collections.documents import (
    LONGEST,
    Document,
    Markup,
    passage_spans,
    plain,
    regions,
    sentence_spans,
    title,
    units,
)

PAGE = """<!DOCTYPE html><html><head><title>Caf&eacute; &amp; bar</title><style>p {color: red}</style></head>
<body><!-- hidden --><h1>The caf&eacute;</h1><p>It sells H<sub>2</sub>O &amp; tea,
and   more.</p><script>if (a < b) { alert("x") }</script><ul><li>one<li>two</ul>
<br>AT&T &nosuch; &#8212; &#x1F600;!</body>"""


def test_a_reader_sees_no_markup() -> None:
    words = plain(PAGE, "html").text.split()
    assert " ".join(words) == "The café It sells H2O & tea, and more. one two AT&T — 😀!"
    assert title(PAGE, "html") == "Café & bar"


@pytest.mark.parametrize(
    ("shown", "stored"),
    [
        ("café", "caf&eacute;"),
        ("H2O & tea,", "H<sub>2</sub>O &amp; tea,"),
        ("tea, and", "tea,\nand"),
        ("— 😀!", "&#8212; &#x1F600;!"),
        ("one", "one"),
    ],
)
def test_the_way_back(shown: str, stored: str) -> None:
    seen = plain(PAGE, "html")
    at = seen.text.index(shown)
    start, length = seen.origin(at, at + len(shown))
    assert PAGE[start : start + length] == stored


def test_blocks_end_paragraphs_and_inline_tags_do_not() -> None:
    assert plain("<p>a<b>b</b></p><p>c", "html").text == "\n\nab\n\n\n\nc"


def test_a_text_without_markup_is_itself() -> None:
    seen = plain("a <b> &amp; c", "none")
    assert (seen.text, seen.origin(2, 5)) == ("a <b> &amp; c", (2, 3))


def test_sgml_shows_headline_and_text() -> None:
    text = "<DOC><DOCNO> X1 </DOCNO><DATE> d </DATE><HEADLINE>Head</HEADLINE><TEXT>A &LR;b<P>c</TEXT><TRAILER>t</DOC>"
    assert plain(text, "sgml").text.split() == ["Head", "A", "b", "c"]
    assert [text[start:end] for start, end in regions(text, "sgml")] == ["Head", "A &LR;b<P>c"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<DOC><DOCNO>X1</DOCNO>no text element <F>here</F></DOC>", ["no", "text", "element", "here"]),
        ("<DOC><DOCNO>X1</DOCNO><TEXT>never closed", ["never", "closed"]),
        ("<DOC><TEXT>a<HEADLINE>b</HEADLINE>c</TEXT>d</DOC>", ["a", "b", "c"]),
        ("<DOC><HEADLINE>a<TEXT>b</TEXT></DOC>", ["a", "b"]),
        ("<DOC><TEXT>5 < 6 and 7 > 3 & so</TEXT></DOC>", ["5", "<", "6", "and", "7", ">", "3", "&", "so"]),
    ],
)
def test_broken_sgml(text: str, words: list[str]) -> None:
    assert plain(text, "sgml").text.split() == words


@pytest.mark.parametrize(
    "text",
    [
        *("<!--" * 500_000, "<script>" * 500_000, "<select>" * 200_000, "<" * 2_000_000),
        *("&" * 1_000_000, "<p " * 600_000, "&a" * 500_000),
    ],
    ids=lambda text: text[:8],
)
def test_no_document_takes_for_ever(text: str) -> None:
    """A scanner that looks again and again for an end that does not come would not be back for hours."""
    for markup in ("html", "sgml"):
        assert len(plain(text, markup).text) <= len(text)


PARTS = (
    *("word ", "é", "&amp;", "&eacute;", "&x;", "&#0;", "&#1114112;", "<p>", "</p>", "<b>", "<script>", "</script>"),
    *(
        "<!--",
        "-->",
        "<TEXT>",
        "</TEXT>",
        "<HEADLINE>",
        "</HEADLINE>",
        "\n",
        "\n\n",
        "<",
        ">",
        "&",
        "<br/>",
        "😀",
        "</DOC>",
    ),
)


@given(st.lists(st.sampled_from(PARTS)).map("".join), st.sampled_from(["none", "html", "sgml"]))
def test_every_word_leads_back_to_itself(text: str, markup: Markup) -> None:
    """Words without entities stand in the stored text where the way back says, letter for letter."""
    seen = plain(text, markup)
    for match in re.finditer(r"word|é|😀", seen.text):
        start, length = seen.origin(match.start(), match.end())
        assert text[start : start + length] in (match[0], "&eacute;")
    for first in range(len(seen.text)):
        start, length = seen.origin(first, len(seen.text))
        assert 0 <= start <= start + length <= len(text)


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
    places = [
        (text[unit.start : unit.start + unit.length], unit.text.split()) for unit in units(4, document, "passages")
    ]
    assert places == [
        ("Big news", ["Big", "news"]),
        ("First &AMP; last.</P>\n<P>Second.", ["First", "&", "last.", "Second."]),
    ]
    (whole,) = units(4, document, "documents")
    assert (whole.document, whole.start, whole.length, whole.title) == (4, 0, len(text), "Big news")
