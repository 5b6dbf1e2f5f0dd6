"""From a judge's scores, people's judgments and a drawn sample to a correction: the checks, and what is labelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from qassay.arrays import Floats
from qassay.errors import InputError, UsageError
from qassay.meta.agreement.nugget_lists import compare_lists, differing
from qassay.meta.correction import Correction
from qassay.meta.correction.estimates import Target
from qassay.meta.correction.joining import (
    Decisions,
    equal_answers,
    judge_decisions,
    people_decisions,
    questions_begun,
    whole_responses,
)
from qassay.meta.correction.result import About
from qassay.meta.correction.sampling import Draw, Labelled, Sample, check_draw, labelled_prefix
from qassay.scoring import Scores
from qassay.tally import Tally, restricted

# Scores responses of people's tally: the same measure and the same rules as the judge's.
ScorePeople = Callable[[Tally], Scores]


def correct(
    scores: Scores,
    judge: Tally,
    people: Tally,
    sample: Sample,
    *,
    target: Target,
    pair: tuple[str, str] | None,
    score_people: ScorePeople,
) -> Correction:
    """The correction of a judge's scores by the labelled part of a sample; with `pair`, of two runs alone."""
    decisions = judge_decisions(scores, judge, whole=not sample.is_of_nuggets)
    if any(draw.nugget is not None for draw in decisions.draws):
        lists = compare_lists({scores.key: judge.key.nuggets, people.key.name: people.key.nuggets})
        if differ := differing(lists):
            raise UsageError(f"{differ[0].difference()}; labels of one list cannot correct judgments of another")
    if decisions.units is not None and target == "these":
        raise UsageError(
            f"these {decisions.unit_name[1]} are not a target here: labels are spread over all of "
            f"them, and the interval is about new {decisions.unit_name[1]}"
        )
    if sample.pair is not None and (pair is None or set(pair) != set(sample.pair)):
        pair_in_words = " and ".join(sample.pair)
        raise UsageError(f"the sample {sample.name} serves only the difference of {pair_in_words}: qassay compare")
    equal = equal_answers(judge, *pair) if pair is not None and decisions.units is None else set()
    among = None
    if sample.pair is not None:
        among = len(decisions.draws)
        decisions = only(decisions, [draw.question not in equal for draw in decisions.draws])
    draws = check_draw(sample, decisions.draws, decisions.units, measure=decisions.measure)
    values = _people_values(decisions, people, draws, score_people)
    if pair is not None:
        _fill_equal(values, decisions, pair, equal)
    plan = sample.plan(len(draws))
    labelled, unlabelled = _labelled(sample, draws, decisions, values, people, pair, plan.stops)
    about = About(
        task=scores.task,
        key=scores.key,
        correct_with=people.key.name,
        sample=sample.name,
        target=target,
        measure=decisions.measure,
        units=len(set(decisions.units)) if decisions.units is not None else among or len(decisions.draws),
        labelled=len(labelled.draws),
        drawn=labelled.drawn,
        plan=plan,
        unit_name=decisions.unit_name,
        drawn_name=decisions.drawn_name,
        by_unit=decisions.units is not None,
        pair=sample.pair,
        manual=scores.matrix.manual,
    )
    notes = tuple(note for note in scores.notes_for_output() if not note.startswith("*"))
    return Correction(about, decisions, values, labelled.draws, among, notes, unlabelled)


def only(decisions: Decisions, mask: Sequence[bool]) -> Decisions:
    """Some of the decisions."""
    columns = np.flatnonzero(mask)
    units = decisions.units
    return replace(
        decisions,
        draws=tuple(decisions.draws[column] for column in columns),
        units=None if units is None else tuple(units[column] for column in columns),
        weights=decisions.weights[columns],
        values=decisions.values[:, columns],
    )


def _people_values(decisions: Decisions, people: Tally, draws: Sequence[Draw], score_people: ScorePeople) -> Floats:
    """The decisions of people on the sample; NaN elsewhere, and where something of a response is not judged."""
    questions = list(dict.fromkeys(draw.question for draw in draws))
    whole = whole_responses(people, questions)
    by_question = all(draw.nugget is None for draw in decisions.draws)
    scored = score_people(restricted(people, whole)) if by_question and whole else None
    values = people_decisions(decisions, people, whole, scored)
    drawn = set(draws)
    values[:, [draw not in drawn for draw in decisions.draws]] = np.nan
    return values


def _fill_equal(values: Floats, decisions: Decisions, pair: tuple[str, str], equal: set[str]) -> None:
    """Equal answers need no label: their difference is 0, whatever they are worth."""
    rows = [decisions.runs.index(tag) for tag in pair if tag in decisions.runs]
    for column, draw in enumerate(decisions.draws):
        if draw.question in equal and np.isnan(values[rows, column]).any():
            values[rows, column] = decisions.values[rows, column]


def _labelled(
    sample: Sample,
    draws: Sequence[Draw],
    decisions: Decisions,
    values: Floats,
    people: Tally,
    pair: tuple[str, str] | None,
    stops: Sequence[int],
) -> tuple[Labelled, dict[str, int]]:
    """The labelled prefix of the sample, and the runs that it leaves out because their answers are not judged."""
    place = decisions.place()
    begun = questions_begun(people.key.judgments)
    rows = list(range(len(decisions.runs)))
    if pair is not None:
        rows = [row for row in rows if decisions.runs[row] in pair]
    open_ = np.isnan(values) & ~np.isnan(decisions.values)

    def prefix(chosen: Sequence[int]) -> Labelled:
        return labelled_prefix(
            sample,
            draws,
            is_whole=lambda draw: not open_[chosen, place[draw]].any(),
            is_begun=lambda draw: draw in begun,
            people=people.key.name,
            stops=stops,
        )

    try:
        return prefix(rows), {}
    except InputError:
        # A run that came after the labels does not take them from the others.
        judged = [place[draw] for draw in draws if draw in begun]
        complete = [row for row in rows if not open_[row, judged[:-1]].any()]
        if pair is not None or len(judged) < 2 or not complete or len(complete) == len(rows):
            raise
        left = {decisions.runs[row]: int(open_[row, judged].sum()) for row in rows if row not in complete}
        return prefix(complete), left
