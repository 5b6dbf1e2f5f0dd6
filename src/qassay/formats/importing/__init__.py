"""Bring files into an evaluation: recognise, parse and check all of them, then write everything or nothing.

plan        what will be written, where, and what is wrong with it
questions   questions with the labels of pairs, target types, runs, assignments of TREC RAG
answers     people's own tables of answers, which become questions and runs
as_runs     runs and answers before they are stored, for those who check or send them
judgments   judgments: JSON lines, NIST's forms, people's own tables
nuggets     weights of a pyramid, and the lists of nuggetizer
rows        rows that are appended: nuggets, known answers, run information, patterns, sheets
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from pathlib import Path

from qassay.errors import InputError, Problem, UsageError
from qassay.formats import files
from qassay.formats.answers import keys_for, refuse_other_files
from qassay.formats.folder import Folder, read_configuration
from qassay.formats.importing.answers import check_options, import_responses
from qassay.formats.importing.judgments import import_judgments
from qassay.formats.importing.nuggets import import_nugget_lists, import_weights
from qassay.formats.importing.plan import Added, ImportPlan, IncomingFile, Options
from qassay.formats.importing.questions import import_assignments, import_questions, import_runs, import_target_types
from qassay.formats.importing.rows import add_rows, import_patterns, import_rows, import_sheet
from qassay.formats.jsonl import Row
from qassay.formats.names import name_fault
from qassay.formats.questions import read_questions
from qassay.formats.recognise import Setting, recognise

__all__ = ["Added", "ImportPlan", "Options", "plan_import"]

_QUESTIONS: dict[str, Callable[[ImportPlan, IncomingFile], None]] = {
    "questions": import_questions,
    "rag-assignments": import_assignments,
    "rag-nuggets": import_nugget_lists,
    "target-types": import_target_types,
}
_ALL_AT_ONCE: dict[str, Callable[[ImportPlan, list[IncomingFile]], None]] = {
    "responses": import_responses,
    "run": import_runs,
}
_ROWS: dict[str, Callable[[ImportPlan, IncomingFile], None]] = {
    "nuggets": import_rows,
    "nist-nuggets": import_rows,
    # After the lists, which say what is vital; a weight of its own then stays.
    "nugget-weights": import_weights,
    "judgments": import_judgments,
    "nist-factoid": import_judgments,
    "nist-list": import_judgments,
    "nist-other": import_judgments,
    "sheet": import_sheet,
    "answers": import_rows,
    "nist-answers": import_rows,
    "patterns": import_patterns,
    "run-information": import_rows,
}


def plan_import(
    folder: Folder,
    paths: Sequence[Path],
    *,
    kind: str | None = None,
    options: Options | None = None,
    nuggets: Sequence[Row] = (),
) -> ImportPlan:
    """The plan of importing these files, and `nuggets` of their set, or every error in every one of them.

    Questions come first, then runs, and nuggets before judgments, whatever the order of the files: each is checked
    against the rows that it refers to, as they will be.
    """
    options = options or Options()
    if options.set_name is not None and (fault := name_fault(options.set_name)):
        raise UsageError(f"the set name {options.set_name!r} {fault}")
    plan = ImportPlan(folder, read_configuration(folder), options)
    if folder.question_files():
        plan.carried = read_questions(folder.questions())
        plan.questions = plan.carried.questions
    sources = _recognised(plan, paths, kind)
    check_options(plan, sources)
    _check_spread(options, sources)
    plan.added = {source: Added(source.name, source.kind, "") for source in sources}
    _one_by_one(plan, sources, _QUESTIONS)
    # Without these questions, files that refer to them are checked for their own faults alone.
    plan.questions_unknown = any(problem.file in _files_of(sources, _QUESTIONS) for problem in plan.problems)
    for file_kind, together in _ALL_AT_ONCE.items():
        if some := [source for source in sources if source.kind == file_kind]:
            before = len(plan.problems)
            plan.attempt(together, some)
            plan.questions_unknown |= file_kind == "responses" and len(plan.problems) > before
    if nuggets:
        source = IncomingFile(Path(), "nuggets", "nuggets")
        plan.added[source] = Added(source.name, source.kind, "")
        rows = [(0, row) for row in nuggets]
        plan.attempt(partial(add_rows, name=options.set_name or ""), source, "nuggets", rows)
    _one_by_one(plan, sources, _ROWS)
    if plan.problems:
        raise InputError(plan.problems)
    return plan


def _check_spread(options: Options, sources: Sequence[IncomingFile]) -> None:
    """Refuse `--spread` with what contradicts it."""
    if not options.spread:
        return
    if options.set_name is not None or options.automatic:
        other = "--set" if options.set_name is not None else "--automatic"
        raise UsageError(f"--spread makes the sets first, second, third, ... of people; leave out {other}")
    if sources and not any(_ROWS.get(source.kind) is import_judgments for source in sources):
        raise UsageError("--spread is for judgments, and none of these files contains any; leave it out")


def _one_by_one(
    plan: ImportPlan, sources: Sequence[IncomingFile], steps: Mapping[str, Callable[[ImportPlan, IncomingFile], None]]
) -> None:
    """Import the files of some kinds, in the order of the kinds."""
    for kind, step in steps.items():
        for source in sources:
            if source.kind == kind:
                plan.attempt(step, source)


def _files_of(sources: Sequence[IncomingFile], kinds: Container[str]) -> set[str | None]:
    return {source.name for source in sources if source.kind in kinds}


def _recognised(plan: ImportPlan, paths: Sequence[Path], kind: str | None) -> list[IncomingFile]:
    """The files with their kinds; a file that cannot be opened or recognised becomes a problem."""
    sources = []
    known = plan.questions.by_id if plan.questions is not None else {}
    options, free_text = plan.options, plan.configuration.task.is_free_text
    refuse_other_files(options.keys, map(str, paths))
    for path in dict.fromkeys(paths):
        name = str(path)
        if path.is_dir():
            plan.problems.append(Problem("syntax", "is a folder; name the files in it", name))
            continue
        setting = Setting(known, free_text, keys_for(options.keys, name), options.encoding, options.sheet)
        try:
            sources.append(IncomingFile(path, name, recognise(path, asked=kind, setting=setting, file=name)))
        except InputError as error:
            plan.problems += error.problems
        except OSError as error:
            plan.problems.append(Problem("syntax", f"cannot be read: {files.refused_by_system(error)}", name))
    return sources
