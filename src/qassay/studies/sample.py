"""Draw the questions that people should judge to correct an automatic assessor.

The sample is a list of questions in random order, the same for all
runs, in FOLDER/samples. People judge it from the top: the questions
judged so far correct the scores of the assessor (score --correct-with),
as long as none is skipped. The size of the sample is the plan. You may
look at any time: until all of it is judged, intervals are about twice as
wide, so that at most 5% of answers are wrong however often you look.
--looks K plans K looks and nothing between them; --anytime plans nothing,
and you stop when you like. A larger sample with the same seed begins
with the smaller one. Equal answers are judged once, and a sheet leaves
out answers that its assessor has judged already.

For nuggets and series every topic or series gets labels in turn.

Examples

  qassay sample my-eval --size 60 --for gpt-4 --sheet ada.html --assessor ada
  qassay import my-eval ada-3f2a9c81d07e.jsonl
  qassay score my-eval --key gpt-4 --correct-with ada
  qassay sample my-eval --size 60 --for gpt-4 --assign ada,ben
  qassay sample my-eval --size 40 --for gpt-4 --for-pair new,old
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Unpack

import numpy as np
import polars as pl

from qassay.arrays import TIE, Floats
from qassay.display import as_sentence
from qassay.errors import UsageError, unknown
from qassay.evaluation import Evaluation
from qassay.evaluation.learning import refuse_learned
from qassay.formats.names import name_fault
from qassay.formats.samples import planned_before, write_sample
from qassay.judging.pool import Pool, pool
from qassay.meta.correction.correcting import only
from qassay.meta.correction.estimates import FEWEST_QUESTIONS, FEWEST_UNITS
from qassay.meta.correction.joining import Decisions, equal_answers, judge_decisions
from qassay.meta.correction.sampling import Sample, new_sample
from qassay.meta.looks import ONE_LOOK, Plan
from qassay.options import HowScored, Option, Seed
from qassay.pages import Exhibit, Page
from qassay.questions import TestSet
from qassay.results import UNREPORTED, Result, reported
from qassay.runs import Runs
from qassay.sources import need_evaluation
from qassay.studies import Study
from qassay.tables import Column, Table, counted, plural, table

if TYPE_CHECKING:
    from qassay.judging.sets import JudgmentSet

# Labels that a good judge is worth, as a multiple of those without one (METHOD 7).
WORTH = 1.35
WORTH_OF_NUGGETS = 1.2
# A judge that says another thing of fewer than this share of the questions does not show how labels vary.
RARE = 0.05


@dataclass(frozen=True, slots=True)
class Place:
    """One place in the order of a sample; `nugget` is None where whole questions are drawn."""

    position: int
    question: str
    nugget: str | None


@dataclass(frozen=True, slots=True)
class HalfWidth:
    """The half-width that the labels are expected to give, if the assessor is good, and if it is useless."""

    good_judge: float | None
    useless_judge: float | None


@dataclass(frozen=True, repr=False)
class DrawnSample(Result):
    """A sample, the labels it costs, and the half-width of an interval it buys: with a useless judge, and a good one.

    A judge that says the same of nearly everything does not show how labels vary: they may vary as much as the scale
    allows.
    `labels` counts what is to be judged: equal answers once. `file` is where it is kept, `sheet` the judging
    sheet with its `sheet_rows`, and `assigned` counts the questions that are given to people.
    """

    sample: Sample = field(metadata=UNREPORTED)
    labels: int
    useless: float | None = field(metadata=UNREPORTED)
    good: float | None = field(metadata=UNREPORTED)
    drawn_name: tuple[str, str] = field(metadata=UNREPORTED)
    nouns: tuple[str, str] = field(metadata=UNREPORTED)
    notes: tuple[str, ...] = ()
    file: str | None = None
    sheet: str | None = None
    sheet_rows: int | None = None
    assigned: int | None = None
    # How runs are scored, and what to do next.
    how: HowScored = field(default_factory=HowScored, metadata=UNREPORTED)
    steps: tuple[str, ...] = field(default=(), metadata=UNREPORTED)

    @reported
    def name(self) -> str:
        """The name of the sample."""
        return self.sample.name

    @reported
    def for_(self) -> str | None:
        """The assessor to correct."""
        return self.sample.judge

    @reported
    def pair(self) -> tuple[str, str] | None:
        """The two runs that it serves alone."""
        return self.sample.pair

    @reported
    def measure(self) -> str | None:
        """The measure that it is drawn for."""
        return self.sample.measure

    @reported
    def size(self) -> int:
        """How many were drawn."""
        return len(self.sample.draws)

    @reported
    def population(self) -> int:
        """Of how many."""
        return self.sample.population

    @reported
    def seed(self) -> int | None:
        """The seed of the draw."""
        return self.sample.seed

    @reported
    def looks(self) -> Plan:
        """When it is looked at."""
        return self.sample.plan()

    @reported
    def half_width(self) -> HalfWidth:
        """What the labels buy."""
        return HalfWidth(self.good, self.useless)

    @reported
    def draws(self) -> tuple[Place, ...]:
        """The draws in their order."""
        return tuple(Place(place, draw.question, draw.nugget) for place, draw in enumerate(self.sample.draws, 1))

    def sentence(self) -> str:
        """The draw, its cost and its benefit."""
        drawn = f"{self.size:,} of {counted(self.population, self.drawn_name)} drawn at random"
        costs = f"{counted(self.labels, self.nouns)} to judge"
        if self.useless is None or self.good is None:
            return f"{drawn}, {costs}: too few for intervals"
        subject = "the difference of " + " and ".join(self.sample.pair) if self.sample.pair else "a score"
        widths = f"±{self.good:.2f} (with a good judge) to ±{self.useless:.2f} (with a useless one)"
        if self.good == self.useless:
            widths = f"±{self.useless:.2f}, as without a judge: {self.sample.judge} says the same of everything"
        return f"{drawn}, {costs}: they give {subject} within about {widths}"

    def table(self) -> Table:
        """The draws in their order."""
        columns: list[Column | str] = [Column("position"), "question", "nugget"]
        shown = 3 if self.sample.is_of_nuggets else 2
        rows = [(draw.position, draw.question, draw.nugget)[:shown] for draw in self.draws]
        return table(f"{self.sentence()}.", columns[:shown], rows, self.notes)


def pair_in(text: str) -> tuple[str, str]:
    """Two runs from `A,B`."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    if len(names) != 2:
        raise ValueError(f"two runs, such as new,old, not {text!r}")
    return names[0], names[1]


