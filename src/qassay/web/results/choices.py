"""Key, measure and rules: what an organiser can choose, each from a list of what there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar, get_args

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

UNJUDGED: tuple[Unjudged, ...] = get_args(Unjudged)
MISSING: tuple[Missing, ...] = get_args(Missing)
# Measures with a parameter are offered with these values of it.
BETAS = (1, 3, 5)

One = TypeVar("One", bound=str)


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
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) != one.default}

    def as_options(self) -> dict[str, Any]:
        """The arguments of `Evaluation.score`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Offer:
    """What there is to choose from; `computable` are measures that nobody is led to, but that an address may name."""

    keys: tuple[str, ...]
    default_key: str | None
    sets: tuple[str, ...]
    measures: tuple[str, ...]
    computable: tuple[str, ...]
    components: tuple[str, ...]
    runs: tuple[str, ...]


def offer(evaluation: Evaluation) -> Offer:
    """What an evaluation offers; runs that cannot be read are none to choose."""
    asked = set(evaluation.questions.types)
    types = tuple(kind for kind in evaluation.task.types if kind in asked)
    return Offer(
        keys=(*evaluation.sets, *(name for name in evaluation.derived_sets if name not in evaluation.sets)),
        default_key=evaluation.default_key(),
        sets=evaluation.sets,
        measures=offered_measures(evaluation.task, types),
        computable=measures_of(evaluation.task),
        components=types if len(types) > 1 else (),
        runs=evaluation.run_files.runs.tags,
    )


def measures_of(task: Task) -> tuple[str, ...]:
    """The measures that can score the questions of a task, its own first."""
    blocks = {block_of(task, kind) for kind in task.types}
    named = [task.measure, *(rules.score for rules in task.types.values())]
    named += [name for name in task.components if name not in task.types]
    for name, kind in MEASURES.items():
        if kind is SeriesScore:
            named += [name] if task.unit == "series" else []
        elif kind is FinalScore:
            named += [name] if len(task.types) > 1 else []
        elif kind.needs in blocks:
            needs_beta = any(one.name == "beta" for one in fields(kind))
            named += [f"{name}(beta={beta})" for beta in BETAS] if needs_beta else [name]
    return tuple(dict.fromkeys(str(parse_measure(name)) for name in named))


def offered_measures(task: Task, types: Sequence[str]) -> tuple[str, ...]:
    """Those that say something of the types of questions that are asked; of opinions, those that the task names."""
    blocks = {block_of(task, kind) for kind in types}
    named = {task.measure, *(task.types[kind].score for kind in types), *task.components} - set(task.types)
    own = {str(parse_measure(name)) for name in named}

    def fits(name: str) -> bool:
        one = parse_measure(name)
        if isinstance(one, FinalScore):
            return len(types) > 1
        if one.needs is None:
            return True
        return one.needs in blocks and (name in own or _says_something(one, task))

    return tuple(name for name in measures_of(task) if fits(name))


def _says_something(one: Measure, task: Task) -> bool:
    """Whether a measure that can be computed is more than another one under a second name, or of nothing."""
    if one.ordered:
        return task.ordered
    if isinstance(one, ReciprocalRank | LenientReciprocalRank):
        return task.has("ranked")
    if isinstance(one, Understandability | Correctness):
        return task.has("justified")
    return not isinstance(one, Content | Organization | Holistic)


def one_of(kind: str, given: str | None, known: Sequence[One]) -> One | None:
    """What was given, if it is on the list; nothing where nothing was given."""
    if given is None or given == "":
        return None
    for one in known:
        if one == given:
            return one
    raise unknown(kind, given, known)


def checked(choice: Choice, offered: Offer) -> Choice:
    """The choice, or an error that says what is not offered."""
    one_of("key", choice.key, offered.keys)
    one_of("measure", choice.measure, offered.computable)
    one_of("component", choice.component, offered.components)
    return choice
