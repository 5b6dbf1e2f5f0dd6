"""Questions, and the labels that files of pairs carry."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from qassay.errors import InputError, Problem, few
from qassay.formats import files, jsonl
from qassay.formats.folder import CONFIGURATION, Folder, with_two_way
from qassay.formats.importing.plan import Plan, Source
from qassay.formats.importing.rows import add_judgments
from qassay.formats.questions import QuestionFile, parse_questions, question_row, read_questions, reference_rows
from qassay.questions import Question, TestSet, gather
from qassay.tables import plural
from qassay.tasks import Task


def existing_questions(folder: Folder) -> QuestionFile:
    """The questions an evaluation has."""
    path = folder.questions()
    return read_questions(path, file=folder.name(path))


def import_questions(plan: Plan, source: Source) -> None:
    """Add questions; those that are there and differ are replaced only with leave."""
    options = plan.options
    found = parse_questions(
        files.read_bytes(source.path), file=source.name, default_type=options.default_type, encoding=options.encoding
    )
    plan.warnings += found.warnings
    check_types(found.questions, plan.configuration.task, source.name)
    new = merge(plan, found.questions, source)
    counts = ", ".join(f"{n} {kind}" for kind, n in found.questions.counts().items())
    kinds = f" ({counts})" if len(found.questions.counts()) > 1 else f" of type {found.questions.types[0]}"
    series = f" in {len(found.questions.series)} series" if found.questions.series else ""
    if new:
        what = f"{plural(len(found.questions), 'question')}{series}{kinds}"
        what += "" if new == len(found.questions) else f", {new} of them new or changed"
    else:
        what = f"nothing new: its {plural(len(found.questions), 'question')} are there already"
    plan.report(source, what, count=new, to=_target(plan))
    if found.reference:
        _import_reference(plan, source, found)


def merge(plan: Plan, questions: Iterable[Question], source: Source, *, keep: bool = False) -> int:
    """Lay questions over those that are there, and say how many are new or changed.

    With `keep`, what is there stands, and a difference is only told of.
    """
    merged = {question.id: question for question in plan.questions or ()}
    changed: list[str] = []
    new = 0
    for question in questions:
        known = merged.get(question.id)
        if known == question:
            continue
        if known is not None:
            changed.append(question.id)
            if keep:
                continue
        merged[question.id] = question
        new += 1
    if changed and keep:
        message = f"{plural(len(changed), 'question')} read differently in the evaluation, and stay: {few(changed)}"
        plan.warnings.append(Problem("duplicate-question", message, source.name))
    elif changed and not plan.options.replace:
        message = (
            f"{plural(len(changed), 'question')} differ from the evaluation's ({few(changed)}); to replace: --replace"
        )
        raise InputError(Problem("duplicate-question", message, source.name, None, changed[0]))
    if new:
        before = plan.questions
        plan.questions = gather(merged.values(), file=source.name)
        _write(plan, plan.questions)
        if before is not None and plan.folder.runs() and len(plan.questions) > len(before):
            message = "adds questions that the runs in the evaluation do not answer; check with: qassay check FOLDER"
            plan.warnings.append(Problem("missing-question", message, source.name))
    return new


def check_types(questions: TestSet, task: Task, file: str) -> None:
    """Stop at questions that the task has no rules for."""
    problems = []
    for kind in questions.counts():
        if kind not in task.types:
            ids = [question.id for question in questions.of_type(kind)]
            takes = ", ".join(task.types)
            message = f"{plural(len(ids), 'question')} of type {kind} ({few(ids, 3)}); task {task.name} takes {takes}"
            problems.append(Problem("configuration", message, file, None, ids[0]))
    if task.unit == "series":
        alone = [question.id for question in questions if question.series is None]
        if alone:
            message = f"{plural(len(alone), 'question')} without a series ({few(alone, 3)}); task {task.name} needs it"
            problems.append(Problem("configuration", message, file, None, alone[0]))
    if problems:
        raise InputError(problems)


def _target(plan: Plan) -> Path:
    """The file that will hold the questions: JSON lines, whatever form they came in."""
    found = sorted(path for path in plan.folder.contents.glob("questions.jsonl*") if path.is_file())
    return found[0] if found else plan.folder.contents / "questions.jsonl"


def _write(plan: Plan, questions: TestSet) -> None:
    """Have the questions written as JSON lines, in place of the file they were in.

    Labels that the old file carried become a set of their own, or they would be lost with it.
    """
    target = _target(plan)
    plan.write(target, jsonl.dump_rows(map(question_row, questions)))
    old = {path for path in plan.folder.contents.glob("questions.*") if path.is_file() and path != target}
    plan.removed |= old
    carried = plan.carried
    path = plan.folder.judgment_file("reference")
    if old and carried is not None and carried.reference and "reference" not in plan.folder.judgment_sets():
        plan.write(path, jsonl.dump_rows(reference_rows(carried)))
        if carried.two_way:
            _mark_two_way(plan, plan.folder.name(next(iter(old))), "reference")
        plan.carried = None


def _import_reference(plan: Plan, source: Source, found: QuestionFile) -> None:
    """Keep the labels of a file of pairs as a judgment set."""
    name = plan.options.set_name or "reference"
    add_judgments(plan, source, [(0, row) for row in reference_rows(found)], name)
    three_way = "UNKNOWN" in plan.configuration.task.labels
    if not three_way or name in plan.configuration.two_way:
        return
    if found.two_way:
        _mark_two_way(plan, source.name, name)
    elif set(found.reference.values()) == {"YES", "NO"}:
        message = (
            f"its labels are YES and NO alone; if NO means 'not entailed', say so in {CONFIGURATION}:"
            f' two_way = ["{name}"]'
        )
        plan.warnings.append(Problem("configuration", message, source.name))


def _mark_two_way(plan: Plan, file: str, name: str) -> None:
    """Say in `qassay.toml` that a set is two-way; where that cannot be done safely, ask the user to."""
    marked = with_two_way(plan.text(plan.folder.configuration), name)
    if marked is not None:
        plan.write(plan.folder.configuration, marked)
    else:
        message = f"its NO ENTAILMENT is a two-way NO; add {name!r} to two_way in {CONFIGURATION}"
        plan.warnings.append(Problem("configuration", message, file))
