"""The curves for people: the answer in plain words, and tables. (METHOD 6, "Which of the two to believe")

Everything here speaks of *repeatable* gaps, by the closed form. The exponential of the papers has a table of its own.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from qassay.display import as_sentence
from qassay.meta.sensitivity.prediction import FURTHEST
from qassay.meta.sensitivity.reading import place_among
from qassay.meta.sensitivity.trials import LIMITED_BINS, bin_limits
from qassay.tables import DASH, MANUAL_RUN, Cell, Column, Table, counted, plural, starred, table

if TYPE_CHECKING:
    from qassay.meta.sensitivity.curves import SensitivityCurves
    from qassay.meta.sensitivity.prediction import Prediction, Withheld
    from qassay.meta.sensitivity.reading import Findings

# Rank ranges shown; machines get all.
RUNS_SHOWN = 20

# Measured sizes shown in the table, without and with intervals, and tags shown for one group.
SIZES_SHOWN = {False: 5, True: 3}
TAGS_SHOWN = 8

# Fewer pairs than this are counted in the answer itself.
FEW_PAIRS = 10

OTHER_QUESTION = (
    "A gap is repeatable where new {units} would show it again. Whether chance alone explains the difference of two "
    "given runs is another question: `qassay compare` answers it."
)
# Why no gap is given.
WITHHELD: dict[Withheld, str] = {
    "pairs": "these {units} do not separate any two of these systems, so no gap between them can be called repeatable",
    "spread": "these systems lie too close together to say which gap is repeatable",
    "bins": "most gaps are larger than {limit:g}: wider bins, such as {width} (--bin-width), show which are repeatable",
}
OPEN = "Gaps just above {gap} may do so less often: wider bins, such as {width} (--bin-width), show from where on."
NEEDS_MANY_RUNS = (
    "The study as the TREC papers did it: rates measured on disjoint halves, and an exponential through them. It needs "
    "many runs (the papers had 50 to 67) and is often optimistic beyond the sizes measured. Use the expected rates."
)
INTERVALS_TOO_NARROW = (
    "Where runs fall into groups that are far apart, the 95% intervals of measured rates are too narrow: in "
    "simulations they contained the true rate in 82 to 91 of 100 cases."
)


def summary(curves: SensitivityCurves) -> str:
    """The answer, how many pairs of runs are that far apart, what the answer is about, and what it cannot show."""
    sentences = [as_sentence(answer(curves))]
    if curves.pairs == 1:
        a, b = curves.runs
        return f"{sentences[0]} To compare {a} with {b}: `qassay compare`."
    if curves.pairs == 0 or curves.are_runs_alike:
        return sentences[0]
    share, gap = curves.pairs_at_least_minimum, curves.repeatable_difference
    if share is not None and gap is not None:
        reaching = round(share * curves.pairs)
        are = "is" if reaching == 1 else "are"
        if curves.is_open:
            sentences.append(OPEN.format(gap=f"{gap:g}", width=curves.wider or 2 * curves.width))
        sentences.append(f"{reaching:,} of the {plural(curves.pairs, 'pair')} of runs {are} at least {gap:g} apart.")
    if curves.pairs < FEW_PAIRS:
        sentences.append(f"This rests on {plural(curves.pairs, 'pair')} of runs only.")
    if curves.floor is not None:
        sentences.append(f"Identical responses judged separately differ by up to {curves.floor:.3g}.")
    sentences += about_running_again(curves)
    return " ".join([*sentences, OTHER_QUESTION.format(units=curves.unit_name[1])])


def about_running_again(curves: SensitivityCurves) -> list[str]:
    """What the repeatable gap leaves out, where systems ran several times: a floor beside it."""
    if curves.spread is None or curves.repeatable_difference is None:
        return []
    return [
        f"This is about new {curves.unit_name[1]} alone: running a system again moves its score by up to "
        f"{curves.spread:.3f} (standard deviation between repeats), and smaller gaps are within that."
    ]


def answer(curves: SensitivityCurves) -> str:
    """Which gap is repeatable, in one sentence without a term of statistics."""
    if curves.pairs == 0:
        return "there is no pair of runs to compare"
    if curves.pairs == 1:
        return (
            "two runs are a single pair, which cannot show which gaps are repeatable: that takes the differences of "
            "three runs or more"
        )
    if curves.are_runs_alike:
        return f"all runs have the same scores on every {curves.unit_name[0]}: there is no gap between them"
    repetitions = f"in {(1 - curves.error) * 100:g} of 100 repetitions"
    new = f"with {curves.target:,} new {curves.unit_name[curves.target != 1]}"
    if curves.withheld is not None:
        known = {"units": curves.unit_name[1], "limit": curves.limits[-1], "width": curves.wider}
        return WITHHELD[curves.withheld].format(**known)
    gap, if_alike = f"{curves.repeatable_difference:g}", f"if new {curves.unit_name[1]} are like these"
    if curves.is_open:
        return f"{new}, gaps of about {gap} or more, taken together, keep their sign {repetitions}, {if_alike}"
    return f"{new}, a gap of about {gap} or more keeps its sign {repetitions}, {if_alike}"


def why_withheld(prediction: Prediction, size: int, error: float, units: str) -> str | None:
    """Why no gap can be called repeatable with this many units; None where one can."""
    if prediction.repeatable(size, error) is not None:
        return None
    return WITHHELD[prediction.separation.withheld or "spread"].format(units=units)


def tables(curves: SensitivityCurves) -> tuple[Table, ...]:
    """Expected rates where a gap is repeatable; the papers' study, with groups and ranks, where it was made."""
    shown = [] if curves.repeatable_difference is None else [expected_rates(curves)]
    if curves.with_fits and curves.pairs > 1 and not curves.are_runs_alike:
        shown.append(papers_study(curves))
    if curves.findings is not None:
        shown += [group_table(curves, curves.findings), rank_table(curves, curves.findings)]
    return tuple(shown)


