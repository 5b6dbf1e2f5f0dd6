"""Which of many runs differ? All pairs at once, corrected for their number, under one named method.

Sets of runs that are not shown to differ have a letter in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from qassay.arrays import TIE, Floats, defined
from qassay.directions import HIGHER, Direction
from qassay.display import enumerated
from qassay.errors import Remedy, UsageError
from qassay.frames import ends, frame
from qassay.matrix import ScoreMatrix
from qassay.meta.blocks import Blocks, blocks
from qassay.meta.ranking import mean_ranks, pairs_of_runs, places, rank_runs
from qassay.meta.repeats import pair_p_values
from qassay.meta.significance.methods import NAMES, Method, PairTest, PairTests, Progress, holm
from qassay.meta.significance.pair import PairComparison
from qassay.meta.significance.two_runs import NOT_RUN_AGAIN, compare
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
_SHOWN = 20
# Pairs grow with the square: more runs than these take hours and fill memory.
MOST_RUNS = 5_000


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of runs, the higher-ranked first; `interval` is None where the method gives none."""

    a: str
    b: str
    difference: float
    p: float | None
    p_adjusted: float | None
    different: bool
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class RankedRun:
    """One run, its score, and the letters that it shares with runs from which it is not shown to differ."""

    run: str
    score: float
    letters: str


