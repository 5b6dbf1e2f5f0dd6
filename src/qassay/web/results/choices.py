"""Key, measure and rules: what an organiser can choose, each from a list of what there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from qassay.errors import unknown
from qassay.evaluation import Evaluation
from qassay.measures import MEASURES, Measure
from qassay.measures import measure as parse_measure
from qassay.measures.holistic import Content, Holistic, Organization
from qassay.measures.justification import Correctness, Understandability
from qassay.measures.reciprocal_rank import LenientReciprocalRank, ReciprocalRank
from qassay.measures.weighted_types import FinalScore, SeriesScore
from qassay.scores import Missing, Unjudged
from qassay.tally import block_of
from qassay.tasks import Task

# Measures with a parameter are offered with these values of it.
BETAS = (1, 3, 5)


@dataclass(frozen=True, slots=True)
class Choice:
    """How runs are scored: None is the default of the evaluation or of its task."""

    key: str | None = None
    measure: str | None = None
    component: str | None = None
    unjudged: Unjudged = "stop"
    missing: Missing = "stop"

    def changed(self) -> dict[str, str]:
        """What differs from the default, for an address."""
        return {own.name: value for own in fields(self) if (value := getattr(self, own.name)) != own.default}

    def as_options(self) -> dict[str, Any]:
        """The arguments of `Evaluation.score`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Offer:
    """What there is to choose from."""

    keys: tuple[str, ...]
    default_key: str | None
    sets: tuple[str, ...]
    measures: tuple[str, ...]
    components: tuple[str, ...]
    runs: tuple[str, ...]


def offer(evaluation: Evaluation) -> Offer:
    """What an evaluation offers; runs that cannot be read are none to choose."""
    used = set(evaluation.questions.types)
    types = tuple(kind for kind in evaluation.task.types if kind in used)
    return Offer(
        keys=(*evaluation.sets, *(name for name in evaluation.derived_sets if name not in evaluation.sets)),
        default_key=evaluation.default_key(),
        sets=evaluation.sets,
        measures=offered_measures(evaluation.task, types),
        components=types if len(types) > 1 else (),
        runs=evaluation.run_files.runs.tags,
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
    """Those that say something of the types of questions that are asked; of opinions, those that the task names."""
    blocks = {block_of(task, kind) for kind in types}
    named = {task.measure, *(task.types[kind].score for kind in types), *task.components} - set(task.types)
    own = {str(parse_measure(name)) for name in named}

    def fits(name: str) -> bool:
        measure = parse_measure(name)
        if isinstance(measure, FinalScore):
            return len(types) > 1
        if measure.needs is None:
            return True
        return measure.needs in blocks and (name in own or _says_something(measure, task))

    return tuple(name for name in measures_of(task) if fits(name))


def _says_something(measure: Measure, task: Task) -> bool:
    """Whether a measure that can be computed is more than another one under a second name, or of nothing."""
    if measure.ordered:
        return task.ordered
    if isinstance(measure, ReciprocalRank | LenientReciprocalRank):
        return task.has("ranked")
    if isinstance(measure, Understandability | Correctness):
        return task.has("justified")
    return not isinstance(measure, Content | Organization | Holistic)


def check(choice: Choice, offered: Offer, task: Task) -> None:
    """An error where a choice is not on its list; an address may name measures that nobody is led to."""
    for kind, value, known in (
        ("key", choice.key, offered.keys),
        ("measure", choice.measure, measures_of(task)),
        ("component", choice.component, offered.components),
    ):
        if value and value not in known:
            raise unknown(kind, value, known)
