"""`qassay demo`: the whole story on the built-in evaluation: what the analyses find in it, and what it means."""

from __future__ import annotations

import itertools
import shlex
import sys
import textwrap
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.inputs import JsonOption
from qassay.cli.output import fold, print_json, print_tables, without_isolates
from qassay.demo import Demo, copy_demo
from qassay.display import as_sentence
from qassay.errors import UsageError
from qassay.extras import install_line, installed
from qassay.tables import Cell, Column, Table, at_least, plural, rounded_up, table

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.meta.agreement import Agreement
    from qassay.meta.sensitivity import SensitivityCurves
    from qassay.meta.significance import AllPairs, PairComparison
    from qassay.meta.stability import Stability
    from qassay.scoring import Scores


# What there is to see, account by account.
TO_SEE = {
    "organiser": "results with figures, a program beside people, questions, runs, assignments",
    "assessor-1": "answers, lists and nuggets to judge; ? shows the keys",
    "assessor-2": "the same questions, blind to what assessor-1 says",
    "adjudicator": "what the two disagree on in two series, without names",
    "reader": "the published leaderboard of the twelve finished series",
}
PORT = 8000
REPORT = "report.html"


def command(
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FOLDER", help="Copy the evaluation there instead, to play with.")
    ] = None,
    which: Annotated[
        Demo, typer.Option("--which", help="The evaluation to copy: series, entailment with justifications, or rag.")
    ] = "series",
    serve: Annotated[
        bool | None,
        typer.Option("--serve/--no-serve", help="Serve it until Ctrl-C, or end; by default it serves on a terminal."),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", min=0, max=65535, help="The port to serve on (default: 8000).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Try everything on a built-in evaluation.

    The example has ten runs (the answers of one system each) on sixteen
    series of questions, judged by three assessors. The command scores and
    analyses them, writes a report, starts the web application, and prints
    three addresses to open: the report, the results, a page to judge on. It
    takes seconds, uses no network, and runs until you press Ctrl-C.

    Without a terminal, or with --no-serve, it prints the results and ends:
    the leaderboard, where the assessors disagree, how the ranking changes
    with another assessor, which differences are significant, and which gaps
    are repeatable.

    --to copies the example into a folder, so that you can try every command
    on it; --which chooses one of two smaller examples. With --serve the copy
    is served and kept.

    Examples

      qassay demo
      qassay demo --no-serve
      qassay demo --to demo
      qassay demo --to pairs --which entailment
      qassay score demo
    """
    if serve and (which != "series" or as_json):
        raise UsageError("--serve shows the question series, for people: without --which and --json")
    if to is None and which != "series":
        raise UsageError("the story is about the question series; --which goes with --to")
    if to is not None and not serve:
        _copy(to, which, as_json=as_json)
        return
    if as_json:
        print_json(tell().as_json())
        return
    if serve or (serve is None and sys.stdout.isatty() and installed("serve")):
        _serve(to, port)
        return
    print_story(tell())
    _report_to_keep()
    if not installed("serve"):
        print(f"The web application needs more: {install_line('serve')}")


def _copy(to: Path, which: Demo, *, as_json: bool) -> None:
    """Copy an evaluation, and say what to do with it."""
    names = copy_demo(to, which)
    if as_json:
        print_json({"to": str(to), "files": names})
        return
    where = shlex.quote(str(to))
    print(f"Copied {plural(len(names), 'file')} to {to}. Its README.md says what is in it.")
    print(f"Next: qassay check {where}, qassay score {where}")


def _report_to_keep() -> None:
    """Write the report to a new folder, which stays."""
    import tempfile

    if not installed("figures"):
        print(f"The report needs more: {install_line('figures')}")
        return
    path = Path(tempfile.mkdtemp(prefix="qassay-demo-")) / REPORT
    _write_report(path)
    print(f"\nThe same as a page to show, with figures\n\n  {path.as_uri()}")


def _write_report(path: Path) -> str:
    """Write the report of the built-in evaluation; the answer in a sentence."""
    from qassay.analysis.reporting import of_evaluation
    from qassay.demo import demo_folder
    from qassay.evaluation import open_evaluation
    from qassay.formats import files
    from qassay.reports import build_report

    # The commands in it are about the copy that `qassay demo --to demo` makes.
    report = build_report(of_evaluation(open_evaluation(demo_folder()), sources=["demo"]))
    files.write_all({path: report.html().encode()})
    return report.answer[0]


def _serve(to: Path | None, port: int | None) -> None:
    """Serve a copy of the evaluation; without a folder of its own it is gone afterwards."""
    import os
    import tempfile

    from qassay.cli.serve import is_free, serve_folder
    from qassay.web.site import Settings, sign_on_from

    # A port that nobody asked for may be any other one.
    served_port = port if port is not None else PORT if is_free("127.0.0.1", PORT) else 0
    settings = Settings(port=served_port, sign_on=sign_on_from(os.environ), log="none")
    with tempfile.TemporaryDirectory(prefix="qassay-demo-") as place:
        folder = to if to is not None else Path(place) / "demo"
        prepared = partial(_prepare, folder, Path(place) / REPORT, is_kept=to is not None)
        serve_folder(folder, settings, before=prepared)


def _prepare(folder: Path, report: Path, address: str, *, is_kept: bool) -> None:
    """Make everything that is served, and list what people can look at."""
    from qassay.web.demonstration import prepare

    copy_demo(folder)
    people = prepare(folder)
    if installed("figures"):
        _say(without_isolates(_write_report(report)))
        print(f"  Report   {report.as_uri()}   all 16 series, judged to the end")
    else:
        print(f"  Report   needs more: {install_line('figures')}")
    print(f"  Results  {address}/results   half-way: the 12 finished series, as organiser")
    print(f"  Judging  {address}/work      two series to judge, as assessor-1")
    print(f"Sign in with the password {people[0].password} as")
    width = max(len(person.name) for person in people)
    for person in people:
        print(f"  {person.name:{width}}  {TO_SEE[person.name]}")
    if not is_kept:
        print("Ctrl-C ends it and deletes everything; --serve --to FOLDER keeps it.")


WIDTH = 90


@dataclass(frozen=True, eq=False)
class Story:
    """The demonstration, part by part."""

    evaluation: Evaluation
    scores: Scores
    agreement: Agreement
    stability: Stability
    curves: SensitivityCurves
    closest: PairComparison

    def as_json(self) -> dict[str, object]:
        """Each part as its own command gives it."""
        from qassay.studies.score import leaderboard

        questions = self.evaluation.questions
        return {
            "evaluation": {
                "name": self.evaluation.name,
                "task": self.evaluation.task.name,
                "questions": questions.counts(),
                "series": len(questions.series),
                "sets": list(self.evaluation.sets),
            },
            "score": leaderboard(self.scores).as_json(),
            "agree": self.agreement.as_json(),
            "stability": self.stability.as_json(),
            "sensitivity": self.curves.as_json(),
            "compare": self.closest.as_json(),
        }


def tell() -> Story:
    """Work out every part from the files of the built-in evaluation."""
    from qassay.analysis import agreement, sensitivity, stability
    from qassay.demo import demo_folder
    from qassay.evaluation import open_evaluation
    from qassay.studies.compare import compare

    evaluation = open_evaluation(demo_folder())
    scores = evaluation.score()
    # The two neighbours on the leaderboard that are nearest to each other.
    neighbours = itertools.pairwise(scores.runs)
    better, worse = min(neighbours, key=lambda pair: (pair[0].score or 0.0) - (pair[1].score or 0.0))
    return Story(
        evaluation=evaluation,
        scores=scores,
        agreement=agreement(evaluation)[0],
        stability=stability(evaluation),
        curves=sensitivity(scores, intervals=0),
        closest=compare(scores, better.run, worse.run),
    )


def print_story(story: Story) -> None:
    """Tell the story, chapter by chapter."""
    from qassay.studies.score import leaderboard

    scores, closest = story.scores, story.closest
    by_type = story.evaluation.questions.counts()
    counts = ", ".join(f"{number} {kind}" for kind, number in by_type.items())
    series = len(story.evaluation.questions.series)
    _say(
        f"{len(scores.runs)} runs answer {sum(by_type.values())} questions ({counts}) in {series} series, like TREC "
        "2004. A run has the answers of one system, here of reference systems with different settings. The "
        "assessors, who judged the answers, are language models that followed written instructions and did not see "
        "each other's work. The example is small: it shows how the tables work and says nothing about any real system."
    )
    board, agreement = leaderboard(scores), story.agreement
    pairs = board.pairs
    assert pairs is not None
    _chapter(
        "1. Who is best, and could chance explain it?",
        f"{board.sentence()}.",
        [board.table()],
        _significant(pairs),
    )
    _chapter(
        "2. Do the assessors agree?",
        f"{len(agreement.sets)} assessors label {agreement.disagreements} of {agreement.items} answers to factoid "
        "questions differently. R is right, X not exact, U not supported by its document, W wrong.",
        [disagreements(story.evaluation, agreement)],
    )
    measure = story.stability.measures[scores.measure]
    _chapter("3. Would another assessor rank the runs the same way?", _movement(story), [measure.rankings()])
    curves = story.curves
    title = f"4. Which gaps would {series} new series show again?"
    _chapter(title, curves.summary(), list(curves.tables()[1:2]), _two_answers(pairs, curves))
    _chapter(f"5. Is {closest.a} better than {closest.b}?", _verdict(closest), [])
    print("\nWhat to try next\n")
    steps = {
        "qassay demo --serve": "judge it and see it in the browser",
        "qassay demo --to demo": "a copy of this evaluation",
        "qassay score demo --key first": "another assessor's judgments",
        "qassay agree demo": "how far the assessors agree",
        "qassay stability demo": "how far the ranking depends on them",
        "qassay sensitivity demo": "which gaps are repeatable",
        f"qassay compare demo {closest.a} {closest.b}": "is one better?",
        "qassay plan demo": "how many series it would take",
        "qassay compare YOUR-SCORES.csv": "the same for any table of scores",
    }
    for step, meaning in steps.items():
        print(f"  {step:36}  {meaning}")


def _say(text: str) -> None:
    if text:
        print(fold(text, WIDTH))


def _chapter(title: str, answer: str, tables: list[Table], explanation: str = "") -> None:
    """A question, its answer in words, the tables behind it, and what they mean."""
    print(f"\n{title}\n")
    _say(answer)
    for shown in tables:
        print()
        print_tables([shown])
    if explanation:
        print()
        _say(explanation)


def disagreements(evaluation: Evaluation, agreement: Agreement) -> Table:
    """One item for each combination of labels on which the assessors disagree, the most frequent first."""
    examples: dict[str, tuple[Cell, ...]] = {}
    for question, item, *labels in evaluation.labels(agreement.sets).drop_nulls().iter_rows():
        combination = "".join(sorted(labels, key=agreement.labels.index))
        answer = item.partition("\t")[2]
        examples.setdefault(combination, (_short(evaluation.questions.by_id[question].text), _short(answer), *labels))
    rows = [
        (number, *examples[combination])
        for combination, number in sorted(agreement.patterns.items(), key=lambda pair: -pair[1])
    ]
    columns = [Column("items"), Column("question", left=True), Column("answer, for example", left=True)]
    return table("One of each kind", [*columns, *agreement.sets], rows)


def _short(text: str) -> str:
    return textwrap.shorten(text, 34, placeholder=" ...")


def _movement(story: Story) -> str:
    measure = story.stability.measures[story.scores.measure]
    swaps = [(name, swap) for name, swapped in measure.swapped.items() for swap in swapped]
    answer = without_isolates(story.stability.sentence())
    if not swaps:
        return as_sentence(answer)
    assessor, swap = max(swaps, key=lambda pair: pair[1].difference)
    taus = [f"{name} {ranking.tau:.2f}" for name, ranking in measure.with_reference() if ranking.tau is not None]
    return (
        f"{as_sentence(answer)} By the judgments of {assessor}, {swap.worse} is above {swap.better}. "
        f"Kendall's tau with the {measure.reference} ranking (1: the same order): {', '.join(taus)}."
    )


def _significant(pairs: AllPairs) -> str:
    """The groups of the leaderboard in words."""
    total = len(pairs.runs) * (len(pairs.runs) - 1) // 2
    return (
        f"{pairs.different} of {total} pairs of runs differ significantly: chance alone does not explain their "
        "difference, all pairs considered."
    )


def _two_answers(pairs: AllPairs, curves: SensitivityCurves) -> str:
    """Why the line of step 1 and the gap of step 4 are not the same number."""
    margin, gap = pairs.margin, curves.repeatable_difference
    if margin is None or gap is None:
        return ""
    return (
        f"Step 1 needs {at_least(margin):.3f} between two runs, step 4 {gap:g}: both are right. The first asks for "
        "proof that two given runs differ, corrected for all pairs; the second is a rule of thumb for reading the "
        "whole table."
    )


def _verdict(closest: PairComparison) -> str:
    if closest.interval is None:
        return f"{closest.sentence()}."
    low, high = closest.interval
    needed = (
        f" About {rounded_up(closest.units_needed):,} series would be needed to see such a difference."
        if closest.units_needed
        else ""
    )
    return (
        f"{closest.sentence()}. The difference is {closest.difference:.3f}, with a 95% interval from {low:.3f} to "
        f"{high:.3f}.{needed}"
    )
