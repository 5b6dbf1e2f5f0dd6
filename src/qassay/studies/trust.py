"""How far can an automatic assessor be trusted?

Compares its judgments with those of people, on the answers that both
judged: how often they agree beyond chance, whether the runs come in the
same order, and which runs it favours. With the sets of three or more
people, also whether it could replace one of them.

Examples

  qassay judge my-eval --with overlap
  qassay trust my-eval --assessor overlap
  qassay trust my-eval --assessor gpt-4 --against first --json
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np
import polars as pl

from qassay.arrays import Floats
from qassay.errors import InputError, Problem, Problems, Remedy, unknown
from qassay.evaluation import Evaluation
from qassay.evaluation.learning import COPIED_FROM, learned_from, verdicts
from qassay.judging.pool import judged_responses
from qassay.judging.sets import JudgmentSet, check_nuggets
from qassay.meta.agreement import scheme_of
from qassay.meta.agreement.nugget_lists import differences, differing
from qassay.meta.trust import Compared, ScoredTwice, Trust
from qassay.meta.trust import trust as measure_trust
from qassay.meta.trust.annotator import LEAST_PEOPLE, AlternativeAnnotator, alternative_annotator
from qassay.options import Component, Measure, Option, Resamples, Seed
from qassay.pages import Exhibit, Page
from qassay.scoring import Scores, score
from qassay.sources import need_evaluation
from qassay.studies import JUDGES, NothingYetError, Study
from qassay.studies.agree import label_tables, nugget_lists
from qassay.tally import Tally, restricted, tally

# Words in names that show a model family; a judge may favour answers of its own kind.
FAMILIES = ("gpt", "claude", "gemini", "gemma", "llama", "mistral", "mixtral", "qwen", "deepseek", "command-r", "phi")


def trust(
    evaluation: Evaluation,
    assessor: Annotated[
        str | None,
        Option(
            "The judgment set of the automatic assessor (default: the first program's).", metavar="SET", on_pages=True
        ),
    ] = None,
    against: Annotated[
        str | None, Option("The judgments of people (default: adjudicated).", metavar="SET", on_pages=True)
    ] = None,
    *,
    measure: Measure = None,
    component: Component = None,
    two_people: Annotated[bool, Option("Ask with two people, too, whom the assessor resembles.")] = False,
    resamples: Resamples = 1000,
    seed: Seed = 0,
) -> Trust:
    """How far does an automatic assessor judge and rank like people?

    `assessor` is its judgment set (the first program's unless named), `against` that of people (the default judgments
    unless named). `two_people` asks for the alternative annotator test with two people too, where it gives no verdict.
    `resamples` bootstrap resamples give the intervals (0: none).
    """
    need_evaluation(evaluation, "trust")
    assessor = assessor or next(iter(sorted(evaluation.automatic_sets)), None)
    if assessor is None:
        message = "no program has judged yet: the command qassay judge lets one judge"
        raise NothingYetError(Problem("configuration", message, evaluation.folder.name()))
    people = _people(evaluation, assessor, against)
    program, copied = _without_copies(evaluation, assessor, people)
    compared, notes = _compared(evaluation, program, people, component)
    scored = _scored(evaluation, program, people, measure, component)
    lists = differing(nugget_lists(evaluation, [assessor, people]))
    notes += [*differences(lists), *_learned(evaluation, assessor), *_family(assessor, evaluation.runs.tags)]
    if people in evaluation.automatic_sets:
        notes.append(f"{people} is a program's set: where this says people, it means {people}.")
    result = measure_trust(
        assessor,
        people,
        compared,
        scored,
        alternative=_alternative(evaluation, program, assessor, two_people=two_people),
        copied=copied,
        seed=seed,
        resamples=resamples,
        nugget_lists=lists,
        notes=notes,
    )
    return replace(result, manual=evaluation.manual_runs)


def page(result: Trust) -> Page:
    """Whether the program judges like people, its agreement with them, and the runs that it favours."""
    first, *others = (Exhibit(f"trust-{place}", shown) for place, shown in enumerate(result.tables(), 1))
    return Page(result.answer(), (replace(first, draw=result.figure), *others))


STUDY = Study(
    name="trust",
    compute=trust,
    page=page,
    documents=(Trust,),
    heading="Does the program judge like people?",
    label="Programs",
    tab=JUDGES,
    slow=True,
)


def _people(evaluation: Evaluation, assessor: str, against: str | None) -> str:
    """The set to compare with; an error where either set does not exist."""
    chosen = against or evaluation.default_key()
    if assessor not in evaluation.sets:
        raise unknown("judgment set", assessor, evaluation.sets)
    if chosen is None or chosen == assessor:
        others = [name for name in evaluation.sets if name != assessor]
        people = [name for name in others if name not in evaluation.automatic_sets]
        if others and not people:
            message, way = f"there are no judgments of people to compare {assessor} with", "To take another program's"
        else:
            message, way = f"it is not clear which judgments of people to compare {assessor} with", "To name them"
        message += f" (there are {', '.join(people or others)})" if others else "; there are none yet"
        ways = (Remedy("against", "SET", way),)
        raise InputError(Problem("configuration", message, evaluation.folder.name(), way_out=ways))
    if chosen not in evaluation.sets:
        raise unknown("judgment set", chosen, evaluation.sets)
    return chosen


def _without_copies(evaluation: Evaluation, assessor: str, people: str) -> tuple[JudgmentSet, int]:
    """The assessor's judgments but for those that repeat the people's own row, and how many these are."""
    judged = evaluation.judgment_set(assessor)
    copies = verdicts(evaluation, assessor, lambda trace: trace.get(COPIED_FROM) == people)
    kinds = dict(judged.kinds)
    for kind, copied in copies.items():
        kinds[kind] = kinds[kind].join(copied, on=copied.columns, how="anti", nulls_equal=True, maintain_order="left")
    return JudgmentSet(assessor, kinds), sum(table.height for table in judged.kinds.values()) - sum(
        table.height for table in kinds.values()
    )


# ---- labels ---------------------------------------------------------------------------------------------------------


def _compared(
    evaluation: Evaluation, program: JudgmentSet, people: str, component: str | None
) -> tuple[list[Compared], list[str]]:
    """The labels of every kind that both sets gave, with the one that counts as right."""
    parts, notes = [], []
    judged = {people: evaluation.judgment_set(people), program.name: program}
    ids = [question.id for question in evaluation.questions if component in (None, question.type)]
    for about, every in label_tables(evaluation, judged):
        labels = every.filter(pl.col("question").is_in(ids))
        if not {people, program.name} <= set(labels.columns):
            continue
        both = labels.drop_nulls([people, program.name])
        if both.height:
            best = _best(evaluation, about, {*both[people], *both[program.name]})
            parts.append(Compared(about, list(both["question"]), list(both[program.name]), list(both[people]), best))
        if labels.height > both.height:
            notes.append(f"Judged by one of the two only, and not compared: {labels.height - both.height:,} {about}.")
    return parts, notes


def _best(evaluation: Evaluation, about: str, labels: set[str]) -> str:
    """The label that counts as right: R, full, yes, YES, or the task's highest-valued one."""
    values = evaluation.task.values
    if about == "items" and values:
        return max(values, key=values.__getitem__)
    order = scheme_of(labels).order
    best = next((label for label in ("R", "full", "yes", "YES", "supported") if label in order), None)
    return best or order[-1]


