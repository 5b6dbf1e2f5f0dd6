"""The results pages there are: what each asks, where it stands, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass

from qassay.web.results.parameters import (
    CompareParameters,
    LeaderboardParameters,
    Parameters,
    QuestionParameters,
    RunParameters,
    SensitivityParameters,
    SetsParameters,
    StabilityParameters,
    UnitsParameters,
)


@dataclass(frozen=True, slots=True)
class View:
    """One results page: its study, what its address may say, and what it is called.

    A heading may name what was asked for, such as `{run}`. `about` tells programs what the page answers; the
    leaderboard tells that itself.
    """

    study: str
    parameters: type[Parameters]
    label: str
    heading: str
    about: str = ""
    template: str = "results.html"
    tab: bool = True

    @property
    def path(self) -> str:
        """Where the page is."""
        return "/results" if self.study == "leaderboard" else f"/results/{self.study}"

    @property
    def csv(self) -> str:
        """Where the CSV of its tables is."""
        return f"/results/{self.study}.csv"


LEADERBOARD = View("leaderboard", LeaderboardParameters, "Leaderboard", "Results")
# The pages that are their study and nothing more.
STUDIES: tuple[View, ...] = (
    View(
        "units",
        UnitsParameters,
        label="Scores",
        heading="Scores on every unit",
        about="Every run on every unit or question.",
        template="results_units.html",
    ),
    View(
        "spread",
        Parameters,
        label="Spread",
        heading="How scores spread",
        about="Box statistics, zero medians, and what the ranking owes to weights.",
    ),
    View(
        "compare",
        CompareParameters,
        label="Compare",
        heading="Compare runs",
        about="Two runs, or all pairs.",
        template="results_compare.html",
    ),
    View(
        "sensitivity",
        SensitivityParameters,
        label="Sensitivity",
        heading="Which difference can be trusted?",
        about="Error rates of comparisons and the minimum difference.",
        template="results_sensitivity.html",
    ),
    View(
        "stability",
        StabilityParameters,
        label="Stability",
        heading="Would other judgments change the ranking?",
        about="Rankings under different judgment sets.",
        template="results_sets.html",
    ),
    View(
        "agreement",
        SetsParameters,
        label="Agreement",
        heading="How far do the assessors agree?",
        about="Disagreement tables and agreement statistics.",
        template="results_sets.html",
    ),
    View(
        "run",
        RunParameters,
        label="Run",
        heading="Run {run}",
        about="What one run got right and wrong.",
        template="results_run.html",
        tab=False,
    ),
    View(
        "question",
        QuestionParameters,
        label="Question",
        heading="Question {question}",
        about="All answers to one question, and all judgments of them.",
        tab=False,
    ),
)
VIEWS = (LEADERBOARD, *STUDIES)
