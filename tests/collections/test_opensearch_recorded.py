"""The adapter for OpenSearch and Elasticsearch against a real server, or against what one has answered.

Where the variable QASSAY_OPENSEARCH names a server, these tests run against it. Otherwise its answers are played from
`recordings/elasticsearch-7.0.0.json`: a request that is not the recorded one fails the test. `recordings/README.md`
tells which server that was, and what the recording does not show.

    QASSAY_OPENSEARCH=http://localhost:9200 pytest tests/collections/test_opensearch_recorded.py
    QASSAY_RECORD=new.json QASSAY_OPENSEARCH=... pytest ...      the same, and what was said is written to a file
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from qassay import net
from qassay.collections import Collection, open_collection, opensearch
from qassay.collections.documents import Stretch
from qassay.collections.opensearch import OpenSearchEngine
from qassay.collections.search import Analyser, parse
from qassay.errors import InputError

Folder = Callable[..., Path]
Json = dict[str, Any]
LIVE = os.environ.get("QASSAY_OPENSEARCH", "")
RECORD = os.environ.get("QASSAY_RECORD", "")
RECORDING: Json = json.loads(
    Path(__file__).with_name("recordings").joinpath("elasticsearch-7.0.0.json").read_text(encoding="utf-8")
)
ANALYSER = Analyser()
asked_live = net.exchange
VERSION = f"-{version('tantivy')}"
ROWS = [
    {"id": "cats", "title": "On cats", "text": "The black cat sat. It purred. It slept. Then it ate. It was good."},
    {"id": "dogs", "title": "On dogs", "text": "A cat that is black ran from the running dogs of the café."},
    {
        "id": "barks",
        "title": "Black cat",
        "text": "Dogs bark at everything that moves, by day and by night.",
    },
    {"id": "hindi", "title": "भाषा", "text": "यह हिन्दी में लिखा है।"},
    {"id": "long", "text": "before " + "x" * 40_000 + " after"},
]
QUERIES = [
    "black cat",
    '"black cat"',
    "title:dogs",
    "+dog cat",
    "cat -ran",
    "purring cats",
    "CAFE",
    "हिन्दी",
    "no such words",
]


class Line:
    """The line to a server: asks it, or plays what it said; keeps what was said."""

    def __init__(self, recorded: list[Json]) -> None:
        self.recorded = recorded
        self.exchanges: list[Json] = []
        self.faults: list[str] = []
        self.url = "http://localhost:9200"

    def ask(self, method: str, path: str, body: object = None) -> None:
        """Something that the test wants of the server, beside what the adapter asks."""
        headers = {"Content-Type": "application/json", "X-Setup": "yes"}
        data = None if body is None else json.dumps(body).encode()
        reply = net.exchange(method, self.url + path, headers=headers, body=data, seconds=60, most=1 << 20)
        assert reply.status < 300

    def answer(self, request: Json, raw: bytes) -> tuple[int, bytes]:
        if LIVE:
            status, text = live(request["method"], request["path"], raw, request["type"])
        else:
            status, text = self.played(request)
        self.exchanges.append(
            {"request": {**request, "path": shown(request["path"])}, "status": status, "answer": json.loads(text)}
        )
        return status, text

    def played(self, request: Json) -> tuple[int, bytes]:
        number = len(self.exchanges)
        if number >= len(self.recorded):
            self.faults.append(f"request {number} was never asked: {request}")
            return 500, b"{}"
        exchange = self.recorded[number]
        if {**request, "path": shown(request["path"])} != exchange["request"]:
            self.faults.append(f"request {number} is {request}, recorded was {exchange['request']}")
        return exchange["status"], json.dumps(exchange["answer"]).encode()


def shown(path: str) -> str:
    """A path as it is recorded, whatever folder was indexed, with whatever version of the analyser."""
    return re.sub(r"/qassay-[0-9a-f]{16}-", "/qassay-mark-", path).replace(VERSION, "")


def live(method: str, path: str, body: bytes, kind: str) -> tuple[int, bytes]:
    parts = urlsplit(LIVE)
    headers = {"Content-Type": kind}
    if parts.username:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers["Authorization"] = "Basic " + base64.b64encode(login).decode()
    base = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
    reply = asked_live(method, base + path, headers=headers, body=body or None, seconds=60, most=1 << 30)
    return reply.status, reply.body


def rows_of(body: bytes, kind: str) -> object:
    """What a body says; a character that is repeated a thousand times is recorded once, with its number."""
    if not body:
        return None
    body = re.sub(rb"(.)\1{999,}", lambda run: run[1] + b"*%d" % len(run[0]), body)
    return [json.loads(row) for row in body.splitlines()] if kind == "application/x-ndjson" else json.loads(body)


@pytest.fixture
def line(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    monkeypatch.delenv("QASSAY_OPENSEARCH", raising=False)
    name = request.node.name
    state = Line([] if LIVE else RECORDING["exchanges"][name])
    indexes = set()

    def exchange(method: str, url: str, *, headers: Json, body: bytes | None, **_: object) -> net.Reply:
        kind, path = headers["Content-Type"], url.removeprefix(state.url)
        asked: Json = {"method": method, "path": path, "type": kind, "body": rows_of(body or b"", kind)}
        asked |= {"setup": True} if headers.get("X-Setup") else {}
        indexes.add(path.split("/")[1].partition("?")[0])
        status, text = state.answer(asked, body or b"")
        return net.Reply(status, {}, text)

    monkeypatch.setattr(net, "exchange", exchange)
    yield state
    if LIVE:
        for index in indexes:
            live("DELETE", f"/{index}?ignore_unavailable=true", b"", "application/json")
        keep(name, state.exchanges)
    else:
        assert not state.faults
        assert len(state.exchanges) == len(state.recorded)


def keep(name: str, exchanges: list[Json]) -> None:
    if RECORD:
        file = Path(RECORD)
        recorded = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        file.write_text(
            json.dumps({**recorded, name: exchanges}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )


def results(collection: Collection, query: str, passages: bool) -> list[object]:
    hits = collection.search(query, passages=passages)
    return [(hit.doc, hit.start, hit.length, hit.highlights) for hit in hits]


def units(document: int, *texts: str) -> list[Stretch]:
    return [Stretch(document, number * 100, len(text), text, None) for number, text in enumerate(texts)]


@pytest.mark.parametrize("passages", [True, False])
def test_a_server_finds_what_the_index_on_disk_finds(folder: Folder, line: Line, passages: bool) -> None:
    root = folder({"a.jsonl": ROWS})
    served, here = open_collection(root, server=line.url), open_collection(root)
    for query in QUERIES:
        assert results(served, query, passages) == results(here, query, passages), query
    assert [bool(results(here, query, passages)) for query in QUERIES] == [True] * 8 + [False]


def test_scores_are_in_the_same_proportion_however_often_a_collection_is_opened(folder: Folder, line: Line) -> None:
    rows = [{"id": str(number), "text": "word " * (number + 1) + "other thing. " * number} for number in range(5)]
    root = folder({"a.jsonl": rows})
    for query in ('"other thing"', "word thing"):
        served, here = (
            [(hit.doc, hit.score) for hit in open_collection(root, server=url).search(query, passages=False)]
            for url in (line.url, None)
        )
        assert [doc for doc, _ in served] == [doc for doc, _ in here]
        # Newer servers leave a constant factor out of BM25.
        assert [score / served[0][1] for _, score in served] == pytest.approx([score / here[0][1] for _, score in here])


def test_a_broken_connection_is_opened_again(line: Line) -> None:
    engine = OpenSearchEngine(line.url, "qassay-test-break")
    assert engine.done() == 0
    for number in range(3):
        engine.add(units(number, "black cat", "white cat"))
    engine.commit()
    engine.add(units(3, "black cat"))
    engine._send()  # and then a break: what was sent is there, and was not committed
    again = OpenSearchEngine(line.url, "qassay-test-break")  # the index is there already
    assert again.done() == 3
    again.add(units(3, "black cat", "white cat"))
    again.finish()
    assert sorted(hit[1:3] for hit in again.search(parse("cat", ANALYSER), 100)) == [
        (number, start) for number in range(4) for start in (0, 100)
    ]
    assert again.done() == 4


def test_an_index_that_is_gone(line: Line) -> None:
    engine = OpenSearchEngine(line.url, "qassay-test-gone")
    line.ask("DELETE", f"/qassay-test-gone{VERSION}")
    for work in (engine.done, engine.commit, lambda: engine.search(parse("cat", ANALYSER), 5)):
        with pytest.raises(InputError, match="answers 404: index_not_found_exception: no such index"):
            work()


def test_a_unit_that_does_not_fit_is_refused_and_the_rest_taken(line: Line) -> None:
    engine = OpenSearchEngine(line.url, "qassay-test-unfit")
    engine.add([*units(0, "black cat"), *units(2**70, "white cat")])
    with pytest.raises(InputError, match=r"refuses 1 units: \w+_parsing_exception: .*document.*of type \[long\]"):
        engine.commit()
    fresh = OpenSearchEngine(line.url, "qassay-test-unfit")
    fresh.commit()
    assert [hit.document for hit in fresh.search(parse("cat", ANALYSER), 5)] == [0]


def test_an_index_that_may_not_be_written(line: Line) -> None:
    engine = OpenSearchEngine(line.url, "qassay-test-locked")
    line.ask("PUT", f"/qassay-test-locked{VERSION}/_settings", {"index.blocks.write": True})
    engine.add(units(0, "black cat", "white cat"))
    with pytest.raises(InputError, match="refuses 2 units: cluster_block_exception"):
        engine.commit()


def test_an_index_without_a_place_to_stand(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red: its shard is on no node. Searching says so; units are turned away, and sent again."""
    monkeypatch.setattr(opensearch, "_WAITS", (0.0,))
    monkeypatch.setattr(opensearch, "_BULK_WAITS", (0.0,))
    monkeypatch.setattr(opensearch, "_BULK_PATH", "/_bulk?timeout=1s")
    nowhere = {"settings": {"index.routing.allocation.require._name": "no-such-node"}}
    line.ask("PUT", f"/qassay-test-red{VERSION}?timeout=1s", nowhere)
    engine = OpenSearchEngine(line.url, "qassay-test-red")
    with pytest.raises(InputError, match=r"answers 503: .*shards"):
        engine.done()
    engine.add(units(0, "black cat", "white cat"))
    with pytest.raises(InputError, match="turns away 2 units again and again: unavailable_shards_exception"):
        engine.commit()
    sent = [exchange for exchange in line.exchanges if "_bulk" in exchange["request"]["path"]]
    assert len(sent) == 2
    assert sent[0]["request"] == sent[1]["request"]
