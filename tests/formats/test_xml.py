"""XML from strangers: entities, encodings, and files made to break the reader."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qassay.errors import InputError
from qassay.formats import xml


def messages(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        xml.parse(text, file="q.xml")
    return [str(problem) for problem in caught.value.problems]


def test_tree_lines_and_text() -> None:
    root = xml.parse('\n\n<a x="1">one<b>two</b>\n<c>three</c></a>', file="q.xml")
    assert (root.name, root.attributes, root.line) == ("a", {"x": "1"}, 3)
    assert root.text == "onetwo\nthree"
    assert [(e.name, e.line) for e in (*root.find_all("b"), *root.find_all("c"))] == [("b", 3), ("c", 4)]


def test_internal_entities_are_expanded() -> None:
    text = '<!DOCTYPE a [<!ENTITY who "Ren&#233;"><!ENTITY both "&who; &amp; &who;">]><a t="&who;">&both;</a>'
    root = xml.parse(text, file="q.xml")
    assert (root.attributes["t"], root.text) == ("René", "René & René")


def test_entities_of_html_need_no_declaration() -> None:
    text = '<a t="Caf&eacute;">&lt;&nbsp;&mdash;<!-- &nonsense; --><![CDATA[&eacute;&x;]]></a>'
    root = xml.parse(text, file="q.xml")
    assert (root.attributes["t"], root.text) == ("Café", "<\xa0—&eacute;&x;")


def test_all_unknown_entities_are_reported_with_their_lines() -> None:
    problems = messages('<a>\n&foo; &eacute;\n<b c="&bar;"/></a>')
    assert problems == [
        "q.xml:2: the entity &foo; is not declared; write the character itself",
        "q.xml:3: the entity &bar; is not declared; write the character itself",
    ]


def test_unknown_entity_with_external_definition_is_not_lost_silently() -> None:
    # With an external definition expat skips unknown entities without a word, in attributes too.
    problems = messages('<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a t="x&foo;y"/>')
    assert problems == ["q.xml:1: the entity &foo; is not declared; write the character itself"]


def test_external_definition_is_not_fetched() -> None:
    root = xml.parse('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a>x</a>', file="q.xml")
    assert root.text == "x"


@pytest.mark.parametrize("target", ["file:///etc/passwd", "http://127.0.0.1:1/x"])
def test_external_entity_is_refused(target: str) -> None:
    problems = messages(f'<!DOCTYPE a [\n<!ENTITY leak SYSTEM "{target}">]><a>&leak;</a>')
    assert problems == ["q.xml:2: declares the external entity &leak;, which is never fetched"]


def test_parameter_entity_is_refused() -> None:
    problems = messages('<!DOCTYPE a [<!ENTITY % p SYSTEM "http://127.0.0.1:1/x"> %p;]><a/>')
    assert problems == ["q.xml:1: declares the parameter entity %p;, which is not read"]


def billion_laughs() -> str:
    entities = ['<!ENTITY l0 "lol">']
    entities += [f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10)]
    return f"<!DOCTYPE a [{''.join(entities)}]><a>&l9;</a>"


def quadratic_blowup() -> str:
    return f'<!DOCTYPE a [<!ENTITY big "{"x" * 50_000}">]><a>{"&big;" * 50_000}</a>'


def in_attributes() -> str:
    return (
        f'<!DOCTYPE a [<!ENTITY big "{"x" * 50_000}">]><a>{"<b c=" + chr(34) + "&big;" + chr(34) + "/>"}</a>'.replace(
            '"&big;"', '"' + "&big;" * 1000 + '"'
        )
    )


def in_the_first_attribute() -> str:
    return f'<!-- - --><!DOCTYPE a [<!ENTITY big "{"x" * 50_000}">]><a b="{"&big;" * 10_000}"/>'


def recursive() -> str:
    return '<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><a>&x;</a>'


def long_chain() -> str:
    entities = "".join(f'<!ENTITY e{i} "&e{i + 1};">' for i in range(5000))
    return f'<!DOCTYPE a [{entities}<!ENTITY e5000 "x">]><a>&e0;</a>'


@pytest.mark.parametrize(
    "bomb", [billion_laughs, quadratic_blowup, in_attributes, in_the_first_attribute, recursive, long_chain]
)
def test_entity_bomb_is_an_error_and_costs_little(bomb: object) -> None:
    text = bomb()  # type: ignore[operator]
    tracemalloc.start()
    problems = messages(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(problems) == 1
    assert "unfold to more than" in problems[0]
    assert peak < 20 * len(text) + (10 << 20)


def test_default_attributes_do_not_unfold() -> None:
    text = f'<!DOCTYPE a [<!ATTLIST b c CDATA "{"x" * 100_000}">]><a>{"<b/>" * 10_000}</a>'
    root = xml.parse(text, file="q.xml")
    assert all(b.attributes == {} for b in root.find_all("b"))


@pytest.mark.parametrize("depth", [200, 200_000])
def test_deep_nesting_is_an_error(depth: int) -> None:
    assert messages("<a>" * depth + "</a>" * depth) == ["q.xml:1: elements are nested deeper than 100"]


@pytest.mark.parametrize("start", ["<!-- &x;", "<![CDATA[&x;"])
def test_sections_that_never_end_are_looked_for_once(start: str) -> None:
    # Looking for the end again at every start would take hours.
    assert "not XML" in messages("<a>" + start * 300_000)[0]


@pytest.mark.parametrize("text", ["", "   ", "plain text", "<a>", "<a></b>", "<a>\0</a>", "<a b=1/>", "<a/><b/>"])
def test_faulty_xml_is_reported(text: str) -> None:
    assert messages(text)[0].startswith("q.xml:1: not XML: ")


@given(st.text())
def test_never_anything_but_an_input_error(text: str) -> None:
    with suppress(InputError):
        assert xml.parse(f"<a>{text}</a>", file="q.xml").name == "a"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'.encode("latin-1"), None),
        ("<?xml version='1.0' encoding = 'utf-8' ?><a>é</a>".encode(), None),
        ("\ufeff<a>é</a>".encode(), None),
        ('<?xml version="1.0" encoding="UTF-16"?><a>é</a>'.encode("utf-16"), None),
        ('<?xml version="1.0" encoding="utf-8"?><a>é</a>'.encode("latin-1"), "latin-1"),
        ("<a>é</a>".encode("cp1252"), "cp1252"),
    ],
)
def test_encodings(data: bytes, encoding: str | None) -> None:
    assert xml.parse(xml.decode(data, file="q.xml", encoding=encoding), file="q.xml").text == "é"


def test_undecodable_lines_are_reported() -> None:
    with pytest.raises(InputError) as caught:
        xml.decode(b"<a>\n\xe9\nb\n\xe8</a>", file="q.xml")
    assert [(p.rule, p.line) for p in caught.value.problems] == [("encoding", 2), ("encoding", 4)]
