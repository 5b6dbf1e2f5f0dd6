"""Which questions are scored, and the scores of responses that are unjudged or missing (METHOD 4, FORMATS 4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.arrays import Floats
from qassay.errors import InputError, Problem, Problems, Remedy, few
from qassay.measures import Measure
from qassay.scoring.record import Dropped
from qassay.tally import AnswerCounts, Block, LabelCounts, ListCounts, NuggetCounts, PairCounts, Tally, TypeTally
from qassay.tally.rows import whole_questions

FIRST_FEW = 5
_WRONG_OR_DROP = (
    Remedy("unjudged", "wrong", "To count them as wrong"),
    Remedy("unjudged", "drop", "to leave out only questions with no judgment at all"),
)
_ZERO_OR_SKIP = (Remedy("missing", "zero", "To count 0"), Remedy("missing", "skip", "to leave the questions out"))
# Looked up only where it matters: it takes reading all sets.
Judged = Callable[[], Collection[str]]


@dataclass(eq=False)
class Selection:
    """The questions of each type that are scored, and the rules for missing judgments and responses."""

    scored: dict[str, NDArray[np.bool_]]
    dropped: list[Dropped]
    unjudged_rule: str
    missing_rule: str
    # Whether series are the units of the scores; else every question is one.
    by_series: bool
    # Types whose unjudged questions can be wrong as a whole, with the score of a wrong response.
    wrong: Mapping[str, float]
    unjudged: tuple[str, int] | None = None
    missing: tuple[str, dict[str, int]] | None = None
    # Questions that the organiser leaves out, by name or with their series.
    decided: set[str] = field(default_factory=set)
    # Series that are left out of the series scores, while their questions count by type.
    not_units: set[str] = field(default_factory=set)
    # The key, and the questions that assessors have judged, whether or not the key contains them.
    key: str = ""
    judged_by_assessors: Judged = frozenset

    def apply(self, kind: str, values: Floats, answered: NDArray[np.bool_], *, needed: bool = True) -> Floats:
        """Scores with NaN for questions left out, and 0 or NaN for missing responses.

        `needed`: the measure needs judgments, so an unjudged response can be counted as wrong.
        """
        undefined = np.isnan(values)
        if not undefined.any() and answered.all() and self.scored[kind].all():
            return values
        values = values.astype(float, copy=True)
        # Where a whole question is undefined it is left out; a single response without judgment is wrong.
        unjudged = undefined if kind in self.wrong else undefined & ~self._undefined(values, answered)
        if self.missing_rule == "skip":
            values[~answered] = np.nan
        else:
            values[~answered & (unjudged | ~undefined)] = 0.0
        if self.unjudged_rule == "wrong" and needed:
            values[unjudged & answered] = self.wrong.get(kind, 0.0)
        values[:, ~self.scored[kind]] = np.nan
        return values

    def check_defined(self, tally: Tally, values: Mapping[str, Floats], measure: Measure) -> None:
        """Leave out questions on which the measure is undefined for every run; stop where it is for some."""
        problems = Problems()
        for kind, scores in values.items():
            type_tally = tally.types[kind]
            undefined = np.isnan(scores) & type_tally.answered & self.scored[kind]
            everywhere = self._undefined(scores, type_tally.answered) & undefined
            for column in np.flatnonzero(everywhere.any(axis=0)):
                self.drop_question(type_tally.questions[column].id, f"{measure} is undefined")
                self.scored[kind][column] = False
            for row, column in zip(*np.nonzero(undefined & ~everywhere), strict=True):
                question, run = type_tally.questions[column].id, tally.runs.tags[row]
                message = f"question {question}: {measure} of run {run} is undefined, because it is not judged"
                problems.append(Problem("unjudged", message, None, None, question))
        if problems:
            raise InputError(problems)

    def drop_question(self, question: str, reason: str) -> None:
        """Note a question that is left out; it is a unit of its own unless series are scored."""
        unit = None if self.by_series else question
        self.dropped.append(Dropped(reason=reason, unit=unit, question=question))

    def lacking(self, question: str) -> str:
        """Why there is nothing about a question in the key."""
        if question not in self.judged_by_assessors():
            return "never judged"
        return "judged, but not adjudicated" if self.key == "adjudicated" else f"judged, but not in the key {self.key}"

    @staticmethod
    def _undefined(values: Floats, answered: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Cells of questions that are undefined for every run that answered them."""
        return np.broadcast_to((np.isnan(values) | ~answered).all(axis=0), values.shape)


