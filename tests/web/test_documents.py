"""Documents beside an answer: what is marked, and what is cut."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from qassay.web.pages import documents
from qassay.web.pages.documents import LONGEST, occurrences


@pytest.mark.parametrize(
    ("text", "wanted", "marked", "how"),
    [
        ("born in Warsaw, in Warsaw", "Warsaw", ["Warsaw", "Warsaw"], "exact"),
        ("born in New\n  York City", "new york", ["New\n  York"], "similar"),
        ("the Nobel Prize in Physics", "Physics: Nobel", ["Nobel", "Physics"], "words"),
        ("nothing of it", "Physics", [], "words"),
        ("a (b) [c] .*", "(b) [c] .*", ["(b) [c] .*"], "exact"),
        ("some text", "  ", [], None),
        ("some text", "...", [], None),
    ],
)
def test_where_a_string_occurs(text: str, wanted: str, marked: list[str], how: str | None) -> None:
    spans, count = occurrences(text, wanted)
    assert [text[first:end] for first, end in spans] == marked
    assert count == how


def test_a_long_string_is_found_in_linear_time() -> None:
    text = "word " * 200_000
    assert occurrences(text, "word " * 39 + "other")[1] == "words"


def test_a_long_document_is_cut_around_its_mark(site: Any) -> None:
    folder = site.folder / "collection"
    long = "x " * LONGEST + "NEEDLE " + "y " * LONGEST
    (folder / "long.txt").write_text(long)
    document = site.client("assessor").get("/api/document", params={"id": "long", "find": "NEEDLE"}).json()
    assert len(document["text"]) == LONGEST
    ((first, end),) = document["marks"]
    assert document["text"][first:end] == "NEEDLE"
    assert long[document["begins"] :].startswith(document["text"])
    page = site.client("assessor").get("/document", params={"id": "long", "find": "NEEDLE"})
    assert "<mark>NEEDLE</mark>" in page.text


def test_a_document_that_is_not_there(site: Any) -> None:
    client = site.client("assessor")
    assert client.get("/api/document", params={"id": "../qassay.toml"}).status_code == 404
    assert client.get("/api/document").status_code == 422


def test_titles_are_those_of_the_documents_that_a_screen_names(site: Any) -> None:
    served = site.app.state.site
    named = {
        "start": 3,
        "doc": "demo-curie-1",
        "contexts": [{"text": "no document"}, {"doc": "demo-curie-2", "text": "a context"}],
        "elements": [{"text": "a sentence", "citations": ["demo-curie-3", "not in it"]}, {"text": "another"}],
    }
    docs = list(documents.documents_shown(named))
    assert docs == ["demo-curie-1", "demo-curie-2", "demo-curie-3", "not in it"]
    titles = documents.titles_of(served, [*docs, None, "half a \ud800 pair"])
    assert sorted(titles) == ["demo-curie-1", "demo-curie-2", "demo-curie-3"]
    assert titles["demo-curie-2"] == "Two new elements"
    assert list(documents.documents_shown({"doc": "demo-curie-1", "text": "a string"})) == []
    shutil.rmtree(site.folder / "collection")
    assert documents.titles_of(site.with_settings().app.state.site, docs) == {}


@pytest.mark.parametrize("is_folder", [True, False])
def test_no_document_is_shown_from_outside_the_folder(site: Any, tmp_path: Any, is_folder: bool) -> None:
    """The attack: a link in the collection to any file that the server can read."""
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "secret.txt").write_text("swordfish")
    link = site.folder / "collection" / ("pub" if is_folder else "pub.txt")
    link.symlink_to(secret if is_folder else secret / "secret.txt")
    client = site.client("assessor")
    for address in ("/document", "/api/document", "/development/document", "/api/development/search?q=swordfish"):
        for name in ("pub/secret", "pub"):
            answer = client.get(address, params={"id": name})
            assert answer.status_code != 200 or "search" in address
            assert "swordfish" not in answer.text.replace("q=swordfish", "")
            assert "secret" not in answer.text.replace("pub/secret", "")
    assert "leads out of the evaluation by a link" in client.get("/api/document", params={"id": "pub"}).text
