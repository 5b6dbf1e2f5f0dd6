"""The documents of a sheet's items: each text once, or the stretch of a long one around what is looked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from qassay.collections import open_collection
from qassay.judging import KINDS, Item
from qassay.web.pages.documents import view_of

# Characters of a document that a sheet holds; of a longer one, those around the string.
LONGEST = 20_000
# The page asks for no more of a string, in UTF-16 units (document.js).
_FIND = 2_000


class Documents:
    """The texts that a sheet holds, numbered from 1 in the order in which they are first shown."""

    def __init__(self, collection: Path | None) -> None:
        self.texts: list[dict[str, Any]] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._collection = open_collection(collection) if collection is not None and collection.is_dir() else None

    def note(self, item: Item, shown: dict[str, list[Any]]) -> None:
        """Add what an item shows of its documents to `shown`, by what the page asks for."""
        for place in KINDS[item.kind].places(item):
            doc, find, start, length = place.doc, _asked(place.text), place.start, place.length
            asked = json.dumps(
                [doc, find, None if start is None else str(start), None if length is None else str(length)],
                ensure_ascii=False,
                separators=(",", ":"),
            )
            if self._collection is None or asked in shown or doc not in self._collection:
                continue
            document = self._collection.document(doc)
            view = view_of(document, find=find, start=start, length=length, longest=LONGEST)
            number = self._number(view.id, view.title, view.text)
            shown[asked] = [number, view.marks, view.begins, view.length, view.found]

    def _number(self, doc: str, title: str | None, text: str) -> int:
        if (doc, text) not in self._numbers:
            self.texts.append({"id": doc, "title": title, "text": text})
            self._numbers[doc, text] = len(self.texts)
        return self._numbers[doc, text]


def _asked(text: str | None) -> str | None:
    """As much of a string as the page asks for: JavaScript counts in UTF-16, and half a character is replaced."""
    cut = (text or "").encode("utf-16-le")[: 2 * _FIND]
    return cut.decode("utf-16-le", "replace") or None
