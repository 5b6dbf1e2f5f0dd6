"""XML from strangers, read without trusting it.

Files of questions in the wild have a document type definition, and undeclared entities. Nothing outside
the file is ever fetched, and what a file can unfold to is bounded: the depth of its elements, and the text that
its entities stand for.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html.entities import name2codepoint
from xml.parsers import expat

from qassay.errors import InputError, Problem, Problems
from qassay.formats import files
from qassay.formats.lines import line_finder

MOST_DEPTH = 100
# Characters that entities may add to a file; a bomb of a kilobyte unfolds to gigabytes.
MOST_EXPANSION = 1 << 20

_PREDEFINED = frozenset({"amp", "lt", "gt", "quot", "apos"})
_DECLARED_ENCODING = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]{0,40})["']""")
_TOKEN = re.compile(r"<!--|<!\[CDATA\[|&([A-Za-z_:][\w:.-]*);")
_REFERENCE = re.compile(r"&([A-Za-z_:][\w:.-]*);")
# A document type definition, with what may come before it.
_DEFINITION = re.compile(r"(?:\s|<!--.*?-->|<\?.*?\?>)*+<!DOCTYPE", re.DOTALL)
_CLOSING = {"<!--": "-->", "<![CDATA[": "]]>"}


@dataclass(slots=True)
class Element:
    """One element: name, attributes, line, and its text and elements in order."""

    name: str
    attributes: dict[str, str]
    line: int
    content: list[str | Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text within; markup is left out."""
        return "".join(part if isinstance(part, str) else part.text for part in self.content)

    def find_all(self, name: str) -> Iterator[Element]:
        """Every element of this name below this one, in order."""
        for part in self.content:
            if isinstance(part, Element):
                if part.name == name:
                    yield part
                yield from part.find_all(name)


def decode(data: bytes, *, file: str, encoding: str | None = None) -> str:
    """Text of an XML file: by the encoding given, else by its byte order mark, else as it declares."""
    if encoding is None and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    if encoding is None:
        declared = _DECLARED_ENCODING.match(data.removeprefix(files.BOM).lstrip())
        encoding = declared[1].decode("ascii").lower() if declared else "utf-8"
    return files.decode(data, file=file, encoding=encoding)


def parse(text: str, *, file: str) -> Element:
    """The root element of a document, or the faults of the document.

    Internal entities are expanded up to a bound. Those of HTML are known without a declaration, because files made
    from SGML use them. External and parameter entities are refused, and an external definition is not fetched.
    """
    stripped = text.lstrip()  # blank lines before the declaration are common, and expat takes none
    reader = _Reader(file, first=1 + text.count("\n", 0, len(text) - len(stripped)))
    entities = reader.entities(stripped)
    reader.refuse_bomb(stripped, entities)
    return reader.tree(reader.resolve(stripped, frozenset(entities)))


@dataclass
class _Reader:
    file: str
    first: int  # line number of the first line

    def problem(self, message: str, line: int | None) -> Problem:
        return Problem("syntax", message, self.file, None if line is None else line + self.first - 1)

    def feed(self, parser: expat.XMLParserType, text: str) -> None:
        try:
            parser.Parse(text.encode("utf-8"), True)
        except expat.ExpatError as error:
            raise InputError(self.problem(f"not XML: {expat.ErrorString(error.code)}", error.lineno)) from None

    def entities(self, text: str) -> dict[str, str]:
        """Internal entities that the document declares; any other declaration is refused."""
        entities: dict[str, str] = {}
        problems = Problems()
        parser = expat.ParserCreate("utf-8")

        def declare(name: str, is_parameter: bool, value: str | None, *_: str | None) -> None:
            line = parser.CurrentLineNumber
            if is_parameter:
                problems.append(self.problem(f"declares the parameter entity %{name};, which is not read", line))
            elif value is None:
                problems.append(self.problem(f"declares the external entity &{name};, which is never fetched", line))
            else:
                entities.setdefault(name, value)  # the first declaration counts

        def stop(*_: object) -> None:
            raise StopIteration  # the definition ends: nothing is declared after it, and nothing was expanded yet

        if not _DEFINITION.match(text):
            return {}
        parser.EntityDeclHandler = declare
        parser.EndDoctypeDeclHandler = stop
        with suppress(StopIteration):
            self.feed(parser, text)
        if problems:
            raise InputError(problems)
        return entities

    def refuse_bomb(self, text: str, entities: Mapping[str, str]) -> None:
        """Stop where entities unfold without end, or to more text than a file of questions needs."""
        size = _expanded_sizes(entities)
        total = 0
        for position, name in _references(text):
            total += size(name)
            if total > MOST_EXPANSION:
                message = f"its entities unfold to more than {MOST_EXPANSION:,} characters; write the text itself"
                raise InputError(self.problem(message, 1 + text.count("\n", 0, position)))

    def resolve(self, text: str, declared: frozenset[str]) -> str:
        """The text with the entities of HTML as characters; every unknown entity is reported."""
        pieces: list[str] = []
        problems = Problems()
        end = 0
        line_of = line_finder(text)
        for position, name in _references(text):
            if name in declared or name in _PREDEFINED:
                continue
            if name not in name2codepoint:
                message = f"the entity &{name}; is not declared; write the character itself"
                problems.append(self.problem(message, line_of(position)))
                continue
            pieces += (text[end:position], f"&#{name2codepoint[name]};")
            end = position + len(name) + 2
        if problems:
            raise InputError(problems)
        return "".join((*pieces, text[end:])) if pieces else text

    def tree(self, text: str) -> Element:
        """The elements, and no deeper than `MOST_DEPTH`."""
        top = Element("", {}, 0)
        open_elements = [top]
        parser = expat.ParserCreate("utf-8")
        # Defaults of the definition would be copied into every element: another way to unfold.
        parser.specified_attributes = True
        parser.buffer_text = True

        def start(name: str, attributes: dict[str, str]) -> None:
            line = parser.CurrentLineNumber
            if len(open_elements) > MOST_DEPTH:
                raise InputError(self.problem(f"elements are nested deeper than {MOST_DEPTH}", line))
            element = Element(name, attributes, line + self.first - 1)
            open_elements[-1].content.append(element)
            open_elements.append(element)

        def end(_: str) -> None:
            open_elements.pop()

        def characters(data: str) -> None:
            open_elements[-1].content.append(data)

        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = characters
        self.feed(parser, text)
        return next(part for part in top.content if isinstance(part, Element))


def _references(text: str) -> Iterator[tuple[int, str]]:
    """Where the text refers to named entities: comments and CDATA sections are skipped."""
    position = 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        if token[1] is not None:
            yield token.start(), token[1]
            continue
        position = text.find(_CLOSING[token[0]], position)
        if position < 0:
            return


def _expanded_sizes(entities: Mapping[str, str]) -> Callable[[str], int]:
    """A function that tells the size of the text an entity stands for, in the end.

    An entity that stands for itself, or for a chain that is too deep, is as large as it gets.
    """
    sizes: dict[str, int] = {}

    def size(name: str, depth: int = 0) -> int:
        value = entities.get(name)
        if value is None:
            return 1
        if depth > MOST_DEPTH:
            return MOST_EXPANSION + 1
        if name not in sizes:
            sizes[name] = MOST_EXPANSION + 1  # what it counts for within itself
            within = (size(match[1], depth + 1) for match in _REFERENCE.finditer(value))
            sizes[name] = min(len(value) + sum(within), MOST_EXPANSION + 1)
        return sizes[name]

    return size
