"""Queries taken apart, and what a search finds, whichever engine looks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qassay import demo_folder
from qassay.collections import Collection, Hit, open_collection
from qassay.collections.search import MOST_CLAUSES, Analyser, Clause, Found, _ties, highlights, parse

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


Folder = Callable[..., Path]


@pytest.fixture(scope="module")
def demo() -> Collection:
    return open_collection(demo_folder() / "collection")


def check(collection: Collection, hits: list[Hit], limit: int) -> None:
    """What holds for all hits: exact offsets, falling scores, matches inside."""
    assert len(hits) <= limit
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        document = collection.document(hit.doc)
        assert hit.text == document.text[hit.start : hit.start + hit.length]
        assert len(hit.text) == hit.length
        assert hit.title == document.title
        assert all(0 <= start < start + length <= hit.length for start, length in hit.highlights)
    assert len({(hit.doc, hit.start) for hit in hits}) == len(hits)


def test_a_question_finds_its_passage(demo: Collection) -> None:
    hits = demo.search("At which university did Maria Skłodowska attend secret classes?", limit=5)
    check(demo, hits, 5)
    assert hits[0].doc == "demo-curie-1"
    assert "Flying University" in hits[0].text
    marked = {hits[0].text[start : start + length] for start, length in hits[0].highlights}
    assert {"Maria", "Skłodowska", "secret", "classes", "attended"} <= marked


def test_documents_as_wholes(demo: Collection) -> None:
    hits = demo.search("polonium radium", passages=False, limit=3)
    check(demo, hits, 3)
    assert all((hit.start, hit.length) == (0, len(demo.document(hit.doc).text)) for hit in hits)
    assert "polonium" in hits[0].text


def test_phrases_fields_musts_and_must_nots(folder: Folder) -> None:
    rows: list[dict[str, object]] = [
        {"id": "a", "title": "On cats", "text": "The black cat sat."},
        {"id": "b", "title": "On dogs", "text": "A cat that is black ran."},
        {"id": "c", "title": "On black cats", "text": "Nothing of the kind."},
        {"id": "d", "text": "Dogs bark."},
    ]
    collection = open_collection(folder({"a.jsonl": rows}))

    def documents_for(query: str) -> list[str]:
        return sorted(hit.doc for hit in collection.search(query))

    assert documents_for("black cat") == ["a", "b", "c"]
    assert documents_for('"black cat"') == ["a", "c"]
    assert documents_for("title:cats") == ["a", "c"]
    assert documents_for('title:"black cat"') == ["c"]
    assert documents_for("cat -black") == []
    assert documents_for("cats -title:black") == ["a", "b"]
    assert documents_for("+dog cat") == ["b", "d"]
    assert documents_for("dogs DOG dog") == ["b", "d"]
    assert documents_for("zebra") == documents_for("") == documents_for("-cat") == documents_for("?!") == []


def test_scores_are_bm25(folder: Folder) -> None:
    """Against the formula written out (Robertson and Zaragoza 2009), with k1 = 1.2 and b = 0.75."""
    texts = ["red fish", "red red blue fish swim", "one two three", "blue fish", "red", "fish " * 7 + "red"]
    rows: list[dict[str, object]] = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    collection = open_collection(folder({"a.jsonl": rows}))
    analyser = Analyser()
    words = [analyser.words(text) for text in texts]
    average = sum(map(len, words)) / len(words)
    expected = {}
    for number, document in enumerate(words):
        score = 0.0
        for word in analyser.words("red fish"):
            known = sum(word in other for other in words)
            idf = math.log(1 + (len(words) - known + 0.5) / (known + 0.5))
            frequency = Counter(document)[word]
            score += idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * len(document) / average))
        if score:
            expected[str(number)] = score
    for passages in (True, False):
        hits = collection.search("red fish", passages=passages)
        assert {hit.doc: hit.score for hit in hits} == pytest.approx(expected, rel=1e-5)
        assert [hit.doc for hit in hits] == sorted(expected, key=lambda doc: -expected[doc])


def test_equal_scores_stand_in_the_order_of_the_collection(folder: Folder) -> None:
    rows: list[dict[str, object]] = [{"id": f"x{number}", "text": "The same text here."} for number in range(500)]
    collection = open_collection(folder({"a.jsonl": rows}))
    for limit in (1, 10, 499):
        assert [hit.doc for hit in collection.search("same text", limit=limit)] == [f"x{n}" for n in range(limit)]
    assert len(collection.search("same", limit=1000)) == 500
    assert collection.search("same", limit=0) == collection.search("same", limit=-1) == []


def test_scores_that_differ_in_the_last_digits_are_ties() -> None:
    hits = [Found(2.0000001, 7, 0, 1), Found(2.0, 3, 5, 1), Found(2.0000002, 3, 0, 1), Found(1.9, 0, 0, 1)]
    assert [[(hit.document, hit.start) for hit in group] for group in _ties(hits)] == [
        [(3, 0), (3, 5), (7, 0)],
        [(0, 0)],
    ]


def test_a_passage_is_not_shown_twice(folder: Folder) -> None:
    text = "One thing is so. Two things are so. The zebra is here. Four things are so. Five things are so."
    collection = open_collection(folder({"a.txt": text}))
    assert len(collection.search("zebra")) == 1, "the sentence is in two passages"
    assert len(collection.search("zebra thing")) == 2, "the other one has matches of its own"


def test_html_is_found_without_its_markup(folder: Folder) -> None:
    page = """<html><head><title>Tea</title><script>var zebra = 1;</script></head><body class="zebra">
    <p>Tea is a <b>drink</b>. It&rsquo;s made of leaves.</p><p>Caf&eacute;s sell it &amp; coffee.</p></body></html>"""
    collection = open_collection(folder({"tea.html": page}))
    assert collection.search("zebra") == []
    (hit,) = collection.search("drink cafés")
    check(collection, [hit], 1)
    assert [hit.text[start : start + length] for start, length in hit.highlights] == ["drink", "Caf&eacute;s"]
    assert " ".join(hit.plain().text.split()) == "Tea is a drink. It’s made of leaves. Cafés sell it & coffee."
    assert (hit.title, hit.doc) == ("Tea", "tea")


def test_sgml_is_found_by_what_it_says(folder: Folder) -> None:
    text = """<DOC>
