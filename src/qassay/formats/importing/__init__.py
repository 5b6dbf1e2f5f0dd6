"""Bring files into an evaluation: recognise, parse and check all of them, then write everything or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from qassay.errors import InputError, Problem, UsageError
from qassay.formats.folder import Folder, read_configuration
from qassay.formats.importing.plan import Added, Options, Plan, Source
from qassay.formats.importing.questions import import_assignments, import_questions, import_runs
from qassay.formats.importing.rows import import_judgments, import_patterns, import_rows, import_sheet
from qassay.formats.names import name_fault
from qassay.formats.questions import read_questions
from qassay.formats.recognise import recognise

__all__ = ["Added", "Options", "Plan", "plan_import"]

_ONE_BY_ONE: dict[str, Callable[[Plan, Source], None]] = {
    "questions": import_questions,
    "rag-assignments": import_assignments,
    "nuggets": import_rows,
    "nist-nuggets": import_rows,
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
    folder: Folder, paths: Sequence[Path], *, kind: str | None = None, options: Options | None = None
) -> Plan:
    """What importing these files would do, or every error in every one of them.

    Questions come first and nuggets before judgments, whatever the order of the files: each is checked against the
    rows that it refers to, as they will be.
    """
    options = options or Options()
    if options.set_name is not None and (fault := name_fault(options.set_name)):
        raise UsageError(f"the set name {options.set_name!r} {fault}")
    plan = Plan(folder, read_configuration(folder), options)
    if any(path.is_file() for path in folder.contents.glob("questions.*")):
        path = folder.questions()
        plan.carried = read_questions(path, file=folder.name(path))
        plan.questions = plan.carried.questions
    sources = _recognised(plan, paths, kind)
    plan.added = {source: Added(source.name, source.kind, "") for source in sources}
    for wanted, step in _ONE_BY_ONE.items():
        before = len(plan.problems)
        for source in sources:
            if source.kind == wanted:
                plan.attempt(step, source)
        # Without these questions, files that refer to them are checked for their own faults alone.
        plan.questions_unknown |= wanted in ("questions", "rag-assignments") and len(plan.problems) > before
    runs = [source for source in sources if source.kind == "run"]
    if runs:
        plan.attempt(import_runs, runs)
    if plan.problems:
        raise InputError(plan.problems)
    return plan


def _recognised(plan: Plan, paths: Sequence[Path], kind: str | None) -> list[Source]:
    """The files with their kinds; a file that cannot be opened or recognised becomes a problem."""
    sources = []
    known = plan.questions.by_id if plan.questions is not None else {}
    for path in dict.fromkeys(paths):
        name = str(path)
        if path.is_dir():
            plan.problems.append(Problem("syntax", "is a folder; name the files in it", name))
            continue
        try:
            sources.append(Source(path, name, recognise(path, asked=kind, questions=known, file=name)))
        except InputError as error:
            plan.problems += error.problems
        except OSError as error:
            plan.problems.append(Problem("syntax", f"cannot be read: {error.strerror or error}", name))
    return sources