@dataclass(frozen=True, repr=False)
class AllPairs(Result):
    """All pairs of runs under one correction. Two runs share a letter exactly where they are not different.

    `margin` is the difference that two runs need at least, where one line is drawn for all pairs (both Tukey
    methods); intervals are difference +- margin then. `exact` says that the permutations are all there are. Of two runs
    alone `pair` is the comparison that everything follows from.
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
    groups: tuple[tuple[str, ...], ...]
    letters: tuple[str, ...]
    differences: Floats
    p: Floats
    p_adjusted: Floats
    is_different: NDArray[np.bool_]
    notes: tuple[str, ...] = ()
    unit_name: tuple[str, str] = ("question", "questions")
    repeats: Mapping[str, object] = field(default_factory=dict)
    manual: frozenset[str] = frozenset()
    # Where several metrics are corrected together: their number, and that of their pairs; 0: the pairs of this one.
    metrics: int = 1
    corrected_pairs: int = 0
    direction: Direction = HIGHER
    pair: PairComparison | None = None
    KEYS: ClassVar = ("units", "permutations", "groups", "measure", "alpha", "margin", "repeats", "notes")

    @reported
    def runs_(self) -> int:
        """The number of runs."""
        return len(self.runs)

    @reported
    def ranking(self) -> tuple[RankedRun, ...]:
        """The runs, the best first."""
        return tuple(map(RankedRun, self.runs, self.scores, self.letters))

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

    @reported
    def different(self) -> int:
        """Number of pairs that differ."""
        return int(self.is_different.sum()) // 2

    def pairs(self) -> Iterator[Pair]:
        """All pairs, in the order of the ranking."""
        for i, j in zip(*np.triu_indices(len(self.runs), 1), strict=True):
            difference = float(self.differences[i, j])
            yield Pair(
                self.runs[i],
                self.runs[j],
                difference,
                defined(self.p[i, j]),
                defined(self.p_adjusted[i, j]),
                bool(self.is_different[i, j]),
                self._interval(difference),
            )

    @reported
    def pairs_(self) -> tuple[Pair, ...]:
        """All pairs, in the order of the ranking."""
        return tuple(self.pairs())

    def _interval(self, difference: float) -> tuple[float, float] | None:
        if self.margin is not None:
            return difference - self.margin, difference + self.margin
        if self.pair is None or self.pair.interval is None:
            return None
        low, high = self.pair.interval
        return (low, high) if self.pair.a == self.runs[0] else (-high, -low)

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
        metrics = f" under {plural(self.metrics, 'metric')}" if self.metrics > 1 else ""
        pairs = plural(self.corrected_pairs or self._total, "pair")
        corrected = f" over {pairs} of runs{metrics}, corrected by" if self.pair is None else ","
        reading = f"{SHARED_LETTER} Level {self.alpha:g}{corrected} {self.method_}"
        if self.permutations is not None:
            reading += f", {'all ' if self.exact else ''}{self.permutations:,} permutations"
        reading += "."
        readings = [reading] if len(self.runs) > 1 else []
        if self.margin is not None:
            readings[0] += f" Differences above {at_least(self.margin):.3f} are significant."
        names = [starred(run, self.manual) for run in self.runs]
        rows = zip(places(self.ranks), names, self.scores, self.letters, strict=True)
        columns: list[Column | str] = [Column("rank"), "run", Column(self.measure, ".3f"), "group"]
        return table(f"{self.sentence()}.", columns, rows, (*readings, *self.notes, *self._star()))

    def pair_table(self, most: int = _SHOWN) -> Table:
        """The pairs with the smallest p-values, those that differ first."""
        pairs = sorted(
            self.pairs(), key=lambda pair: (not pair.different, pair.p_adjusted or 0.0, -abs(pair.difference))
        )
        rows = [
            (starred(x.a, self.manual), starred(x.b, self.manual), x.difference, x.p, x.p_adjusted, x.different)
            for x in pairs[:most]
        ]
        left = len(pairs) - len(rows)
        notes = [f"{plural(left, 'more pair')}: --json lists all of them."] if left > 0 else []
        adjusted = "; p adjusted: how often it makes the largest of all differences this large"
        if self.method in ("holm", "bh"):
            adjusted = "; p adjusted: corrected for the number of pairs"
        notes.append(f"p: how often chance alone makes a difference this large{adjusted}.")
        if self.method in ("tukey", "randomised-tukey") and len(self.runs) > 2:
            notes.append(
                "These p-values come from one test of all runs. To test only two runs, name them; p may then differ."
            )
        numbers = [
            Column("difference", f"+.{decimals(x.difference for x in pairs[:most])}f"),
            Column("p", PROBABILITY),
            Column("p adjusted", PROBABILITY),
        ]
        columns: list[Column | str] = ["run", "compared with", *numbers, "different"]
        return table("Pairs of runs, the clearest differences first", columns, rows, [*notes, *self._star()])

    def _star(self) -> list[str]:
        return [MANUAL_RUN] if self.manual else []


def compare_all(
    matrix: ScoreMatrix,
    *,
    method: Method | None = None,
    alpha: float = 0.05,
    permutations: int | None = None,
    test: PairTest = "randomisation",
    seed: int = 0,
    progress: Progress | None = None,
) -> AllPairs:
    """Compare all pairs of runs, corrected for their number; of two runs alone, `compare` is the answer.

    `randomised-tukey` exchanges the runs within each unit at random and takes the range of all runs as the line
    for every pair (Carterette 2012); `tukey` takes it from the studentized range distribution on the residual of
    runs and units. `holm` and `bh` correct the p-values of single pairs, by sign flips or, with `test="t"`, by the
    paired t test; they draw as many flips as the correction needs to reach its level. p, adjusted p, interval,
    letters and groups come from one decision for each pair: adjusted p <= alpha. With repeats `holm` and `bh` take
    running the systems again into account. Without `method` it is `randomised-tukey`, and `holm` with repeats.
    """
    if len(matrix.runs) > MOST_RUNS:
        pairs = len(matrix.runs) * (len(matrix.runs) - 1) // 2
        raise UsageError(
            f"{len(matrix.runs):,} runs make {pairs:,} pairs, too many to compare",
            Remedy("systems", ("A", "B", "..."), "To choose some of them"),
            Remedy("runs_as_rows", True, "if each row of the table is a system"),
        )
    method = method or ("randomised-tukey" if matrix.repeats is None else "holm")
    tests = PairTests(method, alpha, permutations, test, seed, progress)
    ranking = rank_runs(matrix.runs, matrix.scores(), matrix.direction)
    if len(matrix.runs) == 2 and method != "tukey" and test == "randomisation":
        return of_pair(compare(matrix, *ranking.runs, alpha=alpha, permutations=permutations, seed=seed), method)
    ordered = matrix.select(ranking.runs)
    parts = blocks(ordered)
    totals = parts.parts.sum(axis=1)
    p_repeats = None if ordered.repeats is None or len(ordered.units) < 2 else pair_p_values(ordered.repeats)
    decision = tests.decide(parts, p_repeats)
    sets = indistinguishable(decision.different)
    return AllPairs(
        runs=ordered.runs,
        scores=tuple(row.score for row in ranking.rows),
        units=len(matrix.units),
        measure=matrix.measure,
        method=method,
        alpha=alpha,
        permutations=decision.permutations,
        exact=decision.exact,
        margin=decision.margin,
        groups=tuple(tuple(ordered.runs[i] for i in members) for members in sets),
        letters=tuple(letters(sets, len(ordered.runs))),
        differences=(totals[:, None] - totals[None, :]) / parts.scale,
        p=decision.p,
        p_adjusted=decision.adjusted,
        is_different=decision.different,
        notes=(*matrix.notes, *decision.notes, *_kind_notes(matrix, parts), *_repeat_notes(matrix, method)),
        repeats={} if ordered.repeats is None else ordered.repeats.as_json(ordered.runs),
        unit_name=matrix.unit_name,
        manual=matrix.manual.intersection(matrix.runs),
        direction=matrix.direction,
    )


def of_pair(result: PairComparison, method: Method = "randomised-tukey") -> AllPairs:
    """The comparison of two runs in the form of all pairs."""
    ranking = rank_runs((result.a, result.b), [result.score_a, result.score_b], result.direction)
    upper = np.array([[0.0, result.difference], [-result.difference, 0.0]])
    apart = ~np.eye(2, dtype=np.bool_)
    different = apart & (result.verdict != "cannot tell")
    sets = indistinguishable(different)
    return AllPairs(
        runs=ranking.runs,
        scores=tuple(row.score for row in ranking.rows),
        units=result.units,
        measure=result.measure,
        method=method,
        alpha=result.alpha,
        permutations=result.permutations,
        exact=result.exact,
        margin=None,
        groups=tuple(tuple(ranking.runs[i] for i in members) for members in sets),
        letters=tuple(letters(sets, 2)),
        differences=upper if ranking.runs[0] == result.a else upper.T,
        p=np.where(apart, result.p, 1.0),
        p_adjusted=np.where(apart, result.p if result.p_adjusted is None else result.p_adjusted, 1.0),
        is_different=different,
        notes=(*result.notes, *(result.remarks if result.interval is None else ())),
        repeats=result.repeats,
        unit_name=result.unit_name,
        manual=result.manual,
        direction=result.direction,
        pair=result,
    )


def holm_over(results: Sequence[AllPairs]) -> list[AllPairs]:
    """The same comparisons under several metrics, corrected over all pairs of all of them together."""
    upper = [np.triu_indices(len(result.runs), 1) for result in results]
    p = [np.nan_to_num(result.p[where], nan=1.0) for result, where in zip(results, upper, strict=True)]
    together = holm(np.concatenate(p))
    adjusted = np.split(together, np.cumsum([len(part) for part in p])[:-1])
    corrected = [_adjusted(*parts) for parts in zip(results, upper, adjusted, strict=True)]
    return [replace(result, metrics=len(results), corrected_pairs=len(together)) for result in corrected]


def _adjusted(result: AllPairs, upper: tuple[NDArray[np.intp], ...], p: Floats) -> AllPairs:
    """The result with these adjusted p-values, and what follows from them."""
    count = len(result.runs)
    adjusted = np.ones((count, count))
    adjusted[upper] = p
    adjusted = np.minimum(adjusted, adjusted.T)
    different = adjusted <= result.alpha
    sets = indistinguishable(different)
    return replace(
        result,
        p_adjusted=adjusted,
        is_different=different,
        groups=tuple(tuple(result.runs[i] for i in members) for members in sets),
        letters=tuple(letters(sets, count)),
        pair=None,
    )


def _repeat_notes(matrix: ScoreMatrix, method: Method) -> list[str]:
    if matrix.repeats is None:
        return [NOT_RUN_AGAIN] if matrix.read else []
    if method in ("holm", "bh"):
        return []
    return ["This method is about questions alone. The method holm includes running the systems again."]


def _kind_notes(matrix: ScoreMatrix, parts: Blocks) -> list[str]:
    notes = []
    if matrix.clusters is not None:
        inside = counted(len(matrix.units), matrix.unit_name)
        notes.append(f"Whole series are exchanged: {parts.count} of them contain {inside}.")
    if matrix.summary.order is not None:
        notes.append("The part of a question in a confidence-weighted score: right or wrong, and how early.")
    return notes


def indistinguishable(different: NDArray[np.bool_]) -> list[list[int]]:
    """Maximal sets of runs none of whose pairs are different, such that every such pair is in one of them.

    Runs are given in the order of the ranking. Where one threshold decides for all pairs, these are all the
    maximal sets there are, and each is a stretch of the ranking. With thresholds of their own (Holm,
    Benjamini-Hochberg) the maximal sets can be too many to list; then these are enough of them to cover every
    pair, found by growing each pair not yet covered, the widest first.
    """
    count = len(different)
    alike = ~different
    np.fill_diagonal(alike, True)
    covered = np.eye(count, dtype=np.bool_)
    sets: list[list[int]] = []
    for first in range(count):
        # The widest stretch first: in a ranking it holds most of the narrower ones.
        for last in range(count - 1, first, -1):
            if alike[first, last] and not covered[first, last]:
                sets.append(_grow(alike, first, last))
                covered[np.ix_(sets[-1], sets[-1])] = True
        if not any(first in members for members in sets):
            sets.append([first])
    return sorted(sets)


def _grow(alike: NDArray[np.bool_], first: int, last: int) -> list[int]:
    """A maximal set around two runs: those between them in the ranking are taken up before those outside."""
    between = range(first + 1, last)
    outside = [run for run in range(len(alike)) if run < first or run > last]
    members = [first, last]
    fits = alike[first] & alike[last]
    for run in [*between, *outside]:
        if fits[run]:
            members.append(run)
            fits &= alike[run]
    return sorted(members)


def letters(sets: Sequence[Sequence[int]], runs: int) -> list[str]:
    """Letters of every run: runs that share one are not shown to differ.

    One letter per set: a to z, then aa, ab and so on, so that they never run out; separated by commas where one is
    longer than a character, and four or more in a row written as a span.

    >>> letters([[0, 1], [1, 2]], 3)
    ['a', 'ab', 'b']
    """
    names = [_name(i) for i in range(len(sets))]
    places: list[list[int]] = [[] for _ in range(runs)]
    for i, members in enumerate(sets):
        for run in members:
            places[run].append(i)
    separator = "" if len(sets) <= 26 else ","
    return [separator.join(_spans(where, names)) for where in places]


def _spans(places: Sequence[int], names: Sequence[str]) -> list[str]:
    """Names of the places, with stretches of four or more shortened."""
    stretches: list[list[int]] = []
    for place in places:
        if stretches and place == stretches[-1][-1] + 1:
            stretches[-1].append(place)
        else:
            stretches.append([place])
    shown: list[str] = []
    for stretch in stretches:
        if len(stretch) < 4:
            shown.extend(names[place] for place in stretch)
        else:
            shown.append(f"{names[stretch[0]]}–{names[stretch[-1]]}")
    return shown


def _name(number: int) -> str:
    """The number as letters: a, b, ..., z, aa, ab, ...

    >>> _name(0), _name(25), _name(26), _name(701), _name(702)
    ('a', 'z', 'aa', 'zz', 'aaa')
    """
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(ord("a") + rest) + name
    return name
