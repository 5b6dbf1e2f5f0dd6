"""Reading the curves: what follows from a minimum difference, and tables for people. (METHOD 6, "From the curves")"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from qassay.matrix import TIE, Floats, document
from qassay.meta.ranking import rank_runs
from qassay.meta.sensitivity.trials import bin_limits
from qassay.tables import DASH, Cell, Column, Table, plural, table

if TYPE_CHECKING:
    from qassay.meta.sensitivity.curves import SensitivityCurves


Way: TypeAlias = Literal["fit", "predicted"]

# Rank ranges shown; machines get all.
RUNS_SHOWN = 20

# With fewer pairs of runs than this the curves say little.
FEW_PAIRS = 10

# Measured sizes shown in the table, without and with intervals, and tags shown for one group.
SIZES_SHOWN = {False: 5, True: 3}
TAGS_SHOWN = 8
WAYS: dict[Way, str] = {"fit": "the fit", "predicted": "the closed form"}


class Both(NamedTuple):
    """One figure by the two ways of reading the curves: the fitted exponential and the closed form."""

    fit: float | None
    predicted: float | None

    @property
    def chosen(self) -> float | None:
        """The fit's, or the prediction's where the fit gives none."""
        return self.predicted if self.fit is None else self.fit


@dataclass(frozen=True, slots=True)
class RankRange:
    """The ranks a run would take with the minimum difference added to and subtracted from its score [QA03]."""

    run: str
    score: float
    rank: float
    best: float
    worst: float


@dataclass(frozen=True, slots=True)
class Findings:
    """What follows from a minimum difference.

    `pairs_at_least_minimum` is the share of pairs whose observed difference reaches it; None without a pair.
    """

    minimum: float
    pairs_at_least_minimum: float | None
    groups: tuple[tuple[str, ...], ...]
    rank_ranges: tuple[RankRange, ...]

    def table(self, most: int = RUNS_SHOWN) -> Table:
        """The rank of every run, and the ranks it could as well have."""
        columns: list[Column | str] = ["run", Column("score", ".3f"), Column("rank", "g")]
        columns += [Column("best rank", "g"), Column("worst rank", "g")]
        rows = [astuple(row) for row in self.rank_ranges[:most]]
        left = len(self.rank_ranges) - len(rows)
        notes = [f"{plural(left, 'more run')}: --json lists all of them."] if left > 0 else []
        title = f"Ranks with {self.minimum:g}, the minimum difference, added to and taken from a score"
        return table(title, columns, rows, notes)

    def as_json(self) -> dict[str, object]:
        """All of it under its names."""
        names = ("pairs_at_least_minimum", "groups", "rank_ranges")
        return {"minimum_difference": self.minimum, **document(self, *names)}


def findings(runs: Sequence[str], scores: Floats, differences: Floats, minimum: float) -> Findings:
    """Share of pairs, groups and rank ranges for a minimum difference."""
    share = share_of_pairs(differences, minimum)
    return Findings(minimum, share, groups(runs, scores, minimum), rank_ranges(runs, scores, minimum))


def first_trusted(limits: Sequence[float], rates: Sequence[float | None], error: float) -> float | None:
    """The lower limit of the first bin from which on every rate there is stays within the error; None if none."""
    trusted = None
    for limit, rate in zip(reversed(limits), reversed(rates), strict=True):
        if rate is not None and rate > error:
            break
        trusted = trusted if rate is None else limit
    return trusted


def above_again(limits: Sequence[float], rates: Sequence[float | None], error: float) -> tuple[float, float] | None:
    """The last bin whose rate is above the error, and the rate, where a bin before it is within; None else."""
    known = [(limit, rate) for limit, rate in zip(limits, rates, strict=True) if rate is not None]
    above = [(limit, rate) for limit, rate in known if rate > error]
    if not above or not any(rate <= error for limit, rate in known if limit < above[-1][0]):
        return None
    return above[-1]


def share_of_pairs(differences: Floats, minimum: float) -> float | None:
    """The share of pairs whose difference reaches the minimum; None without a pair."""
    if len(differences) == 0:
        return None
    return float(np.count_nonzero(differences >= minimum - TIE) / len(differences))


def groups(runs: Sequence[str], scores: Floats, minimum: float) -> tuple[tuple[str, ...], ...]:
    """Walk down the ranking: a run joins the group while it is less than the minimum below the group's first run."""
    members: list[list[str]] = []
    first = 0.0
    for row in rank_runs(runs, scores).rows:
        if members and first - row.score < minimum - TIE:
            members[-1].append(row.run)
        else:
            members.append([row.run])
            first = row.score
    return tuple(map(tuple, members))


