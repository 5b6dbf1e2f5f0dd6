"""Show how far assessors agree, and where they disagree.

Compares the judgment sets of an evaluation on the items that all of
them judged: which combinations of labels occur, raw agreement,
agreement after folding labels (X and U into W; UNKNOWN into NO),
Cohen's and Fleiss' kappa, Krippendorff's alpha. Nugget judgments and
ratings are compared too, if there are any. The adjudicated and
reference sets and those of automatic assessors are left out, unless you
name them with --sets.

With --by person every assessor is compared with all others on the
same items: who is out of line, and on what. For this, the rows must
name their assessor.

Examples

  qassay agree my-eval
  qassay agree my-eval --by person
  qassay agree my-eval --sets adjudicated,llm:gpt
  qassay agree my-eval --json
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import polars as pl

from qassay.display import as_sentence, enumerated
from qassay.errors import InputError, Problem, Remedy
from qassay.evaluation import Evaluation
from qassay.formats import jsonl
from qassay.judging import ROW_KINDS, SETTLED_SETS
from qassay.judging.sets import JudgmentSet, joined
from qassay.judging.sets import labels as labels_of_sets
from qassay.meta.agreement import Agreement
from qassay.meta.agreement import agreement as compare_labels
from qassay.meta.agreement.coefficients import Progress
from qassay.meta.agreement.nugget_lists import ListPair, compare_lists, differences, differing
from qassay.meta.agreement.people import PeopleAgreement
from qassay.meta.agreement.result import PAIRS_DRAWN
from qassay.meta.progress import JudgingProgress
from qassay.meta.progress import judging_progress as progress_of
from qassay.meta.ratings import ScaleRatings, rate
from qassay.options import Option, Resamples, Seed, Sets
from qassay.pages import Exhibit, Page
from qassay.results import document
from qassay.sources import need_evaluation
from qassay.studies import JUDGES, Study
from qassay.studies.people import ByKind, PeopleStudy, moment, people
from qassay.studies.people import page as page_of_people
from qassay.tables import Table

if TYPE_CHECKING:
    from qassay.figures import Figure
    from qassay.meta.agreement import PairAgreement

# With more pairs of sets than this their matrices fill pages; JSON has them all.
MATRICES_SHOWN = 6
# Scales with figures of their ratings.
SCALES_DRAWN = 2


@dataclass(frozen=True, eq=False, repr=False)
class AgreementStudy(ByKind[Agreement]):
    """How far the assessors agree: one `Agreement` per kind of judgment, and ratings."""

    kinds: tuple[Agreement, ...]
    # The ratings on each scale.
    ratings: Mapping[str, ScaleRatings]
    # The nugget lists of the sets that have one of their own.
    nugget_lists: tuple[ListPair, ...]
    # When the judgments of people were given, read where it is drawn.
    pace: Callable[[], JudgingProgress]

    def sentence(self) -> str:
        """How far the sets agree on each kind of judgment."""
        rated = [f"the ratings of {enumerated(self.ratings)} are compared below"] if self.ratings else []
        differ = ["their nugget lists differ and are compared below"] if differing(self.nugget_lists) else []
        return "; ".join([*(kind.sentence() for kind in self._compared), *differ, *rated])

    @property
    def _compared(self) -> list[Agreement]:
        """The kinds with something to show; ratings alone are not preceded by empty tables."""
        return [kind for kind in self.kinds if kind.items or not self.ratings]

    def tables(self) -> list[Table]:
        """The tables of every kind of judgment, and of the ratings."""
        tables: list[Table] = []
        for kind in self._compared:
            tables += kind.tables(matrices=len(kind.pairs) <= MATRICES_SHOWN)
        tables += [pair.table() for pair in self.nugget_lists]
        return [*tables, *(shown for scale in self.ratings.values() for shown in scale.tables())]

    def as_json(self) -> dict[str, Any]:
        """The document of the kinds, and what is beside them."""
        return super().as_json() | document(self, "nugget_lists", "ratings")


def agreement(
    evaluation: Evaluation,
    *,
    sets: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> AgreementStudy:
    """How far do the assessors agree? One result per kind of judgment, labels of items or pairs first.

    Without `sets` all assessors' own sets are compared, and two-way keys of entailment. `resamples` bootstrap resamples
    give the intervals (0: none).

    >>> import qassay
    >>> study = qassay.agreement(qassay.open(qassay.demo_folder()), sets=["first", "second"], resamples=0)
    >>> study[0]
    Agreement: the sets first and second agree on 92.8% of 1,135 items
    """
    need_evaluation(evaluation, "agreement")
    names = list(dict.fromkeys(sets)) if sets is not None else _assessors(evaluation)
    evaluation = evaluation.with_judgments(map(evaluation.judgment_set, names))
    results = []
    for labels in compared_labels(evaluation, names, chosen=sets is not None):
        folded = [name for name in labels.sets if name in evaluation.two_way_sets]
        # A task's own labels are in its order, which the labels alone do not show.
        order = evaluation.task.labels if evaluation.task.values and labels.about == "items" else None
        result = compare_labels(
            labels.sets,
            questions=labels.questions,
            order=order,
            two_way=folded,
            seed=seed,
            resamples=resamples,
            progress=progress,
        )
        results.append(replace(result, about=labels.about, notes=(*result.notes, *labels.notes)))
    lists = nugget_lists(evaluation, names)
    nugget_kinds = {record.compared for record in ROW_KINDS.values() if record.by_nuggets}
    place = next((place for place, kind in enumerate(results) if kind.about in nugget_kinds), 0)
    results[place] = replace(results[place], notes=(*results[place].notes, *differences(lists)))
    manual = evaluation.manual_runs
    rated = rate(evaluation.ratings(sets), seed=seed, resamples=resamples, manual=manual)
    return AgreementStudy(tuple(results), rated, lists, partial(judging_progress, evaluation))


def agree(
    evaluation: Evaluation,
    *,
    sets: Sets = None,
    by: Annotated[Literal["set", "person"], Option("Compare judgment sets, or the people who judged.")] = "set",
    resamples: Resamples = 1000,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> AgreementStudy | PeopleStudy:
    """Agreement of judgment sets, or of people."""
    if by == "person":
        return people(evaluation, sets=sets or None, resamples=resamples, seed=seed)
    return agreement(evaluation, sets=sets or None, resamples=resamples, seed=seed, progress=progress)


def page(study: AgreementStudy | PeopleStudy) -> Page:
    """How far the sets agree, and on what they differ; or who is out of line."""
    if isinstance(study, PeopleStudy):
        return page_of_people(study)
    exhibits = [Exhibit(f"agreement-{place}", shown) for place, shown in enumerate(study.tables(), 1)]
    exhibits += [Exhibit(f"figure-{place}", draw=draw) for place, draw in enumerate(_figures(study), 1)]
    return Page((as_sentence(study.sentence()),), tuple(exhibits))


STUDY = Study(
    name="agree",
    compute=agree,
    page=page,
    documents=(Agreement, PeopleAgreement),
    doing="resampling",
    heading="How far do the assessors agree?",
    label="Agreement",
    tab=JUDGES,
    slow=True,
    is_open=True,
)


def _figures(study: AgreementStudy) -> Iterator[Callable[[], Figure]]:
    """The labels of the first pairs of judges, their ratings, and judgments over time."""
    for kind in study:
        for number, pair in enumerate(kind.pairs[:PAIRS_DRAWN] if kind.raw is not None else (), start=1):
            yield partial(_labels_figure, pair, kind.about, number)
    for scale in list(study.ratings.values())[:SCALES_DRAWN]:
        yield from (scale.figure, partial(_ranks_figure, scale))
    yield lambda: study.pace().figure()


def _labels_figure(pair: PairAgreement, about: str, number: int) -> Figure:
    from qassay.figures import agreement_matrix

    return agreement_matrix(pair, about, number)


def _ranks_figure(scale: ScaleRatings) -> Figure:
    from qassay.figures import mean_rank_by_judge

    return mean_rank_by_judge(scale)


def judging_progress(evaluation: Evaluation) -> JudgingProgress:
    """How many judgments each set of people, and the adjudicator's, had by when.

    Judgments that came from a file without times are counted, and have no point. Verdicts settled by a rule took no
    time.
    """
    parts = evaluation.folder.judgment_sets()
    times: dict[str, list[str | None]] = {}
    # The adjudicator comes after the assessors.
    names = [name for name in evaluation.human_sets if name in parts]
    for name in sorted(names, key=lambda name: name in SETTLED_SETS):
        saved = {"at": pl.String, "settled": pl.String}
        rows = jsonl.parse_table(parts[name].read(), saved, file=parts[name].name)
        moments = map(moment, rows.filter(pl.col("settled").is_null())["at"])
        times[name] = [f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else None for at in moments]
    return progress_of(times)


def nugget_lists(evaluation: Evaluation, names: Sequence[str]) -> tuple[ListPair, ...]:
    """The nugget lists of these sets, as far as they have lists of their own."""
    own = evaluation.folder.nugget_lists()
    return compare_lists({name: evaluation.nugget_list(name) for name in names if name in own})


def _assessors(evaluation: Evaluation) -> list[str]:
    # Two-way keys of assessors are compared too; a settled set belongs to no assessor, whatever its labels.
    names = [name for name in evaluation.human_sets if name not in SETTLED_SETS]
    if len(names) < 2:
        sets = f"there is {', '.join(evaluation.sets)}" if evaluation.sets else "there are none"
        message = f"agreement takes the judgment sets of two assessors or more ({sets})"
        ways = (Remedy("sets", ("A", "B"), "To compare any two"),) if len(evaluation.sets) > 1 else ()
        raise InputError(Problem("configuration", message, evaluation.folder.name(), way_out=ways))
    return names


@dataclass(frozen=True, eq=False)
class Labels:
    """The judgments of the sets on what all of them judged; `about` names the kind of judgment."""

    about: str
    questions: pl.Series
    sets: Mapping[str, pl.Series]
    notes: tuple[str, ...] = ()


def compared_labels(evaluation: Evaluation, names: Sequence[str], *, chosen: bool) -> list[Labels]:
    """The labels of each kind of judgment, those of items and pairs first; kinds that do not occur are absent.

    `chosen` says that the user named the sets: all of them are compared then. Else a set without any label of a kind
    is left out of it.
    """
    judged = {name: evaluation.judgment_set(name) for name in names}
    (about, items), *others = label_tables(evaluation, judged)
    compared = [_side_by_side(about, items, names, chosen=chosen)]
    for about, labels in others:
        compared.append(_side_by_side(about, labels, labels.columns[2:], chosen=False))
    return [labels for labels in compared if len(next(iter(labels.sets.values())))] or compared[:1]


def label_tables(evaluation: Evaluation, judged: Mapping[str, JudgmentSet]) -> list[tuple[str, pl.DataFrame]]:
    """Labels of every judged subject side by side, one table per kind: question, item, and a column for each set.

    Items and pairs come first, with a column for all sets; of another kind only the sets that have it.
    """
    side_by_side = [("items", labels_of_sets(judged.values()))]
    for record in ROW_KINDS.values():
        if record.compared in ("", "items"):
            continue
        tables = {
            name: record.labels_of(own.kind(record.name), evaluation.nugget_list(name))
            for name, own in judged.items()
            if record.name in own.kinds
        }
        having = {name: labels for name, labels in tables.items() if len(labels)}
        if len(having) > 1:
            side_by_side.append((record.compared, joined(having)))
    return side_by_side


def _side_by_side(about: str, labels: pl.DataFrame, names: Sequence[str], *, chosen: bool) -> Labels:
    """Keep the rows that all sets have, and say how many they do not."""
    having = [name for name in names if labels[name].null_count() < len(labels)]
    notes = []
    if not chosen and 1 < len(having) < len(names):
        notes.append(f"Sets without judgments of these items: {', '.join(n for n in names if n not in having)}.")
        names = having
    complete = labels.drop_nulls(list(names))
    partly = labels.filter(~pl.all_horizontal(pl.col(names).is_null())).height - complete.height
    if partly:
        notes.append(f"Judged by some of the sets only, and not compared: {partly:,} {about}.")
    return Labels(about, complete["question"], {name: complete[name] for name in names}, tuple(notes))
