"""Search with an OpenSearch or Elasticsearch server, for collections beyond one machine.

The server indexes and ranks; texts, offsets and matches stay ours, so that a hit is the same whichever engine found it.
Words are ours too: texts are sent as the words that `search.Analyser` makes of them, and the server splits at spaces.
Stemmers of one name differ between servers and versions, and a query would miss what the other stemmed otherwise. The
name of the index says whose words it holds. The protocol is the part that OpenSearch 1 to 3 and Elasticsearch 7 to 9
share:

    PUT  /INDEX            the mapping; 400 resource_already_exists_exception is not a fault
    POST /INDEX/_bulk      units as JSON lines, created under ids made of their place: an existing one (409)
                           stays as it is, since a second version would count in the scores until segments are
                           merged; one that is turned away (429, 503) is sent again; one that is refused ends the work
    POST /INDEX/_refresh   what was added can be found from now on
    POST /INDEX/_search    the best units, or how far the index goes; all of the index or an error, never a part

A user and a password in the URL are sent as basic authentication, to this server alone, and never shown.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from typing import Any
from urllib.parse import quote, unquote, urlunsplit

from qassay import net
from qassay.collections.documents import Stretch
from qassay.collections.search import TITLE_WEIGHT, Analyser, Found, Query
from qassay.errors import InputError, Problem, UsageError

_TIME_OUT = 60.0
_BULK = 4 << 20
# An answer is cut here, and is then not JSON: ten thousand hits take a hundredth of it.
_LONGEST_ANSWER = 256 << 20
# Seconds before a busy server is asked again, and again.
_WAITS = (0.1, 0.4, 1.6, 6.4)
# A server that had its time is not asked again: it would only double the wait.
_MAY_PASS = net.MAY_PASS - {"timeout"}
# Seconds before units that were turned away are sent again: indexing is long work, and can wait longer than a search.
_BULK_WAITS = (*_WAITS, 12.8, 25.6)
# What a unit is answered that is in the index already.
_THERE = 409
# The server gives up waiting for a shard before we give up waiting for the server, and says what is missing.
_BULK_PATH = "/_bulk?timeout=30s"
_SEARCH_PATH = "/_search?allow_partial_search_results=false"
_LOGIN = "; user and password stand in the URL, as in https://user:password@host:9200"
# Servers give no more than this many hits at once unless they are told otherwise.
_MOST = 10_000
_OTHER_FORM = "answers in a form that is not OpenSearch's"
_WORDS = {"type": "text", "analyzer": "whitespace"}
_NUMBER = {"type": "long"}
_DEFINITION = {
    "mappings": {
        "dynamic": False,
        "properties": {
            **dict.fromkeys(("text", "title"), _WORDS),
            # Where a unit stands; and, in a row without words, how many documents were there when it was written.
            **dict.fromkeys(("document", "start", "length", "done"), _NUMBER),
        },
    }
}


class OpenSearchEngine:
    """One index on a server."""

    def __init__(self, url: str, index: str) -> None:
        parts = net.address(url)
        if parts is None:
            before, _, host = url.rpartition("@")  # the part before the @ may be a password
            shown = f"...@{host}" if before else url
            raise UsageError(f"{shown!r} is not the URL of a search server; it looks like http://localhost:9200")
        host = parts.netloc.rpartition("@")[2]
        name = quote(f"{index}-{version('tantivy')}", safe="")
        self._base = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")) + "/" + name
        self._headers = {"Content-Type": "application/json"}
        if parts.username:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self._headers["Authorization"] = "Basic " + base64.b64encode(login).decode("ascii")
        # Units that wait to be sent: each as two lines, what to do and with what.
        self._waiting: list[bytes] = []
        self._size = 0
        self._documents = self._marked = 0
        self._analyser = Analyser()
        self._ask("PUT", "", _DEFINITION, allowed=("resource_already_exists_exception",))

    def done(self) -> int:
        """Documents that the last commit had; some of later ones may be there, in any order, and are added again."""
        body = {"size": 0, "track_total_hits": False, "aggs": {"done": {"max": {"field": "done"}}}}
        with self._form():
            done = self._whole("POST", _SEARCH_PATH, body)["aggregations"]["done"]["value"]
            self._marked = 0 if done is None else int(done)
            return self._marked

    def add(self, units: Iterable[Stretch]) -> None:
        """Take all units of the next document; they are sent a few megabytes at a time."""
        for unit in units:
            source = unit._replace(text=self._words(unit.text), title=unit.title and self._words(unit.title))
            self._take(f"{unit.document}-{unit.start}-{unit.length}", source._asdict())
            self._documents = unit.document + 1
            if self._size >= _BULK:  # within a document too: servers refuse a body beyond 100 MB
                self._send()

    def commit(self) -> None:
        """Make everything taken so far last, and to be found; then, and not before, note how far it goes."""
        self._send()
        if self._documents > self._marked:
            self._take(f"done-{self._documents}", {"done": self._documents})
            self._send()
            self._marked = self._documents
        self._whole("POST", "/_refresh")

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
        with self._form():
            rows = self._whole("POST", _SEARCH_PATH, body)["hits"]["hits"]
            return [
                Found(float(row["_score"]), *(int(row["_source"][name]) for name in ("document", "start", "length")))
                for row in rows
            ]

    def _take(self, key: str, source: dict[str, Any]) -> None:
        rows = ({"create": {"_id": key}}, source)
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        self._waiting.append(lines)
        self._size += len(lines)

    def _words(self, text: str) -> str:
        return " ".join(self._analyser.words(text))

    def _send(self) -> None:
        """Send what waits. A busy server may take some units and turn others away: those are sent again."""
        for wait in (*_BULK_WAITS, None):
            if not self._waiting:
                break
            self._waiting, reason = self._left()
            if self._waiting and wait is None:
                raise self._fault(f"turns away {len(self._waiting)} units again and again: {reason}")
            if self._waiting and wait:
                time.sleep(wait)
        self._size = 0

    def _left(self) -> tuple[list[bytes], str]:
        """Send once: the units that were turned away, and what the server says of the first."""
        with self._form():
            answer = self._ask("POST", _BULK_PATH, b"".join(self._waiting))
            if not answer["errors"]:
                return [], ""
            items = [item["create"] for item in answer["items"]]  # in the order in which they were sent
            sent = zip(self._waiting, items, strict=True)
            failed = [(lines, item) for lines, item in sent if "error" in item and item["status"] != _THERE]
            refused = [item["error"] for _, item in failed if item["status"] not in net.BUSY]
            if refused:
                raise self._fault(f"refuses {len(refused)} units: {_reason(refused[0])}")
            return [lines for lines, _ in failed], _reason(failed[0][1]["error"]) if failed else ""

    def _whole(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """The server's answer for the whole index; an answer of only some shards is an error."""
        answer = self._ask(method, path, body)
        with self._form():
            shards = answer["_shards"]
            # A search asks one copy of every shard. A shard that is nowhere counts as missing, not as failed; a refresh
            # asks every copy, and copies may be missing.
            missing = shards["total"] - shards["successful"] if "hits" in answer else shards["failed"]
            if missing or answer.get("timed_out"):
                why = f"{missing} of {shards['total']} shards are missing" if missing else "its time was up"
                raise self._fault(f"answers for a part of the index only: {why}")
        return answer

    def _ask(self, method: str, path: str, body: object = None, allowed: tuple[str, ...] = ()) -> dict[str, Any]:
        """The server's answer, or nothing where it refuses for an allowed reason; a busy one is asked again."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {**self._headers, **({"Content-Type": "application/x-ndjson"} if isinstance(body, bytes) else {})}
        url = self._base + path
        send = partial(net.exchange, method, url, headers=headers, body=data, seconds=_TIME_OUT, most=_LONGEST_ANSWER)
        try:
            reply = net.send_again(send, _WAITS, statuses=net.BUSY, causes=_MAY_PASS)
        except net.NoReplyError as error:
            raise self._fault(str(error)) from None
        if reply.status >= 300:
            return self._refusal(reply, allowed)
        try:
            answer = reply.json()
        except ValueError:
            raise self._fault("answers in a form that is not JSON") from None
        if not isinstance(answer, dict):
            raise self._fault(_OTHER_FORM)
        return answer

    def _refusal(self, reply: net.Reply, allowed: tuple[str, ...]) -> dict[str, Any]:
        """Nothing, where the refusal is one of the allowed; an error otherwise."""
        if any(name.encode() in reply.body for name in allowed):
            return {}
        try:  # JSON with a cause, or the text of some proxy as it is
            cause = _reason(reply.json()["error"])
        except (KeyError, TypeError, ValueError):
            cause = reply.shown(300)
        login = _LOGIN if reply.status == 401 else ""
        raise self._fault(f"answers {reply.status}: {cause or reply.reason}{login}")

    @contextmanager
    def _form(self) -> Iterator[None]:
        """Reads an answer; a missing or mistyped field is the server's fault."""
        try:
            yield
        except (LookupError, TypeError, ValueError, AttributeError):
            raise self._fault(_OTHER_FORM) from None

    def _fault(self, message: str) -> InputError:
        return InputError(Problem("configuration", f"the search server {message}", self._base))


def _boolean(query: Query) -> dict[str, list[Any]]:
    parts: dict[str, list[Any]] = {}
    for clause in query.clauses:
        name = "must_not" if clause.occur == "not" else clause.occur
        title = f"title^{TITLE_WEIGHT}"
        fields = [title] if clause.field == "title" else ["text", title]
        match: dict[str, Any] = {"query": " ".join(clause.words), "fields": fields, "type": "most_fields"}
        if len(clause.words) > 1:
            # Scores of the fields are added up; without the tie breaker a phrase is worth what its better field gives.
            match |= {"type": "phrase", "tie_breaker": 1.0}
        parts.setdefault(name, []).append({"multi_match": match})
    return parts


def _reason(error: object) -> str:
    """Type and reason of an error, and of its cause."""
    if not isinstance(error, dict):
        return str(error)[:300]
    roots, cause = error.get("root_cause"), error.get("caused_by")
    first = roots[0] if isinstance(roots, list) and roots else error
    reasons = [part for part in (first, cause) if isinstance(part, dict) and part.get("reason")] or [error]
    return "; ".join(dict.fromkeys(f"{part.get('type')}: {part.get('reason')}" for part in reasons))[:500]
