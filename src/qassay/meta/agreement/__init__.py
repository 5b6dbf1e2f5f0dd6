"""Agreement of judgment sets: who gave which label, how often they differ, and how much of it is beyond chance.

    labels  ->  distinct combinations  ->  patterns, matrices, shares, coefficients, each with its interval

Labels fold: factoid and list items are judged W, R, U or X and fold into right and wrong; entailment pairs are YES,
UNKNOWN or NO and fold into entailed or not; nugget and citation support folds as the strict measures do; a nugget
matches or not.

labels          the order and meaning of labels, and their combinations
coefficients    Cohen's and Fleiss' kappa, Scott's pi, Krippendorff's alpha; intervals over questions
by_person       every person beside the others
result, people  the results as tables and JSON
dealing         who is out of line: by chance, had others of the same people judged
nugget_lists    the nugget lists of two assessors side by side
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import polars as pl

from qassay.arrays import Floats, Integers
from qassay.meta.agreement.coefficients import (
    Interval,
    Progress,
    Questions,
    bootstrap_intervals,
    cohen_kappa,
    estimate,
    fleiss_kappa,
    krippendorff_alpha,
)
from qassay.meta.agreement.labels import (
    Combinations,
    ComparedSets,
    Scheme,
    chosen_scheme,
    combined,
    compared_sets,
    question_numbers,
    scheme_of,
)
from qassay.meta.agreement.result import Agreement, PairAgreement

__all__ = ["Agreement", "PairAgreement", "agreement", "scheme_of"]

OVERALL = ("raw", "folded", "fleiss_kappa", "krippendorff_alpha", "krippendorff_alpha_ordinal", "scott_pi")
PAIRED = ("agreement", "folded", "cohen_kappa", "folded_kappa")


def agreement(
    labels: Mapping[str, Sequence[str] | pl.Series],
    *,
    questions: Sequence[str] | pl.Series | None = None,
    fold: Mapping[str, str] | None = None,
    order: Sequence[str] | None = None,
    two_way: Collection[str] = (),
    seed: int = 0,
    resamples: int = 1000,
    progress: Progress | None = None,
) -> Agreement:
    """Compare judgment sets on the items that all of them judged.

    `labels[name][i]` is the label that set `name` gives to item i, an answer to questions[i] (every item is a question
    of its own where these are not given). The order of the labels, how they fold and which
    one means wrong follow from the labels, unless said. Sets named in `two_way` know only whether a pair is
    entailed: they enter `folded` and the pairs, folded, and nothing else; where that leaves fewer than two sets,
    all is compared after folding and `raw` is None. Chance-corrected coefficients are None where all labels are the
    same. Intervals: BCa bootstrap over questions. [EVAL02] table 2, [RTE08] tables 2 and 3.
    """
    scheme = chosen_scheme(labels, fold, order)
    kinds, of_item = combined(labels, scheme)
    view = compared_sets(kinds, two_way)
    statistics = _Statistics(kinds, view, scheme)
    drawn = Questions.of(question_numbers(questions, len(of_item)), of_item, statistics.cells)
    values = estimate(drawn, statistics)
    intervals = bootstrap_intervals(drawn, statistics, seed=seed, resamples=resamples, progress=progress)
    patterns = _patterns(view.codes, kinds.counts, scheme)
    disagreements = sum(patterns.values())
    label_counts = {}
    for column, name in enumerate(kinds.sets):
        counts = np.bincount(kinds.codes[:, column], weights=kinds.counts, minlength=kinds.labels)
        label_counts[name] = {label: int(count) for label, count in zip(scheme.order, counts, strict=True)}
    wrong = None if scheme.wrong is None else scheme.order.index(scheme.wrong)
    return Agreement(
        sets=kinds.sets,
        items=len(of_item),
        questions=len(drawn),
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
        notes=tuple(_notes(kinds, view, drawn, disagreements, values, intervals, resamples)),
        order=scheme.order,
        wrong=scheme.wrong,
    )


class _Statistics:
    """Every statistic from sums over items: of those with one label, before and after folding, and of pairs of labels.

    `cells[kind]` is what one item of a kind adds to the sums. Each item pairs every two sets, so that the sums of the
    pairs' tables are the coincidences of all.
    """

    def __init__(self, kinds: Combinations, view: ComparedSets, scheme: Scheme) -> None:
        self.size, self.ordinal, self.view = kinds.labels, scheme.ordinal, view
        codes = {label: code for code, label in enumerate(scheme.order)}
        self.fold = np.eye(self.size)[[codes[scheme.fold.get(label, label)] for label in scheme.order]]
        named = list(itertools.combinations(kinds.sets, 2))
        self.comparable = [(a in view.two_way) == (b in view.two_way) for a, b in named]
        self.viewed = [{a, b} <= set(view.sets) for a, b in named]
        tables = [_joint(kinds.codes, a, b, self.size) for a, b in _pairs(kinds)]
        self.cells = np.column_stack([_unanimous(kinds.folded), _unanimous(view.codes), *tables])

    def __call__(self, sums: Floats) -> dict[str, Floats]:
        joints = sums[:, 2:].reshape(len(sums), len(self.viewed), self.size, self.size)
        folded = self.fold.T @ joints @ self.fold
        total = joints[:, 0].sum(axis=(-2, -1))
        result = {"folded": _share(sums[:, 0], total)}
        if not self.view.folded_only:
            result["raw"] = _share(sums[:, 1], total)
        seen = (folded if self.view.folded_only else joints)[:, self.viewed].sum(axis=1)
        table = (seen + seen.swapaxes(-2, -1)) / (len(self.view.sets) - 1)
        result["fleiss_kappa"] = fleiss_kappa(table)
        result["krippendorff_alpha"] = krippendorff_alpha(table)
        if len(self.view.sets) == 2:
            result["scott_pi"] = result["fleiss_kappa"]
        if self.ordinal:
            result["krippendorff_alpha_ordinal"] = krippendorff_alpha(table, "ordinal")
        for number, comparable in enumerate(self.comparable):
            compared = [("folded", "folded_kappa", folded[:, number])]
            compared += [("agreement", "cohen_kappa", joints[:, number])] if comparable else []
            for share, kappa, joint in compared:
                result[f"{number} {share}"] = _share(np.trace(joint, axis1=1, axis2=2), total)
                result[f"{number} {kappa}"] = cohen_kappa(joint)
        return result


def _patterns(codes: Integers, counts: Floats, scheme: Scheme) -> dict[str, int]:
    """Items by unordered combination of different labels; words are joined by a slash."""
    joint = "" if all(len(label) == 1 for label in scheme.order) else "/"
    combinations: Counter[tuple[int, ...]] = Counter()
    for row, count in zip(np.sort(codes, axis=1).tolist(), counts, strict=True):
        if row[0] != row[-1]:
            combinations[tuple(row)] += int(count)
    return {joint.join(scheme.order[code] for code in row): combinations[row] for row in sorted(combinations)}


def _pair(
    kinds: Combinations,
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
    kinds: Combinations,
    view: ComparedSets,
    questions: Questions,
    disagreements: int,
    values: Mapping[str, float | None],
    intervals: Mapping[str, Interval | None],
    resamples: int,
) -> list[str]:
    """The statistics that are undefined, and why."""
    if not len(questions):
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
    elif few := questions.too_few():
        notes += few
    else:
        none = [name for name in OVERALL if name in intervals and values.get(name) is not None and not intervals[name]]
        alike = [name for name in none if values["raw"] == 0.0 or values[name] == 1.0 or name in ("raw", "folded")]
        if alike:
            seen = "no" if values["raw"] == 0.0 else "full"
            notes.append(f"No interval for {seen} agreement: these questions do not show how often it is otherwise.")
        if len(none) > len(alike):
            notes.append("No interval where more than one resample in twenty is undefined: the labels vary too little.")
    pairs = [number for number in range(len(_pairs(kinds))) if f"{number} cohen_kappa" in values]
    if values["krippendorff_alpha"] is not None and any(values[f"{number} cohen_kappa"] is None for number in pairs):
        notes.append("Cohen's kappa is undefined where two sets give one and the same label throughout.")
    if disagreements == 0:
        among, rate = len(questions), min(1, 3 / len(questions))
        notes.append(
            f"No disagreement seen; among {among:,} question{'s' * (among > 1)} a true rate of up to {rate:.1%} can "
            "stay unseen."
        )
    return notes


def _pairs(kinds: Combinations) -> list[tuple[int, int]]:
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
