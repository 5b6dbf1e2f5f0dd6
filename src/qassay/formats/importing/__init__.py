"""Bring files into an evaluation: recognise, parse and check all of them, then write everything or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from qassay.errors import InputError, Problem, UsageError
from qassay.formats.folder import Folder, read_configuration
from qassay.formats.importing.plan import Added, Options, Plan, Source
from qassay.formats.importing.questions import existing_questions, import_questions
from qassay.formats.importing.rows import (
    import_answers,
    import_information,
    import_judgments,
    import_nuggets,
    import_patterns,
)
from qassay.formats.importing.runs import import_assignments, import_runs
from qassay.formats.importing.sheets import import_sheet
from qassay.formats.names import name_fault
from qassay.formats.recognise import recognise

__all__ = ["Added", "Options", "Plan", "plan_import"]

_ONE_BY_ONE: dict[str, Callable[[Plan, Source], None]] = {
    "questions": import_questions,
    "rag-assignments": import_assignments,
    "nuggets": import_nuggets,
    "nist-nuggets": import_nuggets,
    "judgments": import_judgments,
    "nist-factoid": import_judgments,
    "nist-list": import_judgments,
    "nist-other": import_judgments,
    "sheet": import_sheet,
    "answers": import_answers,
    "nist-answers": import_answers,
    "patterns": import_patterns,
    "run-information": import_information,
}


def plan_import(
    folder: Folder, paths: Sequence[Path], *, kind: str | None = None, options: Options | None = None
) -> Plan:
    """What importing these files would do, or every error in every one of them.

    Questions come first and nuggets before judgments, whatever the order of the files: each is checked against what
    it refers to, as it will be.
    """
    options = options or Options()
    if options.set_name is not None and (fault := name_fault(options.set_name)):
        raise UsageError(f"the set name {options.set_name!r} {fault}")
    plan = Plan(folder, read_configuration(folder), options)
    if any(path.is_file() for path in folder.contents.glob("questions.*")):
        plan.carried = existing_questions(folder)
        plan.questions = plan.carried.questions
    sources = _recognised(plan, paths, kind)
    for wanted, step in _ONE_BY_ONE.items():
        before = len(plan.problems)
        for source in sources:
            if source.kind == wanted:
                _attempt(plan, step, source)
        # Without these questions nothing can be said of what refers to them: only its own faults are told.
        plan.questions_unknown |= wanted in ("questions", "rag-assignments") and len(plan.problems) > before
    runs = [source for source in sources if source.kind == "run"]
    if runs:
        _attempt(plan, import_runs, runs)
    if plan.problems:
        raise InputError(plan.problems)
    plan.added = _by_file(plan.added, sources)
    return plan


def _by_file(added: Sequence[Added], sources: Sequence[Source]) -> list[Added]:
    """One line a file, in the order of the files."""
    lines = []
    for source in sources:
        own = [one for one in added if one.file == source.name]
        places = [place for one in own for place in one.to]
        message = "; ".join(one.message for one in own)
        lines.append(Added(source.name, source.kind, message, sum(one.count for one in own), tuple(places)))
    return lines


def _recognised(plan: Plan, paths: Sequence[Path], kind: str | None) -> list[Source]:
    """The files with their kinds; what cannot be opened or told becomes a problem."""
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


def _attempt(plan: Plan, step: Callable[[Plan, Any], None], subject: object) -> None:
    """Take a step, and gather what is wrong instead of stopping at it."""
    try:
        step(plan, subject)
    except InputError as error:
        # Rows that were made from a larger one have no line of their own.
        plan.problems += [replace(problem, line=problem.line or None) for problem in error.problems]
