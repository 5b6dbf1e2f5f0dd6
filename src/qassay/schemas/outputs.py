"""Documents of `--json` beside scores and analyses, and what all share. Numbers are not rounded; undefined is null."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Number = float | None
Interval = list[float] | None
Notes = list[str]
ByRun = dict[str, float | None]


class Problem(TypedDict):
    """One error or warning, with its place."""

    file: str | None
    line: int | None
    question: str | None
    rule: str
    message: str


class Errors(TypedDict):
    """The output where the input has errors: the first 200 of each file, and the number of all."""

    errors: list[Problem]
    errors_total: int


class ByMetric(TypedDict):
    """The same analysis for every metric (`--metric all`)."""

    metrics: dict[str, Any]
    correction: NotRequired[str]


class NuggetCounts(TypedDict):
    """One nugget list in numbers."""

    lists: int
    nuggets: int
    vital: int


class LookStep(TypedDict):
    """A command to run next."""

    command: str
    purpose: str


class LookFile(TypedDict):
    """One file: its kind and content."""

    file: str
    kind: str
    summary: str
    details: list[str]
    commands: list[LookStep]


class Look(TypedDict):
    """The content of files; `together` are commands for all of them."""

    files: list[LookFile]
    together: list[LookStep]


class Check(TypedDict):
    """The content of an evaluation, and its errors."""

    questions: dict[str, int]
    series: int
    runs: list[str]
    judgments: dict[str, int]
    nuggets: dict[str, NuggetCounts]
    answers: int
    errors: list[Problem]
    errors_total: int
    warnings: list[Problem]


class PoolOfType(TypedDict):
    """The work to judge for one type of question."""

    kind: str
    returned: int
    to_judge: int
    judged: int
    left: int


class Pool(TypedDict):
    """The work to judge, and how much of it is left."""

    key: str | None
    types: dict[str, PoolOfType]
    assigned: NotRequired[dict[str, dict[str, int]]]
    # Runs of lower priorities, where the track has only some of each organisation judged.
    runs_left_out: NotRequired[list[str]]


class SubmittedFile(TypedDict):
    """The result of one file: the tag of the run (null where it was refused), or its errors.

    `runs` has the tags of all its runs: a table of answers may have several systems.
    """

    file: str
    run: str | None
    runs: list[str]
    errors: list[Problem]
    errors_total: int
    warnings: NotRequired[list[Problem]]


class SubmittedRun(TypedDict):
    """A run of the organisation."""

    run: str
    description: str | None
    manual: bool
    priority: int | None
    withdrawn: bool
    judged: bool
    at: str


class Submit(TypedDict):
    """The files sent, and the runs that the organisation has now."""

    evaluation: str
    organisation: str
    deadline: str | None
    limit: int | None
    files: list[SubmittedFile]
    withdrawn: list[str]
    runs: list[SubmittedRun]


class ModelTokens(TypedDict):
    """Tokens that a language model read and wrote; estimated where its endpoint does not count them."""

    input: int
    output: int
    estimated: bool


class ModelCalls(TypedDict):
    """The calls to a language model: number, answers paid for before, failed decisions; cost null if unknown."""

    calls: int
    cached: int
    failed: int
    tokens: ModelTokens
    cost: Number
    stopped: str | None


class JudgePlanned(TypedDict):
    """The calls that `judge --dry-run` would make to a language model: by kind of judgment, all estimated."""

    decisions: int
    calls: dict[str, int]
    cached: int
    tokens: ModelTokens
    cost: Number


class JudgeNuggets(TypedDict):
    """A list of nuggets that a language model wrote or rated (`judge --nuggets`); questions that failed by id."""

    set: str
    questions: int
    nuggets: int
    vital: int
    failed: list[str]
    model: ModelCalls


class Judge(TypedDict):
    """The judgments of an automatic assessor, counted."""

    set: str
    judged: int
    labels: dict[str, int]
    known: int
    silent: int
    resumed: int
    model: NotRequired[ModelCalls]


class Init(TypedDict):
    """The new evaluation."""

    folder: str
    name: str
    task: str


class Added(TypedDict):
    """The additions from one file."""

    file: str
    kind: str
    count: int
    to: list[str]
    message: str


class Import(TypedDict):
    """The result of an import."""

    added: list[Added]
    warnings: list[Problem]


class Written(TypedDict):
    """The files that were written."""

    to: str
    files: list[str]


class Export(Written):
    """The files that were written, and what they leave out."""

    notes: Notes


class Fact(TypedDict):
    """One number of a report: what it is called, its value as text, and what it means."""

    label: str
    value: str
    meaning: str


class Report(TypedDict):
    """The report that was written: its answer in paragraphs, and why an analysis is missing from it."""

    to: str
    format: Literal["html", "markdown", "latex", "csv", "parquet"]
    files: list[str]
    bytes: int
    answer: list[str]
    facts: list[Fact]
    missing: Notes


class ResultPages(TypedDict):
    """The result pages that were written, by file with their organisation (`--by organisation`)."""

    to: str
    pages: dict[str, str]
    runs_without_organisation: list[str]


class Backup(TypedDict):
    """The backup that was written."""

    to: str
    bytes: int


class Restore(TypedDict):
    """The backup that was restored, and where the store before it is kept."""

    restored: str
    kept: str | None


class Run(TypedDict):
    """A system that was driven over the questions."""

    run: str
    system: str
    file: str
    stored: bool
    log: str
    questions: int
    continued: int
    nil: int
    empty: int
    failed: list[Any]
    seconds: float


class Sheet(TypedDict):
    """The judging sheet that was written."""

    sheet: str
    file: str
    key: str
    questions: int
    items: int
    documents: int
    bytes: int
    without_nuggets: list[str]


class Names(TypedDict):
    """Names of schemas with their titles."""

    rows: dict[str, str]
    outputs: dict[str, str]


class Completion(TypedDict):
    """The options of every command, with the values that each may have."""

    commands: dict[str, dict[str, list[str]]]
