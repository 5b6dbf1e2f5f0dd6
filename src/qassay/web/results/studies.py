"""The studies behind the pages, made with the calls of the commands: a page and its command show the same numbers.

Each function takes an opened evaluation, the options of its page and a callback for progress, and gives a `Finding`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from qassay.errors import UsageError, unknown
from qassay.evaluation import Evaluation
from qassay.scores import Scores
from qassay.tables import Table, plural, table
from qassay.web.results.choices import Choice
from qassay.web.results.finding import Finding, Part, parts_of
from qassay.web.results.request import Progress, contingency_table, scored

# Above so many scores (runs x units) a leaderboard has no intervals unless they are asked for: as the command has it.
QUICK_CELLS = 50_000
SLOW = "Intervals and groups take a while with so many scores: ask for them above, under how runs are scored."
# A document with more scores, pairs or units than this leaves them to the CSV.
DOCUMENT_CELLS = 100_000
# With more pairs of sets than this their matrices fill pages; the document has them all.
MATRICES_SHOWN = 6
PAIRS_SHOWN = 5_000


def leaderboard(
    evaluation: Evaluation, choice: Choice, progress: Progress, *, intervals: str = "auto", best: bool = False
) -> Finding:
    """Runs by score with intervals and groups, what was left out, and contingency tables."""
    scores = scored(evaluation, choice)
    if best:
        scores = scores.best_per_organisation()
    shown = Part("leaderboard", _leaderboard(scores, intervals), "run", tuple(row.run for row in scores.runs), 1)
    parts = [shown]
    if scores.dropped:
        rows = [(one.unit, one.question, one.reason) for one in scores.dropped]
        parts.append(Part("left-out", table("Left out", ["unit", "question", "reason"], rows)))
    if total := scores.contingency():
        parts.append(Part("contingency", contingency_table("Decisions of all runs", total)))
    document = scores.as_json()
    left_out = None
    cells = len(scores.runs) * (len(scores.units.ids) + len(scores.asked))
    if cells > DOCUMENT_CELLS:
        del document["matrix"], document["questions"]
        left_out = f"matrix and questions: {cells:,} scores, which the CSV of the units has"
    return Finding(tuple(parts), document, left_out=left_out)


def _leaderboard(scores: Scores, intervals: str) -> Table:
    from qassay.analysis import leaderboard as with_intervals

    quick = len(scores.runs) > 1 and scores.units.values.size <= QUICK_CELLS
    skipped = scores.missing is not None and scores.missing[0] == "skip"
    if skipped and intervals == "yes":
        raise UsageError("intervals need runs scored on the same questions; skipping averages over different ones")
    if intervals == "no" or skipped or (intervals == "auto" and not quick):
        plain = scores.leaderboard()
        slow = intervals == "auto" and not skipped and len(scores.runs) > 1
        return replace(plain, notes=(*plain.notes, SLOW)) if slow else plain
    return with_intervals(scores)


def spread(evaluation: Evaluation, choice: Choice, progress: Progress) -> Finding:
    """Box statistics of every unit, zero medians, and what the ranking owes to weights and aggregation."""
    from qassay.analysis.rankings import composition
    from qassay.meta.distributions import score_distributions

    boxes = score_distributions(scored(evaluation, choice).matrix)
    found = None
    if choice.measure is None and choice.component is None:
        found = composition(evaluation, choice.key, unjudged=choice.unjudged, missing=choice.missing)
    by_series = evaluation.task.unit == "series" and choice.measure is None and choice.component is None
    units = tuple(box.unit for box in boxes.boxes)
    shown = Part("boxes", boxes.table(), "series" if by_series else "question", units)
    more = found.tables() if found else [boxes.zero_table()]
    document = {"units": boxes.as_json(), **(found.as_json() if found else {})}
    left_out = None
    if len(units) > DOCUMENT_CELLS // 10:
        document, left_out = {}, f"the boxes of {len(units):,} units, which the CSV has"
    zero = sum(box.has_zero_median for box in boxes.boxes)
    answer = f"Half of the runs or more score 0 on {zero:,} of {plural(len(units), 'unit')}."
    return Finding((*parts_of(more, "spread"), shown), document, answer, left_out)


def agreement(
    evaluation: Evaluation, choice: Choice, progress: Progress, *, sets: Sequence[str] | None = None
) -> Finding:
    """Disagreement tables and agreement statistics."""
    from qassay.analysis import agreement as compared
    from qassay.meta.ratings import rate

    chosen = _sets(sets, evaluation.sets)
    main, *further = compared(evaluation, sets=chosen, progress=progress)
    ratings = rate(evaluation.ratings(chosen), seed=0, resamples=1000)
    bare = main.items == 0 and ratings.scales
    tables = [] if bare else list(main.tables(matrices=len(main.pairs) <= MATRICES_SHOWN))
    for found in further:
        tables += found.tables(matrices=False)
    document = dict(main.as_json())
    document |= {found.about.replace(" ", "_"): found.as_json() for found in further}
    document |= {"ratings": ratings.as_json()} if ratings.scales else {}
    return Finding(parts_of([*tables, *ratings.tables()], "agreement"), document)


def stability(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    sets: Sequence[str] | None = None,
    reference: str | None = None,
) -> Finding:
    """The rankings under different judgment sets, and the noise of identical responses."""
    from qassay.analysis.rankings import compare_sets

    result, noise = compare_sets(
        evaluation,
        _sets(sets, [*evaluation.sets, *evaluation.derived_sets]),
        measures=[choice.measure] if choice.measure else (),
        reference=reference,
        component=choice.component,
        unjudged=choice.unjudged,
        missing=choice.missing,
        progress=progress,
    )
    tables = [*result.tables(), *(found.table() for found in noise if found.pairs)]
    document = result.as_json() | {"noise": {found.component: found.as_json() for found in noise}}
    return Finding(parts_of(tables, "stability"), document)


def sensitivity(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    preset: str = "default",
    error: float = 0.05,
    bin_width: float = 0.01,
) -> Finding:
    """Error rates of comparisons, the minimum difference, and the groups that follow."""
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
    curves = study(matrix, preset=preset, error=error, bin_width=bin_width, floor=floor, progress=progress)
    return Finding(parts_of(curves.tables(), "sensitivity"), curves.as_json(), curves.summary())


def compare(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    a: str | None = None,
    b: str | None = None,
    method: str = "randomised-tukey",
) -> Finding:
    """Two runs, with a verdict; or all pairs, corrected for their number."""
    from qassay.analysis import compare as two_runs
    from qassay.analysis import compare_all

    matrix = scored(evaluation, choice).matrix
    if a and b:
        found = two_runs(matrix, a, b, progress=progress)
        return Finding(parts_of(found.tables(), "compare"), found.as_json(), _verdict(found))
    if a or b:
        raise UsageError(f"a comparison takes two runs; what is {a or b!r} to be compared with?")
    pairs = compare_all(matrix, method=method, progress=progress)
    ranking = Part("ranking", pairs.table(), "run", pairs.runs, 1)
    document, left_out = pairs.as_json(), None
    total = len(pairs.runs) * (len(pairs.runs) - 1) // 2
    if total > PAIRS_SHOWN:
        document["pairs"], left_out = [], f"{total:,} pairs of runs; the command `qassay compare --json` lists them"
    listed = pairs.pair_table(most=min(total, PAIRS_SHOWN))
    return Finding((ranking, Part("pairs", listed)), document, left_out=left_out)


def _verdict(found: Any) -> str:
    """The answer in a sentence."""
    on = f"on these {found.units:,} units"
    apart = f"{abs(found.difference):.4f} {found.measure}"
    if found.verdict == "cannot tell":
        return f"Whether {found.a} is better or worse than {found.b} cannot be told {on}: they are {apart} apart."
    return f"{found.a} is {found.verdict} than {found.b} {on}, by {apart}."


def _sets(given: Sequence[str] | None, known: Sequence[str]) -> list[str] | None:
    """The chosen sets; None where none were chosen."""
    if not given:
        return None
    names = list(dict.fromkeys(given))
    for name in names:
        if name not in known:
            raise unknown("judgment set", name, known)
    if len(names) < 2:
        raise UsageError("choose two judgment sets or more to compare")
    return names
