"""Judgment sets by the role of the assessor: those of the author of each question, and those of another person.

The set `author` has, of every question, the judgments that its author made, and `other` those of the first assessor who
is not its author [DEF03, QA03]. They follow from the sets of the assessors, whose rows name the assessor, and from the
questions, which name their author; a question without an author is in neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from qassay.judging.sets import JudgmentSet
from qassay.questions import TestSet

AUTHOR = "author"
OTHER = "other"
BY_ROLE = (AUTHOR, OTHER)


def has_authors(questions: TestSet) -> bool:
    """Whether any question names its author."""
    return any(question.author for question in questions)


def set_by_role(role: str, sets: Sequence[JudgmentSet], questions: TestSet) -> tuple[JudgmentSet, dict[str, str]]:
    """The judgments of a role, and the set that those of each question come from: the first that has any."""
    authors = {question.id: question.author for question in questions if question.author}
    chosen: dict[str, str] = {}
    parts: dict[str, list[pl.DataFrame]] = {}
    for judged in sets:
        of_role = {kind: _of_role(role, table, authors) for kind, table in judged.kinds.items()}
        judged_questions = {question for table in of_role.values() for question in table["question"]}
        new = {question: judged.name for question in judged_questions if question not in chosen}
        chosen |= new
        for kind, table in of_role.items():
            parts.setdefault(kind, []).append(table.filter(pl.col("question").is_in(list(new))))
    kinds = {kind: pl.concat(tables) for kind, tables in parts.items() if any(table.height for table in tables)}
    return JudgmentSet(role, kinds), chosen


def _of_role(role: str, table: pl.DataFrame, authors: Mapping[str, str]) -> pl.DataFrame:
    """The rows of a table that the author of their question made, or that somebody else made."""
    author = pl.col("question").replace_strict(authors, default=None, return_dtype=pl.String)
    by_author = pl.col("assessor") == author
    return table.filter(by_author if role == AUTHOR else ~by_author)
