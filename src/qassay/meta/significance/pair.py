"""The answer about two runs, as people read it: verdict, difference, interval, and what more units would show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from qassay.arrays import TIE
from qassay.directions import HIGHER, Direction
from qassay.frames import ends, frame
from qassay.meta.crossed import OverAssessors
from qassay.meta.gating import Gate, gate_decision, is_within
from qassay.meta.looks import FEWEST, Look
from qassay.meta.one_pair import TestOfPair
from qassay.results import Result, reported
from qassay.tables import (
    MANUAL_RUN,
    PROBABILITY,
    Cell,
    Column,
    Table,
    at_least,
    counted,
    decimals,
    p_equals,
    show,
    starred,
    table,
)

if TYPE_CHECKING:
    import polars as pl

Verdict: TypeAlias = Literal["better", "worse", "cannot tell"]
READING = "interval: where the true difference may lie; p: how often chance alone makes one this large."


TESTS: dict[TestOfPair, str] = {
    "mid-p": "sign test on the {units} that differ",
    "flips": "randomisation test",
    "hall": "randomisation test of Hall's t",
    "t": "t test with repeats",
    "any time": "line for looking at any time",
}


@dataclass(frozen=True, slots=True)
class UnitDifference:
    """The contribution of one unit: the scores of both runs on it, and its part in the difference of their scores."""

    unit: str
    a: float
    b: float
    part: float


@dataclass(frozen=True, repr=False)
class PairComparison(Result):
    """Two runs on the same units. The verdict, the interval and `p` are one decision, that of `test`.

    A true difference of `found_with` is found on as many units with probability `power`, and one of
    `wanted_difference` on `units_needed`, if differences vary as much as an upper limit says; None where nothing can be
    said. `reversal` is the most that the chance can be that as many
    new units put the other run ahead, None where half or more cannot be ruled out. `deciding` are the units with the
    largest parts in the difference; `remarks` go with the tests. Where the runs answered the units several times, all
    but `p_t` takes running again into account.
    """

    a: str
    b: str
    units: int
    score_a: float
    score_b: float
    difference: float
    interval: tuple[float, float] | None
    p: float | None
    test: TestOfPair
    effect_size: float | None
    reversal: float | None
    found_with: float | None
    wanted_difference: float
    units_needed: int | None
    verdict: Verdict
    measure: str
    alpha: float
    power: float
    permutations: int | None
    exact: bool
    units_better: int
    units_worse: int
    deciding: tuple[UnitDifference, ...]
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    unit_name: tuple[str, str] = ("question", "questions")
    p_t: float | None = None
    repeats: Mapping[str, object] = field(default_factory=dict)
    p_adjusted: float | None = None
    manual: frozenset[str] = frozenset()
    direction: Direction = HIGHER
    # How many of `deciding` the document and the tables list; the figure draws all of them.
    top: int | None = None
    # The difference within which both are to be equal, where somebody asks.
    within: float | None = None
    # This look, where scores are looked at while they come, and the SHA-256 of them.
    looks: Look | None = None
    digest: str = ""
    # Who judged, where that is part of the interval.
    over: OverAssessors | None = None
    KEYS: ClassVar = (
        *("a", "b", "units", "difference", "interval", "p", "test", "effect_size", "reversal", "found_with"),
        *("wanted_difference", "units_needed"),
        *("verdict", "measure", "score_a", "score_b", "alpha", "power", "permutations", "units_better"),
        *("units_worse", "repeats", "p_adjusted", "looks", "over"),
    )

    @property
    def ahead(self) -> tuple[str, str]:
        """Both runs, the one with the better score first."""
        return (self.a, self.b) if self.direction.oriented(self.difference) > 0 else (self.b, self.a)

    @property
    def p_of_one_look(self) -> float:
        """Its p-value; scores that are looked at while they come have none."""
        assert self.p is not None
        return self.p

    @reported
    def equal_within(self) -> dict[str, float | bool] | None:
        """The difference within which both are to be equal, and whether they are shown to be; null if nobody asks."""
        if self.within is None:
            return None
        return {"difference": self.within, "shown": is_within(self.interval, self.within)}

    @reported
    def deciding_units(self) -> tuple[UnitDifference, ...]:
        """The units that make the difference, as many as are listed."""
        return self.deciding[: self.top]

    @reported
    def notes_(self) -> tuple[str, ...]:
        """Notes for a reader of the answer and of the tests."""
        return (*self.notes, *self.remarks)

    @reported
    def answer(self) -> str:
        """Which of the two is ahead, and whether chance alone could explain it."""
        return self.sentence()

    @property
    def _is_for_others(self) -> bool:
        """Whether interval and verdict are about other assessors than these."""
        return self.over is not None and self.over.people == "new"

    @property
    def basis(self) -> str:
        """What the interval rests on beside the scores: nothing."""
        return ""

    def corrected(self, p_adjusted: float) -> PairComparison:
        """The same comparison as one of several, with its p-value adjusted for their number."""
        note = (
            f"Corrected over all metrics (Holm): adjusted {p_equals(p_adjusted)}, {percent(1 - self.alpha)} interval."
        )
        return replace(self, p_adjusted=p_adjusted, notes=(*self.notes, note))

    def gate(self, margin: float = 0.0) -> Gate:
        """ALLOW where the interval says that a is at most `margin` worse than b, REJECT where it says more."""
        oriented = None if self.interval is None else self.direction.interval(self.interval)
        return gate_decision(oriented, margin, self.within)

    def about_equality(self) -> tuple[str, ...]:
        """Whether both are equal within the difference that was asked for, in a sentence."""
        if self.within is None:
            return ()
        if self.interval is None or not is_within(self.interval, self.within):
            return (f"Not shown to be equal within {self.within:g}.",)
        if self.verdict != "cannot tell":
            return (f"{self.a} is {self.verdict} than {self.b}, but by less than {self.within:g}.",)
        low, high = limit(self.interval[0], -self.within), limit(self.interval[1], self.within)
        between = f"the difference lies between {low} and {high}"
        return (f"{self.a} and {self.b} are equal within {self.within:g}: {between}.",)

    def sentence(self) -> str:
        """Which of the two is ahead, and whether chance alone could explain it."""
        single_unit = self.units == 1
        on = f"on this {self.unit_name[0]}" if single_unit else f"on these {counted(self.units, self.unit_name)}"
        if self.units_better == self.units_worse == 0:
            return f"{self.a} and {self.b} score the same on each {self.unit_name[0]}"
        if self.verdict != "cannot tell":
            return f"{self.a} is {self.verdict} than {self.b} {on}: chance alone does not explain the difference"
        if abs(self.difference) <= TIE:
            return f"{self.a} and {self.b} have the same score {on}"
        better, worse = self.ahead
        if self.looks is not None and self.interval is None:
            return f"{self.a} and {self.b} cannot be compared yet {on}: {self._no_look(self.looks)}"
        way = "higher" if self.direction.higher_is_better else "lower"
        return f"{better} scores {way} than {worse} {on}, but chance alone could explain the difference"

    def to_polars(self) -> pl.DataFrame:
        """One row: both runs, their scores, the difference with its interval, the tests and the verdict."""
        names = {"a": str, "b": str, "measure": str, "units": int, "score_a": float, "score_b": float}
        numbers = ("difference", "low", "high", "p", "effect_size", "reversal", "found_with", "wanted_difference")
        row = (self.a, self.b, self.measure, self.units, self.score_a, self.score_b, self.difference)
        tests = (*ends(self.interval), self.p, self.effect_size, self.reversal, self.found_with, self.wanted_difference)
        columns = {**names, **dict.fromkeys(numbers, float), "units_needed": int, "verdict": str}
        return frame(columns, [(*row, *tests, self.units_needed, self.verdict)])

    def tables(self) -> list[Table]:
        """The answer, the tests behind it, and the units that make the difference where there are some."""
        deciding = [self.deciding_table()] if self.deciding_units else []
        return [self.table(), self.test_table(), *deciding]

    def table(self) -> Table:
        """The answer: both scores, their difference, and how it would fare with other or more units."""
        rows: list[tuple[Cell, ...]] = [
            (starred(self.a, self.manual), f"{self.score_a:.3f}", self.measure),
            (starred(self.b, self.manual), f"{self.score_b:.3f}", self.measure),
            (f"{self.a} − {self.b}", signed(self.difference), self._interval()),
            *self._assessor_rows(),
            ("chance of a reversal", *self._reversal()),
            *self._power_rows(),
            *self._spread_rows(),
        ]
        notes = self.notes if self.interval is None else (READING, *self.notes)
        return table(f"{self.sentence()}.", ["", Column("value"), "meaning"], rows, [*notes, *self._star()])

    def _star(self) -> list[str]:
        return [MANUAL_RUN] if self.manual else []

    def _interval(self) -> str:
        """The interval of the difference and its p-value."""
        level = f"{percent(1 - self.alpha)} interval"
        if self.looks is not None:
            level = self.looks.interval_at(percent(1 - self.alpha))
        if self.interval is None and self.looks is not None:
            return self._no_look(self.looks)
        if self.interval is None:
            return f"there is no {level}: too few {self.unit_name[1]}"
        low, high = (limit(end) for end in self.interval)
        again = ", with running again" if self.repeats else ", for other assessors" if self._is_for_others else ""
        return f"{level} {low} to {high}{'' if self.p is None else f', {p_equals(self.p)}'}{again}"

    def _no_look(self, look: Look) -> str:
        """Why this look has no interval."""
        if look.kind == "steps" and look.next is None:
            return f"no look is planned after {look.planned:,} {self.unit_name[1]}"
        if look.next is not None and (look.kind == "steps" or look.next < FEWEST):
            return f"the next look is planned at {look.next:,} {self.unit_name[1]}"
        return f"no interval before there are {FEWEST} {self.unit_name[1]}"

    def _reversal(self) -> tuple[str, str]:
        """The most that the chance of a reversal can be, and its meaning."""
        if self.interval is None:
            return show(None), self._too_few()
        if self.reversal is None:
            return show(None), "50% or more cannot be ruled out"
        again = ", run again," if self.repeats else ", judged by other assessors," if self._is_for_others else ""
        return at_most(self.reversal), f"that {self.units:,} new {self.unit_name[1]}{again} put {self.ahead[1]} ahead"

    def _power_rows(self) -> list[tuple[Cell, ...]]:
        """What these units find, and how many find the wanted difference."""
        units, have = self.unit_name[1], f"you have {self.units:,}"
        these = f"found with {'this' if self.units == 1 else 'these'} {counted(self.units, self.unit_name)}"
        wanted = f"{units} for {self.wanted_difference:g}"
        if self._is_for_others:
            return [(wanted, show(None), f"plan weighs more assessors against more {units}")]
        if self.interval is None or self.found_with is None:
            why = self._too_few() if self.interval is None else "the difference hardly varies: no number can be given"
            return [(these, show(None), why), (wanted, show(None), why)]
        how = f"with probability {self.power:g} (power{'' if self.repeats else '; 80% assurance'})"
        more = f"to find this one with probability {self.power:g} too; {have}"
        if self.units_needed is None:
            more = f"more {units} are not enough: run the systems more often; {have}"
        return [
            (these, f"{at_least(self.found_with):.3f} or more", f"a true difference, {how}"),
            (wanted, show(self.units_needed, ","), more),
        ]

    def _too_few(self) -> str:
        if self.looks is not None:
            return self._no_look(self.looks)
        return f"too few {self.unit_name[1]} to tell; you have {self.units:,}"

    def test_table(self) -> Table:
        """The tests behind the answer."""
        rows: list[tuple[Cell, ...]] = [
            (f"p, {self.test_name}", show(self.p, PROBABILITY), self._how_tested()),
            ("p, paired t test", show(self.p_t, PROBABILITY), "a second opinion"),
            ("effect size", show(self.effect_size, ".3f"), f"difference / deviation per {self.unit_name[0]}"),
        ]
        if self.repeats or self.looks is not None:
            rows.pop(1)
        if self.looks is not None and self.p is None:
            rows.pop(0)
        title = f"Tests at level {self.alpha:g}; the interval contains the differences that they do not reject"
        return table(title, ["", Column("value"), "meaning"], rows, self.remarks)

    def tested(self) -> str:
        """The test that decides, in words."""
        return f"{self.test_name} ({self._how_tested()})"

    @property
    def test_name(self) -> str:
        """The test that decides, by name."""
        return (
            "t test" if self.test == "t" and self.over is not None else TESTS[self.test].format(units=self.unit_name[1])
        )

    def _how_tested(self) -> str:
        """What the test that decides looks at."""
        if self.repeats:
            return f"new {self.unit_name[1]} and running again"
        if self.test == "t":
            return f"new {self.unit_name[1]}{' and other assessors' if self._is_for_others else ''}"
        if self.permutations is None:
            return "mid-p: equal results count half"
        return f"{'all ' if self.exact else ''}{self.permutations:,} sign flips"

    def _assessor_rows(self) -> Iterator[tuple[Cell, ...]]:
        """The interval for the assessors that the verdict is not about, and the difference under each one alone."""
        if self.over is None:
            return
        others = self.over.these if self._is_for_others else self.over.new
        whom = "these assessors" if self._is_for_others else "other assessors"
        if others is not None:
            yield f"  for {whom}", None, f"{percent(1 - self.alpha)} interval {limit(others[0])} to {limit(others[1])}"
        for name, difference in self.over.differences.items():
            yield f"  by {name}", signed(difference), "judged by this assessor alone"

    def _spread_rows(self) -> list[tuple[Cell, ...]]:
        """How much the score of each run differs between its repeats."""
        spread = self.repeats.get("spread", {})
        assert isinstance(spread, Mapping)
        meaning = "standard deviation of its score between repeats"
        return [(f"spread of {run}", f"{value:.3f}", meaning) for run, value in spread.items() if value is not None]

    def deciding_table(self) -> Table:
        """The units that make the difference."""
        equal = self.units - self.units_better - self.units_worse
        title = (
            f"The {self.unit_name[1]} that make the difference: {self.a} ahead on {self.units_better}, "
            f"behind on {self.units_worse}, level on {equal}"
        )
        listed = self.deciding_units
        rows = [astuple(unit) for unit in listed]
        is_whole = all(score.is_integer() for unit in listed for score in (unit.a, unit.b))
        columns: list[Column | str] = [
            self.unit_name[0],
            *(Column(starred(run, self.manual), "g" if is_whole else ".3f") for run in (self.a, self.b)),
            Column("part", f"+.{decimals(unit.part for unit in listed)}f"),
        ]
        more = self.units_better + self.units_worse - len(rows)
        verb = "differs" if more == 1 else "differ"
        notes = [f"{more:,} more {self.unit_name[more != 1]} {verb}."] if more else []
        return table(title, columns, rows, [*notes, *self._star()])


def at_most(reversal: float) -> str:
    """The most that the chance of a reversal can be, rounded up, though never to half.

    >>> at_most(0.0952), at_most(0.0015), at_most(0.4394), at_most(0.4951), at_most(0.3)
    ('at most 10%', 'less than 1%', 'at most 44%', 'just below 50%', 'at most 30%')
    """
    percents = math.ceil(100 * reversal - TIE)
    if percents >= 50:
        return "just below 50%"
    return f"at most {percents}%" if reversal >= 0.01 else "less than 1%"


def percent(level: float) -> str:
    """A level with as many digits as it has, four at most, or as many as it takes to stay below 100%.

    >>> percent(0.95), percent(1 - 0.05 / 3), percent(1 - 5e-6)
    ('95%', '98.33%', '99.999%')
    """
    digits = 2
    while level < 1 and float(f"{level * 100:.{digits}f}") == 100:
        digits += 1
    return f"{level * 100:.{digits}f}".rstrip("0").rstrip(".") + "%"


def signed(value: float, line: float = 0.0) -> str:
    """A number with its sign and three decimals, or enough to show on which side of 0, and of a line, it lies.

    A number on the line is written as the line is.

    >>> signed(0.05), signed(0.00002), signed(0.0), signed(-0.0999999, -0.1), signed(-0.00002, -0.1)
    ('+0.050', '+0.00002', '+0.000', '-0.0999999', '-0.00002')
    >>> signed(-0.0504, -0.05037), signed(-0.0503, -0.05037)
    ('-0.0504', '-0.050')
    >>> signed(-0.05, -0.05), signed(-1.11431058, -1.11431058)
    ('-0.050', '-1.11431')
    """
    if value == line and float(f"{value:.3f}") != value:
        return f"{value:+g}"
    texts = (f"{value:+.{digits}f}" for digits in range(3, 17))
    lines = {0.0, line} - {value}
    on_side = (text for text in texts if all(_side(float(text), at) == _side(value, at) for at in lines))
    return next(on_side, f"{value:+g}")


def _side(value: float, line: float) -> int:
    """1 above the line, -1 below, 0 on it."""
    return int(value > line) - int(value < line)


def limit(value: float, line: float = 0.0) -> str:
    """A limit of an interval: a number with its sign, or the words for one that only keeps off 0.

    >>> limit(0.05), limit(0.00002), limit(1e-9), limit(-1e-9)
    ('+0.050', '+0.00002', 'just above 0', 'just below 0')
    """
    if 0.0 < abs(value) <= TIE:
        return "just above 0" if value > 0 else "just below 0"
    return signed(value, line)
