"""An evaluation: a folder with questions, runs and judgments, opened.

    >>> import qassay
    >>> evaluation = qassay.open(qassay.demo_folder())
    >>> evaluation.score().runs[0].run
    'hobby'

Everything is read when it is first asked for, and once. `keys` has the keys that an evaluation can be scored with,
`learning` what programs learned from people's labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, overload

import polars as pl

from qassay.display import enumerated, safe_text
from qassay.errors import InputError, Problem, Remedy, UsageError, unknown
from qassay.evaluation import keys
from qassay.evaluation.learning import refuse_learned
from qassay.formats import jsonl
from qassay.formats import judgments as reading
from qassay.formats.files import path_of
from qassay.formats.folder import Configuration, Folder, open_folder, read_configuration
from qassay.formats.links import CONFIGURATION
from qassay.formats.questions import QuestionFile, read_questions, reference_rows
from qassay.formats.runs import RunFiles, read_runs
from qassay.judging import JUDGMENT_COLUMNS, PAIRS, SETTLED_SETS
from qassay.judging import sets as judgment_sets
from qassay.judging.keys import DISAGREEMENT_UNKNOWN, MIXED, TWO_WAY, Key, default_key, no_answers, no_nuggets
from qassay.judging.pool import judged_by, judged_responses
from qassay.judging.roles import AUTHOR, BY_ROLE, has_authors, set_by_role
from qassay.judging.sets import JudgmentSet, in_order
from qassay.judging.voting import DAWID_SKENE, LEAST_LABELS, MAJORITY, Vote, parse_rule
from qassay.matrix import ScoreMatrix
from qassay.measures import measure as parse_measure
from qassay.measures import misspelled
from qassay.nuggets import list_of_key
from qassay.questions import TestSet
from qassay.runs import RunInformation, Runs
from qassay.scoring import HowScored, Missing, Scores, Unjudged, score
from qassay.store import as_stored
from qassay.tally import Tally, tally
from qassay.tasks import Task

if TYPE_CHECKING:
    from qassay.meta.correction import CorrectedScores, Correction
    from qassay.meta.correction.estimates import Target
    from qassay.store.engine import Store

# Printed wherever the judgments of a program are scored: an interval around such a score is not about the truth.
BY_A_PROGRAM = "Judged by a program: intervals and tests leave its errors out. To include them: qassay sample."


def open_evaluation(path: Path | str, *, store: Store | None = None) -> Evaluation:
    """Open the evaluation in a folder: its store where there is one, its files where there is none.

    `store` is the evaluation's store, where the caller has it open already.
    """
    folder = open_folder(path_of(path, "open", "For scores in memory: qassay.scores(frame)"))
    configuration = read_configuration(folder)
    if problems := list(misspelled(configuration.task, file=CONFIGURATION)):
        raise InputError(problems)
    return Evaluation(as_stored(folder, configuration, store=store), configuration)


# Why a question is left out where several sets are compared on what all of them judged.
NOT_BY_ALL = "not judged by every set"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """An opened evaluation."""

    folder: Folder
    configuration: Configuration
    # Judgments in the place of those that the folder has.
    replaced: Mapping[str, JudgmentSet] = field(default_factory=dict)

    def __repr__(self) -> str:
        # From the configuration alone: a repr reads no files and fails on none.
        return safe_text(f"Evaluation: {self.name} (task {self.task.name})")

    @property
    def name(self) -> str:
        """Name of the evaluation."""
        return self.configuration.name

    @property
    def task(self) -> Task:
        """Its task, with the changes of `qassay.toml`."""
        return self.configuration.task

    @cached_property
    def question_file(self) -> QuestionFile:
        """The file of questions."""
        part = self.folder.questions()
        file = read_questions(part)
        strange = sorted({question.type for question in file.questions} - set(self.task.types))
        if strange:
            message = f"has questions of type {strange[0]}, which task {self.task.name} does not have"
            raise InputError(Problem("configuration", message, part.name))
        alone = [question.id for question in file.questions if question.series is None]
        if alone and self.task.unit == "series":
            message = f"has no series; task {self.task.name} scores series"
            raise InputError(
                Problem("configuration", f"question {question} {message}", part.name, None, question)
                for question in alone
            )
        return file

    @property
    def questions(self) -> TestSet:
        """The test set."""
        return self.question_file.questions

    @cached_property
    def run_files(self) -> RunFiles:
        """The runs as read, with what is wrong with them."""
        return read_runs(self.folder.runs(), task=self.task, questions=self.questions, information=self.information)

    @cached_property
    def information(self) -> dict[str, RunInformation]:
        """The information that comes with runs."""
        part = self.folder.run_information
        return {} if part is None else reading.read_run_information(part)

    @property
    def manual_runs(self) -> frozenset[str]:
        """The runs in which people had a hand: they have a star in every table."""
        return frozenset(tag for tag, about in self.information.items() if about.manual)

    @property
    def runs(self) -> Runs:
        """The runs; an error that lists everything wrong with them, where something is."""
        files = self.run_files
        if files.problems:
            raise InputError(files.problems)
        if not files.runs.tags:
            ways = (Remedy("qassay", "import FOLDER RUN...", "To add them"),)
            raise InputError(Problem("configuration", "there are no runs", self.folder.name(), way_out=ways))
        return files.runs

    @cached_property
    def answers(self) -> pl.DataFrame:
        """Answers known from question development."""
        part = self.folder.answers
        return no_answers() if part is None else reading.read_answers(part, self.questions).select(no_answers().columns)

    # ---- judgment sets ----------------------------------------------------------------------------------------------

    @cached_property
    def sets(self) -> tuple[str, ...]:
        """Names of the judgment sets, `adjudicated` and `reference` first; outputs list them in this order."""
        names = set(self.folder.judgment_sets())
        if self.question_file.reference:
            names.add("reference")
        return tuple(sorted(names, key=lambda name: (name not in SETTLED_SETS, name)))

    @cached_property
    def human_sets(self) -> tuple[str, ...]:
        """The sets that people judged; a program's set is used only if someone asks for it."""
        return tuple(name for name in self.sets if name not in self.automatic_sets)

    @cached_property
    def assessor_sets(self) -> tuple[str, ...]:
        """The sets of human assessors: not settled, not automatic, not a two-way key."""
        apart = {*SETTLED_SETS, *self.two_way_sets}
        return tuple(name for name in self.human_sets if name not in apart)

    @cached_property
    def automatic_sets(self) -> frozenset[str]:
        """The sets of programs: named in `qassay.toml`, or with a row that carries its `trace`."""
        marked = {name for name, part in self.folder.judgment_sets().items() if reading.is_automatic(part)}
        return frozenset(marked.union(self.configuration.automatic).intersection(self.sets))

    @cached_property
    def two_way_sets(self) -> frozenset[str]:
        """The sets whose NO means only: not entailed."""
        reference = {"reference"} if self.question_file.two_way else set()
        return frozenset({*self.configuration.two_way, *reference}.intersection(self.sets))

    @cached_property
    def role_sets(self) -> tuple[str, ...]:
        """Sets that follow from who wrote the questions and who judged them: `author` and `other`."""
        assessors = self.assessor_sets if has_authors(self.questions) else ()
        return tuple(name for name in BY_ROLE if assessors and name not in self.sets)

    def with_judgments(self, sets: Iterable[JudgmentSet]) -> Evaluation:
        """The same evaluation with other judgments in the place of those of some sets; nothing is read again."""
        other = copy(self)
        object.__setattr__(other, "replaced", {**self.replaced, **{judged.name: judged for judged in sets}})
        # These follow from the judgments.
        for computed in ("votes", "_judged_by_assessors"):
            other.__dict__.pop(computed, None)
        return other

    def judgment_set(self, name: str, *, incoming: bool = False) -> JudgmentSet:
        """The current judgments of one set; as `incoming` ones they are checked by all rules."""
        if name in self.replaced:
            return self.replaced[name]
        part = self.folder.judgment_sets().get(name)
        if part is not None:
            return reading.read_judgments(part, name, self.questions, self.task, incoming=incoming)
        if name == "reference" and self.question_file.reference:
            rows = [(0, row) for row in reference_rows(self.question_file)]
            table = jsonl.rows_table(rows, JUDGMENT_COLUMNS, file=self.folder.questions().name)
            return JudgmentSet(name, {PAIRS.name: table})
        if name in BY_ROLE and name in self.role_sets:
            return self._by_role(name)[0]
        raise unknown("judgment set", name, self.sets)

    def _judgment_sets(self, names: Sequence[str] | None) -> list[JudgmentSet]:
        """The sets with these names; those of the assessors where none are named."""
        return [self.judgment_set(name) for name in (names if names is not None else self.assessor_sets)]

    def _by_role(self, role: str) -> tuple[JudgmentSet, dict[str, str]]:
        """The judgments of the authors, or of the others, and the set that those of each question come from."""
        sets = self._judgment_sets(in_order(self.assessor_sets))
        judged, set_of_question = set_by_role(role, sets, self.questions)
        if not judged.kinds:
            judges = "the author of its question" if role == AUTHOR else "anybody but the author of its question"
            message = f"no judgment is by {judges}: questions name their author, and judgments their assessor"
            raise InputError(Problem("configuration", message, self.folder.name()))
        return judged, set_of_question

    def unreadable_sets(self, key: str) -> dict[str, Problem]:
        """The other judgment sets that cannot be read, each with its first fault: they take no part in scores."""
        faults = {}
        for name in self.sets:
            if name != key:
                try:
                    self.judgment_set(name)
                except InputError as error:
                    faults[name] = error.problems[0]
        return faults

    def labels(self, sets: Sequence[str] | None = None) -> pl.DataFrame:
        """Labels of every judged item side by side: columns question, item and one for each set (null: not judged)."""
        return judgment_sets.labels(self._judgment_sets(sets))

    def ratings(self, sets: Sequence[str] | None = None) -> pl.DataFrame:
        """Ratings of justifications and holistic scores of several sets; the set's name replaces a missing assessor."""
        return judgment_sets.ratings(self._judgment_sets(sets))

    def nugget_list(self, name: str) -> pl.DataFrame:
        """The nugget list of a key: its own, or the only one there is."""
        lists = self.folder.nugget_lists()
        if name in BY_ROLE and name not in lists and name in self.role_sets:
            return self._nuggets_by_role(name)
        list_name = list_of_key(name, lists)
        return no_nuggets() if list_name is None else reading.read_nuggets(lists[list_name], self.questions)

    def _nuggets_by_role(self, role: str) -> pl.DataFrame:
        """The nuggets of every question from the list of the set that its judgments come from."""
        set_of_question = self._by_role(role)[1]
        lists = {name: self.nugget_list(name) for name in dict.fromkeys(set_of_question.values())}
        questions = {
            name: [question for question, set_name in set_of_question.items() if set_name == name] for name in lists
        }
        parts = [table.filter(pl.col("question").is_in(questions[name])) for name, table in lists.items()]
        return pl.concat(parts, how="diagonal_relaxed")

    # ---- keys -------------------------------------------------------------------------------------------------------

    @cached_property
    def derived_sets(self) -> tuple[str, ...]:
        """Keys that follow from the sets: entailment has two."""
        return (TWO_WAY, DISAGREEMENT_UNKNOWN) if self.task.has_decisions else ()

    @cached_property
    def voted_keys(self) -> tuple[str, ...]:
        """Keys by a vote of the assessors' sets, where there are enough of them."""
        rules = [MAJORITY] * (len(self.assessor_sets) > 1) + [DAWID_SKENE] * (len(self.assessor_sets) >= LEAST_LABELS)
        return tuple(rule for rule in rules if rule not in self.sets)

    def default_key(self) -> str | None:
        """The key of scoring unless one is named: adjudicated, else reference, else the only set; never a program's."""
        return default_key(self.human_sets)

    def key(self, name: str | None = None) -> Key:
        """The key with this name, or the default one."""
        return keys.key_of(self, name)

    def judged_by(self, key: str) -> dict[str, dict[str, int]] | None:
        """How many judgments of each run a key of several sets has from each of them; None for any other key."""
        if key in self.sets or MIXED not in key:
            return None
        sets = [self.judgment_set(name) for name in keys.mixed_names(key)]
        return judged_by(self.runs, self.questions, self.task, sets, self.key(key).nuggets)

    @cached_property
    def votes(self) -> dict[str, tuple[Key, Vote]]:
        """The keys by a vote so far, each with the figures of the vote."""
        return {}

    # ---- scores -----------------------------------------------------------------------------------------------------

    def tally(self, key: str | None = None, *, measure: str | None = None) -> Tally:
        """The runs joined with a key, whose nuggets have weights where the measure or one of the task's needs them."""
        runs, joined_key = self.runs, self.key(key)
        measures = [measure or self.task.measure, *(rules.score for rules in self.task.types.values())]
        if any(parse_measure(name).name == "pyramid_f" for name in measures):
            joined_key = keys.weighted(self, joined_key)
        return tally(runs, self.questions, joined_key, self.task)

    def unit_titles(self, scores: Scores) -> dict[str, str]:
        """What the units of these scores are about, where they are series: a question has an id of the same form."""
        return self.questions.titles if scores.matrix.unit_name[0] == "series" else {}

    @overload
    def score(self, key: str | None = None, *, correct_with: None = None, **options: Unpack[HowScored]) -> Scores: ...

    @overload
    def score(
        self,
        key: str | None = None,
        *,
        correct_with: str,
        target: Target = "new",
        sample: str | Path | None = None,
        half_width: float | None = None,
        **options: Unpack[HowScored],
    ) -> CorrectedScores: ...

    def score(
        self,
        key: str | None = None,
        *,
        measure: str | None = None,
        component: str | None = None,
        unjudged: Unjudged = "stop",
        missing: Missing = "stop",
        correct_with: str | None = None,
        target: Target = "new",
        sample: str | Path | None = None,
        half_width: float | None = None,
    ) -> Scores | CorrectedScores:
        """Score all runs under a key (the default one unless named).

        `correct_with` names the judgments of people that correct the scores of an automatic assessor, on the sample
        they judged: `sample` is its name or file where there are several, `target` what the intervals are about ("new"
        questions like these, or "these"), and `half_width` asks how many labels intervals of that size take.
        """
        options = HowScored(measure=measure, component=component, unjudged=unjudged, missing=missing)
        if correct_with is not None:
            correction = self.correction(key, correct_with, target=target, sample=sample, **options)
            return correction.scores(half_width=half_width)
        scores = self._score(self.tally(key, measure=measure), **options)
        if key is not None and key in self.automatic_sets:
            scores = replace(scores, notes=(*scores.notes, BY_A_PROGRAM))
        if key is None or key in self.sets:
            return scores
        if parse_rule(key) is not None:
            return replace(scores, vote=keys.voted_key(self, key)[1])
        return replace(scores, judged_by=self.judged_by(key)) if MIXED in key else scores

    def matrix_of(self, runs: Sequence[str], key: str | None = None, **options: Unpack[HowScored]) -> ScoreMatrix:
        """The score matrix of these runs alone: what others lack, or have unjudged, changes nothing."""
        matrix = self._with_runs(runs).score(key, **options).matrix
        return replace(matrix, others=len(self.runs.tags) - len(runs))

    def matrices_of(
        self, sets: Sequence[str], runs: Sequence[str] | None = None, **options: Unpack[HowScored]
    ) -> dict[str, ScoreMatrix]:
        """The score matrices of runs (all unless named) under several sets, on the questions that every set judged.

        A question is judged where each set has judged everything that these runs answered.
        """
        chosen = self if runs is None else self._with_runs(runs)
        answers = chosen.runs.table.select(pl.col("question", "run").cast(pl.String)).unique(maintain_order=True)
        lacking: dict[str, str] = {}
        for name in sets:
            key = chosen.key(name)
            judged = judged_responses(chosen.runs, chosen.questions, chosen.task, key.judgments, key.nuggets)
            left = answers.join(judged, on=["question", "run"], how="anti", maintain_order="left")
            lacking |= dict.fromkeys(left["question"], NOT_BY_ALL)
        if len(lacking) == answers["question"].n_unique():
            systems = "all systems" if runs is None else enumerated(runs)
            message = f"{enumerated(sets)} share no question of which each judged all answers of {systems}"
            raise InputError(Problem("unjudged", f"{message}. Name sets that judged the same answers"))
        drop = {**self.configuration.drop, **lacking}
        measure = options.get("measure")
        matrices = {}
        for name in sets:
            scores = chosen._score(chosen.tally(name, measure=measure), drop=drop, **options)
            kept = tuple(dropped for dropped in scores.dropped if dropped.reason != NOT_BY_ALL)
            others = len(self.runs.tags) - len(chosen.runs.tags)
            matrices[name] = replace(replace(scores, dropped=kept).matrix, others=others)
        return matrices

    def _with_runs(self, tags: Sequence[str]) -> Evaluation:
        """The same evaluation with these runs only."""
        for tag in tags:
            if tag not in self.runs.tags:
                raise unknown("run", tag, self.runs.tags)
        other = copy(self)
        object.__setattr__(other, "run_files", replace(self.run_files, runs=self.runs.only(tags)))
        return other

    def _score(self, joined: Tally, *, drop: Mapping[str, str] | None = None, **options: Unpack[HowScored]) -> Scores:
        """The scores of a tally, with the decisions of the organiser; `drop` replaces the questions left out."""
        return score(
            joined,
            drop=self.configuration.drop if drop is None else drop,
            drop_from_series=self.configuration.drop_from_series,
            justified=self.configuration.justified,
            judged_by_assessors=lambda: self._judged_by_assessors,
            **options,
        )

    @cached_property
    def _judged_by_assessors(self) -> frozenset[str]:
        """The questions that any assessor has judged; a set that cannot be read is none's."""
        judged: set[str] = set()
        for name in self.assessor_sets:
            with suppress(InputError):
                judged.update(*(table["question"] for table in self.judgment_set(name).kinds.values()))
        return frozenset(judged)

    def correction(
        self,
        key: str | None,
        correct_with: str,
        *,
        pair: tuple[str, str] | None = None,
        target: Target = "new",
        sample: str | Path | None = None,
        **options: Unpack[HowScored],
    ) -> Correction:
        """The scores of an automatic assessor beside people's on a sample; with `pair`, those of two runs alone.

        It gives corrected `scores()`, the difference of a `pair(a, b)`, and all `pairs()`. The other keyword arguments
        are those of `score`.
        """
        from qassay.formats.samples import find_sample
        from qassay.meta.correction.correcting import correct

        judge = self._judge(key, correct_with)
        alone = self if pair is None else self._with_runs(pair)
        joined, people = (alone.tally(name, measure=options.get("measure")) for name in (judge, correct_with))
        if not people.key.nuggets.height and joined.key.nuggets.height:
            people = tally(people.runs, people.questions, replace(people.key, nuggets=joined.key.nuggets), people.task)
        scores = self._score(joined, **options)
        drawn = find_sample(self.folder, sample, judge=judge, measure=scores.measure, pair=pair)
        of_people: HowScored = {**options, "unjudged": "wrong", "missing": "skip"}
        return correct(
            scores,
            joined,
            people,
            drawn,
            target=target,
            pair=pair,
            score_people=lambda part: self._score(part, **of_people),
        )

    def _judge(self, key: str | None, correct_with: str) -> str:
        """The set whose scores are corrected; an error where these labels cannot correct them."""
        if correct_with not in self.sets:
            raise unknown("judgment set", correct_with, self.sets)
        if key is None or key == correct_with:
            message = f"name the assessor whose scores {correct_with} corrects"
            raise UsageError(message, Remedy("key", "SET", "To name it"))
        if key not in self.sets:
            if MIXED in key or parse_rule(key) is not None:
                message = f"{key} mixes the judgments of several sets, and has no interval"
                raise UsageError(message, Remedy("key", "SET", "To correct one"))
            raise unknown("judgment set", key, self.sets)
        if correct_with in self.automatic_sets:
            raise UsageError(f"{correct_with} is a program: only labels of people correct another's scores")
        refuse_learned(self, key)
        return key