def select(
    tally: Tally,
    types: Sequence[str],
    *,
    by_series: bool,
    unjudged: str,
    missing: str,
    drop: Mapping[str, str],
    drop_from_series: Mapping[str, str],
    justified: Collection[str],
    judged_by_assessors: Judged,
) -> Selection:
    """Choose the scored questions: by the organiser, by the method, then by missing judgments and responses."""
    selection = Selection(
        scored={kind: np.ones(len(tally.types[kind].questions), dtype=bool) for kind in types},
        dropped=[],
        unjudged_rule=unjudged,
        missing_rule=missing,
        by_series=by_series,
        wrong={kind: low for kind in types if (low := _wrong(tally.types[kind].counts)) is not None},
        key=tally.key.name,
        judged_by_assessors=judged_by_assessors,
    )
    _drop_named(tally, selection, drop)
    _drop_series_scores(tally, selection, drop_from_series)
    _keep_justified(tally, selection, justified)
    if unjudged == "drop":
        _drop_unjudged(tally, selection)
    _drop_empty(tally, selection)
    _check_unjudged(tally, selection)
    _check_missing(tally, selection)
    return selection


def _wrong(counts: Block) -> float | None:
    """The score of a wrong response where whole questions can be wrong: pairs, and answers that take a label."""
    if isinstance(counts, LabelCounts):
        return counts.scale[0]
    return 0.0 if isinstance(counts, PairCounts) else None


def _leave_out(tally: Tally, selection: Selection, reasons: Mapping[str, str]) -> None:
    for kind, scored in selection.scored.items():
        for column, question in enumerate(tally.types[kind].questions):
            if scored[column] and question.id in reasons:
                scored[column] = False
                selection.drop_question(question.id, reasons[question.id])


def _leave_out_series(
    tally: Tally, selection: Selection, series: str, reason: str, question: str | None = None
) -> None:
    for kind, scored in selection.scored.items():
        for column, member in enumerate(tally.types[kind].questions):
            if member.series == series:
                scored[column] = False
    selection.dropped.append(Dropped(reason=reason, unit=series, question=question))


def _drop_named(tally: Tally, selection: Selection, drop: Mapping[str, str]) -> None:
    """Questions and series that the organiser names. A name that is both means the series."""
    series = {entry.id for entry in tally.questions.series}
    for name, reason in drop.items():
        if name in series:
            if selection.by_series:
                _leave_out_series(tally, selection, name, reason)
            else:
                members = (question.id for question in tally.questions if question.series == name)
                _leave_out(tally, selection, dict.fromkeys(members, reason))
        elif name not in tally.questions.by_id:
            message = f'drop: "{name}" is neither a question nor a series of the test set'
            raise InputError(Problem("configuration", message, "qassay.toml"))
    _leave_out(tally, selection, {name: reason for name, reason in drop.items() if name not in series})
    selection.decided |= {question.id for question in tally.questions if question.id in drop or question.series in drop}


def _drop_series_scores(tally: Tally, selection: Selection, reasons: Mapping[str, str]) -> None:
    """Series that the organiser leaves out of the series scores only; where series are not scored, nothing changes."""
    known = {series.id for series in tally.questions.series}
    for name, reason in reasons.items():
        if name not in known:
            raise InputError(Problem("configuration", f'drop: "{name}" is not a series of the test set', "qassay.toml"))
        if selection.by_series:
            selection.not_units.add(name)
            selection.dropped.append(Dropped(reason=reason, unit=name))


def _keep_justified(tally: Tally, selection: Selection, justified: Collection[str]) -> None:
    """For justifications the units are the pairs that the organiser chose, else those with a rating."""
    for kind, scored in selection.scored.items():
        if not tally.task.types[kind].form.is_rated:
            continue
        type_tally = tally.types[kind]
        chosen = (
            np.array([question.id in justified for question in type_tally.questions])
            if justified
            else type_tally.judged
        )
        scored &= chosen


