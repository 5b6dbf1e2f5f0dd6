"""An option of a study, declared once: the command line, Python and the pages of results offer it from here.

    def reuse(evaluation: Evaluation, *, by: Annotated[By, Option("Leave out a run, or an organisation.")] = "run")

`options_of(reuse)` lists them. Doors leave out parameters without an `Option`, such as a callback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import Parameter, signature
from types import SimpleNamespace
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, get_args, get_origin, get_type_hints

Missing: TypeAlias = Literal["stop", "zero", "skip"]
Unjudged: TypeAlias = Literal["stop", "wrong", "drop"]


@dataclass(frozen=True, slots=True)
class Option:
    """What people read about an option, and what it may be.

    `flag` is its name on the command line where that is not the name of the parameter; `read` makes its value from the
    text of a flag (that of a mapping from the texts of all), or raises a ValueError that says what it takes. Pages of
    results offer an option with `on_pages` alone: others cost time without bound, or their page has no use for them.
    They offer its `choices` alone where it has some.
    """

    help: str
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    flag: str | None = None
    short: str | None = None
    read: Callable[[Any], Any] | None = None
    on_pages: bool = False
    choices: tuple[Any, ...] = ()
    # Whether it means nothing for a table of scores.
    of_evaluation: bool = False
    # Whether a flag is given once per value; else values are separated by commas.
    repeated: bool = False
    # Whether the command line takes it as a name after the sources.
    positional: bool = False


@dataclass(frozen=True, slots=True)
class Offered:
    """An option of one function: its name there, its type and its default (`Parameter.empty`: it must be given)."""

    name: str
    kind: Any
    default: Any
    option: Option

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return self.option.flag or f"--{self.name.replace('_', '-')}"


Key = Annotated[
    str | None,
    Option("The judgment set that scores are computed from (an evaluation).", metavar="SET", of_evaluation=True),
]
Measure = Annotated[
    str | None,
    Option('Measure, such as "nugget_f(beta=5)" (an evaluation).', metavar="NAME", of_evaluation=True),
]
Component = Annotated[
    str | None,
    Option("Only the questions of this type: factoid, list, definition, other.", metavar="TYPE", of_evaluation=True),
]
ForUnjudged = Annotated[
    Unjudged,
    Option(
        "What to do with unjudged items: stop, count them wrong, or drop questions with no judgment at all.",
        of_evaluation=True,
    ),
]
ForMissing = Annotated[Missing, Option("What to do where a run has no score: stop, count 0, or skip (leave it out).")]
Sets = Annotated[
    Sequence[str] | None,
    Option("Judgment sets to compare, separated by commas.", metavar="A,B,...", on_pages=True, of_evaluation=True),
]
CorrectWith = Annotated[
    str | None,
    Option("Correct the scores of --key with people's labels of a random sample.", metavar="SET", of_evaluation=True),
]
Target = Annotated[
    Literal["new", "these"] | None,
    Option("Corrected intervals are about new questions (default), or about these.", of_evaluation=True),
]
Sample = Annotated[
    str | None,
    Option("The sample that people labelled, if there are several.", metavar="NAME|FILE", of_evaluation=True),
]
Resamples = Annotated[int, Option("Bootstrap resamples behind the intervals; 0: none.", least=0, most=100_000)]
Seed = Annotated[int, Option("Seed of the random draws.", least=0)]
# Rows of a long table; it is about how a result is shown.
Top = Annotated[int, Option("Show the first N questions, series or topics.", metavar="N", least=0)]


class HowScored(TypedDict, total=False):
    """How the runs of an evaluation are scored, as everything takes it that scores one on the way."""

    measure: Measure
    component: Component
    unjudged: ForUnjudged
    missing: ForMissing


class Scoring(HowScored, total=False):
    """The judgments that scores are computed from too."""

    key: Key


# What an option of `Scoring` is where nobody chose it.
UNCHOSEN: dict[str, Any] = {"key": None, "measure": None, "component": None, "unjudged": "stop", "missing": "stop"}


def options_of(function: Callable[..., Any]) -> list[Offered]:
    """The options of a function, in order: parameters after the source, and the keys of its `**how: Unpack[...]`."""
    return list(_offered(function))


def _offered(function: Callable[..., Any]) -> Iterator[Offered]:
    _, *others = signature(function).parameters.values()
    for parameter in others:
        name, annotated = parameter.name, _type_of(parameter, function.__globals__)
        if parameter.kind is Parameter.VAR_KEYWORD:
            (scoring,) = get_args(annotated)
            keys = get_type_hints(scoring, include_extras=True)
            every = [(key, keys[key], default) for key, default in UNCHOSEN.items() if key in keys]
        else:
            every = [(name, annotated, parameter.default)]
        for key, annotated, default in every:
            if get_origin(annotated) is Annotated:
                kind, *about = get_args(annotated)
                option = next((part for part in about if isinstance(part, Option)), None)
                if option is not None:
                    yield Offered(key, kind, default, option)


def _type_of(parameter: Parameter, names: dict[str, Any]) -> Any:
    """The type of a parameter; None where it names one that is loaded with an evaluation, as that of no option does."""
    with suppress(NameError):
        asked = SimpleNamespace(__annotations__={"type": parameter.annotation})
        return get_type_hints(asked, names, include_extras=True)["type"]
    return None
