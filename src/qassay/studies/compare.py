"""Is one system better than another?

The first sentence is the answer. If you name two systems, the table
shows their difference with its interval, how likely at most the same
number of new questions would reverse it, which true difference these
questions find, and how many questions find a true difference of 0.05
(--difference). --details adds the tests, and the questions that make
the difference. If you name none, all pairs of systems are compared,
corrected for their number; systems that share a group differ by no more
than chance alone could explain. Two files with one system each are two
systems.

--equal-within E says whether both are equal but for less than E: the
whole interval lies within -E and E.

--gate turns the answer into an exit status: ALLOW (0) if the interval
of A - B lies above -M, REJECT (3) if it lies below, EQUAL (0) if
--equal-within is given and holds, else INCONCLUSIVE (4);
--inconclusive lets this pass (0) or fail (3). --summary and --junit
write the decision for the pages of a pipeline; the summary is also
added to $GITHUB_STEP_SUMMARY if that is set.

A comparison is for one look. Where scores keep coming and you look again
and again, --planned N allows for looking before all N questions are
there, --looks K with it plans K looks, and --anytime plans none.
--gate --history FILE keeps the looks of a pipeline.

--over takes several judgment sets of the same answers, one of each
assessor. The second sentence then gives two intervals: one for these
assessors, one for other assessors like them. The verdict is about
these, or with --people new about the others.

--control compares every system with one of them, such as the one that
people use now, corrected for the number of comparisons; with --margin
it says which are at most M worse.

--correct-with compares the scores of an automatic assessor (--key)
after they are corrected with people's labels of a random sample (qassay
sample). With --gate the corrected interval decides.

Examples

  qassay compare my-eval new old
  qassay compare scores.csv new old --gate --margin 0.01
  qassay compare scores.csv new old --gate --summary gate.md --junit gate.xml
  qassay compare scores.csv new old --planned 400
  qassay compare scores.csv new old --gate --history gates.jsonl
  qassay compare new.jsonl old.jsonl
  qassay compare new=a.jsonl old=b.jsonl --metric f1
  qassay compare scores.csv
  qassay compare scores.csv --method holm --json
  qassay compare scores.csv --control production --margin 0.02
  qassay compare factoids.csv --series-from '^([^.]+)'
  qassay compare my-eval new old --over first,second,third
  qassay compare my-eval new old --key gpt-4 --correct-with ada
  qassay compare my-eval new old --key gpt-4 --correct-with ada --gate
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

from qassay.errors import UsageError, few
from qassay.formats.scores import ScoreTables, read_scores
from qassay.matrix import ScoreMatrix
from qassay.meta.crossed import People
from qassay.meta.significance import (
    AllPairs,
    Method,
    PairComparison,
    compare_metrics,
    holm_levels,
    of_pair,
    refuse_itself,
)
from qassay.meta.significance import compare as compare_two
from qassay.meta.significance import compare_all as compare_pairs
from qassay.meta.significance.methods import PairTest
from qassay.options import CorrectWith, HowScored, Option, Sample, Scoring, Seed, Target
from qassay.pages import Exhibit, LeftOut, Links, Page
from qassay.results import Result
from qassay.sources import as_matrix, only_pair, refuse_options
from qassay.studies import REAL, Study
from qassay.studies.assessors import about_assessors, compare_over
from qassay.studies.control import ControlComparison, check_control, compare_with_control, control_page, of_one_system
from qassay.studies.correcting import AboutTarget, correction, correction_of_page
from qassay.studies.looking import (
    AnyTime,
    InSteps,
    Planned,
    of_labels,
    of_scores,
    plan_of,
    refuse_all_pairs,
)
from qassay.tables import Table

if TYPE_CHECKING:
    import polars as pl

    from qassay.evaluation import Evaluation
    from qassay.meta.correction import CorrectedPair, CorrectedPairs
    from qassay.sources import ScoresLike

ALPHA = 0.05
# The units that make the difference: how many are listed unless somebody says otherwise, and drawn at most.
LISTED = 10
DRAWN = 5_000
# A page has no more pairs than this.
PAIRS_SHOWN = 5_000
NO_METHOD = "control has a test of its own: it goes without method and correct_with"
Progress: TypeAlias = Callable[[int, int], None]
TopOfTwo = Annotated[
    int | None, Option("Show the N questions that make the difference of A and B.", metavar="N", least=0)
]
Over = Annotated[
    Sequence[str] | None,
    Option(
        "Judgment sets of the same answers, one per assessor: who judged is part of the interval.",
        metavar="A,B,...",
        on_pages=True,
        of_evaluation=True,
    ),
]
ForPeople = Annotated[
    People | None,
    Option(
        "With --over: the verdict is about these assessors (default), or new ones.", on_pages=True, of_evaluation=True
    ),
]
Compared = TypeVar("Compared", PairComparison, AllPairs, ControlComparison)


@dataclass(frozen=True, repr=False)
class ByMetric(Result, Generic[Compared]):
    """The comparison under every metric of a table; the level of the tests is corrected over all of them."""

    metrics: Mapping[str, Compared]
    correction: Literal["max-t", "holm"] = "holm"

    def sentence(self) -> str:
        """The answer under every metric."""
        return "; ".join(f"{name}: {result.sentence()}" for name, result in self.metrics.items())

    def table(self) -> Table:
        """The main table under the first metric."""
        return self.tables()[0]

    def tables(self) -> list[Table]:
        """The tables of every metric, one after the other."""
        return [
            replace(shown, title=f"{name}: {shown.title}")
            for name, result in self.metrics.items()
            for shown in result.tables()
        ]

    def to_polars(self) -> pl.DataFrame:
        """The rows of every metric, which is the last column."""
        import polars as pl

        frames = [(name, result.to_polars()) for name, result in self.metrics.items()]
        return pl.concat([frame.with_columns(pl.lit(name).alias("metric")) for name, frame in frames])


class _Testing(Scoring, total=False):
    """Options of every comparison."""

    alpha: float
    permutations: int | None
    seed: int
    lower_is_better: Collection[str]


class _TestingTwo(_Testing, total=False):
    power: float
    top: int
    difference: float | None
    equal_within: float | None
    planned: int | None
    looks: int | None
    anytime: bool
    over: Sequence[str] | None
    people: People | None


class _TestingControl(_Testing, total=False):
    progress: Progress | None


class _TestingAll(_Testing, total=False):
    method: Method | None
    test: PairTest
    progress: Progress | None


class _Tests(TypedDict):
    method: Method | None
    alpha: float
    permutations: int | None
    test: PairTest
    seed: int
    progress: Progress | None


@overload
def compare(
    scores: ScoresLike | Evaluation,
    a: str | None = None,
    b: str | None = None,
    *,
    metric: None = None,
    correct_with: None = None,
    **how: Unpack[_TestingTwo],
) -> PairComparison: ...


@overload
def compare(
    scores: ScoresLike,
    a: str | None = None,
    b: str | None = None,
    *,
    metric: Literal["all"],
    correct_with: None = None,
    **how: Unpack[_TestingTwo],
) -> ByMetric[PairComparison]: ...


@overload
def compare(
    scores: Evaluation,
    a: str,
    b: str,
    *,
    key: str,
    correct_with: str,
    target: AboutTarget = "new",
    sample: str | Path | None = None,
    **how: Unpack[HowScored],
) -> CorrectedPair: ...


def compare(
    scores: ScoresLike | Evaluation,
    a: str | None = None,
    b: str | None = None,
    *,
    alpha: float = ALPHA,
    power: float = 0.8,
    permutations: int | None = None,
    top: int = LISTED,
    difference: float | None = None,
    equal_within: float | None = None,
    seed: int = 0,
    metric: Literal["all"] | None = None,
    lower_is_better: Collection[str] = (),
    over: Sequence[str] | None = None,
    people: People | None = None,
    correct_with: str | None = None,
    target: AboutTarget = "new",
    sample: str | Path | None = None,
    planned: int | None = None,
    looks: int | None = None,
    anytime: bool = False,
    **how: Unpack[Scoring],
) -> PairComparison | ByMetric[PairComparison] | CorrectedPair:
    """Is run `a` better than run `b`? The verdict is "better", "worse" or "cannot tell".

    Where there are only two runs, their names may be left out: `a` is then the one with the better score.

    The verdict follows from a test at level `alpha`: the sign test (mid-p) of answers that are right or wrong, else
    `permutations` random sign flips (None: enough). The interval excludes 0 exactly where there is a verdict. Beside
    it: the most that the chance can be that as many new units reverse the difference, the true difference that these
    units find with this `power`, the units that find the true `difference` (None: 0.05 of the range of the scores), and
    the `top` units that make the difference. `equal_within` asks whether the whole interval lies within this distance
    of 0.

    `lower_is_better` names the metrics of a table, or "all", whose lower scores are better. With `metric="all"` each
    metric of a table has its result, and the level is corrected over all of them. `key` and the options of
    `Evaluation.score` say how an evaluation is scored. `over` names the judgment sets of several assessors who judged
    the same answers: who judged is then part of the interval, and the verdict is about "these" `people`, or about "new"
    ones like them. `correct_with` compares the scores of an automatic assessor (`key`) after correction by these labels
    of people, on the `sample` they judged; the interval is about the `target`, "new" questions or "these".

    A comparison is for one look. Where scores keep coming, `planned` is the number of units that are planned, `looks`
    that of the steps in which they are looked at, and `anytime` looks without a plan: intervals allow for that.

    >>> import qassay
    >>> scores = qassay.open(qassay.demo_folder()).score()
    >>> qassay.compare(scores, "hobby", "ibis")
    PairComparison: hobby is better than ibis on these 16 series: chance alone does not explain the difference
    >>> qassay.compare(scores, "badger", "crane").verdict
    'cannot tell'
    """
    if over or people:
        refused: dict[str, object] = {"correct_with": correct_with, "sample": sample, "metric": metric}
        refused |= {"permutations": permutations, "planned": planned, "looks": looks, "anytime": anytime}
        asked: dict[str, Any] = {"power": power, "wanted": difference, "within": equal_within, "top": top}
        return compare_over(scores, (a, b), over, people, how, refused=refused, alpha=alpha, **asked)
    plan = plan_of(planned, looks, anytime, alpha=alpha, metric=metric, correct_with=correct_with)
    if correct_with is not None:
        if a is None or b is None:
            raise UsageError("correct_with compares two runs: name both")
        return correction(scores, correct_with, pair=(a, b), target=target, sample=sample, **how).pair(a, b)
    named = (a, b) if a is not None and b is not None else None
    matrices = _matrices(scores, named, metric, lower_is_better, how)
    pair = named or (_only_two(matrices) if a is b is None else None)
    if pair is None:
        names = few(next(iter(matrices.values())).runs, 20)
        raise UsageError(f"name two of the runs: {names}. To compare all of them: qassay.compare_all(scores)")
    results = _two_systems(
        matrices,
        pair,
        alpha,
        every_metric=metric is not None,
        power=power,
        permutations=permutations,
        top=top,
        wanted=difference,
        within=equal_within,
        seed=seed,
        plan=plan,
    )
    return next(iter(results.values())) if metric is None else ByMetric(results)


@overload
def compare_all(
    scores: ScoresLike | Evaluation,
    *,
    metric: None = None,
    correct_with: None = None,
    **how: Unpack[_TestingAll],
) -> AllPairs: ...


@overload
def compare_all(
    scores: ScoresLike, *, metric: Literal["all"], correct_with: None = None, **how: Unpack[_TestingAll]
) -> ByMetric[AllPairs]: ...


@overload
def compare_all(
    scores: ScoresLike | Evaluation,
    *,
    control: str,
    margin: float | None = None,
    metric: None = None,
    correct_with: None = None,
    **how: Unpack[_TestingControl],
) -> ControlComparison: ...


@overload
def compare_all(
    scores: ScoresLike,
    *,
    control: str,
    margin: float | None = None,
    metric: Literal["all"],
    correct_with: None = None,
    **how: Unpack[_TestingControl],
) -> ByMetric[ControlComparison]: ...


@overload
def compare_all(
    scores: Evaluation,
    *,
    key: str,
    correct_with: str,
    target: AboutTarget = "new",
    sample: str | Path | None = None,
    **how: Unpack[HowScored],
) -> CorrectedPairs: ...


def compare_all(
    scores: ScoresLike | Evaluation,
    *,
    control: str | None = None,
    margin: float | None = None,
    method: Method | None = None,
    alpha: float = ALPHA,
    permutations: int | None = None,
    test: PairTest = "randomisation",
    seed: int = 0,
    progress: Progress | None = None,
    metric: Literal["all"] | None = None,
    lower_is_better: Collection[str] = (),
    correct_with: str | None = None,
    target: AboutTarget = "new",
    sample: str | Path | None = None,
    **how: Unpack[Scoring],
) -> AllPairs | ByMetric[AllPairs] | ControlComparison | ByMetric[ControlComparison] | CorrectedPairs:
    """Which runs differ, corrected for the number of pairs? With `control`, which differ from this one?

    `method` is the correction: "max-t" (the default: flips, and the largest difference of all pairs),
    "randomised-tukey", "tukey", "holm" or "bh" (Benjamini-Hochberg). With the last two, `test` tests single pairs, by
    "randomisation" or by "t". `permutations=None` draws as many as the method needs.

    With `control` every other run is compared with this one, corrected for their number; `margin` then says which are
    at most that much worse.

    With `metric="all"` each metric of a table has its result, and the correction is over the pairs of all of them: by
    the same flips where they are about the same units, else Holm's.
    `key` and the options of `Evaluation.score` say how an evaluation is scored. `correct_with` compares the scores of
    an automatic assessor (`key`) after correction by people's labels, as in `compare`; the correction for the number
    of pairs is then Bonferroni's.

    >>> import qassay
    >>> pairs = qassay.compare_all(qassay.open(qassay.demo_folder()), method="holm")
    >>> pairs.different, pairs.runs[:3]
    (26, ('hobby', 'egret', 'badger'))
    """
    if control is not None:
        if correct_with is not None or method is not None:
            raise UsageError(NO_METHOD)
        matrices = _matrices(scores, None, metric, lower_is_better, how)
        return _against(matrices, control, alpha, metric is not None, permutations, seed, margin, progress)
    if margin is not None:
        raise UsageError("margin goes with control, which names the run to compare with")
    if correct_with is not None:
        return correction(scores, correct_with, target=target, sample=sample, **how).pairs()
    matrices = _matrices(scores, None, metric, lower_is_better, how)
    tests = _Tests(method=method, alpha=alpha, permutations=permutations, test=test, seed=seed, progress=progress)
    if metric is None:
        return compare_pairs(next(iter(matrices.values())), **tests)
    results = compare_metrics(list(matrices.values()), **tests)
    correction_by: Literal["max-t", "holm"] = "max-t" if results[0].method == "max-t" else "holm"
    return ByMetric(dict(zip(matrices, results, strict=True)), correction_by)


def compare_any(
    scores: ScoresLike | Evaluation,
    a: Annotated[str | None, Option("The system.", positional=True, on_pages=True)] = None,
    b: Annotated[str | None, Option("The system that it is compared with.", positional=True, on_pages=True)] = None,
    *,
    method: Annotated[Method | None, Option("Correction for all pairs (default: max-t).", on_pages=True)] = None,
    permutations: Annotated[
        int | None, Option("Random permutations (default: enough for the method).", metavar="N", least=1)
    ] = None,
    alpha: Annotated[float, Option("Level of the tests, and 1 - level of intervals.")] = ALPHA,
    top: TopOfTwo = None,
    difference: Annotated[
        float | None,
        Option("A difference to find: how many questions it takes (default: 0.05 of the range).", metavar="D"),
    ] = None,
    equal_within: Annotated[
        float | None,
        Option("Are both equal, but for less than E? A gate then says EQUAL in place of INCONCLUSIVE.", metavar="E"),
    ] = None,
    over: Over = None,
    people: ForPeople = None,
    correct_with: CorrectWith = None,
    target: Target = None,
    sample: Sample = None,
    planned: Planned = None,
    looks: InSteps = None,
    anytime: AnyTime = False,
    seed: Seed = 0,
    control: Annotated[str | None, Option("Compare every system with this one.", metavar="NAME", on_pages=True)] = None,
    margin: float | None = None,
    metric: Literal["all"] | None = None,
    progress: Progress | None = None,
    **how: Unpack[Scoring],
) -> Result:
    """Two systems, all pairs, or all against one; under each metric where all are asked for."""
    if bool(a) != bool(b):
        raise UsageError(f"a comparison takes two runs; what is {a or b!r} to be compared with?")
    pair = (a, b) if a and b else None
    if control and (pair or top is not None):
        raise UsageError("control compares every system with one: leave out the names of two systems, and top")
    if control and (method or correct_with):
        raise UsageError(NO_METHOD)
    if pair is not None:
        refuse_itself(*pair)
    elif top is not None:
        raise UsageError("top shows questions of two systems: name them")
    elif difference is not None or equal_within is not None:
        raise UsageError("difference and equal_within are about two systems: name them")
    if over or people:
        refused: dict[str, object] = {"correct_with": correct_with, "target": target, "sample": sample}
        refused |= {"metric": metric, "permutations": permutations}
        refused |= {"planned": planned, "looks": looks, "anytime": anytime}
        asked: dict[str, Any] = {"wanted": difference, "within": equal_within, "top": DRAWN}
        result = compare_over(scores, (a, b), over, people, how, refused=refused, alpha=alpha, **asked)
        return replace(result, top=LISTED if top is None else top)
    plan = plan_of(planned, looks, anytime, alpha=alpha, metric=metric, correct_with=correct_with)
    if correct_with is None and (target or sample):
        raise UsageError("target and sample go with correct_with, which names the labels of people")
    if correct_with is not None:
        if method or permutations or top is not None or difference is not None or equal_within or alpha != ALPHA:
            raise UsageError("corrected scores are compared at 95%; the options of the tests do not apply to them")
        corrected = correction(scores, correct_with, pair=pair, target=target or "new", sample=sample, **how)
        return corrected.pairs() if pair is None else corrected.pair(*pair)
    matrices = _matrices(scores, pair, metric, (), how)
    if control:
        refuse_all_pairs(plan)
        return _against(matrices, control, alpha, metric is not None, permutations, seed, margin, progress)
    two = pair or (_only_two(matrices) if method is None else None)
    if two is None:
        refuse_all_pairs(plan)
        tests = _TestingAll(method=method, alpha=alpha, permutations=permutations, seed=seed, progress=progress)
        if metric is not None:
            return compare_all(ScoreTables(matrices), metric=metric, **tests)
        return compare_all(next(iter(matrices.values())), **tests)
    results = _two_systems(
        matrices,
        two,
        alpha,
        every_metric=metric is not None,
        permutations=permutations,
        top=DRAWN,
        wanted=difference,
        within=equal_within,
        seed=seed,
        plan=plan,
    )
    listed = {name: replace(result, top=LISTED if top is None else top) for name, result in results.items()}
    if pair is not None or plan is not None:
        return ByMetric(listed) if metric is not None else next(iter(listed.values()))
    # Two systems that nobody named are what several are: all pairs.
    unnamed = {name: of_pair(result) for name, result in listed.items()}
    return ByMetric(unnamed) if metric is not None else next(iter(unnamed.values()))


def page(
    result: PairComparison | AllPairs | ControlComparison | CorrectedPair | CorrectedPairs,
    *,
    details: Annotated[bool, Option("Show all tests too, and the questions or pairs behind the answer.")] = False,
    top: TopOfTwo = None,
) -> Page:
    """Which of the two is ahead, who leads, or who differs from the control; of two systems alone their comparison."""
    if isinstance(result, ControlComparison):
        return control_page(result)
    answer: tuple[str, ...] = (f"{result.sentence()}.",)
    if isinstance(result, AllPairs) and result.pair is not None:
        result = result.pair
        answer = (f"{result.sentence()}.",)
    if isinstance(result, AllPairs):
        return _all_pairs(result, answer, details=details)
    if not isinstance(result, PairComparison):
        shown = Exhibit("compare-1", replace(result.table(), title="Corrected by people"))
        return Page((*answer, *of_labels(result)), (shown,))
    if result.over is not None:
        answer = (*answer, *about_assessors(result.over))
    first, tests, *units = result.tables()
    shown = Exhibit("compare-1", replace(first, title="In numbers"))
    if result.deciding:
        shown = replace(shown, draw=result.figure)
    answer = (*answer, *result.about_equality(), *of_scores(result))
    exhibits = [shown, Exhibit("compare-2", tests, folded=not details)]
    exhibits += [Exhibit("compare-3", table, folded=not (details if top is None else top)) for table in units]
    return Page(answer, tuple(exhibits))


def _all_pairs(pairs: AllPairs, answer: tuple[str, ...], *, details: bool) -> Page:
    total = len(pairs.runs) * (len(pairs.runs) - 1) // 2
    ranking = Exhibit(
        "ranking",
        replace(pairs.table(), title="Scores and groups"),
        pairs.figure if total else None,
        links=Links("run", pairs.runs, 1),
    )
    if not total:
        return Page(answer, (ranking,))
    too_many = LeftOut(("pairs",), f"{total:,} pairs of runs; the command `qassay compare --json` lists them")
    listed = Exhibit("pairs", pairs.pair_table(), folded=not details)
    return Page(answer, (ranking, listed), left_out=too_many if total > PAIRS_SHOWN else None)


def corrected(
    evaluation: Evaluation, *, a: str | None = None, b: str | None = None, control: str | None = None, **options: Any
) -> CorrectedPair | CorrectedPairs | str | None:
    """The comparison of a program's scores, corrected by the people who judged its sample; or why there is none yet."""
    if a and b:
        return correction_of_page(evaluation, lambda result: result.pair(a, b), pair=(a, b), **options)
    return None if control else correction_of_page(evaluation, lambda result: result.pairs(), **options)


