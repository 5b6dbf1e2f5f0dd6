"""`qassay demo`: the whole story on the built-in evaluation: what the analyses find in it, and what it means."""

from __future__ import annotations

import itertools
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.inputs import JsonOption
from qassay.cli.output import fold, print_json, without_isolates
from qassay.cli.studying import print_page
from qassay.demo import Demo, copy_demo, demo_folder
from qassay.errors import UsageError
from qassay.extras import install_line, installed
from qassay.tables import plural

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.reports import Material


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
WIDTH = 90
ABOUT = (
    "A run has the answers of one system, here of reference systems with different settings. The assessors, who judged "
    "the answers, are language models that followed written instructions and did not see each other's work. The "
    "example is small: it shows how the tables work and says nothing about any real system."
)


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
    who is best, which differences are significant, where the runs differ,
    how far the assessors agree, and how many more questions it would take.

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
        print_json(documents(_evaluation()))
        return
    if serve or (serve is None and sys.stdout.isatty() and installed("serve")):
        _serve(to, port)
        return
    material = _material()
    print_story(material)
    _report_to_keep(material)
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


def _report_to_keep(material: Material) -> None:
    """Write the report to a new folder, which stays."""
    import tempfile

    if not installed("figures"):
        print(f"The report needs more: {install_line('figures')}")
        return
    path = Path(tempfile.mkdtemp(prefix="qassay-demo-")) / REPORT
    _write_report(path, material)
    print(f"\nThe same as a page to show, with figures\n\n  {path.as_uri()}")


def _evaluation() -> Evaluation:
    from qassay.evaluation import open_evaluation

    return open_evaluation(demo_folder())


def _material() -> Material:
    """The results of the built-in evaluation; the commands are about the copy that `qassay demo --to demo` makes."""
    from qassay.studies.reporting import of_evaluation

    return of_evaluation(_evaluation(), sources=["demo"])


def _write_report(path: Path, material: Material) -> str:
    """Write the report; the answer in a sentence."""
    from qassay.formats import files
    from qassay.reports import build_report

    report = build_report(material)
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
        _say(without_isolates(_write_report(report, _material())))
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


def documents(evaluation: Evaluation) -> dict[str, object]:
    """Each part of the demonstration as its own command gives it."""
    from qassay.studies.agree import agreement
    from qassay.studies.compare import compare
    from qassay.studies.score import leaderboard
    from qassay.studies.sensitivity import sensitivity
    from qassay.studies.stability import stability

    scores, questions = evaluation.score(), evaluation.questions
    # The two neighbours on the leaderboard that are nearest to each other.
    neighbours = itertools.pairwise(scores.runs)
    better, worse = min(neighbours, key=lambda pair: (pair[0].score or 0.0) - (pair[1].score or 0.0))
    return {
        "evaluation": {
            "name": evaluation.name,
            "task": evaluation.task.name,
            "questions": questions.counts(),
            "series": len(questions.series),
            "sets": list(evaluation.sets),
        },
        "score": leaderboard(scores).as_json(),
        "agree": agreement(evaluation)[0].as_json(),
        "stability": stability(evaluation).as_json(),
        "sensitivity": sensitivity(scores, intervals=0).as_json(),
        "compare": compare(scores, better.run, worse.run).as_json(),
    }


def print_story(material: Material) -> None:
    """The questions of results, each with the answers of its studies and their first table."""
    from qassay.pages import QUESTIONS
    from qassay.reports.sections import pages_of

    by_type = _evaluation().questions.counts()
    counts = ", ".join(f"{number} {kind}" for kind, number in by_type.items())
    runs, series = len(material.matrix.runs), len(material.matrix.units)
    size = f"{runs} runs answer {sum(by_type.values())} questions ({counts}) in {series} series, like TREC 2004."
    _say(f"{size} {ABOUT}")
    pages = pages_of(material)
    for number, question in enumerate(QUESTIONS, 1):
        print(f"\n{number}. {question}")
        for page in pages:
            if page.title == question and page.answer:
                print()
                answer = fold(" ".join(page.answer), WIDTH)
                tables = [exhibit for exhibit in page.exhibits if exhibit.table is not None and not exhibit.folded]
                print_page(replace(page, answer=(answer,), exhibits=tuple(tables[:1])))
    print("\nWhat to try next\n")
    steps = {
        "qassay demo --serve": "judge it and see it in the browser",
        "qassay demo --to demo": "a copy of this evaluation",
        "qassay score demo --key first": "another assessor's judgments",
        "qassay agree demo": "how far the assessors agree",
        "qassay stability demo": "how far the ranking depends on them",
        "qassay sensitivity demo": "which gaps are repeatable",
        f"qassay compare demo {' '.join(material.pairs.runs[:2])}": "is one better?",
        "qassay plan demo": "how many series it would take",
        "qassay compare YOUR-SCORES.csv": "the same for any table of scores",
    }
    for step, meaning in steps.items():
        print(f"  {step:36}  {meaning}")


def _say(text: str) -> None:
    if text:
        print(fold(text, WIDTH))
