"""A report as data: the results it is made from, and what it says, which all its forms show.

It says the answer, sections with exhibits, methods and commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.meta.agreement.result import Agreement
from qassay.meta.distributions import ScoreDistributions
from qassay.meta.intervals import ScoreIntervals
from qassay.meta.planning import Plan
from qassay.meta.sensitivity import SensitivityCurves
from qassay.meta.significance import AllPairs, PairComparison
from qassay.meta.stability import MeasureStability
from qassay.pages import Exhibit, Page
from qassay.scoring import Scores


@dataclass(frozen=True)
class Material:
    """The results of one measure.

    `scores` are there where an evaluation was scored, `first_two` where there are two runs. `missing` says, in
    sentences, why an analysis is not in the report; `commands` are what reproduces each part. `judged_by` are the
    judgment sets of the evaluation. `pages` are those of studies by name, each with its question as
    the title.
    """

    name: str
    matrix: ScoreMatrix
    intervals: ScoreIntervals
    pairs: AllPairs
    spread: ScoreDistributions
    seed: int = 0
    scores: Scores | None = None
    task_title: str = ""
    measure_title: str = ""
    first_two: PairComparison | None = None
    curves: SensitivityCurves | None = None
    plan: Plan | None = None
    agreement: tuple[Agreement, ...] = ()
    stability: MeasureStability | None = None
    judged_by: tuple[str, ...] = ()
    pages: tuple[Page, ...] = ()
    missing: tuple[str, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)
    version: str = ""

    @property
    def on_shared_units(self) -> bool:
        """Whether gaps of runs were skipped: the analyses then use the units that all runs have."""
        return self.scores is not None and self.scores.missing is not None and self.scores.missing[0] == "skip"


@dataclass(frozen=True)
class Fact:
    """One number that people look for, with what it is called and what it means."""

    label: str
    value: str
    meaning: str


@dataclass(frozen=True, repr=False)
class Report:
    """A report. `answer` is the first thing that is read; its first sentence says who is ahead.

    `sections` are the pages of the studies together, one for each question.
    """

    title: str
    subtitle: str
    answer: tuple[str, ...]
    facts: tuple[Fact, ...]
    sections: tuple[Page, ...]
    methods: tuple[str, ...]
    commands: Mapping[str, str] = field(default_factory=dict)
    scores: Scores | None = None
    version: str = ""

    def __repr__(self) -> str:
        return f"Report: {self.answer[0]}"

    @cached_property
    def drawn(self) -> tuple[Page, ...]:
        """The sections with every figure drawn and a table for each; without figures that the results do not give."""
        return tuple(
            replace(section, exhibits=tuple(drawn for exhibit in section.exhibits for drawn in _drawn(exhibit)))
            for section in self.sections
        )

    def exhibits(self) -> list[Exhibit]:
        """All exhibits, in order."""
        return [exhibit for section in self.drawn for exhibit in section.exhibits]

    def html(self) -> str:
        """One HTML file that needs nothing else."""
        from qassay.reports.page import report_page

        return report_page(self)

    def markdown(self) -> str:
        """The report in Markdown, without pictures."""
        from qassay.reports.markdown import report_markdown

        return report_markdown(self)

    def latex(self, *, top: int | None = None) -> str:
        """Tables for a paper, in the form of the TREC overviews, of the `top` best runs where that is given."""
        from qassay.reports.latex import report_latex

        return report_latex(self, top=top)

    def _repr_html_(self) -> str:
        from qassay.reports.page import notebook_block

        return notebook_block(self)


def _drawn(exhibit: Exhibit) -> list[Exhibit]:
    """The exhibit with its figure drawn, named after it; its table alone, or nothing, where there is no figure."""
    with suppress(UsageError):
        if (figure := exhibit.figure) is not None:
            return [replace(exhibit, name=figure.name, table=exhibit.table or figure.table, draw=lambda: figure)]
    return [] if exhibit.table is None else [replace(exhibit, draw=None)]
