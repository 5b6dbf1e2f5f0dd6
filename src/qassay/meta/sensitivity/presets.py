"""The studies of the papers as presets, and how each one is laid out on n units. (METHOD 6)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.tables import counted


@dataclass(frozen=True, slots=True)
class Preset:
    """One study: where its sizes start, its trials, and which sizes its fit uses.

    `fit_above`: only sizes greater than this enter the fit. `even_target`: extrapolate to the largest even number
    of units instead of all of them. `most_sizes`: thin the sizes out to this many. `component`: the question type
    that the study is about.
    """

    name: str
    study: str
    first_size: int
    trials: int
    fit_above: int = 0
    even_target: bool = False
    most_sizes: int | None = None
    component: str | None = None
    result: str | None = None


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("default", "any matrix", 5, 200, most_sizes=60),
        Preset(
            "trec2002",
            "confidence-weighted score, 500 questions [EVAL02]",
            1,
            10,
            fit_above=20,
            result="0.07 needed for 5%; 0.05 gives about 8%",
        ),
        Preset(
            "trec2003-definition",
            "definition questions, 50 questions [QA03]",
            1,
            50,
            fit_above=1,
            component="definition",
            result="0.10",
        ),
        # [QA03] does not state the trials of the list study; those of the definition study are assumed.
        Preset(
            "trec2003-list",
            "list questions, 37 questions [QA03]",
            1,
            50,
            fit_above=1,
            even_target=True,
            component="list",
            result="0.05",
        ),
        Preset("trec2004", "64 question series [SERIES05]", 5, 50, result="0.05, reached with 47 series"),
    )
}


@dataclass(frozen=True, slots=True)
class Schedule:
    """A study laid out on the units at hand."""

    preset: str
    sizes: tuple[int, ...]
    trials: int
    fit_above: int
    target: int


def find_preset(name: str) -> Preset:
    """The preset of this name, or an error that suggests one."""
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    return PRESETS[name]


def schedule(
    preset: Preset,
    units: int,
    *,
    sizes: Sequence[int] | None = None,
    trials: int | None = None,
    name: tuple[str, str] = ("question", "questions"),
) -> Schedule:
    """Lay a preset out on this many units; sizes and trials given by the caller replace its own.

    The last size is half the units: base and test have to be disjoint. Too few units for the preset is an error
    of the data; sizes that do not fit the units are an error of the call.
    """
    if trials is not None and trials < 1:
        raise UsageError(f"trials must be at least 1, not {trials}")
    chosen = _preset_sizes(preset, units, name) if sizes is None else _checked(sizes, units, name)
    target = 2 * (units // 2) if preset.even_target else units
    return Schedule(preset.name, chosen, trials or preset.trials, preset.fit_above, target)


def _preset_sizes(preset: Preset, units: int, name: tuple[str, str]) -> tuple[int, ...]:
    first, last = preset.first_size, units // 2
    if last < first:
        few = f"{counted(units, name)} {'is' if units == 1 else 'are'} too few"
        needs = f"starts with sets of {first} and needs two disjoint ones, {2 * first} {name[1]} or more"
        raise InputError(Problem("configuration", f"{few}: preset {preset.name!r} {needs}"))
    number = last - first + 1
    if preset.most_sizes is None or number <= preset.most_sizes:
        return tuple(range(first, last + 1))
    return tuple(int(size) for size in np.rint(np.linspace(first, last, preset.most_sizes)))


def _checked(sizes: Sequence[int], units: int, name: tuple[str, str]) -> tuple[int, ...]:
    chosen = tuple(sorted({int(size) for size in sizes}))
    if not chosen or chosen[0] < 1:
        raise UsageError("sizes are whole numbers from 1 up, and there is at least one")
    if 2 * chosen[-1] > units:
        raise UsageError(
            f"size {chosen[-1]} needs two disjoint sets, {2 * chosen[-1]} {name[1]}; there are {units}: "
            f"the largest size is {units // 2}"
        )
    return chosen
