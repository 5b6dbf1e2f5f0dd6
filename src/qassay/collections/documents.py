"""Documents and hits, their text as a reader sees it, and the sentences and passages of a text, with exact offsets.

Offsets of extracts count in the stored text, markup included (METHOD 3); sentences and words are looked for in the
plain one, and `Plain` knows the way back. The scanner accepts any text: unknown tags vanish, unknown entities become a
blank, an element that is never closed ends with the document. Its time is linear in the length of the text.

A passage has up to three sentences and begins with the last one of the passage before: any two neighbouring
sentences are together in one, so that "She won it again in 1911" is found with the sentence that says who.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, NamedTuple

Markup = Literal["none", "sgml", "html"]

_THING = re.compile(
    r"<!--|</?([A-Za-z][\w:.-]*)[^<>]*>|<[!?][^<>]*>|&(#\d{1,8}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{0,31});"
)
# Elements whose content no reader sees.
_HIDDEN = {
    "html": frozenset({"script", "style", "head", "template", "noscript", "svg", "textarea", "select"}),
    "sgml": frozenset({"docno", "docid"}),
}
# Elements within a line; every other tag ends a paragraph.
_WITHIN_A_LINE = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub
    sup time tt u var wbr
"""
_INLINE = frozenset(_WITHIN_A_LINE.split())
# Where an SGML document has these, they are what it says; the rest is date, slug and the like.
_TELLING = re.compile(r"<(/?)(TEXT|HEADLINE)\b[^<>]*>|</DOC>\s*\Z", re.IGNORECASE)
_HAS_TEXT = re.compile(r"<TEXT\b[^<>]*>", re.IGNORECASE)
_TITLE = {
    "html": re.compile(r"<title\b[^<>]*>([^<]*)", re.IGNORECASE),
    "sgml": re.compile(r"<(?:HEADLINE|HL|TITLE|TI)\b[^<>]*>(.{0,2000}?)</(?:HEADLINE|HL|TITLE|TI)\b", re.I | re.S),
}
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Plain:
    """Plain text, made of pieces of a stored text."""

    text: str
    # For each piece: where it begins in the plain text and in the stored text, and its length in the stored text.
    _plain_starts: tuple[int, ...] = ()
    _stored_starts: tuple[int, ...] = ()
    _lengths: tuple[int, ...] = ()

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """First character and length, in the stored text, of the stretch from `start` to `end` of this one."""
        if not self._plain_starts:
            return start, end - start
        first = self._stored(start)[0]
        return first, max(self._stored(end - 1)[1] - first, 0)

    def _stored(self, position: int) -> tuple[int, int]:
        """Begin and end, in the stored text, of the character at a position."""
        piece = max(bisect_right(self._plain_starts, position) - 1, 0)
        begin, length = self._stored_starts[piece], self._lengths[piece]
        size = (
            self._plain_starts[piece + 1] if piece + 1 < len(self._plain_starts) else len(self.text)
        ) - self._plain_starts[piece]
        if size != length:  # an entity or a tag: it cannot be split
            return begin, begin + length
        at = begin + position - self._plain_starts[piece]
        return at, at + 1


def plain(text: str, markup: Markup) -> Plain:
    """The plain text of a stored one; the same where there is no markup."""
    if markup == "none":
        return Plain(text)
    pieces = list(_pieces(text, markup))
    if not pieces:
        return Plain("")
    texts, starts, lengths = zip(*pieces, strict=True)
    return Plain("".join(texts), tuple(accumulate(map(len, texts[:-1]), initial=0)), starts, lengths)


def title(text: str, markup: Markup) -> str | None:
    """The title that a document with markup gives itself."""
    match = _TITLE[markup].search(text[:100_000]) if markup != "none" else None
    if match is None:
        return None
    words = html.unescape(_TAG.sub(" ", match[1])).split()
    return " ".join(words) or None


def regions(text: str, markup: Markup) -> list[tuple[int, int]]:
    """The content of a document, as stretches of its stored text: headline and text of SGML, else the whole."""
    if markup != "sgml" or not _HAS_TEXT.search(text):
        return [(0, len(text))]
    stretches: list[tuple[int, int]] = []
    inside: set[str] = set()
    position = 0
    for tag in _TELLING.finditer(text):
        if inside and tag.start() > position:
            stretches.append((position, tag.start()))
        if tag[2] is None:  # the document's end closes everything
            inside.clear()
        elif tag[1]:
            inside.discard(tag[2].lower())
        else:
            inside.add(tag[2].lower())
        position = tag.end()
    return [*stretches, (position, len(text))] if inside else stretches


def _pieces(text: str, markup: Markup) -> Iterator[tuple[str, int, int]]:
    """Stretches of plain text, each with where it begins and how long it is in the stored one."""
    for number, (start, end) in enumerate(regions(text, markup)):
        if number:
            yield "\n\n", start, 0
        yield from _scan(text, start, end, markup)


