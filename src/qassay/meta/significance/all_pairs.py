"""The answer about all pairs of many runs: which differ, by how much, with letters and ranks that follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import TIE, Floats, defined
from qassay.directions import HIGHER, Direction
from qassay.display import enumerated
from qassay.frames import ends, frame
from qassay.meta.ranking import mean_ranks, pairs_of_runs, places
from qassay.meta.significance.letters import indistinguishable, letters
from qassay.meta.significance.methods import IN_WORDS, NAMES, Method
from qassay.meta.significance.pair import PairComparison, percent
from qassay.results import Result, reported
from qassay.tables import (
    MANUAL_RUN,
    PROBABILITY,
    Column,
    Table,
    at_least,
    counted,
    decimals,
    plural,
    show,
    starred,
    table,
)

if TYPE_CHECKING:
    import polars as pl

# How to read letters, wherever they are shown.
SHARED_LETTER = "Runs in the same group (a shared letter) do not differ significantly: chance alone could explain it."
POSSIBLE_RANKS = "Possible ranks: those that the differences leave to a run, for all runs at once"
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of runs, the higher-ranked first; `p` and `interval` are None where the method gives none for a pair."""

    a: str
    b: str
    difference: float
    p: float | None
    p_adjusted: float | None
    different: bool
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class RankedRun:
    """One run, its score, and the letters that it shares with runs from which it is not shown to differ.

    `rank_range` goes from the best rank that it may have to the worst: all runs that are shown to be better are above
    it, and all that are shown to be worse below.
    """

    run: str
    score: float
    letters: str
    rank_range: tuple[int, int]