def expected_rates(curves: SensitivityCurves) -> Table:
    """How often the order of two runs is expected to turn round, by their difference, and the units needed."""
    needed, names = curves.size_needed(), _bin_names(curves)
    units, at_target = curves.unit_name[1], f"wrong, {counted(curves.target, curves.unit_name)}"
    columns = [Column("difference"), Column("pairs of runs", ","), Column(at_target, ".1%"), Column(f"{units} needed")]
    rows: list[list[Cell]] = []
    pairs = _pairs_by_bin(curves)
    for k, limit in enumerate(bin_limits(curves.width)):
        sizes = needed.get(format(limit, "f"))
        size = None if sizes is None or sizes.predicted is None else f"{sizes.predicted:,.0f}"
        rows.append([names[k], pairs[k], curves.bins[k].predicted_at_target, size])
    size = f"{plural(len(curves.runs), 'run')} ({plural(curves.pairs, 'pair')} of runs)"
    notes = [
        f"wrong: how often as many new {units} would put the other run ahead, estimated from these {units}; true "
        f"differences are taken as {curves.kappa:.2f} of those seen, which noise drives apart.",
        f"{units} needed: so that this happens in at most {_percent(curves.error)}; {DASH} where more than "
        f"{FURTHEST * curves.units:,} are needed, or none are expected to differ by so much.",
        f"{size}, {counted(curves.units, curves.unit_name)}.",
    ]
    spoiling = curves.above_again("predicted")
    if spoiling is not None and curves.pairs > 1:
        notes.append(_spoiled(curves, *spoiling))
    if not curves.with_fits:
        notes.append(
            "The study of the TREC papers, with a fitted curve, is shown from 20 runs up, or when asked for (--fit)."
        )
    notes += curves.notes
    title = f"How often a comparison is wrong, by the difference seen ({curves.measure})"
    return table(title, columns, rows, notes)


def papers_study(curves: SensitivityCurves) -> Table:
    """Measured error rates by difference and size, and what the exponential through them says of all units."""
    with_intervals = curves.intervals is not None
    shown = _spread(len(curves.sizes), SIZES_SHOWN[with_intervals])
    last, unit_name = curves.sizes[-1], curves.unit_name
    at_target = f"{counted(curves.target, unit_name)}{'*' if curves.target > last else ''}, extrapolated"
    columns = [Column("difference"), *(Column(counted(curves.sizes[i], unit_name), ".1%") for i in shown)]
    if with_intervals:
        columns.append(Column(f"95% interval at {last:,}"))
    columns += [Column(at_target, ".1%"), Column("needed")]
    needed, names = curves.size_needed(), _bin_names(curves)
    limits = [format(limit, "f") for limit in bin_limits(curves.width)]
    rows: list[list[Cell]] = []
    for k, curve in enumerate(curves.bins):
        row: list[Cell] = [names[k], *(curve.error_rate[i] for i in shown)]
        if curve.interval is not None:
            row.append(_interval(curve.interval[-1]))
        size = needed[limits[k]].fit if limits[k] in needed else None
        rows.append([*row, curve.extrapolated, _size(size, last)])
    title = f"The study as the TREC papers did it: measured error rates ({curves.measure})"
    return table(title, columns, rows, _notes_on_study(curves))


def _notes_on_study(curves: SensitivityCurves) -> list[str]:
    minimum = curves.minimum_difference().fit
    result = "no minimum difference" if minimum is None else f"a minimum difference of {minimum:g}"
    notes = [
        NEEDS_MANY_RUNS,
        f"Its result: {result} (error rate {_percent(curves.error)}).",
        f"{plural(curves.schedule.trials, 'trial')} for each of {plural(len(curves.sizes), 'size')}; "
        f"seed {curves.seed}; ties: {curves.ties}.",
    ]
    if curves.target > curves.sizes[-1]:
        notes.append(f"* Extrapolated beyond the largest size measured, {curves.sizes[-1]:,}.")
    spoiling = curves.above_again("fit")
    if spoiling is not None:
        notes.append(_spoiled(curves, *spoiling))
    return [*notes, *_unfitted(curves), *notes_on_intervals(curves), *curves.study_notes]


