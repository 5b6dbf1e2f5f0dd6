"""Lines of text forms: where they end, and how their fixed fields are separated. (FORMATS 3)

Lines end in LF or CRLF and nowhere else: U+2028, U+0085 and form feeds are text. Fixed fields are separated by
blanks or tabs; a string runs to the end of its line, trailing blanks and tabs dropped.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from qassay.errors import Problem, Problems

BLANKS = " \t"
_FIELD = re.compile(r"[ \t]*([^ \t]+)")


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers, without the blanks around them."""
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.removesuffix("\r").strip(BLANKS)
        if stripped:
            yield number, stripped


def fields(line: str, count: int) -> list[str]:
    """The first `count` fields and, where there is more, the rest of the line.

    >>> fields("1.4  NYT1\\t1 a  b", 3)
    ['1.4', 'NYT1', '1', 'a  b']
    """
    parts: list[str] = []
    position = 0
    while len(parts) < count and (match := _FIELD.match(line, position)):
        parts.append(match[1])
        position = match.end()
    rest = line[position:].strip(BLANKS)
    return [*parts, rest] if rest else parts


def is_one_line(text: str) -> bool:
    """Whether a string survives as the end of a line: no line end in it, no blank around it."""
    return "\n" not in text and not text.endswith("\r") and text == text.strip(BLANKS)


def line_finder(text: str) -> Callable[[int], int]:
    """A function from positions in a text to line numbers.

    >>> line = line_finder("a\\nb")
    >>> line(0), line(2)
    (1, 2)
    """
    starts = [match.end() for match in re.finditer("\n", text)]
    return lambda position: 1 + bisect_right(starts, position)


def unprintable(text: str, *, file: str) -> Problems:
    """One problem for every line with a NUL: text forms have none, and what follows one is easily lost."""
    if "\0" not in text:
        return Problems()
    return Problems(
        Problem("syntax", f"contains a NUL character at column {line.index(chr(0)) + 1}", file, number)
        for number, line in enumerate(text.split("\n"), 1)
        if "\0" in line
    )
