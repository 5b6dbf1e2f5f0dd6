"""Documents of scores: `score`, corrected by people or not, and `score --sweep`."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from qassay.judging.voting import Vote
from qassay.schemas.outputs import ByRun, Interval, Notes, Number


class RunScore(TypedDict):
    """The score of one run."""

    run: str
    score: Number
    components: ByRun
    interval: NotRequired[Interval]
    letters: NotRequired[str | None]
    rank_range: NotRequired[list[int] | None]
    nil_precision: NotRequired[Number]
    nil_recall: NotRequired[Number]
    mean_length: NotRequired[Number]
    by_type: NotRequired[Number]
    organisation: NotRequired[str | None]
    manual: NotRequired[bool | None]
    contingency: NotRequired[dict[str, dict[str, int]]]


class LeaderScore(TypedDict):
    """The limit of the leader that allows for being picked, and the score that its own is probably nearer to."""

    lower: Number
    nearer: Number


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
    leader: NotRequired[LeaderScore | None]
    level: NotRequired[Number]
    notes: NotRequired[Notes]
    unjudged: NotRequired[Rule]
    missing: NotRequired[Rule]
    empty: NotRequired[dict[str, int]]
    judged_by: NotRequired[dict[str, dict[str, int]]]
    contingency: NotRequired[dict[str, dict[str, int]]]
    vote: NotRequired[Vote]


class Story(TypedDict):
    """The demonstration, part by part: scores, and the documents of several studies."""

    evaluation: dict[str, Any]
    score: Score
    agree: dict[str, Any]
    stability: dict[str, Any]
    sensitivity: dict[str, Any]
    compare: dict[str, Any]
