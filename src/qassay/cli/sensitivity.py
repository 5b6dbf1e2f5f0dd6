"""`qassay sensitivity`: which gaps between runs are repeatable, and how often is a comparison wrong?"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qassay.cli.by_metric import Answer, give_answers
from qassay.cli.inputs import (
    JsonOption,
    ScoringOptions,
    SeedOption,
    SourcesArgument,
    is_evaluation,
    need_two_systems,
    takes_scoring,
)
from qassay.cli.output import fold, headline, print_tables, progress, visible
from qassay.errors import UsageError

if TYPE_CHECKING:
    from qassay.matrix import ScoreMatrix
    from qassay.meta.sensitivity import SensitivityCurves


@takes_scoring
def command(
    sources: SourcesArgument,
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="A study to repeat: default, trec2002, trec2003-definition, trec2003-list, trec2004.",
        ),
    ] = "default",
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes", metavar="A-B", help="Sizes of the sets, every one from A to B (default: the preset's)."
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option("--trials", min=1, metavar="N", help="Trials for each size (default: the preset's).")
    ] = None,
    error: Annotated[float, typer.Option("--error", help="Error rate to stay within.")] = 0.05,
    bin_width: Annotated[
        float | None,
        typer.Option(
            "--bin-width",
            metavar="W",
            help="Width of a range of differences (default: 0.01, or 1/100 of the scale of scores outside 0-1).",
        ),
    ] = None,
    intervals: Annotated[
        int,
        typer.Option(
            "--intervals", min=0, metavar="N", help="Bootstrap resamples of the questions for intervals; 0: none."
        ),
    ] = 100,
    ties: Annotated[
        Literal["stay", "half", "exclude"],
        typer.Option("--ties", help="A tie is not a swap and stays, counts half a swap, or leaves the denominator."),
    ] = "stay",
    fit: Annotated[
        bool | None,
        typer.Option(
            "--fit/--no-fit",
            help="Show the study as the TREC papers did it (default: from 20 runs up, or with a preset).",
        ),
    ] = None,
    *,
    scoring: ScoringOptions,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Which gaps between runs are repeatable, and how often is a comparison wrong?

    The first sentence is the answer: from which gap on two runs keep their
    order with as many new questions, in 95 of 100 repetitions. Below it:
    how often a comparison is wrong, by the difference seen, the questions
    that smaller gaps need, and groups of runs within the repeatable gap.

    With 20 runs or more, with --fit or with a preset other than default:
    also the study of the TREC papers, which draws two disjoint sets of
    questions again and again and fits a curve to the error rates.

    Whether chance alone could explain the difference of two given runs is
    another question, which qassay compare answers.

    Examples

      qassay sensitivity my-eval
      qassay sensitivity my-eval --preset trec2004 --json
      qassay sensitivity scores.csv --error 0.01
      qassay sensitivity factoids.csv --series-from '^([^.]+)'
      qassay sensitivity ratings.csv --fit --intervals 0
    """
    from qassay.meta.sensitivity import find_preset, sensitivity

    folder = Path(sources[0]) if is_evaluation(sources) else None
    component = _component(folder, find_preset(preset).component, scoring.component, preset)
    scoring = replace(scoring, component=component)
    tables = scoring.read(sources)
    floor = _floor(folder, scoring)

    def answer(matrix: ScoreMatrix) -> Answer:
        need_two_systems(matrix, sources)
        with progress("trials") as update:
            curves = sensitivity(
                matrix,
                preset=preset,
                sizes=None if sizes is None else _sizes(sizes),
                trials=trials,
                error=error,
                bin_width=bin_width,
                intervals=intervals,
                ties=ties,
                fit=fit,
                seed=seed,
                floor=floor,
                progress=update,
            )
        return Answer(curves.as_json(), lambda: _show(curves))

    give_answers(tables, answer, as_json=as_json, every_metric=scoring.every_metric)


def _show(curves: SensitivityCurves) -> None:
    """The headline and the tables, for people."""
    print(visible(headline(curves.summary())))
    tables = curves.tables()
    for note in () if tables else curves.notes:
        print(visible(fold(note)))
    if tables:
        print()
    print_tables(tables)


def _floor(folder: Path | None, scoring: ScoringOptions) -> float | None:
    """The largest difference between identical responses that were judged separately, on the scale of the scores."""
    if folder is None or scoring.measure is not None:
        return None
    from qassay.analysis.rankings import noise_floor
    from qassay.evaluation import open_evaluation

    return noise_floor(
        open_evaluation(folder), scoring.key, scoring.component, unjudged=scoring.unjudged, missing=scoring.missing
    )


def _sizes(text: str) -> range:
    """The sizes of `A-B`, or of a single `A`."""
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", text)
    if match is None:
        raise UsageError(f"--sizes takes a range such as 5-32, not {text!r}")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise UsageError(f"--sizes {text}: the first size is larger than the last")
    return range(first, last + 1)


def _component(folder: Path | None, implied: str | None, chosen: str | None, preset: str) -> str | None:
    """The component asked for or, in an evaluation, the one that the preset is about."""
    if implied is None or folder is None:
        return chosen
    if chosen not in (None, implied):
        raise UsageError(f"preset {preset!r} is about {implied} questions: use it without --component {chosen}")
    return implied
