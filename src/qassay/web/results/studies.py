"""The studies behind the pages, made with the calls of the commands: a page and its command show the same numbers.

Each function takes an opened evaluation, the options of its page and a callback for progress, and gives a `Finding`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
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
    scoring_options,
    with_full_stop,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from qassay.figures import Figure

Method: TypeAlias = Literal["randomised-tukey", "tukey", "holm", "bh"]
Corrected = TypeVar("Corrected")
# With more scores (runs x units) than this a leaderboard has intervals only on request, as in the command.
QUICK_CELLS = 50_000
SLOW = "Intervals and groups of this many scores take a while: ask for them above, under how runs are scored."
# A document with more scores, pairs or units than this leaves them to the CSV.
DOCUMENT_CELLS = 100_000
PAIRS_SHOWN = 5_000
# The units that make the difference of two runs, as the command lists them.
DECIDING = 10


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
