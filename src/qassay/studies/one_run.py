"""One run: its place among all, its scores by type of question, and each of its answers with its judgment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Unpack, get_args

import numpy as np

from qassay.display import called
from qassay.errors import unknown
from qassay.evaluation import Evaluation
from qassay.options import Option, Scoring
from qassay.pages import Exhibit, Links, Page
from qassay.questions import QuestionType
from qassay.results import UNREPORTED, Result, reported
from qassay.scoring import Scores
from qassay.studies import Study
from qassay.studies.judged_answers import Outcome, judged_answers, outcome_of, question_scores, response_rows
from qassay.tables import Cell, Column, Table, plural, table

if TYPE_CHECKING:
    from qassay.figures import Figure

ANSWERS_SHOWN = 100


@dataclass(frozen=True, eq=False, repr=False)
class OneRun(Result):
    """A run with its score on every question; None where a question is left out."""

    run: str
    key: str
    measure: str
    questions: Mapping[str, float | None]
    scores: Scores = field(metadata=UNREPORTED)
    answers: Table = field(metadata=UNREPORTED)

    @reported
    def outcomes(self) -> dict[str, int]:
        """How many questions it got right, partly right and wrong."""
        return dict.fromkeys(get_args(Outcome), 0) | Counter(map(self.outcome, self.questions))

    def outcome(self, question: str) -> Outcome:
        """How well it answered a question."""
        return outcome_of(self.questions[question], self.scores)

    def sentence(self) -> str:
        """The place of the run among all."""
        score = next(row.score for row in self.scores.runs if row.run == self.run)
        every = [row.score for row in self.scores.runs if row.score is not None]
        if score is None:
            return f"{called(self.run)} has no score"
        if len(every) == 1:
            return f"{called(self.run)} scores {score:.3f}; it is the only run"
        place = self.scores.places()[self.run]
        rank = f"rank {place}" if isinstance(place, int) else f"sharing rank {str(place).rstrip('=')}"
        return (
            f"{called(self.run)} scores {score:.3f}, {rank} of {len(self.scores.runs)}; "
            f"the median run scores {np.median(every):.3f}, the best {max(every):.3f}"
        )

    def table(self) -> Table:
        """Each answer, with its judgment and the score of its question."""
        return self.answers

    def tables(self) -> list[Table]:
        """The run in figures, by type of question, its decisions, and its answers."""
        return [self.about(), self.types(), *self.scores.contingency_tables(self.run), self.answers]

    def figure(self) -> Figure:
        """Its score on every question or series, beside the median and the best."""
        from qassay import figures

        return figures.run_by_unit(self.scores.matrix, self.run)

    def about(self) -> Table:
        """The run on the leaderboard, one figure per row."""
        scores, board = self.scores, self.scores.leaderboard()
        place = next(i for i, row in enumerate(scores.runs) if row.run == self.run)
        about = scores.information[self.run]
        rows: list[list[Cell]] = [["organisation", about.organisation], ["description", about.description]]
        rows += [["processing", "manual"]] if about.manual else []
        headers = [column.header for column in board.columns]
        rows += [[name, value] for name, value in zip(headers, board.cells()[place], strict=True) if name != "run"]
        title = f"{self.run}, judgments: {self.key}, among {plural(len(scores.runs), 'run')}"
        shown = [row for row in rows if row[1] is not None]
        return table(title, ["", Column("value", left=True)], shown, scores.notes_for_output())

    def types(self) -> Table:
        """Mean of the run and of all runs by type of question, with how many it got right and wrong."""
        row_of_run = self.scores.tags.index(self.run)
        rows: list[Sequence[Cell]] = []
        for kind, (_, values) in self.scores.questions.items():
            answered = ~np.isnan(values[row_of_run])
            own, every = values[row_of_run][answered], values[:, answered]
            outcomes = Counter(outcome_of(float(value), self.scores) for value in own)
            means: tuple[float | None, ...] = (None, None, None)
            if answered.any():
                best = float(np.nanmean(every, axis=1).max())
                means = (float(own.mean()), float(np.nanmean(every)), best)
            rows.append((kind, len(own), outcomes["right"], outcomes["partly"], outcomes["wrong"], *means))
        counts = [Column(name) for name in ("questions", "right", "partly", "wrong")]
        means_of = [Column(name, ".3f") for name in ("mean", "mean of all runs", "best mean")]
        return table("By type of question", ["type", *counts, *means_of], rows)


def one_run(
    evaluation: Evaluation, *, run: Annotated[str, Option("The run.", on_pages=True)], **how: Unpack[Scoring]
) -> OneRun:
    """A run, scored, with all its answers and what the judgments say of them."""
    scores = evaluation.score(**how)
    if run not in scores.tags:
        raise unknown("run", run, scores.tags)
    questions = question_scores(scores, run)
    asked = [question.id for question in evaluation.questions if question.id in questions]
    rows = response_rows(evaluation, asked, run)
    answers = judged_answers(evaluation, evaluation.key(how.get("key")), rows, questions)
    return OneRun(run, scores.key, scores.measure, questions, scores, answers)


def page(
    result: OneRun,
    *,
    outcome: Annotated[Outcome | None, Option("Only the answers to questions that it got so.", on_pages=True)] = None,
    kind: Annotated[QuestionType | None, Option("Only the answers to questions of this type.", on_pages=True)] = None,
) -> Page:
    """Its place, its scores by type, and its answers."""
    about, types, *decisions, answers = result.tables()
    # A row begins with the question and its type.
    rows = [
        row
        for row in answers.rows
        if kind in (None, row[1]) and (outcome is None or result.outcome(str(row[0])) == outcome)
    ]
    exhibits = (
        # The figure is about the whole run: it is not drawn again beside a part of its answers.
        Exhibit("about", about, result.figure if not outcome and not kind else None),
        Exhibit("types", types),
        *(Exhibit("contingency", table) for table in decisions),
        Exhibit(
            "answers",
            table(answers.title, answers.columns, rows, answers.notes),
            links=Links("question", tuple(str(row[0]) for row in rows)),
            at_once=ANSWERS_SHOWN,
        ),
    )
    return Page((f"{result.sentence()}.",), exhibits)


STUDY = Study(
    name="one_run", compute=one_run, page=page, documents=(OneRun,), page_name="run", heading="Run {run}", label="Run"
)