<DOCNO> APW19990101.0001 </DOCNO>
<HEADLINE> Comet seen </HEADLINE>
<TEXT>
<P>
A comet was seen over AT&AMP;T's tower.
</P>
<P>
It was bright.
</P>
</TEXT>
</DOC>"""
    collection = open_collection(folder({"apw.gz": text}))
    assert collection.search("APW19990101") == []
    hit = collection.search("bright tower")[0]
    check(collection, [hit], 1)
    assert hit.text == "A comet was seen over AT&AMP;T's tower.\n</P>\n<P>\nIt was bright."
    assert [hit.text[start : start + length] for start, length in hit.highlights] == ["tower", "bright"]


HOSTILE = [
    *("", " ", '"', '""', '"""', "\\", "title:", "title:*", "*:*", "ordinal:1", "document:[0 TO 9]", "a AND (b OR"),
    *("+", "-", "+-+-", "NOT NOT", "(((((", "]]]", "^^2", "~9", "/.*/", "a" * 100_000, "x " * 50_000, "\0", "\ud800"),
    *(
        "'; DROP TABLE documents; --",
        "%s %n {} ${x}",
        "../../etc/passwd",
        "title:title:title:",
        '+"-"',
        "😀",
        "\u202e",
        "東京",
    ),
    *("IN [a b c]", '"a b"~3', "a:b:c", "{!func}", "<script>", "&amp;", "\n\r\t", "-" * 1000, '"' * 1001),
]


@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: ascii(query[:12]))
def test_hostile_queries(demo: Collection, query: str) -> None:
    for passages in (True, False):
        check(demo, demo.search(query, passages=passages), 10)


@settings(max_examples=200)
@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["Curie", '"', "+", "-", "title:", " ", "the", "1911", "(", "x-y"])).map("".join)
)
def test_any_query(query: str) -> None:
    collection = open_collection_once()
    check(collection, collection.search(query, limit=4), 4)


_opened: list[Collection] = []


def open_collection_once() -> Collection:
    if not _opened:
        _opened.append(open_collection(demo_folder() / "collection"))
    return _opened[0]
