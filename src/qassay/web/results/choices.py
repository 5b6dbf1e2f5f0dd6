"""What an evaluation offers to choose from, where it is scored for a page, and what an address may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from qassay.errors import unknown
from qassay.evaluation import Evaluation
from qassay.measures import MEASURES, Measure
from qassay.measures import measure as parse_measure
from qassay.measures.holistic import Content, Holistic, Organization
from qassay.measures.justification import Correctness, Understandability
from qassay.measures.reciprocal_rank import LenientReciprocalRank, ReciprocalRank
from qassay.measures.weighted_types import FinalScore, SeriesScore
from qassay.tally import block_of
from qassay.tasks import Task

# Measures with a parameter are offered with these values of it.
BETAS = (1, 3, 5)


@dataclass(frozen=True, slots=True)
class ScoringChoices:
    """The choices on offer."""

    keys: tuple[str, ...]
    default_key: str | None
    sets: tuple[str, ...]
    measures: tuple[str, ...]
    components: tuple[str, ...]
    runs: tuple[str, ...]
    # The sets of programs.
    automatic: tuple[str, ...] = ()
    # Scores are averaged over series.
    by_series: bool = False


def choices_of(evaluation: Evaluation) -> ScoringChoices:
    """The choices of an evaluation; runs that cannot be read are left out."""
    used = set(evaluation.questions.types)
    types = tuple(kind for kind in evaluation.task.types if kind in used)
    return ScoringChoices(
        keys=(
            *evaluation.sets,
            *(name for name in evaluation.derived_sets if name not in evaluation.sets),
            *evaluation.role_sets,
            *evaluation.voted_keys,
        ),
        default_key=evaluation.default_key(),
        sets=(*evaluation.sets, *evaluation.role_sets),
        measures=offered_measures(evaluation.task, types),
        components=types if len(types) > 1 else (),
        runs=evaluation.run_files.runs.tags,
        automatic=tuple(sorted(evaluation.automatic_sets)),
        by_series=evaluation.task.unit == "series",
    )


def measures_of(task: Task) -> tuple[str, ...]:
    """The measures that can score the questions of a task, its own first."""
    blocks = {block_of(task, kind) for kind in task.types}
    names = [task.measure, *(rules.score for rules in task.types.values())]
    names += [name for name in task.components if name not in task.types]
    for name, kind in MEASURES.items():
        if kind is SeriesScore:
            names += [name] if task.unit == "series" else []
        elif kind is FinalScore:
            names += [name] if len(task.types) > 1 else []
        elif kind.needs in blocks:
            needs_beta = any(parameter.name == "beta" for parameter in fields(kind))
            names += [f"{name}(beta={beta})" for beta in BETAS] if needs_beta else [name]
    return tuple(dict.fromkeys(str(parse_measure(name)) for name in names))


def offered_measures(task: Task, types: Sequence[str]) -> tuple[str, ...]:
    """The measures that fit the types of the questions; of measures of opinions, those that the task names."""
    blocks = {block_of(task, kind) for kind in types}
    names = {task.measure, *(task.types[kind].score for kind in types), *task.components} - set(task.types)
    task_measures = {str(parse_measure(name)) for name in names}

    def fits(name: str) -> bool:
        measure = parse_measure(name)
        if isinstance(measure, FinalScore):
            return len(types) > 1
        if measure.needs is None:
            return True
        return measure.needs in blocks and (name in task_measures or _says_something(measure, task))

    return tuple(name for name in measures_of(task) if fits(name))


def _says_something(measure: Measure, task: Task) -> bool:
    """Whether a measure that can be computed is more than another one under a second name, or of nothing."""
    if measure.ordered:
        return task.ordered
    if isinstance(measure, ReciprocalRank | LenientReciprocalRank):
        return any(form.is_ranked for form in task.responses)
    if isinstance(measure, Understandability | Correctness):
        return task.is_rated
    return not isinstance(measure, Content | Organization | Holistic)


def check(chosen: Mapping[str, Any], offered: ScoringChoices, task: Task) -> None:
    """An error where a choice is not on its list; an address may name measures that nobody is led to."""
    lists = {"key": offered.keys, "measure": measures_of(task), "component": offered.components}
    for kind, offered_values in lists.items():
        value = chosen.get(kind)
        if value and value not in offered_values:
            raise unknown(kind, value, offered_values)
