"""Sentences, and passages of a few of them, with exact offsets.

A passage has up to three sentences and begins with the last one of the passage before: any two neighbouring
sentences stand together in one, so that "She won it again in 1911" is found with the sentence that says who.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qassay.collections.markup import plain, regions
from qassay.collections.records import Document, Unit, UnitKind

SENTENCES = 3
# A passage takes no further sentence, and a "sentence" (a table, a program) is cut, beyond this many characters.
LONGEST = 1000
# What stands between paragraphs: empty lines, and strings that are no words, on which a splitter would take for ever.
_BETWEEN = re.compile(r"\n[ \t\r\f\v]*\n\s*|(\S{300,})")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """First character and end of every sentence of a plain text, blanks around it left out.

    An empty line ends a sentence (headlines have no full stop), a line's end does not.

    >>> text = "Dr. No came in Jan. 1962. Was it good?"
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. No came in Jan. 1962.', 'Was it good?']
    """
    from nupunkt import sent_spans

    found: list[tuple[int, int]] = []
    for begin, end, words in _paragraphs(text):
        paragraph = text[begin:end]
        if not words:
            found.append((begin, end))
            continue
        for first, last in sent_spans(paragraph):
            sentence = paragraph[first:last]
            start = begin + first + len(sentence) - len(sentence.lstrip())
            stop = start + len(sentence.strip())
            if stop > start:
                found.append((start, stop))
    return found


def units(number: int, document: Document, kind: UnitKind) -> Iterator[Unit]:
    """What an index holds of the document with this number: its passages, or the whole of it."""
    if kind == "documents":
        yield Unit(number, 0, len(document.text), document.plain().text, document.title)
        return
    for begin, end in regions(document.text, document.markup):
        seen = plain(document.text[begin:end], document.markup)
        for first, last in passage_spans(seen.text):
            start, length = seen.origin(first, last)
            yield Unit(number, begin + start, length, seen.text[first:last], document.title)


def passage_spans(text: str) -> Iterator[tuple[int, int]]:
    """First character and end of every passage of a plain text."""
    spans = [piece for start, end in sentence_spans(text) for piece in _cut(text, start, end)]
    first = 0
    while first < len(spans):
        last = first + 1
        while last < min(first + SENTENCES, len(spans)) and spans[last][1] - spans[first][0] <= LONGEST:
            last += 1
        yield spans[first][0], spans[last - 1][1]
        if last == len(spans):
            return
        first = max(first + 1, last - 1)


def _paragraphs(text: str) -> Iterator[tuple[int, int, bool]]:
    """First character and end of every paragraph, and whether it consists of words."""
    position = 0
    for found in _BETWEEN.finditer(text):
        if found.start() > position:
            yield position, found.start(), True
        if found[1]:
            yield found.start(), found.end(), False
        position = found.end()
    if position < len(text):
        yield position, len(text), True


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Pieces of at most the longest length, cut at a blank where there is one."""
    while end - start > LONGEST:
        stop = start + LONGEST
        while stop > start and not text[stop].isspace():
            stop -= 1
        if stop == start:  # not a blank in sight
            stop = start + LONGEST
        yield start, stop
        start = stop
        while start < end and text[start].isspace():
            start += 1
    if end > start:
        yield start, end