@dataclass(frozen=True, repr=False)
class AllPairs(Result):
    """All pairs of runs under one correction. Two runs share a letter exactly where they are not different.

    `limits` are those of the intervals of all pairs in order, where every pair has one of its own, and `margins` the
    10%, 50% and 90% points of their half widths. `margin` is the difference that two runs need at least, where one
    line is drawn for all pairs (both Tukey methods); intervals are difference +- margin then. `near_line` counts the
    pairs that other random flips could decide otherwise. `exact` says that the permutations are all there are. Of two
    runs alone `pair` is the comparison that everything follows from.
    """

    runs: tuple[str, ...]
    scores: tuple[float, ...]
    units: int
    measure: str
    method: Method
    alpha: float
    permutations: int | None
    exact: bool
    margin: float | None
    differences: Floats
    p: Floats
    p_adjusted: Floats
    is_different: NDArray[np.bool_]
    limits: tuple[Floats, Floats] | None = None
    near_line: int = 0
    notes: tuple[str, ...] = ()
    unit_name: tuple[str, str] = ("question", "questions")
    repeats: Mapping[str, object] = field(default_factory=dict)
    manual: frozenset[str] = frozenset()
    # Where several metrics are corrected together: their number, and that of their pairs; 0: the pairs of this one.
    metrics: int = 1
    corrected_pairs: int = 0
    direction: Direction = HIGHER
    pair: PairComparison | None = None
    KEYS: ClassVar = ("units", "permutations", "measure", "alpha", "margin", "near_line", "repeats", "notes")

    @reported
    def runs_(self) -> int:
        """The number of runs."""
        return len(self.runs)

    @cached_property
    def _sets(self) -> list[list[int]]:
        return indistinguishable(self.is_different)

    @reported
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Sets of runs that are not shown to differ; a run may be in several."""
        return tuple(tuple(self.runs[i] for i in members) for members in self._sets)

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters of every run, one for each of its groups."""
        return tuple(letters(self._sets, len(self.runs)))

    @reported
    def ranking(self) -> tuple[RankedRun, ...]:
        """The runs, the best first."""
        return tuple(map(RankedRun, self.runs, self.scores, self.letters, self.rank_ranges))

    @property
    def rank_ranges(self) -> tuple[tuple[int, int], ...]:
        """The ranks that each run may have, from the verdicts, for all runs at once."""
        above, below = np.tril(self.is_different).sum(axis=1), np.triu(self.is_different).sum(axis=1)
        return tuple(zip((1 + above).tolist(), (len(self.runs) - below).tolist(), strict=True))

    @property
    def possible_ranks(self) -> dict[str, str]:
        """The same in words, by run."""
        texts = [f"{first}" if first == last else f"{first}–{last}" for first, last in self.rank_ranges]
        return dict(zip(self.runs, texts, strict=True))

    @reported
    def margins(self) -> tuple[float, float, float] | None:
        """The 10%, 50% and 90% points of the half widths of the intervals; None where a pair has none of its own."""
        if self.limits is None or self.pair is not None:
            return None
        low, high = self.limits
        first, middle, last = np.percentile((high - low) / 2, (10, 50, 90)).tolist()
        return first, middle, last

    @property
    def typical_margin(self) -> float | None:
        """The difference from which on a typical pair differs."""
        return self.margin if self.margins is None else self.margins[1]

    @property
    def leaders(self) -> tuple[str, ...]:
        """The first run, and those with the same score."""
        return tuple(
            run for run, score in zip(self.runs, self.scores, strict=True) if abs(self.scores[0] - score) < TIE
        )

    @property
    def ranks(self) -> Floats:
        """The rank of every run; ties share the mean of the ranks they cover."""
        return mean_ranks(self.direction.oriented(np.array(self.scores)))

    @reported
    def method_(self) -> str:
        """The correction by name; of two runs alone, their test."""
        return NAMES[self.method] if self.pair is None else self.pair.test_name

    @property
    def method_in_words(self) -> str:
        """The same as people read it."""
        return self.method_ if self.pair is not None else IN_WORDS.get(self.method, self.method_)

    @reported
    def different(self) -> int:
        """Number of pairs that differ."""
        return int(self.is_different.sum()) // 2

    def pairs(self) -> Iterator[Pair]:
        """All pairs, in the order of the ranking."""
        for place, (i, j) in enumerate(zip(*np.triu_indices(len(self.runs), 1), strict=True)):
            difference = float(self.differences[i, j])
            yield Pair(
                self.runs[i],
                self.runs[j],
                difference,
                defined(self.p[i, j]),
                defined(self.p_adjusted[i, j]),
                bool(self.is_different[i, j]),
                self._interval(place, difference),
            )

    @reported
    def pairs_(self) -> tuple[Pair, ...]:
        """All pairs, in the order of the ranking."""
        return tuple(self.pairs())

    def _interval(self, place: int, difference: float) -> tuple[float, float] | None:
        if self.limits is not None:
            low, high = (float(limits[place]) for limits in self.limits)
            return low, high
        return None if self.margin is None else (difference - self.margin, difference + self.margin)

    def significant_from(self) -> str | None:
        """From which difference on two runs differ, in a sentence; None where no line is drawn."""
        if self.margin is not None:
            return f"Differences above {at_least(self.margin):.3f} are significant."
        if self.margins is None:
            return None
        first, middle, last = self.margins
        vary = f" ({first:.3f} to {last:.3f}, by how much two systems' answers vary)" if last - first >= 0.005 else ""
        return f"Differences are significant from about {middle:.3f}{vary}."

    def sentence(self) -> str:
        """Who leads, over whom the lead may be chance, and how many pairs differ."""
        if len(self.runs) < 2:
            return f"{plural(len(self.runs), 'run')}: a comparison needs two"
        differ = "differ" if self.different > 1 else "differs"
        pairs = f"{pairs_of_runs(self.different, self._total)} {differ} significantly"
        on = f"this {self.unit_name[0]}" if self.units == 1 else f"these {counted(self.units, self.unit_name)}"
        return f"{self.lead()}; {pairs} on {on}"

    @property
    def not_behind(self) -> list[str]:
        """The runs over which chance alone could explain the lead of the first."""
        return [run for run, differs in zip(self.runs[1:], self.is_different[0, 1:], strict=True) if not differs]

    def lead(self, names: Callable[[Sequence[str]], str] | None = None) -> str:
        """Who leads, or shares the lead, and over whom that may be chance; `names` writes a list of runs.

        No other words say this: a lead that is not shown is not called equality.
        """
        names = names or partial(enumerated, most=3)
        score = show(self.scores[0], ".3f")
        if len(self.leaders) > 1:
            return f"{names(self.leaders)} share first place with {score}"
        leads = f"{names(self.runs[:1])} leads with {score}"
        if not self.not_behind:
            return f"{leads}, and chance alone does not explain its lead over any other run"
        return f"{leads}, but chance alone could explain its lead over {names(self.not_behind)}"

    @property
    def _total(self) -> int:
        return len(self.runs) * (len(self.runs) - 1) // 2

    def to_polars(self) -> pl.DataFrame:
        """One row per pair of runs, in the order of the ranking."""
        columns = {"a": str, "b": str, "difference": float, "low": float, "high": float}
        rows = [(x.a, x.b, x.difference, *ends(x.interval), x.p, x.p_adjusted, x.different) for x in self.pairs()]
        return frame({**columns, "p": float, "p_adjusted": float, "different": bool}, rows)

    def tables(self) -> list[Table]:
        """The runs with their letters, and the pairs that differ."""
        return [self.table(), self.pair_table()] if len(self.runs) > 1 else [self.table()]

    def table(self) -> Table:
        """The runs, the best first; chance alone could explain the differences of runs that share a letter."""
        names = [starred(run, self.manual) for run in self.runs]
        ranks = self.possible_ranks.values()
        rows = zip(places(self.ranks), names, self.scores, self.letters, ranks, strict=True)
        columns: list[Column | str] = [Column("rank"), "run", Column(self.measure, ".3f"), "group", "possible ranks"]
        return table(f"{self.sentence()}.", columns, rows, (*self.readings(), *self.notes, *self._star()))

    def readings(self) -> list[str]:
        """How to read groups and ranks: the test behind them, and from which difference on two runs differ."""
        if len(self.runs) < 2:
            return []
        metrics = f" under {plural(self.metrics, 'metric')}" if self.metrics > 1 else ""
        pairs = plural(self.corrected_pairs or self._total, "pair")
        corrected = f" over {pairs} of runs{metrics}, corrected by" if self.pair is None else ","
        drawn = ""
        if self.permutations is not None:
            drawn = f", {'all ' if self.exact else ''}{self.permutations:,} permutations"
        reading = [
            f"{SHARED_LETTER} Level {self.alpha:g}{corrected} {self.method_in_words}{drawn}.",
            self.significant_from(),
        ]
        return [" ".join(filter(None, reading)), f"{POSSIBLE_RANKS} ({percent(1 - self.alpha)})."]

    def pair_table(self, most: int = _SHOWN) -> Table:
        """The pairs with the smallest p-values, those that differ first."""
        pairs = sorted(
            self.pairs(), key=lambda pair: (not pair.different, pair.p_adjusted or 0.0, -abs(pair.difference))
        )
        has_p = any(pair.p is not None for pair in pairs)
        has_interval = any(pair.interval is not None for pair in pairs)
        rows = [
            (
                *(starred(x.a, self.manual), starred(x.b, self.manual), x.difference),
                *(ends(x.interval) if has_interval else ()),
                *((x.p,) if has_p else ()),
                *(x.p_adjusted, x.different),
            )
            for x in pairs[:most]
        ]
        left = len(pairs) - len(rows)
        notes = [f"{plural(left, 'more pair')}: --json lists all of them."] if left > 0 else []
        numbers = [Column("difference", f"+.{decimals(x.difference for x in pairs[:most])}f")]
        if has_interval:
            numbers += [Column(name, "+.3f") for name in ("from", "to")]
        if has_p:
            numbers.append(Column("p", PROBABILITY))
        numbers.append(Column("p adjusted", PROBABILITY))
        columns: list[Column | str] = ["run", "compared with", *numbers, "different"]
        notes += [*self._about_p(has_p=has_p), *self._star()]
        return table("Pairs of runs, the clearest differences first", columns, rows, notes)

    def _about_p(self, *, has_p: bool) -> list[str]:
        """What the p-values say, and where that of a single pair is."""
        single = "p: how often chance alone makes a difference this large"
        together = "how often it makes the largest of all differences this large"
        if self.method == "max-t" and not has_p:
            alone = f"The intervals hold together ({percent(1 - self.alpha)}). To test only two runs, name them."
            return [f"p adjusted: how often chance alone makes the clearest of all differences this clear. {alone}"]
        if self.method in ("holm", "bh"):
            together = "corrected for the number of pairs"
        notes = [f"{single}; p adjusted: {together}."]
        if self.method in ("tukey", "randomised-tukey") and len(self.runs) > 2:
            notes.append(
                "These p-values come from one test of all runs. To test only two runs, name them; p may then differ."
            )
        return notes

    def _star(self) -> list[str]:
        return [MANUAL_RUN] if self.manual else []