STUDY = Study(
    name="compare",
    compute=compare_any,
    page=page,
    corrected=corrected,
    documents=(
        *(PairComparison, AllPairs, ControlComparison),
        *("qassay.meta.correction.CorrectedPair", "qassay.meta.correction.CorrectedPairs"),
    ),
    source="scores",
    systems=2,
    together=True,
    doing="permutations",
    heading="Compare runs",
    label="Compare",
    tab=REAL,
    slow=True,
)


def _matrices(
    scores: ScoresLike | Evaluation,
    pair: tuple[str, str] | None,
    metric: Literal["all"] | None,
    lower_is_better: Collection[str],
    how: Scoring,
) -> Mapping[str, ScoreMatrix]:
    """The score matrices by metric; with `pair`, those of two systems alone."""
    if metric is None:
        matrix = as_matrix(scores, runs=pair, lower_is_better=lower_is_better, **how)
        return {matrix.measure: matrix}
    refuse_options(**how)
    if isinstance(scores, ScoreTables):
        return scores.matrices
    return read_scores(scores, metric=metric, systems=pair, lower_is_better=lower_is_better).matrices


def _only_two(matrices: Mapping[str, ScoreMatrix]) -> tuple[str, str] | None:
    """The only two systems there are, the better one first."""
    systems = {frozenset(matrix.runs) for matrix in matrices.values()}
    return only_pair(next(iter(matrices.values()))) if len(systems) == 1 else None


