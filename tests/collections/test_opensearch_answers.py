"""What the adapter makes of the answers that servers give in bad times, and in other versions.

The answers stand in `recordings/`: what an Elasticsearch 7.0.0 has said (`refusals`), and what is published about
Elasticsearch 8 and OpenSearch 2 (`published.json`, with the sources). The published ones were not heard from a server.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from qassay import net
from qassay.collections import opensearch
from qassay.collections.documents import Stretch
from qassay.collections.opensearch import OpenSearchEngine
from qassay.collections.search import Analyser, Found, parse
from qassay.errors import InputError

Json = dict[str, Any]
Answer = tuple[int, bytes] | Exception
RECORDINGS = Path(__file__).with_name("recordings")
RECORDED: Json = json.loads((RECORDINGS / "elasticsearch-7.0.0.json").read_text(encoding="utf-8"))
PUBLISHED: Json = json.loads((RECORDINGS / "published.json").read_text(encoding="utf-8"))
CAT = parse("cat", Analyser())
SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
TAKEN = {"took": 1, "errors": False, "items": []}
REFRESHED = {"_shards": {"total": 2, "successful": 1, "failed": 0}}
NOTHING = {"took": 1, "timed_out": False, "_shards": SHARDS, "hits": {"max_score": None, "hits": []}}


class Script:
    """A server that gives the answers of a list, one after the other, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[bytes | None] = []
        self.waits: list[float] = []

    def will(self, *answers: object) -> None:
        """Answer so: a JSON value (200), a status and a text, or an exception of the connection."""
        self.asked.clear()
        self.answers = [answer if isinstance(answer, tuple | Exception) else (200, text(answer)) for answer in answers]

    def exchange(
        self, method: str, url: str, *, headers: Json, body: bytes | None, seconds: float, most: int
    ) -> net.Reply:
        assert seconds
        assert most
        self.asked.append(body)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, content = answer
        return net.Reply(status, {}, content)


def text(value: object) -> bytes:
    return json.dumps(value).encode()


def given(content: Json) -> tuple[int, bytes]:
    return content["status"], content["text"].encode() if "text" in content else text(content["answer"])


def refusal(name: str) -> tuple[int, bytes]:
    return given(RECORDED["refusals"][name])


def published(name: str) -> tuple[int, bytes]:
    return given(PUBLISHED["answers"][name])


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    script = Script()
    monkeypatch.setattr(net, "exchange", script.exchange)
    monkeypatch.setattr(net.time, "sleep", script.waits.append)
    return script


@pytest.fixture
def engine(script: Script) -> OpenSearchEngine:
    script.will({"acknowledged": True, "shards_acknowledged": True, "index": "x"})
    return OpenSearchEngine("http://localhost:9200", "x")


def units(number: int) -> list[Stretch]:
    return [Stretch(0, start, 9, "black cat", None) for start in range(number)]


def sent(body: bytes | None) -> list[Json]:
    assert body is not None
    return [json.loads(row) for row in body.splitlines()]


def test_units_that_are_turned_away_are_sent_again_without_the_others(engine: OpenSearchEngine, script: Script) -> None:
    away = RECORDED["refusals"]["bulk_turned_away_in_part"]["answer"]
    statuses = [item["create"]["status"] for item in away["items"]]
    assert set(statuses) == {201, 429}
    script.will(away, TAKEN, TAKEN, REFRESHED)
    engine.add(units(len(statuses)))
    engine.commit()
    first, second, mark, _ = script.asked
    pairs = list(zip(sent(first)[::2], sent(first)[1::2], strict=True))
    again = [row for pair, status in zip(pairs, statuses, strict=True) if status == 429 for row in pair]
    assert sent(second) == again
    assert sent(mark) == [{"create": {"_id": "done-1"}}, {"done": 1}]
    assert len(script.waits) == 1


def test_units_that_are_turned_away_again_and_again(engine: OpenSearchEngine, script: Script) -> None:
    away = RECORDED["refusals"]["bulk_turned_away_in_part"]["answer"]
    away = {**away, "items": [item for item in away["items"] if item["create"]["status"] == 429][:1]}
    script.will(*[away] * 20)
    engine.add(units(1))
    with pytest.raises(InputError, match="turns away 1 units again and again: es_rejected_execution_exception"):
        engine.commit()
    assert script.waits == sorted(opensearch._BULK_WAITS)
    assert len(script.asked) == len(script.waits) + 1


def test_the_hits_of_some_shards_are_not_an_answer(engine: OpenSearchEngine, script: Script) -> None:
    """As the server answers by default: no shard has failed, and one is missing."""
    script.will(refusal("search_with_a_shard_missing"))
    with pytest.raises(InputError, match="for a part of the index only: 1 of 2 shards are missing"):
        engine.search(CAT, 5)
    script.will({**NOTHING, "timed_out": True})
    with pytest.raises(InputError, match="for a part of the index only: its time was up"):
        engine.search(CAT, 5)
    script.will({"_shards": {"total": 2, "successful": 1, "failed": 1}})
    with pytest.raises(InputError, match="1 of 2 shards are missing"):
        engine.commit()


