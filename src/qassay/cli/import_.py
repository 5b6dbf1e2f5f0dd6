"""`qassay import`: add what files hold to an evaluation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.cli.output import print_json, visible
from qassay.errors import unknown
from qassay.questions import TYPES
from qassay.store.places import import_plan, writable


def command(
    folder: FolderArgument,
    paths: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files to add; their kind is recognised.")],
    kind: Annotated[
        str | None, typer.Option("--as", metavar="KIND", help="What the files are, where it cannot be recognised.")
    ] = None,
    set_name: Annotated[
        str | None, typer.Option("--set", metavar="NAME", help="Judgment set or nugget list to add to.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="Encoding of the files, such as latin-1.")
    ] = None,
    default_type: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Type of questions whose file does not tell it, such as list."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace questions and runs that are there and differ.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Add what files hold to an evaluation.

    Questions, runs, judgments, nuggets, known answers, patterns and
    descriptions of runs are recognised by content, in JSON lines as in
    the forms of TREC and RTE. Everything is checked first: where any file
    has an error, nothing is written. Judgments are appended, and what they
    replace stays as history; importing a file again adds nothing. Where
    the evaluation has a store, they go there and not to its files.

    Judgments and nuggets go to the set named like their file, those in
    NIST's forms to adjudicated, what comes back from a judging sheet to
    the set named like its assessor; --set names another.

    KIND is one of questions, run, judgments, sheet, nuggets, answers,
    patterns, run-information, rag-assignments, nist-factoid, nist-list, nist-other,
    nist-nuggets, nist-answers.

    Examples

      qassay import my-eval trec13questions.xml
      qassay import my-eval runs/*.txt judgments/first.jsonl
      qassay import my-eval qrels.txt --as nist-factoid --set first
    """
    if default_type is not None and default_type not in TYPES:
        raise unknown("question type", default_type, TYPES)
    from qassay.collections import open_collection
    from qassay.formats.importing import Options, plan_import

    opened, store = writable(folder)
    options = Options(
        set_name=set_name,
        encoding=encoding,
        default_type=default_type,
        replace=replace,
        lengths=(lambda: open_collection(opened.collection).lengths()) if opened.collection.is_dir() else None,
    )
    plan = plan_import(opened, paths, kind=kind, options=options)
    import_plan(plan, store)
    if as_json:
        added = [file.as_json() for file in plan.added.values()]
        print_json({"added": added, "warnings": [warning.as_json() for warning in plan.warnings]})
        return
    for warning in plan.warnings:
        print(visible(f"warning: {warning}"), file=sys.stderr)
    for file in plan.added.values():
        print(visible(f"{file.file}: {file.message}"))
    if store is not None and plan.added:
        print("They are in the store of the evaluation; qassay export writes it out as files.")