def _alternative(
    evaluation: Evaluation, program: JudgmentSet, assessor: str, *, two_people: bool
) -> AlternativeAnnotator | None:
    """The alternative annotator test against the sets of people, where there are enough of them."""
    names = [name for name in evaluation.assessor_sets if name != assessor]
    if len(names) < (2 if two_people else LEAST_PEOPLE):
        return None
    judged = {assessor: program} | {name: evaluation.judgment_set(name) for name in names}
    sides: dict[str, list[str | None]] = {name: [] for name in judged}
    questions: list[str] = []
    for _, labels in label_tables(evaluation, judged):
        questions += list(labels["question"])
        for name, side in sides.items():
            side += list(labels[name]) if name in labels.columns else [None] * labels.height
    by_assessor = sides.pop(assessor)
    return alternative_annotator(by_assessor, sides, questions=questions)


def _learned(evaluation: Evaluation, assessor: str) -> list[str]:
    """What the comparison is about where the assessor knows labels of other answers to the same questions."""
    learned = verdicts(
        evaluation, assessor, lambda trace: learned_from(trace) is not None and not trace.get(COPIED_FROM)
    )
    if not learned:
        return []
    return [
        f"{sum(table.height for table in learned.values()):,} verdicts of {assessor} use what people said of other "
        "answers to the same questions: it is compared as a judge of new runs, not of new questions."
    ]


