"""Nugget lists of two assessors side by side: how long they are, how much is vital, and which texts are in both."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from qassay.nuggets import known_by_text
from qassay.tables import Cell, Column, Table, table


@dataclass(frozen=True, slots=True)
class ListPair:
    """Two nugget lists on the questions for which both have nuggets.

    `nuggets`, `vital` and `okay` are numbers of each of the two; `both` counts the texts that are in both lists, and
    `same_mark` those of them that both call vital, or both okay. Blanks and capitals make no difference.
    """

    a: str
    b: str
    questions: int
    nuggets: tuple[int, int]
    vital: tuple[int, int]
    okay: tuple[int, int]
    both: int
    same_mark: int

    def difference(self) -> str | None:
        """How the lists differ; None where they have the same nuggets."""
        if (self.both, self.both) == self.nuggets:
            return None
        numbers = f"{self.both:,} of {self.nuggets[0]:,} and {self.nuggets[1]:,} nuggets are in both"
        return f"The nugget lists of {self.a} and {self.b} differ: {numbers}"

    def table(self) -> Table:
        """One row per list."""
        columns = [Column("list", left=True), Column("questions"), Column("nuggets"), Column("per question", ".1f")]
        columns += [Column("vital"), Column("okay"), Column("texts in both"), Column("share in both", ".3f")]
        mean = [count / self.questions if self.questions else None for count in self.nuggets]
        shared = [self.both / count if count else None for count in self.nuggets]
        rows: list[tuple[Cell, ...]] = [
            (name, self.questions, self.nuggets[i], mean[i], self.vital[i], self.okay[i], self.both, shared[i])
            for i, name in enumerate((self.a, self.b))
        ]
        note = f"Of the {self.both:,} texts in both lists, {self.same_mark:,} have the same mark (vital or okay)."
        return table(f"Nugget lists of {self.a} and {self.b}, on the questions of both", columns, rows, [note])


def compare_lists(lists: Mapping[str, pl.DataFrame]) -> tuple[ListPair, ...]:
    """Compare nugget lists, given as tables with question, nugget, vital and text, two by two."""
    return tuple(_pair(a, b, lists) for a, b in itertools.combinations(lists, 2))


def differing(pairs: Iterable[ListPair]) -> tuple[ListPair, ...]:
    """The pairs of lists that do not have the same nuggets."""
    return tuple(pair for pair in pairs if pair.difference())


def differences(pairs: Iterable[ListPair]) -> list[str]:
    """How lists differ and what is left out of comparisons, a note for each pair."""
    return [f"{pair.difference()}. Judgments of the others are not compared." for pair in differing(pairs)]


def _pair(a: str, b: str, lists: Mapping[str, pl.DataFrame]) -> ListPair:
    questions = set(lists[a]["question"]).intersection(lists[b]["question"])
    list_a, list_b = (lists[name].filter(pl.col("question").is_in(list(questions))) for name in (a, b))
    marks = [_marks(nuggets) for nuggets in (list_a, list_b)]
    both = [text for text in marks[0] if text in marks[1]]
    vital = (int(list_a["vital"].sum()), int(list_b["vital"].sum()))
    return ListPair(
        a=a,
        b=b,
        questions=len(questions),
        nuggets=(list_a.height, list_b.height),
        vital=vital,
        okay=(list_a.height - vital[0], list_b.height - vital[1]),
        both=len(both),
        same_mark=sum(marks[0][text] == marks[1][text] for text in both),
    )


def _marks(nuggets: pl.DataFrame) -> dict[tuple[str, str], bool]:
    """Whether each text of each question is vital."""
    known = known_by_text(nuggets).with_columns(nuggets["vital"])
    return {(question, text): bool(vital) for question, _, text, vital in known.iter_rows()}