def rank_ranges(runs: Sequence[str], scores: Floats, minimum: float) -> tuple[RankRange, ...]:
    """For each run from the top: its rank, and the ranks it would take when moved up and down."""
    return tuple(
        RankRange(
            row.run,
            row.score,
            row.rank,
            best=_rank_among(scores, row.score, row.score + minimum),
            worst=_rank_among(scores, row.score, row.score - minimum),
        )
        for row in rank_runs(runs, scores).rows
    )


def _rank_among(scores: Floats, own: float, moved: float) -> float:
    """The rank of a moved score among the others; ties share the mean rank."""
    above = int(np.count_nonzero(scores - moved >= TIE)) - (own - moved >= TIE)
    level = int(np.count_nonzero(np.abs(scores - moved) < TIE)) - (abs(own - moved) < TIE)
    return 1 + above + level / 2


def summary(curves: SensitivityCurves) -> str:
    """The plain answer: the difference to trust, how many pairs have it, what smaller ones would take."""
    if curves.pairs == 0:
        return "There is no pair of runs to compare."
    if not curves.moments.means.any() and not curves.moments.variances.any():
        return "All runs have the same scores on every unit: there is no difference to trust or to doubt."
    minimum = curves.minimum_difference()
    level = _percent(curves.error)
    units = f"ith {curves.target} units"
    sentences = []
    if curves.pairs < FEW_PAIRS:
        few = "one pair" if curves.pairs == 1 else f"{curves.pairs} pairs"
        sentences = [
            f"{few.capitalize()} of runs cannot show which difference to trust; the curves are of these runs alone."
        ]
    start = f"For what they are worth, w{units}" if sentences else f"W{units}"
    if minimum.chosen is None:
        larger = "" if curves.wider is None else "; most differences are larger: the bins are too narrow for them"
        none = f"no difference below {curves.limits[-1]:g} can be trusted at an error rate of {level}{larger}."
        return " ".join([*sentences, f"{start}, {none}", *_floor(curves)])
    trusted = _both(curves, minimum, level)
    sentences.append(f"{start}{':' if sentences else ', trust a difference of'} at least {trusted}.")
    share = curves.pairs_at_least_minimum
    if share is not None:
        sentences.append(f"{share:.0%} of the {curves.pairs} pairs of runs differ by {minimum.chosen:g} or more.")
    return " ".join([*sentences, *_floor(curves)])


def _floor(curves: SensitivityCurves) -> list[str]:
    """What identical responses that were judged separately differ by, where that is known."""
    if curves.floor is None:
        return []
    return [f"Identical responses judged separately differ by up to {curves.floor:.3g}."]


def _both(curves: SensitivityCurves, figure: Both, level: str) -> str:
    """One figure where both ways agree, both where they do not."""
    if figure.fit is None:
        return f"{figure.predicted:g} ({level} error; by the closed form, the fit gives none{_spoiled(curves, 'fit')})"
    if figure.predicted is None:
        return f"{figure.fit:g} ({level} error; by the fit, the closed form gives none{_spoiled(curves, 'predicted')})"
    if figure.fit == figure.predicted:
        return f"{figure.fit:g} ({level} error)"
    return f"{figure.fit:g} by the fit, {figure.predicted:g} by the closed form ({level} error)"


def _spoiled(curves: SensitivityCurves, way: Way) -> str:
    """Which bin keeps a way of reading from giving a difference."""
    spoiling = curves.above_again(way)
    return "" if spoiling is None else f": {spoiling[1]:.2%} at {spoiling[0]:g}"