def _family(assessor: str, runs: Sequence[str]) -> list[str]:
    """Runs whose names suggest the family of the judge's model."""
    notes = []
    for family in FAMILIES:
        same = [run for run in runs if family in run.lower()]
        if family in assessor.lower() and same:
            runs_in_words = ", ".join(same[:5]) + (f" and {len(same) - 5} more" if len(same) > 5 else "")
            notes.append(
                f"By its name {assessor} shares the model family {family} with {runs_in_words}: look at their bias."
            )
    return notes


# ---- scores ---------------------------------------------------------------------------------------------------------


def _scored(
    evaluation: Evaluation, program: JudgmentSet, people: str, measure: str | None, component: str | None
) -> ScoredTwice | None:
    """Every run scored by both, on the questions of which both judged all that the run returned."""
    if not evaluation.run_files.runs.tags or evaluation.task.is_rated:
        return None
    joined = {name: _tally(evaluation, name, judged) for name, judged in ((people, None), (program.name, program))}
    complete = [
        judged_responses(evaluation.runs, evaluation.questions, evaluation.task, part.key.judgments, part.key.nuggets)
        for part in joined.values()
    ]
    both = set(complete[0].join(complete[1], on=["question", "run"]).iter_rows())
    if not both:
        return None
    scores = [_score(evaluation, restricted(part, both), measure, component) for part in joined.values()]
    return _twice(evaluation, joined[people], both, *scores)


def _tally(evaluation: Evaluation, name: str, judged: JudgmentSet | None) -> Tally:
    """The runs joined with the key of a set; `judged` replaces its judgments where some are left out."""
    joined = evaluation.tally(name)
    if judged is None:
        return joined
    key = replace(joined.key, judgments=judged)
    if problems := Problems(check_nuggets(judged, key.nuggets, file=f"judgments/{name}.jsonl")):
        raise InputError(problems)
    return tally(joined.runs, joined.questions, key, joined.task)


def _score(evaluation: Evaluation, joined: Tally, measure: str | None, component: str | None) -> Scores:
    configuration = evaluation.configuration
    return score(
        joined,
        measure=measure,
        component=component,
        unjudged="wrong",
        missing="skip",
        drop=configuration.drop,
        drop_from_series=configuration.drop_from_series,
    )


def _twice(
    evaluation: Evaluation, joined: Tally, both: set[tuple[str, str]], people: Scores, program: Scores
) -> ScoredTwice:
    """Both scores on the units that both have."""
    units = [unit for unit in people.units.ids if unit in set(program.units.ids)]
    columns = [
        np.array([ids.index(unit) for unit in units], dtype=np.int64) for ids in (people.units.ids, program.units.ids)
    ]
    tags = people.tags
    answered = _answered(joined, people.questions)
    by_id = joined.questions.by_id
    are_questions = all(unit in by_id for unit in units)
    left = dict.fromkeys(tags, 0)
    for question, tag in answered:
        left[tag] += (question, tag) not in both
    units_of: dict[str, set[str | None]] = {tag: set() for tag in tags}
    for question, tag in answered:
        units_of[tag].add(question if are_questions else by_id[question].series)
    low, high = people.scale
    return ScoredTwice(
        runs=tags,
        units=tuple(units),
        program=program.units.values[:, columns[1]],
        people=people.units.values[:, columns[0]],
        summary=people.units.summary.on_units(columns[0]),
        units_of_run=[len(units_of[tag].intersection(people.units.ids)) for tag in tags],
        left_out=left,
        measure=people.measure,
        reach=high - low,
        lengths=_lengths(evaluation, tags, units) if are_questions else None,
        types=[by_id[unit].type for unit in units] if are_questions else None,
    )


def _answered(joined: Tally, types: Iterable[str]) -> list[tuple[str, str]]:
    """Every question of these types that a run has a response to."""
    return [
        (part.questions[column].id, joined.runs.tags[row])
        for part in (joined.types[kind] for kind in types)
        for row, column in np.argwhere(part.answered).tolist()
    ]


def _lengths(evaluation: Evaluation, tags: Sequence[str], units: Sequence[str]) -> Floats | None:
    """Characters of each response; None where responses have no text."""
    rows = evaluation.runs.table
    if "text" not in rows.columns:
        return None
    totals = (
        rows.with_columns(pl.col("question", "run").cast(pl.String))
        .group_by("question", "run")
        .agg(length=pl.col("text").str.len_chars().fill_null(0).sum())
    )
    lengths = np.zeros((len(tags), len(units)))
    row, column = ({name: place for place, name in enumerate(names)} for names in (tags, units))
    for question, run, length in totals.iter_rows():
        if question in column:
            lengths[row[run], column[question]] = length
    return lengths
