"""Cells of a table of scores: which text is a number, which says that there is no score, and what else it may mean."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from qassay.errors import Remedy

# How tables say that there is no value. What else is not a number was meant to say something.
ABSENT = frozenset({"", "-", "–", "na", "n/a", "n-a", "nan", "null", "none", "<na>", "nat"})

# Words for right and wrong, in any case; and the grades of Inspect, in capitals, where a column has nothing else.
WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "pass": 1.0, "fail": 0.0}
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5}

# Beyond this, either way, a number is an id, a time or a slip: sums of such numbers have no digits left for scores.
LARGEST_SCORE = 1e12

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")


@dataclass(frozen=True)
class Numbers:
    """The number behind every text (NaN: none), the decimal places they need, and what to say about them."""

    known: dict[str, float]
    digits: int
    notes: tuple[str, ...] = ()


def read_numbers(texts: Iterable[str], *, grades: bool = False, decimal_commas: bool = False) -> Numbers:
    """Numbers of different texts: decimals as they are written, words and, where asked for, grades and decimal commas.

    >>> read_numbers(["0.25", "yes", "x"]).known
    {'0.25': 0.25, 'yes': 1.0, 'x': nan}
    """
    known: dict[str, float] = {}
    words: dict[str, float] = {}
    digits = 0
    commas = False
    for text in texts:
        value = number(text)
        stripped = text.strip()
        if math.isnan(value) and decimal_commas and _DECIMAL_COMMA.fullmatch(stripped):
            stripped = stripped.replace(",", ".")
            value, commas = number(stripped), True
        if math.isnan(value):
            value = GRADES.get(stripped, math.nan) if grades else math.nan
            value = WORDS.get(stripped.lower(), value)
            if not math.isnan(value):
                words[stripped] = value
                digits = max(digits, places(repr(value)))
        else:
            digits = max(digits, places(stripped))
        known[text] = value
    notes = []
    if words:
        listed = ", ".join(f"{word} is {value:g}" for word, value in sorted(words.items()))
        notes.append(f"Words were read as numbers: {listed}.")
    if commas:
        notes.append("Decimal commas were read as decimal points.")
    return Numbers(known, digits, tuple(notes))


def is_grades(cells: Iterable[str]) -> bool:
    """Whether a column has grades (C, I, P) and nothing else but cells without a score."""
    grades = {cell.strip() for cell in cells if not is_absent(cell)}
    return bool(grades) and grades <= GRADES.keys()


def number(text: str) -> float:
    """The number in a cell, or NaN. Stricter than float(): no words, no underscores, no infinity."""
    stripped = text.strip()
    value = float(stripped) if _NUMBER.fullmatch(stripped) else math.nan
    return value if math.isfinite(value) else math.nan


def has_number(cells: Iterable[str]) -> bool:
    """Whether any of the cells is a number."""
    return any(not math.isnan(number(cell)) for cell in cells)


def places(text: str) -> int:
    """Decimal places of a number as written.

    >>> places("7e-04"), places("0.50"), places("1.0"), places("12")
    (4, 1, 0, 0)
    """
    exponent = Decimal(text).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def is_absent(cell: str) -> bool:
    """Whether a cell says that there is no score."""
    return cell.strip().lower() in ABSENT


# What to do about a missing score, and what is said where it was counted as 0.
COUNTED_AS_ZERO = "counted as 0 (missing: zero)"
SKIP_OR_ZERO = (Remedy("missing", "skip", "To leave the question out"), Remedy("missing", "zero", "to count 0"))


def way_out(cell: str) -> tuple[Remedy, ...]:
    """The options for a cell that is not a number: there are some for a missing score."""
    return SKIP_OR_ZERO if is_absent(cell) else ()


def meant_number(cell: str) -> str:
    """Advice about a cell that means a number but does not write it as one; empty where it means none.

    >>> meant_number("50%"), meant_number("0,5"), meant_number("1,234"), meant_number("who?")
    ('write 0.5', 'write 0.5', 'write 1234 or 1.234', '')
    """
    cell = cell.strip()
    if percent := re.fullmatch(r"([+-]?[0-9]+(?:[.,][0-9]+)?) ?%", cell):
        return f"write {float(percent[1].replace(',', '.')) / 100:g}"
    choices = [cell.replace(",", "")] if _THOUSANDS.fullmatch(cell) else []
    choices += [cell.replace(",", ".")] if _DECIMAL_COMMA.fullmatch(cell) else []
    return f"write {' or '.join(choices)}" if choices else ""


def are_meant_numbers(cells: Iterable[str]) -> bool:
    """Whether a column has numbers that are not written as such, and nothing else but cells without a score.

    >>> are_meant_numbers(["0,5", "1", ""]), are_meant_numbers(["0,5", "who?"]), are_meant_numbers(["", "-"])
    (True, False, False)
    """
    stated = [cell for cell in dict.fromkeys(cells) if not is_absent(cell)]
    return bool(stated) and all(meant_number(cell) or not math.isnan(number(cell)) for cell in stated)


def complaint(cell: str) -> str:
    """The fault of a cell that is not a number, with advice."""
    shown = cell if len(cell) <= 60 else f"{cell[:60]}..."
    fault = f"{shown!r} is not a number" if cell else "empty cell"
    advice = meant_number(cell)
    return f"{fault} ({advice})" if advice else fault


def is_too_large(value: float) -> bool:
    """Whether a number is too large to be a score."""
    return abs(value) > LARGEST_SCORE


def too_large(cell: str) -> str:
    """What is wrong with a number that is too large, and the remedy."""
    shown = cell if len(cell) <= 60 else f"{cell[:60]}..."
    return f"{shown} is beyond 1e12 and cannot be a score. Correct it, or leave the column out"


def text_among(cells: Iterable[str]) -> list[str]:
    """A note on cells that count as missing and yet say something, where there are any.

    >>> text_among(["", "x", "NA", "y"])
    ["2 of the cells without a score contain text, such as 'x', 'y'."]
    """
    texts = [cell for cell in map(str.strip, cells) if not is_absent(cell)]
    if not texts:
        return []
    examples = ", ".join(repr(cell) for cell in list(dict.fromkeys(texts))[:3])
    verb = "contains" if len(texts) == 1 else "contain"
    return [f"{len(texts):,} of the cells without a score {verb} text, such as {examples}."]
