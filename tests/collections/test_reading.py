"""Documents of every form, whole and broken, and where messages say they are."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from qassay.collections import Document, open_collection
from qassay.collections import reading as reading_module
from qassay.collections.reading import OpenFile, decode, path_id
from qassay.errors import InputError
from qassay.formats import files

Folder = Callable[..., Path]

# Like AQUAINT: several documents per file, tags of its own, entities that no standard knows.
SGML = """<DOC>
<DOCNO> NYT19980601.0001 </DOCNO>
<DOCTYPE> NEWS STORY </DOCTYPE>
<DATE_TIME> 1998-06-01 00:15 </DATE_TIME>
<BODY>
<SLUG> BC-COMET &LR;  </SLUG>
<HEADLINE>
COMET SEEN OVER AT&AMP;T TOWER
</HEADLINE>
<TEXT>
<P>
   A comet was seen on Monday. It was &UR;bright &AMP blue.
</P>
</TEXT>
</BODY>
</DOC>
<DOC>
<DOCNO> NYT19980601.0002 </DOCNO>
<TEXT>
Second text.
</TEXT>
</DOC>
"""


def faults(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        open_collection(path)
    return [str(problem) for problem in caught.value.problems]


def test_json_lines_under_the_names_that_collections_use(folder: Folder) -> None:
    rows: list[dict[str, object]] = [
        {"id": "a", "text": "one", "title": "First"},
        {"_id": "b", "title": "", "text": "two"},
        {"docid": "c", "body": "three"},
        {"id": 7, "contents": "four"},
        {"docno": "e", "segment": "five", "title": 3},
    ]
    collection = open_collection(folder({"x.jsonl": rows}))
    assert list(collection) == [
        Document("a", "one", "First"),
        Document("b", "two"),
        Document("c", "three"),
        Document("7", "four"),
        Document("e", "five"),
    ]


def test_sgml_is_everything_from_tag_to_tag(folder: Folder) -> None:
    collection = open_collection(folder({"19980601_NYT": SGML}))
    first, second = collection
    assert first.id == "NYT19980601.0001"
    assert first.text == SGML[: SGML.index("</DOC>") + len("</DOC>")]
    assert first.title == "COMET SEEN OVER AT&T TOWER"
    assert second.text == SGML[SGML.index("<DOC>", 5) :].rstrip("\n")
    assert collection.lengths() == {first.id: len(first.text), second.id: len(second.text)}
    assert collection.place(second.id).endswith("19980601_NYT:17")


def test_an_extract_of_sgml_counts_markup(folder: Folder) -> None:
    document = open_collection(folder({"a.sgml": SGML})).document("NYT19980601.0001")
    offset = SGML.index("A comet")
    assert document.text[offset : offset + 27] == "A comet was seen on Monday."


@pytest.mark.parametrize("name", ["x.gz", "x.sgml.gz", "x.zst", "deep/er/x.txt", "x.trec", "x"])
def test_sgml_is_recognised_under_any_name(folder: Folder, name: str) -> None:
    data = SGML.encode()
    if name.endswith(".gz"):
        data = gzip.compress(data)
    elif name.endswith(".zst"):
        data = zstandard.compress(data)
    collection = open_collection(folder({name: data}))
    assert list(collection.lengths()) == ["NYT19980601.0001", "NYT19980601.0002"]


def test_sgml_with_the_id_in_the_tag(folder: Folder) -> None:
    text = '<DOC id="APW_ENG_20040101.0001" type="story" >\n<TEXT>\nHello.\n</TEXT>\n</DOC>'
    collection = open_collection(folder({"apw_eng_200401.gz": gzip.compress(text.encode())}))
    assert collection.document("APW_ENG_20040101.0001").text == text


def test_latin_1_where_it_is_not_utf_8(folder: Folder) -> None:
    latin = "<DOC><DOCNO>1</DOCNO>caf\xe9</DOC>".encode("latin-1")
    utf = "<DOC><DOCNO>2</DOCNO>café</DOC>".encode()
    collection = open_collection(folder({"a.sgml": latin + b"\n" + utf}))
    assert [document.text[-10:] for document in collection] == ["café</DOC>", "café</DOC>"]


def test_files_of_text_and_html(folder: Folder) -> None:
    html = "<html><head><title>The &amp; title</title></head><body>Body</body></html>"
    collection = open_collection(
        folder(
            {
                "letters/to my aunt.txt": "\ufeffDear aunt,\r\nhello\r\n",
                "b.html.gz": gzip.compress(html.encode()),
                "a.htm": "<p>caf\xe9".encode("latin-1"),
                "c.html": '<meta charset="koi8-r"><p>'.encode("koi8-r") + "Мир".encode("koi8-r"),
                "empty.txt": "",
            }
        )
    )
    assert list(collection.lengths()) == ["a", "b", "c", "empty", "letters/to_my_aunt"]
    assert collection.document("letters/to_my_aunt").text == "Dear aunt,\r\nhello\r\n"
    assert collection.document("b") == Document("b", html, "The & title", "html")
    assert collection.document("a").text == "<p>café"
    assert collection.document("c").text.endswith("Мир")
    assert collection.lengths()["empty"] == 0


def test_names_are_the_same_on_every_file_system() -> None:
    root = Path("c")
    assert path_id(root / "Cafe\u0301.txt", root) == path_id(root / "Café.txt", root) == "Café"
    assert path_id(root / os.fsdecode(b"caf\xe9.txt"), root) == "caf\ufffd"
    assert path_id(root / "v1.2.txt", root) == "v1.2"


def test_hidden_and_strange_files_are_skipped(folder: Folder) -> None:
    files = {"a.txt": "text", ".b.txt": "no", ".git/c.txt": "no", "picture.png": b"\x89PNG", "notes.md": "# no"}
    collection = open_collection(folder(files))
    assert list(collection.lengths()) == ["a"]
    assert collection.skipped == ("documents/notes.md", "documents/picture.png")


def test_links_are_followed_but_not_in_circles(folder: Folder, tmp_path: Path) -> None:
    root = folder({"a.txt": "one"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.txt").write_text("two")
    (root / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(root)
    assert list(open_collection(root).lengths()) == ["a", "linked/b"]


def test_a_doc_id_that_is_there_twice_names_both_places(folder: Folder) -> None:
    root = folder(
        {
            "a.jsonl": [{"id": "x", "text": "1"}, {"id": "y", "text": "2"}, {"id": "x", "text": "3"}],
            "b.sgml": "\n<DOC>\n<DOCNO>y</DOCNO>\n</DOC>",
            "z.txt": "",
            "z.html": "",
        }
    )
    assert faults(root) == [
        "documents/a.jsonl:3: document x is there twice: in documents/a.jsonl:1 and in documents/a.jsonl:3",
        "documents/b.sgml:2: document y is there twice: in documents/a.jsonl:2 and in documents/b.sgml:2",
        "documents/z.txt:1: document z is there twice: in documents/z.html:1 and in documents/z.txt:1",
    ]


def test_all_faults_at_once(folder: Folder) -> None:
    bad = '{"id": "a", "text": "good"}\n\n{"id": "b"}\n[1]\n{"id": "c", "text": \n{"id": "NIL", "text": "x"}\n'
    problems = faults(
        folder(
            {
                "a.jsonl": bad.encode() + b'{"id": "d", "text": "\xff"}\n{"id": "e", "text": "\\ud800"}\n',
                "b.sgml": "<DOC>\nno number\n</DOC>\n<DOC><DOCNO>1</DOCNO>\n<DOC><DOCNO>2</DOCNO></DOC>\n<DOC>",
                "c.txt": b"a\0b",
                "d.jsonl.gz": gzip.compress(b'{"id": "z", "text": "z"}\n')[:-9],
                "e.jsonl.zst": zstandard.compress(b'{"id": "zz", "text": "zz"}\n')[:-3],
            }
        )
    )
    assert [fault.split(": ")[0].removeprefix("documents/") for fault in problems] == [
        *("a.jsonl:3", "a.jsonl:4", "a.jsonl:5", "a.jsonl:6", "a.jsonl:7", "a.jsonl:8"),
        *("b.sgml:1", "b.sgml:4", "b.sgml:6", "c.txt", "d.jsonl.gz", "e.jsonl.zst"),
    ]
    assert "NIL" in problems[3]
    assert "ends too early" in problems[-1]


def test_a_folder_that_is_none() -> None:
    with pytest.raises(InputError, match="does not exist"):
        open_collection("no/such/folder")


def test_an_empty_folder_is_an_empty_collection(folder: Folder) -> None:
    collection = open_collection(folder({}))
    assert (len(collection), list(collection), collection.search("anything")) == (0, [], [])


def test_a_document_without_end_is_refused(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "LARGEST", 5 << 20)
    bomb = gzip.compress(b" " * (20 << 20))
    problems = faults(folder({"a.jsonl.gz": bomb, "b.txt.gz": bomb, "c.sgml": b"<DOC>" + b"x" * (6 << 20)}))
    assert len(problems) == 3
    assert all("more than 5 MiB" in fault for fault in problems)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_pieces_make_no_difference(folder: Folder, monkeypatch: pytest.MonkeyPatch, pack: object) -> None:
    """Documents, lines and packed members that lie across pieces: the same as read at once."""
    assert callable(pack)
    monkeypatch.setattr(reading_module, "_PIECE", 7)
    monkeypatch.setattr(files, "_SIP", 3)
    monkeypatch.setattr(files, "_PACKED", 5)
    monkeypatch.setattr(files, "_PIECE", 11)
    rows = [{"id": str(number), "text": "ä" * number} for number in range(40)]
    first, second = ("".join(json.dumps(row) + "\n" for row in part) for part in (rows[:20], rows[20:]))
    root = folder({"a.jsonl": pack(first.encode()) + pack(second.encode()), "b.sgml": pack(SGML.encode())})
    documents = list(open_collection(root))
    assert [document.text for document in documents[:40]] == [row["text"] for row in rows]
    assert [document.id for document in documents[40:]] == ["NYT19980601.0001", "NYT19980601.0002"]
    assert documents[40].text == SGML[: SGML.index("</DOC>") + len("</DOC>")]


def test_zeros_behind_a_gzip_member_are_padding(folder: Folder) -> None:
    data = gzip.compress(b'{"id": "a", "text": "x"}\n') + b"\0" * 600
    assert len(open_collection(folder({"a.jsonl.gz": data}))) == 1


@settings(max_examples=60)
@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=50), name=st.text(min_size=1, max_size=5))
def test_json_documents_come_back_as_they_are(text: str, name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    if not name.strip() or name == "NIL" or not name.isprintable():
        return
    root = tmp_path_factory.mktemp("collection")
    (root / "a.jsonl").write_text(json.dumps({"id": name, "text": text}) + "\n", encoding="utf-8")
    collection = open_collection(root)
    assert collection.document(name).text == text
    assert collection.lengths() == {name: len(text)}


@given(content=st.binary(max_size=200))
def test_any_bytes_are_text_or_refused(content: bytes) -> None:
    text = decode(content, declared=True)
    assert text is None or text.encode("utf-8") is not None


@settings(max_examples=60)
@given(content=st.binary(max_size=300))
def test_no_file_breaks_the_reader(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("collection")
    for name in ("a.jsonl", "b.sgml", "c.gz", "d.html", "e", "f.zst", "g.txt"):
        (root / name).write_bytes({"c.gz": b"\x1f\x8b", "f.zst": b"\x28\xb5\x2f\xfd"}.get(name, b"") + content)
    try:
        collection = open_collection(root)
    except InputError:
        return
    assert len(list(collection)) == len(collection)


def test_lines_are_numbered_as_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfa\r\n\n \nb\xe2\x80\xa8c\nd")
    assert list(OpenFile(path, "x").lines()) == [(1, b"a\r"), (4, b"b\xe2\x80\xa8c"), (5, b"d")]