def sample(
    evaluation: Evaluation,
    size: Annotated[int, Option("How many questions to draw.", "N", least=1)],
    judge: Annotated[str, Option("The automatic assessor to correct.", "SET", flag="--for")],
    *,
    pair: Annotated[
        tuple[str, str] | None,
        Option(
            "Only questions on which two runs differ, for their difference.", "A,B", flag="--for-pair", read=pair_in
        ),
    ] = None,
    name: Annotated[str | None, Option("Name of the sample (default: that of the assessor).", "NAME")] = None,
    whole: Annotated[bool, Option("Draw whole questions where single nuggets would be drawn.")] = False,
    anytime: Annotated[bool, Option("Look, and stop, whenever you like: intervals allow for that.")] = False,
    looks: Annotated[
        int | None, Option("Plan K looks in equal steps, and none between them (2 to 5).", "K", least=2, most=5)
    ] = None,
    seed: Seed = 0,
    keep: bool = True,
    **how: Unpack[HowScored],
) -> DrawnSample:
    """Draw the questions that people should judge to correct the automatic assessor `judge`, and keep the draw.

    The sample is a random order, the same for all runs, in `samples/` of the evaluation; `pair` draws only questions on
    which two runs differ. For nuggets and series the labels go round all topics or series; `whole` draws whole
    questions instead of nuggets. Its size is the plan: until all of it is judged, intervals are about twice as wide, so
    that looking early does no harm; `looks` plans several looks, `anytime` none. `keep=False` writes nothing. The other
    keyword arguments say how runs are scored, as in `Evaluation.score`.
    """
    if anytime and looks is not None:
        raise UsageError("looks and anytime are two plans: choose one")
    if name is not None and (fault := name_fault(name)):
        raise UsageError(f"the name {name!r} {fault}")
    if judge not in need_evaluation(evaluation, "sample").sets:
        raise unknown("judgment set", judge, evaluation.sets)
    refuse_learned(evaluation, judge)
    joined = evaluation.tally(judge, measure=how.get("measure"))
    scores = evaluation.score(judge, **how)
    decisions = judge_decisions(scores, joined, whole=whole)
    every = len(decisions.draws)
    if pair is not None:
        decisions = _differing(decisions, equal_answers(joined, *_known(pair, decisions)))
    drawn = new_sample(
        name or (f"{pair[0]}-{pair[1]}" if pair else judge),
        decisions.draws,
        decisions.units,
        size=size,
        seed=seed,
        judge=judge,
        measure=decisions.measure,
        pair=pair,
        looks="any time" if anytime else looks,
    )
    useless, good = _bought(decisions, drawn, every)
    pooled = to_label(evaluation, drawn)
    kinds = {part.record.nouns for part in pooled.types}
    result = DrawnSample(
        sample=drawn,
        labels=sum(part.subjects.height for part in pooled.types),
        useless=useless,
        good=good,
        drawn_name=decisions.drawn_name,
        nouns=kinds.pop() if len(kinds) == 1 else ("item", "items"),
        notes=_notes(decisions, drawn, every),
        how=how,
    )
    return kept(evaluation, result) if keep else result


