"""The documents that answers come from: read once, found by doc-id, searched.

    files --reading--> Document --store--> the store --passages--> Unit --engine--> the index
                                              |                                        |
                             document(), lengths(), iteration            search() --> Hit

`open_collection` reads a folder of documents (JSON lines, TREC SGML, text, HTML). The store keeps every text,
compressed, with its doc-id, length and place; an index is made when something is first searched for. Both are a
cache: see `building` for where it is and when it is rebuilt.
"""

from __future__ import annotations

from qassay.collections.collection import Collection, open_collection
from qassay.collections.documents import Document, Hit, Plain, plain, sentence_spans

__all__ = ["Collection", "Document", "Hit", "Plain", "open_collection", "plain", "sentence_spans"]
