"""A report as data: the answer, sections with exhibits, methods, commands. The forms show the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qassay.figures import Figure
from qassay.scoring import Scores
from qassay.tables import Table


@dataclass(frozen=True)
class Fact:
    """One number that people look for, with what it is called and what it means."""

    label: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Exhibit:
    """A figure with its table, or a table alone.

    `name` is the name of its files. A table that is `folded` opens when a reader asks for it.
    """

    name: str
    table: Table
    figure: Figure | None = None
    folded: bool = False


@dataclass(frozen=True)
class Section:
    """One question of the reader: its answer in sentences, and what shows it."""

    name: str
    title: str
    sentences: tuple[str, ...]
    exhibits: tuple[Exhibit, ...] = ()


@dataclass(frozen=True, repr=False)
class Report:
    """A report. `answer` is the first thing that is read; its first sentence says who is ahead."""

    title: str
    subtitle: str
    answer: tuple[str, ...]
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    methods: tuple[str, ...]
    commands: Mapping[str, str] = field(default_factory=dict)
    scores: Scores | None = None
    version: str = ""

    def __repr__(self) -> str:
        return f"Report: {self.answer[0]}"

    def exhibits(self) -> list[Exhibit]:
        """All exhibits, in order."""
        return [exhibit for section in self.sections for exhibit in section.exhibits]

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
