"""Search with an OpenSearch or Elasticsearch server, for collections beyond one machine.

The server indexes and ranks; texts, offsets and matches stay ours, so that a hit is the same thing whoever found it.
It speaks the part of the protocol that OpenSearch 1 to 3 and Elasticsearch 7 to 9 share:

    PUT  /INDEX            settings (the analyser) and mapping; 400 resource_already_exists_exception is no fault
    POST /INDEX/_bulk      units as JSON lines, under ids made of their place: adding one again changes nothing
    POST /INDEX/_refresh   make what was added last
    POST /INDEX/_search    the best units, or the largest document number

A user and a password in the URL are sent as basic authentication, to this server alone, and never shown.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import Request

from qassay.collections.direct import direct
from qassay.collections.query import Clause, Query
from qassay.collections.records import Found, Unit
from qassay.errors import InputError, Problem, UsageError

TITLE_WEIGHT = 0.5
_TIME_OUT = 60.0
_BULK = 4 << 20
# An answer is cut here, and is no JSON then: ten thousand hits take a hundredth of it.
_LONGEST_ANSWER = 256 << 20
_ATTEMPTS = 4
_BUSY = (429, 502, 503, 504)
# Servers give no more than this many hits at once unless they are told otherwise.
_MOST = 10_000
_DEFINITION = {
    "settings": {
        "analysis": {
            "tokenizer": {"letters_and_digits": {"type": "pattern", "pattern": "[^\\p{L}\\p{N}]+"}},
            "filter": {"english_stems": {"type": "stemmer", "language": "porter2"}},
            "analyzer": {
                "qassay": {
                    "type": "custom",
                    "tokenizer": "letters_and_digits",
                    "filter": ["lowercase", "asciifolding", "english_stems"],
                },
                # Words of a query are analysed already.
                "as_they_are": {"type": "custom", "tokenizer": "whitespace"},
            },
        }
    },
    "mappings": {
        "dynamic": False,
        "properties": {
            **{
                name: {"type": "text", "analyzer": "qassay", "search_analyzer": "as_they_are"}
                for name in ("text", "title")
            },
            **{name: {"type": "long"} for name in ("document", "start", "length")},
        },
    },
}


class OpenSearchEngine:
    """One index on a server."""

    def __init__(self, url: str, index: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{_hidden(url)!r} is no URL of a search server; it looks like http://localhost:9200")
        host = parts.netloc.rpartition("@")[2]
        self._base = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")) + "/" + quote(index, safe="")
        self._headers = {"Content-Type": "application/json"}
        if parts.username:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self._headers["Authorization"] = "Basic " + base64.b64encode(login).decode("ascii")
        self._lines: list[bytes] = []
        self._size = 0
        self._create()

    def done(self) -> int:
        """Documents before the largest number on the server; that one may be there in part and is added again."""
        body = {"size": 0, "aggs": {"last": {"max": {"field": "document"}}}}
        last = self._ask("POST", "/_search", body)["aggregations"]["last"]["value"]
        return 0 if last is None else int(last)

    def add(self, units: Iterable[Unit]) -> None:
        """Take all units of the next document; they are sent a few megabytes at a time."""
        for unit in units:
            action = {"index": {"_id": f"{unit.document}-{unit.start}-{unit.length}"}}
            for row in (action, unit._asdict()):
                line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
                self._lines.append(line)
                self._size += len(line)
        if self._size >= _BULK:
            self._send()

    def commit(self) -> None:
        """Make everything taken so far last."""
        self._send()
        self._ask("POST", "/_refresh")

    def finish(self) -> None:
        """Commit; nothing more is added."""
        self.commit()

    def search(self, query: Query, limit: int) -> list[Found]:
        """The best units, best first."""
        body = {
            "size": min(limit, _MOST),
            "track_total_hits": False,
            "_source": ["document", "start", "length"],
            "query": {"bool": _boolean(query)},
        }
        rows = self._ask("POST", "/_search", body)["hits"]["hits"]
        try:
            return [
                Found(float(row["_score"]), *(int(row["_source"][name]) for name in ("document", "start", "length")))
                for row in rows
            ]
        except (KeyError, TypeError, ValueError):
            raise self._fault("answers in a form that is not OpenSearch's") from None

    def _create(self) -> None:
        self._ask("PUT", "", _DEFINITION, allowed=("resource_already_exists_exception",))

    def _send(self) -> None:
        if not self._lines:
            return
        answer = self._ask("POST", "/_bulk", b"".join(self._lines))
        if answer.get("errors"):
            faults = [item["index"]["error"] for item in answer.get("items", ()) if "error" in item.get("index", {})]
            raise self._fault(f"refuses {len(faults)} units: {json.dumps(faults[:1])[:500]}")
        self._lines, self._size = [], 0

    def _ask(self, method: str, path: str, body: object = None, allowed: tuple[str, ...] = ()) -> Any:
        """What the server answers; a busy one is asked again a few times."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {**self._headers, **({"Content-Type": "application/x-ndjson"} if path == "/_bulk" else {})}
        request = Request(self._base + path, data, headers, method=method)  # noqa: S310  # http or https, see __init__
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with direct().open(request, timeout=_TIME_OUT) as response:
                    return json.loads(response.read(_LONGEST_ANSWER))
            except HTTPError as error:
                with error:
                    text = error.read(10_000).decode("utf-8", "replace")
                if any(name in text for name in allowed):
                    return {}
                fault = f"answers {error.code}: {text[:300]}"
                if error.code not in _BUSY:
                    break
            except (URLError, OSError) as error:
                fault = f"does not answer: {getattr(error, 'reason', error)}"
            except ValueError:
                fault = "answers in a form that is not JSON"
                break
            if attempt < _ATTEMPTS:
                time.sleep(0.1 * 4 ** (attempt - 1))
        raise self._fault(fault)

    def _fault(self, message: str) -> InputError:
        return InputError(Problem("configuration", f"the search server {message}", self._base))


def _boolean(query: Query) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for clause in query.clauses:
        name = "must_not" if clause.occur == "not" else clause.occur
        found.setdefault(name, []).append(_clause(clause))
    return found


def _clause(clause: Clause) -> dict[str, Any]:
    title = f"title^{TITLE_WEIGHT}"
    form = {"type": "most_fields"} if len(clause.words) == 1 else {"type": "phrase"}
    fields = [title] if clause.field == "title" else ["text", title]
    return {"multi_match": {"query": " ".join(clause.words), "fields": fields, **form}}


def _hidden(url: str) -> str:
    """A URL without what stands before the @."""
    before, at, host = url.rpartition("@")
    return f"...@{host}" if at and before else url
