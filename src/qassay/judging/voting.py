"""One judgment set from those of several people: the label of the majority, or a model's guess (METHOD 6).

    majority       the label that most people gave; a tie is unjudged
    dawid-skene    Dawid and Skene (1979): class shares and one confusion matrix per person, estimated together with
                   the probability of every label of every item; the guess is the most probable label

People are the assessors that rows name; a row without one is the set's. Labels of one scheme are voted on together,
so that a person has one confusion matrix for factoids and lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from qassay.arrays import Floats, Integers
from qassay.judging import JUDGMENT_COLUMNS, ROW_KINDS
from qassay.judging.kind import SUBJECT_COLUMNS
from qassay.judging.sets import JudgmentSet
from qassay.results import document

Rule = Literal["majority", "dawid-skene"]
MAJORITY: Rule = "majority"
DAWID_SKENE: Rule = "dawid-skene"
RULES: tuple[Rule, ...] = (MAJORITY, DAWID_SKENE)
# Between the rule and the sets it is applied to: dawid-skene:first,second,third.
OF = ":"
# Below these the model is worse than the majority, and claims more.
LEAST_LABELS = 3
LEAST_ITEMS = 20
STEPS = 1000
CLOSE = 1e-9
# Probabilities, or shares, nearer to each other than this are equal.
EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class Votes:
    """Labels given, one entry each: the item, the person and the label by number, and how many there are of each."""

    items: Integers
    people: Integers
    labels: Integers
    sizes: tuple[int, int, int]

    def shares(self) -> Floats:
        """For each item the share of its labels that each label has."""
        count, _, kinds = self.sizes
        counts = np.bincount(self.items * kinds + self.labels, minlength=count * kinds).reshape(count, kinds)
        return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """The fitted model: `probabilities[item, label]`, the share of each label, and `confusion[person, true, given]`."""

    probabilities: Floats
    shares: Floats
    confusion: Floats
    steps: int


@dataclass(frozen=True, slots=True)
class Vote:
    """The basis of a vote and its result."""

    rule: Rule
    sets: tuple[str, ...]
    people: int
    items: int
    labels_per_item: float
    items_per_person: float
    ties: int
    # On how many items the guess of the model is not the label of the majority; ties are not counted.
    differs_from_majority: int
    # Nugget judgments that are not part of the vote, because the sets have nugget lists of their own.
    nugget_judgments_left_out: int = 0

    def fault(self) -> str | None:
        """Why the model is not offered here, where it is not."""
        enough = self.labels_per_item >= LEAST_LABELS and self.items_per_person >= LEAST_ITEMS
        if self.rule == MAJORITY or enough:
            return None
        return (
            f"{self.rule} needs {LEAST_LABELS} labels per item and {LEAST_ITEMS} items per person (medians); here they "
            f"are {self.labels_per_item:g} and {self.items_per_person:,g}"
        )

    def as_json(self) -> dict[str, object]:
        """The figures of `score --json`."""
        return document(self)

    def sentence(self) -> str:
        """Notes for readers of scores under such a key."""
        size = f"{self.people:,} people, {self.items:,} items, {self.labels_per_item:g} labels per item (median)"
        ties = f"; {self.ties:,} ties are unjudged" if self.ties else ""
        if self.nugget_judgments_left_out:
            ties += (
                f"; {self.nugget_judgments_left_out:,} nugget judgments are left out, because the nugget lists differ"
            )
        if self.rule == MAJORITY:
            return f"Judgments: the majority of {', '.join(self.sets)} ({size}){ties}."
        differs = f"it differs from the majority on {self.differs_from_majority:,} items"
        return f"Judgments: a model's guess (Dawid-Skene) from {', '.join(self.sets)} ({size}); {differs}{ties}."


def majority(votes: Votes) -> Integers:
    """The label that most people gave to each item; -1 for a tie."""
    return _winners(votes.shares())


def dawid_skene(votes: Votes) -> DawidSkene:
    """Fit the model by expectation maximisation, from the shares of the votes on, with add-one smoothing in every step.

    The step of the parameters: share of label c = (1 + sum over items of q[i, c]) / (K + items), and for person p the
    probability to say k where c is true = (1 + sum of q[i, c] over the items called k) / (K + sum over all k). The
    step of the items: q[i, c] in proportion to the share of c times the probabilities of all labels given to i.
    """
    count, people, kinds = votes.sizes
    q = votes.shares()
    cell = votes.people * kinds + votes.labels
    shares, confusion, step = np.zeros(kinds), np.zeros((people, kinds, kinds)), 0
    for step in range(1, STEPS + 1):  # noqa: B007  # the number of steps is a result
        shares = (1 + q.sum(axis=0)) / (kinds + count)
        for true in range(kinds):
            weights = np.bincount(cell, weights=q[votes.items, true], minlength=people * kinds).reshape(people, kinds)
            confusion[:, true, :] = (1 + weights) / (kinds + weights.sum(axis=1, keepdims=True))
        chances = np.log(confusion)[votes.people, :, votes.labels]
        logs = np.log(shares) + np.stack(
            [np.bincount(votes.items, weights=chances[:, true], minlength=count) for true in range(kinds)], axis=1
        )
        logs -= logs.max(axis=1, keepdims=True)
        after = np.exp(logs)
        after /= after.sum(axis=1, keepdims=True)
        change = float(np.abs(after - q).max(initial=0.0))
        q = after
        if change < CLOSE:
            break
    return DawidSkene(q, shares, confusion, step)


def _winners(values: Floats) -> Integers:
    """The place of the largest value of each row; -1 where two are equal."""
    if values.shape[1] < 2:
        return np.zeros(len(values), dtype=np.int64)
    ordered = np.sort(values, axis=1)
    tied = ordered[:, -1] - ordered[:, -2] < EQUAL
    return np.where(tied, -1, values.argmax(axis=1)).astype(np.int64)


# ---- judgment sets --------------------------------------------------------------------------------------------------


def parse_rule(name: str) -> tuple[Rule, tuple[str, ...] | None] | None:
    """The rule that a key names, and the sets it names; None where the name is not that of a rule.

    >>> parse_rule("dawid-skene:first,second"), parse_rule("majority"), parse_rule("first")
    (('dawid-skene', ('first', 'second')), ('majority', None), None)
    """
    written, colon, listed = name.partition(OF)
    rule = next((known for known in RULES if known == written), None)
    if rule is None:
        return None
    sets = tuple(dict.fromkeys(part.strip() for part in listed.split(",") if part.strip()))
    return rule, sets if colon else None


def vote(name: str, rule: Rule, sets: Sequence[JudgmentSet], nuggets: pl.DataFrame | None) -> tuple[JudgmentSet, Vote]:
    """One set by this rule, with the figures of the vote. Opinions on a scale (ratings) are not voted on.

    `nuggets` is the nugget list that all sets share; without one, nugget judgments are left out.
    """
    rows = _label_rows(sets, nuggets)
    kinds: dict[str, list[pl.DataFrame]] = {}
    ties = differs = 0
    for scheme in rows["compared"].unique(maintain_order=True):
        group = rows.filter(pl.col("compared") == scheme)
        votes, labels, items = _votes(group)
        plain = majority(votes)
        won = plain if rule == MAJORITY else _winners(dawid_skene(votes).probabilities)
        ties += int((won < 0).sum())
        differs += int(((won != plain) & (plain >= 0) & (won >= 0)).sum())
        decided = items.with_columns(
            won=pl.Series([None if label < 0 else labels[label] for label in won.tolist()], dtype=pl.String)
        )
        for (kind,), chosen in decided.partition_by("kind", as_dict=True).items():
            kinds.setdefault(str(kind), []).append(chosen)
    tables = {kind: _rows_of(kind, pl.concat(chosen), sets) for kind, chosen in kinds.items()}
    per_item, per_person = (rows.group_by(by).len()["len"] for by in (["kind", *_SUBJECT], ["person"]))
    figures = Vote(
        rule=rule,
        sets=tuple(judged.name for judged in sets),
        people=len(per_person),
        items=len(per_item),
        labels_per_item=_median(per_item),
        items_per_person=_median(per_person),
        ties=ties,
        differs_from_majority=differs,
        nugget_judgments_left_out=0 if nuggets is not None else _nugget_judgments(sets),
    )
    return JudgmentSet(name, tables), figures


def shared_nuggets(lists: Sequence[pl.DataFrame]) -> pl.DataFrame | None:
    """The nugget list of a vote: a nugget is vital where more than half of the lists say so.

    None where the lists do not name the same nuggets by the same ids: there is no list to vote on then.
    """
    nugget_sets = [set(nugget_list.select("question", "nugget", "text").iter_rows()) for nugget_list in lists]
    if not nugget_sets or any(other != nugget_sets[0] for other in nugget_sets[1:]):
        return None
    marks = pl.concat([nugget_list.select("question", "nugget", "vital") for nugget_list in lists])
    vital = marks.group_by("question", "nugget").agg(pl.col("vital").mean() > 0.5)
    first = lists[0].drop("vital").join(vital, on=["question", "nugget"], maintain_order="left")
    return first.select(lists[0].columns)


def _nugget_judgments(sets: Sequence[JudgmentSet]) -> int:
    return sum(rows.height for judged in sets for kind, rows in judged.kinds.items() if ROW_KINDS[kind].by_nuggets)


def _median(counts: pl.Series) -> float:
    return float(np.median(counts.to_numpy())) if len(counts) else 0.0


# Everything that may identify what is judged; who judges it is not a part of that.
_SUBJECT = [name for name in SUBJECT_COLUMNS if name != "assessor"]


def _label_rows(sets: Sequence[JudgmentSet], nuggets: pl.DataFrame | None) -> pl.DataFrame:
    """Every label that a person gave: its scheme, its kind and subject, and the person."""
    tables = []
    for judged in sets:
        for kind, table in judged.kinds.items():
            record = ROW_KINDS[kind]
            if not record.compared or (record.by_nuggets and nuggets is None):
                continue
            with_person = table.with_columns(person=pl.col("assessor").fill_null(judged.name))
            if kind == "match" and nuggets is not None:
                labelled = _match_labels(with_person, nuggets)
            else:
                identity = [name for name in _SUBJECT if name in record.identity]
                labelled = with_person.select(*identity, "person", label=next(iter(record.fields)))
            tables.append(labelled.with_columns(kind=pl.lit(kind), compared=pl.lit(record.compared)))
    columns = {name: SUBJECT_COLUMNS[name] for name in _SUBJECT}
    texts = dict.fromkeys(("compared", "kind", "person", "label"), pl.String)
    every = pl.concat([pl.DataFrame(schema={**columns, **texts}), *tables], how="diagonal")
    # Someone who judged an item in two sets has one vote, the later one.
    return every.unique(["kind", *_SUBJECT, "person"], keep="last", maintain_order=True)


def _match_labels(table: pl.DataFrame, nuggets: pl.DataFrame) -> pl.DataFrame:
    """For each judged response and each nugget of the list, whether the person found it: yes or no."""
    by = ["question", "run", "person"]
    responses = table.select(by).unique(maintain_order=True)
    pairs = responses.join(nuggets.select("question", "nugget"), on="question", maintain_order="left")
    hits = table.select(*by, nugget="nuggets").explode("nugget").drop_nulls().unique().with_columns(label=pl.lit("yes"))
    labelled = pairs.join(hits, on=[*by, "nugget"], how="left", maintain_order="left")
    return labelled.with_columns(pl.col("label").fill_null("no"))


def _votes(rows: pl.DataFrame) -> tuple[Votes, list[str], pl.DataFrame]:
    """The votes of one scheme as numbers, the labels, and the items in the order of their numbers."""
    subject = ["kind", *_SUBJECT]
    items = rows.select(subject).unique(maintain_order=True).with_row_index("number")
    labels = sorted(set(rows["label"]))
    people = {person: number for number, person in enumerate(rows["person"].unique(maintain_order=True))}
    numbered = rows.join(items, on=subject, nulls_equal=True, maintain_order="left")
    codes = {label: number for number, label in enumerate(labels)}
    votes = Votes(
        numbered["number"].to_numpy().astype(np.int64),
        np.array([people[person] for person in numbered["person"]], dtype=np.int64),
        np.array([codes[label] for label in numbered["label"]], dtype=np.int64),
        (items.height, len(people), len(labels)),
    )
    return votes, labels, items


def _rows_of(kind: str, decided: pl.DataFrame, sets: Sequence[JudgmentSet]) -> pl.DataFrame:
    """The judgments of one kind: for each decided subject the first row with its label, without the assessor."""
    if kind == "match":
        return _match_rows(decided)
    record = ROW_KINDS[kind]
    label = next(iter(record.fields))
    subject = [name for name in _SUBJECT if name in record.identity]
    judgments = pl.concat([judged.kind(kind) for judged in sets])
    won = decided.drop_nulls("won").select(*subject, pl.col("won").alias(label))
    chosen = judgments.join(won, on=[*subject, label], how="semi", nulls_equal=True, maintain_order="left")
    first = chosen.unique(subject, keep="first", maintain_order=True)
    return first.with_columns(assessor=pl.lit(None, pl.String))


def _match_rows(decided: pl.DataFrame) -> pl.DataFrame:
    """One row per response with the nuggets that it has; a response with a tie is left unjudged."""
    responses = decided.group_by("question", "run", maintain_order=True).agg(
        nuggets=pl.col("nugget").filter(pl.col("won") == "yes"), tied=pl.col("won").is_null().any()
    )
    whole = responses.filter(~pl.col("tied")).select("question", "run", "nuggets")
    empty = pl.DataFrame(schema={"line": pl.UInt32, **JUDGMENT_COLUMNS})
    return pl.concat([empty, whole], how="diagonal").with_columns(pl.col("line").fill_null(0))
