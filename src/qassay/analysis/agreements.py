"""The labels of judgment sets side by side, and how far the sets agree on each kind of judgment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import polars as pl

from qassay.display import enumerated
from qassay.errors import InputError, Problem
from qassay.evaluation import Evaluation
from qassay.judging import ROW_KINDS, SETTLED_SETS
from qassay.judging.sets import JudgmentSet, joined
from qassay.judging.sets import labels as labels_of_sets
from qassay.meta.agreement import Agreement, agreement
from qassay.meta.agreement.nugget_lists import NuggetLists, compare_lists
from qassay.meta.agreement.people import PeopleAgreement
from qassay.meta.ratings import Ratings, rate
from qassay.results import Result
from qassay.tables import Table

if TYPE_CHECKING:
    from qassay.analysis import Progress
    from qassay.figures import Figure

# With more pairs of sets than this their matrices fill pages; JSON has them all.
MATRICES_SHOWN = 6
OneKind = TypeVar("OneKind", Agreement, PeopleAgreement)


class ByKind(Result, Generic[OneKind]):
    """A study with one record per kind of judgment, labels of items or pairs first.

    The study is a sequence of its records: `study[0]`, `len(study)`, `for kind in study`.
    """

    kinds: tuple[OneKind, ...]

    def __len__(self) -> int:
        return len(self.kinds)

    def __iter__(self) -> Iterator[OneKind]:
        return iter(self.kinds)

    def __getitem__(self, place: int) -> OneKind:
        return self.kinds[place]

    def table(self) -> Table:
        """The main table of the first kind of judgment."""
        return self.kinds[0].table()

    def figure(self) -> Figure:
        """The figure of the first kind of judgment."""
        drawn: Figure = self.kinds[0].figure()
        return drawn

    def to_polars(self) -> pl.DataFrame:
        """The numbers of all kinds of judgment."""
        return pl.concat([kind.to_polars() for kind in self.kinds])

    def as_json(self) -> dict[str, Any]:
        """The document of the first kind, and the others under their names."""
        first, *others = self.kinds
        return first.as_json() | {kind.about.replace(" ", "_"): kind.as_json() for kind in others}


@dataclass(frozen=True, eq=False, repr=False)
class AgreementStudy(ByKind[Agreement]):
    """How far the assessors agree: one `Agreement` per kind of judgment, and ratings."""

    kinds: tuple[Agreement, ...]
    ratings: Ratings
    # The nugget lists of the sets that have one of their own.
    nugget_lists: NuggetLists

    def sentence(self) -> str:
        """How far the sets agree on each kind of judgment."""
        rated = [f"the ratings of {enumerated(self.ratings.scales)} are compared below"] if self.ratings.scales else []
        differ = ["their nugget lists differ and are compared below"] if self.nugget_lists.differing().pairs else []
        return "; ".join([*(kind.sentence() for kind in self._compared), *differ, *rated])

    @property
    def _compared(self) -> list[Agreement]:
        """The kinds with something to show; ratings alone are not preceded by empty tables."""
        return [kind for kind in self.kinds if kind.items or not self.ratings.scales]

    def tables(self) -> list[Table]:
        """The tables of every kind of judgment, and of the ratings."""
        tables: list[Table] = []
        for kind in self._compared:
            tables += kind.tables(matrices=len(kind.pairs) <= MATRICES_SHOWN)
        return [*tables, *self.nugget_lists.tables(), *self.ratings.tables()]

    def as_json(self) -> dict[str, Any]:
        """The document of `agree --json`."""
        lists = {"nugget_lists": self.nugget_lists.as_json()} if self.nugget_lists.pairs else {}
        return super().as_json() | lists | ({"ratings": self.ratings.as_json()} if self.ratings.scales else {})


def agreement_study(
    evaluation: Evaluation, sets: Sequence[str] | None, *, resamples: int, seed: int, progress: Progress | None
) -> AgreementStudy:
    """Compare these judgment sets; without names those of the assessors, and two-way keys of entailment."""
    names = list(sets) if sets is not None else _assessors(evaluation)
    results = []
    for labels in compared_labels(evaluation, names, chosen=sets is not None):
        folded = [name for name in labels.sets if name in evaluation.two_way_sets]
        # A task's own labels are in its order, which the labels alone do not show.
        order = evaluation.task.labels if evaluation.task.values and labels.about == "items" else None
        result = agreement(labels.sets, order=order, two_way=folded, seed=seed, resamples=resamples, progress=progress)
        results.append(replace(result, about=labels.about, notes=(*result.notes, *labels.notes)))
    lists = nugget_lists(evaluation, names)
    nugget_kinds = {record.compared for record in ROW_KINDS.values() if record.by_nuggets}
    place = next((place for place, kind in enumerate(results) if kind.about in nugget_kinds), 0)
    results[place] = replace(results[place], notes=(*results[place].notes, *lists.differences()))
    manual = evaluation.manual_runs
    rated = rate(evaluation.ratings(sets), seed=seed, resamples=resamples, manual=manual)
    return AgreementStudy(tuple(results), rated, lists)


def nugget_lists(evaluation: Evaluation, names: Sequence[str]) -> NuggetLists:
    """The nugget lists of these sets, as far as they have lists of their own."""
    own = evaluation.folder.nugget_lists()
    return compare_lists({name: evaluation.nugget_list(name) for name in names if name in own})


def _assessors(evaluation: Evaluation) -> list[str]:
    # Two-way keys of assessors are compared too; a settled set belongs to no assessor, whatever its labels.
    names = [name for name in evaluation.human_sets if name not in SETTLED_SETS]
    if len(names) < 2:
        sets = f"there is {', '.join(evaluation.sets)}" if evaluation.sets else "there are none"
        message = f"agreement takes the judgment sets of two assessors or more ({sets}); name any two with --sets"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    return names


@dataclass(frozen=True, eq=False)
class Labels:
    """The judgments of the sets on what all of them judged; `about` names the kind of judgment."""

    about: str
    sets: Mapping[str, pl.Series]
    notes: tuple[str, ...] = ()


def compared_labels(evaluation: Evaluation, names: Sequence[str], *, chosen: bool) -> list[Labels]:
    """The labels of each kind of judgment, those of items and pairs first; kinds that do not occur are absent.

    `chosen` says that the user named the sets: all of them are compared then. Else a set without any label of a kind
    is left out of it.
    """
    judged = {name: evaluation.judgment_set(name) for name in names}
    (about, items), *others = label_tables(evaluation, judged)
    compared = [_side_by_side(about, items, names, chosen=chosen)]
    for about, labels in others:
        compared.append(_side_by_side(about, labels, labels.columns[2:], chosen=False))
    return [labels for labels in compared if len(next(iter(labels.sets.values())))] or compared[:1]


def label_tables(evaluation: Evaluation, judged: Mapping[str, JudgmentSet]) -> list[tuple[str, pl.DataFrame]]:
    """Labels of every judged subject side by side, one table per kind: question, item, and a column for each set.

    Items and pairs come first, with a column for all sets; of another kind only the sets that have it.
    """
    side_by_side = [("items", labels_of_sets(judged.values()))]
    for record in ROW_KINDS.values():
        if record.compared in ("", "items"):
            continue
        tables = {
            name: record.labels_of(own.kind(record.name), evaluation.nugget_list(name))
            for name, own in judged.items()
            if record.name in own.kinds
        }
        having = {name: labels for name, labels in tables.items() if len(labels)}
        if len(having) > 1:
            side_by_side.append((record.compared, joined(having)))
    return side_by_side


def _side_by_side(about: str, labels: pl.DataFrame, names: Sequence[str], *, chosen: bool) -> Labels:
    """Keep the rows that all sets have, and say how many they do not."""
    having = [name for name in names if labels[name].null_count() < len(labels)]
    notes = []
    if not chosen and 1 < len(having) < len(names):
        notes.append(f"Sets without judgments of these items: {', '.join(n for n in names if n not in having)}.")
        names = having
    complete = labels.drop_nulls(list(names))
    partly = labels.filter(~pl.all_horizontal(pl.col(names).is_null())).height - complete.height
    if partly:
        notes.append(f"Judged by some of the sets only, and not compared: {partly:,} {about}.")
    return Labels(about, {name: complete[name] for name in names}, tuple(notes))