def _drop_unjudged(tally: Tally, selection: Selection) -> None:
    """Leave out questions without anything in the key, and the series of such an `other` question."""
    number = 0
    for kind in selection.scored:
        type_tally = tally.types[kind]
        for column in np.flatnonzero(~type_tally.judged & selection.scored[kind]):
            question = type_tally.questions[column]
            number += 1
            if question.type == "other" and selection.by_series and question.series is not None:
                _leave_out_series(tally, selection, question.series, selection.lacking(question.id), question.id)
            else:
                selection.scored[kind][column] = False
                selection.drop_question(question.id, selection.lacking(question.id))
    if number:
        selection.unjudged = ("drop", number)


def _drop_empty(tally: Tally, selection: Selection) -> None:
    """Questions that nothing can be right about: lists without known answers, nuggets without a vital one."""
    for kind, scored in selection.scored.items():
        type_tally = tally.types[kind]
        counts = type_tally.counts
        if isinstance(counts, ListCounts):
            empty, reason = counts.known == 0, "no known answer"
        elif isinstance(counts, NuggetCounts | AnswerCounts):
            empty, reason = counts.vital_known == 0, "no vital nugget"
        else:
            continue
        # A question that the key does not know at all is not empty but unjudged.
        known = type_tally.judged if selection.unjudged_rule != "wrong" else np.ones_like(type_tally.judged)
        for column in np.flatnonzero(empty & known & scored):
            scored[column] = False
            question = type_tally.questions[column].id
            selection.drop_question(question, reason if type_tally.judged[column] else selection.lacking(question))


def _check_unjudged(tally: Tally, selection: Selection) -> None:
    """Stop where something is not judged, or note how much is counted as wrong."""
    lacking = [_lacking(tally.types[kind], selection.scored[kind]) for kind in selection.scored]
    table = pl.concat(lacking)
    if not table.height:
        return
    if selection.unjudged_rule == "wrong":
        selection.unjudged = ("wrong", table.height)
        return
    items = "1 item is" if table.height == 1 else f"{table.height:,} items are"
    message = f"{items} not judged in the set {tally.key.name}; judge them"
    problems = [Problem("unjudged", message, way_out=_WRONG_OR_DROP)]
    for question, run, item in table.head(FIRST_FEW).iter_rows():
        of_run = f" of run {run}" if run else ""
        problems.append(Problem("unjudged", f"question {question}{of_run}: {item[:200]}", None, None, question))
    if table.height > FIRST_FEW:
        problems.append(Problem("unjudged", f"... and {table.height - FIRST_FEW:,} more"))
    raise InputError(problems)


def _lacking(type_tally: TypeTally, scored: NDArray[np.bool_]) -> pl.DataFrame:
    """The unjudged items of the scored questions, with one row for a question that the key does not know at all."""
    if not type_tally.unjudged.height and type_tally.judged.all():
        return type_tally.unjudged
    scored_questions = {
        question.id for question, is_scored in zip(type_tally.questions, scored, strict=True) if is_scored
    }
    unknown = [
        q.id
        for q, is_scored, is_judged in zip(type_tally.questions, scored, type_tally.judged, strict=True)
        if is_scored and not is_judged
    ]
    items = type_tally.unjudged.filter(
        pl.col("question").is_in(list(scored_questions)) & ~pl.col("question").is_in(unknown)
    )
    return pl.concat([whole_questions(unknown), items])


def _check_missing(tally: Tally, selection: Selection) -> None:
    """Stop where a run leaves out a question that counts, or note how many it leaves out."""
    gaps: dict[str, list[str]] = {}
    for kind, scored in selection.scored.items():
        type_tally = tally.types[kind]
        for row, column in zip(*np.nonzero(~type_tally.answered & scored), strict=True):
            gaps.setdefault(tally.runs.tags[row], []).append(type_tally.questions[column].id)
    if not gaps:
        return
    if selection.missing_rule != "stop":
        selection.missing = (selection.missing_rule, {run: len(questions) for run, questions in sorted(gaps.items())})
        return
    raise InputError(
        Problem(
            "missing-question",
            f"run {run} has no response to {len(questions):,} of the questions ({few(questions, FIRST_FEW)}); complete "
            "the run",
            way_out=_ZERO_OR_SKIP,
        )
        for run, questions in sorted(gaps.items())
    )
