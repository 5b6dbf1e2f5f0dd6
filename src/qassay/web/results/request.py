"""What is asked of the evaluation, and what the answers have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from qassay.evaluation import Evaluation
from qassay.scores import Scores
from qassay.tables import Cell, Column, Table, table
from qassay.web.results.choices import Choice, Offer
from qassay.web.results.finding import Finding

Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class StudyRequest:
    """What is asked: a study, how runs are scored, and the study's own options. With `whole`, no table is cut."""

    study: str
    choice: Choice = field(default_factory=Choice)
    options: tuple[tuple[str, Any], ...] = ()
    whole: bool = False

    @property
    def given(self) -> dict[str, Any]:
        """The study's own options."""
        return dict(self.options)


@dataclass(frozen=True, slots=True)
class Reply:
    """What there is to choose from, and what was found, or why nothing was."""

    offer: Offer
    finding: Finding | None = None
    message: str = ""
    problems: tuple[dict[str, Any], ...] = ()


def scored(evaluation: Evaluation, choice: Choice) -> Scores:
    """The scores of an evaluation; the last ones are kept, since the next page asks for them again."""
    kept = _last.get("scores")
    if kept is not None and kept[0] is evaluation and kept[1] == choice:
        return kept[2]
    scores = evaluation.score(**choice.as_options())
    _last["scores"] = (evaluation, choice, scores)
    return scores


_last: dict[str, tuple[Evaluation, Choice, Scores]] = {}


def contingency_table(title: str, counts: Mapping[str, Mapping[str, int]]) -> Table:
    """Reference answers (rows) against decisions (columns)."""
    labels = list(counts)
    rows: list[tuple[Cell, ...]] = [(label, *row.values(), sum(row.values())) for label, row in counts.items()]
    sums = [sum(counts[row][label] for row in labels) for label in labels]
    columns: list[Column | str] = ["reference", *map(Column, labels), Column("all")]
    return table(f"{title}: reference (rows) and response (columns)", columns, [*rows, ("all", *sums, sum(sums))])
