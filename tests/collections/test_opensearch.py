"""The adapter for OpenSearch and Elasticsearch, against a small server that speaks their protocol.

The server keeps documents and matches whole words; its answers, and its refusals, have the form of the real ones. What
a real server says is in test_opensearch_recorded; what servers say in bad times is in test_opensearch_answers.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from qassay import net
from qassay.collections import open_collection, opensearch
from qassay.collections.documents import Stretch
from qassay.collections.opensearch import OpenSearchEngine
from qassay.collections.search import Analyser, parse
from qassay.errors import InputError, UsageError

Folder = Callable[..., Path]
ANALYSER = Analyser()
ROWS = [
    {"id": "a", "title": "On cats", "text": "The black cat sat. It purred. It slept. Then it ate. It was good."},
    {"id": "b", "title": "On dogs", "text": "A cat that is black ran."},
    {"id": "c", "text": "Dogs bark."},
]


class Server:
    """What the server holds, what it was asked, and what it is to answer instead of the truth."""

    def __init__(self) -> None:
        self.indexes: dict[str, dict[str, dict[str, Any]]] = {}
        self.definitions: dict[str, Any] = {}
        self.asked: list[tuple[str, str, dict[str, Any]]] = []
        self.instead: list[tuple[int, bytes]] = []
        self.refused: dict[str, Any] | None = None
        self.url = "http://localhost:9200"

    def exchange(self, method: str, url: str, *, headers: Any, body: bytes | None, **_: object) -> net.Reply:
        """The reply to a request."""
        path = url.removeprefix(self.url)
        self.asked.append((method, path, {**headers, "Content-Length": len(body or b"")}))
        if self.instead:
            return net.Reply(self.instead[0][0], {}, self.instead.pop(0)[1])
        status, answer = self.answer(method, path, body or b"")
        return net.Reply(status, {}, json.dumps(answer).encode())

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        _, index, *verb = path.partition("?")[0].split("/")
        if method == "PUT":
            if index in self.indexes:
                reason = {"type": "resource_already_exists_exception", "reason": f"index [{index}/x] already exists"}
                return 400, {"error": {"root_cause": [reason], **reason}, "status": 400}
            self.indexes[index], self.definitions[index] = {}, json.loads(body)
            return 200, {"acknowledged": True, "shards_acknowledged": True, "index": index}
        if verb == ["_bulk"]:
            return 200, self.bulk(index, body)
        if verb == ["_refresh"]:
            return 200, {"_shards": {"total": 2, "successful": 1, "failed": 0}}
        return 200, self.search(index, json.loads(body))

    def bulk(self, index: str, body: bytes) -> object:
        assert body.endswith(b"\n")
        rows = [json.loads(line) for line in body.splitlines()]
        items = [
            {"create": self.create(index, action["create"]["_id"], source)}
            for action, source in zip(rows[::2], rows[1::2], strict=True)
        ]
        return {"took": 3, "errors": any("error" in item["create"] for item in items), "items": items}

    def create(self, index: str, key: str, source: dict[str, Any]) -> dict[str, Any]:
        answer = {"_index": index, "_id": key}
        if key in self.indexes[index]:
            conflict = {"type": "version_conflict_engine_exception", "reason": f"[{key}]: document already exists"}
            return {**answer, "status": 409, "error": conflict}
        if self.refused:
            return {**answer, "status": 400, "error": self.refused}
        self.indexes[index][key] = source
        return {**answer, "result": "created", "status": 201}

    def search(self, index: str, body: Any) -> object:
        documents = self.indexes[index]
        frame: dict[str, Any] = {"took": 1, "timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}}
        if body["size"] == 0:
            done = max((float(row["done"]) for row in documents.values() if "done" in row), default=None)
            return {**frame, "hits": {"max_score": None, "hits": []}, "aggregations": {"done": {"value": done}}}
        scored = [(self.score(row, body["query"]["bool"]), key) for key, row in documents.items()]
        best = sorted(((score, key) for score, key in scored if score), key=lambda pair: -pair[0])[: body["size"]]
        hits = [
            {
                "_index": index,
                "_id": key,
                "_score": score,
                "_source": {name: documents[key][name] for name in body["_source"]},
            }
            for score, key in best
        ]
        return {**frame, "hits": {"max_score": best[0][0] if best else None, "hits": hits}}

    def score(self, row: dict[str, Any], query: dict[str, list[Any]]) -> float:
        values = {
            occur: [self.match(row, clause["multi_match"]) for clause in query.get(occur, ())] for occur in OCCURS
        }
        if not all(values["must"]) or any(values["must_not"]):
            return 0.0
        return sum(values["must"]) + sum(values["should"])

    def match(self, row: dict[str, Any], clause: dict[str, Any]) -> float:
        total = 0.0
        for field in clause["fields"]:
            name, _, boost = field.partition("^")
            words = tuple((row.get(name) or "").split())
            wanted = clause["query"].split()
            runs = [words[at : at + len(wanted)] for at in range(len(words))]
            assert clause["type"] == ("phrase" if len(wanted) > 1 else "most_fields")
            total += Counter(runs)[tuple(wanted)] * float(boost or 1)
        return total


OCCURS = ("must", "must_not", "should")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    state = Server()
    monkeypatch.setattr(net, "exchange", state.exchange)
    monkeypatch.setattr(net.time, "sleep", lambda _: None)
    return state


def test_a_collection_searched_by_a_server(folder: Folder, server: Server) -> None:
    collection = open_collection(folder({"a.jsonl": ROWS}), server=server.url)

    def documents_for(query: str) -> list[str]:
        return sorted({hit.doc for hit in collection.search(query)})

    assert documents_for("black cat") == ["a", "b"]
    assert documents_for('"black cat"') == ["a"]
    assert documents_for("title:dogs") == ["b"]
    assert documents_for("+dog cat") == ["b", "c"]
    assert documents_for("cat -ran") == ["a"]
    hit = collection.search("cat purring")[0]
    assert hit.text == collection.document("a").text[hit.start : hit.start + hit.length]
    assert [hit.text[start : start + length] for start, length in hit.highlights] == ["cat", "purred"]
    assert collection.search("cat", passages=False)[0].length == len(ROWS[0]["text"])
    assert sorted(name.split("-")[2] for name in server.indexes) == ["documents", "passages"]


def test_the_variable_names_the_server(folder: Folder, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QASSAY_OPENSEARCH", server.url)
    assert len(open_collection(folder({"a.jsonl": ROWS})).search("dogs")) == 2
    assert len(server.indexes) == 1


def test_indexed_documents_are_not_sent_again(folder: Folder, server: Server) -> None:
    root = folder({"a.jsonl": ROWS})
    open_collection(root, server=server.url).index()
    (index,) = server.indexes
    documents = dict(server.indexes[index])
    first = next(iter(documents))
    server.indexes[index] = {key: documents[key] for key in documents if key != first and not key.startswith("done")}
    server.asked.clear()
    # As after a break: a busy server has taken units of the last document, and turned one of the first away.
    open_collection(root, server=server.url).index()
    assert server.indexes[index] == documents
    server.asked.clear()
    open_collection(root, server=server.url).index()
    assert [re.sub(r".*/|\?.*", "", path) for _, path, _ in server.asked] == [index, "_search", "_refresh"]


def test_units_are_sent_a_few_at_a_time(folder: Folder, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opensearch, "_BULK", 1000)
    rows = [{"id": str(number), "text": "Some words. " * 20} for number in range(20)]
    open_collection(folder({"a.jsonl": rows}), server=server.url).index()
    bulks = [headers for _, path, headers in server.asked if "/_bulk" in path]
    assert len(bulks) > 10
    assert all(headers["Content-Length"] < 1500 for headers in bulks)
    assert all(headers["Content-Type"] == "application/x-ndjson" for headers in bulks)


def test_the_index_holds_words_as_queries_have_them(server: Server) -> None:
    engine = OpenSearchEngine(server.url + "/", "some index")
    engine.add(
        [Stretch(7, 3, 20, "Universities, organizing CAFÉS: हिन्दी", "The Evening's title"), Stretch(8, 0, 1, "a", None)]
    )
    engine.commit()
    ((name, documents),) = server.indexes.items()
    assert name == f"some%20index-{version('tantivy')}"
    fields = server.definitions[name]["mappings"]["properties"]
    first, second, mark = documents.values()
    assert {*first, *mark} == set(fields)
    assert mark == {"done": 9}
    for field, text in (("text", "Universities, organizing CAFÉS: हिन्दी"), ("title", "The Evening's title")):
        assert fields[field]["analyzer"] == "whitespace"
        assert tuple(first[field].split()) == ANALYSER.words(text)
    assert second["title"] is None


@pytest.mark.parametrize(
    ("status", "text", "message"),
    [
        (401, b'{"error": {"type": "security_exception"}}', "answers 401"),
        (503, b"no master", "answers 503"),
        (200, b"<html>not what you think</html>", "not JSON"),
        (200, b'{"hits": {"hits": []}}', "not OpenSearch's"),
    ],
)
def test_a_server_that_fails_is_named_with_what_it_says(server: Server, status: int, text: bytes, message: str) -> None:
    engine = OpenSearchEngine(server.url, "x")
    server.instead = [(status, text)] * 10
    with pytest.raises(InputError, match=message) as caught:
        engine.search(parse("cat", ANALYSER), 5)
    assert server.url in str(caught.value)


def test_units_that_are_refused(server: Server, folder: Folder) -> None:
    collection = open_collection(folder({"a.jsonl": ROWS}), server=server.url)
    collection.index()
    (index,) = server.indexes
    assert len(server.indexes[index]) > 2
    first = next(iter(server.indexes[index]))
    server.indexes[index] = {first: server.indexes[index][first]}  # as after a break within the first document
    error = {"type": "mapper_parsing_exception", "reason": "failed to parse", "caused_by": {"type": "x", "reason": "y"}}
    server.refused = error
    with pytest.raises(InputError, match=r"refuses \d+ units: mapper_parsing_exception: failed to parse; x: y"):
        open_collection(collection.folder, server=server.url).index()


def test_a_login_is_sent_and_never_shown(server: Server) -> None:
    url = server.url.replace("http://", "http://me:s%40cret@")
    engine = OpenSearchEngine(url, "x")
    sent = server.asked[-1][2]["Authorization"]
    assert base64.b64decode(sent.removeprefix("Basic ")) == b"me:s@cret"
    server.instead = [(500, b"broken")]
    with pytest.raises(InputError) as caught:
        engine.commit()
    assert "cret" not in str(caught.value)
    with pytest.raises(UsageError) as usage:
        OpenSearchEngine("ftp://me:s%40cret@host", "x")
    assert "cret" not in str(usage.value)


def test_no_server_there(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net.time, "sleep", lambda _: None)
    collection = open_collection(folder({"a.jsonl": ROWS}), server="http://127.0.0.1:9")
    with pytest.raises(InputError, match="cannot be reached"):
        collection.search("cat")
