"""Agreement of judgment sets: who gave which label, how often they differ, and how much of it is beyond chance.

    labels  ->  distinct combinations  ->  patterns, matrices, shares, coefficients, each with its interval

Labels fold: factoid and list items are judged W, R, U or X and fold into right and wrong; entailment pairs are YES,
UNKNOWN or NO and fold into entailed or not; nugget and citation support folds as the strict measures do; a nugget
matches or not.

coefficients    Cohen's and Fleiss' kappa, Scott's pi, Krippendorff's alpha; intervals over items
result          Agreement -> tables and JSON
people          every person beside the others: who is out of line, and on what
nugget_lists    the nugget lists of two assessors side by side
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from qassay.arrays import Floats, Integers
from qassay.errors import UsageError, unknown
from qassay.meta.agreement.coefficients import (
    Interval,
    Progress,
    bootstrap_intervals,
    cohen_kappa,
    coincidences,
    estimate,
    fleiss_kappa,
    krippendorff_alpha,
)
from qassay.meta.agreement.result import Agreement, PairAgreement

__all__ = ["Agreement", "PairAgreement", "agreement", "scheme_of"]

OVERALL = ("raw", "folded", "fleiss_kappa", "krippendorff_alpha", "krippendorff_alpha_ordinal", "scott_pi")
# More categories than this are texts or measurements, not labels.
MOST_LABELS = 50
PAIRED = ("agreement", "folded", "cohen_kappa", "folded_kappa")


@dataclass(frozen=True, slots=True)
class Scheme:
    """Labels in their order, what each folds into (itself where absent), and which of them means wrong.

    `ordinal` where the order is one of degree, so that a distance between labels has a meaning.
    """

    order: tuple[str, ...]
    fold: Mapping[str, str] = field(default_factory=dict)
    wrong: str | None = None
    ordinal: bool = False


FACTOID = Scheme(("W", "R", "U", "X"), {"X": "W", "U": "W"}, wrong="W")
ENTAILMENT = Scheme(("YES", "UNKNOWN", "NO"), {"UNKNOWN": "NO"}, ordinal=True)
SUPPORT = Scheme(("none", "partial", "full"), {"partial": "none"}, wrong="none", ordinal=True)
MATCH = Scheme(("no", "yes"), wrong="no")


def scheme_of(labels: Iterable[str]) -> Scheme:
    """The scheme that has all these labels; for labels of no known scheme, their alphabet and no folding."""
    used = set(labels)
    for scheme in (FACTOID, ENTAILMENT, SUPPORT, MATCH):
        if used and used <= set(scheme.order):
            return scheme
    return Scheme(tuple(sorted(used)))


def agreement(
    labels: Mapping[str, Sequence[str] | pl.Series],
    *,
    fold: Mapping[str, str] | None = None,
    order: Sequence[str] | None = None,
    two_way: Collection[str] = (),
    seed: int = 0,
    resamples: int = 1000,
    progress: Progress | None = None,
) -> Agreement:
    """Compare judgment sets on the items that all of them judged.

    `labels[name][i]` is the label that set `name` gives to item i. The order of the labels, how they fold and which
    one means wrong follow from the labels, unless said. Sets named in `two_way` know only whether a pair is
    entailed: they enter `folded` and the pairs, folded, and nothing else; where that leaves fewer than two sets,
    all is compared after folding and `raw` is None. Chance-corrected coefficients are None where all labels are the
    same. Intervals: BCa bootstrap over items. [EVAL02] table 2, [RTE08] tables 2 and 3.
    """
    scheme = _scheme(labels, fold, order)
    kinds = _combine(labels, scheme)
    view = _view(kinds, two_way)
    statistics = _Statistics(kinds, view, scheme.ordinal)
    values = estimate(kinds.counts, statistics)
    intervals = bootstrap_intervals(kinds.counts, statistics, seed=seed, resamples=resamples, progress=progress)
    patterns = _patterns(view.codes, kinds.counts, scheme)
    disagreements = sum(patterns.values())
    label_counts = {}
    for column, name in enumerate(kinds.sets):
        counts = np.bincount(kinds.codes[:, column], weights=kinds.counts, minlength=kinds.labels)
        label_counts[name] = {label: int(count) for label, count in zip(scheme.order, counts, strict=True)}
    wrong = None if scheme.wrong is None else scheme.order.index(scheme.wrong)
    return Agreement(
        sets=kinds.sets,
        items=int(kinds.counts.sum()),
        disagreements=disagreements,
        not_all_wrong=None if wrong is None else int(kinds.counts[(view.codes != wrong).any(axis=1)].sum()),
        patterns=patterns,
        fold={label: into for label, into in scheme.fold.items() if label != into},
        **{name: values.get(name) for name in OVERALL},
        about="items",
        intervals={name: intervals[name] for name in OVERALL if values.get(name) is not None},
        labels=label_counts,
        pairs=tuple(_pair(kinds, number, scheme, values, intervals) for number in range(len(_pairs(kinds)))),
        resamples=resamples,
        seed=seed,
        notes=tuple(_notes(kinds, view, disagreements, values, intervals, resamples)),
        order=scheme.order,
        wrong=scheme.wrong,
    )


@dataclass(frozen=True)
class _Kinds:
    """The distinct combinations of labels: `codes[kind, set]` points into the order, `counts[kind]` counts items."""

    sets: tuple[str, ...]
    codes: Integers
    folded: Integers
    counts: Floats
    labels: int


@dataclass(frozen=True)
class _View:
    """The comparison: the labels behind the overall statistics, their sets, and the sets that are two-way."""

    codes: Integers
    sets: tuple[str, ...]
    two_way: frozenset[str]
    folded_only: bool


class _Statistics:
    """Every statistic from `weights[resample, kind]`: all of them are functions of weighted sums over the kinds."""

    def __init__(self, kinds: _Kinds, view: _View, ordinal: bool) -> None:
        size = kinds.labels
        self.size, self.ordinal, self.two_sets = size, ordinal, view.codes.shape[1] == 2
        self.unanimous = None if view.folded_only else _unanimous(view.codes)
        self.folded = _unanimous(kinds.folded)
        counts = (view.codes[:, :, None] == np.arange(size)).sum(axis=1).astype(np.float64)
        self.coincidences = coincidences(counts).reshape(len(counts), size * size)
        self.joints: dict[str, Floats] = {}
        for number, (a, b) in enumerate(_pairs(kinds)):
            if (kinds.sets[a] in view.two_way) == (kinds.sets[b] in view.two_way):
                self.joints[f"{number} agreement cohen_kappa"] = _joint(kinds.codes, a, b, size)
            self.joints[f"{number} folded folded_kappa"] = _joint(kinds.folded, a, b, size)

    def __call__(self, weights: Floats) -> dict[str, Floats]:
        total = weights.sum(axis=1)
        result = {"folded": _share(weights @ self.folded, total)}
        if self.unanimous is not None:
            result["raw"] = _share(weights @ self.unanimous, total)
        table = (weights @ self.coincidences).reshape(len(weights), self.size, self.size)
        result["fleiss_kappa"] = fleiss_kappa(table)
        result["krippendorff_alpha"] = krippendorff_alpha(table)
        if self.two_sets:
            result["scott_pi"] = result["fleiss_kappa"]
        if self.ordinal:
            result["krippendorff_alpha_ordinal"] = krippendorff_alpha(table, "ordinal")
        for names, cells in self.joints.items():
            number, share, kappa = names.split()
            joint = (weights @ cells).reshape(len(weights), self.size, self.size)
            result[f"{number} {share}"] = _share(np.trace(joint, axis1=1, axis2=2), total)
            result[f"{number} {kappa}"] = cohen_kappa(joint)
        return result


def _scheme(
    labels: Mapping[str, Sequence[str] | pl.Series], fold: Mapping[str, str] | None, order: Sequence[str] | None
) -> Scheme:
    """The scheme of the labels, or the one the caller describes."""
    if order is None:
        labels_used = (pl.Series(values, dtype=pl.String).drop_nulls().unique() for values in labels.values())
        scheme = scheme_of(itertools.chain.from_iterable(labels_used))
    else:
        scheme = replace(scheme_of(order), order=tuple(order))
    if fold is None:
        return scheme
    for into in fold.values():
        if into not in scheme.order:
            raise unknown("label to fold into", into, scheme.order)
    return replace(scheme, fold={label: into for label, into in fold.items() if label in scheme.order})


def _combine(labels: Mapping[str, Sequence[str] | pl.Series], scheme: Scheme) -> _Kinds:
    """Count the distinct combinations, in the order of the labels."""
    frame = _side_by_side(labels, scheme)
    codes = {label: code for code, label in enumerate(scheme.order)}
    into = np.array([codes[scheme.fold.get(label, label)] for label in scheme.order], dtype=np.int64)
    numbered = frame.select(pl.all().replace_strict(codes, return_dtype=pl.Int64)) if len(frame) else frame.clear()
    distinct = numbered.group_by(pl.all()).agg(pl.len().alias("\0items")).sort(frame.columns)
    rows = distinct.select(frame.columns).to_numpy().astype(np.int64).reshape(-1, len(labels))
    folded = into[rows] if len(into) else rows
    return _Kinds(tuple(labels), rows, folded, distinct["\0items"].to_numpy().astype(np.float64), len(scheme.order))


def _side_by_side(labels: Mapping[str, Sequence[str] | pl.Series], scheme: Scheme) -> pl.DataFrame:
    """One column per set, after every check of their labels."""
    if len(labels) < 2:
        raise UsageError("agreement takes two judgment sets or more, such as first and second")
    if len({len(values) for values in labels.values()}) > 1:
        raise UsageError("the sets have different numbers of labels; give those of the items that all of them judged")
    frame = pl.DataFrame([pl.Series(name, values, dtype=pl.String) for name, values in labels.items()])
    for name in frame.columns:
        if frame[name].null_count():
            raise UsageError(f"set {name}: an item has no label; compare the items that all sets judged")
        strange = [label for label in frame[name].unique() if label not in scheme.order]
        if strange:
            raise UsageError(f"set {name}: label {strange[0]!r} is none of {', '.join(scheme.order)}")
    if len(scheme.order) > MOST_LABELS:
        raise UsageError(f"{len(scheme.order)} different labels; agreement is about at most {MOST_LABELS} categories")
    return frame


def _view(kinds: _Kinds, two_way: Collection[str]) -> _View:
    """Decide which sets the overall statistics compare, and whether as they are or folded."""
    for name in two_way:
        if name not in kinds.sets:
            raise unknown("judgment set", name, kinds.sets)
    full = [i for i, name in enumerate(kinds.sets) if name not in two_way]
    if not full or len(full) == len(kinds.sets):
        return _View(kinds.codes, kinds.sets, frozenset(), folded_only=False)
    if len(full) == 1:
        return _View(kinds.folded, kinds.sets, frozenset(two_way), folded_only=True)
    return _View(kinds.codes[:, full], tuple(kinds.sets[i] for i in full), frozenset(two_way), folded_only=False)


def _patterns(codes: Integers, counts: Floats, scheme: Scheme) -> dict[str, int]:
    """Items by unordered combination of different labels; words are joined by a slash."""
    joint = "" if all(len(label) == 1 for label in scheme.order) else "/"
    combinations: Counter[tuple[int, ...]] = Counter()
    for row, count in zip(np.sort(codes, axis=1).tolist(), counts, strict=True):
        if row[0] != row[-1]:
            combinations[tuple(row)] += int(count)
    return {joint.join(scheme.order[code] for code in row): combinations[row] for row in sorted(combinations)}


def _pair(
    kinds: _Kinds,
    number: int,
    scheme: Scheme,
    values: Mapping[str, float | None],
    intervals: Mapping[str, Interval | None],
) -> PairAgreement:
    a, b = _pairs(kinds)[number]
    used = sorted({*kinds.codes[:, a].tolist(), *kinds.codes[:, b].tolist()})
    joint = (kinds.counts @ _joint(kinds.codes, a, b, kinds.labels)).reshape(kinds.labels, kinds.labels)
    key_of = {name: f"{number} {name}" for name in PAIRED}
    return PairAgreement(
        a=kinds.sets[a],
        b=kinds.sets[b],
        matrix={scheme.order[row]: {scheme.order[column]: int(joint[row, column]) for column in used} for row in used},
        **{name: values.get(key) for name, key in key_of.items()},
        intervals={name: intervals[key] for name, key in key_of.items() if values.get(key) is not None},
    )


def _notes(
    kinds: _Kinds,
    view: _View,
    disagreements: int,
    values: Mapping[str, float | None],
    intervals: Mapping[str, Interval | None],
    resamples: int,
) -> list[str]:
    """The statistics that are undefined, and why."""
    items = int(kinds.counts.sum())
    if items == 0:
        return ["No item was judged by all of these sets: there is nothing to compare."]
    notes = []
    if view.folded_only:
        notes.append(f"Two-way labels: {_and(sorted(view.two_way))}; so everything is compared after folding.")
    elif view.two_way:
        rest = f"combinations, raw agreement and coefficients are those of {_and(view.sets)}"
        notes.append(f"Two-way labels: {_and(sorted(view.two_way))}; compared after folding only, and {rest}.")
    if values["krippendorff_alpha"] is None:
        notes.append("All labels are the same: agreement beyond chance is undefined.")
    elif not resamples:
        notes.append("No intervals: none were asked for (0 resamples).")
    else:
        none = [name for name in OVERALL if name in intervals and values.get(name) is not None and not intervals[name]]
        alike = [name for name in none if values["raw"] == 0.0 or values[name] == 1.0 or name in ("raw", "folded")]
        if alike:
            seen = "no" if values["raw"] == 0.0 else "full"
            notes.append(f"No interval for {seen} agreement: these items do not show how often it is otherwise.")
        if len(none) > len(alike):
            notes.append("No interval where more than one resample in twenty is undefined: the labels vary too little.")
    pairs = [number for number in range(len(_pairs(kinds))) if f"{number} cohen_kappa" in values]
    if values["krippendorff_alpha"] is not None and any(values[f"{number} cohen_kappa"] is None for number in pairs):
        notes.append("Cohen's kappa is undefined where two sets give one and the same label throughout.")
    if disagreements == 0:
        notes.append(
            f"No disagreement seen; among {items} items a true rate of up to {min(1, 3 / items):.1%} can stay unseen."
        )
    return notes


def _pairs(kinds: _Kinds) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(len(kinds.sets)), 2))


def _joint(codes: Integers, a: int, b: int, size: int) -> Floats:
    """One row per kind with a 1 in the cell (label of a, label of b), the cells laid out in a line."""
    cells = np.zeros((len(codes), size * size))
    cells[np.arange(len(codes)), codes[:, a] * size + codes[:, b]] = 1.0
    return cells


def _unanimous(codes: Integers) -> Floats:
    return np.asarray((codes == codes[:, :1]).all(axis=1), dtype=np.float64)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0))


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