def error_rates(curves: SensitivityCurves) -> Table:
    """Error rates by difference and number of units, measured, at the target, and the units needed."""
    with_intervals = curves.intervals is not None
    shown = _spread(len(curves.sizes), SIZES_SHOWN[with_intervals])
    last = curves.sizes[-1]
    at_target = f"{curves.target} units" + ("*" if curves.target > last else "")
    columns = [Column("difference"), *(Column(f"{curves.sizes[i]} units", ".1%") for i in shown)]
    if with_intervals:
        columns.append(Column(f"95% interval at {last}"))
    columns += [Column(f"{at_target} by fit", ".1%"), Column(f"{at_target} by closed form", ".1%")]
    columns += [Column("needed by fit"), Column("needed by closed form")]
    needed = curves.size_needed()
    rows: list[list[Cell]] = []
    limits = [format(limit, "f") for limit in bin_limits(curves.width)]
    for k, curve in enumerate(curves.bins):
        name = f"{limits[k]}–{limits[k + 1]}" if curve.high is not None else f"{limits[k]} or more"
        row: list[Cell] = [name, *(curve.error_rate[i] for i in shown)]
        if curve.interval is not None:
            row.append(_interval(curve.interval[-1]))
        sizes = needed.get(limits[k], Both(None, None))
        row += [curve.extrapolated, curve.predicted_at_target, _size(sizes.fit, last), _size(sizes.predicted, last)]
        rows.append(row)
    title = f"Error rate of a comparison, by difference and number of units ({curves.measure})"
    return table(title, columns, rows, _notes(curves))


def _notes(curves: SensitivityCurves) -> list[str]:
    notes = [
        f"{plural(len(curves.runs), 'run')}, {plural(curves.pairs, 'pair')}, {plural(curves.units, 'unit')}; "
        f"{plural(curves.schedule.trials, 'trial')} for each of {plural(len(curves.sizes), 'size')}; "
        f"seed {curves.seed}; ties: {curves.ties}.",
        f"Needed: the units at which the error rate falls to {_percent(curves.error)}.",
    ]
    if curves.target > curves.sizes[-1]:
        notes.append(
            f"* Extrapolated beyond the largest size measured, {curves.sizes[-1]}. The fitted exponential is often "
            "optimistic out there: believe the larger figure."
        )
    for way, name in WAYS.items():
        found = curves.above_again(way)
        if found is not None:
            notes.append(
                f"By {name} some smaller differences are within {_percent(curves.error)}, but {found[0]:g} is not "
                f"({found[1]:.2%}): a difference is trusted where all larger ones are."
            )
    return [*notes, *_unfitted(curves), *curves.notes]


def _unfitted(curves: SensitivityCurves) -> list[str]:
    """Which bins have no curve, and why; the first and the open one never have."""
    reasons: dict[str, list[str]] = {}
    inner = curves.bins[1:-1]
    for curve in inner:
        if curve.not_fitted is not None:
            reasons.setdefault(curve.not_fitted, []).append(f"{curve.low:g}")
    return [
        f"No fit{'' if len(lows) == len(inner) else ' from ' + ', '.join(lows)}: {reason}."
        for reason, lows in reasons.items()
    ]


def group_table(curves: SensitivityCurves) -> Table:
    """The groups of runs, where there is a minimum difference."""
    minimum = curves.minimum_difference()
    scores = dict(zip(curves.runs, curves.scores.tolist(), strict=True))
    rows = [
        (number, len(group), scores[group[0]], scores[group[-1]], _tags(group))
        for number, group in enumerate(curves.groups or (), start=1)
    ]
    columns = [
        Column("group"),
        Column("runs"),
        Column("best", ".3f"),
        Column("worst", ".3f"),
        Column("tags", left=True),
    ]
    by = "the fit" if minimum.fit is not None else "the closed form"
    note = f"Within a group no run is {minimum.chosen:g} (the minimum difference by {by}) below the first one."
    return table("Runs within the minimum difference of the first of their group", columns, rows, [note])


def _percent(rate: float) -> str:
    return f"{rate * 100:g}%"


def _tags(group: tuple[str, ...]) -> str:
    if len(group) <= TAGS_SHOWN + 1:
        return ", ".join(group)
    return ", ".join(group[:TAGS_SHOWN]) + f" and {len(group) - TAGS_SHOWN} more"


def _interval(ends: tuple[float, float] | None) -> str:
    return DASH if ends is None else f"{ends[0]:.1%} to {ends[1]:.1%}"


def _size(size: float | None, measured: int) -> str | None:
    """A number of units, marked where it lies beyond the sizes measured."""
    if size is None:
        return None
    return f"{size:g}*" if size > measured else f"{size:g}"


def _spread(number: int, wanted: int) -> list[int]:
    """Indices of a handful of items from first to last, evenly spread."""
    if number <= wanted:
        return list(range(number))
    return [round(i * (number - 1) / (wanted - 1)) for i in range(wanted)]
