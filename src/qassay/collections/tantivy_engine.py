"""Search with tantivy: an index on disk, or in memory, ranked by BM25 over text and title."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import tantivy
from tantivy import Occur

from qassay.collections.documents import Stretch
from qassay.collections.search import TITLE_WEIGHT, Analyser, Clause, Found, Query

_ANALYSER = "qassay"
_OCCUR = {"should": Occur.Should, "must": Occur.Must, "not": Occur.MustNot}
_NUMBERS = ("document", "start", "length")
# Memory for words not yet written, per thread.
_HEAP = 192 << 20
_SMALL_HEAP = 20 << 20


class TantivyEngine:
    """One index of one kind of units."""

    def __init__(self, path: Path | None, analyser: Analyser) -> None:
        builder = tantivy.SchemaBuilder()
        for name in ("text", "title"):
            builder.add_text_field(name, tokenizer_name=_ANALYSER)
        for name in _NUMBERS:
            builder.add_unsigned_field(name, fast=True)
        self._schema = builder.build()
        self._small = path is None
        if path is None:
            self._index = tantivy.Index(self._schema)
        else:
            path.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, path=str(path))
        self._index.register_tokenizer(_ANALYSER, analyser.analyser)
        self._writer: tantivy.IndexWriter | None = None
        self._searcher = self._index.searcher()

    def done(self) -> int:
        """Documents that are in the index for good: a commit contains whole documents, in order."""
        hits = self._searcher.search(tantivy.Query.all_query(), limit=1, count=False, order_by_field="document").hits
        return int(hits[0][0]) + 1 if hits else 0

    def add(self, units: Iterable[Stretch]) -> None:
        """Take all units of the next document."""
        if self._writer is None:
            threads = 1 if self._small else min(4, os.cpu_count() or 1)
            self._writer = self._index.writer((_SMALL_HEAP if self._small else _HEAP) * threads, threads)
        for unit in units:
            document = tantivy.Document()
            document.add_text("text", unit.text)
            if unit.title:
                document.add_text("title", unit.title)
            document.add_unsigned("document", unit.document)
            document.add_unsigned("start", unit.start)
            document.add_unsigned("length", unit.length)
            self._writer.add_document(document)

    def commit(self) -> None:
        """Make everything taken so far last."""
        if self._writer is not None:
            self._writer.commit()

    def finish(self) -> None:
        """Commit, wait until pieces of the index are put together, and search the current index."""
        if self._writer is not None:
            self._writer.commit()
            self._writer.wait_merging_threads()
            self._writer = None
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, query: Query, limit: int) -> list[Found]:
        """The best units; an index without words finds nothing."""
        if not self._searcher.num_docs:
            return []
        hits = self._searcher.search(self._boolean(query), limit=limit, count=False).hits
        addresses = [address for _, address in hits]
        columns = [self._searcher.fast_field_values(name, addresses) for name in _NUMBERS]
        return [
            Found(float(score), int(document or 0), int(start or 0), int(length or 0))
            for (score, _), document, start, length in zip(hits, *columns, strict=True)
        ]

    def _boolean(self, query: Query) -> tantivy.Query:
        parts: list[tuple[Occur, tantivy.Query]] = []
        for clause in query.clauses:
            fields = self._fields(clause)
            if clause.occur == "should":  # flat: the engine skips units that cannot be among the best
                parts += [(Occur.Should, field) for field in fields]
            else:
                either = tantivy.Query.boolean_query([(Occur.Should, field) for field in fields])
                parts.append((_OCCUR[clause.occur], either))
        return tantivy.Query.boolean_query(parts)

    def _fields(self, clause: Clause) -> list[tantivy.Query]:
        title = tantivy.Query.boost_query(self._words("title", clause.words), TITLE_WEIGHT)
        return [title] if clause.field == "title" else [self._words("text", clause.words), title]

    def _words(self, field: str, words: tuple[str, ...]) -> tantivy.Query:
        if len(words) == 1:
            return tantivy.Query.term_query(self._schema, field, words[0])
        return tantivy.Query.phrase_query(self._schema, field, list(words))