def kept(evaluation: Evaluation, drawn: DrawnSample) -> DrawnSample:
    """The sample, written to `samples/` of the evaluation."""
    before = planned_before(evaluation.folder, drawn.sample)
    file = evaluation.folder.name(write_sample(evaluation.folder, drawn.sample))
    if before is None or before >= drawn.size or drawn.sample.looks == "any time":
        return replace(drawn, file=file)
    note = (
        f"{before:,} were planned before, and {drawn.size:,} are now. That is sound where the width of the interval "
        "asked for more. Where an unclear verdict did, more than 5% of verdicts are wrong: for that there is --anytime."
    )
    return replace(drawn, file=file, notes=(*drawn.notes, note))


def page(drawn: DrawnSample) -> Page:
    """The draw with its cost and its benefit, how to judge it, and what to do next; the draws themselves on request."""
    return Page(
        (as_sentence(drawn.sentence()),),
        (Exhibit("draws", drawn.table(), folded=True),),
        notes=drawn.notes,
        steps=drawn.steps,
    )


STUDY = Study(name="sample", compute=sample, page=page, documents=(DrawnSample,))


def to_label(evaluation: Evaluation, sample: Sample, judged: JudgmentSet | None = None) -> Pool:
    """The subjects that people judge in a sample, each once; with a set, how much of it the set has."""
    drawn_questions = {draw.question for draw in sample.draws}
    questions = TestSet(tuple(question for question in evaluation.questions if question.id in drawn_questions))
    nuggets = None
    if sample.judge is not None and evaluation.folder.nugget_lists():
        nuggets = evaluation.nugget_list(sample.judge)
        if sample.is_of_nuggets:
            drawn = pl.DataFrame(
                [(draw.question, draw.nugget) for draw in sample.draws], schema=["question", "nugget"], orient="row"
            )
            nuggets = nuggets.join(drawn, on=["question", "nugget"], how="semi")
    return pool(runs_of(evaluation.runs, sample.pair), questions, evaluation.task, judged, nuggets)


def runs_of(runs: Runs, pair: tuple[str, str] | None) -> Runs:
    """The runs, or two of them."""
    if pair is None:
        return runs
    return Runs(runs.tags, runs.table.filter(pl.col("run").cast(pl.String).is_in(list(pair))), runs.information)


def _known(pair: tuple[str, str], decisions: Decisions) -> tuple[str, str]:
    for tag in pair:
        if tag not in decisions.runs:
            raise unknown("run", tag, decisions.runs)
    if pair[0] == pair[1]:
        raise UsageError(f"{pair[0]} is compared with itself: name two runs")
    return pair


def _differing(decisions: Decisions, equal: set[str]) -> Decisions:
    """The questions on which two runs differ."""
    if decisions.units is not None:
        raise UsageError(
            f"questions on which two runs differ are not drawn here (--for-pair): every {decisions.unit_name[0]} is "
            "labelled, and the sample serves all differences"
        )
    differing = [draw.question not in equal for draw in decisions.draws]
    if not any(differing):
        raise UsageError("the two runs give the same answer to every question: there is nothing to judge")
    return only(decisions, differing)