def test_a_missing_shard_may_come_back(engine: OpenSearchEngine, script: Script) -> None:
    missing = refusal("search_with_a_shard_missing_and_parts_not_allowed")
    script.will(missing, missing, NOTHING)
    assert engine.search(CAT, 5) == []
    script.will(*[missing] * 20)
    with pytest.raises(InputError, match="answers 503: search_phase_execution_exception: Search rejected"):
        engine.search(CAT, 5)
    assert len(script.asked) == len(opensearch._WAITS) + 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (refusal("search_with_an_unknown_parameter"), "400: illegal_argument_exception: request .* unrecognized"),
        (refusal("search_with_an_unknown_key"), "400: parsing_exception: Unknown key"),
        (refusal("bad_index_name"), "400: invalid_index_name_exception: .* must be lowercase"),
        (refusal("wrong_method"), "405: Incorrect HTTP method"),
        (published("elasticsearch_8_no_login"), "401: security_exception: missing authentication.*; user and password"),
        (published("opensearch_no_login"), "401: Unauthorized; user and password"),
        (published("opensearch_2_wrong_login"), "401: Authentication finally failed; user and password"),
        (published("opensearch_2_no_body"), "401: Unauthorized; user and password"),
        ((413, b"<html>too large</html>"), "413: <html>too large"),
    ],
)
def test_a_refusal_has_the_words_of_the_server(
    engine: OpenSearchEngine, script: Script, answer: tuple[int, bytes], message: str
) -> None:
    script.will(answer)
    with pytest.raises(InputError, match=f"answers {message}"):
        engine.search(CAT, 5)


def test_a_busy_server_is_asked_again(engine: OpenSearchEngine, script: Script) -> None:
    taken = published("opensearch_2_unit_taken")
    script.will(published("opensearch_busy"), taken, taken, REFRESHED)
    engine.add(units(1))
    engine.commit()
    assert sent(script.asked[0]) == sent(script.asked[1])
    assert len(script.asked) == 4


def test_a_unit_that_elasticsearch_8_refuses(engine: OpenSearchEngine, script: Script) -> None:
    script.will(published("elasticsearch_8_unit_refused"))
    engine.add(units(1))
    with pytest.raises(InputError, match="refuses 1 units: document_parsing_exception"):
        engine.commit()


@pytest.mark.parametrize("total", [*PUBLISHED["totals"]["forms"], None])
def test_the_form_of_the_total_does_not_matter(engine: OpenSearchEngine, script: Script, total: object) -> None:
    hit = {"_index": "x", "_id": "3-4-5", "_score": 1.5, "_source": {"document": 3, "start": 4, "length": 5}}
    hits = {"max_score": 1.5, "hits": [hit], **({} if total is None else {"total": total})}
    script.will({**NOTHING, "hits": hits})
    assert engine.search(CAT, 5) == [Found(1.5, 3, 4, 5)]


@pytest.mark.parametrize("cause", ["timeout", "certificate", "long"])
def test_a_server_that_is_silent_or_not_trusted_is_asked_once(
    engine: OpenSearchEngine, script: Script, cause: Any
) -> None:
    script.will(net.NoReplyError(cause, "does not answer within 60 s"))
    with pytest.raises(InputError, match="the search server does not answer within 60 s"):
        engine.search(CAT, 5)


@pytest.mark.parametrize("cause", ["broken", "unreachable"])
def test_a_connection_that_breaks_is_made_again(engine: OpenSearchEngine, script: Script, cause: Any) -> None:
    fault = net.NoReplyError(cause, "cannot be reached")
    script.will(fault, fault, NOTHING)
    assert engine.search(CAT, 5) == []
    script.will(*[fault] * 20)
    with pytest.raises(InputError, match="cannot be reached"):
        engine.search(CAT, 5)


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {},
        {"errors": True},
        {"errors": True, "items": []},
        {"errors": True, "items": [{"create": {"error": "no status"}}]},
        {"errors": True, "items": [7]},
        {"_shards": {}},
        {**NOTHING, "hits": {"hits": [{"_score": None}]}},
        {**NOTHING, "aggregations": {"done": {"value": "many"}}},
    ],
)
def test_answers_in_another_form(engine: OpenSearchEngine, script: Script, answer: object) -> None:
    engine.add(units(1))
    for work in (engine.commit, engine.done):
        script.will(answer)
        with pytest.raises(InputError, match="not OpenSearch's"):
            work()


def test_a_long_document_is_sent_in_parts(
    engine: OpenSearchEngine, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opensearch, "_BULK", 1000)
    script.will(*[TAKEN] * 30, REFRESHED)
    engine.add(units(100))
    parts = [sent(request) for request in script.asked]
    assert len(parts) > 5
    assert sum(len(part) for part in parts) <= 200


REQUESTS = [
    pytest.param(exchange["request"], id=f"{test}-{number}")
    for test, exchanges in RECORDED["exchanges"].items()
    for number, exchange in enumerate(exchanges)
    if "setup" not in exchange["request"]
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_every_request_is_in_the_published_protocol(request_: Json) -> None:
    """The requests of the recording, which are those that the adapter makes (see test_opensearch_recorded)."""
    parts = urlsplit(request_["path"])
    verb = "/".join(["", "{index}", *parts.path.split("/")[2:]])
    (api,) = (
        published
        for published in PUBLISHED["apis"].values()
        if (published["method"], published["path"]) == (request_["method"], verb)
    )
    assert {name for name, _ in parse_qsl(parts.query, strict_parsing=bool(parts.query))} <= set(api["parameters"])
    assert request_["type"] == api["type"]
    if "actions" in api:
        for action in request_["body"][::2]:
            ((name, keys),) = action.items()
            assert name in api["actions"]
            assert set(keys) <= set(api["action_keys"])
    else:
        assert set(request_["body"] or ()) <= set(api["body"])
        check_clauses((request_["body"] or {}).get("query", {}))


def check_clauses(query: Json) -> None:
    assert set(query) <= {"bool"}
    for clauses in query.get("bool", {}).values():
        for clause in clauses:
            assert set(clause) == {"multi_match"}
            assert set(clause["multi_match"]) <= set(PUBLISHED["multi_match"]["keys"])
            assert clause["multi_match"]["type"] in PUBLISHED["multi_match"]["types"]
