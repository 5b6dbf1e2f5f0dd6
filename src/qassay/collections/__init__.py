"""The documents that answers come from: read once, found by doc-id, searched.

    files --reading--> Document --store--> the store --passages--> Unit --engine--> the index
                                              |                                        |
                             document(), lengths(), iteration            search() --> Hit

`open_collection` reads a folder of documents (JSON lines, TREC SGML, text, HTML). The store keeps every text,
compressed, with its doc-id, length and place; an index is made when something is first searched for. Both are a
cache: see `place` for where it stands and when it is made anew.
"""

from __future__ import annotations

from qassay.collections.collection import Collection, open_collection
from qassay.collections.markup import Plain, plain
from qassay.collections.passages import sentence_spans
from qassay.collections.records import Document, Hit

__all__ = ["Collection", "Document", "Hit", "Plain", "open_collection", "plain", "sentence_spans"]
