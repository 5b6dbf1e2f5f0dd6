"""Looking again and again: the options of a plan, and what a look at part of it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from qassay.errors import Remedy, UsageError
from qassay.meta.looks import ALPHA, Look, Plan
from qassay.meta.significance import limit
from qassay.options import Option
from qassay.tables import counted

if TYPE_CHECKING:
    from qassay.meta.correction import CorrectedPair, CorrectedPairs, CorrectedScores
    from qassay.meta.significance import PairComparison

Planned: TypeAlias = Annotated[
    int | None,
    Option("Scores keep coming, up to N questions: the interval allows for looks before.", metavar="N", least=1),
]
InSteps: TypeAlias = Annotated[
    int | None,
    Option("With --planned: K looks in equal steps, and none between them (2 to 5).", metavar="K", least=2, most=5),
]
AnyTime: TypeAlias = Annotated[bool, Option("Scores keep coming: the interval allows for looking at any time.")]


def plan_of(
    planned: int | None,
    looks: int | None,
    anytime: bool,
    *,
    alpha: float,
    metric: str | None,
    correct_with: str | None,
) -> Plan | None:
    """The plan that options make; None for one look. An error where they do not go together, or with other options."""
    if planned is None and looks is None and not anytime:
        return None
    if anytime and (planned is not None or looks is not None):
        raise UsageError("anytime plans no number of questions: use it without planned and looks")
    if planned is None and not anytime:
        way = Remedy("planned", "400", "To plan 400 questions")
        raise UsageError("looks needs the number of questions that are planned", way)
    if correct_with is not None:
        raise UsageError(
            "the sample that people judge has its own plan, which qassay sample makes: compare without planned, looks "
            "and anytime"
        )
    if alpha != ALPHA:
        raise UsageError(f"a plan of looks is for the level {ALPHA:g}: leave alpha out")
    if metric is not None:
        raise UsageError("a plan of looks is for one metric, not all of them: name it")
    if anytime:
        return Plan("any time")
    return Plan("planned", planned) if looks is None else Plan("steps", planned, looks)


def refuse_all_pairs(plan: Plan | None) -> None:
    """Stop where a plan of looks has no two systems."""
    if plan is not None:
        raise UsageError("a plan of looks is for two systems: name them")


def of_scores(pair: PairComparison) -> tuple[str, ...]:
    """What is to be known of a look at scores that keep coming; nothing where it is the only or the planned one."""
    if pair.looks is None:
        return ()
    return look_sentences(pair.looks, pair.unit_name, "there", _lies(pair.interval) if pair.interval else "")


def of_labels(corrected: CorrectedPair | CorrectedPairs | CorrectedScores) -> tuple[str, ...]:
    """What is to be known of a look at the labels of a sample; nothing where it is the planned one."""
    about, interval = corrected.about, getattr(corrected, "interval", None)
    has_intervals = about.without_intervals() is None
    lies = "intervals are wider" if has_intervals else ""
    return look_sentences(corrected.looks, about.drawn_name, "judged", _lies(interval) if interval else lies)


def look_sentences(look: Look, noun: tuple[str, str], verb: str, lies: str) -> tuple[str, ...]:
    """How much of the plan is there, and what its interval says; `lies` is empty where there is none."""
    if look.kind == "any time":
        return ("You may look at any time: intervals allow for that.",) if lies else ()
    if look.kind == "steps" and look.is_ordinary and look.steps is not None:
        stops = look.plan.stops
        further = "" if look.next is None else f"; the next is planned at {counted(look.next, noun)}"
        return (f"Look {sum(stop <= look.n for stop in stops)} of {look.steps}{further}.",)
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