def _scan(text: str, position: int, end: int, markup: Markup) -> Iterator[tuple[str, int, int]]:
    open_ended: set[str] = set()
    while position < end:
        match = _THING.search(text, position, end)
        stop = match.start() if match else end
        if stop > position:
            run = text[position:stop]
            # A line's end in HTML is a blank like any other; in SGML an empty line ends a paragraph.
            yield (run.replace("\n", " ").replace("\r", " ") if markup == "html" else run), position, stop - position
        if match is None:
            return
        position = match.end()
        if match[2]:
            yield _entity(match[2]), stop, position - stop
        elif match[0] == "<!--":
            close = text.find("-->", position, end)
            position = end if close < 0 else close + 3
        elif match[1]:
            name = match[1].lower()
            if name in _HIDDEN[markup] and not match[0].startswith("</") and not match[0].endswith("/>"):
                position = _after_element(name, text, position, end, open_ended)
            if name not in _INLINE or markup == "sgml":
                yield ("\n" if name == "br" else "\n\n"), stop, position - stop


def _entity(name: str) -> str:
    """The character that an entity stands for; a blank where it is unknown (AQUAINT's &UR; &LR; &QL;)."""
    for spelling in (name, name.lower()):
        character = html.unescape(f"&{spelling};")
        if character != f"&{spelling};":
            return character or " "
    return " "


def _after_element(name: str, text: str, position: int, end: int, open_ended: set[str]) -> int:
    """Behind the end tag of an element; where there is none its content is shown, unless it is a program."""
    if name in open_ended:
        return position
    end_tag = re.compile(rf"</{name}\b[^<>]*>", re.IGNORECASE).search(text, position, end)
    if end_tag is None:
        open_ended.add(name)  # nor will there be one further on: not looked for again
        return end if name in ("script", "style") else position
    return end_tag.end()


# Called with (done, total): bytes while files are read, documents while they are indexed.
Progress = Callable[[int, int], None]
# What an index ranks.
UnitKind = Literal["passages", "documents"]


class Document(NamedTuple):
    """A doc-id and the text that offsets of extracts count in, markup included."""

    id: str
    text: str
    title: str | None = None
    markup: Markup = "none"

    def plain(self) -> Plain:
        """The text as a reader sees it, with the way back to the offsets of `text`."""
        return plain(self.text, self.markup)


class Hit(NamedTuple):
    """A passage, or a whole document, that was found: `text` is `document.text[start : start + length]`."""

    doc: str
    start: int
    length: int
    text: str
    score: float
    title: str | None = None
    # (start, length) of every word that matched, counted in `text`.
    highlights: tuple[tuple[int, int], ...] = ()
    markup: Markup = "none"

    def plain(self) -> Plain:
        """The text as a reader sees it, with the way back to the offsets of `text`."""
        return plain(self.text, self.markup)


class Stretch(NamedTuple):
    """A unit of an index: a stretch of a document, as plain text."""

    # Place of the document in the collection, from 0; `start` and `length` count in its stored text.
    document: int
    start: int
    length: int
    text: str
    title: str | None


SENTENCES = 3
# A passage takes no further sentence, and a "sentence" (a table, a program) is cut, beyond this many characters.
LONGEST = 1000
# Text between paragraphs: empty lines, and strings that are not words, on which a splitter would take for ever.
_BETWEEN = re.compile(r"\n[ \t\r\f\v]*\n\s*|(\S{300,})")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """First character and end of every sentence of a plain text, blanks around it left out.

    An empty line ends a sentence (headlines have no full stop), a line's end does not.

    >>> text = "Dr. No came in Jan. 1962. Was it good?"
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. No came in Jan. 1962.', 'Was it good?']
    """
    from nupunkt import sent_spans

    spans: list[tuple[int, int]] = []
    for begin, end, words in _paragraphs(text):
        paragraph = text[begin:end]
        if not words:
            spans.append((begin, end))
            continue
        for first, last in sent_spans(paragraph):
            sentence = paragraph[first:last]
            start = begin + first + len(sentence) - len(sentence.lstrip())
            stop = start + len(sentence.strip())
            if stop > start:
                spans.append((start, stop))
    return spans


def units(number: int, document: Document, kind: UnitKind) -> Iterator[Stretch]:
    """The units of the document with this number: its passages, or the whole of it."""
    if kind == "documents":
        yield Stretch(number, 0, len(document.text), document.plain().text, document.title)
        return
    for begin, end in regions(document.text, document.markup):
        seen = plain(document.text[begin:end], document.markup)
        for first, last in passage_spans(seen.text):
            start, length = seen.origin(first, last)
            yield Stretch(number, begin + start, length, seen.text[first:last], document.title)


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
    for gap in _BETWEEN.finditer(text):
        if gap.start() > position:
            yield position, gap.start(), True
        if gap[1]:
            yield gap.start(), gap.end(), False
        position = gap.end()
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
