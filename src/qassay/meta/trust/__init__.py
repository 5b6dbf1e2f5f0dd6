"""Trust in an automatic assessor: its judgments beside those of people, on what both judged (METHOD 7).

    labels  -> agreement, kappa, AC1, sensitivity, specificity, with intervals over questions
    scores  -> tau over runs and per question, swaps, RMSE; bias by run, by length, by type
    pairs   -> which runs it favours, and whether it finds the differences that people find
    people  -> the alternative annotator test, where there are three or more

bias        J - H with its interval           annotator   may the program replace one of the people?
unevenness  J - H of all pairs, together
result      Trust -> the answer in words, tables and JSON

Labels are folded into the best one against the rest; the values before folding are in `labels`. A constant
bias changes no ranking, an uneven one does: so bias is given for every run and every pair of runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from qassay.arrays import Floats, defined
from qassay.meta.agreement.coefficients import Questions, bootstrap_intervals, cohen_kappa, estimate
from qassay.meta.agreement.nugget_lists import ListPair
from qassay.meta.ranking import compare_rankings, mean_unit_tau, swapped_pairs
from qassay.meta.redrawing import FEWEST_BLOCKS, FEWEST_RUNS, Redrawn, drawn_times, redrawn
from qassay.meta.trust.annotator import AlternativeAnnotator, alternative_annotator
from qassay.meta.trust.bias import Bias, bias_of
from qassay.meta.trust.result import LabelAgreement, QuestionTrust, RunTrust, Trust
from qassay.meta.trust.unevenness import shifts_of, significance_agreement, unevenness
from qassay.summaries import Summary

__all__ = ["Bias", "Compared", "ScoredTwice", "Trust", "alternative_annotator", "bias_of", "trust"]

RESAMPLES = 1000
# The best third of the runs is what a leaderboard is read for.
BEST_SHARE = 3
LENGTHS = ("shortest third", "middle third", "longest third")


@dataclass(frozen=True, eq=False)
class Compared:
    """Labels of one kind that both gave, item by item; `best` is the label that counts, the others are the rest."""

    about: str
    questions: Sequence[str]
    program: Sequence[str]
    people: Sequence[str]
    best: str


@dataclass(frozen=True, eq=False)
class ScoredTwice:
    """Scores of runs x units by the program and by people; NaN where not both judged all that the run returned.

    `units_of_run` is the number of units the run has a response to, `left_out` the questions that were left out.
    `lengths` has the characters of each response, `types` the question type of each unit; None where units are series.
    """

    runs: tuple[str, ...]
    units: tuple[str, ...]
    program: Floats
    people: Floats
    summary: Summary
    units_of_run: Sequence[int]
    left_out: Mapping[str, int]
    measure: str
    reach: float = 1.0
    lengths: Floats | None = None
    types: Sequence[str] | None = None


def trust(
    assessor: str,
    against: str,
    compared: Sequence[Compared],
    scored: ScoredTwice | None,
    *,
    alternative: AlternativeAnnotator | None = None,
    copied: int = 0,
    seed: int = 0,
    resamples: int = RESAMPLES,
    nugget_lists: tuple[ListPair, ...] = (),
    notes: Sequence[str] = (),
) -> Trust:
    """How far an assessor can be trusted, measured against people; `nugget_lists` are theirs where they differ."""
    questions = _by_question(compared)
    values = estimate(questions, _statistics) if len(questions) else {}
    intervals = bootstrap_intervals(questions, _statistics, seed=seed, resamples=resamples) if len(questions) else {}
    twice = None if scored is None else _paired(scored)
    pairs = () if scored is None or twice is None else shifts_of(twice.runs, twice.errors, scored.reach, seed)
    return Trust(
        assessor=assessor,
        against=against,
        items=sum(len(part.questions) for part in compared),
        agreement=values.get("agreement"),
        kappa=values.get("kappa"),
        ac1=values.get("ac1"),
        sensitivity=values.get("sensitivity"),
        specificity=values.get("specificity"),
        labels={part.about: _unfolded(part) for part in compared},
        runs=_runs(twice, seed) if twice is not None else RunTrust(),
        questions=_questions(scored) if scored is not None else QuestionTrust(),
        bias=_by_run(twice, scored.reach) if scored is not None and twice is not None else {},
        pairs=pairs,
        uneven=unevenness(pairs),
        significance=significance_agreement(twice.people, twice.program, seed) if twice is not None else None,
        by_length=_by_length(scored) if scored is not None else {},
        by_type=_by_type(scored) if scored is not None else {},
        left_out={run: number for run, number in scored.left_out.items() if number} if scored is not None else {},
        copied=copied,
        alternative_annotator=alternative,
        intervals={name: interval for name, interval in intervals.items() if values.get(name) is not None},
        measure=scored.measure if scored is not None else None,
        nugget_lists=nugget_lists,
        notes=(*notes, *(questions.too_few() if resamples else [])),
    )


def ac1(joint: Floats) -> Floats:
    """Gwet's AC1 (2008): (p_a - p_e) / (1 - p_e), p_e = sum pi_k * (1 - pi_k) / (K - 1), pi_k label k's mean share.

    `joint[..., c, k]` counts the items that one assessor labels c and the other k. Undefined without items or with a
    single label.
    """
    total = joint.sum(axis=(-2, -1))
    labels = joint.shape[-1]
    if labels < 2:
        return np.full(total.shape, np.nan)
    safe = np.where(total > 0, total, np.nan)
    share = (joint.sum(axis=-1) + joint.sum(axis=-2)) / (2 * safe[..., None])
    chance = (share * (1 - share)).sum(axis=-1) / (labels - 1)
    return np.asarray((np.trace(joint, axis1=-2, axis2=-1) / safe - chance) / (1 - chance))


# ---- labels ---------------------------------------------------------------------------------------------------------


def _by_question(compared: Sequence[Compared]) -> Questions:
    """The counts of each question, people x program: how often each says the best label (1) or another (0)."""
    places: dict[str, int] = {}
    rows = [
        (places.setdefault(question, len(places)), int(person == part.best), int(program == part.best))
        for part in compared
        for question, person, program in zip(part.questions, part.people, part.program, strict=True)
    ]
    joint = np.zeros((len(places), 2, 2))
    if rows:
        np.add.at(joint, tuple(np.array(rows).T), 1)
    return Questions(joint.reshape(len(places), 4), np.ones(len(places)))


def _statistics(sums: Floats) -> dict[str, Floats]:
    """Every statistic of folded labels, for each row of sums over questions."""
    tables = sums.reshape(len(sums), 2, 2)
    total = tables.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "agreement": np.trace(tables, axis1=-2, axis2=-1) / total,
            "kappa": cohen_kappa(tables),
            "ac1": ac1(tables),
            "sensitivity": tables[..., 1, 1] / tables[..., 1, :].sum(axis=-1),
            "specificity": tables[..., 0, 0] / tables[..., 0, :].sum(axis=-1),
        }


def _unfolded(part: Compared) -> LabelAgreement:
    labels = sorted({*part.people, *part.program})
    place = {label: number for number, label in enumerate(labels)}
    joint = np.zeros((len(labels), len(labels)))
    for person, program in zip(part.people, part.program, strict=True):
        joint[place[person], place[program]] += 1
    matrix = {
        person: {
            program: int(joint[place[person], place[program]])
            for program in labels
            if joint[place[person], place[program]]
        }
        for person in labels
    }
    total = joint.sum()
    return LabelAgreement(
        items=int(total),
        agreement=float(np.trace(joint) / total) if total else None,
        kappa=defined(float(cohen_kappa(joint))) if total else None,
        ac1=defined(float(ac1(joint))) if total else None,
        matrix={label: row for label, row in matrix.items() if row},
    )


# ---- scores ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Twice:
    """The runs that both scored: what each unit adds to their scores by people and by the program (NaN: not by both).

    `units_of_run` is the number of units that a run has a response to.
    """

    runs: tuple[str, ...]
    units_of_run: tuple[int, ...]
    people: Floats
    program: Floats

    @property
    def errors(self) -> Floats:
        """What each unit adds to the differences of the two scores."""
        return np.asarray(self.program - self.people)


def _paired(scored: ScoredTwice) -> _Twice:
    """Every run on the units where both scores are there."""
    both = np.isfinite(scored.program) & np.isfinite(scored.people)
    parts = np.full((2, *both.shape), np.nan)
    kept: list[int] = np.flatnonzero(both.any(axis=1)).tolist()
    for row in kept:
        units = np.flatnonzero(both[row])
        summary = scored.summary.for_runs(np.array([row])).on_units(units)
        for part, values in zip(parts, (scored.people, scored.program), strict=True):
            part[row, units] = summary.contributions(values[[row]][:, units])[0]
    return _Twice(
        runs=tuple(scored.runs[row] for row in kept),
        units_of_run=tuple(scored.units_of_run[row] for row in kept),
        people=parts[0, kept],
        program=parts[1, kept],
    )


def _runs(twice: _Twice, seed: int) -> RunTrust:
    tags, compared = twice.runs, len(twice.runs)
    if compared < 2:
        return RunTrust(runs=compared)
    people, program = np.nanmean(twice.people, axis=1), np.nanmean(twice.program, axis=1)
    ranking = compare_rankings(people, program)
    swaps = swapped_pairs(tags, people, program)
    again = _redrawn(twice, ranking.tau, seed)
    best = np.argsort(-people, kind="stable")[: -(-compared // BEST_SHARE)]
    return RunTrust(
        runs=compared,
        tau=ranking.tau,
        tau_ap=ranking.tau_ap,
        tau_sd=None if again is None else again.tau_sd,
        tau_next=None if again is None else again.tau_next,
        swaps=ranking.swaps,
        pairs=ranking.pairs,
        tied=ranking.tied,
        largest_swapped_difference=swaps[0].difference if swaps else 0.0,
        largest_swap=(swaps[0].better, swaps[0].worse) if swaps else None,
        rmse=float(np.sqrt(np.mean((program - people) ** 2))),
        tau_best_third=compare_rankings(people[best], program[best]).tau if len(best) > 2 else None,
        scores={
            tag: (float(person), float(machine)) for tag, person, machine in zip(tags, people, program, strict=True)
        },
    )


def _redrawn(twice: _Twice, tau: float | None, seed: int) -> Redrawn | None:
    """How far tau varies with the units that runs were scored on by both; None where there are too few."""
    known = np.isfinite(twice.people)
    runs, units = known.shape
    shared = int(known.any(axis=0).sum())
    if runs < FEWEST_RUNS or shared < FEWEST_BLOCKS:
        return None
    parts, counted = np.nan_to_num(np.stack([twice.people, twice.program])), known.astype(np.float64)
    drawn = []
    for times in drawn_times(units, units, seed):
        # A run whose units were not drawn has no score: the draw has no tau.
        with np.errstate(invalid="ignore"):
            drawn.append([times @ judged.T / (times @ counted.T) for judged in parts])
    people, program = (np.concatenate(scores) for scores in zip(*drawn, strict=True))
    return redrawn(tau, people, program, shared)


def _questions(scored: ScoredTwice) -> QuestionTrust:
    taus = []
    for unit in range(len(scored.units)):
        both = np.isfinite(scored.program[:, unit]) & np.isfinite(scored.people[:, unit])
        tau, _ = mean_unit_tau(scored.people[both][:, [unit]], scored.program[both][:, [unit]])
        if tau is not None:
            taus.append(tau)
    return QuestionTrust(mean_tau=float(np.mean(taus)) if taus else None, questions=len(taus))


def _by_run(twice: _Twice, reach: float) -> dict[str, Bias]:
    biases = {
        tag: bias_of(errors[np.isfinite(errors)], units=units, reach=reach)
        for tag, errors, units in zip(twice.runs, twice.errors, twice.units_of_run, strict=True)
    }
    return {tag: bias for tag, bias in biases.items() if bias is not None}


def _by_length(scored: ScoredTwice) -> dict[str, Bias]:
    """The bias of short, middling and long responses; thirds of all responses."""
    if scored.lengths is None:
        return {}
    apart = scored.program - scored.people
    known = np.isfinite(apart)
    if known.sum() < len(LENGTHS):
        return {}
    limits = np.quantile(scored.lengths[known], [1 / 3, 2 / 3])
    third = np.searchsorted(limits, scored.lengths, side="left")
    return _by_group(apart, {name: known & (third == place) for place, name in enumerate(LENGTHS)}, scored.reach)


def _by_type(scored: ScoredTwice) -> dict[str, Bias]:
    if scored.types is None:
        return {}
    apart = scored.program - scored.people
    of_unit = np.array(scored.types)
    return _by_group(
        apart,
        {kind: np.isfinite(apart) & (of_unit == kind)[None, :] for kind in dict.fromkeys(scored.types)},
        scored.reach,
    )


def _by_group(apart: Floats, groups: Mapping[str, np.ndarray], reach: float) -> dict[str, Bias]:
    """The bias of groups of responses: their mean on each question, averaged over the questions that chance draws."""
    biases = {}
    for name, inside in groups.items():
        number = inside.sum(axis=0)
        means = np.where(inside, apart, 0.0).sum(axis=0)[number > 0] / number[number > 0]
        bias = bias_of(means, reach=reach)
        if bias is not None:
            biases[name] = bias
    return biases
