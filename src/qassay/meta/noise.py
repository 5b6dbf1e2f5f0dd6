"""Judging noise: how differently identical responses fare when they are judged separately.

Lists and nugget responses are judged one run at a time. Where two runs return the same for every question of the
type, all that differs between their scores is the judging [QA03].
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from qassay.arrays import TIE
from qassay.errors import UsageError
from qassay.results import UNREPORTED, reported
from qassay.tables import Cell, Column, Table, decimals, table

ITEM = ("question", "doc", "text")


@dataclass(frozen=True, slots=True)
class NoisePair:
    """Two runs with identical responses: the questions judged differently, and their mean scores' distance."""

    a: str
    b: str
    differing: tuple[str, ...] = field(metadata=UNREPORTED)
    difference: float

    @reported
    def questions(self) -> int:
        """Number of questions judged differently."""
        return len(self.differing)


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise in the scores of one component from judging identical responses separately.

    `identical` has the pairs of runs that return the same for all questions (`asked` of them), and
    `questions_differing[n]` counts those for which n questions were judged differently. `questions` names the questions
    with a difference in any pair; `assessors` counts them by assessor, where known. `min`, `max` and `mean` are of the
    distances between mean scores; None where no two runs are identical.
    """

    component: str
    runs: int
    asked: int
    identical: tuple[NoisePair, ...]
    questions_differing: Mapping[str, int]
    questions: tuple[str, ...]
    assessors: Mapping[str, int]
    min: float | None
    max: float | None
    mean: float | None
    notes: tuple[str, ...] = ()

    @reported
    def pairs(self) -> int:
        """Number of pairs of runs with identical responses."""
        return len(self.identical)

    @reported
    def questions_with_any_difference(self) -> int:
        """Number of questions that some pair shows to be judged differently."""
        return len(self.questions)

    def table(self) -> Table:
        """The figures, one per row."""
        rows: list[tuple[Cell, ...]] = [("pairs of runs with identical responses", self.pairs)]
        if self.pairs:
            rows += [
                (f"  pairs with {n} of {self.asked} questions judged differently", count)
                for n, count in self.questions_differing.items()
            ]
            rows.append(("questions with any difference", self.questions_with_any_difference))
            rows += [(f"  judged by {assessor}", count) for assessor, count in self.assessors.items()]
            rows.append(("smallest difference of mean scores", self.min))
            rows.append(("mean difference of mean scores", self.mean))
            rows.append(("largest difference of mean scores", self.max))
        columns = [Column("", left=True), Column("", f".{decimals((self.min, self.mean, self.max))}f")]
        return table(f"Judging noise, {self.component} questions", columns, rows, self.notes)


def judging_noise(
    items: pl.DataFrame,
    scores: pl.DataFrame,
    *,
    component: str,
    assessors: Mapping[str, str] | None = None,
    verdicts: Mapping[tuple[str, str], Hashable] | None = None,
) -> Noise:
    """Find the runs whose responses to one component are identical, and compare their scores [QA03] 4.2.

    `items` has one row per returned item: run, question, doc, text (null where there is none). `scores` has one row per
    run and question: run, question, score; it says which questions count, and a run without items there gave empty
    responses. Runs are identical where they return, for every question, the same [doc, string] items equally often,
    in any order. A question counts as judged differently where the scores differ by 1e-9 or more, or, where
    `verdicts` say what was matched in the response of a run to a question (nuggets), where these differ, even where
    the score is the same. `assessors` names who judged each question.
    """
    for name, frame, columns in (("items", items, ("run", *ITEM)), ("scores", scores, ("run", "question", "score"))):
        missing = [column for column in columns if column not in frame.columns]
        if missing:
            raise UsageError(f"{name} need the column {missing[0]}")
    scored = scores.select(pl.col("run", "question").cast(pl.String), pl.col("score").cast(pl.Float64)).drop_nulls()
    by_run: dict[str, dict[str, float]] = {}
    for run, question, score in scored.iter_rows():
        by_run.setdefault(run, {})[question] = score
    questions = list(scored["question"].unique(maintain_order=True))
    pairs = tuple(
        _pair(a, b, by_run, questions, verdicts)
        for group in identical_runs(items, sorted(by_run), questions)
        for a, b in itertools.combinations(group, 2)
        if by_run[a].keys() & by_run[b].keys()
    )
    differing = tuple(q for q in questions if any(q in pair.differing for pair in pairs))
    differences = [pair.difference for pair in pairs]
    return Noise(
        component=component,
        runs=len(by_run),
        asked=len(questions),
        identical=pairs,
        questions_differing={
            str(n): count for n, count in sorted(Counter(len(pair.differing) for pair in pairs).items())
        },
        questions=differing,
        assessors=_spread(differing, assessors or {}),
        min=min(differences, default=None),
        max=max(differences, default=None),
        mean=math.fsum(differences) / len(differences) if differences else None,
        notes=() if pairs else ("No two runs return the same for every question: nothing can be said of the noise.",),
    )


def identical_runs(items: pl.DataFrame, runs: Sequence[str], questions: Sequence[str]) -> list[list[str]]:
    """Groups of two runs or more that return the same items, equally often, for each of these questions."""
    chosen = items.select(pl.col("run", *ITEM).cast(pl.String)).filter(
        pl.col("question").is_in(questions), pl.col("run").is_in(runs)
    )
    # Equal items get equal numbers: two runs are identical where their sorted numbers are. A row with neither a
    # document nor a string stands for an empty response, and is not an item.
    chosen = chosen.filter(pl.col("doc").is_not_null() | pl.col("text").is_not_null())
    numbers = chosen.select(ITEM).unique(maintain_order=True).with_row_index("number")
    listed = chosen.join(numbers, on=ITEM, nulls_equal=True).sort("run", "number").group_by("run").agg("number")
    returned = {run: tuple(numbers) for run, numbers in listed.iter_rows()}
    groups: dict[tuple[int, ...], list[str]] = {}
    for run in runs:
        groups.setdefault(returned.get(run, ()), []).append(run)
    # Runs that return nothing at all are alike without being judged.
    return [group for numbers, group in groups.items() if len(group) > 1 and numbers]


def _pair(
    a: str,
    b: str,
    scores: Mapping[str, Mapping[str, float]],
    questions: Sequence[str],
    verdicts: Mapping[tuple[str, str], Hashable] | None,
) -> NoisePair:
    """Compare two runs on the questions that both have a score for."""
    first, second = scores[a], scores[b]
    both = [question for question in questions if question in first and question in second]

    def differs(question: str) -> bool:
        if verdicts is not None and verdicts.get((a, question)) != verdicts.get((b, question)):
            return True
        return abs(first[question] - second[question]) >= TIE

    changed = tuple(question for question in both if differs(question))
    difference = math.fsum(first[question] - second[question] for question in both) / len(both)
    return NoisePair(a, b, changed, abs(difference))


def _spread(questions: Sequence[str], assessors: Mapping[str, str]) -> dict[str, int]:
    counts = Counter(assessors[question] for question in questions if question in assessors)
    return dict(sorted(counts.items(), key=lambda assessor_count: (-assessor_count[1], assessor_count[0])))
