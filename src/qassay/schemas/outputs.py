"""Documents that the commands print with `--json`. Numbers are not rounded; undefined is null."""

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


class PerSeries(TypedDict):
    """Questions of a series: the fewest, the mean, the most."""

    min: int
    mean: float
    max: int


class SeriesFacts(TypedDict):
    """The series of a test set."""

    count: int
    questions: PerSeries


class ListAnswers(TypedDict):
    """Known answers per list question."""

    mean: float
    min: int
    max: int
    questions: int


class NuggetFacts(TypedDict):
    """Nuggets per list, and the vital ones among them (means)."""

    mean: float
    vital: float
    lists: int
    min: int
    max: int


class AssessorFacts(TypedDict):
    """How much one person judged, in all and by set."""

    judgments: int
    sets: dict[str, int]


class ScoredFacts(TypedDict):
    """The questions to score, and those left out with the reason."""

    questions: dict[str, int]
    series: int | None
    left_out: dict[str, str]


class Facts(TypedDict):
    """The test set and its key in numbers; null where something is not known."""

    name: str
    key: str | None
    questions: dict[str, int]
    series: SeriesFacts | None
    target_types: dict[str, int]
    nil_questions: int | None
    nil: list[str] | None
    list_answers: ListAnswers | None
    nuggets: NuggetFacts | None
    pair_labels: dict[str, int]
    assessors: dict[str, AssessorFacts]
    sets: dict[str, int]
    runs: int
    organisations: int
    scored: ScoredFacts
    notes: Notes


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
    runs: list[RunScore]
    units: list[str]
    matrix: dict[str, list[Number]]
    questions: dict[str, ByRun]
    dropped: list[Dropped]
    unjudged: NotRequired[Rule]
    missing: NotRequired[Rule]
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


class SampleDraw(TypedDict):
    """One place of a sample."""

    position: int
    question: str
    nugget: NotRequired[str]


class BoughtWidths(TypedDict):
    """The half-width that the labels are expected to give, if the assessor is good, and if it is useless."""

    good_judge: Number
    useless_judge: Number


# A name of the document is a word of the language.
Sample = TypedDict(
    "Sample",
    {
        "name": str,
        "file": str,
        "for": str,
        "pair": list[str] | None,
        "measure": str,
        "size": int,
        "population": int,
        "seed": int,
        "labels": int,
        "half_width": BoughtWidths,
        "draws": list[SampleDraw],
        "notes": Notes,
        "sheet": NotRequired[str],
        "sheet_rows": NotRequired[int],
        "assigned": NotRequired[int],
    },
)


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


class ErrorRate(TypedDict):
    """An error rate by the fitted curve, and the expected one."""

    fit: Number
    predicted: Number


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
    """One run, and the letters it shares with runs that cannot be told apart from it."""

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
    alpha: float
    margin: Number
    ranking: list[Ranked]
    notes: Notes


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


class Boxes(TypedDict):
    """Box statistics of units or questions."""

    measure: str
    runs: int
    units: list[dict[str, Any]]
    zero_medians: dict[str, dict[str, Number]]
    notes: Notes


class QuestionResponse(TypedDict):
    """One run's response to the question: items with verdicts by set, or a decision with the ratings of all judges."""

    run: str
    score: Number
    items: NotRequired[list[dict[str, Any]]]
    judgments: NotRequired[dict[str, str]]
    decision: NotRequired[str]
    justification: NotRequired[str | None]
    ratings: NotRequired[list[dict[str, Any]]]
    mean: NotRequired[dict[str, Number]]


class DescribeQuestion(TypedDict):
    """One question (`describe --question`)."""

    question: dict[str, str]
    key: str
    measure: str
    sets: list[str]
    answers: dict[str, str]
    responses: list[QuestionResponse]


class Describe(TypedDict):
    """How scores spread over units; questions, aggregation and weights where the task has them."""

    units: Boxes
    questions: NotRequired[Boxes]
    aggregation: NotRequired[dict[str, Any]]
    weights: NotRequired[dict[str, Any]]
    rankings: NotRequired[list[dict[str, Any]]]
    target_types: NotRequired[dict[str, Any]]


class LeftOut(TypedDict):
    """A run, scored with and without what only it added to the pool."""

    run: str
    organisation: NotRequired[str | None]
    unique_items: int
    score: Number
    score_without: Number
    change: Number
    rank: Number
    rank_without: Number
    score_with: NotRequired[Number]
    rank_with: NotRequired[Number]
    assessed: NotRequired[int]


class Order(TypedDict):
    """How far two rankings agree."""

    tau: Number
    swaps: int
    concordant: int
    tied: int


class Reuse(TypedDict):
    """The leave-one-out test of the judgments; with an assessor, its judgments in place of the people's."""

    by: str
    measure: str
    key: str
    assessor: NotRequired[str]
    unassessed: NotRequired[Order]
    runs: list[LeftOut]
    mean_change: Number
    largest_change: dict[str, Any] | None
    tau: Number
    swaps: int
    concordant: int
    tied: int
    notes: Notes


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
    """The result of one file: the tag of the run (null where it was refused), or its errors."""

    file: str
    run: str | None
    errors: list[Problem]
    errors_total: int


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
    notes: Notes


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


class Story(TypedDict):
    """The demonstration, part by part."""

    evaluation: dict[str, Any]
    score: Score
    agree: Agree
    stability: Stability
