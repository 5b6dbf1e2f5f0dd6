"""`qassay pool`: what is to be judged, and how much of it is not yet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.cli.output import print_json, print_tables
from qassay.errors import UsageError
from qassay.evaluation import open_evaluation
from qassay.formats.jsonl import write_rows
from qassay.pools import pool

SetOption = Annotated[
    str | None, typer.Option("--set", metavar="SET", help="Count what this judgment set has (default: the key).")
]
SheetOption = Annotated[
    Path | None, typer.Option("--sheet", metavar="FILE", help="Write what is left as JSONL, with verdicts to fill in.")
]


def command(
    folder: FolderArgument, set_name: SetOption = None, sheet: SheetOption = None, as_json: JsonOption = False
) -> None:
    """What is to be judged, and how much of it is not yet.

    Equal items of different runs are pooled and judged once; lists, nugget responses and justifications are judged
    run by run. A sheet holds what is left, one JSON object a line: fill in the verdicts and import it.

    Examples

      qassay pool my-eval
      qassay pool my-eval --set first
      qassay pool my-eval --sheet first.jsonl
      qassay import my-eval first.jsonl
    """
    if sheet is not None and sheet.exists():
        raise UsageError(f"{sheet} is there already, perhaps with somebody's judgments; name another file")
    evaluation = open_evaluation(folder)
    if set_name is None:
        set_name = evaluation.default_key()
    judged = evaluation.judgment_set(set_name) if set_name is not None and set_name in evaluation.sets else None
    nuggets = evaluation.nugget_list(set_name or "development")
    found = pool(evaluation.runs, evaluation.questions, evaluation.task, judged, nuggets)
    rows = found.sheet(evaluation.questions) if sheet is not None else []
    if sheet is not None:
        write_rows(sheet, rows)
    if as_json:
        print_json(found.as_json())
        return
    print_tables([found.table()])
    if sheet is not None:
        print(f"Wrote {len(rows):,} rows to {sheet}. Fill in the verdicts, then: qassay import {folder} {sheet}")
