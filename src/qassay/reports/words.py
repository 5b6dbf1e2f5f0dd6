"""Numbers as sentences have them."""

from __future__ import annotations

from qassay.tables import show


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
    return show(value, ".3f")
