"""The labels that are compared: their order and meaning, and the combinations that items have in all sets."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from qassay.arrays import Floats, Integers
from qassay.errors import UsageError, unknown

# More categories than this are texts or measurements, not labels.
MOST_LABELS = 50


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


@dataclass(frozen=True)
class Combinations:
    """The distinct combinations of labels: `codes[kind, set]` points into the order, `counts[kind]` counts items."""

    sets: tuple[str, ...]
    codes: Integers
    folded: Integers
    counts: Floats
    labels: int


@dataclass(frozen=True)
class ComparedSets:
    """The comparison: the labels behind the overall statistics, their sets, and the sets that are two-way."""

    codes: Integers
    sets: tuple[str, ...]
    two_way: frozenset[str]
    folded_only: bool


def chosen_scheme(
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


def question_numbers(questions: Sequence[str] | pl.Series | None, items: int) -> Integers:
    """The question of each item as a number."""
    if questions is None:
        return np.arange(items, dtype=np.int64)
    if len(questions) != items:
        raise UsageError(f"{len(questions)} questions for {items} items; give the question of each item")
    return pl.Series(questions, dtype=pl.String).rank("dense").to_numpy().astype(np.int64)


def combined(labels: Mapping[str, Sequence[str] | pl.Series], scheme: Scheme) -> tuple[Combinations, Integers]:
    """The distinct combinations, counted, in the order of the labels; and which of them each item has."""
    frame = _side_by_side(labels, scheme)
    codes = {label: code for code, label in enumerate(scheme.order)}
    into = np.array([codes[scheme.fold.get(label, label)] for label in scheme.order], dtype=np.int64)
    numbered = frame.select(pl.all().replace_strict(codes, return_dtype=pl.Int64)) if len(frame) else frame.clear()
    distinct = numbered.group_by(pl.all()).agg(pl.len().alias("\0items")).sort(frame.columns)
    rows = distinct.select(frame.columns).to_numpy().astype(np.int64).reshape(-1, len(labels))
    folded = into[rows] if len(into) else rows
    counts = distinct["\0items"].to_numpy().astype(np.float64)
    of_item = numbered.join(distinct.with_row_index("\0kind"), on=frame.columns, how="left", maintain_order="left")
    kinds = Combinations(tuple(labels), rows, folded, counts, len(scheme.order))
    return kinds, of_item["\0kind"].to_numpy().astype(np.int64)


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


def compared_sets(kinds: Combinations, two_way: Collection[str]) -> ComparedSets:
    """Decide which sets the overall statistics compare, and whether as they are or folded."""
    for name in two_way:
        if name not in kinds.sets:
            raise unknown("judgment set", name, kinds.sets)
    full = [i for i, name in enumerate(kinds.sets) if name not in two_way]
    if not full or len(full) == len(kinds.sets):
        return ComparedSets(kinds.codes, kinds.sets, frozenset(), folded_only=False)
    if len(full) == 1:
        return ComparedSets(kinds.folded, kinds.sets, frozenset(two_way), folded_only=True)
    return ComparedSets(kinds.codes[:, full], tuple(kinds.sets[i] for i in full), frozenset(two_way), folded_only=False)
