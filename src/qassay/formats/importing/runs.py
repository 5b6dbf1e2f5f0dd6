"""Runs, and the files that hold runs together with their judgments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qassay.errors import InputError, Problem, few
from qassay.formats import files, jsonl, rag24
from qassay.formats.importing.plan import Plan, Source
from qassay.formats.importing.questions import check_types, merge
from qassay.formats.importing.rows import add_judgments, add_nuggets
from qassay.formats.runs import file_suffix, read_runs
from qassay.tables import plural


def import_runs(plan: Plan, sources: Sequence[Source]) -> None:
    """Check runs by all rules (METHOD 3) and keep their bytes as they are; nothing of a faulty run is stored."""
    by_name = {source.name: source for source in sources}
    found = read_runs(
        [source.path for source in sources],
        task=plan.configuration.task,
        questions=plan.test_set(sources[0]),
        encoding=plan.options.encoding or "utf-8",
        names={source.path: source.name for source in sources},
    )
    problems = found.faults(plan.options.lengths() if plan.options.lengths is not None else None)
    if problems:
        raise InputError(problems)
    for tag, name in found.files.items():
        _import_run(plan, by_name[name], tag)


def import_assignments(plan: Plan, source: Source) -> None:
    """Take in questions, runs, nuggets and judgments of TREC RAG 2024 in one step.

    What the evaluation has of questions and runs stands: a run that was handed in with its citations says more than
    the text that was judged.
    """
    found = rag24.read_assignments(source.path, encoding=plan.options.encoding or "utf-8", file=source.name)
    check_types(found.questions, plan.configuration.task, source.name)
    new = merge(plan, found.questions, source, keep=not plan.options.replace)
    plan.report(source, f"{plural(len(found.questions), 'question')}, {new} of them new", count=new)
    runs = 0
    short = []
    for tag, rows in found.runs.items():
        if len(rows) < len(plan.test_set(source)):
            short.append(tag)
        old = plan.folder.files_of_run(tag)
        if old and not plan.options.replace:
            continue
        _keep(plan, tag, ".jsonl", jsonl.dump_rows(rows).encode(), old)
        runs += 1
    plan.report(source, f"{plural(len(found.runs), 'run')}, {runs} of them new", count=runs)
    if short:
        message = (
            f"{plural(len(short), 'run')} leave questions out ({few(short, 3)}); score with --missing skip or zero"
        )
        plan.warnings.append(Problem("missing-question", message, source.name))
    name = plan.options.set_name or "adjudicated"
    add_nuggets(plan, source, [(0, row) for row in found.nuggets], name)
    add_judgments(plan, source, [(0, row) for row in found.judgments], name)


def _import_run(plan: Plan, source: Source, tag: str) -> None:
    data = source.path.read_bytes()
    content = files.read_bytes(source.path)
    if plan.options.encoding is not None:
        # Everything in an evaluation is UTF-8.
        data = content = files.decode(content, file=source.name, encoding=plan.options.encoding).encode()
    old = plan.folder.files_of_run(tag)
    if any(files.read_bytes(path) == content for path in old):
        plan.report(source, f"nothing new: run {tag} is there already")
        return
    if old and not plan.options.replace:
        message = f"the evaluation has another run {tag}; give this one a tag of its own, or replace it with --replace"
        raise InputError(Problem("second-tag", message, source.name))
    suffix = file_suffix(data)
    _keep(plan, tag, suffix, data, old)
    path = plan.folder.run_file(tag, suffix)
    plan.report(source, f"run {tag} to {plan.folder.name(path)}", count=1, to=path)


def _keep(plan: Plan, tag: str, suffix: str, data: bytes, old: Sequence[Path]) -> None:
    """Have a run written, in place of the files that held it."""
    plan.write_bytes(plan.folder.run_file(tag, suffix), data)
    plan.removed |= set(old)
