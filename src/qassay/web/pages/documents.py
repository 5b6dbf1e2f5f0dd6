"""A document as assessors read it: plain text, with what they look for marked."""

from __future__ import annotations

import re
import threading
from typing import Annotated

from fastapi import Query

from qassay.collections import Collection, Document, open_collection
from qassay.web.errors import Refusal
from qassay.web.routing import ASSESSORS, Context, Router, TheSite
from qassay.web.site import Site

# Characters sent at most; a longer document is cut around what is marked.
LONGEST = 200_000
MOST_MARKS = 500
_opening = threading.Lock()
router = Router()


class DocumentView(Context):
    """A document, or the stretch of it around the first mark; marks count in `text`."""

    id: str
    title: str | None
    text: str
    marks: list[tuple[int, int]]
    # Where `text` begins in the whole, and how long the whole is.
    begins: int
    length: int
    # How the string was found: exactly, or only with other blanks, punctuation or letters' case.
    found: str | None


def collection_of(site: Site) -> Collection:
    """The evaluation's collection, opened once."""
    with _opening:
        kept = site.kept.get("collection")
        if kept is None:
            if not site.folder.collection.is_dir():
                raise Refusal(404, "this evaluation has no collection of documents")
            kept = site.kept["collection"] = open_collection(site.folder.collection)
    opened: Collection = kept
    return opened


def show(
    site: Site, doc: str, *, find: str | None = None, start: int | None = None, length: int | None = None
) -> DocumentView:
    """A document with a string, or a stretch of its stored text, marked."""
    try:
        document = collection_of(site).document(doc)
    except KeyError:
        raise Refusal(404, f"document {doc} is not in the collection") from None
    return view_of(document, find=find, start=start, length=length)


def view_of(
    document: Document,
    *,
    find: str | None = None,
    start: int | None = None,
    length: int | None = None,
    longest: int = LONGEST,
) -> DocumentView:
    """A document as it is shown: at most `longest` characters, around the first mark."""
    if start is not None and length is not None:
        return _cut(document, document.text, [(start, min(start + length, len(document.text)))], "place", longest)
    text = document.plain().text
    marks, how = occurrences(text, find) if find else ([], None)
    return _cut(document, text, marks, how, longest)


def occurrences(text: str, wanted: str) -> tuple[list[tuple[int, int]], str | None]:
    """Where a string occurs: as it is, else with other blanks and case, else its longest words.

    >>> occurrences("He lived in New  York.", "new york")
    ([(12, 21)], 'similar')
    """
    if not wanted.strip():
        return [], None
    exact = [match.span() for match in re.finditer(re.escape(wanted), text)]
    if exact:
        return exact[:MOST_MARKS], "exact"
    words = re.findall(r"\w+", wanted)[:40]
    if not words:
        return [], None
    loose = re.compile(r"\W{1,5}".join(map(re.escape, words)), re.IGNORECASE)
    similar = [match.span() for match in loose.finditer(text)]
    if similar:
        return similar[:MOST_MARKS], "similar"
    telling = sorted({word for word in words if len(word) > 3}, key=len, reverse=True)[:8]
    if not telling:
        return [], None
    single = re.compile(rf"\b(?:{'|'.join(map(re.escape, telling))})\b", re.IGNORECASE)
    return [match.span() for match in single.finditer(text)][:MOST_MARKS], "words"


def _cut(document: Document, text: str, marks: list[tuple[int, int]], how: str | None, longest: int) -> DocumentView:
    begins = 0
    if len(text) > longest and marks:
        begins = max(0, min(marks[0][0] - longest // 2, len(text) - longest))
    shown = text[begins : begins + longest]
    kept = [
        (max(first - begins, 0), min(end - begins, len(shown)))
        for first, end in marks
        if end > begins and first < begins + len(shown)
    ]
    return DocumentView.build(
        document,
        text=shown,
        marks=kept,
        begins=begins,
        length=len(text),
        found=how if kept else None,
    )


@router.page("/document", template="document.html", roles=ASSESSORS)
def document(
    site: TheSite,
    id: Annotated[str, Query(max_length=1000)],  # noqa: A002  # the name in the address
    find: Annotated[str | None, Query(max_length=5_000)] = None,
    start: Annotated[int | None, Query(ge=0)] = None,
    length: Annotated[int | None, Query(ge=0)] = None,
) -> DocumentView:
    """A document of the collection, with a string or a stretch marked."""
    return show(site, id, find=find, start=start, length=length)
