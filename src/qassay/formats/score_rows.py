"""Scores in long form: one row per system, question, metric and repeat, as columns of equal length.

Long tables, the logs of other tools and rows of JSON all become this record before they become a score matrix, so that
rules about metrics, repeats and missing scores are applied in one place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from qassay.errors import Problems


@dataclass
class ScoreRows:
    """The scores that one file contains.

    `form` names the form for people ("long table", "Inspect log"). Row i is `systems[i]`, `questions[i]` and so on. A
    value of NaN is a score that the file names but does not have: a sample that failed, an empty cell. `repeats` are
    the names of epochs, seeds or trials, empty where there is one answer per question; `metrics` are empty where the
    form has no name for its score. `default_metric` is used where none is chosen, where the tool puts one first.
    `higher_is_better` is what the form itself says of its metrics. `lines` are the places of the rows in the file,
    where it has lines. `notes` are sentences that every output repeats
    (which words became which numbers); `warnings` are for people to act on (a version that was never tried, a run that
    was interrupted).
    """

    form: str
    file: str
    systems: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    repeats: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    default_metric: str | None = None
    higher_is_better: dict[str, bool] = field(default_factory=dict)
    lines: list[int] | None = None
    notes: list[str] = field(default_factory=list)
    warnings: Problems = field(default_factory=Problems)

    def __len__(self) -> int:
        return len(self.values)

    def add(self, system: str, question: str, value: float | None, *, metric: str = "", repeat: str = "") -> None:
        """Add one score; None is a missing one."""
        self.systems.append(system)
        self.questions.append(question)
        self.metrics.append(metric)
        self.repeats.append(repeat)
        self.values.append(math.nan if value is None else value)
