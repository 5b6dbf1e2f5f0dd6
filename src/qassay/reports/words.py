"""Names, numbers and lists as sentences have them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from qassay.display import safe_text

# A longer name would drown the sentence; tables have it whole.
LONGEST_NAME = 48
# Characters that keep a name written from right to left from reordering the sentence around it.
_ISOLATE, _END = "\u2068", "\u2069"


def called(name: str) -> str:
    """A stranger's name for use in a sentence: without control characters, not too long, isolated where it must be.

    >>> called("run1"), called("a" * 60) == "a" * 47 + "…"
    ('run1', True)
    """
    text = safe_text(name).replace("\n", " ")
    if len(text) > LONGEST_NAME:
        text = f"{text[: LONGEST_NAME - 1]}…"
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        return f"{_ISOLATE}{text}{_END}"
    return text


def listed(names: Iterable[str], most: int = 6) -> str:
    """Names as a list in a sentence.

    >>> listed(["a", "b", "c"]), listed("abcdefgh", 3), listed(["a"])
    ('a, b and c', 'a, b, c and 5 more', 'a')
    """
    every = [called(name) for name in names]
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most:,} more"
    return " and ".join([", ".join(every[:-1]), every[-1]]) if len(every) > 1 else "".join(every)


def p_value(p: float) -> str:
    """A p-value as a sentence has it.

    >>> p_value(0.2346), p_value(0.0123), p_value(0.00001), p_value(0.998)
    ('p = 0.23', 'p = 0.012', 'p < 0.001', 'p > 0.99')
    """
    if p < 0.001:
        return "p < 0.001"
    if p > 0.99:
        return "p > 0.99"
    return f"p = {p:.2f}" if p >= 0.1 else f"p = {p:.3f}"


def score(value: float) -> str:
    """A score with three decimals."""
    return f"{value:.3f}"
