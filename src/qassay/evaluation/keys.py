"""The keys of an evaluation: of one judgment set, derived from several, mixed, or by a vote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from qassay.errors import InputError, Problem, Problems, Remedy, few, unknown
from qassay.judging import OPINIONS, SETTLED_SETS
from qassay.judging.keys import (
    MIXED,
    TWO_WAY,
    Key,
    check_known_answers,
    disagreement_key,
    merged,
    mixed_key,
    no_nuggets,
    two_way_key,
    voted,
)
from qassay.judging.sets import check_nuggets
from qassay.judging.voting import MAJORITY, Vote, parse_rule, shared_nuggets, vote

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation


def key_of(evaluation: Evaluation, name: str | None) -> Key:
    """The key with this name, or the default one."""
    key_name = name or evaluation.default_key()
    if key_name is None or key_name in evaluation.sets:
        return _key_of_set(evaluation, key_name)
    if key_name in evaluation.derived_sets:
        return _derived_key(evaluation, key_name)
    if parse_rule(key_name) is not None:
        return voted_key(evaluation, key_name)[0]
    if MIXED in key_name:
        return _mixed_key(evaluation, key_name)
    return _key_of_set(evaluation, key_name)


def _key_of_set(evaluation: Evaluation, name: str | None) -> Key:
    """The key that has the judgments of one set; without a default set, any where justifications are judged."""
    is_justified = evaluation.task.is_rated
    if name is None and is_justified:
        name = next(iter(evaluation.human_sets), None)
    if name is None:
        raise InputError(_no_key(evaluation))
    judgments = evaluation.judgment_set(name)
    key = Key(
        judgments,
        evaluation.nugget_list(name),
        evaluation.answers,
        ratings=_justification_ratings(evaluation) if is_justified else None,
        two_way=name in evaluation.two_way_sets,
    )
    file = f"judgments/{name}.jsonl"
    problems = Problems(check_nuggets(judgments, key.nuggets, file=file))
    problems += check_known_answers(key, file=file)
    if problems:
        raise InputError(problems)
    return key


def _no_key(evaluation: Evaluation) -> Problem:
    """Why there is no default key, and what to do."""
    folder = evaluation.folder.name()
    ways: tuple[Remedy, ...] = (Remedy("key", "SET", "To choose one"),)
    if not evaluation.sets:
        message = "nothing is judged yet. Programs judge with qassay judge, people also on a sheet (qassay sheet)"
        ways = (
            Remedy("qassay", f"serve {folder}", "To judge in the browser"),
            Remedy("qassay", f"import {folder} JUDGMENTS", "To add judgments"),
        )
    elif not evaluation.human_sets:
        rule = "judgments of programs are used only if you ask for them"
        message = f"no person has judged yet, and {rule}: {', '.join(sorted(evaluation.automatic_sets))}"
    else:
        message = f"there are several judgment sets and none is adjudicated: {', '.join(evaluation.sets)}"
    return Problem("configuration", message, folder, way_out=ways)


def _justification_ratings(evaluation: Evaluation) -> pl.DataFrame:
    """Ratings of justifications from all sets together; holistic scores are not among them."""
    return OPINIONS.given(evaluation.ratings(evaluation.sets))


def _derived_key(evaluation: Evaluation, name: str) -> Key:
    """A key of entailment that follows from the judgment sets."""
    if name == TWO_WAY:
        return two_way_key(evaluation.key(None))
    if len(evaluation.assessor_sets) < 2:
        message = f"{name} needs the sets of two assessors"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    return disagreement_key(
        [evaluation.judgment_set(name) for name in evaluation.assessor_sets],
        [evaluation.judgment_set(name) for name in sorted(evaluation.two_way_sets)],
    )


def mixed_names(name: str) -> list[str]:
    """The names of the sets that a mixed key takes its judgments from."""
    return list(dict.fromkeys(part.strip() for part in name.split(MIXED)))


def _mixed_key(evaluation: Evaluation, name: str) -> Key:
    """A key of several sets, earlier ones first; those of programs judge only what people did not."""
    sets = [evaluation.judgment_set(part) for part in mixed_names(name)]
    human = [judged for judged in sets if judged.name not in evaluation.automatic_sets]
    programs = [judged for judged in sets if judged.name in evaluation.automatic_sets]
    people = merged(name, human)
    base = Key(people, evaluation.nugget_list((human or programs)[0].name), evaluation.answers)
    problems = Problems(check_known_answers(base, file=f"judgments/{sets[0].name}.jsonl"))
    for judged in sets:
        problems += check_nuggets(judged, base.nuggets, file=f"judgments/{judged.name}.jsonl")
    if problems:
        raise InputError(problems)
    return mixed_key(name, base, people, programs)


def voted_key(evaluation: Evaluation, name: str) -> tuple[Key, Vote]:
    """A key by the votes of several people's sets, with the figures of the vote."""
    if name not in evaluation.votes:
        evaluation.votes[name] = _vote(evaluation, name)
    return evaluation.votes[name]


def _vote(evaluation: Evaluation, name: str) -> tuple[Key, Vote]:
    rule, named_sets = parse_rule(name) or (MAJORITY, None)
    voters = evaluation.assessor_sets if named_sets is None else named_sets
    for voter in voters:
        if voter not in evaluation.sets:
            raise unknown("judgment set", voter, evaluation.sets)
    if len(voters) < 2:
        available = few(evaluation.assessor_sets) or "none"
        message = f"{rule} takes the judgment sets of two assessors or more (there are: {available})"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    nuggets = shared_nuggets([evaluation.nugget_list(voter) for voter in voters])
    judged, figures = vote(name, rule, [evaluation.judgment_set(voter) for voter in voters], nuggets)
    if fault := figures.fault():
        ways = (
            Remedy("key", MAJORITY, "To take the label of most"),
            Remedy("key", f"{rule}:A,B,C", "or other sets"),
        )
        raise InputError(Problem("configuration", fault, evaluation.folder.name(), way_out=ways))
    ratings = _justification_ratings(evaluation) if evaluation.task.is_rated else None
    key = Key(judged, no_nuggets() if nuggets is None else nuggets, evaluation.answers, ratings=ratings)
    if problems := Problems(check_known_answers(key, file=name)):
        raise InputError(problems)
    return key, figures


def weighted(evaluation: Evaluation, key: Key) -> Key:
    """The key with nugget weights: as given, else votes of the assessors' own lists, else its own marks."""
    if key.nuggets["weight"].null_count() < key.nuggets.height:
        return key
    lists = evaluation.folder.nugget_lists()
    voters = [name for name in lists if name not in (*SETTLED_SETS, "development")] or [key.name]
    return voted(key, {name: evaluation.nugget_list(name) for name in voters})
