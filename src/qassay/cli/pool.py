"""`qassay pool`: what is to be judged, and how much of it is not yet."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.cli.output import print_json, print_tables
from qassay.errors import UsageError
from qassay.evaluation import Evaluation, open_evaluation
from qassay.formats.jsonl import write_rows
from qassay.judging.pool import pool
from qassay.judging.sets import JudgmentSet
from qassay.questions import TestSet
from qassay.runs import Runs, first_of_organisations
from qassay.tables import Cell, Column, plural, table

# What is counted of the assignments, and the fields of a workload that have it.
ASSIGNED = {"questions": "questions", "finished": "closed", "decisions": "total", "judged": "done", "left": "left"}


def command(
    folder: FolderArgument,
    set_name: Annotated[
        str | None,
        typer.Option("--set", metavar="SET", help="Count the judgments of this set (default: the set to score with)."),
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option("--sheet", metavar="FILE", help="Write the unjudged items as JSONL, with verdicts to fill in."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how much is to be judged, and how much is left.

    The pool has everything that is to be judged. Equal answers of different runs are in it once; lists, responses to
    nugget questions and justifications are judged run by run. If qassay.toml limits the runs of each organisation
    (pooled in the table [track]), only those with the first priorities are judged.

    --sheet writes the unjudged items, one JSON object per line: fill in the verdicts and import the file.

    Examples

      qassay pool my-eval
      qassay pool my-eval --set first
      qassay pool my-eval --sheet first.jsonl
      qassay import my-eval first.jsonl
    """
    if sheet is not None and sheet.exists():
        raise UsageError(f"{sheet} is there already, perhaps with somebody's judgments; name another file")
    evaluation = open_evaluation(folder)
    judged = _judged(evaluation, set_name)
    nuggets = evaluation.nugget_list(judged.name if judged else "development")
    questions = evaluation.questions
    if evaluation.task.is_rated and evaluation.configuration.justified:
        questions = TestSet(tuple(pair for pair in questions if pair.id in evaluation.configuration.justified))
    most = evaluation.configuration.track.pooled
    pooled = pool(evaluation.runs.to_judge(most), questions, evaluation.task, judged, nuggets)
    rows = pooled.sheet(evaluation.questions) if sheet is not None else []
    if rows and sheet is not None:
        write_rows(sheet, rows)
    assigned = _assigned(evaluation)
    left_out = _left_out(evaluation.runs, most)
    if as_json:
        more = {"assigned": assigned, "runs_left_out": left_out}
        print_json({**pooled.as_json(), **{name: value for name, value in more.items() if value}})
        return
    tables = [pooled.table()]
    if left_out:
        note = f"Left out, because {plural(most or 0, 'run')} per organisation are judged: {', '.join(left_out)}"
        tables[0] = replace(tables[0], notes=(*tables[0].notes, note))
    if assigned:
        title = "What is assigned in the application"
        counts: list[tuple[Cell, ...]] = [(name, *counted.values()) for name, counted in assigned.items()]
        tables.append(table(title, ["set", *map(Column, ASSIGNED)], counts))
    print_tables(tables)
    if rows:
        print(f"Wrote {len(rows):,} rows to {sheet}. Fill in the verdicts, then: qassay import {folder} {sheet}")
    elif sheet is not None:
        print(f"Nothing is left to judge: {sheet} is not written.")


def _left_out(runs: Runs, most: int | None) -> list[str]:
    """The runs that are not judged, because those of their organisation with a higher priority are."""
    judged = first_of_organisations({tag: runs.about(tag) for tag in runs.tags}, most)
    return [tag for tag in runs.tags if tag not in judged]


def _assigned(evaluation: Evaluation) -> dict[str, dict[str, int]]:
    """The assignments of the store, by judgment set; nothing where there is no store, or no assignment."""
    if evaluation.folder.stored is None:
        return {}
    from qassay.store.assignment.progress import workloads
    from qassay.store.folder.snapshot import existing_store

    store = existing_store(evaluation.folder, evaluation.configuration)
    if store is None:
        return {}
    with closing(store), store.read() as connection:
        work = workloads(connection)
    assigned: dict[str, dict[str, int]] = {}
    for workload in work:
        counts = assigned.setdefault(workload.set, dict.fromkeys(ASSIGNED, 0))
        for name, field in ASSIGNED.items():
            counts[name] += getattr(workload, field)
    return assigned


def _judged(evaluation: Evaluation, name: str | None) -> JudgmentSet | None:
    """The set to count: the one named, else the key; for justifications, which take all sets, all of them."""
    if name is not None:
        return evaluation.judgment_set(name) if name in evaluation.sets else None
    if evaluation.task.is_rated and evaluation.human_sets:
        return JudgmentSet("all sets together", {"rating": evaluation.ratings(evaluation.human_sets)})
    name = evaluation.default_key()
    if name is None and evaluation.human_sets:
        raise UsageError(f"there are several judgment sets; choose one with --set: {', '.join(evaluation.sets)}")
    return evaluation.judgment_set(name) if name is not None else None
