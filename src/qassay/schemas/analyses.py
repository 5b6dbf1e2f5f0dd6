"""Documents of analyses: comparing, sensitivity, agreement, stability, planning, describing, reuse, trust, and all
of `demo`.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from qassay.schemas.outputs import ByRun, Interval, Notes, Number
from qassay.schemas.scores import Score


class ErrorRate(TypedDict):
    """An error rate by the fitted curve, and the expected one."""

    fit: Number
    predicted: Number


class Fit(TypedDict):
    """A fitted curve A1 exp(-A2 size)."""

    A1: float
    A2: float


class Bin(TypedDict):
    """The error rate of one bin of differences, by size."""

    low: float
    high: Number
    error_rate: list[Number]
    comparisons: list[int]
    interval: list[Interval] | None
    predicted: list[Number]
    fit: Fit | None
    not_fitted: str | None
    extrapolated: Number
    predicted_at_target: Number


class Sensitivity(TypedDict):
    """Error rates of comparisons by difference and number of units."""

    preset: str
    measure: str
    higher_is_better: bool
    direction_assumed: bool
    units: int
    runs: int
    pairs: int
    trials: int
    seed: int
    ties: str
    sizes: list[int]
    target: int
    bins: list[Bin]
    error: float
    minimum_difference: ErrorRate
    repeatable_difference: Number
    size_needed: dict[str, dict[str, int | None]]
    pairs_at_least_minimum: Number
    groups: list[list[str]] | None
    by: dict[str, Any]
    floor: Number
    bin_width: float
    resamples: int
    notes: Notes


class PairAgreement(TypedDict):
    """Two sets compared."""

    a: str
    b: str
    agreement: Number
    folded: Number
    cohen_kappa: Number
    folded_kappa: Number
    intervals: dict[str, Interval]
    matrix: dict[str, dict[str, int]]


class NuggetListPair(TypedDict):
    """The nugget lists of two assessors, on the questions of both; pairs of numbers are those of a and b."""

    a: str
    b: str
    questions: int
    nuggets: list[int]
    vital: list[int]
    okay: list[int]
    both: int
    same_mark: int


class PersonDifference(TypedDict):
    """A label of a person where the others say another."""

    own: str
    others: str
    items: float
    share: float


class PersonAgreement(TypedDict):
    """One person beside the others on the same items."""

    person: str
    items: int
    common: int
    agreement: Number
    interval: Interval
    kappa: Number
    labels: dict[str, float]
    others_labels: dict[str, float]
    compared: int
    agreement_there: Number
    others_agreement: Number
    out_of_line: bool
    differs: list[PersonDifference]
    by_type: dict[str, float]
    seconds: Number


class AgreeByPerson(TypedDict):
    """Who is out of line (`agree --by person`); further kinds of judgment follow under their own names."""

    people: list[PersonAgreement]
    krippendorff_alpha: Number
    interval: Interval
    items: int
    about: str
    out_of_line: list[str]
    answer: str
    notes: Notes


class Agree(TypedDict):
    """Agreement of judgment sets; further kinds of judgment follow under their own names."""

    sets: list[str]
    items: int
    disagreements: int
    patterns: dict[str, int]
    raw: Number
    folded: Number
    fold: dict[str, str]
    fleiss_kappa: Number
    krippendorff_alpha: Number
    krippendorff_alpha_ordinal: Number
    scott_pi: Number
    intervals: dict[str, Interval]
    labels: dict[str, dict[str, int]]
    pairs: list[PairAgreement]
    resamples: int
    seed: int
    about: str
    notes: Notes
    not_all_wrong: NotRequired[int]
    nugget_lists: NotRequired[list[NuggetListPair]]
    ratings: NotRequired[dict[str, Any]]


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


class PlannedDifference(TypedDict):
    """The units that a difference takes, by method."""

    difference: float
    units: dict[str, int | None]
    power_now: Number


class Plan(TypedDict):
    """Questions, and assessors, for a wanted difference."""

    measure: str
    higher_is_better: bool
    direction_assumed: bool
    runs: int
    units: int
    error: float
    alpha: float
    power: float
    coefficient: float
    recommendation: dict[str, Any] | None
    shows: list[dict[str, Number]]
    deviation: Number
    deviation_hard: Number
    detectable: Number
    differences: list[PlannedDifference]
    running_again: dict[str, Any] | None
    generalizability: dict[str, Any] | None
    units_for_coefficient: list[dict[str, int | None]]
    notes: Notes


class TrustedLabels(TypedDict):
    """Agreement on the labels of one kind, before folding."""

    agreement: Number
    kappa: Number
    matrix: dict[str, dict[str, int]]


class TrustedRuns(TypedDict):
    """The ranking of the runs by the program beside that by people."""

    tau: Number
    tau_ap: Number
    swaps: int
    pairs: int
    largest_swapped_difference: Number
    rmse: Number
    tau_best_third: Number


class TrustedQuestions(TypedDict):
    """The rankings on single questions."""

    mean_tau: Number
    questions: int


class TrustBias(TypedDict):
    """How much higher the program scores than people."""

    bias: Number
    interval: Interval


class TrustPair(TrustBias):
    """The bias of the difference of two runs."""

    a: str
    b: str


class Trust(TypedDict):
    """An automatic assessor beside people."""

    assessor: str
    against: str
    items: int
    agreement: Number
    kappa: Number
    ac1: Number
    sensitivity: Number
    specificity: Number
    labels: dict[str, TrustedLabels]
    runs: TrustedRuns
    questions: TrustedQuestions
    bias: dict[str, TrustBias]
    pairs: list[TrustPair]
    by_length: dict[str, TrustBias]
    by_type: dict[str, TrustBias]
    left_out: dict[str, int]
    copied: int
    alternative_annotator: Any
    intervals: dict[str, Interval]
    measure: str | None
    nugget_lists: NotRequired[list[NuggetListPair]]
    higher_is_better: bool
    direction_assumed: bool
    notes: Notes


class Story(TypedDict):
    """The demonstration, part by part."""

    evaluation: dict[str, Any]
    score: Score
    agree: Agree
    stability: Stability
