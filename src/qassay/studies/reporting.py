"""Reports: every analysis that the scores or the evaluation allow, as one document."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from qassay._version import __version__
from qassay.errors import QassayError, Remedy
from qassay.extras import require
from qassay.matrix import ScoreMatrix
from qassay.meta.distributions import ScoreDistributions, score_distributions
from qassay.meta.intervals import score_intervals
from qassay.meta.leader import with_leader
from qassay.meta.planning import Plan, Wanted, differences_for, plan
from qassay.meta.sensitivity import SensitivityCurves, sensitivity, width_for
from qassay.meta.sensitivity.trials import WIDTH
from qassay.meta.significance import compare, compare_all
from qassay.pages import Page
from qassay.reports.document import Material
from qassay.sources import as_evaluation, as_matrix, refuse_options
from qassay.studies import describe, stability

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.meta.stability import Stability
    from qassay.reports import Report
    from qassay.scoring import HowScored, Missing, Unjudged
    from qassay.sources import ScoresLike
    from qassay.studies.agree import AgreementStudy

Study = TypeVar("Study")

# Error rates are about all pairs of runs; the curve of a single pair says nothing of another one.
FEWEST_RUNS = 3
LEVEL = 0.95


def report(
    scores: ScoresLike | Evaluation,
    *,
    name: str | None = None,
    key: str | None = None,
    measure: str | None = None,
    component: str | None = None,
    unjudged: Unjudged = "stop",
    missing: Missing = "stop",
    seed: int = 0,
    lower_is_better: Collection[str] = (),
) -> Report:
    """One document: who is ahead, whether that is real, where runs differ, how far judges agree, and what is next.

    `html()`, `markdown()` and `latex()` give its forms; `name` is its title. The other keyword arguments say how an
    evaluation is scored, as in `Evaluation.score`. Needs the extra `figures`.

    >>> import qassay
    >>> print(qassay.report(qassay.open(qassay.demo_folder())).answer[0])
    hobby leads with 0.541, but chance alone could explain its lead over egret, badger, crane, finch and dunlin.
    """
    from qassay.reports import build_report

    require("figures", "a report")
    evaluation = as_evaluation(scores)
    if evaluation is not None:
        how: HowScored = {"measure": measure, "component": component, "unjudged": unjudged, "missing": missing}
        material = of_evaluation(evaluation, key, how, seed=seed)
        return build_report(material if name is None else replace(material, name=name))
    refuse_options(key=key, measure=measure, component=component, unjudged=unjudged, missing=missing)
    return build_report(of_matrix(as_matrix(scores, lower_is_better=lower_is_better), name=name or "scores", seed=seed))


def of_matrix(
    matrix: ScoreMatrix, *, name: str, sources: Sequence[str] = (), options: Sequence[str] = (), seed: int = 0
) -> Material:
    """The results of scores from elsewhere. `sources` and `options` are what the commands in the report name."""
    notes: list[str] = []
    pairs = compare_all(matrix, alpha=1 - LEVEL, seed=seed)
    first_two = None
    if len(matrix.runs) > 1:
        first_two = compare(matrix, *pairs.runs[:2], alpha=1 - LEVEL, seed=seed, top=len(matrix.units))
    curves = _curves(matrix, seed, pairs.different, notes)
    planned = _tried(lambda: _plan(matrix, curves), "No plan", notes) if len(matrix.runs) > 1 else None
    material = Material(
        name=name,
        matrix=matrix,
        intervals=with_leader(score_intervals(matrix, level=LEVEL, seed=seed), matrix, seed=seed),
        pairs=pairs,
        spread=score_distributions(matrix),
        seed=seed,
        first_two=first_two,
        curves=curves,
        plan=planned,
        missing=tuple(notes),
        commands=_commands(matrix, pairs.runs, sources, options, seed),
        version=__version__,
    )
    return replace(material, pages=_pages(material.spread))


def of_evaluation(
    evaluation: Evaluation,
    key: str | None = None,
    how: HowScored | None = None,
    *,
    sources: Sequence[str] = (),
    options: Sequence[str] = (),
    seed: int = 0,
) -> Material:
    """The results of an evaluation: those of its scores, and what its judges say. `how` says how runs are scored."""
    from qassay.measures import measure as parse_measure
    from qassay.studies.agree import agreement

    how = how or {}
    scores = evaluation.score(key, **how)
    material = of_matrix(scores.matrix, name=evaluation.name, sources=sources, options=options, seed=seed)
    notes = list(material.missing)
    folder = shlex.join(sources[:1])
    commands = {"Scores, intervals and groups": _command("score", sources, options), **material.commands}
    study = ranks = None
    if len(evaluation.assessor_sets) > 1:
        study = _tried(lambda: agreement(evaluation, seed=seed), "No agreement", notes)
        commands["How far the judges agree"] = f"qassay agree {folder}"
    if len(evaluation.sets) > 1:
        ranks = _tried(lambda: _stability(evaluation, how), "No ranking under other judgments", notes)
        commands["The ranking under other judgments"] = _command("stability", sources, _without_key(options))
    shown_commands = {} if not sources else commands
    spread = replace(material.spread, titles=evaluation.unit_titles(scores))
    return replace(
        material,
        scores=scores,
        spread=spread,
        pages=_pages(spread, study, ranks),
        task_title=evaluation.task.title,
        measure_title=parse_measure(scores.measure).title,
        agreement=() if study is None else tuple(study),
        stability=None if ranks is None or len(ranks.sets) < 2 else next(iter(ranks.measures.values())),
        judged_by=evaluation.sets,
        missing=tuple(notes),
        commands=shown_commands,
    )


def _pages(
    spread: ScoreDistributions, judges: AgreementStudy | None = None, ranks: Stability | None = None
) -> tuple[Page, ...]:
    """The pages of the studies that the report shows as they are."""
    from qassay.studies import agree

    pages = [(describe.STUDY, describe.page(describe.Description(spread), top=len(spread.units)))]
    if judges is not None:
        pages.append((agree.STUDY, agree.page(judges)))
    if ranks is not None and len(ranks.sets) > 1:
        pages.append((stability.STUDY, stability.page(ranks)))
    return tuple(replace(page, title=study.tab or "", name=study.name) for study, page in pages)


def _curves(matrix: ScoreMatrix, seed: int, different: int, notes: list[str]) -> SensitivityCurves | None:
    """The expected error rates; they need no trials, so that one per size is enough."""
    if len(matrix.runs) < FEWEST_RUNS:
        notes.append(f"No repeatable gap: it takes {FEWEST_RUNS} runs or more.")
        return None
    return _tried(
        lambda: sensitivity(matrix, trials=1, intervals=0, seed=seed, bin_width=width_for(matrix), different=different),
        "No repeatable gap",
        notes,
    )


def _plan(matrix: ScoreMatrix, curves: SensitivityCurves | None) -> Plan:
    prediction = None if curves is None else curves.prediction
    return plan(matrix, wanted=Wanted(differences_for(matrix)), prediction=prediction)


def _stability(evaluation: Evaluation, how: HowScored) -> Stability:
    measure = how.get("measure")
    return stability.stability(
        evaluation,
        measures=() if measure is None else (measure,),
        component=how.get("component"),
        unjudged=how.get("unjudged", "stop"),
        missing=how.get("missing", "stop"),
    )


def _tried(work: Callable[[], Study], lead: str, notes: list[str]) -> Study | None:
    """The result, or a note that says why there is none."""
    try:
        return work()
    except QassayError as error:
        notes.append(f"{lead}: {error.spelt(Remedy.on_command_line).rstrip('.')}.")
        return None


def _commands(
    matrix: ScoreMatrix, runs: Sequence[str], sources: Sequence[str], options: Sequence[str], seed: int
) -> dict[str, str]:
    """The commands that print the numbers of the report; nothing where the scores are in memory."""
    if not sources:
        return {}
    chance = ["--seed", str(seed)] if seed else []
    width = [] if width_for(matrix) == WIDTH else ["--bin-width", str(width_for(matrix))]
    commands = {"Which runs differ": _command("compare", sources, [*options, *chance])}
    if len(runs) > 1:
        commands["The first two runs"] = _command("compare", [*sources, *runs[:2]], [*options, *chance])
        commands["The repeatable gap"] = _command("sensitivity", sources, [*options, *width, *chance])
        commands["How many questions a difference needs"] = _command("plan", sources, options)
    commands["How scores spread over the questions"] = _command("describe", sources, options)
    return commands


def _command(verb: str, sources: Sequence[str], options: Sequence[str]) -> str:
    """A line for the shell; names that begin with a dash come after the options."""
    if any(source.startswith("-") for source in sources):
        return shlex.join(["qassay", verb, *options, "--", *sources])
    return shlex.join(["qassay", verb, *sources, *options])


def _without_key(options: Sequence[str]) -> list[str]:
    """The options without the one that names a key: stability scores with all of them."""
    remaining: list[str] = []
    skip = False
    for option in options:
        if not skip and option != "--key":
            remaining.append(option)
        skip = option == "--key"
    return remaining