def _two_systems(
    matrices: Mapping[str, ScoreMatrix],
    pair: tuple[str, str],
    alpha: float,
    *,
    every_metric: bool,
    **testing: Any,
) -> dict[str, PairComparison]:
    """The two systems under each metric; where all were asked for, at the levels of Holm's correction."""
    if not every_metric:
        return {name: compare_two(matrix, *pair, alpha=alpha, **testing) for name, matrix in matrices.items()}
    alone = {name: compare_two(matrix, *pair, **{**testing, "top": 0}) for name, matrix in matrices.items()}
    levels, adjusted = holm_levels({name: result.p_of_one_look for name, result in alone.items()}, alpha)
    return {
        name: compare_two(matrix, *pair, alpha=levels[name], **testing).corrected(adjusted[name])
        for name, matrix in matrices.items()
    }


def _against(
    matrices: Mapping[str, ScoreMatrix],
    control: str,
    alpha: float,
    every_metric: bool,
    permutations: int | None,
    seed: int,
    margin: float | None,
    progress: Progress | None,
) -> ControlComparison | ByMetric[ControlComparison]:
    """Every system against the control; a single other system by the comparison of the two."""
    for matrix in matrices.values():
        check_control(matrix, control)
    others = sorted({run for matrix in matrices.values() for run in matrix.runs} - {control})
    if len(others) == 1:
        testing = {"permutations": permutations, "top": DRAWN, "seed": seed}
        two = _two_systems(matrices, (others[0], control), alpha, every_metric=every_metric, **testing)
        results = [of_one_system(result, margin) for result in two.values()]
    else:
        results = compare_with_control(
            list(matrices.values()),
            control,
            alpha=alpha,
            permutations=permutations,
            seed=seed,
            margin=margin,
            progress=progress,
        )
    if not every_metric:
        return results[0]
    return ByMetric(dict(zip(matrices, results, strict=True)), "holm" if len(others) == 1 else "max-t")
