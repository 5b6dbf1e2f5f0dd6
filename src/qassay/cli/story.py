"""The story that `qassay demo` tells: what the analyses find in the built-in evaluation, and what it means."""

from __future__ import annotations

import itertools
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qassay.cli.output import print_tables
from qassay.tables import Cell, Column, Table, table

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.meta.agreement import Agreement
    from qassay.meta.sensitivity import SensitivityCurves
    from qassay.meta.significance import PairComparison
    from qassay.meta.stability import Stability
    from qassay.scores import Scores

WIDTH = 90


@dataclass(frozen=True, eq=False)
class Story:
    """What the demonstration shows, part by part."""

    evaluation: Evaluation
    scores: Scores
    agreement: Agreement
    stability: Stability
    curves: SensitivityCurves
    closest: PairComparison

    def as_json(self) -> dict[str, object]:
        """Each part as its own command gives it."""
        asked = self.evaluation.questions
        return {
            "evaluation": {
                "name": self.evaluation.name,
                "task": self.evaluation.task.name,
                "questions": asked.counts(),
                "series": len(asked.series),
                "sets": list(self.evaluation.sets),
            },
            "score": self.scores.as_json(),
            "agree": self.agreement.as_json(),
            "stability": self.stability.as_json(),
            "sensitivity": self.curves.as_json(),
            "compare": self.closest.as_json(),
        }


def tell() -> Story:
    """Work out every part from the files of the built-in evaluation."""
    from qassay.analysis import agreement, compare, sensitivity, stability
    from qassay.demo import demo_folder
    from qassay.evaluation import open_evaluation

    evaluation = open_evaluation(demo_folder())
    scores = evaluation.score()
    return Story(
        evaluation=evaluation,
        scores=scores,
        agreement=agreement(evaluation)[0],
        stability=stability(evaluation),
        curves=sensitivity(scores, intervals=0),
        closest=compare(scores, *_closest(scores)),
    )


def _closest(scores: Scores) -> tuple[str, str]:
    """The two neighbours on the leaderboard that are nearest to each other, the better one first."""
    neighbours = itertools.pairwise(scores.runs)
    better, worse = min(neighbours, key=lambda pair: (pair[0].score or 0.0) - (pair[1].score or 0.0))
    return better.run, worse.run


def print_story(story: Story) -> None:
    """Tell the story, chapter by chapter."""
    from qassay.analysis import leaderboard

    scores, closest = story.scores, story.closest
    asked = story.evaluation.questions.counts()
    counts = ", ".join(f"{number} {kind}" for kind, number in asked.items())
    series = len(story.evaluation.questions.series)
    _say(
        f"{len(scores.runs)} runs answer {sum(asked.values())} questions ({counts}) in {series} series, in the manner "
        "of TREC 2004. The runs are reference systems with different settings; the assessors, language models that "
        "read to instructions, judged without sight of each other's work. It is all small and made for showing: it "
        "says nothing about any real system."
    )
    _chapter("1. The scores", [leaderboard(scores)])
    _say(
        f"{closest.a} is {closest.difference:.3f} above {closest.b}. Would other assessors say so, and other questions?"
    )
    found = story.agreement
    _chapter(f"2. What {len(found.sets)} assessors disagree on", [disagreements(story.evaluation, found)])
    _say(
        f"They label {found.disagreements} of {found.items} answers to factoid questions differently. R is right, "
        "X not exact, U not supported by its document, W wrong."
    )
    measure = story.stability.measures[scores.measure]
    _chapter("3. The ranking under another assessor's judgments", [measure.rankings()])
    _say(_movement(story))
    _chapter(f"4. What difference to trust with {series} series", list(story.curves.tables()[1:]))
    _say(story.curves.summary())
    _say(_verdict(closest))
    print("\nWhat to try next\n")
    print(_steps("demo", closest))


def _say(text: str) -> None:
    print(textwrap.fill(text, WIDTH))


def _chapter(title: str, tables: list[Table]) -> None:
    print(f"\n{title}\n")
    print_tables(tables)
    print()


def disagreements(evaluation: Evaluation, found: Agreement) -> Table:
    """One item for each combination of labels on which the assessors disagree, the most frequent first."""
    examples: dict[str, tuple[Cell, ...]] = {}
    for question, item, *labels in evaluation.labels(found.sets).drop_nulls().iter_rows():
        combination = "".join(sorted(labels, key=found.labels.index))
        answer = item.partition("\t")[2]
        examples.setdefault(combination, (_short(evaluation.questions.by_id[question].text), _short(answer), *labels))
    rows = [
        (number, *examples[combination])
        for combination, number in sorted(found.patterns.items(), key=lambda pair: -pair[1])
    ]
    columns = [Column("items"), Column("question", left=True), Column("answer, for example", left=True)]
    return table("One of each kind", [*columns, *found.sets], rows)


def _short(text: str) -> str:
    return textwrap.shorten(text, 34, placeholder=" ...")


def _movement(story: Story) -> str:
    measure = story.stability.measures[story.scores.measure]
    swaps = [(name, swap) for name, found in measure.swapped.items() for swap in found]
    if not swaps:
        return "No two runs change places."
    name, swap = max(swaps, key=lambda pair: pair[1].difference)
    taus = [f"{one} {comparison.tau:.2f}" for one, comparison in measure.with_reference() if comparison.tau is not None]
    return (
        f"{swap.better} is {swap.difference:.3f} above {swap.worse}, but below it by the judgments of {name}. "
        f"Kendall's tau with the {measure.reference} ranking: {', '.join(taus)}."
    )


def _verdict(closest: PairComparison) -> str:
    if closest.interval is None:
        return f"{closest.a} against {closest.b}: {closest.verdict}."
    low, high = closest.interval
    needed = f" To see it would take about {closest.units_needed:,} series." if closest.units_needed else ""
    return (
        f"{closest.a} against {closest.b}: the difference of {closest.difference:.3f} has a 95% interval from "
        f"{low:.3f} to {high:.3f}. Verdict: {closest.verdict}.{needed}"
    )


def _steps(folder: str, closest: PairComparison) -> str:
    steps = {
        "qassay demo --serve": "judge it in the browser",
        f"qassay demo --to {folder}": "a copy of this evaluation",
        f"qassay score {folder} --key first": "another assessor's judgments",
        f"qassay agree {folder}": "how far the assessors agree",
        f"qassay stability {folder}": "how far the ranking depends on them",
        f"qassay sensitivity {folder}": "error rates of comparisons",
        f"qassay compare {folder} {closest.a} {closest.b}": "is one better?",
        f"qassay plan {folder}": "how many series it would take",
        "qassay compare YOUR-SCORES.csv": "the same for any table of scores",
    }
    return "\n".join(f"  {step:36}  {meaning}" for step, meaning in steps.items())
