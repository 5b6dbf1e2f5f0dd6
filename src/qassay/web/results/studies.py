"""The studies behind the pages, made with the calls of the commands: a page and its command show the same numbers.

Each function takes an opened evaluation, the options of its page and a callback for progress, and gives a `Finding`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING

from qassay import analysis, figures
from qassay.analysis.judged_answers import answers_by_run
from qassay.display import as_sentence
from qassay.errors import UsageError, unknown
from qassay.evaluation import Evaluation
from qassay.tables import Table
from qassay.web.results.finding import (
    Choice,
    Finding,
    Name,
    Names,
    Progress,
    parts_of,
    pictures,
    scored,
    scoring_options,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from qassay.analysis.agreements import AgreementStudy
    from qassay.figures import Figure
    from qassay.meta.agreement.result import PairAgreement

NO_PROGRAM = "No program has judged yet. The command qassay judge lets one judge."
NOBODY_NAMED = "No judgment names its assessor. Assessors are compared once people have judged here."
# Pairs of judges with a figure of their labels, and scales with figures of their ratings.
MATRICES_SHOWN = 3
SCALES_SHOWN = 2


def organisations(evaluation: Evaluation, choice: Choice, progress: Progress) -> Finding:
    """The result page of every organisation, as `report --by organisation` has it; without tables of its own."""
    from qassay.reports.organisations import organisation_page
    from qassay.reports.organisations import organisations as organisation_names

    scores = scored(evaluation, choice)
    answers = answers_by_run(evaluation, scores, [row.run for row in scores.runs])
    pages = []
    for name in organisation_names(scores):
        page = organisation_page(scores, name, answers)
        # A picture is all that a page keeps of a figure.
        drawn = pictures(*(lambda figure=figure: figure for figure in page.figures))
        pages.append({**asdict(replace(page, figures=())), "pictures": [asdict(picture) for picture in drawn]})
    return Finding((), {"pages": pages})


def people(evaluation: Evaluation, choice: Choice, progress: Progress) -> Finding:
    """Every assessor beside the others: who is out of line, and on what."""
    from qassay.analysis.by_person import UnnamedError

    try:
        study = analysis.people(evaluation)
    except UnnamedError:
        return Finding((), answer=NOBODY_NAMED)
    first = study[0].sentence()
    drawn = pictures(*(kind.figure for kind in study))
    parts = parts_of(study.tables(), "people")
    return Finding(parts, study.as_json(), as_sentence(first), pictures=drawn)


def agreement(evaluation: Evaluation, choice: Choice, progress: Progress, *, sets: Names = ()) -> Finding:
    """Disagreement tables and agreement statistics."""
    study = analysis.agreement(
        evaluation, sets=_sets(sets, [*evaluation.sets, *evaluation.role_sets]), progress=progress
    )
    drawn = pictures(*_agreement_figures(study), lambda: _pace(evaluation))
    parts = parts_of(study.tables(), "agreement")
    return Finding(parts, study.as_json(), as_sentence(study.sentence()), pictures=drawn)


def _agreement_figures(study: AgreementStudy) -> list[Callable[[], Figure]]:
    """The labels of the first pairs of judges, and what they rate."""
    drawn: list[Callable[[], Figure]] = []
    for kind in study:
        for number, pair in enumerate(kind.pairs[:MATRICES_SHOWN] if kind.raw is not None else (), start=1):
            name = f"labels-{kind.about.replace(' ', '-')}-{number}"
            drawn.append(partial(_labels_figure, pair, kind.about, name))
    for scale in list(study.ratings.scales.values())[:SCALES_SHOWN]:
        drawn += [partial(figures.rating_histogram, scale), partial(figures.mean_rank_by_judge, scale)]
    return drawn


def _labels_figure(pair: PairAgreement, about: str, name: str) -> Figure:
    return replace(figures.agreement_matrix(pair, about), name=name)


def _pace(evaluation: Evaluation) -> Figure:
    """Judgments over time; nothing where they came from files without times."""
    from qassay.analysis.pace import judging_progress

    return figures.judging_progress(judging_progress(evaluation))


def trust(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    assessor: Name | None = None,
    against: Name | None = None,
) -> Finding:
    """An automatic assessor beside people: agreement, rankings, bias by run and by pair of runs."""
    from qassay.analysis import trusting

    programs = sorted(evaluation.automatic_sets)
    if assessor is None and not programs:
        return Finding((), answer=NO_PROGRAM)
    program = assessor or programs[0]
    result = trusting.trust(evaluation, program, against, measure=choice.measure, component=choice.component)
    answer = " ".join(filter(None, (result.sentence(), result.caution())))
    parts = parts_of(result.tables(), "trust")
    noted = [replace(part, table=_with_notes(part.table, result.notes)) for part in parts[:1]]
    return Finding((*noted, *parts[1:]), result.as_json(), answer, pictures=pictures(result.figure))


def _with_notes(listed: Table, notes: Sequence[str]) -> Table:
    return replace(listed, notes=(*listed.notes, *notes))


def stability(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    sets: Names = (),
    reference: Name | None = None,
) -> Finding:
    """The rankings under different judgment sets, and the noise of identical responses."""
    result = analysis.stability(
        evaluation,
        sets=_sets(sets, scoring_options(evaluation).keys),
        measures=[choice.measure] if choice.measure else (),
        reference=reference,
        component=choice.component,
        unjudged=choice.unjudged,
        missing=choice.missing,
        progress=progress,
    )
    first = next(iter(result.measures.values()))
    drawn = [lambda: figures.ranks_by_set(first)] if len(result.sets) > 1 < len(first.runs) else []
    drawn += [lambda: figures.tau_heat_map(first)] if len(result.sets) > 2 else []
    parts = parts_of(result.tables(), "stability")
    return Finding(parts, result.as_json(), as_sentence(result.sentence()), pictures=pictures(*drawn))


def sensitivity(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    preset: str = "default",
    error: float = 0.05,
    bin_width: float | None = None,
    fit: bool = False,
) -> Finding:
    """The repeatable gap, error rates of comparisons, and the groups that follow."""
    from qassay.analysis.rankings import noise_floor
    from qassay.meta.sensitivity import find_preset
    from qassay.meta.sensitivity import sensitivity as study

    implied = find_preset(preset).component
    if implied is not None and choice.component not in (None, implied):
        raise UsageError(f"preset {preset!r} is about {implied} questions: choose all questions, or these")
    choice = replace(choice, component=implied or choice.component)
    floor = None
    if choice.measure is None:
        floor = noise_floor(evaluation, choice.key, choice.component, unjudged=choice.unjudged, missing=choice.missing)
    matrix = scored(evaluation, choice).matrix
    curves = study(
        matrix, preset=preset, error=error, bin_width=bin_width, fit=fit or None, floor=floor, progress=progress
    )
    # The curves of a single pair say nothing (METHOD 6); the answer sends people to its comparison.
    curve_figures = (lambda: figures.error_rate_by_difference(curves), lambda: figures.error_curves(curves))
    drawn = pictures(*(curve_figures if curves.pairs > 1 else ()))
    return Finding(parts_of(curves.tables(), "sensitivity"), curves.as_json(), curves.summary(), pictures=drawn)


def _sets(chosen: Names, all_sets: Sequence[str]) -> list[str] | None:
    """The chosen sets; None where none were chosen."""
    if not chosen:
        return None
    names = list(dict.fromkeys(chosen))
    for name in names:
        if name not in all_sets:
            raise unknown("judgment set", name, all_sets)
    if len(names) < 2:
        raise UsageError("choose two judgment sets or more to compare")
    return names
