"""Looking again and again at labels or scores that keep coming, so that all looks together err in at most 5% of cases.

A *line* is how far a difference may lie from 0, in units of the root of the sum of squares, before chance no longer
explains it. That of `line` holds at every number of questions at once: a normal mixture over random signs (Howard,
Ramdas, McAuliffe and Sekhon 2021), under the same assumption as the sign flips. A *plan* says which looks there are:

    one_look    one look, at the ordinary level: nothing was planned
    planned     an ordinary look at 95.5% once N questions are there; before and after that the line at 0.005
    steps       K looks at equal steps up to N, at the levels of O'Brien and Fleming (1979); none between them
    any time    the line at 0.05, always
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from qassay.errors import UsageError
from qassay.meta.normal_and_t import ndtri, two_sided_t_line
from qassay.results import UNREPORTED

ALPHA: Final = 0.05
# The planned look and those beside it have these levels, 0.05 together.
PLANNED: Final = 0.045
BESIDE: Final = 0.005
# No line is used below this number of questions, of labelled ones, or of units.
FEWEST: Final = 20
# The mixture is narrowest about here.
NARROWEST: Final = 60
# Its width, by the level.
WIDTHS: Final = {ALPHA: 8.2, BESIDE: 12.0}
# The constant of O'Brien and Fleming for two to five steps.
STEPS: Final = {2: 1.977, 3: 2.004, 4: 2.024, 5: 2.040}

Kind: TypeAlias = Literal["one look", "planned", "steps", "any time"]


def line(n: int, alpha: float = ALPHA, *, width: float | None = None) -> float:
    """The line r for n questions: sum d / sqrt(sum d^2) stays below it at every n at once, but for a share `alpha`.

        r^2 = (1 + 1/h) (2 ln(1/alpha) + ln(1 + h)),  h = width * n / 60

    >>> [round(line(n), 6) for n in (20, 60, 400)], round(line(60, 0.005), 6)
    ([3.159542, 3.035123, 3.1928], 3.776027)
    """
    h = (WIDTHS[alpha] if width is None else width) * n / NARROWEST
    return math.sqrt((1 + 1 / h) * (2 * math.log(1 / alpha) + math.log1p(h)))


@dataclass(frozen=True, slots=True)
class Look:
    """One look at `n` questions under a plan: the level of its interval, and the quantiles that it takes.

    `alpha` is None where this look has no interval. With `any_time` the line takes the place of the ordinary quantiles.
    `next` is the number of questions of the next planned look, and `expected` the half-width that the last one will
    have if what varies goes on as it does.
    """

    kind: Kind
    n: int
    planned: int | None = None
    steps: int | None = None
    alpha: float | None = ALPHA
    any_time: bool = False
    next: int | None = None
    expected: float | None = None
    width: float = field(default=WIDTHS[ALPHA], metadata=UNREPORTED)

    @property
    def plan(self) -> Plan:
        """The plan that it belongs to."""
        return Plan(self.kind, self.planned, self.steps)

    @property
    def is_ordinary(self) -> bool:
        """Whether the interval is that of one look, at whatever level."""
        return self.alpha is not None and not self.any_time

    @property
    def level(self) -> float:
        """The level of the interval; without one, that of all looks together."""
        return 1 - (ALPHA if self.alpha is None else self.alpha)

    def interval_at(self, level: str) -> str:
        """The name of its interval, with the level in words.

        >>> ONE_LOOK.interval_at("95%"), Plan("any time").look(60).interval_at("95%")
        ('95% interval', 'any-time 95% interval')
        """
        return f"{'any-time ' if self.any_time else ''}{level} interval"

    def shared(self, comparisons: int) -> Look:
        """The same look, for one of several comparisons (Bonferroni)."""
        return self if self.alpha is None else replace(self, alpha=self.alpha / comparisons)

    def normal(self, n: int) -> float | None:
        """The normal quantile for n questions, or the line in its place; None without an interval."""
        if self.alpha is None or (self.any_time and n < FEWEST):
            return None
        return line(n, self.alpha, width=self.width) if self.any_time else ndtri(1 - self.alpha / 2)

    def t(self, n: int, freedom: int) -> float | None:
        """The t quantile with `freedom` for n questions, or the line in its place; None without an interval.

        It is sqrt((n - 1) r^2 / (n - r^2)): sum d / sqrt(sum d^2) > r exactly where the t value exceeds it.
        """
        r = self.normal(n)
        if r is None or self.alpha is None:
            return None
        if not self.any_time:
            return two_sided_t_line(freedom, self.alpha)
        return math.sqrt((n - 1) * r * r / (n - r * r)) if r * r < n else None


ONE_LOOK: Final = Look("one look", 0)


@dataclass(frozen=True, slots=True)
class Plan:
    """Which looks are planned: at `planned` questions, at `steps` equal steps up to there, or at any time.

    >>> Plan("planned", 100).look(42).level, Plan("planned", 100).look(100).level
    (0.995, 0.955)
    >>> Plan("steps", 100, 3).stops, Plan("steps", 100, 3).look(50).alpha
    ((34, 67, 100), None)
    """

    kind: Kind = "one look"
    planned: int | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps not in STEPS:
            raise UsageError(f"looks are planned in 2 to 5 steps, not {self.steps}; to look at any time: anytime")
        if self.kind in ("planned", "steps") and (self.planned is None or self.planned < 1):
            raise UsageError("a plan has the number of questions that are planned, 1 or more")

    @property
    def stops(self) -> tuple[int, ...]:
        """The numbers of questions at which an ordinary look is planned."""
        if self.planned is None:
            return ()
        count = self.steps or 1
        return tuple(-(-step * self.planned // count) for step in range(1, count + 1))

    @property
    def last_level(self) -> float:
        """The level of the last look that is planned; without one that of every look."""
        last = None if self.planned is None else self.look(self.planned).alpha
        return ALPHA if last is None else last

    def look(self, n: int) -> Look:
        """The look at n questions."""
        stops = self.stops
        further = next((stop for stop in stops if stop > n), None)
        look = Look(self.kind, n, self.planned, self.steps, next=further)
        if self.kind == "steps":
            # Below the fewest a step is left out, which only takes a look away.
            is_stop = n in stops and (n >= FEWEST or n == self.planned)
            return replace(look, alpha=self._level(sum(stop <= n for stop in stops)) if is_stop else None)
        if self.kind == "planned" and n == self.planned:
            return replace(look, alpha=PLANNED)
        if self.kind == "one look":
            return look
        alpha = BESIDE if self.kind == "planned" else ALPHA
        is_there = n >= FEWEST
        return replace(look, alpha=alpha if is_there else None, any_time=is_there, width=WIDTHS[alpha])

    def _level(self, step: int) -> float:
        assert self.steps is not None
        return math.erfc(STEPS[self.steps] * math.sqrt(self.steps / step / 2))


NO_PLAN: Final = Plan()