def notes_on_intervals(curves: SensitivityCurves) -> list[str]:
    """How far the intervals of measured rates can be believed."""
    return [] if curves.intervals is None or len(curves.runs) < 3 else [INTERVALS_TOO_NARROW]


def _spoiled(curves: SensitivityCurves, limit: float, rate: float) -> str:
    return (
        f"Some differences below {limit:g} are within {_percent(curves.error)}, but {limit:g} is not "
        f"({_above(rate, curves.error)}): a difference counts where all larger ones are within it too."
    )


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


def group_table(curves: SensitivityCurves, following: Findings) -> Table:
    """The groups of runs within the minimum difference of each other."""
    scores = dict(zip(curves.runs, curves.scores.tolist(), strict=True))
    rows = [
        (number, len(group), scores[group[0]], scores[group[-1]], _tags(group, curves.manual))
        for number, group in enumerate(following.groups, start=1)
    ]
    numbers = [Column("group"), Column("runs"), Column("best", ".3f"), Column("worst", ".3f")]
    notes = [
        f"Within a group every run is less than {following.minimum_difference:g}, the minimum difference of the fit, "
        "below the first, as [QA03] reads them. These are not the groups of `qassay score` and `qassay compare`, which "
        "show what chance alone could explain."
    ]
    return table("Groups of runs by the minimum difference", [*numbers, "tags"], rows, [*notes, *_star_note(curves)])


def rank_table(curves: SensitivityCurves, following: Findings, most: int = RUNS_SHOWN) -> Table:
    """The rank of every run, and the ranks it would have with the minimum difference added or subtracted."""
    columns: list[Column | str] = ["run", Column("score", ".3f"), Column("rank")]
    columns += [Column("best rank"), Column("worst rank")]
    oriented = curves.direction.oriented(curves.scores)
    rows = [
        (
            starred(row.run, curves.manual),
            row.score,
            *(
                place_among(oriented, own, own + gap)
                for own in (curves.direction.oriented(row.score),)
                for gap in (0, following.minimum_difference, -following.minimum_difference)
            ),
        )
        for row in following.rank_ranges[:most]
    ]
    left = len(following.rank_ranges) - len(rows)
    notes = [f"{plural(left, 'more run')}: --json lists all of them."] if left > 0 else []
    title = f"Ranks with the minimum difference, {following.minimum_difference:g}, added to or subtracted from a score"
    return table(title, columns, rows, [*notes, *_star_note(curves)])


def _star_note(curves: SensitivityCurves) -> list[str]:
    return [MANUAL_RUN] if curves.manual & set(curves.runs) else []


def _pairs_by_bin(curves: SensitivityCurves) -> list[int]:
    """How many pairs of runs differ by so much on the units at hand."""
    counts = [0] * (LIMITED_BINS + 1)
    for difference in curves.moments.means.tolist():
        counts[curves.bin_of(difference)] += 1
    return counts


def _bin_names(curves: SensitivityCurves) -> list[str]:
    limits = [format(limit, "f") for limit in bin_limits(curves.width)]
    return [*(f"{low}{DASH}{high}" for low, high in pairwise(limits)), f"{limits[-1]} or more"]


def _percent(rate: float) -> str:
    return f"{rate * 100:g}%"


def _above(rate: float, error: float) -> str:
    """A rate that is above the error, with enough decimals to show it."""
    texts = (f"{rate:.{digits}%}" for digits in range(1, 9))
    return next((text for text in texts if float(text[:-1]) > error * 100), _percent(rate))


def _tags(group: tuple[str, ...], manual: frozenset[str]) -> str:
    names = [starred(run, manual) for run in group]
    if len(names) <= TAGS_SHOWN + 1:
        return ", ".join(names)
    return ", ".join(names[:TAGS_SHOWN]) + f" and {len(names) - TAGS_SHOWN} more"


def _interval(ends: tuple[float, float] | None) -> str:
    return DASH if ends is None else f"{ends[0]:.1%} to {ends[1]:.1%}"


def _size(size: float | None, measured: int) -> str | None:
    """A number of units, marked where it lies beyond the sizes measured."""
    if size is None:
        return None
    return f"{size:g}*" if size > measured else f"{size:g}"


def _spread(number: int, most: int) -> list[int]:
    """Indices of a handful of items from first to last, evenly spread."""
    if number <= most:
        return list(range(number))
    return [round(i * (number - 1) / (most - 1)) for i in range(most)]