def _bought(decisions: Decisions, sample: Sample, every: int) -> tuple[float | None, float | None]:
    """Half-widths for new questions, from the spread of the judge's scores: if it is useless, and if it is good.

    Scores without any spread do not show that of the labels: it could be the largest that the scale allows.
    """
    values = decisions.values
    reach = decisions.scale[1] - decisions.scale[0]
    deviation = reach / 2
    if sample.pair is not None:
        a, b = (values[decisions.runs.index(tag)] for tag in sample.pair)
        values, deviation = (a - b)[None], reach
    size, most = len(sample.draws), deviation**2
    units = None if decisions.units is None else np.array(decisions.units)
    number = size if units is None else len(set(units.tolist()))
    fewest = FEWEST_QUESTIONS if units is None else FEWEST_UNITS
    q = sample.plan().look(size).normal(number)
    if number < fewest or q is None:
        return None, None
    spread = float(np.nanmean(np.nanvar(values, axis=1)))
    is_rare, is_constant = spread < RARE * (1 - RARE) * reach**2, spread < TIE**2
    if units is not None:
        names = list(dict.fromkeys(units.tolist()))
        variance = _mean_of_units(values * decisions.weights, [units == name for name in names], size / number)
        alone = most / number if is_rare else variance
        return q * math.sqrt(alone), q * math.sqrt(alone if is_constant else variance / WORTH_OF_NUGGETS)
    share = len(decisions.draws) / every if sample.pair is not None else 1.0
    mean_square = share * (1 - share) * float(np.nanmean(np.nanmean(values, axis=1) ** 2))

    def variance_with(spread: float, worth: float) -> float:
        between = (spread * share + mean_square) / every
        alone = share**2 * spread * (1 / size - 1 / len(decisions.draws)) + between
        return max(alone / worth, between)

    # Few labels alike do not show that all are: the intervals add the ends of the scale to them.
    own = min(most, spread + most / (size + 1))
    useless = variance_with(most if is_rare else own, 1.0)
    good = useless if is_constant else variance_with(own, WORTH)
    return q * math.sqrt(useless), q * math.sqrt(good)


def _mean_of_units(values: Floats, members: list[np.ndarray], labels: float) -> float:
    """The variance of a mean over units, each with a number of labels; of the runs that have all units, if any has."""
    whole = ~np.isnan(values).any(axis=1)
    values = values[whole] if whole.any() else np.nan_to_num(values)
    means = np.array([values[:, stratum].mean(axis=1) for stratum in members])
    within = np.array([values[:, stratum].var(axis=1) * max(0.0, 1 - labels / stratum.sum()) for stratum in members])
    return float((means.var(axis=0) + within.mean(axis=0) / labels).mean() / len(members))


def _when_to_look(sample: Sample, noun: tuple[str, str]) -> str:
    """The plan in words."""
    plan, size = sample.plan(), len(sample.draws)
    planned = f"Judge from the top; {counted(size, noun)} {'is' if size == 1 else 'are'} planned"
    if plan.kind == "steps":
        *first, last = (f"{stop:,}" for stop in plan.stops)
        return f"{planned}, with looks at {', '.join(first)} and {last}. Between these looks there is no interval."
    if plan.kind == "any time":
        any_time, one = (look.t(size, size) for look in (plan.look(size), ONE_LOOK))
        wider = ""
        if any_time is not None and one is not None:
            wider = f" They are about {any_time / one:.1f} times as wide as for one look."
        return f"Judge from the top. You may look, and stop, at any time: intervals allow for that.{wider}"
    wide = f"until all {size:,} are judged, intervals are about twice as wide, so that looking early does no harm"
    return f"{planned}. You may look at any time: {wide}."


def _notes(decisions: Decisions, sample: Sample, every: int) -> tuple[str, ...]:
    notes = [f"{_when_to_look(sample, decisions.drawn_name)} Skip no question."]
    if sample.pair is not None:
        equal = every - len(decisions.draws)
        notes.append(
            f"It serves only the difference of {' and '.join(sample.pair)}. On {plural(equal, 'other question')} they "
            "give the same answer, and need no label."
        )
    if decisions.units is None and len(sample.draws) < FEWEST_QUESTIONS:
        notes.append(f"No interval below {FEWEST_QUESTIONS} labelled {decisions.drawn_name[1]}.")
    return tuple(notes)
