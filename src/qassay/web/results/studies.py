"""The studies behind the pages, made with the calls of the commands: a page and its command show the same numbers.

Each function takes an opened evaluation, the options of its page and a callback for progress, and gives a `Finding`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from qassay import analysis, figures
from qassay.analysis.judged_answers import answers_by_run
from qassay.display import as_sentence
from qassay.errors import InputError, QassayError, UsageError, unknown
from qassay.evaluation import Evaluation
from qassay.meta.correction import CorrectedPair, CorrectedPairs, CorrectedScores, Correction
from qassay.scoring import Scores
from qassay.tables import Table, table
from qassay.web.errors import for_page, sentence_of
from qassay.web.results.finding import (
    Choice,
    Finding,
    Name,
    Names,
    Part,
    Progress,
    contingency_table,
    parts_of,
    pictures,
    scored,
    with_full_stop,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from qassay.analysis.agreements import AgreementStudy
    from qassay.figures import Figure
    from qassay.meta.agreement.result import PairAgreement

Method: TypeAlias = Literal["randomised-tukey", "tukey", "holm", "bh"]
Corrected = TypeVar("Corrected")
# With more scores (runs x units) than this a leaderboard has intervals only on request, as in the command.
QUICK_CELLS = 50_000
NO_PROGRAM = "No program has judged yet. The command qassay judge lets one judge."
NOBODY_NAMED = "No judgment names its assessor. Assessors are compared once people have judged here."
SLOW = "Intervals and groups of this many scores take a while: ask for them above, under how runs are scored."
# A document with more scores, pairs or units than this leaves them to the CSV.
DOCUMENT_CELLS = 100_000
PAIRS_SHOWN = 5_000
# The units that make the difference of two runs, as the command lists them.
DECIDING = 10
# Pairs of judges with a figure of their labels, and scales with figures of their ratings.
MATRICES_SHOWN = 3
SCALES_SHOWN = 2


def leaderboard(
    evaluation: Evaluation, choice: Choice, progress: Progress, *, intervals: str = "auto", best: bool = False
) -> Finding:
    """Runs by score with intervals and groups, what was left out, and contingency tables."""
    scores = scored(evaluation, choice)
    if best:
        scores = scores.best_per_organisation()
    shown, answer, drawn = _leaderboard(scores, intervals)
    corrected = corrected_by_people(evaluation, choice, lambda correction: correction.scores())
    if isinstance(corrected, str):
        shown = replace(shown, notes=(*shown.notes, corrected))
    parts = [Part("leaderboard", shown, "run", tuple(row.run for row in scores.runs), 1)]
    if isinstance(corrected, CorrectedScores):
        answer = f"{corrected.sentence()}."
        drawn.insert(0, corrected.figure)
        parts.insert(0, Part("corrected", corrected.table(), "run", tuple(run.run for run in corrected.runs), 0))
    if scores.dropped:
        rows = [(dropped.unit, dropped.question, dropped.reason) for dropped in scores.dropped]
        parts.append(Part("left-out", table("Left out", [scores.unit_name[0], "question", "reason"], rows)))
    if total := scores.contingency():
        parts.append(Part("contingency", contingency_table("Decisions of all runs", total)))
        drawn.append(lambda: figures.conditioned_accuracy(scores))
    document = scores.as_json()
    if isinstance(corrected, CorrectedScores):
        document["corrected"] = corrected.as_json()
    left_out = None
    cells = len(scores.runs) * (len(scores.units.ids) + len(scores.asked))
    if cells > DOCUMENT_CELLS:
        del document["matrix"], document["questions"]
        left_out = f"matrix and questions: {cells:,} scores, which the CSV of the page Scores has"
    return Finding(tuple(parts), document, answer, left_out, pictures=pictures(*drawn))


def corrected_by_people(
    evaluation: Evaluation,
    choice: Choice,
    result_of: Callable[[Correction], Corrected],
    *,
    pair: tuple[str, str] | None = None,
) -> Corrected | str | None:
    """The result of scores of a program that are corrected by the people who judged its sample.

    Why not, where nobody judged it so far; None where no program judged, or no sample is drawn.
    """
    key = choice.key
    if key is None or key not in evaluation.automatic_sets or not evaluation.folder.samples():
        return None
    reason = "nobody has judged the sample"
    first = evaluation.default_key()
    for people in sorted(evaluation.human_sets, key=lambda name: name != first):
        try:
            correction = evaluation.correction(key, people, pair=pair, **choice.how)
            return result_of(correction)
        except InputError as error:
            reason = str(for_page(error.problems[0]))
        except QassayError as error:
            reason = sentence_of(error)
    return f"No corrected scores yet: {reason}."


def _leaderboard(scores: Scores, intervals: str) -> tuple[Table, str, list[Callable[[], Figure]]]:
    """The table, who leads and whether chance could explain it in a sentence, and what to draw."""
    quick = len(scores.runs) > 1 and scores.units.values.size <= QUICK_CELLS
    skipped = scores.missing is not None and scores.missing[0] == "skip"
    if skipped and intervals == "yes":
        raise UsageError("intervals need runs scored on the same questions; skipping averages over different ones")
    if few := scores.too_few_for_intervals():
        plain = scores.leaderboard()
        return (
            replace(plain, notes=(*plain.notes, few)),
            with_full_stop(scores.sentence()),
            [lambda: figures.top_runs(scores)],
        )
    if intervals == "no" or skipped or (intervals == "auto" and not quick):
        plain = scores.leaderboard()
        slow = intervals == "auto" and not skipped and len(scores.runs) > 1
        shown = replace(plain, notes=(*plain.notes, SLOW)) if slow else plain
        return shown, with_full_stop(scores.sentence()), [lambda: figures.top_runs(scores)]
    board = analysis.leaderboard(scores)
    return board.table(), with_full_stop(board.sentence()), [board.figure]


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


def compare(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    a: Name | None = None,
    b: Name | None = None,
    method: Method = "randomised-tukey",
) -> Finding:
    """Two runs, with a verdict; or all pairs, corrected for their number.

    A program's scores are also compared after correction by the people who judged its sample.
    """
    if bool(a) != bool(b):
        raise UsageError(f"a comparison takes two runs; what is {a or b!r} to be compared with?")
    if a and b:
        finding = _two_runs(evaluation, choice, a, b)
        return _with_corrected(
            finding, corrected_by_people(evaluation, choice, lambda correction: correction.pair(a, b), pair=(a, b))
        )
    finding = _all_pairs(evaluation, choice, progress, method)
    return _with_corrected(finding, corrected_by_people(evaluation, choice, lambda correction: correction.pairs()))


def _with_corrected(finding: Finding, corrected: CorrectedPair | CorrectedPairs | str | None) -> Finding:
    """The comparison with its corrected form first; or why there is none yet, below its first table."""
    if corrected is None:
        return finding
    if isinstance(corrected, str):
        first, *rest = finding.parts
        return replace(finding, parts=(replace(first, table=_with_notes(first.table, [corrected])), *rest))
    parts = (Part("corrected", replace(corrected.table(), title="Corrected by people")), *finding.parts)
    document = {**finding.document, "corrected": corrected.as_json()}
    return replace(finding, parts=parts, document=document, answer=f"{corrected.sentence()}.")


def _two_runs(evaluation: Evaluation, choice: Choice, a: str, b: str) -> Finding:
    matrix = evaluation.matrix_of((a, b), choice.key, **choice.how)
    every = analysis.compare(matrix, a, b, top=len(matrix.units))
    # The figure has all units, the table those of the command.
    pair = replace(every, deciding=every.deciding[:DECIDING])
    drawn = pictures(every.figure) if every.deciding else ()
    answer, *others = pair.tables()
    tables = [replace(answer, title=f"{a} and {b} in numbers"), *others]
    return Finding(parts_of(tables, "compare"), pair.as_json(), f"{pair.sentence()}.", pictures=drawn)


def _all_pairs(evaluation: Evaluation, choice: Choice, progress: Progress, method: Method) -> Finding:
    matrix = scored(evaluation, choice).matrix
    pairs = analysis.compare_all(matrix, method=method, progress=progress)
    ranking = Part("ranking", replace(pairs.table(), title="Scores and groups"), "run", pairs.runs, 1)
    document, left_out = pairs.as_json(), None
    total = len(pairs.runs) * (len(pairs.runs) - 1) // 2
    if total > PAIRS_SHOWN:
        document["pairs"], left_out = [], f"{total:,} pairs of runs; the command `qassay compare --json` lists them"
    listed = pairs.pair_table(most=min(total, PAIRS_SHOWN))
    parts = (ranking, Part("pairs", listed)) if total else (ranking,)
    drawn = pictures(pairs.figure) if len(pairs.runs) > 1 else ()
    return Finding(parts, document, with_full_stop(pairs.sentence()), left_out, pictures=drawn)


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
