"""Documents of scores: `score`, corrected by people or not, and `score --sweep`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from qassay.schemas.outputs import ByRun, Interval, Notes, Number


class RunScore(TypedDict):
    """The score of one run."""

    run: str
    score: Number
    components: ByRun
    nil_precision: NotRequired[Number]
    nil_recall: NotRequired[Number]
    mean_length: NotRequired[Number]
    by_type: NotRequired[Number]
    organisation: NotRequired[str | None]
    manual: NotRequired[bool | None]
    contingency: NotRequired[dict[str, dict[str, int]]]


class Dropped(TypedDict):
    """A unit or question that is left out, and why."""

    reason: str
    unit: NotRequired[str]
    question: NotRequired[str]


class Rule(TypedDict):
    """A rule that was applied, and to how much."""

    rule: str
    items: NotRequired[int]
    questions: NotRequired[Any]


class Vote(TypedDict):
    """The basis of a key by votes (majority, dawid-skene)."""

    rule: Literal["majority", "dawid-skene"]
    sets: list[str]
    people: int
    items: int
    labels_per_item: float
    items_per_person: float
    ties: int
    differs_from_majority: int
    nugget_judgments_left_out: int


class Score(TypedDict):
    """Scores of all runs, by run, unit and question."""

    task: str
    key: str
    measure: str
    higher_is_better: bool
    direction_assumed: bool
    runs: list[RunScore]
    units: list[str]
    matrix: dict[str, list[Number]]
    questions: dict[str, ByRun]
    dropped: list[Dropped]
    unjudged: NotRequired[Rule]
    missing: NotRequired[Rule]
    empty: NotRequired[dict[str, int]]
    judged_by: NotRequired[dict[str, dict[str, int]]]
    contingency: NotRequired[dict[str, dict[str, int]]]
    vote: NotRequired[Vote]


class ScoreBias(TypedDict):
    """The bias that an automatic assessor adds to a score, with its interval."""

    bias: float
    interval: Interval


class CorrectedRun(TypedDict):
    """The corrected score of one run (null where the sample is not judged for it), beside the assessor's own."""

    run: str
    score: Number
    interval: Interval
    judge_score: Number
    labels: int
    bias: ScoreBias | None
    skipped: NotRequired[int]
    labels_needed: NotRequired[int | None]
    best_half_width: NotRequired[float]
    units_needed: NotRequired[int]


class Correction(TypedDict):
    """Whose scores are corrected with whose labels, on how much of which sample."""

    task: str
    key: str
    correct_with: str
    sample: str
    target: Literal["new", "these"]
    measure: str
    higher_is_better: bool
    direction_assumed: bool
    units: int
    labelled: int
    drawn: int
    notes: Notes


class CorrectedScore(Correction):
    """Scores of an automatic assessor, corrected by people (`score --correct-with`)."""

    runs: list[CorrectedRun]
    half_width: NotRequired[float]
    labels_needed: NotRequired[int | None]
    units_needed: NotRequired[int | None]


class CorrectedDifference(TypedDict):
    """The corrected difference of two runs."""

    a: str
    b: str
    difference: float
    interval: Interval
    judge_difference: float
    labels: int
    verdict: Literal["better", "worse", "cannot tell"]


class CompareCorrected(Correction, CorrectedDifference):
    """Two runs on corrected scores (`compare A B --correct-with`); `gate` and `margin` with --gate."""

    gate: NotRequired[Literal["ALLOW", "REJECT", "INCONCLUSIVE"]]
    margin: NotRequired[float]


class CorrectedPair(CorrectedDifference):
    """One of all pairs."""

    different: bool


class CompareAllCorrected(Correction):
    """All pairs on corrected scores (`compare --correct-with`)."""

    method: str
    level: float
    pairs: list[CorrectedPair]
    different: int


class SweptRun(TypedDict):
    """One run under several weights."""

    run: str
    scores: list[Number]
    ranks: list[Number]


class Sweep(TypedDict):
    """Scores by the weight of recall (`score --beta`)."""

    betas: list[float]
    runs: list[SweptRun]
    tau_with_last: list[Number]
    swaps_with_last: list[int]
    tied_with_last: list[int]
    concordant_with_last: list[int]
    notes: Notes
