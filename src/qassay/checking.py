"""Everything that is right and wrong with an evaluation, found in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from qassay.collections import open_collection
from qassay.errors import InputError, KeptProblems, Problem, Problems
from qassay.evaluation import Evaluation, open_evaluation
from qassay.formats.importing import Options
from qassay.formats.importing.as_runs import read_as_runs
from qassay.formats.runs import RunFiles
from qassay.judging.keys import Key, check_known_answers, no_nuggets
from qassay.judging.sets import check_nuggets

Read = TypeVar("Read")


@dataclass
class Checked:
    """The content of an evaluation, with its errors and warnings."""

    questions: dict[str, int] = field(default_factory=dict)
    series: int = 0
    runs: list[str] = field(default_factory=list)
    judgments: dict[str, int] = field(default_factory=dict)
    nuggets: dict[str, dict[str, int]] = field(default_factory=dict)
    answers: int = 0
    documents: int | None = None  # of the collection, where there is one
    errors: Problems = field(default_factory=Problems)
    warnings: Problems = field(default_factory=Problems)

    def attempt(self, read: Callable[[], Read]) -> Read | None:
        """The result of reading, or None: its problems are noted and the check goes on."""
        try:
            return read()
        except InputError as error:
            self._note(error.problems)
            return None

    def _note(self, problems: KeptProblems) -> None:
        """Note the problems of a file; a file that is read twice has them once."""
        if not set(problems) <= set(self.errors):
            self.errors += problems

    def in_order(self) -> Checked:
        """The same with the errors of a file in the order of its lines, each once; those without a line come last."""
        beyond = self.errors.beyond
        self.errors = Problems(dict.fromkeys(self.errors))
        self.errors.beyond.update(beyond)
        self.errors.sort(key=lambda problem: (problem.file or "", problem.line is None, problem.line or 0))
        return self

    def as_json(self) -> dict[str, Any]:
        """The document of `check --json`."""
        return {
            "questions": self.questions,
            "series": self.series,
            "runs": self.runs,
            "judgments": self.judgments,
            "nuggets": self.nuggets,
            "answers": self.answers,
            "errors": [problem.as_json() for problem in self.errors],
            "errors_total": self.errors.total,
            "warnings": [problem.as_json() for problem in self.warnings],
        }


def check_folder(path: Path) -> Checked:
    """Check a whole evaluation; whatever part can be read is checked, whatever else is broken."""
    checked = Checked()
    evaluation = checked.attempt(lambda: open_evaluation(path))
    if evaluation is None:
        return checked
    question_file = checked.attempt(lambda: evaluation.question_file)
    if question_file is None:
        return checked
    checked.questions = question_file.questions.counts()
    checked.series = len(question_file.questions.series)
    checked.warnings += question_file.warnings
    if unpublished := evaluation.folder.unpublished():
        checked.warnings.append(unpublished)
    runs = checked.attempt(lambda: evaluation.run_files)
    if runs is not None:
        _check_runs(checked, evaluation, runs)
    _check_judgments(checked, evaluation)
    checked.warnings += _strange_names(checked, evaluation)
    if evaluation.folder.stored is not None:
        from qassay.store.folder.snapshot import differing_files

        checked.warnings += differing_files(evaluation.folder)
    return checked.in_order()


def check_run_files(
    paths: list[Path],
    folder: Path,
    *,
    form: str | None = None,
    options: Options | None = None,
) -> Checked:
    """Check files of runs, or of answers, against the questions, and the collection, of an evaluation."""
    evaluation = open_evaluation(folder)
    checked = Checked(questions=evaluation.questions.counts(), series=len(evaluation.questions.series))
    runs = read_as_runs(paths, task=evaluation.task, questions=evaluation.questions, form=form, options=options)
    _check_runs(checked, evaluation, runs.read)
    return checked.in_order()


def _check_runs(checked: Checked, evaluation: Evaluation, read: RunFiles) -> None:
    checked.runs = list(read.runs.tags)
    checked.warnings += read.warnings
    lengths = None
    if evaluation.folder.collection.is_dir():
        lengths = checked.attempt(lambda: open_collection(evaluation.folder.collection).lengths())
        checked.documents = None if lengths is None else len(lengths)
    checked.errors += read.faults(lengths)


def _check_judgments(checked: Checked, evaluation: Evaluation) -> None:
    lists = {name: checked.attempt(partial(evaluation.nugget_list, name)) for name in evaluation.folder.nugget_lists()}
    for name, table in lists.items():
        if table is not None:
            checked.nuggets[name] = {
                "lists": table["question"].n_unique(),
                "nuggets": table.height,
                "vital": int(table["vital"].sum()),
            }
    answers = checked.attempt(lambda: evaluation.answers)
    checked.answers = 0 if answers is None else answers.height
    for name in evaluation.sets:
        judged = checked.attempt(partial(evaluation.judgment_set, name, incoming=True))
        if judged is None:
            continue
        checked.judgments[name] = sum(table.height for table in judged.kinds.values())
        nuggets = checked.attempt(partial(evaluation.nugget_list, name))
        file = f"judgments/{name}.jsonl"
        if nuggets is not None:
            checked.errors += check_nuggets(judged, nuggets, file=file)
        if answers is not None:
            checked.errors += check_known_answers(Key(judged, no_nuggets(), answers), file=file)


def _strange_names(checked: Checked, evaluation: Evaluation) -> Iterator[Problem]:
    """Names that point at nothing: a dropped question, a pair to be judged, a run that is only described."""
    questions = evaluation.questions
    names = {*questions.by_id, *(series.id for series in questions.series)}
    for name in evaluation.configuration.drop:
        if name not in names:
            message = f'drop: "{name}" is neither a question nor a series'
            checked.errors.append(Problem("configuration", message, "qassay.toml"))
    for name in evaluation.configuration.justified:
        if name not in questions.by_id:
            checked.errors.append(Problem("unknown-question", f'justified: "{name}" is not a pair', "qassay.toml"))
    for tag in checked.attempt(lambda: evaluation.information) or ():
        if tag not in checked.runs:
            yield Problem("configuration", f"describes the run {tag!r}, which is not here", "runs.jsonl")
