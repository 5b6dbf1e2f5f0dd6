"""What a cell of a score matrix says that is no number: nothing, or a number written in another way, or text."""

from __future__ import annotations

import re
from collections.abc import Iterable

# How tables say that there is no value. What else is no number was meant to say something.
ABSENT = frozenset({"", "-", "–", "na", "n/a", "n-a", "nan", "null", "none"})
YES_OR_NO = frozenset({"true", "false", "yes", "no"})

_PERCENT = re.compile(r"([+-]?[0-9]+(?:[.,][0-9]+)?) ?%")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


def is_absent(cell: str) -> bool:
    """Whether a cell says that there is no score."""
    return cell.strip().lower() in ABSENT


def way_out(cell: str) -> str:
    """What to do about a cell that is no number; empty where there is nothing to say.

    >>> way_out("NA"), way_out("50%"), way_out("0,5"), way_out("Yes"), way_out("who?")
    ('see --missing', 'write 0.5', 'write 0.5', 'write 1 for yes and 0 for no', '')
    """
    if is_absent(cell):
        return "see --missing"
    if cell.lower() in YES_OR_NO:
        return "write 1 for yes and 0 for no"
    if percent := _PERCENT.fullmatch(cell):
        return f"write {float(percent[1].replace(',', '.')) / 100:g}"
    return f"write {cell.replace(',', '.')}" if _COMMA.fullmatch(cell) else ""


def complaint(cell: str) -> str:
    """What is wrong with a cell that is no number, and the remedy."""
    what = f"{cell!r} is not a number" if cell else "empty cell"
    advice = way_out(cell)
    return f"{what} ({advice})" if advice else what


def text_among(cells: Iterable[str]) -> list[str]:
    """A note on cells that are taken for missing and yet say something, where there are any.

    >>> text_among(["", "x", "NA", "y"])
    ["2 of the cells without a score hold text, such as 'x', 'y'."]
    """
    texts = [cell for cell in map(str.strip, cells) if not is_absent(cell)]
    if not texts:
        return []
    named = ", ".join(repr(cell) for cell in list(dict.fromkeys(texts))[:3])
    verb = "holds" if len(texts) == 1 else "hold"
    return [f"{len(texts):,} of the cells without a score {verb} text, such as {named}."]
