"""Documents of analyses: comparing, stability, and all of `demo`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from qassay.schemas.outputs import ByRun, Interval, Notes, Number
from qassay.schemas.scores import Score


class DecidingUnit(TypedDict):
    """A unit that makes the difference."""

    unit: str
    a: Number
    b: Number
    part: Number


class CompareTwo(TypedDict):
    """Two runs compared; `gate` and `margin` with --gate."""

    a: str
    b: str
    units: int
    difference: float
    interval: Interval
    p_randomisation: float
    p_t: Number
    effect_size: Number
    error_rate: None
    units_needed: int | None
    verdict: Literal["better", "worse", "cannot tell"]
    measure: str
    higher_is_better: bool
    direction_assumed: bool
    score_a: float
    score_b: float
    alpha: float
    power: float
    permutations: int | None
    exact: bool
    units_better: int
    units_worse: int
    deciding_units: list[DecidingUnit]
    notes: Notes
    reversal: Number
    answer: str
    repeats: NotRequired[Any]
    gate: NotRequired[Literal["ALLOW", "REJECT", "INCONCLUSIVE"]]
    margin: NotRequired[float]


class Pair(TypedDict):
    """One pair of all."""

    a: str
    b: str
    difference: float
    p: Number
    p_adjusted: Number
    different: bool
    interval: NotRequired[Interval]


class Ranked(TypedDict):
    """One run, and the letters it shares with runs from which it is not shown to differ."""

    run: str
    score: Number
    letters: str


class CompareAll(TypedDict):
    """All pairs compared, corrected for their number."""

    runs: int
    units: int
    method: str
    permutations: int | None
    pairs: list[Pair]
    different: int
    groups: list[list[str]]
    measure: str
    higher_is_better: bool
    direction_assumed: bool
    alpha: float
    margin: Number
    ranking: list[Ranked]
    notes: Notes


class SwappedPair(TypedDict):
    """Two runs whose order another set reverses."""

    set: str
    better: str
    worse: str
    difference: float
    other_difference: float


class MeasureStability(TypedDict):
    """Rankings under several sets, by one measure."""

    higher_is_better: bool
    direction_assumed: bool
    tau: list[list[Number]]
    tau_ap: list[list[Number]]
    tau_ap_a: list[list[Number]]
    tau_ap_b: list[list[Number]]
    swaps: list[list[int]]
    tied: list[list[int]]
    concordant: list[list[int]]
    unit_tau: list[list[Number]]
    unit_tau_units: list[list[int]]
    mean_tau: Number
    mean_tau_with_reference: Number
    swaps_with_reference: int
    swaps_at_least: dict[str, int]
    largest_swapped_difference: Number
    largest_change: dict[str, Any] | None
    bound: Number
    runs: int
    pairs: int
    swapped: list[SwappedPair]
    scores: dict[str, ByRun]
    ranks: dict[str, ByRun]
    notes: Notes


class Stability(TypedDict):
    """Rankings under different judgment sets, or of several tables of scores."""

    reference: str
    sets: list[str]
    measures: dict[str, MeasureStability]
    notes: Notes
    noise: NotRequired[dict[str, Any]]


class Story(TypedDict):
    """The demonstration, part by part."""

    evaluation: dict[str, Any]
    score: Score
    agree: dict[str, Any]
    stability: Stability
