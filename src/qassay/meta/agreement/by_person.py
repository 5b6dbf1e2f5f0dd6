"""Agreement by person: how far each assessor agrees with the others on the same items, and who is out of line.

    labels (item, person, label)  ->  per person: agreement, kappa against the rest, labels given, time per judgment

Crowds are many people with few items each: every figure is about the items that a person shares with others, and
Krippendorff's alpha is over all items with two labels or more. Intervals are about new questions, for answers to one
question are judged alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from qassay.arrays import Floats, Integers, defined
from qassay.errors import UsageError
from qassay.meta.agreement.coefficients import (
    LEVEL,
    Interval,
    Questions,
    bootstrap_intervals,
    cohen_kappa,
    coincidences,
    estimate,
    krippendorff_alpha,
)
from qassay.meta.agreement.dealing import LEAST_BLOCKS, LEAST_PEOPLE, DealtBlocks, chances
from qassay.meta.agreement.people import Difference, PeopleAgreement, Person
from qassay.meta.intervals import wilson_limits
from qassay.meta.normal_and_t import two_sided_t_line
from qassay.tables import counted

# Shown of each person: in which labels they differ most from the others.
DIFFERENCES_SHOWN = 3
# A longer pause between two judgments is a break, not work.
BREAK = 30 * 60.0
# Whether labels were added where the first ones differ shows in this many items with few labels, and with more.
LEAST_SEEN = 20
DECIDING = (
    "Further labels were given where the first ones differ: these items cannot show who is out of line, and nobody is "
    "called so."
)
TOO_FEW_TOGETHER = (
    f"Who is out of line shows only where {LEAST_PEOPLE} people or more judge the same items, of {LEAST_BLOCKS} "
    "questions or more."
)
# Fewer timed judgments than this say nothing about a person's pace.
LEAST_TIMED = 5


def by_person(
    labels: pl.DataFrame,
    *,
    about: str = "items",
    order: Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    seconds: Mapping[str, float] | None = None,
    seed: int = 0,
    resamples: int = 1000,
    notes: Iterable[str] = (),
) -> PeopleAgreement:
    """Compare every person with the others, from one row per label: question, item, person, label.

    A person has one label per item. `types` are the types of the questions, `seconds` the time per judgment of each
    person where it is known. Intervals are about new questions: Wilson's, with the number of items that would vary as
    the questions do; that of alpha is a bootstrap. Who is out of line is dealt (`dealing`).
    """
    if labels.select("question", "item", "person").is_duplicated().any():
        raise UsageError("a person has two labels for one item; keep the last")
    labelled = _LabelsOfPeople.of(labels, order)
    alpha, interval, too_few = _alpha(labelled, seed=seed, resamples=resamples)
    kinds = labels["question"].replace_strict(dict(types or {}), default=None, return_dtype=pl.String)
    beside = _Beside.of(labelled)
    deciding = _asked_where_they_differ(labelled.counts)
    p_values = None if deciding else _chances(labelled, beside, seed=seed)
    everyone = [
        _person(labelled, beside, number, rows, kinds, seconds or {}, p_values)
        for number, rows in enumerate(labelled.rows_of_people())
    ]
    everyone.sort(key=lambda p: (not p.out_of_line, 2.0 if p.agreement is None else p.agreement, -p.items, p.person))
    alone = sum(person.agreement is None for person in everyone)
    all_notes = list(notes)
    all_notes += (
        [f"Without any item that another person judged: {counted(alone, ('person', 'people'))}."] if alone else []
    )
    all_notes += [DECIDING] if deciding else []
    all_notes += [TOO_FEW_TOGETHER] if not deciding and p_values is None and len(everyone) - alone > 2 else []
    all_notes += too_few if alpha is not None and resamples else []
    shared = int((labelled.counts.sum(axis=1) > 1).sum())
    return PeopleAgreement(tuple(everyone), alpha, interval, shared, about, tuple(all_notes), labelled.order)


@dataclass(frozen=True, eq=False)
class _LabelsOfPeople:
    """The labels as numbers: the item, person and label of each row, and how often each item got each label."""

    order: tuple[str, ...]
    names: tuple[str, ...]
    questions: Integers
    items: Integers
    people: Integers
    labels: Integers
    counts: Floats

    @staticmethod
    def of(labels: pl.DataFrame, order: Sequence[str] | None) -> _LabelsOfPeople:
        known = tuple(order) if order is not None else tuple(sorted(set(labels["label"])))
        names = tuple(sorted(set(labels["person"])))
        codes, places = ({name: place for place, name in enumerate(those)} for those in (known, names))
        questions, items = (
            labels.select(pl.struct(columns).rank("dense") - 1).to_series().to_numpy().astype(np.int64)
            for columns in (["question"], ["question", "item"])
        )
        label_codes = np.array([codes[label] for label in labels["label"]], dtype=np.int64)
        people = np.array([places[name] for name in labels["person"]], dtype=np.int64)
        size = int(items.max(initial=-1)) + 1
        counts = np.bincount(items * len(known) + label_codes, minlength=size * len(known)).reshape(size, len(known))
        return _LabelsOfPeople(known, names, questions, items, people, label_codes, counts.astype(np.float64))

    def others(self, rows: Integers) -> Floats:
        """For each of these rows the shares of the labels that the others gave to its item; needs one other each."""
        counts = self.counts[self.items[rows]].copy()
        counts[np.arange(len(rows)), self.labels[rows]] -= 1
        return np.asarray(counts / counts.sum(axis=1, keepdims=True), dtype=np.float64)

    def rows_of_people(self) -> list[Integers]:
        """The rows of each person, by name."""
        ends = np.cumsum(np.bincount(self.people, minlength=len(self.names)))
        return np.split(np.argsort(self.people, kind="stable"), ends[:-1])


@dataclass(frozen=True, eq=False)
class _Beside:
    """Of each row, whether another person judged its item (`shared`), or two (`compared`), and the agreement there.

    `own` is the share of the others who gave the row's label, `others` that of the pairs of others who gave the same.
    """

    shared: np.ndarray[tuple[int], np.dtype[np.bool_]]
    compared: np.ndarray[tuple[int], np.dtype[np.bool_]]
    own: Floats
    others: Floats

    @staticmethod
    def of(labelled: _LabelsOfPeople) -> _Beside:
        given = labelled.counts.sum(axis=1)[labelled.items] - 1
        same = labelled.counts[labelled.items, labelled.labels] - 1
        pairs = (labelled.counts * (labelled.counts - 1)).sum(axis=1)[labelled.items] - 2 * same
        shared, compared = given > 0, given > 1
        own = np.divide(same, given, out=np.zeros(len(given)), where=shared)
        others = np.divide(pairs, given * (given - 1), out=np.zeros(len(given)), where=compared)
        return _Beside(shared, compared, own, others)


def _chances(labelled: _LabelsOfPeople, beside: _Beside, *, seed: int) -> dict[int, float] | None:
    """How easily chance alone would put each person so far out of line; None where nothing can be said."""
    rows = np.flatnonzero(beside.compared)
    values = beside.own[rows] - beside.others[rows]
    blocks = DealtBlocks.of(labelled.questions[rows], labelled.items[rows], labelled.people[rows], values)
    p_values = chances(blocks, len(labelled.names), seed=seed)
    if p_values is None:
        return None
    return {person: float(p_values[person]) for person in np.unique(labelled.people[rows]).tolist()}


def _person(
    labelled: _LabelsOfPeople,
    beside: _Beside,
    number: int,
    own_rows: Integers,
    kinds: pl.Series,
    seconds: Mapping[str, float],
    p_values: Mapping[int, float] | None,
) -> Person:
    rows = own_rows[beside.shared[own_rows]]
    two = own_rows[beside.compared[own_rows]]
    alike = beside.own[rows]
    size = len(labelled.order)
    joint = np.zeros((size, size))
    np.add.at(joint, labelled.labels[rows], labelled.others(rows))
    total = max(len(rows), 1)
    by_kind: dict[str, list[float]] = {}
    for kind, share in zip(kinds.gather(rows).to_list() if len(rows) else [], alike.tolist(), strict=True):
        if kind is not None:
            by_kind.setdefault(kind, []).append(share)
    name = labelled.names[number]
    return Person(
        person=name,
        items=len(own_rows),
        common=len(rows),
        agreement=float(alike.mean()) if len(rows) else None,
        interval=share_interval(alike, labelled.questions[rows]) if len(rows) else None,
        kappa=defined(float(cohen_kappa(joint))) if len(rows) else None,
        labels=_shares(labelled.order, joint.sum(axis=1) / total),
        others_labels=_shares(labelled.order, joint.sum(axis=0) / total),
        compared=len(two),
        agreement_there=float(beside.own[two].mean()) if len(two) else None,
        others_agreement=float(beside.others[two].mean()) if len(two) else None,
        p=(p_values or {}).get(number),
        differs=_differences(labelled.order, joint),
        by_type={kind: sum(shares) / len(shares) for kind, shares in by_kind.items()} if len(by_kind) > 1 else {},
        seconds=seconds.get(name),
    )


def share_interval(shares: Floats, questions: Integers) -> Interval | None:
    """The interval of a mean of shares between 0 and 1 on items, for new questions; None for a single question.

    Wilson's with n' = p (1 - p)/se^2 trials and the quantile of t: se is that of a ratio over questions, n' is at least
    half the questions and at most the items, and the number of questions where all shares are 0 or all are 1.
    """
    _, place, size = np.unique(questions, return_inverse=True, return_counts=True)
    count = len(size)
    if count < 2:
        return None
    mean = min(float(shares.mean()), 1.0)
    number = float(count)
    if 0 < mean < 1:
        residuals = np.bincount(place, shares) - mean * size
        variance = count / (count - 1) * float((residuals**2).sum()) / len(shares) ** 2
        number = len(shares) if variance == 0 else float(np.clip(mean * (1 - mean) / variance, count / 2, len(shares)))
    return wilson_limits(mean, number, two_sided_t_line(count - 1, 1 - LEVEL))


def _shares(order: Sequence[str], values: Floats) -> dict[str, float]:
    return {label: float(value) for label, value in zip(order, values, strict=True) if value > 0}


def _asked_where_they_differ(counts: Floats) -> bool:
    """Whether items got further labels because the first ones differ, as when a third person decides.

    Then items with more labels are those with a disagreement: on these everyone who disagreed looks out of line, and
    a person who was asked afterwards does not, however they judge.
    """
    total = counts.sum(axis=1)
    compared = counts[total > 1]
    if not len(compared):
        return False
    number = compared.sum(axis=1)
    unanimous = compared.max(axis=1) == number
    few, more = unanimous[number == number.min()], unanimous[number > number.min()]
    return len(few) >= LEAST_SEEN <= len(more) and few.mean() > 0.9 and more.mean() < 0.2


def _differences(order: Sequence[str], joint: Floats) -> tuple[Difference, ...]:
    """The label pairs in which a person and the others differ most."""
    apart = joint * (1 - np.eye(len(joint)))
    total = float(apart.sum())
    cells = sorted(
        ((float(apart[a, b]), a, b) for a, b in np.argwhere(apart > 0).tolist()), key=lambda c: (-c[0], *c[1:])
    )
    return tuple(Difference(order[a], order[b], value, value / total) for value, a, b in cells[:DIFFERENCES_SHOWN])


def _alpha(labelled: _LabelsOfPeople, *, seed: int, resamples: int) -> tuple[float | None, Interval | None, list[str]]:
    """Krippendorff's alpha over all items, its interval, and why it has none where questions are too few."""
    size = len(labelled.order)
    of_item = np.zeros(len(labelled.counts), dtype=np.int64)
    of_item[labelled.items] = labelled.questions
    shared = np.flatnonzero(labelled.counts.sum(axis=1) > 1)
    if not len(shared):
        return None, None, []
    shapes, kinds = np.unique(labelled.counts[shared], axis=0, return_inverse=True)
    flat = coincidences(shapes).reshape(len(shapes), size * size)

    def statistics(sums: Floats) -> dict[str, Floats]:
        return {"alpha": krippendorff_alpha(sums.reshape(len(sums), size, size))}

    questions = Questions.of(of_item[shared], kinds.ravel(), flat)
    value = estimate(questions, statistics)["alpha"]
    interval = bootstrap_intervals(questions, statistics, seed=seed, resamples=resamples)["alpha"]
    return value, interval if value is not None else None, questions.too_few()


def time_per_judgment(moments: Sequence[float]) -> float | None:
    """Median seconds that a judgment took, from the moments (in seconds) at which a person saved judgments.

    Judgments saved at one moment, as those of a list are, share the time since the moment before. Pauses of more than
    half an hour are breaks and do not count. None below five judgments with a known time.

    >>> time_per_judgment([0, 10, 20, 20, 40, 50, 50_000])
    10.0
    """
    at, number = np.unique(np.asarray(moments, dtype=np.float64), return_counts=True)
    gaps = np.diff(at)
    worked = gaps <= BREAK
    each = np.repeat(gaps[worked] / number[1:][worked], number[1:][worked])
    return float(np.median(each)) if len(each) >= LEAST_TIMED else None
