"""Looking again and again: what a look at part of a plan says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qassay.meta.significance import limit
from qassay.tables import counted

if TYPE_CHECKING:
    from qassay.meta.correction import CorrectedPair, CorrectedPairs, CorrectedScores
    from qassay.meta.looks import Look


def of_labels(corrected: CorrectedPair | CorrectedPairs | CorrectedScores) -> tuple[str, ...]:
    """What is to be known of a look at the labels of a sample; nothing where it is the planned one."""
    about, interval = corrected.about, getattr(corrected, "interval", None)
    has_intervals = about.without_intervals() is None
    lies = "intervals are wider" if has_intervals else ""
    return look_sentences(corrected.looks, about.drawn_name, "judged", _lies(interval) if interval else lies)


def look_sentences(look: Look, noun: tuple[str, str], verb: str, lies: str) -> tuple[str, ...]:
    """How much of the plan is there, and what its interval says; `lies` is empty where there is none."""
    if look.kind == "any time":
        return ("You may look at any time: the interval allows for that.",) if lies else ()
    if look.is_ordinary or look.planned is None:
        return ()
    if look.n > look.planned:
        share = f"{counted(look.planned, noun)} were planned, and {look.n:,} are {verb}."
        return (f"{share} After the plan is complete, {lies}." if lies else share,)
    share = f"{look.n:,} of {look.planned:,} planned {noun[1]} are {verb}."
    if not lies:
        next_look = f" The next look is planned at {look.next:,}." if look.next is not None else ""
        return (share + next_look,)
    expected = "" if look.expected is None else f"; with all {look.planned:,} expect about ±{look.expected:.2f}"
    return (f"{share} Before the plan is complete, {lies}{expected}.",)


def _lies(interval: tuple[float, float]) -> str:
    low, high = map(_short, interval)
    return f"the difference lies between {low} and {high}"


def _short(value: float) -> str:
    """A limit with two decimals, or enough to show on which side of 0 it lies.

    >>> _short(-0.0912), _short(0.0004)
    ('-0.09', '+0.0004')
    """
    text = f"{value:+.2f}"
    return text if float(text) or not value else limit(value)
